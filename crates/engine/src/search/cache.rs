//! The search indexes in memory: what is derived from a store ([`crate::derived`]), with vectors.

use crate::Result;
use crate::derived::{self, Derived, End, Entry, Kept, in_background, lost};
use loci_model::policy::SearchPass;
use loci_model::{Memory, MemoryId, StoreId, Timestamp};
use loci_search::index::StoreIndex;
use loci_search::vector;
use loci_storage::{FeedEnd, Generation, GenerationId, Storage};
use std::sync::Arc;

/// Vectors read at once.
const VECTOR_PAGE: usize = 1000;

/// An index that may be searched as long as it is held.
pub(crate) type Held = derived::Held<Indexed>;

/// All indexes of this process.
pub(crate) type Indexes = Kept<Indexed>;

/// The index of a store.
#[derive(Debug)]
pub(crate) struct Indexed {
    pub(crate) index: StoreIndex,
    /// Whose vectors it holds, and how far those reached when they were last looked at.
    vectors: Option<(GenerationId, u64)>,
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

impl Derived for Indexed {
    fn empty(_store: StoreId) -> Self {
        Self { index: StoreIndex::new(), vectors: None }
    }

    fn put(&mut self, memory: &Memory) {
        self.index.put(memory);
    }

    fn remove(&mut self, id: MemoryId) {
        self.index.remove(id);
    }

    fn settle(&mut self) {
        self.index.settle();
    }

    fn make_compact(&mut self) {
        self.index.make_compact();
    }

    fn has_expired(&self, now: Timestamp) -> bool {
        self.index.has_expired(now)
    }

    fn expire(&mut self, now: Timestamp) {
        self.index.expire(now);
    }

    fn bytes(&self) -> usize {
        self.index.bytes()
    }
}

impl Indexed {
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

impl Indexes {
    /// The index of a store, up to the end of its feed and with the vectors that are there.
    pub(crate) async fn with_vectors(
        &self,
        storage: &Arc<dyn Storage>,
        pass: &SearchPass,
        end: &FeedEnd,
        chosen: Option<Chosen>,
    ) -> Result<Held> {
        let end = &End { feed: end.clone(), read: None };
        let entry = self.entry((end.feed.store, pass.audience()));
        if let Ok(held) = Arc::clone(&entry.followed).try_read_owned()
            && held.is_current(end, pass.now())
            && held.it.has_vectors(chosen)
        {
            return Ok(held);
        }
        let updating = Arc::clone(&entry.updating).lock_owned().await;
        // A task of its own, as in `Kept::current`.
        let task = {
            let (entry, storage) = (Arc::clone(&entry), Arc::clone(storage));
            let (pass, end) = (pass.clone(), end.clone());
            tokio::spawn(async move {
                let _updating = updating;
                let mut brought_up = entry.bring_up(storage.as_ref(), &pass, &end).await;
                if let (Ok(()), Some(chosen)) = (&brought_up, chosen) {
                    brought_up =
                        take_vectors(&entry, storage.as_ref(), &pass, end.feed.store, chosen).await;
                }
                entry.weigh().await;
                brought_up
            })
        };
        task.await.map_err(lost)??;
        Ok(Arc::clone(&entry.followed).read_owned().await)
    }
}

async fn take_vectors(
    entry: &Entry<Indexed>,
    storage: &dyn Storage,
    pass: &SearchPass,
    store: StoreId,
    chosen: Chosen,
) -> Result<()> {
    if entry.followed.read().await.it.has_vectors(Some(chosen)) {
        return Ok(());
    }
    let dims = chosen.dims as usize;
    {
        let mut followed = entry.followed.write().await;
        if followed.it.vectors.map(|(generation, _)| generation) != Some(chosen.generation) {
            followed.it.index.begin_vectors(chosen.generation.0, dims);
            // Only what was taken in counts: the caller may go away before the last page.
            followed.it.vectors = Some((chosen.generation, 0));
        }
    }
    let missing = entry.followed.read().await.it.index.without_vectors();
    for page in missing.chunks(VECTOR_PAGE) {
        let heads: Vec<_> = page.iter().map(|(_, head)| *head).collect();
        let found = storage.vectors(pass, store, chosen.generation, &heads).await?;
        let page = page.to_vec();
        let weight = found.iter().flatten().map(Vec::len).sum();
        let mut followed = Arc::clone(&entry.followed).write_owned().await;
        in_background(weight, move || {
            for ((id, head), bytes) in page.into_iter().zip(found) {
                // Damaged rows are as good as none; the check reports them.
                if let Some(vectors) = bytes.and_then(|bytes| vector::decode(&bytes, dims)) {
                    followed.it.index.set_vectors(id, head, &vectors);
                }
            }
        })
        .await?;
    }
    entry.followed.write().await.it.vectors = Some((chosen.generation, chosen.through));
    Ok(())
}
