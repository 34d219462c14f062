//! Chats, switches, the audit log and signed tokens, as the wire shows them.

use crate::common::{ADMIN, Reply, Server};
use axum::Router;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use loci_http::{HttpOptions, TokenOptions, Tokens};
use loci_model::limit;
use ring::hmac;
use serde_json::{Value, json};
use std::sync::Arc;

const SECRET: &[u8] = b"a shared secret of thirty-two bytes or more";

fn token(claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&json!({"alg": "HS256"})), part(claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET);
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&key, signed.as_bytes())))
}

fn token_of(server: &Server, agent: &str) -> String {
    let now = server.engine.seams().now().as_micros() / 1_000_000;
    token(&json!({"sub": agent, "exp": now + 60}))
}

async fn with_tokens(requests_per_second: Option<u32>) -> Server {
    let tokens = TokenOptions { secret: Some(SECRET.to_vec()), ..Default::default() };
    let tokens = Some(Arc::new(Tokens::new(tokens).unwrap()));
    let options = HttpOptions { tokens, requests_per_second, ..Default::default() };
    Server::with(&options, Router::new()).await
}

async fn put(server: &Server, key: &str, uri: &str, body: Value) -> Reply {
    server.call(key, "PUT", uri, body).await
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn chats_are_made_by_joining_and_shown_in_pages() {
    let server = Server::new().await;
    for (chat, member, body) in [
        ("room", "ana", json!({"kind": "user"})),
        ("room", "bot", Value::Null),
        ("hall", "bot", json!({})),
        ("a%2Fb%20c", "bot", json!({"kind": "agent"})),
    ] {
        let uri = format!("/v1/chats/{chat}/members/{member}");
        let joined = put(&server, ADMIN, &uri, body).await.ok();
        assert_eq!((&joined["type"], &joined["name"]), (&json!("chat_member"), &json!(member)));
        assert_eq!(joined["kind"], if member == "ana" { "user" } else { "agent" });
    }
    let room = server.get("/v1/chats/room").await.ok();
    assert_eq!((&room["type"], &room["name"]), (&json!("chat"), &json!("room")));
    assert_eq!(names(&room["members"]), ["ana", "bot"]);
    for named in [room["id"].as_str().unwrap(), room["uuid"].as_str().unwrap()] {
        assert_eq!(server.get(&format!("/v1/chats/{named}")).await.ok(), room);
    }
    let since = room["members"][0]["since"].clone();
    let again = put(&server, ADMIN, "/v1/chats/room/members/ana", Value::Null).await.ok();
    assert_eq!((&again["since"], &again["kind"]), (&since, &json!("user")), "joined already");

    let (mut seen, mut page) = (Vec::new(), String::new());
    for _ in 0..3 {
        let part = server.get(&format!("/v1/chats?limit=1{page}")).await.ok();
        seen.extend(names(&part["data"]).iter().map(ToString::to_string));
        page = part["next_page"].as_str().map(|next| format!("&page={next}")).unwrap_or_default();
    }
    seen.sort();
    assert_eq!((seen, page.as_str()), (vec!["a/b c".into(), "hall".into(), "room".into()], ""));

    let left = server.delete("/v1/chats/room/members/ana").await.ok();
    assert_eq!((&left["type"], &left["revoked"]), (&json!("chat_member_removed"), &json!([])));
    assert_eq!(names(&server.get("/v1/chats/room").await.ok()["members"]), ["bot"]);
    server.delete("/v1/chats/room/members/ana").await.refused(404, "not_found_error");
    for uri in ["/v1/chats/nowhere", "/v1/chats/bot", "/v1/chats/%FF"] {
        server.get(uri).await.refused(404, "not_found_error");
    }
    let taken = put(&server, ADMIN, "/v1/chats/bot/members/ana", Value::Null).await;
    taken.refused(409, "conflict_error");
    for bad in [json!({"kind": "group"}), json!({"sort": "user"}), json!([])] {
        let refused = put(&server, ADMIN, "/v1/chats/room/members/eve", bad).await;
        refused.refused(400, "invalid_request_error");
    }
}

#[tokio::test]
async fn chats_are_for_administrators_and_platforms() {
    let server = Server::new().await;
    server.post("/v1/principals", json!({"name": "bot"})).await.ok();
    let (_, own) = server.key(json!({"name": "k", "principal": "bot"})).await;
    let platform = json!({"name": "p", "principal": "bot", "level": "readwrite",
        "acts_for_agents": true});
    let (_, platform) = server.key(platform).await;
    let uri = "/v1/chats/room/members/bot";
    for (method, uri) in
        [("PUT", uri), ("DELETE", uri), ("GET", "/v1/chats"), ("GET", "/v1/chats/room")]
    {
        let reply = server.call(&own, method, uri, Value::Null).await;
        reply.refused(403, "permission_error");
    }
    put(&server, &platform, uri, Value::Null).await.ok();
    let listed = server.call(&platform, "GET", "/v1/chats", Value::Null).await.ok();
    assert_eq!(names(&listed["data"]), ["room"]);
    server.call(&platform, "GET", "/v1/events", Value::Null).await.refused(403, "permission_error");
}

#[tokio::test]
async fn switches_keep_what_is_not_said() {
    let server = Server::new().await;
    server.post("/v1/principals", json!({"name": "bot"})).await.ok();
    server.post("/v1/principals", json!({"name": "other"})).await.ok();
    let (_, own) = server.key(json!({"name": "k", "principal": "bot"})).await;
    let uri = "/v1/principals/bot/memory";
    let on = |shown: &Value| ["enabled", "self", "chat", "user"].map(|name| shown[name] == true);
    assert_eq!(on(&server.get(uri).await.ok()), [true; 4]);
    let changed = server.post(uri, json!({"chat": false})).await.ok();
    assert_eq!(on(&changed), [true, true, false, true]);
    let changed = server.post(uri, json!({"enabled": false, "chat": true})).await.ok();
    assert_eq!(on(&changed), [false, true, true, true]);
    assert_eq!(on(&server.post(uri, json!({})).await.ok()), [false, true, true, true]);

    let seen = server.call(&own, "GET", uri, Value::Null).await.ok();
    assert_eq!(on(&seen), [false, true, true, true], "everybody may see their own");
    for (method, named) in [("POST", "bot"), ("GET", "other"), ("GET", "nobody"), ("POST", "x")] {
        let uri = format!("/v1/principals/{named}/memory");
        let reply = server.call(&own, method, &uri, json!({})).await;
        reply.refused(403, "permission_error");
    }
    server.get("/v1/principals/nobody/memory").await.refused(404, "not_found_error");
    for bad in [json!({"enabled": "no"}), json!({"on": true})] {
        server.post(uri, bad).await.refused(400, "invalid_request_error");
    }
}

#[tokio::test]
async fn the_audit_log_is_read_in_parts() {
    let server = Server::new().await;
    for name in ["a", "b", "c"] {
        server.post("/v1/principals", json!({ "name": name })).await.ok();
    }
    server.post("/v1/principals/a/memory", json!({"self": false})).await.ok();
    let whole = server.get("/v1/events?limit=1000").await.ok();
    let events = whole["data"].as_array().unwrap();
    let last = events.last().unwrap();
    assert_eq!((&last["kind"], &last["detail"]), (&json!("memory_switched"), &json!("off: self")));
    assert_eq!(last["actor"]["type"], "api_actor");
    assert_eq!(whole["last_seq"], last["seq"]);
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected);
    assert!(events.iter().all(|event| event["hash"].as_str().unwrap().len() == 64));

    let (mut seen, mut after) = (Vec::new(), 0);
    for _ in 0..=events.len() {
        let part = server.get(&format!("/v1/events?after={after}&limit=2")).await.ok();
        seen.extend(part["data"].as_array().unwrap().clone());
        after = part["last_seq"].as_u64().unwrap();
    }
    assert_eq!(&seen, events);
    let beyond = server.get(&format!("/v1/events?after={}", u64::MAX)).await.ok();
    assert_eq!(beyond["data"], json!([]));
    for bad in ["limit=0", "limit=1001", "after=-1", "after=x"] {
        let reply = server.get(&format!("/v1/events?{bad}")).await;
        reply.refused(400, "invalid_request_error");
    }
}

