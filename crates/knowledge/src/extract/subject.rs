//! Whom a clause is about. "I" is the speaker, "my sister Ana" is Ana, "my uncle" is the speaker's
//! uncle, a pronoun is the only person the text has named, and whoever that leaves open is nobody.

use super::group::Person;
use super::lexicon::{
    ADVERB, AUXILIARY, COLLEAGUE, COMMON, FIRST_NAME, KIN, LANGUAGE, NOMINATIVE, OPENER, PLACE,
    PREPOSITION, PRONOUN, ROLE, TOOL, WH, noun,
};
use super::tokens::{Kind, Token};
use super::verbs::{self, BASE, ING, PAST, THIRD};
use std::ops::Range;

/// How many words a subject that is no person may have.
const THING_MAX: usize = 6;

/// Whom or what a clause is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    Speaker,
    /// Somebody with a name.
    Named(Range<usize>),
    /// "my uncle": these words, after the speaker's name.
    Kin(Range<usize>),
    /// He, she.
    Pronoun,
    /// What is no person.
    Thing(Range<usize>),
}

/// A subject, the token after it, and the form its verb takes.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) subject: Subject,
    pub(super) end: usize,
    pub(super) person: Person,
}

const KIN_ADJECTIVES: &[&str] = &[
    "best",
    "old",
    "older",
    "little",
    "younger",
    "big",
    "twin",
    "oldest",
    "youngest",
    "good",
    "close",
    "dear",
    "eldest",
    "middle",
    "new",
    "former",
    "elder",
    "childhood",
    "lovely",
    "dear",
    "beloved",
    "first",
    "second",
    "step",
    "half",
    "foster",
    "only",
    "college",
    "work",
    "old",
];

