//! What oracles know: added by owners, public or private, and never another oracle's.

use crate::qiforge::world::{OPEN, ORACLE, World, contents, owner, user};
use serde_json::{Value, json};

fn knowledge(content: &str, space: &str) -> Value {
    json!({"name": "k", "content": content, "confirmed_insertion_from_user": true,
        "knowledge_space_type": space})
}

#[tokio::test]
async fn owners_add_and_everybody_finds_what_is_public() {
    let world = World::new().await;
    let ana = user("ana");
    world.tool(&owner(), "add_oracle_knowledge", knowledge("herons are grey", "public")).await;
    world.tool(&owner(), "add_oracle_knowledge", knowledge("herons cost nine", "private")).await;
    world.tool(&ana, "add_memory", json!({"name": "n", "content": "Ana likes herons"})).await;
    for (visitor, level, expected) in [
        (&ana, "oracle", vec!["herons are grey"]),
        (&ana, "user", vec!["Ana likes herons"]),
        (&ana, "both", vec!["Ana likes herons", "herons are grey"]),
        (&owner(), "oracle", vec!["herons are grey", "herons cost nine"]),
        (&owner(), "user", vec![]),
        (&ana.clone().in_room("!other:server"), "both", vec!["herons are grey"]),
        (&ana.clone().through(Some(OPEN)), "both", vec![]),
        (&ana.clone().through(None), "both", vec![]),
    ] {
        assert_eq!(world.episodes(visitor, "herons", level).await, expected, "{visitor:?} {level}");
    }
}

#[tokio::test]
async fn others_add_nothing() {
    let world = World::new().await;
    let outsider = owner().through(Some("did:ixo:unknown"));
    for visitor in [user("ana"), owner().through(None), outsider] {
        let added = knowledge("herons", "public");
        let why = world.try_tool(&visitor, "add_oracle_knowledge", added).await.unwrap_err();
        assert!(why.contains("only owners"), "{why}");
    }
    for (name, value) in [
        ("confirmed_insertion_from_user", json!("true")),
        ("confirmed_insertion_from_user", json!(null)),
        ("knowledge_space_type", json!("secret")),
        ("knowledge_space_type", json!(null)),
        ("content", json!("")),
    ] {
        let mut added = knowledge("herons", "public");
        added[name] = value;
        let why = world.try_tool(&owner(), "add_oracle_knowledge", added).await.unwrap_err();
        assert!(why.contains(name), "{why}");
    }
    assert!(world.episodes(&owner(), "herons", "both").await.is_empty());
}

#[tokio::test]
async fn naming_other_oracles_widens_nothing() {
    let world = World::new().await;
    world.tool(&owner(), "add_oracle_knowledge", knowledge("herons are grey", "public")).await;
    let open = owner().through(Some(OPEN));
    world.tool(&open, "add_oracle_knowledge", knowledge("herons are open", "public")).await;
    world.tool(&open, "add_oracle_knowledge", knowledge("herons are shut", "private")).await;
    let ask = async |visitor: &crate::qiforge::world::Visitor, oracles: Value| {
        let query = json!({"query": "herons", "oracle_dids": oracles});
        let body = json!({ "queries": [query] }).to_string();
        let path = "/qiforge/search-enhanced-batch";
        let (_, answer) = world.send(Some(visitor), "POST", path, body).await;
        contents(&answer["results"][0])
    };
    let ana = user("ana");
    let stranger = ana.clone().through(Some("did:ixo:stranger"));
    for (visitor, oracles, expected) in [
        (&ana, json!([ORACLE]), vec!["herons are grey"]),
        (&ana, json!(["did:ixo:entity:0"]), vec!["herons are grey"]),
        (&ana, json!([OPEN]), vec!["herons are open"]),
        (&ana, json!([ORACLE, OPEN, ORACLE]), vec!["herons are grey", "herons are open"]),
        (&ana, json!([""]), vec![]),
        (&stranger, json!([ORACLE]), vec![]),
        (&stranger, json!(["did:ixo:entity:0", "did:ixo:entity:1"]), vec!["herons are open"]),
        (&ana.clone().through(None), json!([ORACLE, OPEN]), vec!["herons are open"]),
    ] {
        assert_eq!(ask(visitor, oracles.clone()).await, expected, "{visitor:?} {oracles}");
    }
}

#[tokio::test]
async fn owners_take_away_what_they_added_and_clear_only_their_own() {
    let world = World::new().await;
    let added = world.tool(&owner(), "add_oracle_knowledge", knowledge("herons", "public")).await;
    let yes = json!({"confirmed_deletion_from_user": true, "episode_uuid": added["uuid"]});
    world.tool(&owner(), "clear", yes.clone()).await;
    assert_eq!(world.episodes(&user("ana"), "herons", "both").await, ["herons"]);
    assert!(world.try_tool(&user("ana"), "delete_episode", yes.clone()).await.is_err());
    world.tool(&owner(), "delete_episode", yes).await;
    assert!(world.episodes(&user("ana"), "herons", "both").await.is_empty());
}