#[tokio::test]
async fn a_token_is_the_agent_it_names_in_either_header() {
    let server = with_tokens(None).await;
    let token = token_of(&server, "bot");
    let uri = "/v1/principals/bot/memory";
    let seen = server.call(&token, "GET", uri, Value::Null).await.ok();
    let request = http::Request::get(uri).header("x-api-key", &token);
    let again = server.send(request.body(axum::body::Body::empty()).unwrap()).await.ok();
    assert_eq!(seen, again, "the agent was made, once");
    server
        .call(&token, "GET", "/v1/principals", Value::Null)
        .await
        .refused(403, "permission_error");
    let keys = server.call(&token, "POST", "/v1/api_keys", json!({"name": "k"})).await;
    keys.refused(403, "permission_error");

    server.post("/v1/principals", json!({"name": "ana", "kind": "user"})).await.ok();
    server.post("/v1/principals", json!({"name": "room", "kind": "group"})).await.ok();
    server.post("/v1/principals", json!({"name": "root", "is_admin": true})).await.ok();
    server.post("/v1/principals", json!({"name": "ci", "kind": "service"})).await.ok();
    for name in ["ana", "room", "root", "ci", "admin"] {
        let reply = server.call(&token_of(&server, name), "GET", uri, Value::Null).await;
        reply.refused(401, "authentication_error");
    }
    let forged = format!("{}x", &token[..token.len() - 1]);
    server.call(&forged, "GET", uri, Value::Null).await.refused(401, "authentication_error");
    assert_eq!(server.get(uri).await.status, 200, "keys go on working beside tokens");
}

