//! Why something inside this crate failed: PostgreSQL said no, could not be asked, or the contract
//! refuses. Kept apart until the edge, because the writer treats them differently: a refusal ends
//! one job, everything else ends the transaction.

use loci_storage::StorageError;
use tokio_postgres::error::SqlState;

/// A failure inside this crate.
#[derive(Debug)]
pub(crate) enum Fault {
    /// PostgreSQL failed, or the way to it.
    Sql(tokio_postgres::Error),
    /// No connection, or no answer in time.
    Unreachable(String),
    /// The contract refuses.
    Refused(StorageError),
}

/// Shorthand for what functions inside this crate return.
pub(crate) type Result<T> = std::result::Result<T, Fault>;

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
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

impl From<deadpool_postgres::PoolError> for Fault {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        use deadpool_postgres::PoolError;
        match error {
            PoolError::Backend(error) => Self::Sql(error),
            // Every connection is taken: too much is asked of this server, not of the database.
            PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => {
                Self::Refused(StorageError::Busy)
            }
            other => Self::Unreachable(other.to_string()),
        }
    }
}

impl From<Fault> for StorageError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(error) => error,
            Fault::Unreachable(why) => Self::Unreachable(why),
            Fault::Sql(error) => match error.code() {
                None if error.is_closed() || is_io(&error) => Self::Unreachable(told(&error)),
                None => Self::Corrupt(told(&error)),
                Some(code) if is_away(code) => Self::Unreachable(told(&error)),
                Some(code) if is_transient(code) => {
                    tracing::warn!(why = told(&error), "the database has too much to do");
                    Self::Busy
                }
                Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED) => {
                    Self::Corrupt(told(&error))
                }
                Some(_) => Self::Io(told(&error)),
            },
        }
    }
}

impl Fault {
    /// Whether the same transaction may well succeed when it is run again.
    pub(crate) fn is_worth_retrying(&self) -> bool {
        let code = match self {
            Self::Sql(error) => error.code(),
            Self::Unreachable(_) | Self::Refused(_) => None,
        };
        let again = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
        code.is_some_and(|code| again.contains(code))
    }

    /// Whether the disk under the database is full.
    pub(crate) fn is_disk_full(&self) -> bool {
        matches!(self, Self::Sql(error) if error.code() == Some(&SqlState::DISK_FULL))
    }

    /// The same failure as often as it is needed, for all who waited for the same thing.
    pub(crate) fn for_all(self) -> impl Fn() -> StorageError {
        let error = refusal(self);
        move || match &error {
            StorageError::Busy => StorageError::Busy,
            StorageError::Unreachable(why) => StorageError::Unreachable(why.clone()),
            StorageError::Corrupt(why) => StorageError::Corrupt(why.clone()),
            StorageError::Taken(what) => StorageError::Taken(what),
            other => StorageError::Io(other.to_string()),
        }
    }

    /// The name of the constraint that a row would break.
    pub(crate) fn broken_constraint(&self) -> Option<&str> {
        match self {
            Self::Sql(error) => {
                let error = error.as_db_error()?;
                let is_taken = *error.code() == SqlState::UNIQUE_VIOLATION;
                error.constraint().filter(|_| is_taken)
            }
            Self::Unreachable(_) | Self::Refused(_) => None,
        }
    }
}

/// What PostgreSQL said, without the values it may quote beside it.
fn told(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} ({})", said.message(), said.code().code()),
        None => error.to_string(),
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    let source = std::error::Error::source(error);
    source.is_some_and(|source| source.is::<std::io::Error>())
        // Errors of making a connection name no cause of their own kind.
        || error.to_string().starts_with("error connecting")
        || error.to_string().starts_with("timeout")
}

/// The database is shutting down, starting, full, or a standby that takes no writes.
fn is_away(code: &SqlState) -> bool {
    let away = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::CONNECTION_EXCEPTION,
        SqlState::CONNECTION_FAILURE,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::IO_ERROR,
        SqlState::DISK_FULL,
    ];
    away.contains(code)
}

/// The database has too much to do.
fn is_transient(code: &SqlState) -> bool {
    let transient = [
        SqlState::QUERY_CANCELED,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::OUT_OF_MEMORY,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        // Another read in the same transaction failed.
        SqlState::IN_FAILED_SQL_TRANSACTION,
    ];
    transient.contains(code)
}

/// What was stored cannot be read back as what it should be.
pub(crate) fn corrupt(what: impl Into<String>) -> Fault {
    Fault::Refused(StorageError::Corrupt(what.into()))
}

/// A thing is not there.
pub(crate) fn not_found(what: &'static str) -> Fault {
    Fault::Refused(StorageError::NotFound(what))
}

/// A fault as the contract has it. Constraints are what two servers that looked at the same moment
/// run into: the second one is told the same as if it had looked later.
pub(crate) fn refusal(fault: Fault) -> StorageError {
    let taken = match fault.broken_constraint() {
        Some("workspace_pk") => Some("workspace"),
        Some("principal_pk" | "principal_name_unique") => Some("name"),
        Some("api_key_pk" | "api_key_secret_unique") => Some("key"),
        Some("store_pk") => Some("memory store"),
        Some("version_id_unique") => Some("memory version"),
        Some("memory_pk") => Some("memory"),
        Some("session_pk") => Some("session"),
        Some("grant_pk" | "grant_id_unique") => Some("grant"),
        _ => None,
    };
    taken.map_or_else(|| fault.into(), StorageError::Taken)
}
