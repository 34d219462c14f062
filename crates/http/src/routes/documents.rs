//! Documents, written piece by piece.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, JsonBody};
use axum::Json;
use axum::extract::State;
use loci_engine::documents::Pieces;
use loci_model::{StoreId, Visibility};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const KIND_DEFAULT: &str = "document";

/// Some of the pieces of a document.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = DocumentPieces)]
pub(crate) struct PiecesBody {
    /// What it is called; may have directories.
    #[schema(min_length = 1)]
    document: String,
    /// The number of the first of these, from 1; 1 when not given.
    #[schema(minimum = 1, maximum = 20000)]
    first: Option<usize>,
    /// How many the document has; as many as are sent when not given.
    #[schema(minimum = 1, maximum = 20000)]
    total: Option<usize>,
    /// The texts, up to 500 at a time.
    #[schema(min_items = 1, max_items = 500)]
    pieces: Vec<String>,
    /// The kind of the memories; `document` when not given.
    #[schema(min_length = 1, max_length = 64)]
    kind: Option<String>,
    /// `context` (when not given), or `internal` for what models do not see.
    #[schema(pattern = "^(context|internal)$")]
    visibility: Option<String>,
}

/// What became of them.
#[derive(Serialize, ToSchema)]
#[schema(as = DocumentIngested)]
pub(crate) struct IngestedView {
    /// Always `document_ingested`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// New or changed pieces.
    written: usize,
    /// Pieces that are as they were.
    unchanged: usize,
    /// Pieces the document no longer has.
    removed: usize,
}

/// Writes pieces of a document below `/documents/`; with the last of them goes what an earlier form
/// of it had more.
#[utoipa::path(post, path = "/v1/memory_stores/{memory_store_id}/documents",
    tag = "attributes", operation_id = "documents_ingest",
    params(("memory_store_id" = String, Path)),
    request_body = PiecesBody,
    responses((status = 200, body = IngestedView)))]
pub(crate) async fn ingest(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    JsonBody(body): JsonBody<PiecesBody>,
) -> Result<Json<IngestedView>> {
    let visibility = match body.visibility.as_deref() {
        None | Some("context") => Visibility::Context,
        Some("internal") => Visibility::Internal,
        Some(_) => return Err(Failure::invalid("visibility: takes context or internal")),
    };
    let first = body.first.unwrap_or(1);
    let pieces = Pieces {
        document: body.document,
        first,
        total: body.total.unwrap_or_else(|| first.saturating_sub(1) + body.pieces.len()),
        texts: body.pieces,
        kind: body.kind.unwrap_or_else(|| KIND_DEFAULT.to_owned()),
        visibility,
    };
    let done = native.engine.ingest(&context, store, &pieces).await?;
    Ok(Json(IngestedView {
        kind: "document_ingested",
        written: done.written,
        unchanged: done.unchanged,
        removed: done.removed,
    }))
}
