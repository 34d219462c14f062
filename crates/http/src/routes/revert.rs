//! Taking back what somebody wrote in a time: first what it would do, then as one batch.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, JsonBody};
use crate::wire::{ActorView, moment};
use axum::Json;
use axum::extract::State;
use loci_engine::{RevertAction, RevertRequest, RevertState, RevertStep};
use loci_model::{MemoryId, Operation, PathPrefix, StoreId, limit};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;
use utoipa::ToSchema;

/// What to take back.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RevertBody {
    /// A key, session, user or service account; or a principal, with everything that acts for it.
    actor: String,
    /// From this time on.
    #[schema(format = DateTime)]
    since: String,
    /// Until this time.
    #[schema(format = DateTime)]
    until: Option<String>,
    /// Below this directory.
    prefix: Option<String>,
    /// Only say what it would do; so when not given.
    #[serde(default = "yes")]
    dry_run: bool,
    /// Only these, up to 5000; and these even where others wrote afterwards.
    #[schema(max_items = 5000)]
    memory_ids: Option<Vec<String>>,
}

const fn yes() -> bool {
    true
}

/// One memory that goes back.
#[derive(Serialize, ToSchema)]
pub(crate) struct RevertedView {
    /// The memory; of one that was brought back, the new one.
    memory_id: String,
    /// Where it is.
    path: Option<String>,
    /// `clean`, `changed_since` or `impossible`.
    state: &'static str,
    /// Its newest revision.
    revision: u64,
    /// The revision it goes back to; `null` when it goes.
    to_revision: Option<u64>,
    /// That version.
    to_version_id: Option<String>,
    /// `restore`, `delete` or `bring_back`.
    action: &'static str,
    /// The last of the others who wrote since.
    changed_by: Option<ActorView>,
}

impl From<&RevertStep> for RevertedView {
    fn from(step: &RevertStep) -> Self {
        Self {
            memory_id: step.memory.to_string(),
            path: step.path.as_ref().map(ToString::to_string),
            state: match step.state {
                RevertState::Clean => "clean",
                RevertState::ChangedSince(_) => "changed_since",
                RevertState::Impossible => "impossible",
            },
            revision: step.revision,
            to_revision: step.to.map(|(revision, _)| revision),
            to_version_id: step.to.map(|(_, version)| version.to_string()),
            action: match step.action {
                RevertAction::Restore => "restore",
                RevertAction::Delete => "delete",
                RevertAction::BringBack => "bring_back",
            },
            changed_by: match step.state {
                RevertState::ChangedSince(actor) => ActorView::of(actor),
                RevertState::Clean | RevertState::Impossible => None,
            },
        }
    }
}

/// What was taken back, or would be.
#[derive(Serialize, ToSchema)]
pub(crate) struct Reverted {
    /// Always `revert`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Whether nothing was done.
    dry_run: bool,
    /// Whether more was written than is shown.
    is_truncated: bool,
    /// The memories, those written last first.
    data: Vec<RevertedView>,
}

/// Puts back what somebody changed in a time, as one batch, or says what that would do.
#[utoipa::path(post, path = "/v1/memory_stores/{memory_store_id}/revert",
    tag = "entries", operation_id = "revert", request_body = RevertBody,
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = Reverted)))]
pub(crate) async fn revert(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    JsonBody(wanted): JsonBody<RevertBody>,
) -> Result<Json<Reverted>> {
    let engine = &native.engine;
    engine.require_write(&context, store).await?;
    let memories = match &wanted.memory_ids {
        None => None,
        Some(ids) if ids.len() > limit::TREE_EDITS_MAX => {
            let max = limit::TREE_EDITS_MAX;
            return Err(Failure::invalid(format!("memory_ids: at most {max}")));
        }
        Some(ids) => {
            let ids = ids.iter().map(|id| id.parse::<MemoryId>());
            let ids = ids.collect::<std::result::Result<HashSet<_>, _>>();
            Some(ids.map_err(|_| Failure::not_found("memory"))?)
        }
    };
    let since = moment("since", Some(&wanted.since))?;
    let request = RevertRequest {
        actors: engine.actors(&context, &wanted.actor).await?,
        since: since.ok_or_else(|| Failure::invalid("since: must be given"))?,
        until: moment("until", wanted.until.as_deref())?,
        prefix: match &wanted.prefix {
            Some(prefix) => PathPrefix::parse(prefix)?,
            None => PathPrefix::root(),
        },
        memories,
    };
    let (data, is_truncated) = if wanted.dry_run {
        let (steps, is_cut) = engine.plan_revert(&context, store, &request).await?;
        (steps.iter().map(RevertedView::from).collect(), is_cut)
    } else {
        let done = engine.revert(&context, store, &request).await?;
        let shown = done.iter().map(|(step, outcome)| RevertedView {
            memory_id: outcome.memory.id.to_string(),
            path: Some(outcome.memory.path.to_string()),
            // What was removed is told as it was just before; its removal is a revision too.
            revision: outcome.memory.revision
                + u64::from(outcome.operation == Some(Operation::Deleted)),
            ..RevertedView::from(step)
        });
        (shown.collect(), false)
    };
    Ok(Json(Reverted { kind: "revert", dry_run: wanted.dry_run, is_truncated, data }))
}
