//! Promise: what the OpenAPI document says about the fields of a request is what the server takes. A
//! field at a declared bound is not refused for it, and one past the bound is.

use crate::qiforge::{OPEN, did, now};
use loci_it::ucan::{Signer, delegated};
use loci_it::{Api, Client, Reply, Setup};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Operations with bounds that are not tried, and why.
const LEFT_OUT: [(&str, &str); 2] = [
    ("POST /v1/agents", "the bodies of two doors, told apart by a header"),
    ("POST /v1/sessions/{session_id}/resources", "one of three bodies, told apart by a field"),
];
/// Bounds that JSON Schema cannot say: a field that is at its own bound and is refused for another rule.
const NOT_SAID: [(&str, &str, &str); 5] = [
    ("POST /v1/memory_stores/{memory_store_id}/documents", "/first", "at most `total`"),
    ("POST /v1/memory_stores/{memory_store_id}/documents", "/total", "at least what is sent"),
    (
        "POST /v1/memory_stores/{memory_store_id}/sealed",
        "/sealed_base64",
        "base64 of one byte has four",
    ),
    (
        "PUT /v1/projects/{project}/agents/{agent}/memory/entries/{memory_key}",
        "/user_id",
        "this revision has no users; the other one has the same body",
    ),
    ("PUT /api/storage/kv/{key}", "/store", "not read here; the newer route has the same body"),
];
/// Breaks every pattern of the document.
const NO_PATTERN: &str = "A b!";

struct Case {
    operation: &'static str,
    uri: String,
    body: Value,
}

