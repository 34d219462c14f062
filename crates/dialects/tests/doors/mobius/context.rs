//! What a turn begins with, and compaction on demand.

use crate::mobius::world::{A, B, World};
use serde_json::json;

#[tokio::test]
async fn a_turn_begins_with_the_index_of_what_is_everybodys() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    let url = format!("{agent}/memory/context");
    let none = world.ask("GET", &url, None).await.ok();
    assert_eq!(
        (&none["mode"], &none["text"], &none["bytes"]),
        (&json!("index"), &json!(""), &json!(0))
    );
    world.put(&agent, "low", json!({"content": "Low.", "importance": 1})).await.ok();
    world.put(&agent, "high", json!({"content": "High.", "importance": 90})).await.ok();
    let pinned = json!({"content": "Long.", "summary": "Pinned line", "pinned": true});
    world.put(&agent, "pinned", pinned).await.ok();
    let private = json!({"content": "Private.", "user_id": "eve"});
    world.put(&agent, "private", private).await.ok();

    let text = |reply: &serde_json::Value| reply["text"].as_str().unwrap().to_owned();
    let index = world.ask("GET", &url, None).await.ok();
    let lines: Vec<String> = text(&index).lines().skip(2).map(str::to_owned).collect();
    assert!(lines[0].starts_with("- pinned (fact, pinned, v1, "), "{lines:?}");
    assert!(lines[0].ends_with(": Pinned line"), "{lines:?}");
    assert!(lines[1].starts_with("- high") && lines[2].starts_with("- low"), "{lines:?}");
    assert_eq!((lines.len(), &index["entries_shown"]), (4, &json!(3)));
    let eves = world.ask("GET", &format!("{url}?user_id=eve"), None).await.ok();
    assert!(text(&eves).contains("Private."), "{eves}");
    let in_a = world.ask("GET", &format!("{A}/ada/memory/context?user_id=eve"), None).await.ok();
    assert!(!text(&in_a).contains("Private."), "{in_a}");

    // What the agent's owner set holds until a request says otherwise.
    let full = json!({"memory_context": {"mode": "full"}});
    world.ask("PATCH", &agent, Some(full)).await.ok();
    let whole = world.ask("GET", &url, None).await.ok();
    assert_eq!((&whole["mode"], &whole["max_bytes"]), (&json!("full"), &json!(131_072)));
    assert!(text(&whole).contains("\n> Long.\n"), "{whole}");
    let small = format!("{url}?mode=full&max_bytes=100");
    world.ask("GET", &small, None).await.refused(409, "memory_context_overflow");
    let off = world.ask("GET", &format!("{url}?mode=off"), None).await.ok();
    assert_eq!((&off["text"], &off["max_bytes"]), (&json!(""), &json!(0)));
    for bad in ["mode=all", "max_bytes=-1", "max_bytes=245761", "max_bytes=x"] {
        world.ask("GET", &format!("{url}?{bad}"), None).await.refused(400, "bad_request");
    }
}

#[tokio::test]
async fn compaction_on_demand_names_what_went() {
    let world = World::new().await;
    for base in [A, B] {
        let agent = format!("{base}/agent-of-{}", base.len());
        let url = format!("{agent}/memory/compact");
        let nothing = world.ask("POST", &url, Some(json!({"max_entries": 1}))).await.ok();
        assert_eq!(nothing, json!({"removed": [], "summary_key": null}));
        for number in 0..4 {
            let episode =
                json!({"content": format!("It rained {number} times."), "kind": "episode"});
            world.put(&agent, &format!("ep.{number}"), episode).await.ok();
        }
        let pinned =
            json!({"content": "Keep.", "kind": "episode", "importance": 0, "pinned": true});
        world.put(&agent, "kept", pinned).await.ok();
        let dry = json!({"max_entries": 3, "dry_run": true});
        let told = world.ask("POST", &url, Some(dry)).await.ok();
        assert_eq!(told["removed"], json!(["ep.0", "ep.1", "ep.2"]));
        let done = world.ask("POST", &url, Some(json!({"max_entries": 3}))).await.ok();
        assert_eq!(done, told);
        let list = world.ask("GET", &format!("{agent}/memory/entries"), None).await.ok();
        let items = list["items"].as_array().unwrap();
        let keys: Vec<&str> = items.iter().map(|one| one["key"].as_str().unwrap()).collect();
        let summary = done["summary_key"].as_str().unwrap();
        assert_eq!(keys, [summary, "kept", "ep.3"]);
        assert_eq!(items[0]["metadata"]["compacted_from"], told["removed"]);
        let feed = world.ask("GET", &format!("{agent}/memory/changes?limit=100"), None).await.ok();
        let gone =
            feed["items"].as_array().unwrap().iter().filter(|one| one["operation"] == "deleted");
        assert!(gone.clone().count() == 3 && gone.clone().all(|one| one["reason"] == "soft_cap"));
        for bad in [json!({}), json!({"max_entries": -1}), json!({"max_entries": 1, "more": 2})] {
            world.ask("POST", &url, Some(bad)).await.refused(400, "bad_request");
        }
    }
}
