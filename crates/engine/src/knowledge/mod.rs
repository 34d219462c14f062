//! What is known: entities, facts in time and communities, for every store.
//!
//! Derived in memory from the store's memories, as search indexes are, and from what readers found in
//! them, where there is one: no fact is stored, so what is redacted, removed or expired is gone from it, and each audience knows only what it may
//! read. Two servers that read the same memories know the same.

mod context;
mod dismiss;
mod learned;
mod list;
mod seek;
mod senses;
mod told;

pub use context::{CONTEXT_BYTES_DEFAULT, Slot, SlotContext, SlotsRequest};
pub use list::{FactsPage, FactsQuery};
pub use loci_knowledge::claim;
pub use loci_knowledge::extract;
pub use loci_knowledge::graph::{
    Community, Comparison, Dates, Entity, EntityId, Fact, FactId, Filter, Operator, Theme,
};
pub use loci_knowledge::ontology::{Label, Relation};

pub(crate) use learned::{Graphs, metadata, said};
pub(crate) use senses::Senses;
pub(crate) use told::ToldLately;

use crate::search::{Hit, Reach};
use loci_model::StoreId;

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// By everything, in measure.
    Balanced,
    /// Without repetition.
    Diverse,
    /// Only what fits well.
    Precise,
    /// Around one entity.
    Contextual,
    /// What is new.
    RecentMemory,
    /// Facts alone.
    FactsOnly,
    /// Entities alone.
    EntitiesOnly,
    /// Communities alone.
    TopicsOnly,
}

impl Strategy {
    /// All of them, as the QiForge contract lists them.
    pub const ALL: [Self; 8] = [
        Self::Balanced,
        Self::Diverse,
        Self::Precise,
        Self::Contextual,
        Self::RecentMemory,
        Self::FactsOnly,
        Self::EntitiesOnly,
        Self::TopicsOnly,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Diverse => "diverse",
            Self::Precise => "precise",
            Self::Contextual => "contextual",
            Self::RecentMemory => "recent_memory",
            Self::FactsOnly => "facts_only",
            Self::EntitiesOnly => "entities_only",
            Self::TopicsOnly => "topics_only",
        }
    }

    /// The strategy of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == name)
    }
}

/// How many of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each counts what it is named after")]
pub struct Limits {
    pub facts: usize,
    pub entities: usize,
    pub episodes: usize,
    pub communities: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { facts: 10, entities: 5, episodes: 3, communities: 2 }
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Seek {
    /// Where to look.
    pub reach: Reach,
    /// What is asked.
    pub text: String,
    /// How to answer.
    pub strategy: Strategy,
    /// How much to answer.
    pub limits: Limits,
    /// What may be answered. The date of creation is asked of episodes and entities, too.
    pub filter: Filter,
    /// What it is around; needed by [`Strategy::Contextual`].
    pub center: Option<EntityId>,
    /// Episodes are of these kinds, when there are any.
    pub kinds: Vec<String>,
}

impl Seek {
    /// A question without conditions.
    pub fn new(reach: Reach, text: impl Into<String>) -> Self {
        Self {
            reach,
            text: text.into(),
            strategy: Strategy::Balanced,
            limits: Limits::default(),
            filter: Filter::default(),
            center: None,
            kinds: Vec::new(),
        }
    }
}

/// What is known about a question, best first.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Facts, each with its store.
    pub facts: Vec<(StoreId, Fact)>,
    /// Entities, each with its store.
    pub entities: Vec<(StoreId, Entity)>,
    /// Memories.
    pub episodes: Vec<Hit>,
    /// How many of these came without content because there was enough of it.
    pub contents_left_out: usize,
    /// Communities, each with its store.
    pub communities: Vec<(StoreId, Community)>,
}
