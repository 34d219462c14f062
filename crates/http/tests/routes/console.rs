//! Signing in to the console and what a browser's cookie opens; borrowed eyes; the stream of changes.

use crate::common::{ADMIN, Reply, Server};
use axum::body::Body;
use futures_util::StreamExt;
use http::Request;
use loci_engine::search::SearchOptions;
use serde_json::{Value, json};
use std::future::Future;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;
use tower::ServiceExt;

const HOST: &str = "loci.test:8700";

/// A request as the console's own page sends it.
fn from_page(method: &str, uri: &str, cookie: Option<&str>) -> http::request::Builder {
    let request = Request::builder().method(method).uri(uri).header("host", HOST);
    let request = request.header("sec-fetch-site", "same-origin").header("x-loci-console", "1");
    let request = request.header("origin", format!("http://{HOST}"));
    match cookie {
        Some(cookie) => request.header("cookie", format!("theme=dark; {cookie}")),
        None => request,
    }
}

async fn page(server: &Server, method: &str, uri: &str, cookie: &str, body: Value) -> Reply {
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    server.send(from_page(method, uri, Some(cookie)).body(body).unwrap()).await
}

async fn login(server: &Server, body: Value) -> Reply {
    let request = from_page("POST", "/console/login", None);
    server.send(request.body(Body::from(body.to_string())).unwrap()).await
}

