//! The tree of inodes: who is whose child, which file is which memory, and what paths result.
//!
//! Pure bookkeeping behind one lock that is never held across a wait. Inode numbers come from store
//! and path, so that a tree built anew has the same ones; a number still in use is stepped over. What
//! has another number, because it was renamed, is known by its mark (`marks`).

use crate::access::State;
use crate::loading::Loading;
use crate::marks::Marks;
use crate::names::{self, Lasting};
use crate::node::{Body, Directory, File, Ino, Looks, Node, ROOT, Times};
use crate::port::{Entry, StoreSeen};
use crate::readers::Readers;
use foldhash::{HashMap, HashSet};
use fuser::Errno;
use loci_model::{Access, Content, MemoryId, MemoryPath, StoreId, Timestamp};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

/// Numbers below mean something.
const INO_MIN: Ino = 16;

/// One store in the mount.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) seen: StoreSeen,
    /// What the server last said that may be done with it.
    pub(crate) told: Access,
    pub(crate) state: State,
    /// Counts how often it came and went: whoever follows an earlier one is done.
    pub(crate) era: u64,
    /// How far its paths are known; none if all of them are.
    pub(crate) loading: Option<Loading>,
    /// Its directory.
    pub(crate) root: Ino,
    /// Memories that cannot be shown now, because something else has their path.
    pub(crate) hidden: HashMap<MemoryId, Entry>,
}

/// An open file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handle {
    pub(crate) ino: Ino,
    /// Whether it wrote since its last flush.
    pub(crate) has_written: bool,
    /// The thread that wrote last; none if the kernel wrote by itself.
    pub(crate) writer: u32,
    /// Whether it created or emptied the file, which counts when its opener closes it.
    pub(crate) has_touched: bool,
    /// The thread that opened it.
    pub(crate) opener: u32,
    /// What its last save was refused with.
    pub(crate) error: Option<Errno>,
}

/// All inodes.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: HashMap<Ino, Node>,
    pub(crate) places: Vec<Place>,
    pub(crate) by_memory: HashMap<MemoryId, Ino>,
    /// Files shown under a scratch name, by where the server has them.
    pub(crate) parked: HashMap<(usize, MemoryPath), Ino>,
    pub(crate) handles: HashMap<u64, Handle>,
    /// What processes have read of memories.
    pub(crate) readers: Readers,
    /// Memories that are gone, for whoever hears of them late.
    pub(crate) gone: HashSet<MemoryId>,
    /// Files that wait to be settled.
    pub(crate) unsettled: HashSet<Ino>,
    /// Memories that will expire, the next one first. One that was given another time since is
    /// looked at for nothing.
    pub(crate) expiring: BTreeSet<(Timestamp, usize, MemoryId)>,
    /// Whether a name has become free since somebody looked for what waits for one.
    pub(crate) has_vacancy: bool,
    /// What is remembered from the mount before, and the numbers that others have by it.
    pub(crate) marks: Marks,
    pub(crate) claimed: HashSet<Ino>,
    /// Counts whatever may be worth remembering.
    pub(crate) changes: u64,
    next_handle: u64,
    is_flat: bool,
    looks: Looks,
}

impl Tree {
    /// A tree of empty stores.
    pub(crate) fn new(
        stores: Vec<StoreSeen>,
        is_flat: bool,
        looks: Looks,
        now: SystemTime,
    ) -> Self {
        let mut tree = Self {
            nodes: HashMap::default(),
            places: Vec::with_capacity(stores.len()),
            by_memory: HashMap::default(),
            parked: HashMap::default(),
            handles: HashMap::default(),
            readers: Readers::default(),
            gone: HashSet::default(),
            unsettled: HashSet::default(),
            expiring: BTreeSet::new(),
            has_vacancy: false,
            marks: Marks::default(),
            claimed: HashSet::default(),
            changes: 0,
            next_handle: 0,
            is_flat,
            looks,
        };
        tree.nodes.insert(ROOT, tree.bare(ROOT, 0, ROOT, "".into(), now));
        for seen in stores {
            let name: Arc<str> = seen.slug.as_str().into();
            let at = tree.admit(seen, now);
            let place = &mut tree.places[at];
            place.state = State::Open;
            let root = place.root;
            if !is_flat {
                tree.enlist(ROOT, &name, root);
            }
        }
        tree
    }

    /// A place for one more store, which is not shown yet.
    pub(crate) fn admit(&mut self, seen: StoreSeen, now: SystemTime) -> usize {
        let (at, told) = (self.places.len(), seen.access);
        let root = if self.is_flat { ROOT } else { self.free_ino(number(seen.id, "/")) };
        if !self.is_flat {
            let name = seen.slug.as_str().into();
            self.nodes.insert(root, self.bare(root, at, ROOT, name, now));
        }
        let hidden = HashMap::default();
        self.places.push(Place {
            seen,
            told,
            state: State::Gone,
            era: 0,
            loading: None,
            root,
            hidden,
        });
        at
    }

