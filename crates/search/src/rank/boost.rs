//! What moves a result beside the two legs: the author the query names, the company it is in, and,
//! if asked for, recency, importance and pin.

use super::Question;
use super::fuse::Scored;
use crate::index::{Doc, Mark, NOBODY, StoreIndex};
use crate::wanted::{Explanation, Signals};
use loci_model::Timestamp;
use loci_model::limit::IMPORTANCE_MAX;

/// What an author named in the query multiplies the author's memories by. Never a filter: questions
/// name the wrong person.
const AUTHOR: f32 = 1.5;
/// What the best of a directory add to everything in it.
const DIRECTORY: f32 = 0.1;
/// How many of a directory count as its best.
const DIRECTORY_BEST: usize = 3;
const NO_BEST: [f32; DIRECTORY_BEST] = [f32::NEG_INFINITY; DIRECTORY_BEST];

pub(super) struct Boosts {
    /// The author's number in each index.
    authors: Vec<u32>,
    signals: Signals,
    now: Timestamp,
    /// What each directory lends, in each index.
    priors: Vec<Vec<f32>>,
}

impl Boosts {
    pub(super) fn new(indexes: &[&StoreIndex], question: &Question<'_>) -> Self {
        let number = |index: &&StoreIndex| match question.authors {
            // Two names say nothing about who spoke.
            [only] => index.authors().id(only),
            _ => NOBODY,
        };
        Self {
            authors: indexes.iter().map(number).collect(),
            signals: question.wanted.signals,
            now: question.now,
            priors: Vec::new(),
        }
    }

    pub(super) fn apply(&mut self, indexes: &[&StoreIndex], scored: &mut [Scored]) {
        let none = |index: &&StoreIndex| vec![NO_BEST; index.siblings().directory_count()];
        let mut best: Vec<Vec<[f32; DIRECTORY_BEST]>> = indexes.iter().map(none).collect();
        for one in scored.iter_mut() {
            let index = indexes[one.part as usize];
            one.score = one.fused * self.author(index.mark(one.doc), one.part);
            let directory = index.siblings().directory(one.doc);
            insert(&mut best[one.part as usize][directory as usize], one.score);
        }
        let prior = |best: &[f32; DIRECTORY_BEST]| {
            let known = best.iter().filter(|score| score.is_finite());
            DIRECTORY * known.clone().sum::<f32>() / known.count().max(1) as f32
        };
        self.priors = best.iter().map(|some| some.iter().map(prior).collect()).collect();
        let asks_for_signals = self.signals != Signals::default();
        for one in scored.iter_mut() {
            let index = indexes[one.part as usize];
            one.score += self.directory(index, one);
            if asks_for_signals {
                let (recency, importance, pinned) = self.signals_of(index.doc(one.doc));
                one.score += recency + importance + pinned;
            }
        }
    }

    pub(super) fn explain(&self, index: &StoreIndex, one: &Scored, why: &mut Explanation) {
        let doc = index.doc(one.doc);
        why.author_boost = self.author(index.mark(one.doc), one.part);
        why.directory_prior = self.directory(index, one);
        (why.recency, why.importance, why.pinned) = self.signals_of(doc);
    }

    fn author(&self, mark: Mark, part: u32) -> f32 {
        let author = self.authors[part as usize];
        if author != NOBODY && mark.author == author { AUTHOR } else { 1.0 }
    }

    fn directory(&self, index: &StoreIndex, one: &Scored) -> f32 {
        self.priors[one.part as usize][index.siblings().directory(one.doc) as usize]
    }

    fn signals_of(&self, doc: &Doc) -> (f32, f32, f32) {
        let signals = &self.signals;
        let recency = signals.recency.map_or(0.0, |recency| {
            let age_secs = (self.now.as_micros() - doc.updated_at.as_micros()) as f32 / 1e6;
            recency.weight * (-age_secs.max(0.0) / recency.half_life_secs).exp2()
        });
        let importance = f32::from(doc.importance.unwrap_or(IMPORTANCE_MAX / 2));
        let pinned = if doc.pinned { signals.pinned } else { 0.0 };
        (recency, signals.importance * importance / f32::from(IMPORTANCE_MAX), pinned)
    }
}

/// Keeps the largest, largest first.
#[inline]
fn insert(best: &mut [f32; DIRECTORY_BEST], mut score: f32) {
    if score <= best[DIRECTORY_BEST - 1] {
        return;
    }
    for place in best {
        if score > *place {
            std::mem::swap(place, &mut score);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_three_are_kept() {
        let mut best = NO_BEST;
        insert(&mut best, 1.0);
        assert_eq!(best, [1.0, NO_BEST[1], NO_BEST[2]]);
        for score in [3.0, 2.0, 5.0, 0.5] {
            insert(&mut best, score);
        }
        assert_eq!(best, [5.0, 3.0, 2.0]);
    }
}
