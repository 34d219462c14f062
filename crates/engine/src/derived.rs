//! What is derived from stores and kept in memory: one for each store and audience, made on first
//! use, brought up to the end of the feed before every use, and dropped when memory runs short; the
//! least recently used goes first.
//!
//! It is only ever filled through passes, by what storage gives their audience, so it cannot hold
//! what its readers may not find.

use crate::compute::blocking;
use crate::{Result, damage};
use loci_model::policy::SearchPass;
use loci_model::{Audience, Memory, MemoryId, StoreId, Timestamp, View};
use loci_storage::{FeedEnd, Reading, ReadingEnd, Storage};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use tokio::task::JoinSet;

/// Texts read at once while something is made.
const LOAD_PAGE: usize = 2000;
/// Feed entries read at once while it catches up.
const CATCH_UP_PAGE: usize = 1000;
/// Up to this many bytes of text are taken in on the spot, more on a thread that may be blocked.
const INLINE_BYTES_MAX: usize = 32 * 1024;

/// Stores that are brought up at the same time for one question.
const AT_ONCE: usize = 4;

/// What can be made from the texts of one store and follow its feed.
pub(crate) trait Derived: Send + Sync + 'static {
    /// That of a store without texts.
    fn empty(store: StoreId) -> Self;
    /// Whether what readers found in memories belongs to it.
    const WITH_READINGS: bool = false;
    /// Takes in a memory, instead of what it was before.
    fn put(&mut self, memory: &Memory);
    /// Takes in a memory with what readers found in it.
    fn put_read(&mut self, memory: &Memory, _readings: &[Reading]) {
        self.put(memory);
    }
    /// Forgets a memory.
    fn remove(&mut self, id: MemoryId);
    /// Called after a run of changes, before anybody looks.
    fn settle(&mut self);
    /// Gives back room that changes left.
    fn make_compact(&mut self) {}
    /// Whether something in it has expired.
    fn has_expired(&self, now: Timestamp) -> bool;
    /// Forgets what has expired.
    fn expire(&mut self, now: Timestamp);
    /// About how many bytes it takes.
    fn bytes(&self) -> usize;
}

/// What may be looked at as long as it is held.
pub(crate) type Held<T> = OwnedRwLockReadGuard<Followed<T>>;

/// Something derived and how far it has followed its store.
#[derive(Debug)]
pub(crate) struct Followed<T> {
    pub(crate) it: T,
    is_loaded: bool,
    seq: u64,
    /// The number of the readings up to which they were taken in.
    read: u64,
}

/// How far a store is.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) feed: FeedEnd,
    /// Where readings belong to it and there are some.
    pub(crate) read: Option<ReadingEnd>,
}

impl End {
    /// The newest number of its readings.
    pub(crate) fn read_number(&self) -> u64 {
        self.read.map_or(0, |read| read.number)
    }
}

impl<T: Derived> Followed<T> {
    /// Whether it is up to the end of the feed and of the readings.
    pub(crate) fn is_current(&self, end: &End, now: Timestamp) -> bool {
        self.is_loaded
            && self.seq >= end.feed.seq
            && self.read >= end.read_number()
            && !self.it.has_expired(now)
    }
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub(crate) followed: Arc<RwLock<Followed<T>>>,
    /// Held by whoever brings it up to date.
    pub(crate) updating: Arc<tokio::sync::Mutex<()>>,
    bytes: AtomicUsize,
    used: AtomicU64,
}

impl<T: Derived> Entry<T> {
    fn new(store: StoreId) -> Self {
        let followed = Followed { it: T::empty(store), is_loaded: false, seq: 0, read: 0 };
        Self {
            followed: Arc::new(RwLock::new(followed)),
            updating: Arc::default(),
            bytes: AtomicUsize::new(0),
            used: AtomicU64::new(0),
        }
    }

    /// Makes it if it is not there, applies what changed, drops what expired.
    pub(crate) async fn bring_up(
        &self,
        storage: &dyn Storage,
        pass: &SearchPass,
        end: &End,
    ) -> Result<()> {
        let is_there = {
            let followed = self.followed.read().await;
            // What was forgotten is nowhere to be looked up: only what is left can be.
            let forgotten = end.read.map_or(0, |read| read.forgotten);
            followed.is_loaded && followed.read >= forgotten
        };
        if !is_there {
            let it = load(storage, pass, end).await?;
            let mut followed = self.followed.write().await;
            let (seq, read) = (end.feed.seq, end.read_number());
            *followed = Followed { it, is_loaded: true, seq, read };
        }
        self.catch_up(storage, pass, end).await?;
        self.take_readings(storage, pass, end).await?;
        if self.followed.read().await.it.has_expired(pass.now()) {
            let mut followed = Arc::clone(&self.followed).write_owned().await;
            let now = pass.now();
            in_background(usize::MAX, move || {
                followed.it.expire(now);
                followed.it.settle();
            })
            .await?;
        }
        Ok(())
    }

