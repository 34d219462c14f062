//! The storage engine that keeps everything in one SQLite file.
//!
//! One thread writes ([`writer`]), a fixed pool of connections reads single things on the caller's
//! thread, and a few threads walk listings ([`read`]). An acknowledged write is synced to disk; a
//! redacted byte is gone from every file before the redaction is acknowledged; content is checked
//! against its digest whenever it is read. SQL lives in `queries/`, one statement a file, and the
//! schema in `migrations/`.

mod apply;
mod backup;
mod ballast;
mod check;
mod commit;
mod ends;
mod events;
mod fault;
mod gate;
mod grants;
mod history;
mod idempotency;
mod import;
mod keys;
mod kinds;
mod known;
mod list;
mod log;
mod members;
mod migrate;
mod open;
mod past;
mod purge;
mod read;
mod readings;
mod redact;
mod repeats;
mod row;
mod rows;
mod salvage;
mod sessions;
mod stores;
mod sweep;
mod tally;
mod texts;
mod unscrubbed;
mod vectors;
mod versions;
mod waiting;
mod wal;
mod writer;

pub use open::{OpenError, SqliteOptions};
pub use salvage::{Salvaged, salvage};

use apply::Core;
use async_trait::async_trait;
use ballast::Ballast;
use gate::Gate;
use known::Known;
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
use loci_storage::{
    Applied, AsOf, ChangedTexts, CheckReport, CopyHold, EmbedPage, FeedEnd, Generation,
    GenerationId, Idempotency, Mutation, NewlyRead, ReadablePage, Reading, ReadingEnd, ReadingLag,
    ReadingMark, Receipt, Remembered, Result, Spent, Storage, StorageError, TextPage, VectorLag,
    log::LogEntry,
};
use open::DataDir;
use read::{Quick, Readers, Scans};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::oneshot;
use unscrubbed::Unscrubbed;
use wal::Wal;
use writer::{Tools, Writer};

/// How many rows a read may look up on the caller's thread; longer ones go to the threads that scan.
const SHORT_MAX: usize = 256;

/// Everything of Loci in one directory. Dropping it drains the writer, folds the log into the
/// database and releases the directory.
pub struct SqliteStorage {
    // The order of the fields is the order of their end: readers, then the writer, which as the
    // last connection leaves a clean file behind, then the lock.
    readers: Readers,
    scans: Scans,
    writer: Writer,
    gate: Arc<Gate>,
    known: Arc<Known>,
    unscrubbed: Arc<Unscrubbed>,
    database: PathBuf,
    _dir: DataDir,
}

impl SqliteStorage {
    /// Opens a data directory, making it if needed. A directory that is in use, newer than this
    /// version or not Loci's is refused and left as it is.
    pub fn open(dir: &Path, options: SqliteOptions) -> std::result::Result<Self, OpenError> {
        let dir = DataDir::lock(dir)?;
        let opened = open::open_writer(&dir, &options)?;
        let database = dir.database();
        let readers = Readers::open(&database, &options)?;
        let scans = Scans::start(&database, &options)?;
        let gate = Arc::new(Gate::default());
        let known = Arc::new(Known::default());
        let unscrubbed = Arc::new(Unscrubbed::new(!opened.is_log_empty));
        let writer = Writer::start(Tools {
            core: Core::new(opened.conn)?,
            ballast: Ballast::new(&dir.path, options.ballast_bytes),
            gate: Arc::clone(&gate),
            known: Arc::clone(&known),
            wal: Wal::of(&dir.path),
            unscrubbed: Arc::clone(&unscrubbed),
            owes_scrub: !opened.is_log_empty,
            scrub_wait: options.scrub_wait,
        })?;
        Ok(Self { readers, scans, writer, gate, known, unscrubbed, database, _dir: dir })
    }

    /// Closes the directory; the same as dropping it, for those who like to see it said.
    pub fn close(self) {}
}

/// The version of the SQLite inside this binary.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Runs something long on a thread of its own.
async fn on_own_thread<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (answer, answered) = oneshot::channel();
    std::thread::Builder::new()
        .name(name.into())
        .spawn(move || {
            // A caller that went away wants no answer.
            let _ = answer.send(work());
        })
        .map_err(|error| StorageError::Io(error.to_string()))?;
    let lost = |_| StorageError::Io("the work was lost".into());
    answered.await.map_err(lost)?
}

#[async_trait]
impl Storage for SqliteStorage {
    async fn write(&self, mutation: Mutation, idempotency: Option<Idempotency>) -> Result<Applied> {
        self.writer.write(mutation, idempotency).await
    }

