//! One engine of a move, and every question that is asked of it. All is asked on the system's own
//! authority, and as of the earliest moment, when nothing had expired: what readers no longer see
//! must move too.

use super::walk::{Pages, Walk};
use super::{Result, TransferError};
use loci_model::policy::{AdminPass, ConvenePass, ReadPass, SearchPass, System};
use loci_model::query::{
    CreatedQuery, Direction, ListCursor, ListItem, ListOrder, ListQuery, SessionQuery, StoreQuery,
    StoreStats,
};
use loci_model::{
    ApiKey, Change, Event, Grant, Membership, Memory, MemoryId, Principal, PrincipalId, Session,
    SessionId, Store, StoreId, Timestamp, VersionId, View, WorkspaceId,
};
use loci_storage::log::{ImportItem, LogEntry};
use loci_storage::{
    FeedEnd, Generation, GenerationId, Mutation, Reading, ReadingMark, Receipt, Remembered,
    Storage, StorageError,
};
use std::sync::Arc;

const EARLIEST: Timestamp = Timestamp::from_micros(i64::MIN);
/// Small things in one page.
pub(super) const ROWS_PAGE: usize = 1000;
/// Sessions in one page; each may carry a large description of its agent.
const SESSIONS_PAGE: usize = 100;

/// One engine.
pub(super) struct Side {
    pub(super) storage: Arc<dyn Storage>,
    pub(super) name: &'static str,
    /// Entries of a history in one page, and so in one write.
    pub(super) entries_page: usize,
}

fn system() -> System {
    System::because("the operator moves everything")
}

fn admin(workspace: WorkspaceId) -> AdminPass {
    system().administer(workspace, EARLIEST)
}

fn read(store: &Store) -> ReadPass {
    system().read(store.workspace, store.id, EARLIEST)
}

fn search(store: &Store) -> SearchPass {
    system().search(store.workspace, vec![store.id], EARLIEST)
}

impl Side {
    fn named<T>(&self, result: std::result::Result<T, StorageError>) -> Result<T> {
        result.map_err(|error| TransferError::Storage { side: self.name, error })
    }

    pub(super) async fn workspaces(&self) -> Result<Vec<(WorkspaceId, Timestamp)>> {
        self.named(self.storage.workspaces().await)
    }

    pub(super) async fn generations(&self) -> Result<Vec<Generation>> {
        self.named(self.storage.generations().await)
    }

    pub(super) async fn principals(&self, workspace: WorkspaceId) -> Result<Vec<Principal>> {
        self.named(self.storage.principals(&admin(workspace)).await)
    }

    pub(super) async fn keys(&self, workspace: WorkspaceId) -> Result<Vec<ApiKey>> {
        self.named(self.storage.keys(&admin(workspace)).await)
    }

    pub(super) async fn unpurged(&self) -> Result<Vec<(WorkspaceId, StoreId)>> {
        self.named(self.storage.unpurged(ROWS_PAGE).await)
    }

    /// The same store as it is here.
    pub(super) async fn store(&self, other: &Store) -> Result<Option<Store>> {
        let Store { workspace, id, owner, .. } = other;
        let facts = self.named(self.storage.facts(*workspace, *id, *owner, None).await)?;
        Ok(facts.map(|facts| facts.store))
    }

    pub(super) async fn session(&self, other: &Session) -> Result<Option<Session>> {
        self.named(self.storage.session(other.workspace, other.id).await)
    }

    pub(super) async fn stats(&self, store: &Store) -> Result<StoreStats> {
        self.named(self.storage.stats(&read(store)).await)
    }

    pub(super) async fn grants(&self, store: &Store) -> Result<Vec<Grant>> {
        self.named(self.storage.grants(&read(store)).await)
    }

    /// How far the store and its vectors are.
    pub(super) async fn end(&self, store: &Store) -> Result<FeedEnd> {
        let ends = self.named(self.storage.feed_ends(&search(store)).await)?;
        self.named(ends.into_iter().next().ok_or(StorageError::NotFound("memory store")))
    }

    pub(super) async fn log(&self, store: &Store, after: u64) -> Result<Vec<LogEntry>> {
        self.entries(store, after, self.entries_page).await
    }

