//! Cutting a text into runs: words of spaced scripts, stretches of scripts without spaces, Hangul.
//!
//! One pass over the bytes; ASCII never leaves the byte loop. Underscores, punctuation and symbols
//! part words. An apostrophe is looked at, because "Caroline's" must meet "Caroline" and "don't"
//! is one word. Ranges lie on character boundaries and never overlap.

use super::characters::{Script, is_apostrophe, is_extending, script_of};
use super::fold::WORD_CHARS_MAX;
use std::ops::{ControlFlow, Range};

/// What follows a word after an apostrophe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Nothing that belongs to the word.
    None,
    /// A possessive or a contracted verb ('s, 'd, 'll, 'm, 're, 've), which is no part of the term.
    Dropped,
    /// The t of "don't": with the word it is a negated auxiliary.
    Negation,
}

/// One run of characters of a kind.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// The word, without an ending; words of spaced scripts are cut at the limit.
    pub(super) range: Range<usize>,
    /// Where the text goes on: behind the ending and behind what was cut.
    pub(super) end: usize,
    pub(super) script: Script,
    pub(super) is_ascii: bool,
    pub(super) has_digit: bool,
    /// Capitals inside or letters next to digits: it may be made of several words.
    pub(super) may_be_compound: bool,
    pub(super) ending: Ending,
    /// Start of a single letter that an apostrophe ties to this word, as in "O'Brien".
    pub(super) elided_at: Option<usize>,
}

const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const BEYOND: u8 = 8;

/// What each byte is; 0 for ASCII that parts words.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            0x80.. => BEYOND,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// Shows every run of the text, in order, until the visitor breaks off.
pub(super) fn scan<B>(text: &str, mut visit: impl FnMut(&Run) -> ControlFlow<B>) -> ControlFlow<B> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut elided_at = None;
    while at < bytes.len() {
        let class = CLASSES[bytes[at] as usize];
        if class == 0 {
            at += 1;
            continue;
        }
        let mut script = Script::Spaced;
        if class == BEYOND {
            let c = char_at(text, at);
            match script_of(c) {
                Some(found) => script = found,
                None => {
                    at += c.len_utf8();
                    continue;
                }
            }
        }
        let mut run = match script {
            Script::Spaced => spaced_run(text, at),
            _ => unspaced_run(text, at, script),
        };
        run.elided_at = elided_at.take();
        if script == Script::Spaced && run.end < bytes.len() {
            let goes_on_at = look_behind_apostrophe(text, &mut run);
            if goes_on_at != run.end {
                elided_at = Some(run.range.start);
            }
            visit(&run)?;
            at = goes_on_at;
        } else {
            visit(&run)?;
            at = run.end;
        }
    }
    ControlFlow::Continue(())
}

/// The character at a boundary inside the text.
fn char_at(text: &str, at: usize) -> char {
    text[at..].chars().next().unwrap_or('\0')
}

fn spaced_run(text: &str, start: usize) -> Run {
    let bytes = text.as_bytes();
    let mut seen = 0;
    let mut seen_inside = 0;
    let mut end = start;
    while let Some(byte) = bytes.get(end) {
        let class = CLASSES[*byte as usize];
        if class == 0 || class == BEYOND {
            break;
        }
        if end > start {
            seen_inside |= class;
        }
        seen |= class;
        end += 1;
    }
    if end < bytes.len() && bytes[end] >= 0x80 {
        let c = char_at(text, end);
        if script_of(c) == Some(Script::Spaced) || is_extending(c) {
            return spaced_run_beyond_ascii(text, start);
        }
    }
    let has_letter = seen & (LOWER | UPPER) != 0;
    let has_digit = seen & DIGIT != 0;
    Run {
        range: start..end.min(start + WORD_CHARS_MAX),
        end,
        script: Script::Spaced,
        is_ascii: true,
        has_digit,
        may_be_compound: (has_digit && has_letter)
            || (seen_inside & UPPER != 0 && seen & LOWER != 0),
        ending: Ending::None,
        elided_at: None,
    }
}

fn spaced_run_beyond_ascii(text: &str, start: usize) -> Run {
    let mut end = start;
    let mut cut = start;
    let mut has_digit = false;
    let mut has_letter = false;
    let mut has_inner_capital = false;
    for (count, c) in text[start..].chars().enumerate() {
        if script_of(c) != Some(Script::Spaced) && !is_extending(c) {
            break;
        }
        has_digit |= c.is_numeric();
        has_letter |= !c.is_numeric();
        has_inner_capital |= end > start && c.is_uppercase();
        end += c.len_utf8();
        if count < WORD_CHARS_MAX {
            cut = end;
        }
    }
    Run {
        range: start..cut,
        end,
        script: Script::Spaced,
        is_ascii: false,
        has_digit,
        may_be_compound: (has_digit && has_letter) || has_inner_capital,
        ending: Ending::None,
        elided_at: None,
    }
}

