//! A version: one immutable row of a memory's history. Only redaction ever touches it, and only to
//! take away what it held.

use crate::{
    Actor, Attributes, Cause, Content, Digest, MemoryId, MemoryPath, StoreId, Timestamp, VersionId,
};

/// What a version records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The memory came into being.
    Created,
    /// Content, path or attributes changed.
    Modified,
    /// The memory was removed.
    Deleted,
}

/// The scrubbing of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redaction {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: Actor,
}

/// One version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The version.
    pub id: VersionId,
    /// Its memory.
    pub memory: MemoryId,
    /// Its store.
    pub store: StoreId,
    /// 1, 2, 3 … within the memory.
    pub revision: u64,
    /// Its place in the store's feed.
    pub seq: u64,
    /// What it records.
    pub operation: Operation,
    /// The path after the operation (for a removal: before); gone when redacted.
    pub path: Option<MemoryPath>,
    /// The attributes after the operation; gone when redacted.
    pub attributes: Option<Attributes>,
    /// The content, when the view asks for it and it exists.
    pub content: Option<Content>,
    /// SHA-256 of the content; none for removals and redacted versions.
    pub digest: Option<Digest>,
    /// Bytes of the content; none for removals and redacted versions.
    pub size_bytes: Option<u64>,
    /// Who wrote it.
    pub actor: Actor,
    /// When; strictly increasing within the store.
    pub created_at: Timestamp,
    /// Why it was written and from what.
    pub cause: Cause,
    /// Its redaction.
    pub redaction: Option<Redaction>,
}
