//! What a store holds, compiled for a prompt.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, Params};
use axum::Json;
use axum::extract::State;
use loci_engine::brief::{
    BYTES_MAX, BriefMode, BriefRequest, FULL_BYTES_DEFAULT, INDEX_BYTES_DEFAULT,
};
use loci_model::StoreId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// How much of each memory.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ModeName {
    /// One line each, as many as fit.
    Index,
    /// All of everything, or a refusal.
    Full,
}

/// How much of the store, in how many bytes.
#[derive(Deserialize)]
pub(crate) struct BriefParams {
    mode: Option<ModeName>,
    max_bytes: Option<usize>,
}

/// A compiled brief.
#[derive(Serialize, ToSchema)]
#[schema(as = Brief)]
pub(crate) struct BriefView {
    /// Always `brief`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The text; empty when there is nothing to tell.
    text: String,
    /// Its bytes.
    bytes: usize,
    /// The memories it tells of, in its order.
    memory_ids: Vec<String>,
    /// How many it leaves out.
    left_out: usize,
}

/// What a store holds, compiled for a prompt: pinned first, then what matters most, then the newest;
/// quoted as data.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/brief",
    tag = "search", operation_id = "memory_stores_brief",
    params(
        ("memory_store_id" = String, Path),
        ("mode" = Option<String>, Query, description = "`index` (when not given) or `full`"),
        ("max_bytes" = Option<usize>, Query,
            description = "up to 245760; 1536 for an index and 131072 for all when not given or 0"),
    ),
    responses((status = 200, body = BriefView)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    Params(params): Params<BriefParams>,
) -> Result<Json<BriefView>> {
    let (mode, default) = match params.mode.unwrap_or(ModeName::Index) {
        ModeName::Index => (BriefMode::Index, INDEX_BYTES_DEFAULT),
        ModeName::Full => (BriefMode::Full, FULL_BYTES_DEFAULT),
    };
    let bytes_max = params.max_bytes.filter(|bytes| *bytes > 0).unwrap_or(default);
    if bytes_max > BYTES_MAX {
        return Err(Failure::invalid(format!("max_bytes: takes up to {BYTES_MAX}")));
    }
    let name = |memory: &loci_model::Memory| Some(memory.path.as_str().to_owned());
    let request = BriefRequest { store, mode, bytes_max, name: Arc::new(name) };
    let brief = native.engine.brief(&context, request).await?;
    Ok(Json(BriefView {
        kind: "brief",
        bytes: brief.text.len(),
        text: brief.text,
        memory_ids: brief.shown.iter().map(ToString::to_string).collect(),
        left_out: brief.left_out,
    }))
}
