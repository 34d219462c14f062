//! What only the SQLite engine has to show: its files, its lock, its single writer. What every
//! engine must do is in the contract suite.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod backup;
mod contract;
mod damage;
mod group;
mod migrate;
mod open;
mod plans;
mod random;
mod scrub;
mod settle;

use loci_model::VersionId;
use loci_storage::{
    GenerationId, Mutation, NewReading, ReadingBatch, Receipt, Spent, Storage, VectorBatch,
    VectorSource,
};
use loci_storage_contract::fixture::World;
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

/// Opens a generation of vectors of two numbers.
async fn new_generation(world: &World) -> GenerationId {
    let (model, now) = ("m".to_owned(), world.now());
    let open = Mutation::OpenGeneration { model, dims: 2, is_fresh: true, now };
    match world.write(open).await.unwrap() {
        Receipt::Generation(opened) => opened.id,
        other => panic!("{other:?}"),
    }
}

/// Gives versions of the world's store the same vectors.
async fn put_vectors(
    world: &World,
    generation: GenerationId,
    versions: &[VersionId],
    bytes: &[u8],
) {
    let made = |version: &VersionId| (*version, VectorSource::Made(bytes.to_vec()));
    let vectors = versions.iter().map(made).collect();
    let workspace = world.workspace;
    let batch = VectorBatch {
        workspace,
        generation,
        store: world.store,
        through: u64::MAX,
        vectors,
        words: Vec::new(),
    };
    let put = world.write(Mutation::PutVectors(batch)).await.unwrap();
    assert_eq!(put, Receipt::VectorsPut(versions.len() as u64));
}

/// Keeps what a reader found in a version of the world's store.
async fn put_reading(world: &World, version: VersionId, claims: &str) {
    let batch = ReadingBatch {
        workspace: world.workspace,
        store: world.store,
        reader: "test:m".into(),
        through: 0,
        spent: Spent::default(),
        readings: vec![NewReading { version, claims: claims.into(), at: world.now() }],
    };
    let put = world.write(Mutation::PutReadings(batch)).await.unwrap();
    assert_eq!(put, Receipt::ReadingsPut(1));
}

async fn world() -> (World, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (World::new(open(dir.path())).await, dir)
}
