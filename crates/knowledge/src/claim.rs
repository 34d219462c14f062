//! What one text claims: the hand-over between whoever reads texts and whoever puts claims together.

use crate::ontology::{Label, Relation};
use loci_model::Timestamp;
use std::ops::Range;

/// A text somebody said at some time.
#[derive(Debug, Clone, Copy)]
pub struct Utterance<'a> {
    /// Who "I" is in it.
    pub speaker: &'a str,
    /// When it was said; what "yesterday" is counted from.
    pub at: Timestamp,
    /// What was said.
    pub text: &'a str,
}

/// One end of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// What it is called.
    pub name: String,
    /// What sort of thing it is, where the text makes that plain.
    pub label: Option<Label>,
}

/// Of a relation that holds several things at once, which of them this is about: a new value closes
/// an older one of the same aspect only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aspect {
    /// What somebody is called.
    Name,
    /// What somebody does for a living.
    Role,
    /// How old somebody is.
    Age,
    /// What somebody eats and does not eat.
    Diet,
    /// Whether somebody is married and the like.
    Relationship,
    /// Anything else, of which there may be several.
    Other,
}

/// How far a reader of texts is trusted; more is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// A model read it, and what it said was held to the text.
    Model,
    /// Rules read it.
    Rules,
}

impl Trust {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Model => "low",
            Self::Rules => "high",
        }
    }
}

/// What a sentence says of two things.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// About whom.
    pub subject: Mention,
    /// How they are related.
    pub relation: Relation,
    /// To what.
    pub object: Mention,
    /// Whether it is said not to be so.
    pub is_negated: bool,
    /// From when on it is so, if the text says.
    pub valid_at: Option<Timestamp>,
    /// Until when it was so, if it has ended; the time of the text when it does not say.
    pub invalid_at: Option<Timestamp>,
    /// Which of several things the relation is about.
    pub aspect: Aspect,
    /// Whether it is said to hold beside what was so before ("also", "part-time").
    pub is_additional: bool,
    /// Where in the text it is said, in bytes.
    pub span: Range<usize>,
    /// How sure the reader is, up to 1.
    pub confidence: f32,
    /// Which rule or model read it.
    pub reader: String,
    /// How far that one is trusted.
    pub trust: Trust,
}
