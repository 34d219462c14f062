//! Directories of older formats. What a released version wrote opens in this one, with everything in
//! it, and what the newer format no longer keeps is gone from the files.

use super::{new_generation, open, put_reading, put_vectors, world};
use loci_model::event::{LogEnd, kind};
use loci_model::policy::Relation;
use loci_model::{
    Address, ApiKey, Attributes, Audience, Grant, GrantId, Grantee, KeyId, KeyScope, Level,
    MemorySwitches, PrincipalId, PrincipalKind, Store, StorePolicy, Timestamp, VersionId, View,
};
use loci_storage::{AsOf, Idempotency, Mutation};
use loci_storage_contract::caps;
use loci_storage_contract::fixture::{
    START, World, all_versions, append, batch, describe, idempotency, next_bits, pin, put,
    put_sealed, remove, tagged, update,
};
use loci_storage_memory::MemStorage;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// As it is in texts and paths.
const WORD: &str = "ZQXword";
/// As it was in the word index of format 1, and nowhere else.
const TOKEN: &[u8] = b"zqxword";

const FORMAT_1: &str = include_str!("../../migrations/0001_init.sql");
/// From format 1 to format 2.
const FORMAT_2: &str = include_str!("../../migrations/0002_vectors.sql");
/// From format 2 to format 3.
const FORMAT_3: &str = include_str!("../../migrations/0003_sharing.sql");

/// From format 3 to format 4.
const FORMAT_4: &str = include_str!("../../migrations/0004_tails.sql");
/// From format 4 to format 5.
const FORMAT_5: &str = include_str!("../../migrations/0005_compaction.sql");

/// From format 5 to format 6.
const FORMAT_6: &str = include_str!("../../migrations/0006_readings.sql");

/// From format 6 to format 7.
const FORMAT_7: &str = include_str!("../../migrations/0007_caps.sql");

/// What this version writes.
const FORMAT: i64 = 9;

/// Tables of format 1 in an order in which rows may come.
const TABLES: [&str; 12] = [
    "workspace",
    "principal",
    "api_key",
    "store",
    "memory",
    "version",
    "payload",
    "change",
    "grant_",
    "session",
    "attachment",
    "idempotency",
];

/// What format 2 added to them.
const TABLES_2: [&str; 3] = ["generation", "vector", "vector_mark"];

/// What the first version did for each memory it wrote.
const INDEX_WORDS: &str = "
    insert into memory_fts (rowid, store, path, tags, content)
    select
        m.memory, 's' || m.store, m.path,
        coalesce((select group_concat(value, ' ') from json_each(m.tags)), ''),
        cast(p.content as text)
    from memory as m join payload as p on p.version = m.head
    where m.path is not null and not m.is_sealed";

/// Writes the rows of a directory of today as a directory of format 1.
fn write_format_1(from: &Path, to: &Path) {
    let conn = write_format(1, FORMAT_1, &TABLES, from, to);
    assert!(conn.execute(INDEX_WORDS, []).unwrap() > 10);
    conn.close().unwrap();
}

/// The same as a directory of format 2.
fn write_format_2(from: &Path, to: &Path) {
    let schema = format!("{FORMAT_1}\n{FORMAT_2}");
    let tables = [&TABLES[..], &TABLES_2].concat();
    write_format(2, &schema, &tables, from, to).close().unwrap();
}

/// What format 3 added to them.
const TABLES_3: [&str; 2] = ["membership", "event"];

/// The same as a directory of format 3.
fn write_format_3(from: &Path, to: &Path) {
    let schema = format!("{FORMAT_1}\n{FORMAT_2}\n{FORMAT_3}");
    let tables = [&TABLES[..], &TABLES_2, &TABLES_3].concat();
    write_format(3, &schema, &tables, from, to).close().unwrap();
}

/// The same as a directory of format 5, which has the tables of format 3.
fn write_format_5(from: &Path, to: &Path) {
    let schema = [FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4, FORMAT_5].join("\n");
    let tables = [&TABLES[..], &TABLES_2, &TABLES_3].concat();
    write_format(5, &schema, &tables, from, to).close().unwrap();
}

/// What format 6 added to them.
const TABLES_6: [&str; 3] = ["reading", "reading_mark", "reading_end"];

/// The same as a directory of format 6.
fn write_format_6(from: &Path, to: &Path) {
    let schema = [FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4, FORMAT_5, FORMAT_6].join("\n");
    let tables = [&TABLES[..], &TABLES_2, &TABLES_3, &TABLES_6].concat();
    write_format(6, &schema, &tables, from, to).close().unwrap();
}

