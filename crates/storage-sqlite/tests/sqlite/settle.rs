//! A scrub that is not finished when its request ends: by a reader, by a copy that is still being sent,
//! by a process that was killed. Whoever asks again is answered when it is.

use super::{open, options, world};
use loci_model::{MemoryId, StoreId, VersionId};
use loci_storage::{Mutation, Receipt, Storage, StorageError};
use loci_storage_contract::fixture::{World, idempotency, next_bits};
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

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

/// A directory whose erasures wait for `scrub_wait`.
async fn patient(scrub_wait: Duration) -> (Arc<World>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let options = SqliteOptions { scrub_wait, ..options() };
    let storage = Arc::new(SqliteStorage::open(dir.path(), options).unwrap());
    (Arc::new(World::new(storage).await), dir)
}

/// Returns when a condition holds, which it has a minute for.
async fn eventually(what: &str, holds: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < Duration::from_secs(60), "{what} never happens");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A backup may take hours to send. Nobody but those who erase has to wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn writes_go_on_while_erasures_wait_for_a_copy() {
    // Longer than the test: a create that waited for an erasure would never be answered.
    let (world, dir) = patient(Duration::from_secs(3600)).await;
    let copies = tempfile::tempdir().unwrap();
    let mut doomed = Vec::new();
    for n in 0..20 {
        doomed.push(world.put(&format!("/{n}"), CANARY).await.id);
    }
    let copy = world.storage.backup(&copies.path().join("copy")).await.unwrap();
    let mut erasures = Vec::new();
    for memory in &doomed {
        let (world, memory) = (Arc::clone(&world), *memory);
        erasures.push(tokio::spawn(async move { world.write(erasure(&world, memory)).await }));
    }
    let settling = Arc::clone(&world);
    let settled = tokio::spawn(async move { settling.storage.settle_scrubs().await });
    let wrote = async {
        eventually("erasing", async || world.paths().await.is_empty()).await;
        for n in 0..10 {
            world.put(&format!("/new/{n}"), "stays").await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wrote).await.expect("writes go on");
    assert!(erasures.iter().all(|erasure| !erasure.is_finished()), "the copy is still there");
    assert!(!settled.is_finished());
    drop(copy);
    for erasure in erasures {
        erasure.await.unwrap().unwrap();
    }
    settled.await.unwrap().unwrap();
    assert_eq!(sightings(dir.path()), 0);
    assert_eq!(world.paths().await.len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_go_on_while_an_erasure_waits_for_a_reader() {
    let (world, dir) = patient(Duration::from_secs(3600)).await;
    let memory = world.put("/a", CANARY).await.id;
    let reader = reader(dir.path());
    let erasing = Arc::clone(&world);
    let erased = tokio::spawn(async move { erasing.write(erasure(&erasing, memory)).await });
    let wrote = async {
        eventually("erasing", async || world.paths().await.is_empty()).await;
        for n in 0..10 {
            world.put(&format!("/new/{n}"), "stays").await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wrote).await.expect("writes go on");
    assert!(!erased.is_finished(), "the reader is still there");
    drop(reader);
    erased.await.unwrap().unwrap();
    assert_eq!(sightings(dir.path()), 0);
}

#[tokio::test]
async fn a_purged_store_is_known_until_its_scrub_is_finished() {
    let (world, _dir) = patient(Duration::from_millis(20)).await;
    world.put("/a", CANARY).await;
    let copies = tempfile::tempdir().unwrap();
    world.write(Mutation::RemoveStore(world.manage_pass())).await.unwrap();
    let copy = world.storage.backup(&copies.path().join("copy")).await.unwrap();
    let purge = Mutation::PurgeStore { pass: world.manage_pass(), limit: 10 };
    assert!(is_pending(&world.write(purge).await));
    assert!(world.storage.unpurged(10).await.unwrap().is_empty(), "its row is gone");
    let is_unpurged = async || {
        let found = world.storage.is_unpurged(world.workspace, world.store).await;
        found.unwrap()
    };
    assert!(is_unpurged().await, "the copy has it");
    let other = StoreId::from_u128(next_bits());
    assert!(!world.storage.is_unpurged(world.workspace, other).await.unwrap());
    drop(copy);
    eventually("the scrub", async || !is_unpurged().await).await;
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
