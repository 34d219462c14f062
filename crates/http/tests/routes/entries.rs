//! Listing memories with their attributes, editing them in batches, waiting for the feed, and counting
//! as a model.

use crate::common::{ADMIN, Reply, Server};
use axum::body::Body;
use http::Request;
use loci_model::StoreId;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The longest that a caller may wait for the feed; whoever is told at once waits less.
const WAIT_MAX: Duration = Duration::from_secs(30);

fn of(store: StoreId, rest: &str) -> String {
    format!("/v1/memory_stores/{store}/{rest}")
}

fn paths(listed: &Value) -> Vec<&str> {
    listed["data"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn entries_show_everything_in_every_order_and_in_parts() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    for (path, text) in [("/b/2", "two"), ("/a", "one"), ("/b/1", "three")] {
        server.put(store, path, text).await;
    }
    let all = server.get(&of(store, "entries?view=full")).await.ok();
    assert_eq!(paths(&all), ["/a", "/b/1", "/b/2"]);
    assert_eq!((&all["last_seq"], &all["next_page"]), (&json!(3), &Value::Null));
    let first = &all["data"][0];
    assert_eq!(first["type"], "entry");
    assert_eq!((&first["content"], &first["size_bytes"]), (&json!("one"), &json!(3)));
    assert_eq!((&first["revision"], &first["visibility"]), (&json!(1), &json!("context")));
    assert_eq!((&first["is_sealed"], &first["tags"]), (&json!(false), &json!([])));
    assert!(first["content_sha256"].as_str().unwrap().starts_with("7692c3ad3540bb80"));

    let folded = server.get(&of(store, "entries?depth=1")).await.ok();
    assert_eq!(paths(&folded), ["/a", "/b/"]);
    assert_eq!(folded["data"][1], json!({"type": "directory", "path": "/b/"}));
    assert!(folded["data"][0].get("content").is_none());
    let alone = server.get(&of(store, "entries?depth=1&type=directory")).await.ok();
    assert_eq!(paths(&alone), ["/b/"]);
    let then = "entries?depth=1&type=directory&as_of=2100-01-01T00:00:00Z";
    assert_eq!(paths(&server.get(&of(store, then)).await.ok()), ["/b/"]);
    let below = server.get(&of(store, "entries?prefix=/b/")).await.ok();
    assert_eq!(paths(&below), ["/b/1", "/b/2"]);
    for (order, expected) in [
        ("order=created", ["/b/2", "/a", "/b/1"]),
        ("order=updated&direction=desc", ["/b/1", "/a", "/b/2"]),
        ("order=path&direction=desc", ["/b/2", "/b/1", "/a"]),
    ] {
        let mut seen = Vec::new();
        let mut page = String::new();
        loop {
            let part = server.get(&of(store, &format!("entries?limit=2&{order}{page}"))).await.ok();
            seen.extend(paths(&part).into_iter().map(str::to_owned));
            match part["next_page"].as_str() {
                Some(next) => page = format!("&page={next}"),
                None => break,
            }
        }
        assert_eq!(seen, expected, "{order}");
    }
    let id = first["id"].as_str().unwrap();
    let one = server.get(&of(store, &format!("entries/{id}"))).await.ok();
    assert_eq!((&one["id"], &one["path"]), (&first["id"], &json!("/a")));
    for bad in [
        "limit=0",
        "limit=1001",
        "page=nonsense",
        "order=size",
        "depth=0",
        "type=directory",
        "depth=1&type=file",
        "depth=21",
        "depth=1&order=created",
        "prefix=b",
        "view=all",
    ] {
        server
            .get(&of(store, &format!("entries?{bad}")))
            .await
            .refused(400, "invalid_request_error");
    }
    let path_page = server.get(&of(store, "entries?limit=1")).await.ok();
    let foreign =
        format!("entries?order=created&page={}", path_page["next_page"].as_str().unwrap());
    server.get(&of(store, &foreign)).await.refused(400, "invalid_request_error");
}

#[tokio::test]
async fn pages_of_large_contents_end_early_and_lose_nothing() {
    let server = Server::new().await;
    let store = server.store("large").await;
    let text = "x".repeat(100_000);
    for number in 0..45 {
        server.put(store, &format!("/{number:02}"), &text).await;
    }
    let (mut seen, mut parts, mut page) = (0, 0, String::new());
    loop {
        let part =
            server.get(&of(store, &format!("entries?view=full&limit=1000{page}"))).await.ok();
        let data = part["data"].as_array().unwrap();
        assert!(data.len() <= 40, "{} contents on one page", data.len());
        assert!(data.iter().all(|one| one["content"].as_str().unwrap().len() == 100_000));
        (seen, parts) = (seen + data.len(), parts + 1);
        match part["next_page"].as_str() {
            Some(next) => page = format!("&page={next}"),
            None => break,
        }
    }
    assert_eq!((seen, parts), (45, 3));
}

#[tokio::test]
async fn a_batch_happens_whole_or_not_at_all() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    let edits = of(store, "edits");
    let made = json!({"reason": "mount", "edits": [
        {"op": "put", "path": "/a", "content": "one", "expect": {"type": "absent"},
         "attributes": {"kind": "fact", "tags": ["x"], "importance": 3}},
        {"op": "append", "path": "/b", "text": "two"},
    ]});
    let made = server.post(&edits, made).await.ok();
    let operations = |answer: &Value| -> Vec<Value> {
        answer["data"].as_array().unwrap().iter().map(|one| one["operation"].clone()).collect()
    };
    assert_eq!(operations(&made), [json!("created"), json!("created")]);
    let first = &made["data"][0]["entry"];
    assert_eq!(
        (&first["kind"], &first["tags"], &first["importance"]),
        (&json!("fact"), &json!(["x"]), &json!(3))
    );
    let a = first["id"].as_str().unwrap().to_owned();

    // One file renamed over another: the target gets a version, the source goes.
    let over = json!({"edits": [
        {"op": "put", "path": "/b", "content": "one", "expect": {"type": "revision", "revision": 1}},
        {"op": "remove", "memory_id": a, "expect": {"type": "content_sha256",
            "content_sha256": first["content_sha256"]}},
    ]});
    let over = server.post(&edits, over).await.ok();
    assert_eq!(operations(&over), [json!("modified"), json!("deleted")]);
    let same = json!({"edits": [{"op": "put", "path": "/b", "content": "one"}]});
    assert_eq!(operations(&server.post(&edits, same).await.ok()), [Value::Null]);
    let recorded =
        json!({"edits": [{"op": "put", "path": "/b", "content": "one", "on_same": "record"}]});
    assert_eq!(operations(&server.post(&edits, recorded).await.ok()), [json!("modified")]);

    let torn = json!({"edits": [
        {"op": "put", "path": "/c", "content": "new"},
        {"op": "put", "path": "/b", "content": "lost", "expect": {"type": "revision", "revision": 1}},
    ]});
    let refused = server.post(&edits, torn).await;
    refused.refused(409, "memory_precondition_failed_error");
    assert_eq!(refused.json()["error"]["code"], "expect_failed");
    let listed = server.get(&of(store, "entries")).await.ok();
    assert_eq!(paths(&listed), ["/b"]);

    let taken = json!({"edits": [{"op": "put", "path": "/b/under", "content": "x"}]});
    let refused = server.post(&edits, taken).await.refused(409, "conflict_error").json();
    assert_eq!(refused["error"]["code"], "path_taken");
    assert_eq!(refused["error"]["conflicting_path"], "/b");
    let big = json!({"edits": [{"op": "put", "path": "/d", "content": "x".repeat(102_401)}]});
    let refused = server.post(&edits, big).await.refused(400, "invalid_request_error").json();
    assert_eq!(refused["error"]["code"], "too_large");
    for bad in [
        json!({"edits": []}),
        json!({"edits": [{"op": "put"}]}),
        json!({"edits": [{"op": "put", "path": "/x", "memory_id": a, "content": "x"}]}),
        json!({"edits": [{"op": "remove", "path": "/b", "content": "x"}]}),
        json!({"edits": [{"op": "append", "path": "/b"}]}),
        json!({"edits": [{"op": "put", "path": "/b", "text": "x"}]}),
        json!({"edits": [{"op": "put", "path": "/b", "content": "x", "separate": "always"}]}),
        json!({"edits": [{"op": "append", "path": "/b", "text": "x", "separate": "never"}]}),
        json!({"edits": [{"op": "put", "path": "/b", "content": "x", "surprise": 1}]}),
        json!({"edits": [{"op": "put", "path": "/b", "content": "x", "expect": {"type": "sha"}}]}),
        json!({"edits": [{"op": "put", "path": "/b", "attributes": {"precondition": {"type": "revision", "revision": 1}}}]}),
        json!({"edits": [{"op": "put", "path": "/b", "content": "x"}], "reason": "Because!"}),
        json!({"edits": [{"op": "put", "path": "/b", "content": "x"}], "reason": ""}),
    ] {
        server.post(&edits, bad).await.refused(400, "invalid_request_error");
    }
    let feed = server.get(&of(store, "changes")).await.ok();
    let reasons: Vec<&str> = feed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["reason"].as_str().unwrap())
        .collect();
    assert_eq!(reasons, ["mount", "mount", "api", "api", "api"]);
}

