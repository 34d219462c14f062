//! What was found, as clients read it. Every list is there even when it is empty, because clients read
//! their lengths without looking.

use super::episode;
use loci_engine::knowledge::{Community, Entity, Fact};
use loci_model::{Memory, StoreId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// The answer to one query.
#[derive(Serialize, ToSchema, Debug, Default)]
#[schema(as = QiforgeFound)]
pub(super) struct Found {
    pub(super) strategy_used: String,
    pub(super) query: String,
    pub(super) total_results: Totals,
    pub(super) facts: Vec<FactBody>,
    pub(super) entities: Vec<EntityBody>,
    pub(super) episodes: Vec<EpisodeBody>,
    pub(super) communities: Vec<CommunityBody>,
}

/// How much was found of each sort.
#[derive(Serialize, ToSchema, Debug, Default)]
#[schema(as = QiforgeTotals)]
pub(super) struct Totals {
    facts: usize,
    entities: usize,
    episodes: usize,
    communities: usize,
}

/// Something known, with the time it holds for.
#[derive(Serialize, ToSchema, Debug)]
#[schema(as = QiforgeFact)]
pub(super) struct FactBody {
    pub(super) uuid: String,
    /// The relation.
    pub(super) name: String,
    pub(super) fact: String,
    pub(super) source_node_uuid: String,
    pub(super) target_node_uuid: String,
    pub(super) created_at: String,
    pub(super) valid_at: Option<String>,
    pub(super) invalid_at: Option<String>,
    pub(super) expired_at: Option<String>,
}

/// Somebody or something that facts are about.
#[derive(Serialize, ToSchema, Debug)]
#[schema(as = QiforgeEntity)]
pub(super) struct EntityBody {
    pub(super) uuid: String,
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) labels: Vec<String>,
    pub(super) group_id: String,
    pub(super) created_at: String,
}

/// What was said.
#[derive(Serialize, ToSchema, Debug)]
#[schema(as = QiforgeEpisode)]
pub(super) struct EpisodeBody {
    pub(super) uuid: String,
    pub(super) name: String,
    pub(super) content: String,
    pub(super) source: String,
    pub(super) source_description: String,
    pub(super) created_at: String,
    pub(super) valid_at: String,
    pub(super) group_id: String,
}

/// Entities that belong together.
#[derive(Serialize, ToSchema, Debug)]
#[schema(as = QiforgeCommunity)]
pub(super) struct CommunityBody {
    pub(super) uuid: String,
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) created_at: Option<String>,
}

impl FactBody {
    pub(super) fn of(fact: Fact) -> Self {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Self {
            uuid: fact.id.to_string(),
            name: fact.relation.name().to_owned(),
            source_node_uuid: fact.subject.to_string(),
            target_node_uuid: fact.object.to_string(),
            created_at: fact.created_at.to_string(),
            valid_at: time(fact.valid_at),
            invalid_at: time(fact.invalid_at),
            expired_at: time(fact.expired_at),
            fact: fact.text,
        }
    }
}

impl EntityBody {
    pub(super) fn of((store, entity): (StoreId, Entity)) -> Self {
        // Everything there is has this label, as clients know it.
        let labels = std::iter::once("Entity").chain(entity.labels.iter().map(|one| one.name()));
        Self {
            uuid: entity.id.to_string(),
            labels: labels.map(str::to_owned).collect(),
            group_id: store.to_string(),
            created_at: entity.created_at.to_string(),
            name: entity.name,
            summary: entity.summary,
        }
    }
}

impl CommunityBody {
    pub(super) fn of(community: Community) -> Self {
        Self {
            uuid: community.id.to_string(),
            name: community.name,
            summary: community.summary,
            created_at: Some(community.created_at.to_string()),
        }
    }
}

impl EpisodeBody {
    /// The episode that a memory, loaded with its content, is; none if that is sealed.
    pub(super) fn of(memory: &Memory) -> Option<Self> {
        let created_at = memory.created_at.to_string();
        Some(Self {
            uuid: episode::uuid(memory),
            name: episode::name(memory).to_owned(),
            content: memory.content.as_ref()?.text()?.to_owned(),
            source: episode::told(memory, "source").unwrap_or_else(|| "text".to_owned()),
            source_description: episode::told(memory, "source_description").unwrap_or_default(),
            valid_at: created_at.clone(),
            created_at,
            group_id: memory.store.to_string(),
        })
    }
}

impl Found {
    /// Bytes of what was said that was found, and of the facts about it, about.
    pub(super) fn bytes(&self) -> usize {
        let episodes: usize = self.episodes.iter().map(|episode| episode.content.len()).sum();
        episodes + (self.facts.len() + self.entities.len() + self.communities.len()) * 512
    }

    /// Counts what is there, after cutting what makes the answer too large: contents beyond so many
    /// bytes altogether.
    pub(super) fn counted(mut self, content_bytes_max: usize) -> Self {
        let mut left = content_bytes_max;
        for episode in &mut self.episodes {
            if episode.content.len() > left {
                let cut = episode.content.floor_char_boundary(left);
                episode.content.truncate(cut);
                episode.content.push('…');
            }
            left = left.saturating_sub(episode.content.len());
        }
        self.total_results = Totals {
            facts: self.facts.len(),
            entities: self.entities.len(),
            episodes: self.episodes.len(),
            communities: self.communities.len(),
        };
        self
    }
}
