//! Who asks: an agent for itself, a platform for an agent, and nobody for anybody else.

use crate::scoped::world::{ADA, BOB, Pair, World, day, put_line};
use serde_json::{Value, json};

/// Every operation, about this agent.
fn operations(agent: &str) -> Vec<(&'static str, Vec<Pair<'_>>, Option<Value>)> {
    let note = json!({"agentId": agent, "namespace": "owner", "key": "k", "content": "forged"});
    let push = json!({"agentId": agent, "namespace": "owner", "lines": [put_line("k", &day(31), "forged")]});
    let id = ("agentId", agent);
    vec![
        ("GET", vec![("action", "get"), ("namespace", "owner"), ("key", "k"), id], None),
        ("GET", vec![("action", "list"), id], None),
        ("GET", vec![("action", "search"), ("q", "mine"), id], None),
        ("GET", vec![("action", "sync"), ("namespace", "owner"), id], None),
        ("PUT", vec![id], Some(note.clone())),
        ("PUT", vec![], Some(note)),
        ("POST", vec![("action", "sync"), id], Some(push.clone())),
        ("POST", vec![("action", "sync")], Some(push)),
        ("DELETE", vec![("namespace", "owner"), ("key", "k"), id], None),
    ]
}

#[tokio::test]
async fn nobody_is_refused() {
    let world = World::new().await;
    for (method, query, body) in operations(ADA) {
        let (status, answer) = world.ask(None, method, &query, body).await;
        assert_eq!(status, 401, "{method} {query:?}");
        assert!(answer["error"].is_string());
    }
}

#[tokio::test]
async fn an_agent_cannot_pass_for_another() {
    let world = World::new().await;
    let ada = world.notes(ADA).await;
    ada.put("owner", "k", "mine", json!({})).await;
    let before = ada.pull("owner", None).await;
    for victim in [ADA, "never heard of", "null"] {
        let bob = world.agent(BOB).await;
        for (method, query, body) in operations(victim) {
            let (status, answer) = world.ask(Some(bob.clone()), method, &query, body).await;
            assert_eq!(status, 403, "{victim} {method} {query:?}");
            assert!(answer["error"].is_string());
        }
    }
    assert_eq!(ada.pull("owner", None).await, before);
}

#[tokio::test]
async fn an_agent_that_does_not_know_its_id_is_itself() {
    let world = World::new().await;
    let ada = world.notes(ADA).await;
    for claimed in [json!(null), json!(""), json!("undefined"), json!(ADA)] {
        let made = ada.put("owner", "k", "mine", json!({"agentId": claimed})).await;
        assert_eq!(made["id"], ada.put("owner", "k", "mine", json!({})).await["id"]);
    }
    for claimed in ["", "undefined", ADA] {
        let query = [("action", "list"), ("agentId", claimed)];
        assert_eq!(ada.names(&query).await, ["owner/k"]);
    }
}

#[tokio::test]
async fn agents_are_kept_apart_and_a_platform_acts_for_each() {
    let world = World::new().await;
    let (ada, bob) = (world.notes(ADA).await, world.notes(BOB).await);
    ada.put("owner", "k", "ada's secret", json!({})).await;
    bob.put("owner", "k", "bob's secret", json!({})).await;
    bob.put("shared", "j", "bob's secret", json!({})).await;
    assert_eq!(ada.names(&[("action", "list")]).await, ["owner/k"]);
    assert_eq!(ada.names(&[("action", "search"), ("q", "secret")]).await, ["owner/k"]);
    assert_eq!(ada.get("shared", "j").await, Value::Null);
    assert_eq!(ada.pull("shared", None).await.lines.len(), 0);
    let platform = world.platform();
    let query = [("action", "get"), ("namespace", "owner"), ("key", "k"), ("agentId", BOB)];
    let (status, answer) = world.ask(Some(platform.clone()), "GET", &query, None).await;
    assert_eq!((status, &answer["entry"]), (200, &bob.get("owner", "k").await));
    let body = json!({"agentId": ADA, "namespace": "owner", "key": "p", "content": "x"});
    assert_eq!(
        world.ask(Some(platform.clone()), "PUT", &[("agentId", ADA)], Some(body)).await.0,
        200
    );
    assert_eq!(ada.get("owner", "p").await["content"], "x");
    // Without an agent it is the platform itself.
    let (status, answer) = world.ask(Some(platform), "GET", &[("action", "list")], None).await;
    assert_eq!((status, answer), (200, json!({"entries": []})));
}

#[tokio::test]
async fn what_is_switched_off_is_closed() {
    let world = World::new().await;
    let ada = world.notes(ADA).await;
    ada.put("owner", "k", "mine", json!({})).await;
    let context = World::context(world.platform());
    let (caller_id, mut switches) = (ada.caller.principal, ada.caller.memory);
    switches.own = false;
    world.engine.switch_memory(&context, caller_id, switches).await.unwrap();
    let caller = world.agent(ADA).await;
    for (method, query, body) in operations(ADA) {
        let (status, _) = world.ask(Some(caller.clone()), method, &query, body).await;
        assert_eq!(status, 403, "{method} {query:?}");
    }
    switches.own = true;
    world.engine.switch_memory(&context, caller_id, switches).await.unwrap();
    assert_eq!(world.notes(ADA).await.get("owner", "k").await["content"], "mine");
}
