//! What is known about somebody, compiled for a prompt in six slots.

use super::Native;
use super::knowledge::FactView;
use super::search::MemoryView;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Params};
use axum::Json;
use axum::extract::State;
use loci_engine::knowledge::{CONTEXT_BYTES_DEFAULT, SlotsRequest};
use loci_engine::search::Reach;
use loci_model::StoreId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// About whom, and how much.
#[derive(Deserialize)]
pub(crate) struct ContextParams {
    principal: Option<String>,
    memory_store_id: Option<String>,
    max_bytes: Option<usize>,
}

/// One of the six slots.
#[derive(Serialize, ToSchema)]
#[schema(as = ContextSlot)]
pub(crate) struct SlotView {
    /// `identity`, `work`, `goals`, `interests`, `relationships` or `recent`.
    name: &'static str,
    /// What is so, best first; nothing that is over, nothing twice.
    facts: Vec<FactView>,
    /// What was written lately; in `recent` only.
    episodes: Vec<MemoryView>,
}

/// What is known about somebody.
#[derive(Serialize, ToSchema)]
#[schema(as = Context)]
pub(crate) struct ContextView {
    /// Always `context`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// All six, in the order in which the text tells them.
    slots: Vec<SlotView>,
    /// For a prompt, quoted as data; empty when nothing is known.
    text: String,
    /// Its bytes.
    bytes: usize,
}

/// What is known about somebody, from the stores that are theirs and that the caller may read.
#[utoipa::path(get, path = "/v1/context",
    tag = "knowledge", operation_id = "context",
    params(
        ("principal" = Option<String>, Query, description = "about whom, by name or id; the caller when not given"),
        ("memory_store_id" = Option<String>, Query, description = "from this store alone"),
        ("max_bytes" = Option<usize>, Query, description = "of the text, up to 245760; 4096 when not given or 0"),
    ),
    responses((status = 200, body = ContextView)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Params(params): Params<ContextParams>,
) -> Result<Json<ContextView>> {
    let reach = match (&params.memory_store_id, &params.principal) {
        (Some(_), Some(_)) => {
            return Err(Failure::invalid("memory_store_id: cannot stand beside principal"));
        }
        (Some(id), None) => {
            let id: StoreId = id.parse().map_err(|_| Failure::not_found("memory store"))?;
            Reach::Store(id)
        }
        (None, who) => {
            let own = context.caller.principal.to_string();
            let who = who.as_deref().unwrap_or(&own);
            Reach::Among(native.engine.stores_named(&context, who).await?)
        }
    };
    let bytes_max = params.max_bytes.filter(|bytes| *bytes > 0).unwrap_or(CONTEXT_BYTES_DEFAULT);
    let told = native.engine.slots(&context, &SlotsRequest { reach, bytes_max }).await?;
    let mut slots = Vec::with_capacity(told.slots.len());
    for slot in &told.slots {
        let episodes = slot.episodes.iter().cloned().map(MemoryView::of);
        let episodes = episodes.collect::<Result<_>>()?;
        let facts = slot.facts.iter().cloned();
        let facts = facts.map(|(store, fact)| FactView::of(store, fact)).collect();
        slots.push(SlotView { name: slot.theme.name(), facts, episodes });
    }
    let text = told.text.clone();
    Ok(Json(ContextView { kind: "context", slots, bytes: text.len(), text }))
}
