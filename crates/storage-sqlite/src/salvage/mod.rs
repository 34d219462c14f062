//! Whatever can be read of a damaged data directory, as a new database that is whole. The old one is
//! only read, past SQLite, page by page ([`pages`]): what is on a sound page is found, whatever became
//! of the trees that led to it.
//!
//! Rows are taken as they are found; then those that say nothing a reader understands are dropped, and
//! with them what belongs to them. The feed is made again from the versions, and a store whose row is
//! lost gets one in its place. What the rows then lack is for the caller to see: histories may have
//! gaps, and contents may not match their digests.

mod cells;
mod pages;
mod tables;

use crate::fault::{Fault, Result};
use crate::migrate::{self, APPLICATION_ID};
use crate::open::{DATABASE, LOCK, OpenError};
use crate::row::{self, time};
use crate::{keys, sessions, stores};
use loci_model::{Content, KeyId, PrincipalId, SessionId, StoreId, WorkspaceId, limit};
use loci_storage::StorageError;
use pages::Pages;
use rusqlite::{Connection, params, params_from_iter};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use tables::Table;

/// What was found in a damaged directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Pages of the database.
    pub pages: u64,
    /// Pages that the disk did not give.
    pub unreadable_pages: u64,
    /// Cells of pages that are not whole.
    pub broken_cells: u64,
    /// Rows found, by table.
    pub rows: BTreeMap<&'static str, u64>,
    /// Rows that were dropped because they say nothing that could be understood, by table.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Stores whose own rows are lost; each is there again, as a new store of its own name.
    pub lost_stores: Vec<StoreId>,
}

impl Salvaged {
    /// Whether nothing was seen to be damaged. What is lost without a trace is not seen here.
    pub fn is_whole(&self) -> bool {
        (self.unreadable_pages, self.broken_cells) == (0, 0)
            && self.dropped.is_empty()
            && self.lost_stores.is_empty()
    }
}

/// Reads what can be read of the directory `from` and writes it into the new directory `into`. Refused
/// while a process has `from` open, and when a newer version of Loci wrote it.
pub fn salvage(from: &Path, into: &Path) -> std::result::Result<Salvaged, OpenError> {
    let _lock = lock(from)?;
    let mut pages = Pages::open(&from.join(DATABASE), &from.join("loci.db-wal"))?;
    let (application_id, format) = (pages.header_number(68), pages.header_number(60));
    // Another program's number may be ours with a flipped bit; then no row looks like one of ours.
    if application_id == APPLICATION_ID {
        migrate::refuse_format(application_id, format)?;
    }
    DirBuilder::new().mode(0o700).recursive(true).create(into)?;
    let conn = Connection::open(into.join(DATABASE))?;
    conn.pragma_update(None, "foreign_keys", "off")?;
    conn.pragma_update(None, "synchronous", "off")?;
    migrate::run(&conn)?;
    conn.execute_batch("begin")?;
    let mut salvaged = Salvaged::default();
    read(&mut pages, &conn, &mut salvaged)?;
    mend(&conn, &mut salvaged)?;
    conn.execute_batch("commit")?;
    Ok(salvaged)
}

