//! API keys over the wire. A secret is shown once, in the answer that made it.

use super::{Native, end};
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, JsonBody};
use crate::wire::{List, time};
use axum::Json;
use axum::extract::State;
use loci_engine::NewKey;
use loci_model::{ApiKey, Audience, KeyId, Level, Power, SessionId, StoreId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// How much of its principal's authority a key carries.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PowerName {
    /// Search only.
    Search,
    /// Read everything.
    Read,
    /// Read and write.
    ReadWrite,
    /// Everything its principal may do.
    Full,
}

impl From<PowerName> for Power {
    fn from(name: PowerName) -> Self {
        match name {
            PowerName::Search => Self::UpTo(Level::Search),
            PowerName::Read => Self::UpTo(Level::Read),
            PowerName::ReadWrite => Self::UpTo(Level::ReadWrite),
            PowerName::Full => Self::Full,
        }
    }
}

impl From<Power> for PowerName {
    fn from(power: Power) -> Self {
        match power {
            Power::UpTo(Level::Search) => Self::Search,
            Power::UpTo(Level::Read) => Self::Read,
            Power::UpTo(Level::ReadWrite) => Self::ReadWrite,
            Power::Full => Self::Full,
        }
    }
}

/// Which side of the prompt a key is for.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AudienceName {
    /// A program run by people.
    Host,
    /// A model: does not see internal memories.
    Model,
}

impl From<Audience> for AudienceName {
    fn from(audience: Audience) -> Self {
        match audience {
            Audience::Host => Self::Host,
            Audience::Model => Self::Model,
        }
    }
}

/// A key to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyRequest {
    /// A name for people.
    #[schema(min_length = 1, max_length = 255)]
    name: String,
    /// For whom, by id, UUID or name; the caller when not given.
    principal: Option<String>,
    /// How much; `full` when not given, `readwrite` for a session.
    level: Option<PowerName>,
    /// Only these stores.
    #[schema(max_items = 100)]
    stores: Option<Vec<String>>,
    /// Bound to this session: acts as the session, on its stores only.
    session_id: Option<String>,
    /// For a host, which is the default, or a model, which is the default for a session.
    audience: Option<AudienceName>,
    /// Whether it may act for any agent that a request names: the key of a platform that many
    /// agents stand behind. Only administrators make such keys.
    #[serde(default)]
    acts_for_agents: bool,
    /// Until when.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// The same in seconds from now.
    #[schema(minimum = 1)]
    expires_in_seconds: Option<u32>,
}

/// An API key.
#[derive(Serialize, ToSchema)]
pub(crate) struct KeyView {
    /// `apikey_…`; names the key, opens nothing.
    id: String,
    /// Always `api_key`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// A name for people.
    name: String,
    /// The first characters of the secret, to recognise it by.
    hint: String,
    /// On whose authority it acts.
    principal: String,
    /// How much of it.
    level: PowerName,
    /// Only these stores; `null` is all.
    stores: Option<Vec<String>>,
    /// The session it is bound to.
    session_id: Option<String>,
    /// Host or model.
    audience: AudienceName,
    /// Whether it may act for any agent that a request names.
    acts_for_agents: bool,
    /// The console session that it was made in and ends with.
    console_session: Option<String>,
    /// Since when.
    created_at: String,
    /// Until when.
    expires_at: Option<String>,
    /// When it was revoked.
    revoked_at: Option<String>,
}

impl From<ApiKey> for KeyView {
    fn from(key: ApiKey) -> Self {
        let (name, session) = loci_engine::made_in(&key);
        let (name, console_session) = (name.to_owned(), session.map(str::to_owned));
        let stores = key.scope.stores;
        Self {
            id: key.id.to_string(),
            kind: "api_key",
            name,
            hint: key.hint,
            principal: key.principal.to_string(),
            level: key.scope.power.into(),
            stores: stores.map(|stores| stores.iter().map(StoreId::to_string).collect()),
            session_id: key.session.map(|session| session.to_string()),
            audience: key.audience.into(),
            acts_for_agents: key.acts_for_agents,
            console_session,
            created_at: key.created_at.to_string(),
            expires_at: time(key.expires_at),
            revoked_at: time(key.revoked_at),
        }
    }
}

