//! Damage below us is noticed: wrong bytes are never served as right, and the check names them.

use super::{open, world_with};
use loci_model::{At, Grant, GrantId, Grantee, Level, StoreId, StorePolicy, VersionId, View};
use loci_storage::{
    AsOf, GenerationId, Mutation, NewReading, ReadingBatch, Receipt, Spent, Storage, StorageError,
    VectorBatch, VectorSource,
};
use loci_storage_contract::fixture::{World, append, path};
use loci_storage_memory::MemStorage;
use loci_test_postgres::{Build, Database};
use std::sync::Arc;
use tokio_postgres::NoTls;

/// Changes one row behind the engine's back.
async fn damage(database: &Database, sql: &str) {
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute("set search_path to loci").await.unwrap();
    assert_eq!(client.execute(sql, &[]).await.unwrap(), 1, "{sql}");
    drop(client);
    connection.await.unwrap().unwrap();
}

async fn new_generation(world: &World) -> GenerationId {
    let (model, now) = ("m".to_owned(), world.now());
    let open = Mutation::OpenGeneration { model, dims: 2, is_fresh: true, now };
    match world.write(open).await.unwrap() {
        Receipt::Generation(opened) => opened.id,
        other => panic!("{other:?}"),
    }
}

async fn put_vectors(world: &World, generation: GenerationId, version: VersionId) {
    let vectors = vec![(version, VectorSource::Made(vec![1; 4]))];
    let (workspace, store) = (world.workspace, world.store);
    let batch =
        VectorBatch { workspace, generation, store, through: u64::MAX, vectors, words: Vec::new() };
    let put = world.write(Mutation::PutVectors(batch)).await.unwrap();
    assert_eq!(put, Receipt::VectorsPut(1));
}

