//! What waits a moment before it is decided: files with passing names are stored if they are still
//! there, memories under scratch names really move there if nothing took their place, and what
//! expires goes on time. What was refused by an outage is tried again.

use crate::errno;
use crate::names;
use crate::node::{Body, File, Ino, Node};
use crate::port::{At, Edit, Refusal};
use crate::save::{Occasion, RETRY_AFTER, put};
use crate::tree::Tree;
use crate::volume::Volume;
use fuser::Errno;
use futures_util::StreamExt;
use futures_util::future::join;
use futures_util::stream;
use loci_model::Expect;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::time::{Interval, MissedTickBehavior};

/// How long a passing or parked file may wait for what comes next.
const SETTLE_AFTER: Duration = Duration::from_secs(2);
/// How often to look.
const TICK: Duration = Duration::from_millis(100);
/// How many refused files are tried again at once.
const RETRIES_MAX: usize = 16;

/// Something that is not saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaved {
    /// The path below the mount point.
    pub path: String,
    /// Why.
    pub why: String,
}

impl Tree {
    /// A file waits for what comes next, for a while.
    pub(crate) fn wait(&mut self, ino: Ino) {
        if let Ok(file) = self.file_mut(ino) {
            file.settle_at = Some(Instant::now() + SETTLE_AFTER);
            self.unsettled.insert(ino);
        }
    }

    /// It waits no longer.
    fn decide(&mut self, ino: Ino) {
        self.unsettled.remove(&ino);
        if let Ok(file) = self.file_mut(ino) {
            file.settle_at = None;
        }
    }
}

