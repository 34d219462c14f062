//! Searching over the wire: what is found and shown, what is refused, and what strangers get.
use crate::common::{ADMIN, Server};
use loci_model::StoreId;
use serde_json::{Value, json};

const NOBODY: &str = "memstore_010000000000000000000001";

fn paths(answer: &Value) -> Vec<&str> {
    let hits = answer["data"].as_array().unwrap();
    hits.iter().map(|hit| hit["path"].as_str().unwrap()).collect()
}

fn url(store: StoreId) -> String {
    format!("/v1/memory_stores/{store}/search")
}

#[tokio::test]
async fn what_was_just_written_is_found_by_word() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let memory = server.put(store, "/tea", "Ana drinks green tea in the harbour").await;
    server.put(store, "/other/coffee", "Bo prefers coffee").await;

    let wanted = json!({"query": "who drinks tea?", "mode": "lexical", "explain": true});
    let answer = server.post(&url(store), wanted).await.ok();
    assert_eq!(paths(&answer), ["/tea"]);
    let hit = &answer["data"][0];
    for (field, value) in [
        ("type", json!("memory")),
        ("id", json!(memory.id.to_string())),
        ("memory_store_id", json!(store.to_string())),
        ("memory_version_id", json!(memory.head.to_string())),
        ("content", json!("Ana drinks green tea in the harbour")),
        ("content_sha256", json!(memory.digest.to_string())),
        ("content_size_bytes", json!(35)),
        ("created_at", json!(memory.created_at.to_string())),
        ("updated_at", json!(memory.updated_at.to_string())),
        ("revision", json!(1)),
        ("tags", json!([])),
        ("pinned", json!(false)),
        ("kind", Value::Null),
        ("metadata", Value::Null),
        ("expires_at", Value::Null),
    ] {
        assert_eq!(hit.get(field), Some(&value), "{field}");
    }
    assert!(hit["score"].as_f64().unwrap() > 0.0);
    let snippet: Vec<char> = hit["snippet"].as_str().unwrap().chars().collect();
    let highlighted: Vec<String> = hit["highlights"]
        .as_array()
        .unwrap()
        .iter()
        .map(|span| {
            let at = |end: usize| usize::try_from(span[end].as_u64().unwrap()).unwrap();
            snippet[at(0)..at(1)].iter().collect()
        })
        .collect();
    assert_eq!(highlighted, ["drinks", "tea"]);
    assert!(hit["explanation"]["lexical"].as_f64().unwrap() > 0.0);
    assert!(answer["is_complete"].is_boolean());

    let plain = json!({"query": "tea", "view": "basic", "mode": "lexical"});
    let answer = server.post(&url(store), plain).await.ok();
    assert_eq!(answer["data"][0]["content"], Value::Null);
    assert!(answer["data"][0].get("explanation").is_none());
}

#[tokio::test]
async fn filters_choose_before_anything_is_ranked() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let one = server.put(store, "/a/one", "tea for one").await;
    server.put(store, "/b/two", "tea for two").await;
    let attributes = format!("/v1/memory_stores/{store}/memories/{}/attributes", one.id);
    let known = json!({
        "kind": "fact", "tags": ["x", "y"], "source": "me", "scope": "work",
        "metadata": {"n": 1, "deep": {"k": [true]}},
    });
    server.post(&attributes, known).await.ok();
    for (filter, expect) in [
        (json!({}), 2),
        (json!({"path_prefix": "/a/"}), 1),
        (json!({"path_prefix": "/c/"}), 0),
        (json!({"kind": "fact"}), 1),
        (json!({"kind": ["fact", "other"]}), 1),
        (json!({"kind": "other"}), 0),
        (json!({"tags": ["x"]}), 1),
        (json!({"tags": ["x", "z"]}), 0),
        (json!({"source": "me", "scope": "work"}), 1),
        (json!({"metadata": {"n": 1, "deep": {"k": [true]}}}), 1),
        (json!({"metadata": {"n": 2}}), 0),
        (json!({"created_before": "2001-01-01T00:00:00Z"}), 0),
        (json!({"created_after": "2001-01-01T00:00:00Z"}), 2),
        (json!({"updated_after": "2100-01-01T00:00:00Z"}), 0),
    ] {
        let wanted = json!({"query": "tea", "mode": "lexical", "filter": filter});
        let answer = server.post(&url(store), wanted).await.ok();
        assert_eq!(paths(&answer).len(), expect, "{filter}");
    }
    let wanted = json!({"query": "tea", "mode": "lexical", "limit": 1});
    assert_eq!(paths(&server.post(&url(store), wanted).await.ok()).len(), 1);
}

