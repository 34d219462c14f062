//! The leg by word: BM25 over pieces of memories, where a short memory also counts the words of its
//! neighbours for a part. The parts are added up when a query comes, from the neighbours' own
//! entries, so that a write never has to rewrite its neighbours.
//!
//! Statistics come from the indexes that are searched and from nothing else, so a score says
//! nothing about memories that its reader may not find.

use super::tally::{K1, Tally};
use crate::index::{NONE, Places, StoreIndex};
use crate::text::TextQuery;
use crate::text::query::Prefix;

/// Entries that one query reads at most; the commonest words are left out beyond it.
const ENTRIES_MAX: usize = 300_000;
/// With every doubling of a memory's pieces, its best piece is worth this much less: the best of
/// many is good by chance.
pub(super) const LESS_PER_DOUBLING: f32 = 0.05;
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
    /// Its [`LookupWord::key`].
    key: String,
    pub(crate) terms: Vec<String>,
    pub(crate) weight: f32,
}

/// A word of a query for whoever looks it up elsewhere than in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookupWord {
    /// What tells it from the others of its query.
    pub key: String,
    /// Index terms; a memory needs one of them.
    pub terms: Vec<String>,
    /// Or one that begins like this.
    pub beginning: Option<String>,
}

/// The words of a query.
pub fn lookup_words(query: &TextQuery) -> Vec<LookupWord> {
    let term = |text: &String| LookupWord {
        key: text.clone(),
        terms: vec![text.clone()],
        beginning: None,
    };
    let terms = query.terms.iter().map(|one| term(&one.text));
    let prefixes = query.prefixes.iter().map(|prefix| LookupWord {
        key: prefix_key(prefix),
        terms: prefix.stems.clone(),
        beginning: Some(prefix.text.clone()),
    });
    terms.chain(prefixes).collect()
}

/// No term has a star in it.
fn prefix_key(prefix: &Prefix) -> String {
    format!("{}*", prefix.text)
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
        let steps = FLOOR_STEPS as f32 / best;
        let step = |score: f32| ((score * steps) as usize).min(FLOOR_STEPS);
        let mut at_step = [0usize; FLOOR_STEPS + 1];
        scores().for_each(|score| at_step[step(score)] += 1);
        let mut above = 0;
        let reached = at_step.iter().rposition(|scores| {
            above += scores;
            above >= count
        });
        // A little below the step, so that rounding leaves nobody out who was counted.
        (reached.unwrap_or(0) as f32 - 0.5).max(0.0) / steps
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
        let count = |(tally, index): (&mut Tally<'_>, &&StoreIndex)| {
            index.holding(&word.key, &word.terms, tally.count(word))
        };
        let holding: u64 = tallies.iter_mut().zip(indexes).map(count).sum();
        let weight = word.weight * idf(pieces, holding.min(pieces));
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
        .map(|term| QueryWord {
            key: term.text.clone(),
            terms: vec![term.text.clone()],
            weight: term.count as f32,
        })
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
            words.push(QueryWord { key: prefix_key(prefix), terms, weight: 1.0 });
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

#[cfg(test)]
#[path = "lexical_tests.rs"]
mod tests;
