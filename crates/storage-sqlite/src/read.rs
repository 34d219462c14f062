//! Reading: a fixed pool of read-only connections for single things, used on the caller's thread,
//! and a few threads for everything that walks many rows, so that a slow listing never holds up the
//! threads that answer requests.
//!
//! Every read runs in one snapshot: what it finds in its first step is still so in its last.

use crate::fault::{Result, corrupt, not_found};
use crate::open::{self, SqliteOptions};
use crate::row::{self, MemoryRow, opt_id_bytes};
use crate::stores::{self, StoreRow};
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use loci_model::policy::{Facts, ReadPass};
use loci_model::query::StoreStats;
use loci_model::{
    At, Audience, Content, Digest, Memory, MemoryId, MemoryPath, PrincipalId, SessionId, StoreId,
    Timestamp, View, WorkspaceId,
};
use loci_storage::StorageError;
use loci_storage::column::{Code, content_of, visibility_max};
use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

const SCAN_THREADS: usize = 2;
const SCANS_QUEUED_MAX: usize = 1024;
/// Ids are made from the clock and dice, and keys of rows are counted from one: these are nobody's.
const NOBODY: PrincipalId = PrincipalId::from_u128(0);
const NO_STORE: i64 = 0;

type Scan = Box<dyn FnOnce(&Connection) + Send>;

/// Connections for reads of single things.
pub(crate) struct Readers {
    free: Receiver<Connection>,
    back: Sender<Connection>,
}

impl Readers {
    pub(crate) fn open(database: &Path, options: &SqliteOptions) -> rusqlite::Result<Self> {
        let count = options.reader_count.max(1);
        let (back, free) = bounded(count);
        for _ in 0..count {
            let conn = open::open_reader(database, options.reader_cache_kib)?;
            back.send(conn).expect("the other end is right here");
        }
        Ok(Self { free, back })
    }

    /// Runs a short read on this thread.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T>,
    ) -> loci_storage::Result<T> {
        let lease = self.lease();
        snapshot(lease.conn(), read).map_err(StorageError::from)
    }

    /// Runs a read of a single statement, which is a snapshot by itself.
    pub(crate) fn read_once<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T>,
    ) -> loci_storage::Result<T> {
        let lease = self.lease();
        read(lease.conn()).map_err(StorageError::from)
    }

    fn lease(&self) -> Lease<'_> {
        let conn = self.free.recv().expect("the pool holds its own sender");
        Lease { conn: Some(conn), back: &self.back }
    }
}

/// A connection that goes back to the pool whatever happens.
struct Lease<'p> {
    conn: Option<Connection>,
    back: &'p Sender<Connection>,
}

impl Lease<'_> {
    fn conn(&self) -> &Connection {
        self.conn.as_ref().expect("leased until dropped")
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(conn) = self.conn.take() {
            leave(&conn);
            // Fails only when the pool is gone, and then the connection may go too.
            let _ = self.back.send(conn);
        }
    }
}

/// Threads for reads of many things.
pub(crate) struct Scans {
    queue: Option<Sender<Scan>>,
    threads: Vec<JoinHandle<()>>,
}

impl Scans {
    pub(crate) fn start(database: &Path, options: &SqliteOptions) -> rusqlite::Result<Self> {
        let (queue, scans) = bounded::<Scan>(SCANS_QUEUED_MAX);
        let mut threads = Vec::new();
        for _ in 0..SCAN_THREADS {
            let conn = open::open_reader(database, options.reader_cache_kib)?;
            let scans = scans.clone();
            threads.push(std::thread::spawn(move || {
                for scan in scans {
                    // A scan that panics fails alone: its caller sees the answer's end dropped.
                    let run = std::panic::AssertUnwindSafe(|| scan(&conn));
                    let _ = std::panic::catch_unwind(run);
                    leave(&conn);
                }
            }));
        }
        Ok(Self { queue: Some(queue), threads })
    }

