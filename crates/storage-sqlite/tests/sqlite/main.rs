//! What only the SQLite engine has to show: its files, its lock, its single writer. What every
//! engine must do is in the contract suite.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod backup;
mod damage;
mod group;
mod open;
mod plans;
mod scrub;

use loci_storage::Storage;
use loci_storage::contract::fixture::World;
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

fn options() -> SqliteOptions {
    SqliteOptions { ballast_bytes: 64 * 1024, reader_count: 2, ..SqliteOptions::default() }
}

fn open(dir: &Path) -> Arc<dyn Storage> {
    Arc::new(SqliteStorage::open(dir, options()).unwrap())
}

async fn world() -> (World, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (World::new(open(dir.path())).await, dir)
}
