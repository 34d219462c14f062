//! Sealed content over the native routes: the bytes come back as they went in, and nothing else of
//! the server shows, finds or changes them.

use crate::common::{ADMIN, Server};
use serde_json::{Value, json};

const ETAG_OF_TWO: &str = "\"50cff72c8e550546d661ec235431888fb2f9f7bada40c17020d47f6ccc117aae\"";

fn request(path: &str, base64: &str) -> Value {
    json!({"path": path, "sealed_base64": base64})
}

#[tokio::test]
async fn bytes_come_back_as_they_went_in() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let url = format!("/v1/memory_stores/{store}/sealed");
    let first = server.post(&url, request("/a", "/wCA")).await.ok();
    assert_eq!(first["type"], "memory");
    assert_eq!(first["path"], "/a");
    assert_eq!(first["memory_store_id"], store.to_string());
    assert_eq!(first["is_sealed"], true);
    assert_eq!(first["content_size_bytes"], 3);
    assert!(first["created_at"].is_string() && first["updated_at"].is_string());
    assert!(first.get("content").is_none() && first.get("sealed_base64").is_none());

    let id = first["id"].as_str().unwrap();
    let sealed = format!("/v1/memory_stores/{store}/memories/{id}/sealed");
    let reply = server.get(&sealed).await;
    assert_eq!((reply.status, &reply.bytes[..]), (200, &[0xff, 0, 0x80][..]));
    assert_eq!(reply.headers["content-type"], "application/octet-stream");
    let tag = format!("\"{}\"", first["content_sha256"].as_str().unwrap());
    assert_eq!(reply.headers["etag"], tag.as_str());

    // The same again is no new version; other bytes are one, and the old stay readable.
    let again = server.post(&url, request("/a", "/wCA")).await.ok();
    assert_eq!(again["memory_version_id"], first["memory_version_id"]);
    let second = server.post(&url, request("/a", "AgI=")).await.ok();
    assert_eq!(second["id"], first["id"]);
    assert_ne!(second["memory_version_id"], first["memory_version_id"]);
    let old = first["memory_version_id"].as_str().unwrap();
    let reply = server.get(&format!("{sealed}?version={old}")).await;
    assert_eq!(&reply.bytes[..], &[0xff, 0, 0x80]);
    let new = second["memory_version_id"].as_str().unwrap();
    let reply = server.get(&format!("{sealed}?version={new}")).await;
    assert_eq!(&reply.bytes[..], &[2, 2]);
    let reply = server.get(&sealed).await;
    assert_eq!(&reply.bytes[..], &[2, 2]);
    assert_eq!(reply.headers["etag"], ETAG_OF_TWO);
}

#[tokio::test]
async fn text_and_sealed_replace_each_other_and_stay_apart() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let url = format!("/v1/memory_stores/{store}/sealed");
    let text = server.put(store, "/a", "plain").await;
    let sealed = format!("/v1/memory_stores/{store}/memories/{}/sealed", text.id);
    server.get(&sealed).await.refused(400, "invalid_request_error");
    // The same bytes, but no longer text.
    let over = server.post(&url, request("/a", "cGxhaW4=")).await.ok();
    assert_eq!(over["id"], text.id.to_string());
    assert_eq!(over["content_sha256"], text.digest.to_string());
    assert_eq!(&server.get(&sealed).await.bytes[..], b"plain");
    let version = format!("{sealed}?version={}", text.head);
    server.get(&version).await.refused(400, "invalid_request_error");

    server.put(store, "/a", "plain again").await;
    server.get(&sealed).await.refused(400, "invalid_request_error");
    let other = server.put(store, "/b", "other").await;
    let foreign = format!("{sealed}?version={}", other.head);
    server.get(&foreign).await.refused(404, "not_found_error");
    for version in ["nonsense", "memver_010000000000000000000001", ""] {
        server.get(&format!("{sealed}?version={version}")).await.refused(404, "not_found_error");
    }
    let nobody = sealed.replace(&text.id.to_string(), "mem_010000000000000000000001");
    server.get(&nobody).await.refused(404, "not_found_error");
}

#[tokio::test]
async fn preconditions_hold() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let url = format!("/v1/memory_stores/{store}/sealed");
    let with = |base64: &str, precondition: Value| {
        let mut body = request("/a", base64);
        body["precondition"] = precondition;
        body
    };
    let absent = json!({"type": "absent"});
    let made = server.post(&url, with("AQ==", absent.clone())).await.ok();
    server.post(&url, with("Ag==", absent)).await.refused(409, "conflict_error");
    let digest = |value: &Value| json!({"type": "content_sha256", "content_sha256": value});
    let seen = digest(&made["content_sha256"]);
    server.post(&url, with("Ag==", seen.clone())).await.ok();
    let reply = server.post(&url, with("Aw==", seen)).await;
    reply.refused(409, "memory_precondition_failed_error");
    for bad in [json!({"type": "content_sha256"}), digest(&json!("abc")), json!({"type": "maybe"})]
    {
        server.post(&url, with("Aw==", bad)).await.refused(400, "invalid_request_error");
    }
    let id = made["id"].as_str().unwrap();
    let reply = server.get(&format!("/v1/memory_stores/{store}/memories/{id}/sealed")).await;
    assert_eq!(&reply.bytes[..], &[2], "what was refused changed nothing");
}