/// Signs in, and gives the cookie.
async fn signed_in(server: &Server, key: &str) -> String {
    let reply = login(server, json!({ "key": key })).await;
    reply.ok();
    let set = reply.headers["set-cookie"].to_str().unwrap();
    assert!(set.contains("; HttpOnly; SameSite=Strict") && set.contains("Path=/"), "{set}");
    assert!(set.contains("Max-Age=43") && !set.contains(key), "{set}");
    set.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_key_signs_in_and_the_cookie_opens_what_the_key_does() {
    let server = Server::new().await;
    let cookie = signed_in(&server, ADMIN).await;
    let session = page(&server, "GET", "/console/session", &cookie, Value::Null).await.ok();
    assert_eq!((&session["type"], &session["is_admin"]), (&json!("console_session"), &json!(true)));
    assert_eq!(
        (&session["level"], &session["principal"]["name"]),
        (&json!("full"), &json!("admin"))
    );
    assert_eq!((&session["view_as"], &session["stores"]), (&Value::Null, &Value::Null));
    assert_eq!(session["actor"]["type"], "api_actor");
    let ended = page(&server, "POST", "/console/logout", &cookie, json!({})).await;
    assert_eq!(ended.status, 204);
    assert!(ended.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    page(&server, "GET", "/console/session", &cookie, Value::Null)
        .await
        .refused(401, "authentication_error");
    server.get("/v1/whoami").await.ok();
    let events = server.get("/v1/events?limit=1000").await.ok();
    let told: Vec<&str> = events["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["detail"] == "console session")
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["key_created", "key_revoked"]);
}

#[tokio::test]
async fn what_a_browser_makes_ends_with_its_session() {
    let server = Server::new().await;
    let cookie = signed_in(&server, ADMIN).await;
    let session = page(&server, "GET", "/console/session", &cookie, Value::Null).await.ok();
    let opens = async |secret: &Value| {
        let key = secret.as_str().unwrap();
        server.call(key, "GET", "/v1/whoami", Value::Null).await.status == 200
    };
    let new = json!({"name": "made (in a hurry)"});
    let made = page(&server, "POST", "/v1/api_keys", &cookie, new).await.ok();
    assert_eq!(made["name"], "made (in a hurry)");
    assert_eq!(made["expires_at"], session["expires_at"], "as long as the session and no longer");
    let secret = made["secret"].as_str().unwrap();
    // Nor does what that key makes live longer, nor the browser that signs in with it.
    let second = server.call(secret, "POST", "/v1/api_keys", json!({"name": "second"})).await.ok();
    assert_eq!(second["console_session"], made["console_session"]);
    let other = signed_in(&server, secret).await;
    let new = json!({"name": "third", "principal": "admin"});
    let third = page(&server, "POST", "/v1/api_keys", &other, new).await.ok();
    let longer = json!({"name": "longer", "expires_in_seconds": 13 * 3600});
    for refused in [
        page(&server, "POST", "/v1/api_keys", &cookie, longer.clone()).await,
        server.call(secret, "POST", "/v1/api_keys", longer.clone()).await,
        server.call(secret, "POST", "/console/links", json!({})).await,
        page(&server, "POST", "/console/links", &cookie, json!({})).await,
    ] {
        refused.refused(403, "permission_error");
    }
    // Whoever shows the key itself makes what lasts.
    let request = from_page("POST", "/v1/api_keys", Some(&cookie));
    let request = request.header("authorization", format!("Bearer {ADMIN}"));
    let lasting = server.send(request.body(Body::from(longer.to_string())).unwrap()).await.ok();
    assert_eq!(lasting["console_session"], Value::Null);
    for key in [&made, &second, &third, &lasting] {
        assert!(opens(&key["secret"]).await, "{key}");
    }
    assert_eq!(page(&server, "POST", "/console/logout", &cookie, json!({})).await.status, 204);
    for key in [&made, &second, &third] {
        assert!(!opens(&key["secret"]).await, "{key}");
    }
    assert!(opens(&lasting["secret"]).await);
    let reply = page(&server, "GET", "/console/session", &other, Value::Null).await;
    reply.refused(401, "authentication_error");
    // Revoking the session from elsewhere does the same.
    let cookie = signed_in(&server, ADMIN).await;
    let made = page(&server, "POST", "/v1/api_keys", &cookie, json!({"name": "x"})).await.ok();
    let session = made["console_session"].as_str().unwrap();
    server.delete(&format!("/v1/api_keys/{session}")).await.ok();
    assert!(!opens(&made["secret"]).await);
    let listed = server.get("/v1/api_keys").await.ok();
    let is_it = |key: &&Value| key["id"] == made["id"];
    let found = listed["data"].as_array().unwrap().iter().find(is_it).unwrap();
    assert_eq!((&found["name"], &found["console_session"]), (&json!("x"), &json!(session)));
    assert!(found["revoked_at"].is_string());
}

#[tokio::test]
async fn narrow_keys_sign_in_and_stay_narrow() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    let ends = "2100-01-01T00:00:00Z";
    let (_, secret) = server
        .key(json!({"name": "narrow", "level": "read", "stores": [store.to_string()],
            "audience": "model", "expires_at": ends}))
        .await;
    let cookie = signed_in(&server, &secret).await;
    let session = page(&server, "GET", "/console/session", &cookie, Value::Null).await.ok();
    assert_eq!((&session["level"], &session["audience"]), (&json!("read"), &json!("model")));
    assert_eq!(session["stores"], json!([store.to_string()]));
    assert!(session["expires_at"].as_str().unwrap() < ends);
    let edits = format!("/v1/memory_stores/{store}/edits");
    let edit = json!({"edits": [{"op": "put", "path": "/a", "content": "x"}]});
    page(&server, "POST", &edits, &cookie, edit).await.refused(403, "permission_error");
    let more = json!({"name": "more"});
    page(&server, "POST", "/v1/api_keys", &cookie, more).await.refused(403, "permission_error");
    // Nor does a full key that ends make one that does not.
    let (_, ending) = server.key(json!({"name": "ending", "expires_at": ends})).await;
    let cookie = signed_in(&server, &ending).await;
    let new = json!({"name": "for ever", "expires_at": "2200-01-01T00:00:00Z"});
    page(&server, "POST", "/v1/api_keys", &cookie, new).await.refused(403, "permission_error");
}

#[tokio::test]
async fn a_revoked_key_takes_its_sessions_along() {
    let server = Server::new().await;
    let (id, secret) = server.key(json!({"name": "lost"})).await;
    let first = signed_in(&server, &secret).await;
    // A session that was made with what another browser holds, and one by a link of the key's.
    let second = signed_in(&server, first.split_once('=').unwrap().1).await;
    let link = server.call(&secret, "POST", "/console/links", json!({})).await.ok();
    let third = login(&server, json!({ "once": link["once"] })).await;
    third.ok();
    let third = third.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let other = signed_in(&server, ADMIN).await;
    server.delete(&format!("/v1/api_keys/{id}")).await.ok();
    for cookie in [&first, &second, third] {
        let reply = page(&server, "GET", "/console/session", cookie, Value::Null).await;
        reply.refused(401, "authentication_error");
    }
    page(&server, "GET", "/console/session", &other, Value::Null).await.ok();
}

#[tokio::test]
async fn what_is_no_key_signs_nobody_in() {
    let server = Server::new().await;
    for wrong in [json!({"key": "nonsense"}), json!({"once": "nonsense"}), json!({"once": ADMIN})] {
        login(&server, wrong).await.refused(401, "authentication_error");
    }
    for wrong in [json!({}), json!({"key": ADMIN, "once": "x"}), json!({"password": "x"})] {
        login(&server, wrong).await.refused(400, "invalid_request_error");
    }
    let large = json!({ "key": "x".repeat(5000) });
    login(&server, large).await.refused(413, "request_too_large");
    for name in [
        "console session",
        "console link",
        "console session (apikey_1)",
        "mine (made in console session apikey_1)",
    ] {
        let reply = server.post("/v1/api_keys", json!({ "name": name })).await;
        reply.refused(400, "invalid_request_error");
    }
}

#[tokio::test]
async fn a_cookie_counts_only_on_our_own_page() {
    let server = Server::new().await;
    let cookie = signed_in(&server, ADMIN).await;
    let bare = |method: &str, headers: &[(&str, &str)]| {
        let mut request = Request::builder().method(method).uri("/v1/memory_stores/x/edits");
        if method == "GET" {
            request = request.uri("/v1/whoami");
        }
        request = request.header("host", HOST).header("cookie", &cookie);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::from("{}")).unwrap()
    };
    let evil = ("origin", "http://evil.test");
    for (method, headers) in [
        ("POST", &[][..]),
        ("POST", &[("x-loci-console", "1"), evil]),
        ("POST", &[("x-loci-console", "1"), ("sec-fetch-site", "cross-site")]),
        ("GET", &[evil]),
        ("GET", &[("sec-fetch-site", "same-site")]),
    ] {
        let reply = server.send(bare(method, headers)).await;
        reply.refused(403, "permission_error");
    }
    assert_eq!(server.send(bare("GET", &[])).await.status, 200);
    let found = server.send(bare("POST", &[("x-loci-console", "1")])).await;
    found.refused(404, "not_found_error");
    // A key in a header is not the browser's doing, whatever cookie comes with it.
    let mut request = bare("POST", &[]);
    let key = format!("Bearer {ADMIN}").parse().unwrap();
    request.headers_mut().insert("authorization", key);
    server.send(request).await.refused(404, "not_found_error");
    // Nor may another site sign somebody in.
    let request = Request::post("/console/login").header("host", HOST);
    let request = request.header("origin", "http://evil.test").header("x-loci-console", "1");
    let body = Body::from(json!({ "key": ADMIN }).to_string());
    server.send(request.body(body).unwrap()).await.refused(403, "permission_error");
}