    /// Some entries of a store's history, damaged ones too.
    pub(super) async fn history(
        &self,
        store: &Store,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LogEntry>> {
        self.named(self.storage.log(&admin(store.workspace), store.id, after, limit).await)
    }

    /// One entry of a store's history.
    pub(super) async fn entry(&self, store: &Store, seq: u64) -> Result<Option<LogEntry>> {
        Ok(self.entries(store, seq.saturating_sub(1), 1).await?.pop())
    }

    async fn entries(&self, store: &Store, after: u64, limit: usize) -> Result<Vec<LogEntry>> {
        let pass = admin(store.workspace);
        let entries = self.named(self.storage.log(&pass, store.id, after, limit).await)?;
        let damaged = entries.iter().find_map(|entry| match entry {
            LogEntry::Damaged { version, .. } => Some(version.id),
            LogEntry::Version { .. } | LogEntry::Redaction { .. } => None,
        });
        match damaged {
            None => Ok(entries),
            Some(version) => self.named(Err(StorageError::Corrupt(format!(
                "the content of {version} is damaged; `loci salvage` brings over what is not"
            )))),
        }
    }

    pub(super) async fn reading_marks(&self, store: &Store) -> Result<Vec<ReadingMark>> {
        self.named(self.storage.reading_marks(&search(store), store.id).await)
    }

    /// The memories of a store that readers found something in, in an order of their own.
    pub(super) async fn read_memories(&self, store: &Store) -> Result<Vec<MemoryId>> {
        let (pass, mut after, mut all) = (search(store), 0, Vec::new());
        loop {
            let newly = self.storage.newly_read(&pass, store.id, after, ROWS_PAGE).await;
            let newly = self.named(newly)?;
            if newly.memories.is_empty() {
                all.sort_unstable();
                all.dedup();
                return Ok(all);
            }
            after = newly.through;
            all.extend(newly.memories);
        }
    }

    pub(super) async fn readings(
        &self,
        store: &Store,
        memories: &[MemoryId],
    ) -> Result<Vec<Reading>> {
        self.named(self.storage.readings(&search(store), store.id, memories).await)
    }

    pub(super) async fn vectors(
        &self,
        store: &Store,
        generation: GenerationId,
        versions: &[VersionId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let pass = search(store);
        self.named(self.storage.vectors(&pass, store.id, generation, versions).await)
    }

    pub(super) async fn write(&self, mutation: Mutation) -> Result<Receipt> {
        self.named(self.storage.write(mutation, None).await).map(|applied| applied.receipt)
    }

    /// Takes in some things, all or none.
    pub(super) async fn import(
        &self,
        workspace: WorkspaceId,
        items: Vec<ImportItem>,
    ) -> Result<()> {
        if !items.is_empty() {
            self.write(Mutation::Import(admin(workspace), items)).await?;
        }
        Ok(())
    }

    pub(super) fn stores(&self, workspace: WorkspaceId) -> Walk<Stores<'_>> {
        Walk::new(Stores { side: self, workspace, query: Some(oldest_first(ROWS_PAGE)) })
    }

    pub(super) fn sessions(&self, workspace: WorkspaceId) -> Walk<Sessions<'_>> {
        Walk::new(self.session_pages(workspace))
    }

    pub(super) fn session_pages(&self, workspace: WorkspaceId) -> Sessions<'_> {
        let created: CreatedQuery<SessionId> = oldest_first(SESSIONS_PAGE);
        let query = SessionQuery { created, store: None, agent_id: None, agent_version: None };
        Sessions { side: self, workspace, query: Some(query) }
    }

    pub(super) fn requests(&self, workspace: WorkspaceId) -> Walk<Requests<'_>> {
        Walk::new(self.request_pages(workspace))
    }

    pub(super) fn request_pages(&self, workspace: WorkspaceId) -> Requests<'_> {
        Requests { side: self, pass: admin(workspace), after: None }
    }

    pub(super) fn memberships(&self, workspace: WorkspaceId) -> Walk<Memberships<'_>> {
        Walk::new(self.membership_pages(workspace))
    }

    pub(super) fn membership_pages(&self, workspace: WorkspaceId) -> Memberships<'_> {
        Memberships { side: self, pass: system().convene(workspace, EARLIEST), after: None }
    }

    pub(super) fn events(&self, workspace: WorkspaceId) -> Walk<Events<'_>> {
        Walk::new(self.event_pages(workspace))
    }

    pub(super) fn event_pages(&self, workspace: WorkspaceId) -> Events<'_> {
        Events { side: self, pass: admin(workspace), after: 0 }
    }

    pub(super) fn changes(&self, store: &Store) -> Walk<Changes<'_>> {
        Walk::new(Changes { side: self, pass: read(store), after: 0 })
    }

    /// Live memories without content, oldest first.
    pub(super) fn memories(&self, store: &Store) -> Walk<Memories<'_>> {
        let query = ListQuery {
            order: ListOrder::Created,
            ..ListQuery::everything(View::Basic, ROWS_PAGE)
        };
        Walk::new(Memories { side: self, pass: read(store), query: Some(query) })
    }
}

