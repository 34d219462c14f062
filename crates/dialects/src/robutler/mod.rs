//! The Robutler door: the memory of its agents, in every generation of its clients.
//!
//! Store memory (`/api/storage/memory`) keeps entries under keys in stores that belong to agents,
//! chats and users; the key-value routes before it are the agent's own entries. A key is one segment
//! of a path ([`key`] says how), a value is content ([`value`]), a store is somebody's home
//! ([`place`]); who may do what there is the engine's to say.

mod call;
mod document;
mod entry;
pub(crate) mod error;
mod fields;
mod kv;
mod list;
mod memory;
mod place;
mod query;
mod reach;
mod render;
mod scoped;
mod share;
pub(crate) mod value;

pub use document::openapi;

use axum::Router;
use axum::routing::{MethodRouter, get, put};
use call::{Endpoint, wrong_method};
use loci_engine::Engine;

/// Every route of this door. The layers around it leave `loci_engine::Identified` and
/// `loci_model::RequestId` on each request and bound the size of its body.
pub fn router(engine: Engine) -> Router {
    let whole = with_all(
        get(Endpoint(memory::many))
            .post(Endpoint(memory::give))
            .delete(Endpoint(memory::take_back))
            .put(Endpoint(memory::nameless)),
    );
    let entry = with_all(
        get(Endpoint(memory::read)).put(Endpoint(memory::write)).delete(Endpoint(memory::remove)),
    );
    let pair = put(Endpoint(kv::write)).get(Endpoint(kv::read)).delete(Endpoint(kv::remove));
    let first = get(Endpoint(kv::first_read))
        .post(Endpoint(kv::first_write))
        .delete(Endpoint(kv::first_remove));
    Router::new()
        .route("/api/storage/memory", whole.clone())
        .route("/api/storage/memory/", whole)
        .route("/api/storage/memory/{*key}", entry)
        .route("/api/storage/kv", with_all(get(Endpoint(kv::many))))
        .route("/api/storage/kv/", with_all(get(Endpoint(kv::many))))
        .route("/api/storage/kv/{*key}", with_all(pair))
        .route("/api/kv", with_all(first))
        .route(scoped::ROUTE, with_all(scoped::methods()))
        .with_state(engine)
}

/// A route whose other methods are refused in this door's words.
fn with_all(route: MethodRouter<Engine>) -> MethodRouter<Engine> {
    route.fallback(wrong_method)
}
