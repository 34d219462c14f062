//! The oracle: the simplest storage engine that keeps the contract. Everything sits in plain maps
//! behind one lock; a write works on a copy of the whole state and puts it in place only when it
//! succeeded, so every mutation is atomic by construction.
//!
//! It trades all speed for being evidently right. Nothing is durable, there is no file to scrub and
//! none to back up.

mod check;
mod commit;
mod gate;
mod group;
mod import;
mod indexing;
mod read;
mod readings;
mod recall;
mod scrub;
mod state;
mod tally;
mod vectors;
mod write;

use async_trait::async_trait;
pub use gate::Gate;
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
    GenerationId, Idempotency, Mutation, NewlyRead, ReadablePage, Reading, ReadingEnd, ReadingLag,
    ReadingMark, Receipt, ReceiptRefs, Remembered, Result, Spent, Storage, StorageError, TextPage,
    VectorLag,
};
use state::State;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

const UNPOISONED: &str = "a panic while holding the lock has failed the test already";

/// A storage engine that keeps everything in memory and forgets it at the end.
#[derive(Default)]
pub struct MemStorage {
    state: Mutex<State>,
    writes_left: Mutex<Option<u64>>,
    gate: Mutex<Option<Gate>>,
    holds_scrubs: AtomicBool,
    /// Stores that were purged while scrubs are held.
    unscrubbed: Mutex<HashSet<(WorkspaceId, StoreId)>>,
}

impl MemStorage {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Another one that holds the same and goes its own way from here.
    pub fn fork(&self) -> Self {
        Self { state: Mutex::new(self.state().clone()), ..Self::default() }
    }

    /// Fails every write after the next few, so that tests can cut work off anywhere; `None` lets
    /// all of them through again.
    pub fn stop_after(&self, writes: Option<u64>) {
        *self.writes_left.lock().expect(UNPOISONED) = writes;
    }

    /// Has the next write wait, and no other one.
    pub fn hold_next_write(&self) -> Gate {
        let gate = Gate::default();
        *self.gate.lock().expect(UNPOISONED) = Some(gate.clone());
        gate
    }

    /// From now on no scrub is finished, as if somebody held the old bytes; or every scrub again.
    pub fn hold_scrubs(&self, holds: bool) {
        self.holds_scrubs.store(holds, Ordering::Relaxed);
        if !holds {
            self.unscrubbed.lock().expect(UNPOISONED).clear();
        }
    }

    /// What a mutation purges is not scrubbed while scrubs are held.
    fn purges(&self, mutation: &Mutation) {
        let mutation = match mutation {
            Mutation::Audited(mutation, _) => mutation,
            other => other,
        };
        if let Mutation::PurgeStore { pass, .. } = mutation
            && self.holds_scrubs.load(Ordering::Relaxed)
        {
            let purged = (pass.workspace(), pass.store());
            self.unscrubbed.lock().expect(UNPOISONED).insert(purged);
        }
    }

    fn scrubbed(&self) -> Result<()> {
        match self.holds_scrubs.load(Ordering::Relaxed) {
            true => Err(StorageError::ScrubPending),
            false => Ok(()),
        }
    }

    fn spend_write(&self) -> Result<()> {
        match self.writes_left.lock().expect(UNPOISONED).as_mut() {
            Some(0) => Err(StorageError::Stopped("the test said so".into())),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(UNPOISONED)
    }

    fn write_now(&self, mutation: Mutation, idempotency: Option<Idempotency>) -> Result<Applied> {
        let mut state = self.state();
        if let Some(idempotency) = &idempotency
            && let Some(receipt) = state.recall(idempotency)?
        {
            return Ok(Applied { receipt, is_replay: true });
        }
        let mut next = state.clone();
        let receipt = next.apply(mutation)?;
        if let Some(idempotency) = idempotency {
            next.remember(Remembered { idempotency, refs: ReceiptRefs::from(&receipt) });
        }
        *state = next;
        Ok(Applied { receipt, is_replay: false })
    }
}

#[async_trait]
impl Storage for MemStorage {
    async fn write(&self, mutation: Mutation, idempotency: Option<Idempotency>) -> Result<Applied> {
        let gate = self.gate.lock().expect(UNPOISONED).take();
        if let Some(gate) = gate {
            gate.pass().await;
        }
        self.spend_write()?;
        self.purges(&mutation);
        let applied = self.write_now(mutation, idempotency)?;
        // A store that is out of sight is scrubbed when it is purged.
        let is_hidden = matches!(applied.receipt, Receipt::StoreRemoved(_));
        if applied.receipt.promises_a_scrub() && !is_hidden {
            self.scrubbed()?;
        }
        Ok(applied)
    }

    async fn recall(&self, idempotency: &Idempotency) -> Result<Option<Receipt>> {
        self.state().recall(idempotency)
    }

