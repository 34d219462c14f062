//! Why something inside this crate failed: SQLite said no, or the contract did. Kept apart until
//! the edge, because the writer treats them differently: a refusal ends one job, a failing disk
//! ends the whole group.

use loci_storage::StorageError;
use rusqlite::{ErrorCode, ffi};

/// A failure inside this crate.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite failed.
    Sql(rusqlite::Error),
    /// The contract refuses.
    Refused(StorageError),
}

/// Shorthand for what functions inside this crate return.
pub(crate) type Result<T> = std::result::Result<T, Fault>;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StorageError> for Fault {
    fn from(error: StorageError) -> Self {
        Self::Refused(error)
    }
}

impl From<loci_model::Invalid> for Fault {
    fn from(error: loci_model::Invalid) -> Self {
        Self::Refused(StorageError::Invalid(error))
    }
}

impl From<Fault> for StorageError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(error) => error,
            Fault::Sql(error) => match code_of(&error) {
                Some(ErrorCode::DiskFull) => Self::Full,
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    Self::Corrupt(error.to_string())
                }
                None if is_unreadable(&error) => Self::Corrupt(error.to_string()),
                _ => Self::Io(error.to_string()),
            },
        }
    }
}

/// A row that does not hold what this crate wrote there.
fn is_unreadable(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::InvalidColumnType(..)
            | Error::IntegralValueOutOfRange(..)
    )
}

/// SQLite's code for a failure, when it has one.
pub(crate) fn code_of(error: &rusqlite::Error) -> Option<ErrorCode> {
    error.sqlite_error_code()
}

fn extended_code(error: &rusqlite::Error) -> i32 {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => failure.extended_code,
        _ => 0,
    }
}

/// Whether there is no room. Growing the shared index of the log fails with a code of its own.
pub(crate) fn is_full(error: &rusqlite::Error) -> bool {
    code_of(error) == Some(ErrorCode::DiskFull) || extended_code(error) == ffi::SQLITE_IOERR_SHMSIZE
}

/// Whether the disk failed to take what it was given. A failed read is not one of these.
pub(crate) fn is_disk_failure(error: &rusqlite::Error) -> bool {
    let is_read = matches!(
        extended_code(error),
        ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS
    );
    code_of(error) == Some(ErrorCode::SystemIoFailure) && !is_read
}

/// What was stored cannot be read back as what it should be.
pub(crate) fn corrupt(what: impl Into<String>) -> Fault {
    Fault::Refused(StorageError::Corrupt(what.into()))
}

/// A thing is not there.
pub(crate) fn not_found(what: &'static str) -> Fault {
    Fault::Refused(StorageError::NotFound(what))
}
