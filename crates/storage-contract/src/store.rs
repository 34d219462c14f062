//! Stores: described, archived, removed, purged, listed.

use super::fixture::*;
use loci_model::query::{CreatedQuery, Direction, ListQuery, StoreQuery};
use loci_model::store::{OnRemove, Partitioning, PolicyPatch, Repeats, Who};
use loci_model::{
    At, Audience, Expect, Store, StoreId, StorePatch, StorePolicy, View, WorkspaceId, policy,
};
use loci_storage::{Mutation, Receipt, Result, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

fn by_creation() -> StoreQuery {
    CreatedQuery {
        since: None,
        until: None,
        include_archived: false,
        direction: Direction::Ascending,
        after: None,
        limit: 100,
    }
}

async fn listed(world: &World, query: &StoreQuery) -> Vec<StoreId> {
    let page = world.storage.list_stores(&world.browse_pass(), query).await;
    page.unwrap().items.iter().map(|store| store.id).collect()
}

async fn stored(world: &World, receipt: Mutation) -> Result<Store> {
    match world.write(receipt).await? {
        Receipt::Store(store) => Ok(store),
        other => panic!("{other:?}"),
    }
}

async fn remove_store(world: &World) {
    let receipt = world.write(Mutation::RemoveStore(world.manage_pass())).await;
    assert_eq!(receipt.unwrap(), Receipt::StoreRemoved(world.store));
}

pub async fn a_store_comes_back_as_it_was_made(db: Db) {
    let world = World::new(db).await;
    let policy = StorePolicy {
        partitioning: Partitioning::ByOwner,
        remove: Who::Owner,
        share: Who::Owner,
        on_remove: OnRemove::EraseAfter { secs: 7 },
        content_bytes_max: 9,
        memories_max: 11,
        repeats: Repeats::Merge,
        soft_cap: Some(3),
    };
    let store = world.new_store(policy).await;
    let facts = world.storage.facts(world.workspace, store.id, world.owner, None).await.unwrap();
    assert_eq!(facts.unwrap().store, store);
}

pub async fn stores_that_hold_too_much_are_found(db: Db) {
    let world = World::new(db).await;
    let crowded = || async { world.storage.crowded(10).await.unwrap() };
    for path in ["/a", "/b", "/c"] {
        world.put(path, "x").await;
    }
    assert_eq!(crowded().await, []);
    let cap = |cap| Mutation::SetPolicy(world.manage_pass(), PolicyPatch::soft_cap(cap));
    let set = stored(&world, cap(Some(2))).await.unwrap();
    assert_eq!(set.policy.soft_cap, Some(2));
    assert_eq!(crowded().await, [(world.workspace, world.store)]);
    for wrong in [Some(0), Some(u64::MAX)] {
        assert!(matches!(stored(&world, cap(wrong)).await, Err(StorageError::Invalid(_))));
    }
    world.edit(remove("/a")).await.unwrap();
    assert_eq!(crowded().await, []);
    world.put("/d", "x").await;
    stored(&world, cap(None)).await.unwrap();
    assert_eq!(crowded().await, []);
    stored(&world, cap(Some(1))).await.unwrap();
    world.write(Mutation::ArchiveStore(world.manage_pass())).await.unwrap();
    assert_eq!(crowded().await, [], "nothing can be written there any more");
}

pub async fn describing_changes_what_is_named_and_the_time(db: Db) {
    let world = World::new(db).await;
    let before = world.facts(world.owner).await.store;
    let now = world.now();
    let patch = StorePatch {
        name: Some("renamed".into()),
        description: None,
        metadata: [("team".into(), None), ("new".into(), Some("x".into()))].into(),
    };
    let after = stored(&world, Mutation::DescribeStore(world.manage_pass(), patch)).await.unwrap();
    assert_eq!((after.name.as_str(), &after.description), ("renamed", &before.description));
    assert_eq!(after.metadata, [("new".to_owned(), "x".to_owned())].into());
    assert_eq!((after.created_at, after.updated_at), (before.created_at, now));
    assert_eq!(world.facts(world.owner).await.store, after);
}

pub async fn memory_writes_do_not_touch_the_stores_time(db: Db) {
    let world = World::new(db).await;
    let before = world.facts(world.owner).await.store;
    world.put("/a", "x").await;
    assert_eq!(world.facts(world.owner).await.store, before);
}

pub async fn a_description_that_breaks_a_rule_is_refused(db: Db) {
    let world = World::new(db).await;
    let metadata = (0..20).map(|n| (format!("k{n}"), Some("v".to_owned()))).collect();
    for patch in [
        StorePatch { name: Some(String::new()), ..StorePatch::default() },
        StorePatch { metadata, ..StorePatch::default() },
    ] {
        let describe = Mutation::DescribeStore(world.manage_pass(), patch);
        assert_refused!(world.write(describe).await, StorageError::Invalid(_));
    }
}

pub async fn archiving_happens_once(db: Db) {
    let world = World::new(db).await;
    let now = world.now();
    let once = stored(&world, Mutation::ArchiveStore(world.manage_pass())).await.unwrap();
    assert_eq!((once.archived_at, once.updated_at), (Some(now), now));
    let again = stored(&world, Mutation::ArchiveStore(world.manage_pass())).await.unwrap();
    assert_eq!(again, once);
}

pub async fn an_archived_store_takes_removals_only(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "x").await;
    world.archive().await;
    for edit in [
        put("/a", "x"),
        put("/b", "y"),
        append("/a", "z"),
        rename(memory.id, "/c"),
        pin(memory.id),
        expecting(put("/nothing", "x"), Expect::Present),
    ] {
        assert_refused!(world.edit(edit).await, StorageError::Archived);
    }
    assert_refused!(world.commit(vec![remove("/a"), put("/b", "x")]).await, StorageError::Archived);
    assert_eq!(world.text_at("/a").await.unwrap(), "x");
    let patch = StorePatch { name: Some("new".into()), ..StorePatch::default() };
    let describe = Mutation::DescribeStore(world.manage_pass(), patch);
    assert_refused!(world.write(describe).await, StorageError::Archived);
    assert_eq!(world.find(&["x"]).await, [memory.id]);
    world.edit(remove("/a")).await.unwrap();
}