#[tokio::test]
async fn an_append_puts_its_separator_always_or_where_it_is_missing() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    let append = |text: &str, separate: &str| json!({"op": "append", "path": "/a", "text": text, "separator": "\n", "separate": separate});
    let edits = json!({"edits": [append("one", "if_missing"), append("two\n", "if_missing"),
        append("three\n", "if_missing"), append("four", "always")]});
    let done = server.post(&of(store, "edits"), edits).await.ok();
    let text = "one\ntwo\nthree\n\nfour";
    assert_eq!(done["data"][3]["entry"]["size_bytes"], json!(text.len()));
    let id = done["data"][0]["entry"]["id"].as_str().unwrap();
    let entry = server.get(&of(store, &format!("entries/{id}?view=full"))).await.ok();
    assert_eq!(entry["content"], text);
}

#[tokio::test]
async fn whoever_waits_for_the_feed_is_told_at_once() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    let wait = of(store, "changes?after=0&wait_seconds=30");
    let listeners = server.engine.listeners();
    let somebody_waits = async || {
        let began = Instant::now();
        while server.engine.listeners() <= listeners {
            assert!(began.elapsed() < WAIT_MAX, "nobody waits");
            tokio::task::yield_now().await;
        }
    };
    let started = Instant::now();
    let written = async {
        somebody_waits().await;
        server.put(store, "/a", "one").await;
    };
    let (told, ()) = tokio::join!(server.get(&wait), written);
    assert_eq!(paths(&told.ok()), ["/a"]);
    assert!(started.elapsed() < WAIT_MAX, "{:?}", started.elapsed());

    // What is there already is not waited for, and nothing is nothing after a while.
    server.get(&wait).await.ok();
    let none = server.get(&of(store, "changes?after=1&wait_seconds=1")).await.ok();
    assert_eq!((paths(&none).len(), &none["last_seq"]), (0, &json!(1)));
    server.get(&of(store, "changes?wait_seconds=31")).await.refused(400, "invalid_request_error");

    // A server that stops keeps nobody waiting.
    let started = Instant::now();
    let stopping = async {
        somebody_waits().await;
        server.engine.end_waiting();
    };
    let uri = of(store, "changes?after=1&wait_seconds=30");
    let (left, ()) = tokio::join!(server.get(&uri), stopping);
    assert!(paths(&left.ok()).is_empty() && started.elapsed() < WAIT_MAX);
}

