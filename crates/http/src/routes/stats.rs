//! Numbers about one store, and about all a caller can read.

use super::Native;
use crate::error::Result;
use crate::extract::{Authed, Id};
use axum::Json;
use axum::extract::State;
use loci_engine::Error;
use loci_model::query::{Direction, StoreQuery};
use loci_model::{StoreId, limit};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// How many stores are summed up at most.
const STORES_MAX: u64 = 1000;

/// Numbers about one store.
#[derive(Serialize, ToSchema)]
pub(crate) struct StoreStatsView {
    /// Always `memory_store_stats`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Live memories.
    memories: u64,
    /// Bytes of live content.
    content_bytes: u64,
    /// Versions, redacted ones included.
    versions: u64,
    /// The newest number of the change feed.
    last_seq: u64,
}

/// Numbers about all stores the caller can read.
#[derive(Serialize, ToSchema)]
pub(crate) struct Stats {
    /// Always `stats`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Stores summed up.
    stores: u64,
    /// Live memories.
    memories: u64,
    /// Bytes of live content.
    content_bytes: u64,
    /// Versions, redacted ones included.
    versions: u64,
    /// Whether there are more stores than were summed up.
    truncated: bool,
}

/// Numbers about one store.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/stats",
    tag = "stats", operation_id = "stats_of_store",
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = StoreStatsView)))]
pub(crate) async fn of_store(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
) -> Result<Json<StoreStatsView>> {
    let stats = native.engine.stats(&context, store).await?;
    Ok(Json(StoreStatsView {
        kind: "memory_store_stats",
        memories: stats.memories,
        content_bytes: stats.content_bytes,
        versions: stats.versions,
        last_seq: stats.last_seq,
    }))
}

/// Numbers about the first thousand stores the caller can read, archived ones included.
#[utoipa::path(get, path = "/v1/stats", tag = "stats", operation_id = "stats_of_all",
    responses((status = 200, body = Stats)))]
pub(crate) async fn of_all(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
) -> Result<Json<Stats>> {
    let mut sum = Stats {
        kind: "stats",
        stores: 0,
        memories: 0,
        content_bytes: 0,
        versions: 0,
        truncated: false,
    };
    let mut query = StoreQuery {
        since: None,
        until: None,
        include_archived: true,
        direction: Direction::Descending,
        after: None,
        limit: limit::PAGE_ITEMS_MAX,
    };
    loop {
        let page = native.engine.list_stores(&context, &query).await?;
        for store in page.items {
            let stats = match native.engine.stats(&context, store.id).await {
                Ok(stats) => stats,
                // A store that went away since it was listed counts for nothing.
                Err(Error::NotFound(_)) => continue,
                Err(error) => return Err(error.into()),
            };
            sum.stores += 1;
            sum.memories += stats.memories;
            sum.content_bytes += stats.content_bytes;
            sum.versions += stats.versions;
        }
        query.after = page.next;
        if query.after.is_none() {
            return Ok(Json(sum));
        }
        if sum.stores >= STORES_MAX {
            sum.truncated = true;
            return Ok(Json(sum));
        }
    }
}