fn cases(store: &str, memory: &str, session: &str, version: &str) -> Vec<Case> {
    let case = |operation: &'static str, uri: &str, body: Value| Case {
        operation,
        uri: uri.to_owned(),
        body,
    };
    let of_store = |rest: &str| format!("/v1/memory_stores/{store}{rest}");
    let attributes = json!({
        "kind": "fact", "tags": ["a"], "importance": 1, "source": "s", "scope": "s", "summary": "s",
        "media_type": "text/plain", "ttl_seconds": 100,
    });
    let question = json!({
        "query": "q", "memory_store_ids": [store], "max_facts": 1, "max_entities": 1,
        "max_episodes": 1, "max_communities": 1, "relations": ["r"], "labels": ["l"],
    });
    let search = json!({
        "query": "q", "limit": 1, "diversity": 0.5, "snippet_chars": 10, "filter": {"tags": ["a"]},
        "boost": {"importance": 0.5, "pinned": 0.5},
    });
    let everywhere = json!({"query": "q", "memory_store_ids": [store]});
    let entry = json!({"content": "c", "summary": "s", "importance": 5});
    let of_user = json!({"content": "c", "summary": "s", "importance": 5, "user_id": "u"});
    let query = json!({"oracle_dids": ["did:key:z6Mk"], "query": "q", "max_facts": 1});
    let pieces = json!({"document": "d", "first": 1, "total": 500, "pieces": ["p"], "kind": "k"});
    vec![
        case(
            "POST /v1/memory_stores",
            "/v1/memory_stores",
            json!({"name": "n", "description": "d"}),
        ),
        case(
            "POST /v1/memory_stores/{memory_store_id}",
            &of_store(""),
            json!({"name": "n", "description": "d"}),
        ),
        case(
            "POST /v1/memory_stores/{memory_store_id}/memories",
            &of_store("/memories"),
            json!({"path": "/new", "content": "c"}),
        ),
        case(
            "POST /v1/memory_stores/{memory_store_id}/memories/{memory_id}",
            &of_store(&format!("/memories/{memory}")),
            json!({"path": "/there"}),
        ),
        case(
            "PATCH /v1/memory_stores/{memory_store_id}/memories/{memory_id}/attributes",
            &of_store(&format!("/memories/{memory}/attributes")),
            attributes.clone(),
        ),
        case(
            "POST /v1/memory_stores/{memory_store_id}/edits",
            &of_store("/edits"),
            json!({"edits": [{"op": "put", "path": "/e", "content": "c"}], "reason": "r"}),
        ),
        case("POST /v1/memory_stores/{memory_store_id}/documents", &of_store("/documents"), pieces),
        case("POST /v1/memory_stores/{memory_store_id}/search", &of_store("/search"), search),
        case("POST /v1/search", "/v1/search", everywhere),
        case("POST /v1/knowledge", "/v1/knowledge", question),
        case(
            "POST /v1/memory_stores/{memory_store_id}/grants",
            &of_store("/grants"),
            json!({"grantee": "everyone", "level": "read", "ttl_seconds": 100}),
        ),
        case(
            "POST /v1/memory_stores/{memory_store_id}/sealed",
            &of_store("/sealed"),
            json!({"path": "/sealed", "sealed_base64": "c2VhbGVk", "media_type": "m"}),
        ),
        case(
            "POST /v1/memory_stores/{memory_store_id}/policy",
            &of_store("/policy"),
            json!({"soft_cap": 100}),
        ),
        case(
            "POST /v1/memory_stores/{memory_store_id}/revert",
            &of_store("/revert"),
            json!({"actor": "admin", "since": "2026-01-01T00:00:00Z", "memory_ids": [memory]}),
        ),
        case(
            "POST /v1/memory_stores/{memory_store_id}/redactions",
            &of_store("/redactions"),
            json!({"memory_version_ids": [version], "reason": "r", "dry_run": true}),
        ),
        case(
            "POST /v1/api_keys",
            "/v1/api_keys",
            json!({"name": "k", "stores": [store], "expires_in_seconds": 100}),
        ),
        case("POST /v1/principals", "/v1/principals", json!({"name": "p"})),
        case(
            "POST /v1/sessions",
            "/v1/sessions",
            json!({"agent": "agent_1", "environment_id": "env_1", "title": "t",
                "initial_events": [{"type": "user"}]}),
        ),
        case(
            "POST /v1/sessions/{session_id}",
            &format!("/v1/sessions/{session}"),
            json!({"title": "t"}),
        ),
        case("POST /v1/environments", "/v1/environments", json!({"name": "e"})),
        case(
            "PUT /v1/agents/{agent}/memory/entries/{memory_key}",
            "/v1/agents/ada/memory/entries/k",
            of_user,
        ),
        case(
            "PUT /v1/projects/{project}/agents/{agent}/memory/entries/{memory_key}",
            "/v1/projects/default/agents/ada/memory/entries/k",
            entry,
        ),
        case(
            "POST /v1/projects/{project}/agents/{agent}/memory/compact",
            "/v1/projects/default/agents/ada/memory/compact",
            json!({"max_entries": 10, "dry_run": true}),
        ),
        case(
            "PATCH /v1/memory_stores/{memory_store_id}/memories/{memory_id}",
            &of_store(&format!("/memories/{memory}")),
            json!({"path": "/there"}),
        ),
        case(
            "POST /v1/memory_stores/{memory_store_id}/memories/{memory_id}/attributes",
            &of_store(&format!("/memories/{memory}/attributes")),
            attributes,
        ),
        case(
            "POST /v1/agents/{agent}/memory/entries/{memory_key}/promotion",
            "/v1/agents/ada/memory/entries/k/promotion",
            json!({"user_id": "u"}),
        ),
        case(
            "POST /v1/agents/{agent}/memory/compact",
            "/v1/agents/ada/memory/compact",
            json!({"max_entries": 10, "dry_run": true}),
        ),
        case(
            "POST /v1/memory_stores/{memory_store_id}/compact",
            &of_store("/compact"),
            json!({"max_memories": 10, "dry_run": true}),
        ),
        case(
            "POST /api/storage/memory",
            "/api/storage/memory?action=share",
            json!({"grantee": "bob", "agentId": "ada", "level": "read", "store": "ada"}),
        ),
        case(
            "PUT /api/storage/memory/{key}",
            "/api/storage/memory/k",
            json!({"value": 1, "agentId": "ada", "store": "ada", "userId": "ada"}),
        ),
        case(
            "PUT /api/storage/kv/{key}",
            "/api/storage/kv/k",
            json!({"value": 1, "agentId": "ada", "store": "ada", "userId": "ada"}),
        ),
        case(
            "PUT /api/storage/memory-scoped",
            "/api/storage/memory-scoped",
            json!({"agentId": "ada", "namespace": "owner", "key": "k", "content": "c",
                "description": "d", "source": "tool"}),
        ),
        case(
            "POST /api/storage/memory-scoped",
            "/api/storage/memory-scoped?action=sync",
            json!({"agentId": "ada", "namespace": "owner", "lines": [{"key": "k"}]}),
        ),
        case(
            "POST /qiforge/search-enhanced-batch",
            "/qiforge/search-enhanced-batch",
            json!({"queries": [query]}),
        ),
    ]
}

