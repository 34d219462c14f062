//! Promises of the gate: every answer has an id and, when refused, an envelope; bodies are bounded;
//! keys open through both headers; idempotent writes happen once; nobody asks too often.

use crate::common::{ADMIN, Server};
use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};
use http::Request;
use loci_http::HttpOptions;
use serde_json::{Value, json};
use std::time::Duration;

fn request(method: &str, uri: &str) -> http::request::Builder {
    let request = Request::builder().method(method).uri(uri);
    request.header("x-api-key", ADMIN)
}

#[tokio::test]
async fn unknown_routes_and_methods_answer_with_the_envelope() {
    let server = Server::new().await;
    for uri in ["/", "/v1/nothing", "/healthz/more", "/v1/api_keys/"] {
        server.get(uri).await.refused(404, "not_found_error");
    }
    let wrong = server.call(ADMIN, "PUT", "/v1/api_keys", json!({})).await;
    wrong.refused(405, "invalid_request_error");
    assert!(wrong.headers.contains_key("allow"), "{:?}", wrong.headers);
    let wrong = server.call(ADMIN, "BREW", "/healthz", Value::Null).await;
    wrong.refused(405, "invalid_request_error");
}

#[tokio::test]
async fn below_api_refusals_are_a_text() {
    let doors = Router::new().route("/api/door", get(async || "door").post(async || "door"));
    let options = HttpOptions { body_bytes_max: 100, ..HttpOptions::default() };
    let server = Server::with(&options, doors).await;
    let large = json!({ "text": "x".repeat(200) });
    for (method, uri, body, status) in [
        ("GET", "/api/nothing", Value::Null, 404),
        ("PUT", "/api/door", json!({}), 405),
        ("POST", "/api/door", large, 413),
    ] {
        let refused = server.call(ADMIN, method, uri, body).await;
        let said: Value = serde_json::from_slice(refused.bytes.as_ref()).unwrap();
        assert_eq!(refused.status, status, "{said}");
        let error = said["error"].as_str().expect("a text");
        assert!(!error.is_empty() && said.as_object().unwrap().len() == 1, "{said}");
    }
}

#[tokio::test]
async fn doors_share_prefixes_with_native_routes_whatever_they_call_the_ids() {
    let doors = Router::new()
        .route("/v1/memory_stores/{sid}/memories/{mid}", get(async || "door"))
        .route("/v1/sessions/{id}", get(async || "door"));
    let server = Server::with(&HttpOptions::default(), doors).await;
    let store = server.store("s").await;
    let memory = server.put(store, "/a", "text").await.id;
    let url = format!("/v1/memory_stores/{store}/memories/{memory}");
    assert_eq!(server.get(&url).await.bytes, "door");
    assert_eq!(server.get("/v1/sessions/x").await.bytes, "door");
    server.get(&format!("{url}/attributes")).await.ok();
    let wrong = server.call(ADMIN, "PUT", &url, json!({})).await;
    wrong.refused(405, "invalid_request_error");
}

#[tokio::test]
async fn a_key_is_needed_and_taken_from_both_headers_only() {
    let server = Server::new().await;
    let with = |name: &'static str, value: String| {
        let request = Request::get("/v1/stats").header(name, value);
        server.send(request.body(Body::empty()).unwrap())
    };
    with("x-api-key", ADMIN.into()).await.ok();
    with("authorization", format!("Bearer {ADMIN}")).await.ok();
    with("authorization", format!("bearer {ADMIN}")).await.ok();
    for (name, value) in [
        ("authorization", format!("Basic {ADMIN}")),
        ("authorization", "Bearer".into()),
        ("authorization", "Bearer wrong".into()),
        ("x-api-key", String::new()),
        ("x-api-key", "loci_wrong".into()),
        ("x-other", ADMIN.into()),
    ] {
        with(name, value).await.refused(401, "authentication_error");
    }
    let in_url = Request::get(format!("/v1/stats?x-api-key={ADMIN}"));
    let reply = server.send(in_url.body(Body::empty()).unwrap()).await;
    reply.refused(401, "authentication_error");
}

#[tokio::test]
async fn the_local_operator_needs_no_key_but_a_wrong_key_counts() {
    let server = Server::new().await;
    let request = || Request::get("/v1/api_keys").extension(server.operator());
    server.send(request().body(Body::empty()).unwrap()).await.ok();
    let wrong = request().header("x-api-key", "wrong");
    let reply = server.send(wrong.body(Body::empty()).unwrap()).await;
    reply.refused(401, "authentication_error");
}

