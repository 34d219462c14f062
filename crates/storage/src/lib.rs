//! The port between the engine and whatever keeps the data.
//!
//! A storage engine is a state machine: [`Storage::write`] takes one [`Mutation`] and applies it
//! whole and durably or not at all; everything else only reads. Ids, times and decisions arrive
//! with the mutation, so two engines given the same mutations hold the same state. The contract
//! suite (crate `loci-storage-contract`) says what every engine must do, and the in-memory engine
//! (crate `loci-storage-memory`) is the simplest thing that does it.
#![warn(missing_docs)]

pub mod column;
mod copy;
mod error;
pub mod ground;
mod indexing;
pub mod known;
pub mod log;
mod mutation;
mod reading;
mod receipt;
mod remembered;
pub mod request;
mod session;
mod shortlist;
pub mod tail;

pub use copy::CopyHold;
pub use error::StorageError;
pub use indexing::{
    AsOf, ChangedTexts, EmbedPage, Embeddable, FeedEnd, Generation, GenerationId,
    SAME_AS_REVISIONS_MAX, TextPage, VectorBatch, VectorLag, VectorSource, check_generation, fits,
};
pub use mutation::{Batch, Idempotency, Mutation, StampedEdit, reason};
pub use reading::{
    NewReading, NewlyRead, ReadablePage, Reading, ReadingBatch, ReadingEnd, ReadingLag,
    ReadingMark, Spent, check_reader,
};
pub use receipt::{Applied, CheckReport, Receipt};
pub use remembered::{OutcomeRefs, ReceiptRefs, Remembered};
pub use session::SessionChange;
pub use shortlist::{Lookup, LookupFilter, Shortlist, Sought};

