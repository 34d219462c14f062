//! Readings: rows that follow the feed, name the version that was read, count while the content is
//! what it was, and go with it.

use super::fixture::*;
use super::redact::{erase, redact};
use loci_model::policy::SearchPass;
use loci_model::{MemoryId, StorePolicy, VersionId, Visibility, limit};
use loci_storage::log::ImportItem;
use loci_storage::{
    Mutation, NewReading, ReadablePage, ReadingBatch, ReadingEnd, ReadingLag, ReadingMark, Receipt,
    Result, Spent, Storage, StorageError,
};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

const READER: &str = "test:small";
const OTHER: &str = "test:large";

fn batch(world: &World, through: u64, readings: &[(VersionId, &str)]) -> ReadingBatch {
    ReadingBatch {
        workspace: world.workspace,
        store: world.store,
        reader: READER.into(),
        through,
        spent: Spent { day: 5, requests: 1, tokens: 10 },
        readings: readings
            .iter()
            .map(|(version, claims)| NewReading {
                version: *version,
                claims: (*claims).to_owned(),
                at: world.now(),
            })
            .collect(),
    }
}

async fn put_batch(world: &World, batch: ReadingBatch) -> Result<u64> {
    match world.write(Mutation::PutReadings(batch)).await? {
        Receipt::ReadingsPut(count) => Ok(count),
        other => panic!("{other:?}"),
    }
}

async fn put_readings(world: &World, through: u64, readings: &[(VersionId, &str)]) -> u64 {
    put_batch(world, batch(world, through, readings)).await.unwrap()
}

/// What was found in each of some memories, by whoever read it.
async fn found_by(world: &World, pass: &SearchPass, memories: &[MemoryId]) -> Vec<String> {
    let found = world.storage.readings(pass, world.store, memories).await.unwrap();
    found.into_iter().map(|reading| reading.claims).collect()
}

async fn found(world: &World, memories: &[MemoryId]) -> Vec<String> {
    found_by(world, &world.search_pass(), memories).await
}

async fn end(world: &World) -> (u64, u64) {
    let ends = world.storage.reading_ends(&world.search_pass()).await.unwrap();
    ends.first().map_or((0, 0), |end| (end.number, end.forgotten))
}

async fn readable(world: &World, pass: &SearchPass, after: u64, limit: usize) -> ReadablePage {
    let page = world.storage.readable(pass, world.store, READER, after, limit).await;
    page.unwrap()
}

async fn unread(world: &World) -> Vec<MemoryId> {
    let page = readable(world, &world.search_pass(), 0, 100).await;
    page.memories.into_iter().map(|memory| memory.id).collect()
}

async fn forget(world: &World, reader: &str, limit: usize) -> bool {
    let (pass, reader) = (world.admin_pass(), reader.to_owned());
    match world.write(Mutation::ForgetReadings { pass, reader, limit }).await.unwrap() {
        Receipt::Purged { is_done } => is_done,
        other => panic!("{other:?}"),
    }
}

pub async fn readings_come_back_as_they_were_written(db: Db) {
    let world = World::new(db).await;
    let one = world.put("/a", "x").await;
    let two = world.put("/b", "y").await;
    assert_eq!(end(&world).await, (0, 0), "nothing was read yet");
    let at = world.now();
    assert_eq!(put_readings(&world, 2, &[(one.head, "[1]"), (two.head, "[2]")]).await, 2);
    let other = ReadingBatch { reader: OTHER.into(), ..batch(&world, 1, &[(one.head, "[3]")]) };
    put_batch(&world, other).await.unwrap();
    let pass = world.search_pass();
    let all = world.storage.readings(&pass, world.store, &[two.id, one.id]).await.unwrap();
    let shown: Vec<_> =
        all.iter().map(|one| (one.memory, one.reader.as_str(), one.claims.as_str())).collect();
    assert_eq!(
        shown,
        [(two.id, READER, "[2]"), (one.id, OTHER, "[3]"), (one.id, READER, "[1]")],
        "in the order asked for, and by reader"
    );
    assert_eq!((all[0].version, all[0].at), (two.head, at));
    let ends = world.storage.reading_ends(&pass).await.unwrap();
    assert_eq!(ends, [ReadingEnd { store: world.store, number: 3, forgotten: 0 }]);
    world.assert_sound().await;
}

pub async fn a_reader_reads_a_memory_once(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "x").await;
    put_readings(&world, 1, &[(memory.head, "[1]")]).await;
    put_readings(&world, 1, &[(memory.head, "[2]")]).await;
    assert_eq!(found(&world, &[memory.id]).await, ["[2]"], "the newer one takes its place");
    assert_eq!(end(&world).await, (2, 0));
    assert!(unread(&world).await.is_empty());
}