async fn put_reading(world: &World, version: VersionId) {
    let reading = NewReading { version, claims: "[]".into(), at: world.now() };
    let batch = ReadingBatch {
        workspace: world.workspace,
        store: world.store,
        reader: "test:m".into(),
        through: 1,
        spent: Spent::default(),
        readings: vec![reading],
    };
    world.write(Mutation::PutReadings(batch)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flipped_byte_is_noticed() {
    let (world, database) = world_with(StorePolicy::default()).await;
    let memory = world.put("/a", "the truth").await;
    world.put("/b", "untouched").await;
    damage(&database, "update payload set content = 'the trvth' where seq = 1").await;
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

#[tokio::test(flavor = "multi_thread")]
async fn the_check_finds_each_kind_of_damage() {
    let cases = [
        ("delete from payload where seq = 2", "digest without content"),
        ("update payload set seq = 9 where seq = 2", "content without a digest"),
        ("update version set revision = 3 where seq = 2", "head is not its newest"),
        ("update version set revision = 3 where seq = 2", "revisions have gaps"),
        ("update memory set head_id = memory_id where head = 2", "head is not its newest"),
        ("update memory set path = '/a/b' where head = 2", "head is not its newest"),
        ("update memory set path = '/a/b' where head = 2", "lies below another"),
        ("delete from memory where head = 2", "its memory is missing"),
        ("delete from version where seq = 2", "the feed goes from 1 to 3"),
        ("update version set created_at = 0 where seq = 2", "is not later"),
        ("update store set memory_count = 9", "counters do not match"),
        ("update store set seq = 9", "the feed ends at 3"),
        ("update memory set repeat_digest = digest where head = 1", "among the repeats"),
        ("update vector set seq = seq + 900", "though it has no text"),
        ("update version set is_sealed = true where seq = 1", "though it has no text"),
        ("update vector set passages = '\\x0000'", "do not fit their generation"),
        ("update vector set passages = ''", "do not fit their generation"),
        ("update generation set dims = 3", "do not fit their generation"),
        ("delete from generation", "do not fit their generation"),
        ("update vector_mark set through = 9", "reach where they cannot"),
        ("update vector_mark set generation = 9", "reach where they cannot"),
        ("update reading set seq = seq + 900", "it was read though it has no text"),
        ("update reading_mark set through = 9", "read further than it goes"),
        (
            "insert into redaction select store_id, 4, workspace_id, 1, 4, null, last_at + 1, '' \
            from store",
            "a redaction that did not happen",
        ),
    ];
    let (world, whole) = world_with(StorePolicy::default()).await;
    let mut heads = Vec::new();
    for (at, text) in [("/a", "one"), ("/b", "two"), ("/c", "three")] {
        heads.push(world.put(at, text).await.head);
    }
    let generation = new_generation(&world).await;
    put_vectors(&world, generation, heads[0]).await;
    put_reading(&world, heads[0]).await;
    assert_eq!(world.storage.check().await.unwrap().problems, [""; 0]);
    drop(world);
    for (sql, expected) in cases {
        let server = Build::Floor.url().unwrap();
        let damaged = Database::fresh(&server, Some(whole.name())).await.unwrap();
        damage(&damaged, sql).await;
        let problems = open(&damaged).await.check().await.unwrap().problems;
        let is_named = problems.iter().any(|problem| problem.contains(expected));
        assert!(is_named, "{sql}: {problems:?}");
    }
}

/// What lies below a path need not come next to it in the order of paths, and what lies below it in
/// another partition is not in its way.
#[tokio::test(flavor = "multi_thread")]
async fn the_check_finds_what_lies_below_a_memory_wherever_it_comes() {
    let (world, database) = world_with(StorePolicy::default()).await;
    for at in ["/a", "/a b", "/a-b", "/a.c", "/a0", "/b", "/ab"] {
        world.put(at, "text").await;
    }
    let below = world.put("/x", "text").await.id;
    let beside = world.put("/y", "text").await.id;
    let paths = [
        (below, "path = '/a/b/c'"),
        (beside, "path = '/a/b/c/d', partition = md5('somebody')::uuid"),
    ];
    for (memory, set) in paths {
        let id = uuid::Uuid::from_bytes(memory.to_bytes());
        damage(&database, &format!("update memory set {set} where memory_id = '{id}'")).await;
    }
    let mut problems = world.storage.check().await.unwrap().problems;
    problems.retain(|problem| problem.contains("lies below another"));
    assert_eq!(problems, [format!("{below}: it lies below another live memory")]);
}

/// Rows of a store that is missing or somebody else's are seen by no tenant; the check sees them.
#[tokio::test(flavor = "multi_thread")]
async fn the_check_finds_rows_that_no_tenant_sees() {
    let (world, whole) = world_with(StorePolicy::default()).await;
    let old = world.put("/a", "one").await.head;
    let head = world.put("/a", "two").await.head;
    world.write(Mutation::Redact(world.manage_pass(), old)).await.unwrap();
    let generation = new_generation(&world).await;
    put_vectors(&world, generation, head).await;
    let grant = Grant {
        id: GrantId::from_u128(77),
        store: world.store,
        grantee: Grantee::Everyone,
        level: Level::Read,
        given_by: world.owner,
        expires_at: None,
        created_at: world.now(),
    };
    world.write(Mutation::Share(world.share_pass(), grant)).await.unwrap();
    assert_eq!(world.storage.check().await.unwrap().problems, [""; 0]);
    let store = world.store;
    drop(world);
    let kinds = ["memory", "version", "payload", "redaction", "grant_", "vector", "vector_mark"];
    let nowhere = "00000000-0000-0000-0000-0000000000ff";
    for column in ["store_id", "workspace_id"] {
        let server = Build::Floor.url().unwrap();
        let damaged = Database::fresh(&server, Some(whole.name())).await.unwrap();
        for kind in kinds {
            // One row of each: there are two versions.
            let only = if kind == "version" { " where seq = 2" } else { "" };
            damage(&damaged, &format!("update {kind} set {column} = '{nowhere}'{only}")).await;
        }
        let problems = open(&damaged).await.check().await.unwrap().problems;
        let named = match column {
            "store_id" => StoreId::from_u128(0xff),
            _ => store,
        };
        for kind in kinds {
            let expected = format!("{named}: rows of {kind} are in no store of their workspace");
            assert!(problems.contains(&expected), "{expected}: {problems:?}");
        }
    }
}

/// One damaged memory must not keep all others from being found.
#[tokio::test(flavor = "multi_thread")]
async fn indexes_are_made_of_what_can_be_read() {
    let (world, database) = world_with(StorePolicy::default()).await;
    let damaged = world.put("/a", "text").await;
    let whole = world.put("/b", "whole").await;
    damage(&database, "update payload set content = '\\xff00ff00' where seq = 1").await;
    let (pass, store) = (world.search_pass(), world.store);
    let texts = world.texts_for(&pass).await;
    assert_eq!(texts.iter().map(|memory| memory.id).collect::<Vec<_>>(), [whole.id]);
    let changed = world.storage.changed_texts(&pass, store, 0, 10).await.unwrap();
    assert_eq!(changed.memories[0], (damaged.id, None));
    for limit in [1, 10] {
        let page = world.storage.texts(&pass, store, 0, limit).await.unwrap();
        assert_eq!((page.memories.len(), page.next), (1, None), "pages of {limit}");
        let past = world.storage.texts_at(&world.read_pass(), AsOf::Seq(2), 0, limit).await;
        let past = past.unwrap();
        assert_eq!((past.memories.len(), past.next), (1, None), "pages of {limit}");
    }
    let ids = [(store, damaged.id)];
    let found = world.storage.found(&pass, &ids, View::Full).await;
    assert!(matches!(found, Err(StorageError::Corrupt(_))), "{found:?}");
    damage(&database, "update payload set content = 'tixt' where seq = 1").await;
    let found = world.storage.found(&pass, &ids, View::Full).await;
    assert!(matches!(found, Err(StorageError::Corrupt(_))), "{found:?}");
    let past = world.storage.texts_at(&world.read_pass(), AsOf::Seq(2), 0, 10).await.unwrap();
    assert_eq!(past.memories.len(), 1, "the past is shown as it comes, so it is checked");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_counts_what_it_saw() {
    let (world, _database) = world_with(StorePolicy::default()).await;
    world.put("/a", "one").await;
    let old = world.put("/a", "two").await.head;
    let head = world.put("/a", "three").await.head;
    world.write(Mutation::Redact(world.manage_pass(), old)).await.unwrap();
    let generation = new_generation(&world).await;
    put_vectors(&world, generation, head).await;
    let report = world.storage.check().await.unwrap();
    assert_eq!(report.problems, [""; 0]);
    let counts = (report.stores, report.memories, report.versions, report.changes, report.vectors);
    assert_eq!(counts, (1, 1, 3, 4, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_of_what_versions_share_is_noticed() {
    let cases = [
        ("delete from payload where seq = 2", "what its content goes on from is missing"),
        ("update payload set base = 1 where seq = 3", "does not match its digest"),
        ("update payload set base = 5 where seq = 3", "not of its memory"),
        ("update payload set base = 4 where seq = 3", "not of its memory"),
        ("update payload set base = 3 where seq = 3", "not of its memory"),
        ("update payload set content = 'x' where seq = 2", "does not match its digest"),
        ("update version set is_sealed = true where seq = 2", "not of its memory"),
        ("update memory set depth = 2 where path = '/log'", "how its content is kept"),
    ];
    let (mut world, whole) = world_with(StorePolicy::default()).await;
    world.put("/log", &"long ".repeat(300)).await;
    for n in 0..3 {
        world.edit(append("/log", &format!("line {n}"))).await.unwrap();
    }
    world.put("/other", &"long ".repeat(300)).await;
    assert_eq!(world.storage.check().await.unwrap().problems, [""; 0]);
    world.storage = Arc::new(MemStorage::new());
    for (sql, expected) in cases {
        let server = Build::Floor.url().unwrap();
        let damaged = Database::fresh(&server, Some(whole.name())).await.unwrap();
        damage(&damaged, sql).await;
        world.storage = Arc::new(open(&damaged).await);
        let problems = world.storage.check().await.unwrap().problems;
        let is_named = problems.iter().any(|problem| problem.contains(expected));
        assert!(is_named, "{sql}: {problems:?}");
        if sql.starts_with("update payload") || sql.starts_with("delete") {
            let at = At::Path(None, path("/log"));
            let read = world.storage.get(&world.read_pass(), &at, View::Full).await;
            assert!(matches!(read, Err(StorageError::Corrupt(_))), "{sql}: {read:?}");
            let texts = world.texts_for(&world.search_pass()).await;
            assert_eq!(texts.last().unwrap().path, path("/other"));
        }
        world.storage = Arc::new(MemStorage::new());
    }
}

/// The hash that is put aside is a help, not a truth: a damaged one is made anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_hash_spoils_nothing() {
    let (world, database) = world_with(StorePolicy::default()).await;
    let begin = "long ".repeat(300);
    world.put("/log", &begin).await;
    world.edit(append("/log", "one")).await.unwrap();
    for sql in [
        "update memory set hash = ''",
        "update memory set hash = decode(repeat('5a', 104), 'hex')",
        "update memory set hash = null",
    ] {
        damage(&database, sql).await;
        world.edit(append("/log", "more")).await.unwrap();
    }
    let text = format!("{begin}\none\nmore\nmore\nmore");
    assert_eq!(world.text_at("/log").await, Some(text));
    world.assert_sound().await;
}