#[tokio::test]
async fn a_link_signs_in_once_and_opens_nothing_else() {
    let server = Server::new().await;
    let link = server.post("/console/links", json!({})).await.ok();
    let once = link["once"].as_str().unwrap();
    assert_eq!((&link["type"], &link["url"]), (&json!("console_link"), &Value::Null));
    server.call(once, "GET", "/v1/whoami", Value::Null).await.refused(401, "authentication_error");
    login(&server, json!({ "key": once })).await.refused(401, "authentication_error");
    let (first, second) = tokio::join!(
        login(&server, json!({ "once": once })),
        login(&server, json!({ "once": once }))
    );
    assert_eq!(first.status.min(second.status), 200);
    assert_eq!(first.status.max(second.status), 401, "only one of two is let in");
    login(&server, json!({ "once": once })).await.refused(401, "authentication_error");
    // Who may not make keys makes no links either, nor does a browser.
    let (_, narrow) = server.key(json!({"name": "narrow", "level": "read"})).await;
    let refused = server.call(&narrow, "POST", "/console/links", json!({})).await;
    refused.refused(403, "permission_error");
    let cookie = signed_in(&server, ADMIN).await;
    let refused = page(&server, "POST", "/console/links", &cookie, json!({})).await;
    refused.refused(403, "permission_error");
}

