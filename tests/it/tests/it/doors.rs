//! Promise: no route is open by accident. Every path and method the server's own OpenAPI document
//! lists answers 401 without a key, except the few that are meant to be open.

use crate::qiforge::{did, now};
use loci_it::ucan::{Signer, in_person};
use loci_it::{ADMIN_KEY, Reply, Server, Setup, error_type};
use serde_json::Value;

/// Open on purpose: health, readiness, metrics on loopback, the document itself, the one that says who
/// this server is, and the one that says where to get a credential.
const OPEN: [&str; 6] = [
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/.well-known/did.json",
    "/.well-known/oauth-protected-resource",
];
/// Where only visitors with tokens of their own making are known.
const VISITORS: &str = "/qiforge/";
/// Whose answer has no end, unless it is asked to go on from somewhere that never was.
const STREAM: &str = "/console/events";
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Routes the contract names; the document must list at least these.
const EXPECTED: [(&str, &str); 16] = [
    ("post", "/v1/memory_stores"),
    ("get", "/v1/memory_stores"),
    ("get", "/v1/memory_stores/{}"),
    ("post", "/v1/memory_stores/{}"),
    ("delete", "/v1/memory_stores/{}"),
    ("post", "/v1/memory_stores/{}/archive"),
    ("post", "/v1/memory_stores/{}/memories"),
    ("get", "/v1/memory_stores/{}/memories/{}"),
    ("delete", "/v1/memory_stores/{}/memories/{}"),
    ("post", "/v1/memory_stores/{}/memory_versions/{}/redact"),
    ("post", "/v1/memory_stores/{}/memories/{}/erase"),
    ("get", "/v1/export"),
    ("post", "/v1/api_keys"),
    ("post", "/v1/sessions"),
    ("post", "/v1/memory_stores/{}/search"),
    ("post", "/v1/search"),
];

#[test]
fn every_listed_route_needs_a_key() {
    // Also where a door is open that is closed by default.
    let setup = Setup::new().config("[qiforge]\n");
    let server = setup.start();
    let document = server.client_as(None).get("/openapi.json").ok();
    let routes = routes(&document);
    for (method, path) in EXPECTED {
        let found = routes.iter().any(|(m, p)| m == method && shape(p) == path);
        assert!(found, "{method} {path} is not in the document");
    }

    let mut closed = 0;
    for (method, path) in &routes {
        let url = filled(path);
        let security = document["paths"][path][method]["security"].as_array();
        let says_open = security.is_some_and(|all| all.contains(&serde_json::json!({})));
        let is_open = OPEN.contains(&path.as_str()) || path == "/console/login";
        assert_eq!(says_open, is_open, "{method} {path}: what the document says");
        let method_name = method.to_uppercase();
        let body = (method != "get" && method != "delete").then(|| serde_json::json!({}));
        for key in [None, Some(""), Some("loci_wrong"), Some("it-admin-key")] {
            let mut client = server.client_as(key);
            let mut reply = client.call(&method_name, &url, body.as_ref());
            if OPEN.contains(&path.as_str()) {
                assert_eq!(reply.status, 200, "{method} {path} is open: {}", reply.text());
                continue;
            }
            if path == "/console/login" {
                // Only the console's own page may ask, and it says so.
                assert_eq!(reply.status, 403, "{}", reply.text());
                continue;
            }
            assert_eq!(reply.status, 401, "{method} {path} with {key:?}: {}", reply.text());
            // Some doors have an envelope of their own.
            let is_mobius = path.starts_with("/v1/agents") || path.starts_with("/v1/projects");
            if is_mobius {
                reply = client.as_another(|client| client.call(&method_name, &url, body.as_ref()));
                assert_eq!(reply.status, 401, "{method} {path} with {key:?}: {}", reply.text());
            }
            if path == "/mcp" {
                let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
                assert!(message.starts_with("401 "), "{message}");
            } else if path.starts_with(VISITORS) {
                let detail = reply.json()["detail"].as_str().unwrap_or_default().to_owned();
                assert!(detail.starts_with("401 "), "{}", reply.text());
            } else if path.starts_with("/api/v1/pd/") {
                assert!(reply.json()["args"]["error"].is_string(), "{}", reply.text());
            } else if path.starts_with("/api/") {
                assert!(reply.json()["error"].is_string(), "{}", reply.text());
            } else if is_mobius {
                assert_eq!(reply.json()["error"]["code"], "unauthorized");
            } else {
                assert_eq!(error_type(&reply).as_deref(), Some("authentication_error"));
            }
            closed += 1;
        }
    }
    assert!(closed >= 30 * 4, "only {closed} closed doors were tried");
    server.stop();
}

