//! `action=stores` and `action=search`: which stores an agent has here and now ([`crate::reach`]),
//! and what is found in them.

use super::call::{Answer, Call};
use super::error::Problem;
use super::place::Place;
use super::render::{EntriesBody, EntryBody, Writers, json};
use crate::reach::{self, Reachable, level_name};
use crate::size;
use axum::http::{HeaderName, HeaderValue};
use loci_engine::search::{Reach, SearchAnswer, SearchRequest, Wanted};
use loci_engine::{Context, Purpose};
use loci_model::{Audience, StoreId, View, limit};
use serde::Serialize;
use utoipa::ToSchema;

/// Results of one search.
const FOUND_MAX: usize = 50;
/// How many stores a search left out because they were searched too often.
const LEFT_OUT: HeaderName = HeaderName::from_static("loci-stores-left-out");

/// The stores an agent can reach.
#[derive(Serialize, ToSchema)]
#[schema(as = RobutlerStores)]
pub(super) struct StoresBody {
    stores: Vec<StoreBody>,
}

/// What a request without a key is answered with.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = RobutlerFound)]
#[expect(
    dead_code,
    reason = "describes the answers of three functions, each of which writes its own"
)]
pub(super) enum FoundBody<'a> {
    /// Of a list or a search.
    Entries(EntriesBody<'a>),
    /// Of `action=stores`.
    Stores(StoresBody),
}

/// A store, how much of it, and why.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RobutlerStore)]
pub(super) struct StoreBody {
    /// The id of whose home it is, or its own.
    store_id: String,
    /// `search`, `read` or `readwrite`.
    level: &'static str,
    /// `self`, `grant`, `chat` or `user`.
    source: &'static str,
}

/// Answers with the stores.
pub(super) async fn stores(call: &Call) -> Answer {
    let context = call.acting().await?;
    let stores = reachable(call, &context).await?.into_iter().map(|one| StoreBody {
        store_id: one.name,
        level: level_name(one.level),
        source: one.source.name(),
    });
    Ok(json(&StoresBody { stores: stores.collect() }))
}

/// Every store that counts for this request, the agent's own first.
async fn reachable(call: &Call, context: &Context) -> Result<Vec<Reachable>, Problem> {
    let (chat, user) = (call.id("chatId")?, call.id("userId")?);
    Ok(reach::reachable(&call.engine, context, chat.as_deref(), user.as_deref()).await?)
}

/// Answers with what a query finds in the store that is named, or else in all that can be reached.
/// What is not meant for models is never found.
pub(super) async fn search(call: &Call) -> Answer {
    let query = call.query();
    let text = query.get("q")?.unwrap_or_default();
    if text.trim().is_empty() {
        return Err(Problem::invalid("q is needed: what to search for"));
    }
    let limit = match query.get("limit")?.map(|limit| limit.parse::<usize>()) {
        None => FOUND_MAX,
        Some(Ok(limit)) if limit > 0 => limit.min(FOUND_MAX),
        Some(_) => return Err(Problem::invalid("limit must be a positive number")),
    };
    let mut context = call.acting().await?;
    context.caller.audience = Audience::Model;
    let wanted = Wanted::new(text, limit);
    let is_named = call.text("store")?.is_some();
    let names: Vec<(StoreId, String)> = match is_named {
        true => {
            let Place { store, name } = Place::of(call, &context, Purpose::Search).await?;
            store.map(|store| (store, name)).into_iter().collect()
        }
        false => {
            let stores = reachable(call, &context).await?.into_iter();
            stores.filter_map(|one| Some((one.store?, one.name))).collect()
        }
    };
    if names.is_empty() {
        return Ok(json(&EntriesBody { entries: Vec::new(), truncated: false }));
    }
    let stores = names.iter().map(|(store, _)| *store).collect();
    let request = SearchRequest {
        reach: match is_named {
            true => Reach::Stores(stores),
            false => Reach::Among(stores),
        },
        wanted,
        view: View::Full,
        explain: false,
        content_bytes_max: limit::SEARCH_CONTENT_BYTES,
        snippet_chars: 0,
        as_of: None,
        wait: None,
    };
    let SearchAnswer { mut hits, left_out, contents_left_out, .. } =
        call.engine.search(&context, &request).await?;
    // An entry is nothing without its value: an answer ends early where values are large.
    hits.retain(|hit| hit.memory.content.is_some());
    let memories = hits.iter().map(|hit| &hit.memory);
    let writers = Writers::of(&call.engine, &context, memories).await?;
    let bytes = size::of_all(hits.iter().map(|hit| &hit.memory));
    let write = move || {
        let entries = hits.iter().map(|hit| {
            let store = names.iter().find(|(store, _)| *store == hit.memory.store);
            let store = store.map(|(_, name)| name.as_str()).unwrap_or_default();
            EntryBody::of(&hit.memory, store, writers.name(&hit.memory)).scored(hit.score)
        });
        let truncated = contents_left_out > 0;
        json(&EntriesBody { entries: entries.collect(), truncated })
    };
    let mut answer = call.engine.written(bytes, write).await?;
    if left_out > 0 {
        answer.headers_mut().insert(LEFT_OUT, HeaderValue::from(left_out));
    }
    Ok(answer)
}
