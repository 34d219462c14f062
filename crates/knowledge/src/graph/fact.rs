//! Facts, as they are shown.

use super::name::{EntityId, FactId, key};
use super::phrase::{Parts, sentence};
use super::{FactRef, Graph, Part};
use crate::claim::{Aspect, Trust};
use crate::ontology::Relation;
use loci_model::{MemoryId, Timestamp};

/// A typed link between two entities, with the times it holds and the memories that say so.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Which.
    pub id: FactId,
    /// How they are related.
    pub relation: Relation,
    /// About whom.
    pub subject: EntityId,
    /// What they are called.
    pub subject_name: String,
    /// To what.
    pub object: EntityId,
    /// What that is called.
    pub object_name: String,
    /// All of it as a sentence.
    pub text: String,
    /// Whether it is said not to be so.
    pub is_negated: bool,
    /// From when on it is true, if anybody said.
    pub valid_at: Option<Timestamp>,
    /// Until when it was.
    pub invalid_at: Option<Timestamp>,
    /// When it was learned.
    pub created_at: Timestamp,
    /// When it was learned to be over.
    pub expired_at: Option<Timestamp>,
    /// The memories that say so.
    pub sources: Vec<MemoryId>,
    /// How sure the reader is, up to 1.
    pub confidence: f32,
    /// Which rule or model read it.
    pub reader: String,
    /// How far that one is trusted.
    pub trust: Trust,
}

impl Fact {
    /// What read it: `rules`, or the name of a model.
    pub fn extractor(&self) -> &str {
        match self.trust {
            Trust::Rules => "rules",
            Trust::Model => &self.reader,
        }
    }

    /// What a memory is marked with so that it no longer says this.
    pub fn mark(&self) -> u64 {
        mark(&key(&self.subject_name), self.relation, &key(&self.object_name), self.is_negated)
    }
}

/// The same of a claim whose names are keys already.
pub(super) fn mark(subject: &str, relation: Relation, object: &str, is_negated: bool) -> u64 {
    let negation = if is_negated { "not" } else { "" };
    let parts = [subject, relation.name(), object, negation];
    parts.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, part| {
        part.bytes()
            .chain([0])
            .fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    })
}

impl Graph {
    /// A fact, as it is shown.
    pub(super) fn show(&self, at: FactRef<'_>) -> Fact {
        let fact = at.fact;
        let rows = &self.entities.rows;
        let (subject, object) = (&rows[at.matter.subject as usize], &rows[fact.object as usize]);
        let negation = [u8::from(fact.is_negated)];
        let ordinal = fact.ordinal.to_be_bytes();
        let parts: [&[u8]; 5] = [
            subject.key.as_bytes(),
            fact.relation.name().as_bytes(),
            object.key.as_bytes(),
            &negation,
            &ordinal,
        ];
        Fact {
            id: FactId::of(self.store, &parts),
            relation: fact.relation,
            subject: self.entity_id(at.matter.subject),
            subject_name: subject.name().to_owned(),
            object: self.entity_id(fact.object),
            object_name: object.name().to_owned(),
            text: self.sentence(at),
            is_negated: fact.is_negated,
            valid_at: fact.valid_at,
            invalid_at: fact.invalid_at,
            created_at: fact.created_at,
            expired_at: fact.expired_at,
            sources: fact.sources.clone(),
            confidence: fact.confidence,
            reader: fact.reader.to_string(),
            trust: fact.trust,
        }
    }

    pub(super) fn sentence(&self, at: FactRef<'_>) -> String {
        let rows = &self.entities.rows;
        let aspect: Aspect = match at.matter.part {
            Part::One(aspect) | Part::Of(_, aspect) => aspect,
        };
        sentence(&Parts {
            subject: rows[at.matter.subject as usize].name(),
            relation: at.fact.relation,
            object: rows[at.fact.object as usize].name(),
            aspect,
            is_negated: at.fact.is_negated,
            is_over: at.fact.invalid_at.is_some(),
        })
    }
}
