//! A storage engine that lies about access: whoever asks about the betrayed store from another
//! workspace is told that the store belongs to that workspace and to them. Policy believes it, as it
//! believes all facts, and gives out passes. Everything else goes to the engine inside untouched.

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
use loci_storage::log::LogEntry;
use loci_storage::{
    Applied, AsOf, ChangedTexts, CheckReport, CopyHold, EmbedPage, FeedEnd, Generation,
    GenerationId, Idempotency, Lookup, Mutation, NewlyRead, ReadablePage, Reading, ReadingEnd,
    ReadingLag, ReadingMark, Receipt, Remembered, Result, Shortlist, Spent, Storage, TextPage,
    VectorLag,
};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A storage engine whose facts about one store are forged for callers of other workspaces.
pub(crate) struct Forger {
    inner: Arc<dyn Storage>,
    betrayed: OnceLock<Store>,
}

impl Forger {
    /// Around an engine; nothing is betrayed yet.
    pub(crate) fn new(inner: Arc<dyn Storage>) -> Self {
        Self { inner, betrayed: OnceLock::new() }
    }

    /// From now on the facts about this store are forged.
    pub(crate) fn betray(&self, store: Store) {
        assert!(self.betrayed.set(store).is_ok(), "once is enough");
    }

    fn lie_to(&self, workspace: WorkspaceId, principal: PrincipalId) -> Option<Facts> {
        let store = self.betrayed.get().filter(|store| store.workspace != workspace)?;
        Some(forged(store, workspace, principal))
    }
}

/// Facts by which a store is somebody's own. What the store is called is not among them: whoever
/// learns that has read it from the database.
pub(crate) fn forged(store: &Store, workspace: WorkspaceId, owner: PrincipalId) -> Facts {
    let mut store = Store { workspace, owner, name: "a store".into(), ..store.clone() };
    store.description.clear();
    store.metadata.clear();
    Facts { store, grants: Vec::new(), home_of: None, relation: None, attachment: None }
}

/// The engine around `inner`, with the facts forged and every other method as it is inside.
macro_rules! forger {
    ($($method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)+) => {
        #[async_trait]
        impl Storage for Forger {
            async fn facts(
                &self,
                workspace: WorkspaceId,
                store: StoreId,
                principal: PrincipalId,
                session: Option<SessionId>,
            ) -> Result<Option<Facts>> {
                match self.lie_to(workspace, principal).filter(|lie| lie.store.id == store) {
                    Some(lie) => Ok(Some(lie)),
                    None => self.inner.facts(workspace, store, principal, session).await,
                }
            }

            async fn all_facts(&self, caller: &Caller) -> Result<Arc<Vec<Facts>>> {
                let own = self.inner.all_facts(caller).await?;
                let lie = self.lie_to(caller.workspace, caller.principal);
                Ok(Arc::new(own.iter().cloned().chain(lie).collect()))
            }

            fn is_replica(&self) -> bool {
                self.inner.is_replica()
            }

            $(async fn $method(&self, $($argument: $type),*) -> $answer {
                self.inner.$method($($argument),*).await
            })+
        }
    };
}

