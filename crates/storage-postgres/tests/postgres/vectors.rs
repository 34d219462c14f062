//! Work that several servers do at once: who puts vectors and who writes do not wait for each other,
//! and still no vectors stay behind when their version, store or generation goes at the same moment;
//! and what one server is enough for is one server's.

use loci_model::{StorePolicy, VersionId};
use loci_storage::{Generation, Mutation, Receipt, Storage, VectorBatch, VectorSource};
use loci_storage_contract::fixture::{World, update};
use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_test_kit::count;
use loci_test_postgres::{Build, Database};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::NoTls;

fn rounds() -> usize {
    count("purge_rounds")
}

/// A world on one server, and another server beside it.
async fn two_servers() -> (Database, World, PostgresStorage) {
    let database = Database::fresh(&Build::Floor.url().unwrap(), None).await.unwrap();
    let first = Arc::new(server(&database, 1).await);
    let second = server(&database, 2).await;
    (database, World::new(first).await, second)
}

async fn server(database: &Database, own: u128) -> PostgresStorage {
    let patience = Duration::from_secs(20);
    let options = PostgresOptions { patience, ..PostgresOptions::new(database.url()) };
    PostgresStorage::open(&options, own).await.unwrap()
}

async fn generation(world: &World) -> Generation {
    let open =
        Mutation::OpenGeneration { model: "m".into(), dims: 2, is_fresh: true, now: world.now() };
    match world.write(open).await.unwrap() {
        Receipt::Generation(generation) => generation,
        other => panic!("{other:?}"),
    }
}

fn batch(world: &World, generation: &Generation, versions: &[VersionId]) -> Mutation {
    let made = |id: &VersionId| (*id, VectorSource::Made(vec![7; 4]));
    Mutation::PutVectors(VectorBatch {
        workspace: world.workspace,
        generation: generation.id,
        store: world.store,
        through: 1,
        vectors: versions.iter().map(made).collect(),
        words: Vec::new(),
    })
}

async fn rows(database: &Database, sql: &str) -> i64 {
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.query_one(sql, &[]).await.unwrap().get(0)
}

/// Transactions that PostgreSQL had to break off because they waited for each other. A session counts
/// them for itself and adds them up at the latest when it ends, so this ends all sessions first.
async fn deadlocks(database: &Database) -> i64 {
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let end =
        "select pid, pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()
        and datname = current_database() and backend_type = 'client backend'";
    let ended = client.query(end, &[]).await.unwrap();
    let ended: Vec<i32> = ended.iter().map(|row| row.get(0)).collect();
    let left = "select count(*) from pg_stat_activity where pid = any($1)";
    let began = Instant::now();
    while client.query_one(left, &[&ended]).await.unwrap().get::<_, i64>(0) > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "the sessions do not end");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let told = "select deadlocks from pg_stat_database where datname = current_database()";
    client.query_one(told, &[]).await.unwrap().get(0)
}

const ALL_VECTORS: &str =
    "select (select count(*) from loci.vector) + (select count(*) from loci.vector_mark)";

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_is_redacted_keeps_no_vectors() {
    let (_database, world, other) = two_servers().await;
    let generation = generation(&world).await;
    for round in 0..rounds() {
        let memory = world.put(&format!("/{round}"), "one").await;
        let old = memory.head;
        world.edit(update(memory.id, "two")).await.unwrap();
        let put = world.storage.write(batch(&world, &generation, &[old]), None);
        let redact = other.write(Mutation::Redact(world.manage_pass(), old), None);
        let (put, redacted) = tokio::join!(put, redact);
        put.unwrap();
        redacted.unwrap();
        let pass = world.search_pass();
        let left = other.vectors(&pass, world.store, generation.id, &[old]).await.unwrap();
        assert_eq!(left, [None], "round {round}");
    }
    world.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_purged_leaves_no_vectors() {
    let (database, mut world, other) = two_servers().await;
    let generation = generation(&world).await;
    for _ in 0..rounds() {
        world.store = world.new_store(StorePolicy::default()).await.id;
        let heads = [world.put("/a", "one").await.head, world.put("/b", "two").await.head];
        let gone = async {
            other.write(Mutation::RemoveStore(world.manage_pass()), None).await?;
            let pass = world.manage_pass();
            other.write(Mutation::PurgeStore { pass, limit: 100 }, None).await
        };
        let put = world.storage.write(batch(&world, &generation, &heads), None);
        let (put, gone) = tokio::join!(put, gone);
        put.unwrap();
        assert_eq!(gone.unwrap().receipt, Receipt::Purged { is_done: true });
        assert_eq!(rows(&database, ALL_VECTORS).await, 0);
    }
    assert_eq!(deadlocks(&database).await, 0, "whoever removes a store waits at most for its turn");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generation_that_is_dropped_leaves_no_vectors() {
    let (database, world, other) = two_servers().await;
    let head = world.put("/a", "one").await.head;
    for _ in 0..rounds() {
        let generation = generation(&world).await;
        let put = world.storage.write(batch(&world, &generation, &[head]), None);
        let drop = Mutation::DropGeneration { generation: generation.id, limit: 100 };
        let (put, dropped) = tokio::join!(put, other.write(drop, None));
        put.unwrap();
        assert_eq!(dropped.unwrap().receipt, Receipt::Purged { is_done: true });
        assert_eq!(rows(&database, ALL_VECTORS).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_open_one_generation_between_them() {
    let (_database, world, other) = two_servers().await;
    for round in 0..rounds() {
        let model = format!("m{round}");
        let open = || Mutation::OpenGeneration {
            model: model.clone(),
            dims: 2,
            is_fresh: false,
            now: world.now(),
        };
        let (first, second) =
            tokio::join!(world.storage.write(open(), None), other.write(open(), None));
        assert_eq!(first.unwrap().receipt, second.unwrap().receipt);
    }
    assert_eq!(other.generations().await.unwrap().len(), rounds());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_puts_vectors_does_not_wait_for_writers() {
    let (database, world, other) = two_servers().await;
    let generation = generation(&world).await;
    let head = world.put("/a", "one").await.head;
    // As long as this is open, somebody else is writing to the store.
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("begin; select from loci.store for no key update").await.unwrap();
    let put = other.write(batch(&world, &generation, &[head]), None).await.unwrap();
    assert_eq!(put.receipt, Receipt::VectorsPut(1));
    client.batch_execute("rollback").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_one_servers_until_its_time_is_over() {
    let (_database, world, other) = two_servers().await;
    assert!(world.storage.lease("sweep", 60).await.unwrap());
    assert!(!other.lease("sweep", 1).await.unwrap());
    assert!(other.lease("compact", 1).await.unwrap());
    assert!(world.storage.lease("sweep", 1).await.unwrap(), "its own is given another time");
    let began = Instant::now();
    while !other.lease("sweep", 60).await.unwrap() {
        assert!(began.elapsed() < Duration::from_secs(60), "the lease does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!world.storage.lease("sweep", 1).await.unwrap());
}
