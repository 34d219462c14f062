//! Directories of older formats. What a released version wrote opens in this one, with everything in
//! it, and what the newer format no longer keeps is gone from the files.

use super::{new_generation, open, put_vectors, world};
use loci_model::{Attributes, VersionId, View};
use loci_storage::contract::fixture::{
    World, all_versions, describe, put, put_sealed, remove, tagged, update,
};
use loci_storage::{AsOf, Mutation};
use std::fs;
use std::path::Path;

/// As it is in texts and paths.
const WORD: &str = "ZQXword";
/// As it was in the word index of format 1, and nowhere else.
const TOKEN: &[u8] = b"zqxword";

const FORMAT_1: &str = include_str!("../../migrations/0001_init.sql");

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
    let conn = rusqlite::Connection::open(to.join("loci.db")).unwrap();
    conn.execute_batch("pragma journal_mode = wal; pragma secure_delete = on").unwrap();
    let begin = "begin; pragma application_id = 0x4c6f6369; pragma user_version = 1;";
    conn.execute_batch(&format!("{begin}\n{FORMAT_1}\ncommit")).unwrap();
    let from = from.join("loci.db");
    conn.execute("attach ?1 as today", [from.to_str().unwrap()]).unwrap();
    for table in TABLES {
        let sql = format!("select group_concat(name) from pragma_table_info('{table}', 'main')");
        let columns: String = conn.query_row(&sql, [], |row| row.get(0)).unwrap();
        let copy =
            format!("insert into main.{table} ({columns}) select {columns} from today.{table}");
        conn.execute(&copy, []).unwrap();
    }
    conn.execute_batch("detach today").unwrap();
    assert!(conn.execute(INDEX_WORDS, []).unwrap() > 10);
    conn.close().unwrap();
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
    let version = VersionId::from_u128(loci_storage::contract::fixture::next_bits());
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
    assert_eq!(format, 3);
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
    world.write(Mutation::SetRepeats(world.manage_pass(), repeats)).await.unwrap();
    let merged = world.edit(put("/again", "two")).await.unwrap().memory;
    assert_eq!(merged.path.as_str(), "/a");
    let found = world.storage.found(&pass, &[(store, merged.id)], View::Full).await.unwrap();
    assert_eq!(found[0].content.as_ref().unwrap().text(), Some("two"));
    world.assert_sound().await;
}
