//! Endpoints 12 to 14: versions are listed, read and redacted.

pub(super) mod render;
mod request;

use super::body;
use super::call::{Answer, Call};
use super::error::{Envelope, Problem};
use super::render::PageBody;
use super::stores::store_id;
use loci_model::{VersionId, View};
use render::VersionBody;

/// Lists versions, newest first; those of deleted memories too.
#[utoipa::path(
    get,
    path = "/v1/memory_stores/{memory_store_id}/memory_versions",
    tag = "memory versions",
    params(
        ("memory_store_id" = String, Path),
        ("memory_id" = Option<String>, Query, description = "of this memory"),
        ("operation" = Option<String>, Query, description = "created, modified or deleted"),
        ("session_id" = Option<String>, Query, description = "written by this session"),
        ("api_key_id" = Option<String>, Query, description = "written with this key"),
        ("service_account_id" = Option<String>, Query, description = "written by this service account"),
        ("created_at[gte]" = Option<String>, Query, description = "written at or after this time"),
        ("created_at[lte]" = Option<String>, Query, description = "written at or before this time"),
        ("view" = Option<String>, Query, description = "basic (default) or full"),
        ("limit" = Option<u32>, Query, description = "1 to 100, 20 when not given; full pages hold at most 20"),
        ("page" = Option<String>, Query, description = "`next_page` of the page before"),
    ),
    responses((status = 200, body = PageBody<VersionBody<'_>>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn list(call: Call) -> Answer {
    let query = request::listing(call.query())?;
    let store = store_id(&call)?;
    let page = call.engine.versions(&call.context, store, &query).await?;
    let bytes = page.items.iter().map(render::bytes_of).sum();
    Ok(call.engine.written(bytes, move || render::page(&page)).await?)
}

/// Reads a version; a redacted one too.
#[utoipa::path(
    get,
    path = "/v1/memory_stores/{memory_store_id}/memory_versions/{memory_version_id}",
    tag = "memory versions",
    params(
        ("memory_store_id" = String, Path),
        ("memory_version_id" = String, Path),
        ("view" = Option<String>, Query, description = "basic or full (default)"),
    ),
    responses((status = 200, body = VersionBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn retrieve(call: Call) -> Answer {
    let view = call.query().view(View::Full)?;
    let (store, id) = (store_id(&call)?, version_id(&call)?);
    let version = call.engine.version(&call.context, store, id, view).await?;
    let bytes = render::bytes_of(&version);
    Ok(call.engine.written(bytes, move || render::version(&version)).await?)
}

/// Redacts a version that is not the current one of a live memory: what it held is gone for good.
#[utoipa::path(
    post,
    path = "/v1/memory_stores/{memory_store_id}/memory_versions/{memory_version_id}/redact",
    tag = "memory versions",
    params(("memory_store_id" = String, Path), ("memory_version_id" = String, Path)),
    responses((status = 200, body = VersionBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn redact(call: Call) -> Answer {
    body::read_none(&call.body)?;
    let (store, id) = (store_id(&call)?, version_id(&call)?);
    let version = call.engine.redact(&call.context, store, id).await?;
    Ok(render::version(&version))
}

fn version_id(call: &Call) -> Result<VersionId, Problem> {
    call.id("memory_version_id", "memory version")
}
