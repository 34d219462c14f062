//! The indexes in memory. One for each store and audience that was searched, loaded on first use,
//! brought up to the end of the feed before every search, and dropped when memory runs short; the
//! least recently used goes first.
//!
//! An index is only ever filled through passes, by what storage gives their audience, so it cannot
//! hold what its readers may not find.

use crate::Result;
use loci_model::policy::SearchPass;
use loci_model::{Audience, StoreId, Timestamp};
use loci_search::index::StoreIndex;
use loci_search::vector;
use loci_storage::{FeedEnd, Generation, GenerationId, Storage};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};

/// Texts read at once while an index is loaded.
const LOAD_PAGE: usize = 2000;
/// Feed entries read at once while an index catches up.
const CATCH_UP_PAGE: usize = 1000;
/// Vectors read at once.
const VECTOR_PAGE: usize = 1000;
/// Up to this many texts are taken in on the spot, more on a thread of their own.
const INLINE_TEXTS_MAX: usize = 32;

/// An index that may be searched as long as it is held.
pub(crate) type Held = OwnedRwLockReadGuard<Followed>;

/// An index and how far it has followed its store.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    pub(crate) index: StoreIndex,
    is_loaded: bool,
    seq: u64,
    /// Whose vectors it holds, and how far those reached when they were last looked at.
    pub(crate) vectors: Option<(GenerationId, u64)>,
}

/// The generation a store is searched with, and how far it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) generation: GenerationId,
    pub(crate) dims: u32,
    pub(crate) through: u64,
}

/// The newest of the generations that reach furthest, among those whose queries can be embedded.
pub(crate) fn choose(end: &FeedEnd, usable: &[Generation]) -> Option<Chosen> {
    let reach = |generation: &Generation| {
        let found = end.vectors.iter().find(|(id, _)| *id == generation.id);
        found.map_or(0, |(_, through)| *through)
    };
    let best = usable.iter().max_by_key(|generation| (reach(generation), generation.id))?;
    Some(Chosen { generation: best.id, dims: best.dims, through: reach(best) })
}

#[derive(Debug, Default)]
struct Entry {
    followed: Arc<RwLock<Followed>>,
    /// Held by whoever brings it up to date.
    updating: Arc<tokio::sync::Mutex<()>>,
    bytes: AtomicUsize,
    used: AtomicU64,
}

/// All indexes of this process.
#[derive(Debug)]
pub(crate) struct Indexes {
    entries: Mutex<HashMap<(StoreId, Audience), Arc<Entry>>>,
    bytes_max: usize,
    uses: AtomicU64,
}

impl Indexes {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { entries: Mutex::default(), bytes_max, uses: AtomicU64::new(0) }
    }

    /// The index of a store, up to the end of its feed.
    pub(crate) async fn current(
        &self,
        storage: &Arc<dyn Storage>,
        pass: &SearchPass,
        end: &FeedEnd,
        chosen: Option<Chosen>,
    ) -> Result<Held> {
        let entry = self.entry((end.store, pass.audience()));
        if let Ok(held) = Arc::clone(&entry.followed).try_read_owned()
            && held.is_current(end, chosen, pass.now())
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
                let brought_up = bring_up(&entry, storage.as_ref(), &pass, &end, chosen).await;
                let bytes = entry.followed.read().await.index.bytes();
                entry.bytes.store(bytes, Ordering::Relaxed);
                brought_up
            })
        };
        task.await.map_err(lost)??;
        Ok(Arc::clone(&entry.followed).read_owned().await)
    }

    /// Whether the index of a store is here.
    pub(crate) fn holds(&self, store: StoreId, audience: Audience) -> bool {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get(&(store, audience));
        entry.is_some_and(|entry| entry.bytes.load(Ordering::Relaxed) > 0)
    }

    fn entry(&self, key: (StoreId, Audience)) -> Arc<Entry> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = Arc::clone(entries.entry(key).or_default());
        entry.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        entry
    }

    /// Drops the least recently used while there is too much.
    pub(crate) fn shrink(&self) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = |entry: &Entry| entry.bytes.load(Ordering::Relaxed);
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

    /// How many indexes there are, and about how many bytes they take.
    pub(crate) fn size(&self) -> (usize, usize) {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        (entries.len(), entries.values().map(|entry| entry.bytes.load(Ordering::Relaxed)).sum())
    }
}

impl Followed {
    fn is_current(&self, end: &FeedEnd, chosen: Option<Chosen>, now: Timestamp) -> bool {
        self.is_loaded
            && self.seq >= end.seq
            && !self.index.has_expired(now)
            && self.has_vectors(chosen)
    }

    fn has_vectors(&self, chosen: Option<Chosen>) -> bool {
        match (self.vectors, chosen) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some((generation, through)), Some(chosen)) => {
                generation == chosen.generation
                    && (through >= chosen.through || self.index.has_all_vectors())
            }
        }
    }
}

