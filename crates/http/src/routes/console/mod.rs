//! What only the console asks for: signing in, everything at once that the first view shows, and the
//! stream of changes. None of it tells more than other routes would, one thing at a time.

pub(crate) mod events;
pub(crate) mod series;
pub(crate) mod session;
pub(crate) mod stores;

use super::Native;
use super::principals::KindName;
use axum::Router;
use axum::routing::{get, post};
use loci_model::Principal;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Somebody, as far as a line of a table shows them.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct WhoView {
    /// `prn_…`.
    pub(crate) id: String,
    /// Its name.
    pub(crate) name: String,
    /// What sort.
    pub(crate) kind: KindName,
}

impl From<&Principal> for WhoView {
    fn from(principal: &Principal) -> Self {
        Self {
            id: principal.id.to_string(),
            name: principal.name.clone(),
            kind: principal.kind.into(),
        }
    }
}

/// The routes below `/console/` that are no pages.
pub(crate) fn router() -> Router<Arc<Native>> {
    Router::new()
        .route("/console/login", post(session::login))
        .route("/console/logout", post(session::logout))
        .route("/console/session", get(session::show))
        .route("/console/links", post(session::link))
        .route("/console/events", get(events::stream))
        .route("/console/stores", get(stores::list))
        .route("/console/series", get(series::show))
        .route("/console/names", get(stores::names))
}
