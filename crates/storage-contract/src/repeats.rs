//! Repeated content: what a store that minds it does with a new memory whose text it has already.

use super::fixture::*;
use loci_model::store::Repeats;
use loci_model::{Memory, PrincipalId, Store, StorePolicy, Visibility};
use loci_storage::log::ImportItem;
use loci_storage::{Mutation, Receipt, Result, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

async fn world_that(db: Db, repeats: Repeats) -> World {
    World::with_policy(db, StorePolicy { repeats, ..StorePolicy::default() }).await
}

async fn set(world: &World, repeats: Repeats) -> Result<Store> {
    match world.write(Mutation::SetPolicy(world.manage_pass(), repeats.into())).await? {
        Receipt::Store(store) => Ok(store),
        other => panic!("{other:?}"),
    }
}

async fn assert_repeats(world: &World, edit: loci_model::Edit, known: &Memory) {
    match world.edit(edit).await {
        Err(StorageError::Repeat { memory, path }) => {
            assert_eq!((memory, path), (known.id, known.path.clone()));
        }
        other => panic!("expected a repeat, got {other:?}"),
    }
}

pub async fn repeats_are_kept_where_nobody_minds(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "same").await;
    world.put("/b", "same").await;
    assert_eq!(world.paths().await, ["/a", "/b"]);
}

pub async fn a_repeat_is_refused_by_name(db: Db) {
    let world = world_that(db, Repeats::Refuse).await;
    let known = world.put("/a", "same").await;
    assert_repeats(&world, put("/b", "same"), &known).await;
    assert_repeats(&world, append("/b", "same"), &known).await;
    assert_repeats(&world, with_attributes(put("/b", "same"), of_kind("fact")), &known).await;
    world.put("/b", "other").await;
    assert_eq!(world.paths().await, ["/a", "/b"]);
    assert_eq!(world.feed().await.len(), 2);
    world.assert_sound().await;
}

pub async fn a_repeat_is_merged_into_what_is_there(db: Db) {
    let world = world_that(db, Repeats::Merge).await;
    let known = world.put("/a", "same").await;
    let outcome = world.edit(put("/b", "same")).await.unwrap();
    assert_eq!((outcome.memory, outcome.operation), (known, None));
    assert_eq!(world.paths().await, ["/a"]);
    assert_eq!(world.feed().await.len(), 1);
    world.assert_sound().await;
}

pub async fn the_oldest_is_what_a_new_one_repeats(db: Db) {
    let world = World::new(db).await;
    let oldest = world.put("/z", "same").await;
    world.put("/a", "same").await;
    set(&world, Repeats::Refuse).await.unwrap();
    assert_repeats(&world, put("/b", "same"), &oldest).await;
}

pub async fn only_new_memories_repeat(db: Db) {
    let world = world_that(db, Repeats::Refuse).await;
    world.put("/a", "same").await;
    let other = world.put("/b", "other").await;
    world.put("/b", "same").await;
    world.edit(rename(other.id, "/c")).await.unwrap();
    world.put("/a", "same").await;
    assert_eq!(world.paths().await, ["/a", "/c"]);
    world.assert_sound().await;
}

pub async fn what_is_gone_changed_expired_or_sealed_is_not_repeated(db: Db) {
    let world = world_that(db, Repeats::Refuse).await;
    world.put("/removed", "one").await;
    world.edit(remove("/removed")).await.unwrap();
    world.put("/1", "one").await;
    world.put("/changed", "two").await;
    world.put("/changed", "not two").await;
    world.put("/2", "two").await;
    world.put_with("/over", "three", until(world.in_secs(5))).await;
    world.move_clock(10);
    world.put("/3", "three").await;
    world.edit(put_sealed("/sealed", b"four")).await.unwrap();
    let open = world.put("/4", "four").await;
    world.edit(put_sealed("/sealed too", b"four")).await.unwrap();
    assert_repeats(&world, put("/5", "four"), &open).await;
    world.assert_sound().await;
}

pub async fn partitions_repeat_apart(db: Db) {
    let world = world_that(db, Repeats::Refuse).await;
    let [one, two] = [PrincipalId::from_u128(71), PrincipalId::from_u128(72)];
    world.put("/a", "same").await;
    let ones = world.edit(put_in(one, "/a", "same")).await.unwrap().memory;
    world.edit(put_in(two, "/a", "same")).await.unwrap();
    assert_repeats(&world, put_in(one, "/b", "same"), &ones).await;
}

pub async fn stores_repeat_apart(db: Db) {
    let world = world_that(db, Repeats::Refuse).await;
    world.put("/a", "same").await;
    let policy = StorePolicy { repeats: Repeats::Merge, ..StorePolicy::default() };
    let other = world.new_store(policy).await.id;
    let pass = world.system().write(world.workspace, other, world.owner, world.now());
    let outcomes = world.commit_as(pass, vec![put("/b", "same")]).await.unwrap();
    assert!(outcomes[0].is_created());
}

