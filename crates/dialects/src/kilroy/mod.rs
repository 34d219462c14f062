//! The Kilroy door: the five memory blocks of its pipelines, called as webhooks.
//!
//! A block is told where by `memory_id`, which names a store ([`place`]); what it keeps there are
//! records, each an ordinary memory ([`record`]). Whatever goes wrong inside a block is told as
//! `{"error": …}` in an answer that is otherwise fine, because that is what pipelines can show; HTTP
//! statuses are for what never reached a block and for faults of the server.

mod call;
mod change;
mod document;
mod error;
mod find;
mod hook;
mod place;
mod record;
mod render;
mod request;
mod targs;
mod template;
mod word;

pub use document::openapi;

use axum::Router;
use axum::routing::post;
use call::{Endpoint, WRONG_METHOD};
use loci_engine::Engine;

/// Every route of this door. The layers around it leave `loci_engine::Identified` and
/// `loci_model::RequestId` on each request and bound the size of its body. That a key may stand in
/// the URL here is theirs to know: the pattern says `{api_token}`.
pub fn router(engine: Engine) -> Router {
    let later = post(Endpoint(hook::webhook)).fallback(WRONG_METHOD);
    let now = post(Endpoint(hook::webhook_sync)).fallback(WRONG_METHOD);
    Router::new()
        .route("/api/v1/pd/webhook/{api_token}/{pd_alias}/{trigger_name}", later)
        .route("/api/v1/pd/webhook_sync/{api_token}/{pd_alias}/{trigger_name}", now)
        .with_state(engine)
}
