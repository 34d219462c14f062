//! Cutting long texts into passages for the index by word.
//!
//! A long memory is scored by its best passage, so that one page about a thing does not lose to
//! many words about others. Passages follow each other without gaps and cover the whole text, end
//! at a sentence or line where one is near, and never inside a word or a character.

use super::characters::{Script, continues_cluster, is_extending, script_of};
use std::ops::Range;

/// Passages of one text. The last takes the rest.
pub const PASSAGES_MAX: usize = 4096;

/// Splits a text into passages of about `words_max` words: at most that many, except that the last
/// may be up to a quarter longer so that no crumb is left over. A short text is one passage, and so
/// is an empty one. Two characters of a script without spaces count as a word.
pub fn word_passages(text: &str, words_max: usize) -> Vec<Range<usize>> {
    let words_max = words_max.max(1);
    let mut cutter = Cutter { words_max, ..Cutter::default() };
    let mut reader = Reader::default();
    for (at, c) in text.char_indices() {
        let seen = reader.read(c);
        cutter.take(at, &seen);
    }
    cutter.finish(text.len())
}

/// A place where a passage may end, and the words of the passage up to there.
#[derive(Debug, Clone, Copy)]
struct Break {
    at: usize,
    words: usize,
}

#[derive(Debug, Default)]
struct Cutter {
    words_max: usize,
    passages: Vec<Range<usize>>,
    start: usize,
    words: usize,
    sentence: Option<Break>,
    gap: Option<Break>,
}

impl Cutter {
    fn take(&mut self, at: usize, seen: &Seen) {
        let here = Some(Break { at, words: self.words });
        if seen.starts_sentence {
            self.sentence = here;
        }
        if seen.follows_space {
            self.gap = here;
        }
        if !seen.starts_word {
            return;
        }
        if self.words == self.words_max && self.passages.len() + 1 < PASSAGES_MAX {
            self.cut(at);
        }
        self.words += 1;
    }

    /// Ends the passage at the last sentence, else at the last space, if that leaves at least half
    /// of it; else before the word at hand.
    fn cut(&mut self, at: usize) {
        let is_late = |place: &Break| place.words * 2 >= self.words_max;
        let place = self
            .sentence
            .filter(is_late)
            .or(self.gap.filter(is_late))
            .unwrap_or(Break { at, words: self.words });
        self.passages.push(self.start..place.at);
        self.start = place.at;
        self.words -= place.words;
        let rebase = |later: Break| {
            (later.at > place.at).then(|| Break { at: later.at, words: later.words - place.words })
        };
        self.sentence = self.sentence.and_then(rebase);
        self.gap = self.gap.and_then(rebase);
    }

    fn finish(mut self, end: usize) -> Vec<Range<usize>> {
        match self.passages.last_mut() {
            Some(last) if self.words * 4 <= self.words_max => last.end = end,
            _ => self.passages.push(self.start..end),
        }
        self.passages
    }
}

/// What a character means to the cutter.
#[derive(Debug, Default)]
struct Seen {
    starts_word: bool,
    starts_sentence: bool,
    follows_space: bool,
}

#[derive(Debug, Default)]
struct Reader {
    is_in_word: bool,
    /// Every second character of a script without spaces starts a word.
    is_half_word: bool,
    has_full_stop: bool,
    has_ended_sentence: bool,
    has_space: bool,
}

impl Reader {
    fn read(&mut self, c: char) -> Seen {
        if c.is_whitespace() {
            self.has_ended_sentence |= self.has_full_stop || c == '\n';
            self.has_full_stop = false;
            self.has_space = true;
            self.is_in_word = false;
            self.is_half_word = false;
            return Seen::default();
        }
        let mut seen = Seen::default();
        if !is_extending(c) {
            seen.starts_sentence = self.has_ended_sentence && !closes(c);
            seen.follows_space = self.has_space;
            self.has_ended_sentence &= closes(c);
            self.has_space = false;
        }
        match script_of(c) {
            Some(Script::Unspaced) => {
                if !continues_cluster(c) {
                    self.is_half_word = !self.is_half_word;
                    seen.starts_word = self.is_half_word;
                }
                self.is_in_word = false;
            }
            Some(_) => {
                seen.starts_word = !self.is_in_word;
                self.is_in_word = true;
                self.is_half_word = false;
            }
            None if is_extending(c) => return seen,
            None => {
                self.is_in_word = false;
                self.is_half_word = false;
            }
        }
        match c {
            '.' | '!' | '?' | '…' => self.has_full_stop = true,
            // East Asian full stops end a sentence without a space behind them.
            '。' | '！' | '？' | '｡' => self.has_ended_sentence = true,
            _ if closes(c) => {}
            _ => self.has_full_stop = false,
        }
        seen
    }
}

/// Quotation marks and brackets that belong to the sentence before them.
fn closes(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '}' | '”' | '’' | '»' | '」' | '』' | '）')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passages(text: &str, words_max: usize) -> Vec<&str> {
        word_passages(text, words_max).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn short_texts_are_one_passage() {
        for text in ["", "one", "one two three. four five", " \n "] {
            assert_eq!(passages(text, 60), [text]);
        }
    }

    #[test]
    fn ends_at_sentences_lines_and_spaces() {
        let table: [(&str, &[&str]); 6] = [
            ("a b c d. e f g h. i j k l.", &["a b c d. ", "e f g h. ", "i j k l."]),
            ("a b c\nd e f\ng h i", &["a b c\n", "d e f\n", "g h i"]),
            ("a b c d e f g h i", &["a b c d ", "e f g h i"]),
            ("a \"b c.\" d e f g", &["a \"b c.\" ", "d e f g"]),
            ("a 3.5 b-c d e f", &["a 3.5 ", "b-c d e f"]),
            ("一二三四五。六七八九十。", &["一二三四五。", "六七八九十。"]),
        ];
        for (text, expected) in table {
            assert_eq!(passages(text, 4), expected, "{text}");
        }
    }

    #[test]
    fn hostile_lengths() {
        assert_eq!(word_passages(&"x".repeat(100_000), 60).len(), 1);
        assert_eq!(word_passages(&"猫".repeat(12_000), 60).len(), 100);
        let many = "a ".repeat(1_000_000);
        let ranges = word_passages(&many, 60);
        assert_eq!(ranges.len(), PASSAGES_MAX);
        assert_eq!(ranges[PASSAGES_MAX - 1].end, many.len());
        assert_eq!(word_passages("a b c", 0).len(), 3);
    }

    proptest! {
        #[test]
        fn covers_the_text_without_gaps(
            text in "([a-zé猫한\u{301}]{0,4}[ .!?。\n,'\")]{0,2}){0,60}|\\PC{0,90}",
            words_max in 1_usize..9,
        ) {
            let mut end = 0;
            for range in word_passages(&text, words_max) {
                prop_assert_eq!(range.start, end);
                prop_assert!(text.get(range.clone()).is_some());
                prop_assert!(!range.is_empty() || text.is_empty());
                end = range.end;
            }
            prop_assert_eq!(end, text.len());
        }
    }
}
