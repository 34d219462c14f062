//! Opening, refusing and reopening data directories.

use super::{open, options, world};
use loci_storage_contract::fixture::{World, all_versions, describe, of_kind, remove};
use loci_storage_sqlite::{OpenError, SqliteStorage};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Every file of a directory with its bytes; the lock is ours to make.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.file_name().unwrap() != "loci.lock")
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

fn refusal(dir: &Path) -> OpenError {
    match SqliteStorage::open(dir, options()) {
        Ok(_) => panic!("opened"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_newer_format_is_refused_untouched() {
    let (world, dir) = world().await;
    drop(world);
    let conn = rusqlite::Connection::open(dir.path().join("loci.db")).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    conn.close().unwrap();
    let before = contents(dir.path());
    let error = refusal(dir.path());
    assert!(matches!(error, OpenError::NewerFormat { found: 99, known: 9 }), "{error}");
    assert_eq!(contents(dir.path()), before);
}

#[test]
fn a_newer_format_that_is_only_in_the_log_is_refused_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let crashed = tempfile::tempdir().unwrap();
    SqliteStorage::open(dir.path(), options()).unwrap().close();
    let conn = rusqlite::Connection::open(dir.path().join("loci.db")).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    for (path, bytes) in contents(dir.path()) {
        if !path.to_str().unwrap().ends_with("-shm") {
            fs::write(crashed.path().join(path.file_name().unwrap()), bytes).unwrap();
        }
    }
    let read = |name: &str| fs::read(crashed.path().join(name)).unwrap();
    let before = (read("loci.db"), read("loci.db-wal"));
    assert!(!before.1.is_empty(), "the number is in the log");
    let error = refusal(crashed.path());
    assert!(matches!(error, OpenError::NewerFormat { found: 99, known: 9 }), "{error}");
    assert!((read("loci.db"), read("loci.db-wal")) == before);
}

#[test]
fn databases_of_others_are_refused_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("loci.db");
    let conn = rusqlite::Connection::open(&file).unwrap();
    conn.execute_batch("create table theirs (x)").unwrap();
    conn.close().unwrap();
    let before = contents(dir.path());
    assert!(matches!(refusal(dir.path()), OpenError::NotLoci));
    assert_eq!(contents(dir.path()), before);
    fs::write(
        &file,
        "no database at all, but long enough for a header of one hundred bytes. ".repeat(2),
    )
    .unwrap();
    assert!(matches!(refusal(dir.path()), OpenError::NotLoci));
    fs::write(&file, "short").unwrap();
    assert!(matches!(refusal(dir.path()), OpenError::NotLoci));
}

#[test]
fn a_directory_has_one_owner_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let first = SqliteStorage::open(dir.path(), options()).unwrap();
    assert!(matches!(refusal(dir.path()), OpenError::Locked));
    first.close();
    SqliteStorage::open(dir.path(), options()).unwrap();
}

#[test]
fn a_new_directory_is_only_ours_to_read() {
    let dir = tempfile::tempdir().unwrap();
    let new = dir.path().join("a/b");
    SqliteStorage::open(&new, options()).unwrap();
    assert_eq!(fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn reopening_keeps_everything() {
    let (world, dir) = world().await;
    let memory = world.put("/a", "one").await;
    world.put("/b", "two").await;
    world.edit(describe(memory.id, of_kind("fact"))).await.unwrap();
    world.edit(remove("/b")).await.unwrap();
    let (pass, admin) = (world.read_pass(), world.admin_pass());
    let versions = world.storage.versions(&pass, &all_versions()).await.unwrap().items;
    let feed = world.feed().await;
    drop(world);
    assert!(!dir.path().join("loci.db-wal").exists(), "a clean stop leaves no log");
    let storage = open(dir.path());
    let reread = storage.versions(&pass, &all_versions()).await.unwrap().items;
    assert_eq!(reread, versions);
    assert_eq!(storage.changes(&pass, 0, 100).await.unwrap(), feed);
    assert_eq!(storage.principals(&admin).await.unwrap().len(), 1);
    assert_eq!(storage.check().await.unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn what_is_only_in_the_log_survives() {
    let (world, dir) = world().await;
    world.put("/a", "one").await;
    // The files as a crash at this moment would leave them.
    let crashed = tempfile::tempdir().unwrap();
    for name in ["loci.db", "loci.db-wal"] {
        fs::copy(dir.path().join(name), crashed.path().join(name)).unwrap();
    }
    let storage = open(crashed.path());
    let feed = storage.changes(&world.read_pass(), 0, 100).await.unwrap();
    assert_eq!(feed, world.feed().await);
    assert_eq!(storage.check().await.unwrap().problems, [""; 0]);
    assert!(storage.ready().await.is_ok());
    let other = World::new(storage).await;
    other.put("/goes/on", "two").await;
}
