//! The storage engine for more than one machine: everything in a PostgreSQL database, any number of
//! servers beside each other.
//!
//! A server keeps no state of its own. Whoever writes to a store holds the store's row until the
//! commit ([`stores`]), so feed numbers have no gaps and preconditions are decided in the database.
//! Writes of one server share transactions ([`writer`], [`group`]); row security keeps tenants apart
//! whatever a statement says ([`client`]). SQL lives in `queries/`, one statement a file, and the
//! schema in `migrations/`.

mod address;
mod apply;
mod browse;
mod check;
mod client;
mod columns;
mod commit;
mod company;
mod contents;
mod draft;
mod events;
mod export;
mod facts;
mod fault;
mod flush;
mod grants;
mod group;
mod idempotency;
mod import;
mod inspect;
mod keys;
mod known;
mod lease;
mod list;
mod log;
mod members;
mod migrate;
mod notify;
mod open;
mod passages;
mod past;
mod pieces;
mod planner;
mod purge;
mod read;
mod readings;
mod redact;
mod repeats;
mod replica;
mod row;
mod sessions;
mod shortlist;
mod stores;
mod sweep;
mod tally;
mod texts;
mod tls;
mod vectors;
mod versions;
mod writer;

pub use inspect::{Inspection, inspect};
pub use open::{OpenError, PostgresOptions};

use async_trait::async_trait;
use client::{Clients, Tenant};
use known::Known;
use loci_model::policy::{AdminPass, BrowsePass, ConvenePass, Facts, ReadPass, SearchPass};
use loci_model::query::{
    Amount, ListCursor, ListItem, ListQuery, SessionQuery, StoreQuery, StoreStats, Tally,
    VersionQuery,
};
use loci_model::{
    Address, ApiKey, At, Caller, Change, Event, Grant, Invalid, Membership, Memory, MemoryId,
    MemoryPath, Page, Principal, PrincipalId, Session, SessionId, Store, StoreId, Timestamp,
    Version, VersionId, View, WorkspaceId,
};
use loci_storage::request::forget_page;
use loci_storage::{
    Applied, AsOf, ChangedTexts, CheckReport, CopyHold, EmbedPage, FeedEnd, Generation,
    GenerationId, Idempotency, Lookup, Mutation, NewlyRead, ReadablePage, Reading, ReadingEnd,
    ReadingLag, ReadingMark, Receipt, Remembered, Result, Shortlist, Spent, Storage, StorageError,
    TextPage, VectorLag, log::LogEntry,
};
use notify::Gossip;
use replica::Lag;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use writer::Writer;

/// How long a page of something large may take.
const PAGE_PATIENCE: Duration = Duration::from_secs(30);

/// Everything of Loci in one database, which other servers may share.
pub struct PostgresStorage {
    clients: Clients,
    known: Known,
    side: Side,
}

/// Which side of a replication the database is on.
enum Side {
    Primary {
        writer: Writer,
        gossip: Gossip,
        /// What this server holds leases as.
        own: uuid::Uuid,
    },
    /// Only read: nothing is written, no work is taken, nobody is told anything.
    Replica(Lag),
}

impl PostgresStorage {
    /// Opens a database, making what is missing in it. `own` tells this server from others: it must
    /// be new at every start.
    pub async fn open(
        options: &PostgresOptions,
        own: u128,
    ) -> std::result::Result<Self, OpenError> {
        let opened = open::open(options).await?;
        let clients = opened.clients;
        let known = Known::start(&clients);
        if options.is_replica {
            return Ok(Self { clients, known, side: Side::Replica(Lag::default()) });
        }
        let own = uuid::Uuid::from_u128(own);
        let gossip = Gossip::start(&clients, opened.address, opened.connector, own);
        let writer = Writer::start(&clients, gossip.announcer());
        Ok(Self { clients, known, side: Side::Primary { writer, gossip, own } })
    }
}

/// Runs a read in a transaction of its own: `read!(self, tenant, |tx| module::function(&tx, …))`.
macro_rules! read {
    ($self:ident, $tenant:expr, |$tx:ident| $read:expr) => {{
        let $tx = $self.clients.read($tenant).await?;
        let result = $read.await;
        $tx.end(result)
    }};
}

/// The same for a read that is short, and may share a transaction with others.
macro_rules! read_briefly {
    ($self:ident, $tenant:expr, |$tx:ident| $read:expr) => {{
        let $tx = $self.clients.read_in_company($tenant).await?;
        let result = $read.await;
        $tx.end(result)
    }};
}

