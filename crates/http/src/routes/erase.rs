//! Erasing a memory: gone from sight and from every file, history and all.

use super::Native;
use crate::error::Result;
use crate::extract::{Authed, InStore, NoBody};
use axum::Json;
use axum::extract::State;
use loci_engine::compact::{DerivedLine, Fate};
use loci_model::MemoryId;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// What was erased.
#[derive(Serialize, ToSchema)]
pub(crate) struct Erased {
    /// The memory.
    id: String,
    /// Always `memory_erased`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// How many versions were scrubbed.
    versions: u64,
    /// The summary that compaction made from it, if any.
    derived: Vec<DerivedView>,
}

/// A summary that quoted what was erased.
#[derive(Serialize, ToSchema)]
pub(crate) struct DerivedView {
    /// The summary.
    memory_id: String,
    /// Where it lies, unless it is gone.
    path: Option<String>,
    /// `requoted`: it is quoted anew from its other sources, and what it said before is scrubbed;
    /// `erased`: it goes as a whole.
    outcome: &'static str,
}

impl From<DerivedLine> for DerivedView {
    fn from(line: DerivedLine) -> Self {
        Self {
            memory_id: line.memory.to_string(),
            path: line.path.map(|path| path.to_string()),
            outcome: match line.fate {
                Fate::Requoted => "requoted",
                Fate::Erased => "erased",
            },
        }
    }
}

/// Removes a memory and scrubs every version it ever had, also where compaction quoted it. When this
/// answers, the content is in no file of ours.
#[utoipa::path(post, path = "/v1/memory_stores/{memory_store_id}/memories/{memory_id}/erase",
    tag = "memories", operation_id = "memories_erase",
    params(("memory_store_id" = String, Path), ("memory_id" = String, Path)),
    responses((status = 200, body = Erased)))]
pub(crate) async fn erase(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    InStore(store, memory): InStore<MemoryId>,
    _: NoBody,
) -> Result<Json<Erased>> {
    let erased = native.engine.erase(&context, store, memory).await?;
    Ok(Json(Erased {
        id: memory.to_string(),
        kind: "memory_erased",
        versions: erased.versions,
        derived: erased.derived.into_iter().map(DerivedView::from).collect(),
    }))
}
