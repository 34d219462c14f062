//! The feed and the version list: numbers without gaps, times that only grow, pages and filters.

use super::fixture::*;
use loci_model::query::VersionQuery;
use loci_model::{ChangeOp, Operation, Timestamp, Version, VersionId, View};
use loci_storage::Storage;
use std::sync::Arc;

type Db = Arc<dyn Storage>;

async fn ids(world: &World, query: VersionQuery) -> Vec<VersionId> {
    let page = world.storage.versions(&world.read_pass(), &query).await;
    page.unwrap().items.iter().map(|version| version.id).collect()
}

/// Two memories, five versions, one of them by somebody else.
async fn story(db: Db) -> (World, Vec<Version>) {
    let world = World::new(db).await;
    let a = world.put("/a", "1").await;
    world.put("/b", "2").await;
    world.edit(update(a.id, "3")).await.unwrap();
    let pass = world.model_write_pass().await;
    world.commit_as(pass, vec![put("/b", "4")]).await.unwrap();
    world.edit(remove("/a")).await.unwrap();
    let history = world.history().await;
    assert_eq!(history.len(), 5);
    (world, history)
}

pub async fn the_feed_tells_every_edit_in_order(db: Db) {
    let (world, history) = story(db).await;
    let feed = world.feed().await;
    use ChangeOp::{Created, Deleted, Modified};
    let ops: Vec<ChangeOp> = feed.iter().map(|change| change.op).collect();
    assert_eq!(ops, [Created, Created, Modified, Modified, Deleted]);
    for (change, version) in feed.iter().zip(&history) {
        assert_eq!((change.store, change.seq), (world.store, version.seq));
        assert_eq!((change.memory, change.version), (version.memory, version.id));
        assert_eq!((change.revision, &change.path), (version.revision, &version.path));
        assert_eq!((change.actor, change.at), (version.actor, version.created_at));
        assert_eq!(change.reason, version.cause.reason);
    }
}

pub async fn feed_numbers_have_no_gaps(db: Db) {
    let (world, _) = story(db).await;
    world.edit(remove("/nothing")).await.unwrap_err();
    world.commit(vec![put("/x", "x"), remove("/nothing")]).await.unwrap_err();
    world.put("/b", "4").await;
    world.put("/c", "5").await;
    let numbers: Vec<u64> = world.feed().await.iter().map(|change| change.seq).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
}

pub async fn each_store_counts_for_itself(db: Db) {
    let (world, _) = story(db).await;
    let other = world.new_store(Default::default()).await.id;
    let pass = world.system().write(world.workspace, other, world.owner, world.now());
    world.commit_as(pass, vec![put("/a", "x")]).await.unwrap();
    let pass = world.system().read(world.workspace, other, world.now());
    let feed = world.storage.changes(&pass, 0, 10).await.unwrap();
    assert_eq!((feed.len(), feed[0].seq), (1, 1));
}

pub async fn the_feed_goes_on_after_a_number(db: Db) {
    let (world, _) = story(db).await;
    let numbers = async |after, limit| -> Vec<u64> {
        let feed = world.storage.changes(&world.read_pass(), after, limit).await;
        feed.unwrap().iter().map(|change| change.seq).collect()
    };
    assert_eq!(numbers(0, 2).await, [1, 2]);
    assert_eq!(numbers(2, 2).await, [3, 4]);
    assert_eq!(numbers(4, 2).await, [5]);
    assert!(numbers(5, 2).await.is_empty());
    assert!(numbers(99, 2).await.is_empty());
}

pub async fn times_grow_even_when_the_clock_goes_back(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "1").await;
    world.move_clock(-1000);
    world.put("/a", "2").await;
    world.commit(vec![put("/a", "3"), put("/a", "4")]).await.unwrap();
    let memory = world.get("/a").await.unwrap();
    super::redact::erase(&world, memory.id).await.unwrap();
    let times: Vec<Timestamp> = world.feed().await.iter().map(|change| change.at).collect();
    assert!(times.is_sorted_by(|one, next| one < next), "{times:?}");
    assert_eq!(times[1].as_micros(), times[0].as_micros() + 1);
    world.assert_sound().await;
}

pub async fn a_batch_has_one_time_for_each_version(db: Db) {
    let world = World::new(db).await;
    let now = world.now();
    world.commit(vec![put("/a", "1"), put("/b", "2"), put("/c", "3")]).await.unwrap();
    let times: Vec<i64> = world.feed().await.iter().map(|c| c.at.as_micros()).collect();
    let first = now.as_micros();
    assert_eq!(times, [first, first + 1, first + 2]);
}

