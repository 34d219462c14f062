//! A store as its history: enough to rebuild it elsewhere, number for number.

use loci_model::{
    Actor, Grant, MemoryId, Principal, PrincipalId, Store, Timestamp, Version, VersionId,
};

/// One entry of a store's history, in feed order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEntry {
    /// A version, with content where it still has one.
    Version {
        /// The version.
        version: Box<Version>,
        /// Whose partition its memory is in.
        partition: Option<PrincipalId>,
        /// Who owns its memory.
        owner: PrincipalId,
    },
    /// The redaction of an earlier version.
    Redaction {
        /// The number in the feed.
        seq: u64,
        /// The memory.
        memory: MemoryId,
        /// The version.
        version: VersionId,
        /// By whom.
        actor: Actor,
        /// When.
        at: Timestamp,
        /// Why.
        reason: String,
    },
}

impl LogEntry {
    /// The number in the feed.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Version { version, .. } => version.seq,
            Self::Redaction { seq, .. } => *seq,
        }
    }
}

/// One thing to import. Items that are there already, equal, are passed over; a store's history is
/// taken only in order and from where the store stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportItem {
    /// A principal.
    Principal(Principal),
    /// A store.
    Store(Box<Store>),
    /// A grant.
    Grant(Grant),
    /// An entry of a store's history.
    Entry(loci_model::StoreId, LogEntry),
}
