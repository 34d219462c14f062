//! How far the model has come that reads facts beside the rules, and taking back what one read; for
//! administrators.

use super::Native;
use crate::error::Result;
use crate::extract::{Authed, JsonBody};
use axum::Json;
use axum::extract::State;
use loci_engine::Context;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// How far the reader of this server has come.
#[derive(Serialize, ToSchema)]
#[schema(as = ExtractionStatus)]
pub(crate) struct ExtractionView {
    /// Always `extraction`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The model that reads, as facts name it; `null` when rules alone read.
    reader: Option<String>,
    /// Requests made today, counted in UTC.
    requests_today: u64,
    /// Tokens they took.
    tokens_today: u64,
    /// Requests that it may make in a day.
    requests_per_day: u64,
    /// Tokens that it may take in a day.
    tokens_per_day: u64,
    /// Stores with changes that it has not read yet.
    stores_behind: u64,
}

/// Whose facts are to be forgotten.
#[derive(Deserialize, ToSchema)]
#[schema(as = ForgetReader)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForgetBody {
    /// The name of a reader, as `extractor` shows it.
    reader: String,
}

/// How far the reader of this server has come.
#[utoipa::path(get, path = "/v1/extraction", tag = "administration",
    operation_id = "extraction_status", responses((status = 200, body = ExtractionView)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
) -> Result<Json<ExtractionView>> {
    status(&native, &context).await
}

/// Forgets all that a reader found. Nothing is read a second time for it; what is written later is.
#[utoipa::path(post, path = "/v1/extraction/forget", tag = "administration",
    operation_id = "extraction_forget", request_body = ForgetBody,
    responses((status = 200, body = ExtractionView)))]
pub(crate) async fn forget(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    JsonBody(body): JsonBody<ForgetBody>,
) -> Result<Json<ExtractionView>> {
    native.engine.forget_reader(&context, &body.reader).await?;
    status(&native, &context).await
}

async fn status(native: &Native, context: &Context) -> Result<Json<ExtractionView>> {
    let status = native.engine.reading_status(context).await?;
    Ok(Json(ExtractionView {
        kind: "extraction",
        reader: status.reader,
        requests_today: status.spent.requests,
        tokens_today: status.spent.tokens,
        requests_per_day: status.requests_per_day,
        tokens_per_day: status.tokens_per_day,
        stores_behind: status.stores_behind,
    }))
}
