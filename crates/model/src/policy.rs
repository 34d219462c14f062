//! Who may do what: pure functions from facts to a pass or a refusal.
//!
//! A pass is the only way into a storage engine's memories and has no other constructor than this
//! module, so holding one *is* the proof that policy said yes. The first rule that matches decides
//! (administrator or owner, then grant); a session then narrows it to what was attached, and the
//! credential's scope narrows it once more. Nothing ever widens it. Default: no.

use crate::grant::{Grant, Level};
use crate::store::Who;
use crate::{
    Access, Actor, Audience, Caller, Grantee, Power, PrincipalId, Store, StoreId, Timestamp,
    WorkspaceId,
};

/// Whether this build says yes to everybody about everything, whatever workspace they are from: only
/// so can a test show that the lock behind policy holds alone. The program refuses to be built so.
pub const IS_OPEN: bool = cfg!(feature = "open-policy");

/// What policy looks at, loaded by the engine in one read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The store.
    pub store: Store,
    /// Its grants to the caller's principal and to everyone; expired ones may be among them.
    pub grants: Vec<Grant>,
    /// How the caller's session attaches the store, if it does.
    pub attachment: Option<Access>,
}

/// A refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denied {
    /// Whether the caller may know that the store exists.
    pub may_know: bool,
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
    level_max: Level,
    expires_max: Option<Timestamp>,
    revokes_any: bool,
}

/// May see a workspace's list of stores (all, or those the principal can reach).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowsePass {
    workspace: WorkspaceId,
    now: Timestamp,
    reader: Option<PrincipalId>,
    only: Option<Vec<StoreId>>,
}

/// May manage principals and keys of a workspace and take it out as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminPass {
    workspace: WorkspaceId,
    now: Timestamp,
}

