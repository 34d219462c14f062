//! From text to index terms, for documents and queries alike.
//!
//! A term is a folded, stemmed word. A compound name (`userTimezone`, `covid19`) gives its whole and
//! its parts; scripts without spaces give overlapping pairs; Hangul gives the word and its pairs.
//! Stop words and single letters are dropped, unless the text has nothing else: then its words stay
//! as they are, so that "to be or not to be" can be found, and asked for, at all. An analyzer has no
//! state: it is free to make, and any thread may use it.

use super::characters::{Script, continues_cluster, is_apostrophe};
use super::fold::{WORD_CHARS_MAX, fold_ascii, fold_cluster, fold_word};
use super::scan::{Ending, Run, scan};
use super::stem::stem;
use super::stop::is_stop_word;
use std::ops::{ControlFlow, Range};

/// Parts a compound word may have; more is a digest or an encoding, not a name.
const PARTS_MAX: usize = 8;

/// Turns text into index terms.
#[derive(Debug, Clone, Copy, Default)]
pub struct Analyzer {}

/// One index term and where in the text it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term<'a> {
    /// The folded, stemmed form, valid until the next one.
    pub text: &'a str,
    /// The bytes of the original text, on character boundaries. Pairs of a script without spaces
    /// overlap, and the parts of a compound lie inside the whole; otherwise terms are in order.
    pub range: Range<usize>,
}

impl Analyzer {
    /// An analyzer; all are alike.
    pub fn new() -> Self {
        Self {}
    }

    /// Emits the terms to index a text by, repeats included.
    pub fn terms(&self, text: &str, mut emit: impl FnMut(Term<'_>)) {
        let mut has_any = false;
        pass(text, Stops::Dropped, Tails::Emitted, &mut |term| {
            has_any = true;
            emit(term);
        });
        if !has_any {
            pass(text, Stops::Kept, Tails::Emitted, &mut emit);
        }
    }

    /// Emits the terms to look for. Unlike a document, a query for two characters of a script
    /// without spaces does not also ask for the second alone.
    pub(super) fn query_terms(&self, text: &str, stops: Stops, mut emit: impl FnMut(Term<'_>)) {
        pass(text, stops, Tails::Left, &mut emit);
    }
}

/// What happens to stop words and single letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stops {
    Dropped,
    Kept,
}

/// Whether the last character of a run without spaces is a term by itself. Documents have it, so
/// that a query for one character finds it at the start of a pair or as such a tail: everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tails {
    Emitted,
    Left,
}

/// The index term of a folded word, or none if it is not indexed.
pub(super) fn term_of_word(folded: &str) -> Option<String> {
    if is_stop_word(folded) || is_single_letter(folded) {
        return None;
    }
    let mut term = folded.to_owned();
    stem_in_place(&mut term);
    Some(term)
}

/// Shows every word as it is compared in phrases: folded, neither stemmed nor stopped, compounds
/// whole, scripts without spaces and Hangul one character at a time. The range includes an ending
/// such as a possessive.
pub(super) fn visit_words<B>(
    text: &str,
    mut visit: impl FnMut(&str, Range<usize>) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut word = String::with_capacity(WORD_CHARS_MAX);
    scan(text, |run| {
        if run.script == Script::Spaced {
            fold_run(text, run, &mut word);
            return if word.is_empty() {
                ControlFlow::Continue(())
            } else {
                visit(&word, run.range.start..run.end)
            };
        }
        for cluster in clusters(text, run.range.clone()) {
            word.clear();
            fold_cluster(&text[cluster.clone()], &mut word);
            visit(&word, cluster)?;
        }
        ControlFlow::Continue(())
    })
}

/// The words of [`visit_words`], collected.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let _ = visit_words(text, |word, _| {
        words.push(word.to_owned());
        ControlFlow::<()>::Continue(())
    });
    words
}

