//! Expiry: gone at once for readers, removed by a version of the system's own.

use super::fixture::*;
use loci_model::{
    Actor, At, Attributes, MemoryId, Operation, Outcome, Patch, StorePolicy, VersionId, View,
};
use loci_storage::{Mutation, Receipt, Result, Storage, StorageError, reason};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

async fn expire(world: &World, memory: MemoryId) -> Result<Outcome> {
    let expire = Mutation::Expire {
        pass: world.write_pass(),
        memory,
        version: VersionId::from_u128(next_bits()),
    };
    match world.write(expire).await? {
        Receipt::Committed(mut outcomes) if outcomes.len() == 1 => Ok(outcomes.remove(0)),
        other => panic!("{other:?}"),
    }
}

pub async fn an_expired_memory_is_invisible_at_its_moment(db: Db) {
    let world = World::new(db).await;
    let end = world.in_secs(10);
    let memory = world.put_with("/a", "word", until(end)).await;
    let at = At::Id(memory.id);
    for (moment, is_seen) in [(end.plus_secs(-1), true), (end, false), (end.plus_secs(1), false)] {
        let pass = world.system().read(world.workspace, world.store, moment);
        let found = world.storage.get(&pass, &at, View::Full).await.unwrap();
        assert_eq!(found.is_some(), is_seen);
    }
    world.move_clock(10);
    assert!(world.paths().await.is_empty());
    assert!(world.get("/a").await.is_none());
}

pub async fn history_outlives_expiry(db: Db) {
    let world = World::new(db).await;
    let memory = world.put_with("/a", "word", until(world.in_secs(1))).await;
    world.move_clock(10);
    assert_eq!(world.history().await.len(), 1);
    assert_eq!(world.version(memory.head).await.path, Some(path("/a")));
}

pub async fn what_has_expired_is_named_for_the_sweeper(db: Db) {
    let world = World::new(db).await;
    let end = world.in_secs(10);
    let over = world.put_with("/a", "x", until(end)).await.id;
    world.put_with("/b", "x", until(end.plus_secs(100))).await;
    world.put("/c", "x").await;
    let due = async |moment| world.storage.expired(moment, 10).await.unwrap();
    assert!(due(end.plus_secs(-1)).await.is_empty());
    assert_eq!(due(end).await, [(world.workspace, world.store, over)]);
    assert_eq!(due(end.plus_secs(1000)).await.len(), 2);
    assert_eq!(world.storage.expired(end.plus_secs(1000), 1).await.unwrap().len(), 1);
    world.move_clock(10);
    expire(&world, over).await.unwrap();
    assert!(due(end).await.is_empty());
}

pub async fn expiring_writes_a_deleted_version_by_the_system(db: Db) {
    let world = World::new(db).await;
    let attributes = until(world.in_secs(1));
    let memory = world.put_with("/a", "x", attributes.clone()).await;
    world.move_clock(10);
    let outcome = expire(&world, memory.id).await.unwrap();
    assert_eq!(outcome.operation, Some(Operation::Deleted));
    assert_eq!(outcome.memory, memory);
    let deleted = world.history().await.pop().unwrap();
    assert_eq!((deleted.operation, deleted.revision), (Operation::Deleted, 2));
    assert_eq!((deleted.actor, deleted.path), (Actor::System, Some(path("/a"))));
    assert_eq!(deleted.attributes, Some(attributes));
    let change = world.feed().await.pop().unwrap();
    assert_eq!((change.actor, change.reason.as_str()), (Actor::System, reason::EXPIRED));
    world.assert_sound().await;
}

pub async fn what_is_not_due_does_not_expire(db: Db) {
    let world = World::new(db).await;
    let plain = world.put("/a", "x").await;
    let later = world.put_with("/b", "x", until(world.in_secs(100))).await;
    for memory in [plain.id, later.id, MemoryId::from_u128(next_bits())] {
        assert_refused!(expire(&world, memory).await, StorageError::NotFound(_));
    }
    assert_eq!(world.feed().await.len(), 2);
}

pub async fn a_memory_expires_once(db: Db) {
    let world = World::new(db).await;
    let memory = world.put_with("/a", "x", until(world.in_secs(1))).await;
    world.move_clock(10);
    expire(&world, memory.id).await.unwrap();
    assert_refused!(expire(&world, memory.id).await, StorageError::NotFound(_));
}

pub async fn an_edit_that_meets_an_expired_memory_says_so(db: Db) {
    let world = World::new(db).await;
    let over = world.put_with("/a/b", "x", until(world.in_secs(3))).await.id;
    let other = world.put("/other", "x").await.id;
    world.move_clock(10);
    for edit in [
        put("/a/b", "new"),
        remove("/a/b"),
        update(over, "new"),
        put("/a", "above"),
        put("/a/b/c", "below"),
        rename(other, "/a/b"),
        rename(other, "/a"),
    ] {
        let shown = format!("{:?}", edit.at);
        match world.edit(edit).await {
            Err(StorageError::Expired { memory }) => assert_eq!(memory, over),
            result => panic!("{shown}: {result:?}"),
        }
    }
    assert_eq!(world.feed().await.len(), 2, "a commit does not expire by itself");
}

pub async fn a_path_is_free_once_its_memory_has_expired(db: Db) {
    let world = World::new(db).await;
    let over = world.put_with("/a", "old", until(world.in_secs(1))).await;
    world.move_clock(10);
    expire(&world, over.id).await.unwrap();
    let new = world.put("/a", "new").await;
    assert_ne!(new.id, over.id);
    assert_eq!((new.revision, world.feed().await.len()), (1, 3));
    world.assert_sound().await;
}

pub async fn an_end_can_be_moved_while_the_memory_lives(db: Db) {
    let world = World::new(db).await;
    let memory = world.put_with("/a", "x", until(world.in_secs(5))).await;
    let mut longer = describe(memory.id, Attributes::default());
    if let loci_model::EditOp::Put { attributes, .. } = &mut longer.op {
        attributes.expires_at = Patch::Set(None);
    }
    world.edit(longer).await.unwrap();
    world.move_clock(100);
    assert!(world.get("/a").await.is_some());
    assert!(world.storage.expired(world.now(), 10).await.unwrap().is_empty());
}

pub async fn an_archived_store_still_loses_what_expires(db: Db) {
    let world = World::new(db).await;
    let memory = world.put_with("/a", "x", until(world.in_secs(3))).await;
    world.archive().await;
    world.move_clock(10);
    assert!(world.paths().await.is_empty());
    expire(&world, memory.id).await.unwrap();
    assert_eq!(world.history().await.len(), 2);
}

pub async fn an_expired_memory_counts_until_it_is_removed(db: Db) {
    let policy = StorePolicy { memories_max: 1, ..StorePolicy::default() };
    let world = World::with_policy(db, policy).await;
    let memory = world.put_with("/a", "x", until(world.in_secs(1))).await;
    world.move_clock(10);
    let full = world.edit(put("/b", "x")).await;
    assert_refused!(full, StorageError::StoreFull { limit: 1 });
    expire(&world, memory.id).await.unwrap();
    world.put("/b", "x").await;
}

pub async fn an_expired_memory_can_be_erased(db: Db) {
    let world = World::new(db).await;
    let memory = world.put_with("/a", "x", until(world.in_secs(1))).await;
    world.move_clock(10);
    assert_eq!(super::redact::erase(&world, memory.id).await.unwrap(), 2);
    assert!(world.storage.expired(world.now(), 10).await.unwrap().is_empty());
}
