//! Cuts the object out of the words after a verb: as short as it can be and still name the thing.
//! It ends at marks, times, purposes and what is said about it; "A, B and C" are three, unless they
//! are one by habit.

use super::kinds::{Reach, Wanted};
use super::lexicon::{
    ADVERB, AUXILIARY, CONJUNCTION, DETERMINER, OPENER, PREPOSITION, PRONOUN, TRAILING, WH,
};
use super::tokens::{Kind, Token};
use super::verbs::{self, BASE, ING};
use std::ops::Range;

/// The most words of one object.
pub(super) const OBJECT_WORDS_MAX: usize = 8;
/// The most objects of one list.
const LIST_MAX: usize = 8;

/// What "and" does not part.
const PAIRS: &[(&str, &str)] = &[
    ("mac", "cheese"),
    ("rock", "roll"),
    ("fish", "chips"),
    ("r", "b"),
    ("dungeons", "dragons"),
    ("johnson", "johnson"),
    ("salt", "vinegar"),
    ("bread", "butter"),
    ("butter", "jelly"),
    ("arts", "crafts"),
    ("research", "development"),
    ("black", "white"),
    ("drum", "bass"),
    ("gin", "tonic"),
    ("marks", "spencer"),
    ("procter", "gamble"),
    ("ernst", "young"),
    ("rice", "beans"),
    ("eggs", "bacon"),
    ("ham", "cheese"),
    ("sweet", "sour"),
    ("track", "field"),
    ("barnes", "noble"),
    ("crash", "burn"),
    ("health", "safety"),
    ("rum", "coke"),
    ("hit", "run"),
    ("harry", "sally"),
    ("pride", "prejudice"),
    ("war", "peace"),
    ("simon", "garfunkel"),
    ("stars", "stripes"),
    ("bed", "breakfast"),
    ("tom", "jerry"),
    ("rick", "morty"),
];

/// The objects found, and where they end.
#[derive(Debug)]
pub(super) struct Objects {
    pub(super) pieces: Vec<Range<usize>>,
    pub(super) end: usize,
}