/// The lock of the directory, as far as there is one; nothing is made.
fn lock(dir: &Path) -> std::result::Result<Option<File>, OpenError> {
    let lock = match File::open(dir.join(LOCK)) {
        Ok(lock) => lock,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(std::fs::TryLockError::WouldBlock) => Err(OpenError::Locked),
        Err(std::fs::TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Takes every row of every page.
fn read(
    pages: &mut Pages,
    conn: &Connection,
    salvaged: &mut Salvaged,
) -> std::result::Result<(), OpenError> {
    salvaged.pages = u64::from(pages.count());
    for number in 1..=pages.count() {
        let found = cells::rows(pages, number);
        salvaged.broken_cells += found.broken;
        for row in found.rows {
            let Some(table) = Table::of(&row) else { continue };
            let count = row.values.len();
            let mut statement = conn.prepare_cached(&table.insert(count))?;
            let taken = match row.key {
                Some(key) => {
                    let rest = row.values.into_iter().skip(1);
                    statement.execute(params_from_iter([key.into()].into_iter().chain(rest)))
                }
                None => statement.execute(params_from_iter(row.values)),
            };
            // A row that breaks a rule of its table is none of ours.
            let (counted, by) = match taken {
                Ok(count) => (&mut salvaged.rows, count as u64),
                Err(_) => (&mut salvaged.dropped, 1),
            };
            *counted.entry(table.name).or_default() += by;
        }
    }
    salvaged.unreadable_pages = pages.unreadable;
    Ok(())
}

/// Drops what cannot be understood and makes again what follows from the rest.
fn mend(conn: &Connection, salvaged: &mut Salvaged) -> Result<()> {
    let id = |key: &[Vec<u8>], at: usize| -> [u8; 16] {
        key.get(at).and_then(|id| id.as_slice().try_into().ok()).unwrap_or_default()
    };
    let mut drop = |table, all, delete: &[&str], reads: &dyn Fn(&[Vec<u8>]) -> Result<()>| {
        drop_unreadable(conn, all, delete, reads).map(|count| {
            *salvaged.dropped.entry(table).or_default() += count;
        })
    };
    drop(
        "principal",
        include_str!("../../queries/salvage/principals.sql"),
        &[include_str!("../../queries/salvage/drop_principal.sql")],
        &|key| keys::principal(conn, PrincipalId::from_bytes(id(key, 0))).map(|_| ()),
    )?;
    drop(
        "api_key",
        include_str!("../../queries/salvage/keys.sql"),
        &[include_str!("../../queries/salvage/drop_key.sql")],
        &|key| keys::by_id(conn, KeyId::from_bytes(id(key, 0))).map(|_| ()),
    )?;
    drop(
        "store",
        include_str!("../../queries/salvage/stores.sql"),
        &[include_str!("../../queries/salvage/drop_store.sql")],
        &|key| stores::load(conn, StoreId::from_bytes(id(key, 0))).map(|_| ()),
    )?;
    drop(
        "session",
        include_str!("../../queries/salvage/sessions.sql"),
        &[
            include_str!("../../queries/salvage/drop_attachments.sql"),
            include_str!("../../queries/salvage/drop_session.sql"),
        ],
        &|key| {
            let (session, workspace) = (id(key, 0), id(key, 1));
            let workspace = WorkspaceId::from_bytes(workspace);
            sessions::load(conn, workspace, SessionId::from_bytes(session)).map(|_| ())
        },
    )?;
    let nowhere = StoreId::from_bytes([0; 16]);
    let (memories, drop_memory) = (
        include_str!("../../queries/salvage/memories.sql"),
        include_str!("../../queries/salvage/drop_memory.sql"),
    );
    let dropped =
        drop_rows(conn, memories, drop_memory, |row| row::memory(row, nowhere).map(|_| ()));
    *salvaged.dropped.entry("memory").or_default() += dropped?;
    let (versions, drop_version) = (
        include_str!("../../queries/salvage/versions.sql"),
        include_str!("../../queries/salvage/drop_version.sql"),
    );
    let dropped =
        drop_rows(conn, versions, drop_version, |row| row::version(row, nowhere).map(|_| ()));
    *salvaged.dropped.entry("version").or_default() += dropped?;
    // What a memory was last is unknown without its newest version.
    let run = |sql: &str| conn.execute(sql, []).map(|count| count as u64);
    *salvaged.dropped.entry("memory").or_default() +=
        run(include_str!("../../queries/salvage/headless.sql"))?;
    *salvaged.dropped.entry("version").or_default() +=
        run(include_str!("../../queries/salvage/orphans.sql"))?;
    run(include_str!("../../queries/salvage/payload_orphans.sql"))?;
    run(include_str!("../../queries/salvage/change_orphans.sql"))?;
    run(include_str!("../../queries/salvage/changes.sql"))?;
    run(include_str!("../../queries/salvage/workspaces.sql"))?;
    salvaged.lost_stores = stand_in_for_stores(conn)?;
    run(include_str!("../../queries/salvage/ends.sql"))?;
    salvaged.dropped.retain(|_, count| *count > 0);
    Ok(())
}

/// Deletes the rows whose key, of one or more ids, leads to nothing that could be read.
fn drop_unreadable(
    conn: &Connection,
    all: &str,
    delete: &[&str],
    reads: &dyn Fn(&[Vec<u8>]) -> Result<()>,
) -> Result<u64> {
    let mut statement = conn.prepare(all)?;
    let ids = statement.column_count();
    let keys = statement.query_map([], |row| (0..ids).map(|at| row.get(at)).collect())?;
    let keys: Vec<Vec<Vec<u8>>> = keys.collect::<rusqlite::Result<_>>()?;
    let mut count = 0;
    for key in keys {
        if reads(&key).is_err() {
            for sql in delete {
                conn.execute(sql, [&key[0]])?;
            }
            count += 1;
        }
    }
    Ok(count)
}

/// Deletes the rows that cannot be read, by the key in their first column.
fn drop_rows(
    conn: &Connection,
    all: &str,
    delete: &str,
    read: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) -> Result<u64> {
    let mut unreadable: Vec<i64> = Vec::new();
    let mut statement = conn.prepare(all)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if read(row).is_err() {
            unreadable.push(row.get(0)?);
        }
    }
    for key in &unreadable {
        conn.execute(delete, [key])?;
    }
    Ok(unreadable.len() as u64)
}

/// A store for each whose row is lost and whose memories are there, with an id that follows from its
/// place, so that another run finds the same. Whoever owns a memory of it owns it.
fn stand_in_for_stores(conn: &Connection) -> Result<Vec<StoreId>> {
    let mut statement = conn.prepare(include_str!("../../queries/salvage/lost_stores.sql"))?;
    let lost = statement.query_map([], |row| {
        let place: i64 = row.get(0)?;
        let owner: [u8; 16] = row.get(1)?;
        let has_partitions: bool = row.get(3)?;
        let workspace: Option<[u8; 16]> = row.get(4)?;
        Ok((place, owner, time(row, 2)?, has_partitions, workspace))
    })?;
    let lost = lost.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut made = Vec::with_capacity(lost.len());
    for (place, owner, at, has_partitions, workspace) in lost {
        let workspace = match workspace {
            Some(workspace) => workspace,
            None => {
                let id = derived("workspace", place);
                keys::create_workspace(conn, WorkspaceId::from_bytes(id), at)?;
                id
            }
        };
        let id = derived("store", place);
        conn.execute(
            include_str!("../../queries/salvage/insert_store.sql"),
            params![
                place,
                id,
                workspace,
                owner,
                format!("salvaged {place}"),
                has_partitions,
                row::int(limit::CONTENT_BYTES_MAX as u64),
                row::int(limit::MEMORIES_PER_STORE_DEFAULT),
                at.as_micros(),
            ],
        )?;
        made.push(StoreId::from_bytes(id));
    }
    Ok(made)
}

fn derived(what: &str, place: i64) -> [u8; 16] {
    let digest = Content::Text(format!("salvaged {what} {place}")).digest();
    let mut id = [0; 16];
    id.copy_from_slice(&digest.as_bytes()[..16]);
    id
}

impl From<Fault> for OpenError {
    fn from(fault: Fault) -> Self {
        Self::Io(StorageError::from(fault).to_string())
    }
}