/// Loads what is not loaded, applies what changed, takes in the vectors that came.
async fn bring_up(
    entry: &Entry,
    storage: &dyn Storage,
    pass: &SearchPass,
    end: &FeedEnd,
    chosen: Option<Chosen>,
) -> Result<()> {
    if !entry.followed.read().await.is_loaded {
        let index = load(storage, pass, end.store).await?;
        let mut followed = entry.followed.write().await;
        *followed = Followed { index, is_loaded: true, seq: end.seq, vectors: None };
    }
    catch_up(entry, storage, pass, end).await?;
    if entry.followed.read().await.index.has_expired(pass.now()) {
        let mut followed = entry.followed.write().await;
        followed.index.expire(pass.now());
        followed.index.settle();
    }
    match chosen {
        Some(chosen) if !entry.followed.read().await.has_vectors(Some(chosen)) => {
            take_vectors(entry, storage, pass, end.store, chosen).await
        }
        _ => Ok(()),
    }
}

/// Reads a store from its first text to its last. The feed may go on meanwhile: what it tells after
/// the number noted before is applied again, which changes nothing.
async fn load(storage: &dyn Storage, pass: &SearchPass, store: StoreId) -> Result<StoreIndex> {
    let mut index = StoreIndex::new();
    let mut page = storage.texts(pass, store, 0, LOAD_PAGE).await?;
    loop {
        let next = page.next;
        let filling = in_background(page.memories.len(), move || {
            page.memories.iter().for_each(|memory| index.put(memory));
            index
        });
        // The next page is read while this one is taken in.
        let (filled, following) = tokio::join!(filling, async {
            match next {
                Some(after) => Some(storage.texts(pass, store, after, LOAD_PAGE).await),
                None => None,
            }
        });
        index = filled?;
        match following {
            Some(following) => page = following?,
            None => break,
        }
    }
    in_background(usize::MAX, move || {
        index.settle();
        index
    })
    .await
}

async fn catch_up(
    entry: &Entry,
    storage: &dyn Storage,
    pass: &SearchPass,
    end: &FeedEnd,
) -> Result<()> {
    loop {
        let seq = entry.followed.read().await.seq;
        if seq >= end.seq {
            return Ok(());
        }
        let changed = storage.changed_texts(pass, end.store, seq, CATCH_UP_PAGE).await?;
        if changed.through <= seq {
            // The store went away under us; nothing of it is to be found.
            return Err(crate::Error::NotFound("memory store"));
        }
        let mut followed = Arc::clone(&entry.followed).write_owned().await;
        in_background(changed.memories.len(), move || {
            for (id, memory) in &changed.memories {
                match memory {
                    Some(memory) => followed.index.put(memory),
                    None => followed.index.remove(*id),
                }
            }
            followed.index.settle();
            followed.index.make_compact();
            followed.seq = changed.through;
        })
        .await?;
    }
}

async fn take_vectors(
    entry: &Entry,
    storage: &dyn Storage,
    pass: &SearchPass,
    store: StoreId,
    chosen: Chosen,
) -> Result<()> {
    let dims = chosen.dims as usize;
    {
        let mut followed = entry.followed.write().await;
        if followed.vectors.map(|(generation, _)| generation) != Some(chosen.generation) {
            followed.index.begin_vectors(chosen.generation.0, dims);
            // Only what was taken in counts: the caller may go away before the last page.
            followed.vectors = Some((chosen.generation, 0));
        }
    }
    let missing = entry.followed.read().await.index.without_vectors();
    for page in missing.chunks(VECTOR_PAGE) {
        let heads: Vec<_> = page.iter().map(|(_, head)| *head).collect();
        let found = storage.vectors(pass, store, chosen.generation, &heads).await?;
        let page = page.to_vec();
        let mut followed = Arc::clone(&entry.followed).write_owned().await;
        in_background(found.len(), move || {
            for ((id, head), bytes) in page.into_iter().zip(found) {
                // Damaged rows are as good as none; the check reports them.
                if let Some(vectors) = bytes.and_then(|bytes| vector::decode(&bytes, dims)) {
                    followed.index.set_vectors(id, head, &vectors);
                }
            }
        })
        .await?;
    }
    entry.followed.write().await.vectors = Some((chosen.generation, chosen.through));
    Ok(())
}

/// Runs what takes a while on a thread that may be blocked, and what does not right here.
async fn in_background<T: Send + 'static>(
    texts: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if texts <= INLINE_TEXTS_MAX {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(lost)
}

#[expect(clippy::needless_pass_by_value, reason = "map_err gives it away")]
fn lost(error: tokio::task::JoinError) -> crate::Error {
    crate::Error::Internal(error.to_string())
}