    async fn catch_up(&self, storage: &dyn Storage, pass: &SearchPass, end: &End) -> Result<()> {
        let store = end.feed.store;
        loop {
            let seq = self.followed.read().await.seq;
            if seq >= end.feed.seq {
                return Ok(());
            }
            let changed = storage.changed_texts(pass, store, seq, CATCH_UP_PAGE).await?;
            if changed.through <= seq {
                // The store went away under us; nothing of it is to be found.
                return Err(crate::Error::NotFound("memory store"));
            }
            let (mut present, mut gone) = (Vec::new(), Vec::new());
            for (id, memory) in changed.memories {
                match memory {
                    Some(memory) => present.push(memory),
                    None => gone.push(id),
                }
            }
            let readings = readings_of::<T>(storage, pass, end, &present).await?;
            let mut followed = Arc::clone(&self.followed).write_owned().await;
            in_background(weight(&present, gone.len()), move || {
                put_all(&mut followed.it, &present, &readings);
                gone.into_iter().for_each(|id| followed.it.remove(id));
                followed.it.settle();
                followed.it.make_compact();
                followed.seq = changed.through;
            })
            .await?;
        }
    }

    /// Takes in what readers found since.
    async fn take_readings(
        &self,
        storage: &dyn Storage,
        pass: &SearchPass,
        end: &End,
    ) -> Result<()> {
        let store = end.feed.store;
        loop {
            let read = self.followed.read().await.read;
            if read >= end.read_number() {
                return Ok(());
            }
            let newly = storage.newly_read(pass, store, read, CATCH_UP_PAGE).await?;
            let asked: Vec<_> = newly.memories.iter().map(|id| (store, *id)).collect();
            let present = damage::found(storage, pass, &asked, View::Full).await?.memories;
            let readings = readings_of::<T>(storage, pass, end, &present).await?;
            let mut followed = Arc::clone(&self.followed).write_owned().await;
            in_background(weight(&present, 0), move || {
                put_all(&mut followed.it, &present, &readings);
                followed.it.settle();
                followed.read = newly.through;
            })
            .await?;
        }
    }

    /// Notes how large it is.
    pub(crate) async fn weigh(&self) {
        let bytes = self.followed.read().await.it.bytes();
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

/// Whose, and for whom.
type Key = (StoreId, Audience);

/// All of one sort in this process.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    entries: Mutex<HashMap<Key, Arc<Entry<T>>>>,
    bytes_max: usize,
    uses: AtomicU64,
}

impl<T: Derived> Kept<T> {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { entries: Mutex::default(), bytes_max, uses: AtomicU64::new(0) }
    }

    /// Those of several stores, up to the ends of their feeds, some of them at the same time. Nothing
    /// is held meanwhile: who holds one while waiting for another could be waited for.
    pub(crate) async fn bring_up_all(
        self: &Arc<Self>,
        storage: &Arc<dyn Storage>,
        pass: &SearchPass,
        ends: &[End],
    ) -> Result<()> {
        let mut late = ends.iter().filter(|end| !self.is_current(pass, end));
        let mut working = JoinSet::new();
        loop {
            while working.len() < AT_ONCE
                && let Some(end) = late.next()
            {
                let (kept, storage) = (Arc::clone(self), Arc::clone(storage));
                let (pass, end) = (pass.clone(), end.clone());
                working.spawn(async move { kept.current(&storage, &pass, &end).await.map(drop) });
            }
            match working.join_next().await {
                None => return Ok(()),
                // A store that was removed a moment ago is not there when it is looked at, either.
                Some(Ok(Ok(()) | Err(crate::Error::NotFound(_)))) => {}
                Some(Ok(Err(error))) => return Err(error),
                Some(Err(error)) => return Err(lost(error)),
            }
        }
    }

    fn is_current(&self, pass: &SearchPass, end: &End) -> bool {
        let entry = self.entry((end.feed.store, pass.audience()));
        entry.followed.try_read().is_ok_and(|held| held.is_current(end, pass.now()))
    }

