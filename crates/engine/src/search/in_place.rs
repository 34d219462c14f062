//! Searching a large store where it lies: storage picks the memories worth ranking, an index is made of
//! them for this one search, and the same ranking goes over it. So a server answers for a million
//! memories without holding them.
//!
//! What was written since vectors were last made is read from the feed and added, so that a write is
//! found by word by the very next search, as it is in an index in memory.

use super::cache::Chosen;
use super::stage::{Index, Place};
use super::{Mode, SearchRequest};
use crate::{Engine, Error, Result};
use loci_model::policy::SearchPass;
use loci_model::{Memory, MemoryId};
use loci_search::index::{StoreIndex, Whole, cut};
use loci_search::rank::{LookupWord, lookup_words};
use loci_search::text::TextQuery;
use loci_search::{SearchFilter, vector};
use loci_storage::{FeedEnd, Lookup, LookupFilter, Shortlist, Sought};

/// Entries of the feed without vectors that are added one by one; with more, the store is read.
const TAIL_MAX: u64 = 2000;
/// Of these, read at once.
const TAIL_PAGE: usize = 1000;
/// Vectors read at once.
const VECTOR_PAGE: usize = 1000;

impl Engine {
    /// A store as one search needs it, if storage can pick it out.
    pub(crate) async fn in_place(
        &self,
        pass: &SearchPass,
        end: &FeedEnd,
        chosen: Chosen,
        request: &SearchRequest,
        lookup: &Lookup,
    ) -> Result<Option<StoreIndex>> {
        let Some(found) = self.storage.shortlist(pass, end.store, lookup).await? else {
            return Ok(None);
        };
        let tail = self.tail(pass, end, chosen.through).await?;
        let (memories, compared) = (lookup.memories, request.needs_vectors().then_some(chosen));
        let filling = tokio::task::spawn_blocking(move || fill(found, &tail, memories, compared));
        let mut index = filling.await.map_err(|error| Error::Internal(error.to_string()))?;
        if request.needs_vectors() {
            self.give_vectors(pass, end, chosen, &mut index).await?;
        }
        Ok(Some(index))
    }

    /// How many memories a store has, if it is to be searched where it lies.
    pub(crate) async fn lies_elsewhere(
        &self,
        pass: &SearchPass,
        end: &FeedEnd,
        chosen: Chosen,
        request: &SearchRequest,
    ) -> Result<Option<u64>> {
        let query = TextQuery::parse(&request.wanted.text);
        // A phrase of stop words is nowhere but in texts.
        let is_lookable =
            !query.is_quoted() || query.phrases.iter().all(|phrase| !phrase.terms.is_empty());
        if !is_lookable
            || end.seq.saturating_sub(chosen.through) > TAIL_MAX
            || self.search.indexes.holds(end.store, pass.audience())
        {
            return Ok(None);
        }
        let memories = self.storage.shortlistable(pass, end.store, chosen.generation).await?;
        Ok(memories.filter(|memories| *memories > self.search.index_memories_max))
    }

    /// What became of the memories that changed since vectors were made.
    async fn tail(
        &self,
        pass: &SearchPass,
        end: &FeedEnd,
        through: u64,
    ) -> Result<Vec<(MemoryId, Option<Memory>)>> {
        let (mut tail, mut at) = (Vec::new(), through);
        while at < end.seq {
            let changed = self.storage.changed_texts(pass, end.store, at, TAIL_PAGE).await?;
            if changed.through <= at {
                return Err(Error::NotFound("memory store"));
            }
            tail.extend(changed.memories);
            at = changed.through;
        }
        Ok(tail)
    }

    /// Vectors for those who came without: what was found beside the list.
    async fn give_vectors(
        &self,
        pass: &SearchPass,
        end: &FeedEnd,
        chosen: Chosen,
        index: &mut StoreIndex,
    ) -> Result<()> {
        let dims = chosen.dims as usize;
        for some in index.without_vectors().chunks(VECTOR_PAGE) {
            let heads: Vec<_> = some.iter().map(|(_, head)| *head).collect();
            let rows = self.storage.vectors(pass, end.store, chosen.generation, &heads).await?;
            for ((id, head), row) in some.iter().zip(rows) {
                if let Some(vectors) = row.and_then(|row| vector::decode(&row, dims)) {
                    index.set_vectors(*id, *head, &vectors);
                }
            }
        }
        Ok(())
    }
}

/// The place of a store that is searched where it lies.
pub(crate) fn place(
    end: &FeedEnd,
    index: StoreIndex,
    chosen: Option<Chosen>,
    model: String,
) -> Place {
    Place { store: end.store, index: Index::Made(Box::new(index)), chosen, model }
}

/// What to look for in a store of so many memories; `vector` is the query as the model of the generation
/// embeds it.
pub(crate) fn lookup(
    request: &SearchRequest,
    chosen: Chosen,
    memories: u64,
    vector: Option<Vec<f32>>,
) -> Lookup {
    let query = TextQuery::parse(&request.wanted.text);
    let kept = |term: &String| cut(term).to_owned();
    let sought = |word: LookupWord| Sought {
        terms: word.terms.iter().map(kept).collect(),
        beginning: word.beginning.as_ref().map(kept),
        key: word.key,
    };
    let words = match request.wanted.mode {
        Mode::Semantic => Vec::new(),
        Mode::Hybrid | Mode::Lexical => lookup_words(&query).into_iter().map(sought).collect(),
    };
    let phrases = match query.is_quoted() {
        true => {
            query.phrases.iter().map(|phrase| phrase.terms.iter().map(kept).collect()).collect()
        }
        false => Vec::new(),
    };
    let filter = lookup_filter(&request.wanted.filter);
    let nothing = Lookup::new(chosen.generation, memories, request.wanted.limit);
    Lookup { words, phrases, vector, filter, ..nothing }
}

fn lookup_filter(filter: &SearchFilter) -> LookupFilter {
    LookupFilter {
        prefixes: filter.prefixes.clone(),
        kinds: filter.kinds.clone(),
        tags: filter.tags.clone(),
        source: filter.source.clone(),
        scope: filter.scope.clone(),
        created: (filter.created.since, filter.created.until),
        updated: (filter.updated.since, filter.updated.until),
        metadata: filter.metadata.iter().map(|(name, _)| name.clone()).collect(),
    }
}

fn fill(
    found: Shortlist,
    tail: &[(MemoryId, Option<Memory>)],
    memories: u64,
    compared: Option<Chosen>,
) -> StoreIndex {
    let mut index = StoreIndex::new();
    found.memories.iter().for_each(|memory| index.put(memory));
    for (id, memory) in tail {
        match memory {
            Some(memory) => index.put(memory),
            None => index.remove(*id),
        }
    }
    index.settle();
    if let Some(chosen) = compared {
        let dims = chosen.dims as usize;
        index.begin_vectors(chosen.generation.0, dims);
        for (memory, row) in found.memories.iter().zip(&found.vectors) {
            if let Some(vectors) = row.as_ref().and_then(|row| vector::decode(row, dims)) {
                index.set_vectors(memory.id, memory.head, &vectors);
            }
        }
    }
    index.be_part_of(Whole { memories, holding: found.holding });
    index
}