/// The objects that begin at `start`, in a clause that ends at `end`.
pub(super) fn cut(
    tokens: &[Token<'_>],
    is_time: &[bool],
    start: usize,
    end: usize,
    wanted: Wanted,
) -> Option<Objects> {
    let mut found = Objects { pieces: Vec::new(), end: start };
    let mut at = start;
    while found.pieces.len() < LIST_MAX {
        let (piece, stop) = piece(tokens, is_time, at, end, wanted)?;
        if let Some(piece) = piece {
            found.pieces.push(piece);
            found.end = stop;
        } else {
            break;
        }
        let Some(next) = next_of_list(tokens, is_time, stop, end, wanted) else { break };
        at = next;
    }
    (!found.pieces.is_empty()).then_some(found)
}

/// Where the next object of a list begins, if `at` is between two.
fn next_of_list(
    tokens: &[Token<'_>],
    is_time: &[bool],
    at: usize,
    end: usize,
    wanted: Wanted,
) -> Option<usize> {
    let token = tokens.get(at).filter(|_| at < end)?;
    let mut next = match token.word {
        "," if wanted.takes_lists() => at + 1,
        "and" | "or" | "&" | "plus" => at + 1,
        "as" if tokens.get(at + 1).is_some_and(|token| token.is("well")) => at + 3,
        _ => return None,
    };
    while next < end && tokens[next].is_one_of(&["and", "or", "&", "also", "even"]) {
        next += 1;
    }
    let first = tokens.get(next).filter(|_| next < end && !is_time[next])?;
    let is_other = first.has(PREPOSITION | CONJUNCTION | WH | OPENER | AUXILIARY)
        || first.kind == Kind::Mark
        || first.is_one_of(&["not", "no", "never"])
        || first.has(PRONOUN) && !first.has(DETERMINER)
        || first.has(ADVERB) && !verbs::can_be(first.word, ING);
    (!is_other).then_some(next)
}

/// One object from `start`, and the token it stops at. Nothing at all if the clause is not
/// understood.
fn piece(
    tokens: &[Token<'_>],
    is_time: &[bool],
    start: usize,
    end: usize,
    wanted: Wanted,
) -> Option<(Option<Range<usize>>, usize)> {
    let mut start = skip_words_before(tokens, start, end);
    let mut reach = wanted.reach();
    if start < end && tokens[start].is("to") && wanted.takes_verbs() {
        start += 1;
        reach = Reach::Phrase;
        verbs::can_be(tokens.get(start)?.word, BASE).then_some(())?;
    }
    if let Some(first) = tokens.get(start).filter(|_| start < end)
        && first.word.ends_with("ing")
        && (verbs::can_be(first.word, ING) || first.word.len() > 5)
        && wanted.takes_verbs()
    {
        reach = Reach::Phrase;
    }
    let mut at = start;
    while at < end && !is_time[at] {
        let token = &tokens[at];
        let next = tokens.get(at + 1).filter(|_| at + 1 < end);
        if token.kind == Kind::Mark && !is_inside_name(tokens, at, end) {
            break;
        }
        if token.is_one_of(&["and", "or", "&", "plus"]) && !is_pair(tokens, at, end) {
            break;
        }
        // A finite verb here means that the clause was not understood.
        if token.is_one_of(&["is", "are", "was", "were", "am", "has", "does", "did", "will"]) {
            return None;
        }
        if at > start && token.has(TRAILING) && !is_inside(tokens, at, end, is_time) {
            break;
        }
        if token.is_one_of(&["not", "because", "so", "than", "i", "we", "they", "he", "she"]) {
            break;
        }
        let is_in_name = token.is_capital && at > start && tokens[at - 1].is_capital;
        if token.has(PREPOSITION) && at > start && !is_in_name {
            let is_kept = match reach {
                Reach::Short => token.is("of"),
                Reach::Noun(words) => words.contains(&token.word),
                Reach::Phrase => !token.is_one_of(&["as", "since", "until", "before", "after"]),
            };
            if !is_kept || next.is_none_or(|next| next.has(AUXILIARY)) {
                break;
            }
        }
        if token.has(WH) || token.is("that") && at > start || token.is("if") {
            break;
        }
        if wanted.stops_at(token.word) && at > start {
            break;
        }
        at += 1;
        if at - start > OBJECT_WORDS_MAX {
            return Some((None, at));
        }
    }
    let mut last = at;
    while last > start
        && (tokens[last - 1].has(TRAILING | PREPOSITION | ADVERB) || is_lot(tokens, start, last))
    {
        if is_lot(tokens, start, last) {
            last -= 1;
        }
        last -= 1;
    }
    if last == start || is_refused(&tokens[start]) {
        return Some((None, at));
    }
    Some((Some(start..last), at))
}

/// "a lot", "very much" at the end.
fn is_lot(tokens: &[Token<'_>], start: usize, end: usize) -> bool {
    end >= start + 2
        && matches!(
            (tokens[end - 2].word, tokens[end - 1].word),
            ("a", "lot" | "bit" | "ton")
                | ("very" | "so", "much")
                | ("right", "now")
                | ("as", "well")
        )
}

/// Articles, quantities and adverbs before the noun.
fn skip_words_before(tokens: &[Token<'_>], mut at: usize, end: usize) -> usize {
    while at < end {
        let token = &tokens[at];
        let next_is = |word: &str| tokens.get(at + 1).is_some_and(|next| next.is(word));
        let is_lots = token.is_one_of(&["lots", "plenty", "tons"]) && next_is("of");
        let is_a_lot = token.is("a")
            && tokens.get(at + 1).is_some_and(|next| next.is_one_of(&["lot", "bit"]))
            && tokens.get(at + 2).is_some_and(|next| next.is("of"));
        let is_article = token.is_one_of(&["a", "an", "the", "my", "our", "some", "any"])
            || token.has(ADVERB)
                && !token.is_one_of(&["all", "long", "first", "only", "both"])
                && tokens.get(at + 1).is_some()
                && !token.word.ends_with("ing")
            || token.is("all")
                && tokens.get(at + 1).is_some_and(|next| next.is_one_of(&["the", "my"]));
        at += match (is_a_lot, is_lots, is_article) {
            (true, _, _) => 3,
            (_, true, _) => 2,
            (_, _, true) => 1,
            _ => break,
        };
    }
    at
}

/// Whether no object begins so.
fn is_refused(first: &Token<'_>) -> bool {
    first.kind == Kind::Mark
        || first.has(WH | CONJUNCTION | AUXILIARY)
        || first.has(PRONOUN) && first.kind == Kind::Word
        || first.is_one_of(&["your", "his", "her", "their", "its", "every", "no", "each"])
        || first.has(PREPOSITION)
}

/// Whether a trailing word stands inside the object after all: more of it follows.
fn is_inside(tokens: &[Token<'_>], at: usize, end: usize, is_time: &[bool]) -> bool {
    tokens.get(at + 1).filter(|_| at + 1 < end && !is_time[at + 1]).is_some_and(|next| {
        next.kind == Kind::Word
            && !next.has(PREPOSITION | CONJUNCTION | TRAILING | PRONOUN | ADVERB | AUXILIARY)
    })
}

/// A mark with names on both sides and no space: "Q&A", "AC/DC", "#rust".
fn is_inside_name(tokens: &[Token<'_>], at: usize, end: usize) -> bool {
    let mark = &tokens[at];
    at + 1 < end
        && at > 0
        && mark.is_one_of(&["&", "/", "-", "%", "+"])
        && (tokens[at - 1].end == mark.start
            || mark.is("&") && tokens[at - 1].is_capital && tokens[at + 1].is_capital)
}

fn is_pair(tokens: &[Token<'_>], at: usize, end: usize) -> bool {
    let (Some(before), Some(after)) =
        (at.checked_sub(1).map(|at| tokens[at].word), tokens.get(at + 1).filter(|_| at + 1 < end))
    else {
        return false;
    };
    PAIRS.iter().any(|(one, two)| *one == before && *two == after.word)
        || tokens[at].is("&") && tokens[at - 1].is_capital && after.is_capital
}