pub async fn an_archived_store_can_be_removed(db: Db) {
    let world = World::new(db).await;
    world.archive().await;
    remove_store(&world).await;
}

pub async fn stores_are_listed_by_creation_in_pages(db: Db) {
    let world = World::new(db).await;
    let mut made = vec![world.store];
    for _ in 0..4 {
        made.push(world.new_store(StorePolicy::default()).await.id);
    }
    for direction in [Direction::Ascending, Direction::Descending] {
        for limit in 1..=6 {
            let mut query = StoreQuery { direction, limit, ..by_creation() };
            let mut joined = Vec::new();
            loop {
                let page = world.storage.list_stores(&world.browse_pass(), &query).await.unwrap();
                joined.extend(page.items.iter().map(|store| store.id));
                let Some(next) = page.next else { break };
                query.after = Some(next);
            }
            assert_eq!(joined, made);
        }
        made.reverse();
    }
}

pub async fn stores_of_one_moment_are_listed_by_id(db: Db) {
    let world = World::new(db).await;
    let mut stores: Vec<Store> = (0..3).map(|_| world.plan_store(StorePolicy::default())).collect();
    let ids: Vec<StoreId> = stores.iter().map(|store| store.id).collect();
    stores.reverse();
    for store in stores {
        world.write(Mutation::CreateStore(store)).await.unwrap();
    }
    let query = StoreQuery { limit: 3, ..by_creation() };
    assert_eq!(listed(&world, &query).await, [vec![world.store], ids[..2].to_vec()].concat());
}

