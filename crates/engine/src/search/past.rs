//! Searching a store as it stood at a moment of its past. The index is made for this one search
//! from the history, so it costs in proportion to the store; vectors are those the versions had.

use super::cache::choose;
use super::stage::{Index, Place, Stage};
use super::{SearchAnswer, SearchRequest};
use crate::{Context, Engine, Error, Result};
use loci_model::policy::{ReadPass, SearchPass};
use loci_model::{Memory, MemoryId, StoreId};
use loci_search::index::StoreIndex;
use loci_search::vector;
use loci_storage::{AsOf, FeedEnd};
use std::collections::HashMap;
use std::sync::Arc;

/// Texts read at once.
const PAGE: usize = 1000;

type Past = HashMap<(StoreId, MemoryId), Memory>;

impl Engine {
    pub(crate) async fn search_past(
        &self,
        context: &Context,
        request: &SearchRequest,
        at: AsOf,
    ) -> Result<SearchAnswer> {
        let (pass, passes) = self.reach_past(context, request).await?;
        let ends = self.storage.feed_ends(&pass).await?;
        let (mut past, mut places) = (Past::new(), Vec::new());
        for read in &passes {
            if let Some(end) = ends.iter().find(|end| end.store == read.store()) {
                places.push(self.past_place(&pass, read, end, at, request, &mut past).await?);
            }
        }
        let stage = Arc::new(Stage::new(places, HashMap::new()));
        let (mut hits, mut is_by_meaning) = (Vec::new(), false);
        // First what has the query's phrases, if it is made of them; if nothing has, its words.
        for may_be_strict in [true, false] {
            let found = self.find(&pass, &stage, request, may_be_strict).await?;
            let prepared = found.prepared;
            is_by_meaning = found.is_by_meaning;
            for candidate in found.ranking.candidates {
                if hits.len() == request.wanted.limit {
                    break;
                }
                let id = (stage.places[candidate.part].store, candidate.memory);
                let memory = past.get(&id).cloned();
                hits.extend(memory.and_then(|memory| prepared.hit(memory, candidate)));
            }
            if !hits.is_empty() || !prepared.is_strict {
                break;
            }
        }
        Ok(SearchAnswer {
            hits,
            indexed_through: Vec::new(),
            is_complete: stage.is_complete,
            unready: stage.unready(),
            is_by_meaning,
            left_out: 0,
        })
    }

    /// The index of one store's past.
    async fn past_place(
        &self,
        pass: &SearchPass,
        read: &ReadPass,
        end: &FeedEnd,
        at: AsOf,
        request: &SearchRequest,
        past: &mut Past,
    ) -> Result<Place> {
        let (mut index, mut after) = (StoreIndex::new(), 0);
        loop {
            let page = self.storage.texts_at(read, at, after, PAGE).await?;
            let memories = page.memories.clone();
            let filling = tokio::task::spawn_blocking(move || {
                memories.iter().for_each(|memory| index.put(memory));
                index
            });
            index = filling.await.map_err(|error| Error::Internal(error.to_string()))?;
            past.extend(page.memories.into_iter().map(|memory| ((end.store, memory.id), memory)));
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
            }
            let found = usable.iter().find(|generation| generation.id == chosen.generation);
            model = found.map(|generation| generation.model.clone()).unwrap_or_default();
        }
        Ok(Place { store: end.store, index: Index::Made(Box::new(index)), chosen, model })
    }
}