    fn bare(&self, ino: Ino, store: usize, parent: Ino, name: Arc<str>, now: SystemTime) -> Node {
        let directory = Directory { is_kept: true, ..Directory::default() };
        Node {
            ino,
            store,
            parent,
            name,
            segment: None,
            is_linked: true,
            lookups: 0,
            looks: self.looks.of_directory(),
            times: Times::all(now),
            body: Body::Directory(directory),
        }
    }

    pub(crate) fn get(&self, ino: Ino) -> Result<&Node, Errno> {
        self.nodes.get(&ino).ok_or(Errno::ESTALE)
    }

    pub(crate) fn get_mut(&mut self, ino: Ino) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&ino).ok_or(Errno::ESTALE)
    }

    pub(crate) fn file(&self, ino: Ino) -> Result<&File, Errno> {
        self.get(ino)?.file()
    }

    pub(crate) fn file_mut(&mut self, ino: Ino) -> Result<&mut File, Errno> {
        self.get_mut(ino)?.file_mut()
    }

    /// The directory's child of this name.
    pub(crate) fn child(&self, parent: Ino, name: &str) -> Result<Option<Ino>, Errno> {
        Ok(self.get(parent)?.directory()?.children.get(name).copied())
    }

    /// Whether this is the root above several stores, which belongs to none of them.
    pub(crate) fn is_above_stores(&self, ino: Ino) -> bool {
        ino == ROOT && !self.is_flat
    }

    /// The path of an inode in its store; empty for the store's own directory.
    pub(crate) fn path(&self, ino: Ino) -> String {
        let mut segments = Vec::with_capacity(8);
        let mut at = ino;
        while let Some(node) = self.nodes.get(&at).filter(|node| {
            !self.is_above_stores(at) && self.places.get(node.store).is_some_and(|it| it.root != at)
        }) {
            segments.push(node.segment());
            at = node.parent;
        }
        segments.iter().rev().fold(String::new(), |path, segment| path + "/" + segment)
    }

    /// A path below a directory.
    pub(crate) fn path_below(&self, parent: Ino, name: &str) -> String {
        self.path(parent) + "/" + name
    }

    /// What is at a path of a store.
    pub(crate) fn find(&self, store: usize, path: &str) -> Option<Ino> {
        path.split('/').skip(1).try_fold(self.places.get(store)?.root, |at, segment| {
            let shown = names::shown(segment);
            self.child(at, shown.as_deref().unwrap_or(segment)).ok().flatten()
        })
    }

    /// How long a file is likely to live under a name in a directory, by what else is there.
    pub(crate) fn lasting(&self, parent: Ino, name: &str) -> Lasting {
        let is_file = |name: &str| {
            let there = self.child(parent, name).ok().flatten();
            there.is_some_and(|ino| self.file(ino).is_ok())
        };
        match names::lasting(name) {
            Lasting::Kept if names::originals(name).any(is_file) => Lasting::Passing,
            lasting => lasting,
        }
    }

    /// The number that the path of an inode gives.
    pub(crate) fn key(&self, ino: Ino) -> Ino {
        let store = self.nodes.get(&ino).map_or(0, |node| node.store);
        let path = self.path(ino);
        number(self.places[store].seen.id, if path.is_empty() { "/" } else { &path })
    }

    /// A number for what is at the path that gives this one.
    fn free_ino(&self, key: Ino) -> Ino {
        let marked = self.marks.get(&key).map(|mark| mark.ino);
        if let Some(ino) = marked.filter(|ino| *ino >= INO_MIN && !self.nodes.contains_key(ino)) {
            return ino;
        }
        let mut ino = key;
        while self.nodes.contains_key(&ino) || self.claimed.contains(&ino) {
            ino = ino.wrapping_add(1).max(INO_MIN);
        }
        ino
    }

    pub(crate) fn enlist(&mut self, parent: Ino, name: &Arc<str>, ino: Ino) {
        let is_directory = self.nodes.get(&ino).is_some_and(Node::is_directory);
        if let Some(Body::Directory(directory)) = self.nodes.get_mut(&parent).map(|it| &mut it.body)
        {
            self.changes += 1;
            directory.children.insert(Arc::clone(name), ino);
            directory.directories += u32::from(is_directory);
        }
    }

    /// Takes a name from whoever has it; one that has gone to another since stays with that.
    pub(crate) fn strike(&mut self, parent: Ino, name: &str, ino: Ino, is_directory: bool) {
        if let Some(Body::Directory(directory)) = self.nodes.get_mut(&parent).map(|it| &mut it.body)
            && directory.children.get(name) == Some(&ino)
        {
            self.has_vacancy = true;
            self.changes += 1;
            directory.children.remove(name);
            directory.directories -= u32::from(is_directory);
        }
    }

    /// Puts something new into a directory where nothing has that name.
    pub(crate) fn add(
        &mut self,
        parent: Ino,
        segment: &str,
        looks: Looks,
        now: SystemTime,
        body: Body,
    ) -> Ino {
        let store = self.nodes.get(&parent).map_or(0, |it| it.store);
        let path = self.path_below(parent, segment);
        let ino = self.free_ino(number(self.places[store].seen.id, &path));
        let shown = names::shown(segment);
        let name: Arc<str> = shown.as_deref().unwrap_or(segment).into();
        let node = Node {
            ino,
            store,
            parent,
            name: Arc::clone(&name),
            segment: shown.map(|_| segment.into()),
            is_linked: true,
            lookups: 0,
            looks,
            times: Times::all(now),
            body,
        };
        self.nodes.insert(ino, node);
        self.enlist(parent, &name, ino);
        ino
    }

    /// Moves an inode to another name, where nothing is.
    pub(crate) fn relocate(&mut self, ino: Ino, parent: Ino, segment: &str) {
        let Some(node) = self.nodes.get_mut(&ino) else { return };
        let shown = names::shown(segment);
        let name: Arc<str> = shown.as_deref().unwrap_or(segment).into();
        let (old_parent, old_name) = (node.parent, std::mem::replace(&mut node.name, name.clone()));
        node.segment = shown.map(|_| segment.into());
        node.parent = parent;
        node.is_linked = true;
        let is_directory = node.is_directory();
        self.strike(old_parent, &old_name, ino, is_directory);
        self.enlist(parent, &name, ino);
    }

    /// Takes an inode out of its directory; it lives on while the kernel knows it.
    pub(crate) fn detach(&mut self, ino: Ino) {
        let Some(node) = self.nodes.get_mut(&ino) else { return };
        if !node.is_linked {
            return;
        }
        node.is_linked = false;
        let (parent, name, is_directory) = (node.parent, node.name.clone(), node.is_directory());
        self.strike(parent, &name, ino, is_directory);
        self.forget(ino, 0);
    }

    /// The kernel forgot an inode so often; one that nobody knows any more goes.
    pub(crate) fn forget(&mut self, ino: Ino, times: u64) {
        let Some(node) = self.nodes.get_mut(&ino) else { return };
        node.lookups = node.lookups.saturating_sub(times);
        let is_open = matches!(&node.body, Body::File(file) if file.opens > 0 || file.is_saving);
        if node.lookups == 0 && !node.is_linked && !is_open {
            self.nodes.remove(&ino);
        }
    }

    /// The directory that a path's last segment is in, made if it is not there.
    pub(crate) fn make_way(&mut self, store: usize, path: &str, now: SystemTime) -> Option<Ino> {
        let mut at = self.places.get(store)?.root;
        let (way, _) = path.rsplit_once('/')?;
        for segment in way.split('/').skip(1) {
            let shown = names::shown(segment);
            at = match self.child(at, shown.as_deref().unwrap_or(segment)).ok()? {
                Some(ino) => ino,
                None => {
                    let looks = self.looks.of_directory();
                    let body = Body::Directory(Directory::default());
                    let ino = self.add(at, segment, looks, now, body);
                    self.restore_looks(store, ino);
                    ino
                }
            };
        }
        self.get(at).ok()?.is_directory().then_some(at)
    }

    /// Opens a file.
    pub(crate) fn open(&mut self, ino: Ino, has_touched: bool, opener: u32) -> Result<u64, Errno> {
        self.file_mut(ino)?.opens += 1;
        self.next_handle += 1;
        let (has_written, writer, error) = (false, 0, None);
        let handle = Handle { ino, has_written, writer, has_touched, opener, error };
        self.handles.insert(self.next_handle, handle);
        Ok(self.next_handle)
    }

    /// Says which file is a memory.
    pub(crate) fn enter(&mut self, ino: Ino, entry: &Entry) {
        let Some(node) = self.nodes.get(&ino) else { return };
        self.places[node.store].hidden.remove(&entry.memory);
        if let Some(at) = entry.attributes.expires_at {
            self.expiring.insert((at, node.store, entry.memory));
        }
        let before = self.by_memory.insert(entry.memory, ino).filter(|before| *before != ino);
        let is_shown_twice = |file: &File| {
            !file.is_parked && file.saved.as_ref().is_some_and(|it| it.memory == entry.memory)
        };
        // It has moved, and this is heard before the move is.
        if let Some(before) = before.filter(|it| self.file(*it).is_ok_and(is_shown_twice)) {
            if let Ok(file) = self.file_mut(before) {
                file.lose();
            }
            if self.file(before).is_ok_and(|file| !file.is_dirty) {
                self.detach(before);
            }
        }
    }

    /// The looks of a memory's file.
    pub(crate) fn plain_looks(&self) -> Looks {
        self.looks
    }
}

