//! Principals over the wire, for administrators.

use super::Native;
use crate::error::Result;
use crate::extract::{Authed, JsonBody, Params};
use crate::wire::{Page, PageParams};
use axum::Json;
use axum::extract::State;
use loci_engine::NewPrincipal;
use loci_model::{Principal, PrincipalId, PrincipalKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What sort of principal.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KindName {
    /// A person.
    User,
    /// An agent.
    #[default]
    Agent,
    /// A service account.
    Service,
    /// Several others together, such as the participants of a chat.
    Group,
}

impl From<PrincipalKind> for KindName {
    fn from(kind: PrincipalKind) -> Self {
        match kind {
            PrincipalKind::User => Self::User,
            PrincipalKind::Agent => Self::Agent,
            PrincipalKind::Service => Self::Service,
            PrincipalKind::Group => Self::Group,
        }
    }
}

impl From<KindName> for PrincipalKind {
    fn from(kind: KindName) -> Self {
        match kind {
            KindName::User => Self::User,
            KindName::Agent => Self::Agent,
            KindName::Service => Self::Service,
            KindName::Group => Self::Group,
        }
    }
}

/// The name of a sort, where it stands among others.
pub(crate) fn kind_name(kind: PrincipalKind) -> &'static str {
    match kind {
        PrincipalKind::User => "user",
        PrincipalKind::Agent => "agent",
        PrincipalKind::Service => "service",
        PrincipalKind::Group => "group",
    }
}

/// A principal to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrincipalRequest {
    /// Its name, unique in the workspace.
    #[schema(min_length = 1, max_length = 255)]
    name: String,
    /// What sort; an agent when not given.
    #[serde(default)]
    kind: KindName,
    /// Whether it administers the workspace; `admin` means the same.
    #[serde(default, alias = "admin")]
    is_admin: bool,
}

/// Someone who can own stores, hold keys and be granted access.
#[derive(Serialize, ToSchema)]
pub(crate) struct PrincipalView {
    /// `prn_…`.
    id: String,
    /// Always `principal`.
    #[serde(rename = "type")]
    object: &'static str,
    /// The same as `id`, for doors that know everybody by a UUID. A name that is a UUID does as well.
    uuid: String,
    /// Its name.
    name: String,
    /// What sort.
    kind: KindName,
    /// Whether it administers the workspace.
    is_admin: bool,
    /// Since when.
    created_at: String,
}

impl From<Principal> for PrincipalView {
    fn from(principal: Principal) -> Self {
        Self {
            id: principal.id.to_string(),
            object: "principal",
            name: principal.name,
            uuid: uuid_of(principal.id),
            kind: principal.kind.into(),
            is_admin: principal.is_admin,
            created_at: principal.created_at.to_string(),
        }
    }
}

/// A principal's id, as a UUID.
pub(crate) fn uuid_of(id: PrincipalId) -> String {
    uuid::Uuid::from_u128(id.as_u128()).to_string()
}

/// The workspace's principals: all of them, or a part when a limit or a page is given.
#[utoipa::path(get, path = "/v1/principals", tag = "principals", operation_id = "principals_list",
    params(
        ("limit" = Option<usize>, Query, description = "How many, 1 to 100."),
        ("page" = Option<String>, Query, description = "`next_page` of the page before."),
    ),
    responses((status = 200, body = Page<PrincipalView>)))]
pub(crate) async fn list(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Params(params): Params<PageParams>,
) -> Result<Json<Page<PrincipalView>>> {
    let mut principals = native.engine.principals(&context).await?;
    let mut next_page = None;
    if !params.is_whole() {
        let (limit, after) = (params.limit()?, params.after::<PrincipalId>()?);
        if let Some(after) = after {
            let shown = principals.iter().position(|principal| principal.id == after);
            principals.drain(..shown.map_or(principals.len(), |shown| shown + 1));
        }
        if principals.len() > limit {
            principals.truncate(limit);
            next_page = principals.last().map(|principal| principal.id.to_string());
        }
    }
    let data = principals.into_iter().map(PrincipalView::from).collect();
    Ok(Json(Page { data, next_page }))
}

/// Makes a principal.
#[utoipa::path(post, path = "/v1/principals",
    tag = "principals", operation_id = "principals_create", request_body = PrincipalRequest,
    responses((status = 200, body = PrincipalView)))]
pub(crate) async fn create(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    JsonBody(wanted): JsonBody<PrincipalRequest>,
) -> Result<Json<PrincipalView>> {
    let new =
        NewPrincipal { kind: wanted.kind.into(), name: wanted.name, is_admin: wanted.is_admin };
    let principal = native.engine.create_principal(&context, new).await?;
    Ok(Json(principal.into()))
}