/// The same as a directory of format 7, which has the tables of format 6.
fn write_format_7(from: &Path, to: &Path) {
    let schema = [FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4, FORMAT_5, FORMAT_6, FORMAT_7].join("\n");
    let tables = [&TABLES[..], &TABLES_2, &TABLES_3, &TABLES_6].concat();
    write_format(7, &schema, &tables, from, to).close().unwrap();
}

fn write_format(
    format: u32,
    schema: &str,
    tables: &[&str],
    from: &Path,
    to: &Path,
) -> rusqlite::Connection {
    let conn = rusqlite::Connection::open(to.join("loci.db")).unwrap();
    conn.execute_batch("pragma journal_mode = wal; pragma secure_delete = on").unwrap();
    let marks = format!("pragma application_id = 0x4c6f6369; pragma user_version = {format};");
    conn.execute_batch(&format!("begin; {marks}\n{schema}\ncommit")).unwrap();
    let from = from.join("loci.db");
    conn.execute("attach ?1 as today", [from.to_str().unwrap()]).unwrap();
    for table in tables {
        let sql = format!("select group_concat(name) from pragma_table_info('{table}', 'main')");
        let columns: String = conn.query_row(&sql, [], |row| row.get(0)).unwrap();
        let copy =
            format!("insert into main.{table} ({columns}) select {columns} from today.{table}");
        conn.execute(&copy, []).unwrap();
    }
    conn.execute_batch("detach today").unwrap();
    conn
}

fn sightings(dir: &Path) -> usize {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let count = |path| {
        let bytes: Vec<u8> = fs::read(path).unwrap();
        bytes.windows(TOKEN.len()).filter(|part| *part == TOKEN).count()
    };
    files.map(count).sum()
}

/// A store with something of everything that format 1 knows.
async fn furnish(world: &World) {
    for n in 0..200 {
        let text = format!("{WORD}{n} and {}", "more words ".repeat(n % 9));
        world.put_with(&format!("/dir/{n}"), &text, tagged(&[WORD])).await;
    }
    let memory = world.put("/a", "one").await;
    world.edit(describe(memory.id, Attributes::default())).await.unwrap();
    world.edit(update(memory.id, "two")).await.unwrap();
    world.edit(put_sealed("/sealed", b"\xff\x00")).await.unwrap();
    world.edit(remove("/dir/7")).await.unwrap();
    world.write(Mutation::Redact(world.manage_pass(), memory.head)).await.unwrap();
    let version = VersionId::from_u128(next_bits());
    let erased = world.put("/erased", "gone").await.id;
    let pass = world.manage_pass();
    world.write(Mutation::Erase { pass, memory: erased, version }).await.unwrap();
}

