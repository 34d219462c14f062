//! Who may do what: pure functions from facts to a pass or a refusal.
//!
//! A pass is the only way into a storage engine's memories and has no other constructor than this
//! module, so holding one *is* the proof that policy said yes. The first rule that matches decides:
//! administrator or owner; a grant to the caller itself; being in the group whose home it is; being
//! an agent in a group with the user whose home it is, unless the request names another user; a grant
//! to everyone. So a grant can also lower
//! somebody in a group, while nobody is lowered by what everyone gets. A session then narrows it to
//! what was attached, and the credential's scope narrows it once more. Nothing ever widens it. What
//! the operator switched off for a principal is off in every way. Default: no.

use crate::grant::{Grant, Level};
use crate::{
    Access, Actor, Audience, Caller, Grantee, MemorySwitches, Power, PrincipalId, PrincipalKind,
    SessionUser, Store, StoreId, Timestamp, WorkspaceId,
};
use std::collections::BTreeMap;

/// What policy looks at, loaded by the engine in one read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The store.
    pub store: Store,
    /// Its grants to the caller's principal and to everyone; expired ones may be among them.
    pub grants: Vec<Grant>,
    /// What sort of owner has its home here, if the store is a home.
    pub home_of: Option<PrincipalKind>,
    /// How the caller stands to the store's owner right now.
    pub relation: Option<Relation>,
    /// How the caller's session attaches the store, if it does.
    pub attachment: Option<Access>,
}

/// How somebody stands to the owner of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The owner is a group, and they are in it.
    Member,
    /// The owner is a user, they are an agent, and both are in a group.
    Companion,
}

/// The rule that gives somebody access to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ground {
    /// It is their own.
    Owner,
    /// It was granted to them.
    Grant,
    /// It is the home of a group that they are in.
    Member,
    /// It is the home of a user, and they are an agent in a group with that user.
    Companion,
    /// It was granted to everyone.
    Everyone,
}

/// A refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denied {
    /// Whether the caller may know that the store exists.
    pub may_know: bool,
    /// Whether it is only that the operator switched this memory off for the caller.
    pub is_off: bool,
}

impl Denied {
    const KNOWN: Self = Self { may_know: true, is_off: false };
}

/// How a caller stands to a store, before verbs are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Stranger,
    Upto(Level),
    Owner,
}

/// May get, list, follow and read the history of one store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPass {
    workspace: WorkspaceId,
    store: StoreId,
    audience: Audience,
    now: Timestamp,
}

/// May commit batches to one store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritePass {
    workspace: WorkspaceId,
    store: StoreId,
    audience: Audience,
    now: Timestamp,
    actor: Actor,
    principal: PrincipalId,
    remover: Option<PrincipalId>,
}

/// May search these stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPass {
    workspace: WorkspaceId,
    stores: Vec<StoreId>,
    guarded: Vec<StoreId>,
    audience: Audience,
    now: Timestamp,
}

/// May describe, archive and remove one store, and redact and erase in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagePass {
    workspace: WorkspaceId,
    store: StoreId,
    now: Timestamp,
    actor: Actor,
}

/// May share one store, up to a level and a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharePass {
    workspace: WorkspaceId,
    store: StoreId,
    now: Timestamp,
    giver: PrincipalId,
    giving: Giving,
    is_unasked: bool,
}

/// May see a workspace's list of stores (all, or those the principal can reach).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowsePass {
    workspace: WorkspaceId,
    now: Timestamp,
    reader: Option<PrincipalId>,
    user: SessionUser,
    memory: MemorySwitches,
    only: Option<Vec<StoreId>>,
}

/// May manage principals and keys of a workspace and take it out as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminPass {
    workspace: WorkspaceId,
    now: Timestamp,
}

/// May say who is in which group of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvenePass {
    workspace: WorkspaceId,
    now: Timestamp,
}

