//! Why somebody reaches a store: every rule that would let them, in the order in which they are asked,
//! told by the same facts that decide. And the eyes an administrator may borrow to see for themselves.

use super::{Denied, Facts, Ground, Standing, administer};
use crate::grant::{Grant, Level};
use crate::{Caller, Grantee, Principal, PrincipalKind, SessionUser, Timestamp};

/// How much somebody has of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Nothing.
    None,
    /// Up to a level.
    Upto(Level),
    /// Everything, managing it included.
    Owner,
}

/// Which rule lets somebody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// It is their own.
    Owner,
    /// They administer the workspace.
    Administrator,
    /// It was granted to them.
    Grant,
    /// It is the home of a group that they are in.
    Member,
    /// It is the home of a user, and they are an agent in a group with that user.
    Companion,
    /// It was granted to everyone.
    Everyone,
}

/// One rule that lets somebody in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// Which.
    pub rule: Rule,
    /// How far.
    pub reach: Reach,
    /// The grant it rests on.
    pub grant: Option<Grant>,
}

/// Why somebody reaches a store, or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What they have, all told.
    pub reach: Reach,
    /// The rule that decides.
    pub matched: Option<Match>,
    /// Those after it, which would decide if it were not there.
    pub also: Vec<Match>,
    /// Whether the operator's switches keep the store away, whatever matched.
    pub is_switched_off: bool,
}

/// What a principal has of a store by itself, with a credential that narrows nothing. The facts are
/// those about this principal.
pub fn explain(principal: &Principal, facts: &Facts, now: Timestamp) -> Explanation {
    let mut matches = Vec::new();
    let mut add = |rule, reach, grant: Option<&Grant>| {
        matches.push(Match { rule, reach, grant: grant.cloned() });
    };
    if facts.store.workspace == principal.workspace {
        if facts.store.owner == principal.id {
            add(Rule::Owner, Reach::Owner, None);
        }
        if principal.is_admin {
            add(Rule::Administrator, Reach::Owner, None);
        }
        if let Some(grant) = facts.grant_to(Grantee::Principal(principal.id), now) {
            add(Rule::Grant, Reach::Upto(grant.level), Some(grant));
        }
        match facts.by_relation(SessionUser::Unsaid) {
            Some(Ground::Member) => add(Rule::Member, Reach::Upto(Level::ReadWrite), None),
            Some(Ground::Companion) => add(Rule::Companion, Reach::Upto(Level::ReadWrite), None),
            _ => {}
        }
        if let Some(grant) = facts.grant_to(Grantee::Everyone, now) {
            add(Rule::Everyone, Reach::Upto(grant.level), Some(grant));
        }
    }
    let mut matches = matches.into_iter();
    let matched = matches.next();
    let is_switched_off = matched.is_some() && facts.is_off(principal.memory, principal.id);
    let reach = match &matched {
        Some(matched) if !is_switched_off => matched.reach,
        _ => Reach::None,
    };
    Explanation { reach, matched, also: matches.collect(), is_switched_off }
}

/// What a caller has of a store with the credential it asks with.
pub fn reach(caller: &Caller, facts: &Facts, now: Timestamp) -> Reach {
    if facts.is_off(caller.memory, caller.principal) {
        return Reach::None;
    }
    match facts.standing(caller, now) {
        Standing::Stranger => Reach::None,
        Standing::Upto(level) => Reach::Upto(level),
        Standing::Owner => Reach::Owner,
    }
}

/// The caller with somebody else's eyes. Whoever asks for it must let nothing be written so.
pub fn view_as(caller: &Caller, principal: &Principal, now: Timestamp) -> Result<Caller, Denied> {
    administer(caller, now)?;
    if principal.workspace != caller.workspace || principal.kind == PrincipalKind::Group {
        return Err(Denied::KNOWN);
    }
    Ok(Caller {
        workspace: caller.workspace,
        principal: principal.id,
        is_admin: principal.is_admin,
        actor: caller.actor,
        session: None,
        session_user: SessionUser::Unsaid,
        audience: caller.audience,
        acts_for_agents: false,
        memory: principal.memory,
        scope: caller.scope.clone(),
        expires_at: caller.expires_at,
    })
}