pub async fn what_was_read_since_is_named(db: Db) {
    let world = World::new(db).await;
    let mut memories = Vec::new();
    for n in 0..3 {
        let memory = world.put(&format!("/{n}"), "x").await;
        put_readings(&world, 0, &[(memory.head, "[]")]).await;
        memories.push(memory.id);
    }
    let newly = async |after, limit| {
        let newly = world.storage.newly_read(&world.search_pass(), world.store, after, limit).await;
        let newly = newly.unwrap();
        (newly.through, newly.memories)
    };
    assert_eq!(newly(0, 2).await, (2, memories[..2].to_vec()));
    assert_eq!(newly(2, 2).await, (3, memories[2..].to_vec()));
    assert_eq!(newly(3, 2).await, (3, vec![]));
    erase(&world, memories[2]).await.unwrap();
    assert_eq!(newly(2, 2).await, (3, vec![]), "what is gone keeps nobody waiting");
}

pub async fn readings_count_while_the_content_is_what_was_read(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "x").await;
    put_readings(&world, 1, &[(memory.head, "[1]")]).await;
    world.edit(pin(memory.id)).await.unwrap();
    assert_eq!(found(&world, &[memory.id]).await, ["[1]"], "the text is the same");
    assert!(unread(&world).await.is_empty());
    world.put("/a", "y").await;
    assert!(found(&world, &[memory.id]).await.is_empty());
    assert_eq!(unread(&world).await, [memory.id]);
    world.put("/a", "x").await;
    assert_eq!(found(&world, &[memory.id]).await, ["[1]"], "it is what it was");
    world.edit(remove("/a")).await.unwrap();
    assert!(found(&world, &[memory.id]).await.is_empty());
    world.assert_sound().await;
}

pub async fn readings_go_with_what_is_scrubbed(db: Db) {
    let world = World::new(db).await;
    let old = world.put("/a", "canary").await;
    put_readings(&world, 1, &[(old.head, "[1]")]).await;
    world.edit(pin(old.id)).await.unwrap();
    let erased = world.put("/b", "canary").await;
    let kept = world.put("/c", "kept").await;
    put_readings(&world, 4, &[(erased.head, "[2]"), (kept.head, "[3]")]).await;
    redact(&world, old.head).await.unwrap();
    assert!(found(&world, &[old.id]).await.is_empty(), "the version it was read from is gone");
    assert_eq!(unread(&world).await, [old.id]);
    erase(&world, erased.id).await.unwrap();
    assert_eq!(found(&world, &[old.id, erased.id, kept.id]).await, ["[3]"]);
    assert_eq!(world.storage.check().await.unwrap().readings, 1);
    world.assert_sound().await;
}

pub async fn versions_without_text_take_no_readings(db: Db) {
    let world = World::new(db).await;
    let sealed = world.edit(put_sealed("/sealed", b"secret")).await.unwrap().memory;
    let gone = world.put("/gone", "x").await;
    erase(&world, gone.id).await.unwrap();
    let unknown = VersionId::from_u128(7);
    let readings = [(sealed.head, "[1]"), (gone.head, "[2]"), (unknown, "[3]")];
    assert_eq!(put_readings(&world, 0, &readings).await, 0);
    assert_eq!(end(&world).await, (0, 0));
    world.assert_sound().await;
}

pub async fn readings_are_what_the_reader_may_get(db: Db) {
    let world = World::new(db).await;
    let over = world.put_with("/over", "x", until(world.in_secs(10))).await;
    let internal = world.put_with("/internal", "x", shown_as(Visibility::Internal)).await;
    let shown = world.put("/shown", "y").await;
    world.edit(put_sealed("/sealed", b"secret")).await.unwrap();
    let ids = [over.id, internal.id, shown.id];
    let model = world.model_search_pass().await;
    let texts = async |pass: &SearchPass| {
        let page = readable(&world, pass, 0, 10).await;
        assert_eq!(page.through, 4);
        page.memories.into_iter().map(|memory| memory.id).collect::<Vec<_>>()
    };
    assert_eq!(texts(&model).await, [over.id, shown.id], "what is internal is not read");
    assert_eq!(texts(&world.search_pass()).await, ids);
    let all = [(over.head, "[1]"), (internal.head, "[2]"), (shown.head, "[3]")];
    put_readings(&world, 4, &all).await;
    assert_eq!(found(&world, &ids).await, ["[1]", "[2]", "[3]"]);
    assert_eq!(found_by(&world, &model, &ids).await, ["[1]", "[3]"]);
    world.move_clock(20);
    assert_eq!(found(&world, &ids).await, ["[2]", "[3]"]);
    let other = world.new_store(StorePolicy::default()).await.id;
    let elsewhere = world.system().search(world.workspace, vec![other], world.now());
    let storage = &world.storage;
    assert!(storage.reading_ends(&elsewhere).await.unwrap().is_empty());
    assert_refused!(
        storage.readings(&elsewhere, world.store, &ids).await,
        StorageError::NotFound(_)
    );
    assert_refused!(
        storage.readable(&elsewhere, world.store, READER, 0, 9).await,
        StorageError::NotFound(_)
    );
    assert_refused!(
        storage.newly_read(&elsewhere, world.store, 0, 9).await,
        StorageError::NotFound(_)
    );
    assert_refused!(
        storage.reading_marks(&elsewhere, world.store).await,
        StorageError::NotFound(_)
    );
    assert!(storage.readings(&elsewhere, other, &ids).await.unwrap().is_empty());
}