fn oldest_first<Id>(limit: usize) -> CreatedQuery<Id> {
    CreatedQuery {
        since: None,
        until: None,
        include_archived: true,
        direction: Direction::Ascending,
        after: None,
        limit,
    }
}

pub(super) struct Stores<'a> {
    side: &'a Side,
    workspace: WorkspaceId,
    query: Option<StoreQuery>,
}

impl Pages for Stores<'_> {
    type Item = Store;

    async fn next_page(&mut self) -> Result<Option<Vec<Store>>> {
        let Some(query) = self.query.take() else { return Ok(None) };
        let pass = system().browse(self.workspace, EARLIEST);
        let page = self.side.named(self.side.storage.list_stores(&pass, &query).await)?;
        self.query = page.next.map(|next| StoreQuery { after: Some(next), ..query });
        Ok(Some(page.items))
    }
}

pub(super) struct Sessions<'a> {
    side: &'a Side,
    workspace: WorkspaceId,
    query: Option<SessionQuery>,
}

impl Pages for Sessions<'_> {
    type Item = Session;

    async fn next_page(&mut self) -> Result<Option<Vec<Session>>> {
        let Some(mut query) = self.query.take() else { return Ok(None) };
        let found = self.side.storage.list_sessions(self.workspace, None, &query).await;
        let page = self.side.named(found)?;
        self.query = page.next.map(|next| {
            query.created.after = Some(next);
            query
        });
        Ok(Some(page.items))
    }
}

pub(super) struct Requests<'a> {
    side: &'a Side,
    pass: AdminPass,
    after: Option<(u128, String)>,
}

impl Pages for Requests<'_> {
    type Item = Remembered;

    async fn next_page(&mut self) -> Result<Option<Vec<Remembered>>> {
        let after = self.after.clone();
        let found = self.side.storage.remembered(&self.pass, after, ROWS_PAGE).await;
        let page = self.side.named(found)?;
        let Some(last) = page.last() else { return Ok(None) };
        self.after = Some((last.idempotency.scope, last.idempotency.key.clone()));
        Ok(Some(page))
    }
}

pub(super) struct Memberships<'a> {
    side: &'a Side,
    pass: ConvenePass,
    after: Option<(PrincipalId, PrincipalId)>,
}

impl Pages for Memberships<'_> {
    type Item = Membership;

    async fn next_page(&mut self) -> Result<Option<Vec<Membership>>> {
        let found = self.side.storage.memberships(&self.pass, self.after, ROWS_PAGE).await;
        let page = self.side.named(found)?;
        let Some(last) = page.last() else { return Ok(None) };
        self.after = Some((last.group, last.member));
        Ok(Some(page))
    }
}

pub(super) struct Events<'a> {
    side: &'a Side,
    pass: AdminPass,
    after: u64,
}

impl Pages for Events<'_> {
    type Item = Event;

    async fn next_page(&mut self) -> Result<Option<Vec<Event>>> {
        let found = self.side.storage.events(&self.pass, self.after, ROWS_PAGE).await;
        let page = self.side.named(found)?;
        let Some(last) = page.last() else { return Ok(None) };
        self.after = last.seq;
        Ok(Some(page))
    }
}

pub(super) struct Changes<'a> {
    side: &'a Side,
    pass: ReadPass,
    after: u64,
}

impl Pages for Changes<'_> {
    type Item = Change;

    async fn next_page(&mut self) -> Result<Option<Vec<Change>>> {
        let found = self.side.storage.changes(&self.pass, self.after, ROWS_PAGE).await;
        let page = self.side.named(found)?;
        let Some(last) = page.last() else { return Ok(None) };
        self.after = last.seq;
        Ok(Some(page))
    }
}

pub(super) struct Memories<'a> {
    side: &'a Side,
    pass: ReadPass,
    query: Option<ListQuery>,
}

impl Pages for Memories<'_> {
    type Item = Memory;

    async fn next_page(&mut self) -> Result<Option<Vec<Memory>>> {
        let Some(query) = self.query.take() else { return Ok(None) };
        let page = self.side.named(self.side.storage.list(&self.pass, &query).await)?;
        let next = page.next.map(|next: ListCursor| ListQuery { after: Some(next), ..query });
        self.query = next;
        let memory = |item| match item {
            ListItem::Memory(memory) => Some(*memory),
            ListItem::Directory(_) => None,
        };
        Ok(Some(page.items.into_iter().filter_map(memory).collect()))
    }
}
