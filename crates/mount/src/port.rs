//! What a mount needs from a server: the port. Whoever implements it speaks HTTP or calls an engine;
//! the mount knows neither.
//!
//! A port gives only what a model may see: no sealed, internal or expired memories. Every call may
//! take as long as it likes; the mount gives up on it after a few seconds by itself.

use async_trait::async_trait;
use loci_model::{
    Access, Attributes, AttributesPatch, Digest, Expect, MemoryId, MemoryPath, Operation, StoreId,
    Timestamp, VersionId,
};
use std::time::Duration;

/// A store as the mount shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSeen {
    /// The store.
    pub id: StoreId,
    /// Its directory below the mount point.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// What it says about itself.
    pub description: String,
    /// Whether the mount may write now; an archived store is read-only.
    pub access: Access,
    /// The most that the mount may do, by how it was asked for: access never rises above it.
    pub most: Access,
    /// Bytes that one memory may hold.
    pub content_bytes_max: u64,
    /// Memories that it may hold.
    pub memories_max: u64,
}

/// A live memory without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The memory.
    pub memory: MemoryId,
    /// Its newest version.
    pub version: VersionId,
    /// The number of that version.
    pub revision: u64,
    /// Where it is.
    pub path: MemoryPath,
    /// SHA-256 of its content.
    pub digest: Digest,
    /// Bytes of its content.
    pub size_bytes: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// What is known about it.
    pub attributes: Attributes,
    /// Whether it is the caller's own, in stores where each owner has its own paths. Where two
    /// memories have one path, the own one is shown, else the newer one. `true` elsewhere.
    pub is_own: bool,
}

/// Which entries to list, in the order of their paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The directory to look into, starting and ending with `/`.
    pub prefix: String,
    /// Whether to look into the directories below as well.
    pub is_deep: bool,
    /// Whether to bring the contents. A page of them ends early when it has grown large.
    pub with_text: bool,
    /// Where the page before ended.
    pub page: Option<String>,
}

/// One page of entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// The entries, each with its content if that was asked for.
    pub entries: Vec<(Entry, Option<String>)>,
    /// The directories beside them, each ending with `/`, if the listing does not look into them.
    pub directories: Vec<String>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
    /// The last number of the store's feed, read before the entries were: who follows the feed from
    /// here misses nothing.
    pub last_seq: u64,
}

/// Which memory an edit is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// This one, wherever it is now.
    Memory(MemoryId),
    /// Whatever is there.
    Path(MemoryPath),
}

/// What an edit does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Writes what is given and leaves the rest. Creates a memory where [`At::Path`] finds none.
    Put {
        /// New content.
        text: Option<String>,
        /// New path.
        to: Option<MemoryPath>,
        /// Changed attributes.
        attributes: Box<AttributesPatch>,
    },
    /// Adds text at the end.
    Append {
        /// What to add.
        text: String,
        /// Whether it starts a line of its own: a line break comes before it where the memory's text
        /// does not end with one.
        is_own_line: bool,
    },
    /// Removes the memory; its history stays.
    Remove,
}

/// One edit of a batch. What changes nothing writes no version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Which memory.
    pub at: At,
    /// What must hold.
    pub expect: Expect,
    /// What to do.
    pub act: Act,
}

/// What one edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The memory after the edit; for a removal as it was just before.
    pub entry: Entry,
    /// What was written; `None` if the edit changed nothing.
    pub operation: Option<Operation>,
}

/// One line of a store's feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its number.
    pub seq: u64,
    /// The memory.
    pub memory: MemoryId,
    /// The version that was written, or redacted.
    pub version: VersionId,
    /// Where the memory was then; none if that is not told.
    pub path: Option<MemoryPath>,
    /// Its revision.
    pub revision: u64,
    /// Whether the memory was removed by it.
    pub is_removal: bool,
}

/// What the feed of a store says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feed {
    /// What the caller may do with the store now.
    pub access: Access,
    /// The lines, oldest first.
    pub changes: Vec<Change>,
}

/// One version of a memory, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edition {
    /// The version.
    pub version: VersionId,
    /// 1, 2, 3 … within the memory.
    pub revision: u64,
    /// What it records.
    pub operation: Operation,
    /// Bytes of its content; none if it has none to show: a removal, a redacted or sealed version.
    pub size_bytes: Option<u64>,
    /// When it was written.
    pub created_at: Timestamp,
    /// Who wrote it, as one word, such as the id of a session.
    pub actor: String,
}

/// Why the server did not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The memory or the version is not there, or the caller may not see it.
    NotFound,
    /// The expectation of an edit does not hold.
    ExpectFailed,
    /// A path is taken, by the memory there, by one above it or by one below it.
    Taken {
        /// What is in the way.
        path: Option<MemoryPath>,
        /// And its id.
        memory: Option<MemoryId>,
    },
    /// The store takes no writes from this caller: it is archived, or access to it is read-only.
    ReadOnly,
    /// The caller may not do this, or may not know of the store any more, or is nobody any more.
    Denied,
    /// The content is too large.
    TooLarge,
    /// The store, the caller's share or the disk is full.
    Full,
    /// A value breaks a rule; says which.
    Invalid(String),
    /// The server was not reached, did not answer in time or failed; says how.
    Unreachable(String),
}

/// A server's stores. All ids are of stores that [`Port::stores`] or [`Port::newcomers`] gave.
#[async_trait]
pub trait Port: Send + Sync + 'static {
    /// The stores to show at the beginning.
    async fn stores(&self) -> Result<Vec<StoreSeen>, Refusal>;

    /// The stores that can be shown now and are not among those that are known, where all stores are
    /// shown. Refuses a caller that is nobody any more.
    async fn newcomers(&self, known: &[StoreId]) -> Result<Vec<StoreSeen>, Refusal>;

    /// One page of a store's entries.
    async fn list(&self, store: StoreId, listing: &Listing) -> Result<Listed, Refusal>;

    /// One entry as it is now.
    async fn entry(&self, store: StoreId, memory: MemoryId) -> Result<Entry, Refusal>;

    /// The content of a version, mostly of the newest one. [`Refusal::NotFound`] if it was redacted.
    async fn text(
        &self,
        store: StoreId,
        memory: MemoryId,
        version: VersionId,
    ) -> Result<String, Refusal>;

    /// A key for a request that may have to be sent again: no other request has it.
    fn fresh_key(&self) -> String;

    /// Carries out all of these edits or none, durably. An answer that was lost on the way must not
    /// make them happen twice. What was sent under a key and is sent again, just as it was, gives the
    /// answer of the first time, whoever has written since.
    async fn edit(
        &self,
        store: StoreId,
        edits: Vec<Edit>,
        key: Option<&str>,
    ) -> Result<Vec<Done>, Refusal>;

    /// What happened after this number, at most a thousand lines, and what the caller may do. Waits
    /// that long for something to happen, and not longer; answers at once when the caller may do
    /// something else than `believed`, and refuses at once when it may read no more.
    async fn changes(
        &self,
        store: StoreId,
        after: u64,
        believed: Access,
        wait: Duration,
    ) -> Result<Feed, Refusal>;

    /// All versions of a memory, oldest first; of very many, the newest few thousand.
    async fn versions(&self, store: StoreId, memory: MemoryId) -> Result<Vec<Edition>, Refusal>;
}