    /// Runs a read that may take a while.
    pub(crate) async fn scan<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> loci_storage::Result<T> {
        let (answer, answered) = oneshot::channel();
        let scan: Scan = Box::new(move |conn| {
            // A caller that went away wants no answer.
            let _ = answer.send(snapshot(conn, read).map_err(StorageError::from));
        });
        let queue = self.queue.as_ref().expect("open until dropped");
        match queue.try_send(scan) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(StorageError::Busy),
            Err(TrySendError::Disconnected(_)) => return Err(lost()),
        }
        answered.await.map_err(|_| lost())?
    }
}

impl Drop for Scans {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // Scans are caught one by one, so the thread itself has no way to panic.
            let _ = thread.join();
        }
    }
}

fn lost() -> StorageError {
    StorageError::Io("a read was lost".into())
}

/// Runs `read` so that it sees one moment of the database.
pub(crate) fn snapshot<T>(
    conn: &Connection,
    read: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    conn.prepare_cached("begin")?.execute([])?;
    let result = read(conn);
    leave(conn);
    result
}

fn leave(conn: &Connection) {
    if !conn.is_autocommit() {
        // Nothing was written; failing to end a read can only mean that it has ended.
        let _ = conn.prepare_cached("rollback").and_then(|mut rollback| rollback.execute([]));
    }
}

/// The key of a store that is not removed.
pub(crate) fn store_key(conn: &Connection, store: StoreId) -> Result<Option<i64>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/store/key.sql"))?;
    let key = statement.query_row([store.to_bytes()], |row| row.get(0));
    Ok(key.optional()?)
}

/// The same, for reads that cannot answer "nothing".
pub(crate) fn require_store(conn: &Connection, store: StoreId) -> Result<i64> {
    store_key(conn, store)?.ok_or_else(|| not_found("memory store"))
}

pub(crate) fn facts(
    conn: &Connection,
    workspace: WorkspaceId,
    store: StoreId,
    principal: PrincipalId,
    session: Option<SessionId>,
) -> Result<Option<Facts>> {
    let is_there = |row: &StoreRow| !row.is_removed && row.store.workspace == workspace;
    let found = stores::load(conn, store)?.filter(is_there);
    // About a store that is not there the same is asked, of nobody: or it would be told from one that the
    // principal may not know of by how long the answer takes.
    let (store_pk, owner) =
        found.as_ref().map_or((NO_STORE, NOBODY), |row| (row.store_pk, row.store.owner));
    let grants = crate::grants::concerning(conn, store_pk, store, principal)?;
    let attachment = match session {
        None => None,
        Some(session) => crate::sessions::access(conn, workspace, session, store)?,
    };
    let relation = crate::members::relation(conn, principal, owner)?;
    let owner = crate::keys::principal(conn, owner)?;
    Ok(found.map(|row| {
        let is_home = loci_storage::ground::is_home(&row.store);
        let home_of = owner.filter(|_| is_home).map(|owner| owner.kind);
        Facts { store: row.store, grants, home_of, relation, attachment }
    }))
}

pub(crate) fn get(
    conn: &Connection,
    pass: &ReadPass,
    at: &At,
    view: View,
) -> Result<Option<Memory>> {
    let Some(store_pk) = store_key(conn, pass.store())? else {
        return Ok(None);
    };
    let found = match at {
        At::First(filter) => {
            crate::list::first(conn, store_pk, pass.store(), filter, pass.audience(), pass.now())?
        }
        At::Id(_) | At::Path(..) => named(conn, store_pk, pass.store(), at)?,
    };
    let Some(found) = found.filter(|row| is_shown(row, pass.audience(), pass.now())) else {
        return Ok(None);
    };
    in_view(conn, found, view).map(Some)
}

/// What a single statement can tell of a memory with its content.
pub(crate) enum Quick {
    /// All of it.
    Told(Option<Box<Memory>>),
    /// Too little: the content is in several pieces, and reading them takes a snapshot.
    InPieces,
}

