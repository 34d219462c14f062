//! What every call has around it: contract section 2.

use crate::kilroy::world::{ASYNC, START_MS, SYNC, World};
use serde_json::{Value, json};

fn bytes(body: &Value) -> Vec<u8> {
    body.to_string().into_bytes()
}

#[tokio::test]
async fn an_answer_is_a_message_in_both_places() {
    let world = World::new().await;
    let body = json!({
        "tagentname": "reader", "tusername": "ana", "tid": "t-77", "tpublish": "true",
        "targs": "{\"memory_id\": \"m\"}", "args": [{"text": "x", "type": "text/plain", "timestamp": 1}],
        "from": "chat", "unknown": {"fields": "are fine"},
    });
    let message = json!({
        "from": "reader", "id": "t-77",
        "args": [{"username": "ana", "text": "[]", "timestamp": START_MS, "type": "application/json"}],
    });
    let expected =
        json!({"success": true, "args": {"x": message, "results": message, "tpublish": true}});
    assert_eq!(world.call("memory_read", &body).await, expected);
}

#[tokio::test]
async fn what_the_caller_left_out_is_empty_and_nothing_is_published() {
    let world = World::new().await;
    let answer = world.call("memory_read", &json!({"targs": {"memory_id": "m"}})).await;
    let message = &answer["args"]["results"];
    assert_eq!((&message["from"], &message["id"]), (&json!(""), &json!("")));
    assert_eq!(message["args"][0]["username"], "");
    assert_eq!(message["args"][0]["text"], "[]");
    assert_eq!(answer["args"]["tpublish"], false);
}

#[tokio::test]
async fn the_first_url_shows_the_result_only_when_asked_but_does_the_work() {
    let world = World::new().await;
    let url = format!("{ASYNC}memory_write");
    let mut body = json!({"targs": {"memory_id": "m"}, "args": [{"text": "one"}]});
    let answer = world.send(Some(world.platform()), "POST", &url, bytes(&body)).await;
    assert_eq!(answer, (200, json!({"success": true, "args": {}})));
    assert_eq!(world.contents("memory_read", json!({"memory_id": "m"}), "").await, ["one"]);
    body["sync"] = json!(true);
    let (status, answer) = world.send(Some(world.platform()), "POST", &url, bytes(&body)).await;
    assert_eq!(status, 200);
    assert!(answer["args"]["x"]["args"][0]["text"].as_str().unwrap().contains("guid"), "{answer}");
}

#[tokio::test]
async fn what_reaches_no_block_has_a_status_and_the_envelope() {
    let world = World::new().await;
    let good = bytes(&json!({"targs": {"memory_id": "m"}}));
    let read = format!("{SYNC}memory_read");
    let elsewhere = "/api/v1/pd/webhook_sync/T/other.webhooks/memory_read";
    for (method, url, body, status) in [
        ("POST", format!("{SYNC}memory_forget"), good.clone(), 404),
        ("POST", format!("{SYNC}MEMORY_READ"), good.clone(), 404),
        ("POST", format!("{ASYNC}memory"), good.clone(), 404),
        ("POST", elsewhere.into(), good.clone(), 404),
        ("GET", read.clone(), good.clone(), 405),
        ("PUT", read.clone(), good.clone(), 405),
        ("DELETE", format!("{ASYNC}memory_read"), good.clone(), 405),
        ("POST", read.clone(), b"{".to_vec(), 400),
        ("POST", read.clone(), Vec::new(), 400),
        ("POST", read.clone(), b"[]".to_vec(), 400),
        ("POST", read.clone(), b"{\"a\": \"\xff\"}".to_vec(), 400),
    ] {
        let (found, answer) = world.send(Some(world.platform()), method, &url, body).await;
        assert_eq!(found, status, "{method} {url}: {answer}");
        assert_eq!(answer["success"], false);
        assert!(answer["args"]["error"].is_string(), "{answer}");
        assert_eq!(answer.as_object().unwrap().len(), 2);
    }
    let escaped = "/api/v1/pd/webhook_sync/T/kilroy%2Eai.webhooks/memory%5Fread";
    let (status, _) = world.send(Some(world.platform()), "POST", escaped, good.clone()).await;
    assert_eq!(status, 200);
    let (status, answer) = world.send(None, "POST", &read, good).await;
    assert_eq!((status, &answer["success"]), (401, &json!(false)));
    assert!(!answer.to_string().contains("API_TOKEN"));
}

#[tokio::test]
async fn configuration_is_a_string_or_an_object() {
    let world = World::new().await;
    for targs in [json!({"memory_id": "m"}), json!("{\"memory_id\": \"m\"}")] {
        let answer = world.call("memory_read", &json!({ "targs": targs })).await;
        assert_eq!(answer["args"]["x"]["args"][0]["text"], "[]");
    }
    for targs in [json!("{"), json!("[]"), json!(5), json!([]), json!(""), json!(null), json!({})] {
        let answer = world.call("memory_read", &json!({ "targs": targs, "tpublish": true })).await;
        let message = &answer["args"]["x"]["args"][0];
        assert_eq!(message["type"], "application/json");
        let payload: Value = serde_json::from_str(message["text"].as_str().unwrap()).unwrap();
        assert!(payload["error"].is_string(), "{targs}: {payload}");
        assert_eq!(answer["args"]["tpublish"], true, "errors are published too");
    }
}

#[tokio::test]
async fn the_pipeline_is_filled_in() {
    let world = World::new().await;
    let mut body = json!({
        "targs": "{\"memory_id\": \"instances/${pipeline_uid}/memories\"}",
        "args": [{"text": "deployed"}], "pipeline_uid": "a3d8f1b2",
    });
    world.call("memory_write", &body).await;
    let id = json!({"memory_id": "instances/a3d8f1b2/memories"});
    let records = world.ask("memory_read", id, "").await;
    assert_eq!(records[0]["content"], "deployed");
    assert_eq!(records[0]["scope"], "instances/a3d8f1b2/memories");
    for uid in [json!(null), json!("../x"), json!("a b"), json!(""), json!("${pipeline_uid}")] {
        body["pipeline_uid"] = uid;
        let answer = world.call("memory_write", &body).await;
        assert!(answer["args"]["x"]["args"][0]["text"].as_str().unwrap().contains("error"));
    }
}
