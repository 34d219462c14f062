//! Sharing: a store, somebody, a level.

use crate::{GrantId, PrincipalId, StoreId, Timestamp};

/// What a grant allows. Each level includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Search only: values come back from search, nothing can be listed or read.
    Search,
    /// Read everything.
    Read,
    /// Read and write.
    ReadWrite,
}

/// To whom a store is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grantee {
    /// One principal.
    Principal(PrincipalId),
    /// Everybody in the store's workspace.
    Everyone,
}

/// A store shared with somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The grant.
    pub id: GrantId,
    /// The store.
    pub store: StoreId,
    /// To whom; one grant for each grantee of a store.
    pub grantee: Grantee,
    /// How much.
    pub level: Level,
    /// By whom.
    pub given_by: PrincipalId,
    /// Until when.
    pub expires_at: Option<Timestamp>,
    /// Since when.
    pub created_at: Timestamp,
}

impl Grant {
    /// Whether the grant still holds.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}