#[tokio::test]
async fn a_directory_of_format_1_opens_with_everything_in_it() {
    let (today, dir) = world().await;
    furnish(&today).await;
    let old = tempfile::tempdir().unwrap();
    let (store, owner, workspace) = (today.store, today.owner, today.workspace);
    let (pass, admin) = (today.read_pass(), today.admin_pass());
    let facts = today.storage.facts(workspace, store, owner, None).await.unwrap();
    let feed = today.feed().await;
    let versions = today.storage.versions(&pass, &all_versions()).await.unwrap().items;
    let log = today.storage.log(&admin, store, 0, 1000).await.unwrap();
    let texts = today.texts_for(&today.search_pass()).await;
    drop(today);
    write_format_1(dir.path(), old.path());
    assert!(sightings(old.path()) > 0, "the index has its words");

    let storage = open(old.path());
    assert_eq!(storage.facts(workspace, store, owner, None).await.unwrap(), facts);
    assert_eq!(storage.changes(&pass, 0, 1000).await.unwrap(), feed);
    assert_eq!(storage.versions(&pass, &all_versions()).await.unwrap().items, versions);
    assert_eq!(storage.log(&admin, store, 0, 1000).await.unwrap(), log);
    assert_eq!(storage.default_workspace().await.unwrap(), Some(workspace));
    let search =
        loci_model::policy::System::because("a test").search(workspace, vec![store], pass.now());
    let found = storage.texts(&search, store, 0, 1000).await.unwrap();
    assert_eq!((found.memories, found.next), (texts.clone(), None));
    assert_eq!(storage.check().await.unwrap().problems, [""; 0]);
    drop(storage);
    assert_eq!(sightings(old.path()), 0, "no word of the index is left");
    assert!(!old.path().join("loci.db-wal").exists());
    let conn = rusqlite::Connection::open(old.path().join("loci.db")).unwrap();
    let format: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(format, FORMAT);
    let tables = "select count(*) from sqlite_schema where name like 'memory_fts%'";
    assert_eq!(conn.query_row(tables, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    conn.close().unwrap();

    let storage = open(old.path());
    let found = storage.texts(&search, store, 0, 1000).await.unwrap();
    assert_eq!(found.memories, texts);
}

#[tokio::test]
async fn what_is_new_works_in_a_directory_of_format_1() {
    let (today, dir) = world().await;
    furnish(&today).await;
    let (store, workspace) = (today.store, today.workspace);
    let old = tempfile::tempdir().unwrap();
    drop(today);
    write_format_1(dir.path(), old.path());
    let mut world = World::new(open(old.path())).await;
    (world.store, world.workspace) = (store, workspace);
    let generation = new_generation(&world).await;
    let lags = world.storage.vector_lags(generation, 10).await.unwrap();
    assert_eq!((lags.len(), lags[0].through), (1, 0), "the old store has no vectors yet");
    let pass = world.search_pass();
    let page = world.storage.embeddable(&pass, store, generation, 0, 1000).await.unwrap();
    assert_eq!((page.through, page.texts.len()), (lags[0].end, 200));
    let versions: Vec<_> = page.texts.iter().map(|needed| needed.version).collect();
    put_vectors(&world, generation, &versions, &[1; 4]).await;
    assert!(world.storage.vector_lags(generation, 10).await.unwrap().is_empty());
    let past = world.storage.texts_at(&world.read_pass(), AsOf::Seq(3), 0, 10).await.unwrap();
    assert_eq!(past.memories.len(), 3);
    let repeats = loci_model::store::Repeats::Merge;
    world.write(Mutation::SetPolicy(world.manage_pass(), repeats.into())).await.unwrap();
    let merged = world.edit(put("/again", "two")).await.unwrap().memory;
    assert_eq!(merged.path.as_str(), "/a");
    let found = world.storage.found(&pass, &[(store, merged.id)], View::Full).await.unwrap();
    assert_eq!(found[0].content.as_ref().unwrap().text(), Some("two"));
    world.assert_sound().await;
}

/// What a format 2 could hold beside memories: grants, a key, a session, a remembered request and
/// vectors.
async fn furnish_format_2(world: &World) -> PrincipalId {
    furnish(world).await;
    let guest = world.new_one(PrincipalKind::Agent, "guest").await;
    let grant = Grant {
        id: GrantId::from_u128(next_bits()),
        store: world.store,
        grantee: Grantee::Principal(guest),
        level: Level::ReadWrite,
        given_by: world.owner,
        expires_at: None,
        created_at: world.now(),
    };
    world.write(Mutation::Share(world.share_pass(), grant)).await.unwrap();
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
    world.write(Mutation::CreateKey(key)).await.unwrap();
    let commit = Mutation::Commit(world.write_pass(), batch(vec![put("/once", "x")]));
    world.storage.write(commit, Some(request(world))).await.unwrap();
    let generation = new_generation(world).await;
    let head = world.put("/vector", "text").await.head;
    put_vectors(world, generation, &[head], &[1; 4]).await;
    guest
}

const HASH: [u8; 32] = [7; 32];

fn request(world: &World) -> Idempotency {
    idempotency(world.workspace, world.owner.as_u128(), "k", 1, world.now())
}

/// Everything that a directory of format 2 can tell of itself.
async fn all_of_format_2(world: &World, guest: PrincipalId) -> Vec<String> {
    let (storage, store) = (&world.storage, world.store);
    let read = world.system().read(world.workspace, store, Timestamp::from_micros(START));
    let admin = world.system().administer(world.workspace, Timestamp::from_micros(START));
    let search = world.system().search(world.workspace, vec![store], Timestamp::from_micros(START));
    let caller = world.caller(guest, Audience::Host);
    vec![
        format!("{:?}", storage.facts(world.workspace, store, guest, None).await.unwrap()),
        format!("{:?}", storage.all_facts(&caller).await.unwrap()),
        format!("{:?}", storage.key_by_hash(&HASH).await.unwrap()),
        format!("{:?}", storage.keys(&admin).await.unwrap()),
        format!("{:?}", storage.principals(&admin).await.unwrap()),
        format!("{:?}", storage.grants(&read).await.unwrap()),
        format!("{:?}", storage.log(&admin, store, 0, 1000).await.unwrap()),
        format!("{:?}", storage.changes(&read, 0, 1000).await.unwrap()),
        format!("{:?}", storage.versions(&read, &all_versions()).await.unwrap().items),
        format!("{:?}", storage.texts(&search, store, 0, 1000).await.unwrap().memories),
        format!("{:?}", storage.feed_ends(&search).await.unwrap()),
        format!("{:?}", storage.remembered(&admin, None, 1000).await.unwrap()),
        format!("{:?}", storage.generations().await.unwrap()),
    ]
}

#[tokio::test]
async fn a_directory_of_format_2_opens_with_everything_in_it() {
    let (mut world, dir) = world().await;
    let guest = furnish_format_2(&world).await;
    let expected = all_of_format_2(&world, guest).await;
    assert!(expected.iter().all(|line| line.len() > 20), "there is something of everything");
    world.storage = Arc::new(MemStorage::new());
    let old = tempfile::tempdir().unwrap();
    write_format_2(dir.path(), old.path());
    for _ in 0..2 {
        world.storage = open(old.path());
        assert_eq!(all_of_format_2(&world, guest).await, expected);
        world.assert_sound().await;
        world.storage = Arc::new(MemStorage::new());
    }
    let conn = rusqlite::Connection::open(old.path().join("loci.db")).unwrap();
    let format: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(format, FORMAT);
}

#[tokio::test]
async fn what_is_new_works_in_a_directory_of_format_2() {
    let (mut world, dir) = world().await;
    let guest = furnish_format_2(&world).await;
    world.storage = Arc::new(MemStorage::new());
    let old = tempfile::tempdir().unwrap();
    write_format_2(dir.path(), old.path());
    world.storage = open(old.path());
    let again = Mutation::Commit(world.write_pass(), batch(vec![put("/never", "x")]));
    let again = world.storage.write(again, Some(request(&world))).await.unwrap();
    assert!(again.is_replay, "what was done before is remembered");
    // Who was here before gets along with what is new: the owner is a user, the guest an agent.
    assert_eq!(world.events().await, []);
    let agent = world.new_one(PrincipalKind::Agent, "new").await;
    let group = world.new_one(PrincipalKind::Group, "room").await;
    world.join(group, world.owner).await;
    world.join(group, agent).await;
    assert_eq!(world.facts(agent).await.relation, Some(Relation::Companion));
    let address = Address::home(guest);
    let home = Store {
        owner: guest,
        address: Some(address.clone()),
        ..world.plan_store(StorePolicy::default())
    };
    let audited = Mutation::Audited(
        Box::new(Mutation::CreateStore(home.clone())),
        world.happening(kind::SEARCHED),
    );
    world.write(audited).await.unwrap();
    let found = world.storage.store_at(world.workspace, &address).await.unwrap();
    assert_eq!(found, Some(home.id));
    let off = MemorySwitches { own: false, ..MemorySwitches::default() };
    world.write(Mutation::SwitchMemory(world.admin_pass(), guest, off)).await.unwrap();
    let (_, principal) = world.storage.key_by_hash(&HASH).await.unwrap().unwrap();
    assert_eq!(principal.memory, off);
    assert_eq!(world.leave(group, world.owner).await, []);
    assert_eq!(world.facts(agent).await.relation, None);
    assert_eq!(world.events().await.len(), 1);
    world.assert_sound().await;
}

/// Format 3 kept every version whole. What it holds reads on, and goes on as what is shared.
#[tokio::test]
async fn a_directory_of_format_3_opens_and_its_texts_grow_on() {
    let (mut world, dir) = world().await;
    let guest = furnish_format_2(&world).await;
    let long = "kept whole ".repeat(200);
    let memory = world.put("/log", &long).await;
    let expected = all_of_format_2(&world, guest).await;
    world.storage = Arc::new(MemStorage::new());
    let old = tempfile::tempdir().unwrap();
    write_format_3(dir.path(), old.path());
    world.storage = open(old.path());
    assert_eq!(all_of_format_2(&world, guest).await, expected);
    world.assert_sound().await;
    world.edit(pin(memory.id)).await.unwrap();
    for n in 0..3 {
        world.edit(append("/log", &format!("line {n}"))).await.unwrap();
    }
    let text = format!("{long}\nline 0\nline 1\nline 2");
    assert_eq!(world.text_at("/log").await, Some(text.clone()));
    world.write(Mutation::Redact(world.manage_pass(), memory.head)).await.unwrap();
    assert_eq!(world.text_at("/log").await, Some(text.clone()));
    world.assert_sound().await;
    let conn = rusqlite::Connection::open(old.path().join("loci.db")).unwrap();
    let format: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(format, FORMAT);
    let shared = "select count(*) from payload where base is not null";
    assert_eq!(conn.query_row(shared, [], |row| row.get::<_, i64>(0)).unwrap(), 3);
}

/// Format 5 had no place for what readers find. What it holds can be read, and what is found is
/// kept and goes with it.
#[tokio::test]
async fn a_directory_of_format_5_opens_and_can_be_read() {
    let (mut world, dir) = world().await;
    let guest = furnish_format_2(&world).await;
    let memory = world.put("/note", "something new").await;
    let expected = all_of_format_2(&world, guest).await;
    world.storage = Arc::new(MemStorage::new());
    let old = tempfile::tempdir().unwrap();
    write_format_5(dir.path(), old.path());
    world.storage = open(old.path());
    assert_eq!(all_of_format_2(&world, guest).await, expected);
    let lags = world.storage.reading_lags("test:m", None, 9).await.unwrap();
    assert!(lags.iter().any(|lag| lag.store == world.store && lag.through == 0));
    put_reading(&world, memory.head, "[1]").await;
    let pass = world.search_pass();
    let found = world.storage.readings(&pass, world.store, &[memory.id]).await.unwrap();
    assert_eq!(found[0].claims, "[1]");
    world.assert_sound().await;
    let version = VersionId::from_u128(next_bits());
    let erase = Mutation::Erase { pass: world.manage_pass(), memory: memory.id, version };
    world.write(erase).await.unwrap();
    assert!(world.storage.readings(&pass, world.store, &[memory.id]).await.unwrap().is_empty());
    world.assert_sound().await;
    let conn = rusqlite::Connection::open(old.path().join("loci.db")).unwrap();
    let format: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(format, FORMAT);
}

/// Format 6 has homes with a cap that nobody chose, and format 7 has some of them. It goes from all of
/// them, and nothing else goes.
#[tokio::test]
async fn directories_of_formats_6_and_7_lose_caps_that_nobody_chose() {
    for write in [write_format_6, write_format_7] {
        let (mut world, dir) = world().await;
        let stores = caps::furnish(&world).await;
        let now = world.now();
        world.storage = Arc::new(MemStorage::new());
        let old = tempfile::tempdir().unwrap();
        write(dir.path(), old.path());
        for _ in 0..2 {
            world.storage = open(old.path());
            caps::assert_caps(&world, &stores, now).await;
            assert_eq!(world.storage.check().await.unwrap().problems, [""; 0]);
            world.storage = Arc::new(MemStorage::new());
        }
    }
}

/// Format 7 did not write down where audit logs end. From then on a tail that is cut off shows, also in
/// a workspace in which nothing had happened.
#[tokio::test]
async fn a_directory_of_format_7_knows_where_its_logs_end() {
    let (mut world, dir) = world().await;
    let quiet = world.new_workspace().await;
    for _ in 0..3 {
        world.write(Mutation::Record(world.happening(kind::SEARCHED))).await.unwrap();
    }
    let events = world.events().await;
    world.storage = Arc::new(MemStorage::new());
    let old = tempfile::tempdir().unwrap();
    write_format_7(dir.path(), old.path());
    for _ in 0..2 {
        world.storage = open(old.path());
        assert_eq!(world.events().await, events);
        let mut ends = world.storage.check().await.unwrap().audit_ends;
        ends.sort_by_key(|(workspace, _)| *workspace);
        assert_eq!(ends, [(world.workspace, events[2].end()), (quiet, LogEnd::default())]);
        world.assert_sound().await;
        world.storage = Arc::new(MemStorage::new());
    }
    let conn = rusqlite::Connection::open(old.path().join("loci.db")).unwrap();
    conn.execute("delete from event where seq = 3", []).unwrap();
    conn.close().unwrap();
    world.storage = open(old.path());
    let problems = world.storage.check().await.unwrap().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].ends_with("the audit log ends at 2, expected 3"), "{problems:?}");
}
