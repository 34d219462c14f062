//! Endpoints 1 to 6: stores are made, listed, read, described, deleted and archived.

pub(super) mod render;
pub(super) mod request;

use super::body;
use super::call::{Answer, Call};
use super::error::{Envelope, Problem};
use super::render::{DeletedBody, PageBody, deleted, json};
use loci_model::StoreId;
use render::StoreBody;
use request::{CreateStore, UpdateStore};

/// Makes a memory store.
#[utoipa::path(
    post,
    path = "/v1/memory_stores",
    tag = "memory stores",
    request_body = CreateStore,
    responses((status = 200, body = StoreBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn create(call: Call) -> Answer {
    let new = body::read::<CreateStore>(&call.body)?.into_new();
    let store = call.engine.create_store(&call.context, new).await?;
    Ok(json(&StoreBody::of(&store)))
}

/// Lists memory stores, newest first.
#[utoipa::path(
    get,
    path = "/v1/memory_stores",
    tag = "memory stores",
    params(
        ("created_at[gte]" = Option<String>, Query, description = "created at or after this time"),
        ("created_at[lte]" = Option<String>, Query, description = "created at or before this time"),
        ("include_archived" = Option<bool>, Query, description = "archived stores too"),
        ("limit" = Option<u32>, Query, description = "1 to 100, 20 when not given"),
        ("page" = Option<String>, Query, description = "`next_page` of the page before"),
    ),
    responses((status = 200, body = PageBody<StoreBody<'_>>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn list(call: Call) -> Answer {
    let query = request::listing(call.query())?;
    let page = call.engine.list_stores(&call.context, &query).await?;
    Ok(render::page(&page))
}

/// Reads a memory store, archived or not.
#[utoipa::path(
    get,
    path = "/v1/memory_stores/{memory_store_id}",
    tag = "memory stores",
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = StoreBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn retrieve(call: Call) -> Answer {
    let store = call.engine.store(&call.context, store_id(&call)?).await?;
    Ok(json(&StoreBody::of(&store)))
}

/// Changes a memory store's name, description or metadata.
#[utoipa::path(
    post,
    path = "/v1/memory_stores/{memory_store_id}",
    tag = "memory stores",
    params(("memory_store_id" = String, Path)),
    request_body = UpdateStore,
    responses((status = 200, body = StoreBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn update(call: Call) -> Answer {
    let patch = body::read::<UpdateStore>(&call.body)?.into_patch();
    let id = store_id(&call)?;
    let store = call.engine.describe_store(&call.context, id, patch).await?;
    Ok(json(&StoreBody::of(&store)))
}

/// Deletes a memory store with everything in it.
#[utoipa::path(
    delete,
    path = "/v1/memory_stores/{memory_store_id}",
    tag = "memory stores",
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = DeletedBody), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn delete(call: Call) -> Answer {
    let id = store_id(&call)?;
    let id = call.engine.remove_store(&call.context, id).await?;
    Ok(deleted(id, "memory_store_deleted"))
}

/// Archives a memory store: it can be read and cleaned up, never written again.
#[utoipa::path(
    post,
    path = "/v1/memory_stores/{memory_store_id}/archive",
    tag = "memory stores",
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = StoreBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn archive(call: Call) -> Answer {
    body::read_none(&call.body)?;
    let id = store_id(&call)?;
    let store = call.engine.archive_store(&call.context, id).await?;
    Ok(json(&StoreBody::of(&store)))
}

/// The store in the URL.
pub(super) fn store_id(call: &Call) -> Result<StoreId, Problem> {
    call.id("memory_store_id", "memory store")
}
