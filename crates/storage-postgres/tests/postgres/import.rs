//! A history that comes in is counted right, also where a memory takes the place of one that went in
//! the same import: what it makes room for is written before it is looked for.

use crate::database::Scratch;
use loci_storage::log::ImportItem;
use loci_storage::{Mutation, Storage};
use loci_storage_contract::fixture::{World, remove};
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_above_one_that_went_is_counted() {
    let scratch = Scratch::new().await;
    let world = World::new(Arc::new(scratch.open().await)).await;
    world.put("/a/b", "below").await;
    world.edit(remove("/a/b")).await.unwrap();
    world.put("/a", "above").await;
    let log = world.storage.log(&world.admin_pass(), world.store, 0, 10).await.unwrap();
    let store = world.facts(world.owner).await.store;

    let other = Scratch::new().await;
    let copy = other.open().await;
    let make = Mutation::CreateWorkspace(world.workspace, world.now());
    copy.write(make, None).await.unwrap();
    let mut items = vec![ImportItem::Store(Box::new(store))];
    items.extend(log.into_iter().map(|entry| ImportItem::Entry(world.store, entry)));
    copy.write(Mutation::Import(world.admin_pass(), items), None).await.unwrap();
    let expected = world.storage.stats(&world.read_pass()).await.unwrap();
    assert_eq!(copy.stats(&world.read_pass()).await.unwrap(), expected);
    assert_eq!(copy.check().await.unwrap().problems, Vec::<String>::new());
}
