//! What is known of stores: facts in time and entities, as lists and as answers to questions.

use super::search::MemoryView;
use super::{Native, large};
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, InStore, JsonBody, Params};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use loci_engine::knowledge::{
    Community, Comparison, Dates, Entity, EntityId, Fact, FactId, FactsQuery, Filter, Known,
    Limits, Operator, Seek, Strategy,
};
use loci_engine::search::{Hit, Reach};
use loci_model::{StoreId, Timestamp, limit};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const PAGE_DEFAULT: usize = 50;

/// Which facts or entities.
#[derive(Deserialize)]
pub(crate) struct ListParams {
    relation: Option<String>,
    label: Option<String>,
    about: Option<String>,
    memory_id: Option<String>,
    true_at: Option<String>,
    is_current: Option<bool>,
    limit: Option<usize>,
    after: Option<usize>,
}

/// A typed link between two entities, with the times it holds and the memories that say so.
#[derive(Serialize, ToSchema)]
#[schema(as = Fact)]
pub(crate) struct FactView {
    /// Always `fact`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Stays the same as long as somebody says so.
    id: String,
    /// The store it is known from.
    memory_store_id: String,
    /// One of the 37 personal edge types, such as `EmployedAt`.
    relation: &'static str,
    /// About whom: an entity.
    subject_id: String,
    /// What they are called.
    subject: String,
    /// To what: an entity.
    object_id: String,
    /// What that is called.
    object: String,
    /// All of it as a sentence.
    text: String,
    /// Whether it is said not to be so.
    is_negated: bool,
    /// From when on it is true, if anybody said.
    #[schema(format = DateTime)]
    valid_at: Option<String>,
    /// Until when it was.
    #[schema(format = DateTime)]
    invalid_at: Option<String>,
    /// When it was learned.
    #[schema(format = DateTime)]
    created_at: String,
    /// When it was learned to be over.
    #[schema(format = DateTime)]
    expired_at: Option<String>,
    /// The memories that say so.
    memory_ids: Vec<String>,
    /// How sure the reader is, up to 1.
    confidence: f32,
    /// Which rule or model read it.
    reader: String,
    /// What read it: `rules`, or the name of a model.
    extractor: String,
    /// How far that is trusted: `high` for rules, `low` for a model.
    trust: &'static str,
}

impl FactView {
    pub(super) fn of(store: StoreId, fact: Fact) -> Self {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let extractor = fact.extractor().to_owned();
        Self {
            kind: "fact",
            id: fact.id.to_string(),
            memory_store_id: store.to_string(),
            relation: fact.relation.name(),
            subject_id: fact.subject.to_string(),
            subject: fact.subject_name,
            object_id: fact.object.to_string(),
            object: fact.object_name,
            text: fact.text,
            is_negated: fact.is_negated,
            valid_at: time(fact.valid_at),
            invalid_at: time(fact.invalid_at),
            created_at: fact.created_at.to_string(),
            expired_at: time(fact.expired_at),
            memory_ids: fact.sources.iter().map(ToString::to_string).collect(),
            confidence: fact.confidence,
            extractor,
            trust: fact.trust.name(),
            reader: fact.reader,
        }
    }
}

/// Somebody or something that facts are about.
#[derive(Serialize, ToSchema)]
#[schema(as = Entity)]
pub(crate) struct EntityView {
    /// Always `entity`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Stays the same as long as it is called so.
    id: String,
    /// The store it is known from.
    memory_store_id: String,
    /// What it is called.
    name: String,
    /// What sort of thing it is, such as `Person`; may be empty.
    labels: Vec<&'static str>,
    /// What is true of it now, in a few words.
    summary: String,
    /// When it was first heard of.
    #[schema(format = DateTime)]
    created_at: String,
    /// How many facts it is an end of.
    facts: usize,
}

impl EntityView {
    fn of(store: StoreId, entity: Entity) -> Self {
        Self {
            kind: "entity",
            id: entity.id.to_string(),
            memory_store_id: store.to_string(),
            name: entity.name,
            labels: entity.labels.into_iter().map(|label| label.name()).collect(),
            summary: entity.summary,
            created_at: entity.created_at.to_string(),
            facts: entity.facts,
        }
    }
}

/// What is known of one theme about one person.
#[derive(Serialize, ToSchema)]
#[schema(as = Community)]
pub(crate) struct CommunityView {
    /// Always `community`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Which.
    id: String,
    /// The store it is known from.
    memory_store_id: String,
    /// What it is called.
    name: String,
    /// Its facts in a few words.
    summary: String,
    /// When its newest fact was learned.
    #[schema(format = DateTime)]
    created_at: String,
}

impl CommunityView {
    fn of(store: StoreId, community: Community) -> Self {
        Self {
            kind: "community",
            id: community.id.to_string(),
            memory_store_id: store.to_string(),
            name: community.name,
            summary: community.summary,
            created_at: community.created_at.to_string(),
        }
    }
}

/// A page of what is known.
#[derive(Serialize, ToSchema)]
#[schema(as = KnowledgePage)]
pub(crate) struct PageView<T: ToSchema> {
    /// What it shows.
    data: Vec<T>,
    /// How many there are in all.
    total: usize,
    /// What to send as `after` for the next page; null at the end.
    next: Option<usize>,
}