fn ticks() -> Interval {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

impl Volume {
    /// Settles what is due, for as long as the mount lives. A server that does not answer delays
    /// neither what needs no answer nor, with retries, what is settled for the first time.
    pub(crate) async fn keep_settling(self: Arc<Self>) {
        let look = || async {
            let mut tick = ticks();
            loop {
                tick.tick().await;
                self.expire();
                self.reveal();
            }
        };
        let settle = || async {
            let mut tick = ticks();
            loop {
                tick.tick().await;
                for ino in self.due(|file| file.settle_at) {
                    // What is refused is marked, and tried again if that may help.
                    let _ = self.settle(ino).await;
                }
            }
        };
        let retry = || async {
            let mut tick = ticks();
            loop {
                tick.tick().await;
                let due = self.due(File::retry_at);
                let retries = stream::iter(due).map(|ino| self.retry(ino));
                retries.buffer_unordered(RETRIES_MAX).collect::<()>().await;
            }
        };
        join(look(), join(settle(), retry())).await;
    }

    /// Files for which the time has come.
    fn due(&self, when: impl Fn(&File) -> Option<Instant>) -> Vec<Ino> {
        let now = Instant::now();
        let mut tree = self.tree();
        let Tree { unsettled, nodes, .. } = &mut *tree;
        let mut due = Vec::new();
        unsettled.retain(|ino| {
            let Some(Ok(file)) = nodes.get(ino).map(Node::file) else { return false };
            if when(file).is_some_and(|at| at <= now) {
                due.push(*ino);
            }
            file.settle_at.or(file.retry_at()).is_some()
        });
        due
    }

    /// Tries to save a refused file just as it is. One that a program is writing waits for its close.
    async fn retry(self: &Arc<Self>, ino: Ino) {
        {
            let mut tree = self.tree();
            if tree.handles.values().any(|it| it.ino == ino && it.has_written) {
                return;
            }
            let Ok(file) = tree.file_mut(ino) else { return };
            if file.refusal().is_none() {
                // It was written since, and that save is another matter.
                if let Some(refused) = &mut file.refused {
                    refused.retry_at = None;
                }
                return;
            }
        }
        // If it is refused again, that is marked as it was.
        let _ = self.save(ino, Occasion::Demand).await;
    }

    /// The server answers again: what it did not take is tried again now.
    pub(crate) fn retry_all(&self, store: usize) {
        let mut tree = self.tree();
        let waiting: Vec<Ino> = tree.unsettled.iter().copied().collect();
        for ino in waiting {
            let node = tree.get_mut(ino).ok().filter(|node| node.store == store);
            let Some(Ok(file)) = node.map(Node::file_mut) else { continue };
            if let Some(refused) = file.refused.as_mut().filter(|it| it.retry_at.is_some()) {
                refused.retry_at = Some(Instant::now());
                refused.pause = RETRY_AFTER;
            }
        }
    }

    fn reveal(&self) {
        let mut outdated = Vec::new();
        self.tree().reveal_all(&mut outdated);
        self.outdate(outdated);
    }

    fn expire(&self) {
        let now = self.clock.now();
        let mut outdated = Vec::new();
        let mut tree = self.tree();
        while let Some((at, store, memory)) = tree.expiring.first().copied()
            && at <= now
        {
            tree.expiring.pop_first();
            let known = tree.by_memory.get(&memory).and_then(|ino| tree.file(*ino).ok());
            let until = known.and_then(|it| it.saved.as_ref()?.attributes.expires_at);
            if until.is_some_and(|until| until <= now) {
                outdated.extend(tree.hear_gone(store, memory));
            }
        }
        drop(tree);
        self.outdate(outdated);
    }

    /// Decides about one file.
    pub(crate) async fn settle(self: &Arc<Self>, ino: Ino) -> Result<(), Errno> {
        let (is_parked, is_owed) = {
            let mut tree = self.tree();
            let file = tree.file_mut(ino)?;
            if file.opens > 0 && !file.is_parked && !file.is_owed {
                file.settle_at = None;
                return Ok(());
            }
            (file.is_parked, file.is_owed)
        };
        if is_parked {
            return self.settle_parked(ino).await;
        }
        if is_owed {
            self.tree().wait(ino);
            let bytes = self.bytes(ino).await?;
            let mut tree = self.tree();
            let file = tree.file_mut(ino)?;
            if file.is_owed && !file.is_dirty {
                file.soil(bytes, None);
            }
        }
        self.tree().decide(ino);
        self.save(ino, Occasion::Demand).await
    }

    /// Whether this is a memory that was renamed to a name that lasts, and was written there.
    pub(crate) fn is_kept_backup(&self, ino: Ino) -> Result<bool, Errno> {
        let tree = self.tree();
        let node = tree.get(ino)?;
        let is_written = node.file()?.is_parked && node.file()?.is_dirty;
        Ok(is_written && names::lasting(&node.name) != names::Lasting::Scratch)
    }

    /// A memory that was renamed to a scratch name or to that of a backup.
    async fn settle_parked(self: &Arc<Self>, ino: Ino) -> Result<(), Errno> {
        let (turn, store) = {
            let tree = self.tree();
            let node = tree.get(ino)?;
            (Arc::clone(&node.file()?.turn), node.store)
        };
        let _turn = turn.lock().await;
        let _gate = self.gates[store].read().await;
        if self.settle_in_turn(ino, false).await? {
            return Ok(());
        }
        self.save_in_turn(ino, Occasion::Demand).await
    }

    /// With nothing in its place it moves. Says whether it goes on waiting for what is there and will
    /// be its next version; if it must not, it is that file's memory from now on.
    pub(crate) async fn settle_in_turn(
        self: &Arc<Self>,
        ino: Ino,
        must_end: bool,
    ) -> Result<bool, Errno> {
        let (entry, to, store) = {
            let mut tree = self.tree();
            let to = names::path(&tree.path(ino));
            let store = tree.get(ino)?.store;
            let file = tree.file_mut(ino)?;
            let Some(entry) = file.saved.clone().filter(|_| file.is_parked) else {
                return Ok(false);
            };
            file.settle_at = Some(Instant::now() + SETTLE_AFTER);
            if let Some(heir) = tree.heir(store, &entry).filter(|_| must_end) {
                tree.unpark(ino);
                tree.bequeath(&entry, heir);
                return Ok(false);
            }
            if tree.find(store, entry.path.as_str()).is_some() {
                return Ok(true);
            }
            (entry, to?, store)
        };
        let at = At::Memory(entry.memory);
        let edit = Edit { at, expect: Expect::Present, act: put(None, Some(to)) };
        self.tree().set_saving([Some(ino)], true);
        let done = self.edit(store, edit).await;
        self.tree().set_saving([Some(ino)], false);
        match done {
            Ok(done) => {
                let mut tree = self.tree();
                tree.release(ino);
                let moved = tree.moved(store, ino, done.entry);
                drop(tree);
                self.outdate(moved);
            }
            Err(Refusal::NotFound) => {
                self.refresh(store, entry.memory).await?;
            }
            Err(refusal) => return Err(errno::of(&refusal)),
        }
        Ok(false)
    }

    /// Settles everything, because the mount ends.
    pub(crate) async fn settle_all(self: &Arc<Self>) {
        let waiting: Vec<Ino> = self.tree().unsettled.iter().copied().collect();
        for ino in waiting {
            let _ = self.settle(ino).await;
        }
        // What was refused has a last chance: a server that was away may be back. What is open and
        // written is saved as it is: nobody is going to close it here.
        let dirty: Vec<Ino> = {
            let tree = self.tree();
            let is_dirty = |body: &Body| matches!(body, Body::File(file) if file.is_dirty);
            let nodes = tree.nodes.values().filter(|node| node.is_linked && is_dirty(&node.body));
            nodes.map(|node| node.ino).collect()
        };
        for ino in dirty {
            let _ = self.save(ino, Occasion::Demand).await;
        }
        // Saves that are under way have the turn.
        let turns: Vec<_> = {
            let tree = self.tree();
            let saving = |body: &Body| match body {
                Body::File(file) if file.is_saving => Some(Arc::clone(&file.turn)),
                Body::File(_) | Body::Directory(_) => None,
            };
            tree.nodes.values().filter_map(|node| saving(&node.body)).collect()
        };
        for turn in turns {
            drop(turn.lock().await);
        }
    }

    /// From now on nothing is written to any file: it could not be saved any more.
    pub(crate) fn end(&self) {
        // Under the lock, so that whatever was written before is seen by whoever saves after.
        let _tree = self.tree();
        self.is_ending.store(true, Ordering::Release);
    }

    /// What will be gone with the mount.
    pub(crate) fn unsaved(&self) -> Vec<Unsaved> {
        let tree = self.tree();
        let mut unsaved: Vec<Unsaved> = tree
            .nodes
            .values()
            .filter(|node| node.is_linked)
            .filter_map(|node| {
                let file = node.file().ok().filter(|file| file.is_dirty || file.is_owed)?;
                let is_scratch =
                    file.saved.is_none() && names::lasting(&node.name) == names::Lasting::Scratch;
                let why = match &file.refused {
                    _ if is_scratch => return None,
                    Some(refused) => refused.why.clone(),
                    None if file.is_owed => "its text could not be read from the server".to_owned(),
                    None => "was not closed".to_owned(),
                };
                let slug = &tree.places[node.store].seen.slug;
                Some(Unsaved { path: format!("{slug}{}", tree.path(node.ino)), why })
            })
            .collect();
        unsaved.sort_by(|one, two| one.path.cmp(&two.path));
        unsaved
    }
}
