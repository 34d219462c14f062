//! Searching a store as it stood at a moment of its past. The index is made for this one search
//! from the history, so it costs in proportion to the store; vectors are those the versions had.
//!
//! Such an index is no small thing to hold: these searches take turns, texts are let go of as soon as
//! they are taken in, and a store that would take more than a share of what all indexes may take is
//! refused.

use super::cache::choose;
use super::show::Shown;
use super::stage::{Index, Place, Stage};
use super::{SearchAnswer, SearchRequest};
use crate::{Context, Engine, Error, Result, damage};
use loci_model::policy::{ReadPass, SearchPass};
use loci_model::{Invalid, Memory, MemoryId, StoreId, View};
use loci_search::index::StoreIndex;
use loci_search::vector;
use loci_storage::{AsOf, FeedEnd};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// Texts read at once.
const PAGE: usize = 1000;
/// How long a search of the past waits for its turn.
const TURN_PATIENCE: Duration = Duration::from_secs(10);
const BUSY: &str = "looks at the past take turns, and others are waiting; try again";

/// What stood at the moment, without content.
#[derive(Default)]
struct Past {
    memories: HashMap<(StoreId, MemoryId), Memory>,
    bytes: usize,
}

impl Past {
    fn add(&mut self, memory: Memory) {
        let memory = Memory { content: None, ..memory };
        self.bytes += weight(&memory);
        self.memories.insert((memory.store, memory.id), memory);
    }
}

/// About how many bytes a memory takes, but for its content.
pub(crate) fn weight(memory: &Memory) -> usize {
    let attributes = &memory.attributes;
    let texts = [
        &attributes.kind,
        &attributes.source,
        &attributes.scope,
        &attributes.summary,
        &attributes.media_type,
    ];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    let metadata = attributes.metadata.as_ref().map_or(0, |metadata| metadata.len());
    let tags: usize = attributes.tags.iter().map(|tag| size_of::<String>() + tag.len()).sum();
    // The key once more, and what the map keeps free.
    2 * size_of::<Memory>() + memory.path.as_str().len() + texts + metadata + tags
}

/// Why a moment cannot be looked at.
pub(crate) fn too_much_past() -> Error {
    let why = "names a moment at which there was more than this server may hold for a look at the past; \
               ask about fewer stores, or raise search.memory_mb";
    Invalid::new("as_of", why).into()
}

