//! Promise: bad input gets the contract's error, never a 5xx, and changes nothing.
//!
//! Every refusal is checked for status, envelope and error type; afterwards the whole store
//! (memories, versions, feed) must be byte-equal to what it was before.

use loci_it::{ADMIN_KEY, Api, Client, Server, Setup, error_type, sha256};
use serde_json::{Value, json};

const INVALID: &str = "invalid_request_error";

/// A server with one store in a known state.
struct Target {
    setup: Setup,
    server: Server,
    api: Api,
    memory: String,
    before: String,
}

impl Target {
    fn new() -> Self {
        let setup = Setup::new();
        let server = setup.start();
        let mut api = Api::create(server.client(), "target");
        let memory = api.put("/dir/kept.md", "kept").id;
        api.put("/other.md", "also kept");
        api.update(&memory, &json!({"content": "kept, second version"}));
        let before = everything(&mut api);
        Self { setup, server, api, memory, before }
    }

    fn client(&self) -> Client {
        self.server.client()
    }

    /// Sends a raw body and insists on a status and error type.
    #[track_caller]
    fn refuses(&self, method: &str, url: &str, body: &[u8], status: u16, kind: &str) {
        let shown = String::from_utf8_lossy(&body[..body.len().min(120)]).into_owned();
        let body = (!body.is_empty()).then_some(body);
        let answer = self.client().send(method, url, body, &[]);
        let reply = answer.unwrap_or_else(|error| panic!("{method} {url} {shown}: {error}"));
        let found = (reply.status, error_type(&reply));
        let said = reply.text();
        assert_eq!(found, (status, Some(kind.to_owned())), "{method} {url} {shown}\n{said}");
        assert!(said.len() < 2000, "an error that repeats its input: {} bytes", said.len());
    }

    /// Nothing changed, and the server is well.
    #[track_caller]
    fn ends_unchanged(mut self) {
        let after = everything(&mut self.api);
        assert_eq!(after, self.before, "bad input left a trace");
        self.server.stop();
        let printed = self.setup.printed();
        assert!(!printed.contains("panicked"), "{printed}");
    }
}

/// The full state of a store as text.
fn everything(api: &mut Api) -> String {
    let url = api.path("");
    let store = api.client.get(&url).ok();
    let memories = api.pages("/memories", "view=full&limit=20");
    let versions = api.pages("/memory_versions", "view=full&limit=20");
    let changes = api.changes(0);
    json!([store, memories, versions, changes]).to_string()
}

#[test]
fn malformed_json_is_refused() {
    let target = Target::new();
    let create = target.api.path("/memories");
    let update = target.api.path(&format!("/memories/{}", target.memory));
    let store = target.api.path("");
    let deep_list = "[".repeat(100_000);
    let deep_object = "{\"a\":".repeat(100_000);
    let deep_closed = "[".repeat(100_000) + &"]".repeat(100_000);
    let bodies: [&[u8]; 26] = [
        b"{",
        b"}",
        b"nul",
        b"tru",
        b"[1",
        b"\"open",
        b"{\"path\":}",
        b"{\"path\" \"/a\"}",
        b"{'path': '/a', 'content': ''}",
        b"{path: \"/a\", content: \"\"}",
        b"{\"path\":\"/a\",\"content\":\"\",}",
        b"{\"path\":\"/a\",\"content\":\"\"} {}",
        b"{\"path\":\"/a\",\"content\":\"\"}x",
        b"// comment\n{\"path\":\"/a\",\"content\":\"\"}",
        b"{\"path\":\"/a\",\"content\":NaN}",
        b"{\"path\":\"/a\",\"content\":\"\\ud800\"}",
        b"{\"path\":\"/a\",\"content\":\"\\u12\"}",
        b"{\"path\":\"/a\",\"content\":\"\\x41\"}",
        b"{\"path\":\"/a\",\"content\":\"line\nbreak\"}",
        b"{\"path\":\"/a\",\"content\":\"\xff\xfe\"}",
        b"\xef\xbb\xbf{\"path\":\"/a\",\"content\":\"\"}",
        b"\x00",
        b"\xff",
        deep_list.as_bytes(),
        deep_object.as_bytes(),
        deep_closed.as_bytes(),
    ];
    for body in bodies {
        for url in [create.as_str(), &update, &store, "/v1/memory_stores", "/v1/sessions"] {
            target.refuses("POST", url, body, 400, INVALID);
        }
    }
    target.ends_unchanged();
}

