//! Adds up BM25 over the pieces of one index. What a rare word touches is noted down; what a common one
//! touches is not, because walking over all pieces in order is cheaper than following a long list.
//! Both ways give the same numbers to the last bit.

use super::lexical::{LESS_PER_DOUBLING, QueryWord};
use crate::index::{GIVEN, NONE, Places, StoreIndex, WINDOW_OWN};

/// How soon more of the same word stops to matter.
pub(super) const K1: f32 = 1.2;
/// How much length counts against a piece.
pub(super) const B: f32 = 0.75;
/// A word of a path or tag counts as often as this in the text, in tenths.
pub(super) const NAME_TENTHS: u32 = 10;
/// A word that has more entries than one in so many pieces is common.
const COMMON_SHARE: usize = 32;

pub(super) struct Tally<'i> {
    index: &'i StoreIndex,
    /// Tenths of the present word by piece; all zero between words.
    tenths: Vec<u16>,
    /// Where they are not zero, unless the word is common.
    touched: Vec<u32>,
    is_common: bool,
    scores: Vec<f32>,
    /// Where those are not zero, some more than once; not kept once they are many.
    scored: Vec<u32>,
    are_many: bool,
}

impl<'i> Tally<'i> {
    pub(super) fn new(index: &'i StoreIndex) -> Self {
        let (tenths, touched, scores, scored) = Default::default();
        Self { index, tenths, touched, is_common: false, scores, scored, are_many: false }
    }

    /// Counts how often a word is in each piece, neighbours included; returns in how many it is.
    pub(super) fn count(&mut self, word: &QueryWord) -> usize {
        let index = self.index;
        let lists =
            word.terms.iter().map(|term| (index.words().get(term), index.names().get(term)));
        let lists: Vec<(Option<&Places>, Option<&Places>)> =
            lists.filter(|(words, names)| words.is_some() || names.is_some()).collect();
        if lists.is_empty() {
            return 0;
        }
        if self.tenths.is_empty() {
            // Asked for as zeroes, memory that is never touched costs nothing.
            self.tenths = vec![0; index.unit_slots()];
            self.scores = vec![0.0; index.unit_slots()];
        }
        let entries: usize = lists
            .iter()
            .flat_map(|(words, names)| [*words, *names])
            .flatten()
            .map(Places::len)
            .sum();
        self.is_common = entries > index.unit_slots() / COMMON_SHARE;
        let (tenths, touched) = (self.tenths.as_mut_slice(), &mut self.touched);
        if self.is_common {
            let add = |unit: u32, more: u16| {
                let tenths = &mut tenths[unit as usize];
                *tenths = tenths.saturating_add(more);
            };
            spread(index, &lists, add);
            return self.tenths.iter().filter(|tenths| **tenths != 0).count();
        }
        let add = |unit: u32, more: u16| {
            let tenths = &mut tenths[unit as usize];
            if *tenths == 0 {
                touched.push(unit);
            }
            *tenths = tenths.saturating_add(more);
        };
        spread(index, &lists, add);
        self.touched.len()
    }

    /// Adds what was counted to the scores.
    pub(super) fn score(&mut self, weight: f32, window_mean: f32) {
        let windows = self.index.windows();
        let (tenths, scores) = (&mut self.tenths, &mut self.scores);
        if std::mem::take(&mut self.is_common) {
            self.are_many = true;
            let scoring = Scoring { tenths, windows, scores, weight, window_mean };
            return pulp::Arch::new().dispatch(scoring);
        }
        for unit in &self.touched {
            let unit = *unit as usize;
            let tenths = std::mem::take(&mut tenths[unit]);
            scores[unit] += bm25(tenths, windows[unit], weight, window_mean);
        }
        self.are_many |= self.scored.len() + self.touched.len() > scores.len() / COMMON_SHARE;
        if self.are_many {
            self.touched.clear();
        } else {
            self.scored.append(&mut self.touched);
        }
    }

    /// A memory is as good as its best piece, less what that owes to being the best of many.
    pub(super) fn by_document(mut self) -> Vec<(u32, f32)> {
        let scored = match self.are_many {
            true => self.scores.iter().filter(|score| **score > 0.0).count(),
            false => self.scored.len(),
        };
        let mut found: Vec<(u32, f32)> = Vec::with_capacity(scored);
        let mut take = |unit: u32, score: f32| {
            let doc = self.index.unit(unit).doc;
            match found.last_mut() {
                Some((last, best)) if *last == doc => *best = best.max(score),
                _ => found.push((doc, score)),
            }
        };
        if self.are_many {
            for (unit, score) in (0u32..).zip(&self.scores) {
                if *score > 0.0 {
                    take(unit, *score);
                }
            }
        } else {
            self.scored.sort_unstable();
            self.scored.dedup();
            self.scored.iter().for_each(|unit| take(*unit, self.scores[*unit as usize]));
        }
        for (doc, score) in &mut found {
            let pieces = self.index.mark(*doc).units().len();
            if pieces > 1 {
                *score *= (1.0 - LESS_PER_DOUBLING * (pieces as f32).log2()).max(0.0);
            }
        }
        found
    }
}

/// Walks over the entries of a word: its own pieces, and those that take a part of it.
#[inline]
fn spread(
    index: &StoreIndex,
    lists: &[(Option<&Places>, Option<&Places>)],
    mut add: impl FnMut(u32, u16),
) {
    // Counts are bytes, so that no product is too large.
    let has_gone = index.has_gone();
    for (words, names) in lists {
        for (unit, count) in words.iter().flat_map(|list| list.iter()) {
            if has_gone && index.unit(unit).doc == NONE {
                continue;
            }
            add(unit, (count * WINDOW_OWN) as u16);
            for (neighbour, weight) in index.around(unit).into_iter().zip(GIVEN) {
                if neighbour != NONE {
                    add(neighbour, (count * weight) as u16);
                }
            }
        }
        for (number, count) in names.iter().flat_map(|list| list.iter()) {
            if index.is_live(number) {
                let units = index.mark(number).units();
                units.for_each(|unit| add(unit, (count * NAME_TENTHS) as u16));
            }
        }
    }
}

/// Scores every piece of an index for one word, and takes the counts back to zero.
struct Scoring<'a> {
    tenths: &'a mut [u16],
    windows: &'a [u32],
    scores: &'a mut [f32],
    weight: f32,
    window_mean: f32,
}

impl pulp::NullaryFnOnce for Scoring<'_> {
    type Output = ();

    // A plain loop without a branch, so that the compiler makes it a wide one.
    #[inline(always)]
    fn call(self) {
        for ((tenths, window), score) in self.tenths.iter_mut().zip(self.windows).zip(self.scores) {
            *score += bm25(*tenths, *window, self.weight, self.window_mean);
            *tenths = 0;
        }
    }
}

/// What a word adds to a piece.
#[inline(always)]
fn bm25(tenths: u16, window: u32, weight: f32, window_mean: f32) -> f32 {
    let tf = f32::from(tenths) / WINDOW_OWN as f32;
    let length = window as f32 / window_mean;
    weight * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length))
}