#[tokio::test]
async fn without_tokens_what_looks_like_one_is_a_key() {
    let server = Server::new().await;
    let token = token_of(&server, "bot");
    let uri = "/v1/memory_stores/x/grants";
    let refused = server.call(&token, "GET", uri, Value::Null).await;
    let body = refused.refused(401, "authentication_error").json();
    assert_eq!(body["error"]["message"], "invalid API key");
}

#[tokio::test]
async fn all_tokens_of_an_agent_share_one_rate() {
    let server = with_tokens(Some(2)).await;
    let now = server.engine.seams().now().as_micros() / 1_000_000;
    let mut statuses = Vec::new();
    for number in 0..6 {
        let fresh = token(&json!({"sub": "bot", "exp": now + 60 + number}));
        let reply = server.call(&fresh, "GET", "/v1/principals/bot/memory", Value::Null).await;
        statuses.push(reply.status);
    }
    assert_eq!(statuses[..2], [200, 200]);
    assert!(statuses[2..].contains(&429), "{statuses:?}");
    let other = token_of(&server, "other");
    let reply = server.call(&other, "GET", "/v1/principals/other/memory", Value::Null).await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn grants_tell_names_apart_only_so_often() {
    let server = Server::new().await;
    let store = server.store("s").await;
    for name in ["giver", "known"] {
        server.post("/v1/principals", json!({"name": name, "kind": "agent"})).await.ok();
    }
    let (_, key) = server.key(json!({"name": "k", "principal": "giver"})).await;
    let uri = format!("/v1/memory_stores/{store}/grants");
    server.post(&uri, json!({"grantee": "giver", "level": "readwrite"})).await.ok();
    let share = async |grantee: &str| {
        let body = json!({"grantee": grantee, "level": "read"});
        server.call(&key, "POST", &uri, body).await
    };
    for number in 0..limit::UNKNOWN_NAMES_PER_DAY {
        share(&format!("nobody-{number}")).await.refused(404, "not_found_error");
    }
    for name in ["nobody", "known"] {
        let refused = share(name).await;
        refused.refused(429, "rate_limit_error");
        assert!(refused.headers.contains_key("retry-after"), "{name}");
    }
}