    async fn recall(&self, idempotency: &Idempotency) -> Result<Option<Receipt>> {
        self.readers.read(|conn| idempotency::recall(conn, idempotency))
    }

    async fn facts(
        &self,
        workspace: WorkspaceId,
        store: StoreId,
        principal: PrincipalId,
        session: Option<SessionId>,
    ) -> Result<Option<Facts>> {
        let read = |conn: &_| read::facts(conn, workspace, store, principal, session);
        self.known.facts(&(workspace, store, principal, session), || self.readers.read(read))
    }

    async fn store_at(&self, workspace: WorkspaceId, address: &Address) -> Result<Option<StoreId>> {
        let read = |conn: &_| stores::at(conn, workspace, address);
        self.known.store_at(workspace, address, || self.readers.read(read))
    }

    async fn list_stores(
        &self,
        pass: &BrowsePass,
        query: &StoreQuery,
    ) -> Result<Page<Store, (Timestamp, StoreId)>> {
        let (pass, query) = (pass.clone(), query.clone());
        self.scans.scan(move |conn| stores::list(conn, &pass, &query)).await
    }

    async fn get(&self, pass: &ReadPass, at: &At, view: View) -> Result<Option<Memory>> {
        if let At::First(_) = at {
            let (pass, at) = (pass.clone(), at.clone());
            return self.scans.scan(move |conn| read::get(conn, &pass, &at, view)).await;
        }
        if let (At::Id(id), View::Full) = (at, view)
            && let Quick::Told(found) =
                self.readers.read_once(|conn| read::get_full(conn, pass, *id))?
        {
            return Ok(found.map(|memory| *memory));
        }
        self.readers.read(|conn| read::get(conn, pass, at, view))
    }

    async fn newest(
        &self,
        pass: &ReadPass,
        path: &MemoryPath,
        view: View,
    ) -> Result<Option<Memory>> {
        self.readers.read(|conn| read::newest(conn, pass, path, view))
    }

    async fn list(&self, pass: &ReadPass, query: &ListQuery) -> Result<Page<ListItem, ListCursor>> {
        let (pass, query) = (pass.clone(), query.clone());
        self.scans.scan(move |conn| list::page(conn, &pass, &query)).await
    }

    async fn version(
        &self,
        pass: &ReadPass,
        version: VersionId,
        view: View,
    ) -> Result<Option<Version>> {
        self.readers.read(|conn| versions::get(conn, pass, version, view))
    }

    async fn versions(&self, pass: &ReadPass, query: &VersionQuery) -> Result<Page<Version, u64>> {
        let (pass, query) = (pass.clone(), query.clone());
        self.scans.scan(move |conn| versions::page(conn, &pass, &query)).await
    }

    async fn changes(&self, pass: &ReadPass, after: u64, limit: usize) -> Result<Vec<Change>> {
        let pass = pass.clone();
        self.scans.scan(move |conn| versions::changes(conn, &pass, after, limit)).await
    }

    async fn all_facts(&self, caller: &Caller) -> Result<Arc<Vec<Facts>>> {
        let asked = caller.clone();
        let load = self.scans.scan(move |conn| stores::all_facts(conn, &asked));
        self.known.reach(caller, load).await
    }

    async fn feed_ends(&self, pass: &SearchPass) -> Result<Vec<FeedEnd>> {
        let load = |stores: &[StoreId]| self.readers.read(|conn| texts::ends(conn, stores));
        self.known.ends.get(pass.stores(), load)
    }

    async fn texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<TextPage> {
        let pass = pass.clone();
        self.scans.scan(move |conn| texts::page(conn, &pass, store, after, limit)).await
    }

    async fn changed_texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<ChangedTexts> {
        // Mostly a search has missed a few changes at most, however many it would take at once.
        let behind = self.known.ends.seq(store).map_or(u64::MAX, |end| end.saturating_sub(after));
        if behind.min(limit as u64) <= SHORT_MAX as u64 {
            return self.readers.read(|conn| texts::changed(conn, pass, store, after, limit));
        }
        let pass = pass.clone();
        self.scans.scan(move |conn| texts::changed(conn, &pass, store, after, limit)).await
    }

    async fn texts_at(
        &self,
        pass: &ReadPass,
        at: AsOf,
        after: u64,
        limit: usize,
    ) -> Result<TextPage> {
        let pass = pass.clone();
        self.scans.scan(move |conn| past::page(conn, &pass, at, after, limit)).await
    }

