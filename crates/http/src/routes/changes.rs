//! The change feed: what happened in a store, in order, without content.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, Params};
use crate::layers::auth::Shown;
use crate::layers::view::Viewer;
use crate::wire::ActorView;
use axum::extract::State;
use axum::{Extension, Json};
use loci_engine::Waiting;
use loci_model::{Access, Change, ChangeOp, StoreId, limit};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;

const CHANGES_DEFAULT: usize = 100;

/// Which part of the feed.
#[derive(Deserialize)]
pub(crate) struct ChangesParams {
    /// The last number seen; 0 or nothing starts at the beginning.
    after: Option<u64>,
    /// How many, 1 to 1000; 100 when not given.
    limit: Option<usize>,
    /// How long to wait for something to happen, up to 30; not at all when not given.
    wait_seconds: Option<u64>,
    /// The access that the caller believes to have: the wait ends at once when it is another.
    access: Option<AccessName>,
}

/// What a caller may do with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AccessName {
    /// Look only: the store is archived, the caller may not write, or the server is a replica.
    ReadOnly,
    /// Look and write.
    ReadWrite,
}

impl From<Access> for AccessName {
    fn from(access: Access) -> Self {
        match access {
            Access::ReadOnly => Self::ReadOnly,
            Access::ReadWrite => Self::ReadWrite,
        }
    }
}

impl From<AccessName> for Access {
    fn from(access: AccessName) -> Self {
        match access {
            AccessName::ReadOnly => Self::ReadOnly,
            AccessName::ReadWrite => Self::ReadWrite,
        }
    }
}

/// One entry of the feed.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChangeView {
    /// 1, 2, 3 … within the store, without gaps.
    seq: u64,
    /// Always `change`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// `created`, `modified`, `deleted` or `redacted`.
    operation: &'static str,
    /// The memory.
    memory_id: String,
    /// The version written or redacted.
    memory_version_id: String,
    /// Its path; `null` once redacted.
    path: Option<String>,
    /// Its revision.
    revision: u64,
    /// When.
    created_at: String,
    /// Who; `null` is the server itself.
    created_by: Option<ActorView>,
    /// Why: `api`, `expired` …
    reason: String,
}

impl From<Change> for ChangeView {
    fn from(change: Change) -> Self {
        Self {
            seq: change.seq,
            kind: "change",
            operation: match change.op {
                ChangeOp::Created => "created",
                ChangeOp::Modified => "modified",
                ChangeOp::Deleted => "deleted",
                ChangeOp::Redacted => "redacted",
            },
            memory_id: change.memory.to_string(),
            memory_version_id: change.version.to_string(),
            path: change.path.map(|path| path.to_string()),
            revision: change.revision,
            created_at: change.at.to_string(),
            created_by: ActorView::of(change.actor),
            reason: change.reason,
        }
    }
}

/// A page of the feed.
#[derive(Serialize, ToSchema)]
pub(crate) struct Changes {
    /// The entries, oldest first.
    data: Vec<ChangeView>,
    /// What to send as `after` next.
    last_seq: u64,
    /// Whether more can be had at once.
    has_more: bool,
    /// What the caller may do with the store now.
    access: AccessName,
}

/// What happened in a store after a number.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/changes",
    tag = "changes", operation_id = "changes_list",
    params(
        ("memory_store_id" = String, Path),
        ("after" = Option<u64>, Query,
            description = "The last number seen; 0 or nothing starts at the beginning."),
        ("limit" = Option<usize>, Query,
            description = "How many, 1 to 1000; 100 when not given."),
        ("wait_seconds" = Option<u64>, Query, description = "When there is nothing yet: how long \
            to wait for it, up to 30; not at all when not given."),
        ("access" = Option<AccessName>, Query, description = "What the caller believes to be its \
            `access`: the wait ends at once when it is another."),
    ),
    responses((status = 200, body = Changes)))]
pub(crate) async fn list(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    shown: Option<Extension<Shown>>,
    viewer: Option<Extension<Viewer>>,
    Id(store): Id<StoreId>,
    Params(params): Params<ChangesParams>,
) -> Result<Json<Changes>> {
    let limit = params.limit.unwrap_or(CHANGES_DEFAULT);
    if !(1..=limit::CHANGES_PAGE_MAX).contains(&limit) {
        let max = limit::CHANGES_PAGE_MAX;
        return Err(Failure::invalid(format!("limit: expected 1 to {max}")));
    }
    let wait = params.wait_seconds.unwrap_or(0);
    if wait > limit::CHANGES_WAIT_SECS_MAX {
        let max = limit::CHANGES_WAIT_SECS_MAX;
        return Err(Failure::invalid(format!("wait_seconds: expected 0 to {max}")));
    }
    // With borrowed eyes, the credential is not the one of the caller that policy looks at.
    let shown = shown.filter(|_| viewer.is_none()).map(|Extension(Shown(hash))| hash);
    let believed = params.access.map(Access::from);
    let waiting = Waiting { at_most: Duration::from_secs(wait), believed, shown };
    let after = params.after.unwrap_or(0);
    let page = native.engine.changes_within(context, store, after, limit, waiting).await?;
    Ok(Json(Changes {
        data: page.changes.into_iter().map(ChangeView::from).collect(),
        last_seq: page.last_seq,
        has_more: page.has_more,
        access: page.access.into(),
    }))
}
