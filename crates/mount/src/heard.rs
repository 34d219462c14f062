//! What the server says happened, brought into the tree: pure, so that it can be tested without one.
//!
//! A file with unsaved bytes keeps them whatever is heard; what was heard shows when it is saved. A
//! memory whose path something else has here is hidden until the path is free.

use crate::names;
use crate::node::{Body, File, Ino, moment};
use crate::port::Entry;
use crate::tree::Tree;
use crate::volume::Outdated;
use loci_model::MemoryId;
use std::sync::Arc;
use std::time::SystemTime;

/// Memories to remember as gone. It takes only until late answers have come.
const GONE_MAX: usize = 100_000;

impl Tree {
    /// A memory is as this entry says, or was a moment ago.
    pub(crate) fn hear(&mut self, store: usize, entry: Entry) -> Vec<Outdated> {
        let mut outdated = Vec::new();
        if self.gone.contains(&entry.memory) {
            return outdated;
        }
        self.changes += 1;
        match self.by_memory.get(&entry.memory) {
            Some(ino) => self.hear_known(*ino, entry, &mut outdated),
            None => self.show(store, entry, &mut outdated),
        }
        outdated
    }

    /// A memory is gone, or nobody may see it any more.
    pub(crate) fn hear_gone(&mut self, store: usize, memory: MemoryId) -> Vec<Outdated> {
        let mut outdated = Vec::new();
        if self.gone.len() >= GONE_MAX {
            self.gone.clear();
        }
        self.gone.insert(memory);
        self.places[store].hidden.remove(&memory);
        let Some(ino) = self.by_memory.remove(&memory) else { return outdated };
        let path = self.path(ino);
        let is_scratch =
            self.get(ino).is_ok_and(|node| names::lasting(&node.name) == names::Lasting::Scratch);
        let Ok(file) = self.file_mut(ino) else { return outdated };
        if file.is_parked {
            let origin = file.saved.as_ref().map(|saved| (store, saved.path.clone()));
            self.parked.retain(|at, _| Some(at) != origin.as_ref());
        }
        let Ok(file) = self.file_mut(ino) else { return outdated };
        let stays = file.is_dirty || file.is_parked && is_scratch;
        let is_left = file.is_dirty && file.opens == 0;
        file.lose();
        if is_left {
            // Nobody is going to close it: it is made anew in a while.
            self.wait(ino);
        }
        if !stays {
            self.drop_shown(ino, &mut outdated);
            self.reveal(store, &path, &mut outdated);
        }
        outdated
    }

    /// The newest that was heard of this memory: an answer may be older than what came by the feed.
    pub(crate) fn newest(&self, store: usize, entry: Entry) -> Entry {
        let shown = self.by_memory.get(&entry.memory).and_then(|ino| self.file(*ino).ok());
        let shown = shown.and_then(|file| file.saved.as_deref());
        let hidden = self.places[store].hidden.get(&entry.memory);
        let newer = [shown, hidden].into_iter().flatten().max_by_key(|it| it.revision);
        newer.filter(|it| it.revision > entry.revision).cloned().unwrap_or(entry)
    }

    /// A file was made a memory by an answer; if that memory is gone by now, so is the file.
    pub(crate) fn verify(&mut self, store: usize, memory: MemoryId) -> Vec<Outdated> {
        if self.gone.contains(&memory) { self.hear_gone(store, memory) } else { Vec::new() }
    }

    fn hear_known(&mut self, ino: Ino, entry: Entry, outdated: &mut Vec<Outdated>) {
        let entry = Arc::new(entry);
        let Ok(node) = self.get_mut(ino) else { return };
        let (store, is_dirty) = (node.store, node.file().is_ok_and(|file| file.is_dirty));
        let Ok(file) = node.file_mut() else { return };
        let Some(before) = file.saved.clone() else { return };
        if before.revision >= entry.revision {
            return;
        }
        let is_parked = file.is_parked;
        if is_dirty {
            file.saved = Some(Arc::clone(&entry));
        } else {
            file.take_up(Arc::clone(&entry));
            file.epoch += u64::from(before.digest != entry.digest);
            node.times.is_written_set &= before.digest == entry.digest;
            node.times.is_read_set &= before.digest == entry.digest;
            node.stamp(entry.updated_at);
            outdated.push(Outdated::Node(ino));
        }
        self.enter(ino, &entry);
        if is_parked {
            self.parked.retain(|_, parked| *parked != ino);
            self.parked.insert((store, entry.path.clone()), ino);
        } else {
            self.put_in_place(ino, &entry, outdated);
        }
    }

    /// Whatever the file is after an answer, it is shown where its memory is: the newest word of it
    /// may be that somebody moved it on.
    pub(crate) fn put_in_place(
        &mut self,
        ino: Ino,
        entry: &Arc<Entry>,
        outdated: &mut Vec<Outdated>,
    ) {
        let is_parked = self.file(ino).is_ok_and(|file| file.is_parked);
        if !is_parked && self.path(ino) != entry.path.as_str() {
            self.carry(ino, entry, outdated);
        }
    }

