//! Redacting some versions at once, after a look at what that would erase. A reason is asked for and kept
//! in the audit log, where it outlives what was erased.

use super::Native;
use super::erase::DerivedView;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, JsonBody};
use axum::Json;
use axum::extract::State;
use loci_engine::RedactionLine;
use loci_model::{StoreId, VersionId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const VERSIONS_MAX: usize = 100;
const REASON_CHARS_MAX: usize = 500;

/// What to redact.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedactionRequest {
    /// 1 to 100 versions.
    #[schema(min_items = 1, max_items = 100)]
    memory_version_ids: Vec<String>,
    /// Why; kept in the audit log. Needed unless it is a dry run.
    #[schema(max_length = 500)]
    reason: Option<String>,
    /// Only say what would be erased; not when not given.
    #[serde(default)]
    dry_run: bool,
}

/// A version that is redacted, or holds the same text.
#[derive(Serialize, ToSchema)]
pub(crate) struct RedactedView {
    /// `memver_…`.
    memory_version_id: String,
    /// Its memory.
    memory_id: String,
    /// Where it was.
    path: Option<String>,
    /// Its number within the memory.
    revision: u64,
    /// Whether it is redacted.
    is_redacted: bool,
    /// Whether it is the newest of a live memory, which cannot be redacted.
    is_head: bool,
}

impl From<RedactionLine> for RedactedView {
    fn from(line: RedactionLine) -> Self {
        let version = line.version;
        Self {
            memory_version_id: version.id.to_string(),
            memory_id: version.memory.to_string(),
            path: version.path.map(|path| path.to_string()),
            revision: version.revision,
            is_redacted: version.redaction.is_some(),
            is_head: line.is_head,
        }
    }
}

/// What was erased, or would be.
#[derive(Serialize, ToSchema)]
pub(crate) struct Redaction {
    /// Always `redaction`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Whether nothing was done.
    dry_run: bool,
    /// The versions, in the order asked for.
    data: Vec<RedactedView>,
    /// Other versions of the store with the same bytes, up to 100, among the newest 20,000.
    same_content: Vec<RedactedView>,
    /// Summaries that compaction made from the versions, and what becomes of them.
    derived: Vec<DerivedView>,
}

/// Erases versions for good, or says what would be erased.
#[utoipa::path(post, path = "/v1/memory_stores/{memory_store_id}/redactions",
    tag = "entries", operation_id = "redactions_create", request_body = RedactionRequest,
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = Redaction)))]
pub(crate) async fn create(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    JsonBody(wanted): JsonBody<RedactionRequest>,
) -> Result<Json<Redaction>> {
    let ids = &wanted.memory_version_ids;
    if !(1..=VERSIONS_MAX).contains(&ids.len()) {
        let why = format!("memory_version_ids: expected 1 to {VERSIONS_MAX}");
        return Err(Failure::invalid(why));
    }
    let versions = ids.iter().map(|id| id.parse::<VersionId>());
    let versions = versions.collect::<std::result::Result<Vec<_>, _>>();
    let versions = versions.map_err(|_| Failure::not_found("memory version"))?;
    let reason = wanted.reason.as_deref().map(str::trim).unwrap_or_default();
    if reason.chars().count() > REASON_CHARS_MAX {
        return Err(Failure::invalid(format!("reason: takes up to {REASON_CHARS_MAX} characters")));
    }
    let engine = &native.engine;
    let plan = if wanted.dry_run {
        engine.plan_redaction(&context, store, &versions).await?
    } else if reason.is_empty() {
        return Err(Failure::invalid("reason: must be given, because it is all that is left"));
    } else {
        engine.redact_all(&context, store, &versions, reason).await?
    };
    Ok(Json(Redaction {
        kind: "redaction",
        dry_run: wanted.dry_run,
        data: plan.lines.into_iter().map(RedactedView::from).collect(),
        same_content: plan.same_content.into_iter().map(RedactedView::from).collect(),
        derived: plan.derived.into_iter().map(DerivedView::from).collect(),
    }))
}
