//! The leg by meaning: similarity to the query of each memory's best passage, smoothed over the
//! neighbours of what somebody said. Small collections are compared whole; in large ones a look at the
//! signs of the numbers picks out what is worth comparing, among what the filter lets through.

use super::Part;
use super::gate::Gate;
use crate::index::{NONE, StoreIndex};
use crate::vector::{QueryVector, VectorMatrix};
use std::ops::RangeInclusive;

/// Up to this many vectors are compared one by one.
const WHOLE_ROWS_MAX: usize = 40_000;
/// Vectors picked out by their signs: one of so many, but within these bounds in all, and from each
/// index at least this many. Of 72,000 vectors of real texts, 2,000 hold the best ten always and of
/// the best fifty 99.8 %.
const PICKED_SHARE: usize = 250;
const PICKED_ROWS: RangeInclusive<usize> = 2000..=8000;
const PICKED_ROWS_MIN: usize = 40;
/// Vectors looked at to learn how similar the least similar are.
const SAMPLE_ROWS: usize = 1024;
/// What a neighbour's similarity counts against one's own.
const SMOOTHING: f32 = 0.2;
/// With every doubling of a memory's passages, its best is taken for this much less similar: the
/// best of many is good by chance.
const LESS_PER_DOUBLING: f32 = 0.03;

/// What the leg by meaning found in one index.
#[derive(Debug)]
pub(crate) enum Similar {
    /// Nothing can be compared here.
    Nothing,
    /// Every document's similarity; not a number where there is no vector.
    Whole(Vec<f32>),
    /// Some documents, ascending, and their similarities.
    Some(Vec<u32>, Vec<f32>),
}

/// What is known about one document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Likeness {
    /// Its own similarity, corrected for the number of passages.
    pub(crate) own: f32,
    /// The same as a mean over its neighbours.
    pub(crate) smoothed: f32,
    /// What the mean was divided by.
    pub(crate) divisor: f32,
}

impl Similar {
    #[inline]
    pub(crate) fn of(&self, index: &StoreIndex, doc: u32) -> Option<Likeness> {
        let own = self.own(doc)?;
        // A mean and not a sum, or whoever has neighbours would be better for having them; and only
        // in conversations, because notes side by side need not be about the same.
        if !index.mark(doc).is_said() {
            return Some(Likeness { own, smoothed: own, divisor: 1.0 });
        }
        let (mut sum, mut divisor) = (own, 1.0);
        for neighbour in [index.siblings().previous(doc), index.siblings().next(doc)] {
            if neighbour != NONE
                && index.mark(neighbour).is_said()
                && let Some(similarity) = self.own(neighbour)
            {
                sum += SMOOTHING * similarity;
                divisor += SMOOTHING;
            }
        }
        Some(Likeness { own, smoothed: sum / divisor, divisor })
    }

    #[inline]
    fn own(&self, doc: u32) -> Option<f32> {
        match self {
            Self::Nothing => None,
            Self::Whole(all) => Some(all[doc as usize]).filter(|similarity| !similarity.is_nan()),
            Self::Some(docs, similarities) => {
                docs.binary_search(&doc).ok().map(|at| similarities[at])
            }
        }
    }
}

/// What a document's best passage owes to being the best of many.
pub(crate) fn by_chance(index: &StoreIndex, doc: u32) -> f32 {
    match index.vectors().rows(doc).len() {
        0 | 1 => 0.0,
        passages => LESS_PER_DOUBLING * (passages as f32).log2(),
    }
}

/// What the leg found everywhere.
#[derive(Debug)]
pub(crate) struct DenseLeg {
    pub(crate) similar: Vec<Similar>,
    /// About the smallest similarity there is, when only some were compared.
    pub(crate) sampled_least: f32,
}

/// How much is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Every vector there is.
    Whole,
    /// Every vector of what the filter lets through.
    Passing,
    /// So many of these vectors.
    Picked { among: usize },
}

