//! The Memory Stores door: stores, memories, versions, and sessions as far as attaching a store
//! needs them, in the shapes the published client libraries expect.
//!
//! Each noun has a file of endpoints, a `request` that reads the wire and a `render` that writes it.
//! `call` is what every request goes through first: who asks, then the beta header, then the rest.

mod beta;
mod body;
mod call;
mod cursor;
mod document;
mod error;
mod memories;
mod query;
mod registry;
mod render;
mod sessions;
mod stores;
mod versions;

pub use document::{openapi, openapi_of_agents};

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use call::{beta as with_beta, plain};
use loci_engine::Engine;

/// Every route of this door. The layers around it leave `loci_engine::Identified` and
/// `loci_model::RequestId` on each request and bound the size of its body.
pub fn router(engine: Engine) -> Router {
    let stores = Router::new()
        .route("/v1/memory_stores", post(with_beta(stores::create)).get(with_beta(stores::list)))
        .route(
            "/v1/memory_stores/{memory_store_id}",
            get(with_beta(stores::retrieve))
                .post(with_beta(stores::update))
                .delete(with_beta(stores::delete)),
        )
        .route("/v1/memory_stores/{memory_store_id}/archive", post(with_beta(stores::archive)));
    let memories = Router::new()
        .route(
            "/v1/memory_stores/{memory_store_id}/memories",
            post(with_beta(memories::create)).get(with_beta(memories::list)),
        )
        .route(
            "/v1/memory_stores/{memory_store_id}/memories/{memory_id}",
            get(with_beta(memories::retrieve))
                .post(with_beta(memories::update))
                .patch(with_beta(memories::update))
                .delete(with_beta(memories::delete)),
        )
        .route(
            "/v1/memory_stores/{memory_store_id}/memory_by_path",
            get(plain(memories::retrieve_by_path)),
        );
    let versions = Router::new()
        .route(
            "/v1/memory_stores/{memory_store_id}/memory_versions",
            get(with_beta(versions::list)),
        )
        .route(
            "/v1/memory_stores/{memory_store_id}/memory_versions/{memory_version_id}",
            get(with_beta(versions::retrieve)),
        )
        .route(
            "/v1/memory_stores/{memory_store_id}/memory_versions/{memory_version_id}/redact",
            post(with_beta(versions::redact)),
        );
    let sessions = Router::new()
        .route("/v1/sessions", post(plain(sessions::create)).get(plain(sessions::list)))
        .route(
            "/v1/sessions/{session_id}",
            get(plain(sessions::retrieve))
                .post(plain(sessions::update))
                .delete(plain(sessions::delete)),
        )
        .route("/v1/sessions/{session_id}/archive", post(plain(sessions::archive)))
        .route(
            "/v1/sessions/{session_id}/resources",
            get(plain(sessions::list_resources)).post(plain(sessions::change::add_resource)),
        )
        .route(
            "/v1/sessions/{session_id}/resources/{resource_id}",
            get(plain(sessions::retrieve_resource))
                .post(plain(sessions::change::update_resource))
                .delete(plain(sessions::change::delete_resource)),
        );
    let environments = Router::new()
        .route("/v1/environments", post(plain(registry::environments::create)))
        .route("/v1/environments/{environment_id}", get(plain(registry::environments::retrieve)));
    let all = stores.merge(memories).merge(versions).merge(sessions).merge(environments);
    all.with_state(engine)
}

/// Another door's routes, which keep every request but those that clients of this one send to
/// `/v1/agents`: they say so in their beta header.
pub fn with_agents(others: Router, engine: Engine) -> Router {
    others.layer(from_fn_with_state(engine, registry::agents::divert))
}
