//! Redaction and erasure: what goes, what stays, what is refused.

use super::fixture::*;
use loci_model::store::OnRemove;
use loci_model::{At, ChangeOp, MemoryId, Operation, StorePolicy, Version, VersionId, View};
use loci_storage::{Mutation, Receipt, Result, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

pub(super) async fn redact(world: &World, version: VersionId) -> Result<Version> {
    match world.write(Mutation::Redact(world.manage_pass(), version)).await? {
        Receipt::Redacted(version) => Ok(*version),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn erase(world: &World, memory: MemoryId) -> Result<u64> {
    let erase = Mutation::Erase {
        pass: world.manage_pass(),
        memory,
        version: VersionId::from_u128(next_bits()),
    };
    match world.write(erase).await? {
        Receipt::Erased { memory: erased, versions } if erased == memory => Ok(versions),
        other => panic!("{other:?}"),
    }
}

fn assert_empty(version: &Version) {
    assert_eq!((&version.path, &version.attributes), (&None, &None));
    assert_eq!((version.digest, version.size_bytes), (None, None));
    assert_eq!(version.content, None);
    assert!(version.redaction.is_some());
}

pub async fn redaction_takes_content_path_and_attributes(db: Db) {
    let world = World::new(db).await;
    let first = world.put_with("/secret", "canary", of_kind("fact")).await;
    world.put("/secret", "clean").await;
    let before = world.version(first.head).await;
    let now = world.now();
    let redacted = redact(&world, first.head).await.unwrap();
    assert_empty(&redacted);
    assert_eq!(redacted.redaction.unwrap().at, now);
    assert_eq!(redacted.redaction.unwrap().by, world.manage_pass().actor());
    assert_eq!(
        (redacted.id, redacted.memory, redacted.revision, redacted.seq),
        (before.id, before.memory, before.revision, before.seq)
    );
    assert_eq!(
        (redacted.operation, redacted.actor, redacted.created_at),
        (before.operation, before.actor, before.created_at)
    );
    assert_eq!(world.version(first.head).await, redacted);
    assert_eq!(world.text_at("/secret").await.unwrap(), "clean");
    world.assert_sound().await;
}

pub async fn redaction_adds_no_version_but_one_change(db: Db) {
    let world = World::new(db).await;
    let first = world.put("/a", "one").await;
    world.put("/a", "two").await;
    redact(&world, first.head).await.unwrap();
    assert_eq!(world.history().await.len(), 2);
    let feed = world.feed().await;
    assert_eq!(feed.len(), 3);
    let change = &feed[2];
    assert_eq!((change.seq, change.op), (3, ChangeOp::Redacted));
    assert_eq!((change.memory, change.version), (first.id, first.head));
    assert_eq!((change.revision, &change.path), (1, &None));
    assert_eq!(feed[0].path, None, "the first entry of the version has lost its path too");
    assert_eq!(feed[1].path, Some(path("/a")));
}

pub async fn redacting_twice_changes_nothing_more(db: Db) {
    let world = World::new(db).await;
    let first = world.put("/a", "one").await;
    world.put("/a", "two").await;
    let once = redact(&world, first.head).await.unwrap();
    assert_eq!(redact(&world, first.head).await.unwrap(), once);
    assert_eq!(world.feed().await.len(), 3);
}

pub async fn the_head_of_a_live_memory_is_not_redacted(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "one").await;
    assert_refused!(redact(&world, memory.head).await, StorageError::IsHead);
    assert_eq!(world.text_at("/a").await.unwrap(), "one");
    world.edit(remove("/a")).await.unwrap();
    redact(&world, memory.head).await.unwrap();
}

pub async fn a_deleted_version_can_be_redacted(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "one").await;
    world.edit(remove("/a")).await.unwrap();
    let deleted = world.history().await.pop().unwrap();
    assert_eq!(deleted.operation, Operation::Deleted);
    let redacted = redact(&world, deleted.id).await.unwrap();
    assert_empty(&redacted);
    world.assert_sound().await;
}

pub async fn a_copy_in_a_later_version_survives_the_redaction_of_an_earlier_one(db: Db) {
    let world = World::new(db).await;
    let first = world.put("/a", "kept").await;
    world.edit(rename(first.id, "/b")).await.unwrap();
    redact(&world, first.head).await.unwrap();
    assert_eq!(world.text_at("/b").await.unwrap(), "kept");
    assert_eq!(world.find(&["kept"]).await, [first.id]);
    world.assert_sound().await;
}

pub async fn unknown_versions_and_those_of_other_stores_are_not_redacted(db: Db) {
    let world = World::new(db).await;
    let first = world.put("/a", "one").await;
    world.put("/a", "two").await;
    let other = world.new_store(Default::default()).await.id;
    let pass = world.system().manage(world.workspace, other, world.now());
    assert_refused!(
        world.write(Mutation::Redact(pass, first.head)).await,
        StorageError::NotFound(_)
    );
    let nothing = VersionId::from_u128(next_bits());
    assert_refused!(redact(&world, nothing).await, StorageError::NotFound(_));
}

pub async fn an_archived_store_can_be_redacted_and_erased(db: Db) {
    let world = World::new(db).await;
    let first = world.put("/a", "one").await;
    world.put("/a", "two").await;
    world.archive().await;
    redact(&world, first.head).await.unwrap();
    erase(&world, first.id).await.unwrap();
    assert!(world.paths().await.is_empty());
}

pub async fn erasing_a_live_memory_removes_and_scrubs_everything(db: Db) {
    let world = World::new(db).await;
    let memory = world.put_with("/secret", "canary one", tagged(&["canary"])).await;
    world.put("/secret", "canary two").await;
    assert_eq!(erase(&world, memory.id).await.unwrap(), 3);
    assert_eq!(world.get("/secret").await, None);
    assert!(world.find(&["canary"]).await.is_empty());
    let history = world.history().await;
    assert_eq!(history.len(), 3);
    history.iter().for_each(assert_empty);
    let operations: Vec<_> = history.iter().map(|version| version.operation).collect();
    assert_eq!(operations, [Operation::Created, Operation::Modified, Operation::Deleted]);
    let feed = world.feed().await;
    assert!(feed.iter().all(|change| change.path.is_none()));
    let redacted = feed.iter().filter(|change| change.op == ChangeOp::Redacted);
    let revisions: Vec<u64> = redacted.map(|change| change.revision).collect();
    assert_eq!((feed.len(), revisions), (6, vec![1, 2, 3]));
    world.assert_sound().await;
}

pub async fn erasing_a_removed_memory_scrubs_its_history(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "one").await;
    world.edit(remove("/a")).await.unwrap();
    assert_eq!(erase(&world, memory.id).await.unwrap(), 2);
    world.history().await.iter().for_each(assert_empty);
    assert_eq!(world.feed().await.len(), 4);
}