/// The same for one statement about what belongs to no tenant.
macro_rules! ask {
    ($self:ident, |$tx:ident| $read:expr) => {{
        let $tx = $self.clients.ask().await?;
        let result = $read.await;
        $tx.end(result)
    }};
}

/// The same with time for a large page.
macro_rules! read_page {
    ($self:ident, $tenant:expr, |$tx:ident| $read:expr) => {{
        let tenant = Tenant::from($tenant);
        let $tx = $self.clients.read_for(tenant, PAGE_PATIENCE).await?;
        let result = $read.await;
        $tx.end(result)
    }};
}

#[async_trait]
impl Storage for PostgresStorage {
    async fn write(&self, mutation: Mutation, idempotency: Option<Idempotency>) -> Result<Applied> {
        // Whatever it is about, what is asked next is asked anew.
        forget_page();
        match &self.side {
            Side::Primary { writer, .. } => writer.write(mutation, idempotency).await,
            Side::Replica(_) => Err(StorageError::Replica),
        }
    }

    async fn recall(&self, idempotency: &Idempotency) -> Result<Option<Receipt>> {
        read_briefly!(self, idempotency.workspace, |tx| idempotency::recall(&tx, idempotency))
    }

    async fn facts(
        &self,
        workspace: WorkspaceId,
        store: StoreId,
        principal: PrincipalId,
        session: Option<SessionId>,
    ) -> Result<Option<Facts>> {
        self.known.facts((workspace, store, principal, session)).await
    }

    async fn store_at(&self, workspace: WorkspaceId, address: &Address) -> Result<Option<StoreId>> {
        self.known.store_at(workspace, address).await
    }

    async fn list_stores(
        &self,
        pass: &BrowsePass,
        query: &StoreQuery,
    ) -> Result<Page<Store, (Timestamp, StoreId)>> {
        read!(self, pass.workspace(), |tx| browse::list(&tx, pass, query))
    }

    async fn get(&self, pass: &ReadPass, at: &At, view: View) -> Result<Option<Memory>> {
        match at {
            At::Id(_) | At::Path(..) => {
                read_briefly!(self, pass.workspace(), |tx| read::get(&tx, pass, at, view))
            }
            At::First(_) => read!(self, pass.workspace(), |tx| read::get(&tx, pass, at, view)),
        }
    }

    async fn newest(
        &self,
        pass: &ReadPass,
        path: &MemoryPath,
        view: View,
    ) -> Result<Option<Memory>> {
        read_briefly!(self, pass.workspace(), |tx| read::newest(&tx, pass, path, view))
    }

    async fn list(&self, pass: &ReadPass, query: &ListQuery) -> Result<Page<ListItem, ListCursor>> {
        read!(self, pass.workspace(), |tx| list::page(&tx, pass, query))
    }

    async fn version(
        &self,
        pass: &ReadPass,
        version: VersionId,
        view: View,
    ) -> Result<Option<Version>> {
        read_briefly!(self, pass.workspace(), |tx| versions::get(&tx, pass, version, view))
    }

    async fn versions(&self, pass: &ReadPass, query: &VersionQuery) -> Result<Page<Version, u64>> {
        read!(self, pass.workspace(), |tx| versions::page(&tx, pass, query))
    }

    async fn changes(&self, pass: &ReadPass, after: u64, limit: usize) -> Result<Vec<Change>> {
        read!(self, pass.workspace(), |tx| versions::changes(&tx, pass, after, limit))
    }

    async fn all_facts(&self, caller: &Caller) -> Result<Arc<Vec<Facts>>> {
        self.known.reach(caller).await
    }

    async fn feed_ends(&self, pass: &SearchPass) -> Result<Vec<FeedEnd>> {
        read_briefly!(self, pass.workspace(), |tx| texts::ends(&tx, pass.stores()))
    }

    async fn texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<TextPage> {
        read_page!(self, pass.workspace(), |tx| texts::page(&tx, pass, store, after, limit))
    }

    async fn changed_texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<ChangedTexts> {
        read_page!(self, pass.workspace(), |tx| texts::changed(&tx, pass, store, after, limit))
    }

    async fn texts_at(
        &self,
        pass: &ReadPass,
        at: AsOf,
        after: u64,
        limit: usize,
    ) -> Result<TextPage> {
        read_page!(self, pass.workspace(), |tx| past::page(&tx, pass, at, after, limit))
    }

    async fn found(
        &self,
        pass: &SearchPass,
        ids: &[(StoreId, MemoryId)],
        view: View,
    ) -> Result<Vec<Memory>> {
        read_briefly!(self, pass.workspace(), |tx| texts::found(&tx, pass, ids, view))
    }

