//! After a redaction, an erasure or a purge is acknowledged, what was taken away is in none of the
//! files. Every test first makes sure that it was there, or it would prove nothing.

use super::{new_generation, open, put_reading, put_vectors, world};
use loci_model::{Attributes, View};
use loci_storage::{Mutation, Receipt, StorageError, VectorBatch, VectorSource};
use loci_storage_contract::fixture::{World, append, put, remove, rename, update, with_attributes};
use std::fs;
use std::path::Path;

const CANARY: &str = "zqcanaryxw";

/// What stands for vectors in the files; of no use as text.
const VECTOR: [u8; 16] = *b"\xa5\x3c\x01\xfe\x99\xc3\x5a\x0f\xf0\x11\xee\x22\xdd\x33\xcc\x44";

/// How often the vector is in the files of a directory.
fn vector_sightings(dir: &Path) -> usize {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let count = |path| {
        let bytes: Vec<u8> = fs::read(path).unwrap();
        bytes.windows(VECTOR.len()).filter(|part| *part == VECTOR).count()
    };
    files.map(count).sum()
}

/// How often the canary is in the files of a directory, in any case.
fn sightings(dir: &Path) -> usize {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            let bytes = fs::read(path).unwrap().to_ascii_lowercase();
            let canary = CANARY.as_bytes();
            bytes.windows(canary.len()).filter(|part| *part == canary).count()
        })
        .sum()
}

fn everywhere() -> Attributes {
    Attributes {
        kind: Some(CANARY.into()),
        tags: vec![CANARY.into()],
        source: Some(CANARY.into()),
        scope: Some(CANARY.into()),
        summary: Some(CANARY.into()),
        media_type: Some(CANARY.into()),
        metadata: Some(format!("{{\"k\":\"{CANARY}\"}}")),
        ..Attributes::default()
    }
}

/// A text that takes several pages.
fn long_text() -> String {
    format!("{} {CANARY} ", "filler words here ".repeat(60)).repeat(12)
}

async fn erase(world: &World, memory: loci_model::MemoryId) -> loci_storage::Result<Receipt> {
    let version = loci_model::VersionId::from_u128(loci_storage_contract::fixture::next_bits());
    let pass = world.manage_pass();
    world.write(Mutation::Erase { pass, memory, version }).await
}

#[tokio::test]
async fn a_redacted_version_is_gone_from_every_file() {
    let (world, dir) = world().await;
    world.put("/other", "stays").await;
    let first = with_attributes(put(&format!("/{CANARY}/x"), &long_text()), everywhere());
    let memory = world.edit(first).await.unwrap().memory;
    let cleaned = loci_storage_contract::fixture::describe(memory.id, Attributes::default());
    world.edit(rename(memory.id, "/clean")).await.unwrap();
    world.edit(cleaned).await.unwrap();
    let head = world.edit(update(memory.id, "clean")).await.unwrap().memory.head;
    assert!(sightings(dir.path()) > 5);
    let versions = world.history().await;
    for version in versions.iter().filter(|v| v.memory == memory.id && v.id != head) {
        let redaction = Mutation::Redact(world.manage_pass(), version.id);
        world.write(redaction).await.unwrap();
    }
    assert_eq!(sightings(dir.path()), 0);
    assert_eq!(world.text_at("/clean").await.unwrap(), "clean");
    world.assert_sound().await;
}

#[tokio::test]
async fn an_erased_memory_is_gone_from_every_file() {
    let (world, dir) = world().await;
    for n in 0..50 {
        world.put(&format!("/other/{n}"), "some words of no interest").await;
    }
    let at = format!("/{CANARY}/x");
    let memory = world.put_with(&at, &long_text(), everywhere()).await;
    assert!(sightings(dir.path()) > 5);
    let receipt = erase(&world, memory.id).await.unwrap();
    assert_eq!(receipt, Receipt::Erased { memory: memory.id, versions: 2 });
    assert_eq!(sightings(dir.path()), 0);
    assert!(world.find(&[CANARY]).await.is_empty());
    world.assert_sound().await;
}