#[tokio::test]
async fn bad_input_is_refused_and_changes_nothing() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let url = format!("/v1/memory_stores/{store}/sealed");
    for base64 in ["", "AQ", "AQ=", "AR==", "A Q==", "AQ==\n", "_w==", "é", "AQ==AQ=="] {
        let reply = server.post(&url, request("/a", base64)).await;
        reply.refused(400, "invalid_request_error");
        let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("sealed_base64: "), "{base64:?}: {message}");
    }
    for body in [
        json!({"path": "/a"}),
        json!({"sealed_base64": "AQ=="}),
        request("no-slash", "AQ=="),
        request("/a/../b", "AQ=="),
        json!({"path": "/a", "sealed_base64": [1]}),
        json!({"path": "/a", "sealed_base64": "AQ==", "content": "x"}),
        json!({"path": "/a", "sealed_base64": "AQ==", "media_type": "x".repeat(2000)}),
        json!(["/a", "AQ=="]),
        Value::Null,
    ] {
        server.post(&url, body).await.refused(400, "invalid_request_error");
    }
    // One byte more than the store takes; far more than a request may bring.
    let bytes = |count: usize| format!("{}AQ==", "AAAA".repeat((count - 1) / 3));
    assert_eq!((102_400 - 1) % 3, 0);
    let over = server.post(&url, request("/a", &bytes(102_403))).await;
    over.refused(400, "invalid_request_error");
    assert!(over.json()["error"]["message"].as_str().unwrap().contains("limit 102400"));
    let reply = server.post(&url, request("/a", &"AAAA".repeat(300_000))).await;
    reply.refused(413, "request_too_large");
    let stats = server.get(&format!("/v1/memory_stores/{store}/stats")).await.ok();
    assert_eq!(stats["content_bytes"], 0, "{stats}");
    let full = server.post(&url, request("/a", &bytes(102_400))).await.ok();
    assert_eq!(full["content_size_bytes"], 102_400);
}

#[tokio::test]
async fn the_media_type_is_kept_set_and_cleared() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let url = format!("/v1/memory_stores/{store}/sealed");
    let with = |base64: &str, media_type: Value| {
        let mut body = request("/a", base64);
        body["media_type"] = media_type;
        body
    };
    let made = server.post(&url, with("AQ==", json!("application/vnd.age"))).await.ok();
    let id = made["id"].as_str().unwrap();
    let attributes = format!("/v1/memory_stores/{store}/memories/{id}/attributes");
    assert_eq!(server.get(&attributes).await.ok()["media_type"], "application/vnd.age");
    server.post(&url, request("/a", "Ag==")).await.ok();
    assert_eq!(server.get(&attributes).await.ok()["media_type"], "application/vnd.age");
    server.post(&url, with("Aw==", Value::Null)).await.ok();
    assert_eq!(server.get(&attributes).await.ok()["media_type"], Value::Null);
}

#[tokio::test]
async fn who_may_not_read_or_write_may_not_here() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let url = format!("/v1/memory_stores/{store}/sealed");
    let made = server.post(&url, request("/a", "AQ==")).await.ok();
    let sealed =
        format!("/v1/memory_stores/{store}/memories/{}/sealed", made["id"].as_str().unwrap());
    let (_, reader) = server.key(json!({"name": "r", "level": "read"})).await;
    let reply = server.call(&reader, "POST", &url, request("/b", "AQ==")).await;
    reply.refused(403, "permission_error");
    assert_eq!(server.call(&reader, "GET", &sealed, Value::Null).await.status, 200);
    let (_, searcher) = server.key(json!({"name": "s", "level": "search"})).await;
    let reply = server.call(&searcher, "GET", &sealed, Value::Null).await;
    reply.refused(403, "permission_error");
    server.post("/v1/principals", json!({"name": "ada"})).await.ok();
    let (_, stranger) = server.key(json!({"name": "a", "principal": "ada"})).await;
    for (method, url, body) in
        [("POST", &url, request("/b", "AQ==")), ("GET", &sealed, Value::Null)]
    {
        let reply = server.call(&stranger, method, url, body).await;
        reply.refused(404, "not_found_error");
    }
    assert_eq!(server.call(ADMIN, "GET", &sealed, Value::Null).await.status, 200);
}
