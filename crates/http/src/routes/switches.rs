//! Which memory a principal may use, as switches: all of it, what it keeps for itself, the stores of
//! its chats, the stores of the users it is in a chat with. Off means that nothing is read and
//! nothing written there, whoever asks for it.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::{Authed, JsonBody, Name};
use axum::Json;
use axum::extract::State;
use loci_engine::{Context, Error};
use loci_model::{MemorySwitches, Principal, policy};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Switches to be set; those not given stay.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SwitchesRequest {
    /// Any memory at all.
    enabled: Option<bool>,
    /// What it keeps for itself.
    #[serde(rename = "self")]
    own: Option<bool>,
    /// The stores of the chats it is in.
    chat: Option<bool>,
    /// The stores of the users it is in a chat with.
    user: Option<bool>,
}

impl SwitchesRequest {
    fn over(&self, standing: MemorySwitches) -> MemorySwitches {
        MemorySwitches {
            is_on: self.enabled.unwrap_or(standing.is_on),
            own: self.own.unwrap_or(standing.own),
            groups: self.chat.unwrap_or(standing.groups),
            users: self.user.unwrap_or(standing.users),
        }
    }
}

/// Which memory a principal may use.
#[derive(Serialize, ToSchema)]
pub(crate) struct SwitchesView {
    /// Always `memory_switches`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The principal.
    principal: String,
    /// Any memory at all.
    enabled: bool,
    /// What it keeps for itself.
    #[serde(rename = "self")]
    own: bool,
    /// The stores of the chats it is in.
    chat: bool,
    /// The stores of the users it is in a chat with.
    user: bool,
}

impl From<Principal> for SwitchesView {
    fn from(principal: Principal) -> Self {
        let MemorySwitches { is_on, own, groups, users } = principal.memory;
        Self {
            kind: "memory_switches",
            principal: principal.id.to_string(),
            enabled: is_on,
            own,
            chat: groups,
            user: users,
        }
    }
}

/// Which memory a principal may use; for administrators and the principal itself.
#[utoipa::path(get, path = "/v1/principals/{principal}/memory",
    tag = "principals", operation_id = "principals_show_memory",
    params(("principal" = String, Path, description = "Its name, id or UUID.")),
    responses((status = 200, body = SwitchesView)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Name(principal): Name,
) -> Result<Json<SwitchesView>> {
    let found = find(&native, &context, &principal).await;
    let is_own = found.as_ref().is_ok_and(|found| found.id == context.caller.principal);
    let now = native.engine.seams().now();
    // Before anything is said about whether there is such a principal.
    if !is_own && policy::administer(&context.caller, now).is_err() {
        return Err(Error::Denied("this needs an administrator's key").into());
    }
    Ok(Json(found?.into()))
}

/// Says which memory a principal may use.
#[utoipa::path(post, path = "/v1/principals/{principal}/memory",
    tag = "principals", operation_id = "principals_switch_memory",
    params(("principal" = String, Path, description = "Its name, id or UUID.")),
    request_body = SwitchesRequest,
    responses((status = 200, body = SwitchesView)))]
pub(crate) async fn change(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Name(principal): Name,
    JsonBody(wanted): JsonBody<SwitchesRequest>,
) -> Result<Json<SwitchesView>> {
    let engine = &native.engine;
    if policy::administer(&context.caller, engine.seams().now()).is_err() {
        return Err(Error::Denied("this needs an administrator's key").into());
    }
    let found = find(&native, &context, &principal).await?;
    let memory = wanted.over(found.memory);
    Ok(Json(engine.switch_memory(&context, found.id, memory).await?.into()))
}

async fn find(native: &Native, context: &Context, named: &str) -> Result<Principal> {
    let found = native.engine.named(context, named).await?;
    found.ok_or_else(|| Failure::not_found("principal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_stays() {
        let standing = MemorySwitches { users: false, ..MemorySwitches::default() };
        let wanted: SwitchesRequest = serde_json::from_str(r#"{"self": false}"#).unwrap();
        let expected = MemorySwitches { own: false, users: false, ..MemorySwitches::default() };
        assert_eq!(wanted.over(standing), expected);
        let wanted: SwitchesRequest =
            serde_json::from_str(r#"{"enabled": false, "user": true}"#).unwrap();
        let expected = MemorySwitches { is_on: false, ..MemorySwitches::default() };
        assert_eq!(wanted.over(standing), expected);
    }
}
