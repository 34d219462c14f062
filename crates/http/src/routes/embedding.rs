//! How far search by meaning has come, and making all vectors anew; for administrators.

use super::Native;
use crate::error::Result;
use crate::extract::{Authed, NoBody};
use axum::Json;
use axum::extract::State;
use loci_engine::Context;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A generation of vectors: made by one model in one go.
#[derive(Serialize, ToSchema)]
#[schema(as = EmbeddingGeneration)]
pub(crate) struct GenerationView {
    /// 1, 2, 3 …
    generation: u32,
    /// The name of the model.
    model: String,
}

/// How far vectors have come.
#[derive(Serialize, ToSchema)]
#[schema(as = EmbeddingStatus)]
pub(crate) struct EmbeddingView {
    /// Always `embedding`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The model in use; `null` when there is none, and search is by word only.
    model: Option<String>,
    /// Numbers in a vector.
    dims: u32,
    /// The generation being written.
    generation: u32,
    /// Stores with memories that have no vectors yet.
    stores_behind: u64,
    /// Feed entries that vectors have not followed yet, over all stores.
    changes_behind: u64,
    /// Every generation there is, oldest first.
    generations: Vec<GenerationView>,
    /// Indexes in memory now.
    indexes: u64,
    /// About how many bytes they take.
    index_bytes: u64,
}

/// How far vectors have come.
#[utoipa::path(get, path = "/v1/embedding", tag = "administration",
    operation_id = "embedding_status", responses((status = 200, body = EmbeddingView)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
) -> Result<Json<EmbeddingView>> {
    status(&native, &context).await
}

/// Begins to make all vectors anew, in the background; the old ones serve until that is done.
#[utoipa::path(post, path = "/v1/embedding/reembed", tag = "administration",
    operation_id = "embedding_reembed", responses((status = 200, body = EmbeddingView)))]
pub(crate) async fn reembed(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    _: NoBody,
) -> Result<Json<EmbeddingView>> {
    native.engine.reembed(&context).await?;
    status(&native, &context).await
}

async fn status(native: &Native, context: &Context) -> Result<Json<EmbeddingView>> {
    let status = native.engine.embedding_status(context).await?;
    let generations = status.generations.into_iter();
    Ok(Json(EmbeddingView {
        kind: "embedding",
        model: status.model,
        dims: status.dims,
        generation: status.generation,
        stores_behind: status.stores_behind,
        changes_behind: status.changes_behind,
        generations: generations
            .map(|(generation, model)| GenerationView { generation, model })
            .collect(),
        indexes: status.indexes,
        index_bytes: status.index_bytes,
    }))
}