impl Facts {
    fn standing(&self, caller: &Caller, now: Timestamp) -> Standing {
        if self.store.workspace != caller.workspace || !caller.scope.reaches(self.store.id) {
            return Standing::Stranger;
        }
        let by_right = if caller.is_admin {
            Standing::Owner
        } else {
            match self.ground_of(caller, now) {
                None => Standing::Stranger,
                Some((Ground::Owner, _)) => Standing::Owner,
                Some((_, level)) => Standing::Upto(level),
            }
        };
        let by_session = match (caller.session, self.attachment) {
            (None, _) => Standing::Owner,
            (Some(_), None) => Standing::Stranger,
            (Some(_), Some(Access::ReadOnly)) => Standing::Upto(Level::Read),
            (Some(_), Some(Access::ReadWrite)) => Standing::Upto(Level::ReadWrite),
        };
        let by_scope = match caller.scope.power {
            Power::Full => Standing::Owner,
            Power::UpTo(level) => Standing::Upto(level),
        };
        by_right.min(by_session).min(by_scope)
    }

    /// By which rule a principal has access, and how much; an administrator's rights aside.
    pub fn ground(&self, principal: PrincipalId, now: Timestamp) -> Option<(Ground, Level)> {
        self.ground_about(SessionUser::Unsaid, principal, now)
    }

    /// By which rule a caller has access in this request, and how much; an administrator's rights
    /// aside.
    pub fn ground_of(&self, caller: &Caller, now: Timestamp) -> Option<(Ground, Level)> {
        self.ground_about(caller.session_user, caller.principal, now)
    }

    fn ground_about(
        &self,
        user: SessionUser,
        principal: PrincipalId,
        now: Timestamp,
    ) -> Option<(Ground, Level)> {
        if self.store.owner == principal {
            return Some((Ground::Owner, Level::ReadWrite));
        }
        if let Some(grant) = self.grant_to(Grantee::Principal(principal), now) {
            return Some((Ground::Grant, grant.level));
        }
        if let Some(ground) = self.by_relation(user) {
            return Some((ground, Level::ReadWrite));
        }
        let grant = self.grant_to(Grantee::Everyone, now)?;
        Some((Ground::Everyone, grant.level))
    }

    /// What being in a group opens: homes, and nothing else that their owners have. A store that
    /// somebody made and named is theirs to share, whomever they talk to. The home of a user stays
    /// closed in a request that is about another user.
    pub fn by_relation(&self, user: SessionUser) -> Option<Ground> {
        match (self.relation?, self.home_of?) {
            (Relation::Member, PrincipalKind::Group) => Some(Ground::Member),
            (Relation::Companion, PrincipalKind::User) if user.may_be(self.store.owner) => {
                Some(Ground::Companion)
            }
            _ => None,
        }
    }

    /// Whether anything here can give a principal access that administers nothing, now or at
    /// another time.
    pub fn concern(&self, principal: PrincipalId) -> bool {
        let is_near = self.by_relation(SessionUser::Unsaid).is_some();
        self.store.owner == principal || !self.grants.is_empty() || is_near
    }

    fn grant_to(&self, grantee: Grantee, now: Timestamp) -> Option<&Grant> {
        self.grants.iter().find(|grant| grant.grantee == grantee && grant.is_valid_at(now))
    }

    /// Whether the operator has switched this store off for somebody with these switches, which is
    /// about whose memory it is and not about why it could be had: no grant goes around it. A store
    /// that somebody made and named is not what the switches mean.
    fn is_off(&self, memory: MemorySwitches, principal: PrincipalId) -> bool {
        let is_own = self.store.owner == principal;
        let is_on = memory.is_on
            && match self.home_of {
                _ if is_own => memory.own || self.store.address.is_none(),
                Some(PrincipalKind::Group) => memory.groups,
                Some(PrincipalKind::User) => memory.users,
                Some(PrincipalKind::Agent | PrincipalKind::Service) | None => true,
            };
        !is_on
    }