#[tokio::test]
async fn the_feed_says_at_once_that_access_is_another() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    let grantee = server.post("/v1/principals", json!({"name": "ada", "kind": "agent"})).await.ok();
    let key = json!({"name": "k", "principal": grantee["id"], "level": "readwrite"});
    let key = server.post("/v1/api_keys", key).await.ok();
    let secret = key["secret"].as_str().unwrap().to_owned();
    let level = async |level: &str| {
        let grant = json!({"grantee": grantee["id"], "level": level});
        server.post(&of(store, "grants"), grant).await.ok()
    };
    let ask = async |access: &str, wait: u64| {
        let uri = format!("changes?wait_seconds={wait}&access={access}");
        server.call(&secret, "GET", &of(store, &uri), Value::Null).await
    };
    level("readwrite").await;
    assert_eq!(ask("read_write", 0).await.ok()["access"], "read_write");
    let started = Instant::now();
    assert_eq!(ask("read_only", 30).await.ok()["access"], "read_write");

    // Lowered, taken back and revoked while it waits.
    let (told, _) = tokio::join!(ask("read_write", 30), level("read"));
    assert_eq!(told.ok()["access"], "read_only");
    let (told, _) = tokio::join!(ask("read_only", 30), level("search"));
    told.refused(403, "permission_error");
    level("readwrite").await;
    let revoked = format!("/v1/api_keys/{}", key["id"].as_str().unwrap());
    let (told, gone) = tokio::join!(ask("read_write", 30), server.delete(&revoked));
    assert_eq!(gone.status, 200);
    told.refused(401, "authentication_error");

    // An archived store is read-only for its owner, too.
    let uri = of(store, "changes?wait_seconds=30&access=read_write");
    let (told, _) = tokio::join!(server.get(&uri), async {
        server.engine.archive_store(&server.context(), store).await.unwrap();
    });
    assert_eq!(told.ok()["access"], "read_only");
    assert!(started.elapsed() < WAIT_MAX, "{:?}", started.elapsed());
    server.get(&of(store, "changes?access=some")).await.refused(400, "invalid_request_error");
}