/// A memory with its content by one statement: the read that agents do most.
pub(crate) fn get_full(conn: &Connection, pass: &ReadPass, id: MemoryId) -> Result<Quick> {
    let mut statement = conn.prepare_cached(include_str!("../queries/memory/get.sql"))?;
    let found = statement
        .query_row(params![pass.store().to_bytes(), id.to_bytes()], |row| {
            let base: Option<i64> = row.get(row::LIVE_MEMORY_COLUMNS + 1)?;
            let bytes: Option<Vec<u8>> = match base {
                None => row.get(row::LIVE_MEMORY_COLUMNS)?,
                Some(_) => None,
            };
            Ok((row::memory(row, pass.store())?, bytes, base.is_some()))
        })
        .optional()?;
    let Some((found, bytes, is_in_pieces)) =
        found.filter(|(found, ..)| is_shown(found, pass.audience(), pass.now()))
    else {
        return Ok(Quick::Told(None));
    };
    if is_in_pieces {
        return Ok(Quick::InPieces);
    }
    let mut memory = found.memory;
    memory.content = Some(checked(bytes, memory.digest, memory.is_sealed)?);
    Ok(Quick::Told(Some(Box::new(memory))))
}

/// The memory at a path that changed last, in whatever partition.
pub(crate) fn newest(
    conn: &Connection,
    pass: &ReadPass,
    path: &MemoryPath,
    view: View,
) -> Result<Option<Memory>> {
    let Some(store_pk) = store_key(conn, pass.store())? else {
        return Ok(None);
    };
    let shown = visibility_max(pass.audience());
    let found = conn
        .prepare_cached(include_str!("../queries/memory/newest.sql"))?
        .query_row(params![store_pk, path.as_str(), shown, pass.now().as_micros()], |row| {
            row::memory(row, pass.store())
        })
        .optional()?;
    found.map(|found| in_view(conn, found, view)).transpose()
}

/// Whether an audience sees a memory at a moment.
pub(crate) fn is_shown(row: &MemoryRow, audience: Audience, now: Timestamp) -> bool {
    row.memory.attributes.visibility.code() <= visibility_max(audience) && !row.is_expired_at(now)
}

/// The live memory of an id or path, whoever may see it.
pub(crate) fn named(
    conn: &Connection,
    store_pk: i64,
    store: StoreId,
    at: &At,
) -> Result<Option<MemoryRow>> {
    let found = match at {
        At::Id(id) => conn
            .prepare_cached(include_str!("../queries/memory/by_id.sql"))?
            .query_row(params![store_pk, id.to_bytes()], |row| row::memory(row, store)),
        At::Path(partition, path) => {
            return at_path(conn, store_pk, store, *partition, path.as_str());
        }
        At::First(_) => return Ok(None),
    };
    Ok(found.optional()?)
}

/// The live memory at a path.
pub(crate) fn at_path(
    conn: &Connection,
    store_pk: i64,
    store: StoreId,
    partition: Option<PrincipalId>,
    path: &str,
) -> Result<Option<MemoryRow>> {
    let found = conn
        .prepare_cached(include_str!("../queries/memory/by_path.sql"))?
        .query_row(params![store_pk, path, opt_id_bytes(partition)], |row| row::memory(row, store));
    Ok(found.optional()?)
}

/// A memory with its content, if the view wants it.
pub(crate) fn in_view(conn: &Connection, row: MemoryRow, view: View) -> Result<Memory> {
    let mut memory = row.memory;
    if view == View::Full {
        let content = content(conn, row.head_pk, memory.digest, memory.is_sealed)?;
        memory.content = Some(content);
    }
    Ok(memory)
}

/// The content of a version, checked against its digest: what does not match is never shown.
pub(crate) fn content(
    conn: &Connection,
    version_pk: i64,
    digest: Digest,
    is_sealed: bool,
) -> Result<Content> {
    checked(raw_content(conn, version_pk)?, digest, is_sealed)
}

fn checked(bytes: Option<Vec<u8>>, digest: Digest, is_sealed: bool) -> Result<Content> {
    bytes
        .and_then(|bytes| content_of(bytes, is_sealed))
        .filter(|content| content.digest() == digest)
        .ok_or_else(|| corrupt("content does not match its digest"))
}