    fn require(&self, caller: &Caller, now: Timestamp, needed: Standing) -> Result<(), Denied> {
        let standing = self.standing(caller, now);
        if standing == Standing::Stranger {
            return Err(Denied { may_know: false, is_off: false });
        }
        if self.is_off(caller.memory, caller.principal) {
            return Err(Denied { may_know: true, is_off: true });
        }
        if standing >= needed { Ok(()) } else { Err(Denied::KNOWN) }
    }
}

/// Get, list, history, changes, stats.
pub fn read(caller: &Caller, facts: &Facts, now: Timestamp) -> Result<ReadPass, Denied> {
    facts.require(caller, now, Standing::Upto(Level::Read))?;
    Ok(ReadPass {
        workspace: caller.workspace,
        store: facts.store.id,
        audience: caller.audience,
        now,
    })
}

/// Put, append, replace, move, remove.
pub fn write(caller: &Caller, facts: &Facts, now: Timestamp) -> Result<WritePass, Denied> {
    facts.require(caller, now, Standing::Upto(Level::ReadWrite))?;
    // What narrows a credential narrows this too: a session does not clear up like its owner.
    let owns_all = facts.standing(caller, now) == Standing::Owner;
    Ok(WritePass {
        workspace: caller.workspace,
        store: facts.store.id,
        audience: caller.audience,
        now,
        actor: caller.actor,
        principal: caller.principal,
        remover: (!owns_all).then_some(caller.principal),
    })
}

/// Search in those of the stores that the caller may search.
pub fn search(caller: &Caller, stores: &[Facts], now: Timestamp) -> SearchPass {
    let may = |facts: &Facts, level| facts.require(caller, now, Standing::Upto(level)).is_ok();
    let searchable = stores.iter().filter(|facts| may(facts, Level::Search));
    let guarded = searchable.clone().filter(|facts| !may(facts, Level::Read));
    SearchPass {
        workspace: caller.workspace,
        guarded: in_turn(guarded, caller, now),
        stores: searchable.map(|facts| facts.store.id).collect(),
        audience: caller.audience,
        now,
    }
}

/// Stores that may only be searched, in the order in which a search takes some of them: what nobody
/// had to give first, then one of each giver and so on, so that nobody who shares a lot crowds out
/// what others shared.
fn in_turn<'f>(
    guarded: impl Iterator<Item = &'f Facts>,
    caller: &Caller,
    now: Timestamp,
) -> Vec<StoreId> {
    let mut turns: BTreeMap<PrincipalId, usize> = BTreeMap::new();
    let mut in_turn: Vec<(usize, StoreId)> = Vec::new();
    for facts in guarded {
        let grantee = match facts.ground_of(caller, now) {
            Some((Ground::Grant, _)) => Some(Grantee::Principal(caller.principal)),
            Some((Ground::Everyone, _)) => Some(Grantee::Everyone),
            _ => None,
        };
        let turn = match grantee.and_then(|grantee| facts.grant_to(grantee, now)) {
            None => 0,
            Some(grant) => {
                let turn = turns.entry(grant.given_by).or_default();
                *turn += 1;
                *turn
            }
        };
        in_turn.push((turn, facts.store.id));
    }
    in_turn.sort_by_key(|(turn, _)| *turn);
    in_turn.into_iter().map(|(_, store)| store).collect()
}

/// Whether the operator's switches are all that keeps the caller from a store.
pub fn is_switched_off(caller: &Caller, facts: &Facts, now: Timestamp) -> bool {
    let searched = facts.require(caller, now, Standing::Upto(Level::Search));
    searched.is_err_and(|denied| denied.is_off)
}

/// Compact a store, or take a compaction back: for whoever may manage it. What is written belongs to
/// `owner`, as what it was made from did.
pub fn compact(
    caller: &Caller,
    facts: &Facts,
    owner: PrincipalId,
    now: Timestamp,
) -> Result<WritePass, Denied> {
    manage(caller, facts, now)?;
    Ok(WritePass {
        workspace: caller.workspace,
        store: facts.store.id,
        audience: Audience::Host,
        now,
        actor: caller.actor,
        principal: owner,
        remover: None,
    })
}