#[tokio::test]
async fn an_administrator_sees_with_others_eyes_and_changes_nothing_so() {
    let server = Server::new().await;
    let store = server.store("private").await;
    server.put(store, "/a", "tea").await;
    server.post("/v1/principals", json!({"name": "bot", "kind": "agent"})).await.ok();
    let (_, bot) = server.key(json!({"name": "bot", "principal": "bot"})).await;
    let viewed = async |method: &str, uri: &str, key: &str, body: Value| {
        let request = Request::builder().method(method).uri(uri).header("loci-view-as", "bot");
        let request = request.header("authorization", format!("Bearer {key}"));
        server.send(request.body(Body::from(body.to_string())).unwrap()).await
    };
    let entries = format!("/v1/memory_stores/{store}/entries");
    viewed("GET", &entries, ADMIN, json!({})).await.refused(404, "not_found_error");
    let whoami = viewed("GET", "/v1/whoami", ADMIN, json!({})).await.ok();
    assert_eq!(whoami["principal"]["name"], "bot");
    let session = viewed("GET", "/console/session", ADMIN, json!({})).await.ok();
    assert_eq!(session["principal"]["name"], "admin");
    assert_eq!(session["view_as"]["name"], "bot");
    let found = viewed("POST", "/v1/search", ADMIN, json!({"query": "tea"})).await.ok();
    assert_eq!(found["data"], json!([]));
    let share = json!({"grantee": "bot", "level": "read"});
    server.post(&format!("/v1/memory_stores/{store}/grants"), share).await.ok();
    let seen = viewed("GET", &entries, ADMIN, json!({})).await.ok();
    assert_eq!(seen["data"][0]["path"], "/a");
    for (method, uri, key) in [
        ("POST", "/v1/principals", ADMIN),
        ("DELETE", "/v1/api_keys/x", ADMIN),
        ("GET", "/v1/whoami", bot.as_str()),
        ("GET", "/console/events", ADMIN),
        ("GET", "/v1/api_keys", ADMIN),
    ] {
        let refused = viewed(method, uri, key, json!({"name": "x"})).await;
        refused.refused(403, "permission_error");
    }
    viewed("GET", "/v1/whoami", "nonsense", json!({})).await.refused(401, "authentication_error");
}

/// A stream that is being read.
struct Reading {
    body: axum::body::BodyDataStream,
    text: String,
}

