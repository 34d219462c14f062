//! Looks in the places that a query may reach: the user's own, and what oracles know. Each is searched
//! as whoever may read it, so that nothing else can be in an answer.

use super::access::Access;
use super::dates::Dates;
use super::episode::KIND;
use super::query::{KnowledgeLevel, Query, Strategy};
use super::render::{EpisodeBody, Found};
use loci_engine::search::{Reach, Recency, SearchFilter, SearchRequest, Signals, Wanted};
use loci_engine::{Context, Engine, Error, Purpose};
use loci_model::{Memory, StoreId, View, limit};

/// How far back what is recent reaches.
const RECENT_SECS: i64 = 90 * 24 * 60 * 60;
/// In which a conversation becomes half as recent.
const RECENT_HALF_LIFE_SECS: f32 = 14.0 * 24.0 * 60.0 * 60.0;

/// Finds what a query asks for.
pub(super) async fn find(engine: &Engine, access: &Access, query: &Query) -> Result<Found, Error> {
    let mut query = query.clone();
    if query.strategy == Strategy::RecentMemory && query.filters.created_at.is_empty() {
        let since = engine.seams().now().plus_secs(-RECENT_SECS);
        query.filters.created_at = Dates::since(since);
    }
    let mut found = Found {
        strategy_used: query.strategy_name.to_owned(),
        query: query.text.clone(),
        ..Found::default()
    };
    if query.level != KnowledgeLevel::Oracle
        && let Some(store) = access.own(engine, Purpose::Search).await?
    {
        look(engine, &access.context, store, &query, &mut found).await?;
    }
    if query.level != KnowledgeLevel::User {
        for oracle in access.oracles(query.oracles.as_deref()) {
            let Some(knowledge) = access.knowledge(engine, oracle).await? else { continue };
            let store = knowledge.store(engine, Purpose::Search).await?;
            if let Some(store) = store {
                look(engine, &knowledge.context, store, &query, &mut found).await?;
            }
        }
    }
    Ok(found)
}

/// Looks in one place and adds what it finds.
async fn look(
    engine: &Engine,
    context: &Context,
    store: StoreId,
    query: &Query,
    found: &mut Found,
) -> Result<(), Error> {
    let wants_episodes = !matches!(
        query.strategy,
        Strategy::FactsOnly | Strategy::EntitiesOnly | Strategy::TopicsOnly
    );
    if wants_episodes && query.sizes.episodes > 0 {
        let request = SearchRequest {
            reach: Reach::Store(store),
            wanted: wanted(query),
            view: View::Full,
            explain: false,
            snippet_chars: 0,
            as_of: None,
            wait: None,
        };
        let answer = engine.search(context, &request).await?;
        let memories = answer.hits.iter().map(|hit| &hit.memory);
        let passing = memories.filter(|memory| passes(query, memory)).take(query.sizes.episodes);
        found.episodes.extend(passing.filter_map(EpisodeBody::of));
    }
    Ok(())
}

fn wanted(query: &Query) -> Wanted {
    let filters = &query.filters;
    // What only a look at each memory can tell needs more of them to look at.
    let is_filtered = !filters.created_at.is_empty()
        || !filters.valid_at.is_empty()
        || !filters.invalid_at.is_empty()
        || !filters.expired_at.is_empty();
    let count = if is_filtered { limit::SEARCH_RESULTS_MAX } else { query.sizes.episodes };
    let (created, valid) = (filters.created_at.span(), filters.valid_at.span());
    let mut span = created;
    span.since = span.since.max(valid.since);
    span.until = match (span.until, valid.until) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    let is_recent = query.strategy == Strategy::RecentMemory;
    let recency = Recency { weight: 0.3, half_life_secs: RECENT_HALF_LIFE_SECS };
    Wanted {
        filter: SearchFilter {
            kinds: vec![KIND.to_owned()],
            created: span,
            ..SearchFilter::default()
        },
        signals: Signals { recency: is_recent.then_some(recency), ..Signals::default() },
        diversity: if query.strategy == Strategy::Diverse { 0.5 } else { 0.0 },
        ..Wanted::new(query.text.clone(), count)
    }
}

/// Whether the dates of an episode pass: it holds from when it was told, and without an end.
fn passes(query: &Query, memory: &Memory) -> bool {
    let filters = &query.filters;
    filters.created_at.holds(Some(memory.created_at))
        && filters.valid_at.holds(Some(memory.created_at))
        && filters.invalid_at.holds(None)
        && filters.expired_at.holds(None)
}