pub async fn what_is_to_be_read_comes_in_steps(db: Db) {
    let world = World::new(db).await;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(world.put(&format!("/{n}"), "x").await.id);
    }
    let pass = world.search_pass();
    let page = readable(&world, &pass, 0, 2).await;
    assert_eq!(page.through, 2);
    assert_eq!(page.memories.iter().map(|one| one.id).collect::<Vec<_>>(), ids[..2]);
    assert_eq!(page.memories[0].content.as_ref().and_then(|content| content.text()), Some("x"));
    let page = readable(&world, &pass, 2, 2).await;
    assert_eq!((page.through, page.memories.len()), (3, 1));
    let page = readable(&world, &pass, 3, 2).await;
    assert_eq!((page.through, page.memories.len()), (3, 0));
}

pub async fn stores_that_a_reader_is_behind_in_are_named(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "x").await;
    world.put("/b", "x").await;
    let empty = world.new_store(StorePolicy::default()).await.id;
    let lag = |through| ReadingLag { workspace: world.workspace, store: world.store, through };
    let lags = async |reader: &str, stores: Option<&[_]>| {
        let lags = world.storage.reading_lags(reader, stores, 10).await.unwrap();
        lags.into_iter().filter(|lag| lag.workspace == world.workspace).collect::<Vec<_>>()
    };
    assert_eq!(lags(READER, None).await, [lag(0)]);
    assert_eq!(lags(READER, Some(&[world.store, empty])).await, [lag(0)]);
    assert!(lags(READER, Some(&[empty])).await.is_empty());
    assert!(lags(READER, Some(&[])).await.is_empty());
    put_readings(&world, 1, &[]).await;
    assert_eq!(lags(READER, None).await, [lag(1)]);
    put_readings(&world, 99, &[]).await;
    assert!(lags(READER, None).await.is_empty(), "a mark goes no further than the feed");
    put_readings(&world, 1, &[]).await;
    assert!(lags(READER, None).await.is_empty(), "and never back");
    assert_eq!(lags(OTHER, None).await, [lag(0)], "everybody has a mark of their own");
    world.write(Mutation::RemoveStore(world.manage_pass())).await.unwrap();
    assert!(lags(OTHER, None).await.is_empty());
    assert_eq!(put_readings(&world, 1, &[]).await, 0, "a store that is gone takes nothing");
}

pub async fn what_reading_cost_is_added_up_by_day(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "x").await;
    let spend = async |store, day, requests, tokens| {
        let spent = Spent { day, requests, tokens };
        put_batch(&world, ReadingBatch { store, spent, ..batch(&world, 0, &[]) }).await.unwrap();
    };
    let reader = format!("test:{}", next_bits());
    let spent = async |day| {
        let spent = world.storage.spent(READER, day).await.unwrap();
        assert_eq!(spent.day, day);
        (spent.requests, spent.tokens)
    };
    let other = world.new_store(StorePolicy::default()).await.id;
    spend(world.store, 5, 1, 10).await;
    spend(world.store, 5, 2, 20).await;
    spend(other, 5, 4, 40).await;
    assert_eq!(spent(5).await, (7, 70));
    spend(world.store, 6, 1, 1).await;
    assert_eq!((spent(5).await, spent(6).await), ((4, 40), (1, 1)));
    spend(world.store, 5, 9, 9).await;
    assert_eq!(spent(6).await, (1, 1), "yesterday is over");
    assert_eq!(world.storage.spent(&reader, 5).await.unwrap().requests, 0);
    let marks = world.storage.reading_marks(&world.search_pass(), world.store).await.unwrap();
    let today = Spent { day: 6, requests: 1, tokens: 1 };
    assert_eq!(marks, [ReadingMark { reader: READER.into(), through: 0, spent: today }]);
}

