//! Words as SQLite's full-text index cuts them (`unicode61`): runs of letters and digits, without
//! case and diacritics. Kilroy searches that way, so a record is found here if and only if it has
//! every word; which of them is the best is the engine's to say.

use loci_engine::search::TextQuery;
use std::collections::HashSet;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Words that the engine is asked for; it takes no more phrases. The rest is looked for in what it
/// finds.
const ASKED_MAX: usize = 8;
/// Characters of one of them.
const ASKED_CHARS_MAX: usize = 400;

/// The words of a query, each once.
pub(super) struct Query {
    words: HashSet<String>,
    asked: String,
}

impl Query {
    /// Reads a query; nothing if it has no words.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut words = HashSet::new();
        visit(text, |word| {
            words.insert(word.to_owned());
            true
        });
        (!words.is_empty()).then(|| Self { words, asked: asked(text) })
    }

    /// The same for the engine: each word in quotes, so that it is demanded and has no syntax.
    pub(super) fn for_engine(&self) -> &str {
        &self.asked
    }

    /// Whether the engine has nothing to find the words by: they are so common that it keeps none of
    /// them.
    pub(super) fn is_common(&self) -> bool {
        TextQuery::parse(&self.asked).phrases.iter().all(|phrase| phrase.terms.is_empty())
    }

    /// Whether a text has every word.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let mut missing: HashSet<&str> = self.words.iter().map(String::as_str).collect();
        visit(text, |word| {
            missing.remove(word);
            !missing.is_empty()
        });
        missing.is_empty()
    }

    /// How many words of a text are among these; none unless all of them are there.
    pub(super) fn count_in(&self, text: &str) -> usize {
        if !self.is_in(text) {
            return 0;
        }
        let mut count = 0;
        visit(text, |word| {
            count += usize::from(self.words.contains(word));
            true
        });
        count
    }
}

/// Shows every word until the visitor has seen enough.
fn visit(text: &str, mut visit: impl FnMut(&str) -> bool) {
    let mut word = String::new();
    for c in text.nfd() {
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase().filter(|c| !is_combining_mark(*c)));
        } else if !is_combining_mark(c) {
            if !word.is_empty() && !visit(&word) {
                return;
            }
            word.clear();
        }
    }
    if !word.is_empty() {
        visit(&word);
    }
}

/// The longest words of a query, which are the rarest, quoted. What an apostrophe ties together stays
/// together: the engine reads "don't" as one word, in the query as in the text.
fn asked(text: &str) -> String {
    let is_apart = |(at, c): (usize, char)| {
        let is_inside = || {
            let before = text[..at].chars().next_back();
            let after = text[at + c.len_utf8()..].chars().next();
            before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)
        };
        let is_tie = matches!(c, '\'' | '\u{2019}') && is_inside();
        !(c.is_alphanumeric() || is_combining_mark(c) || is_tie)
    };
    let mut runs = Vec::new();
    let mut seen = HashSet::new();
    let mut start = None;
    let ends = text.char_indices().map(|(at, c)| (at, is_apart((at, c))));
    for (at, is_apart) in ends.chain([(text.len(), true)]) {
        match (is_apart, start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                let run = &text[from..at];
                if run.chars().any(char::is_alphanumeric) && seen.insert(run.to_lowercase()) {
                    runs.push(run);
                }
                start = None;
            }
            _ => {}
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
    runs.truncate(ASKED_MAX);
    let quoted = runs.iter().map(|run| {
        let run: String = run.chars().take(ASKED_CHARS_MAX).collect();
        format!("\"{run}\"")
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, text: &str, expected: bool) {
        let query = Query::parse(query).unwrap();
        assert_eq!(query.is_in(text), expected, "{:?} in {text:?}", query.words);
    }

    #[test]
    fn every_word_must_be_there_whole() {
        check("tea", "Tea, please", true);
        check("tea", "teapot", false);
        check("green tea", "tea that is GREEN", true);
        check("green tea", "green coffee", false);
        check("C++", "c is older", true);
        check("foo-bar", "bar and foo", true);
        check("what's", "what s", true);
        check("creme brulee", "Crème brûlée", true);
        check("CRÈME", "cre\u{300}me", true);
        check("user_id", "the id of a user", true);
        check("42", "4 2", false);
        check("東京", "東京", true);
        check("İstanbul", "istanbul", true);
    }

    #[test]
    fn no_word_is_no_query() {
        for nothing in ["", " ", "\"\"", "*", "++ -- ()", "\u{301}", "🙂"] {
            assert!(Query::parse(nothing).is_none(), "{nothing:?}");
        }
    }

    #[test]
    fn the_engine_is_asked_for_the_longest_words() {
        assert_eq!(asked("foo* AND (bar OR \"baz\")"), "\"foo\" \"AND\" \"bar\" \"baz\" \"OR\"");
        assert_eq!(asked("don't 'stop' Stop"), "\"don't\" \"stop\"");
        let long = format!("{} a b c d e f g h i j", "x".repeat(1000));
        let asked = asked(&long);
        assert_eq!(asked.matches('"').count(), 16);
        assert!(asked.len() < 500);
    }
}
