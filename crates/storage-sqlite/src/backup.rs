//! A consistent copy in a new file while writes go on. It is held ([`crate::gate`]) until whoever asked
//! for it lets go: a copy begun before a redaction must not be the place where the redacted content
//! lives on when the redaction is answered.

use crate::fault::Fault;
use crate::gate::Gate;
use crate::open::VFS;
use loci_storage::{CopyHold, StorageError};
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// Copies `database` to `to`, which must not exist.
pub(crate) fn run(database: &Path, to: &Path, gate: &Arc<Gate>) -> loci_storage::Result<CopyHold> {
    let open = gate.begin();
    let file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)
        .map_err(|error| failed(&error))?;
    let copied = copy(database, to)
        .and_then(|()| file.sync_all().map_err(|error| failed(&error)))
        .and_then(|()| sync_parent(to).map_err(|error| failed(&error)));
    if copied.is_err() {
        // Half a copy must not be mistaken for one.
        let _ = fs::remove_file(to);
    }
    copied.map(|()| CopyHold::new(open))
}

fn copy(database: &Path, to: &Path) -> loci_storage::Result<()> {
    let to =
        to.to_str().ok_or_else(|| StorageError::Io("the path of a backup must be UTF-8".into()))?;
    let copy = || -> rusqlite::Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let conn = Connection::open_with_flags_and_vfs(database, flags, VFS)?;
        conn.pragma_update(None, "trusted_schema", "off")?;
        conn.execute("vacuum into ?1", [to])?;
        Ok(())
    };
    copy().map_err(|error| Fault::Sql(error).into())
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

fn failed(error: &io::Error) -> StorageError {
    match error.kind() {
        io::ErrorKind::StorageFull => StorageError::Full,
        _ => StorageError::Io(format!("backup: {error}")),
    }
}
