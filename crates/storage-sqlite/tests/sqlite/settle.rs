//! A scrub that is not finished when its request ends: by a reader, by a copy that is still being sent,
//! by a process that was killed. Whoever asks again is answered when it is.

use super::{open, options, world};
use loci_model::{MemoryId, VersionId};
use loci_storage::{Mutation, Receipt, Storage, StorageError};
use loci_storage_contract::fixture::{World, idempotency, next_bits};
use loci_storage_sqlite::SqliteStorage;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const CANARY: &str = "zqcanaryxw";

fn sightings(dir: &Path) -> usize {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let count = |path| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(CANARY.len()).filter(|part| *part == CANARY.as_bytes()).count()
    };
    files.map(count).sum()
}

fn erasure(world: &World, memory: MemoryId) -> Mutation {
    let version = VersionId::from_u128(next_bits());
    Mutation::Erase { pass: world.manage_pass(), memory, version }
}

/// Another program's connection that reads what is there now, until told to stop.
fn reader(dir: &Path) -> rusqlite::Connection {
    let reader = rusqlite::Connection::open(dir.join("loci.db")).unwrap();
    reader.execute_batch("begin; select count(*) from memory").unwrap();
    reader
}

fn is_pending<T>(answer: &loci_storage::Result<T>) -> bool {
    matches!(answer, Err(StorageError::ScrubPending))
}

#[tokio::test]
async fn nothing_is_settled_while_a_reader_holds_what_was_erased() {
    let (world, dir) = world().await;
    let memory = world.put("/a", CANARY).await.id;
    world.storage.settle_scrubs().await.unwrap();
    let reader = reader(dir.path());
    let key = || idempotency(world.workspace, 1, "k", 1, world.now());
    let first = world.storage.write(erasure(&world, memory), Some(key())).await;
    assert!(is_pending(&first), "{first:?}");
    let receipt = Receipt::Erased { memory, versions: 2 };
    assert_eq!(world.storage.recall(&key()).await.unwrap(), Some(receipt), "it is durable");
    assert!(is_pending(&world.storage.settle_scrubs().await));
    assert!(sightings(dir.path()) > 0, "or there was nothing to wait for");
    reader.execute_batch("rollback").unwrap();
    world.storage.settle_scrubs().await.unwrap();
    drop(reader);
    assert_eq!(sightings(dir.path()), 0);
}

/// What a killed process leaves: its files as they were.
fn killed(dir: &Path) -> tempfile::TempDir {
    let left = tempfile::tempdir().unwrap();
    for name in ["loci.db", "loci.db-wal"] {
        fs::copy(dir.join(name), left.path().join(name)).unwrap();
    }
    left
}

#[tokio::test]
async fn what_was_erased_before_a_kill_is_gone_when_the_directory_is_open_again() {
    let (world, dir) = world().await;
    let memory = world.put("/a", CANARY).await.id;
    world.put("/b", "stays").await;
    let reader = reader(dir.path());
    assert!(is_pending(&world.write(erasure(&world, memory)).await));
    let left = killed(dir.path());
    drop(reader);
    assert!(sightings(left.path()) > 0, "it was in the log");
    let storage = open(left.path());
    assert_eq!(sightings(left.path()), 0);
    assert_eq!(fs::metadata(left.path().join("loci.db-wal")).unwrap().len(), 0);
    storage.settle_scrubs().await.unwrap();
    let stats = storage.stats(&world.read_pass()).await.unwrap();
    assert_eq!((stats.memories, stats.versions), (1, 3), "nothing else is gone");
}

#[tokio::test]
async fn an_erasure_waits_for_copies_that_were_begun_before_it() {
    let (world, dir) = world().await;
    let (first, second) = (world.put("/a", CANARY).await.id, world.put("/b", CANARY).await.id);
    let copies = tempfile::tempdir().unwrap();
    let copy = |name: &str| copies.path().join(name);
    let early = world.storage.backup(&copy("early")).await.unwrap();
    let refused = world.write(erasure(&world, first)).await;
    assert!(is_pending(&refused), "{refused:?}");
    // Made of what is left, it delays nobody.
    let late = world.storage.backup(&copy("late")).await.unwrap();
    drop(early);
    world.storage.settle_scrubs().await.unwrap();
    fs::remove_file(copy("early")).unwrap();
    drop(late);
    world.write(erasure(&world, second)).await.unwrap();
    assert_eq!(sightings(dir.path()), 0);
}

/// A process was killed right after it cut the log, before the cut was synced: nothing is owed then,
/// and the log is synced all the same.
#[test]
fn a_directory_with_an_empty_log_opens() {
    let dir = tempfile::tempdir().unwrap();
    SqliteStorage::open(dir.path(), options()).unwrap().close();
    fs::write(dir.path().join("loci.db-wal"), "").unwrap();
    let storage: Arc<dyn Storage> = open(dir.path());
    drop(storage);
}