    async fn found(
        &self,
        pass: &SearchPass,
        ids: &[(StoreId, MemoryId)],
        view: View,
    ) -> Result<Vec<Memory>> {
        if ids.len() <= SHORT_MAX {
            return self.readers.read(|conn| texts::found(conn, pass, ids, view));
        }
        let (pass, ids) = (pass.clone(), ids.to_vec());
        self.scans.scan(move |conn| texts::found(conn, &pass, &ids, view)).await
    }

    async fn vectors(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        versions: &[VersionId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        if versions.len() <= SHORT_MAX {
            let read = |conn: &_| vectors::shown(conn, pass, store, generation, versions);
            return self.readers.read(read);
        }
        let (pass, versions) = (pass.clone(), versions.to_vec());
        self.scans.scan(move |conn| vectors::shown(conn, &pass, store, generation, &versions)).await
    }

    async fn generations(&self) -> Result<Vec<Generation>> {
        self.readers.read_once(vectors::generations)
    }

    async fn vector_lags(&self, generation: GenerationId, limit: usize) -> Result<Vec<VectorLag>> {
        self.scans.scan(move |conn| vectors::lags(conn, generation, limit)).await
    }

    async fn embeddable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        after: u64,
        limit: usize,
    ) -> Result<EmbedPage> {
        let pass = pass.clone();
        self.scans
            .scan(move |conn| vectors::embeddable(conn, &pass, store, generation, after, limit))
            .await
    }

    async fn reading_ends(&self, pass: &SearchPass) -> Result<Vec<ReadingEnd>> {
        if pass.stores().len() <= SHORT_MAX {
            return self.readers.read(|conn| readings::ends(conn, pass));
        }
        let pass = pass.clone();
        self.scans.scan(move |conn| readings::ends(conn, &pass)).await
    }

    async fn newly_read(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<NewlyRead> {
        let pass = pass.clone();
        self.scans.scan(move |conn| readings::newly_read(conn, &pass, store, after, limit)).await
    }

    async fn readings(
        &self,
        pass: &SearchPass,
        store: StoreId,
        memories: &[MemoryId],
    ) -> Result<Vec<Reading>> {
        let (pass, memories) = (pass.clone(), memories.to_vec());
        self.scans.scan(move |conn| readings::readings(conn, &pass, store, &memories)).await
    }

    async fn reading_marks(&self, pass: &SearchPass, store: StoreId) -> Result<Vec<ReadingMark>> {
        self.readers.read(|conn| readings::marks(conn, pass, store))
    }

    async fn reading_lags(
        &self,
        reader: &str,
        stores: Option<&[StoreId]>,
        limit: usize,
    ) -> Result<Vec<ReadingLag>> {
        let (reader, stores) = (reader.to_owned(), stores.map(<[StoreId]>::to_vec));
        self.scans.scan(move |conn| readings::lags(conn, &reader, stores.as_deref(), limit)).await
    }

    async fn readable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        reader: &str,
        after: u64,
        limit: usize,
    ) -> Result<ReadablePage> {
        let (pass, reader) = (pass.clone(), reader.to_owned());
        self.scans
            .scan(move |conn| readings::readable(conn, &pass, store, &reader, after, limit))
            .await
    }

    async fn spent(&self, reader: &str, day: u32) -> Result<Spent> {
        self.readers.read(|conn| readings::spent(conn, reader, day))
    }

    async fn tally(&self, pass: &ReadPass, besides: Option<&str>) -> Result<Tally> {
        let (pass, besides) = (pass.clone(), besides.map(str::to_owned));
        self.scans.scan(move |conn| tally::tally(conn, &pass, besides.as_deref())).await
    }

    async fn stats(&self, pass: &ReadPass) -> Result<StoreStats> {
        self.readers.read(|conn| read::stats(conn, pass.store()))
    }

    async fn kept(
        &self,
        pass: &AdminPass,
        owner: Option<PrincipalId>,
        addresses: &str,
    ) -> Result<Amount> {
        let (workspace, addresses) = (pass.workspace(), addresses.to_owned());
        self.scans.scan(move |conn| stores::kept(conn, workspace, owner, &addresses)).await
    }

