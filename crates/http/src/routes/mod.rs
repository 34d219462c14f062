//! Loci's own routes: what the doors' contracts have no words for.
//!
//! Each file is one noun: its wire types, its routes, nothing else. Routes parse, call the engine
//! once, and render.

pub(crate) mod access;
pub(crate) mod admin;
pub(crate) mod attributes;
pub(crate) mod brief;
pub(crate) mod changes;
pub(crate) mod chats;
pub(crate) mod compact;
pub(crate) mod console;
pub(crate) mod context;
pub(crate) mod documents;
pub(crate) mod dump;
pub(crate) mod duplicates;
pub(crate) mod edits;
pub(crate) mod embedding;
pub(crate) mod entries;
pub(crate) mod erase;
pub(crate) mod events;
pub(crate) mod extraction;
pub(crate) mod grants;
pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod hygiene;
pub(crate) mod keys;
pub(crate) mod knowledge;
pub(crate) mod large;
pub(crate) mod policy;
pub(crate) mod principals;
pub(crate) mod redactions;
pub(crate) mod revert;
pub(crate) mod sealed;
pub(crate) mod search;
pub(crate) mod sessions_note;
pub(crate) mod stats;
pub(crate) mod switches;
pub(crate) mod whoami;

use crate::error::{Failure, Result};
use crate::metrics::Metrics;
use crate::shares::Shares;
use axum::Router;
use axum::routing::{delete, get, post, put};
use bytes::Bytes;
use loci_engine::Engine;
use loci_model::{Level, Timestamp};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use utoipa::ToSchema;

/// What native routes work with.
pub(crate) struct Native {
    pub(crate) engine: Engine,
    pub(crate) metrics: Arc<Metrics>,
    /// The OpenAPI document, ready to send.
    pub(crate) document: Bytes,
    pub(crate) scratch_dir: PathBuf,
    /// Turns for making backups.
    pub(crate) backups: Arc<Semaphore>,
    pub(crate) body_idle_timeout: Duration,
    pub(crate) started_at: Timestamp,
    /// Where browsers find the console.
    pub(crate) console_url: Option<String>,
    /// Turns for writing large answers down.
    pub(crate) writing: Arc<Semaphore>,
    /// Streams of changes that are open.
    pub(crate) streams: Arc<Shares>,
    /// Plots that are being counted.
    pub(crate) plots: Arc<Shares>,
}

/// How the gate times a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timing {
    /// The whole request has one deadline.
    Bounded,
    /// The same, with a body of a few words.
    Brief,
    /// The same, with a body that says all at once what others say in many requests.
    Batched,
    /// Takes as long as the data is large.
    Streamed,
    /// The same, and the route reads the body itself.
    Uploaded,
}

/// The timing of a route, by its pattern.
pub(crate) fn timing(route: &str) -> Timing {
    match route {
        "/v1/import" => Timing::Uploaded,
        // A device sends whatever it has not sent yet, and would send the same for ever.
        "/api/storage/memory-scoped" => Timing::Batched,
        // A conversation is handed over whole when it ends.
        "/qiforge/messages" | "/qiforge//messages" => Timing::Batched,
        // A whole directory moves in one request.
        "/v1/memory_stores/{memory_store_id}/edits" => Timing::Batched,
        "/v1/backup" | "/v1/export" | "/v1/check" => Timing::Streamed,
        // Goes on for as long as somebody looks.
        "/console/events" => Timing::Streamed,
        "/console/login" => Timing::Brief,
        _ => Timing::Bounded,
    }
}

/// Who gets as far as a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Openness {
    /// Those who are known; each route refuses the others.
    Known,
    /// Those who have something to show that is no credential yet.
    Newcomers,
    /// Everybody. It does not matter who asks, nor how old is what is told; neither is looked up: a
    /// probe must not wait for storage only because it brings a key.
    Anybody,
}

/// Who gets as far as a route, by its pattern.
pub(crate) fn openness(route: &str) -> Openness {
    match route {
        "/healthz" | "/readyz" | "/openapi.json" => Openness::Anybody,
        // The files of a page that holds no secret.
        "/console" | "/console/" | "/console/assets/{name}" | "/console/{*page}" => {
            Openness::Anybody
        }
        "/console/login" => Openness::Newcomers,
        // How to get a credential is for those who have none.
        route if route.starts_with("/.well-known/") => Openness::Anybody,
        _ => Openness::Known,
    }
}

/// Whether those who ask for a path prove who they are by tokens of their own making, and in no other
/// way.
pub(crate) fn is_for_visitors(path: &str) -> bool {
    path.starts_with("/qiforge/")
}

