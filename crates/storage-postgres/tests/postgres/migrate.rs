//! A database of an older format, with something of everything in it, is brought forward as it is:
//! nothing is lost, what is new is at its default and works, and what a server of format 3 asks about
//! keys is still there.

use crate::database::Scratch;
use loci_model::{
    ApiKey, Audience, Grant, GrantId, Grantee, KeyId, KeyScope, Level, MemorySwitches, VersionId,
    event,
};
use loci_storage::{Mutation, NewReading, ReadingBatch, Spent, Storage};
use loci_storage_contract::caps;
use loci_storage_contract::fixture::{World, append, next_bits, pin};
use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_test_postgres::{Build, Database};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::{Client, NoTls};

/// The steps up to format 8, as they were released.
const STEPS: [&str; 8] = [
    include_str!("../../migrations/0001_init.sql"),
    include_str!("../../migrations/0002_access.sql"),
    include_str!("../../migrations/0003_search.sql"),
    include_str!("../../migrations/0004_sharing.sql"),
    include_str!("../../migrations/0005_tails.sql"),
    include_str!("../../migrations/0006_compaction.sql"),
    include_str!("../../migrations/0007_readings.sql"),
    include_str!("../../migrations/0008_caps.sql"),
];
/// What a server of format 3 asks about a key.
const OLD_KEY: &str = "select key_id, workspace_id, principal_id, name, hint, secret_hash, power, \
    stores, session_id, audience, created_at, expires_at, revoked_at, principal_kind, \
    principal_name, is_admin, principal_created_at, page from loci.key_by_hash($1)";
/// How it makes a store and a principal.
const OLD_STORE: &str = "insert into loci.store (store_id, workspace_id, owner, name, description, \
    metadata, partitioning, remove_by, share_by, content_bytes_max, memories_max, repeats, \
    created_at, updated_at) values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '', \
    '', '{}', false, false, false, 1, 1, 0, 0, 0)";
const OLD_PRINCIPAL: &str = "insert into loci.principal (principal_id, workspace_id, kind, name, \
    is_admin, created_at) values (gen_random_uuid(), gen_random_uuid(), 0, 'old', false, 0)";
const HASH: [u8; 32] = [7; 32];

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn open(url: &str) -> PostgresStorage {
    let patience = Duration::from_secs(20);
    let options = PostgresOptions { patience, pool_size: 4, ..PostgresOptions::new(url) };
    PostgresStorage::open(&options, next_bits()).await.unwrap()
}

/// An empty database of an older format.
async fn old_database(format: usize) -> (Database, Client) {
    let database = Database::fresh(&Build::Floor.url().unwrap(), None).await.unwrap();
    let client = connect(&database.url()).await;
    client
        .batch_execute("create schema loci; grant usage on schema loci to loci_app")
        .await
        .unwrap();
    client.batch_execute(include_str!("../../queries/migration/table.sql")).await.unwrap();
    for (step, number) in STEPS[..format].iter().zip(1..) {
        let step = format!(
            "begin; set local search_path to loci; {step}; \
             insert into migration (number) values ({number}); commit"
        );
        client.batch_execute(&step).await.unwrap();
    }
    (database, client)
}

/// Writes the rows of a database of today into an older one, as far as that has columns for them.
async fn copy(from: &Client, to: &Client) -> u64 {
    let tables = "select relname::text from pg_class
        where relnamespace = 'loci'::regnamespace and relkind = 'r' and relname <> 'migration'";
    let mut copied = 0;
    for table in to.query(tables, &[]).await.unwrap() {
        let table: String = table.get(0);
        to.batch_execute(&format!("truncate loci.{table} cascade")).await.unwrap();
        let rows = format!("select to_jsonb(t)::text from loci.{table} as t");
        for row in from.query(&rows, &[]).await.unwrap() {
            let row: String = row.get(0);
            let put = format!(
                "insert into loci.{table}
                select * from jsonb_populate_record(null::loci.{table}, $1::text::jsonb)"
            );
            copied += to.execute(&put, &[&row]).await.unwrap();
        }
    }
    copied
}

