//! The store's ordered feed: one entry for each accepted edit and each redaction, without content.
//!
//! `seq` starts at 1 and has no gaps, so a follower that restarts from the last number it saw
//! misses nothing and can tell that it missed nothing.

use crate::{Actor, MemoryId, MemoryPath, Operation, StoreId, Timestamp, VersionId};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeOp {
    /// A memory came into being.
    Created,
    /// Its content, path or attributes changed.
    Modified,
    /// It was removed.
    Deleted,
    /// The payload of an old version was scrubbed.
    Redacted,
}

impl From<Operation> for ChangeOp {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Created => Self::Created,
            Operation::Modified => Self::Modified,
            Operation::Deleted => Self::Deleted,
        }
    }
}

/// One entry of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The store.
    pub store: StoreId,
    /// 1, 2, 3 … within the store.
    pub seq: u64,
    /// What happened.
    pub op: ChangeOp,
    /// The memory.
    pub memory: MemoryId,
    /// The version written or redacted.
    pub version: VersionId,
    /// Its revision.
    pub revision: u64,
    /// Its path, unless redacted.
    pub path: Option<MemoryPath>,
    /// Who did it.
    pub actor: Actor,
    /// When; strictly increasing within the store.
    pub at: Timestamp,
    /// Why, as the writer's door names it (`api`, `expired`, …).
    pub reason: String,
}
