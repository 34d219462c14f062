//! Random histories on SQLite, beside the oracle; and what it answers to many at once.

use async_trait::async_trait;
use loci_storage::Storage;
use loci_storage_contract::Harness;
use loci_storage_contract::random::{Durable, agree, race};
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

struct Sqlite;

#[async_trait]
impl Harness for Sqlite {
    type Guard = TempDir;

    async fn fresh() -> (Arc<dyn Storage>, TempDir) {
        let dir = scratch_dir();
        (open(dir.path()), dir)
    }
}

#[async_trait]
impl Durable for Sqlite {
    async fn reopen(dir: &TempDir) -> Arc<dyn Storage> {
        open(dir.path())
    }
}

/// Opens a data directory with little of everything.
fn open(dir: &Path) -> Arc<dyn Storage> {
    let options = SqliteOptions { ballast_bytes: 0, reader_count: 1, ..Default::default() };
    Arc::new(SqliteStorage::open(dir, options).expect("a data directory opens"))
}

/// Memory-backed where the machine has such a place: thousands of synced commits are not what is
/// being tested here.
fn scratch_dir() -> TempDir {
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    dir.expect("a temporary directory")
}

#[test]
fn sqlite_agrees_with_the_oracle() {
    agree::<Sqlite>("sqlite_histories", file!());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_many_are_told_at_once_has_an_order() {
    for seed in race::seeds("sqlite_races") {
        let (storage, dir) = Sqlite::fresh().await;
        race::run(&[storage], seed).await;
        drop(dir);
    }
}
