//! The native routes, each with what it gives and what it refuses.

use crate::common::{ADMIN, Server};
use loci_engine::{NewAttachment, NewSession};
use loci_model::{Access, StoreId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const NOBODY: &str = "memstore_010000000000000000000001";

#[tokio::test]
async fn grants_are_given_listed_and_taken_back() {
    let server = Server::new().await;
    let store = server.store("shared").await;
    let grants = format!("/v1/memory_stores/{store}/grants");
    let ada = server.post("/v1/principals", json!({"name": "ada"})).await.ok();
    let (_, key) = server.key(json!({"name": "ada's", "principal": "ada"})).await;
    let stats = format!("/v1/memory_stores/{store}/stats");
    let reply = server.call(&key, "GET", &stats, Value::Null).await;
    reply.refused(404, "not_found_error");

    let wanted = json!({"grantee": "ada", "level": "read", "ttl_seconds": 60});
    let grant = server.post(&grants, wanted).await.ok();
    assert_eq!(grant["type"], "grant");
    assert_eq!(grant["grantee"], ada["id"]);
    assert_eq!(grant["level"], "read");
    assert_eq!(grant["memory_store_id"], store.to_string());
    assert!(grant["expires_at"].is_string() && grant["created_at"].is_string());
    server.call(&key, "GET", &stats, Value::Null).await.ok();
    let everyone = json!({"grantee": "everyone", "level": "search"});
    assert_eq!(server.post(&grants, everyone).await.ok()["grantee"], "everyone");
    let listed = server.get(&grants).await.ok();
    assert_eq!(listed["data"].as_array().unwrap().len(), 2);
    let reply = server.call(&key, "GET", &grants, Value::Null).await;
    reply.refused(403, "permission_error");

    let id = grant["id"].as_str().unwrap();
    let revoked = server.delete(&format!("{grants}/{id}")).await.ok();
    let expected = json!({"id": id, "type": "grant_revoked", "revoked": [id]});
    assert_eq!(revoked, expected);
    server.delete(&format!("{grants}/{id}")).await.refused(404, "not_found_error");
    server.delete(&format!("{grants}/nonsense")).await.refused(404, "not_found_error");

    for bad in [
        json!({"grantee": "ada"}),
        json!({"grantee": "ada", "level": "own"}),
        json!({"grantee": "ada", "level": "read", "extra": 1}),
        json!({"grantee": "ada", "level": "read", "expires_at": "soon"}),
        json!({"grantee": "ada", "level": "read", "ttl_seconds": 0}),
        json!({"grantee": "ada", "level": "read", "ttl_seconds": 1, "expires_at": "2100-01-01T00:00:00Z"}),
        json!(["ada", "read", null, null]),
        Value::Null,
    ] {
        server.post(&grants, bad).await.refused(400, "invalid_request_error");
    }
    let unknown = json!({"grantee": "nobody", "level": "read"});
    server.post(&grants, unknown).await.refused(404, "not_found_error");
}

#[tokio::test]
async fn attributes_keep_set_and_clear() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let memory = server.put(store, "/a", "text").await;
    let url = format!("/v1/memory_stores/{store}/memories/{}/attributes", memory.id);
    let fresh = server.get(&url).await.ok();
    assert_eq!(fresh["visibility"], "context");
    assert_eq!(fresh["memory_id"], memory.id.to_string());
    assert_eq!(fresh["revision"], 1);

    let wanted = json!({
        "kind": "fact", "tags": ["x", "y"], "importance": 7, "pinned": true,
        "visibility": "internal", "ttl_seconds": 3600, "source": "me", "scope": "work",
        "summary": "one line", "media_type": "text/markdown", "metadata": {"deep": {"n": [1, 2.5]}},
        "precondition": {"type": "content_sha256", "content_sha256": memory.digest.to_string()},
    });
    let set = server.post(&url, wanted).await.ok();
    assert_eq!(set["revision"], 2);
    assert_eq!(set["tags"], json!(["x", "y"]));
    assert_eq!(set["metadata"], json!({"deep": {"n": [1, 2.5]}}));
    assert!(set["expires_at"].is_string());
    assert_eq!(set["owner"], server.start.administrator.id.to_string());
    assert!(set["partition"].is_null());

    let clear = json!({
        "kind": null, "tags": null, "visibility": null, "expires_at": null, "metadata": null,
        "precondition": {"type": "revision", "revision": 2},
    });
    let cleared = server.call(ADMIN, "PATCH", &url, clear).await.ok();
    assert_eq!(cleared["tags"], json!([]));
    assert_eq!(cleared["visibility"], "context");
    assert!(cleared["kind"].is_null() && cleared["expires_at"].is_null());
    assert!(cleared["metadata"].is_null());
    assert_eq!(cleared["importance"], 7, "what is absent stays");
    assert_eq!(cleared["summary"], "one line");
    assert_eq!(server.get(&url).await.ok(), cleared);
    assert_eq!(server.post(&url, json!({})).await.ok()["revision"], 3, "changes nothing");

    let stale = json!({"pinned": false, "precondition": {"type": "revision", "revision": 1}});
    let reply = server.post(&url, stale).await;
    reply.refused(409, "memory_precondition_failed_error");
    assert_eq!(reply.headers["x-should-retry"], "false");
    for bad in [
        json!({"kind": "two words"}),
        json!({"importance": 101}),
        json!({"importance": 256}),
        json!({"importance": "7"}),
        json!({"visibility": "secret"}),
        json!({"tags": ["x", "x"]}),
        json!({"metadata": [1]}),
        json!({"metadata": "text"}),
        json!({"expires_at": "never"}),
        json!({"expires_at": "2100-01-01T00:00:00Z", "ttl_seconds": 5}),
        json!({"content": "not here"}),
        json!({"precondition": {"type": "content_sha256", "content_sha256": "abc"}}),
        json!({"precondition": {"type": "other"}}),
        json!({"metadata": {"big": "x".repeat(20_000)}}),
    ] {
        server.post(&url, bad).await.refused(400, "invalid_request_error");
    }
    for path in [
        format!("{NOBODY}/memories/{}", memory.id),
        format!("{store}/memories/mem_010000000000000000000001"),
        format!("{store}/memories/%FF"),
        format!("x/memories/{}", memory.id),
    ] {
        let url = format!("/v1/memory_stores/{path}/attributes");
        server.get(&url).await.refused(404, "not_found_error");
        server.post(&url, json!({})).await.refused(404, "not_found_error");
    }
}

