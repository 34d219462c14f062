//! Passes: what policy hands out, and what storage engines ask for. Their fields belong to policy
//! alone, so nobody else can make one.

use super::{Denied, Facts, Giving};
use crate::grant::{Grant, Level};
use crate::{Actor, Audience, MemorySwitches, PrincipalId, StoreId, Timestamp, WorkspaceId};

/// May get, list, follow and read the history of one store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPass {
    pub(in crate::policy) workspace: WorkspaceId,
    pub(in crate::policy) store: StoreId,
    pub(in crate::policy) audience: Audience,
    pub(in crate::policy) now: Timestamp,
}

/// May commit batches to one store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritePass {
    pub(in crate::policy) workspace: WorkspaceId,
    pub(in crate::policy) store: StoreId,
    pub(in crate::policy) audience: Audience,
    pub(in crate::policy) now: Timestamp,
    pub(in crate::policy) actor: Actor,
    pub(in crate::policy) principal: PrincipalId,
    pub(in crate::policy) remover: Option<PrincipalId>,
}

/// May search these stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPass {
    pub(in crate::policy) workspace: WorkspaceId,
    pub(in crate::policy) stores: Vec<StoreId>,
    pub(in crate::policy) guarded: Vec<StoreId>,
    pub(in crate::policy) audience: Audience,
    pub(in crate::policy) now: Timestamp,
}

/// May describe, archive and remove one store, and redact and erase in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagePass {
    pub(in crate::policy) workspace: WorkspaceId,
    pub(in crate::policy) store: StoreId,
    pub(in crate::policy) now: Timestamp,
    pub(in crate::policy) actor: Actor,
}

/// May share one store, up to a level and a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharePass {
    pub(in crate::policy) workspace: WorkspaceId,
    pub(in crate::policy) store: StoreId,
    pub(in crate::policy) now: Timestamp,
    pub(in crate::policy) giver: PrincipalId,
    pub(in crate::policy) giving: Giving,
    pub(in crate::policy) is_unasked: bool,
}

/// May see a workspace's list of stores (all, or those the principal can reach).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowsePass {
    pub(in crate::policy) workspace: WorkspaceId,
    pub(in crate::policy) now: Timestamp,
    pub(in crate::policy) reader: Option<PrincipalId>,
    pub(in crate::policy) memory: MemorySwitches,
    pub(in crate::policy) only: Option<Vec<StoreId>>,
}

/// May manage principals and keys of a workspace and take it out as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminPass {
    pub(in crate::policy) workspace: WorkspaceId,
    pub(in crate::policy) now: Timestamp,
}

/// May say who is in which group of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvenePass {
    pub(in crate::policy) workspace: WorkspaceId,
    pub(in crate::policy) now: Timestamp,
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
            let level = facts.ground(reader, self.now).map(|(_, level)| level);
            level >= Some(Level::Read) && !facts.is_off(self.memory, reader)
        });
        facts.store.workspace == self.workspace && is_named && is_readable
    }
}

impl SharePass {
    /// The same pass as its giver stands at the moment of the write, by facts about the giver that
    /// were read in its transaction: somebody may have taken from them meanwhile what they are
    /// about to give. A refusal says whether they still know the store.
    pub fn renewed(&self, is_admin: bool, facts: &Facts) -> Result<Self, Denied> {
        if self.is_unasked {
            return Ok(self.clone());
        }
        let giving = Giving::of(facts, self.giver, is_admin, self.now).ok_or_else(|| Denied {
            may_know: facts.ground(self.giver, self.now).is_some(),
            is_off: false,
        })?;
        Ok(Self { giving, ..self.clone() })
    }

    /// Whether so much may be given, until then.
    pub fn may_give(&self, level: Level, expires_at: Option<Timestamp>) -> bool {
        level <= self.giving.level_max && ends_within(expires_at, self.giving.expires_max)
    }

    /// Whether somebody may be given less than they have without it.
    pub fn may_lower(&self) -> bool {
        self.giving.has_all
    }

    /// Whether a grant may be replaced by another: like taking it back, unless it is over.
    pub fn may_replace(&self, grant: &Grant) -> bool {
        self.may_revoke(grant) || !grant.is_valid_at(self.now)
    }

    /// Whether a grant may be taken back: by whoever gave it, and by the owner, with whatever
    /// credential. Replacing counts as taking back, or a guest could make others' grants its own.
    pub fn may_revoke(&self, grant: &Grant) -> bool {
        self.giving.has_all || grant.given_by == self.giver
    }
}

/// Whether something that ends then is over when something else is; `None` is no end.
pub fn ends_within(end: Option<Timestamp>, latest: Option<Timestamp>) -> bool {
    match (end, latest) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(end), Some(latest)) => end <= latest,
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
