//! The leg by word: BM25 over pieces of memories, where a short memory also counts the words of its
//! neighbours for a part. The parts are added up when a query comes, from the neighbours' own
//! entries, so that a write never has to rewrite its neighbours.
//!
//! Statistics come from the indexes that are searched and from nothing else, so a score says
//! nothing about memories that its reader may not find.

use crate::index::{NONE, StoreIndex, WINDOW_NEXT, WINDOW_OWN, WINDOW_PREVIOUS, WINDOW_TWO_AWAY};
use crate::text::TextQuery;

/// How soon more of the same word stops to matter.
const K1: f32 = 1.2;
/// How much length counts against a piece.
const B: f32 = 0.75;
/// A word of a path or tag counts as often as this in the text, in tenths.
const NAME_TENTHS: u32 = 10;
/// Entries that one query reads at most; the commonest words are left out beyond it.
const ENTRIES_MAX: usize = 1_000_000;
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
        let counted: Vec<Vec<(u32, u32)>> =
            tallies.iter_mut().map(|tally| tally.count(word)).collect();
        let holding: usize = counted.iter().map(Vec::len).sum();
        let weight = word.weight * idf(pieces, holding as u64);
        reachable += weight * (K1 + 1.0);
        for (tally, counted) in tallies.iter_mut().zip(counted) {
            tally.score(&counted, weight, window_mean);
        }
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
            let is_live = |unit: u32| index.is_live(index.unit(unit).doc);
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
        lists.map(|(index, term)| index.words().get(term).map_or(0, |list| list.len())).sum()
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
    /// Tenths of a word by piece; all zero between words.
    tenths: Vec<u32>,
    scores: Vec<f32>,
    scored: Vec<u32>,
}

impl<'i> Tally<'i> {
    fn new(index: &'i StoreIndex) -> Self {
        Self { index, tenths: Vec::new(), scores: Vec::new(), scored: Vec::new() }
    }

    /// How often a word is in each piece, in tenths, neighbours included.
    fn count(&mut self, word: &QueryWord) -> Vec<(u32, u32)> {
        let index = self.index;
        let is_anywhere =
            |term: &String| index.words().get(term).is_some() || index.names().get(term).is_some();
        if !word.terms.iter().any(is_anywhere) {
            return Vec::new();
        }
        self.tenths.resize(index.unit_slots(), 0);
        let (tenths, mut touched) = (&mut self.tenths, Vec::new());
        let mut add = |unit: u32, more: u32| {
            let tenths = &mut tenths[unit as usize];
            if *tenths == 0 {
                touched.push(unit);
            }
            *tenths += more;
        };
        for term in &word.terms {
            for (unit, count) in index.words().get(term).into_iter().flat_map(|list| list.iter()) {
                let number = index.unit(unit).doc;
                if !index.is_live(number) {
                    continue;
                }
                add(unit, count * WINDOW_OWN);
                if index.mark(number).is_short {
                    spread(index, number, |neighbour, weight| add(neighbour, count * weight));
                }
            }
            for (number, count) in index.names().get(term).into_iter().flat_map(|list| list.iter())
            {
                if index.is_live(number) {
                    index.mark(number).units().for_each(|unit| add(unit, count * NAME_TENTHS));
                }
            }
        }
        touched.into_iter().map(|unit| (unit, std::mem::take(&mut tenths[unit as usize]))).collect()
    }

    fn score(&mut self, counted: &[(u32, u32)], weight: f32, window_mean: f32) {
        if counted.is_empty() {
            return;
        }
        self.scores.resize(self.index.unit_slots(), 0.0);
        for (unit, tenths) in counted {
            let tf = *tenths as f32 / WINDOW_OWN as f32;
            let length = self.index.unit(*unit).window as f32 / window_mean;
            let score = &mut self.scores[*unit as usize];
            if *score == 0.0 {
                self.scored.push(*unit);
            }
            *score += weight * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length));
        }
    }

    /// A memory is as good as its best piece.
    fn by_document(mut self) -> Vec<(u32, f32)> {
        self.scored.sort_unstable();
        let mut found: Vec<(u32, f32)> = Vec::new();
        for unit in self.scored {
            let (doc, score) = (self.index.unit(unit).doc, self.scores[unit as usize]);
            match found.last_mut() {
                Some((last, best)) if *last == doc => *best = best.max(score),
                _ => found.push((doc, score)),
            }
        }
        found
    }
}

/// To whom a short memory lends its words: the mirror image of [`StoreIndex::neighbours`].
fn spread(index: &StoreIndex, doc: u32, mut lend: impl FnMut(u32, u32)) {
    let mut to = |neighbour: u32, weight: u32| {
        if neighbour != NONE && index.mark(neighbour).is_short {
            index.mark(neighbour).units().for_each(|unit| lend(unit, weight));
        }
    };
    let siblings = index.siblings();
    let (previous, next) = (siblings.previous(doc), siblings.next(doc));
    to(next, WINDOW_PREVIOUS);
    to(previous, WINDOW_NEXT);
    if next != NONE {
        to(siblings.next(next), WINDOW_TWO_AWAY);
    }
    if previous != NONE {
        to(siblings.previous(previous), WINDOW_TWO_AWAY);
    }
}

#[cfg(test)]
#[path = "lexical_tests.rs"]
mod tests;