use async_trait::async_trait;
use loci_model::policy::{AdminPass, BrowsePass, ConvenePass, Facts, ReadPass, SearchPass};
use loci_model::query::{
    Amount, ListCursor, ListItem, ListQuery, SessionQuery, StoreQuery, StoreStats, Tally,
    VersionQuery,
};
use loci_model::{
    Address, ApiKey, At, Caller, Change, Event, Grant, Membership, Memory, MemoryId, MemoryPath,
    Page, Principal, PrincipalId, Session, SessionId, Store, StoreId, Timestamp, Version,
    VersionId, View, WorkspaceId,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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

    /// What policy needs to know about a store of a workspace: the store, its grants to `principal`
    /// and to everyone, how `principal` stands to its owner, and how `session` attaches it.
    async fn facts(
        &self,
        workspace: WorkspaceId,
        store: StoreId,
        principal: PrincipalId,
        session: Option<SessionId>,
    ) -> Result<Option<Facts>>;

    /// The store at an address of a workspace.
    async fn store_at(&self, workspace: WorkspaceId, address: &Address) -> Result<Option<StoreId>>;

    /// Stores by creation; those the pass shows ([`BrowsePass::shows`]).
    async fn list_stores(
        &self,
        pass: &BrowsePass,
        query: &StoreQuery,
    ) -> Result<Page<Store, (Timestamp, StoreId)>>;

    /// One live, unexpired memory that the pass's audience may see.
    async fn get(&self, pass: &ReadPass, at: &At, view: View) -> Result<Option<Memory>>;

    /// The live, unexpired memory at a path that changed last, in whatever partition, among those
    /// that the pass's audience may see.
    async fn newest(
        &self,
        pass: &ReadPass,
        path: &MemoryPath,
        view: View,
    ) -> Result<Option<Memory>>;

    /// How many there are of what [`Self::newest`] gives and is not sealed, by kind; those at paths
    /// that begin with `besides` are left out.
    async fn tally(&self, pass: &ReadPass, besides: Option<&str>) -> Result<Tally>;

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

    /// Facts about every store the caller may have a standing in, oldest store first: for an
    /// administrator all of its workspace, for a session those it attaches, for others those owned
    /// or granted, the homes of the groups they are in, and for agents those of the users in these
    /// groups.
    async fn all_facts(&self, caller: &Caller) -> Result<Arc<Vec<Facts>>>;

    /// How far each store of the pass has come; stores that are gone are left out.
    async fn feed_ends(&self, pass: &SearchPass) -> Result<Vec<FeedEnd>>;

    /// Live, unexpired text memories of one store of the pass that its audience may see, oldest
    /// first, with content. `after` is the last page's `next`, 0 to begin. Large texts make pages
    /// shorter. What is damaged on disk is left out; asked for by itself, it is `Corrupt`.
    ///
    /// Here and below, a store that is gone or not one of the pass's is `NotFound`.
    async fn texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<TextPage>;

    /// What became of the memories that the next entries of the feed after `after` are about, at
    /// most `limit` of them, as [`Self::texts`] would give them; read in one moment.
    async fn changed_texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<ChangedTexts>;

    /// Text memories as they stood at a moment of the past, with the content they had then, unless
    /// it was scrubbed since; those that had expired by then, and those whose history is hidden
    /// from the audience, are left out. `NotFound` when `at` names no version of the store.
    async fn texts_at(
        &self,
        pass: &ReadPass,
        at: AsOf,
        after: u64,
        limit: usize,
    ) -> Result<TextPage>;

    /// Memories by id, in the order asked for; those that the pass does not reach, or that are
    /// gone, expired or hidden from its audience, are left out.
    async fn found(
        &self,
        pass: &SearchPass,
        ids: &[(StoreId, MemoryId)],
        view: View,
    ) -> Result<Vec<Memory>>;

    /// The vectors of versions of one store of the pass, in the order asked for, as they were
    /// written; none for those whose history is hidden from the audience, and for the heads of
    /// expired memories.
    async fn vectors(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        versions: &[VersionId],
    ) -> Result<Vec<Option<Vec<u8>>>>;

    /// How many memories a store of the pass has, if [`Self::shortlist`] can answer for it with this
    /// generation of vectors. An engine without words as rows always says no.
    async fn shortlistable(
        &self,
        _pass: &SearchPass,
        _store: StoreId,
        _generation: GenerationId,
    ) -> Result<Option<u64>> {
        Ok(None)
    }

    /// The live, unexpired text memories of one store of the pass that its audience may see and
    /// that are worth ranking, found among all of them by the words and vectors that were put; so
    /// it knows of changes as far as the generation's mark. `None` when there is no better way than
    /// to read everything.
    async fn shortlist(
        &self,
        _pass: &SearchPass,
        _store: StoreId,
        _lookup: &Lookup,
    ) -> Result<Option<Shortlist>> {
        Ok(None)
    }

    /// Every generation of vectors, oldest first.
    async fn generations(&self) -> Result<Vec<Generation>>;

    /// Live stores whose vectors of a generation are behind their feed, those least behind first:
    /// what somebody just wrote goes before what was imported in bulk.
    async fn vector_lags(&self, generation: GenerationId, limit: usize) -> Result<Vec<VectorLag>>;

    /// Which of the heads that the next entries of the feed after `after`, at most `limit`, are
    /// about need vectors.
    async fn embeddable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        after: u64,
        limit: usize,
    ) -> Result<EmbedPage>;

    /// How far the readings of each store of the pass have come; stores without any are left out.
    async fn reading_ends(&self, pass: &SearchPass) -> Result<Vec<ReadingEnd>>;

    /// Which memories of one store of the pass were read after a number, at most `limit` readings.
    async fn newly_read(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<NewlyRead>;

    /// What readers found in those of the memories that [`Self::texts`] would give, as long as they
    /// still have the content that was read; in the order asked for, and by reader.
    async fn readings(
        &self,
        pass: &SearchPass,
        store: StoreId,
        memories: &[MemoryId],
    ) -> Result<Vec<Reading>>;

    /// How far each reader has come in one store of the pass, by name.
    async fn reading_marks(&self, pass: &SearchPass, store: StoreId) -> Result<Vec<ReadingMark>>;

    /// Live stores, all or those named, in which a reader is behind the feed, those least behind
    /// first.
    async fn reading_lags(
        &self,
        reader: &str,
        stores: Option<&[StoreId]>,
        limit: usize,
    ) -> Result<Vec<ReadingLag>>;

    /// Which of the memories that the next entries of the feed after `after`, at most `limit`, are
    /// about were not read by a reader, as [`Self::texts`] would give them.
    async fn readable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        reader: &str,
        after: u64,
        limit: usize,
    ) -> Result<ReadablePage>;

    /// What a reader cost on a day, in all stores there are.
    async fn spent(&self, reader: &str, day: u32) -> Result<Spent>;

    /// Numbers about one store.
    async fn stats(&self, pass: &ReadPass) -> Result<StoreStats>;

    /// What live stores of the workspace hold whose addresses begin so: those of one owner, or all.
    async fn kept(
        &self,
        pass: &AdminPass,
        owner: Option<PrincipalId>,
        addresses: &str,
    ) -> Result<Amount>;

    /// The store's grants, oldest first, expired ones included.
    async fn grants(&self, pass: &ReadPass) -> Result<Vec<Grant>>;

    /// Whose key this is, by the hash of its secret.
    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<(ApiKey, Principal)>>;

    /// The workspace's keys, oldest first.
    async fn keys(&self, pass: &AdminPass) -> Result<Vec<ApiKey>>;

    /// One principal of a workspace.
    async fn principal(&self, workspace: WorkspaceId, id: PrincipalId)
    -> Result<Option<Principal>>;

    /// A principal by its name.
    async fn principal_by_name(
        &self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Option<Principal>>;

    /// The workspace's principals, oldest first.
    async fn principals(&self, pass: &AdminPass) -> Result<Vec<Principal>>;

    /// Who is in a group, in the order of joining.
    async fn members(&self, pass: &ConvenePass, group: PrincipalId) -> Result<Vec<Membership>>;

    /// Everybody who is in a group, by group and member, after those of the last page.
    async fn memberships(
        &self,
        pass: &ConvenePass,
        after: Option<(PrincipalId, PrincipalId)>,
        limit: usize,
    ) -> Result<Vec<Membership>>;

    /// The workspace's audit log after a number, oldest first.
    async fn events(&self, pass: &AdminPass, after: u64, limit: usize) -> Result<Vec<Event>>;

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

    /// Memories whose time is over, for the sweeper; of all workspaces, as are the next two.
    async fn expired(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>>;

    /// Removed memories whose history is due to be erased, for the sweeper.
    async fn erasable(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>>;

    /// Stores that were removed but not purged yet, for the sweeper.
    async fn unpurged(&self, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>>;

    /// Whether a store was removed and something of it may be left: it is not purged yet, or what was
    /// purged of it is not scrubbed yet. Of one that never was, no.
    async fn is_unpurged(&self, workspace: WorkspaceId, store: StoreId) -> Result<bool>;

    /// Live stores that hold more than they should, for the compactor.
    async fn crowded(&self, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>>;

    /// Every workspace and since when it is there, oldest first; for those who move all of them.
    async fn workspaces(&self) -> Result<Vec<(WorkspaceId, Timestamp)>>;

    /// The latest time that the workspace's stores, sessions and audit log have; `None` when there is
    /// nothing that has one. A clock that shows an earlier time was set back.
    async fn newest_time(&self, workspace: WorkspaceId) -> Result<Option<Timestamp>>;

    /// What is remembered of requests with an idempotency key, in the order of scope and key, after
    /// those of the last page. Requests of credentials that are gone are left out: nobody can
    /// repeat them.
    async fn remembered(
        &self,
        pass: &AdminPass,
        after: Option<(u128, String)>,
        limit: usize,
    ) -> Result<Vec<Remembered>>;

    /// The store's whole history after a feed number, oldest first, for export. Large contents make
    /// pages shorter; only at the end is one empty. A version whose content is damaged comes as
    /// [`log::LogEntry::Damaged`].
    async fn log(
        &self,
        pass: &AdminPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<log::LogEntry>>;

    /// Looks at everything and reports what does not fit.
    async fn check(&self) -> Result<CheckReport>;

    /// Writes a consistent copy to a new file while writes go on. Until the hold is dropped, no scrub
    /// is answered that came after the copy was begun.
    async fn backup(&self, to: &Path) -> Result<CopyHold>;

    /// Returns when everything that was scrubbed before is gone from every file, or fails with
    /// `ScrubPending`. Asked before a request is answered whose scrub an earlier request began: its
    /// receipt is durable before its bytes are gone. An engine that promises nothing about its files
    /// has nothing to wait for.
    async fn settle_scrubs(&self) -> Result<()> {
        Ok(())
    }

    /// Whether this engine reads a replica: what it shows may be behind, and it takes no writes.
    fn is_replica(&self) -> bool {
        false
    }

    /// How far a replica is behind, as far as it can tell.
    async fn lag(&self) -> Option<Duration> {
        None
    }

    /// Whether writes are being accepted; of a replica, whether it can be read.
    async fn ready(&self) -> Result<()>;

    /// Whether the disk had no room for the last write that needed any. Reads go on, and so does
    /// what makes room or takes access away.
    fn is_full(&self) -> bool {
        false
    }

    /// Whether this server may do a piece of work that one server is enough for, for so many
    /// seconds from now; asking again keeps it. An engine that one process has to itself always
    /// says yes.
    async fn lease(&self, _work: &str, _secs: u32) -> Result<bool> {
        Ok(true)
    }

    /// Waits until another server may have written something. A hint: it may come too often, late
    /// or not at all. An engine that one process has to itself waits for ever.
    async fn others_wrote(&self) {
        std::future::pending().await
    }
}
