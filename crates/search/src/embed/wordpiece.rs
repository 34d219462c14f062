//! The tokenizer of uncased BERT models: text to ids of a fixed vocabulary.
//!
//! Own code because the usual crate brings a hundred others for tokenizers never used here. The ids
//! must be those the model was trained with, or its vectors mean nothing: a test compares them with
//! ids from the model's original tokenizer. One difference is meant: `[SEP]` and the like inside a
//! text are plain text here, so that content can never pretend to be structure.

use std::collections::HashMap;
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

/// Longer words become one unknown token, as in training.
const WORD_CHARS_MAX: usize = 100;
const CONTINUATION: &str = "##";

/// A vocabulary and the rules that cut text into it.
#[derive(Debug)]
pub struct WordPiece {
    /// Pieces that begin a word.
    initial: HashMap<&'static str, i32>,
    /// Pieces that go on with one, without their mark.
    continuing: HashMap<&'static str, i32>,
    piece_bytes_max: usize,
    begin: i32,
    end: i32,
    unknown: i32,
}

impl WordPiece {
    /// Reads a vocabulary, one piece a line, its id being its line counted from zero. None if a
    /// special token is missing.
    pub fn new(vocabulary: &'static str) -> Option<Self> {
        let mut initial = HashMap::new();
        let mut continuing = HashMap::new();
        for (id, piece) in (0..).zip(vocabulary.lines()) {
            match piece.strip_prefix(CONTINUATION) {
                Some(rest) if !rest.is_empty() => continuing.insert(rest, id),
                _ => initial.insert(piece, id),
            };
        }
        let longest = |pieces: &HashMap<&str, i32>| pieces.keys().map(|p| p.len()).max();
        Some(Self {
            begin: *initial.get("[CLS]")?,
            end: *initial.get("[SEP]")?,
            unknown: *initial.get("[UNK]")?,
            piece_bytes_max: longest(&initial).max(longest(&continuing))?,
            initial,
            continuing,
        })
    }

    /// The ids of a text between the two that mark begin and end, at most `limit` in all.
    pub fn encode(&self, text: &str, limit: usize) -> Vec<i32> {
        let room = limit.saturating_sub(2);
        let mut ids = vec![self.begin];
        self.each_word(text, |pieces| {
            ids.extend_from_slice(pieces);
            ids.len() <= room
        });
        ids.truncate(room + 1);
        ids.push(self.end);
        ids
    }

    /// How many pieces a text has, begin and end not counted.
    pub fn count(&self, text: &str) -> usize {
        let mut count = 0;
        self.each_word(text, |pieces| {
            count += pieces.len();
            true
        });
        count
    }

    /// Calls `take` with the pieces of every word until it says to stop.
    fn each_word(&self, text: &str, mut take: impl FnMut(&[i32]) -> bool) {
        let mut word = String::new();
        let mut chars = 0;
        let mut pieces = Vec::new();
        let mut flush = |word: &mut String, chars: &mut usize| {
            if *chars == 0 {
                return true;
            }
            self.cut(word, *chars, &mut pieces);
            word.clear();
            *chars = 0;
            take(&pieces)
        };
        for c in plain(text) {
            let stands_alone = is_punctuation(c) || is_cjk(c);
            if (stands_alone || c.is_whitespace()) && !flush(&mut word, &mut chars) {
                return;
            }
            if c.is_whitespace() {
                continue;
            }
            chars += 1;
            // What is past the limit only has to be counted.
            if chars <= WORD_CHARS_MAX {
                word.push(c);
            }
            if stands_alone && !flush(&mut word, &mut chars) {
                return;
            }
        }
        flush(&mut word, &mut chars);
    }

    /// Cuts a word into the longest pieces there are, from the left; a word with a part that is no
    /// piece is unknown as a whole.
    fn cut(&self, word: &str, chars: usize, pieces: &mut Vec<i32>) {
        pieces.clear();
        let mut rest = word;
        while chars <= WORD_CHARS_MAX && !rest.is_empty() {
            let known = if pieces.is_empty() { &self.initial } else { &self.continuing };
            let longest = rest.floor_char_boundary(self.piece_bytes_max);
            let found = (1..=longest)
                .rev()
                .filter(|&end| rest.is_char_boundary(end))
                .find_map(|end| Some((*known.get(&rest[..end])?, end)));
            let Some((id, end)) = found else { break };
            pieces.push(id);
            rest = &rest[end..];
        }
        if chars > WORD_CHARS_MAX || !rest.is_empty() {
            pieces.clear();
            pieces.push(self.unknown);
        }
    }
}

/// The text without control characters and accents, in lower case.
fn plain(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars()
        .filter(|&c| !is_dropped(c))
        .nfd()
        .filter(|&c| get_general_category(c) != GeneralCategory::NonspacingMark)
        .flat_map(char::to_lowercase)
}

fn is_dropped(c: char) -> bool {
    use GeneralCategory as G;
    match c {
        '\t' | '\n' | '\r' => false,
        '\u{fffd}' => true,
        ' '..='~' => false,
        _ => matches!(get_general_category(c), G::Control | G::Format | G::PrivateUse),
    }
}

fn is_punctuation(c: char) -> bool {
    use GeneralCategory as G;
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    matches!(
        get_general_category(c),
        G::ConnectorPunctuation
            | G::DashPunctuation
            | G::OpenPunctuation
            | G::ClosePunctuation
            | G::InitialPunctuation
            | G::FinalPunctuation
            | G::OtherPunctuation
    )
}

/// Ideographs, each of which is a word of its own in the vocabulary. Kana and Hangul are not.
fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}'
        | '\u{2b740}'..='\u{2b81f}'
        | '\u{2b920}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}'
        | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::WordPiece;
    use proptest::prelude::*;

    const VOCABULARY: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\n!\n中\na\n##a\n[";

    #[test]
    fn a_word_is_cut_into_the_longest_pieces() {
        let tokenizer = WordPiece::new(VOCABULARY).unwrap();
        assert_eq!(tokenizer.encode("Unáffable!中", 256), [2, 4, 5, 6, 7, 8, 3]);
        assert_eq!(tokenizer.encode("unaffably", 256), [2, 1, 3]);
        assert_eq!(tokenizer.count("unaffable!"), 4);
    }

    #[test]
    fn marks_inside_a_text_are_text() {
        let tokenizer = WordPiece::new(VOCABULARY).unwrap();
        assert_eq!(tokenizer.encode("[SEP]", 256), [2, 11, 1, 1, 3]);
    }

    #[test]
    fn the_limit_counts_the_marks() {
        let tokenizer = WordPiece::new(VOCABULARY).unwrap();
        let ids = tokenizer.encode(&"a ".repeat(1000), 256);
        assert_eq!(ids.len(), 256);
        assert_eq!(ids[255], 3);
        assert_eq!(tokenizer.encode("aaaa", 4), [2, 9, 10, 3]);
    }

    #[test]
    fn a_vocabulary_needs_its_marks() {
        assert!(WordPiece::new("[PAD]\n[UNK]\n[CLS]\nword").is_none());
        assert!(WordPiece::new("").is_none());
    }

    proptest! {
        #[test]
        fn any_text_gives_marked_ids_within_the_limit(text in any::<String>(), limit in 2usize..40) {
            let tokenizer = WordPiece::new(VOCABULARY).unwrap();
            let ids = tokenizer.encode(&text, limit);
            prop_assert!(ids.len() <= limit);
            prop_assert_eq!(ids.len(), limit.min(tokenizer.count(&text) + 2));
            prop_assert_eq!((ids[0], ids[ids.len() - 1]), (2, 3));
        }
    }
}
