//! The leg by word: BM25 over pieces of memories, where a short memory also counts the words of its
//! neighbours for a part. The parts are added up when a query comes, from the neighbours' own
//! entries, so that a write never has to rewrite its neighbours.
//!
//! Statistics come from the indexes that are searched and from nothing else, so a score says
//! nothing about memories that its reader may not find.

use crate::index::{GIVEN, NONE, Places, StoreIndex, WINDOW_OWN};
use crate::text::TextQuery;

/// How soon more of the same word stops to matter.
const K1: f32 = 1.2;
/// How much length counts against a piece.
const B: f32 = 0.75;
/// A word of a path or tag counts as often as this in the text, in tenths.
const NAME_TENTHS: u32 = 10;
/// Entries that one query reads at most; the commonest words are left out beyond it.
const ENTRIES_MAX: usize = 300_000;
/// With every doubling of a memory's pieces, its best piece is worth this much less: the best of
/// many is good by chance.
const LESS_PER_DOUBLING: f32 = 0.05;
/// From this share of all pieces on, looking at each is cheaper than sorting those that were found.
const SORTED_SHARE: usize = 16;
/// How finely scores are told apart to find those worth ranking.
const FLOOR_STEPS: usize = 1000;
/// Words that a prefix stands for at most.
const PREFIX_WORDS_MAX: usize = 64;

/// What the leg by word found.
#[derive(Debug, Default)]
pub struct LexicalLeg {
    /// For each index, documents with their scores, ascending by document.
    pub(crate) found: Vec<Vec<(u32, f32)>>,
    /// The words that were looked for.
    pub(crate) words: Vec<QueryWord>,
    /// What a piece that is full of every word of the query would score.
    pub(crate) reachable: f32,
}

/// One word of the query, or what a prefix stands for.
#[derive(Debug, Clone)]
pub(crate) struct QueryWord {
    pub(crate) terms: Vec<String>,
    pub(crate) weight: f32,
}

impl LexicalLeg {
    /// What comes out when nobody asks.
    pub fn nothing(indexes: usize) -> Self {
        Self { found: vec![Vec::new(); indexes], words: Vec::new(), reachable: 0.0 }
    }

    /// A score that about the best `count` documents reach. It depends on scores only, so equals
    /// are all above it or all below.
    pub(crate) fn floor(&self, count: usize) -> f32 {
        let scores = || self.found.iter().flatten().map(|(_, score)| *score);
        if self.found.iter().map(Vec::len).sum::<usize>() <= count {
            return 0.0;
        }
        let best = scores().fold(0.0, f32::max);
        let step = best / FLOOR_STEPS as f32;
        let mut at_step = [0usize; FLOOR_STEPS + 1];
        scores().for_each(|score| at_step[(score / step) as usize] += 1);
        let mut above = 0;
        let reached = at_step.iter().rposition(|scores| {
            above += scores;
            above >= count
        });
        reached.unwrap_or(0) as f32 * step
    }

    /// Which of the words a document holds itself.
    pub(crate) fn words_in(&self, index: &StoreIndex, doc: u32) -> Vec<String> {
        let units = index.mark(doc).units();
        let holds = |term: &&String| {
            let in_text = index.words().get(term).is_some_and(|at| at.meets(units.clone()));
            in_text || index.names().get(term).is_some_and(|at| at.meets(doc..doc + 1))
        };
        self.words.iter().filter_map(|word| word.terms.iter().find(holds)).cloned().collect()
    }
}

/// Runs the leg.
pub fn lexical_leg(indexes: &[&StoreIndex], query: &TextQuery) -> LexicalLeg {
    let words = prune(indexes, query_words(indexes, query));
    let (pieces, windows) = indexes.iter().fold((0, 0), |(pieces, windows), index| {
        let (more_pieces, more_windows) = index.sizes();
        (pieces + more_pieces, windows + more_windows)
    });
    if pieces == 0 || words.is_empty() {
        return LexicalLeg { words, ..LexicalLeg::nothing(indexes.len()) };
    }
    let window_mean = (windows as f64 / pieces as f64).max(1.0) as f32;
    let mut tallies: Vec<Tally<'_>> = indexes.iter().map(|index| Tally::new(index)).collect();
    let mut reachable = 0.0;
    for word in &words {
        let holding: usize = tallies.iter_mut().map(|tally| tally.count(word)).sum();
        let weight = word.weight * idf(pieces, holding as u64);
        reachable += weight * (K1 + 1.0);
        tallies.iter_mut().for_each(|tally| tally.score(weight, window_mean));
    }
    LexicalLeg { found: tallies.into_iter().map(Tally::by_document).collect(), words, reachable }
}

fn idf(pieces: u64, holding: u64) -> f32 {
    let (pieces, holding) = (pieces as f64, holding as f64);
    (1.0 + (pieces - holding + 0.5) / (holding + 0.5)).ln() as f32
}

