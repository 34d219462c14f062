//! For probes and scrapers: alive, ready, metrics, and the OpenAPI document. None of it needs a key,
//! because none of it tells anything about what is stored; metrics are for this machine only, or for
//! an administrator from elsewhere.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::Authed;
use crate::listen::Peer;
use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// How the server is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`.
    status: &'static str,
}

/// Whether the server is ready.
#[derive(Serialize, ToSchema)]
pub(crate) struct Readiness {
    /// `ok`.
    status: &'static str,
    /// Whether the disk had no room for the last write that needed any. Reading goes on, and so does
    /// what makes room or takes access away; so the server stays ready.
    disk_full: bool,
}

/// Whether the process answers at all.
#[utoipa::path(get, path = "/healthz", tag = "health", operation_id = "healthz", security(()),
    responses((status = 200, body = Health)))]
pub(crate) async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Whether writes are being accepted; on a replica, whether it can be read.
#[utoipa::path(get, path = "/readyz", tag = "health", operation_id = "readyz", security(()),
    responses((status = 200, body = Readiness), (status = 503, description = "Not now")))]
pub(crate) async fn readyz(State(native): State<Arc<Native>>) -> Result<Json<Readiness>> {
    match native.engine.ready().await {
        Ok(()) => Ok(Json(Readiness { status: "ok", disk_full: native.engine.is_disk_full() })),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            let message = match native.engine.is_replica() {
                true => "the replica cannot be read",
                false => "the server does not accept writes",
            };
            Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, message).retry_after(1))
        }
    }
}

/// Counts for Prometheus; from other machines only with an administrator's key.
#[utoipa::path(get, path = "/metrics",
    tag = "health", operation_id = "metrics", security((), ("key" = []), ("key_header" = [])),
    responses((status = 200, content_type = "application/openmetrics-text", body = String)))]
pub(crate) async fn metrics(
    State(native): State<Arc<Native>>,
    peer: Option<Extension<Peer>>,
    authed: Result<Authed>,
) -> Result<impl IntoResponse> {
    let is_here = peer.is_some_and(|Extension(Peer(ip))| ip.to_canonical().is_loopback());
    if !is_here && !authed?.0.caller.is_admin {
        let message = "metrics from another machine need an administrator's key";
        return Err(Failure::new(StatusCode::FORBIDDEN, message));
    }
    const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(CONTENT_TYPE, TEXT)], native.metrics.render(native.engine.reading_counts().as_ref())))
}

/// The document that describes every route.
#[utoipa::path(get, path = "/openapi.json", tag = "health", operation_id = "openapi", security(()),
    responses((status = 200, content_type = "application/json", body = Object)))]
pub(crate) async fn openapi(State(native): State<Arc<Native>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], native.document.clone())
}
