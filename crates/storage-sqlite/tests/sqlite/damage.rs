//! Damage below us is noticed: wrong bytes are never served as right, and the check names them.

use super::world;
use loci_model::{At, View};
use loci_storage::StorageError;
use loci_storage::contract::fixture::path;
use std::path::Path;

fn damage(dir: &Path, sql: &str) {
    let conn = rusqlite::Connection::open(dir.join("loci.db")).unwrap();
    assert_eq!(conn.execute(sql, []).unwrap(), 1);
}

#[tokio::test]
async fn a_flipped_byte_is_noticed() {
    let (world, dir) = world().await;
    let memory = world.put("/a", "the truth").await;
    world.put("/b", "untouched").await;
    damage(dir.path(), "update payload set content = cast('the trvth' as blob) where version = 1");
    let at = At::Path(None, path("/a"));
    let read = world.storage.get(&world.read_pass(), &at, View::Full).await;
    assert!(matches!(read, Err(StorageError::Corrupt(_))), "{read:?}");
    let read = world.storage.version(&world.read_pass(), memory.head, View::Full).await;
    assert!(matches!(read, Err(StorageError::Corrupt(_))), "{read:?}");
    let basic = world.storage.get(&world.read_pass(), &at, View::Basic).await.unwrap();
    assert_eq!(basic.unwrap().digest, memory.digest);
    let problems = world.storage.check().await.unwrap().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains(&memory.head.to_string()));
    assert_eq!(world.text_at("/b").await.unwrap(), "untouched");
}

#[tokio::test]
async fn the_check_finds_each_kind_of_damage() {
    let cases = [
        ("delete from payload where version = 2", "digest without content"),
        ("update version set revision = 3 where version = 2", "head is not its newest"),
        ("update memory set path = '/a/b' where memory = 2", "head is not its newest"),
        ("update memory set path = '/a/b' where memory = 2", "lies below another"),
        ("delete from change where seq = 2", "the feed goes from 1 to 3"),
        ("update change set at = 0 where seq = 2", "is not later"),
        ("update store set memory_count = 9", "counters do not match"),
        ("update store set seq = 9", "the feed ends at 3"),
    ];
    for (sql, expected) in cases {
        let (world, dir) = world().await;
        for (at, text) in [("/a", "one"), ("/b", "two"), ("/c", "three")] {
            world.put(at, text).await;
        }
        assert_eq!(world.storage.check().await.unwrap().problems, [""; 0]);
        damage(dir.path(), sql);
        let problems = world.storage.check().await.unwrap().problems;
        let is_named = problems.iter().any(|problem| problem.contains(expected));
        assert!(is_named, "{sql}: {problems:?}");
    }
}

#[tokio::test]
async fn the_check_counts_what_it_saw() {
    let (world, _dir) = world().await;
    world.put("/a", "one").await;
    world.put("/a", "two").await;
    let report = world.storage.check().await.unwrap();
    let counts = (report.stores, report.memories, report.versions, report.changes, report.vectors);
    assert_eq!(counts, (1, 1, 2, 2, 0));
}
