//! The feed: its rows, its cursors, and what becomes of a follower.

use crate::mobius::world::{A, B, World, context, fields, rows};
use loci_model::{At, AttributesPatch, Edit, EditOp, Expect, MemoryPath, OnSame};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

fn cursor(page: &Value) -> &str {
    page["next_cursor"].as_str().unwrap()
}

#[tokio::test]
async fn rows_have_exactly_their_fields() {
    let world = World::new().await;
    let entry = world.save(&format!("{A}/ada"), "k", "x").await;
    let mut expected = vec![
        "actor_id",
        "agent_id",
        "created_at",
        "id",
        "memory_entry_id",
        "memory_key",
        "operation",
        "reason",
        "version",
    ];
    let page = world.get(&format!("{A}/ada/memory/changes")).await;
    assert_eq!(fields(&page), ["has_more", "items", "next_cursor"]);
    let row = &page["items"][0];
    assert_eq!(fields(row), expected);
    assert_eq!(row["memory_entry_id"], entry["entry_id"]);
    assert!(row["id"].as_str().unwrap().starts_with("chg_"));
    let summary = world.get(&format!("{A}/ada/memory")).await;
    assert_eq!(row["agent_id"], summary["agent_id"]);
    expected.insert(8, "user_id");
    let page = world.get(&format!("{B}/ada/memory/changes")).await;
    assert_eq!(fields(&page["items"][0]), expected);
}

#[tokio::test]
async fn a_bootstrap_cursor_sees_the_next_change() {
    let world = World::new().await;
    for agent in [format!("{A}/ada"), format!("{B}/bob")] {
        let empty = world.get(&format!("{agent}/memory/changes")).await;
        assert_eq!((&empty["items"], &empty["has_more"]), (&json!([]), &json!(false)));
        let again = world.get(&format!("{agent}/memory/changes?after={}", cursor(&empty))).await;
        assert_eq!(cursor(&again), cursor(&empty), "stable");
        world.save(&agent, "k", "x").await;
        let next = world.get(&format!("{agent}/memory/changes?after={}", cursor(&empty))).await;
        assert_eq!(rows(&next), ["created k 1 api"]);
        let end = world.get(&format!("{agent}/memory/changes?after={}", cursor(&next))).await;
        assert_eq!((&end["items"], cursor(&end)), (&json!([]), cursor(&next)));
    }
}

/// Follows to the end, so many rows at a time.
async fn follow(
    world: &World,
    agent: &str,
    mut after: String,
    limit: usize,
) -> (Vec<String>, String) {
    let mut all = Vec::new();
    loop {
        let url = format!("{agent}/memory/changes?limit={limit}&after={after}");
        let page = world.get(&url).await;
        all.extend(rows(&page));
        after = cursor(&page).to_owned();
        if page["has_more"] == false {
            return (all, after);
        }
    }
}

#[tokio::test]
async fn a_move_is_two_rows_and_a_page_may_end_between_them() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    let entry = world.save(&agent, "old", "x").await;
    let (_, start) = follow(&world, &agent, String::new(), 20).await;
    let (store, caller) = (world.home("ada").await, context(world.agent("ada").await));
    let id = entry["entry_id"].as_str().unwrap().parse().unwrap();
    for to in ["/new", "/:u:u1/new", "/notes/new"] {
        let op = EditOp::Put {
            content: None,
            to: Some(path(to)),
            attributes: AttributesPatch::default(),
        };
        let edit = Edit { at: At::Id(id), expect: Expect::Anything, on_same: OnSame::Skip, op };
        world.engine.commit_one(&caller, store, edit, "api").await.unwrap();
    }
    let expected = [
        "deleted old 2 api",
        "created new 2 api",
        "deleted new 3 api",
        "created new 3 api",
        "deleted new 4 api",
        "created notes/new 4 api",
    ];
    for limit in 1..8 {
        let (all, _) = follow(&world, &agent, start.clone(), limit).await;
        assert_eq!(all, expected, "{limit} at a time");
    }
    // What went to a user is gone, where there are no users.
    let (shared, _) = follow(&world, &format!("{A}/ada"), start, 1).await;
    assert_eq!(
        shared,
        ["deleted old 2 api", "created new 2 api", "deleted new 3 api", "created notes/new 4 api"]
    );
    let page = world.get(&format!("{agent}/memory/changes?limit=100")).await;
    let ids = page["items"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap());
    assert_eq!(ids.collect::<BTreeSet<_>>().len(), 7, "each row has an id of its own");
}

#[tokio::test]
async fn redactions_and_hidden_memories_are_passed_over() {
    let world = World::new().await;
    let agent = format!("{A}/ada");
    world.save(&agent, "k", "secret").await;
    world.save(&agent, "k", "plain").await;
    let hidden = json!({"value": "x", "inContext": false});
    world.ask("PUT", "/api/storage/memory/hidden?agentId=ada", Some(hidden)).await.ok();
    let store = world.home("ada").await;
    let versions = world.get(&format!("/v1/memory_stores/{store}/memory_versions")).await;
    let first = versions["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|version| version["content_size_bytes"] == 6);
    let id = first.unwrap()["id"].as_str().unwrap();
    let url = format!("/v1/memory_stores/{store}/memory_versions/{id}/redact");
    world.ask("POST", &url, None).await.ok();
    assert_eq!(world.feed(&agent).await, ["updated k 2 api"]);
    let (_, end) = follow(&world, &agent, String::new(), 1).await;
    world.save(&agent, "k", "again").await;
    assert_eq!(follow(&world, &agent, end, 1).await.0, ["updated k 3 api"]);
}

#[tokio::test]
async fn a_cursor_of_a_history_that_is_gone_is_410() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    world.save(&agent, "k", "x").await;
    let (_, end) = follow(&world, &agent, String::new(), 20).await;
    world.save(&format!("{B}/bob"), "k", "x").await;
    let others = format!("{B}/bob/memory/changes?after={end}");
    world.ask("GET", &others, None).await.refused(410, "memory_cursor_expired");
    let store = world.home("ada").await;
    world.ask("DELETE", &format!("/v1/memory_stores/{store}"), None).await.ok();
    let old = format!("{agent}/memory/changes?after={end}");
    world.ask("GET", &old, None).await.refused(410, "memory_cursor_expired");
    world.save(&agent, "k", "y").await;
    world.ask("GET", &old, None).await.refused(410, "memory_cursor_expired");
    // So is one that this history never reached.
    let (_, end) = follow(&world, &agent, String::new(), 20).await;
    for _ in 0..3 {
        world.save(&agent, "k", "z").await;
    }
    let (_, later) = follow(&world, &agent, end, 20).await;
    let ahead = ahead_of(&later);
    let url = format!("{agent}/memory/changes?after={ahead}");
    world.ask("GET", &url, None).await.refused(410, "memory_cursor_expired");
}

/// A cursor some numbers further on.
fn ahead_of(cursor: &str) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let bytes = URL_SAFE_NO_PAD.decode(cursor.strip_prefix("feed_").unwrap()).unwrap();
    let mut words: Value = serde_json::from_slice(&bytes).unwrap();
    words["n"] = json!(words["n"].as_u64().unwrap() + 2);
    format!("feed_{}", URL_SAFE_NO_PAD.encode(words.to_string()))
}