impl ListParams {
    fn query(self) -> Result<FactsQuery> {
        let names = |list: Option<String>| {
            list.map(|list| list.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>())
        };
        let (relations, labels) = (names(self.relation), names(self.label));
        let mut filter = Filter::by_names(relations.as_deref(), labels.as_deref());
        filter.true_at = self.true_at.as_deref().map(|at| time("true_at", at)).transpose()?;
        if let Some(is_current) = self.is_current {
            filter.invalid_at = ended(!is_current);
        }
        let limit = self.limit.unwrap_or(PAGE_DEFAULT);
        let memory = self.memory_id.as_deref().map(str::parse).transpose();
        let memory = memory.map_err(|_| Failure::not_found("memory"))?;
        let (about, after) = (self.about, self.after.unwrap_or(0));
        Ok(FactsQuery { filter, about, memory, after, limit })
    }
}

fn time(field: &str, text: &str) -> Result<Timestamp> {
    Timestamp::parse(text).map_err(|invalid| Failure::invalid(format!("{field}: {}", invalid.why)))
}

/// Only what is over, or only what is not.
fn ended(is_over: bool) -> Dates {
    let operator = if is_over { Operator::IsNotNull } else { Operator::IsNull };
    Dates(vec![vec![Comparison { operator, date: None }]])
}

fn next(after: usize, shown: usize, total: usize) -> Option<usize> {
    (shown > 0 && after + shown < total).then_some(after + shown)
}

/// The facts of a store, the newest first.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/facts",
    tag = "knowledge", operation_id = "facts_list",
    params(
        ("memory_store_id" = String, Path),
        ("relation" = Option<String>, Query, description = "only these edge types, with commas between them"),
        ("label" = Option<String>, Query, description = "one end has one of these entity types, with commas between them"),
        ("about" = Option<String>, Query, description = "only those about the entity of this name"),
        ("memory_id" = Option<String>, Query, description = "only what this memory says"),
        ("true_at" = Option<String>, Query, description = "only what was true at this time, as far as is known now"),
        ("is_current" = Option<bool>, Query, description = "only what is so, or only what is over"),
        ("limit" = Option<usize>, Query, description = "1 to 100; 50 when not given"),
        ("after" = Option<usize>, Query, description = "`next` of the page before"),
    ),
    responses((status = 200, body = PageView<FactView>)))]
pub(crate) async fn facts(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    Params(params): Params<ListParams>,
) -> Result<Json<PageView<FactView>>> {
    let query = params.query()?;
    let after = query.after;
    let page = native.engine.known_facts(&context, store, query).await?;
    let next = next(after, page.items.len(), page.total);
    let data = page.items.into_iter().map(|fact| FactView::of(store, fact)).collect();
    Ok(Json(PageView { data, total: page.total, next }))
}

/// The entities of a store by name.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/entities",
    tag = "knowledge", operation_id = "entities_list",
    params(
        ("memory_store_id" = String, Path),
        ("label" = Option<String>, Query, description = "only these entity types, with commas between them"),
        ("limit" = Option<usize>, Query, description = "1 to 100; 50 when not given"),
        ("after" = Option<usize>, Query, description = "`next` of the page before"),
    ),
    responses((status = 200, body = PageView<EntityView>)))]
pub(crate) async fn entities(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    Params(params): Params<ListParams>,
) -> Result<Json<PageView<EntityView>>> {
    let query = params.query()?;
    let after = query.after;
    let page = native.engine.known_entities(&context, store, query).await?;
    let next = next(after, page.items.len(), page.total);
    let data = page.items.into_iter().map(|entity| EntityView::of(store, entity)).collect();
    Ok(Json(PageView { data, total: page.total, next }))
}

/// Takes a fact away although memories say it: each of them is marked as not saying so.
#[utoipa::path(delete, path = "/v1/memory_stores/{memory_store_id}/facts/{fact_id}",
    tag = "knowledge", operation_id = "facts_dismiss",
    params(("memory_store_id" = String, Path), ("fact_id" = String, Path)),
    responses((status = 204, description = "Gone")))]
pub(crate) async fn dismiss(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    InStore(store, fact): InStore<FactId>,
) -> Result<StatusCode> {
    native.engine.dismiss_fact(&context, store, fact).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A question.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = KnowledgeRequest)]