#[tokio::test]
async fn the_past_can_be_searched() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let first = server.put(store, "/a", "tea").await;
    let second = server.put(store, "/a", "coffee").await;
    let ask = async |query: &str, as_of: Value| {
        let wanted = json!({"query": query, "mode": "lexical", "as_of": as_of});
        let answer = server.post(&url(store), wanted).await.ok();
        paths(&answer).len()
    };
    for (as_of, tea, coffee) in [
        (Value::Null, 0, 1),
        (json!(1), 1, 0),
        (json!(2), 0, 1),
        (json!(first.head.to_string()), 1, 0),
        (json!(second.updated_at.to_string()), 0, 1),
        (json!("2001-01-01T00:00:00Z"), 0, 0),
    ] {
        let found = (ask("tea", as_of.clone()).await, ask("coffee", as_of.clone()).await);
        assert_eq!(found, (tea, coffee), "{as_of}");
    }
    for unknown in ["memver_x", "memver_010000000000000000000001"] {
        let wanted = json!({"query": "tea", "as_of": unknown});
        server.post(&url(store), wanted).await.refused(404, "not_found_error");
    }
}

#[tokio::test]
async fn all_stores_are_searched_or_those_named() {
    let server = Server::new().await;
    let (one, two) = (server.store("one").await, server.store("two").await);
    server.put(one, "/a", "tea in one").await;
    server.put(two, "/b", "tea in two").await;
    let ask = async |more: Value| {
        let mut wanted = json!({"query": "tea", "mode": "lexical"});
        wanted.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/search", wanted).await.ok()
    };
    let answer = ask(json!({})).await;
    let mut found = paths(&answer);
    found.sort_unstable();
    assert_eq!(found, ["/a", "/b"]);
    assert!(answer["indexed_through"].is_object());
    let answer = ask(json!({"memory_store_ids": [two.to_string()]})).await;
    assert_eq!(paths(&answer), ["/b"]);
    let missing = json!({"query": "tea", "memory_store_ids": [NOBODY]});
    server.post("/v1/search", missing).await.refused(404, "not_found_error");
}

#[tokio::test]
async fn what_is_not_shared_is_not_found() {
    let server = Server::new().await;
    let (open, closed) = (server.store("open").await, server.store("closed").await);
    server.put(open, "/a", "tea").await;
    server.put(closed, "/b", "tea").await;
    server.post("/v1/principals", json!({"name": "ada"})).await.ok();
    let (_, key) = server.key(json!({"name": "ada's", "principal": "ada"})).await;
    let grant = json!({"grantee": "ada", "level": "search"});
    server.post(&format!("/v1/memory_stores/{open}/grants"), grant).await.ok();

    let wanted = json!({"query": "tea", "mode": "lexical"});
    let answer = server.call(&key, "POST", "/v1/search", wanted.clone()).await.ok();
    assert_eq!(paths(&answer), ["/a"]);
    assert_eq!(answer["indexed_through"], json!({}), "a searcher may not follow the feed");
    let answer = server.call(&key, "POST", &url(open), wanted.clone()).await.ok();
    assert_eq!((paths(&answer), &answer["indexed_through"]), (vec!["/a"], &Value::Null));
    let reply = server.call(&key, "POST", &url(closed), wanted).await;
    reply.refused(404, "not_found_error");
    let named = json!({"query": "tea", "memory_store_ids": [open.to_string(), closed.to_string()]});
    let reply = server.call(&key, "POST", "/v1/search", named).await;
    reply.refused(404, "not_found_error");
}