/// A workspace with a key, a grant and some history.
async fn fill(world: &World) {
    let guest = world.new_principal("guest").await;
    let key = ApiKey {
        id: KeyId::from_u128(next_bits()),
        workspace: world.workspace,
        principal: guest,
        name: "laptop".into(),
        hint: "loci_abc".into(),
        secret_hash: HASH,
        scope: KeyScope::FULL,
        session: None,
        audience: Audience::Host,
        acts_for_agents: false,
        created_at: world.now(),
        expires_at: None,
        revoked_at: None,
    };
    let grant = Grant {
        id: GrantId::from_u128(next_bits()),
        store: world.store,
        grantee: Grantee::Principal(guest),
        level: Level::Read,
        given_by: world.owner,
        expires_at: None,
        created_at: world.now(),
    };
    world.write(Mutation::CreateKey(key)).await.unwrap();
    world.write(Mutation::Share(world.share_pass(), grant)).await.unwrap();
    world.put("/notes/one", "first").await;
    world.put("/notes/one", "second").await;
    world.put("/two", "other").await;
}

/// What there is, in words.
async fn seen(storage: &dyn Storage, world: &World) -> String {
    let (pass, read) = (world.admin_pass(), world.read_pass());
    let (key, principal) = storage.key_by_hash(&HASH).await.unwrap().unwrap();
    assert!(!key.acts_for_agents && principal.memory == MemorySwitches::default());
    let guests = world.caller(principal.id, Audience::Host);
    let facts = storage.all_facts(&guests).await.unwrap();
    assert!(facts.iter().all(|facts| facts.store.address.is_none() && facts.relation.is_none()));
    format!(
        "{key:?} {principal:?} {facts:?} {:?} {:?} {:?} {:?}",
        storage.principals(&pass).await.unwrap(),
        storage.grants(&read).await.unwrap(),
        storage.log(&pass, world.store, 0, 100).await.unwrap(),
        storage.stats(&read).await.unwrap(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_format_3_is_brought_forward() {
    let scratch = Scratch::new().await;
    let world = World::new(Arc::new(scratch.open().await)).await;
    fill(&world).await;
    let expected = seen(&*world.storage, &world).await;
    let (database, old) = old_database(3).await;
    let copied = copy(&connect(&scratch.url()).await, &old).await;
    assert!(copied > 12, "{copied}");

    let server = Arc::new(open(&database.url()).await);
    assert_eq!(seen(&*server, &world).await, expected);
    let format = old.query_one("select max(number) from loci.migration", &[]).await.unwrap();
    assert_eq!(format.get::<_, i32>(0), 10);
    for sql in [OLD_STORE, OLD_PRINCIPAL] {
        assert_eq!(old.execute(sql, &[]).await.unwrap(), 1, "{sql}");
        let undo = sql.split_whitespace().nth(2).unwrap();
        let undo = format!("delete from {undo} where created_at = 0");
        old.batch_execute(&undo).await.unwrap();
    }
    let key = old.query_one(OLD_KEY, &[&&HASH[..]]).await.unwrap();
    assert_eq!(key.get::<_, String>("principal_name"), "guest");

    let guest = server.principal_by_name(world.workspace, "guest").await.unwrap().unwrap();
    let off = MemorySwitches { own: false, ..MemorySwitches::default() };
    let switch = Mutation::SwitchMemory(world.admin_pass(), guest.id, off);
    let told = world.happening(event::kind::MEMORY_SWITCHED);
    server.write(Mutation::Audited(Box::new(switch), told), None).await.unwrap();
    let (_, principal) = server.key_by_hash(&HASH).await.unwrap().unwrap();
    assert_eq!(principal.memory, off);
    assert_eq!(server.events(&world.admin_pass(), 0, 10).await.unwrap().len(), 1);
    let report = server.check().await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
}

/// Format 4 kept every version whole. What it holds reads on, and goes on as what is shared.
#[tokio::test(flavor = "multi_thread")]
async fn texts_of_format_4_grow_on() {
    let scratch = Scratch::new().await;
    let mut world = World::new(Arc::new(scratch.open().await)).await;
    fill(&world).await;
    let long = "kept whole ".repeat(200);
    let memory = world.put("/log", &long).await;
    let expected = seen(&*world.storage, &world).await;
    let (database, old) = old_database(4).await;
    copy(&connect(&scratch.url()).await, &old).await;

    world.storage = Arc::new(open(&database.url()).await);
    assert_eq!(seen(&*world.storage, &world).await, expected);
    world.assert_sound().await;
    world.edit(pin(memory.id)).await.unwrap();
    for n in 0..3 {
        world.edit(append("/log", &format!("line {n}"))).await.unwrap();
    }
    let text = format!("{long}\nline 0\nline 1\nline 2");
    assert_eq!(world.text_at("/log").await, Some(text.clone()));
    world.write(Mutation::Redact(world.manage_pass(), memory.head)).await.unwrap();
    assert_eq!(world.text_at("/log").await, Some(text));
    world.assert_sound().await;
    let shared = "select count(*) from loci.payload where base is not null";
    assert_eq!(old.query_one(shared, &[]).await.unwrap().get::<_, i64>(0), 3);
}

/// Format 6 had no place for what readers find. What it holds can be read, and what is found is kept
/// and goes with it.
#[tokio::test(flavor = "multi_thread")]
async fn what_format_6_holds_can_be_read() {
    let scratch = Scratch::new().await;
    let mut world = World::new(Arc::new(scratch.open().await)).await;
    fill(&world).await;
    let memory = world.put("/note", "something new").await;
    let expected = seen(&*world.storage, &world).await;
    let (database, old) = old_database(6).await;
    copy(&connect(&scratch.url()).await, &old).await;

    world.storage = Arc::new(open(&database.url()).await);
    assert_eq!(seen(&*world.storage, &world).await, expected);
    let lags = world.storage.reading_lags("test:m", None, 9).await.unwrap();
    assert!(lags.iter().any(|lag| lag.store == world.store && lag.through == 0));
    let reading = NewReading { version: memory.head, claims: "[\u{f8ff}]".into(), at: world.now() };
    let batch = ReadingBatch {
        workspace: world.workspace,
        store: world.store,
        reader: "test:m".into(),
        through: 1,
        spent: Spent { day: 3, requests: 1, tokens: 9 },
        readings: vec![reading],
    };
    world.write(Mutation::PutReadings(batch)).await.unwrap();
    let pass = world.search_pass();
    let found = world.storage.readings(&pass, world.store, &[memory.id]).await.unwrap();
    assert_eq!(found[0].claims, "[\u{f8ff}]");
    world.assert_sound().await;
    let version = VersionId::from_u128(next_bits());
    let erase = Mutation::Erase { pass: world.manage_pass(), memory: memory.id, version };
    world.write(erase).await.unwrap();
    let left = "select count(*) from loci.reading";
    assert_eq!(old.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 0);
    assert_eq!(world.storage.spent("test:m", 3).await.unwrap().tokens, 9);
    world.assert_sound().await;
}

/// Format 7 has homes with a cap that nobody chose, and format 8 has some of them. It goes from all of
/// them, and nothing else goes.
#[tokio::test(flavor = "multi_thread")]
async fn databases_of_formats_7_and_8_lose_caps_that_nobody_chose() {
    let scratch = Scratch::new().await;
    let mut world = World::new(Arc::new(scratch.open().await)).await;
    let stores = caps::furnish(&world).await;
    let now = world.now();
    for format in [7, 8] {
        let (database, old) = old_database(format).await;
        copy(&connect(&scratch.url()).await, &old).await;
        world.storage = Arc::new(open(&database.url()).await);
        caps::assert_caps(&world, &stores, now).await;
        assert_eq!(world.storage.check().await.unwrap().problems, Vec::<String>::new());
    }
}

/// In format 8, a log had an end once something had happened. Now each workspace has one.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_format_8_knows_where_its_logs_end() {
    let scratch = Scratch::new().await;
    let mut world = World::new(Arc::new(scratch.open().await)).await;
    let quiet = world.new_workspace().await;
    world.write(Mutation::Record(world.happening(event::kind::SEARCHED))).await.unwrap();
    let (database, old) = old_database(8).await;
    copy(&connect(&scratch.url()).await, &old).await;
    let forget = "delete from loci.event_end where seq = 0";
    assert_eq!(old.execute(forget, &[]).await.unwrap(), 1);
    let end = world.events().await[0].end();
    world.storage = Arc::new(open(&database.url()).await);
    let mut ends = world.storage.check().await.unwrap().audit_ends;
    ends.sort_by_key(|(workspace, _)| *workspace);
    assert_eq!(ends, [(world.workspace, end), (quiet, event::LogEnd::default())]);
    world.assert_sound().await;
}
