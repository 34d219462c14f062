//! The Mobius door: the memory of agents as entries under keys, in both published revisions.
//!
//! An agent is a principal and its memory is that principal's home, so an entry is an ordinary
//! memory: a key is one segment of a path ([`crate::key`]), the private entries of a user lie in a
//! namespace of their own ([`partition`]). The revisions differ in their path, and in whether the
//! user of an entry is said at all; clients refuse an answer with one field too many.

mod agent;
mod agents;
mod call;
mod changes;
mod compact;
mod context;
mod cursor;
mod document;
mod entries;
mod entry;
mod error;
mod fields;
mod kind;
mod labels;
mod list;
mod partition;
mod place;
mod promotion;
mod query;
mod render;
mod save;
mod search;
mod summary;
mod tools;

pub use document::openapi;
pub use labels::{MemoryContext, Mode, memory_context};
pub use tools::{ToolDefinition, definitions};

use axum::Router;
use axum::routing::{MethodRouter, delete, get, post, put};
use call::{Answer, Call, Endpoint, Revision};
use error::Problem;
use loci_engine::Engine;

/// Every route of this door. The layers around it leave `loci_engine::Identified` and
/// `loci_model::RequestId` on each request and bound the size of its body.
pub fn router(engine: Engine) -> Router {
    let mut router = Router::new();
    for revision in [Revision::A, Revision::B] {
        let base = revision.base();
        for (rest, methods) in methods(revision) {
            let route = methods.fallback(Endpoint(revision, wrong_method));
            router = router.route(&format!("{base}{rest}"), route);
        }
    }
    router.with_state(engine)
}

fn methods(revision: Revision) -> Vec<(&'static str, MethodRouter<Engine>)> {
    let many = get(Endpoint(revision, agents::many)).post(Endpoint(revision, agents::create));
    let one = get(Endpoint(revision, agents::one)).patch(Endpoint(revision, agents::change));
    let entry = put(Endpoint(revision, entries::save)).delete(Endpoint(revision, entries::remove));
    let mut all = vec![
        ("", many),
        ("/{agent}", one),
        ("/{agent}/memory", get(Endpoint(revision, summary::read))),
        ("/{agent}/memory/entries", get(Endpoint(revision, entries::many))),
        ("/{agent}/memory/entries/{memory_key}", entry),
        ("/{agent}/memory/changes", get(Endpoint(revision, changes::read))),
        ("/{agent}/memory/context", get(Endpoint(revision, context::read))),
        ("/{agent}/memory/compact", post(Endpoint(revision, compact::compact))),
        ("/{agent}/tools", get(Endpoint(revision, tools::define))),
        ("/{agent}/tools/{tool}/invoke", post(Endpoint(revision, tools::invoke))),
    ];
    if revision == Revision::B {
        let route = "/{agent}/memory/entries/{memory_key}/promotion";
        let promotion = post(Endpoint(revision, promotion::promote));
        all.push((route, promotion.merge(delete(Endpoint(revision, promotion::revert)))));
    }
    all
}

async fn wrong_method(_: Call) -> Answer {
    Err(Problem::wrong_method())
}
