//! Who a credential belongs to and what it may do at most, for programs that were only given a key.

use super::Native;
use super::keys::{AudienceName, PowerName};
use super::principals::PrincipalView;
use crate::error::Result;
use crate::extract::Authed;
use crate::wire::{ActorView, time};
use axum::Json;
use axum::extract::State;
use loci_model::StoreId;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The caller, as the server sees it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Whoami {
    /// Always `whoami`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Whose authority is used.
    principal: PrincipalView,
    /// What is written on versions.
    actor: Option<ActorView>,
    /// Host or model, for this request.
    audience: AudienceName,
    /// The session it acts in.
    session_id: Option<String>,
    /// How much the credential may do at most.
    level: PowerName,
    /// Only these stores; `null` is all that the principal has.
    stores: Option<Vec<String>>,
    /// Whether it may act for any agent that a request names.
    acts_for_agents: bool,
    /// When the credential ends.
    expires_at: Option<String>,
}

/// Who asks, and what the credential may do.
#[utoipa::path(get, path = "/v1/whoami", tag = "principals", operation_id = "whoami",
    responses((status = 200, body = Whoami)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
) -> Result<Json<Whoami>> {
    let principal = native.engine.own_principal(&context).await?;
    let caller = context.caller;
    let stores = caller.scope.stores;
    Ok(Json(Whoami {
        kind: "whoami",
        principal: principal.into(),
        actor: ActorView::of(caller.actor),
        audience: caller.audience.into(),
        session_id: caller.session.map(|session| session.to_string()),
        level: caller.scope.power.into(),
        stores: stores.map(|stores| stores.iter().map(StoreId::to_string).collect()),
        acts_for_agents: caller.acts_for_agents,
        expires_at: time(caller.expires_at),
    }))
}