#[test]
fn wrong_types_and_unknown_fields_are_refused() {
    let target = Target::new();
    let create = target.api.path("/memories");
    let update = target.api.path(&format!("/memories/{}", target.memory));
    let store = target.api.path("");
    let sha = sha256("kept, second version");
    let cases: Vec<(&str, &str, Value)> = vec![
        ("POST", &create, json!(null)),
        ("POST", &create, json!([])),
        ("POST", &create, json!("text")),
        ("POST", &create, json!({})),
        ("POST", &create, json!({"path": "/a"})),
        ("POST", &create, json!({"content": "a"})),
        ("POST", &create, json!({"path": "/a", "content": null})),
        ("POST", &create, json!({"path": null, "content": "a"})),
        ("POST", &create, json!({"path": 1, "content": "a"})),
        ("POST", &create, json!({"path": ["/a"], "content": "a"})),
        ("POST", &create, json!({"path": "/a", "content": 1})),
        ("POST", &create, json!({"path": "/a", "content": {"text": "a"}})),
        ("POST", &create, json!({"path": "/a", "content": "a", "owner": "me"})),
        ("POST", &create, json!({"path": "/a", "content": "a", "created_at": "2020-01-01"})),
        ("POST", &create, json!({"path": "/a", "content": "a", "id": "mem_1"})),
        ("POST", &create, json!({"path": "/a", "content": "x".repeat(102_401)})),
        ("POST", &update, json!({})),
        ("POST", &update, json!({"content": null, "path": null})),
        ("POST", &update, json!({"content": 5})),
        ("POST", &update, json!({"content": "a", "created_by": {}})),
        ("POST", &update, json!({"content": "a", "precondition": {"type": "etag"}})),
        ("POST", &update, json!({"content": "a", "precondition": {"type": "content_sha256"}})),
        ("POST", &update, with_precondition(&json!("short"))),
        ("POST", &update, with_precondition(&json!(sha.to_uppercase()))),
        ("POST", &update, with_precondition(&json!(7))),
        ("POST", &update, json!({"content": "x".repeat(102_401)})),
        ("PATCH", &update, json!({"content": "a", "unknown": 1})),
        ("POST", "/v1/memory_stores", json!({})),
        ("POST", "/v1/memory_stores", json!({"name": ""})),
        ("POST", "/v1/memory_stores", json!({"name": null})),
        ("POST", "/v1/memory_stores", json!({"name": "a\u{7}b"})),
        ("POST", "/v1/memory_stores", json!({"name": "x".repeat(256)})),
        ("POST", "/v1/memory_stores", json!({"name": "a", "description": "x".repeat(1025)})),
        ("POST", "/v1/memory_stores", json!({"name": "a", "metadata": {"k": 1}})),
        ("POST", "/v1/memory_stores", json!({"name": "a", "metadata": ["k"]})),
        ("POST", "/v1/memory_stores", json!({"name": "a", "metadata": {"": "v"}})),
        ("POST", "/v1/memory_stores", json!({"name": "a", "metadata": {"k": "v".repeat(513)}})),
        ("POST", "/v1/memory_stores", json!({"name": "a", "metadata": pairs(17)})),
        ("POST", "/v1/memory_stores", json!({"name": "a", "owner": "somebody"})),
        ("POST", &store, json!({"name": ""})),
        ("POST", &store, json!({"metadata": {"k".repeat(65): "v"}})),
        ("POST", &store, json!({"archived_at": "2020-01-01T00:00:00Z"})),
    ];
    for (method, url, body) in cases {
        target.refuses(method, url, body.to_string().as_bytes(), 400, INVALID);
    }
    // The largest content that is allowed is one byte smaller; seen on a store of its own.
    let mut other = Api::create(target.client(), "largest");
    other.put("/largest", &"x".repeat(102_400));
    target.ends_unchanged();
}

fn with_precondition(sha: &Value) -> Value {
    json!({"content": "a", "precondition": {"type": "content_sha256", "content_sha256": sha}})
}