#[tokio::test]
async fn bodies_are_bounded_in_size_and_depth() {
    let options = HttpOptions { body_bytes_max: 1000, json_depth_max: 4, ..HttpOptions::default() };
    let echo = Router::new().route("/echo", post(async |body: bytes::Bytes| body));
    let server = Server::with(&options, echo).await;
    let send = |body: String| {
        let request = request("POST", "/echo");
        server.send(request.body(Body::from(body)).unwrap())
    };
    assert_eq!(send("x".repeat(1000)).await.bytes.len(), 1000);
    send("x".repeat(1001)).await.refused(413, "request_too_large");
    let announced = request("POST", "/echo").header("content-length", "99999999999");
    let reply = server.send(announced.body(Body::from("x")).unwrap()).await;
    reply.refused(413, "request_too_large");
    assert_eq!(reply.headers["connection"], "close");
    assert_eq!(send("[[[[1]]]]".into()).await.status, 200);
    send("[[[[[1]]]]]".into()).await.refused(400, "invalid_request_error");
    assert_eq!(send("\"[[[[[[[[[\"".into()).await.status, 200);

    // In pieces, as chunks come.
    let pieces = (0..11).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 100]));
    let body = Body::from_stream(futures_util::stream::iter(pieces));
    let reply = server.send(request("POST", "/echo").body(body).unwrap()).await;
    reply.refused(413, "request_too_large");
    let pieces = (0..9).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 100]));
    let body = Body::from_stream(futures_util::stream::iter(pieces));
    let reply = server.send(request("POST", "/echo").body(body).unwrap()).await;
    assert_eq!((reply.status, reply.bytes.len()), (200, 900));
}

#[tokio::test]
async fn panics_and_long_requests_become_answers() {
    async fn panics() -> &'static str {
        panic!("on purpose")
    }
    let doors = Router::new()
        .route("/panics", get(panics))
        .route("/sleeps", get(std::future::pending::<&'static str>));
    let options =
        HttpOptions { request_timeout: Duration::from_millis(50), ..HttpOptions::default() };
    let server = Server::with(&options, doors).await;
    let reply = server.get("/panics").await;
    reply.refused(500, "api_error");
    assert_eq!(reply.json()["error"]["message"], "internal error");
    server.get("/sleeps").await.refused(408, "timeout_error");
    server.get("/healthz").await.ok();
}

#[tokio::test]
async fn idempotent_writes_happen_once() {
    let server = Server::new().await;
    let send = |key: &str, body: Value| {
        let request = request("POST", "/v1/principals").header("idempotency-key", key);
        server.send(request.body(Body::from(body.to_string())).unwrap())
    };
    let first = send("one", json!({"name": "a"})).await.ok();
    assert_eq!(send("one", json!({"name": "a"})).await.ok(), first);
    let other = send("one", json!({"name": "b"})).await;
    other.refused(400, "invalid_request_error");
    let again = send("two", json!({"name": "a"})).await;
    again.refused(409, "conflict_error");
    assert_eq!(again.headers["x-should-retry"], "false");
    send("", json!({"name": "c"})).await.refused(400, "invalid_request_error");
    let long = "k".repeat(256);
    send(&long, json!({"name": "c"})).await.refused(400, "invalid_request_error");
    let listed = server.get("/v1/principals").await.ok();
    assert_eq!(listed["data"].as_array().unwrap().len(), 2, "{listed}");
}

#[tokio::test]
async fn a_repeated_key_creation_does_not_show_a_secret_that_opens_nothing() {
    let server = Server::new().await;
    let send = || {
        let request = request("POST", "/v1/api_keys").header("idempotency-key", "k");
        server.send(request.body(Body::from(r#"{"name":"n"}"#)).unwrap())
    };
    let first = send().await.ok();
    let second = send().await.ok();
    assert_eq!(first["id"], second["id"]);
    assert!(first["secret"].is_string());
    assert!(second["secret"].is_null());
}

#[tokio::test]
async fn each_key_has_its_own_rate() {
    let options = HttpOptions { requests_per_second: Some(5), ..HttpOptions::default() };
    let server = Server::with(&options, Router::new()).await;
    let (_, other) = server.key(json!({"name": "other"})).await;
    let mut refused = 0;
    for _ in 0..20 {
        let reply = server.get("/v1/stats").await;
        if reply.status != 200 {
            reply.refused(429, "rate_limit_error");
            assert_eq!(reply.headers["retry-after"], "1");
            for (name, value) in
                [("limit", "5"), ("remaining", "0"), ("scope", "key"), ("policy", "5;w=1")]
            {
                assert_eq!(reply.headers[format!("x-ratelimit-{name}").as_str()], value);
            }
            assert!(reply.headers.contains_key("x-ratelimit-reset"));
            refused += 1;
        }
    }
    assert!(refused >= 10, "only {refused} refused");
    server.call(&other, "GET", "/v1/stats", Value::Null).await.ok();
    let health = Request::get("/healthz").body(Body::empty()).unwrap();
    server.send(health).await.ok();
}

#[tokio::test]
async fn metrics_are_for_this_machine_or_an_administrator() {
    let server = Server::new().await;
    server.get("/v1/stats").await.ok();
    let reply = server.get("/metrics").await;
    let text = String::from_utf8(reply.bytes.to_vec()).unwrap();
    let line = "loci_requests_total{route=\"/v1/stats\",method=\"GET\",status=\"200\"} 1";
    assert!(text.contains(line), "{text}");
    let stranger = Request::get("/metrics").body(Body::empty()).unwrap();
    server.send(stranger).await.refused(401, "authentication_error");
}
