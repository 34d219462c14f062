//! The route itself: who is let in, which bodies are read, what the definitions say, and how an
//! agent is acted for.

use crate::tool::world::{World, create, view};
use loci_dialects::tool::{ToolOptions, openapi};
use loci_model::MemorySwitches;
use serde_json::{Value, json};

const ME: &str = "a";

#[tokio::test]
async fn only_bodies_with_a_command_are_read() {
    let world = World::new().await;
    for body in ["", "null", "[]", "{}", "{\"command\": 7}", "{\"command\":\"view\""] {
        let (status, answer) = world.send(ME, body.to_owned()).await;
        assert_eq!(status, 400, "{body}");
        assert_eq!(answer["error"]["type"], "invalid_request_error");
        assert_eq!(answer["request_id"], "req_010000000000000000000007");
    }
    let unknown = "Unknown command: fly. Use view, create, edit, delete, rename, search, share, \
                   unshare, or stores.";
    world.error(ME, json!({ "command": "fly" }), unknown).await;
    let odd = json!({ "command": "view", "dialect": "latin" });
    world.refused(ME, odd, "dialect must be native or robutler").await;
}

#[tokio::test]
async fn a_key_is_needed() {
    let world = World::new().await;
    for method in ["GET", "POST"] {
        let (status, answer) = world.send_as(None, method, view("/memories").to_string()).await;
        assert_eq!((status, &answer["error"]["type"]), (401, &json!("authentication_error")));
    }
}

#[tokio::test]
async fn definitions_follow_the_operator() {
    let check = async |hide_sharing: bool| {
        let world = World::with(ToolOptions { hide_sharing, ..ToolOptions::default() }).await;
        let context = world.context(ME).await;
        let (status, answer) = world.send_as(Some(context), "GET", String::new()).await;
        assert_eq!(status, 200);
        assert_eq!(answer["tools"][0], json!({ "type": "memory_20250818", "name": "memory" }));
        let nine = &answer["tools"][1];
        let commands = nine["input_schema"]["properties"]["command"]["enum"].as_array().unwrap();
        assert_eq!(commands.contains(&json!("share")), !hide_sharing);
        assert_eq!(commands.len(), if hide_sharing { 7 } else { 9 });
        assert_eq!(nine.to_string().contains("share:"), !hide_sharing);
        assert_eq!(nine["input_schema"]["additionalProperties"], false);
        for command in ["share", "unshare"] {
            let answer = world.call(ME, json!({ "command": command, "agent": "b" })).await;
            let is_unknown = answer["result"]["error"]
                == format!(
                    "Unknown command: {command}. Use view, create, edit, delete, rename, search, \
                     or stores."
                );
            assert_eq!(is_unknown, hide_sharing, "{answer}");
        }
    };
    check(false).await;
    check(true).await;
}

#[tokio::test]
async fn agents_are_acted_for_by_those_who_may() {
    let world = World::new().await;
    world.call(ME, create("/memories/mine", "x")).await;
    let named = |agent: Value| json!({ "command": "view", "path": "/memories", "agentId": agent });
    let own = world.content(ME, view("/memories")).await;
    assert!(own.contains("/memories/mine"));
    for agent in [json!("a"), json!(""), json!("undefined"), Value::Null] {
        assert_eq!(world.content(ME, named(agent)).await, own);
    }
    assert_eq!(world.content("admin", named(json!("a"))).await, own, "an administrator may");
    world.agent("b").await;
    for stranger in ["a", "nobody-yet"] {
        let (status, answer) = world.send("b", named(json!(stranger)).to_string()).await;
        assert_eq!((status, &answer["error"]["type"]), (403, &json!("permission_error")));
    }
    let (status, _) = world.send("b", named(json!(7)).to_string()).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn memory_that_is_off_says_so() {
    let world = World::new().await;
    world.call(ME, create("/memories/f", "x")).await;
    world.agent("fresh").await;
    let admin = world.context("admin").await;
    let off = MemorySwitches { is_on: false, ..MemorySwitches::default() };
    for who in [ME, "fresh"] {
        let id = world.agent(who).await.id;
        world.engine.switch_memory(&admin, id, off).await.unwrap();
        let words = "Error: memory is switched off for this agent";
        for call in [view("/memories"), view("/memories/f"), create("/memories/g", "x")] {
            world.refused(who, call, words).await;
        }
        let words = "Memory is switched off for this agent";
        for call in [
            json!({ "command": "view", "key": "f" }),
            json!({ "command": "create", "key": "g", "content": "x" }),
            json!({ "command": "search", "query": "x" }),
            json!({ "command": "stores" }),
        ] {
            world.error(who, call, words).await;
        }
    }
}

#[test]
fn the_routes_are_described() {
    let document = serde_json::to_value(openapi()).unwrap();
    let methods = document["paths"]["/v1/tools/memory"].as_object().unwrap();
    assert_eq!(methods.keys().collect::<Vec<_>>(), ["get", "post"]);
}