    async fn grants(&self, pass: &ReadPass) -> Result<Vec<Grant>> {
        let store = pass.store();
        self.scans
            .scan(move |conn| grants::list(conn, read::require_store(conn, store)?, store))
            .await
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<(ApiKey, Principal)>> {
        self.known.key(hash, || self.readers.read(|conn| keys::with_principal(conn, hash)))
    }

    async fn keys(&self, pass: &AdminPass) -> Result<Vec<ApiKey>> {
        let workspace = pass.workspace();
        self.scans.scan(move |conn| keys::list(conn, workspace)).await
    }

    async fn principal(
        &self,
        workspace: WorkspaceId,
        id: PrincipalId,
    ) -> Result<Option<Principal>> {
        let found = self.readers.read(|conn| keys::principal(conn, id))?;
        Ok(found.filter(|found| found.workspace == workspace))
    }

    async fn principal_by_name(
        &self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Option<Principal>> {
        let read = |conn: &_| keys::principal_by_name(conn, workspace, name);
        self.known.principal_by_name(workspace, name, || self.readers.read(read))
    }

    async fn principals(&self, pass: &AdminPass) -> Result<Vec<Principal>> {
        let workspace = pass.workspace();
        self.scans.scan(move |conn| keys::principals(conn, workspace)).await
    }

    async fn members(&self, pass: &ConvenePass, group: PrincipalId) -> Result<Vec<Membership>> {
        let workspace = pass.workspace();
        self.scans.scan(move |conn| members::list(conn, workspace, group)).await
    }

    async fn memberships(
        &self,
        pass: &ConvenePass,
        after: Option<(PrincipalId, PrincipalId)>,
        limit: usize,
    ) -> Result<Vec<Membership>> {
        let workspace = pass.workspace();
        self.scans.scan(move |conn| members::page(conn, workspace, after, limit)).await
    }

    async fn events(&self, pass: &AdminPass, after: u64, limit: usize) -> Result<Vec<Event>> {
        let workspace = pass.workspace();
        self.scans.scan(move |conn| events::page(conn, workspace, after, limit)).await
    }

    async fn default_workspace(&self) -> Result<Option<WorkspaceId>> {
        self.readers.read(keys::default_workspace)
    }

    async fn session(&self, workspace: WorkspaceId, id: SessionId) -> Result<Option<Session>> {
        self.readers.read(|conn| sessions::load(conn, workspace, id))
    }

    async fn list_sessions(
        &self,
        workspace: WorkspaceId,
        owner: Option<PrincipalId>,
        query: &SessionQuery,
    ) -> Result<Page<Session, (Timestamp, SessionId)>> {
        let query = query.clone();
        self.scans.scan(move |conn| sessions::list(conn, workspace, owner, &query)).await
    }

    async fn expired(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
        self.scans.scan(move |conn| sweep::expired(conn, now, limit)).await
    }

    async fn erasable(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
        self.scans.scan(move |conn| sweep::erasable(conn, now, limit)).await
    }

    async fn unpurged(&self, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
        self.scans.scan(move |conn| stores::unpurged(conn, limit)).await
    }

    async fn is_unpurged(&self, workspace: WorkspaceId, store: StoreId) -> Result<bool> {
        // The row first: once it is gone, its store is among the others.
        let is_there = self.readers.read(|conn| stores::is_removed(conn, workspace, store))?;
        Ok(is_there || self.unscrubbed.may_have(workspace, store))
    }

    async fn crowded(&self, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
        self.scans.scan(move |conn| stores::crowded(conn, limit)).await
    }

    async fn workspaces(&self) -> Result<Vec<(WorkspaceId, Timestamp)>> {
        self.readers.read_once(keys::workspaces)
    }

    async fn newest_time(&self, workspace: WorkspaceId) -> Result<Option<Timestamp>> {
        self.scans.scan(move |conn| keys::newest_time(conn, workspace)).await
    }

    async fn remembered(
        &self,
        pass: &AdminPass,
        after: Option<(u128, String)>,
        limit: usize,
    ) -> Result<Vec<Remembered>> {
        let workspace = pass.workspace();
        let page = move |conn: &_| idempotency::page(conn, workspace, after.as_ref(), limit);
        self.scans.scan(page).await
    }

    async fn log(
        &self,
        pass: &AdminPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LogEntry>> {
        let pass = pass.clone();
        self.scans.scan(move |conn| log::export(conn, &pass, store, after, limit)).await
    }

    async fn check(&self) -> Result<CheckReport> {
        let database = self.database.clone();
        on_own_thread("loci-check", move || check::run(&database)).await
    }

    async fn backup(&self, to: &Path) -> Result<CopyHold> {
        let (database, to) = (self.database.clone(), to.to_owned());
        let gate = Arc::clone(&self.gate);
        on_own_thread("loci-backup", move || backup::run(&database, &to, &gate)).await
    }

    async fn settle_scrubs(&self) -> Result<()> {
        self.writer.settle().await
    }

    async fn ready(&self) -> Result<()> {
        self.writer.ready()
    }

    fn is_full(&self) -> bool {
        self.writer.is_full()
    }
}
