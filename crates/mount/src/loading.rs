//! Large stores are mounted before all of their paths are known. The first page of paths comes before
//! the mount is there, the others behind it, in the order of paths; a directory that somebody visits is
//! listed before its turn. What needs all of a store waits: renames of directories, `df`, and what is
//! remembered of directories.

use crate::errno;
use crate::history::is_history;
use crate::node::{Body, Ino};
use crate::port::{Listing, Refusal};
use crate::tree::Tree;
use crate::volume::{Outdated, Volume};
use foldhash::HashSet;
use fuser::Errno;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Directories that are listed before their turn at the same time.
pub(crate) const TURNS: usize = 16;
/// How long to wait before a page that did not come is asked for again.
const PAUSE: Duration = Duration::from_secs(1);

/// How far a store is loaded.
#[derive(Debug)]
pub(crate) struct Loading {
    /// Every path up to this one is known.
    reached: String,
    /// Directories that were listed before their turn, or made here.
    listed: HashSet<Ino>,
    /// When it began.
    since: SystemTime,
    /// Whether the page that is asked for did not come.
    is_stuck: bool,
}

impl Tree {
    /// A store is known up to this path, and the rest will come.
    pub(crate) fn begin_loading(&mut self, store: usize, reached: String, since: SystemTime) {
        let listed = HashSet::default();
        self.places[store].loading = Some(Loading { reached, listed, since, is_stuck: false });
    }

    /// Whether a store is not known as a whole.
    pub(crate) fn is_loading(&self, store: usize) -> bool {
        self.places[store].loading.is_some()
    }

    /// Whether all names in a directory are known.
    pub(crate) fn is_listed(&self, directory: Ino) -> bool {
        let Ok(node) = self.get(directory) else { return true };
        let Some(loading) = &self.places[node.store].loading else { return true };
        if self.is_above_stores(directory) || loading.listed.contains(&directory) {
            return true;
        }
        // What is below a directory comes before whatever is beside it and follows.
        let end = self.path(directory) + "0";
        loading.reached > end
    }

    /// All names in a directory are known.
    pub(crate) fn note_listed(&mut self, directory: Ino) {
        let Ok(store) = self.get(directory).map(|node| node.store) else { return };
        if let Some(loading) = &mut self.places[store].loading {
            loading.listed.insert(directory);
        }
    }

    /// How long the kernel may believe in the attributes of an inode: those of a directory change
    /// while its store is loaded.
    pub(crate) fn ttl(&self, ino: Ino) -> Duration {
        match self.nodes.get(&ino) {
            Some(node) if node.is_directory() && self.is_loading(node.store) => Duration::ZERO,
            Some(node) => node.ttl(),
            None => Duration::ZERO,
        }
    }

    fn reach(&mut self, store: usize, path: &str) {
        if let Some(loading) = &mut self.places[store].loading
            && loading.reached.as_str() < path
        {
            path.clone_into(&mut loading.reached);
        }
    }

    /// A page did not come, or came; says whether that is news.
    fn set_stuck(&mut self, store: usize, is_stuck: bool) -> bool {
        let loading = self.places[store].loading.as_mut();
        loading.is_some_and(|it| std::mem::replace(&mut it.is_stuck, is_stuck) != is_stuck)
    }

    /// The store is known as a whole: directories that hold nothing to show go, and the others get the
    /// times that are remembered of them, unless they were changed here since.
    fn end_loading(&mut self, store: usize) -> Vec<Outdated> {
        let mut outdated = Vec::new();
        let Some(loading) = self.places[store].loading.take() else { return outdated };
        self.prune_below(self.places[store].root, &mut outdated);
        self.restore_directories(store, loading.since);
        let known = self.nodes.values().filter(|node| node.store == store && node.lookups > 0);
        let directories = known.filter(|node| node.is_directory());
        outdated.extend(directories.map(|node| Outdated::Attributes(node.ino)));
        self.changes += 1;
        outdated
    }

    fn prune_below(&mut self, directory: Ino, outdated: &mut Vec<Outdated>) {
        let Ok(inside) = self.get(directory).and_then(|node| node.directory()) else { return };
        for ino in inside.children.values().copied().collect::<Vec<_>>() {
            self.prune_below(ino, outdated);
            let is_empty = self.get(ino).is_ok_and(|node| {
                matches!(&node.body, Body::Directory(it) if it.children.is_empty() && !it.is_kept)
            });
            if is_empty {
                self.drop_alone(ino, outdated);
            }
        }
    }
}

