//! Bad input is 400 in the envelope, never a 5xx: clients repeat those for seconds.

use crate::mobius::world::{A, B, World};
use serde_json::json;

#[tokio::test]
async fn bad_bodies() {
    let world = World::new().await;
    let many: serde_json::Map<String, serde_json::Value> =
        (0..33).map(|n| (n.to_string(), json!(n))).collect();
    let deep = format!(
        "{{\"content\": \"x\", \"metadata\": {{\"a\": {}{}}}}}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let bodies = [
        String::new(),
        "null".into(),
        "[]".into(),
        "{".into(),
        "\"x\"".into(),
        "{\"content\": \"\\ud800\"}".into(),
        deep,
        json!({}).to_string(),
        json!({"content": ""}).to_string(),
        json!({"content": null}).to_string(),
        json!({"content": 5}).to_string(),
        json!({"content": ["x"]}).to_string(),
        json!({"content": "x".repeat(16_385)}).to_string(),
        json!({"content": "x", "summary": "x".repeat(141)}).to_string(),
        json!({"content": "x", "summary": "two\nlines"}).to_string(),
        json!({"content": "x", "summary": 5}).to_string(),
        json!({"content": "x", "kind": "note"}).to_string(),
        json!({"content": "x", "kind": 5}).to_string(),
        json!({"content": "x", "importance": true}).to_string(),
        json!({"content": "x", "importance": 5.0}).to_string(),
        json!({"content": "x", "importance": "5"}).to_string(),
        json!({"content": "x", "importance": 101}).to_string(),
        json!({"content": "x", "importance": -1}).to_string(),
        "{\"content\": \"x\", \"importance\": 1e99}".into(),
        json!({"content": "x", "pinned": 1}).to_string(),
        json!({"content": "x", "pinned": "true"}).to_string(),
        json!({"content": "x", "metadata": []}).to_string(),
        json!({"content": "x", "metadata": "x"}).to_string(),
        json!({"content": "x", "metadata": many}).to_string(),
        json!({"content": "x", "metadata": {"a": "x".repeat(16 * 1024)}}).to_string(),
        json!({"content": "x", "source_run_id": "r"}).to_string(),
        json!({"content": "x", "key": "k"}).to_string(),
    ];
    for base in [A, B] {
        for body in &bodies {
            let url = format!("{base}/ada/memory/entries/k");
            let reply =
                world.ask_as(Some(world.admin()), None, "PUT", &url, Some(body.clone())).await;
            reply.refused(400, "bad_request");
        }
    }
    let user = |user: serde_json::Value| json!({"content": "x", "user_id": user});
    world.put(&format!("{A}/ada"), "k", user(json!(""))).await.refused(400, "bad_request");
    for bad in [json!(5), json!("u".repeat(201)), json!("\u{200b}".repeat(200))] {
        world.put(&format!("{B}/ada"), "k", user(bad)).await.refused(400, "bad_request");
    }
    // Nothing was made on the way.
    assert_eq!(world.get(B).await["items"], json!([]));
}

#[tokio::test]
async fn bad_keys_and_parameters() {
    let world = World::new().await;
    for base in [A, B] {
        let agent = format!("{base}/ada");
        for key in ["a%20b", "a%2Fb", "%C3%BC", "%2E", "%2E%2E", "%ff", "a%25", &"k".repeat(257)] {
            world.put(&agent, key, json!({"content": "x"})).await.refused(400, "bad_request");
            world.delete(&agent, key).await.refused(400, "bad_request");
        }
        for query in [
            "limit=0",
            "limit=101",
            "limit=-1",
            "limit=x",
            "limit=1.5",
            "limit=99999999999999999999",
            "kind=note",
            "kind=Fact",
            "search_mode=fuzzy",
            "cursor=x",
            "cursor=page_x",
            "cursor=page_e30",
            "query=%ff",
        ] {
            let url = format!("{agent}/memory/entries?{query}");
            world.ask("GET", &url, None).await.refused(400, "bad_request");
        }
        let long = format!("{agent}/memory/entries?query={}", "x".repeat(1025));
        world.ask("GET", &long, None).await.refused(400, "bad_request");
        for query in
            ["limit=0", "limit=101", "after=x", "after=feed_x", "after=feed_e30", "after=page_e30"]
        {
            let url = format!("{agent}/memory/changes?{query}");
            world.ask("GET", &url, None).await.refused(400, "bad_request");
        }
        world
            .ask("POST", &format!("{agent}/memory"), None)
            .await
            .refused(405, "method_not_allowed");
    }
}

#[tokio::test]
async fn agents_and_projects_have_plain_names() {
    let world = World::new().await;
    let body = || json!({"content": "x"});
    for agent in ["a%2Fb", "%00", "a%0Ab", &"a".repeat(201)] {
        world.put(&format!("{A}/{agent}"), "k", body()).await.refused(404, "not_found");
    }
    for project in ["A", "a_b", "a--b", "%C3%BC", &"p".repeat(51)] {
        let agent = format!("/v1/projects/{project}/agents/ada");
        world.put(&agent, "k", body()).await.refused(404, "not_found");
    }
    assert_eq!(world.put(&format!("{A}/{}", "a".repeat(200)), "k", body()).await.status, 201);
    // An id that is nobody's is not a name.
    let id = loci_model::PrincipalId::from_u128(5).with_prefix("agent_");
    world.put(&format!("{B}/{id}"), "k", body()).await.refused(404, "not_found");
    assert_eq!(world.put(&format!("{B}/agent_1"), "k", body()).await.status, 201);
}

#[tokio::test]
async fn a_key_that_something_else_has_is_a_conflict() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    world.save(&agent, "k", "x").await;
    for (key, body) in [
        ("sealed", json!({"value": "c2VhbGVk", "encrypted": true})),
        ("hidden", json!({"value": "x", "inContext": false})),
    ] {
        let url = format!("/api/storage/memory/{key}?agentId=ada");
        world.ask("PUT", &url, Some(body)).await.ok();
        let refused = world.put(&agent, key, json!({"content": "x"})).await;
        refused.refused(409, "conflict");
        assert_eq!(world.delete(&agent, key).await.status, 204, "it is not there");
        assert_eq!(world.ask("GET", &url, None).await.status, 200, "and still is");
    }
    assert_eq!(world.keys(&format!("{agent}/memory/entries")).await, ["k"]);
    assert_eq!(world.get(&format!("{agent}/memory")).await["entry_count"], 1);
    assert_eq!(world.feed(&agent).await, ["created k 1 api", "created sealed 1 api"]);
}