fn unspaced_run(text: &str, start: usize, script: Script) -> Run {
    let len: usize = text[start..]
        .chars()
        .take_while(|c| script_of(*c) == Some(script) || is_extending(*c))
        .map(char::len_utf8)
        .sum();
    Run {
        range: start..start + len,
        end: start + len,
        script,
        is_ascii: false,
        has_digit: false,
        may_be_compound: false,
        ending: Ending::None,
        elided_at: None,
    }
}

/// Gives the run its ending if an apostrophe and one follow. Returns where scanning goes on: right
/// behind the apostrophe, and not at the run's end, if it ties a single letter to the next word.
fn look_behind_apostrophe(text: &str, run: &mut Run) -> usize {
    let bytes = text.as_bytes();
    if bytes[run.end] != b'\'' && bytes[run.end] < 0x80 {
        return run.end;
    }
    let mark = char_at(text, run.end);
    if !is_apostrophe(mark) {
        return run.end;
    }
    let tail_start = run.end + mark.len_utf8();
    let mut tail = [0_u8; 3];
    let mut len = 0;
    for byte in bytes[tail_start..].iter().take(3).take_while(|b| b.is_ascii_alphanumeric()) {
        tail[len] = byte.to_ascii_lowercase();
        len += 1;
    }
    let goes_on = text[tail_start + len..]
        .chars()
        .next()
        .is_some_and(|c| script_of(c) == Some(Script::Spaced) || is_extending(c));
    if len > 0 && !goes_on {
        let is_after_n = matches!(bytes[run.end - 1], b'n' | b'N');
        run.ending = match &tail[..len] {
            b"s" | b"d" | b"m" | b"ll" | b"re" | b"ve" => Ending::Dropped,
            b"t" if is_after_n => Ending::Negation,
            _ => Ending::None,
        };
        if run.ending != Ending::None {
            run.end = tail_start + len;
            return run.end;
        }
    }
    let is_single_letter = !run.has_digit
        && text[run.range.clone()].chars().filter(|c| !is_extending(*c)).count() == 1;
    if is_single_letter && (len > 0 || goes_on) { tail_start } else { run.end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs(text: &str) -> Vec<Run> {
        let mut runs = Vec::new();
        let _ = scan(text, |run| {
            runs.push(run.clone());
            ControlFlow::<()>::Continue(())
        });
        runs
    }

    fn words(text: &str) -> Vec<&str> {
        runs(text).into_iter().map(|run| &text[run.range]).collect()
    }

    #[test]
    fn cuts() {
        let table: [(&str, &[&str]); 14] = [
            ("", &[]),
            (" \n\t?!-", &[]),
            ("one two", &["one", "two"]),
            ("user_timezone=UTC", &["user", "timezone", "UTC"]),
            ("10:30 3.14", &["10", "30", "3", "14"]),
            ("Caroline's book", &["Caroline", "book"]),
            ("Caroline\u{2019}s book", &["Caroline", "book"]),
            ("don't we'll James' 'hi'", &["don", "we", "James", "hi"]),
            ("O'Brien rock'n'roll", &["O", "Brien", "rock", "n", "roll"]),
            ("cafe\u{301} naïve", &["cafe\u{301}", "naïve"]),
            ("東京tower 2023年", &["東京", "tower", "2023", "年"]),
            ("Python을 써요", &["Python", "을", "써요"]),
            ("a\u{0}b\u{200B}c😀d", &["a", "b", "c", "d"]),
            ("שלום world", &["שלום", "world"]),
        ];
        for (text, expected) in table {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn endings_and_ties() {
        let found = runs("can't O'Brien's");
        assert_eq!(found[0].ending, Ending::Negation);
        assert_eq!(found[0].end, 5);
        assert_eq!(found[2].ending, Ending::Dropped);
        assert_eq!(found[2].elided_at, Some(6));
    }

    #[test]
    fn long_words_are_cut_but_passed_over_whole() {
        for letter in ["x", "é"] {
            let text = letter.repeat(100_000) + " end";
            let found = runs(&text);
            assert_eq!(found.len(), 2);
            assert_eq!(found[0].range, 0..64 * letter.len());
        }
    }

    proptest! {
        #[test]
        fn ranges_are_ordered_and_on_boundaries(text in "[a-zA-Z0-9'’é\u{301}猫かｶﾞ한กั \u{200d}_]{0,60}|\\PC{0,60}") {
            let mut before = 0;
            for run in runs(&text) {
                prop_assert!(run.range.start >= before && run.range.start < run.range.end);
                prop_assert!(run.range.end <= run.end);
                prop_assert!(text.get(run.range.clone()).is_some() && text.is_char_boundary(run.end));
                before = run.end;
            }
        }
    }
}
