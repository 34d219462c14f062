//! The port between the engine and whatever keeps the data.
//!
//! A storage engine is a state machine: [`Storage::write`] takes one [`Mutation`] and applies it
//! whole and durably or not at all; everything else only reads. Ids, times and decisions arrive
//! with the mutation, so two engines given the same mutations hold the same state. The contract
//! suite (`contract`, behind a feature) says what every engine must do, and [`mem::MemStorage`] is the
//! simplest thing that does it.
#![warn(missing_docs)]

mod error;
pub mod log;
mod mutation;
mod receipt;

#[cfg(feature = "contract")]
pub mod contract;
#[cfg(feature = "contract")]
pub mod mem;

pub use error::StorageError;
pub use mutation::{Batch, Idempotency, Mutation, SessionChange, StampedEdit, reason};
pub use receipt::{Applied, CheckReport, Receipt};

use async_trait::async_trait;
use loci_model::policy::{AdminPass, BrowsePass, Facts, ReadPass, SearchPass};
use loci_model::query::{
    ListCursor, ListItem, ListQuery, SessionQuery, StoreQuery, StoreStats, VersionQuery,
};
use loci_model::{
    ApiKey, At, Change, Grant, Memory, MemoryId, Page, Principal, PrincipalId, Session, SessionId,
    Store, StoreId, Timestamp, Version, VersionId, View, WorkspaceId,
};
use std::path::Path;

/// Shorthand for what storage calls return.
pub type Result<T> = std::result::Result<T, StorageError>;

/// A storage engine. Every read of memories takes a pass; only expired memories' invisibility and
/// the audience are left to the engine to apply, inside the query.
#[async_trait]
pub trait Storage: Send + Sync + 'static {
    /// Applies one mutation, durably. With an idempotency key that was used before, nothing is
    /// applied and the first receipt comes back.
    async fn write(&self, mutation: Mutation, idempotency: Option<Idempotency>) -> Result<Applied>;

    /// The receipt of an earlier request under the same idempotency key, if there was one. Asked
    /// before policy, because the thing a first request removed cannot be asked about again.
    async fn recall(&self, idempotency: &Idempotency) -> Result<Option<Receipt>>;

    /// What policy needs to know about a store: the store, its grants to `principal` and to
    /// everyone, and how `session` attaches it.
    async fn facts(
        &self,
        store: StoreId,
        principal: PrincipalId,
        session: Option<SessionId>,
    ) -> Result<Option<Facts>>;

    /// Stores by creation; those the pass lets its reader read.
    async fn list_stores(
        &self,
        pass: &BrowsePass,
        query: &StoreQuery,
    ) -> Result<Page<Store, (Timestamp, StoreId)>>;

    /// One live, unexpired memory that the pass's audience may see.
    async fn get(&self, pass: &ReadPass, at: &At, view: View) -> Result<Option<Memory>>;

    /// A page of live, unexpired memories that the pass's audience may see.
    async fn list(&self, pass: &ReadPass, query: &ListQuery) -> Result<Page<ListItem, ListCursor>>;

    /// One version; versions of internal memories are hidden from models.
    async fn version(
        &self,
        pass: &ReadPass,
        version: VersionId,
        view: View,
    ) -> Result<Option<Version>>;

    /// A page of versions, newest first; the cursor is the last feed number shown.
    async fn versions(&self, pass: &ReadPass, query: &VersionQuery) -> Result<Page<Version, u64>>;

    /// The feed after `after`, oldest first. Models get every number, but not the paths of internal
    /// memories.
    async fn changes(&self, pass: &ReadPass, after: u64, limit: usize) -> Result<Vec<Change>>;

    /// Live text memories that hold any of the words, best first.
    async fn find_words(
        &self,
        pass: &SearchPass,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<MemoryId>>;

    /// Numbers about one store.
    async fn stats(&self, pass: &ReadPass) -> Result<StoreStats>;

    /// The store's grants, oldest first, expired ones included.
    async fn grants(&self, pass: &ReadPass) -> Result<Vec<Grant>>;

    /// Whose key this is, by the hash of its secret.
    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<(ApiKey, Principal)>>;

    /// The workspace's keys, oldest first.
    async fn keys(&self, pass: &AdminPass) -> Result<Vec<ApiKey>>;

    /// One principal.
    async fn principal(&self, id: PrincipalId) -> Result<Option<Principal>>;

    /// A principal by its name.
    async fn principal_by_name(
        &self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Option<Principal>>;

    /// The workspace's principals, oldest first.
    async fn principals(&self, pass: &AdminPass) -> Result<Vec<Principal>>;

    /// The only workspace of a server that was set up for one, made on first start.
    async fn default_workspace(&self) -> Result<Option<WorkspaceId>>;

    /// One session of a workspace.
    async fn session(&self, workspace: WorkspaceId, id: SessionId) -> Result<Option<Session>>;

    /// Sessions by creation; with an owner, only that principal's.
    async fn list_sessions(
        &self,
        workspace: WorkspaceId,
        owner: Option<PrincipalId>,
        query: &SessionQuery,
    ) -> Result<Page<Session, (Timestamp, SessionId)>>;

    /// Memories whose time is over, for the sweeper.
    async fn expired(&self, now: Timestamp, limit: usize) -> Result<Vec<(StoreId, MemoryId)>>;

    /// Removed memories whose history is due to be erased, for the sweeper.
    async fn erasable(&self, now: Timestamp, limit: usize) -> Result<Vec<(StoreId, MemoryId)>>;

    /// Stores that were removed but not purged yet, for the sweeper.
    async fn unpurged(&self, limit: usize) -> Result<Vec<StoreId>>;

    /// The store's whole history after a feed number, oldest first, for export.
    async fn log(
        &self,
        pass: &AdminPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<log::LogEntry>>;

    /// Looks at everything and reports what does not fit.
    async fn check(&self) -> Result<CheckReport>;

    /// Writes a consistent copy to a new file while writes go on.
    async fn backup(&self, to: &Path) -> Result<()>;

    /// Whether writes are being accepted.
    async fn ready(&self) -> Result<()>;
}