impl Engine {
    /// The turn of whoever looks at the past.
    pub(crate) async fn past_turn(&self) -> Result<OwnedSemaphorePermit> {
        let turn = Arc::clone(&self.search.pasts).acquire_owned();
        match tokio::time::timeout(TURN_PATIENCE, turn).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => Err(Error::Unavailable(BUSY)),
        }
    }

    pub(crate) async fn search_past(
        &self,
        context: &Context,
        request: &SearchRequest,
        at: AsOf,
    ) -> Result<SearchAnswer> {
        let (pass, passes) = self.reach_past(context, request).await?;
        let turn = self.past_turn().await?;
        let (engine, request) = (self.clone(), request.clone());
        self.compute(async move {
            let found = engine.found_in_past(&pass, &passes, &request, at).await;
            drop(turn);
            found
        })
        .await
    }

    async fn found_in_past(
        &self,
        pass: &SearchPass,
        passes: &[ReadPass],
        request: &SearchRequest,
        at: AsOf,
    ) -> Result<SearchAnswer> {
        let ends = self.storage.feed_ends(pass).await?;
        let (mut past, mut places) = (Past::default(), Vec::new());
        let mut bytes = 0;
        for read in passes {
            if let Some(end) = ends.iter().find(|end| end.store == read.store()) {
                let place = self.past_place(pass, read, end, at, request, &mut past, bytes).await?;
                bytes += place.index().bytes();
                places.push(place);
            }
        }
        let stage = Arc::new(Stage::new(places, HashMap::new()));
        let (mut shown, mut is_by_meaning) = (Shown::default(), false);
        // First what has the query's phrases, if it is made of them; if nothing has, its words.
        for may_be_strict in [true, false] {
            let found = self.find(pass, &stage, request, may_be_strict).await?;
            let prepared = found.prepared;
            is_by_meaning = found.is_by_meaning;
            for candidate in found.ranking.candidates {
                if shown.hits.len() == request.wanted.limit {
                    break;
                }
                let id = (stage.places[candidate.part].store, candidate.memory);
                let read = passes.iter().find(|read| read.store() == id.0);
                let (Some(read), Some(memory)) = (read, past.memories.get(&id).cloned()) else {
                    continue;
                };
                let view = shown.view(&prepared);
                match self.read_past(read, memory, view).await {
                    Ok(Some(memory)) => shown.add(&prepared, memory, candidate),
                    Ok(None) => {}
                    Err(Error::Damaged { .. }) => shown.damaged.push(id),
                    Err(error) => return Err(error),
                }
            }
            if !shown.hits.is_empty() || !prepared.is_strict {
                break;
            }
        }
        shown.damaged.sort_unstable();
        shown.damaged.dedup();
        Ok(SearchAnswer {
            hits: shown.hits,
            damaged: shown.damaged,
            contents_left_out: shown.contents_left_out,
            indexed_through: Vec::new(),
            is_complete: stage.is_complete,
            unready: stage.unready(),
            is_by_meaning,
            left_out: 0,
        })
    }

    /// A memory of the past with its content, if the view wants it and it is still there: what was
    /// scrubbed meanwhile is passed over.
    async fn read_past(
        &self,
        pass: &ReadPass,
        mut memory: Memory,
        view: View,
    ) -> Result<Option<Memory>> {
        if view == View::Full {
            let version = damage::version(self.storage.as_ref(), pass, memory.head, view).await?;
            memory.content = version.and_then(|version| version.content);
            if memory.content.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(memory))
    }

    /// The index of one store's past; `others` is what the search holds already.
    #[expect(clippy::too_many_arguments, reason = "what one search of the past goes by")]
    async fn past_place(
        &self,
        pass: &SearchPass,
        read: &ReadPass,
        end: &FeedEnd,
        at: AsOf,
        request: &SearchRequest,
        past: &mut Past,
        others: usize,
    ) -> Result<Place> {
        let (mut index, mut after) = (StoreIndex::new(), 0);
        loop {
            let page = self.storage.texts_at(read, at, after, PAGE).await?;
            for memory in page.memories {
                index.put(&memory);
                past.add(memory);
            }
            if index.bytes() + past.bytes + others > self.search.past_bytes_max {
                return Err(too_much_past());
            }
            match page.next {
                Some(next) => after = next,
                None => break,
            }
        }
        index.settle();
        let usable = self.usable_generations(std::slice::from_ref(end)).await?;
        let chosen = if request.needs_vectors() { choose(end, &usable) } else { None };
        let mut model = String::new();
        if let Some(chosen) = chosen {
            let dims = chosen.dims as usize;
            index.begin_vectors(chosen.generation.0, dims);
            for some in index.without_vectors().chunks(PAGE) {
                let heads: Vec<_> = some.iter().map(|(_, head)| *head).collect();
                let rows = self.storage.vectors(pass, end.store, chosen.generation, &heads).await?;
                for ((id, head), row) in some.iter().zip(rows) {
                    if let Some(vectors) = row.and_then(|row| vector::decode(&row, dims)) {
                        index.set_vectors(*id, *head, &vectors);
                    }
                }
                if index.bytes() + past.bytes + others > self.search.past_bytes_max {
                    return Err(too_much_past());
                }
            }
            let found = usable.iter().find(|generation| generation.id == chosen.generation);
            model = found.map(|generation| generation.model.clone()).unwrap_or_default();
        }
        Ok(Place { store: end.store, index: Index::Made(Box::new(index)), chosen, model })
    }
}
