//! What a searcher typed, as terms, phrases and prefixes.
//!
//! Words are alternatives: a document needs one of them. A query that is nothing but `"exact words"`
//! asks for texts in which they stand as they are; quotes around a part of a question are often only
//! a title, so there they are text. `word*` is every word with that beginning. Nothing else is syntax: operators, brackets,
//! lone quotes and backslashes are text between words, so no query is ever refused, and none is
//! emptied by its punctuation. A query of nothing but stop words asks for those words; they are
//! indexed only for documents that consist of them, so on others only the phrase can match.

use super::analyze::{Analyzer, Stops, clusters, fold_run, term_of_word, words_of};
use super::characters::{Script, script_of};
use super::fold::fold_cluster;
use super::scan::{Ending, scan};
use super::stem::stem;
use loci_model::limit;
use std::ops::{ControlFlow, Range};

/// Phrases and, apart from them, prefixes taken from one query; more are read as plain words.
const PHRASES_MAX: usize = 8;
const PREFIXES_MAX: usize = 8;
/// Letters of a prefix of a spaced script: one letter would be half the vocabulary.
const PREFIX_CHARS_MIN: usize = 2;

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextQuery {
    /// Index terms of which a document needs at least one, distinct, in the order first typed.
    /// Includes the words of the phrases.
    pub terms: Vec<QueryTerm>,
    /// What stands in quotes.
    pub phrases: Vec<Phrase>,
    /// Beginnings of words, alternatives like the terms.
    pub prefixes: Vec<Prefix>,
}

/// A term and how often it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTerm {
    /// The index term.
    pub text: String,
    /// At least 1.
    pub count: u32,
}

/// Words that must follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// The words as [`contains_phrase`](super::phrase::contains_phrase) compares them.
    pub words: Vec<String>,
    /// Index terms that a document with the phrase has, to narrow down where to look. If there are
    /// none (stop words only), every text has to be looked at.
    pub terms: Vec<String>,
}

/// The beginning of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    /// Folded. Index terms that start with it match.
    pub text: String,
    /// Terms that do not start with it but are stems of words that do: `organiz*` has "organ".
    pub stems: Vec<String>,
}

impl Prefix {
    /// Whether words with this beginning are indexed under the term.
    pub fn matches(&self, term: &str) -> bool {
        term.starts_with(&self.text) || self.stems.iter().any(|stem| stem == term)
    }

    fn new(folded: &str) -> Self {
        Self { text: folded.to_owned(), stems: stems_beyond(folded) }
    }
}

impl TextQuery {
    /// Reads a query. Never fails; see the module for what has a meaning.
    pub fn parse(text: &str) -> Self {
        let quoted = find_quoted(text);
        let mut query = Self::default();
        for range in &quoted {
            let phrase = Phrase::parse(&text[range.clone()]);
            if !phrase.words.is_empty() {
                query.phrases.push(phrase);
            }
        }
        let starred = query.take_prefixes(text, &quoted);
        query.take_terms(text, Stops::Dropped, &starred);
        if query.terms.is_empty() && query.prefixes.is_empty() {
            query.take_terms(text, Stops::Kept, &starred);
        }
        query.widen_single_characters();
        query
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.phrases.is_empty() && self.prefixes.is_empty()
    }

    /// Whether the query is nothing but phrases, so that a text must have them all.
    pub fn is_quoted(&self) -> bool {
        let in_phrase = |term: &QueryTerm| {
            self.phrases.iter().any(|phrase| {
                phrase.terms.contains(&term.text) || phrase.words.contains(&term.text)
            })
        };
        !self.phrases.is_empty() && self.prefixes.is_empty() && self.terms.iter().all(in_phrase)
    }

    /// Which of the wanted terms and prefixes an index term answers: terms are numbered first.
    pub(super) fn position(&self, term: &str) -> Option<usize> {
        self.terms.iter().position(|wanted| wanted.text == term).or_else(|| {
            let prefix = self.prefixes.iter().position(|prefix| prefix.matches(term))?;
            Some(self.terms.len() + prefix)
        })
    }