pub async fn versions_come_newest_first_in_pages(db: Db) {
    let (world, history) = story(db).await;
    let newest_first: Vec<VersionId> = history.iter().rev().map(|version| version.id).collect();
    for limit in 1..=6 {
        let mut query = VersionQuery { limit, ..all_versions() };
        let mut joined = Vec::new();
        loop {
            let page = world.storage.versions(&world.read_pass(), &query).await.unwrap();
            assert!(page.items.len() <= limit);
            joined.extend(page.items.iter().map(|version| version.id));
            let Some(next) = page.next else { break };
            query.before_seq = Some(next);
        }
        assert_eq!(joined, newest_first, "pages of {limit}");
    }
}

pub async fn versions_are_filtered_by_memory_operation_and_actor(db: Db) {
    let (world, history) = story(db).await;
    let of_a = VersionQuery { memory: Some(history[0].memory), ..all_versions() };
    let expected = [history[4].id, history[2].id, history[0].id];
    assert_eq!(ids(&world, of_a.clone()).await, expected);
    let created = VersionQuery { operation: Some(Operation::Created), ..all_versions() };
    assert_eq!(ids(&world, created).await, [history[1].id, history[0].id]);
    let by_other = VersionQuery { actor: Some(history[3].actor), ..all_versions() };
    assert_eq!(ids(&world, by_other.clone()).await, [history[3].id]);
    let none = VersionQuery { memory: of_a.memory, ..by_other };
    assert!(ids(&world, none).await.is_empty(), "filters add up");
}

pub async fn filtered_versions_page_too(db: Db) {
    let world = World::new(db).await;
    for n in 0..6 {
        world.put("/noise", &n.to_string()).await;
        world.put("/a", &n.to_string()).await;
    }
    let memory = world.get("/a").await.unwrap().id;
    let mut query = VersionQuery { memory: Some(memory), limit: 4, ..all_versions() };
    let page = world.storage.versions(&world.read_pass(), &query).await.unwrap();
    assert_eq!(page.items.len(), 4);
    query.before_seq = page.next;
    let rest = world.storage.versions(&world.read_pass(), &query).await.unwrap();
    assert_eq!((rest.items.len(), rest.next), (2, None));
    assert_eq!(rest.items[1].revision, 1);
}

pub async fn version_bounds_in_time_are_inclusive(db: Db) {
    let (world, history) = story(db).await;
    let moment = |n: usize| history[n].created_at;
    let micros = |n: usize, more: i64| Timestamp::from_micros(moment(n).as_micros() + more);
    let between =
        async |since, until| ids(&world, VersionQuery { since, until, ..all_versions() }).await;
    let newest_first = |from: usize, to: usize| -> Vec<VersionId> {
        history[from..=to].iter().rev().map(|version| version.id).collect()
    };
    assert_eq!(between(Some(moment(1)), Some(moment(3))).await, newest_first(1, 3));
    assert_eq!(between(Some(micros(1, 1)), Some(micros(3, -1))).await, newest_first(2, 2));
    assert_eq!(between(Some(moment(4)), None).await, newest_first(4, 4));
    assert_eq!(between(None, Some(moment(0))).await, newest_first(0, 0));
    assert!(between(Some(micros(4, 1)), None).await.is_empty());
    assert!(between(None, Some(micros(0, -1))).await.is_empty());
    assert!(between(Some(moment(3)), Some(moment(1))).await.is_empty());
    assert_eq!(between(None, None).await, newest_first(0, 4));
}

pub async fn redactions_do_not_disturb_version_bounds(db: Db) {
    let world = World::new(db).await;
    let first = world.put("/a", "1").await;
    let second = world.put("/a", "2").await;
    let redaction = loci_storage::Mutation::Redact(world.manage_pass(), first.head);
    world.write(redaction).await.unwrap();
    let third = world.put("/a", "3").await;
    let since = Some(second.updated_at);
    let query = VersionQuery { since, ..all_versions() };
    assert_eq!(ids(&world, query).await, [third.head, second.head]);
    let query = VersionQuery { until: since, ..all_versions() };
    assert_eq!(ids(&world, query).await, [second.head, first.head]);
}

pub async fn version_filters_work_after_redaction(db: Db) {
    let (world, history) = story(db).await;
    super::redact::erase(&world, history[0].memory).await.unwrap();
    let query = VersionQuery {
        memory: Some(history[0].memory),
        operation: Some(Operation::Created),
        actor: Some(history[0].actor),
        ..all_versions()
    };
    assert_eq!(ids(&world, query).await, [history[0].id]);
}

pub async fn the_basic_view_of_versions_has_digests_but_no_content(db: Db) {
    let (world, history) = story(db).await;
    let query = VersionQuery { view: View::Basic, ..all_versions() };
    let page = world.storage.versions(&world.read_pass(), &query).await.unwrap();
    let oldest = page.items.last().unwrap();
    assert_eq!(oldest.content, None);
    assert_eq!((oldest.digest, oldest.size_bytes), (history[0].digest, Some(1)));
    assert!(history[0].content.is_some());
}