#[test]
fn with_the_key_every_listed_route_knows_itself() {
    let setup = Setup::new().config("[qiforge]\n");
    let server = setup.start();
    let document = server.client_as(None).get("/openapi.json").ok();
    for (method, path) in routes(&document) {
        let body = (method != "get" && method != "delete").then(|| serde_json::json!({}));
        let mut url = filled(&path);
        if path == STREAM {
            url.push_str("?after=!");
        }
        let mut client = server.client_as(Some(ADMIN_KEY));
        let reply = client.call(&method.to_uppercase(), &url, body.as_ref());
        assert!(reply.status < 500, "{method} {path}: {} {}", reply.status, reply.text());
        if path.starts_with(VISITORS) {
            assert_eq!(reply.status, 401, "a key opens nothing there: {}", reply.text());
            continue;
        }
        assert_ne!(reply.status, 401, "{method} {path}: {}", reply.text());
        assert_ne!(reply.status, 405, "{method} {path} is listed but not served");
    }
    server.stop();
}

#[test]
fn both_key_headers_open_and_a_key_in_the_url_does_not() {
    let setup = Setup::new();
    let server = setup.start();
    let mut stranger = server.client_as(None);
    let with = |name: &'static str, value: &str| (name, value.to_owned());
    for (name, value) in
        [with("x-api-key", ADMIN_KEY), with("authorization", &format!("Bearer {ADMIN_KEY}"))]
    {
        let reply = stranger.call_with("GET", "/v1/memory_stores", None, &[(name, &value)]);
        assert_eq!(reply.status, 200, "{name}: {}", reply.text());
    }
    for url in ["?api_key=", "?key=", "?x-api-key=", "?authorization="] {
        let reply = stranger.get(&format!("/v1/memory_stores{url}{ADMIN_KEY}"));
        assert_eq!(reply.status, 401, "{url}: {}", reply.text());
    }
    for basic in [format!("Basic {ADMIN_KEY}"), ADMIN_KEY.to_owned(), "Bearer".to_owned()] {
        let headers = [("authorization", basic.as_str())];
        let reply = stranger.call_with("GET", "/v1/memory_stores", None, &headers);
        assert_eq!(reply.status, 401, "{}", reply.text());
    }
    assert!(!setup.printed().contains(ADMIN_KEY), "the key from the URL is in the log");
    server.stop();
}

/// A key that was made in the console opens what its maker's does, and a visitor's token opens the door
/// of visitors and no other.
#[test]
fn other_credentials_open_what_they_stand_for() {
    let setup = Setup::new().config("[qiforge]\n");
    let server = setup.start();
    let page = [("sec-fetch-site", "same-origin"), ("x-loci-console", "1")];
    let mut browser = server.client_as(None);
    let shown = serde_json::json!({ "key": ADMIN_KEY });
    let signed_in = browser.call_with("POST", "/console/login", Some(&shown), &page);
    let cookie = signed_in.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let with_cookie = [page[0], page[1], ("cookie", cookie.as_str())];
    let wanted = serde_json::json!({"name": "by hand"});
    let made = browser.call_with("POST", "/v1/api_keys", Some(&wanted), &with_cookie).ok();
    let made = made["secret"].as_str().unwrap().to_owned();
    let token = in_person(&Signer::new(1), &did(&server), now() + 3600);
    let visit = [("x-auth-type", "ucan"), ("x-room-id", "!room:server")];

    let document = server.client_as(None).get("/openapi.json").ok();
    for (method, path) in routes(&document) {
        let body = (method != "get" && method != "delete").then(|| serde_json::json!({}));
        let (method, mut url) = (method.to_uppercase(), filled(&path));
        if path == STREAM {
            url.push_str("?after=!");
        }
        let ask = |key: &str, headers: &[(&str, &str)]| {
            server.client_as(Some(key)).call_with(&method, &url, body.as_ref(), headers).status
        };
        let expected = match path.as_str() {
            // It would outlive the session.
            "/console/links" => 403,
            _ => ask(ADMIN_KEY, &[]),
        };
        assert_eq!(ask(&made, &[]), expected, "{method} {path}");
        let status = ask(&token, &visit);
        match path.as_str() {
            "/console/login" => assert_eq!(status, 403, "{method} {path}"),
            open if OPEN.contains(&open) => assert_eq!(status, 200, "{method} {path}"),
            open if open.starts_with(VISITORS) => assert_ne!(status, 401, "{method} {path}"),
            _ => assert_eq!(status, 401, "{method} {path}"),
        }
    }
    let left = browser.call_with("POST", "/console/logout", None, &with_cookie);
    assert_eq!(left.status, 204, "{}", left.text());
    assert_eq!(server.client_as(Some(&made)).get("/v1/whoami").status, 401);
    server.stop();
}

/// What a raw request for a host is answered.
fn for_host(server: &Server, line: &str, hosts: &[&str]) -> Reply {
    let hosts: String = hosts.iter().map(|host| format!("host: {host}\r\n")).collect();
    let head = format!(
        "{line}\r\n{hosts}x-api-key: {ADMIN_KEY}\r\nanthropic-beta: {}\r\ncontent-length: 0\r\n\r\n",
        "agent-memory-2026-07-22"
    );
    server.client().exchange(head.as_bytes(), false).unwrap()
}