fn pairs(count: usize) -> Value {
    (0..count)
        .map(|number| (format!("k{number}"), json!("v")))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[test]
fn bad_paths_are_refused() {
    let target = Target::new();
    let create = target.api.path("/memories");
    let update = target.api.path(&format!("/memories/{}", target.memory));
    let long = format!("/{}", "x".repeat(1024));
    let deep = "/x".repeat(21);
    let paths = [
        "",
        "/",
        "//",
        "a",
        "a/b",
        " /a",
        "/a/",
        "/a//b",
        "//a",
        "/.",
        "/..",
        "/a/.",
        "/a/..",
        "/./a",
        "/../a",
        "/a/../b",
        "../a",
        "..\\a",
        "/a\u{0}",
        "/a\nb",
        "/a\rb",
        "/a\tb",
        "/a\u{7f}",
        "/a\u{85}",
        "/a\u{200b}",
        "/a\u{200e}b",
        "/\u{feff}a",
        "/a\u{2028}b",
        "/a\u{2029}b",
        "/cafe\u{301}",
        "/\u{1100}\u{1161}",
        "/a\u{ad}b",
        "/\u{202e}gnp.exe",
        &long,
        &deep,
    ];
    for path in paths {
        let body = json!({"path": path, "content": "a"}).to_string();
        target.refuses("POST", &create, body.as_bytes(), 400, INVALID);
        let body = json!({"path": path}).to_string();
        target.refuses("POST", &update, body.as_bytes(), 400, INVALID);
    }
    for path in ["/dir", "/dir/kept.md/below", "/other.md", "/other.md/below"] {
        let body = json!({"path": path, "content": "a"}).to_string();
        target.refuses("POST", &create, body.as_bytes(), 409, "memory_path_conflict_error");
    }
    target.ends_unchanged();
}

#[test]
fn bad_queries_cursors_and_ids_are_refused() {
    let target = Target::new();
    let memories = target.api.path("/memories");
    let versions = target.api.path("/memory_versions");
    let memory = format!("{memories}/{}", target.memory);
    let lists = ["/v1/memory_stores", &memories, &versions];
    let cursors = ["x", "page_", "page_!!!", "page_AAAA", "page_bm9uc2Vuc2U", "%00", "%ff", "-1"];
    for url in lists {
        for cursor in cursors {
            target.refuses("GET", &format!("{url}?page={cursor}"), b"", 400, INVALID);
        }
        for limit in ["0", "101", "-1", "1.5", "many", "", "99999999999999999999"] {
            target.refuses("GET", &format!("{url}?limit={limit}"), b"", 400, INVALID);
        }
    }
    let long_cursor = format!("{memories}?page=page_{}", "A".repeat(5000));
    target.refuses("GET", &long_cursor, b"", 400, INVALID);
    for query in [
        "view=none",
        "view=",
        "depth=2",
        "depth=-1",
        "depth=x",
        "path_prefix=dir",
        "path_prefix=/dir",
        "path_prefix=/../",
        "order=sideways",
        "order_by=colour",
    ] {
        target.refuses("GET", &format!("{memories}?{query}"), b"", 400, INVALID);
    }
    for query in ["operation=moved", "view=none", "created_at%5Bgte%5D=yesterday"] {
        target.refuses("GET", &format!("{versions}?{query}"), b"", 400, INVALID);
    }
    target.refuses("GET", &format!("{memory}?view=none"), b"", 400, INVALID);
    for sha in ["xyz", "", &"A".repeat(64), &"0".repeat(63)] {
        let url = format!("{memory}?expected_content_sha256={sha}");
        target.refuses("DELETE", &url, b"", 400, INVALID);
    }
    let wrong = format!("{memory}?expected_content_sha256={}", "0".repeat(64));
    target.refuses("DELETE", &wrong, b"", 409, "memory_precondition_failed_error");

    for id in
        ["x", "mem_", "mem_011111111111111111111111", "%00", "%2e%2e", "a%2fb", "%F0%9F%A6%80"]
    {
        let missing = "not_found_error";
        target.refuses("GET", &format!("/v1/memory_stores/{id}"), b"", 404, missing);
        target.refuses("GET", &format!("{memories}/{id}"), b"", 404, missing);
        target.refuses("GET", &format!("{versions}/{id}"), b"", 404, missing);
        target.refuses("DELETE", &format!("{memories}/{id}"), b"", 404, missing);
    }
    let long = format!("/v1/memory_stores/{}", "x".repeat(4000));
    target.refuses("GET", &long, b"", 404, "not_found_error");
    target.refuses("GET", "/v1/nothing", b"", 404, "not_found_error");
    target.ends_unchanged();
}

#[test]
fn bad_methods_and_beta_headers_are_refused() {
    let target = Target::new();
    let memories = target.api.path("/memories");
    for (method, url) in [("PUT", "/v1/memory_stores"), ("PATCH", &memories), ("TRACE", &memories)]
        .into_iter()
        .chain([("BREW", "/healthz"), ("DELETE", "/healthz"), ("OPTIONS", &memories)])
    {
        let reply = target.client().send(method, url, None, &[]).unwrap();
        assert!([404, 405].contains(&reply.status), "{method} {url}: {}", reply.status);
        assert!(error_type(&reply).is_some(), "{method} {url}: {}", reply.text());
    }
    let (new, old) = ("agent-memory-2026-07-22", "managed-agents-2026-04-01");
    let both = format!("{new},{old}");
    let mut plain = target.client().without_beta();
    for (value, status) in [
        (None, 400),
        (Some(both.as_str()), 400),
        (Some("files-api-2025-04-14"), 400),
        (Some(new), 200),
        (Some(old), 200),
        (Some("files-api-2025-04-14, managed-agents-2026-04-01"), 200),
    ] {
        let headers: Vec<(&str, &str)> =
            value.map(|value| ("anthropic-beta", value)).into_iter().collect();
        let reply = plain.call_with("GET", &memories, None, &headers);
        assert_eq!(reply.status, status, "{value:?}: {}", reply.text());
        if status == 400 {
            assert_eq!(error_type(&reply).as_deref(), Some(INVALID));
        }
    }
    target.ends_unchanged();
}

#[test]
fn oversize_requests_are_cut_off() {
    let target = Target::new();
    let create = target.api.path("/memories");
    let head = format!(
        "POST {create} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ADMIN_KEY}\r\n"
    ) + "anthropic-beta: agent-memory-2026-07-22\r\ncontent-type: application/json\r\n";

    // A body announced as 10 GiB is refused without waiting for it.
    let huge = format!("{head}content-length: 10737418240\r\n\r\n{{");
    let reply = target.client().exchange(huge.as_bytes(), false).unwrap();
    assert_eq!((reply.status, error_type(&reply)), (413, Some("request_too_large".into())));

    // A body over the limit that really comes.
    let real = json!({"path": "/big", "content": "x".repeat(3 << 20)}).to_string();
    target.refuses("POST", &create, real.as_bytes(), 413, "request_too_large");

    // Chunks without end: the server stops reading soon after its limit.
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000)).repeat(8);
    let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n");
    let endless = [chunked.as_str(), &chunk, &chunk, &chunk, &chunk, &chunk, &chunk].concat();
    match target.client().exchange(endless.as_bytes(), false) {
        Ok(reply) => assert_eq!(reply.status, 413, "{}", reply.text()),
        // The close may overtake the answer while we are still writing.
        Err(error) => assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "left hanging"),
    }

    // Refused below the routes, where no envelope is promised: headers without measure, nonsense.
    let many: String = (0..5000).map(|number| format!("x-{number}: y\r\n")).collect();
    let wide = format!("x-wide: {}\r\n", "y".repeat(2 << 20));
    let long_url = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "x".repeat(1 << 20));
    let raw = [
        format!("{head}{many}\r\n"),
        format!("{head}{wide}\r\n"),
        long_url,
        "\u{0}\u{1}\u{2}\r\n\r\n".to_owned(),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
        "GET\r\n\r\n".to_owned(),
        format!("{head}content-length: -1\r\n\r\n"),
        format!("{head}content-length: 5\r\ncontent-length: 6\r\n\r\nabcdef"),
        format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n"),
    ];
    for message in raw {
        let shown = message[..message.len().min(60)].to_owned();
        match target.client().exchange(message.as_bytes(), false) {
            Ok(reply) => assert!((400..500).contains(&reply.status), "{shown}: {}", reply.status),
            Err(error) => assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "{shown}"),
        }
    }
    assert_eq!(target.client().get("/healthz").status, 200);
    target.ends_unchanged();
}