    /// Moves a file to where its memory is now.
    fn carry(&mut self, ino: Ino, entry: &Arc<Entry>, outdated: &mut Vec<Outdated>) {
        let Ok(node) = self.get(ino) else { return };
        let (store, parent, name) = (node.store, node.parent, Arc::clone(&node.name));
        let before = self.path(ino);
        let Some(to) = self.make_room(store, entry, outdated) else {
            // Shown again when the path is free; what is unsaved stays where it is.
            if self.file(ino).is_ok_and(|file| !file.is_dirty) {
                self.by_memory.remove(&entry.memory);
                self.places[store].hidden.insert(entry.memory, entry.as_ref().clone());
                self.drop_shown(ino, outdated);
            }
            return;
        };
        let segment = entry.path.as_str().rsplit('/').next().unwrap_or_default();
        self.relocate(ino, to, segment);
        if let Ok(node) = self.get(ino) {
            outdated.push(Outdated::Name(to, Arc::clone(&node.name)));
        }
        outdated.push(Outdated::Name(parent, name));
        self.prune(parent, outdated);
        self.reveal(store, &before, outdated);
    }

    /// Shows a memory that is not in the tree.
    fn show(&mut self, store: usize, entry: Entry, outdated: &mut Vec<Outdated>) {
        let Some(parent) = self.make_room(store, &entry, outdated) else {
            let entry = self.newest(store, entry);
            self.places[store].hidden.insert(entry.memory, entry);
            return;
        };
        let at = moment(entry.updated_at);
        let segment = entry.path.as_str().rsplit('/').next().unwrap_or_default().to_owned();
        let body = Body::File(Box::new(File::of(entry.clone())));
        let ino = self.add(parent, &segment, self.plain_looks(), at, body);
        self.restore_file(store, ino);
        self.enter(ino, &entry);
        self.freshen(parent, at);
        outdated.push(Outdated::Attributes(parent));
    }

    /// The directory for a memory, if its name there is free or the one that has it gives way: own
    /// memories before others', newer ones before older.
    fn make_room(
        &mut self,
        store: usize,
        entry: &Entry,
        outdated: &mut Vec<Outdated>,
    ) -> Option<Ino> {
        let path = entry.path.as_str();
        if self.is_reserved(path) {
            return None;
        }
        let parent = self.make_way(store, path, moment(entry.updated_at))?;
        let segment = path.rsplit('/').next().unwrap_or_default();
        let shown = names::shown(segment);
        let Some(there) = self.child(parent, shown.as_deref().unwrap_or(segment)).ok()? else {
            return Some(parent);
        };
        let node = self.get(there).ok()?;
        match &node.body {
            Body::Directory(directory) if directory.children.is_empty() => {}
            Body::Directory(_) => return None,
            Body::File(file) => {
                // Who is saved, renamed or removed at this moment may go away by itself.
                let may_go = !file.is_dirty && !file.is_parked && !file.is_saving;
                let other = file.saved.clone().filter(|_| may_go)?;
                let is_better = (entry.is_own, entry.updated_at) > (other.is_own, other.updated_at);
                if !is_better || other.memory == entry.memory {
                    return None;
                }
                self.by_memory.remove(&other.memory);
                self.places[store].hidden.insert(other.memory, other.as_ref().clone());
            }
        }
        self.drop_alone(there, outdated);
        Some(parent)
    }

    /// Whether the mount uses this path for itself.
    fn is_reserved(&self, path: &str) -> bool {
        path.split('/').nth(1) == Some(crate::history::NAME)
    }

    /// Takes something out of its directory and tells the kernel.
    pub(crate) fn drop_alone(&mut self, ino: Ino, outdated: &mut Vec<Outdated>) {
        if let Ok(node) = self.get(ino) {
            outdated.push(Outdated::Name(node.parent, Arc::clone(&node.name)));
        }
        self.detach(ino);
    }

    /// The same, and directories that are empty then.
    fn drop_shown(&mut self, ino: Ino, outdated: &mut Vec<Outdated>) {
        let parent = self.get(ino).map(|node| node.parent).ok();
        self.drop_alone(ino, outdated);
        if let Some(parent) = parent {
            self.prune(parent, outdated);
        }
    }

    /// Directories that only memories made go with their last memory.
    fn prune(&mut self, from: Ino, outdated: &mut Vec<Outdated>) {
        let mut at = from;
        while let Ok(node) = self.get(at)
            && let Ok(directory) = node.directory()
            && directory.children.is_empty()
            && !directory.is_kept
            && self.is_listed(at)
        {
            let parent = node.parent;
            self.drop_alone(at, outdated);
            at = parent;
        }
        outdated.push(Outdated::Attributes(at));
    }

    /// Shows what was hidden behind something that had its path.
    pub(crate) fn reveal(&mut self, store: usize, path: &str, outdated: &mut Vec<Outdated>) {
        let waiting = self.places[store].hidden.values();
        let next = waiting.filter(|entry| entry.path.as_str() == path);
        let next = next.max_by_key(|entry| (entry.is_own, entry.updated_at)).cloned();
        if let Some(entry) = next {
            self.places[store].hidden.remove(&entry.memory);
            self.show(store, entry, outdated);
        }
    }

