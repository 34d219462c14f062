//! What of an agent's memory a turn begins with: the brief, in the mode and within the bytes that the
//! agent's owner set, or that the request asks for.
//!
//! Entries of one user are not put before another: without a user only what is everybody's is told.

use super::call::{Answer, Call, Revision};
use super::error::{ErrorBody, Problem};
use super::labels::{MemoryContext, Mode, memory_context};
use super::partition::Label;
use super::place::Place;
use super::render::json;
use axum::http::StatusCode;
use loci_engine::brief::{BYTES_MAX, Brief, BriefMode, BriefRequest};
use loci_engine::{Error, Purpose};
use loci_model::Memory;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A compiled reminder.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusMemoryReminder)]
pub(super) struct ReminderBody {
    agent_id: String,
    mode: Mode,
    /// How many bytes there were for it.
    max_bytes: u32,
    /// What to put before the model; empty when there is nothing.
    text: String,
    bytes: usize,
    /// How many entries it tells of.
    entries_shown: usize,
    /// How many it leaves out.
    entries_omitted: usize,
}

/// Compiles what a turn of the agent begins with: pinned entries first, then the most important,
/// then the newest; quoted as data.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent}/memory/context",
    tag = "mobius",
    summary = "What of its memory a turn of the agent begins with",
    params(
        ("mode" = Option<String>, Query, description = "`index`, `full` or `off`; the agent's own when not given"),
        ("max_bytes" = Option<u32>, Query, description = "up to 245760; the mode's default when not given or 0"),
        ("user_id" = Option<String>, Query, description = "also this user's entries; not with projects"),
    ),
    responses((status = 200, body = ReminderBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn read(call: Call) -> Answer {
    let place = Place::of(&call, Purpose::Read).await?.introduced(&call).await?;
    let user = match call.revision {
        Revision::A => String::new(),
        Revision::B => call.query().get("user_id")?.unwrap_or_default(),
    };
    let setting = setting(&call, &place).await?;
    let brief = match (place.store, setting.mode) {
        (None, _) | (_, Mode::Off) => Brief { text: String::new(), shown: Vec::new(), left_out: 0 },
        (Some(store), mode) => {
            let name = move |memory: &Memory| {
                let label = Label::of(&memory.path);
                (label.is_shared() || label.user == user).then_some(label.key)
            };
            let mode = if mode == Mode::Full { BriefMode::Full } else { BriefMode::Index };
            let bytes_max = setting.bytes() as usize;
            let request = BriefRequest { store, mode, bytes_max, name: Arc::new(name) };
            match call.engine.brief(&place.context, request).await {
                Err(Error::OverQuota(why)) => return Err(Problem::context_overflow(why)),
                compiled => compiled?,
            }
        }
    };
    let body = ReminderBody {
        agent_id: place.agent_id,
        mode: setting.mode,
        max_bytes: setting.bytes(),
        bytes: brief.text.len(),
        text: brief.text,
        entries_shown: brief.shown.len(),
        entries_omitted: brief.left_out,
    };
    Ok(json(StatusCode::OK, &body))
}

/// What the request asks for, and otherwise what the agent's owner set.
async fn setting(call: &Call, place: &Place) -> Result<MemoryContext, Problem> {
    let own = match place.store {
        Some(store) => memory_context(&call.engine.store(&place.context, store).await?),
        None => None,
    };
    let mut setting = own.unwrap_or_default();
    if let Some(mode) = call.query().get("mode")? {
        let mode = Mode::parse(&mode);
        let mode = mode.ok_or_else(|| Problem::invalid("mode must be index, full or off"))?;
        setting = MemoryContext { mode, max_bytes: None };
    }
    if let Some(bytes) = call.query().get("max_bytes")? {
        let bytes = bytes.parse().ok().filter(|bytes| *bytes as usize <= BYTES_MAX);
        let why = || format!("max_bytes takes 0 to {BYTES_MAX}");
        setting.max_bytes = Some(bytes.ok_or_else(|| Problem::invalid(why()))?);
    }
    Ok(setting)
}