/// Many rows move between pages of many trees; no copy may stay behind in the gaps.
#[tokio::test]
async fn no_copy_stays_behind_where_rows_moved() {
    let (world, dir) = world().await;
    let mut doomed = Vec::new();
    for round in 0..6 {
        let mut edits = Vec::new();
        for n in 0..100 {
            let at = format!("/dir{}/{n}-{round}", n % 7);
            edits.push(if n % 3 == 0 {
                let text = format!("{CANARY} and {}", "filler ".repeat(n * 3));
                with_attributes(put(&format!("{at}-{CANARY}{n}"), &text), everywhere())
            } else {
                put(&at, &"other ".repeat(n * 5 + round))
            });
        }
        let outcomes = world.commit(edits).await.unwrap();
        let ids: Vec<_> = outcomes.into_iter().map(|outcome| outcome.memory).collect();
        doomed.extend(ids.iter().filter(|m| m.path.as_str().contains(CANARY)).map(|m| m.id));
        // Removing some others makes the trees shrink and move.
        let removals = ids.iter().filter(|m| !m.path.as_str().contains(CANARY)).step_by(2);
        let removals = removals.map(|memory| remove(memory.path.as_str())).collect();
        world.commit(removals).await.unwrap();
    }
    assert!(sightings(dir.path()) > 1000);
    for memory in doomed {
        erase(&world, memory).await.unwrap();
    }
    assert_eq!(sightings(dir.path()), 0);
    world.assert_sound().await;
}

