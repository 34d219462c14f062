//! A storage engine that tells the engine about stores of other workspaces when it is asked about
//! access, as a forgotten comparison would. Everything else it hands on untouched.

use async_trait::async_trait;
use loci_model::policy::{AdminPass, BrowsePass, ConvenePass, Facts, ReadPass, SearchPass};
use loci_model::query::{
    ListCursor, ListItem, ListQuery, SessionQuery, StoreQuery, StoreStats, Tally, VersionQuery,
};
use loci_model::{
    Address, ApiKey, At, Caller, Change, Event, Grant, Membership, Memory, MemoryId, MemoryPath,
    Page, Principal, PrincipalId, Session, SessionId, Store, StoreId, Timestamp, Version,
    VersionId, View, WorkspaceId,
};
use loci_storage::log::LogEntry;
use loci_storage::{
    Applied, AsOf, ChangedTexts, CheckReport, EmbedPage, FeedEnd, Generation, GenerationId,
    Idempotency, Lookup, Mutation, NewlyRead, ReadablePage, Reading, ReadingEnd, ReadingLag,
    ReadingMark, Receipt, Remembered, Result, Shortlist, Spent, Storage, TextPage, VectorLag,
};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A storage engine without the comparison of workspaces that goes before policy.
pub struct Unguarded {
    inner: Arc<dyn Storage>,
    betrayed: OnceLock<Vec<Facts>>,
}

impl Unguarded {
    /// Around an engine; it betrays nothing yet.
    pub fn new(inner: Arc<dyn Storage>) -> Self {
        Self { inner, betrayed: OnceLock::new() }
    }

    /// From now on everybody who asks about these stores gets an answer. Only what policy decides on
    /// is told, not what the stores are called.
    pub fn betray(&self, mut stores: Vec<Facts>) {
        for facts in &mut stores {
            facts.store.name = "a store".into();
            facts.store.description.clear();
            facts.store.metadata.clear();
        }
        assert!(self.betrayed.set(stores).is_ok(), "once is enough");
    }

    fn betrayed_to(&self, workspace: WorkspaceId) -> impl Iterator<Item = &Facts> {
        let stores = self.betrayed.get().map_or(&[][..], Vec::as_slice);
        stores.iter().filter(move |facts| facts.store.workspace != workspace)
    }
}

#[async_trait]
impl Storage for Unguarded {
    async fn facts(
        &self,
        workspace: WorkspaceId,
        store: StoreId,
        principal: PrincipalId,
        session: Option<SessionId>,
    ) -> Result<Option<Facts>> {
        let betrayed = self.betrayed_to(workspace).find(|facts| facts.store.id == store);
        match betrayed {
            Some(facts) => Ok(Some(facts.clone())),
            None => self.inner.facts(workspace, store, principal, session).await,
        }
    }

    async fn all_facts(&self, caller: &Caller) -> Result<Arc<Vec<Facts>>> {
        let own = self.inner.all_facts(caller).await?;
        let betrayed = self.betrayed_to(caller.workspace);
        Ok(Arc::new(own.iter().chain(betrayed).cloned().collect()))
    }

    async fn write(&self, mutation: Mutation, idempotency: Option<Idempotency>) -> Result<Applied> {
        self.inner.write(mutation, idempotency).await
    }

    async fn recall(&self, idempotency: &Idempotency) -> Result<Option<Receipt>> {
        self.inner.recall(idempotency).await
    }

    async fn list_stores(
        &self,
        pass: &BrowsePass,
        query: &StoreQuery,
    ) -> Result<Page<Store, (Timestamp, StoreId)>> {
        self.inner.list_stores(pass, query).await
    }

    async fn get(&self, pass: &ReadPass, at: &At, view: View) -> Result<Option<Memory>> {
        self.inner.get(pass, at, view).await
    }

    async fn store_at(&self, workspace: WorkspaceId, address: &Address) -> Result<Option<StoreId>> {
        self.inner.store_at(workspace, address).await
    }

    async fn newest(
        &self,
        pass: &ReadPass,
        path: &MemoryPath,
        view: View,
    ) -> Result<Option<Memory>> {
        self.inner.newest(pass, path, view).await
    }

    async fn list(&self, pass: &ReadPass, query: &ListQuery) -> Result<Page<ListItem, ListCursor>> {
        self.inner.list(pass, query).await
    }

    async fn version(
        &self,
        pass: &ReadPass,
        version: VersionId,
        view: View,
    ) -> Result<Option<Version>> {
        self.inner.version(pass, version, view).await
    }

    async fn versions(&self, pass: &ReadPass, query: &VersionQuery) -> Result<Page<Version, u64>> {
        self.inner.versions(pass, query).await
    }

    async fn changes(&self, pass: &ReadPass, after: u64, limit: usize) -> Result<Vec<Change>> {
        self.inner.changes(pass, after, limit).await
    }

    async fn feed_ends(&self, pass: &SearchPass) -> Result<Vec<FeedEnd>> {
        self.inner.feed_ends(pass).await
    }

    async fn texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<TextPage> {
        self.inner.texts(pass, store, after, limit).await
    }

    async fn changed_texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<ChangedTexts> {
        self.inner.changed_texts(pass, store, after, limit).await
    }

    async fn texts_at(
        &self,
        pass: &ReadPass,
        at: AsOf,
        after: u64,
        limit: usize,
    ) -> Result<TextPage> {
        self.inner.texts_at(pass, at, after, limit).await
    }

    async fn found(
        &self,
        pass: &SearchPass,
        ids: &[(StoreId, MemoryId)],
        view: View,
    ) -> Result<Vec<Memory>> {
        self.inner.found(pass, ids, view).await
    }

