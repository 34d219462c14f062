//! Writing sessions. Client libraries insist on every key of a session, so those this server has no
//! use for are there with their empty values.

use super::agent::AgentBody;
use super::budget::Budget;
use super::request::{Listing, Window};
use super::resources::{self, AnyResource, Placed};
use crate::anthropic::cursor::{Cursor, Sense};
use crate::anthropic::render::{PageBody, Shown, json};
use axum::body::Body;
use axum::http::Response;
use loci_model::{Access, Attachment, Page, Session, SessionId, StoreId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What this door keeps of a session beside what the core knows.
#[derive(Serialize, Deserialize)]
pub(super) struct Details {
    pub(super) agent: AgentBody,
    pub(super) environment_id: String,
    pub(super) vault_ids: Vec<String>,
    pub(super) budget: Option<Budget>,
    /// What is attached beside memory stores.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) others: Vec<Placed>,
}

impl Details {
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("details have string keys")
    }

    /// The details of a session. One that another door made says less about itself.
    pub(super) fn of(session: &Session) -> Self {
        serde_json::from_str(&session.details).unwrap_or_else(|_| Self {
            agent: AgentBody::named(&session.agent_id, session.agent_version),
            environment_id: String::new(),
            vault_ids: Vec::new(),
            budget: None,
            others: Vec::new(),
        })
    }
}

/// A session.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub(in crate::anthropic) struct SessionBody<'a> {
    #[schema(value_type = String)]
    id: Shown<SessionId>,
    /// Always `session`.
    r#type: &'static str,
    agent: AgentBody,
    environment_id: String,
    /// Always `idle`: no agent runs here.
    status: &'static str,
    title: Option<&'a str>,
    metadata: &'a BTreeMap<String, String>,
    resources: Vec<AnyResource<'a>>,
    vault_ids: Vec<String>,
    /// Always empty.
    #[schema(value_type = Vec<Object>)]
    outcome_evaluations: [Empty; 0],
    /// Always empty.
    #[schema(value_type = Object)]
    stats: Empty,
    /// Always empty.
    #[schema(value_type = Object)]
    usage: Empty,
    #[schema(value_type = Option<Object>)]
    budget: Option<Budget>,
    /// Always null.
    deployment_id: Option<&'static str>,
    #[schema(value_type = Option<String>, format = DateTime)]
    archived_at: Option<Shown<Timestamp>>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Shown<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Shown<Timestamp>,
}

/// An object without keys.
#[derive(Serialize)]
struct Empty {}

/// A memory store as attached to a session. Name, description and mount path are as they were when
/// it was attached.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionMemoryStore)]
pub(in crate::anthropic) struct ResourceBody<'a> {
    /// Always `memory_store`.
    r#type: &'static str,
    #[schema(value_type = String)]
    memory_store_id: Shown<StoreId>,
    /// `read_write` or `read_only`.
    access: &'static str,
    instructions: Option<&'a str>,
    name: &'a str,
    description: &'a str,
    mount_path: &'a str,
}

/// One page of sessions; unlike other listings it can be walked both ways.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionPage)]
pub(in crate::anthropic) struct SessionPageBody<'a> {
    data: Vec<SessionBody<'a>>,
    next_page: Option<String>,
    prev_page: Option<String>,
}

impl<'a> SessionBody<'a> {
    pub(super) fn of(session: &'a Session) -> Self {
        let details = Details::of(session);
        Self {
            id: Shown(session.id),
            r#type: "session",
            agent: details.agent,
            environment_id: details.environment_id,
            status: "idle",
            title: session.title.as_deref(),
            metadata: &session.metadata,
            resources: resources::all(session, &details.others),
            vault_ids: details.vault_ids,
            outcome_evaluations: [],
            stats: Empty {},
            usage: Empty {},
            budget: details.budget,
            deployment_id: None,
            archived_at: session.archived_at.map(Shown),
            created_at: Shown(session.created_at),
            updated_at: Shown(session.updated_at),
        }
    }
}

impl<'a> ResourceBody<'a> {
    pub(super) fn of(attachment: &'a Attachment) -> Self {
        Self {
            r#type: "memory_store",
            memory_store_id: Shown(attachment.store),
            access: match attachment.access {
                Access::ReadOnly => "read_only",
                Access::ReadWrite => "read_write",
            },
            instructions: attachment.instructions.as_deref(),
            name: &attachment.name,
            description: &attachment.description,
            mount_path: &attachment.mount_path,
        }
    }
}

/// A page of sessions with the cursors of its neighbours.
pub(super) fn page(
    mut page: Page<Session, (Timestamp, SessionId)>,
    listing: &Listing,
) -> Response<Body> {
    // A previous page was read from its end; more beyond it lies before it.
    let is_backwards = listing.sense == Some(Sense::Previous);
    let (has_next, has_previous) = match listing.sense {
        None => (page.next.is_some(), false),
        Some(Sense::Next) => (page.next.is_some(), true),
        Some(Sense::Previous) => (true, page.next.is_some()),
    };
    if is_backwards {
        page.items.reverse();
    }
    let cursor = |edge: Option<&Session>, sense| {
        let edge = edge?;
        Some(Cursor::Sessions(listing.order, sense, edge.created_at, edge.id).show())
    };
    let next_page = cursor(page.items.last().filter(|_| has_next), Sense::Next);
    let prev_page = cursor(page.items.first().filter(|_| has_previous), Sense::Previous);
    json(&SessionPageBody {
        data: page.items.iter().map(SessionBody::of).collect(),
        next_page,
        prev_page,
    })
}

/// Some of a session's resources.
pub(super) fn some_resources(session: &Session, window: Window) -> Response<Body> {
    let all = resources::all(session, &Details::of(session).others);
    let end = window.skip.saturating_add(window.limit);
    let next = u32::try_from(end).ok().filter(|_| end < all.len());
    json(&PageBody {
        data: all.into_iter().skip(window.skip).take(window.limit).collect(),
        next_page: next.map(|shown| Cursor::Resources(shown).show()),
    })
}