/// Describe, archive, remove the store; redact, erase. Not for models: what they were talked into
/// must stay possible to undo.
pub fn manage(caller: &Caller, facts: &Facts, now: Timestamp) -> Result<ManagePass, Denied> {
    facts.require(caller, now, Standing::Owner)?;
    refuse_models(caller)?;
    Ok(ManagePass { workspace: caller.workspace, store: facts.store.id, now, actor: caller.actor })
}

fn refuse_models(caller: &Caller) -> Result<(), Denied> {
    match caller.audience {
        Audience::Host => Ok(()),
        Audience::Model => Err(Denied::KNOWN),
    }
}

/// The list of stores: an administrator sees the workspace's, others what they can read. A
/// credential that cannot read sees none.
pub fn browse(caller: &Caller, now: Timestamp) -> BrowsePass {
    let may_read = caller.scope.power >= Power::UpTo(Level::Read);
    BrowsePass {
        workspace: caller.workspace,
        now,
        reader: (!caller.is_admin).then_some(caller.principal),
        user: caller.session_user,
        memory: caller.memory,
        only: if may_read && caller.memory.is_on {
            caller.scope.stores.clone()
        } else {
            Some(Vec::new())
        },
    }
}

/// Make stores and sessions: whoever may write, with a credential not tied to a session or to
/// certain stores.
pub fn create(caller: &Caller) -> Result<(), Denied> {
    let may_write = caller.scope.power >= Power::UpTo(Level::ReadWrite);
    let is_whole = caller.scope.stores.is_none() && caller.session.is_none();
    let may = may_write && is_whole && caller.memory.is_on;
    if may { Ok(()) } else { Err(Denied::KNOWN) }
}

/// What may be done in one's own home while there is none yet: as much as the credential carries,
/// if it is not tied to a session or to certain stores.
pub fn at_home(caller: &Caller, level: Level) -> Result<(), Denied> {
    let is_whole = caller.scope.stores.is_none() && caller.session.is_none();
    let is_on = caller.memory.is_on && caller.memory.own;
    let may = is_whole && caller.scope.power >= Power::UpTo(level);
    match (is_on, may) {
        (false, _) => Err(Denied { may_know: true, is_off: true }),
        (true, false) => Err(Denied::KNOWN),
        (true, true) => Ok(()),
    }
}

/// Principals, keys, export, import, backup, check.
pub fn administer(caller: &Caller, now: Timestamp) -> Result<AdminPass, Denied> {
    let is_whole = caller.scope.power == Power::Full && caller.scope.stores.is_none();
    if caller.is_admin && is_whole && caller.session.is_none() {
        Ok(AdminPass { workspace: caller.workspace, now })
    } else {
        Err(Denied::KNOWN)
    }
}

/// Who is in which group: administrators, and the platforms that agents stand behind. It opens
/// memories to others, so it takes a credential that could write to all of them, and no model's.
pub fn convene(caller: &Caller, now: Timestamp) -> Result<ConvenePass, Denied> {
    let is_whole = caller.scope.power >= Power::UpTo(Level::ReadWrite)
        && caller.scope.stores.is_none()
        && caller.session.is_none()
        && caller.audience == Audience::Host;
    if is_whole && acts_for_agents(caller, now) {
        Ok(ConvenePass { workspace: caller.workspace, now })
    } else {
        Err(Denied::KNOWN)
    }
}