impl Reading {
    async fn open(server: &Server, key: &str, uri: &str, last: Option<&str>) -> Self {
        let mut request = Request::get(uri).header("authorization", format!("Bearer {key}"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let request = request.body(Body::empty()).unwrap();
        let response = server.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body().into_data_stream(), text: String::new() }
    }

    /// The next event: its name, its id, its data. None at the end.
    async fn next(&mut self) -> Option<(String, Option<String>, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| {
                    let line = event.lines().find_map(|line| line.strip_prefix(name));
                    line.map(|line| line.trim().to_owned())
                };
                let Some(name) = field("event:") else { continue };
                let data = serde_json::from_str(&field("data:").unwrap()).unwrap();
                return Some((name, field("id:"), data));
            }
            let piece = tokio::time::timeout(Duration::from_secs(60), self.body.next()).await;
            let piece = piece.expect("something comes, or the stream ends")?.unwrap();
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    async fn expect(&mut self, name: &str) -> (Option<String>, Value) {
        let (found, id, data) = self.next().await.expect("the stream goes on");
        assert_eq!(found, name, "{data}");
        (id, data)
    }
}

#[tokio::test]
async fn the_stream_tells_what_happens_and_goes_on_from_where_it_was() {
    let server = Server::new().await;
    let (first, second) = (server.store("first").await, server.store("second").await);
    server.put(first, "/old", "before").await;
    let mut stream = Reading::open(&server, ADMIN, "/console/events", None).await;
    let (_, hello) = stream.expect("hello").await;
    assert_eq!(hello, json!({"stores": 2}));
    server.put(first, "/a", "one").await;
    let (cursor, change) = stream.expect("change").await;
    assert_eq!(
        (&change["memory_store_id"], &change["path"]),
        (&json!(first.to_string()), &json!("/a"))
    );
    assert_eq!((&change["operation"], &change["seq"]), (&json!("created"), &json!(2)));
    let cursor = cursor.expect("the last of what came together says where the stream is");
    drop(stream);
    let later = server.store("later").await;
    server.put(later, "/z", "made while nobody looked").await;
    server.put(second, "/b", "two").await;
    server.put(first, "/a", "three").await;
    let mut stream = Reading::open(&server, ADMIN, "/console/events", Some(&cursor)).await;
    stream.expect("hello").await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (_, change) = stream.expect("change").await;
        seen.push(change["path"].as_str().unwrap().to_owned());
    }
    seen.sort();
    assert_eq!(seen, ["/a", "/b", "/z"], "nothing is lost and nothing comes twice");
    // What is made meanwhile joins, from its beginning.
    let third = server.store("third").await;
    server.put(third, "/c", "four").await;
    stream.expect("access").await;
    assert_eq!(stream.expect("change").await.1["path"], "/c");
    // More than it tells at once is told as a gap.
    for part in 0..3 {
        let edits: Vec<Value> = (0..400)
            .map(|number| json!({"op": "put", "path": format!("/{part}/{number}"), "content": "x"}))
            .collect();
        let url = format!("/v1/memory_stores/{second}/edits");
        server.post(&url, json!({ "edits": edits })).await.ok();
    }
    let one = format!("/console/events?store={second}&after={cursor}");
    let mut stream = Reading::open(&server, ADMIN, &one, None).await;
    assert_eq!(stream.expect("hello").await.1, json!({"stores": 1}));
    let (_, gap) = stream.expect("gap").await;
    let second = second.to_string();
    assert_eq!(gap, json!({"memory_store_id": second, "after": 0, "until": 1201}));
    server.get("/console/events?after=!!").await.refused(400, "invalid_request_error");
    server.get("/console/events?after=AAAA").await.refused(400, "invalid_request_error");
    server.get("/console/events?store=memstore_x").await.refused(404, "not_found_error");
}

