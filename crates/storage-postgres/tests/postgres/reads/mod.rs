//! Reads where this engine goes its own way: walks in batches, pages cut by bytes inside a statement,
//! and what is noticed of damage below.

mod damage;
mod walks;

use loci_model::StorePolicy;
use loci_storage_contract::fixture::World;
use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_test_postgres::{Build, Database};
use std::sync::Arc;
use std::time::Duration;

/// A server on a database.
async fn open(database: &Database) -> PostgresStorage {
    // Many tests share two cores: slow is not dead.
    let patience = Duration::from_secs(20);
    let options = PostgresOptions { patience, ..PostgresOptions::new(database.url()) };
    PostgresStorage::open(&options, 1).await.unwrap()
}

async fn world_with(policy: StorePolicy) -> (World, Database) {
    let database = Database::fresh(&Build::Floor.url().unwrap(), None).await.unwrap();
    let storage = Arc::new(open(&database).await);
    (World::with_policy(storage, policy).await, database)
}