/// A new API key with its secret.
#[derive(Serialize, ToSchema)]
pub(crate) struct NewKeyView {
    #[serde(flatten)]
    key: KeyView,
    /// The secret: here and never again. `null` when an idempotent request is repeated, for then it
    /// has been shown.
    secret: Option<String>,
}

/// The workspace's keys.
#[utoipa::path(get, path = "/v1/api_keys", tag = "API keys", operation_id = "api_keys_list",
    responses((status = 200, body = List<KeyView>)))]
pub(crate) async fn list(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
) -> Result<Json<List<KeyView>>> {
    let keys = native.engine.keys(&context).await?;
    let data = keys.into_iter().map(KeyView::from).collect();
    Ok(Json(List { data }))
}

/// Makes a key. In a console session it ends with the session, unless the request has a key in a header
/// beside the cookie: then that key makes it.
#[utoipa::path(post, path = "/v1/api_keys",
    tag = "API keys", operation_id = "api_keys_create", request_body = KeyRequest,
    responses((status = 200, body = NewKeyView)))]
pub(crate) async fn create(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    JsonBody(wanted): JsonBody<KeyRequest>,
) -> Result<Json<NewKeyView>> {
    let engine = &native.engine;
    let at = wanted.expires_at.as_deref();
    let now = engine.seams().now();
    let expires_at = end(now, at, wanted.expires_in_seconds, "expires_in_seconds")?;
    let session = parse_session(wanted.session_id.as_deref())?;
    let stores = parse_stores(wanted.stores)?;
    let principal = match wanted.principal {
        Some(name_or_id) => Some(engine.key_owner(&context, &name_or_id).await?),
        None => None,
    };
    // A session speaks for a model and works on its stores; more has to be asked for.
    let (level, audience) = match session {
        Some(_) => (PowerName::ReadWrite, AudienceName::Model),
        None => (PowerName::Full, AudienceName::Host),
    };
    let new = NewKey {
        name: wanted.name,
        principal,
        power: wanted.level.unwrap_or(level).into(),
        stores,
        session,
        audience: match wanted.audience.unwrap_or(audience) {
            AudienceName::Host => Audience::Host,
            AudienceName::Model => Audience::Model,
        },
        acts_for_agents: wanted.acts_for_agents,
        expires_at,
    };
    let (key, secret) = engine.create_key(&context, new).await?;
    // A repeated request gets the first one's key back, whose secret nobody has any more.
    let secret = secret.map(|secret| secret.reveal().to_owned());
    Ok(Json(NewKeyView { key: key.into(), secret }))
}

fn parse_session(text: Option<&str>) -> Result<Option<SessionId>> {
    let parsed = text.map(str::parse).transpose();
    parsed.map_err(|_| Failure::not_found("session"))
}

fn parse_stores(texts: Option<Vec<String>>) -> Result<Option<Vec<StoreId>>> {
    let parse = |texts: Vec<String>| texts.iter().map(|text| text.parse()).collect();
    let parsed = texts.map(parse).transpose();
    parsed.map_err(|_: loci_model::Invalid| Failure::not_found("memory store"))
}

/// Revokes a key; it opens nothing from now on.
#[utoipa::path(delete, path = "/v1/api_keys/{api_key_id}",
    tag = "API keys", operation_id = "api_keys_revoke",
    params(("api_key_id" = String, Path)),
    responses((status = 200, body = KeyView)))]
pub(crate) async fn revoke(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(key): Id<KeyId>,
) -> Result<Json<KeyView>> {
    Ok(Json(native.engine.revoke_key(&context, key).await?.into()))
}