impl Facts {
    fn standing(&self, caller: &Caller, now: Timestamp) -> Standing {
        if IS_OPEN {
            return Standing::Owner;
        }
        if self.store.workspace != caller.workspace || !caller.scope.reaches(self.store.id) {
            return Standing::Stranger;
        }
        let by_right = if caller.is_admin || self.store.owner == caller.principal {
            Standing::Owner
        } else {
            self.grant_for(caller.principal, now)
                .map_or(Standing::Stranger, |grant| Standing::Upto(grant.level))
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

    /// The grant that counts: one to the principal itself goes before one to everyone.
    fn grant_for(&self, principal: PrincipalId, now: Timestamp) -> Option<&Grant> {
        let valid = |grantee| {
            self.grants.iter().find(|grant| grant.grantee == grantee && grant.is_valid_at(now))
        };
        valid(Grantee::Principal(principal)).or_else(|| valid(Grantee::Everyone))
    }

    fn require(&self, caller: &Caller, now: Timestamp, needed: Standing) -> Result<(), Denied> {
        let standing = self.standing(caller, now);
        if standing >= needed {
            Ok(())
        } else {
            Err(Denied { may_know: standing > Standing::Stranger })
        }
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
    let owns_all = IS_OPEN || caller.is_admin || facts.store.owner == caller.principal;
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
    let may_search = |facts: &&Facts| facts.standing(caller, now) >= Standing::Upto(Level::Search);
    SearchPass {
        workspace: caller.workspace,
        stores: stores.iter().filter(may_search).map(|facts| facts.store.id).collect(),
        audience: caller.audience,
        now,
    }
}

/// Describe, archive, remove the store; redact, erase. Not for models: what they were talked into
/// must stay possible to undo.
pub fn manage(caller: &Caller, facts: &Facts, now: Timestamp) -> Result<ManagePass, Denied> {
    facts.require(caller, now, Standing::Owner)?;
    refuse_models(caller)?;
    Ok(ManagePass { workspace: caller.workspace, store: facts.store.id, now, actor: caller.actor })
}

/// Share and revoke. Not for models, nor for sessions: a grant would outlive them.
pub fn share(caller: &Caller, facts: &Facts, now: Timestamp) -> Result<SharePass, Denied> {
    let needed = match facts.store.policy.share {
        Who::Writer => Standing::Upto(Level::ReadWrite),
        Who::Owner => Standing::Owner,
    };
    facts.require(caller, now, needed)?;
    refuse_models(caller)?;
    if caller.session.is_some() && !IS_OPEN {
        return Err(Denied { may_know: true });
    }
    let owns = IS_OPEN || caller.is_admin || facts.store.owner == caller.principal;
    let own_grant = if owns { None } else { facts.grant_for(caller.principal, now) };
    Ok(SharePass {
        workspace: caller.workspace,
        store: facts.store.id,
        now,
        giver: caller.principal,
        level_max: own_grant.map_or(Level::ReadWrite, |grant| grant.level),
        expires_max: own_grant.and_then(|grant| grant.expires_at),
        revokes_any: facts.standing(caller, now) == Standing::Owner,
    })
}

fn refuse_models(caller: &Caller) -> Result<(), Denied> {
    match caller.audience {
        Audience::Host => Ok(()),
        Audience::Model if IS_OPEN => Ok(()),
        Audience::Model => Err(Denied { may_know: true }),
    }
}

/// The list of stores: an administrator sees the workspace's, others what they can read. A
/// credential that cannot read sees none.
pub fn browse(caller: &Caller, now: Timestamp) -> BrowsePass {
    let may_read = caller.scope.power >= Power::UpTo(Level::Read);
    BrowsePass {
        workspace: caller.workspace,
        now,
        reader: (!caller.is_admin && !IS_OPEN).then_some(caller.principal),
        only: if IS_OPEN {
            None
        } else if may_read {
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
    if IS_OPEN || (may_write && is_whole) { Ok(()) } else { Err(Denied { may_know: true }) }
}

/// Principals, keys, export, import, backup, check.
pub fn administer(caller: &Caller, now: Timestamp) -> Result<AdminPass, Denied> {
    let is_whole = caller.scope.power == Power::Full && caller.scope.stores.is_none();
    if IS_OPEN || (caller.is_admin && is_whole && caller.session.is_none()) {
        Ok(AdminPass { workspace: caller.workspace, now })
    } else {
        Err(Denied { may_know: true })
    }
}

/// Authority of Loci itself, for work no caller asked for. Making one demands a written reason.
#[derive(Debug, Clone, Copy)]
pub struct System(());

impl System {
    /// Takes the authority; `reason` is for the reader of the code.
    pub fn because(reason: &'static str) -> Self {
        debug_assert!(!reason.is_empty());
        Self(())
    }

    /// Reads a store.
    pub fn read(self, workspace: WorkspaceId, store: StoreId, now: Timestamp) -> ReadPass {
        ReadPass { workspace, store, audience: Audience::Host, now }
    }

    /// Writes to a store on behalf of `owner`.
    pub fn write(
        self,
        workspace: WorkspaceId,
        store: StoreId,
        owner: PrincipalId,
        now: Timestamp,
    ) -> WritePass {
        WritePass {
            workspace,
            store,
            audience: Audience::Host,
            now,
            actor: Actor::System,
            principal: owner,
            remover: None,
        }
    }

    /// Searches stores.
    pub fn search(
        self,
        workspace: WorkspaceId,
        stores: Vec<StoreId>,
        now: Timestamp,
    ) -> SearchPass {
        SearchPass { workspace, stores, audience: Audience::Host, now }
    }

    /// Manages a store.
    pub fn manage(self, workspace: WorkspaceId, store: StoreId, now: Timestamp) -> ManagePass {
        ManagePass { workspace, store, now, actor: Actor::System }
    }

    /// Shares a store without limits.
    pub fn share(
        self,
        workspace: WorkspaceId,
        store: StoreId,
        giver: PrincipalId,
        now: Timestamp,
    ) -> SharePass {
        SharePass {
            workspace,
            store,
            now,
            giver,
            level_max: Level::ReadWrite,
            expires_max: None,
            revokes_any: true,
        }
    }

    /// Sees every store of a workspace.
    pub fn browse(self, workspace: WorkspaceId, now: Timestamp) -> BrowsePass {
        BrowsePass { workspace, now, reader: None, only: None }
    }

    /// Administers a workspace.
    pub fn administer(self, workspace: WorkspaceId, now: Timestamp) -> AdminPass {
        AdminPass { workspace, now }
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
        /// The highest level that may be given.
        level_max: Level,
        /// The latest end that may be given; `None` is no end.
        expires_max: Option<Timestamp>,
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
}

impl SharePass {
    /// Whether a grant may be taken back or replaced: by whoever gave it, and by the owner.
    /// Replacing counts as taking back, or a guest could make others' grants its own.
    pub fn may_revoke(&self, grant: &Grant) -> bool {
        self.revokes_any || grant.given_by == self.giver
    }
}

impl SearchPass {
    /// The stores, possibly none.
    pub fn stores(&self) -> &[StoreId] {
        &self.stores
    }
}

#[cfg(test)]
mod tests;
