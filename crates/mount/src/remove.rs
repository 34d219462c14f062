//! Making and removing: `mkdir`, `rmdir`, `unlink`, and new files. What is removed here is removed
//! on the server, whatever it has become there meanwhile; an open file lives on unseen.

use crate::errno;
use crate::names;
use crate::node::{Body, Directory, File, Ino, Looks, Node};
use crate::port::{Act, At, Edit, Entry, Refusal};
use crate::tree::Tree;
use crate::volume::Volume;
use fuser::Errno;
use loci_model::{Expect, MemoryId};
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

const SET_GROUP: u16 = 0o2000;

impl Tree {
    /// Makes a file or a directory.
    pub(crate) fn make(
        &mut self,
        parent: Ino,
        name: &OsStr,
        mut looks: Looks,
        is_directory: bool,
        now: SystemTime,
    ) -> Result<Ino, Errno> {
        if !self.get(parent)?.is_linked {
            return Err(Errno::ENOENT);
        }
        let store = self.check_writable(parent)?;
        let name = names::check_new(name)?;
        let is_history = name == crate::history::NAME && self.places[store].root == parent;
        if is_history || self.child(parent, name)?.is_some() {
            return Err(Errno::EEXIST);
        }
        let above = self.get(parent)?.looks;
        if above.mode & SET_GROUP != 0 {
            looks.gid = above.gid;
            looks.mode |= if is_directory { SET_GROUP } else { 0 };
        }
        let body = if is_directory {
            Body::Directory(Directory { is_kept: true, ..Directory::default() })
        } else {
            Body::File(Box::new(File::new()))
        };
        let ino = self.add(parent, name, looks, now, body);
        if is_directory {
            self.note_listed(ino);
        }
        self.touch(parent, now);
        Ok(ino)
    }

    pub(crate) fn rmdir(
        &mut self,
        parent: Ino,
        name: &OsStr,
        now: SystemTime,
    ) -> Result<(), Errno> {
        self.check_writable(parent)?;
        let ino = self.child(parent, names::check(name)?)?.ok_or(Errno::ENOENT)?;
        if !self.get(ino)?.directory()?.children.is_empty() {
            return Err(Errno::ENOTEMPTY);
        }
        self.take_out(ino, now);
        Ok(())
    }

    /// Somebody here takes an inode out of its directory, which stays however empty it is.
    pub(crate) fn take_out(&mut self, ino: Ino, now: SystemTime) {
        let Ok(node) = self.get_mut(ino) else { return };
        node.times.changed = now;
        let parent = node.parent;
        self.detach(ino);
        self.unsettled.remove(&ino);
        self.keep(parent, now);
    }

    /// The directory was changed here: it stays.
    pub(crate) fn keep(&mut self, directory: Ino, now: SystemTime) {
        self.touch(directory, now);
        if let Ok(directory) = self.get_mut(directory).and_then(Node::directory_mut) {
            directory.is_kept = true;
        }
    }

    /// The directory has something else in it now. The root above several stores is as new as the
    /// newest of them.
    fn touch(&mut self, directory: Ino, now: SystemTime) {
        let Ok(node) = self.get_mut(directory) else { return };
        node.touch(now);
        let parent = node.parent;
        if parent != directory && self.is_above_stores(parent) {
            self.touch(parent, now);
        }
    }

    /// Says that what is heard of these files now may be our own doing.
    pub(crate) fn set_saving<const N: usize>(&mut self, files: [Option<Ino>; N], is_saving: bool) {
        for ino in files.into_iter().flatten() {
            if let Ok(file) = self.file_mut(ino) {
                file.is_saving = is_saving;
            }
            self.forget(ino, 0);
        }
    }

    /// Says of a parked file which file is about to become its memory, so that the feed's word of it is
    /// not taken for a change of the parked one.
    pub(crate) fn set_successor(&mut self, parked: Option<Ino>, successor: Option<Ino>) {
        if let Some(Ok(file)) = parked.map(|parked| self.file_mut(parked)) {
            file.successor = successor;
        }
    }

    /// Who is at the place of a parked memory and will be it as soon as it is saved.
    pub(crate) fn heir(&self, store: usize, entry: &Entry) -> Option<Ino> {
        let ino = self.find(store, entry.path.as_str())?;
        self.file(ino).is_ok_and(|file| file.saved.is_none()).then_some(ino)
    }

    /// Gives a memory to the file that has taken its place.
    pub(crate) fn bequeath(&mut self, entry: &Arc<Entry>, to: Ino) {
        self.enter(to, entry);
        if let Ok(file) = self.file_mut(to) {
            file.base = Some(crate::node::Base::of(entry));
            file.is_appended = false;
            file.saved = Some(Arc::clone(entry));
        }
    }
}

/// The removal of a memory, whatever it has become.
pub(crate) fn removal(memory: MemoryId) -> Edit {
    Edit { at: At::Memory(memory), expect: Expect::Anything, act: Act::Remove }
}

impl Volume {
    pub(crate) async fn unlink(self: &Arc<Self>, parent: Ino, name: &OsStr) -> Result<(), Errno> {
        let name = names::check(name)?;
        let (ino, turn, store) = {
            let tree = self.tree();
            let ino = tree.child(parent, name)?.ok_or(Errno::ENOENT)?;
            let turn = Arc::clone(&tree.file(ino)?.turn);
            (ino, turn, tree.check_writable(parent)?)
        };
        let _turn = turn.lock().await;
        let _gate = self.gates[store].read().await;
        let (saved, heir, is_open) = {
            let tree = self.tree();
            if tree.child(parent, name)? != Some(ino) {
                return Err(Errno::ENOENT);
            }
            let file = tree.file(ino)?;
            let parked = file.saved.as_ref().filter(|_| file.is_parked);
            let heir = parked.and_then(|entry| tree.heir(store, entry));
            (file.saved.clone(), heir, file.opens > 0)
        };
        if is_open {
            // Whoever has it open goes on reading it, from here if that is quick.
            let bytes = tokio::time::timeout(Duration::from_millis(500), self.bytes(ino)).await;
            let mut tree = self.tree();
            let file = tree.file_mut(ino)?;
            if file.held.is_none() {
                file.held = bytes.ok().and_then(Result::ok);
            }
        }
        if let Some(entry) = saved.as_ref().filter(|_| heir.is_none()) {
            self.tree().set_saving([Some(ino)], true);
            let done = self.edit(store, removal(entry.memory)).await;
            self.tree().set_saving([Some(ino)], false);
            match done {
                Ok(_) | Err(Refusal::NotFound) => {}
                Err(refusal) => return Err(errno::of(&refusal)),
            }
        }
        let now = self.now();
        let mut outdated = Vec::new();
        {
            let mut tree = self.tree();
            let path = tree.path(ino);
            if let Some(entry) = &saved {
                tree.by_memory.remove(&entry.memory);
                tree.unpark(ino);
                if let Some(heir) = heir {
                    tree.bequeath(entry, heir);
                }
            }
            tree.take_out(ino, now);
            tree.reveal(store, &path, &mut outdated);
        }
        self.outdate(outdated);
        Ok(())
    }
}
