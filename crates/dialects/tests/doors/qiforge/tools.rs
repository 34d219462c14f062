//! The six tools, as a transport would call them.

use crate::qiforge::world::{Visitor, World, contents, user};
use loci_model::Level;
use serde_json::{Value, json};

const NOBODY: &str = "0190b5a0-0000-7000-8000-000000000001";

#[tokio::test]
async fn what_is_added_is_found_at_once_by_every_strategy() {
    let world = World::new().await;
    let ana = user("ana");
    let content = "Ana keeps bees on the roof.";
    let added = world.tool(&ana, "add_memory", json!({"name": "bees", "content": content})).await;
    assert_eq!(added["success"], true);
    for strategy in ["balanced", "diverse", "precise", "recent_memory"] {
        let found = world
            .tool(&ana, "search_memory_engine", json!({"query": "bees", "strategy": strategy}))
            .await;
        assert_eq!(contents(&found), [content], "{strategy}");
        assert_eq!(found["episodes"][0]["uuid"], added["uuid"]);
        assert_eq!(found["episodes"][0]["name"], "bees");
        assert_eq!(found["strategy_used"], strategy);
    }
    for strategy in ["facts_only", "entities_only", "topics_only"] {
        let arguments = json!({"query": "bees", "strategy": strategy});
        let found = world.tool(&ana, "search_memory_engine", arguments).await;
        assert!(contents(&found).is_empty(), "{strategy}");
    }
    let around = json!({"query": "bees", "strategy": "contextual", "center_node_uuid": NOBODY});
    assert_eq!(contents(&world.tool(&ana, "search_memory_engine", around).await), [content]);
}

#[tokio::test]
async fn a_long_content_comes_back_whole() {
    let world = World::new().await;
    let ana = user("ana");
    let content = format!("{} heron", "word ".repeat(24_000));
    world.tool(&ana, "add_memory", json!({"name": "long", "content": content})).await;
    assert_eq!(world.episodes(&ana, "heron", "user").await, [content]);
}

#[tokio::test]
async fn nothing_goes_without_a_plain_yes() {
    let world = World::new().await;
    let ana = user("ana");
    let added = world.tool(&ana, "add_memory", json!({"name": "n", "content": "a heron"})).await;
    for no in [json!(false), json!("true"), json!(1), json!(null)] {
        for (tool, arguments) in [
            ("delete_episode", json!({"episode_uuid": added["uuid"]})),
            ("delete_edge", json!({"edge_uuid": NOBODY})),
            ("clear", json!({})),
        ] {
            let mut arguments = arguments.clone();
            let why = world.try_tool(&ana, tool, arguments.clone()).await.unwrap_err();
            assert!(why.contains("must be true"), "{why}");
            arguments["confirmed_deletion_from_user"] = no.clone();
            assert!(world.try_tool(&ana, tool, arguments).await.is_err(), "{tool} {no}");
        }
    }
    assert_eq!(world.episodes(&ana, "heron", "both").await.len(), 1);
}

#[tokio::test]
async fn episodes_and_everything_can_be_deleted() {
    let world = World::new().await;
    let ana = user("ana");
    let yes = |more: Value| {
        let mut arguments = more;
        arguments["confirmed_deletion_from_user"] = json!(true);
        arguments
    };
    let one = world.tool(&ana, "add_memory", json!({"name": "n", "content": "a heron"})).await;
    world.tool(&ana, "add_memory", json!({"name": "n", "content": "a stork and a heron"})).await;
    world.say(&ana, "A", &[("Ana", "I saw a heron.")]).await;
    let delete = yes(json!({"episode_uuid": one["uuid"]}));
    world.tool(&ana, "delete_episode", delete.clone()).await;
    assert_eq!(
        world.episodes(&ana, "heron", "user").await,
        ["I saw a heron.", "a stork and a heron"]
    );
    let again = world.try_tool(&ana, "delete_episode", delete).await.unwrap_err();
    assert!(again.contains("no episode"), "{again}");
    let cleared = world.tool(&ana, "clear", yes(json!({}))).await;
    assert_eq!(cleared["deleted"], 2);
    assert!(world.episodes(&ana, "heron", "both").await.is_empty());
    assert_eq!(world.tool(&ana, "clear", yes(json!({}))).await["deleted"], 0);
    // What comes after is kept as ever.
    world.say(&ana, "A", &[("Ana", "I saw a heron.")]).await;
    assert_eq!(world.episodes(&ana, "heron", "user").await, ["I saw a heron."]);
}

#[tokio::test]
async fn a_fact_can_be_taken_away_from_what_says_it() {
    let world = World::new().await;
    let ana = user("ana");
    world.say(&ana, "A", &[("Ana", "I work at Acme. I like tea.")]).await;
    let facts = async |about: &str| {
        let arguments = json!({"query": "what does Ana do and like?", "strategy": "facts_only"});
        let found = world.tool(&ana, "search_memory_engine", arguments).await;
        let facts = found["facts"].as_array().unwrap().clone();
        facts.into_iter().find(|fact| fact["fact"].as_str().unwrap().contains(about))
    };
    let acme = facts("Acme").await.unwrap();
    let bob = user("bob");
    let delete = json!({"edge_uuid": acme["uuid"], "confirmed_deletion_from_user": true});
    assert!(world.try_tool(&bob, "delete_edge", delete.clone()).await.is_err());
    world.tool(&ana, "delete_edge", delete.clone()).await;
    assert!(facts("Acme").await.is_none() && facts("tea").await.is_some());
    assert!(world.try_tool(&ana, "delete_edge", delete).await.unwrap_err().contains("no fact"));
    assert_eq!(world.episodes(&ana, "Acme", "user").await.len(), 1, "what was said stays");
}

#[tokio::test]
async fn mistakes_are_told_and_change_nothing() {
    let world = World::new().await;
    let ana = user("ana");
    for (tool, arguments, named) in [
        ("add_memory", json!({"content": "x"}), "name"),
        ("add_memory", json!({"name": "x"}), "content"),
        ("add_memory", json!({"name": "x", "content": " "}), "content"),
        ("add_memory", json!({"name": "x", "content": 5}), "content"),
        ("add_memory", json!({"name": "x".repeat(256), "content": "x"}), "255"),
        ("add_memory", json!({"name": "x", "content": "x".repeat(1 << 21)}), "1048576"),
        ("search_memory_engine", json!({"strategy": "balanced"}), "query"),
        ("search_memory_engine", json!({"query": "x", "strategy": "best"}), "strategy"),
        ("search_memory_engine", json!({"query": "x", "strategy": "contextual"}), "center"),
        (
            "delete_episode",
            json!({"episode_uuid": "x", "confirmed_deletion_from_user": true}),
            "UUID",
        ),
        ("forget", json!({}), "no such tool"),
        ("add_memory", json!([]), "name"),
    ] {
        let why = world.try_tool(&ana, tool, arguments).await.unwrap_err();
        assert!(why.contains(named), "{tool}: {why}");
    }
    let reader = Visitor { level: Level::Read, ..ana.clone() };
    let add = json!({"name": "n", "content": "heron"});
    assert!(world.try_tool(&reader, "add_memory", add.clone()).await.is_err());
    world.tool(&ana, "add_memory", add.clone()).await;
    assert!(world.try_tool(&reader, "add_memory", add).await.is_err());
    let clear = json!({"confirmed_deletion_from_user": true});
    assert!(world.try_tool(&reader, "clear", clear).await.is_err());
    assert_eq!(world.episodes(&reader, "heron", "user").await, ["heron"]);
}
