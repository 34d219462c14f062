//! The file of the write-ahead log, as far as scrubbing is concerned. SQLite cuts it to nothing without
//! syncing the cut, because an old log does no harm to it; to us it does, because it holds what was
//! scrubbed.

use crate::fault::is_full;
use rusqlite::Connection;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The log of one data directory.
pub(crate) struct Wal {
    file: PathBuf,
    dir: PathBuf,
}

impl Wal {
    /// Folds everything into the database, waiting for readers, and cuts the file to nothing.
    pub(crate) const EMPTY: &str = "pragma wal_checkpoint(truncate)";

    pub(crate) fn of(dir: &Path) -> Self {
        Self { file: dir.join("loci.db-wal"), dir: dir.to_owned() }
    }

    /// Its length; 0 when there is none.
    pub(crate) fn bytes(&self) -> u64 {
        std::fs::metadata(&self.file).map_or(0, |found| found.len())
    }

    /// Makes its length last.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match File::open(&self.file) {
            Ok(file) => file.sync_all(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Empties what an earlier process left, before anything is served: what it scrubbed without an
    /// answer must neither lie in the log nor come back into it. Also where the log is empty already,
    /// because the cut or the removal may not have been synced. False when that has to wait for room.
    pub(crate) fn empty_at_start(&self, conn: &Connection) -> Result<bool, crate::OpenError> {
        let is_whole = match conn.query_row(Self::EMPTY, [], |row| row.get::<_, bool>(0)) {
            Ok(is_busy) => !is_busy,
            Err(error) if is_full(&error) => false,
            Err(error) => return Err(error.into()),
        };
        self.sync()?;
        match File::open(&self.dir)?.sync_all() {
            // There are file systems whose directories cannot be synced.
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(error.into()),
            _ => Ok(is_whole),
        }
    }
}
