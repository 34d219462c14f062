//! Promise: no query breaks a search, and none empties it that has a word beside it. A body that is
//! wrong is refused with the name of the field, and never with its value.

use loci_it::{Api, FACTS, Reply, Server, Setup, error_type};
use serde_json::{Value, json};

fn start(name: &str) -> (Setup, Server, Api) {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), name);
    for (number, (text, _)) in FACTS.iter().enumerate() {
        api.put(&format!("/f/{number}"), text);
    }
    (setup, server, api)
}

#[test]
fn no_query_breaks_or_empties_a_search() {
    let (setup, server, mut api) = start("naughty queries");
    let wanted = api.put("/wanted", "the quagga grazes by the river").id;
    api.settle();
    let mut refused = 0;
    for odd in ODD {
        for mode in ["lexical", "hybrid", "semantic"] {
            let alone = api.search(&json!({"query": odd, "mode": mode}));
            if odd.trim().is_empty() {
                names_the_field(&alone, "query", odd);
                refused += 1;
            } else {
                assert_eq!(alone.status, 200, "{odd:?} {mode}: {}", alone.text());
            }
            for query in [format!("{odd} quagga"), format!("quagga {odd}")] {
                let found = api.search(&json!({"query": query, "mode": mode})).ok();
                let data = found["data"].as_array().unwrap();
                assert!(!data.is_empty(), "{mode} is emptied by {query:?}");
                if mode == "lexical" {
                    let has = data.iter().any(|hit| hit["id"] == wanted.as_str());
                    assert!(has, "the word beside {odd:?} is not found");
                }
            }
        }
    }
    assert!(refused > 0);
    assert_eq!(api.found("lexical", "quagga"), [wanted]);
    server.stop();
    assert!(!setup.printed().contains("panicked"), "{}", setup.printed());
}

/// A query that is all in quotes asks for those very words, if anybody has them; quotes around a
/// part of it are text. A star asks for every word with that beginning.
#[test]
fn phrases_and_beginnings_do_what_they_say() {
    let (_setup, server, mut api) = start("syntax");
    let near = api.put("/near", "red brick house with a green door").id;
    let far = api.put("/far", "a house of brick, painted red").id;
    assert_eq!(api.found("lexical", "\"red brick\""), [near.as_str()]);
    let both = api.found("lexical", "red brick");
    assert!(both.contains(&near) && both.contains(&far), "{both:?}");
    let part = api.found("lexical", "\"green door\" house");
    assert!(part[0] == near && part.contains(&far), "{part:?}");
    assert_eq!(api.found("hybrid", "\"green door\""), [near.as_str()], "in every mode");
    let nobody = api.found("lexical", "\"door green\"");
    assert_eq!(nobody.first(), Some(&near), "words are better than nothing");
    assert!(api.found("lexical", "paint*").contains(&far));
    assert_eq!(api.found("lexical", "hou* gre*").first(), Some(&near));
    server.stop();
}

#[track_caller]
fn names_the_field(reply: &Reply, field: &str, shown: &str) {
    assert_eq!(reply.status, 400, "{shown}: {}", reply.text());
    assert_eq!(error_type(reply).as_deref(), Some("invalid_request_error"), "{shown}");
    let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains(field), "{shown} is refused without {field}: {message}");
    assert!(!message.contains("hunter2"), "a value is repeated: {message}");
}

#[test]
fn a_wrong_body_is_refused_with_the_name_of_the_field() {
    let (_setup, server, mut api) = start("wrong bodies");
    let many: Vec<String> = (0..10_001).map(|_| api.store.clone()).collect();
    let with = |name: &str, value: Value| json!({"query": "bees", name: value});
    let filter = |name: &str, value: Value| json!({"query": "bees", "filter": {name: value}});
    let cases: Vec<(Value, &str)> = vec![
        (json!({}), "query"),
        (json!({"query": ""}), "query"),
        (json!({"query": " \n"}), "query"),
        (json!({"query": 7}), "query"),
        (json!({"query": null}), "query"),
        (json!({"query": "x".repeat(4097)}), "query"),
        (with("limit", json!(0)), "limit"),
        (with("limit", json!(101)), "limit"),
        (with("limit", json!(-1)), "limit"),
        (with("limit", json!("hunter2")), "limit"),
        (with("mode", json!("hunter2")), "mode"),
        (with("fusion", json!("hunter2")), "fusion"),
        (with("fusion", json!({"method": "convex", "lexical_weight": 1.5})), "lexical_weight"),
        (with("fusion", json!({"method": "rrf", "lexical_weight": 0.5})), "lexical_weight"),
        (with("fusion", json!({"method": "rrf", "k": -1})), "k"),
        (with("boost", json!({"importance": 2})), "importance"),
        (with("boost", json!({"recency": "hunter2"})), "recency"),
        (with("boost", json!({"recency": {"weight": 0.5, "half_life_seconds": 0}})), "half_life"),
        (with("diversity", json!(1.1)), "diversity"),
        (with("diversity", json!(-0.1)), "diversity"),
        (with("explain", json!("hunter2")), "explain"),
        (with("view", json!("hunter2")), "view"),
        (with("snippet_chars", json!(1001)), "snippet_chars"),
        (with("as_of", json!("hunter2")), "as_of"),
        (with("as_of", json!(-1)), "as_of"),
        (with("wait_for", json!("hunter2")), "wait_for"),
        (json!({"query": "x", "wait_for": "latest", "wait_seconds": 31}), "wait_seconds"),
        (with("wait_seconds", json!(3)), "wait_seconds"),
        (with("memory_store_ids", json!(["x"])), "memory_store_ids"),
        (with("surprise", json!("hunter2")), "surprise"),
        (filter("path_prefix", json!("no-slash")), "path"),
        (filter("kind", json!(7)), "kind"),
        (filter("tags", json!("hunter2")), "tags"),
        (filter("created_after", json!("hunter2")), "created_after"),
        (filter("updated_before", json!("2020-13-01T00:00:00Z")), "updated_before"),
        (filter("metadata", json!("hunter2")), "metadata"),
        (filter("surprise", json!("hunter2")), "surprise"),
    ];
    for (body, field) in &cases {
        let shown: String = body.to_string().chars().take(120).collect();
        names_the_field(&api.search(body), field, &shown);
    }
    let everywhere: Vec<(Value, &str)> = vec![
        (with("as_of", json!(3)), "as_of"),
        (with("wait_for", json!(3)), "wait_for"),
        (with("memory_store_ids", json!([])), "memory_store_ids"),
        (with("memory_store_ids", json!(many)), "memory_store_ids"),
    ];
    for (body, field) in &everywhere {
        let shown: String = body.to_string().chars().take(120).collect();
        names_the_field(&api.client.post("/v1/search", body), field, &shown);
    }
    for bytes in [&b""[..], b"{", b"[]", b"\"bees\"", b"{\"query\": \"\xff\"}", b"null"] {
        let url = api.path("/search");
        let reply = api.client.send("POST", &url, Some(bytes), &[]).unwrap();
        assert_eq!(reply.status, 400, "{:?}: {}", String::from_utf8_lossy(bytes), reply.text());
    }
    assert_eq!(api.search(&json!({"query": "bees"})).status, 200);
    server.stop();
}

