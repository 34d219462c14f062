//! A backup is a whole data directory's worth, taken while writes go on.

use super::{open, world};
use loci_storage::StorageError;
use loci_storage_contract::fixture::all_versions;
use std::fs;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_under_load_is_whole() {
    let (world, _dir) = world().await;
    let world = Arc::new(world);
    world.put("/first", "there before").await;
    let writer = {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            for n in 0..200 {
                world.put(&format!("/n/{n}"), "more").await;
            }
        })
    };
    let copy = tempfile::tempdir().unwrap();
    drop(world.storage.backup(&copy.path().join("loci.db")).await.unwrap());
    writer.await.unwrap();
    let storage = open(copy.path());
    assert_eq!(storage.check().await.unwrap().problems, [""; 0]);
    let pass = world.read_pass();
    let copied = storage.changes(&pass, 0, 1000).await.unwrap();
    assert!(!copied.is_empty());
    assert_eq!(copied, world.feed().await[..copied.len()]);
    assert!(!storage.versions(&pass, &all_versions()).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn an_existing_file_is_not_overwritten() {
    let (world, dir) = world().await;
    let taken = dir.path().join("taken");
    fs::write(&taken, "precious").unwrap();
    let refused = world.storage.backup(&taken).await;
    assert!(matches!(refused, Err(StorageError::Io(_))), "{refused:?}");
    assert_eq!(fs::read(&taken).unwrap(), b"precious");
}
