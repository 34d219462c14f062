//! A port that keeps its stores in memory: honest about versions, expectations and the feed, so that
//! the mount can be tested and measured without a server. It can be told to fail and to hold its answers
//! back, and it says how far it was followed, so that a test needs no clock to order what happens.

mod shelf;

use async_trait::async_trait;
use loci_model::time::Clock;
use loci_model::{
    Access, AttributesPatch, Expect, MemoryId, MemoryPath, Operation, StoreId, VersionId,
};
use loci_mount::port::{
    Act, At, Change, Done, Edit, Edition, Entry, Feed, Listed, Listing, Port, Refusal, StoreSeen,
};
use shelf::Shelf;
use std::collections::HashMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Entries on a page.
const PAGE: usize = 500;
/// Lines of the feed in one answer.
const LINES: usize = 1000;

#[derive(Default)]
struct State {
    shelves: HashMap<StoreId, Shelf>,
    ids: u128,
    failing: Option<Refusal>,
    /// Whether what is carried out is not answered.
    loses_answers: bool,
    /// What was carried out under a key.
    done: HashMap<String, (Vec<Edit>, Vec<Done>)>,
    keys: u64,
    /// What the caller may do with each store now; a store that is not here may not be known.
    access: HashMap<StoreId, Access>,
    /// Whether the caller is nobody any more.
    is_revoked: bool,
    is_feed_first: bool,
    texts: u64,
    entries: u64,
    entries_refused: u64,
}

/// Stores in memory.
pub struct MemoryPort {
    /// All stores that there ever were.
    stores: Mutex<Vec<StoreSeen>>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    written: Notify,
    /// Whether answers are held back.
    gate: watch::Sender<bool>,
    /// Whether contents are.
    text_gate: watch::Sender<bool>,
    /// Whether all but the first page of a whole store are.
    load_gate: watch::Sender<bool>,
    /// The number of each feed that was read on from last.
    followed: watch::Sender<HashMap<StoreId, u64>>,
}

impl MemoryPort {
    /// Empty stores with these directories.
    pub fn new(clock: Arc<dyn Clock>, stores: &[(&str, Access)]) -> Self {
        let port = Self {
            stores: Mutex::default(),
            clock,
            state: Mutex::default(),
            written: Notify::new(),
            gate: watch::Sender::new(false),
            text_gate: watch::Sender::new(false),
            load_gate: watch::Sender::new(false),
            followed: watch::Sender::default(),
        };
        for (slug, access) in stores {
            port.add_store(slug, *access);
        }
        port
    }

