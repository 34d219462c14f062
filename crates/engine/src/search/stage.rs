//! Everything one search looks at, held still while it looks: indexes that were brought up to date,
//! and the generation of vectors each is compared by.

use super::cache::{Chosen, Held, choose};
use super::{SearchRequest, Wait, in_place};
use crate::{Engine, Result};
use loci_model::StoreId;
use loci_model::policy::SearchPass;
use loci_search::index::StoreIndex;
use loci_storage::{FeedEnd, Generation};
use std::collections::HashMap;
use std::time::Duration;

/// How often waiting looks again without being told to.
const WAIT_STEP: Duration = Duration::from_millis(50);

/// One index of a search.
pub(crate) struct Place {
    pub(crate) store: StoreId,
    pub(crate) index: Index,
    /// The generation it is compared by, if it is compared by meaning.
    pub(crate) chosen: Option<Chosen>,
    /// The model of that generation.
    pub(crate) model: String,
}

/// An index that follows its store, or one made for this search.
pub(crate) enum Index {
    Followed(Held),
    Made(Box<StoreIndex>),
}

impl Place {
    pub(crate) fn index(&self) -> &StoreIndex {
        match &self.index {
            Index::Followed(held) => &held.it.index,
            Index::Made(index) => index,
        }
    }
}

/// The indexes of a search.
pub(crate) struct Stage {
    pub(crate) places: Vec<Place>,
    /// Whether every memory that is searched has its vectors.
    pub(crate) is_complete: bool,
    /// The text of the query as models embedded it while the stage was set, by model.
    pub(crate) embedded: HashMap<String, Vec<f32>>,
}

impl Stage {
    pub(crate) fn new(places: Vec<Place>, embedded: HashMap<String, Vec<f32>>) -> Self {
        let is_whole = |place: &Place| {
            let index = place.index();
            index.is_empty() || (place.chosen.is_some() && index.has_all_vectors())
        };
        let is_complete = places.iter().all(is_whole);
        Self { places, is_complete, embedded }
    }

    /// How many memories have no vectors yet.
    pub(crate) fn unready(&self) -> usize {
        let of = |place: &Place| match (place.chosen, place.index()) {
            (_, index) if self.is_complete || index.is_empty() => 0,
            (None, index) => index.len(),
            (Some(_), index) => index.without_vectors().len(),
        };
        self.places.iter().map(of).sum()
    }

    pub(crate) fn indexes(&self) -> Vec<&StoreIndex> {
        self.places.iter().map(Place::index).collect()
    }
}

impl Engine {
    /// Brings the indexes of the pass's stores up to the ends of their feeds, with vectors if they
    /// are needed. Of stores that are too large it takes what is worth ranking.
    pub(crate) async fn stage(
        &self,
        pass: &SearchPass,
        ends: &[FeedEnd],
        request: &SearchRequest,
    ) -> Result<Stage> {
        let usable = self.usable_generations(ends).await?;
        // A search holds the indexes it has while it waits for the next. All take them in one
        // order, or two searches could wait for each other.
        let mut ends: Vec<&FeedEnd> = ends.iter().collect();
        ends.sort_unstable_by_key(|end| end.store);
        let mut places = Vec::with_capacity(ends.len());
        let mut embedded = HashMap::new();
        for end in ends {
            match self.place(pass, end, request, &usable, &mut embedded).await {
                Ok(place) => places.push(place),
                // The store was removed a moment ago.
                Err(crate::Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Stage::new(places, embedded))
    }

    async fn place(
        &self,
        pass: &SearchPass,
        end: &FeedEnd,
        request: &SearchRequest,
        usable: &[Generation],
        embedded: &mut HashMap<String, Vec<f32>>,
    ) -> Result<Place> {
        let best = choose(end, usable);
        let chosen = best.filter(|_| request.needs_vectors());
        let model = best.and_then(|best| model_of(usable, best)).unwrap_or_default();
        if let Some(best) = best
            && let Some(memories) = self.lies_elsewhere(pass, end, best, request).await?
        {
            let vector = self.embed_early(&model, request, pass.now(), embedded).await?;
            let lookup = in_place::lookup(request, best, memories, vector);
            if let Some(index) = self.in_place(pass, end, best, request, &lookup).await? {
                return Ok(in_place::place(end, index, chosen, model));
            }
        }
        let held = self.search.indexes.with_vectors(&self.storage, pass, end, chosen).await?;
        Ok(Place { store: end.store, index: Index::Followed(held), chosen, model })
    }

    /// Generations that queries can be compared with; looked up again when one is new.
    pub(crate) async fn usable_generations(
        &self,
        ends: &[FeedEnd],
    ) -> Result<std::sync::Arc<Vec<Generation>>> {
        let usable = self.search.usable();
        if self.search.embedder().is_none() {
            return Ok(usable);
        }
        let newest = ends.iter().flat_map(|end| &end.vectors).map(|(id, _)| *id).max();
        let is_known = match newest {
            None => true,
            Some(newest) => usable.last().is_some_and(|last| last.id >= newest),
        };
        if is_known { Ok(usable) } else { self.search.look(self.storage.as_ref()).await }
    }

    /// Waits until vectors reach what was asked for, or the time is over; then tells how far the
    /// stores are.
    pub(crate) async fn wait_for_vectors(
        &self,
        pass: &SearchPass,
        wait: Wait,
    ) -> Result<Vec<FeedEnd>> {
        let mut embedded = self.search.embedded.subscribe();
        let first = self.storage.feed_ends(pass).await?;
        let wanted = |end: &FeedEnd| wait.until.unwrap_or(end.seq).min(end.seq);
        let targets: Vec<(StoreId, u64)> =
            first.iter().map(|end| (end.store, wanted(end))).collect();
        let waiting = async {
            loop {
                let ends = self.storage.feed_ends(pass).await?;
                let usable = self.usable_generations(&ends).await?;
                let reached = |(store, target): &(StoreId, u64)| {
                    let end = ends.iter().find(|end| end.store == *store);
                    let through = |end| choose(end, &usable).map_or(0, |chosen| chosen.through);
                    // A store that is gone has nothing to wait for.
                    end.is_none_or(|end| through(end) >= *target)
                };
                if targets.iter().all(reached) {
                    return Ok(ends);
                }
                // Whichever comes first; the other server of two tells us nothing.
                let _ = tokio::time::timeout(WAIT_STEP, embedded.changed()).await;
            }
        };
        if self.search.embedder().is_none() {
            return Ok(first);
        }
        match tokio::time::timeout(wait.at_most, waiting).await {
            Ok(ends) => ends,
            Err(_) => Ok(self.storage.feed_ends(pass).await?),
        }
    }
}

fn model_of(usable: &[Generation], chosen: Chosen) -> Option<String> {
    let found = usable.iter().find(|generation| generation.id == chosen.generation);
    found.map(|generation| generation.model.clone())
}
