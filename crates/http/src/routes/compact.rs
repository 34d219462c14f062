//! Compaction on demand, and taking it back.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, InStore, JsonBody, NoBody};
use axum::Json;
use axum::extract::State;
use loci_engine::compact::Compacted;
use loci_model::{MemoryId, MemoryPath, StoreId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// How far to compact.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CompactRequest)]
pub(crate) struct CompactRequest {
    /// How many memories shall be left; the store's soft cap when not given.
    max_memories: Option<u64>,
    /// Only say what would be done.
    #[serde(default)]
    dry_run: bool,
}

/// What compaction did, or would do.
#[derive(Serialize, ToSchema)]
#[schema(as = Compaction)]
pub(crate) struct CompactionView {
    /// Always `memory_store_compaction`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Paths that were removed.
    removed: Vec<String>,
    /// Paths of the summaries that were written.
    summaries: Vec<String>,
    /// How many memories are left.
    memories_left: u64,
    /// Whether nothing was done yet.
    dry_run: bool,
}

/// What was brought back.
#[derive(Serialize, ToSchema)]
#[schema(as = CompactionUndone)]
pub(crate) struct UndoneView {
    /// Always `memory_store_compaction_undone`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Paths of the memories that are back.
    restored: Vec<String>,
    /// The path of the summary that is gone.
    removed: Vec<String>,
}

fn paths(paths: &[MemoryPath]) -> Vec<String> {
    paths.iter().map(|path| path.as_str().to_owned()).collect()
}

/// Merges episodes into summaries and removes what matters least, until so many memories are left.
/// What is pinned stays. Each step is one batch, in the history and in the feed as `compacted`.
#[utoipa::path(post, path = "/v1/memory_stores/{memory_store_id}/compact",
    tag = "policy", operation_id = "memory_stores_compact", request_body = CompactRequest,
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = CompactionView)))]
pub(crate) async fn compact(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    JsonBody(wanted): JsonBody<CompactRequest>,
) -> Result<Json<CompactionView>> {
    let keep = match wanted.max_memories {
        Some(keep) => keep,
        None => {
            let cap = native.engine.store(&context, store).await?.policy.soft_cap;
            cap.ok_or_else(|| {
                Failure::invalid("max_memories: is needed where there is no soft cap")
            })?
        }
    };
    let Compacted { removed, summaries, left } =
        native.engine.compact(&context, store, keep, wanted.dry_run).await?;
    Ok(Json(CompactionView {
        kind: "memory_store_compaction",
        removed: paths(&removed),
        summaries: paths(&summaries),
        memories_left: left,
        dry_run: wanted.dry_run,
    }))
}

/// Brings back the memories that a summary was made from, and removes the summary. A soft cap that
/// they exceed takes them away again: raise it first.
#[utoipa::path(post,
    path = "/v1/memory_stores/{memory_store_id}/memories/{memory_id}/undo_compaction",
    tag = "policy", operation_id = "memories_undo_compaction",
    params(("memory_store_id" = String, Path), ("memory_id" = String, Path)),
    responses((status = 200, body = UndoneView)))]
pub(crate) async fn undo(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    InStore(store, memory): InStore<MemoryId>,
    _: NoBody,
) -> Result<Json<UndoneView>> {
    let done = native.engine.undo_compaction(&context, store, memory).await?;
    Ok(Json(UndoneView {
        kind: "memory_store_compaction_undone",
        restored: paths(&done.summaries),
        removed: paths(&done.removed),
    }))
}