/// What a version is kept as: its own bytes, and the version they go on from.
pub(crate) fn piece(conn: &Connection, version_pk: i64) -> Result<Option<(Vec<u8>, Option<i64>)>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/payload/get.sql"))?;
    let found = statement.query_row([version_pk], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(found.optional()?)
}

/// The stored bytes of a version, unchecked; none if some of them are missing.
pub(crate) fn raw_content(conn: &Connection, version_pk: i64) -> Result<Option<Vec<u8>>> {
    let Some((bytes, base)) = piece(conn, version_pk)? else { return Ok(None) };
    whole(conn, version_pk, bytes, base)
}

/// The stored bytes of a version of which the last piece is known.
pub(crate) fn whole(
    conn: &Connection,
    version_pk: i64,
    last: Vec<u8>,
    base: Option<i64>,
) -> Result<Option<Vec<u8>>> {
    let (mut from, mut base) = (version_pk, base);
    let mut pieces = vec![last];
    while let Some(earlier) = base {
        // A base is always earlier, so that even a damaged chain has an end.
        if earlier >= from {
            return Ok(None);
        }
        let Some((bytes, next)) = piece(conn, earlier)? else { return Ok(None) };
        pieces.push(bytes);
        (from, base) = (earlier, next);
    }
    if pieces.len() == 1 {
        return Ok(pieces.pop());
    }
    pieces.reverse();
    Ok(Some(pieces.concat()))
}

pub(crate) fn stats(conn: &Connection, store: StoreId) -> Result<StoreStats> {
    let row = stores::load(conn, store)?.filter(|row| !row.is_removed);
    let row = row.ok_or_else(|| not_found("memory store"))?;
    Ok(StoreStats {
        memories: row.memory_count,
        content_bytes: row.content_bytes,
        versions: row.version_count,
        last_seq: row.seq,
    })
}

/// The earliest and latest moments, for listings without a bound.
pub(crate) const EARLIEST: Timestamp = Timestamp::from_micros(i64::MIN);
pub(crate) const LATEST: Timestamp = Timestamp::from_micros(i64::MAX);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteStorage;
    use loci_model::{Address, PrincipalKind, Store, StorePolicy};
    use loci_storage::Mutation;
    use loci_storage_contract::fixture::World;
    use rusqlite::StatementStatus;
    use std::sync::Arc;

    /// What facts are made of.
    const STATEMENTS: [&str; 5] = [
        include_str!("../queries/store/by_id.sql"),
        include_str!("../queries/grant/by_grantee.sql"),
        include_str!("../queries/attachment/access.sql"),
        include_str!("../queries/membership/relation.sql"),
        include_str!("../queries/principal/by_id.sql"),
    ];

    /// How long an answer takes tells nobody whether there is a store that is not for them.
    #[tokio::test]
    async fn a_store_that_is_not_there_is_asked_about_like_one_that_is_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let options = SqliteOptions { ballast_bytes: 64 * 1024, ..SqliteOptions::default() };
        let storage = SqliteStorage::open(dir.path(), options).unwrap();
        let world = World::new(Arc::new(storage)).await;
        let stranger = world.new_one(PrincipalKind::Agent, "stranger").await;
        let host = world.new_one(PrincipalKind::Agent, "host").await;
        let home = Store {
            owner: host,
            address: Some(Address::home(host)),
            ..world.plan_store(StorePolicy::default())
        };
        world.write(Mutation::CreateStore(home.clone())).await.unwrap();
        for session in [None, Some(SessionId::from_u128(7))] {
            let runs = |store: StoreId, is_there: bool| -> [i32; 5] {
                let conn = Connection::open(dir.path().join("loci.db")).unwrap();
                let found = facts(&conn, world.workspace, store, stranger, session).unwrap();
                assert_eq!(found.is_some(), is_there);
                STATEMENTS
                    .map(|sql| conn.prepare_cached(sql).unwrap().get_status(StatementStatus::Run))
            };
            let absent = runs(StoreId::from_u128(1), false);
            assert_eq!(runs(world.store, true), absent, "a store");
            assert_eq!(runs(home.id, true), absent, "a home");
            assert_eq!(absent, [1, 2, i32::from(session.is_some()), 1, 1]);
        }
    }
}