fn query_words(indexes: &[&StoreIndex], query: &TextQuery) -> Vec<QueryWord> {
    let mut words: Vec<QueryWord> = query
        .terms
        .iter()
        .map(|term| QueryWord { terms: vec![term.text.clone()], weight: term.count as f32 })
        .collect();
    for prefix in &query.prefixes {
        let mut terms: Vec<String> = Vec::new();
        for index in indexes {
            let is_live = |unit: u32| index.unit(unit).doc != NONE;
            let words = index.words().matching(prefix, PREFIX_WORDS_MAX, is_live);
            let is_live = |doc: u32| index.is_live(doc);
            let names = index.names().matching(prefix, PREFIX_WORDS_MAX, is_live);
            terms.extend(words.into_iter().chain(names).map(str::to_owned));
        }
        terms.sort_unstable();
        terms.dedup();
        terms.truncate(PREFIX_WORDS_MAX);
        if !terms.is_empty() {
            words.push(QueryWord { terms, weight: 1.0 });
        }
    }
    words
}

/// Leaves out the commonest words while there is more to read than one query should; the rarest
/// stays in any case. What is left stays in the order of the query, so that neither the sum nor
/// what explains it depends on entries of memories that are gone.
fn prune(indexes: &[&StoreIndex], words: Vec<QueryWord>) -> Vec<QueryWord> {
    let entries = |word: &QueryWord| -> usize {
        let lists = indexes.iter().flat_map(|index| word.terms.iter().map(|term| (*index, term)));
        let length = |list: Option<&Places>| list.map_or(0, Places::len);
        lists
            .map(|(index, term)| length(index.words().get(term)) + length(index.names().get(term)))
            .sum()
    };
    let mut sized: Vec<(usize, usize, QueryWord)> =
        words.into_iter().enumerate().map(|(at, word)| (entries(&word), at, word)).collect();
    sized.sort_by_key(|(entries, at, _)| (*entries, *at));
    let mut total = 0;
    let fitting = sized.iter().take_while(|(entries, ..)| {
        total += entries;
        total <= ENTRIES_MAX
    });
    let kept = fitting.count().max(1);
    sized.truncate(kept);
    sized.sort_by_key(|(_, at, _)| *at);
    sized.into_iter().map(|(_, _, word)| word).collect()
}

/// Adds up one index.
struct Tally<'i> {
    index: &'i StoreIndex,
    /// Tenths of the present word by piece; all zero between words.
    tenths: Vec<u16>,
    /// Where they are not zero.
    touched: Vec<u32>,
    scores: Vec<f32>,
    /// Where those are not zero, some more than once; not kept once they are many.
    scored: Vec<u32>,
    are_many: bool,
}

impl<'i> Tally<'i> {
    fn new(index: &'i StoreIndex) -> Self {
        let (tenths, touched, scores, scored) = Default::default();
        Self { index, tenths, touched, scores, scored, are_many: false }
    }

    /// Counts how often a word is in each piece, neighbours included; returns in how many it is.
    fn count(&mut self, word: &QueryWord) -> usize {
        let index = self.index;
        let lists = |term| (index.words().get(term), index.names().get(term));
        for term in &word.terms {
            let (words, names) = lists(term);
            if words.is_none() && names.is_none() {
                continue;
            }
            if self.tenths.is_empty() {
                // Asked for as zeroes, memory that is never touched costs nothing.
                self.tenths = vec![0; index.unit_slots()];
                self.scores = vec![0.0; index.unit_slots()];
            }
            let (tenths, touched) = (&mut self.tenths, &mut self.touched);
            let mut add = |unit: u32, more: u32| {
                let tenths = &mut tenths[unit as usize];
                if *tenths == 0 {
                    touched.push(unit);
                }
                *tenths = tenths.saturating_add(more as u16);
            };
            for (unit, count) in words.into_iter().flat_map(Places::iter) {
                if index.unit(unit).doc == NONE {
                    continue;
                }
                add(unit, count * WINDOW_OWN);
                for (neighbour, weight) in index.around(unit).into_iter().zip(GIVEN) {
                    if neighbour != NONE {
                        add(neighbour, count * weight);
                    }
                }
            }
            for (number, count) in names.into_iter().flat_map(Places::iter) {
                if index.is_live(number) {
                    index.mark(number).units().for_each(|unit| add(unit, count * NAME_TENTHS));
                }
            }
        }
        self.touched.len()
    }

    /// Adds what was counted to the scores.
    fn score(&mut self, weight: f32, window_mean: f32) {
        for unit in &self.touched {
            let unit = *unit as usize;
            let tf = f32::from(std::mem::take(&mut self.tenths[unit])) / WINDOW_OWN as f32;
            let length = self.index.unit(unit as u32).window as f32 / window_mean;
            self.scores[unit] += weight * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length));
        }
        self.are_many |= self.scored.len() + self.touched.len() > self.scores.len() / SORTED_SHARE;
        if self.are_many {
            self.touched.clear();
        } else {
            self.scored.append(&mut self.touched);
        }
    }

    /// A memory is as good as its best piece, less what that owes to being the best of many.
    fn by_document(mut self) -> Vec<(u32, f32)> {
        let mut found: Vec<(u32, f32)> = Vec::new();
        let mut take = |doc: u32, score: f32| match found.last_mut() {
            Some((last, best)) if *last == doc => *best = best.max(score),
            _ => found.push((doc, score)),
        };
        if self.are_many {
            for (unit, score) in (0u32..).zip(&self.scores).filter(|(_, score)| **score > 0.0) {
                take(self.index.unit(unit).doc, *score);
            }
        } else {
            self.scored.sort_unstable();
            self.scored.dedup();
            for unit in self.scored {
                take(self.index.unit(unit).doc, self.scores[unit as usize]);
            }
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

#[cfg(test)]
#[path = "lexical_tests.rs"]
mod tests;
