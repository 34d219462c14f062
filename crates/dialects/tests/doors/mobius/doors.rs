//! An entry is an ordinary memory: what one door writes, the others see.

use crate::mobius::world::{A, B, World, context, keys};
use serde_json::{Value, json};

#[tokio::test]
async fn other_doors_see_entries_and_keep_their_attributes() {
    let world = World::new().await;
    let agent = format!("{A}/ada");
    let body = json!({"content": "x", "kind": "preference", "importance": 80, "pinned": true, "metadata": {"a": 1}});
    let entry = world.put(&agent, "a:b", body).await.ok();
    let robutler = "/api/storage/memory/a:b?agentId=ada";
    assert_eq!(world.get(robutler).await["value"], "x");
    let store = world.home("ada").await;
    let memories = world.get(&format!("/v1/memory_stores/{store}/memories")).await;
    let memory = &memories["data"][0];
    assert_eq!((&memory["path"], &memory["id"]), (&json!("/a:b"), &entry["entry_id"]));
    let url = format!("/v1/memory_stores/{store}/memories/{}", memory["id"].as_str().unwrap());
    world.ask("POST", &url, Some(json!({"content": "edited"}))).await.ok();
    let shown = world.get(&format!("{agent}/memory/entries")).await["items"][0].take();
    for (name, value) in [
        ("content", json!("edited")),
        ("version", json!(2)),
        ("kind", json!("preference")),
        ("importance", json!(80)),
        ("pinned", json!(true)),
        ("metadata", json!({"a": 1})),
        ("entry_id", entry["entry_id"].clone()),
    ] {
        assert_eq!(shown[name], value, "{name}");
    }
    world.ask("PUT", robutler, Some(json!({"value": "again"}))).await.ok();
    let saved = world.save(&agent, "a:b", "last").await;
    assert_eq!((&saved["version"], &saved["kind"]), (&json!(4), &json!("preference")));
    world.ask("DELETE", robutler, None).await.ok();
    assert_eq!(world.keys(&format!("{agent}/memory/entries")).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_home_has_no_cap_whichever_door_makes_it() {
    let world = World::new().await;
    world.save(&format!("{B}/ada"), "seed", "x").await;
    let url = "/api/storage/memory/seed?agentId=bob";
    world.ask("PUT", url, Some(json!({"value": "x"}))).await.ok();
    let context = context(world.admin());
    for agent in ["ada", "bob"] {
        let home = world.engine.store(&context, world.home(agent).await).await.unwrap();
        assert_eq!(home.policy.soft_cap, None, "{agent}");
    }
}

#[tokio::test]
async fn what_others_wrote_is_a_fact_of_middling_importance() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    for (key, value) in [("plain", json!("text")), ("json", json!({"a": 1}))] {
        let url = format!("/api/storage/memory/{key}?agentId=ada");
        world.ask("PUT", &url, Some(json!({"value": value}))).await.ok();
    }
    let spaced = json!({"value": "x", "namespace": "plan"});
    world.ask("PUT", "/api/storage/memory/k?agentId=ada", Some(spaced)).await.ok();
    let page = world.get(&format!("{agent}/memory/entries?kind=fact")).await;
    assert_eq!(keys(&page), [":plan/k", "json", "plain"]);
    let item = &page["items"][1];
    assert_eq!(
        (&item["kind"], &item["importance"], &item["content"]),
        (&json!("fact"), &json!(50), &json!("{\"a\":1}"))
    );
    let counts = world.get(&format!("{agent}/memory")).await;
    assert_eq!(counts["counts_by_kind"], json!({"fact": 3}));
    // Written over as text, it is text for the other door, too.
    world.save(&agent, "json", "[1]").await;
    assert_eq!(world.get("/api/storage/memory/json?agentId=ada").await["value"], "[1]");
}

#[tokio::test]
async fn of_several_writers_the_last_one_counts() {
    let world = World::new().await;
    let agent = format!("{A}/ada");
    world.put(&agent, "k", json!({"content": "mine", "kind": "episode"})).await.ok();
    let store = world.home("ada").await;
    let guest = world.agent("guest").await;
    let grant = loci_engine::NewGrant {
        grantee: loci_model::Grantee::Principal(guest.principal),
        level: loci_model::Level::ReadWrite,
        expires_at: None,
    };
    world.engine.share(&context(world.admin()), store, grant).await.unwrap();
    let url = "/api/storage/memory/k?store=ada";
    let body = Some(json!({"value": "theirs"}).to_string());
    world.ask_as(Some(guest), None, "PUT", url, body).await.ok();
    let page = world.get(&format!("{agent}/memory/entries")).await;
    assert_eq!(
        (keys(&page), &page["items"][0]["content"]),
        (vec!["k".to_owned()], &json!("theirs"))
    );
    let counts = world.get(&format!("{agent}/memory")).await;
    assert_eq!(counts["counts_by_kind"], json!({"fact": 1}), "of each key one");
    assert_eq!(
        world.keys(&format!("{agent}/memory/entries?query=mine")).await,
        Vec::<String>::new()
    );
    let saved = world.save(&agent, "k", "again").await;
    assert_eq!(saved["kind"], "fact", "as it was shown");
    let page = world.get(&format!("{agent}/memory/entries")).await;
    assert_eq!(
        (keys(&page), &page["items"][0]["content"]),
        (vec!["k".to_owned()], &json!("again"))
    );
    assert_eq!(world.delete(&agent, "k").await.status, 204);
    assert_eq!(world.get(&format!("{agent}/memory/entries")).await["items"], Value::Array(vec![]));
}

#[tokio::test]
async fn what_has_expired_is_not_there() {
    let world = World::new().await;
    let agent = format!("{A}/ada");
    let brief = json!({"value": "x", "ttl": 60});
    world.ask("PUT", "/api/storage/memory/brief?agentId=ada", Some(brief)).await.ok();
    assert_eq!(world.keys(&format!("{agent}/memory/entries")).await, ["brief"]);
    world.pass_secs(61);
    assert_eq!(world.keys(&format!("{agent}/memory/entries")).await, Vec::<String>::new());
    assert_eq!(world.get(&format!("{agent}/memory")).await["entry_count"], 0);
    assert_eq!(world.put(&agent, "brief", json!({"content": "x"})).await.status, 201);
}
