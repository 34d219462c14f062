//! What this door keeps is there for the operator through the others, and for nobody else.

use crate::qiforge::world::{OWNER, World, owner, user};
use loci_engine::Error;
use loci_model::query::StoreQuery;
use loci_model::{Audience, Edit, MemoryPath, Store};
use serde_json::json;

async fn stores(world: &World, context: &loci_engine::Context) -> Vec<Store> {
    let query = StoreQuery {
        since: None,
        until: None,
        include_archived: false,
        direction: Default::default(),
        after: None,
        limit: 100,
    };
    world.engine.list_stores(context, &query).await.unwrap().items
}

#[tokio::test]
async fn the_operator_sees_the_stores_and_others_do_not() {
    let world = World::new().await;
    let ana = user("ana");
    world.tool(&ana, "add_memory", json!({"name": "n", "content": "a heron"})).await;
    let added = json!({"name": "k", "content": "a stork", "confirmed_insertion_from_user": true,
        "knowledge_space_type": "private"});
    world.tool(&owner(), "add_oracle_knowledge", added).await;
    let administrator = world.administrator();
    let seen = stores(&world, &administrator).await;
    let names: Vec<&str> = seen.iter().map(|store| store.name.as_str()).collect();
    assert_eq!(seen.len(), 2, "{names:?}");
    assert!(names.contains(&"qiforge !room:server with did:ixo:ixo1oracle"), "{names:?}");
    // What the operator puts into somebody's store is found through this door.
    let own = seen.iter().find(|store| store.name.contains("room")).unwrap();
    let path = MemoryPath::parse("/notes/one").unwrap();
    let edit = Edit::put_text(path, "a heron of the operator's");
    world.engine.commit_one(&administrator, own.id, edit, "test").await.unwrap();
    assert_eq!(world.episodes(&ana, "heron", "user").await.len(), 2);

    let agent = world.engine.authenticate_agent("somebody", Audience::Host, None).await.unwrap();
    let agent = World::context(agent);
    assert!(stores(&world, &agent).await.is_empty());
    assert!(matches!(world.engine.store(&agent, own.id).await, Err(Error::NotFound(_))));
    // The oracle itself has no right in a user's store but what a token gives it.
    let named = world.engine.authenticate_agent("did:ixo:ixo1oracle", Audience::Host, None).await;
    let oracle = World::context(named.unwrap());
    assert!(matches!(world.engine.store(&oracle, own.id).await, Err(Error::NotFound(_))));
    assert!(
        !world.episodes(&owner(), "heron", "both").await.iter().any(|one| one.contains("heron"))
    );
    assert_ne!(OWNER, ana.user);
}
