//! Opening a data directory: the lock, the look at what is there, the connections.
//!
//! A directory of a newer Loci, or one that holds another program's database, is refused before
//! anything in it is touched. Durability is not a setting: every commit is synced in full.

use crate::migrate;
use crate::wal::Wal;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::fs::{DirBuilder, File};
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The database's file name.
pub(crate) const DATABASE: &str = "loci.db";
pub(crate) const LOCK: &str = "loci.lock";

/// The oldest SQLite that has every fix this crate relies on.
const SQLITE_VERSION_MIN: i32 = 3_051_003;
/// Above this size the check after an unclean stop would hold up the start for too long.
const QUICK_CHECK_BYTES_MAX: u64 = 256 * 1024 * 1024;
const STATEMENTS_CACHED: usize = 192;
/// How long a connection waits for others.
pub(crate) const BUSY_WAIT: Duration = Duration::from_millis(250);
/// The directory is ours alone, so SQLite may keep the index of its log in our memory and need not
/// ask the kernel for a lock at every read.
pub(crate) const VFS: &str = "unix-excl";

/// What can be tuned. None of it changes what is promised.
#[derive(Debug, Clone, Copy)]
pub struct SqliteOptions {
    /// Connections for reads of single things.
    pub reader_count: usize,
    /// Bytes set aside so that erasing works on a full disk.
    pub ballast_bytes: u64,
    /// Page cache of the writer, in KiB.
    pub writer_cache_kib: u32,
    /// Page cache of each reader, in KiB.
    pub reader_cache_kib: u32,
    /// How long a request that scrubs waits for copies and readers that hold the old bytes, before it
    /// is told to ask again.
    pub scrub_wait: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            reader_count: 2 * cores,
            ballast_bytes: 8 * 1024 * 1024,
            writer_cache_kib: 64 * 1024,
            reader_cache_kib: 8 * 1024,
            scrub_wait: Duration::from_secs(5),
        }
    }
}

/// Why a data directory could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("the data directory is in use by another process")]
    Locked,
    /// It was written by a newer Loci; nothing in it was touched.
    #[error("the data directory has format {found}, this version knows up to {known}")]
    NewerFormat {
        /// The format found.
        found: u32,
        /// The newest format known here.
        known: u32,
    },
    /// The database belongs to another program; nothing in it was touched.
    #[error("the data directory holds a database that is not Loci's")]
    NotLoci,
    /// The SQLite this binary was built with lacks fixes that durability needs.
    #[error("SQLite {found} is too old")]
    OldSqlite {
        /// Its version.
        found: &'static str,
    },
    /// The disk or the database failed.
    #[error("cannot open the data directory: {0}")]
    Io(String),
    /// The database is damaged.
    #[error("the database is damaged: {0}")]
    Corrupt(String),
}

impl From<std::io::Error> for OpenError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error.to_string())
    }
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt(error.to_string())
            }
            _ => Self::Io(error.to_string()),
        }
    }
}

/// A data directory that is ours until dropped.
pub(crate) struct DataDir {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Makes the directory if needed and locks it.
    pub(crate) fn lock(path: &Path) -> Result<Self, OpenError> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let lock =
            File::options().create(true).truncate(false).write(true).open(path.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(std::fs::TryLockError::WouldBlock) => Err(OpenError::Locked),
            Err(std::fs::TryLockError::Error(error)) => Err(error.into()),
        }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }
}

/// The write connection.
pub(crate) struct Opened {
    pub(crate) conn: Connection,
    /// Whether the log of an earlier process is gone.
    pub(crate) is_log_empty: bool,
}

/// Opens the write connection, brings the schema up to date and empties the log.
pub(crate) fn open_writer(dir: &DataDir, options: &SqliteOptions) -> Result<Opened, OpenError> {
    if rusqlite::version_number() < SQLITE_VERSION_MIN {
        return Err(OpenError::OldSqlite { found: rusqlite::version() });
    }
    let database = dir.database();
    refuse_foreign_header(&database)?;
    let wal = Wal::of(&dir.path);
    let was_unclean = wal.bytes() > 0;
    let conn = Connection::open_with_flags_and_vfs(&database, OpenFlags::default(), VFS)?;
    // Until the format is known to be ours, closing must not fold the log into the database.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    migrate::refuse_unknown(&conn)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    configure(&conn, options.writer_cache_kib)?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "secure_delete", "on")?;
    conn.pragma_update(None, "foreign_keys", "on")?;
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    migrate::run(&conn)?;
    if was_unclean && file_bytes(&database) <= QUICK_CHECK_BYTES_MAX {
        quick_check(&conn)?;
    }
    let is_log_empty = wal.empty_at_start(&conn)?;
    Ok(Opened { conn, is_log_empty })
}

/// Opens one more connection that can only read.
pub(crate) fn open_reader(database: &Path, cache_kib: u32) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags_and_vfs(database, flags, VFS)?;
    configure(&conn, cache_kib)?;
    conn.pragma_update(None, "query_only", "on")?;
    Ok(conn)
}

fn configure(conn: &Connection, cache_kib: u32) -> rusqlite::Result<()> {
    conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    conn.busy_timeout(BUSY_WAIT)?;
    // Plans that may look at bound values are made anew for each value; ours never need to.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.pragma_update(None, "trusted_schema", "off")?;
    conn.pragma_update(None, "cell_size_check", "on")?;
    conn.pragma_update(None, "mmap_size", 0)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    // A negative size is in KiB.
    conn.pragma_update(None, "cache_size", -i64::from(cache_kib))
}

/// Reads the format off the file's header, so that a foreign or newer file is not even opened.
fn refuse_foreign_header(database: &Path) -> Result<(), OpenError> {
    let mut header = [0u8; 100];
    let read = match File::open(database) {
        Ok(mut file) => file.read_exact(&mut header),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = read {
        // An empty file is what a crash leaves right after the first start.
        return if file_bytes(database) == 0 {
            Ok(())
        } else if error.kind() == std::io::ErrorKind::UnexpectedEof {
            Err(OpenError::NotLoci)
        } else {
            Err(error.into())
        };
    }
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(OpenError::NotLoci);
    }
    let number = |at: usize| {
        let bytes = header[at..at + 4].try_into().expect("four bytes");
        u32::from_be_bytes(bytes)
    };
    migrate::refuse_format(number(68), number(60))
}

fn quick_check(conn: &Connection) -> Result<(), OpenError> {
    let verdict: String = conn.query_row("pragma quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(OpenError::Corrupt(verdict)) }
}

fn file_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::{StatementStatus, params};

    /// Otherwise every write would spend most of its time in the query planner.
    #[test]
    fn a_statement_is_planned_once() {
        let dir = tempfile::tempdir().unwrap();
        let dir = DataDir::lock(dir.path()).unwrap();
        let conn = open_writer(&dir, &SqliteOptions::default()).unwrap().conn;
        let by_path = include_str!("../queries/memory/by_path.sql");
        let mut statement = conn.prepare(by_path).unwrap();
        for path in ["/a", "/b", "/c"] {
            assert!(!statement.exists(params![1, path, [0u8; 0]]).unwrap());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
