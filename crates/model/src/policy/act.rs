//! Who somebody is to a request: the keeper of a store, the one who speaks for an agent. Whoever speaks
//! for an agent has that agent's rights and no others.

use super::{Denied, Facts, administer};
use crate::{Actor, Caller, KeyScope, Principal, PrincipalKind, Timestamp};

/// Whether a store is the caller's own, or the caller administers its workspace. It says whose things
/// these are and gives no right by itself.
pub fn keeps(caller: &Caller, facts: &Facts) -> bool {
    let is_own = facts.store.owner == caller.principal || caller.is_admin;
    is_own && facts.store.workspace == caller.workspace
}

/// Whether the caller may speak for agents: platforms, and administrators, who could make a key for
/// any of them.
pub fn acts_for_agents(caller: &Caller, now: Timestamp) -> bool {
    caller.acts_for_agents || administer(caller, now).is_ok()
}

/// The caller as one of the agents it may act for: with that agent's rights and nothing else.
pub fn act_for(caller: &Caller, agent: &Principal, now: Timestamp) -> Result<Caller, Denied> {
    let may_act = acts_for_agents(caller, now);
    let is_agent = agent.kind == PrincipalKind::Agent && !agent.is_admin;
    if !may_act || !is_agent || agent.workspace != caller.workspace {
        return Err(Denied::KNOWN);
    }
    Ok(Caller {
        workspace: agent.workspace,
        principal: agent.id,
        is_admin: false,
        actor: Actor::Service(agent.id),
        session: None,
        session_user: caller.session_user,
        audience: caller.audience,
        acts_for_agents: false,
        memory: agent.memory,
        scope: KeyScope { power: caller.scope.power, stores: caller.scope.stores.clone() },
        expires_at: caller.expires_at,
    })
}
