//! Agents as they are shown: exactly the fields of the call's revision, and of those only what Loci
//! knows. An agent is the workspace's, active, and open to whoever may reach its memory.

use super::call::{Call, Revision};
use super::labels::{EXTERNAL_REF, MemoryContext, memory_context};
use super::place::{agent_id, name_in};
use loci_engine::Agent;
use loci_model::{Principal, Store};
use serde::Serialize;
use utoipa::ToSchema;

/// Characters of a name; clients take no longer answer.
pub(super) const NAME_CHARS_MAX: usize = 63;

/// An agent.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusAgent)]
pub(super) struct AgentBody {
    id: String,
    principal_id: String,
    name: String,
    /// What its owner knows it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    external_ref: Option<String>,
    /// What of its memory a turn begins with, if that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_context: Option<MemoryContext>,
    /// Always `active`.
    status: &'static str,
    created_at: String,
    updated_at: String,
    /// The workspace. This field and the three below are there where no project is in the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<OwnerBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    posture: Option<&'static str>,
    /// Whether it may use its memory at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visibility: Option<&'static str>,
}

/// Whose an agent is: the workspace's.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusOwner)]
struct OwnerBody {
    kind: &'static str,
}

/// A page of agents.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusAgents)]
pub(super) struct AgentsBody {
    pub(super) items: Vec<AgentBody>,
    /// Whether there are more. Only without projects in the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) has_more: Option<bool>,
    /// Where they go on; only when there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
}

/// Whether an agent is known to its owner by a reference.
pub(super) fn has_reference(agent: &Agent, reference: &str) -> bool {
    let home = agent.home.as_ref();
    home.and_then(|home| home.metadata.get(EXTERNAL_REF)).is_some_and(|known| known == reference)
}

/// An agent as the revision of a call shows it.
pub(super) fn body(call: &Call, principal: &Principal, home: Option<&Store>) -> AgentBody {
    let name = name_in(&call.project, principal).unwrap_or(&principal.name);
    let updated_at = home.map_or(principal.created_at, |home| home.updated_at);
    let has_audience = call.revision == Revision::B;
    AgentBody {
        id: agent_id(principal.id),
        principal_id: principal.id.to_string(),
        // Other doors take longer names; clients of this one take no longer answer.
        name: name.chars().take(NAME_CHARS_MAX).collect(),
        external_ref: home.and_then(|home| home.metadata.get(EXTERNAL_REF).cloned()),
        memory_context: home.and_then(memory_context),
        status: "active",
        created_at: principal.created_at.to_string(),
        updated_at: updated_at.max(principal.created_at).to_string(),
        owner: has_audience.then_some(OwnerBody { kind: "team" }),
        posture: has_audience.then_some("team"),
        memory_enabled: has_audience.then_some(principal.memory.is_on),
        visibility: has_audience.then_some("organization"),
    }
}