    /// Shows whatever was hidden and has its path free by now, however that came: a file above it may
    /// have gone, or the directory that had its name.
    pub(crate) fn reveal_all(&mut self, outdated: &mut Vec<Outdated>) {
        if !std::mem::take(&mut self.has_vacancy) {
            return;
        }
        for store in 0..self.places.len() {
            let waiting: Vec<Entry> = self.places[store].hidden.values().cloned().collect();
            for entry in waiting {
                self.places[store].hidden.remove(&entry.memory);
                self.show(store, entry, outdated);
            }
        }
        // What gave way to something better is no vacancy.
        self.has_vacancy = false;
    }

    /// Directories are as new as what is in them.
    fn freshen(&mut self, from: Ino, at: SystemTime) {
        let mut ino = from;
        while let Some(node) = self.nodes.get_mut(&ino)
            && node.times.written < at
        {
            node.times.written = at;
            node.times.changed = node.times.changed.max(at);
            if node.parent == ino {
                break;
            }
            ino = node.parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Looks;
    use crate::port::StoreSeen;
    use loci_model::{Access, Attributes, Content, MemoryPath, StoreId, Timestamp, VersionId};

    fn tree() -> Tree {
        let seen = StoreSeen {
            id: StoreId::from_u128(1),
            slug: "one".into(),
            name: "one".into(),
            description: String::new(),
            access: Access::ReadWrite,
            most: Access::ReadWrite,
            content_bytes_max: 100,
            memories_max: 10,
        };
        let looks = Looks { mode: 0o644, uid: 0, gid: 0 };
        Tree::new(vec![seen], true, looks, SystemTime::UNIX_EPOCH)
    }

    fn entry(memory: u128, revision: u64, path: &str) -> Entry {
        Entry {
            memory: MemoryId::from_u128(memory),
            version: VersionId::from_u128(revision.into()),
            revision,
            path: MemoryPath::parse(path).unwrap(),
            digest: Content::Text(String::new()).digest(),
            size_bytes: 0,
            created_at: Timestamp::from_micros(1),
            updated_at: Timestamp::from_micros(1),
            attributes: Attributes::default(),
            is_own: true,
        }
    }

    /// A file that the kernel knows.
    fn known(tree: &mut Tree, memory: u128, path: &str) -> Ino {
        tree.hear(0, entry(memory, 1, path));
        let ino = tree.find(0, path).unwrap();
        tree.get_mut(ino).unwrap().lookups = 1;
        ino
    }

    fn unsaved(tree: &mut Tree, name: &str) -> Ino {
        let looks = tree.plain_looks();
        tree.make(tree.places[0].root, name.as_ref(), looks, false, SystemTime::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn what_moved_to_where_an_unsaved_file_is_shows_when_that_goes() {
        let mut tree = tree();
        known(&mut tree, 1, "/a");
        let there = unsaved(&mut tree, "b");
        tree.hear(0, entry(1, 2, "/b"));
        assert_eq!((tree.find(0, "/a"), tree.find(0, "/b")), (None, Some(there)));
        tree.take_out(there, SystemTime::UNIX_EPOCH);
        tree.reveal_all(&mut Vec::new());
        let shown = tree.find(0, "/b").unwrap();
        assert_eq!(tree.file(shown).unwrap().saved.as_ref().unwrap().revision, 2);
    }

    #[test]
    fn a_rename_that_was_overtaken_ends_where_the_memory_is() {
        let mut tree = tree();
        let ino = known(&mut tree, 1, "/a");
        let there = unsaved(&mut tree, "c");
        // Somebody else moves it on to a name that is taken here, which is heard first.
        tree.hear(0, entry(1, 3, "/c"));
        tree.relocate(ino, tree.places[0].root, "b");
        tree.moved(0, ino, entry(1, 2, "/b"));
        assert_eq!((tree.find(0, "/b"), tree.find(0, "/c")), (None, Some(there)));
        tree.take_out(there, SystemTime::UNIX_EPOCH);
        tree.reveal_all(&mut Vec::new());
        assert!(tree.find(0, "/c").is_some());
    }

    #[test]
    fn a_change_finds_a_file_that_could_not_follow_before() {
        let mut tree = tree();
        let ino = known(&mut tree, 1, "/a");
        tree.file_mut(ino).unwrap().soil(Arc::default(), None);
        let there = unsaved(&mut tree, "b");
        tree.hear(0, entry(1, 2, "/b"));
        assert_eq!(tree.find(0, "/a"), Some(ino), "what is unsaved stays where it is");
        tree.take_out(there, SystemTime::UNIX_EPOCH);
        tree.hear(0, entry(1, 3, "/b"));
        assert_eq!((tree.find(0, "/a"), tree.find(0, "/b")), (None, Some(ino)));
    }
}
