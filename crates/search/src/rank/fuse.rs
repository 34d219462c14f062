//! Putting the legs together. By default a weighted mean of both legs' scores, each between 0 and 1
//! over everything that is searched: unlike ranks, scores keep how much better the best is, so a
//! weak leg cannot outvote a strong one. Reciprocal ranks can be asked for.

use super::Question;
use super::dense::{DenseLeg, Similar, by_chance};
use super::gate::Gate;
use super::lexical::LexicalLeg;
use crate::index::StoreIndex;
use crate::wanted::{Explanation, Fusion, Mode, Signals};

/// The lexical leg's share where nothing else is asked for, if its best result covers the query at
/// least so far. Below, the share falls with it: a best result that only shares a word or two with
/// the query is an accident, and normalising it to 1 would put it above everything.
const LEXICAL_WEIGHT: f32 = 0.45;
const COVERED_ENOUGH: f32 = 0.2;
/// Similarities closer together than this are as good as equal: stretching them from 0 to 1 would
/// make a verdict of rounding errors, and of the one memory of a small store whatever they are.
const SPAN_MIN: f32 = 0.05;
/// Documents that are ranked where words alone decide.
const RANKED_BY_WORD: usize = 20_000;
/// Ranks that count in reciprocal rank fusion.
const RRF_DEPTH: usize = 1000;

/// A document and what it has come to so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scored {
    pub(super) part: u32,
    pub(super) doc: u32,
    /// The leg by word as it came out.
    lexical: f32,
    /// The leg by meaning as it came out; not a number where there is no vector.
    smoothed: f32,
    pub(super) fused: f32,
    pub(super) score: f32,
}

/// Everything that is searched, both legs put together.
pub(super) struct Fused<'d> {
    dense: Option<&'d DenseLeg>,
    pub(super) scored: Vec<Scored>,
    pub(super) is_convex: bool,
    weight: f32,
    best_lexical: f32,
    least: f32,
    span: f32,
    /// What counts as the normalised similarity of a document that has no vector yet.
    middle: f32,
}

impl<'d> Fused<'d> {
    pub(super) fn new(
        indexes: &[&StoreIndex],
        lexical: &LexicalLeg,
        dense: Option<&'d DenseLeg>,
        question: &Question<'_>,
        gate: &Gate<'_>,
    ) -> Self {
        let wanted = question.wanted;
        // Beyond the best by word nothing else lifts a document to the top, unless it is asked to.
        let is_plain = dense.is_none() && gate.is_open() && wanted.signals == Signals::default();
        let floor = if is_plain { lexical.floor(RANKED_BY_WORD) } else { 0.0 };
        let mut scored = Vec::new();
        for (part, index) in indexes.iter().enumerate() {
            let similar = dense.map_or(&Similar::Nothing, |dense| &dense.similar[part]);
            let passes = |doc: u32| gate.lets_through(part, doc);
            gather(index, part, (&lexical.found[part], floor), similar, passes, &mut scored);
        }
        let (mut best_lexical, mut most, mut sum, mut count) =
            (0.0f32, f32::NEG_INFINITY, 0.0, 0u32);
        let mut least = dense.map_or(f32::INFINITY, |dense| dense.sampled_least);
        for one in &scored {
            best_lexical = best_lexical.max(one.lexical);
            if !one.smoothed.is_nan() {
                least = least.min(one.smoothed);
                most = most.max(one.smoothed);
                sum += f64::from(one.smoothed);
                count += 1;
            }
        }
        let has_similar = count > 0;
        let (least, span, middle) = if has_similar {
            let span = (most - least).max(SPAN_MIN);
            (least, span, ((sum / f64::from(count)) as f32 - least) / span)
        } else {
            (0.0, 1.0, 0.0)
        };
        let weight = match (wanted.mode, wanted.fusion) {
            _ if !has_similar => 1.0,
            (Mode::Lexical, _) => 1.0,
            (Mode::Semantic, _) => 0.0,
            (Mode::Hybrid, Fusion::Convex { lexical_weight }) => {
                lexical_weight.unwrap_or_else(|| {
                    let share = lexical_share(best_lexical, lexical.reachable);
                    let is_found = best_lexical > 0.0;
                    if is_found { 1.0 - (1.0 - share) * question.trust } else { share }
                })
            }
            (Mode::Hybrid, Fusion::Rrf { .. }) => 0.5,
        };
        let is_convex = !matches!(wanted.fusion, Fusion::Rrf { .. });
        let mut fused =
            Self { dense, scored, is_convex, weight, best_lexical, least, span, middle };
        match wanted.fusion {
            Fusion::Convex { .. } => fused.by_mean(),
            Fusion::Rrf { k } => fused.by_rank(indexes, k),
        }
        fused
    }

    fn by_mean(&mut self) {
        let mut scored = std::mem::take(&mut self.scored);
        for one in &mut scored {
            one.fused = self.weight * self.lexical_normalised(one)
                + (1.0 - self.weight) * self.semantic_normalised(one);
            one.score = one.fused;
        }
        self.scored = scored;
    }