impl Volume {
    /// Brings the rest of a store, from this page on.
    pub(crate) async fn load_behind(self: Arc<Self>, store: usize, mut listing: Listing) {
        loop {
            let page = match self.port.list(self.stores[store], &listing).await {
                Ok(page) => page,
                Err(refusal) => {
                    if self.tree().set_stuck(store, true) {
                        let why = errno::reason(&refusal);
                        tracing::warn!(store = %self.stores[store], why, "cannot load the store");
                    }
                    self.loaded.send_modify(|count| *count += 1);
                    if matches!(refusal, Refusal::Invalid(_)) {
                        // The server knows the page no more: from the beginning.
                        listing.page = None;
                    }
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let mut outdated = Vec::new();
            {
                let mut tree = self.tree();
                if !tree.is_loading(store) {
                    // Its directory is gone.
                    return;
                }
                tree.set_stuck(store, false);
                let last = page.entries.last().map(|(entry, _)| entry.path.clone());
                for (entry, _) in page.entries {
                    outdated.extend(tree.hear(store, entry));
                }
                match (&page.next, last) {
                    (None, _) => outdated.extend(tree.end_loading(store)),
                    (Some(_), Some(last)) => tree.reach(store, last.as_str()),
                    (Some(_), None) => {}
                }
            }
            self.outdate(outdated);
            listing.page = page.next;
            if listing.page.is_none() {
                self.loaded.send_modify(|count| *count += 1);
                return;
            }
        }
    }

    /// Lists a directory before its turn, unless all names in it are known.
    pub(crate) async fn ensure_listed(self: &Arc<Self>, directory: Ino) -> Result<(), Errno> {
        if is_history(directory) || self.tree().is_listed(directory) {
            return Ok(());
        }
        let turn = usize::try_from(directory).unwrap_or(0) % TURNS;
        let _turn = self.listing[turn].lock().await;
        let (store, prefix, since) = {
            let tree = self.tree();
            tree.check_open(directory)?;
            let node = tree.get(directory)?;
            node.directory()?;
            let Some(loading) = &tree.places[node.store].loading else { return Ok(()) };
            (node.store, tree.path(directory) + "/", loading.since)
        };
        let mut listing = Listing { prefix, is_deep: false, with_text: false, page: None };
        // Somebody else may have listed it, or the rest of the store may have come meanwhile.
        while !self.tree().is_listed(directory) {
            let page = self.ask(self.port.list(self.stores[store], &listing)).await;
            let page = page.map_err(|refusal| match refusal {
                Refusal::NotFound => Errno::EACCES,
                refusal => errno::of(&refusal),
            })?;
            let mut outdated = Vec::new();
            {
                let mut tree = self.tree();
                for (entry, _) in page.entries {
                    outdated.extend(tree.hear(store, entry));
                }
                for path in page.directories {
                    tree.make_way(store, &path, since);
                }
                if page.next.is_none() {
                    tree.note_listed(directory);
                }
            }
            self.outdate(outdated);
            listing.page = page.next;
        }
        Ok(())
    }

    /// Waits until a store is known as a whole; not while the server does not tell.
    pub(crate) async fn wait_for_all_of(&self, store: usize) -> Result<(), Errno> {
        let mut loaded = self.loaded.subscribe();
        loop {
            match &self.tree().places[store].loading {
                None => return Ok(()),
                Some(loading) if loading.is_stuck => return Err(Errno::EIO),
                Some(_) => {}
            }
            // The sender lives as long as the mount does.
            let _ = loaded.changed().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Looks;
    use crate::port::StoreSeen;
    use loci_model::{Access, StoreId};

    #[test]
    fn directories_are_known_when_all_that_is_below_them_has_come() {
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
        let now = SystemTime::UNIX_EPOCH;
        let mut tree = Tree::new(vec![seen], false, looks, now);
        let [a, b, below] =
            ["/a/", "/b/", "/b/c/"].map(|path| tree.make_way(0, path, now).unwrap());
        let root = tree.places[0].root;
        assert!([root, a, b, below].iter().all(|ino| tree.is_listed(*ino)));
        tree.begin_loading(0, "/b/c/x".into(), now);
        let listed = |tree: &Tree| [root, a, b, below].map(|ino| tree.is_listed(ino));
        assert_eq!(listed(&tree), [false, true, false, false]);
        tree.reach(0, "/b/c.md");
        assert_eq!(listed(&tree), [false, true, false, false], "a dot comes before a slash");
        tree.reach(0, "/b/d");
        tree.reach(0, "/a/x");
        assert_eq!(listed(&tree), [false, true, false, true]);
        tree.note_listed(root);
        assert_eq!(listed(&tree), [true, true, false, true]);
        assert!(tree.is_listed(crate::node::ROOT), "the root above stores is of none of them");
        assert_eq!((tree.ttl(b), tree.ttl(crate::node::ROOT)), (Duration::ZERO, Duration::ZERO));
        tree.end_loading(0);
        assert!(tree.find(0, "/b").is_none() && tree.is_listed(root));
    }
}