pub async fn store_bounds_in_time_are_inclusive(db: Db) {
    let world = World::new(db).await;
    let mut made = vec![world.facts(world.owner).await.store];
    for _ in 0..2 {
        made.push(world.new_store(StorePolicy::default()).await);
    }
    let middle = Some(made[1].created_at);
    let since = StoreQuery { since: middle, ..by_creation() };
    assert_eq!(listed(&world, &since).await, [made[1].id, made[2].id]);
    let until = StoreQuery { until: middle, ..by_creation() };
    assert_eq!(listed(&world, &until).await, [made[0].id, made[1].id]);
}

pub async fn archived_stores_are_listed_only_when_asked(db: Db) {
    let world = World::new(db).await;
    world.archive().await;
    assert!(listed(&world, &by_creation()).await.is_empty());
    let all = StoreQuery { include_archived: true, ..by_creation() };
    assert_eq!(listed(&world, &all).await, [world.store]);
}

pub async fn a_list_of_stores_stays_in_its_workspace_and_scope(db: Db) {
    let world = World::new(db).await;
    let other = world.new_store(StorePolicy::default()).await.id;
    let elsewhere = world.system().browse(WorkspaceId::from_u128(next_bits()), world.now());
    let page = world.storage.list_stores(&elsewhere, &by_creation()).await.unwrap();
    assert!(page.items.is_empty());
    let mut caller = world.caller(world.owner, Audience::Host);
    caller.scope.stores = Some(vec![other]);
    let pass = policy::browse(&caller, world.now());
    let page = world.storage.list_stores(&pass, &by_creation()).await.unwrap();
    assert_eq!(page.items.iter().map(|store| store.id).collect::<Vec<_>>(), [other]);
}

pub async fn a_removed_store_is_out_of_sight_at_once(db: Db) {
    let world = World::new(db).await;
    let memory = world.put_with("/a", "word", until(world.in_secs(1))).await;
    world.put("/b", "word").await;
    remove_store(&world).await;
    world.move_clock(10);
    assert_eq!(
        world.storage.facts(world.workspace, world.store, world.owner, None).await.unwrap(),
        None
    );
    assert!(listed(&world, &by_creation()).await.is_empty());
    let at = At::Id(memory.id);
    let found = world.storage.get(&world.read_pass(), &at, View::Full).await;
    assert_eq!(found.unwrap(), None);
    assert!(world.find(&["word"]).await.is_empty());
    assert!(world.storage.expired(world.now(), 10).await.unwrap().is_empty());
    let version = world.storage.version(&world.read_pass(), memory.head, View::Full).await;
    assert_eq!(version.unwrap(), None);
    let query = ListQuery::everything(View::Full, 10);
    match world.storage.list(&world.read_pass(), &query).await {
        Ok(page) => assert!(page.items.is_empty()),
        Err(error) => assert!(not_found(&error)),
    }
    match world.storage.versions(&world.read_pass(), &all_versions()).await {
        Ok(page) => assert!(page.items.is_empty()),
        Err(error) => assert!(not_found(&error)),
    }
}

pub async fn facts_stay_in_their_workspace(db: Db) {
    let world = World::new(db).await;
    let elsewhere = WorkspaceId::from_u128(next_bits());
    world.write(Mutation::CreateWorkspace(elsewhere, world.now())).await.unwrap();
    let facts = async |workspace| {
        let facts = world.storage.facts(workspace, world.store, world.owner, None).await;
        facts.unwrap().map(|facts| facts.store.id)
    };
    for _ in 0..2 {
        assert_eq!(facts(elsewhere).await, None);
        assert_eq!(facts(world.workspace).await, Some(world.store));
    }
}

pub async fn a_removed_store_takes_no_writes(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "x").await;
    world.put("/a", "y").await;
    remove_store(&world).await;
    let gone = |result: Result<Receipt>| assert!(not_found(&result.unwrap_err()));
    gone(world.write(Mutation::Commit(world.write_pass(), batch(vec![put("/b", "x")]))).await);
    gone(world.write(Mutation::Redact(world.manage_pass(), memory.head)).await);
    gone(world.write(Mutation::ArchiveStore(world.manage_pass())).await);
    gone(world.write(Mutation::RemoveStore(world.manage_pass())).await);
    let patch = StorePatch::default();
    gone(world.write(Mutation::DescribeStore(world.manage_pass(), patch)).await);
}