#[tokio::test]
async fn a_batch_may_refuse_to_remove_from_an_archived_store() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    server.put(store, "/a", "one").await;
    server.put(store, "/b", "two").await;
    server.engine.archive_store(&server.context(), store).await.unwrap();
    let remove = async |path: &str, on_archived: &str| {
        let edit = json!({"op": "remove", "path": path});
        let batch = json!({"edits": [edit], "on_archived": on_archived});
        server.post(&of(store, "edits"), batch).await
    };
    let refused = remove("/a", "refuse").await;
    assert_eq!(refused.refused(400, "invalid_request_error").json()["error"]["code"], "archived");
    remove("/b", "apply").await.ok();
    assert_eq!(paths(&server.get(&of(store, "entries")).await.ok()), ["/a"]);
}

async fn as_model(server: &Server, uri: &str, audience: &str) -> Reply {
    let request = Request::get(uri).header("authorization", format!("Bearer {ADMIN}"));
    server.send(request.header("loci-audience", audience).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn a_request_may_count_as_a_models() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    let hidden = json!({"edits": [
        {"op": "put", "path": "/hidden", "content": "x", "attributes": {"visibility": "internal"}},
        {"op": "put", "path": "/shown", "content": "x"},
    ]});
    server.post(&of(store, "edits"), hidden).await.ok();
    let entries = of(store, "entries");
    assert_eq!(paths(&server.get(&entries).await.ok()), ["/hidden", "/shown"]);
    assert_eq!(paths(&as_model(&server, &entries, "model").await.ok()), ["/shown"]);
    as_model(&server, &entries, "host").await.refused(400, "invalid_request_error");

    let me = server.get("/v1/whoami").await.ok();
    assert_eq!(
        (&me["type"], &me["audience"], &me["level"]),
        (&json!("whoami"), &json!("host"), &json!("full"))
    );
    assert_eq!(
        (&me["principal"]["name"], &me["principal"]["is_admin"]),
        (&json!("admin"), &json!(true))
    );
    assert_eq!((&me["session_id"], &me["stores"]), (&Value::Null, &Value::Null));
    assert_eq!(me["actor"]["type"], "api_actor");
    let narrowed = as_model(&server, "/v1/whoami", "model").await.ok();
    assert_eq!(narrowed["audience"], "model");
    // A model manages nothing, whatever its key is.
    let request = Request::post("/v1/api_keys").header("authorization", format!("Bearer {ADMIN}"));
    let request = request.header("loci-audience", "model").body(Body::from(r#"{"name": "x"}"#));
    server.send(request.unwrap()).await.refused(403, "permission_error");
}
