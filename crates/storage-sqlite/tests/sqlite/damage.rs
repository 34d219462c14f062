//! Damage below us is noticed: wrong bytes are never served as right, and the check names them.

use super::{new_generation, put_reading, put_vectors, world};
use loci_model::{At, View};
use loci_storage::{AsOf, Mutation, StorageError};
use loci_storage_contract::fixture::{append, path};
use std::path::Path;

fn damage(dir: &Path, sql: &str) {
    let conn = rusqlite::Connection::open(dir.join("loci.db")).unwrap();
    conn.execute_batch(sql).unwrap();
    assert!(conn.total_changes() > 0, "{sql}: nothing is damaged");
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
        ("update memory set repeat_digest = digest where memory = 1", "among the repeats"),
        ("update vector set vector = vector + 900", "though it has no text"),
        ("update version set is_sealed = 1 where version = 1", "though it has no text"),
        ("update vector set passages = x'0000'", "do not fit their generation"),
        ("update vector set passages = x''", "do not fit their generation"),
        ("update generation set dims = 3", "do not fit their generation"),
        ("delete from generation", "do not fit their generation"),
        ("update vector_mark set through = 9", "reach where they cannot"),
        ("update vector_mark set generation = 9", "reach where they cannot"),
        ("update reading set version = version + 1", "it was read though it has no text"),
        ("update reading_mark set through = 9", "read further than it goes"),
        ("update event set detail = 'read' where seq = 2", "event 2 does not follow"),
        ("update event set detail = '' where seq = 2", "event 2 does not follow"),
        ("update event set at = at + 1 where seq = 1", "event 1 does not follow"),
        ("update event set principal_id = randomblob(16) where seq = 3", "event 3 does not"),
        ("update event set store_id = null where seq = 3", "event 3 does not follow"),
        ("delete from event where seq = 1", "event 2 does not follow"),
        ("delete from event where seq = 2", "event 3 does not follow"),
        ("update event set hash = zeroblob(32) where seq = 3", "event 3 does not follow"),
        ("update event set hash = x'00' where seq = 3", "cannot be read"),
        ("update event set actor_kind = 9 where seq = 3", "cannot be read"),
        ("delete from event where seq = 3", "the audit log ends at 2, expected 3"),
        ("delete from event where seq > 1", "the audit log ends at 1, expected 3"),
        ("delete from event", "the audit log ends at 0, expected 3"),
        ("delete from event; delete from event_end", "expected an end that was written down"),
        ("delete from event_end", "ends at 3, expected an end that was written down"),
        ("update event_end set hash = zeroblob(32)", "ends at 3, expected with another hash"),
        ("update event_end set hash = x'00'", "cannot be read"),
    ];
    for (sql, expected) in cases {
        let (world, dir) = world().await;
        let mut heads = Vec::new();
        for (at, text) in [("/a", "one"), ("/b", "two"), ("/c", "three")] {
            heads.push(world.put(at, text).await.head);
        }
        let generation = new_generation(&world).await;
        put_vectors(&world, generation, &heads[..1], &[1; 4]).await;
        put_reading(&world, heads[0], "[]").await;
        for _ in 0..3 {
            let happening = world.happening(loci_model::event::kind::SEARCHED);
            world.write(Mutation::Record(happening)).await.unwrap();
        }
        assert_eq!(world.storage.check().await.unwrap().problems, [""; 0]);
        damage(dir.path(), sql);
        let problems = world.storage.check().await.unwrap().problems;
        let is_named = problems.iter().any(|problem| problem.contains(expected));
        assert!(is_named, "{sql}: {problems:?}");
    }
}

/// Whoever cuts off what they did must not have it forgotten with the next event.
#[tokio::test]
async fn a_log_that_was_cut_off_does_not_heal() {
    for sql in ["delete from event where seq > 1", "delete from event; delete from event_end"] {
        let (world, dir) = world().await;
        let record = async || {
            let happening = world.happening(loci_model::event::kind::SEARCHED);
            world.write(Mutation::Record(happening)).await.unwrap()
        };
        for _ in 0..3 {
            record().await;
        }
        damage(dir.path(), sql);
        for _ in 0..3 {
            record().await;
        }
        let problems = world.storage.check().await.unwrap().problems;
        assert!(problems[0].contains("does not follow the one before"), "{sql}: {problems:?}");
    }
}