pub async fn a_model_learns_of_no_hidden_repeat(db: Db) {
    for repeats in [Repeats::Refuse, Repeats::Merge] {
        let world = world_that(Arc::clone(&db), repeats).await;
        let hidden = world.put_with("/in", "same", shown_as(Visibility::Internal)).await;
        let pass = world.model_write_pass().await;
        let outcomes = world.commit_as(pass, vec![put("/b", "same")]).await.unwrap();
        assert!(outcomes[0].is_created());
        let by_host = world.edit(put("/c", "same")).await;
        match repeats {
            Repeats::Merge => assert_eq!(by_host.unwrap().memory.id, hidden.id, "the oldest"),
            _ => assert_refused!(by_host, StorageError::Repeat { .. }),
        }
    }
}

pub async fn a_batch_repeats_itself(db: Db) {
    let world = world_that(db, Repeats::Merge).await;
    let edits = vec![put("/a", "same"), put("/b", "same"), put("/c", "new"), remove("/a")];
    let outcomes = world.commit(edits).await.unwrap();
    assert_eq!(outcomes[0].memory, outcomes[1].memory);
    assert_eq!(outcomes[1].operation, None);
    assert_eq!(world.paths().await, ["/c"]);
    set(&world, Repeats::Refuse).await.unwrap();
    let edits = vec![put("/d", "twice"), put("/e", "twice")];
    assert_refused!(world.commit(edits).await, StorageError::Repeat { .. });
    assert_eq!(world.paths().await, ["/c"]);
    world.put("/f", "twice").await;
    world.assert_sound().await;
}

pub async fn a_taken_path_is_told_before_a_repeat(db: Db) {
    let world = world_that(db, Repeats::Merge).await;
    world.put("/a", "same").await;
    let refused = world.edit(put("/a/b", "same")).await;
    assert_refused!(refused, StorageError::PathTaken { .. });
}

pub async fn a_full_store_still_merges(db: Db) {
    let policy = StorePolicy { repeats: Repeats::Merge, memories_max: 1, ..StorePolicy::default() };
    let world = World::with_policy(db, policy).await;
    let known = world.put("/a", "same").await;
    assert_eq!(world.put("/b", "same").await, known);
    let refused = world.edit(put("/b", "new")).await;
    assert_refused!(refused, StorageError::StoreFull { limit: 1 });
}

pub async fn a_merged_creation_is_replayed_as_it_was(db: Db) {
    let world = world_that(db, Repeats::Merge).await;
    world.put("/a", "same").await;
    let write = async || {
        let key = idempotency(world.workspace, 1, "k", 1, world.now());
        let commit = Mutation::Commit(world.write_pass(), batch(vec![put("/b", "same")]));
        world.storage.write(commit, Some(key)).await.unwrap()
    };
    let first = write().await;
    world.put("/a", "other").await;
    let again = write().await;
    assert_eq!((again.is_replay, again.receipt), (true, first.receipt));
    assert_eq!(world.paths().await, ["/a"]);
}

pub async fn what_becomes_of_repeats_can_be_changed(db: Db) {
    let world = World::new(db).await;
    let before = world.facts(world.owner).await.store;
    let known = world.put("/a", "same").await;
    let store = set(&world, Repeats::Refuse).await.unwrap();
    assert_eq!(store.policy.repeats, Repeats::Refuse);
    assert!(store.updated_at > before.updated_at);
    assert_eq!(world.facts(world.owner).await.store, store);
    assert_repeats(&world, put("/b", "same"), &known).await;
    world.assert_sound().await;
    let again = set(&world, Repeats::Refuse).await.unwrap();
    assert_eq!(again, store, "the same again changes nothing");
    set(&world, Repeats::Merge).await.unwrap();
    assert_eq!(world.put("/b", "same").await.id, known.id);
    world.assert_sound().await;
    set(&world, Repeats::Allow).await.unwrap();
    assert_ne!(world.put("/b", "same").await.id, known.id);
    world.assert_sound().await;
    world.archive().await;
    assert_refused!(set(&world, Repeats::Refuse).await, StorageError::Archived);
}

pub async fn a_history_with_repeats_is_imported_as_it_was(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "same").await;
    world.put("/b", "same").await;
    world.edit(remove("/a")).await.unwrap();
    let store = set(&world, Repeats::Refuse).await.unwrap();
    let log = world.storage.log(&world.admin_pass(), world.store, 0, 10).await.unwrap();
    world.write(Mutation::RemoveStore(world.manage_pass())).await.unwrap();
    let purge = Mutation::PurgeStore { pass: world.manage_pass(), limit: 10 };
    world.write(purge).await.unwrap();
    let mut items = vec![ImportItem::Store(Box::new(store))];
    items.extend(log.into_iter().map(|entry| ImportItem::Entry(world.store, entry)));
    world.write(Mutation::Import(world.admin_pass(), items)).await.unwrap();
    world.assert_sound().await;
    let known = world.get("/b").await.unwrap();
    assert_repeats(&world, put("/c", "same"), &known).await;
}