    async fn vectors(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        versions: &[VersionId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        self.inner.vectors(pass, store, generation, versions).await
    }

    async fn shortlistable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
    ) -> Result<Option<u64>> {
        self.inner.shortlistable(pass, store, generation).await
    }

    async fn shortlist(
        &self,
        pass: &SearchPass,
        store: StoreId,
        lookup: &Lookup,
    ) -> Result<Option<Shortlist>> {
        self.inner.shortlist(pass, store, lookup).await
    }

    async fn generations(&self) -> Result<Vec<Generation>> {
        self.inner.generations().await
    }

    async fn vector_lags(&self, generation: GenerationId, limit: usize) -> Result<Vec<VectorLag>> {
        self.inner.vector_lags(generation, limit).await
    }

    async fn embeddable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        after: u64,
        limit: usize,
    ) -> Result<EmbedPage> {
        self.inner.embeddable(pass, store, generation, after, limit).await
    }

    async fn reading_ends(&self, pass: &SearchPass) -> Result<Vec<ReadingEnd>> {
        self.inner.reading_ends(pass).await
    }

    async fn newly_read(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<NewlyRead> {
        self.inner.newly_read(pass, store, after, limit).await
    }

    async fn readings(
        &self,
        pass: &SearchPass,
        store: StoreId,
        memories: &[MemoryId],
    ) -> Result<Vec<Reading>> {
        self.inner.readings(pass, store, memories).await
    }

    async fn reading_marks(&self, pass: &SearchPass, store: StoreId) -> Result<Vec<ReadingMark>> {
        self.inner.reading_marks(pass, store).await
    }

    async fn reading_lags(
        &self,
        reader: &str,
        stores: Option<&[StoreId]>,
        limit: usize,
    ) -> Result<Vec<ReadingLag>> {
        self.inner.reading_lags(reader, stores, limit).await
    }

    async fn readable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        reader: &str,
        after: u64,
        limit: usize,
    ) -> Result<ReadablePage> {
        self.inner.readable(pass, store, reader, after, limit).await
    }

    async fn spent(&self, reader: &str, day: u32) -> Result<Spent> {
        self.inner.spent(reader, day).await
    }

    async fn tally(&self, pass: &ReadPass, besides: Option<&str>) -> Result<Tally> {
        self.inner.tally(pass, besides).await
    }

    async fn stats(&self, pass: &ReadPass) -> Result<StoreStats> {
        self.inner.stats(pass).await
    }

    async fn grants(&self, pass: &ReadPass) -> Result<Vec<Grant>> {
        self.inner.grants(pass).await
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<(ApiKey, Principal)>> {
        self.inner.key_by_hash(hash).await
    }

    async fn keys(&self, pass: &AdminPass) -> Result<Vec<ApiKey>> {
        self.inner.keys(pass).await
    }

    async fn principal(
        &self,
        workspace: WorkspaceId,
        id: PrincipalId,
    ) -> Result<Option<Principal>> {
        self.inner.principal(workspace, id).await
    }

    async fn principal_by_name(
        &self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Option<Principal>> {
        self.inner.principal_by_name(workspace, name).await
    }

    async fn principals(&self, pass: &AdminPass) -> Result<Vec<Principal>> {
        self.inner.principals(pass).await
    }

    async fn members(&self, pass: &ConvenePass, group: PrincipalId) -> Result<Vec<Membership>> {
        self.inner.members(pass, group).await
    }

    async fn memberships(
        &self,
        pass: &ConvenePass,
        after: Option<(PrincipalId, PrincipalId)>,
        limit: usize,
    ) -> Result<Vec<Membership>> {
        self.inner.memberships(pass, after, limit).await
    }

    async fn events(&self, pass: &AdminPass, after: u64, limit: usize) -> Result<Vec<Event>> {
        self.inner.events(pass, after, limit).await
    }

    async fn default_workspace(&self) -> Result<Option<WorkspaceId>> {
        self.inner.default_workspace().await
    }

    async fn session(&self, workspace: WorkspaceId, id: SessionId) -> Result<Option<Session>> {
        self.inner.session(workspace, id).await
    }

    async fn list_sessions(
        &self,
        workspace: WorkspaceId,
        owner: Option<PrincipalId>,
        query: &SessionQuery,
    ) -> Result<Page<Session, (Timestamp, SessionId)>> {
        self.inner.list_sessions(workspace, owner, query).await
    }

    async fn expired(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
        self.inner.expired(now, limit).await
    }

    async fn erasable(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
        self.inner.erasable(now, limit).await
    }

    async fn unpurged(&self, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
        self.inner.unpurged(limit).await
    }

    async fn crowded(&self, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
        self.inner.crowded(limit).await
    }

    async fn workspaces(&self) -> Result<Vec<(WorkspaceId, Timestamp)>> {
        self.inner.workspaces().await
    }

    async fn remembered(
        &self,
        pass: &AdminPass,
        after: Option<(u128, String)>,
        limit: usize,
    ) -> Result<Vec<Remembered>> {
        self.inner.remembered(pass, after, limit).await
    }

    async fn log(
        &self,
        pass: &AdminPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LogEntry>> {
        self.inner.log(pass, store, after, limit).await
    }

    async fn check(&self) -> Result<CheckReport> {
        self.inner.check().await
    }

    async fn backup(&self, to: &Path) -> Result<()> {
        self.inner.backup(to).await
    }

    fn is_replica(&self) -> bool {
        self.inner.is_replica()
    }

    async fn lag(&self) -> Option<Duration> {
        self.inner.lag().await
    }

    async fn ready(&self) -> Result<()> {
        self.inner.ready().await
    }

    async fn lease(&self, work: &str, secs: u32) -> Result<bool> {
        self.inner.lease(work, secs).await
    }

    async fn others_wrote(&self) {
        self.inner.others_wrote().await;
    }
}