macro_rules! getters {
    ($($pass:ident { $($(#[$doc:meta])* $field:ident: $type:ty),+ $(,)? })+) => {
        $(impl $pass {
            $($(#[$doc])* pub fn $field(&self) -> $type { self.$field.clone() })+
        })+
    };
}

getters! {
    ReadPass {
        /// The tenant.
        workspace: WorkspaceId,
        /// The store.
        store: StoreId,
        /// Host or model.
        audience: Audience,
        /// The moment of the request.
        now: Timestamp,
    }
    WritePass {
        /// The tenant.
        workspace: WorkspaceId,
        /// The store.
        store: StoreId,
        /// Host or model.
        audience: Audience,
        /// The moment of the request.
        now: Timestamp,
        /// Who is recorded on versions.
        actor: Actor,
        /// Who owns what is created.
        principal: PrincipalId,
        /// Whom removal rules look at; `None` may remove anything.
        remover: Option<PrincipalId>,
    }
    SearchPass {
        /// The tenant.
        workspace: WorkspaceId,
        /// Host or model.
        audience: Audience,
        /// The moment of the request.
        now: Timestamp,
    }
    ManagePass {
        /// The tenant.
        workspace: WorkspaceId,
        /// The store.
        store: StoreId,
        /// The moment of the request.
        now: Timestamp,
        /// Who is recorded.
        actor: Actor,
    }
    SharePass {
        /// The tenant.
        workspace: WorkspaceId,
        /// The store.
        store: StoreId,
        /// The moment of the request.
        now: Timestamp,
        /// Who shares.
        giver: PrincipalId,
    }
    BrowsePass {
        /// The tenant.
        workspace: WorkspaceId,
        /// The moment of the request.
        now: Timestamp,
        /// Whose reach bounds the list; `None` sees all.
        reader: Option<PrincipalId>,
        /// Only these stores, when given.
        only: Option<Vec<StoreId>>,
    }
    AdminPass {
        /// The tenant.
        workspace: WorkspaceId,
        /// The moment of the request.
        now: Timestamp,
    }
    ConvenePass {
        /// The tenant.
        workspace: WorkspaceId,
        /// The moment of the request.
        now: Timestamp,
    }
}

impl BrowsePass {
    /// Whether a store of the workspace is in the list. The facts are those about the pass's reader.
    pub fn shows(&self, facts: &Facts) -> bool {
        let is_named = self.only.as_ref().is_none_or(|only| only.contains(&facts.store.id));
        let is_readable = self.reader.is_none_or(|reader| {
            let ground = facts.ground_about(self.user, reader, self.now);
            let level = ground.map(|(_, level)| level);
            level >= Some(Level::Read) && !facts.is_off(self.memory, reader)
        });
        facts.store.workspace == self.workspace && is_named && is_readable
    }
}

impl SearchPass {
    /// The stores, possibly none.
    pub fn stores(&self) -> &[StoreId] {
        &self.stores
    }

    /// The same search with so many of the stores that may only be searched, and how many that
    /// leaves out.
    pub fn with_guarded(mut self, count: usize) -> (Self, usize) {
        let left_out = self.guarded.split_off(count.min(self.guarded.len()));
        self.stores.retain(|store| !left_out.contains(store));
        (self, left_out.len())
    }

    /// The same search with at most so many stores, those first that may be read, and how many that
    /// leaves out.
    pub fn with_at_most(mut self, count: usize) -> (Self, usize) {
        let Some(too_many) = self.stores.len().checked_sub(count) else { return (self, 0) };
        let mut left_out = too_many;
        while left_out > 0
            && let Some(guarded) = self.guarded.pop()
        {
            self.stores.retain(|store| *store != guarded);
            left_out -= 1;
        }
        self.stores.truncate(count);
        (self, too_many)
    }

    /// Those of them that may be searched but not read: few results, not too often, and each time
    /// written down.
    pub fn guarded(&self) -> &[StoreId] {
        &self.guarded
    }
}

mod act;
mod explain;
mod share;
mod system;

pub use act::{act_for, acts_for_agents, keeps};
pub use explain::{Explanation, Match, Reach, Rule, explain, reach, view_as};
use share::Giving;
pub use share::{ends_within, share};
pub use system::System;

#[cfg(test)]
mod tests;