#[tokio::test]
async fn erasing_takes_every_version() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let memory = server.put(store, "/a", "one").await;
    server.put(store, "/a", "two").await;
    let url = format!("/v1/memory_stores/{store}/memories/{}/erase", memory.id);
    server.post(&url, json!({"really": true})).await.refused(400, "invalid_request_error");
    let erased = server.post(&url, Value::Null).await.ok();
    assert_eq!(erased["id"], memory.id.to_string());
    assert_eq!(erased["type"], "memory_erased");
    assert!(erased["versions"].as_u64().unwrap() >= 2, "{erased}");
    assert_eq!(erased["derived"], json!([]));
    let attributes = url.replace("/erase", "/attributes");
    server.get(&attributes).await.refused(404, "not_found_error");
}

#[tokio::test]
async fn the_feed_is_read_in_pages() {
    let server = Server::new().await;
    let store = server.store("s").await;
    for number in 0..5 {
        server.put(store, &format!("/{number}"), "text").await;
    }
    let url = format!("/v1/memory_stores/{store}/changes");
    let page = server.get(&format!("{url}?limit=3")).await.ok();
    assert_eq!((&page["last_seq"], &page["has_more"]), (&json!(3), &json!(true)));
    let first = &page["data"][0];
    assert_eq!(first["seq"], 1);
    assert_eq!(first["type"], "change");
    assert_eq!(first["operation"], "created");
    assert_eq!(first["path"], "/0");
    assert_eq!(first["revision"], 1);
    assert_eq!(first["created_by"]["type"], "user_actor");
    let page = server.get(&format!("{url}?after=3")).await.ok();
    assert_eq!(page["data"].as_array().unwrap().len(), 2);
    assert_eq!(page["has_more"], false);
    let page = server.get(&format!("{url}?after=5")).await.ok();
    assert_eq!((&page["data"], &page["last_seq"]), (&json!([]), &json!(5)));
    for bad in ["limit=0", "limit=1001", "limit=x", "after=-1"] {
        let reply = server.get(&format!("{url}?{bad}")).await;
        reply.refused(400, "invalid_request_error");
    }
    server
        .get(&format!("/v1/memory_stores/{NOBODY}/changes"))
        .await
        .refused(404, "not_found_error");
}

