//! Signing in and out. The browser is given a cookie that scripts cannot read; the key that was shown
//! for it is not kept anywhere.

use super::WhoView;
use crate::error::{Failure, Result};
use crate::extract::{Authed, JsonBody, NoBody};
use crate::layers::cookie;
use crate::layers::view::Viewer;
use crate::routes::Native;
use crate::routes::keys::{AudienceName, PowerName};
use crate::wire::{ActorView, time};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::header::{CACHE_CONTROL, SET_COOKIE};
use http::{HeaderMap, Method, StatusCode};
use loci_engine::{Context, Error, SignedIn};
use loci_model::{Caller, RequestId, StoreId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What somebody signs in with: one of the two.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoginRequest {
    /// An API key.
    key: Option<String>,
    /// The word behind `#once=` in a link to the console.
    once: Option<String>,
}

/// What the server says about itself.
#[derive(Serialize, ToSchema)]
pub(crate) struct ServerView {
    /// Its version.
    version: &'static str,
    /// Whether it only reads.
    is_replica: bool,
    /// Since when it runs.
    started_at: String,
}

/// Somebody who is signed in.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConsoleSession {
    /// Always `console_session`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// On whose authority.
    principal: WhoView,
    /// Whether they administer the workspace.
    is_admin: bool,
    /// Host or model.
    audience: AudienceName,
    /// How much the session may do at most.
    level: PowerName,
    /// Only these stores; `null` is all that the principal has.
    stores: Option<Vec<String>>,
    /// When it ends.
    expires_at: Option<String>,
    /// What is written on versions.
    actor: Option<ActorView>,
    /// With whose eyes this request looks.
    view_as: Option<WhoView>,
    /// The server.
    server: ServerView,
}

impl ConsoleSession {
    async fn of(native: &Native, caller: Caller, request: RequestId) -> Result<Self> {
        let context = Context { caller, request, idempotency: None };
        let principal = native.engine.own_principal(&context).await?;
        let caller = context.caller;
        let stores = caller.scope.stores;
        Ok(Self {
            kind: "console_session",
            principal: (&principal).into(),
            is_admin: caller.is_admin,
            audience: caller.audience.into(),
            level: caller.scope.power.into(),
            stores: stores.map(|stores| stores.iter().map(StoreId::to_string).collect()),
            expires_at: time(caller.expires_at),
            actor: ActorView::of(caller.actor),
            view_as: None,
            server: ServerView {
                version: env!("CARGO_PKG_VERSION"),
                is_replica: native.engine.is_replica(),
                started_at: native.started_at.to_string(),
            },
        })
    }
}

/// Signs a browser in: for a key, or for a word that works once.
#[utoipa::path(post, path = "/console/login", tag = "console", operation_id = "console_login",
    request_body = LoginRequest, security(()),
    responses((status = 200, body = ConsoleSession,
        description = "Signed in, with the cookie `loci_console`")))]
pub(crate) async fn login(
    State(native): State<Arc<Native>>,
    Extension(request): Extension<RequestId>,
    headers: HeaderMap,
    JsonBody(wanted): JsonBody<LoginRequest>,
) -> Result<Response> {
    // Or another site could sign somebody in as another and wait for what they write.
    if !cookie::is_own_page(&Method::POST, &headers) {
        return Err((&Error::Denied(cookie::NOT_OUR_PAGE)).into());
    }
    let engine = &native.engine;
    let SignedIn { caller, secret, expires_at } = match (&wanted.key, &wanted.once) {
        (Some(key), None) => engine.sign_in(key.trim(), request).await?,
        (None, Some(once)) => engine.sign_in_once(once.trim(), request).await?,
        _ => return Err(Failure::invalid("body: give either key or once")),
    };
    let micros = expires_at.as_micros().saturating_sub(engine.seams().now().as_micros());
    let cookie = cookie::set(secret.reveal(), micros.div_euclid(1_000_000).max(0), &headers);
    let session = ConsoleSession::of(&native, caller, request).await?;
    Ok(([(SET_COOKIE, cookie)], [(CACHE_CONTROL, "no-store")], Json(session)).into_response())
}

/// Signs the browser out; its cookie opens nothing any more.
#[utoipa::path(post, path = "/console/logout", tag = "console", operation_id = "console_logout",
    responses((status = 204, description = "Signed out")))]
pub(crate) async fn logout(
    State(native): State<Arc<Native>>,
    authed: Result<Authed>,
    headers: HeaderMap,
    _: NoBody,
) -> Result<Response> {
    // Asked again, a session that has ended opens nothing, but may have left something that stands on it.
    if let Some(shown) = cookie::shown(&headers)
        && (authed.is_ok() || cookie::is_own_page(&Method::POST, &headers))
    {
        native.engine.sign_out(shown).await?;
    }
    authed?;
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie::cleared())]).into_response())
}

/// Who is signed in, and what the page may offer them.
#[utoipa::path(get, path = "/console/session", tag = "console", operation_id = "console_session",
    responses((status = 200, body = ConsoleSession)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    viewer: Option<Extension<Viewer>>,
) -> Result<Json<ConsoleSession>> {
    let Some(Extension(Viewer(viewer))) = viewer else {
        return Ok(Json(ConsoleSession::of(&native, context.caller, context.request).await?));
    };
    let viewed = native.engine.own_principal(&context).await?;
    let mut session = ConsoleSession::of(&native, viewer, context.request).await?;
    session.view_as = Some((&viewed).into());
    Ok(Json(session))
}

/// A link that signs in once.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConsoleLink {
    /// Always `console_link`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The word to sign in with.
    once: String,
    /// Until when.
    expires_at: String,
    /// Where the console is, if this server listens anywhere.
    url: Option<String>,
}

/// Makes a word that signs in once, within 10 minutes, as whoever asks for it.
#[utoipa::path(post, path = "/console/links", tag = "console", operation_id = "console_link",
    responses((status = 200, body = ConsoleLink)))]
pub(crate) async fn link(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    _: NoBody,
) -> Result<Json<ConsoleLink>> {
    let (secret, expires_at) = native.engine.console_link(&context).await?;
    Ok(Json(ConsoleLink {
        kind: "console_link",
        once: secret.reveal().to_owned(),
        expires_at: expires_at.to_string(),
        url: native.console_url.clone(),
    }))
}
