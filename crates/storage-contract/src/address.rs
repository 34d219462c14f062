//! Stores that are found by a foreign name, and memories that are found in whatever partition.

use super::fixture::*;
use loci_model::store::{Partitioning, Who};
use loci_model::{
    Address, At, Audience, Content, Edit, Expect, Memory, PrincipalId, Store, StoreId, StorePolicy,
    View, Visibility,
};
use loci_storage::log::ImportItem;
use loci_storage::{Mutation, Receipt, Storage, StorageError};
use std::sync::Arc;
use tokio::task::JoinSet;

type Db = Arc<dyn Storage>;

fn address(text: &str) -> Address {
    Address::parse(text).unwrap()
}

fn plan(world: &World, at: &str) -> Store {
    Store { address: Some(address(at)), ..world.plan_store(StorePolicy::default()) }
}

async fn create(world: &World, store: &Store) -> Store {
    match world.write(Mutation::CreateStore(store.clone())).await.unwrap() {
        Receipt::Store(store) => store,
        other => panic!("{other:?}"),
    }
}

async fn at(world: &World, at: &str) -> Option<StoreId> {
    world.storage.store_at(world.workspace, &address(at)).await.unwrap()
}

async fn remove(world: &World, store: StoreId) {
    let pass = world.system().manage(world.workspace, store, world.now());
    world.write(Mutation::RemoveStore(pass)).await.unwrap();
}

pub async fn a_store_is_found_by_its_address(db: Db) {
    let world = World::new(db).await;
    assert_eq!(at(&world, "home:é").await, None);
    let store = plan(&world, "home:é");
    assert_eq!(create(&world, &store).await, store);
    assert_eq!(at(&world, "home:é").await, Some(store.id));
    assert_eq!(at(&world, "home:e").await, None);
    let found = world.storage.facts(world.workspace, store.id, world.owner, None).await.unwrap();
    assert_eq!(found.unwrap().store, store);
    let elsewhere = world.new_workspace().await;
    let found = world.storage.store_at(elsewhere, &address("home:é")).await.unwrap();
    assert_eq!(found, None);
    let theirs = Store { workspace: elsewhere, ..plan(&world, "home:é") };
    assert_eq!(create(&world, &theirs).await, theirs, "every workspace has its own addresses");
    assert_eq!(at(&world, "home:é").await, Some(store.id));
}

pub async fn what_is_at_an_address_already_is_the_receipt(db: Db) {
    let world = World::new(db).await;
    let first = create(&world, &plan(&world, "x")).await;
    let second = Store { name: "another".into(), ..plan(&world, "x") };
    assert_eq!(create(&world, &second).await, first);
    let gone = world.storage.facts(world.workspace, second.id, world.owner, None).await.unwrap();
    assert_eq!(gone, None);
    let same_id = Mutation::CreateStore(Store { address: Some(address("y")), ..first.clone() });
    assert_refused!(world.write(same_id).await, StorageError::Taken("memory store"));
    let same = Mutation::CreateStore(first);
    assert_refused!(world.write(same).await, StorageError::Taken("memory store"));
    let nowhere = world.plan_store(StorePolicy::default());
    assert_eq!(create(&world, &nowhere).await, nowhere, "stores without one do not meet");
}

pub async fn of_many_creations_at_one_address_one_wins(db: Db) {
    let world = World::new(db).await;
    let mut under_way = JoinSet::new();
    for _ in 0..16 {
        let (storage, store) = (world.storage.clone(), plan(&world, "home"));
        under_way.spawn(async move {
            match storage.write(Mutation::CreateStore(store), None).await.unwrap().receipt {
                Receipt::Store(store) => store.id,
                other => panic!("{other:?}"),
            }
        });
    }
    let told = under_way.join_all().await;
    let one = at(&world, "home").await.unwrap();
    assert!(told.iter().all(|store| *store == one), "{told:?}");
    let caller = world.caller(world.owner, Audience::Host);
    assert_eq!(world.storage.all_facts(&caller).await.unwrap().len(), 2);
}

pub async fn a_removed_store_frees_its_address(db: Db) {
    let world = World::new(db).await;
    let first = create(&world, &plan(&world, "x")).await.id;
    remove(&world, first).await;
    assert_eq!(at(&world, "x").await, None);
    let second = plan(&world, "x");
    assert_eq!(create(&world, &second).await, second);
    assert_eq!(at(&world, "x").await, Some(second.id));
    let pass = world.system().manage(world.workspace, first, world.now());
    let purge = Mutation::PurgeStore { pass, limit: 10 };
    assert_eq!(world.write(purge).await.unwrap(), Receipt::Purged { is_done: true });
    assert_eq!(at(&world, "x").await, Some(second.id));
    world.assert_sound().await;
}