#[tokio::test]
async fn a_wrong_request_is_refused_without_repeating_it() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let with = |more: Value| {
        let mut wanted = json!({"query": "tea"});
        wanted.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        wanted
    };
    for bad in [
        json!({}),
        json!({"query": 7}),
        with(json!({"query": ""})),
        with(json!({"query": " \n"})),
        with(json!({"query": "x".repeat(5000)})),
        with(json!({"limit": 0})),
        with(json!({"limit": 101})),
        with(json!({"mode": "magic-secret"})),
        with(json!({"unknown": 1})),
        with(json!({"filter": {"colour": "red"}})),
        with(json!({"filter": {"path_prefix": "a"}})),
        with(json!({"filter": {"kind": 5}})),
        with(json!({"filter": {"created_after": "soon"}})),
        with(json!({"filter": {"tags": vec!["t"; 65]}})),
        with(json!({"fusion": "magic"})),
        with(json!({"fusion": {"method": "rrf", "lexical_weight": 0.5}})),
        with(json!({"fusion": {"method": "convex", "lexical_weight": 2}})),
        with(json!({"boost": {"recency": 7}})),
        with(json!({"boost": {"recency": {"half_life_seconds": 7}}})),
        with(json!({"boost": {"importance": -1}})),
        with(json!({"diversity": 2})),
        with(json!({"snippet_chars": 1001})),
        with(json!({"view": "wide"})),
        with(json!({"as_of": "soon"})),
        with(json!({"as_of": -1})),
        with(json!({"wait_for": "ever"})),
        with(json!({"wait_for": "latest", "wait_seconds": 31})),
        with(json!({"wait_seconds": 1})),
        json!(["tea"]),
    ] {
        for url in [url(store), "/v1/search".to_owned()] {
            let reply = server.post(&url, bad.clone()).await;
            reply.refused(400, "invalid_request_error");
        }
    }
    let one_only = with(json!({"memory_store_ids": [store.to_string()]}));
    server.post(&url(store), one_only).await.refused(400, "invalid_request_error");
    for many_only in [json!({"as_of": 1}), json!({"wait_for": 1}), json!({"memory_store_ids": []})]
    {
        let reply = server.post("/v1/search", with(many_only)).await;
        reply.refused(400, "invalid_request_error");
    }
    let wanted = json!({"query": "tea"});
    let nowhere = format!("/v1/memory_stores/{NOBODY}/search");
    server.post(&nowhere, wanted).await.refused(404, "not_found_error");
}

#[tokio::test]
async fn odd_queries_break_nothing() {
    let server = Server::new().await;
    let store = server.store("s").await;
    server.put(store, "/a", "tea \"time\" AND (more) tea* 東京タワー").await;
    for query in
        ["tea?", "\"tea", "tea AND NOT (", "tea*", "NEAR(tea", "東京", "tea:::--", "' OR 1=1"]
    {
        let wanted = json!({"query": query, "mode": "lexical"});
        server.post(&url(store), wanted).await.ok();
    }
    for query in ["tea?", "\"tea", "東京"] {
        let wanted = json!({"query": query, "mode": "lexical"});
        let answer = server.post(&url(store), wanted).await.ok();
        assert_eq!(paths(&answer), ["/a"], "{query}");
    }
}

#[tokio::test]
async fn duplicates_are_reported() {
    let server = Server::new().await;
    let store = server.store("s").await;
    for path in ["/a", "/b"] {
        server.put(store, path, "the ferry to the island leaves at nine from the old pier").await;
    }
    server.put(store, "/c", "something else entirely").await;
    let duplicates = format!("/v1/memory_stores/{store}/duplicates");
    let report = server.get(&duplicates).await.ok();
    assert_eq!(
        (&report["type"], &report["is_truncated"]),
        (&"duplicates_report".into(), &false.into())
    );
    let group = &report["exact"][0];
    let mut found: Vec<&str> =
        group["memories"].as_array().unwrap().iter().map(|m| m["path"].as_str().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, ["/a", "/b"]);
    assert_eq!(
        (&group["similarity"], &group["memories"][0]["content"]),
        (&json!(1.0), &Value::Null)
    );
    for bad in ["threshold=2", "threshold=0.1", "threshold=x", "limit=0", "limit=-1"] {
        let reply = server.get(&format!("{duplicates}?{bad}")).await;
        reply.refused(400, "invalid_request_error");
    }
    let nowhere = format!("/v1/memory_stores/{NOBODY}/duplicates");
    server.get(&nowhere).await.refused(404, "not_found_error");
}

