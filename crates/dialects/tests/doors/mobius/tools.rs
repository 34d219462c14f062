//! The three tools, in both spellings.

use crate::mobius::world::{A, B, World, fields, keys};
use serde_json::{Value, json};

async fn invoke(world: &World, agent: &str, tool: &str, input: Value) -> Value {
    let url = format!("{agent}/tools/{tool}/invoke");
    world.ask("POST", &url, Some(json!({"input": input}))).await.ok()
}

#[tokio::test]
async fn an_agent_remembers_recalls_and_forgets() {
    let world = World::new().await;
    for (base, dot, user) in [(A, ".", None), (B, "_", Some(json!("")))] {
        let agent = format!("{base}/agent{}", dot.len() + base.len());
        let tool = |name: &str| ["mobius", "memory", name].join(dot);
        let nothing = invoke(&world, &agent, &tool("recall"), json!({})).await;
        assert_eq!(
            nothing,
            json!({"status": "completed", "output": {"items": [], "has_more": false}})
        );
        let made = invoke(
            &world,
            &agent,
            &tool("remember"),
            json!({"key": "tea", "content": "green", "importance": 70}),
        )
        .await;
        assert_eq!(
            (&made["status"], &made["output"]["created"]),
            (&json!("completed"), &json!(true))
        );
        assert_eq!(made["output"].get("user_id").cloned(), user);
        let again = invoke(
            &world,
            &agent,
            &tool("remember"),
            json!({"key": "tea", "content": "black", "metadata": {"n": 1}}),
        )
        .await;
        assert_eq!(
            (
                &again["output"]["created"],
                &again["output"]["version"],
                &again["output"]["importance"]
            ),
            (&json!(false), &json!(2), &json!(70))
        );
        assert_eq!(again["output"]["metadata"], json!({"n": 1}));
        invoke(
            &world,
            &agent,
            &tool("remember"),
            json!({"key": "cake", "content": "none", "kind": "episode"}),
        )
        .await;
        let found = invoke(&world, &agent, &tool("recall"), json!({"query": "BLACK"})).await;
        assert_eq!(keys(&found["output"]), ["tea"]);
        let page = invoke(&world, &agent, &tool("recall"), json!({"limit": 1})).await;
        assert_eq!(
            (keys(&page["output"]), &page["output"]["has_more"]),
            (vec!["cake".to_owned()], &json!(true))
        );
        let rest = invoke(
            &world,
            &agent,
            &tool("recall"),
            json!({"limit": 1, "cursor": page["output"]["next_cursor"]}),
        )
        .await;
        assert_eq!(keys(&rest["output"]), ["tea"]);
        for deleted in [true, false] {
            let gone = invoke(&world, &agent, &tool("forget"), json!({"key": "tea"})).await;
            assert_eq!(gone["output"], json!({"key": "tea", "deleted": deleted}));
        }
        let feed = world.feed(&agent).await;
        assert_eq!(
            feed,
            [
                "created tea 1 remembered",
                "updated tea 2 remembered",
                "created cake 1 remembered",
                "deleted tea 3 remembered"
            ]
        );
    }
}

#[tokio::test]
async fn users_entries_are_not_for_whoever_talks_to_the_agent() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    world.put(&agent, "k", json!({"content": "x", "user_id": "u1"})).await.ok();
    let found = invoke(&world, &agent, "mobius.memory.recall", json!({"query": "x"})).await;
    assert_eq!(found["output"]["items"], json!([]));
    let gone = invoke(&world, &agent, "mobius.memory.forget", json!({"key": "k"})).await;
    assert_eq!(gone["output"]["deleted"], false);
}

#[tokio::test]
async fn what_a_model_does_wrong_is_said_to_it() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    for (tool, input) in [
        ("remember", json!({"content": "x"})),
        ("remember", json!({"key": "k"})),
        ("remember", json!({"key": "a b", "content": "x"})),
        ("remember", json!({"key": "k", "content": "x", "user_id": "u1"})),
        ("remember", json!("k")),
        ("recall", json!({"kind": "note"})),
        ("recall", json!({"limit": 0})),
        ("recall", json!({"cursor": "x"})),
        ("recall", json!({"search_mode": "semantic"})),
        ("forget", json!({})),
        ("forget", json!({"key": 5})),
    ] {
        let answer = invoke(&world, &agent, &format!("mobius.memory.{tool}"), input.clone()).await;
        assert_eq!(fields(&answer), ["error", "status"], "{tool} {input}");
        assert_eq!(answer["status"], "failed");
    }
    assert_eq!(world.get(B).await["items"], json!([]), "nobody was made on the way");
    let url = format!("{agent}/tools/mobius.memory.dream/invoke");
    world.ask("POST", &url, Some(json!({"input": {}}))).await.refused(404, "not_found");
    let url = format!("{agent}/tools/mobius.memory.recall/invoke");
    for bad in [json!([]), json!({"input": {}, "more": 1})] {
        world.ask("POST", &url, Some(bad)).await.refused(400, "bad_request");
    }
    world.ask("POST", &url, None).await.refused(400, "bad_request");
}

#[tokio::test]
async fn without_memory_there_are_no_tools() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    let tools = world.get(&format!("{agent}/tools")).await["tools"].take();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["mobius.memory.recall", "mobius.memory.remember", "mobius.memory.forget"]);
    assert_eq!(fields(&tools[0]), ["description", "input_schema", "model_name", "name"]);
    world.save(&agent, "k", "x").await;
    world.ask("PATCH", &agent, Some(json!({"memory_enabled": false}))).await.ok();
    assert_eq!(world.get(&format!("{agent}/tools")).await, json!({"tools": []}));
    for caller in [world.admin(), world.platform().await, world.agent("ada").await] {
        let url = format!("{agent}/tools/mobius.memory.recall/invoke");
        let answer = world
            .ask_as(Some(caller), None, "POST", &url, Some("{\"input\":{}}".into()))
            .await
            .ok();
        assert_eq!(answer["status"], "failed");
        assert!(answer["error"].as_str().unwrap().contains("switched off"), "{answer}");
    }
}