impl Scope {
    pub(super) fn new(parts: &[Part<'_>], gate: &Gate<'_>) -> Self {
        let rows: usize = parts.iter().map(|(index, _)| index.vectors().row_count()).sum();
        if rows <= WHOLE_ROWS_MAX {
            return Self::Whole;
        }
        if gate.is_open() {
            return Self::Picked { among: rows };
        }
        let rows_of = |part: usize| -> usize {
            gate.passing(part).map(|doc| parts[part].0.vectors().rows(doc).len()).sum()
        };
        let among = (0..parts.len()).map(rows_of).sum();
        if among <= WHOLE_ROWS_MAX { Self::Passing } else { Self::Picked { among } }
    }
}

/// Runs the leg. `also` are documents to compare in any case.
pub(super) fn dense_leg(
    parts: &[Part<'_>],
    gate: &Gate<'_>,
    scope: Scope,
    also: impl Fn(usize) -> Vec<u32>,
) -> DenseLeg {
    let mut sampled_least = f32::INFINITY;
    let mut similar = Vec::with_capacity(parts.len());
    for (part, (index, query)) in parts.iter().enumerate() {
        let Some(space) = Space::new(index, *query) else {
            similar.push(Similar::Nothing);
            continue;
        };
        similar.push(match scope {
            Scope::Whole => Similar::Whole(space.whole()),
            Scope::Passing => space.some(gate.passing(part).collect()),
            Scope::Picked { among } => {
                let all = (among / PICKED_SHARE).clamp(*PICKED_ROWS.start(), *PICKED_ROWS.end());
                let share = all * index.vectors().row_count() / among.max(1);
                let count = share.clamp(PICKED_ROWS_MIN, all);
                let counts = |row: u32| {
                    let doc = index.vectors().doc_of(row);
                    doc != NONE && gate.lets_through(part, doc)
                };
                sampled_least = sampled_least.min(space.sample(among, counts));
                let mut docs = space.nearest(count, counts);
                docs.extend(also(part));
                space.some(docs)
            }
        });
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
        for (doc, best) in (0u32..).zip(&mut best) {
            *best -= by_chance(self.index, doc);
        }
        best
    }

    /// The documents that the signs pick out.
    fn nearest(&self, count: usize, counts: impl Fn(u32) -> bool) -> Vec<u32> {
        let near = self.matrix.nearest_by_bits(self.query, count, counts);
        near.into_iter().map(|row| self.index.vectors().doc_of(row)).collect()
    }

    /// The similarities of some documents and of their neighbours.
    fn some(&self, mut docs: Vec<u32>) -> Similar {
        let vectors = self.index.vectors();
        let siblings = self.index.siblings();
        for at in 0..docs.len() {
            if self.index.mark(docs[at]).is_said() {
                let neighbours = [siblings.previous(docs[at]), siblings.next(docs[at])];
                docs.extend(neighbours.into_iter().filter(|neighbour| *neighbour != NONE));
            }
        }
        docs.sort_unstable();
        docs.dedup();
        docs.retain(|doc| !vectors.rows(*doc).is_empty());
        let rows: Vec<u32> = docs.iter().flat_map(|doc| vectors.rows(*doc)).collect();
        let mut scores = Vec::new();
        self.matrix.scores_of(self.query, &rows, &mut scores);
        let mut scores = scores.into_iter();
        let best = |doc: &u32| {
            let own = scores.by_ref().take(vectors.rows(*doc).len());
            own.fold(f32::NEG_INFINITY, f32::max) - by_chance(self.index, *doc)
        };
        let similarities = docs.iter().map(best).collect();
        Similar::Some(docs, similarities)
    }

    /// How similar the least similar is, about.
    fn sample(&self, among: usize, counts: impl Fn(u32) -> bool) -> f32 {
        let all = u32::try_from(self.matrix.len()).expect("rows are counted in 32 bits");
        let step = (among / SAMPLE_ROWS).max(1);
        let rows: Vec<u32> = (0..all).step_by(step).filter(|row| counts(*row)).collect();
        let mut scores = Vec::new();
        self.matrix.scores_of(self.query, &rows, &mut scores);
        scores.into_iter().fold(f32::INFINITY, f32::min)
    }
}

#[cfg(test)]
#[path = "dense_tests.rs"]
mod tests;