    async fn facts(
        &self,
        workspace: WorkspaceId,
        store: StoreId,
        principal: PrincipalId,
        session: Option<SessionId>,
    ) -> Result<Option<Facts>> {
        Ok(self.state().facts(workspace, store, principal, session))
    }

    async fn store_at(&self, workspace: WorkspaceId, address: &Address) -> Result<Option<StoreId>> {
        Ok(self.state().store_at(workspace, address).map(|shelf| shelf.store.id))
    }

    async fn list_stores(
        &self,
        pass: &BrowsePass,
        query: &StoreQuery,
    ) -> Result<Page<Store, (Timestamp, StoreId)>> {
        Ok(self.state().list_stores(pass, query))
    }

    async fn get(&self, pass: &ReadPass, at: &At, view: View) -> Result<Option<Memory>> {
        Ok(self.state().get(pass, at, view))
    }

    async fn newest(
        &self,
        pass: &ReadPass,
        path: &MemoryPath,
        view: View,
    ) -> Result<Option<Memory>> {
        Ok(self.state().newest(pass, path, view))
    }

    async fn list(&self, pass: &ReadPass, query: &ListQuery) -> Result<Page<ListItem, ListCursor>> {
        self.state().list(pass, query)
    }

    async fn version(
        &self,
        pass: &ReadPass,
        version: VersionId,
        view: View,
    ) -> Result<Option<Version>> {
        Ok(self.state().version(pass, version, view))
    }

    async fn versions(&self, pass: &ReadPass, query: &VersionQuery) -> Result<Page<Version, u64>> {
        self.state().versions(pass, query)
    }

    async fn changes(&self, pass: &ReadPass, after: u64, limit: usize) -> Result<Vec<Change>> {
        self.state().changes(pass, after, limit)
    }

    async fn all_facts(&self, caller: &Caller) -> Result<Arc<Vec<Facts>>> {
        Ok(Arc::new(self.state().all_facts(caller)))
    }

    async fn feed_ends(&self, pass: &SearchPass) -> Result<Vec<FeedEnd>> {
        Ok(self.state().feed_ends(pass))
    }

    async fn texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<TextPage> {
        self.state().texts(pass, store, after, limit)
    }

    async fn changed_texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<ChangedTexts> {
        self.state().changed_texts(pass, store, after, limit)
    }

    async fn texts_at(
        &self,
        pass: &ReadPass,
        at: AsOf,
        after: u64,
        limit: usize,
    ) -> Result<TextPage> {
        self.state().texts_at(pass, at, after, limit)
    }

    async fn found(
        &self,
        pass: &SearchPass,
        ids: &[(StoreId, MemoryId)],
        view: View,
    ) -> Result<Vec<Memory>> {
        Ok(self.state().found(pass, ids, view))
    }

    async fn vectors(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        versions: &[VersionId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        self.state().vectors(pass, store, generation, versions)
    }

    async fn generations(&self) -> Result<Vec<Generation>> {
        Ok(self.state().generations.clone())
    }

    async fn vector_lags(&self, generation: GenerationId, limit: usize) -> Result<Vec<VectorLag>> {
        Ok(self.state().vector_lags(generation, limit))
    }

    async fn embeddable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        after: u64,
        limit: usize,
    ) -> Result<EmbedPage> {
        self.state().embeddable(pass, store, generation, after, limit)
    }

    async fn reading_ends(&self, pass: &SearchPass) -> Result<Vec<ReadingEnd>> {
        Ok(self.state().reading_ends(pass))
    }

    async fn newly_read(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<NewlyRead> {
        self.state().newly_read(pass, store, after, limit)
    }

    async fn readings(
        &self,
        pass: &SearchPass,
        store: StoreId,
        memories: &[MemoryId],
    ) -> Result<Vec<Reading>> {
        self.state().readings(pass, store, memories)
    }

    async fn reading_marks(&self, pass: &SearchPass, store: StoreId) -> Result<Vec<ReadingMark>> {
        self.state().reading_marks(pass, store)
    }

    async fn reading_lags(
        &self,
        reader: &str,
        stores: Option<&[StoreId]>,
        limit: usize,
    ) -> Result<Vec<ReadingLag>> {
        Ok(self.state().reading_lags(reader, stores, limit))
    }

    async fn readable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        reader: &str,
        after: u64,
        limit: usize,
    ) -> Result<ReadablePage> {
        self.state().readable(pass, store, reader, after, limit)
    }

    async fn spent(&self, reader: &str, day: u32) -> Result<Spent> {
        Ok(self.state().spent(reader, day))
    }

    async fn tally(&self, pass: &ReadPass, besides: Option<&str>) -> Result<Tally> {
        self.state().tally(pass, besides)
    }

    async fn stats(&self, pass: &ReadPass) -> Result<StoreStats> {
        Ok(self.state().shelf(pass.store())?.stats())
    }

    async fn kept(
        &self,
        pass: &AdminPass,
        owner: Option<PrincipalId>,
        addresses: &str,
    ) -> Result<Amount> {
        Ok(self.state().kept(pass.workspace(), owner, addresses))
    }

