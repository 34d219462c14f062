//! The table of frames (`frames.txt`), read once: which words after a verb say what of its subject.
//! What a sentence can say is data; the code only knows how to compare.

use super::kinds::Wanted;
use super::verbs::{self, Lemma};
use crate::ontology::Relation;
use std::sync::OnceLock;

/// Whom a frame can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Person,
    Thing,
    Either,
}

/// How what a frame says goes on in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    /// Goes on; in the past it has ended.
    Life,
    /// The same of what somebody is; ended it is `WasPreviously`.
    Role,
    /// Goes on; the past alone says nothing.
    State,
    /// Goes on; denied it is `Dislikes`.
    Taste,
    /// Goes on if it is going on at the moment.
    Progressive,
    /// Goes on if it is said how often.
    Often,
    /// Begins then.
    Begin,
    /// Ends then.
    End,
    /// Happened.
    Feat,
    /// Happened at some time, said in the perfect.
    Been,
    /// Went on, and has ended.
    Past,
    /// Is so, in whatever tense.
    Fact,
}

/// A word of a frame.
#[derive(Debug)]
pub(super) enum Element {
    /// One of these.
    Literal(Vec<&'static str>),
    /// One of these or nothing.
    Optional(Vec<&'static str>),
    /// A few words up to the next literal.
    Any,
    /// The same, about something that weighs on somebody.
    Burden,
}

/// What may follow the object.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) prepositions: Vec<&'static str>,
    pub(super) wanted: Wanted,
    pub(super) relation: Relation,
    pub(super) course: Course,
}

/// One line of the table.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) who: Who,
    pub(super) elements: Vec<Element>,
    pub(super) wanted: Wanted,
    /// Words put before the object's own.
    pub(super) prefix: &'static str,
    /// What the object is, if its words are not asked.
    pub(super) constant: Option<String>,
    pub(super) relation: Relation,
    /// Whether the speaker is the subject and the subject the object.
    pub(super) is_turned: bool,
    pub(super) course: Course,
    pub(super) tails: Vec<Tail>,
    /// The rule a claim names: the verb and its line in the table.
    pub(super) rule: String,
}

static TABLE: &str = include_str!("frames.txt");

/// The frames of a verb, the special ones first.
pub(super) fn of(lemma: Lemma) -> &'static [Frame] {
    static READ: OnceLock<Vec<Vec<Frame>>> = OnceLock::new();
    let all = READ.get_or_init(|| {
        let mut all: Vec<Vec<Frame>> = Vec::new();
        all.resize_with(verbs::count(), Vec::new);
        for (number, line) in TABLE.lines().enumerate() {
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            let (lemma, frame) =
                read(line, number + 1).unwrap_or_else(|| panic!("frames.txt: {line}"));
            all[usize::from(lemma)].push(frame);
        }
        all
    });
    all.get(usize::from(lemma)).map_or(&[], Vec::as_slice)
}

fn read(line: &'static str, number: usize) -> Option<(Lemma, Frame)> {
    let columns: Vec<&'static str> = line.split('|').collect();
    let [who, verb, words, object, relation, course, tails] = columns.as_slice() else {
        return None;
    };
    let who = match *who {
        "p" => Who::Person,
        "t" => Who::Thing,
        "a" => Who::Either,
        _ => return None,
    };
    let elements = words.split_whitespace().map(element).collect();
    let (prefix, object) = object.split_once('+').unwrap_or(("", object));
    let constant = object.strip_prefix('=').map(|words| words.replace('_', " "));
    let wanted = if constant.is_some() { Wanted::Rest } else { Wanted::by_name(object)? };
    let (relation, is_turned) = match relation.strip_suffix('<') {
        Some(relation) => (relation, true),
        None => (*relation, false),
    };
    let frame = Frame {
        who,
        elements,
        wanted,
        prefix,
        constant,
        relation: Relation::by_name(relation)?,
        is_turned,
        course: Course::by_name(course)?,
        tails: tails
            .split(';')
            .filter(|tail| !tail.trim().is_empty())
            .map(tail)
            .collect::<Option<_>>()?,
        rule: format!("rules:{verb}.{number}"),
    };
    Some((verbs::lemma(verb)?, frame))
}

fn element(word: &'static str) -> Element {
    match (word, word.strip_prefix('?')) {
        ("*any", _) => Element::Any,
        ("*stress", _) => Element::Burden,
        (_, Some(words)) => Element::Optional(words.split('/').collect()),
        (_, None) => Element::Literal(word.split('/').collect()),
    }
}

fn tail(text: &'static str) -> Option<Tail> {
    let mut parts = text.split_whitespace();
    Some(Tail {
        prepositions: parts.next()?.split(',').collect(),
        wanted: Wanted::by_name(parts.next()?)?,
        relation: Relation::by_name(parts.next()?)?,
        course: Course::by_name(parts.next()?)?,
    })
}

impl Course {
    fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "life" => Self::Life,
            "role" => Self::Role,
            "state" => Self::State,
            "taste" => Self::Taste,
            "progressive" => Self::Progressive,
            "often" => Self::Often,
            "begin" => Self::Begin,
            "end" => Self::End,
            "feat" => Self::Feat,
            "been" => Self::Been,
            "past" => Self::Past,
            "fact" => Self::Fact,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_understood() {
        let mut count = 0;
        for (number, line) in TABLE.lines().enumerate() {
            if !line.starts_with('#') && !line.is_empty() {
                assert!(read(line, number).is_some(), "line {}: {line}", number + 1);
                count += 1;
            }
        }
        assert!(count > 200);
    }

    #[test]
    fn there_are_frames_for_nearly_every_relation() {
        let mut named: Vec<Relation> = Vec::new();
        for lemma in 0..verbs::count() {
            let lemma = Lemma::try_from(lemma).unwrap();
            for frame in of(lemma) {
                named.push(frame.relation);
                named.extend(frame.tails.iter().map(|tail| tail.relation));
            }
        }
        for relation in Relation::ALL {
            assert!(named.contains(relation), "no frame says {}", relation.name());
        }
    }
}