pub async fn a_reader_is_forgotten_in_steps(db: Db) {
    let world = World::new(db).await;
    let mut ids = Vec::new();
    for n in 0..3 {
        let memory = world.put(&format!("/{n}"), "x").await;
        put_readings(&world, n + 1, &[(memory.head, "[1]")]).await;
        ids.push((memory.id, memory.head));
    }
    let other = ReadingBatch { reader: OTHER.into(), ..batch(&world, 3, &[(ids[0].1, "[2]")]) };
    put_batch(&world, other).await.unwrap();
    let memories: Vec<_> = ids.iter().map(|(id, _)| *id).collect();
    assert_eq!(end(&world).await, (4, 0));
    assert!(!forget(&world, READER, 2).await);
    assert_eq!(found(&world, &memories).await.len(), 2);
    assert_eq!(end(&world).await, (5, 5));
    assert!(forget(&world, READER, 2).await);
    assert_eq!(found(&world, &memories).await, ["[2]"], "the other one's stay");
    assert_eq!(end(&world).await, (6, 6));
    assert!(forget(&world, READER, 2).await, "a second time changes nothing");
    assert_eq!(end(&world).await, (6, 6));
    let lags = world.storage.reading_lags(READER, Some(&[world.store]), 9).await.unwrap();
    assert!(lags.is_empty(), "nothing is read again for it");
    world.assert_sound().await;
}

pub async fn readings_stay_in_their_workspace(db: Db) {
    let world = World::new(db.clone()).await;
    let memory = world.put("/a", "x").await;
    let stranger = World::new(db).await;
    let batch =
        ReadingBatch { workspace: stranger.workspace, ..batch(&world, 1, &[(memory.head, "[1]")]) };
    assert_eq!(put_batch(&world, batch).await.unwrap(), 0);
    assert_eq!(put_readings(&world, 1, &[(memory.head, "[1]")]).await, 1);
    assert!(forget(&stranger, READER, 9).await);
    assert_eq!(found(&world, &[memory.id]).await, ["[1]"], "not theirs to forget");
}

pub async fn readings_that_break_a_rule_are_refused(db: Db) {
    let world = World::new(db).await;
    let head = world.put("/a", "x").await.head;
    let long = "x".repeat(limit::READING_BYTES_MAX + 1);
    let good = || batch(&world, 1, &[(head, "[1]")]);
    for bad in [
        ReadingBatch { reader: String::new(), ..good() },
        ReadingBatch { reader: "a\nb".into(), ..good() },
        batch(&world, 1, &[(head, &long)]),
        batch(&world, 1, &[(head, "a\0b")]),
        batch(&world, 1, &vec![(head, "[]"); limit::READING_BATCH_MAX + 1]),
    ] {
        assert_refused!(put_batch(&world, bad).await, StorageError::Invalid(_));
    }
    assert_eq!(end(&world).await, (0, 0));
    let longest = "x".repeat(limit::READING_BYTES_MAX);
    assert_eq!(put_readings(&world, 1, &[(head, &longest)]).await, 1);
}

pub async fn readings_go_with_their_store(db: Db) {
    let world = World::new(db).await;
    let heads = [world.put("/a", "x").await.head, world.put("/b", "y").await.head];
    put_readings(&world, 2, &heads.map(|head| (head, "[1]"))).await;
    let store = world.facts(world.owner).await.store;
    let log = world.storage.log(&world.admin_pass(), world.store, 0, 10).await.unwrap();
    world.write(Mutation::RemoveStore(world.manage_pass())).await.unwrap();
    for is_last in [false, true] {
        let purge = Mutation::PurgeStore { pass: world.manage_pass(), limit: 1 };
        assert_eq!(world.write(purge).await.unwrap(), Receipt::Purged { is_done: is_last });
    }
    assert!(forget(&world, READER, 0).await, "nothing is left to forget");
    let mut items = vec![ImportItem::Store(Box::new(store))];
    items.extend(log.into_iter().map(|entry| ImportItem::Entry(world.store, entry)));
    world.write(Mutation::Import(world.admin_pass(), items)).await.unwrap();
    assert_eq!(end(&world).await, (0, 0), "an imported store begins unread");
    assert_eq!(unread(&world).await.len(), 2);
    world.assert_sound().await;
}

pub async fn writes_of_readings_can_be_repeated(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "x").await;
    let put = Mutation::PutReadings(batch(&world, 1, &[(memory.head, "[1]")]));
    let key = idempotency(world.workspace, 1, "put", 1, world.now());
    let first = world.storage.write(put.clone(), Some(key.clone())).await.unwrap();
    let again = world.storage.write(put, Some(key)).await.unwrap();
    assert_eq!((again.is_replay, again.receipt), (true, first.receipt));
    assert_eq!(end(&world).await, (1, 0), "it was put once");
}
