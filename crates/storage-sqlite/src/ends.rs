//! How far each store's feed and vectors have come, kept in memory, because every search asks for
//! it, of many stores at once.
//!
//! All these numbers only grow, so what the writer just made true and what a reader just loaded are
//! joined by taking the larger of each, in whatever order they arrive. What makes a number go away,
//! the end of a store or of a generation, starts everything over; a reader that began before that
//! does not add to what comes after. The writer reports after each commit and before it answers, so
//! whoever was answered is in the numbers.

use loci_model::StoreId;
use loci_storage::{FeedEnd, GenerationId, Mutation, Result};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// Stores whose numbers are kept; when there are more, it starts over.
const STORES_MAX: usize = 100_000;

#[derive(Default)]
pub(crate) struct Ends(RwLock<Held>);

#[derive(Default)]
struct Held {
    /// Counts how often everything started over.
    epoch: u64,
    ends: HashMap<StoreId, End>,
}

#[derive(Default)]
struct End {
    /// Whether a reader has loaded the rest of what the writer reported a part of.
    is_whole: bool,
    seq: u64,
    /// By generation, ascending.
    marks: Vec<(GenerationId, u64)>,
}

impl End {
    fn mark(&mut self, generation: GenerationId, through: u64) {
        match self.marks.binary_search_by_key(&generation, |(known, _)| *known) {
            Ok(found) => self.marks[found].1 = self.marks[found].1.max(through),
            Err(place) => self.marks.insert(place, (generation, through)),
        }
    }

    fn of(&self, store: StoreId) -> FeedEnd {
        FeedEnd { store, seq: self.seq, vectors: self.marks.clone() }
    }
}

/// What a group of writes moved.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    /// The newest number of each feed that grew.
    pub(crate) seqs: HashMap<StoreId, u64>,
    /// The marks that were set.
    pub(crate) marks: Vec<(StoreId, GenerationId, u64)>,
}

/// Whether a mutation takes numbers away.
pub(crate) fn starts_over(mutation: &Mutation) -> bool {
    match mutation {
        Mutation::RemoveStore(_) | Mutation::DropGeneration { .. } => true,
        Mutation::Audited(mutation, _) => starts_over(mutation),
        _ => false,
    }
}

impl Ends {
    /// The ends of those of the stores that exist, in the same order; `load` reads what is not kept.
    pub(crate) fn get(
        &self,
        stores: &[StoreId],
        load: impl FnOnce(&[StoreId]) -> Result<Vec<FeedEnd>>,
    ) -> Result<Vec<FeedEnd>> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let epoch = held.epoch;
        let mut missing = Vec::new();
        let mut found: Vec<FeedEnd> = Vec::with_capacity(stores.len());
        for store in stores {
            match held.ends.get(store).filter(|end| end.is_whole) {
                Some(end) => found.push(end.of(*store)),
                None => missing.push(*store),
            }
        }
        drop(held);
        if missing.is_empty() {
            return Ok(found);
        }
        found.extend(self.keep(epoch, load(&missing)?));
        let mut by_store: HashMap<StoreId, FeedEnd> =
            found.into_iter().map(|end| (end.store, end)).collect();
        Ok(stores.iter().filter_map(|store| by_store.remove(store)).collect())
    }

    /// The newest feed number of a store, if it is known here.
    pub(crate) fn seq(&self, store: StoreId) -> Option<u64> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        held.ends.get(&store).filter(|end| end.is_whole).map(|end| end.seq)
    }

    /// Adds what was loaded, and gives it back with what the writer reported meanwhile.
    fn keep(&self, epoch: u64, mut loaded: Vec<FeedEnd>) -> Vec<FeedEnd> {
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if held.epoch != epoch {
            return loaded;
        }
        if held.ends.len() + loaded.len() > STORES_MAX {
            held.start_over();
            return loaded;
        }
        for end in &mut loaded {
            let known = held.ends.entry(end.store).or_default();
            known.is_whole = true;
            known.seq = known.seq.max(end.seq);
            for (generation, through) in &end.vectors {
                known.mark(*generation, *through);
            }
            *end = known.of(end.store);
        }
        loaded
    }

    /// Takes in what was just committed.
    pub(crate) fn report(&self, moves: Moves, starts_over: bool) {
        if moves.seqs.is_empty() && moves.marks.is_empty() && !starts_over {
            return;
        }
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if starts_over || held.ends.len() > STORES_MAX {
            held.start_over();
        }
        for (store, seq) in moves.seqs {
            let end = held.ends.entry(store).or_default();
            end.seq = end.seq.max(seq);
        }
        for (store, generation, through) in moves.marks {
            held.ends.entry(store).or_default().mark(generation, through);
        }
    }
}

impl Held {
    fn start_over(&mut self) {
        self.epoch += 1;
        self.ends.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: StoreId = StoreId::from_u128(1);
    const GENERATION: GenerationId = GenerationId(1);

    fn end(seq: u64, through: u64) -> FeedEnd {
        FeedEnd { store: STORE, seq, vectors: vec![(GENERATION, through)] }
    }

    fn moves(seq: u64, through: u64) -> Moves {
        Moves { seqs: [(STORE, seq)].into(), marks: vec![(STORE, GENERATION, through)] }
    }

    #[test]
    fn what_is_committed_while_a_reader_loads_is_not_lost() {
        let ends = Ends::default();
        let found = ends.get(&[STORE], |_| {
            ends.report(moves(6, 3), false);
            Ok(vec![end(5, 2)])
        });
        assert_eq!(found.unwrap(), [end(6, 3)]);
        let found = ends.get(&[STORE], |_| unreachable!("it is kept"));
        assert_eq!(found.unwrap(), [end(6, 3)]);
    }

    #[test]
    fn a_part_is_not_taken_for_the_whole() {
        let ends = Ends::default();
        ends.report(Moves { seqs: [(STORE, 6)].into(), marks: vec![] }, false);
        let found = ends.get(&[STORE], |_| Ok(vec![end(6, 2)]));
        assert_eq!(found.unwrap(), [end(6, 2)]);
    }

    #[test]
    fn what_was_loaded_before_the_end_of_a_store_is_not_kept() {
        let ends = Ends::default();
        let found = ends.get(&[STORE], |_| {
            ends.report(Moves::default(), true);
            Ok(vec![end(5, 2)])
        });
        assert_eq!(found.unwrap(), [end(5, 2)]);
        let found = ends.get(&[STORE], |_| Ok(vec![]));
        assert_eq!(found.unwrap(), []);
    }

    #[test]
    fn a_store_named_twice_is_told_once_when_loaded() {
        let other = StoreId::from_u128(2);
        let ends = Ends::default();
        let load = |stores: &[StoreId]| {
            assert_eq!(stores, [other, STORE]);
            Ok(vec![end(1, 1)])
        };
        assert_eq!(ends.get(&[other, STORE], load).unwrap(), [end(1, 1)]);
    }
}