#[test]
fn the_limits_themselves_are_allowed() {
    let (_setup, server, mut api) = start("limits");
    api.settle();
    let long = format!("{} bees", "word ".repeat(4091 / 5));
    let cases = [
        json!({"query": long}),
        json!({"query": "x".repeat(4096)}),
        json!({"query": "bees", "limit": 100}),
        json!({"query": "bees", "limit": 1}),
        json!({"query": "bees", "snippet_chars": 1000}),
        json!({"query": "bees", "snippet_chars": 0}),
        json!({"query": "bees", "diversity": 1}),
        json!({"query": "bees", "fusion": {"method": "convex", "lexical_weight": 0}}),
        json!({"query": "bees", "fusion": {"method": "convex", "lexical_weight": 1}}),
        json!({"query": "bees", "fusion": "rrf"}),
        json!({"query": "bees", "fusion": {"method": "rrf", "k": 1000}}),
        json!({"query": "bees", "boost": {"recency": 1, "importance": 1, "pinned": 1}}),
        json!({"query": "bees", "wait_for": "latest", "wait_seconds": 0}),
        json!({"query": "bees", "as_of": 1_000_000}),
        json!({"query": "bees", "as_of": "9999-01-01T00:00:00Z"}),
        json!({"query": "bees", "filter": {}, "boost": {}}),
        json!({"query": "bees", "filter": null, "mode": null, "as_of": null, "wait_for": null}),
    ];
    for body in cases {
        let shown: String = body.to_string().chars().take(120).collect();
        let reply = api.search(&body);
        assert_eq!(reply.status, 200, "{shown}: {}", reply.text());
        let all = body["limit"] == 100;
        let count = reply.json()["data"].as_array().unwrap().len();
        assert!(!all || count == FACTS.len(), "meaning reaches every memory: {count}");
    }
    let unknown = api.search(&json!({"query": "x", "as_of": "memver_011111111111111111111111"}));
    assert_eq!(unknown.status, 404, "{}", unknown.text());
    server.stop();
}

/// Strings that have broken somebody's search before, and some that have not yet.
const ODD: [&str; 64] = [
    " ",
    "\t\r\n",
    "?",
    "???",
    "\"",
    "\"\"",
    "\"unclosed",
    "'",
    "''",
    "*",
    "**",
    "a*",
    "-",
    "--",
    "-word",
    "+word",
    "(",
    ")",
    "()",
    "((((",
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "NEAR/3",
    "NEAR(a b)",
    "a AND",
    "AND OR NOT",
    "col:val",
    ":",
    "^",
    "^boost^2",
    "~",
    "fuzzy~2",
    "{}",
    "[1 TO 5]",
    "\\",
    "\\\"",
    "%",
    "_%_",
    "'; drop table memory; --",
    "1' or '1'='1",
    "\u{0}",
    "a\u{0}b",
    "\u{feff}",
    "\u{200b}",
    "\u{202e}",
    "\u{301}",
    "\u{fffd}",
    "\u{10ffff}",
    "ﬀ ſ ß İ ı",
    "e\u{301}\u{301}\u{301}",
    "👩‍👩‍👧‍👦",
    "🇩🇪",
    "田中",
    "の",
    "مُنَاقَشَةُ",
    "the",
    "to be or not to be",
    "what is the",
    "0",
    "-1e999",
    "NaN null undefined",
    "https://example.org/?a=b&c=d#e",
];