/// What a schema says, where it stands or where it refers to.
fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let there = document.pointer(name.strip_prefix('#').unwrap()).unwrap();
        return resolved(document, there);
    }
    // What may be null, beside what else it may be.
    let either = schema.get("oneOf").or(schema.get("anyOf")).and_then(Value::as_array);
    let others = either.into_iter().flatten().filter(|one| one["type"] != "null");
    match others.collect::<Vec<_>>()[..] {
        [one] => resolved(document, one),
        _ => schema,
    }
}

/// What is declared of a field.
struct Field {
    pointer: String,
    schema: Value,
}

const BOUNDS: [&str; 7] =
    ["minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern"];

/// The fields of a body with bounds. Those of objects and of lists of objects are looked at as far as
/// the body that is given has them.
fn bounded(document: &Value, schema: &Value, body: Option<&Value>, at: &str) -> Vec<Field> {
    let mut fields = Vec::new();
    let schema = resolved(document, schema);
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let schema = resolved(document, schema);
        let pointer = format!("{at}/{name}");
        if BOUNDS.iter().any(|bound| schema.get(*bound).is_some()) {
            fields.push(Field { pointer: pointer.clone(), schema: schema.clone() });
        }
        let inner = body.and_then(|body| body.get(name));
        if inner.is_some_and(Value::is_object) {
            fields.extend(bounded(document, schema, inner, &pointer));
        }
        if let Some(first) = inner.and_then(|list| list.get(0)).filter(|one| one.is_object()) {
            let pointer = format!("{pointer}/0");
            fields.extend(bounded(document, &schema["items"], Some(first), &pointer));
        }
    }
    fields
}

/// Values at the bounds of a field, and values past them.
fn tries(field: &Field, there: Option<&Value>) -> (Vec<Value>, Vec<Value>) {
    let schema = &field.schema;
    let number = |name: &str| schema.get(name).and_then(Value::as_f64);
    let count = |name: &str| schema.get(name).and_then(Value::as_u64).map(|it| it as usize);
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let text = |chars: usize| {
        let start: String = match there.and_then(Value::as_str) {
            Some(there) if there.starts_with('/') => "/".to_owned(),
            _ => String::new(),
        };
        let rest = chars.saturating_sub(start.len());
        json!(start + &"a".repeat(rest))
    };
    let is_listed = schema["pattern"].as_str().is_some_and(|pattern| pattern.starts_with("^("))
        && count("maxLength").is_none();
    if !is_listed {
        good.extend(count("minLength").map(text));
        good.extend(count("maxLength").map(text));
    }
    bad.extend(count("minLength").filter(|min| *min > 0).map(|min| text(min - 1)));
    bad.extend(count("maxLength").map(|max| text(max + 1)));
    if schema.get("pattern").is_some() {
        bad.push(json!(NO_PATTERN));
    }
    let items = |count: usize| match there.and_then(|list| list.get(0)) {
        Some(Value::String(text)) if !text.contains('_') => {
            json!((0..count).map(|number| format!("{text}{number}")).collect::<Vec<_>>())
        }
        Some(item) => json!(vec![item; count]),
        None => panic!("{}: the base body has no item", field.pointer),
    };
    good.extend(count("minItems").map(items));
    good.extend(count("maxItems").map(items));
    bad.extend(count("minItems").filter(|min| *min > 0).map(|min| items(min - 1)));
    bad.extend(count("maxItems").map(|max| items(max + 1)));
    let is_whole = schema["type"].to_string().contains("integer");
    let value = |number: f64| if is_whole { json!(number as i64) } else { json!(number) };
    // What ends in a second is not there for the requests behind it.
    let ends =
        field.pointer.ends_with("ttl_seconds") || field.pointer.ends_with("expires_in_seconds");
    good.extend(number("minimum").filter(|_| !ends).map(value));
    good.extend(number("maximum").map(value));
    bad.extend(number("minimum").map(|min| value(min - 1.0)));
    bad.extend(number("maximum").map(|max| value(max + 1.0)));
    (good, bad)
}