#[tokio::test]
async fn a_purged_store_is_gone_from_every_file() {
    let (world, dir) = world().await;
    for n in 0..30 {
        let at = format!("/{CANARY}/{n}");
        world.put_with(&at, &format!("{CANARY} {n}"), everywhere()).await;
    }
    world.edit(remove(&format!("/{CANARY}/7"))).await.unwrap();
    assert!(sightings(dir.path()) > 30);
    let pass = world.manage_pass();
    world.write(Mutation::RemoveStore(pass.clone())).await.unwrap();
    let purge = || Mutation::PurgeStore { pass: pass.clone(), limit: 20 };
    assert_eq!(world.write(purge()).await.unwrap(), Receipt::Purged { is_done: false });
    assert_eq!(world.write(purge()).await.unwrap(), Receipt::Purged { is_done: true });
    assert_eq!(sightings(dir.path()), 0);
    assert!(world.storage.unpurged(10).await.unwrap().is_empty());
    assert_eq!(world.storage.check().await.unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn a_reader_that_holds_old_pages_makes_the_scrub_pending() {
    let (world, dir) = world().await;
    let memory = world.put("/a", CANARY).await;
    let reader = rusqlite::Connection::open(dir.path().join("loci.db")).unwrap();
    reader.execute_batch("begin; select count(*) from memory").unwrap();
    let refused = erase(&world, memory.id).await;
    assert!(matches!(refused, Err(StorageError::ScrubPending)), "{refused:?}");
    assert!(world.get("/a").await.is_none(), "the erasure itself is durable");
    assert!(sightings(dir.path()) > 0, "or there was nothing to wait for");
    reader.execute_batch("rollback").unwrap();
    let again = erase(&world, memory.id).await.unwrap();
    assert_eq!(again, Receipt::Erased { memory: memory.id, versions: 0 });
    drop(reader);
    assert_eq!(sightings(dir.path()), 0);
}

#[tokio::test]
async fn a_backup_taken_after_an_erasure_does_not_have_it() {
    let (world, dir) = world().await;
    let memory = world.put(&format!("/{CANARY}"), CANARY).await;
    world.put("/b", "stays").await;
    erase(&world, memory.id).await.unwrap();
    let copy = tempfile::tempdir().unwrap();
    drop(world.storage.backup(&copy.path().join("loci.db")).await.unwrap());
    assert_eq!(sightings(copy.path()) + sightings(dir.path()), 0);
    let storage = open(copy.path());
    let at = loci_model::At::Path(None, loci_storage_contract::fixture::path("/b"));
    let found = storage.get(&world.read_pass(), &at, View::Full).await.unwrap();
    assert_eq!(found.unwrap().content.unwrap().text(), Some("stays"));
}

#[tokio::test]
async fn a_pending_scrub_is_finished_without_being_asked_again() {
    let (world, dir) = world().await;
    let memory = world.put("/a", CANARY).await;
    let reader = rusqlite::Connection::open(dir.path().join("loci.db")).unwrap();
    reader.execute_batch("begin; select count(*) from memory").unwrap();
    let refused = erase(&world, memory.id).await;
    assert!(matches!(refused, Err(StorageError::ScrubPending)), "{refused:?}");
    reader.execute_batch("rollback").unwrap();
    for _ in 0..600 {
        if sightings(dir.path()) == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("still there");
}

/// Vectors give away what a text was about, so they go when it goes: those of one passage and those
/// that take several pages, of every generation.
#[tokio::test]
async fn vectors_of_what_is_scrubbed_are_gone_from_every_file() {
    let (world, dir) = world().await;
    let generations = [new_generation(&world).await, new_generation(&world).await];
    let long = VECTOR.repeat(16);
    let (mut heads, mut others) = (Vec::new(), Vec::new());
    for n in 0..60 {
        let memory = world.put(&format!("/{n}"), &format!("text {n}")).await;
        if n % 3 == 0 {
            heads.push(memory)
        } else {
            others.push(memory.head)
        };
    }
    let redacted = heads[0].head;
    world.edit(update(heads[0].id, "clean")).await.unwrap();
    let purged = world.new_store(Default::default()).await.id;
    let pass = world.system().write(world.workspace, purged, world.owner, world.now());
    let there = world.commit_as(pass, vec![put("/a", "text")]).await.unwrap()[0].memory.head;
    for generation in generations {
        for bytes in [&VECTOR[..], &long] {
            let versions: Vec<_> = heads.iter().map(|memory| memory.head).collect();
            put_vectors(&world, generation, &versions, bytes).await;
            put_vectors(&world, generation, &others, &[7; 16]).await;
        }
        let vectors = vec![(there, VectorSource::Made(VECTOR.to_vec()))];
        let workspace = world.workspace;
        let batch = VectorBatch {
            workspace,
            generation,
            store: purged,
            through: 1,
            vectors,
            words: Vec::new(),
        };
        world.write(Mutation::PutVectors(batch)).await.unwrap();
    }
    assert!(vector_sightings(dir.path()) > 500);
    world.write(Mutation::Redact(world.manage_pass(), redacted)).await.unwrap();
    for memory in &heads[1..] {
        erase(&world, memory.id).await.unwrap();
    }
    let pass = world.system().manage(world.workspace, purged, world.now());
    world.write(Mutation::RemoveStore(pass.clone())).await.unwrap();
    world.write(Mutation::PurgeStore { pass, limit: 10 }).await.unwrap();
    assert_eq!(vector_sightings(dir.path()), 0);
    let pass = world.search_pass();
    let kept = world.storage.vectors(&pass, world.store, generations[0], &others).await;
    assert!(kept.unwrap().iter().all(Option::is_some));
    world.assert_sound().await;
}

/// What readers found quotes what they read, so it goes with it.
#[tokio::test]
async fn readings_are_gone_from_every_file_with_what_was_read() {
    let (world, dir) = world().await;
    let claims = format!("[{CANARY}]");
    let (mut heads, mut kept) = (Vec::new(), Vec::new());
    for n in 0..50 {
        let memory = world.put(&format!("/{n}"), "text").await;
        let is_kept = n % 5 == 0;
        put_reading(&world, memory.head, if is_kept { "[kept]" } else { &claims }).await;
        // Written over once, so that old rows are somewhere, too.
        put_reading(&world, memory.head, if is_kept { "[kept]" } else { &claims }).await;
        if is_kept { kept.push(memory.id) } else { heads.push(memory) }
    }
    assert!(sightings(dir.path()) > 40);
    world.edit(update(heads[0].id, "clean")).await.unwrap();
    world.write(Mutation::Redact(world.manage_pass(), heads[0].head)).await.unwrap();
    for memory in &heads[1..] {
        erase(&world, memory.id).await.unwrap();
    }
    assert_eq!(sightings(dir.path()), 0);
    let pass = world.search_pass();
    let found = world.storage.readings(&pass, world.store, &kept).await.unwrap();
    assert_eq!(found.len(), kept.len());
    world.assert_sound().await;
}

/// A text that grew, with the canary in one line of it; gives back its versions, oldest first.
async fn grown(world: &World, marked: usize) -> Vec<loci_model::VersionId> {
    let begin = "filler words here ".repeat(100);
    let mut versions = vec![world.put("/log", &begin).await.head];
    for n in 1..9 {
        let line = if n == marked { CANARY } else { "a line of no interest" };
        versions.push(world.edit(append("/log", line)).await.unwrap().memory.head);
    }
    versions
}

/// A version, what it goes on from, and how many bytes are kept of it.
type Row = (i64, Option<i64>, i64);

/// The hash that is put aside, and what is kept of each version.
fn kept(dir: &Path) -> (Option<Vec<u8>>, Vec<Row>) {
    let conn = rusqlite::Connection::open(dir.join("loci.db")).unwrap();
    let hash = conn.query_row("select hash from memory", [], |row| row.get(0)).unwrap();
    let mut rows = conn.prepare("select version, base, length(content) from payload").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    (hash, rows.collect::<rusqlite::Result<_>>().unwrap())
}

#[tokio::test]
async fn a_line_of_a_growing_text_is_kept_once() {
    let (world, dir) = world().await;
    grown(&world, 4).await;
    assert_eq!(world.history().await.len(), 9);
    let (_, rows) = kept(dir.path());
    assert_eq!(rows.len(), 9);
    assert!(rows[1..].iter().all(|(version, base, _)| *base == Some(version - 1)));
    assert!(rows[1..].iter().all(|(.., bytes)| *bytes < 30));
    drop(world);
    assert_eq!(sightings(dir.path()), 1);
}

/// What later versions still say stays, once; and goes with the last of them.
#[tokio::test]
async fn a_redacted_line_is_gone_with_the_last_version_that_has_it() {
    for marked in [1, 4, 8] {
        let (world, dir) = world().await;
        let versions = grown(&world, marked).await;
        world.put("/log", "clean").await;
        let order: &[usize] = &[4, 0, 1, 7, 8, 3, 2, 6, 5];
        for (done, version) in order.iter().enumerate() {
            assert!(sightings(dir.path()) > 0, "{marked}: it goes only with the last");
            let redaction = Mutation::Redact(world.manage_pass(), versions[*version]);
            world.write(redaction).await.unwrap();
            world.assert_sound().await;
            if !order[done + 1..].iter().any(|left| *left >= marked) {
                break;
            }
        }
        assert_eq!(sightings(dir.path()), 0, "{marked}");
        assert_eq!(world.text_at("/log").await.unwrap(), "clean");
    }
}

#[tokio::test]
async fn an_erased_text_that_grew_is_gone_with_its_hash() {
    let (world, dir) = world().await;
    grown(&world, 8).await;
    let memory = world.get("/log").await.unwrap();
    let (hash, _) = kept(dir.path());
    let hash = hash.unwrap();
    let is_in_it = hash.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
    assert!(is_in_it, "the hash holds the end of the text");
    erase(&world, memory.id).await.unwrap();
    assert_eq!(sightings(dir.path()), 0);
    let state = hash[..32].to_vec();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(32).any(|part| part == state));
    }
    let (hash, rows) = kept(dir.path());
    assert_eq!((hash, rows.len()), (None, 0));
    world.assert_sound().await;
}

#[tokio::test]
async fn the_hash_of_a_text_goes_when_it_is_rewritten_or_removed() {
    let (world, dir) = world().await;
    grown(&world, 8).await;
    assert!(kept(dir.path()).0.is_some());
    world.put("/log", &"other".repeat(500)).await;
    assert!(kept(dir.path()).0.is_none());
    world.edit(append("/log", "once more")).await.unwrap();
    assert!(kept(dir.path()).0.is_some());
    world.edit(remove("/log")).await.unwrap();
    assert!(kept(dir.path()).0.is_none());
}