forger! {
    write(mutation: Mutation, idempotency: Option<Idempotency>) -> Result<Applied>;
    recall(idempotency: &Idempotency) -> Result<Option<Receipt>>;
    list_stores(pass: &BrowsePass, query: &StoreQuery) -> Result<Page<Store, (Timestamp, StoreId)>>;
    get(pass: &ReadPass, at: &At, view: View) -> Result<Option<Memory>>;
    store_at(workspace: WorkspaceId, address: &Address) -> Result<Option<StoreId>>;
    newest(pass: &ReadPass, path: &MemoryPath, view: View) -> Result<Option<Memory>>;
    list(pass: &ReadPass, query: &ListQuery) -> Result<Page<ListItem, ListCursor>>;
    version(pass: &ReadPass, version: VersionId, view: View) -> Result<Option<Version>>;
    versions(pass: &ReadPass, query: &VersionQuery) -> Result<Page<Version, u64>>;
    changes(pass: &ReadPass, after: u64, limit: usize) -> Result<Vec<Change>>;
    feed_ends(pass: &SearchPass) -> Result<Vec<FeedEnd>>;
    texts(pass: &SearchPass, store: StoreId, after: u64, limit: usize) -> Result<TextPage>;
    changed_texts(pass: &SearchPass, store: StoreId, after: u64, limit: usize)
        -> Result<ChangedTexts>;
    texts_at(pass: &ReadPass, at: AsOf, after: u64, limit: usize) -> Result<TextPage>;
    found(pass: &SearchPass, ids: &[(StoreId, MemoryId)], view: View) -> Result<Vec<Memory>>;
    vectors(pass: &SearchPass, store: StoreId, generation: GenerationId, versions: &[VersionId])
        -> Result<Vec<Option<Vec<u8>>>>;
    shortlistable(pass: &SearchPass, store: StoreId, generation: GenerationId)
        -> Result<Option<u64>>;
    shortlist(pass: &SearchPass, store: StoreId, lookup: &Lookup) -> Result<Option<Shortlist>>;
    generations() -> Result<Vec<Generation>>;
    vector_lags(generation: GenerationId, limit: usize) -> Result<Vec<VectorLag>>;
    embeddable(pass: &SearchPass, store: StoreId, generation: GenerationId, after: u64, limit: usize)
        -> Result<EmbedPage>;
    reading_ends(pass: &SearchPass) -> Result<Vec<ReadingEnd>>;
    newly_read(pass: &SearchPass, store: StoreId, after: u64, limit: usize) -> Result<NewlyRead>;
    readings(pass: &SearchPass, store: StoreId, memories: &[MemoryId]) -> Result<Vec<Reading>>;
    reading_marks(pass: &SearchPass, store: StoreId) -> Result<Vec<ReadingMark>>;
    reading_lags(reader: &str, stores: Option<&[StoreId]>, limit: usize) -> Result<Vec<ReadingLag>>;
    readable(pass: &SearchPass, store: StoreId, reader: &str, after: u64, limit: usize)
        -> Result<ReadablePage>;
    spent(reader: &str, day: u32) -> Result<Spent>;
    tally(pass: &ReadPass, besides: Option<&str>) -> Result<Tally>;
    stats(pass: &ReadPass) -> Result<StoreStats>;
    kept(pass: &AdminPass, owner: Option<PrincipalId>, addresses: &str) -> Result<Amount>;
    grants(pass: &ReadPass) -> Result<Vec<Grant>>;
    key_by_hash(hash: &[u8; 32]) -> Result<Option<(ApiKey, Principal)>>;
    keys(pass: &AdminPass) -> Result<Vec<ApiKey>>;
    principal(workspace: WorkspaceId, id: PrincipalId) -> Result<Option<Principal>>;
    principal_by_name(workspace: WorkspaceId, name: &str) -> Result<Option<Principal>>;
    principals(pass: &AdminPass) -> Result<Vec<Principal>>;
    members(pass: &ConvenePass, group: PrincipalId) -> Result<Vec<Membership>>;
    memberships(pass: &ConvenePass, after: Option<(PrincipalId, PrincipalId)>, limit: usize)
        -> Result<Vec<Membership>>;
    events(pass: &AdminPass, after: u64, limit: usize) -> Result<Vec<Event>>;
    default_workspace() -> Result<Option<WorkspaceId>>;
    session(workspace: WorkspaceId, id: SessionId) -> Result<Option<Session>>;
    list_sessions(workspace: WorkspaceId, owner: Option<PrincipalId>, query: &SessionQuery)
        -> Result<Page<Session, (Timestamp, SessionId)>>;
    expired(now: Timestamp, limit: usize) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>>;
    erasable(now: Timestamp, limit: usize) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>>;
    unpurged(limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>>;
    is_unpurged(workspace: WorkspaceId, store: StoreId) -> Result<bool>;
    crowded(limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>>;
    workspaces() -> Result<Vec<(WorkspaceId, Timestamp)>>;
    newest_time(workspace: WorkspaceId) -> Result<Option<Timestamp>>;
    remembered(pass: &AdminPass, after: Option<(u128, String)>, limit: usize)
        -> Result<Vec<Remembered>>;
    log(pass: &AdminPass, store: StoreId, after: u64, limit: usize) -> Result<Vec<LogEntry>>;
    check() -> Result<CheckReport>;
    backup(to: &Path) -> Result<CopyHold>;
    settle_scrubs() -> Result<()>;
    lag() -> Option<Duration>;
    ready() -> Result<()>;
    lease(work: &str, secs: u32) -> Result<bool>;
    others_wrote() -> ();
}