/// The number that a path gives.
fn number(store: StoreId, path: &str) -> Ino {
    let digest = Content::Text(format!("{store}{path}")).digest();
    let bytes = digest.as_bytes().first_chunk().copied().unwrap_or_default();
    // Positive where programs take it for signed.
    (u64::from_be_bytes(bytes) >> 1).max(INO_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let seen = |n: u128, slug: &str| StoreSeen {
            id: StoreId::from_u128(n),
            slug: slug.into(),
            name: slug.into(),
            description: String::new(),
            access: if n == 1 { Access::ReadWrite } else { Access::ReadOnly },
            most: Access::ReadWrite,
            content_bytes_max: 100,
            memories_max: 10,
        };
        let looks = Looks { mode: 0o644, uid: 0, gid: 0 };
        let stores = vec![seen(1, "one"), seen(2, "two")];
        Tree::new(stores, false, looks, SystemTime::UNIX_EPOCH)
    }

    fn put(tree: &mut Tree, store: usize, path: &str) -> Ino {
        let parent = tree.make_way(store, path, SystemTime::UNIX_EPOCH).unwrap();
        let segment = path.rsplit('/').next().unwrap();
        let looks = tree.plain_looks();
        let body = Body::File(Box::new(File::new()));
        tree.add(parent, segment, looks, SystemTime::UNIX_EPOCH, body)
    }

    #[test]
    fn paths_make_directories_and_numbers_are_the_same_again() {
        let (mut one, mut two) = (tree(), tree());
        let ino = put(&mut one, 0, "/a/b/c.md");
        assert_eq!(one.path(ino), "/a/b/c.md");
        assert_eq!(one.find(0, "/a/b/c.md"), Some(ino));
        assert_eq!(one.find(1, "/a/b/c.md"), None);
        put(&mut two, 0, "/a/b/other.md");
        assert_eq!(put(&mut two, 0, "/a/b/c.md"), ino);
        assert_ne!(put(&mut two, 1, "/a/b/c.md"), ino);
        let root = one.get(one.places[0].root).unwrap();
        assert_eq!(root.attr().nlink, 3);
    }

    #[test]
    fn a_number_in_use_is_stepped_over() {
        let mut tree = tree();
        let first = put(&mut tree, 0, "/x");
        tree.get_mut(first).unwrap().lookups = 1;
        tree.detach(first);
        assert_eq!(tree.find(0, "/x"), None);
        let second = put(&mut tree, 0, "/x");
        assert_ne!(first, second);
        tree.forget(first, 1);
        assert!(tree.get(first).is_err() && tree.get(second).is_ok());
    }

    #[test]
    fn long_segments_keep_their_path() {
        let mut tree = tree();
        let path = format!("/{}/{}", "d".repeat(300), "f".repeat(400));
        let ino = put(&mut tree, 0, &path);
        assert_eq!(tree.path(ino), path);
        assert_eq!(tree.find(0, &path), Some(ino));
        assert!(tree.get(ino).unwrap().name.len() <= names::NAME_BYTES_MAX);
        let root = tree.places[0].root;
        tree.relocate(ino, root, "short");
        assert_eq!(tree.path(ino), "/short");
    }

    #[test]
    fn only_stores_open_for_writing_are_writable() {
        let mut tree = tree();
        let (one, two) = (put(&mut tree, 0, "/x"), put(&mut tree, 1, "/x"));
        assert_eq!(tree.check_writable(one), Ok(0));
        assert_eq!(tree.check_writable(two), Err(Errno::EROFS));
        assert_eq!(tree.check_writable(ROOT), Err(Errno::EROFS));
        tree.close(0);
        assert_eq!(tree.check_writable(one), Err(Errno::EACCES));
        assert_eq!((tree.check_open(one), tree.check_open(two)), (Err(Errno::EACCES), Ok(())));
        assert!(tree.set_access(0, Access::ReadOnly));
        assert_eq!((tree.check_open(one), tree.check_writable(one)), (Ok(()), Err(Errno::EROFS)));
        assert!(tree.set_access(0, Access::ReadWrite));
        assert_eq!(tree.check_writable(one), Ok(0));
        assert!(!tree.set_access(0, Access::ReadWrite), "that is no news");
    }
}