fn put(body: &Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let mut body = body.clone();
    body.pointer_mut(parent).unwrap()[name] = value;
    body
}

#[test]
fn bodies_at_the_declared_bounds_are_taken_and_past_them_refused() {
    let setup = Setup::new().config(OPEN);
    let server = setup.start();
    let document = server.client_as(None).get("/openapi.json").ok();
    let mut client = server.client();
    let mut api = Api::create(server.client(), "bounds");
    let memory = api.put("/there", "text").id;
    let versions = client.get(&api.path("/memory_versions")).ok();
    let version = versions["data"][0]["id"].as_str().unwrap().to_owned();
    let session = json!({"agent": "agent_1", "environment_id": "env_1"});
    let session = client.post("/v1/sessions", &session).ok()["id"].as_str().unwrap().to_owned();
    for name in ["ada", "bob"] {
        let entry = format!("/api/storage/memory/k?agentId={name}");
        assert_eq!(client.call("PUT", &entry, Some(&json!({"value": 1}))).status, 200);
    }
    let (user, oracle) = (Signer::new(1), Signer::new(2));
    let token = delegated(&user, &oracle, &did(&server), now() + 3600);
    let mut visitor = server.client_as(Some(&token)).without_beta();
    let mut plain = server.client().without_beta();

    let mut send = |case: &Case, body: &Value| -> Reply {
        let (method, path) = case.operation.split_once(' ').unwrap();
        let client: &mut Client = match path {
            path if path.starts_with("/qiforge/") => &mut visitor,
            path if path.contains("/agents/") => &mut plain,
            _ => &mut client,
        };
        let headers = [("x-auth-type", "ucan"), ("x-room-id", "!room:example.org")];
        client.call_with(method, &case.uri, Some(body), &headers)
    };
    let cases = cases(&api.store, &memory, &session, &version);
    let mut tried = BTreeSet::new();
    let (mut count, mut wrong) = (0, Vec::new());
    for case in &cases {
        tried.insert(case.operation);
        let (method, path) = case.operation.split_once(' ').unwrap();
        let operation = &document["paths"][path][method.to_lowercase()];
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        if !schema.is_object() {
            wrong.push(format!("{} has no body", case.operation));
            continue;
        }
        let reply = send(case, &case.body);
        if reply.status == 400 {
            wrong.push(format!("{}: the body itself: {}", case.operation, reply.text()));
        }
        for field in bounded(&document, schema, Some(&case.body), "") {
            let is_said = |(operation, pointer, _): &(&str, &str, &str)| {
                (*operation, *pointer) == (case.operation, field.pointer.as_str())
            };
            if NOT_SAID.iter().any(is_said) || case.body.pointer(&field.pointer).is_none() {
                continue;
            }
            let (good, bad) = tries(&field, case.body.pointer(&field.pointer));
            for (values, is_good) in [(good, true), (bad, false)] {
                for value in values {
                    count += 1;
                    let body = put(&case.body, &field.pointer, value.clone());
                    let reply = send(case, &body);
                    // Where several things are asked at once, each is refused by itself.
                    let is_refused = [400, 413, 422].contains(&reply.status)
                        || reply.text().contains("\"status_code\":400");
                    if is_refused == is_good || reply.status >= 500 {
                        let shown: String = value.to_string().chars().take(60).collect();
                        let said: String = reply.text().chars().take(200).collect();
                        let status = reply.status;
                        let (operation, at) = (case.operation, &field.pointer);
                        wrong.push(format!("{operation} {at} {is_good} {shown}: {status} {said}"));
                    }
                }
            }
        }
    }
    // Nothing with bounds is forgotten here.
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let name = format!("{} {path}", method.to_uppercase());
            let is_known = tried.contains(name.as_str())
                || LEFT_OUT.iter().any(|(operation, _)| *operation == name);
            if schema.is_object() && !is_known && !bounded(&document, schema, None, "").is_empty() {
                wrong.push(format!("{name} has bounds and is not tried"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    println!("{count} bodies");
    server.stop();
}
