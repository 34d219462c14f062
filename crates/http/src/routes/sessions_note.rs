//! The text that tells a model which stores its session has.

use super::Native;
use crate::error::Result;
use crate::extract::{Authed, Id};
use axum::Json;
use axum::extract::State;
use loci_model::SessionId;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A note for a system prompt.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionNote {
    /// Always `session_note`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The text; empty when no store is attached.
    text: String,
}

/// The note to put into a session's system prompt.
#[utoipa::path(get, path = "/v1/sessions/{session_id}/note",
    tag = "sessions", operation_id = "sessions_note",
    params(("session_id" = String, Path)),
    responses((status = 200, body = SessionNote)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(session): Id<SessionId>,
) -> Result<Json<SessionNote>> {
    let text = native.engine.session_note(&context, session).await?;
    Ok(Json(SessionNote { kind: "session_note", text }))
}
