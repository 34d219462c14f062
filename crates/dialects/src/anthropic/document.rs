//! The OpenAPI description of this door, gathered from its endpoints.

use super::{error, memories, render, sessions, stores, versions};
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    paths(
        stores::create,
        stores::list,
        stores::retrieve,
        stores::update,
        stores::delete,
        stores::archive,
        memories::create,
        memories::list,
        memories::retrieve,
        memories::update,
        memories::delete,
        versions::list,
        versions::retrieve,
        versions::redact,
        sessions::create,
        sessions::list,
        sessions::retrieve,
        sessions::update,
        sessions::delete,
        sessions::archive,
        sessions::list_resources,
        sessions::add_resource,
        sessions::retrieve_resource,
    ),
    components(schemas(
        error::Envelope<'_>,
        render::ActorBody,
        stores::render::StoreBody<'_>,
        memories::render::MemoryBody<'_>,
        memories::render::PrefixBody<'_>,
        versions::render::VersionBody<'_>,
        sessions::render::SessionBody<'_>,
        sessions::render::ResourceBody<'_>,
        sessions::AgentBody,
        sessions::request::MemoryStoreResource,
    )),
    tags(
        (name = "memory stores", description = "Containers of memories"),
        (name = "memories", description = "Documents at paths"),
        (name = "memory versions", description = "The history of memories"),
        (name = "sessions", description = "Agents' sessions and the stores attached to them"),
    )
)]
struct Document;

/// The description of every route of this door.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}
