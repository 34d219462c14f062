//! The QiForge door: what its oracles keep about the people they talk to, and what they know
//! themselves.
//!
//! Who asks is known from a token that the user made ([`access`]); the user, the oracle and the room
//! together name the place ([`place`]). Conversations come in whole ([`messages`]), context goes out in
//! batches ([`batch`]), and models have six tools ([`tools`]), which other transports can offer too.

mod access;
mod batch;
mod call;
mod dates;
mod did;
mod document;
mod episode;
mod error;
mod find;
mod messages;
mod options;
mod place;
mod query;
mod remove;
mod render;
mod tools;

pub use access::{Access, Refusal, admit, knowledge_store};
pub use document::openapi;
pub use options::{Oracle, QiforgeOptions};
pub use tools::{TOOLS, Tool, Tools};

use axum::Router;
use axum::routing::{get, post};
use call::{Door, Endpoint, WRONG_METHOD};
use loci_engine::Engine;
use std::sync::Arc;

/// Every route of this door but the one for tools, which is a transport's. The layers around it leave
/// `loci_engine::{Identified, Visit}` on each request and bound the size of its body. Clients put two
/// slashes where their configured URL ends with one; both lead here, because they follow no redirects.
pub fn router(engine: Engine, options: Arc<QiforgeOptions>) -> Router {
    let messages = || post(Endpoint(messages::messages)).fallback(WRONG_METHOD);
    let batch = || post(Endpoint(batch::search_enhanced_batch)).fallback(WRONG_METHOD);
    Router::new()
        .route("/.well-known/did.json", get(did::document))
        .route("/qiforge/messages", messages())
        .route("/qiforge//messages", messages())
        .route("/qiforge/search-enhanced-batch", batch())
        .route("/qiforge//search-enhanced-batch", batch())
        .with_state(Door { engine, options })
}
