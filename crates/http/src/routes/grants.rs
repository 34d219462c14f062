//! Sharing a store over the wire.

use super::{LevelName, Native, end};
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, InStore, JsonBody};
use crate::wire::{List, time};
use axum::Json;
use axum::extract::State;
use loci_engine::{Context, Engine, NewGrant, Shared};
use loci_model::{Grant, GrantId, Grantee, StoreId};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;
use utoipa::ToSchema;

/// Everybody in the workspace, as a grantee.
const EVERYONE: &str = "everyone";

/// A grant to be given.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrantRequest {
    /// A principal's name, id or UUID, or `everyone`.
    grantee: String,
    /// How much.
    level: LevelName,
    /// Until when.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// The same in seconds from now.
    #[schema(minimum = 1)]
    ttl_seconds: Option<u32>,
}

/// A store shared with somebody.
#[derive(Serialize, ToSchema)]
pub(crate) struct GrantView {
    /// `grt_…`.
    id: String,
    /// Always `grant`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The store.
    memory_store_id: String,
    /// A principal's id, or `everyone`.
    grantee: String,
    /// The principal's name; `null` for everyone.
    grantee_name: Option<String>,
    /// How much.
    level: LevelName,
    /// The principal who gave it.
    given_by: String,
    /// Until when.
    expires_at: Option<String>,
    /// Since when.
    created_at: String,
}

/// A store that was just shared with somebody.
#[derive(Serialize, ToSchema)]
pub(crate) struct SharedView {
    #[serde(flatten)]
    grant: GrantView,
    /// Grants that went because this one left their giver with less.
    revoked: Vec<String>,
}

impl GrantView {
    pub(crate) async fn of(engine: &Engine, context: &Context, grant: Grant) -> Result<Self> {
        let grantee_name = match grant.grantee {
            Grantee::Principal(id) => engine.named(context, &id.to_string()).await?,
            Grantee::Everyone => None,
        };
        Ok(Self {
            id: grant.id.to_string(),
            kind: "grant",
            memory_store_id: grant.store.to_string(),
            grantee: match grant.grantee {
                Grantee::Principal(id) => id.to_string(),
                Grantee::Everyone => EVERYONE.to_owned(),
            },
            grantee_name: grantee_name.map(|principal| principal.name),
            level: grant.level.into(),
            given_by: grant.given_by.to_string(),
            expires_at: time(grant.expires_at),
            created_at: grant.created_at.to_string(),
        })
    }
}

/// Whom a text means.
async fn grantee(engine: &Engine, context: &Context, text: &str) -> Result<Grantee> {
    if text == EVERYONE {
        return Ok(Grantee::Everyone);
    }
    Ok(Grantee::Principal(engine.find_grantee(context, text).await?.id))
}

/// A grant in a path: its id, or whom it was given to.
pub(crate) enum GrantName {
    Id(GrantId),
    Grantee(String),
}

impl FromStr for GrantName {
    type Err = Infallible;

    fn from_str(text: &str) -> std::result::Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Grantee(text.to_owned()), Self::Id))
    }
}

/// What a revocation took back.
#[derive(Serialize, ToSchema)]
pub(crate) struct Revoked {
    /// The grant.
    id: String,
    /// Always `grant_revoked`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// This grant and those its grantee had given on.
    revoked: Vec<String>,
}

/// The grants of a store.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/grants",
    tag = "grants", operation_id = "grants_list",
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = List<GrantView>)))]
pub(crate) async fn list(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
) -> Result<Json<List<GrantView>>> {
    let grants = native.engine.grants(&context, store).await?;
    let mut data = Vec::with_capacity(grants.len());
    for grant in grants {
        data.push(GrantView::of(&native.engine, &context, grant).await?);
    }
    Ok(Json(List { data }))
}

/// Shares a store; a second grant to the same grantee replaces the first.
#[utoipa::path(post, path = "/v1/memory_stores/{memory_store_id}/grants",
    tag = "grants", operation_id = "grants_share",
    params(("memory_store_id" = String, Path)), request_body = GrantRequest,
    responses((status = 200, body = SharedView)))]
pub(crate) async fn share(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    JsonBody(wanted): JsonBody<GrantRequest>,
) -> Result<Json<SharedView>> {
    let engine = &native.engine;
    let now = engine.seams().now();
    let at = wanted.expires_at.as_deref();
    let expires_at = end(now, at, wanted.ttl_seconds, "ttl_seconds")?;
    // Who is known here is not for those to find out who may not share.
    engine.require_share(&context, store).await?;
    let grantee = grantee(engine, &context, &wanted.grantee).await?;
    let new = NewGrant { grantee, level: wanted.level.into(), expires_at };
    let Shared { grant, revoked } = engine.share(&context, store, new).await?;
    let revoked = revoked.iter().map(GrantId::to_string).collect();
    Ok(Json(SharedView { grant: GrantView::of(engine, &context, grant).await?, revoked }))
}

/// Takes back a grant and those its grantee gave on.
#[utoipa::path(delete, path = "/v1/memory_stores/{memory_store_id}/grants/{grant_id}",
    tag = "grants", operation_id = "grants_revoke",
    params(
        ("memory_store_id" = String, Path),
        ("grant_id" = String, Path,
            description = "The grant's id; or its grantee: a principal's name, id or UUID, or \
                `everyone`."),
    ),
    responses((status = 200, body = Revoked)))]
pub(crate) async fn revoke(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    InStore(store, named): InStore<GrantName>,
) -> Result<Json<Revoked>> {
    let engine = &native.engine;
    let id = match named {
        GrantName::Id(grant) => grant,
        GrantName::Grantee(text) => {
            // First whether the caller may know anything about this store.
            let grants = engine.grants(&context, store).await?;
            let grantee = grantee(engine, &context, &text).await?;
            let found = grants.into_iter().find(|grant| grant.grantee == grantee);
            found.ok_or_else(|| Failure::not_found("grant"))?.id
        }
    };
    let revoked = engine.revoke(&context, store, id).await?;
    let revoked = revoked.iter().map(GrantId::to_string).collect();
    Ok(Json(Revoked { id: id.to_string(), kind: "grant_revoked", revoked }))
}