/// The native routes, without layers.
pub(crate) fn router(native: Arc<Native>) -> Router {
    const STORE: &str = "/v1/memory_stores/{memory_store_id}";
    let store = |rest: &str| format!("{STORE}/{rest}");
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(health::openapi))
        .route(&store("grants"), get(grants::list).post(grants::share))
        .route(&store("grants/{grant_id}"), delete(grants::revoke))
        .route(
            &store("memories/{memory_id}/attributes"),
            get(attributes::show).post(attributes::change).patch(attributes::change),
        )
        .route(&store("memories/{memory_id}/erase"), post(erase::erase))
        .route(&store("sealed"), post(sealed::put))
        .route(&store("memories/{memory_id}/sealed"), get(sealed::fetch))
        .route("/v1/whoami", get(whoami::show))
        .route(&store("entries"), get(entries::list))
        .route(&store("entries/{memory_id}"), get(entries::show))
        .route(&store("edits"), post(edits::apply))
        .route(&store("history"), get(history::list))
        .route(&store("hygiene"), get(hygiene::list))
        .route(&store("redactions"), post(redactions::create))
        .route(&store("revert"), post(revert::revert))
        .route(&store("access"), get(access::list))
        .route(&store("changes"), get(changes::list))
        .route(&store("search"), post(search::in_store))
        .route("/v1/search", post(search::everywhere))
        .route(&store("duplicates"), get(duplicates::report))
        .route(&store("policy"), get(policy::show).post(policy::change))
        .route(&store("compact"), post(compact::compact))
        .route(&store("memories/{memory_id}/undo_compaction"), post(compact::undo))
        .route(&store("brief"), get(brief::show))
        .route(&store("documents"), post(documents::ingest))
        .route(&store("facts"), get(knowledge::facts))
        .route(&store("facts/{fact_id}"), delete(knowledge::dismiss))
        .route(&store("entities"), get(knowledge::entities))
        .route("/v1/knowledge", post(knowledge::ask))
        .route("/v1/context", get(context::show))
        .route(&store("stats"), get(stats::of_store))
        .route("/v1/stats", get(stats::of_all))
        .route("/v1/api_keys", get(keys::list).post(keys::create))
        .route("/v1/api_keys/{api_key_id}", delete(keys::revoke))
        .route("/v1/principals", get(principals::list).post(principals::create))
        .route("/v1/principals/{principal}/memory", get(switches::show).post(switches::change))
        .route("/v1/chats", get(chats::list))
        .route("/v1/chats/{chat}", get(chats::show))
        .route(
            "/v1/chats/{chat}/members/{member}",
            put(chats::add_member).delete(chats::remove_member),
        )
        .route("/v1/events", get(events::list))
        .route("/v1/sessions/{session_id}/note", get(sessions_note::show))
        .route("/v1/check", post(admin::check))
        .route("/v1/embedding", get(embedding::show))
        .route("/v1/embedding/reembed", post(embedding::reembed))
        .route("/v1/extraction", get(extraction::show))
        .route("/v1/extraction/forget", post(extraction::forget))
        .route("/v1/backup", get(admin::backup))
        .route("/v1/export", get(dump::export))
        .route("/v1/import", post(dump::import))
        .merge(console::router())
        .with_state(native)
}

/// How much a grant gives.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LevelName {
    /// Search only.
    Search,
    /// Read everything.
    Read,
    /// Read and write.
    ReadWrite,
}

impl From<Level> for LevelName {
    fn from(level: Level) -> Self {
        match level {
            Level::Search => Self::Search,
            Level::Read => Self::Read,
            Level::ReadWrite => Self::ReadWrite,
        }
    }
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Search => Self::Search,
            LevelName::Read => Self::Read,
            LevelName::ReadWrite => Self::ReadWrite,
        }
    }
}

/// An end given as a moment or as seconds from now, not both.
fn end(
    now: Timestamp,
    at: Option<&str>,
    in_secs: Option<u32>,
    seconds_field: &'static str,
) -> Result<Option<Timestamp>> {
    match (at, in_secs) {
        (Some(_), Some(_)) => {
            Err(Failure::invalid(format!("expires_at: cannot stand beside {seconds_field}")))
        }
        (Some(at), None) => match Timestamp::parse(at) {
            Ok(at) => Ok(Some(at)),
            Err(invalid) => Err(Failure::invalid(format!("expires_at: {}", invalid.why))),
        },
        (None, Some(0)) => Err(Failure::invalid(format!("{seconds_field}: must be positive"))),
        (None, Some(secs)) => Ok(Some(now.plus_secs(i64::from(secs)))),
        (None, None) => Ok(None),
    }
}
