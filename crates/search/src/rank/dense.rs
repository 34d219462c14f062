//! The leg by meaning: similarity to the query of each memory's best passage, smoothed over the
//! neighbours of what somebody said. Small collections are compared whole; in large ones a look at the
//! signs of the numbers picks out what is worth comparing, among what the filter lets through.

use super::Part;
use super::gate::Gate;
use crate::index::{NONE, StoreIndex};
use crate::vector::{QueryVector, VectorMatrix, nearest_by_bits};
use std::ops::RangeInclusive;

/// Up to this many vectors are compared one by one.
const WHOLE_ROWS_MAX: usize = 40_000;
/// Vectors picked out by their signs: one of so many, but within these bounds. Of 72,000 vectors of
/// real texts, 1,000 hold 99.9 % of the best ten and 99.5 % of the best fifty.
const PICKED_SHARE: usize = 250;
const PICKED_ROWS: RangeInclusive<usize> = 1000..=8000;
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
    pub(crate) fn of(&self, index: &StoreIndex, doc: u32) -> Option<Likeness> {
        self.own(doc).map(|own| self.around(index, doc, own))
    }

    /// The same for whoever knows the document's own similarity.
    #[inline]
    pub(crate) fn around(&self, index: &StoreIndex, doc: u32, own: f32) -> Likeness {
        // A mean and not a sum, or whoever has neighbours would be better for having them; and only
        // in conversations, because notes side by side need not be about the same.
        if !index.mark(doc).is_said() {
            return Likeness { own, smoothed: own, divisor: 1.0 };
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
        Likeness { own, smoothed: sum / divisor, divisor }
    }

    #[inline]
    pub(crate) fn own(&self, doc: u32) -> Option<f32> {
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

/// Runs the leg. `also` are documents of each part to compare in any case.
pub(super) fn dense_leg(
    parts: &[Part<'_>],
    gate: &Gate<'_>,
    scope: Scope,
    also: Vec<Vec<u32>>,
) -> DenseLeg {
    let spaces: Vec<Option<Space<'_>>> =
        parts.iter().map(|(index, query)| Space::new(index, *query)).collect();
    let mut sampled_least = f32::INFINITY;
    let mut docs = also;
    match scope {
        Scope::Whole => {}
        Scope::Passing => {
            docs = (0..parts.len()).map(|part| gate.passing(part).collect()).collect();
        }
        Scope::Picked { among } => {
            pick(&spaces, gate, among, &mut docs);
            for (part, space) in spaces.iter().enumerate() {
                let least = space.as_ref().map(|space| space.sample(part, among, gate));
                sampled_least = sampled_least.min(least.unwrap_or(f32::INFINITY));
            }
        }
    }
    let compare = |(space, docs): (Option<Space<'_>>, Vec<u32>)| match (space, scope) {
        (None, _) => Similar::Nothing,
        (Some(space), Scope::Whole) => Similar::Whole(space.whole()),
        (Some(space), _) => space.some(docs),
    };
    let similar = spaces.into_iter().zip(docs).map(compare).collect();
    DenseLeg { similar, sampled_least }
}

/// Picks out documents by the signs of their vectors, among all indexes that one model has embedded.
fn pick(spaces: &[Option<Space<'_>>], gate: &Gate<'_>, among: usize, docs: &mut [Vec<u32>]) {
    let count = (among / PICKED_SHARE).clamp(*PICKED_ROWS.start(), *PICKED_ROWS.end());
    let mut rest: Vec<(usize, &Space<'_>)> = spaces
        .iter()
        .enumerate()
        .filter_map(|(part, space)| Some((part, space.as_ref()?)))
        .collect();
    while let Some((_, first)) = rest.first() {
        let query = first.query;
        let is_same = |(_, space): &(usize, &Space<'_>)| std::ptr::eq(space.query, query);
        let (same, others) = rest.into_iter().partition::<Vec<_>, _>(is_same);
        rest = others;
        let matrices: Vec<&VectorMatrix> = same.iter().map(|(_, space)| space.matrix).collect();
        let counts = |at: usize, row: u32| same[at].1.counts(row, same[at].0, gate);
        for (at, row) in nearest_by_bits(&matrices, query, count, counts) {
            let (part, space) = same[at];
            docs[part].push(space.index.vectors().doc_of(row));
        }
    }
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

    /// Whether a row is a live document's that the filter lets through.
    fn counts(&self, row: u32, part: usize, gate: &Gate<'_>) -> bool {
        let doc = self.index.vectors().doc_of(row);
        doc != NONE && gate.lets_through(part, doc)
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
    fn sample(&self, part: usize, among: usize, gate: &Gate<'_>) -> f32 {
        let all = u32::try_from(self.matrix.len()).expect("rows are counted in 32 bits");
        let step = (among / SAMPLE_ROWS).max(1);
        let rows: Vec<u32> =
            (0..all).step_by(step).filter(|row| self.counts(*row, part, gate)).collect();
        let mut scores = Vec::new();
        self.matrix.scores_of(self.query, &rows, &mut scores);
        scores.into_iter().fold(f32::INFINITY, f32::min)
    }
}

#[cfg(test)]
#[path = "dense_tests.rs"]
mod tests;
