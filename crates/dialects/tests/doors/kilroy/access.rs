//! Whose store a `memory_id` is: the platform's for the platform, one's own for everybody else, and
//! the platform's for those whom it lets in. Nobody takes a name from anybody by being first.

use crate::kilroy::world::{World, contents, error};
use loci_engine::{NewGrant, NewPrincipal};
use loci_model::query::{Direction, StoreQuery};
use loci_model::{Caller, Grantee, KeyScope, Level, Power, PrincipalKind, Store};
use serde_json::{Value, json};

async fn read(world: &World, caller: &Caller) -> Value {
    world.ask_as(caller.clone(), "memory_read", json!({"memory_id": "m"}), "").await
}

async fn write(world: &World, caller: &Caller, text: &str) -> Value {
    world.ask_as(caller.clone(), "memory_write", json!({"memory_id": "m"}), text).await
}

async fn stores(world: &World) -> Vec<Store> {
    let query = StoreQuery {
        since: None,
        until: None,
        include_archived: true,
        direction: Direction::Ascending,
        after: None,
        limit: 100,
    };
    let context = World::context(world.platform());
    world.engine.list_stores(&context, &query).await.unwrap().items
}

fn addresses(stores: &[Store]) -> Vec<&str> {
    stores.iter().map(|store| store.address.as_ref().unwrap().as_str()).collect()
}

/// A key that acts for agents, of a service.
async fn service(world: &World, name: &str) -> Caller {
    let new = NewPrincipal { kind: PrincipalKind::Service, name: name.into(), is_admin: false };
    let workspace = world.platform().workspace;
    let made = world.engine.declare_principal(workspace, new).await.unwrap();
    Caller {
        principal: made.id,
        is_admin: false,
        acts_for_agents: true,
        scope: KeyScope { power: Power::UpTo(Level::ReadWrite), stores: None },
        ..world.platform()
    }
}

#[tokio::test]
async fn being_first_gives_nobody_the_platforms_name() {
    let world = World::new().await;
    let (eve, ana) = (world.agent("eve").await, world.agent("ana").await);
    write(&world, &eve, "eve's").await;
    write(&world, &world.platform(), "platform's").await;
    assert_eq!(contents(&read(&world, &eve).await), ["eve's"]);
    assert_eq!(contents(&read(&world, &world.platform()).await), ["platform's"]);
    assert_eq!(read(&world, &ana).await, json!([]));
    let all = stores(&world).await;
    assert_eq!(addresses(&all), [&*format!("kilroy:{}:m", eve.principal), "kilroy:m"]);
    assert!(all.iter().all(|store| store.name == "kilroy m"));
    assert_eq!(all[0].owner, eve.principal);
    assert_eq!(all[0].policy.content_bytes_max, 1024 * 1024);
}

#[tokio::test]
async fn who_was_let_in_uses_the_platforms() {
    let world = World::new().await;
    let (ana, bo, cy) =
        (world.agent("ana").await, world.agent("bo").await, world.agent("cy").await);
    write(&world, &world.platform(), "platform's").await;
    let store = stores(&world).await.remove(0).id;
    for (agent, level) in [(&ana, Level::ReadWrite), (&bo, Level::Read), (&cy, Level::Search)] {
        let grantee = Grantee::Principal(agent.principal);
        let new = NewGrant { grantee, level, expires_at: None };
        world.engine.share(&World::context(world.platform()), store, new).await.unwrap();
    }
    assert!(write(&world, &ana, "ana's").await["guid"].is_string());
    assert_eq!(contents(&read(&world, &bo).await), ["platform's", "ana's"]);
    // Who may not write is told so, and not led to an empty store of its own.
    assert!(error(&write(&world, &bo, "bo's").await).contains("does not allow"));
    let delete = json!({"memory_id": "m", "kind": "observation"});
    let answer = world.ask_as(bo.clone(), "memory_delete", delete, "").await;
    assert!(error(&answer).contains("does not allow"));
    assert!(error(&read(&world, &cy).await).contains("does not allow"));
    let search = json!({"memory_id": "m"});
    let found = world.ask_as(cy, "memory_search", search, "platform").await;
    assert_eq!(contents(&found), ["platform's"]);
    assert_eq!(stores(&world).await.len(), 1);
}

#[tokio::test]
async fn platforms_do_not_lock_each_other_out() {
    let world = World::new().await;
    let (one, two) = (service(&world, "one").await, service(&world, "two").await);
    write(&world, &one, "of one").await;
    assert_eq!(read(&world, &two).await, json!([]));
    write(&world, &two, "of two").await;
    assert_eq!(contents(&read(&world, &one).await), ["of one"]);
    assert_eq!(contents(&read(&world, &two).await), ["of two"]);
    // An administrator has the first.
    assert_eq!(contents(&read(&world, &world.platform()).await), ["of one"]);
    let own = format!("kilroy:{}:m", two.principal);
    assert_eq!(addresses(&stores(&world).await), ["kilroy:m", &own]);
}

#[tokio::test]
async fn a_key_that_may_only_read_makes_nothing() {
    let world = World::new().await;
    let mut ana = world.agent("ana").await;
    ana.scope.power = Power::UpTo(Level::Read);
    assert!(error(&write(&world, &ana, "x").await).contains("does not allow"));
    assert_eq!(read(&world, &ana).await, json!([]));
    ana.scope.stores = Some(Vec::new());
    assert!(error(&read(&world, &ana).await).contains("does not allow"));
    assert!(stores(&world).await.is_empty());
}

#[tokio::test]
async fn an_archived_store_says_so() {
    let world = World::new().await;
    let guid = world.write(json!({"memory_id": "m"}), "x").await;
    let store = stores(&world).await.remove(0).id;
    world.engine.archive_store(&World::context(world.platform()), store).await.unwrap();
    assert!(error(&write(&world, &world.platform(), "y").await).contains("archived"));
    assert_eq!(contents(&read(&world, &world.platform()).await), ["x"]);
    assert_eq!(world.ask("memory_delete", json!({"memory_id": "m"}), &guid).await["deleted"], 1);
}
