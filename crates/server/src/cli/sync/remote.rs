//! The store as this machine last heard of it: listed once, then kept current from the feed. Where two
//! memories have one path, the caller's own counts, else the newer one.

use loci_model::{Access, MemoryId, StoreId};
use loci_mount::Port;
use loci_mount::port::{Change, Entry, Feed, Listing, Refusal};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// From so many changed memories on, listing anew is cheaper than asking for each.
const ASKED_MAX: usize = 200;

/// The store.
pub(super) struct Remote {
    port: Arc<dyn Port>,
    store: StoreId,
    entries: HashMap<MemoryId, Entry>,
    seq: u64,
    /// What the server last said that may be done.
    access: Access,
}

impl Remote {
    /// Lists a store.
    pub(super) async fn load(port: Arc<dyn Port>, store: StoreId) -> Result<Self, Refusal> {
        let mut remote =
            Self { port, store, entries: HashMap::new(), seq: 0, access: Access::ReadWrite };
        remote.reload().await?;
        Ok(remote)
    }

    /// Lists it anew.
    pub(super) async fn reload(&mut self) -> Result<(), Refusal> {
        let (mut entries, mut seq) = (HashMap::new(), None);
        let mut listing =
            Listing { prefix: "/".into(), is_deep: true, with_text: false, page: None };
        loop {
            let listed = self.port.list(self.store, &listing).await?;
            // What happened while we listed is asked for again.
            seq = seq.or(Some(listed.last_seq));
            entries.extend(listed.entries.into_iter().map(|(entry, _)| (entry.memory, entry)));
            listing.page = listed.next;
            if listing.page.is_none() {
                break;
            }
        }
        (self.entries, self.seq) = (entries, seq.unwrap_or(0));
        Ok(())
    }

    /// Waits for something to happen, no longer than this.
    pub(super) async fn wait(&self, wait: Duration) -> Result<Vec<Change>, Refusal> {
        let feed = self.port.changes(self.store, self.seq, self.access, wait).await?;
        Ok(feed.changes)
    }

    /// Takes in everything that has happened so far.
    pub(super) async fn refresh(&mut self) -> Result<(), Refusal> {
        loop {
            let asked = self.port.changes(self.store, self.seq, self.access, Duration::ZERO);
            let Feed { access, changes } = asked.await?;
            self.access = access;
            let Some(last) = changes.last() else { return Ok(()) };
            let seq = last.seq;
            let changed: BTreeSet<MemoryId> = changes.iter().map(|change| change.memory).collect();
            if changed.len() > ASKED_MAX {
                return self.reload().await;
            }
            for memory in changed {
                match self.port.entry(self.store, memory).await {
                    Ok(entry) => self.entries.insert(memory, entry),
                    Err(Refusal::NotFound) => self.entries.remove(&memory),
                    Err(refusal) => return Err(refusal),
                };
            }
            self.seq = seq;
        }
    }

    /// Remembers what was written.
    pub(super) fn learn(&mut self, entry: Entry) {
        self.entries.insert(entry.memory, entry);
    }

    /// Remembers what was removed.
    pub(super) fn unlearn(&mut self, memory: MemoryId) {
        self.entries.remove(&memory);
    }

    /// What there is, by path.
    pub(super) fn by_path(&self) -> BTreeMap<String, Entry> {
        let mut by_path: BTreeMap<String, Entry> = BTreeMap::new();
        for entry in self.entries.values() {
            let rank = |entry: &Entry| (entry.is_own, entry.updated_at, entry.memory);
            let path = entry.path.as_str();
            if by_path.get(path).is_none_or(|known| rank(known) < rank(entry)) {
                by_path.insert(path.to_owned(), entry.clone());
            }
        }
        by_path
    }
}