#[tokio::test]
async fn a_stream_ends_with_the_key_and_with_the_server() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    server.post("/v1/principals", json!({"name": "bot"})).await.ok();
    let grants = format!("/v1/memory_stores/{store}/grants");
    server.post(&grants, json!({"grantee": "bot", "level": "read"})).await.ok();
    let (key, secret) = server.key(json!({"name": "bot", "principal": "bot"})).await;
    let mut stream = Reading::open(&server, &secret, "/console/events", None).await;
    assert_eq!(stream.expect("hello").await.1, json!({"stores": 1}));
    server.delete(&format!("{grants}/bot")).await.ok();
    stream.expect("access").await;
    server.put(store, "/a", "not for the bot").await;
    server.delete(&format!("/v1/api_keys/{key}")).await.ok();
    assert!(stream.next().await.is_none(), "and nothing of the store came before the end");
    let mut stream = Reading::open(&server, ADMIN, "/console/events", None).await;
    stream.expect("hello").await;
    server.engine.end_waiting();
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn the_number_of_streams_is_bounded_for_each_and_for_all() {
    let server = Server::new().await;
    let mut keys = vec![ADMIN.to_owned()];
    for number in 0..8 {
        let name = format!("bot {number}");
        server.post("/v1/principals", json!({"name": name, "kind": "agent"})).await.ok();
        keys.push(server.key(json!({"name": name, "principal": name})).await.1);
    }
    let mut open = Vec::new();
    for key in &keys[..8] {
        for _ in 0..8 {
            open.push(Reading::open(&server, key, "/console/events", None).await);
        }
        let refused = server.call(key, "GET", "/console/events", Value::Null).await;
        refused.refused(429, "rate_limit_error");
    }
    let last = &keys[8];
    let refused = server.call(last, "GET", "/console/events", Value::Null).await;
    refused.refused(503, "api_error");
    open.pop();
    Reading::open(&server, last, "/console/events", None).await;
}

#[tokio::test]
async fn whoever_opens_all_their_streams_keeps_nobody_else_out() {
    let server = Server::new().await;
    server.post("/v1/principals", json!({"name": "bot", "kind": "agent"})).await.ok();
    let (_, bot) = server.key(json!({"name": "bot", "principal": "bot"})).await;
    let (_, other) = server.key(json!({"name": "other", "principal": "bot"})).await;
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(Reading::open(&server, &bot, "/console/events", None).await);
    }
    let refused = server.call(&other, "GET", "/console/events", Value::Null).await;
    refused.refused(429, "rate_limit_error");
    Reading::open(&server, ADMIN, "/console/events", None).await;
}

#[tokio::test]
async fn the_number_of_plots_is_bounded_for_each_and_for_all() {
    let server = Server::new().await;
    let mut keys = vec![ADMIN.to_owned()];
    for number in 0..4 {
        let name = format!("bot {number}");
        server.post("/v1/principals", json!({"name": name, "kind": "agent"})).await.ok();
        keys.push(server.key(json!({"name": name, "principal": name})).await.1);
    }
    let ask = |key: &str| {
        let (server, key) = (&server, key.to_owned());
        Box::pin(async move { server.call(&key, "GET", "/console/series", Value::Null).await })
    };
    let mut nobody = Context::from_waker(Waker::noop());
    // All turns are taken by work that waits, so that plots wait for theirs.
    let (leave, left) = channel::<()>();
    let left = Arc::new(Mutex::new(left));
    let mut working = Vec::new();
    for _ in 0..SearchOptions::default().searches_at_once {
        let (engine, left) = (server.engine.clone(), Arc::clone(&left));
        let mut work = Box::pin(async move {
            engine.computed(usize::MAX, move || left.lock().unwrap().recv()).await
        });
        assert!(work.as_mut().poll(&mut nobody).is_pending());
        working.push(work);
    }
    let mut waiting = Vec::new();
    for key in &keys[..4] {
        for _ in 0..2 {
            let mut plot = ask(key);
            assert!(plot.as_mut().poll(&mut nobody).is_pending());
            waiting.push(plot);
        }
        ask(key).await.refused(429, "rate_limit_error");
    }
    ask(&keys[4]).await.refused(503, "api_error");
    drop(leave);
    for work in working {
        assert!(work.await.unwrap().is_err());
    }
    for plot in waiting {
        plot.await.ok();
    }
    for key in &keys {
        ask(key).await.ok();
    }
}
