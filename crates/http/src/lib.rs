//! The HTTP server: an accept loop that slow clients cannot hold, the layers every request passes,
//! and Loci's own routes.
//!
//! The doors (`loci-dialects`) come in as finished routers and know nothing of this crate; they find
//! who asks in the request's extensions. So authentication, limits, request ids, logs and metrics
//! are the same for all of them.
#![warn(missing_docs)]

mod bodies;
mod error;
mod extract;
mod layers;
mod listen;
mod metrics;
mod misread;
mod openapi;
mod options;
mod phase;
mod registry;
mod ring;
mod routes;
mod shares;
mod timed_io;
mod wire;

pub use error::refused;
pub use layers::auth::LocalOperator;
pub use layers::host::Hosts;
pub use layers::token::{TokenOptions, Tokens};
pub use layers::ucan::{KeySource, UcanOptions, Ucans};
pub use listen::{Listener, serve};
pub use options::HttpOptions;

use axum::Router;
use layers::GateLayer;
use loci_engine::Engine;
use metrics::Metrics;
use routes::Native;
use routes::console::{events, series};
use shares::Shares;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// All routes, under all layers: the native ones and those of the doors. `openapi` describes the
/// doors' routes; together with ours it is served at `/openapi.json`.
pub fn router(
    engine: Engine,
    doors: Router,
    openapi: utoipa::openapi::OpenApi,
    options: &HttpOptions,
) -> Router {
    let metrics = Arc::new(Metrics::new());
    let native = Native {
        engine: engine.clone(),
        metrics: Arc::clone(&metrics),
        document: openapi::document(openapi),
        scratch_dir: options.scratch_dir.clone(),
        backups: Arc::new(Semaphore::new(routes::admin::BACKUPS_AT_ONCE_MAX)),
        body_idle_timeout: options.body_idle_timeout,
        started_at: engine.seams().now(),
        console_url: options.console_url.clone(),
        writing: Arc::new(Semaphore::new(routes::large::WRITTEN_AT_ONCE_MAX)),
        streams: Shares::new(events::STREAMS_AT_ONCE_MAX, events::STREAMS_EACH_MAX),
        plots: Shares::new(series::PLOTS_AT_ONCE_MAX, series::PLOTS_EACH_MAX),
    };
    routes::router(Arc::new(native))
        .merge(doors)
        .fallback(error::unknown_route)
        .method_not_allowed_fallback(error::wrong_method)
        .layer(GateLayer::new(engine, metrics, options))
}
