//! The contract suite on SQLite. Each case gets a data directory of its own.

use async_trait::async_trait;
use loci_storage::Storage;
use loci_storage_contract::Harness;
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use std::sync::Arc;
use tempfile::TempDir;

struct Sqlite;

#[async_trait]
impl Harness for Sqlite {
    type Guard = TempDir;

    async fn fresh() -> (Arc<dyn Storage>, TempDir) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let options = SqliteOptions { ballast_bytes: 0, reader_count: 2, ..Default::default() };
        let storage = SqliteStorage::open(dir.path(), options).expect("a new data directory opens");
        (Arc::new(storage), dir)
    }
}

loci_storage_contract::contract_tests!(Sqlite);