    fn by_rank(&mut self, indexes: &[&StoreIndex], k: f32) {
        let weight = self.weight;
        // Equals go by id, or ranks would tell in which order an index was filled.
        let id = |one: &Scored| indexes[one.part as usize].doc(one.doc).id;
        let value = |lexical: bool, one: &Scored| if lexical { one.lexical } else { one.smoothed };
        for (is_lexical, share) in [(true, weight), (false, 1.0 - weight)] {
            let counts = |one: &Scored| {
                let value = value(is_lexical, one);
                !value.is_nan() && (!is_lexical || value > 0.0)
            };
            let mut order: Vec<usize> =
                (0..self.scored.len()).filter(|at| counts(&self.scored[*at])).collect();
            let better = |a: &usize, b: &usize| {
                let (a, b) = (&self.scored[*a], &self.scored[*b]);
                let by_value = value(is_lexical, b).total_cmp(&value(is_lexical, a));
                by_value.then_with(|| id(a).cmp(&id(b)))
            };
            if order.len() > RRF_DEPTH {
                order.select_nth_unstable_by(RRF_DEPTH, better);
                order.truncate(RRF_DEPTH);
            }
            order.sort_by(better);
            for (rank, at) in order.into_iter().enumerate() {
                self.scored[at].fused += share / (k + 1.0 + rank as f32);
            }
        }
        let best = self.scored.iter().map(|one| one.fused).fold(f32::MIN_POSITIVE, f32::max);
        for one in &mut self.scored {
            one.fused /= best;
            one.score = one.fused;
        }
    }

    fn lexical_normalised(&self, one: &Scored) -> f32 {
        if self.best_lexical > 0.0 { one.lexical / self.best_lexical } else { 0.0 }
    }

    fn semantic_normalised(&self, one: &Scored) -> f32 {
        if one.smoothed.is_nan() { self.middle } else { (one.smoothed - self.least) / self.span }
    }

    /// What explains a document, and what a change of its own similarity does to its normalised one.
    pub(super) fn explain(&self, index: &StoreIndex, one: &Scored) -> (Explanation, f32) {
        let similar = self.dense.map(|dense| &dense.similar[one.part as usize]);
        let likeness = similar.and_then(|similar| similar.of(index, one.doc));
        let why = Explanation {
            lexical: one.lexical,
            lexical_normalised: self.lexical_normalised(one),
            semantic: likeness.map(|likeness| likeness.own + by_chance(index, one.doc)),
            semantic_normalised: self.semantic_normalised(one),
            lexical_weight: self.weight,
            fused: one.fused,
            author_boost: 1.0,
            ..Explanation::default()
        };
        (why, 1.0 / (self.span * likeness.map_or(1.0, |likeness| likeness.divisor)))
    }
}

/// The lexical leg's share in the mean, by how much of the query its best result covers.
fn lexical_share(best: f32, reachable: f32) -> f32 {
    let covered = if reachable > 0.0 { best / reachable } else { 0.0 };
    LEXICAL_WEIGHT * (covered / COVERED_ENOUGH).min(1.0)
}

/// Every document of an index that at least one leg knows something about.
fn gather(
    index: &StoreIndex,
    part: usize,
    (found, floor): (&[(u32, f32)], f32),
    similar: &Similar,
    passes: impl Fn(u32) -> bool,
    scored: &mut Vec<Scored>,
) {
    let part = u32::try_from(part).expect("fewer parts than stores");
    let mut lexical = found.iter().copied().peekable();
    let mut take = |doc: u32, lexical: f32, own: Option<f32>| {
        if !passes(doc) {
            return;
        }
        let smoothed = own.map_or(f32::NAN, |own| similar.around(index, doc, own).smoothed);
        if lexical > 0.0 || !smoothed.is_nan() {
            scored.push(Scored { part, doc, lexical, smoothed, fused: 0.0, score: 0.0 });
        }
    };
    match similar {
        Similar::Nothing => {
            let worthy = lexical.filter(|(_, score)| *score >= floor);
            worthy.for_each(|(doc, score)| take(doc, score, None));
        }
        Similar::Whole(_) => {
            for doc in index.live() {
                let score = lexical.next_if(|(found, _)| *found == doc).map_or(0.0, |(_, s)| s);
                take(doc, score, similar.own(doc));
            }
        }
        Similar::Some(docs, similarities) => {
            for (doc, own) in docs.iter().zip(similarities) {
                let at = found.binary_search_by_key(doc, |(found, _)| *found);
                take(*doc, at.map_or(0.0, |at| found[at].1), Some(*own));
            }
            // What has no vectors yet cannot be picked, and is found by word meanwhile.
            if !index.has_all_vectors() {
                let is_pending = |(doc, _): &(u32, f32)| index.vectors().rows(*doc).is_empty();
                lexical.filter(is_pending).for_each(|(doc, score)| take(doc, score, None));
            }
        }
    }
}
