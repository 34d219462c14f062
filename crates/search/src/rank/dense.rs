//! The leg by meaning: similarity to the query of each memory's best passage, smoothed over the
//! neighbours of what somebody said. Small collections are compared whole; in large ones a look at the
//! signs of the numbers picks out what is worth comparing.

use crate::index::{NONE, StoreIndex};
use crate::vector::{QueryVector, VectorMatrix};
use std::collections::HashMap;

/// Up to this many vectors are compared one by one.
const WHOLE_ROWS_MAX: usize = 200_000;
/// Vectors picked out by their signs, in all and from each index at least.
const PICKED_ROWS: usize = 2000;
const PICKED_ROWS_MIN: usize = 40;
/// Vectors looked at to learn how similar the least similar are.
const SAMPLE_ROWS: usize = 1024;
/// What a neighbour's similarity counts against one's own.
const SMOOTHING: f32 = 0.2;

/// What the leg by meaning found in one index.
#[derive(Debug)]
pub(crate) enum Similar {
    /// Nothing can be compared here.
    Nothing,
    /// Every document's similarity; not a number where there is no vector.
    Whole(Vec<f32>),
    /// That of some documents.
    Picked(HashMap<u32, f32>),
}

impl Similar {
    /// A document's own similarity, the same smoothed over its neighbours, and what the smoothed
    /// one was divided by.
    pub(crate) fn of(&self, index: &StoreIndex, doc: u32) -> Option<(f32, f32, f32)> {
        let own = self.own(doc)?;
        // A mean and not a sum, or whoever has neighbours would be better for having them; and only
        // in conversations, because notes side by side need not be about the same.
        if !index.mark(doc).is_said() {
            return Some((own, own, 1.0));
        }
        let (mut sum, mut weight) = (own, 1.0);
        for neighbour in [index.siblings().previous(doc), index.siblings().next(doc)] {
            if neighbour != NONE
                && index.mark(neighbour).is_said()
                && let Some(similarity) = self.own(neighbour)
            {
                sum += SMOOTHING * similarity;
                weight += SMOOTHING;
            }
        }
        Some((own, sum / weight, weight))
    }

    fn own(&self, doc: u32) -> Option<f32> {
        match self {
            Self::Nothing => None,
            Self::Whole(all) => Some(all[doc as usize]).filter(|similarity| !similarity.is_nan()),
            Self::Picked(some) => some.get(&doc).copied(),
        }
    }
}

/// What the leg found everywhere.
#[derive(Debug)]
pub(crate) struct DenseLeg {
    pub(crate) similar: Vec<Similar>,
    /// About the smallest similarity there is, when only some were compared.
    pub(crate) sampled_least: f32,
}

/// Runs the leg. `also` are documents to compare in any case.
pub(crate) fn dense_leg(
    parts: &[(&StoreIndex, Option<&QueryVector>)],
    also: impl Fn(usize) -> Vec<u32>,
) -> DenseLeg {
    let rows: usize = parts.iter().map(|(index, _)| index.vectors().row_count()).sum();
    compare(parts, rows, rows > WHOLE_ROWS_MAX, also)
}

pub(super) fn compare(
    parts: &[(&StoreIndex, Option<&QueryVector>)],
    rows: usize,
    is_picked: bool,
    also: impl Fn(usize) -> Vec<u32>,
) -> DenseLeg {
    let mut sampled_least = f32::INFINITY;
    let mut similar = Vec::with_capacity(parts.len());
    for (at, (index, query)) in parts.iter().enumerate() {
        let Some(space) = Space::new(index, *query) else {
            similar.push(Similar::Nothing);
            continue;
        };
        if is_picked {
            let share = PICKED_ROWS * index.vectors().row_count() / rows;
            let count = share.clamp(PICKED_ROWS_MIN, PICKED_ROWS);
            sampled_least = sampled_least.min(space.sample(rows));
            similar.push(Similar::Picked(space.picked(count, &also(at))));
        } else {
            similar.push(Similar::Whole(space.whole()));
        }
    }
    DenseLeg { similar, sampled_least }
}

/// One index that a query can be compared with.
struct Space<'a> {
    index: &'a StoreIndex,
    matrix: &'a VectorMatrix,
    query: &'a QueryVector,
}

impl<'a> Space<'a> {
    fn new(index: &'a StoreIndex, query: Option<&'a QueryVector>) -> Option<Self> {
        let (matrix, query) = (index.vectors().matrix()?, query?);
        let is_comparable = !matrix.is_empty() && matrix.dims() == query.dims();
        is_comparable.then_some(Self { index, matrix, query })
    }

    fn whole(&self) -> Vec<f32> {
        let mut by_row = Vec::new();
        self.matrix.scores(self.query, &mut by_row);
        let mut best = vec![f32::NAN; self.index.doc_slots()];
        for (row, score) in (0u32..).zip(by_row) {
            let doc = self.index.vectors().doc_of(row);
            if doc != NONE {
                // The larger one, whichever is a number.
                best[doc as usize] = best[doc as usize].max(score);
            }
        }
        best
    }

    /// The similarities of what the signs pick out, of `also`, and of the neighbours of both.
    fn picked(&self, count: usize, also: &[u32]) -> HashMap<u32, f32> {
        let vectors = self.index.vectors();
        let is_gone = |row: u32| vectors.doc_of(row) == NONE;
        let near = self.matrix.nearest_by_bits(self.query, count, is_gone);
        let mut docs: Vec<u32> = near.into_iter().map(|row| vectors.doc_of(row)).collect();
        docs.extend_from_slice(also);
        let siblings = self.index.siblings();
        for at in 0..docs.len() {
            let neighbours = [siblings.previous(docs[at]), siblings.next(docs[at])];
            docs.extend(neighbours.into_iter().filter(|neighbour| *neighbour != NONE));
        }
        docs.sort_unstable();
        docs.dedup();
        let rows: Vec<u32> = docs.iter().flat_map(|doc| vectors.rows(*doc)).collect();
        let mut scores = Vec::new();
        self.matrix.scores_of(self.query, &rows, &mut scores);
        let mut best = HashMap::with_capacity(docs.len());
        for (row, score) in rows.into_iter().zip(scores) {
            let similarity = best.entry(vectors.doc_of(row)).or_insert(f32::NEG_INFINITY);
            *similarity = similarity.max(score);
        }
        best
    }

    /// How similar the least similar is, about.
    fn sample(&self, rows_everywhere: usize) -> f32 {
        let vectors = self.index.vectors();
        let step = (rows_everywhere / SAMPLE_ROWS).max(1);
        let is_live = |row: &u32| vectors.doc_of(*row) != NONE;
        let all = u32::try_from(vectors.row_count()).expect("rows are counted in 32 bits");
        let rows: Vec<u32> = (0..all).step_by(step).filter(is_live).collect();
        let mut scores = Vec::new();
        self.matrix.scores_of(self.query, &rows, &mut scores);
        scores.into_iter().fold(f32::INFINITY, f32::min)
    }
}

#[cfg(test)]
#[path = "dense_tests.rs"]
mod tests;
