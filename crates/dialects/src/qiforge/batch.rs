//! `POST /qiforge/search-enhanced-batch`: several queries at once, answered in their order. One that
//! cannot be answered says so in its place and spoils none of the others.

use super::access::Refusal;
use super::call::{Answer, Call};
use super::error::{RefusalBody, json};
use super::find::find;
use super::query::Query;
use super::render::Found;
use futures_util::future::try_join_all;
use loci_engine::{Error, codes};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Queries of one request.
const QUERIES_MAX: usize = 20;
/// Queries that are looked into at the same time: a caller waits for all of them.
const QUERIES_AT_ONCE: usize = 6;
/// Bytes of what was said in the answer to one query.
const CONTENT_BYTES_MAX: usize = 64 * 1024;

/// Some queries.
#[derive(ToSchema)]
#[schema(as = QiforgeBatch)]
#[expect(dead_code, reason = "describes the body and never holds one")]
pub(super) struct BatchBody {
    /// Up to 20.
    #[schema(max_items = 20)]
    queries: Vec<QueryBody>,
}

#[derive(ToSchema)]
#[schema(as = QiforgeQuery)]
#[expect(dead_code, reason = "describes the body and never holds one")]
pub(super) struct QueryBody {
    /// 1 to 5 DIDs. Naming an oracle that the token does not speak for opens nothing.
    #[schema(min_items = 1, max_items = 5)]
    oracle_dids: Vec<String>,
    #[schema(min_length = 1, max_length = 4096)]
    query: String,
    /// `balanced`, `diverse`, `precise`, `contextual`, `recent_memory`, `facts_only`, `entities_only`
    /// or `topics_only`.
    strategy: Option<String>,
    max_facts: Option<u32>,
    max_entities: Option<u32>,
    max_episodes: Option<u32>,
    max_communities: Option<u32>,
    /// `user`, `oracle` or `both`.
    #[schema(pattern = "^(user|oracle|both)$")]
    knowledge_level: Option<String>,
    center_node_uuid: Option<String>,
    /// `node_labels`, `edge_types`, `valid_at`, `invalid_at`, `created_at`, `expired_at`.
    search_filters: Option<Value>,
}

/// The answers, in the order of the queries.
#[derive(Serialize, ToSchema)]
#[schema(as = QiforgeBatchAnswer)]
pub(super) struct BatchAnswer {
    results: Vec<Slot>,
}

/// The answer to one query, or why there is none.
#[derive(Serialize, ToSchema)]
#[schema(as = QiforgeSlot)]
#[serde(untagged)]
pub(super) enum Slot {
    Found(Found),
    Failed(Failed),
}

#[derive(Serialize, ToSchema)]
#[schema(as = QiforgeFailed)]
pub(super) struct Failed {
    error: FailedBody,
    query: String,
    strategy_used: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = QiforgeFailure)]
pub(super) struct FailedBody {
    status_code: u16,
    detail: String,
}

/// Answers several queries about the user and the oracle.
#[utoipa::path(
    post,
    path = "/qiforge/search-enhanced-batch",
    operation_id = "qiforge_search_enhanced_batch",
    tag = "qiforge",
    params(("x-room-id" = String, Header, description = "the room")),
    request_body = BatchBody,
    responses(
        (status = 200, body = BatchAnswer),
        (status = "4XX", body = RefusalBody<'_>)
    )
)]
pub(super) async fn search_enhanced_batch(call: Call) -> Answer {
    let Some(Value::Array(queries)) = call.body.get("queries") else {
        return Err(Refusal::new(400, "queries must be a list"));
    };
    if queries.len() > QUERIES_MAX {
        let why = format!("queries takes up to {QUERIES_MAX}, these are {}", queries.len());
        return Err(Refusal::new(400, why));
    }
    let mut results = Vec::with_capacity(queries.len());
    for some in queries.chunks(QUERIES_AT_ONCE) {
        results.extend(try_join_all(some.iter().map(|query| answer(&call, query))).await?);
    }
    let bytes = results.len() * CONTENT_BYTES_MAX;
    Ok(call.engine.written(bytes, move || json(&BatchAnswer { results })).await?)
}

async fn answer(call: &Call, written: &Value) -> Result<Slot, Error> {
    let told = |name: &str| written.get(name).and_then(Value::as_str).unwrap_or_default();
    let failed = |status_code: u16, detail: String| {
        Slot::Failed(Failed {
            error: FailedBody { status_code, detail },
            query: told("query").chars().take(1000).collect(),
            strategy_used: told("strategy").chars().take(100).collect(),
        })
    };
    let query = match Query::of_batch(written) {
        Ok(query) => query,
        Err(why) => return Ok(failed(400, why)),
    };
    match find(&call.engine, &call.access, &query).await {
        Ok(found) => Ok(Slot::Found(found.counted(CONTENT_BYTES_MAX))),
        Err(error) => match codes::code(&error).status {
            // Nothing is wrong with the query; none of the others would fare better.
            500.. => Err(error),
            status => Ok(failed(status, error.to_string())),
        },
    }
}
