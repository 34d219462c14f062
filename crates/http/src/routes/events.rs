//! The audit log over the wire, for administrators: what happened to access, in order, each event
//! with a hash over itself and the one before.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Params};
use crate::wire::ActorView;
use axum::Json;
use axum::extract::State;
use loci_model::{Event, limit};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const EVENTS_DEFAULT: usize = 100;

/// Which part of the log.
#[derive(Deserialize)]
pub(crate) struct EventsParams {
    after: Option<u64>,
    before: Option<u64>,
    limit: Option<usize>,
}

/// Something that happened to access.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventView {
    /// 1, 2, 3 … within the workspace, without gaps.
    seq: u64,
    /// Always `event`.
    #[serde(rename = "type")]
    object: &'static str,
    /// Whose log it is; the hash covers it.
    workspace: String,
    /// When.
    at: String,
    /// With which credential; `null` is the server itself.
    actor: Option<ActorView>,
    /// On whose authority.
    principal: String,
    /// `principal_created`, `principal_recast`, `memory_switched`, `key_created`, `key_revoked`,
    /// `store_archived`, `store_removed`, `grant_given`, `grant_revoked`, `member_added`,
    /// `member_removed`, `reader_forgotten`, `version_redacted`, `memory_erased`, `exported`,
    /// `imported`, `backed_up`, `viewed_as` or `searched`.
    kind: String,
    /// In which store.
    store: Option<String>,
    /// What it was about, by its id.
    subject: Option<String>,
    /// More of it: a level, whose grant it was, a chat, the words of a search.
    detail: Option<String>,
    /// SHA-256 over the event and the hash before it, in hexadecimal.
    hash: String,
}

impl From<Event> for EventView {
    fn from(event: Event) -> Self {
        Self {
            seq: event.seq,
            object: "event",
            workspace: event.workspace.to_string(),
            at: event.at.to_string(),
            actor: ActorView::of(event.actor),
            principal: event.principal.to_string(),
            kind: event.kind,
            store: event.store.map(|store| store.to_string()),
            subject: event.subject,
            detail: event.detail,
            hash: hex::encode(event.hash),
        }
    }
}

/// A page of the log.
#[derive(Serialize, ToSchema)]
pub(crate) struct Events {
    /// The events, oldest first; newest first with `before`.
    data: Vec<EventView>,
    /// What to send as `after` next.
    last_seq: u64,
}

/// What happened to access after a number.
#[utoipa::path(get, path = "/v1/events", tag = "administration", operation_id = "events_list",
    params(
        ("after" = Option<u64>, Query,
            description = "The last number seen; 0 or nothing starts at the beginning."),
        ("before" = Option<u64>, Query, description = "Newest first, those before this number; 0 \
            starts at the end."),
        ("limit" = Option<usize>, Query,
            description = "How many, 1 to 1000; 100 when not given."),
    ),
    responses((status = 200, body = Events)))]
pub(crate) async fn list(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Params(params): Params<EventsParams>,
) -> Result<Json<Events>> {
    let limit = params.limit.unwrap_or(EVENTS_DEFAULT);
    if !(1..=limit::EVENTS_PAGE_MAX).contains(&limit) {
        let max = limit::EVENTS_PAGE_MAX;
        return Err(Failure::invalid(format!("limit: expected 1 to {max}")));
    }
    if let Some(before) = params.before {
        if params.after.is_some() {
            return Err(Failure::invalid("before: cannot stand beside after"));
        }
        let events = native.engine.events_before(&context, before, limit).await?;
        let last_seq = events.first().map_or(0, |event| event.seq);
        return Ok(Json(Events {
            data: events.into_iter().map(EventView::from).collect(),
            last_seq,
        }));
    }
    let after = params.after.unwrap_or(0);
    let events = native.engine.events(&context, after, limit).await?;
    let last_seq = events.last().map_or(after, |event| event.seq);
    Ok(Json(Events { data: events.into_iter().map(EventView::from).collect(), last_seq }))
}
