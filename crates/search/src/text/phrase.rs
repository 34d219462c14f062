//! Whether a text has some words in sequence.
//!
//! Phrases are checked on the text itself, so the index keeps no positions and stop words inside a
//! phrase count. Words are compared folded but not stemmed: who quotes, means those very words.

use super::analyze::visit_words;
use std::ops::{ControlFlow, Range};

/// Whether the words of the phrase, folded as a query folds them, follow each other in the text. An
/// empty phrase is in every text.
pub fn contains_phrase(text: &str, phrase: &[String]) -> bool {
    phrase.is_empty() || find_phrase(text, phrase).is_some()
}

/// The bytes of the first place where the phrase stands.
pub(super) fn find_phrase(text: &str, phrase: &[String]) -> Option<Range<usize>> {
    if phrase.is_empty() {
        return None;
    }
    let fallback = fallbacks(phrase);
    // Where each of the last words began, in a ring as long as the phrase.
    let mut starts = vec![0; phrase.len()];
    let mut seen = 0;
    let mut matched = 0;
    let found = visit_words(text, |word, range| {
        starts[seen % phrase.len()] = range.start;
        seen += 1;
        while matched > 0 && phrase[matched] != word {
            matched = fallback[matched - 1];
        }
        if phrase[matched] == word {
            matched += 1;
        }
        if matched == phrase.len() {
            return ControlFlow::Break(starts[seen % phrase.len()]..range.end);
        }
        ControlFlow::Continue(())
    });
    found.break_value()
}

/// For each length matched, how much of the phrase still matches when the next word does not
/// (Knuth, Morris, Pratt): the text is read once, whatever repeats in it.
fn fallbacks(phrase: &[String]) -> Vec<usize> {
    let mut fallback = vec![0; phrase.len()];
    let mut len = 0;
    for at in 1..phrase.len() {
        while len > 0 && phrase[at] != phrase[len] {
            len = fallback[len - 1];
        }
        if phrase[at] == phrase[len] {
            len += 1;
        }
        fallback[at] = len;
    }
    fallback
}

#[cfg(test)]
mod tests {
    use super::super::analyze::words_of;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sequences() {
        let table = [
            ("To be, or not to be: that", "or not to be", true),
            ("to be or not", "be to", false),
            ("Caroline's new BOOK", "caroline new book", true),
            ("the painted wall", "paint", false),
            ("one two one two three", "one two three", true),
            ("one one one two", "one one two", true),
            ("東京タワーに行く", "タワー", true),
            ("東京タワーに行く", "ターワ", false),
            ("고양이가 있다", "고양이", true),
            ("anything", "", true),
            ("", "word", false),
            ("crème brûlée", "creme brulee", true),
        ];
        for (text, phrase, expected) in table {
            assert_eq!(contains_phrase(text, &words_of(phrase)), expected, "{text} / {phrase}");
        }
    }

    #[test]
    fn the_place_is_the_words() {
        let text = "We saw “The  Big Lebowski’s” end";
        let place = find_phrase(text, &words_of("the big lebowski")).unwrap();
        assert_eq!(&text[place], "The  Big Lebowski’s");
    }

    proptest! {
        #[test]
        fn agrees_with_looking_everywhere(text in "([ab] ){0,30}", phrase in "([ab] ){1,5}") {
            let (words, phrase) = (words_of(&text), words_of(&phrase));
            let expected = words.windows(phrase.len()).any(|window| window == phrase);
            prop_assert_eq!(contains_phrase(&text, &phrase), expected);
        }
    }
}
