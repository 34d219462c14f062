//! Counting: by kind, of each path what changed last, as the reader may see it; and what is kept at
//! addresses that begin alike.

use super::fixture::*;
use loci_model::query::{Amount, Tally};
use loci_model::store::Partitioning;
use loci_model::{Address, At, Edit, Expect, Store, StoreId, StorePolicy, Visibility};
use loci_storage::{Mutation, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

async fn count(world: &World, besides: Option<&str>) -> Vec<(String, u64)> {
    let tally = world.storage.tally(&world.read_pass(), besides).await.unwrap();
    spelled(tally)
}

fn spelled(tally: Tally) -> Vec<(String, u64)> {
    tally.kinds.into_iter().map(|(kind, count)| (kind.unwrap_or_default(), count)).collect()
}

fn kinds(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
}

pub async fn memories_are_counted_by_kind(db: Db) {
    let world = World::new(db).await;
    assert_eq!(world.storage.tally(&world.read_pass(), None).await.unwrap(), Tally::default());
    world.put_with("/a", "one", of_kind("fact")).await;
    world.put_with("/b/c", "two", of_kind("fact")).await;
    world.put_with("/b/d", "three", of_kind("episode")).await;
    let last = world.put("/e", "four").await;
    let sealed = world.edit(put_sealed("/f", b"five")).await.unwrap().memory;
    let tally = world.storage.tally(&world.read_pass(), None).await.unwrap();
    assert_eq!(tally.updated_at, Some(last.updated_at), "{sealed:?} is not counted");
    assert_eq!(spelled(tally), kinds(&[("", 1), ("episode", 1), ("fact", 2)]));
    assert_eq!(count(&world, Some("/b")).await, kinds(&[("", 1), ("fact", 1)]));
    assert_eq!(count(&world, Some("/b/c")).await, kinds(&[("", 1), ("episode", 1), ("fact", 1)]));
    world.edit(remove("/e")).await.unwrap();
    assert_eq!(count(&world, None).await, kinds(&[("episode", 1), ("fact", 2)]));
}

pub async fn of_each_path_only_the_newest_is_counted(db: Db) {
    let policy = StorePolicy { partitioning: Partitioning::ByOwner, ..StorePolicy::default() };
    let world = World::with_policy(db, policy).await;
    let [one, two] = [world.new_principal("one").await, world.new_principal("two").await];
    let of = |who, kind| with_attributes(put_in(who, "/key", kind), of_kind(kind));
    let first = world.edit(of(one, "fact")).await.unwrap().memory;
    let second = world.edit(of(two, "episode")).await.unwrap().memory;
    assert_eq!(count(&world, None).await, kinds(&[("episode", 1)]));
    world.edit(update(first.id, "again")).await.unwrap();
    assert_eq!(count(&world, None).await, kinds(&[("fact", 1)]));
    world.edit(Edit::remove(At::Id(first.id), Expect::Anything)).await.unwrap();
    assert_eq!(count(&world, None).await, kinds(&[("episode", 1)]));
    let tally = world.storage.tally(&world.read_pass(), None).await.unwrap();
    assert_eq!(tally.updated_at, Some(second.updated_at));
}

pub async fn only_what_the_reader_may_see_is_counted(db: Db) {
    let world = World::new(db).await;
    world.put_with("/plain", "one", of_kind("fact")).await;
    world.put_with("/hidden", "two", shown_as(Visibility::Internal)).await;
    world.put_with("/held", "three", shown_as(Visibility::Quarantine)).await;
    world.put_with("/brief", "four", until(world.in_secs(5))).await;
    let model = world.model_read_pass().await;
    let seen = spelled(world.storage.tally(&model, None).await.unwrap());
    assert_eq!(seen, kinds(&[("", 1), ("fact", 1)]));
    assert_eq!(count(&world, None).await, kinds(&[("", 3), ("fact", 1)]));
    world.move_clock(5);
    assert_eq!(count(&world, None).await, kinds(&[("", 2), ("fact", 1)]));
}

pub async fn a_store_that_is_gone_cannot_be_counted(db: Db) {
    let world = World::new(db).await;
    let unknown = StoreId::from_u128(next_bits());
    let pass = world.system().read(world.workspace, unknown, world.now());
    let refused = world.storage.tally(&pass, None).await.unwrap_err();
    assert!(matches!(refused, StorageError::NotFound(_)), "{refused:?}");
}

pub async fn what_is_kept_at_addresses_is_counted_by_owner_and_for_all(db: Db) {
    let world = World::new(db).await;
    let [one, two] = [world.new_principal("one").await, world.new_principal("two").await];
    let made = async |owner, at: &str, texts: &[&str]| {
        let address = Some(Address::parse(at).unwrap());
        let store = Store { owner, address, ..world.plan_store(StorePolicy::default()) };
        world.write(Mutation::CreateStore(store.clone())).await.unwrap();
        let pass = world.system().write(world.workspace, store.id, owner, world.now());
        for (at, text) in texts.iter().enumerate() {
            let edits = vec![put(&format!("/{at}"), text)];
            world.commit_as(pass.clone(), edits).await.unwrap();
        }
        (store.id, pass)
    };
    let kept = async |owner, addresses: &str| {
        let kept = world.storage.kept(&world.admin_pass(), owner, addresses).await.unwrap();
        (kept.memories, kept.bytes)
    };
    assert_eq!(kept(None, "visit:").await, (0, 0));
    let (first, pass) = made(one, "visit:a", &["one", "three"]).await;
    made(one, "visit:b", &["é"]).await;
    made(two, "visit:c", &["four"]).await;
    made(two, "visitor:d", &["elsewhere"]).await;
    made(two, "Visit:e", &["elsewhere"]).await;
    world.put("/no/address", "elsewhere").await;
    assert_eq!(kept(Some(one), "visit:").await, (3, 10));
    assert_eq!(kept(Some(two), "visit:").await, (1, 4));
    assert_eq!(kept(None, "visit:").await, (4, 14));
    assert_eq!(kept(Some(world.owner), "visit:").await, (0, 0));
    assert_eq!((kept(None, "visit").await, kept(None, "").await), ((5, 23), (6, 32)));
    assert_eq!(
        (kept(None, "Visit:e").await, kept(None, "visit:\u{10ffff}").await),
        ((1, 9), (0, 0))
    );
    // What is taken away is kept no more, as far as this goes.
    world.commit_as(pass, vec![remove("/1")]).await.unwrap();
    assert_eq!(kept(Some(one), "visit:").await, (2, 5));
    let gone = world.system().manage(world.workspace, first, world.now());
    world.write(Mutation::RemoveStore(gone)).await.unwrap();
    assert_eq!((kept(Some(one), "visit:").await, kept(None, "visit:").await), ((1, 2), (2, 6)));
    let elsewhere = world.system().administer(world.new_workspace().await, world.now());
    let theirs = world.storage.kept(&elsewhere, None, "visit:").await.unwrap();
    assert_eq!(theirs, Amount::default());
}