/// One damaged memory must not keep all others from being found.
#[tokio::test]
async fn indexes_are_made_of_what_can_be_read() {
    let (world, dir) = world().await;
    let damaged = world.put("/a", "text").await;
    let whole = world.put("/b", "whole").await;
    damage(dir.path(), "update payload set content = x'ff00ff00' where version = 1");
    let (pass, store) = (world.search_pass(), world.store);
    let texts = world.texts_for(&pass).await;
    assert_eq!(texts.iter().map(|memory| memory.id).collect::<Vec<_>>(), [whole.id]);
    let changed = world.storage.changed_texts(&pass, store, 0, 10).await.unwrap();
    assert_eq!(changed.memories[0], (damaged.id, None));
    let past = world.storage.texts_at(&world.read_pass(), AsOf::Seq(2), 0, 10).await.unwrap();
    assert_eq!(past.memories.len(), 1);
    let ids = [(store, damaged.id)];
    let found = world.storage.found(&pass, &ids, View::Full).await;
    assert!(matches!(found, Err(StorageError::Corrupt(_))), "{found:?}");
    damage(dir.path(), "update payload set content = cast('tixt' as blob) where version = 1");
    let found = world.storage.found(&pass, &ids, View::Full).await;
    assert!(matches!(found, Err(StorageError::Corrupt(_))), "{found:?}");
    let past = world.storage.texts_at(&world.read_pass(), AsOf::Seq(2), 0, 10).await.unwrap();
    assert_eq!(past.memories.len(), 1, "the past is shown as it comes, so it is checked");
}

#[tokio::test]
async fn the_check_counts_what_it_saw() {
    let (world, _dir) = world().await;
    world.put("/a", "one").await;
    let head = world.put("/a", "two").await.head;
    let generation = new_generation(&world).await;
    put_vectors(&world, generation, &[head], &[1; 8]).await;
    let report = world.storage.check().await.unwrap();
    let counts = (report.stores, report.memories, report.versions, report.changes, report.vectors);
    assert_eq!(counts, (1, 1, 2, 2, 1));
}

#[tokio::test]
async fn damage_of_what_versions_share_is_noticed() {
    let cases = [
        ("delete from payload where version = 2", "what its content goes on from is missing"),
        ("update payload set base = 1 where version = 3", "does not match its digest"),
        ("update payload set base = 5 where version = 3", "not of its memory"),
        ("update payload set base = 4 where version = 3", "not of its memory"),
        ("update payload set base = 3 where version = 3", "not of its memory"),
        ("update payload set content = x'78' where version = 2", "does not match its digest"),
        ("update version set is_sealed = 1 where version = 2", "not of its memory"),
        ("update memory set depth = 2 where memory = 1", "how its content is kept"),
    ];
    for (sql, expected) in cases {
        let (world, dir) = world().await;
        world.put("/log", &"long ".repeat(300)).await;
        for n in 0..3 {
            world.edit(append("/log", &format!("line {n}"))).await.unwrap();
        }
        world.put("/other", &"long ".repeat(300)).await;
        assert_eq!(world.storage.check().await.unwrap().problems, [""; 0]);
        damage(dir.path(), sql);
        let problems = world.storage.check().await.unwrap().problems;
        let is_named = problems.iter().any(|problem| problem.contains(expected));
        assert!(is_named, "{sql}: {problems:?}");
        if sql.starts_with("update payload") || sql.starts_with("delete") {
            let at = At::Path(None, path("/log"));
            let read = world.storage.get(&world.read_pass(), &at, View::Full).await;
            assert!(matches!(read, Err(StorageError::Corrupt(_))), "{sql}: {read:?}");
            assert_eq!(
                world.texts_for(&world.search_pass()).await.last().unwrap().path,
                path("/other")
            );
        }
    }
}

/// The hash that is put aside is a help, not a truth: a damaged one is made anew.
#[tokio::test]
async fn a_damaged_hash_spoils_nothing() {
    let (world, dir) = world().await;
    let begin = "long ".repeat(300);
    world.put("/log", &begin).await;
    world.edit(append("/log", "one")).await.unwrap();
    for sql in [
        "update memory set hash = x'00'",
        "update memory set hash = randomblob(104)",
        "update memory set hash = null",
    ] {
        damage(dir.path(), sql);
        world.edit(append("/log", "more")).await.unwrap();
    }
    let text = format!("{begin}\none\nmore\nmore\nmore");
    assert_eq!(world.text_at("/log").await, Some(text));
    world.assert_sound().await;
}
