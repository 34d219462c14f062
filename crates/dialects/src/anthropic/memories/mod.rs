//! Endpoints 7 to 11: memories are created, listed, read, updated and deleted.
//!
//! Reading by path is ours: the contract knows only ids. It stands here because it answers with the
//! same object, and needs no beta header because no client library asks for it.

pub(super) mod render;
pub(super) mod request;

use super::body;
use super::call::{Answer, Call};
use super::error::{Envelope, Problem};
use super::render::{DeletedBody, PageBody, deleted};
use super::stores::store_id;
use crate::size;
use loci_model::query::ListItem;
use loci_model::{At, Edit, MemoryId, StoreId, View};
use render::{ItemBody, MemoryBody};
use request::{CreateMemory, UpdateMemory};

/// What the feed shows as the reason of writes through this door.
const REASON: &str = "api";

/// Creates a memory; never overwrites one.
#[utoipa::path(
    post,
    path = "/v1/memory_stores/{memory_store_id}/memories",
    tag = "memories",
    params(
        ("memory_store_id" = String, Path),
        ("view" = Option<String>, Query, description = "basic (default) or full"),
    ),
    request_body = CreateMemory,
    responses((status = 200, body = MemoryBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn create(call: Call) -> Answer {
    let view = call.query().view(View::Basic)?;
    let edit = body::read::<CreateMemory>(&call.body)?.into_edit()?;
    write(&call, store_id(&call)?, edit, view).await
}

/// Lists memories by path; with `depth=1` deeper ones are rolled up into prefixes.
#[utoipa::path(
    get,
    path = "/v1/memory_stores/{memory_store_id}/memories",
    tag = "memories",
    params(
        ("memory_store_id" = String, Path),
        ("path_prefix" = Option<String>, Query, description = "a directory, with its trailing slash"),
        ("depth" = Option<u32>, Query, description = "0 or not given: the whole subtree; 1: direct children"),
        ("view" = Option<String>, Query, description = "basic (default) or full"),
        ("limit" = Option<u32>, Query, description = "1 to 100, 20 when not given; full pages hold at most 20"),
        ("page" = Option<String>, Query, description = "`next_page` of the page before"),
        ("order_by" = Option<String>, Query, description = "path (default), created_at or updated_at"),
        ("order" = Option<String>, Query, description = "asc (default) or desc"),
    ),
    responses((status = 200, body = PageBody<ItemBody<'_>>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn list(call: Call) -> Answer {
    let query = request::listing(call.query())?;
    let store = store_id(&call)?;
    let page = call.engine.list(&call.context, store, &query).await?;
    let memories = page.items.iter().filter_map(|item| match item {
        ListItem::Memory(memory) => Some(&**memory),
        ListItem::Directory(_) => None,
    });
    let bytes = size::of_all(memories);
    let write = move || render::page(&page, query.order, query.direction);
    Ok(call.engine.written(bytes, write).await?)
}

/// Reads a memory.
#[utoipa::path(
    get,
    path = "/v1/memory_stores/{memory_store_id}/memories/{memory_id}",
    tag = "memories",
    params(
        ("memory_store_id" = String, Path),
        ("memory_id" = String, Path),
        ("view" = Option<String>, Query, description = "basic or full (default)"),
    ),
    responses((status = 200, body = MemoryBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn retrieve(call: Call) -> Answer {
    let view = call.query().view(View::Full)?;
    let (store, at) = (store_id(&call)?, At::Id(memory_id(&call)?));
    let memory = call.engine.get(&call.context, store, &at, view).await?;
    let bytes = size::of(&memory);
    let write = move || render::memory(&memory, memory.content.as_ref());
    Ok(call.engine.written(bytes, write).await?)
}

/// Reads the memory at a path.
#[utoipa::path(
    get,
    path = "/v1/memory_stores/{memory_store_id}/memory_by_path",
    tag = "memories",
    params(
        ("memory_store_id" = String, Path),
        ("path" = String, Query, description = "the path, percent-encoded"),
        ("view" = Option<String>, Query, description = "basic or full (default)"),
    ),
    responses((status = 200, body = MemoryBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn retrieve_by_path(call: Call) -> Answer {
    let view = call.query().view(View::Full)?;
    let at = At::Path(None, request::path(call.query())?);
    let memory = call.engine.get(&call.context, store_id(&call)?, &at, view).await?;
    let bytes = size::of(&memory);
    let write = move || render::memory(&memory, memory.content.as_ref());
    Ok(call.engine.written(bytes, write).await?)
}

/// Changes a memory's content, path or both, optionally only if its content is as expected.
#[utoipa::path(
    method(post, patch),
    path = "/v1/memory_stores/{memory_store_id}/memories/{memory_id}",
    tag = "memories",
    params(
        ("memory_store_id" = String, Path),
        ("memory_id" = String, Path),
        ("view" = Option<String>, Query, description = "basic (default) or full"),
    ),
    request_body = UpdateMemory,
    responses((status = 200, body = MemoryBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn update(call: Call) -> Answer {
    let view = call.query().view(View::Basic)?;
    let update = body::read::<UpdateMemory>(&call.body)?.checked()?;
    let store = store_id(&call)?;
    let edit = update.into_edit(memory_id(&call)?);
    write(&call, store, edit, view).await
}

/// Deletes a memory; its versions stay.
#[utoipa::path(
    delete,
    path = "/v1/memory_stores/{memory_store_id}/memories/{memory_id}",
    tag = "memories",
    params(
        ("memory_store_id" = String, Path),
        ("memory_id" = String, Path),
        ("expected_content_sha256" = Option<String>, Query, description = "delete only this content"),
    ),
    responses((status = 200, body = DeletedBody), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn delete(call: Call) -> Answer {
    let expect = request::delete_expectation(call.query())?;
    let store = store_id(&call)?;
    let edit = Edit::remove(At::Id(memory_id(&call)?), expect);
    let outcome = call.engine.commit_one(&call.context, store, edit, REASON).await?;
    Ok(deleted(outcome.memory.id, "memory_deleted"))
}

/// Commits an edit and shows the memory after it. Its content is the one just written; when the
/// edit brought none, it is read from the version the edit left, which no later writer can change.
async fn write(call: &Call, store: StoreId, edit: Edit, view: View) -> Answer {
    let given = match view {
        View::Basic => None,
        View::Full => request::content_of(&edit).cloned(),
    };
    let outcome = call.engine.commit_one(&call.context, store, edit, REASON).await?;
    let memory = outcome.memory;
    let content = match (view, given) {
        (View::Full, None) => {
            let head = call.engine.version(&call.context, store, memory.head, view).await?;
            head.content
        }
        (_, given) => given,
    };
    let bytes = content.as_ref().map_or(0, |content| content.bytes().len());
    let write = move || render::memory(&memory, content.as_ref());
    Ok(call.engine.written(bytes, write).await?)
}

fn memory_id(call: &Call) -> Result<MemoryId, Problem> {
    call.id("memory_id", "memory")
}
