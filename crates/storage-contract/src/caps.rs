//! Homes with the cap that the Mobius door once gave each home it made, for the tests of migrations: it
//! goes, whoever has written there, and nothing else goes.

use crate::fixture::{World, batch, put};
use loci_model::policy::System;
use loci_model::{
    Address, Cause, PrincipalKind, Store, StoreId, StorePolicy, Timestamp, View, query::ListQuery,
};
use loci_storage::{Batch, Mutation};

/// What nobody chose.
const GIVEN: u64 = 1000;

/// A store, its cap after the migration, and how many memories it holds.
pub type Capped = (StoreId, Option<u64>, usize);

/// Name, whether it is a home, cap, most memories, writes (path, reason), cap after the migration.
type Case = (&'static str, bool, u64, u64, &'static [(&'static str, &'static str)], Option<u64>);

/// Makes stores of every sort: who wrote what there, and what becomes of the cap.
pub async fn furnish(world: &World) -> Vec<Capped> {
    let most = StorePolicy::default().memories_max;
    let cases: [Case; 12] = [
        ("entries only", true, GIVEN, most, &[("/a", "api"), ("/b", "remembered")], None),
        ("of a user", true, GIVEN, most, &[("/:u:eve/a", "api"), ("/a", "promoted")], None),
        ("compacted", true, GIVEN, most, &[("/a", "api"), ("/s", "compacted")], None),
        ("robutler", true, GIVEN, most, &[("/a", "api"), ("/b", "robutler")], None),
        ("a tool", true, GIVEN, most, &[("/b", "tool")], None),
        ("a tree", true, GIVEN, most, &[("/notes/b.md", "api")], None),
        ("of memory stores", true, GIVEN, most, &[("/a.md", "api"), ("/b.md", "api")], None),
        ("small", true, 500, 500, &[("/a", "api")], None),
        ("small with a cap", true, 400, 500, &[("/a", "api")], Some(400)),
        ("another cap", true, 900, most, &[("/b", "robutler")], Some(900)),
        ("no home", false, GIVEN, most, &[("/b", "robutler")], Some(GIVEN)),
        ("no small home", false, 500, 500, &[("/b", "api")], Some(500)),
    ];
    let mut stores = Vec::new();
    for (name, is_home, cap, memories_max, writes, expected) in cases {
        let owner = world.new_one(PrincipalKind::Agent, name).await;
        let policy = StorePolicy { soft_cap: Some(cap), memories_max, ..StorePolicy::default() };
        let store = Store {
            owner,
            address: is_home.then(|| Address::home(owner)),
            ..world.plan_store(policy)
        };
        world.write(Mutation::CreateStore(store.clone())).await.unwrap();
        for (path, reason) in writes {
            let system = System::because("a test writes as every door");
            let pass = system.write(world.workspace, store.id, owner, world.now());
            let cause = Cause::new(None, reason);
            let batch = Batch { cause, ..batch(vec![put(path, reason)]) };
            world.write(Mutation::Commit(pass, batch)).await.unwrap();
        }
        stores.push((store.id, expected, writes.len()));
    }
    stores
}

/// Checks each store's cap, and that nothing is lost.
pub async fn assert_caps(world: &World, stores: &[Capped], now: Timestamp) {
    for (store, expected, count) in stores {
        let system = System::because("a test reads what it wrote");
        let pass = system.read(world.workspace, *store, now);
        let facts = world.storage.facts(world.workspace, *store, world.owner, None).await.unwrap();
        let found = facts.expect("the store is there").store;
        assert_eq!(found.policy.soft_cap, *expected, "{}", found.name);
        let listed = world.storage.list(&pass, &ListQuery::everything(View::Full, 10)).await;
        assert_eq!(listed.unwrap().items.len(), *count);
    }
}