/// A page that points its own name at this machine makes browsers ask for that name.
#[test]
fn every_route_is_for_hosts_that_are_the_servers() {
    let config = "[server]\nallowed_hosts = ['memory.example.org']\n[qiforge]\n";
    let setup = Setup::new().config(config).env("LOCI_ALLOWED_HOSTS", "loci:8700, other.example");
    let server = setup.start();
    let document = server.client_as(None).get("/openapi.json").ok();
    let pages = ["/console/", "/console/search", "/nowhere", "/.well-known/did.json"];
    let pages = pages.map(|path| ("get".to_owned(), path.to_owned()));
    for (method, path) in routes(&document).into_iter().chain(pages) {
        let line = format!("{} {} HTTP/1.1", method.to_uppercase(), filled(&path));
        for host in ["evil.example", "evil.example:8700", "localhost.evil.example", "0.0.0.0"] {
            let reply = for_host(&server, &line, &[host]);
            if ["/healthz", "/readyz"].contains(&path.as_str()) {
                assert_eq!(reply.status, 200, "{method} {path}");
                continue;
            }
            assert_eq!(reply.status, 403, "{method} {path} for {host}: {}", reply.text());
            assert!(reply.text().contains("allowed_hosts"), "{}", reply.text());
        }
    }
    let line = "GET /v1/whoami HTTP/1.1";
    let own = server.addr().to_string();
    for host in
        [own.as_str(), "localhost", "127.1.2.3:5", "[::1]:1", "memory.example.org:1", "loci:8700"]
    {
        assert_eq!(for_host(&server, line, &[host]).status, 200, "{host}");
    }
    assert_eq!(for_host(&server, line, &["loci:8701"]).status, 403);
    for hosts in [&[][..], &["localhost", "localhost"], &["local host"], &["localhost:x"], &[""]] {
        let reply = for_host(&server, line, hosts);
        assert_eq!(reply.status, 400, "{hosts:?}: {}", reply.text());
    }
    let whole = "GET http://evil.example/v1/whoami HTTP/1.1";
    assert_eq!(for_host(&server, whole, &["localhost"]).status, 403);
    // Each door in its own shape.
    let refused = for_host(&server, "POST /qiforge/messages HTTP/1.1", &["evil.example"]);
    assert!(refused.json()["detail"].as_str().unwrap().starts_with("403 "));
    let refused = for_host(&server, "GET /api/kv HTTP/1.1", &["evil.example"]);
    assert!(refused.json()["error"].is_string());
    let refused = for_host(&server, line, &["evil.example"]);
    assert_eq!(error_type(&refused).as_deref(), Some("permission_error"));
    server.stop();
}

#[test]
fn a_server_for_others_is_asked_by_address_or_by_the_names_it_was_given() {
    let setup = Setup::new().listen("0.0.0.0:0").config("[server]\nallowed_hosts = ['loci']\n");
    let server = setup.start();
    let line = "GET /v1/whoami HTTP/1.1";
    for (host, status) in [
        ("192.0.2.7:8700", 200),
        ("[2001:db8::1]", 200),
        ("localhost", 200),
        ("loci", 200),
        ("evil.example", 403),
    ] {
        assert_eq!(for_host(&server, line, &[host]).status, status, "{host}");
    }
    server.stop();
}

#[test]
fn answers_are_what_they_say_and_are_not_kept() {
    let setup = Setup::new();
    let server = setup.start();
    let mut client = server.client();
    let mut stranger = server.client_as(None);
    for reply in [
        client.get("/v1/memory_stores"),
        client.get("/v1/nothing"),
        client.get("/v1/export"),
        client.get("/openapi.json"),
        client.get("/console/session"),
        stranger.get("/v1/memory_stores"),
        stranger.get("/healthz"),
        stranger.get("/console/"),
        stranger.post("/mcp", &serde_json::json!({})),
    ] {
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{}", reply.text());
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{}", reply.text());
    }
    let page = stranger.get("/console/").text();
    let asset = page.split('"').find(|part| part.starts_with("/console/assets/")).unwrap();
    let kept = stranger.get(asset);
    assert_eq!(kept.header("cache-control"), Some("public, max-age=31536000, immutable"));
    server.stop();
}

fn routes(document: &Value) -> Vec<(String, String)> {
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().expect("the document has paths") {
        for method in METHODS.iter().filter(|method| item.get(**method).is_some()) {
            routes.push(((*method).to_owned(), path.clone()));
        }
    }
    routes
}

/// The path with its parameters' names blanked.
fn shape(path: &str) -> String {
    let segments = path.split('/');
    segments
        .map(|part| if part.starts_with('{') { "{}" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

/// The path with something harmless for each parameter.
fn filled(path: &str) -> String {
    shape(path).replace("{}", "mem_011111111111111111111111")
}
