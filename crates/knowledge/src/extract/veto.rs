//! The guards of the rules, for claims that others read: what rules leave alone because it is
//! hedged, asked, imagined or somebody else's words is left alone whoever read it. And the calendar:
//! a phrase of time means what it means to the rules, or nothing.

use super::dates::{Role, phrases};
use super::days::{day_of, midnight};
use super::lexicon::{ADVERB, AUXILIARY, DETERMINER, NOMINATIVE, PREPOSITION, WH};
use super::read::looks_ahead;
use super::read_text;
use super::tokens::tokens;
use crate::claim::Utterance;
use loci_model::Timestamp;
use std::ops::Range;

/// What rules know of a text that nobody says as a fact.
#[derive(Debug)]
pub(crate) struct Guards {
    unsaid: Vec<Range<usize>>,
    quoted: Vec<Range<usize>>,
}

impl Guards {
    pub(crate) fn of(utterance: Utterance<'_>) -> Self {
        let read = read_text(utterance);
        Self { unsaid: read.unsaid, quoted: read.quoted }
    }

    /// Whether something that is said there is no fact: a part of it is left alone by the rules, or
    /// all of it is a quotation.
    pub(crate) fn forbid(&self, span: &Range<usize>) -> bool {
        let meets = |other: &Range<usize>| other.start < span.end && span.start < other.end;
        let holds = |other: &Range<usize>| other.start <= span.start && span.end <= other.end;
        self.unsaid.iter().any(meets) || self.quoted.iter().any(holds)
    }
}

/// Which end of an interval a phrase tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Begin,
    End,
}

/// The moment that a phrase of time means, said at `at` in `sentence`. Nothing, if it is no phrase
/// of time from its first word to its last, or does not tell this end.
pub(crate) fn day_in(
    phrase: &str,
    sentence: &str,
    at: Timestamp,
    bound: Bound,
) -> Option<Timestamp> {
    let today = day_of(at);
    let (lowered, around) = (phrase.to_ascii_lowercase(), sentence.to_ascii_lowercase());
    let tokens_of = tokens(phrase, &lowered);
    let is_ahead = looks_ahead(&tokens(sentence, &around));
    let found = phrases(&tokens_of, today, is_ahead);
    let [only] = found.as_slice() else { return None };
    let is_all = only.tokens.end == tokens_of.len()
        && tokens_of[..only.tokens.start].iter().all(|token| token.has(PREPOSITION));
    let days = only.days.filter(|_| is_all)?;
    match (bound, only.role) {
        (_, Role::Often) | (Bound::Begin, Role::Until) | (Bound::End, Role::For) => None,
        (Bound::Begin, _) | (Bound::End, Role::Until | Role::Since) => midnight(days.first),
        (Bound::End, Role::Between) => midnight(days.end),
        // What was over at some time in a year was over by its end, and by now.
        (Bound::End, Role::On) => midnight(days.end.min(today.tomorrow().unwrap_or(days.end))),
    }
}

/// Whether a word only holds others together, so that it is nobody's name.
pub(crate) fn is_function_word(word: &str) -> bool {
    let lowered = word.to_ascii_lowercase();
    let classes = NOMINATIVE | DETERMINER | AUXILIARY | PREPOSITION | WH | ADVERB;
    tokens(word, &lowered).iter().all(|token| token.has(classes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: i64 = 1_700_000_000_000_000;

    fn guards(text: &str) -> Guards {
        Guards::of(Utterance { speaker: "User", at: Timestamp::from_micros(AT), text })
    }

    #[test]
    fn what_rules_leave_alone_is_left_alone() {
        let forbids = |text: &str, quote: &str| {
            let start = text.find(quote).unwrap();
            guards(text).forbid(&(start..start + quote.len()))
        };
        assert!(!forbids("I moved to Rome. It rains.", "I moved to Rome"));
        assert!(!forbids("Ich wohne in Rom.", "Ich wohne in Rom"));
        assert!(forbids("Should I move to Rome?", "move to Rome"));
        assert!(forbids("Maybe I live in Rome.", "I live in Rome"));
        assert!(forbids("If I live in Rome, I eat pasta.", "I live in Rome"));
        assert!(forbids("> I live in Rome\nNo.", "I live in Rome"));
        assert!(forbids("She wrote \"I live in Rome\" there.", "I live in Rome"));
        assert!(forbids("```\nI live in Rome\n```", "I live in Rome"));
        let long = format!("{} I live in Rome.", "word ".repeat(300));
        assert!(forbids(&long, "I live in Rome"), "a sentence that nobody said");
    }

    #[test]
    fn a_phrase_of_time_is_all_phrase() {
        let at = Timestamp::from_micros(AT);
        let day = |phrase: &str, bound| {
            day_in(phrase, phrase, at, bound).map(|at| at.to_string()[..10].to_owned())
        };
        assert_eq!(day("since March 2020", Bound::Begin).as_deref(), Some("2020-03-01"));
        assert_eq!(day("in 2019", Bound::Begin).as_deref(), Some("2019-01-01"));
        assert_eq!(day("in 2019", Bound::End).as_deref(), Some("2020-01-01"));
        assert_eq!(day("until 2019", Bound::End).as_deref(), Some("2019-01-01"));
        assert_eq!(day("yesterday", Bound::Begin).as_deref(), Some("2023-11-13"));
        for phrase in ["", "soon", "I moved in 2019", "2019 and 2020", "every Monday", "x"] {
            assert_eq!(day(phrase, Bound::Begin), None, "{phrase}");
        }
    }
}