#[tokio::test]
async fn repeats_are_allowed_refused_or_merged() {
    let server = Server::new().await;
    let store = server.store("s").await;
    let policy = format!("/v1/memory_stores/{store}/policy");
    let shown = server.get(&policy).await.ok();
    let expected = json!({
        "type": "memory_store_policy", "memory_store_id": store.to_string(), "repeats": "allow",
        "partitioning": "none", "remove": "writer", "share": "writer",
        "on_remove": {"type": "keep_history"}, "content_bytes_max": 102_400,
        "memories_max": 2_000_000, "soft_cap": null,
    });
    assert_eq!(shown, expected);
    for repeats in ["merge", "refuse", "allow"] {
        let changed = server.post(&policy, json!({"repeats": repeats})).await.ok();
        assert_eq!(changed["repeats"], repeats);
        assert_eq!(server.get(&policy).await.ok(), changed);
    }
    let capped = server.post(&policy, json!({"soft_cap": 7})).await.ok();
    assert_eq!((&capped["soft_cap"], &capped["repeats"]), (&json!(7), &json!("allow")));
    let free = server.post(&policy, json!({"soft_cap": null, "repeats": "merge"})).await.ok();
    assert_eq!((&free["soft_cap"], &free["repeats"]), (&Value::Null, &json!("merge")));
    for bad in [
        json!({}),
        json!({"repeats": "forbid"}),
        json!({"repeats": "merge", "share": "owner"}),
        json!({"soft_cap": 0}),
        json!({"soft_cap": -1}),
        json!({"soft_cap": "7"}),
        json!({"soft_cap": 2_000_001}),
    ] {
        server.post(&policy, bad).await.refused(400, "invalid_request_error");
    }
    let nowhere = format!("/v1/memory_stores/{NOBODY}/policy");
    server.get(&nowhere).await.refused(404, "not_found_error");
    server.post(&nowhere, json!({"repeats": "merge"})).await.refused(404, "not_found_error");
    let (_, reader) = server.key(json!({"name": "reader", "level": "read"})).await;
    server.call(&reader, "GET", &policy, Value::Null).await.ok();
    let reply = server.call(&reader, "POST", &policy, json!({"repeats": "merge"})).await;
    reply.refused(403, "permission_error");
}

#[tokio::test]
async fn vectors_are_an_administrators_matter() {
    let server = Server::new().await;
    let status = server.get("/v1/embedding").await.ok();
    assert_eq!(status["type"], "embedding");
    assert!(status["generations"].is_array() && status["stores_behind"].is_u64());
    server
        .post("/v1/embedding/reembed", json!({"x": 1}))
        .await
        .refused(400, "invalid_request_error");
    let (_, key) = server.key(json!({"name": "k", "level": "readwrite"})).await;
    for (method, url) in [("GET", "/v1/embedding"), ("POST", "/v1/embedding/reembed")] {
        let reply = server.call(&key, method, url, Value::Null).await;
        reply.refused(403, "permission_error");
    }
}

#[tokio::test]
async fn searches_are_counted_by_mode() {
    let server = Server::new().await;
    let store = server.store("s").await;
    for mode in ["lexical", "lexical"] {
        server.post(&url(store), json!({"query": "tea", "mode": mode})).await.ok();
    }
    server.post(&url(store), json!({"query": ""})).await.refused(400, "invalid_request_error");
    let reply = server.call(ADMIN, "GET", "/metrics", Value::Null).await;
    let text = String::from_utf8(reply.bytes.to_vec()).unwrap();
    assert!(text.contains("loci_search_seconds_count{mode=\"lexical\"} 2"), "{text}");
}
