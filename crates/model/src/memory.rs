//! A memory: one addressed document in one store. Its identity survives rename and edit.

use crate::{
    Attributes, Content, Digest, MemoryId, MemoryPath, Operation, PrincipalId, StoreId, Timestamp,
    VersionId,
};

/// How much of a memory or version to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum View {
    /// Without content.
    Basic,
    /// With content.
    Full,
}

/// A live memory, as of its head version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The memory.
    pub id: MemoryId,
    /// Its store.
    pub store: StoreId,
    /// Whose partition it is in, in stores that are partitioned.
    pub partition: Option<PrincipalId>,
    /// Who created it.
    pub owner: PrincipalId,
    /// Where it is.
    pub path: MemoryPath,
    /// What is known about it.
    pub attributes: Attributes,
    /// The newest version.
    pub head: VersionId,
    /// The number of the newest version.
    pub revision: u64,
    /// The content, when the view asks for it.
    pub content: Option<Content>,
    /// SHA-256 of the content.
    pub digest: Digest,
    /// Bytes of the content.
    pub size_bytes: u64,
    /// Whether the content is sealed.
    pub is_sealed: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What one edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The memory after the edit (for a removal: as it was just before), without content.
    pub memory: Memory,
    /// What was written; `None` when the edit changed nothing.
    pub operation: Option<Operation>,
}

impl Outcome {
    /// Whether the edit created the memory.
    pub fn is_created(&self) -> bool {
        self.operation == Some(Operation::Created)
    }
}