pub async fn purging_goes_in_steps_until_nothing_is_left(db: Db) {
    let world = World::new(db).await;
    let edits = (0..5).map(|n| put(&format!("/{n}"), "x")).collect();
    world.commit(edits).await.unwrap();
    let purge = async || {
        let pass = world.manage_pass();
        world.write(Mutation::PurgeStore { pass, limit: 2 }).await
    };
    assert!(not_found(&purge().await.unwrap_err()), "only a removed store is purged");
    remove_store(&world).await;
    assert_eq!(world.storage.unpurged(10).await.unwrap(), [(world.workspace, world.store)]);
    let mut steps = 0;
    while purge().await.unwrap() == (Receipt::Purged { is_done: false }) {
        assert_eq!(world.storage.unpurged(10).await.unwrap(), [(world.workspace, world.store)]);
        steps += 1;
        assert!(steps < 10, "purging ends");
    }
    assert!(steps >= 2);
    assert!(world.storage.unpurged(10).await.unwrap().is_empty());
    assert!(not_found(&purge().await.unwrap_err()));
    world.assert_sound().await;
}

pub async fn a_store_is_unpurged_from_its_removal_until_nothing_is_left(db: Db) {
    let world = World::new(db).await;
    world.commit((0..5).map(|n| put(&format!("/{n}"), "x")).collect()).await.unwrap();
    let other = world.new_workspace().await;
    let is_unpurged = async |workspace, store| {
        let found = world.storage.is_unpurged(workspace, store).await;
        found.unwrap()
    };
    assert!(!is_unpurged(world.workspace, world.store).await, "it is live");
    remove_store(&world).await;
    let mut is_done = false;
    for _ in 0..10 {
        assert_ne!(is_unpurged(world.workspace, world.store).await, is_done);
        assert!(!is_unpurged(other, world.store).await, "it is of another workspace");
        if is_done {
            break;
        }
        let pass = world.manage_pass();
        let purged = world.write(Mutation::PurgeStore { pass, limit: 2 }).await.unwrap();
        is_done = purged == Receipt::Purged { is_done: true };
    }
    assert!(is_done, "purging ends");
    assert!(!is_unpurged(world.workspace, StoreId::from_u128(next_bits())).await, "it never was");
}

pub async fn purging_leaves_other_stores_alone(db: Db) {
    let world = World::new(db).await;
    let doomed = world.new_store(StorePolicy::default()).await.id;
    let pass = world.system().write(world.workspace, doomed, world.owner, world.now());
    world.commit_as(pass, vec![put("/a", "word")]).await.unwrap();
    let kept = world.put("/a", "word").await;
    let manage = || world.system().manage(world.workspace, doomed, world.now());
    world.write(Mutation::RemoveStore(manage())).await.unwrap();
    let purge = Mutation::PurgeStore { pass: manage(), limit: 100 };
    assert_eq!(world.write(purge).await.unwrap(), Receipt::Purged { is_done: true });
    assert_eq!(world.find(&["word"]).await, [kept.id]);
    assert_eq!(world.history().await.len(), 1);
    world.assert_sound().await;
}

pub async fn a_store_of_another_workspace_is_not_purged(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "text").await;
    world.write(Mutation::RemoveStore(world.manage_pass())).await.unwrap();
    let other = world.new_workspace().await;
    let pass = world.system().manage(other, world.store, world.now());
    let refused = world.write(Mutation::PurgeStore { pass, limit: 10 }).await;
    assert!(not_found(&refused.unwrap_err()));
    assert_eq!(world.storage.unpurged(10).await.unwrap(), [(world.workspace, world.store)]);
}
