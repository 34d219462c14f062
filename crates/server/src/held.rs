//! A place that is open: what one process has while it works on memories, and what it leaves behind.
//!
//! A directory is held by one process alone, which labels it and folds its log when it goes. A
//! database is shared: there is nothing to hold, only connections, and files of our own lie in a
//! private temporary directory that goes with us.

use crate::config;
use crate::exit::{Exit, Failure};
use crate::holder::{self, Kind};
use crate::place::{DatabaseUrl, Place};
use loci_engine::seam::Seams;
use loci_storage::Storage;
use loci_storage_postgres as postgres;
use loci_storage_postgres::{Inspection, PostgresOptions, PostgresStorage};
use loci_storage_sqlite as sqlite;
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use std::fmt::Display;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// An open place.
pub(crate) enum Held {
    /// A directory, whose lock is ours.
    Directory {
        /// Which.
        path: PathBuf,
        /// What is in it.
        storage: Arc<SqliteStorage>,
    },
    /// A database.
    Database {
        /// What is in it.
        storage: Arc<PostgresStorage>,
        /// Where files that are being made lie.
        scratch: TempDir,
    },
}

/// Why a place is not open.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Another process has the directory, and will answer on the socket.
    Held,
    /// The database does not answer; it may later.
    Away(Failure),
    /// It cannot be used.
    Failed(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Refusal {
    /// The failure, for whoever does not wait and asks nobody else.
    pub(crate) fn failure(self, place: impl Display) -> Failure {
        match self {
            Self::Held => Failure::failed(format!("{place} is in use by another loci")),
            Self::Away(failure) | Self::Failed(failure) => failure,
        }
    }
}

impl Held {
    /// Opens a place, making what is missing.
    pub(crate) async fn open(place: &Place, kind: Kind) -> Result<Self, Refusal> {
        match place {
            Place::Directory(path) => directory(path, kind).await,
            Place::Database(url) => {
                let patience = config::database_timeout()?;
                match database(url, patience, kind == Kind::Replica).await {
                    // A command that only reads does not care, and one that writes is told.
                    Err(postgres::OpenError::Standby) if kind == Kind::Command => {
                        database(url, patience, true).await
                    }
                    opened => opened,
                }
                .map_err(|error| refused(url, &error))
            }
        }
    }

    /// What is kept there.
    pub(crate) fn storage(&self) -> Arc<dyn Storage> {
        match self {
            Self::Directory { storage, .. } => storage.clone(),
            Self::Database { storage, .. } => storage.clone(),
        }
    }

    /// Where backups are made before they are sent: inside the directory, so that a copy of the data
    /// is never less private than the data, and the next holder can clean up after a crash.
    pub(crate) fn scratch_dir(&self) -> PathBuf {
        match self {
            Self::Directory { path, .. } => path.join("scratch"),
            Self::Database { scratch, .. } => scratch.path().to_owned(),
        }
    }

    /// Gives it back. Whoever used the storage must have let go of it.
    pub(crate) async fn close(self) {
        let _ = fs::remove_dir_all(self.scratch_dir());
        let Self::Directory { path, storage } = self else {
            // Connections end with the last that uses them.
            return;
        };
        holder::remove(&path);
        let closed = tokio::task::spawn_blocking(move || match Arc::try_unwrap(storage) {
            Ok(storage) => storage.close(),
            // A request that outlived the drain still has it. The last one to go closes it, and if
            // the process ends first, the next start reads the log instead.
            Err(shared) => drop(shared),
        });
        if let Err(error) = closed.await {
            tracing::error!(%error, "closing the data directory failed");
        }
    }
}

/// Whoever may write in the directory could put another database in its place, so nobody but its user
/// may. Whoever may only look sees names and sizes: the files are private by themselves.
fn check_private(path: &Path, kind: Kind) -> Result<(), Failure> {
    // What is not there yet is made private; what is no directory is refused by whoever opens it.
    let Ok(found) = fs::metadata(path) else { return Ok(()) };
    let (shown, mode) = (path.display(), found.permissions().mode() & 0o777);
    if found.is_dir() && mode & 0o022 != 0 {
        return Err(Failure::failed(format!(
            "{shown} can be written by other users (mode {mode:o}): run chmod 700 {shown}, or name a \
             directory inside it, which is made private"
        )));
    }
    if found.is_dir() && mode & 0o055 != 0 && kind == Kind::Serve {
        tracing::warn!(directory = %shown, "other users can list the data directory: chmod 700 ends that");
    }
    Ok(())
}

async fn directory(path: &Path, kind: Kind) -> Result<Held, Refusal> {
    check_private(path, kind)?;
    let to_open = path.to_owned();
    let opened = tokio::task::spawn_blocking(move || {
        SqliteStorage::open(&to_open, SqliteOptions::default())
    });
    let storage = match opened.await {
        Ok(Ok(storage)) => Arc::new(storage),
        Ok(Err(sqlite::OpenError::Locked)) => return Err(Refusal::Held),
        Ok(Err(error)) => return Err(Refusal::Failed(unusable(path, &error))),
        Err(error) => return Err(Failure::failed(format!("opening failed: {error}")).into()),
    };
    holder::write(path, kind);
    let held = Held::Directory { path: path.to_owned(), storage };
    // Backups that a killed process was making.
    let _ = fs::remove_dir_all(held.scratch_dir());
    Ok(held)
}

fn unusable(path: &Path, error: &sqlite::OpenError) -> Failure {
    match error {
        sqlite::OpenError::NewerFormat { found, known } => newer(path.display(), *found, *known),
        other => Failure::failed(format!("{}: {other}", path.display())),
    }
}

async fn database(
    url: &DatabaseUrl,
    patience: Duration,
    is_replica: bool,
) -> Result<Held, postgres::OpenError> {
    // What tells this process from others that share the database.
    let mut own = [0; 16];
    Seams::real().fill(&mut own);
    let options = PostgresOptions { patience, is_replica, ..PostgresOptions::new(url.reveal()) };
    let storage = Arc::new(PostgresStorage::open(&options, u128::from_be_bytes(own)).await?);
    let scratch = tempfile::Builder::new().prefix("loci-").tempdir().map_err(|error| {
        postgres::OpenError::Io(format!("cannot make a temporary directory: {error}"))
    })?;
    Ok(Held::Database { storage, scratch })
}

/// Looks at a database without changing anything in it.
pub(crate) async fn look(url: &DatabaseUrl) -> Result<Inspection, Failure> {
    let looked = postgres::inspect(&PostgresOptions::new(url.reveal())).await;
    looked.map_err(|error| refused(url, &error).failure(url))
}

/// What an error of a database means for whoever wanted to use it.
fn refused(url: &DatabaseUrl, error: &postgres::OpenError) -> Refusal {
    let message = format!("{url}: {error}");
    match error {
        postgres::OpenError::Unreachable(_) => Refusal::Away(Failure::failed(message)),
        postgres::OpenError::Url(_) => Refusal::Failed(Failure::new(Exit::Usage, message)),
        postgres::OpenError::NewerFormat { found, known } => {
            Refusal::Failed(newer(url, *found, *known))
        }
        _ => Refusal::Failed(Failure::failed(message)),
    }
}

fn newer(place: impl Display, found: u32, known: u32) -> Failure {
    Failure::failed(format!(
        "{place} was written by a newer version of loci (format {found}; this version knows up to \
         {known}); nothing in it was touched"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_directory_that_others_may_write_in_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        for (mode, is_taken) in [
            (0o700, true),
            (0o750, true),
            (0o755, true),
            (0o770, false),
            (0o777, false),
            (0o722, false),
            (0o1777, false),
            (0o500, true),
        ] {
            fs::set_permissions(&data, fs::Permissions::from_mode(mode)).unwrap();
            for kind in [Kind::Serve, Kind::Command] {
                let checked = check_private(&data, kind);
                assert_eq!(checked.is_ok(), is_taken, "{mode:o}");
                let why = checked.err().map(|failure| failure.message).unwrap_or_default();
                assert!(is_taken || why.contains("chmod 700"), "{why}");
            }
        }
        assert!(check_private(&folder.path().join("new"), Kind::Serve).is_ok());
        let place = Place::Directory(data.clone());
        fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(Held::open(&place, Kind::Command).await, Err(Refusal::Failed(_))));
        assert_eq!(fs::read_dir(&data).unwrap().count(), 0, "nothing was made in it");
    }
}
