//! Compaction of an agent's memory on demand, for operators and tests.

use super::call::{Answer, Call};
use super::error::{ErrorBody, Problem};
use super::partition::Label;
use super::place::Place;
use super::render::json;
use axum::http::StatusCode;
use loci_engine::Purpose;
use loci_engine::compact::Compacted;
use loci_model::MemoryPath;
use serde::Serialize;
use utoipa::ToSchema;

/// How far to compact.
#[derive(ToSchema)]
#[schema(as = MobiusCompact)]
#[expect(dead_code, reason = "only described; the fields are read one by one")]
pub(super) struct CompactBody {
    /// How many entries shall be left.
    max_entries: u64,
    /// Only say what would be done.
    dry_run: Option<bool>,
}

/// What compaction did, or would do.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusCompacted)]
pub(super) struct CompactedBody {
    /// Keys that are gone.
    removed: Vec<String>,
    /// The key of the summary that was written, if one was.
    summary_key: Option<String>,
}

/// Merges episodes into a summary and removes the least important entries, until so many are left.
/// Pinned ones stay.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent}/memory/compact",
    tag = "mobius",
    summary = "Compact an agent's memory now",
    request_body = CompactBody,
    responses((status = 200, body = CompactedBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn compact(call: Call) -> Answer {
    let fields = call.fields()?;
    fields.only(&["max_entries", "dry_run"])?;
    let keep = fields.integer("max_entries")?.and_then(|keep| u64::try_from(keep).ok());
    let keep = keep.ok_or_else(|| Problem::invalid("max_entries must be a whole number from 0"))?;
    let is_dry_run = fields.flag("dry_run")?.unwrap_or(false);
    let place = Place::of(&call, Purpose::Change).await?;
    let done = match place.store {
        None => Compacted::default(),
        Some(store) => {
            // Not what a model does by itself, whatever entries are for.
            let mut context = place.context.clone();
            context.caller.audience = call.context.caller.audience;
            call.engine.compact(&context, store, keep, is_dry_run).await?
        }
    };
    let key = |path: &MemoryPath| Label::of(path).key;
    let body = CompactedBody {
        removed: done.removed.iter().map(key).collect(),
        summary_key: done.summaries.first().map(key),
    };
    Ok(json(StatusCode::OK, &body))
}