pub(crate) struct QuestionBody {
    /// What is asked, in any words.
    #[schema(min_length = 1, max_length = 4096)]
    query: String,
    /// `balanced` (when not given), `diverse`, `precise`, `contextual`, `recent_memory`,
    /// `facts_only`, `entities_only` or `topics_only`.
    strategy: Option<String>,
    /// Only these stores; everything the caller may read when not given.
    #[schema(max_items = 64)]
    memory_store_ids: Option<Vec<String>>,
    /// How many facts, up to 50; 10 when not given.
    #[schema(maximum = 50)]
    max_facts: Option<usize>,
    /// How many entities, up to 50; 5 when not given.
    #[schema(maximum = 50)]
    max_entities: Option<usize>,
    /// How many memories, up to 50; 3 when not given.
    #[schema(maximum = 50)]
    max_episodes: Option<usize>,
    /// How many communities, up to 50; 2 when not given.
    #[schema(maximum = 50)]
    max_communities: Option<usize>,
    /// Only facts of these edge types.
    #[schema(max_items = 64)]
    relations: Option<Vec<String>>,
    /// Only entities of these types, and facts one end of which is.
    #[schema(max_items = 64)]
    labels: Option<Vec<String>>,
    /// Only what was true at this time, as far as is known now.
    #[schema(format = DateTime)]
    true_at: Option<String>,
    /// Only what is so, or only what is over; both when not given.
    is_current: Option<bool>,
    /// The entity it is around; needed by `contextual`.
    center_id: Option<String>,
}

/// A memory that fits a question.
#[derive(Serialize, ToSchema)]
#[schema(as = Episode)]
pub(crate) struct EpisodeView {
    #[serde(flatten)]
    memory: MemoryView,
    /// The part of the text that fits the question, of a memory whose store may only be searched; in
    /// place of the content.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    snippet: String,
}

impl EpisodeView {
    fn of(hit: Hit) -> Result<Self> {
        Ok(Self { memory: MemoryView::of(hit.memory)?, snippet: hit.snippet.text })
    }
}

/// What is known about a question, best first.
#[derive(Serialize, ToSchema)]
#[schema(as = Knowledge)]
pub(crate) struct KnownView {
    /// Always `knowledge`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Facts.
    facts: Vec<FactView>,
    /// Entities.
    entities: Vec<EntityView>,
    /// Memories.
    episodes: Vec<EpisodeView>,
    /// Memories that came without their content, because there was about a megabyte of it already.
    contents_left_out: usize,
    /// Communities.
    communities: Vec<CommunityView>,
}

impl QuestionBody {
    fn seek(self) -> Result<Seek> {
        let strategy = match self.strategy {
            None => Strategy::Balanced,
            Some(name) => Strategy::by_name(&name)
                .ok_or_else(|| Failure::invalid("strategy: not one of the eight"))?,
        };
        let listed = [&self.relations, &self.labels, &self.memory_store_ids];
        if listed.into_iter().flatten().any(|list| list.len() > limit::FILTER_VALUES_MAX) {
            let why = format!("lists take up to {} values", limit::FILTER_VALUES_MAX);
            return Err(Failure::invalid(why));
        }
        let reach = match self.memory_store_ids {
            None => Reach::Everywhere,
            Some(ids) => {
                let ids = ids.iter().map(|id| id.parse::<StoreId>());
                let ids: std::result::Result<Vec<_>, _> = ids.collect();
                Reach::Stores(ids.map_err(|_| Failure::not_found("memory store"))?)
            }
        };
        let center = match self.center_id {
            None => None,
            Some(id) => Some(
                EntityId::parse(&id)
                    .ok_or_else(|| Failure::invalid("center_id: not the id of an entity"))?,
            ),
        };
        let mut filter = Filter::by_names(self.relations.as_deref(), self.labels.as_deref());
        filter.true_at = self.true_at.as_deref().map(|at| time("true_at", at)).transpose()?;
        if let Some(is_current) = self.is_current {
            filter.invalid_at = ended(!is_current);
        }
        let default = Limits::default();
        let limits = Limits {
            facts: self.max_facts.unwrap_or(default.facts),
            entities: self.max_entities.unwrap_or(default.entities),
            episodes: self.max_episodes.unwrap_or(default.episodes),
            communities: self.max_communities.unwrap_or(default.communities),
        };
        Ok(Seek { strategy, limits, filter, center, ..Seek::new(reach, self.query) })
    }
}

/// Answers a question from what is known, and from the memories themselves.
#[utoipa::path(post, path = "/v1/knowledge",
    tag = "knowledge", operation_id = "knowledge",
    request_body = QuestionBody,
    responses((status = 200, body = KnownView)))]
pub(crate) async fn ask(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    JsonBody(body): JsonBody<QuestionBody>,
) -> Result<Response> {
    let seek = body.seek()?;
    let mut known = native.engine.seek(&context, &seek).await?;
    let episodes = std::mem::take(&mut known.episodes);
    known.episodes = native.engine.cut_to_snippets(&context, &seek.text, episodes).await?;
    let bytes = known.episodes.iter().map(|hit| large::weight(&hit.memory)).sum();
    let view = move || {
        let Known { facts, entities, episodes, contents_left_out, communities } = known;
        let episodes = episodes.into_iter().map(EpisodeView::of);
        Ok(KnownView {
            kind: "knowledge",
            facts: facts.into_iter().map(|(store, one)| FactView::of(store, one)).collect(),
            entities: entities.into_iter().map(|(store, one)| EntityView::of(store, one)).collect(),
            episodes: episodes.collect::<Result<_>>()?,
            contents_left_out,
            communities: communities
                .into_iter()
                .map(|(store, one)| CommunityView::of(store, one))
                .collect(),
        })
    };
    large::answer(&native, bytes, view).await
}