    /// One more store, which was made or shared just now; gives its place.
    pub fn add_store(&self, slug: &str, access: Access) -> usize {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, id) = (stores.len(), StoreId::from_u128(stores.len() as u128 + 1));
        stores.push(StoreSeen {
            id,
            slug: slug.to_owned(),
            name: slug.to_owned(),
            description: String::new(),
            access,
            most: Access::ReadWrite,
            content_bytes_max: loci_model::limit::CONTENT_BYTES_DEFAULT as u64,
            memories_max: loci_model::limit::MEMORIES_PER_STORE_DEFAULT,
        });
        self.state().access.insert(id, access);
        at
    }

    /// What the caller may do with a store from now on; nothing at all if `None`.
    pub fn set_access(&self, at: usize, access: Option<Access>) {
        let id = self.store(at);
        match access {
            Some(access) => self.state().access.insert(id, access),
            None => self.state().access.remove(&id),
        };
        self.written.notify_waiters();
    }

    /// Knows the caller no more from now on, or knows it again.
    pub fn revoke(&self, is_revoked: bool) {
        self.state().is_revoked = is_revoked;
        self.written.notify_waiters();
    }

    fn seen(&self) -> Vec<StoreSeen> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the caller may do with a store.
    fn access(&self, store: StoreId) -> Result<Access, Refusal> {
        let state = self.state();
        let access = state.access.get(&store).copied().filter(|_| !state.is_revoked);
        access.ok_or(Refusal::Denied)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store at this place.
    pub fn store(&self, at: usize) -> StoreId {
        self.seen()[at].id
    }

    /// Refuses every call from now on, or none. The feed fails only when nothing is reached: access is
    /// taken back by `set_access` and `revoke`.
    pub fn fail(&self, refusal: Option<Refusal>) {
        self.state().failing = refusal;
    }

    /// Carries out every edit from now on and tells nobody, or tells again.
    pub fn lose_answers(&self, is_lost: bool) {
        self.state().loses_answers = is_lost;
    }

    /// Holds back every answer from now on, but for those about the feed, until `release`.
    pub fn hold(&self) {
        self.gate.send_replace(true);
    }

    /// Holds back contents only, until `release`.
    pub fn hold_texts(&self) {
        self.text_gate.send_replace(true);
    }

    /// Holds back all but the first page of a whole store, until `release`.
    pub fn hold_loads(&self) {
        self.load_gate.send_replace(true);
    }

    /// How many calls wait for a page of a whole store.
    pub fn loads_held(&self) -> usize {
        self.load_gate.receiver_count()
    }

    /// Gives the answers that were held back, and holds back no more.
    pub fn release(&self) {
        self.gate.send_replace(false);
        self.text_gate.send_replace(false);
        self.load_gate.send_replace(false);
    }

    /// How many calls wait for a content that is held back.
    pub fn texts_held(&self) -> usize {
        self.text_gate.receiver_count()
    }

    /// Shows the memory at a path to nobody from now on; it still has its path.
    pub fn seal(&self, at: usize, path: &str) {
        let store = self.store(at);
        let mut state = self.state();
        let shelf = state.shelves.entry(store).or_default();
        let memory = shelf.live.get(path).map(|entry| entry.memory);
        shelf.sealed.extend(memory);
    }

    /// Keeps each text once in a store from now on.
    pub fn merge_repeats(&self, at: usize) {
        let store = self.store(at);
        self.state().shelves.entry(store).or_default().merges = true;
    }

    /// How many calls wait for an answer that is held back.
    pub fn held(&self) -> usize {
        self.gate.receiver_count()
    }

    /// Tells of an edit only after the feed has told of it and was read on, from now on.
    pub fn tell_feed_first(&self) {
        self.state().is_feed_first = true;
    }

    /// Whether all that was written to a store was read from its feed, and the feed was read on: a
    /// mount does so when it has dealt with what it read.
    pub fn is_followed(&self, at: usize) -> bool {
        let followed = self.followed.borrow().get(&self.store(at)).copied();
        followed.unwrap_or(0) >= self.versions_written(at) as u64
    }

    /// What a live memory holds.
    pub fn text_at(&self, at: usize, path: &str) -> Option<String> {
        let state = self.state();
        let shelf = state.shelves.get(&self.store(at))?;
        let entry = shelf.live.get(path)?;
        shelf.versions.get(&entry.memory)?.last()?.text.as_deref().map(str::to_owned)
    }

    /// The paths of all live memories.
    pub fn paths(&self, at: usize) -> Vec<String> {
        let state = self.state();
        state
            .shelves
            .get(&self.store(at))
            .map_or(Vec::new(), |it| it.live.keys().cloned().collect())
    }

    /// The live memory at a path.
    pub fn entry_at(&self, at: usize, path: &str) -> Option<Entry> {
        self.state().shelves.get(&self.store(at))?.live.get(path).cloned()
    }

    /// What was done to the memory at a path, as words such as `created modified`.
    pub fn history(&self, at: usize, path: &str) -> String {
        let state = self.state();
        let versions = state
            .shelves
            .get(&self.store(at))
            .and_then(|shelf| shelf.versions.get(&shelf.live.get(path)?.memory));
        let words = versions.into_iter().flatten().map(|it| match it.edition.operation {
            Operation::Created => "created",
            Operation::Modified => "modified",
            Operation::Deleted => "deleted",
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// How many lines a store's feed has: one for each version of anything.
    pub fn versions_written(&self, at: usize) -> usize {
        self.state().shelves.get(&self.store(at)).map_or(0, |shelf| shelf.feed.len())
    }

    /// How many entries were asked for one by one.
    pub fn entries_asked_for(&self) -> u64 {
        self.state().entries
    }

    /// How many entries were asked for one by one and refused because of `fail`.
    pub fn entries_refused(&self) -> u64 {
        self.state().entries_refused
    }

    /// How many contents were asked for one by one.
    pub fn texts_asked_for(&self) -> u64 {
        self.state().texts
    }

    /// Writes as somebody else would.
    pub fn write(&self, at: usize, path: &str, text: &str) -> Result<Entry, Refusal> {
        let path = MemoryPath::parse(path).map_err(|it| Refusal::Invalid(it.to_string()))?;
        let attributes = Box::new(AttributesPatch::default());
        let act = Act::Put { text: Some(text.to_owned()), to: None, attributes };
        let edit = Edit { at: At::Path(path), expect: Expect::Anything, act };
        let done = self.apply(self.store(at), &[edit])?;
        done.into_iter().next().map(|it| it.entry).ok_or(Refusal::NotFound)
    }

    /// Changes as somebody else would.
    pub fn apply(&self, store: StoreId, edits: &[Edit]) -> Result<Vec<Done>, Refusal> {
        let limit =
            self.seen().iter().find(|it| it.id == store).map_or(0, |it| it.content_bytes_max);
        let mut state = self.state();
        let mut ids = state.ids;
        state.ids += edits.len() as u128;
        let shelf = state.shelves.entry(store).or_default();
        // One edit happens or not; several are undone together.
        let before = (edits.len() > 1).then(|| shelf.clone());
        let mut done = Vec::with_capacity(edits.len());
        for edit in edits {
            ids += 1;
            match shelf.apply(edit, ids, self.clock.now(), limit) {
                Ok(one) => done.push(one),
                Err(refusal) => {
                    if let Some(before) = before {
                        *shelf = before;
                    }
                    return Err(refusal);
                }
            }
        }
        drop(state);
        self.written.notify_waiters();
        Ok(done)
    }

    /// Waits while answers are held back; whoever was not refused before that is not refused after.
    async fn answer(&self) -> Result<(), Refusal> {
        self.check()?;
        let is_held = *self.gate.borrow();
        if is_held {
            // The sender lives as long as the port does.
            let _ = self.gate.subscribe().wait_for(|is_held| !is_held).await;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Refusal> {
        self.state().failing.clone().map_or(Ok(()), Err)
    }
}

#[async_trait]
impl Port for MemoryPort {
    async fn stores(&self) -> Result<Vec<StoreSeen>, Refusal> {
        self.answer().await?;
        Ok(self.seen())
    }

    async fn newcomers(&self, known: &[StoreId]) -> Result<Vec<StoreSeen>, Refusal> {
        self.answer().await?;
        if self.state().is_revoked {
            return Err(Refusal::Denied);
        }
        let unknown = self.seen().into_iter().filter(|seen| !known.contains(&seen.id));
        let readable = unknown.filter_map(|seen| {
            let access = self.access(seen.id).ok()?;
            Some(StoreSeen { access, ..seen })
        });
        Ok(readable.collect())
    }

    async fn list(&self, store: StoreId, listing: &Listing) -> Result<Listed, Refusal> {
        self.answer().await?;
        self.access(store)?;
        if listing.is_deep && listing.page.is_some() && *self.load_gate.borrow() {
            let _ = self.load_gate.subscribe().wait_for(|is_held| !is_held).await;
        }
        let state = self.state();
        let Some(shelf) = state.shelves.get(&store) else {
            return Ok(Listed::default());
        };
        let from = listing.page.as_deref().unwrap_or(&listing.prefix);
        let text = |entry: &Entry| {
            shelf.versions[&entry.memory].last()?.text.as_deref().map(str::to_owned)
        };
        let mut page = Listed { last_seq: shelf.feed.len() as u64, ..Listed::default() };
        let range = (Bound::Excluded(from.to_owned()), Bound::Unbounded);
        for (path, entry) in shelf.live.range(range) {
            let Some(rest) = path.strip_prefix(listing.prefix.as_str()) else { break };
            if shelf.find(entry.memory).is_none() {
                continue;
            }
            let folded = rest.split_once('/').filter(|_| !listing.is_deep);
            let folded = folded.map(|(name, _)| format!("{}{name}/", listing.prefix));
            if folded.is_some() && folded.as_ref() == page.directories.last() {
                continue;
            }
            if page.entries.len() + page.directories.len() == PAGE {
                return Ok(page);
            }
            // What is below a directory comes before anything beside it that follows.
            page.next = Some(match &folded {
                Some(folded) => format!("{folded}{}", char::MAX),
                None => path.clone(),
            });
            match folded {
                Some(folded) => page.directories.push(folded),
                None => {
                    let text = listing.with_text.then(|| text(entry)).flatten();
                    page.entries.push((entry.clone(), text));
                }
            }
        }
        page.next = None;
        Ok(page)
    }

    async fn entry(&self, store: StoreId, memory: MemoryId) -> Result<Entry, Refusal> {
        let answer = self.answer().await;
        self.access(store)?;
        let mut state = self.state();
        state.entries_refused += u64::from(answer.is_err());
        answer?;
        state.entries += 1;
        let shelf = state.shelves.get(&store).ok_or(Refusal::NotFound)?;
        shelf.find(memory).cloned().ok_or(Refusal::NotFound)
    }

    async fn text(
        &self,
        store: StoreId,
        memory: MemoryId,
        version: VersionId,
    ) -> Result<String, Refusal> {
        self.answer().await?;
        if *self.text_gate.borrow() {
            let _ = self.text_gate.subscribe().wait_for(|is_held| !is_held).await;
        }
        self.access(store)?;
        let mut state = self.state();
        state.texts += 1;
        let shelf = state.shelves.get(&store).ok_or(Refusal::NotFound)?;
        let versions = shelf.versions.get(&memory).ok_or(Refusal::NotFound)?;
        let found = versions.iter().find(|it| it.edition.version == version);
        found.and_then(|it| it.text.as_deref().map(str::to_owned)).ok_or(Refusal::NotFound)
    }

    fn fresh_key(&self) -> String {
        let mut state = self.state();
        state.keys += 1;
        format!("key-{}", state.keys)
    }

    async fn edit(
        &self,
        store: StoreId,
        edits: Vec<Edit>,
        key: Option<&str>,
    ) -> Result<Vec<Done>, Refusal> {
        self.answer().await?;
        if self.access(store)? == Access::ReadOnly {
            return Err(Refusal::ReadOnly);
        }
        let before = key.and_then(|key| self.state().done.get(key).cloned());
        let done = match before {
            Some((sent, _)) if sent != edits => {
                Err(Refusal::Invalid("the key was used for another request".into()))
            }
            Some((_, done)) => Ok(done),
            None => self.apply(store, &edits),
        };
        if let (Some(key), Ok(done)) = (key, &done) {
            self.state().done.insert(key.to_owned(), (edits, done.clone()));
        }
        if self.state().loses_answers && done.is_ok() {
            return Err(Refusal::Unreachable("the answer was lost".into()));
        }
        let is_feed_first = self.state().is_feed_first;
        if is_feed_first && done.is_ok() {
            let last = self.state().shelves.get(&store).map_or(0, |shelf| shelf.feed.len()) as u64;
            let is_read = |followed: &HashMap<StoreId, u64>| followed.get(&store) >= Some(&last);
            let _ = self.followed.subscribe().wait_for(is_read).await;
        }
        done
    }

    async fn changes(
        &self,
        store: StoreId,
        after: u64,
        believed: Access,
        wait: Duration,
    ) -> Result<Feed, Refusal> {
        let until = tokio::time::Instant::now() + wait;
        self.followed.send_modify(|followed| {
            followed.insert(store, after);
        });
        loop {
            let written = self.written.notified();
            tokio::pin!(written);
            written.as_mut().enable();
            if let Err(refusal @ Refusal::Unreachable(_)) = self.check() {
                return Err(refusal);
            }
            let access = self.access(store)?;
            let from = usize::try_from(after).unwrap_or(usize::MAX);
            let news: Vec<Change> = {
                let state = self.state();
                let feed = state.shelves.get(&store).map_or(&[][..], |shelf| &shelf.feed);
                feed.iter().skip(from).take(LINES).cloned().collect()
            };
            let is_told = !news.is_empty() || access != believed;
            if is_told || tokio::time::timeout_at(until, written).await.is_err() {
                return Ok(Feed { access, changes: news });
            }
        }
    }

    async fn versions(&self, store: StoreId, memory: MemoryId) -> Result<Vec<Edition>, Refusal> {
        self.answer().await?;
        self.access(store)?;
        let state = self.state();
        let shelf = state.shelves.get(&store).ok_or(Refusal::NotFound)?;
        let versions = shelf.versions.get(&memory).ok_or(Refusal::NotFound)?;
        Ok(versions.iter().map(|it| it.edition.clone()).collect())
    }
}