fn pass(text: &str, stops: Stops, tails: Tails, emit: &mut impl FnMut(Term<'_>)) {
    let mut word = String::with_capacity(WORD_CHARS_MAX);
    let _ = scan(text, |run| {
        match run.script {
            Script::Spaced => emit_spaced(text, run, stops, &mut word, emit),
            Script::Unspaced => emit_pairs(text, run, tails, emit),
            Script::Hangul => emit_pairs(text, run, Tails::Left, emit),
        }
        ControlFlow::<()>::Continue(())
    });
}

fn emit_spaced(
    text: &str,
    run: &Run,
    stops: Stops,
    word: &mut String,
    emit: &mut impl FnMut(Term<'_>),
) {
    fold_run(text, run, word);
    // "Isn't", "won't" and the rest say as little as "is" and "will".
    if stops == Stops::Kept || run.ending != Ending::Negation {
        let is_plain = run.is_ascii && !run.has_digit;
        emit_word(word, run.range.clone(), is_plain, stops, emit);
    }
    if let Some(start) = run.elided_at {
        word.clear();
        fold_word(text[start..run.range.start].trim_end_matches(is_apostrophe), word);
        fold_word(&text[run.range.clone()], word);
        cut(word);
        emit_word(word, start..run.range.end, false, stops, emit);
    }
    if run.may_be_compound {
        emit_parts(text, run.range.clone(), stops, word, emit);
    }
}

/// Puts the folded word of a run into `word`.
pub(super) fn fold_run(text: &str, run: &Run, word: &mut String) {
    word.clear();
    let original = &text[run.range.clone()];
    if run.is_ascii {
        fold_ascii(original, word)
    } else {
        fold_word(original, word)
    }
    if run.ending == Ending::Negation {
        word.push('t');
        cut(word);
    }
}

/// Emits a folded word, stemmed in place, unless it is stopped. `is_plain`: known to be a to z.
fn emit_word(
    word: &mut String,
    range: Range<usize>,
    is_plain: bool,
    stops: Stops,
    emit: &mut impl FnMut(Term<'_>),
) {
    if word.is_empty()
        || (stops == Stops::Dropped && (is_stop_word(word) || is_single_letter(word)))
    {
        return;
    }
    if is_plain {
        stem(word);
    } else {
        stem_in_place(word);
    }
    emit(Term { text: word, range });
}

fn stem_in_place(word: &mut String) {
    if word.bytes().all(|b| b.is_ascii_lowercase()) {
        stem(word);
    }
}

/// One letter says nothing; one digit may be all there is to say.
fn is_single_letter(word: &str) -> bool {
    let mut chars = word.chars();
    matches!((chars.next(), chars.next()), (Some(only), None) if is_alphabetic_letter(only))
}

/// A letter of a script that spells words with letters.
fn is_alphabetic_letter(c: char) -> bool {
    !c.is_numeric() && super::characters::script_of(c) == Some(Script::Spaced)
}

/// Shortens a word that grew by joining to the limit.
fn cut(word: &mut String) {
    if let Some((at, _)) = word.char_indices().nth(WORD_CHARS_MAX) {
        word.truncate(at);
    }
}

/// Emits the parts of a compound: "userTimezone" has user and timezone, "7th" has 7.
fn emit_parts(
    text: &str,
    range: Range<usize>,
    stops: Stops,
    word: &mut String,
    emit: &mut impl FnMut(Term<'_>),
) {
    let original = &text[range.clone()];
    let mut parts = [(0, 0); PARTS_MAX];
    let Some(count) = find_parts(original, &mut parts) else { return };
    let mut is_after_number = false;
    for &(start, end) in &parts[..count] {
        word.clear();
        fold_word(&original[start..end], word);
        let is_number = word.bytes().all(|b| b.is_ascii_digit());
        let is_ordinal = is_after_number && matches!(word.as_str(), "st" | "nd" | "rd" | "th");
        is_after_number = is_number;
        // A part of one letter is the accident of a name ("iPhone"), even where letters are kept.
        if !is_ordinal && !is_single_letter(word) {
            emit_word(word, range.start + start..range.start + end, false, stops, emit);
        }
    }
}

/// Where the parts of a word lie and how many there are; none if it is one word, or so chopped that
/// the parts are noise.
fn find_parts(word: &str, parts: &mut [(usize, usize); PARTS_MAX]) -> Option<usize> {
    let mut count = 0;
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut chars = 0;
    for (at, c) in word.char_indices() {
        chars += 1;
        let is_start = before.is_some_and(|before| {
            if before.is_numeric() != c.is_numeric() {
                return is_letter_or_digit(before) && is_letter_or_digit(c);
            }
            c.is_uppercase()
                && (before.is_lowercase()
                    || (before.is_uppercase() && starts_word(&word[at + c.len_utf8()..])))
        });
        if is_start {
            // One place is left for the last part.
            if count + 1 == PARTS_MAX {
                return None;
            }
            parts[count] = (start, at);
            count += 1;
            start = at;
        }
        before = Some(c);
    }
    if count == 0 {
        return None;
    }
    parts[count] = (start, word.len());
    count += 1;
    (count <= 2 || chars >= 2 * count).then_some(count)
}

fn is_letter_or_digit(c: char) -> bool {
    c.is_alphanumeric()
}

/// Whether what follows a capital makes it the first of a word ("HTTP|Server") and not the last of
/// an abbreviation in the plural ("URLs").
fn starts_word(rest: &str) -> bool {
    let mut rest = rest.chars();
    match (rest.next(), rest.next()) {
        (Some('s'), after) => after.is_some_and(char::is_lowercase),
        (Some(c), _) => c.is_lowercase(),
        _ => false,
    }
}

/// Emits overlapping pairs of a run; a run of one is a term by itself. A Hangul run is a term as a
/// whole too, because there it is a word.
fn emit_pairs(text: &str, run: &Run, tails: Tails, emit: &mut impl FnMut(Term<'_>)) {
    let mut whole = String::new();
    let mut pair = String::new();
    let mut first: Option<(usize, Range<usize>)> = None;
    let mut count = 0;
    let mut whole_end = run.range.start;
    for cluster in clusters(text, run.range.clone()) {
        // `pair` holds the cluster before; behind it goes this one.
        let len_before = pair.len();
        fold_cluster(&text[cluster.clone()], &mut pair);
        if run.script == Script::Hangul && count < WORD_CHARS_MAX {
            whole.push_str(&pair[len_before..]);
            whole_end = cluster.end;
        }
        count += 1;
        if let Some((len, range)) = first.replace((pair.len() - len_before, cluster.clone())) {
            emit(Term { text: &pair, range: range.start..cluster.end });
            pair.drain(..len);
        }
    }
    let Some((_, last)) = first else { return };
    if count == 1 || tails == Tails::Emitted {
        emit(Term { text: &pair, range: last });
    }
    if run.script == Script::Hangul && count > 2 {
        emit(Term { text: &whole, range: run.range.start..whole_end });
    }
}

/// The units of writing in a range: a character and what extends it.
pub(super) fn clusters(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let mut chars = text[at..range.end].chars();
        let first = chars.next()?;
        let start = at;
        at += first.len_utf8();
        at += chars.take_while(|c| continues_cluster(*c)).map(char::len_utf8).sum::<usize>();
        Some(start..at)
    })
}

#[cfg(test)]
#[path = "analyze_tests.rs"]
mod tests;
