//! What the speaker is called, said plainly: "my name is Ana Lopez", "the user's name is Ana", "I'm
//! Ana", "call me Ana". Where the words could be anything else ("I'm German", "call me later"), only a
//! name that is known to be one counts.

use super::lexicon::{FIRST_NAME, NATIONALITY};
use super::tokens::{Kind, Token};
use super::verbs::{self, BASE, ING, PAST, THIRD};
use std::ops::Range;

/// Words of one name.
const WORDS_MAX: usize = 4;

/// A name of the speaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Naming {
    /// Its words.
    pub(super) name: Range<usize>,
    /// Whether it is one that somebody goes by, beside the one they have.
    pub(super) is_beside: bool,
}

/// How the name is led up to, which decides what can be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    /// By saying that it is a name.
    Name,
    /// By "I am".
    Being,
    /// By "call me".
    Calling,
}

/// What a name may be said to be.
const SORTS: &[&str] =
    &["full", "first", "real", "actual", "given", "legal", "whole", "preferred", "own"];
/// First names that are more often something else after "I am".
const DOUBTFUL: &[&str] = &["christian", "german", "roman", "jewish", "muslim"];
/// What people are told to call somebody without its being a name.
const NO_NAMES: &[&str] = &[
    "crazy",
    "old-fashioned",
    "old",
    "cynical",
    "paranoid",
    "lazy",
    "biased",
    "naive",
    "stupid",
    "skeptical",
    "sceptical",
    "weird",
    "silly",
    "sir",
    "madam",
    "ma'am",
    "boss",
    "captain",
    "asap",
    "anytime",
    "back",
    "later",
    "again",
    "mud",
    "not",
    "too",
    "so",
    "on",
    "in",
    "at",
];
/// What may follow a name.
const AFTER: &[&str] = &["from", "and", "but", "by", "btw", "here", "though", "so"];
/// Small words inside a name.
const PARTICLES: &[&str] =
    &["de", "da", "do", "dos", "del", "van", "von", "der", "den", "bin", "al", "la"];

/// Reads a name of the speaker in the clause that begins at `at`.
pub(super) fn naming(
    tokens: &[Token<'_>],
    is_time: &[bool],
    at: usize,
    end: usize,
) -> Option<Naming> {
    let (lead, start) = lead(tokens, at, end)?;
    let first = tokens.get(start).filter(|_| start < end)?;
    let is_part = |place: usize| {
        let token = &tokens[place];
        let is_inside = place > start && place + 1 < end;
        let is_particle =
            is_inside && PARTICLES.contains(&token.word) && tokens[place + 1].is_capital;
        token.kind == Kind::Word && !is_time[place] && (token.is_capital || is_particle)
    };
    let is_small = !first.is_capital && lead == Lead::Name && first.has(FIRST_NAME);
    let stop = match is_small {
        true => start + 1,
        false => (start..end).find(|place| !is_part(*place)).unwrap_or(end),
    };
    let ends = stop == end || tokens[stop].kind == Kind::Mark || AFTER.contains(&tokens[stop].word);
    if stop == start || stop - start > WORDS_MAX || !ends || NO_NAMES.contains(&first.word) {
        return None;
    }
    let is_known = first.has(FIRST_NAME) && !DOUBTFUL.contains(&first.word);
    let is_single = stop == start + 1;
    let is_name = match lead {
        Lead::Being => is_known && (!is_single || !first.has(NATIONALITY)),
        Lead::Name => is_known || !(is_single && first.has(NATIONALITY)),
        Lead::Calling => {
            let is_word = verbs::can_be(first.word, BASE | THIRD | PAST | ING);
            is_known || (!is_word && first.classes == 0)
        }
    };
    is_name.then_some(Naming { name: start..stop, is_beside: lead == Lead::Calling })
}

/// What leads up to the name, and where that begins.
fn lead(tokens: &[Token<'_>], at: usize, end: usize) -> Option<(Lead, usize)> {
    let word = |place: usize| match tokens.get(place) {
        Some(token) if place < end => token.word,
        _ => "",
    };
    let is_be = |place: usize| matches!(word(place), "is" | "'s");
    let is_said = |place: usize| matches!(word(place), "called" | "named");
    let mut at = at;
    while matches!(word(at), "please" | "just" | "so" | "well") {
        at += 1;
    }
    match word(at) {
        "i" if word(at + 1) == "am" && is_said(at + 2) => Some((Lead::Name, at + 3)),
        "i" if word(at + 1) == "am" => Some((Lead::Being, at + 2)),
        "i" if word(at + 1) == "go" && word(at + 2) == "by" => Some((Lead::Calling, at + 3)),
        "call" if word(at + 1) == "me" => Some((Lead::Calling, at + 2)),
        "you" | "people" | "friends" | "everyone" | "everybody" | "they" => {
            let mut verb = at + 1;
            while matches!(
                word(verb),
                "can" | "may" | "could" | "should" | "just" | "all" | "usually"
            ) {
                verb += 1;
            }
            let is_calling = matches!(word(verb), "call" | "calls") && word(verb + 1) == "me";
            is_calling.then_some((Lead::Calling, verb + 2))
        }
        "my" => after_name(&word, at + 1).filter(|be| is_be(*be)).map(|be| (Lead::Name, be + 1)),
        "the" | "user" => {
            let user = if word(at) == "the" { at + 1 } else { at };
            if word(user) != "user" {
                return None;
            }
            if is_be(user + 1) && is_said(user + 2) {
                return Some((Lead::Name, user + 3));
            }
            let be = after_name(&word, user + 2).filter(|be| word(user + 1) == "'s" && is_be(*be));
            be.map(|be| (Lead::Name, be + 1))
        }
        _ => None,
    }
}

/// Where "full name" and the like end.
fn after_name<'t>(word: &impl Fn(usize) -> &'t str, at: usize) -> Option<usize> {
    let noun = if SORTS.contains(&word(at)) { at + 1 } else { at };
    (word(noun) == "name").then_some(noun + 1)
}