    async fn grants(&self, pass: &ReadPass) -> Result<Vec<Grant>> {
        let mut grants = self.state().shelf(pass.store())?.grants.clone();
        grants.sort_by_key(|grant| (grant.created_at, grant.id));
        Ok(grants)
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<(ApiKey, Principal)>> {
        let state = self.state();
        let key = state.keys.iter().find(|key| key.secret_hash == *hash);
        Ok(key.and_then(|key| Some((key.clone(), state.principal(key.principal)?.clone()))))
    }

    async fn keys(&self, pass: &AdminPass) -> Result<Vec<ApiKey>> {
        let mut keys = self.state().keys.clone();
        keys.retain(|key| key.workspace == pass.workspace());
        keys.sort_by_key(|key| (key.created_at, key.id));
        Ok(keys)
    }

    async fn principal(
        &self,
        workspace: WorkspaceId,
        id: PrincipalId,
    ) -> Result<Option<Principal>> {
        let state = self.state();
        let found = state.principal(id).filter(|found| found.workspace == workspace);
        Ok(found.cloned())
    }

    async fn principal_by_name(
        &self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Option<Principal>> {
        let state = self.state();
        let mut principals = state.principals.iter();
        let named = principals.find(|one| one.workspace == workspace && one.name == name);
        Ok(named.cloned())
    }

    async fn principals(&self, pass: &AdminPass) -> Result<Vec<Principal>> {
        let mut principals = self.state().principals.clone();
        principals.retain(|principal| principal.workspace == pass.workspace());
        principals.sort_by_key(|principal| (principal.created_at, principal.id));
        Ok(principals)
    }

    async fn members(&self, pass: &ConvenePass, group: PrincipalId) -> Result<Vec<Membership>> {
        Ok(self.state().members(pass, group))
    }

    async fn memberships(
        &self,
        pass: &ConvenePass,
        after: Option<(PrincipalId, PrincipalId)>,
        limit: usize,
    ) -> Result<Vec<Membership>> {
        Ok(self.state().memberships_after(pass, after, limit))
    }

    async fn events(&self, pass: &AdminPass, after: u64, limit: usize) -> Result<Vec<Event>> {
        let state = self.state();
        let own = state.events.iter().filter(|event| event.workspace == pass.workspace());
        Ok(own.filter(|event| event.seq > after).take(limit).cloned().collect())
    }

    async fn default_workspace(&self) -> Result<Option<WorkspaceId>> {
        Ok(self.state().workspaces.first().map(|(id, _)| *id))
    }

    async fn session(&self, workspace: WorkspaceId, id: SessionId) -> Result<Option<Session>> {
        Ok(self.state().session(workspace, id).cloned())
    }

    async fn list_sessions(
        &self,
        workspace: WorkspaceId,
        owner: Option<PrincipalId>,
        query: &SessionQuery,
    ) -> Result<Page<Session, (Timestamp, SessionId)>> {
        Ok(self.state().list_sessions(workspace, owner, query))
    }

    async fn expired(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
        Ok(self.state().expired(now, limit))
    }

    async fn erasable(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
        Ok(self.state().erasable(now, limit))
    }

    async fn unpurged(&self, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
        Ok(self.state().unpurged(limit))
    }

    async fn is_unpurged(&self, workspace: WorkspaceId, store: StoreId) -> Result<bool> {
        let is_there = self.state().unpurged(usize::MAX).contains(&(workspace, store));
        Ok(is_there || self.unscrubbed.lock().expect(UNPOISONED).contains(&(workspace, store)))
    }

    async fn crowded(&self, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
        Ok(self.state().crowded(limit))
    }

    async fn workspaces(&self) -> Result<Vec<(WorkspaceId, Timestamp)>> {
        let mut workspaces = self.state().workspaces.clone();
        workspaces.sort_by_key(|(id, at)| (*at, *id));
        Ok(workspaces)
    }

    async fn newest_time(&self, workspace: WorkspaceId) -> Result<Option<Timestamp>> {
        Ok(self.state().newest_time(workspace))
    }

    async fn remembered(
        &self,
        pass: &AdminPass,
        after: Option<(u128, String)>,
        limit: usize,
    ) -> Result<Vec<Remembered>> {
        Ok(self.state().remembered(pass, after, limit))
    }

    async fn log(
        &self,
        pass: &AdminPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LogEntry>> {
        self.state().log(pass, store, after, limit)
    }

    async fn check(&self) -> Result<CheckReport> {
        Ok(self.state().check())
    }

    /// Refused: there is no file that a copy could be opened as.
    async fn backup(&self, _to: &Path) -> Result<CopyHold> {
        let why = "the in-memory engine has nothing to back up";
        Err(StorageError::Io(why.into()))
    }

    async fn settle_scrubs(&self) -> Result<()> {
        self.scrubbed()
    }

    async fn ready(&self) -> Result<()> {
        Ok(())
    }
}