    /// That of a store, up to the end of its feed.
    pub(crate) async fn current(
        &self,
        storage: &Arc<dyn Storage>,
        pass: &SearchPass,
        end: &End,
    ) -> Result<Held<T>> {
        let entry = self.entry((end.feed.store, pass.audience()));
        if let Ok(held) = Arc::clone(&entry.followed).try_read_owned()
            && held.is_current(end, pass.now())
        {
            return Ok(held);
        }
        let updating = Arc::clone(&entry.updating).lock_owned().await;
        // A task of its own: a store that takes long to read is read to its end even if whoever
        // asked for it goes away, or asking again would never help.
        let task = {
            let (entry, storage) = (Arc::clone(&entry), Arc::clone(storage));
            let (pass, end) = (pass.clone(), end.clone());
            tokio::spawn(async move {
                let _updating = updating;
                let brought_up = entry.bring_up(storage.as_ref(), &pass, &end).await;
                entry.weigh().await;
                brought_up
            })
        };
        task.await.map_err(lost)??;
        Ok(Arc::clone(&entry.followed).read_owned().await)
    }

    /// Whether that of a store is here.
    pub(crate) fn holds(&self, store: StoreId, audience: Audience) -> bool {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get(&(store, audience));
        entry.is_some_and(|entry| entry.bytes.load(Ordering::Relaxed) > 0)
    }

    /// That of a store, as it is.
    pub(crate) fn entry(&self, key: Key) -> Arc<Entry<T>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.entry(key).or_insert_with(|| Arc::new(Entry::new(key.0)));
        entry.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Arc::clone(entry)
    }

    /// Drops the least recently used while there is too much.
    pub(crate) fn shrink(&self) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = |entry: &Entry<T>| entry.bytes.load(Ordering::Relaxed);
        let mut total: usize = entries.values().map(|entry| bytes(entry)).sum();
        if total <= self.bytes_max {
            return;
        }
        let mut by_use: Vec<_> = entries
            .iter()
            .map(|(key, entry)| (entry.used.load(Ordering::Relaxed), *key, bytes(entry)))
            .collect();
        by_use.sort_unstable_by_key(|(used, _, _)| *used);
        for (_, key, bytes) in by_use {
            if total <= self.bytes_max {
                break;
            }
            entries.remove(&key);
            total -= bytes;
        }
    }

    /// How many there are, and about how many bytes they take.
    pub(crate) fn size(&self) -> (usize, usize) {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        (entries.len(), entries.values().map(|entry| entry.bytes.load(Ordering::Relaxed)).sum())
    }
}

/// Reads a store from its first text to its last. The feed may go on meanwhile: what it tells after
/// the number noted before is applied again, which changes nothing.
async fn load<T: Derived>(storage: &dyn Storage, pass: &SearchPass, end: &End) -> Result<T> {
    let store = end.feed.store;
    let mut it = T::empty(store);
    let mut page = storage.texts(pass, store, 0, LOAD_PAGE).await?;
    loop {
        let next = page.next;
        let readings = readings_of::<T>(storage, pass, end, &page.memories).await?;
        let filling = in_background(weight(&page.memories, 0), move || {
            put_all(&mut it, &page.memories, &readings);
            it
        });
        // The next page is read while this one is taken in.
        let (filled, following) = tokio::join!(filling, async {
            match next {
                Some(after) => Some(storage.texts(pass, store, after, LOAD_PAGE).await),
                None => None,
            }
        });
        it = filled?;
        match following {
            Some(following) => page = following?,
            None => break,
        }
    }
    in_background(usize::MAX, move || {
        it.settle();
        it
    })
    .await
}

/// What readers found in memories, in the order of these; nothing is asked where nothing was read.
async fn readings_of<T: Derived>(
    storage: &dyn Storage,
    pass: &SearchPass,
    end: &End,
    memories: &[Memory],
) -> Result<Vec<Reading>> {
    if !T::WITH_READINGS || end.read_number() == 0 || memories.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    Ok(storage.readings(pass, end.feed.store, &ids).await?)
}

/// Takes in memories, each with its own of the readings, which are in the order of the memories.
fn put_all<T: Derived>(it: &mut T, memories: &[Memory], readings: &[Reading]) {
    let mut rest = readings;
    for memory in memories {
        let own = rest.iter().take_while(|reading| reading.memory == memory.id).count();
        let (own, later) = rest.split_at(own);
        it.put_read(memory, own);
        rest = later;
    }
}

/// How much work it is to take memories in and to forget some: bytes of text, and a few for each.
fn weight(memories: &[Memory], forgotten: usize) -> usize {
    const EACH: usize = 1024;
    let bytes =
        |memory: &Memory| memory.content.as_ref().map_or(0, |content| content.bytes().len());
    memories.iter().map(bytes).sum::<usize>() + (memories.len() + forgotten) * EACH
}

/// Runs what takes a while on a thread that may be blocked, and what does not right here.
pub(crate) async fn in_background<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if bytes <= INLINE_BYTES_MAX {
        return Ok(work());
    }
    blocking(work).await
}

#[expect(clippy::needless_pass_by_value, reason = "map_err gives it away")]
pub(crate) fn lost(error: tokio::task::JoinError) -> crate::Error {
    crate::Error::Internal(error.to_string())
}