    /// Takes every `word*` outside quotes; returns where they are, because they are not also terms.
    fn take_prefixes(&mut self, text: &str, quoted: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut starred = Vec::new();
        let mut folded = String::new();
        let mut quoted = quoted.iter().peekable();
        let _ = scan(text, |run| {
            while quoted.next_if(|range| range.end <= run.range.start).is_some() {}
            let is_quoted = quoted.peek().is_some_and(|range| range.start <= run.range.start);
            if is_quoted
                || run.script != Script::Spaced
                || !is_starred(text, run.range.start, run.end)
            {
                return ControlFlow::Continue(());
            }
            fold_run(text, run, &mut folded);
            if folded.chars().count() < PREFIX_CHARS_MIN {
                return ControlFlow::Continue(());
            }
            if self.prefixes.iter().all(|prefix| prefix.text != folded) {
                self.prefixes.push(Prefix::new(&folded));
            }
            starred.push(run.range.start..run.end);
            if self.prefixes.len() < PREFIXES_MAX {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        starred
    }

    fn take_terms(&mut self, text: &str, stops: Stops, starred: &[Range<usize>]) {
        let room = limit::QUERY_WORDS_MAX - self.prefixes.len();
        Analyzer::new().query_terms(text, stops, |term| {
            // They are in order and many may be the same word: look it up, do not walk.
            let next = starred.partition_point(|range| range.end <= term.range.start);
            if starred.get(next).is_some_and(|range| range.start <= term.range.start) {
                return;
            }
            if let Some(wanted) = self.terms.iter_mut().find(|wanted| wanted.text == term.text) {
                wanted.count = wanted.count.saturating_add(1);
            } else if self.terms.len() < room {
                self.terms.push(QueryTerm { text: term.text.to_owned(), count: 1 });
            }
        });
    }

    /// Documents of scripts without spaces are indexed in pairs, so a query for single characters
    /// asks for the pairs they begin.
    fn widen_single_characters(&mut self) {
        let is_single = |term: &QueryTerm| {
            let mut chars = term.text.chars();
            chars
                .next()
                .is_some_and(|c| script_of(c).is_some_and(|script| script != Script::Spaced))
                && chars.next().is_none()
        };
        if self.terms.len() + self.prefixes.len() <= PREFIXES_MAX
            && self.terms.iter().all(is_single)
        {
            let singles = self.terms.drain(..);
            self.prefixes.extend(singles.map(|term| Prefix { text: term.text, stems: Vec::new() }));
        }
    }
}

impl Phrase {
    fn parse(quoted: &str) -> Self {
        let mut words = words_of(quoted);
        words.truncate(limit::QUERY_WORDS_MAX);
        let mut terms = needed_terms(quoted);
        terms.truncate(words.len());
        Self { words, terms }
    }
}

/// Index terms without which a text cannot have the quoted words. Only what every way of writing
/// them gives: no parts of compounds, no Hangul wholes (an ending may have grown on them).
fn needed_terms(quoted: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut word = String::new();
    let mut visited = 0;
    let _ = scan(quoted, |run| {
        if run.script == Script::Spaced {
            visited += 1;
            fold_run(quoted, run, &mut word);
            if run.ending != Ending::Negation {
                terms.extend(term_of_word(&word).filter(|_| !word.is_empty()));
            }
        } else {
            word.clear();
            let mut len_before = 0;
            for (at, cluster) in clusters(quoted, run.range.clone()).enumerate() {
                visited += 1;
                word.drain(..len_before);
                len_before = word.len();
                fold_cluster(&quoted[cluster], &mut word);
                if at > 0 && visited <= limit::QUERY_WORDS_MAX {
                    terms.push(word.clone());
                }
            }
        }
        // Words beyond the limit are not compared, so their terms are not needed.
        if visited < limit::QUERY_WORDS_MAX {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Whether a star stands right behind the word, and means it: not `2*3`, not `*emphasis*`.
fn is_starred(text: &str, start: usize, end: usize) -> bool {
    let Some(behind) = text[end..].strip_prefix('*') else { return false };
    !text[..start].ends_with('*')
        && !behind.chars().next().is_some_and(|c| c == '*' || c.is_alphanumeric())
}

/// The insides of quotation marks that come in pairs. An opening one stands before a word and not
/// right behind one, a closing one the other way round, so that 5" and 6" quote nothing.
fn find_quoted(text: &str) -> Vec<Range<usize>> {
    let mut quoted = Vec::new();
    let mut open: Option<(char, usize)> = None;
    let mut before: Option<char> = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, c)| *c);
        let can_close =
            before.is_some_and(|c| !c.is_whitespace()) && !after.is_some_and(char::is_alphanumeric);
        let can_open =
            after.is_some_and(|c| !c.is_whitespace()) && !before.is_some_and(char::is_alphanumeric);
        match open {
            Some((mark, start)) if c == mark && can_close => {
                if quoted.len() < PHRASES_MAX {
                    quoted.push(start..at);
                }
                open = None;
            }
            _ if can_open => {
                if let Some(mark) = closing_mark(c) {
                    open = Some((mark, at + c.len_utf8()));
                }
            }
            _ => {}
        }
        before = Some(c);
    }
    quoted
}

fn closing_mark(opening: char) -> Option<char> {
    match opening {
        '"' => Some('"'),
        '“' => Some('”'),
        '„' => Some('“'),
        '«' => Some('»'),
        _ => None,
    }
}

/// Endings English words take. Each, and each tail of it, is tried behind a prefix.
const ENDINGS: [&str; 28] = [
    "ably", "ally", "ance", "antly", "ate", "ational", "ations", "ement", "ences", "ently", "ers",
    "ful", "fulness", "ibly", "icate", "icity", "ies", "ings", "isms", "ists", "ities", "iveness",
    "ization", "izers", "izing", "ments", "ously", "ousness",
];

/// Stems of words that start with the prefix, where the stem itself does not.
fn stems_beyond(prefix: &str) -> Vec<String> {
    let mut stems = Vec::new();
    if !prefix.bytes().all(|b| b.is_ascii_lowercase()) {
        return stems;
    }
    let mut consider = |ending: &str| {
        let mut word = format!("{prefix}{ending}");
        stem(&mut word);
        if !word.starts_with(prefix) && !stems.contains(&word) {
            stems.push(word);
        }
    };
    consider("");
    for single in ["e", "ed", "er", "es", "ion", "ive", "ize", "or"] {
        consider(single);
    }
    for ending in ENDINGS {
        for start in 0..ending.len() {
            consider(&ending[start..]);
        }
        // The plural and the adverb are written on the singular and the adjective.
        consider(&ending[..ending.len() - 1]);
    }
    stems
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
