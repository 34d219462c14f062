//! What facts are about in general. The six themes are the slots of a prompt's context; the facts
//! of one theme about one person, when there are a few, are a community.

use super::name::CommunityId;
use crate::ontology::Relation;
use loci_model::Timestamp;

/// One of the six things worth knowing about somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Theme {
    /// Who somebody is and where they live.
    Identity,
    /// What somebody works on, where, with whom and with what.
    Work,
    /// What somebody wants, practises, learns and has achieved.
    Goals,
    /// What somebody likes and dislikes.
    Interests,
    /// Whom somebody knows and belongs to.
    Relationships,
    /// What was going on lately, whatever it is about.
    Recent,
}

impl Theme {
    /// In the order in which a prompt tells them.
    pub const ALL: [Self; 6] = [
        Self::Identity,
        Self::Work,
        Self::Goals,
        Self::Interests,
        Self::Relationships,
        Self::Recent,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Work => "work",
            Self::Goals => "goals",
            Self::Interests => "interests",
            Self::Relationships => "relationships",
            Self::Recent => "recent",
        }
    }

    /// What a fact is about.
    pub const fn of(relation: Relation) -> Self {
        match relation {
            Relation::CurrentlyIs
            | Relation::WasPreviously
            | Relation::LivesAt
            | Relation::AlignedWith
            | Relation::ConflictsWith
            | Relation::RelatesTo
            | Relation::Causes
            | Relation::Triggers
            | Relation::ManagesVia => Self::Identity,
            Relation::EmployedAt
            | Relation::WorksOn
            | Relation::WorksWith
            | Relation::Manages
            | Relation::Uses
            | Relation::Requires
            | Relation::Blocks
            | Relation::Enables
            | Relation::PartOf
            | Relation::LocatedIn => Self::Work,
            Relation::Pursuing
            | Relation::Achieved
            | Relation::Studying
            | Relation::Practices
            | Relation::LearnedFrom
            | Relation::Motivates => Self::Goals,
            Relation::Likes
            | Relation::Dislikes
            | Relation::InterestedIn
            | Relation::Prefers
            | Relation::ExpertiseIn
            | Relation::VisitedLocation => Self::Interests,
            Relation::Knows
            | Relation::MemberOf
            | Relation::BelongsTo
            | Relation::Influences
            | Relation::Supports
            | Relation::Owns => Self::Relationships,
        }
    }
}

/// What is known of one theme about one person.
#[derive(Debug, Clone, PartialEq)]
pub struct Community {
    /// Which.
    pub id: CommunityId,
    /// What it is called.
    pub name: String,
    /// Its facts in a few words.
    pub summary: String,
    /// When its newest fact was learned.
    pub created_at: Timestamp,
}