pub async fn an_archived_store_keeps_its_address(db: Db) {
    let world = World::new(db).await;
    let store = create(&world, &plan(&world, "x")).await;
    let pass = world.system().manage(world.workspace, store.id, world.now());
    world.write(Mutation::ArchiveStore(pass)).await.unwrap();
    assert_eq!(at(&world, "x").await, Some(store.id));
    let there = create(&world, &plan(&world, "x")).await;
    assert!(there.id == store.id && there.archived_at.is_some());
}

pub async fn a_store_is_not_imported_at_a_taken_address(db: Db) {
    let world = World::new(db).await;
    let import = async |store: &Store| {
        let items = vec![ImportItem::Store(Box::new(store.clone()))];
        world.write(Mutation::Import(world.admin_pass(), items)).await
    };
    let first = plan(&world, "x");
    assert_eq!(import(&first).await.unwrap(), Receipt::Imported(1));
    assert_eq!(import(&first).await.unwrap(), Receipt::Imported(0), "equal ones are passed over");
    assert_refused!(import(&plan(&world, "x")).await, StorageError::Taken("address"));
    let other = Store { address: Some(address("y")), ..first.clone() };
    assert_refused!(import(&other).await, StorageError::Taken("memory store"));
    assert_eq!((at(&world, "x").await, at(&world, "y").await), (Some(first.id), None));
    remove(&world, first.id).await;
    assert_eq!(import(&plan(&world, "x")).await.unwrap(), Receipt::Imported(1));
}

/// A store where each writer has a place of its own.
async fn shared(db: Db) -> (World, [PrincipalId; 2]) {
    let policy = StorePolicy {
        partitioning: Partitioning::ByOwner,
        remove: Who::Owner,
        share: Who::Writer,
        ..StorePolicy::default()
    };
    let world = World::with_policy(db, policy).await;
    let two = [world.new_principal("one").await, world.new_principal("two").await];
    (world, two)
}

async fn newest(world: &World, at: &str) -> Option<Memory> {
    world.storage.newest(&world.read_pass(), &path(at), View::Full).await.unwrap()
}

async fn text(world: &World, at: &str) -> Option<String> {
    let content = newest(world, at).await?.content;
    content.as_ref().and_then(Content::text).map(str::to_owned)
}

pub async fn the_newest_of_a_path_is_what_changed_last(db: Db) {
    let (world, [one, two]) = shared(db).await;
    assert_eq!(newest(&world, "/key").await, None);
    let first = world.edit(put_in(one, "/key", "first")).await.unwrap().memory;
    assert_eq!(text(&world, "/key").await.unwrap(), "first");
    world.edit(put_in(two, "/key", "second")).await.unwrap();
    world.edit(put_in(two, "/other", "third")).await.unwrap();
    world.edit(put_in(two, "/ke", "fourth")).await.unwrap();
    assert_eq!(text(&world, "/key").await.unwrap(), "second");
    world.edit(update(first.id, "again")).await.unwrap();
    assert_eq!(text(&world, "/key").await.unwrap(), "again");
    let whole = newest(&world, "/key").await.unwrap();
    assert_eq!((whole.id, whole.partition, whole.owner), (first.id, Some(one), world.owner));
    let basic = world.storage.newest(&world.read_pass(), &path("/key"), View::Basic).await;
    assert_eq!(basic.unwrap().unwrap(), Memory { content: None, ..whole });
    world.edit(rename(first.id, "/moved")).await.unwrap();
    assert_eq!(text(&world, "/key").await.unwrap(), "second");
    let unknown = StoreId::from_u128(next_bits());
    let pass = world.system().read(world.workspace, unknown, world.now());
    assert_eq!(world.storage.newest(&pass, &path("/key"), View::Full).await.unwrap(), None);
}

pub async fn the_newest_of_a_path_is_one_that_the_reader_may_see(db: Db) {
    let (world, [one, two]) = shared(db).await;
    world.edit(put_in(one, "/key", "plain")).await.unwrap();
    let hidden = with_attributes(put_in(two, "/key", "hidden"), shown_as(Visibility::Internal));
    let hidden = world.edit(hidden).await.unwrap().memory;
    assert_eq!(text(&world, "/key").await.unwrap(), "hidden");
    let pass = world.model_read_pass().await;
    let seen = world.storage.newest(&pass, &path("/key"), View::Full).await.unwrap().unwrap();
    assert_eq!(seen.partition, Some(one));
    let brief = with_attributes(put_in(world.owner, "/key", "brief"), until(world.in_secs(5)));
    world.edit(brief).await.unwrap();
    assert_eq!(text(&world, "/key").await.unwrap(), "brief");
    world.move_clock(5);
    assert_eq!(text(&world, "/key").await.unwrap(), "hidden", "what is over is not there");
    let removal = Edit::remove(At::Id(hidden.id), Expect::Anything);
    world.edit(removal).await.unwrap();
    assert_eq!(text(&world, "/key").await.unwrap(), "plain");
}