    async fn vectors(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        versions: &[VersionId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        read_page!(self, pass.workspace(), |tx| vectors::shown(
            &tx, pass, store, generation, versions
        ))
    }

    async fn shortlistable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
    ) -> Result<Option<u64>> {
        read_briefly!(self, pass.workspace(), |tx| shortlist::size(&tx, pass, store, generation))
    }

    async fn shortlist(
        &self,
        pass: &SearchPass,
        store: StoreId,
        lookup: &Lookup,
    ) -> Result<Option<Shortlist>> {
        read_page!(self, pass.workspace(), |tx| shortlist::make(&tx, pass, store, lookup))
    }

    async fn generations(&self) -> Result<Vec<Generation>> {
        ask!(self, |tx| vectors::generations(&tx))
    }

    async fn vector_lags(&self, generation: GenerationId, limit: usize) -> Result<Vec<VectorLag>> {
        ask!(self, |tx| vectors::lags(&tx, generation, limit))
    }

    async fn embeddable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        after: u64,
        limit: usize,
    ) -> Result<EmbedPage> {
        read_page!(self, pass.workspace(), |tx| vectors::embeddable(
            &tx, pass, store, generation, after, limit
        ))
    }

    async fn reading_ends(&self, pass: &SearchPass) -> Result<Vec<ReadingEnd>> {
        read_page!(self, pass.workspace(), |tx| readings::ends(&tx, pass))
    }

    async fn newly_read(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<NewlyRead> {
        read_page!(self, pass.workspace(), |tx| readings::newly_read(
            &tx, pass, store, after, limit
        ))
    }

    async fn readings(
        &self,
        pass: &SearchPass,
        store: StoreId,
        memories: &[MemoryId],
    ) -> Result<Vec<Reading>> {
        read_page!(self, pass.workspace(), |tx| readings::readings(&tx, pass, store, memories))
    }

    async fn reading_marks(&self, pass: &SearchPass, store: StoreId) -> Result<Vec<ReadingMark>> {
        read_page!(self, pass.workspace(), |tx| readings::marks(&tx, pass, store))
    }

    async fn reading_lags(
        &self,
        reader: &str,
        stores: Option<&[StoreId]>,
        limit: usize,
    ) -> Result<Vec<ReadingLag>> {
        ask!(self, |tx| readings::lags(&tx, reader, stores, limit))
    }

    async fn readable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        reader: &str,
        after: u64,
        limit: usize,
    ) -> Result<ReadablePage> {
        read_page!(self, pass.workspace(), |tx| readings::readable(
            &tx, pass, store, reader, after, limit
        ))
    }

    async fn spent(&self, reader: &str, day: u32) -> Result<Spent> {
        ask!(self, |tx| readings::spent(&tx, reader, day))
    }

    async fn tally(&self, pass: &ReadPass, besides: Option<&str>) -> Result<Tally> {
        read!(self, pass.workspace(), |tx| tally::tally(&tx, pass, besides))
    }

    async fn stats(&self, pass: &ReadPass) -> Result<StoreStats> {
        read!(self, pass.workspace(), |tx| read::stats(&tx, pass.store()))
    }

    async fn kept(
        &self,
        pass: &AdminPass,
        owner: Option<PrincipalId>,
        addresses: &str,
    ) -> Result<Amount> {
        read!(self, pass.workspace(), |tx| stores::kept(&tx, pass.workspace(), owner, addresses))
    }

    async fn grants(&self, pass: &ReadPass) -> Result<Vec<Grant>> {
        read!(self, pass.workspace(), |tx| async {
            read::require_store(&tx, pass.store()).await?;
            grants::list(&tx, pass.store()).await
        })
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<(ApiKey, Principal)>> {
        self.known.key(hash).await
    }

    async fn keys(&self, pass: &AdminPass) -> Result<Vec<ApiKey>> {
        read!(self, pass.workspace(), |tx| keys::list(&tx, pass.workspace()))
    }

    async fn principal(
        &self,
        workspace: WorkspaceId,
        id: PrincipalId,
    ) -> Result<Option<Principal>> {
        read!(self, workspace, |tx| keys::principal(&tx, id))
    }

    async fn principal_by_name(
        &self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Option<Principal>> {
        self.known.named(workspace, name).await
    }

    async fn principals(&self, pass: &AdminPass) -> Result<Vec<Principal>> {
        read!(self, pass.workspace(), |tx| keys::principals(&tx, pass.workspace()))
    }

    async fn members(&self, pass: &ConvenePass, group: PrincipalId) -> Result<Vec<Membership>> {
        read!(self, pass.workspace(), |tx| members::of_group(&tx, pass.workspace(), group))
    }

    async fn memberships(
        &self,
        pass: &ConvenePass,
        after: Option<(PrincipalId, PrincipalId)>,
        limit: usize,
    ) -> Result<Vec<Membership>> {
        read!(self, pass.workspace(), |tx| members::page(&tx, pass.workspace(), after, limit))
    }

    async fn events(&self, pass: &AdminPass, after: u64, limit: usize) -> Result<Vec<Event>> {
        read!(self, pass.workspace(), |tx| events::page(&tx, pass.workspace(), after, limit))
    }

    async fn default_workspace(&self) -> Result<Option<WorkspaceId>> {
        ask!(self, |tx| keys::default_workspace(&tx))
    }

    async fn session(&self, workspace: WorkspaceId, id: SessionId) -> Result<Option<Session>> {
        read!(self, workspace, |tx| sessions::load(&tx, workspace, id))
    }

    async fn list_sessions(
        &self,
        workspace: WorkspaceId,
        owner: Option<PrincipalId>,
        query: &SessionQuery,
    ) -> Result<Page<Session, (Timestamp, SessionId)>> {
        read!(self, workspace, |tx| sessions::list(&tx, workspace, owner, query))
    }

    async fn expired(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
        ask!(self, |tx| sweep::expired(&tx, now, limit))
    }

    async fn erasable(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
        ask!(self, |tx| sweep::erasable(&tx, now, limit))
    }

    async fn unpurged(&self, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
        ask!(self, |tx| sweep::unpurged(&tx, limit))
    }

    async fn is_unpurged(&self, workspace: WorkspaceId, store: StoreId) -> Result<bool> {
        let found = read!(self, workspace, |tx| stores::load(&tx, store))?;
        Ok(found.is_some_and(|row| row.is_removed))
    }

    async fn crowded(&self, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
        ask!(self, |tx| sweep::crowded(&tx, limit))
    }

    async fn workspaces(&self) -> Result<Vec<(WorkspaceId, Timestamp)>> {
        ask!(self, |tx| keys::workspaces(&tx))
    }

    async fn newest_time(&self, workspace: WorkspaceId) -> Result<Option<Timestamp>> {
        read!(self, workspace, |tx| keys::newest_time(&tx, workspace))
    }

    async fn remembered(
        &self,
        pass: &AdminPass,
        after: Option<(u128, String)>,
        limit: usize,
    ) -> Result<Vec<Remembered>> {
        read!(self, pass.workspace(), |tx| idempotency::page(
            &tx,
            pass.workspace(),
            after.as_ref(),
            limit
        ))
    }

    async fn log(
        &self,
        pass: &AdminPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LogEntry>> {
        read_page!(self, pass.workspace(), |tx| export::export(&tx, pass, store, after, limit))
    }

    async fn check(&self) -> Result<CheckReport> {
        check::run(&self.clients).await
    }

    /// Refused: a database server has better ways, and only its operator can reach its files.
    async fn backup(&self, _to: &Path) -> Result<CopyHold> {
        let why = "takes a data directory; a PostgreSQL database is backed up with pg_basebackup or \
                   pg_dump";
        Err(Invalid::new("backup", why).into())
    }

    fn is_replica(&self) -> bool {
        matches!(self.side, Side::Replica(_))
    }

    async fn lag(&self) -> Option<Duration> {
        match &self.side {
            Side::Primary { .. } => None,
            Side::Replica(lag) => lag.now(&self.clients).await,
        }
    }

    async fn ready(&self) -> Result<()> {
        let takes_writes: bool = read!(self, Tenant::Nobody, |tx| async {
            row::get(
                &tx.query_one(include_str!("../queries/check/takes_writes.sql"), &[]).await?,
                0,
            )
        })?;
        match takes_writes || self.is_replica() {
            true => Ok(()),
            false => Err(StorageError::Unreachable("it takes no writes".into())),
        }
    }

    fn is_full(&self) -> bool {
        self.clients.is_full()
    }

    async fn lease(&self, work: &str, secs: u32) -> Result<bool> {
        let Side::Primary { own, .. } = &self.side else { return Err(StorageError::Replica) };
        let tx = self.clients.write(Tenant::Nobody, self.clients.patience).await?;
        let ttl = Duration::from_secs(secs.into());
        let is_own = lease::acquire(&tx, work, *own, ttl).await?;
        tx.commit().await?;
        Ok(is_own)
    }

    async fn others_wrote(&self) {
        match &self.side {
            Side::Primary { gossip, .. } => gossip.heard().await,
            Side::Replica(_) => std::future::pending().await,
        }
    }
}