/// The first token that is neither an opener nor a phrase of time.
pub(super) fn skip_openers(tokens: &[Token<'_>], is_time: &[bool], clause: &Range<usize>) -> usize {
    let mut at = clause.start;
    while at < clause.end {
        let token = &tokens[at];
        let is_skipped = is_time[at]
            || token.kind == Kind::Mark
            || token.has(OPENER)
            || token.has(ADVERB) && !token.has(AUXILIARY);
        if !is_skipped {
            break;
        }
        at += 1;
    }
    at
}

/// The subject that begins at `at`, if a clause has one of its own.
pub(super) fn subject(tokens: &[Token<'_>], at: usize, end: usize) -> Option<Found> {
    let token = tokens.get(at).filter(|_| at < end)?;
    let found = |subject, end, person| Some(Found { subject, end, person });
    match token.word {
        "i" | "we" => return found(Subject::Speaker, at + 1, Person::Plain),
        "he" | "she" => return found(Subject::Pronoun, at + 1, Person::Third),
        "user" | "client" if is_user(tokens, at) => {
            return found(Subject::Speaker, at + 1, Person::Third);
        }
        "the"
            if tokens.get(at + 1).is_some_and(|next| next.is("user"))
                && is_user(tokens, at + 1) =>
        {
            return found(Subject::Speaker, at + 2, Person::Third);
        }
        "my" | "our" => {
            if let Some(kin) = kin(tokens, at, end) {
                return Some(kin);
            }
        }
        _ => {}
    }
    named(tokens, at, end).or_else(|| thing(tokens, at, end))
}

fn is_user(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|next| {
        !next.is("'s")
            && (next.has(AUXILIARY | ADVERB)
                || next.is_one_of(&["no", "never"])
                || verbs::can_be(next.word, THIRD | PAST))
            || next.is("'s")
                && tokens.get(at + 2).is_some_and(|after| verbs::can_be(after.word, ING))
    })
}

/// "my older sister Ana", "my uncle".
fn kin(tokens: &[Token<'_>], at: usize, end: usize) -> Option<Found> {
    let mut place = at + 1;
    while place < end && place < at + 3 && tokens[place].is_one_of(KIN_ADJECTIVES) {
        place += 1;
    }
    let relative = tokens.get(place).filter(|_| place < end)?;
    let classes = noun(relative.word);
    if classes & (KIN | COLLEAGUE) == 0 {
        return None;
    }
    let is_plural = relative.word.ends_with('s') && !relative.word.ends_with("ss");
    let mut next = place + 1;
    // "my sister's husband" is nobody we know how to call; "my son-in-law's" neither.
    if tokens.get(next).is_some_and(|token| token.is("'s")) && next < end {
        let is_verb = tokens.get(next + 1).is_some_and(|after| {
            after.has(AUXILIARY | ADVERB)
                || after.is_one_of(&["a", "an", "in", "at", "not"])
                || verbs::can_be(after.word, ING)
        });
        if !is_verb {
            return None;
        }
    }
    // A company of several is nobody in particular.
    if tokens.get(next).is_some_and(|token| token.is_one_of(&["and", "or"])) && next < end {
        return None;
    }
    let has_comma = tokens.get(next).is_some_and(|token| token.is(",")) && next + 1 < end;
    let name_at = if has_comma { next + 1 } else { next };
    if let Some(name) = name(tokens, name_at, end).filter(|_| !is_plural) {
        next = name.end;
        if has_comma && tokens.get(next).is_some_and(|token| token.is(",")) {
            next += 1;
        }
        return Some(Found { subject: Subject::Named(name), end: next, person: Person::Third });
    }
    if has_comma {
        return None;
    }
    let person = if is_plural { Person::Plain } else { Person::Third };
    Some(Found { subject: Subject::Kin(at + 1..place + 1), end: next, person })
}

/// The name that begins at `at`: words with capitals, or one that is known as a name.
pub(super) fn name(tokens: &[Token<'_>], at: usize, end: usize) -> Option<Range<usize>> {
    let mut last = at;
    while last < end && last < at + 3 {
        let token = &tokens[last];
        let is_name = token.kind == Kind::Word
            && !token.has(NOMINATIVE | AUXILIARY | PREPOSITION | PRONOUN)
            && (token.is_capital || last == at && token.has(FIRST_NAME) && !token.has(ADVERB))
            && (last == at || tokens[last - 1].is_capital);
        if !is_name {
            break;
        }
        last += 1;
    }
    (last > at).then_some(at..last)
}

/// A person by name alone: only names that are known as such, since most words can begin a sentence.
fn named(tokens: &[Token<'_>], at: usize, end: usize) -> Option<Found> {
    let first = &tokens[at];
    if !first.has(FIRST_NAME) || first.has(PLACE | LANGUAGE | TOOL) && !first.is_capital {
        return None;
    }
    if !first.is_capital && verbs::can_be(first.word, BASE) {
        return None;
    }
    let name = name(tokens, at, end)?;
    let next = tokens.get(name.end).filter(|_| name.end < end)?;
    if next.is_one_of(&["and", "or", ",", "'s"]) {
        let is_verb = next.is("'s")
            && tokens.get(name.end + 1).is_some_and(|after| {
                after.is_one_of(&["a", "an", "in", "at", "not", "been", "my"])
                    || verbs::can_be(after.word, ING)
            });
        if !is_verb {
            return None;
        }
    }
    Some(Found { end: name.end, subject: Subject::Named(name), person: Person::Third })
}

/// A noun phrase up to its verb.
fn thing(tokens: &[Token<'_>], at: usize, end: usize) -> Option<Found> {
    let first = &tokens[at];
    if first.kind != Kind::Word && first.kind != Kind::Quoted
        || first.has(NOMINATIVE | WH | AUXILIARY | COMMON | PREPOSITION)
        || first.has(PRONOUN) && !first.is_one_of(&["this", "that", "these"])
        || first
            .is_one_of(&["his", "her", "their", "your", "its", "let", "please", "to", "and", "no"])
    {
        return None;
    }
    let start = if first.is_one_of(&["my", "our", "the", "a", "an", "this", "that", "these"]) {
        at + 1
    } else {
        at
    };
    let most = end.min(start + THING_MAX + 1);
    let is_verb = |place: usize, forms| verbs::can_be(tokens[place].word, forms);
    let is_part = |place: usize| {
        matches!(tokens[place].kind, Kind::Word | Kind::Number | Kind::Quoted)
            && !tokens[place].has(NOMINATIVE)
            && !tokens[place].is_one_of(&["and", "or", "'s", "to", "who"])
    };
    let finite = (start + 1..most).take_while(|place| is_part(*place - 1)).find(|place| {
        tokens[*place].has(AUXILIARY) && !tokens[*place].is("'s") || is_verb(*place, THIRD | PAST)
    });
    let verb = finite.or_else(|| {
        (start + 1..most)
            .take_while(|place| is_part(*place - 1))
            .find(|place| is_verb(*place, BASE) && tokens[*place - 1].word.ends_with('s'))
    })?;
    let last = (start..verb).rev().find(|place| !tokens[*place].has(ADVERB))?;
    if noun(tokens[last].word) & (KIN | COLLEAGUE | ROLE) != 0 && tokens[last].is_capital {
        return None;
    }
    let is_plural = tokens[last].word.ends_with('s') && is_verb(verb, BASE);
    let person = if is_plural { Person::Plain } else { Person::Third };
    Some(Found { subject: Subject::Thing(start..last + 1), end: verb, person })
}