pub async fn erasing_passes_over_what_is_redacted_already(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "one").await;
    world.put("/a", "two").await;
    redact(&world, memory.head).await.unwrap();
    assert_eq!(erase(&world, memory.id).await.unwrap(), 2);
    assert_eq!(erase(&world, memory.id).await.unwrap(), 0);
    assert_eq!(world.feed().await.len(), 6);
}

pub async fn erasing_an_unknown_memory_is_not_found(db: Db) {
    let world = World::new(db).await;
    let nothing = MemoryId::from_u128(next_bits());
    assert_refused!(erase(&world, nothing).await, StorageError::NotFound(_));
}

pub async fn an_erased_path_is_free(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "one").await;
    erase(&world, memory.id).await.unwrap();
    world.put("/a/b", "two").await;
    let stats = world.storage.stats(&world.read_pass()).await.unwrap();
    assert_eq!((stats.memories, stats.content_bytes, stats.versions), (1, 3, 3));
    assert_eq!(stats.last_seq, 5);
}

pub async fn history_due_for_erasure_is_named_until_it_is_erased(db: Db) {
    let on_remove = OnRemove::EraseAfter { secs: 60 };
    let policy = StorePolicy { on_remove, ..StorePolicy::default() };
    let world = World::with_policy(db, policy).await;
    let memory = world.put("/a", "one").await;
    world.put("/b", "two").await;
    let removed_at = world.now();
    world.edit(remove("/a")).await.unwrap();
    let due = async |secs| {
        let found = world.storage.erasable(removed_at.plus_secs(secs), 10).await;
        found.unwrap()
    };
    assert!(due(59).await.is_empty());
    assert_eq!(due(60).await, [(world.workspace, world.store, memory.id)]);
    erase(&world, memory.id).await.unwrap();
    assert!(due(60).await.is_empty());
}

pub async fn history_is_kept_where_the_store_says_so(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "one").await;
    world.edit(remove("/a")).await.unwrap();
    let far = world.in_secs(1_000_000_000);
    assert!(world.storage.erasable(far, 10).await.unwrap().is_empty());
    let kept = world.version(memory.head).await;
    assert_eq!(kept.content.unwrap().text(), Some("one"));
    let gone = world.storage.get(&world.read_pass(), &At::Id(memory.id), View::Full).await;
    assert_eq!(gone.unwrap(), None);
}

pub async fn what_was_scrubbed_is_settled_when_nobody_holds_it(db: Db) {
    let world = World::new(db).await;
    world.storage.settle_scrubs().await.unwrap();
    let memory = world.put("/a", "one").await;
    world.put("/a", "two").await;
    redact(&world, memory.head).await.unwrap();
    world.storage.settle_scrubs().await.unwrap();
    erase(&world, memory.id).await.unwrap();
    world.storage.settle_scrubs().await.unwrap();
}