#[tokio::test]
async fn stats_count_one_store_and_all() {
    let server = Server::new().await;
    let (one, two) = (server.store("one").await, server.store("two").await);
    server.put(one, "/a", "12345").await;
    server.put(one, "/a", "123").await;
    server.put(two, "/b", "1234").await;
    let stats = server.get(&format!("/v1/memory_stores/{one}/stats")).await.ok();
    let expected = json!({
        "type": "memory_store_stats", "memories": 1, "content_bytes": 3, "versions": 2, "last_seq": 2,
    });
    assert_eq!(stats, expected);
    let all = server.get("/v1/stats").await.ok();
    let expected = json!({
        "type": "stats", "stores": 2, "memories": 2, "content_bytes": 7, "versions": 3,
        "truncated": false,
    });
    assert_eq!(all, expected);
}

#[tokio::test]
async fn keys_are_made_limited_listed_and_revoked() {
    let server = Server::new().await;
    let (open, closed) = (server.store("open").await, server.store("closed").await);
    let wanted = json!({
        "name": "reader", "level": "read", "stores": [open.to_string()], "audience": "model",
        "expires_in_seconds": 60,
    });
    let made = server.post("/v1/api_keys", wanted).await.ok();
    assert_eq!(made["type"], "api_key");
    assert_eq!(made["level"], "read");
    assert_eq!(made["stores"], json!([open.to_string()]));
    assert_eq!(made["audience"], "model");
    assert!(made["expires_at"].is_string() && made["revoked_at"].is_null());
    let (id, secret) = (made["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    let stats = |store: StoreId| format!("/v1/memory_stores/{store}/stats");
    server.call(secret, "GET", &stats(open), Value::Null).await.ok();
    let reply = server.call(secret, "GET", &stats(closed), Value::Null).await;
    reply.refused(404, "not_found_error");
    for (method, url) in [
        ("GET", "/v1/api_keys"),
        ("POST", "/v1/check"),
        ("GET", "/v1/backup"),
        ("GET", "/v1/export"),
        ("POST", "/v1/import"),
        ("GET", "/v1/principals"),
    ] {
        let reply = server.call(secret, method, url, Value::Null).await;
        reply.refused(403, "permission_error");
    }
    let more = server.call(secret, "POST", "/v1/api_keys", json!({"name": "more"})).await;
    more.refused(403, "permission_error");

    let listed = server.get("/v1/api_keys").await;
    let text = String::from_utf8(listed.bytes.to_vec()).unwrap();
    assert!(text.contains(id) && !text.contains(secret));
    let gone = server.delete(&format!("/v1/api_keys/{id}")).await.ok();
    assert!(gone["revoked_at"].is_string());
    let reply = server.call(secret, "GET", &stats(open), Value::Null).await;
    reply.refused(401, "authentication_error");

    for bad in [
        json!({}),
        json!({"name": ""}),
        json!({"name": "k", "level": "all"}),
        json!({"name": "k", "expires_at": "2001-01-01T00:00:00Z"}),
        json!({"name": "k", "secret": "mine"}),
    ] {
        server.post("/v1/api_keys", bad).await.refused(400, "invalid_request_error");
    }
    for missing in [
        json!({"name": "k", "principal": "nobody"}),
        json!({"name": "k", "stores": ["x"]}),
        json!({"name": "k", "session_id": "x"}),
    ] {
        server.post("/v1/api_keys", missing).await.refused(404, "not_found_error");
    }
    server.delete("/v1/api_keys/x").await.refused(404, "not_found_error");
}

#[tokio::test]
async fn a_session_has_a_note_and_keys_of_its_own() {
    let server = Server::new().await;
    let store = server.store("Project notes").await;
    let attachment =
        NewAttachment { store, access: Access::ReadWrite, instructions: Some("be brief".into()) };
    let new = NewSession {
        title: None,
        metadata: BTreeMap::new(),
        agent_id: "agent".into(),
        agent_version: 1,
        details: "{}".into(),
        attachments: vec![attachment],
    };
    let session = server.engine.create_session(&server.context(), new).await.unwrap();
    let url = format!("/v1/sessions/{}/note", session.id);
    let note = server.get(&url).await.ok();
    assert_eq!(note["type"], "session_note");
    assert!(note["text"].as_str().unwrap().contains("be brief"));
    server.get("/v1/sessions/x/note").await.refused(404, "not_found_error");

    let wanted = json!({"name": "worker", "session_id": session.id.to_string()});
    let made = server.post("/v1/api_keys", wanted).await.ok();
    assert_eq!((&made["level"], &made["audience"]), (&json!("readwrite"), &json!("model")));
    let secret = made["secret"].as_str().unwrap();
    let stats = format!("/v1/memory_stores/{store}/stats");
    server.call(secret, "GET", &stats, Value::Null).await.ok();
    server.call(secret, "GET", &url, Value::Null).await.ok();
}

#[tokio::test]
async fn principals_are_made_once() {
    let server = Server::new().await;
    let made = server.post("/v1/principals", json!({"name": "bot"})).await.ok();
    assert_eq!((&made["kind"], &made["is_admin"]), (&json!("agent"), &json!(false)));
    let again = server.post("/v1/principals", json!({"name": "bot"})).await;
    again.refused(409, "conflict_error");
    let person = json!({"name": "eve", "kind": "user", "is_admin": true});
    assert_eq!(server.post("/v1/principals", person).await.ok()["kind"], "user");
    let room = json!({"name": "room", "kind": "group"});
    assert_eq!(server.post("/v1/principals", room).await.ok()["kind"], "group");
    for bad in
        [json!({"name": "x", "kind": "herd"}), json!({"name": "x", "kind": "group", "admin": true})]
    {
        server.post("/v1/principals", bad).await.refused(400, "invalid_request_error");
    }
    let listed = server.get("/v1/principals").await.ok();
    assert_eq!(listed["data"].as_array().unwrap().len(), 4);
    assert_eq!(listed["next_page"], json!(null));

    let (mut names, mut page) = (Vec::new(), String::new());
    for _ in 0..4 {
        let part = server.get(&format!("/v1/principals?limit=1{page}")).await.ok();
        assert_eq!(part["data"].as_array().unwrap().len(), 1);
        names.push(part["data"][0]["name"].clone());
        page = part["next_page"].as_str().map(|next| format!("&page={next}")).unwrap_or_default();
    }
    assert_eq!(page, "", "the fourth is the last");
    let all: Vec<_> =
        listed["data"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, all);
    for bad in ["limit=0", "limit=101", "page=nonsense"] {
        let reply = server.get(&format!("/v1/principals?{bad}")).await;
        reply.refused(400, "invalid_request_error");
    }
}
