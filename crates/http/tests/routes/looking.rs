//! What people look at and put right: the past, who wrote what, taking it back, erasing it, who reaches a
//! store and why.

use crate::common::{ADMIN, Reply, Server};
use loci_model::StoreId;
use serde_json::{Value, json};

fn of(store: StoreId, rest: &str) -> String {
    format!("/v1/memory_stores/{store}/{rest}")
}

fn strings<'a>(listed: &'a Value, field: &str) -> Vec<&'a str> {
    let data = listed["data"].as_array().unwrap();
    data.iter().map(|one| one[field].as_str().unwrap_or("-")).collect()
}

async fn put(server: &Server, key: &str, store: StoreId, path: &str, text: &str) -> Value {
    let edit = json!({"edits": [{"op": "put", "path": path, "content": text}]});
    let done = server.call(key, "POST", &of(store, "edits"), edit).await.ok();
    done["data"][0]["entry"].clone()
}

async fn remove(server: &Server, key: &str, store: StoreId, path: &str) {
    let edit = json!({"edits": [{"op": "remove", "path": path}]});
    server.call(key, "POST", &of(store, "edits"), edit).await.ok();
}

/// Somebody with a key who may write to a store.
async fn writer(server: &Server, store: StoreId, name: &str) -> String {
    server.post("/v1/principals", json!({ "name": name })).await.ok();
    let share = json!({"grantee": name, "level": "readwrite"});
    server.post(&of(store, "grants"), share).await.ok();
    server.key(json!({"name": format!("{name}'s key"), "principal": name})).await.1
}

/// A moment between what was written before and what is written after.
async fn between(server: &Server, store: StoreId) -> String {
    let moment = server.engine.seams().now();
    while server.engine.seams().now() <= moment {
        tokio::task::yield_now().await;
    }
    let listed = server.get(&of(store, "entries?order=updated&direction=desc&limit=1")).await.ok();
    let last = listed["data"][0]["updated_at"].as_str().unwrap_or_default().to_owned();
    let now = moment.to_string();
    assert!(last <= now, "{last} {now}");
    now
}

#[tokio::test]
async fn history_tells_who_wrote_what_and_where() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    let bot = writer(&server, store, "bot").await;
    put(&server, ADMIN, store, "/a/one", "first").await;
    put(&server, &bot, store, "/a/one", "second").await;
    let since = between(&server, store).await;
    put(&server, &bot, store, "/b/two", "third").await;
    remove(&server, ADMIN, store, "/a/one").await;
    let all = server.get(&of(store, "history")).await.ok();
    assert_eq!(strings(&all, "operation"), ["deleted", "created", "modified", "created"]);
    assert_eq!(all["next_page"], Value::Null);
    let first = &all["data"][3];
    assert_eq!(
        (&first["type"], &first["revision"], &first["seq"]),
        (&json!("version"), &json!(1), &json!(1))
    );
    assert_eq!((&first["reason"], &first["attributes"]["pinned"]), (&json!("api"), &json!(false)));
    assert!(first.get("content").is_none());
    let by_bot = server.get(&of(store, "history?actor=bot&view=full")).await.ok();
    assert_eq!(strings(&by_bot, "content"), ["third", "second"]);
    let key = by_bot["data"][0]["created_by"]["api_key_id"].as_str().unwrap();
    let by_key = server.get(&of(store, &format!("history?actor={key}"))).await.ok();
    assert_eq!(by_key["data"].as_array().unwrap().len(), 2);
    let below = server.get(&of(store, "history?prefix=/a/")).await.ok();
    assert_eq!(strings(&below, "path"), ["/a/one", "/a/one", "/a/one"]);
    let late = server.get(&of(store, &format!("history?since={since}&actor=bot"))).await.ok();
    assert_eq!(strings(&late, "path"), ["/b/two"]);
    let memory = first["memory_id"].as_str().unwrap();
    let mut seen = Vec::new();
    let mut page = String::new();
    loop {
        let url = format!("history?memory_id={memory}&limit=1&view=full{page}");
        let part = server.get(&of(store, &url)).await.ok();
        seen.extend(strings(&part, "operation").into_iter().map(str::to_owned));
        match part["next_page"].as_str() {
            Some(next) => page = format!("&page={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["deleted", "modified", "created"]);
    for bad in ["limit=0", "limit=1001", "since=soon", "page=x", "prefix=a", "view=all"] {
        let refused = server.get(&of(store, &format!("history?{bad}"))).await;
        refused.refused(400, "invalid_request_error");
    }
    server.get(&of(store, "history?actor=nobody")).await.refused(404, "not_found_error");
    server.get(&of(store, "history?memory_id=x")).await.refused(404, "not_found_error");
    let (_, stranger) = stranger(&server).await;
    let refused = server.call(&stranger, "GET", &of(store, "history?actor=bot"), Value::Null).await;
    refused.refused(404, "not_found_error");
}

async fn stranger(server: &Server) -> (String, String) {
    server.post("/v1/principals", json!({"name": "stranger"})).await.ok();
    server.key(json!({"name": "stranger", "principal": "stranger"})).await
}

#[tokio::test]
async fn everything_somebody_wrote_goes_back_but_not_what_others_wrote() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    let bot = writer(&server, store, "bot").await;
    put(&server, ADMIN, store, "/edited", "mine").await;
    put(&server, ADMIN, store, "/contested", "mine").await;
    let kept = json!({"edits": [{"op": "put", "path": "/removed", "content": "mine",
        "attributes": {"kind": "fact", "tags": ["x"]}}]});
    server.post(&of(store, "edits"), kept).await.ok();
    server.post(&of(store, "policy"), json!({"remove": "writer"})).await;
    let since = between(&server, store).await;
    put(&server, &bot, store, "/edited", "bot's").await;
    put(&server, &bot, store, "/edited", "bot's again").await;
    put(&server, &bot, store, "/contested", "bot's").await;
    put(&server, ADMIN, store, "/contested", "mine again").await;
    put(&server, &bot, store, "/made", "bot's").await;
    put(&server, &bot, store, "/made and gone", "bot's").await;
    remove(&server, ADMIN, store, "/removed").await;
    remove(&server, &bot, store, "/made and gone").await;
    let revert = of(store, "revert");
    let plan = json!({"actor": "bot", "since": since});
    let planned = server.post(&revert, plan.clone()).await.ok();
    assert_eq!((&planned["dry_run"], &planned["is_truncated"]), (&json!(true), &json!(false)));
    let mut lines: Vec<(&str, &str, &str)> = planned["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            let text = |field: &str| line[field].as_str().unwrap();
            (text("path"), text("state"), text("action"))
        })
        .collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            ("/contested", "changed_since", "restore"),
            ("/edited", "clean", "restore"),
            ("/made", "clean", "delete"),
        ]
    );
    let contested = planned["data"].as_array().unwrap();
    let contested = contested.iter().find(|line| line["path"] == "/contested").unwrap();
    assert_eq!(contested["changed_by"]["type"], "api_actor");
    assert_eq!((&contested["revision"], &contested["to_revision"]), (&json!(3), &json!(1)));
    let mut act = plan.clone();
    act["dry_run"] = json!(false);
    let done = server.post(&revert, act.clone()).await.ok();
    let written = done["data"].as_array().unwrap();
    assert_eq!(written.len(), 2);
    for line in written {
        let removed = line["action"] == "delete";
        assert_eq!(line["revision"], json!(if removed { 2 } else { 4 }), "{line}");
    }
    let now = server.get(&of(store, "entries?view=full")).await.ok();
    assert_eq!(strings(&now, "path"), ["/contested", "/edited"]);
    assert_eq!(strings(&now, "content"), ["mine again", "mine"]);
    let told = server.get(&of(store, "changes?after=0&limit=1000")).await.ok();
    let reasons = strings(&told, "reason");
    assert_eq!(reasons.iter().filter(|reason| **reason == "revert").count(), 2);
    // What is picked goes back even where others wrote.
    act["memory_ids"] = json!([contested["memory_id"]]);
    let done = server.post(&revert, act).await.ok();
    assert_eq!(
        (&done["data"][0]["path"], &done["data"][0]["revision"]),
        (&json!("/contested"), &json!(4))
    );
    // What somebody removed comes back with everything it had.
    let back = json!({"actor": "admin", "since": since, "dry_run": false,
        "prefix": "/"});
    let planned = json!({"actor": "admin", "since": since});
    let planned = server.post(&revert, planned).await.ok();
    let removed = planned["data"].as_array().unwrap().iter();
    let removed = removed.clone().find(|line| line["path"] == "/removed").unwrap();
    assert_eq!((&removed["action"], &removed["state"]), (&json!("bring_back"), &json!("clean")));
    let mut back = back;
    back["memory_ids"] = json!([removed["memory_id"]]);
    let done = server.post(&revert, back).await.ok();
    let id = done["data"][0]["memory_id"].as_str().unwrap();
    let entry = server.get(&of(store, &format!("entries/{id}?view=full"))).await.ok();
    assert_eq!((&entry["content"], &entry["kind"]), (&json!("mine"), &json!("fact")));
    assert_eq!(entry["tags"], json!(["x"]));
    let bad = json!({"actor": "bot"});
    server.post(&revert, bad).await.refused(400, "invalid_request_error");
    let (_, stranger) = stranger(&server).await;
    server.call(&stranger, "POST", &revert, plan.clone()).await.refused(404, "not_found_error");
    let (_, reader) = server.key(json!({"name": "reader", "level": "read"})).await;
    server.call(&reader, "POST", &revert, plan).await.refused(403, "permission_error");
}

#[tokio::test]
async fn a_redaction_says_first_what_it_erases_and_then_why_it_did() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    let first = put(&server, ADMIN, store, "/address", "Elm Street 1").await;
    let other = put(&server, ADMIN, store, "/copy", "Elm Street 1").await;
    let head = put(&server, ADMIN, store, "/address", "gone").await;
    let url = of(store, "redactions");
    let version = &first["memory_version_id"];
    let ask = json!({"memory_version_ids": [version], "dry_run": true});
    let plan = server.post(&url, ask).await.ok();
    assert_eq!((&plan["type"], &plan["dry_run"]), (&json!("redaction"), &json!(true)));
    let line = &plan["data"][0];
    assert_eq!(
        (&line["path"], &line["is_head"], &line["is_redacted"]),
        (&json!("/address"), &json!(false), &json!(false))
    );
    assert_eq!(plan["same_content"].as_array().unwrap().len(), 1);
    assert_eq!(plan["same_content"][0]["memory_version_id"], other["memory_version_id"]);
    assert_eq!(plan["same_content"][0]["is_head"], true);
    let both =
        json!({"memory_version_ids": [version, head["memory_version_id"]], "reason": "private"});
    server.post(&url, both).await.refused(400, "invalid_request_error");
    let history = server.get(&of(store, "history?view=full")).await.ok();
    assert!(strings(&history, "content").contains(&"Elm Street 1"), "none was touched");
    let unsaid = json!({"memory_version_ids": [version]});
    server.post(&url, unsaid).await.refused(400, "invalid_request_error");
    let act = json!({"memory_version_ids": [version], "reason": "a private address"});
    let done = server.post(&url, act).await.ok();
    assert_eq!(
        (&done["data"][0]["is_redacted"], &done["data"][0]["path"]),
        (&json!(true), &Value::Null)
    );
    let memory = first["id"].as_str().unwrap();
    let history =
        server.get(&of(store, &format!("history?view=full&memory_id={memory}"))).await.ok();
    let redacted = &history["data"][1];
    assert!(redacted["redacted_at"].is_string() && redacted["content"].is_null(), "{redacted}");
    let told = server.get("/v1/events?before=0&limit=1").await.ok();
    let event = &told["data"][0];
    assert_eq!(
        (&event["kind"], &event["detail"]),
        (&json!("version_redacted"), &json!("a private address"))
    );
    assert_eq!(event["subject"], *version);
    for bad in [json!([]), json!(vec!["memver_x"; 101])] {
        let bad = json!({"memory_version_ids": bad, "dry_run": true});
        server.post(&url, bad).await.refused(400, "invalid_request_error");
    }
    let missing = json!({"memory_version_ids": ["memver_x"], "dry_run": true});
    server.post(&url, missing).await.refused(404, "not_found_error");
    let bot = writer(&server, store, "bot").await;
    let ask = json!({"memory_version_ids": [version], "dry_run": true});
    server.call(&bot, "POST", &url, ask).await.refused(403, "permission_error");
}

#[tokio::test]
async fn a_store_is_shown_as_it_was() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    put(&server, ADMIN, store, "/a/one", "old").await;
    let gone = put(&server, ADMIN, store, "/b", "gone").await;
    let then = between(&server, store).await;
    put(&server, ADMIN, store, "/a/one", "new").await;
    remove(&server, ADMIN, store, "/b").await;
    put(&server, ADMIN, store, "/c", "later").await;
    let past = |rest: &str| of(store, &format!("entries?as_of={then}{rest}"));
    let seen = server.get(&past("&view=full")).await.ok();
    assert_eq!(strings(&seen, "path"), ["/a/one", "/b"]);
    assert_eq!(strings(&seen, "content"), ["old", "gone"]);
    let folded = server.get(&past("&depth=1")).await.ok();
    assert_eq!(strings(&folded, "path"), ["/a/", "/b"]);
    let part = server.get(&past("&limit=1&order=created&direction=desc")).await.ok();
    assert_eq!(strings(&part, "path"), ["/b"]);
    let next = part["next_page"].as_str().unwrap();
    let rest = past(&format!("&limit=1&order=created&direction=desc&page={next}"));
    let rest = server.get(&rest).await.ok();
    assert_eq!((strings(&rest, "path"), &rest["next_page"]), (vec!["/a/one"], &Value::Null));
    let id = gone["id"].as_str().unwrap();
    let one = of(store, &format!("entries/{id}?view=full&as_of={then}"));
    assert_eq!(server.get(&one).await.ok()["content"], "gone");
    server.get(&of(store, &format!("entries/{id}"))).await.refused(404, "not_found_error");
    // What was erased since is not in the past either.
    let erase = json!({"memory_version_ids": [gone["memory_version_id"]], "reason": "private"});
    server.post(&of(store, "redactions"), erase).await.ok();
    let seen = server.get(&past("&view=full")).await.ok();
    assert_eq!(strings(&seen, "content"), ["old"]);
    server.get(&of(store, "entries?as_of=yesterday")).await.refused(400, "invalid_request_error");
}

#[tokio::test]
async fn entries_are_sifted_by_time_pin_and_end() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    let edits: Vec<Value> = (0..30)
        .map(|number| {
            let pinned = number % 10 == 0;
            let mut attributes = json!({ "pinned": pinned });
            if number == 7 {
                attributes["ttl_seconds"] = json!(3600);
            }
            json!({"op": "put", "path": format!("/{number:02}"), "content": "x", "attributes": attributes})
        })
        .collect();
    server.post(&of(store, "edits"), json!({ "edits": edits })).await.ok();
    let pinned = server.get(&of(store, "entries?pinned=true&limit=2")).await.ok();
    assert_eq!(strings(&pinned, "path"), ["/00", "/10"]);
    let next = pinned["next_page"].as_str().unwrap();
    let rest =
        server.get(&of(store, &format!("entries?pinned=true&limit=2&page={next}"))).await.ok();
    assert_eq!((strings(&rest, "path"), &rest["next_page"]), (vec!["/20"], &Value::Null));
    let ending = "entries?expires_before=2100-01-01T00:00:00Z&view=full";
    let ending = server.get(&of(store, ending)).await.ok();
    assert_eq!((strings(&ending, "path"), strings(&ending, "content")), (vec!["/07"], vec!["x"]));
    let then = between(&server, store).await;
    put(&server, ADMIN, store, "/05", "newer").await;
    let late = format!("entries?updated_after={then}&order=updated&direction=desc");
    assert_eq!(strings(&server.get(&of(store, &late)).await.ok(), "path"), ["/05"]);
    let early = server.get(&of(store, &format!("entries?updated_before={then}"))).await.ok();
    assert_eq!(early["data"].as_array().unwrap().len(), 29);
}

#[tokio::test]
async fn access_is_told_with_the_rule_that_decides() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    let bot = writer(&server, store, "bot").await;
    server.post("/v1/principals", json!({"name": "helper"})).await.ok();
    let passed_on = json!({"grantee": "helper", "level": "read"});
    server.call(&bot, "POST", &of(store, "grants"), passed_on).await.ok();
    let all = json!({"grantee": "everyone", "level": "search"});
    server.post(&of(store, "grants"), all).await.ok();
    let url = of(store, "access");
    let told = server.get(&url).await.ok();
    let named = |name: &str| {
        let data = told["data"].as_array().unwrap();
        data.iter().find(|one| one["principal"]["name"] == name).unwrap().clone()
    };
    assert_eq!(told["data"].as_array().unwrap().len(), 4);
    let owner = named("admin");
    assert_eq!((&owner["level"], &owner["matched"]["rule"]), (&json!("owner"), &json!("owner")));
    assert_eq!(owner["also"][0]["rule"], "administrator");
    let of_bot = named("bot");
    assert_eq!(
        (&of_bot["level"], &of_bot["matched"]["rule"]),
        (&json!("readwrite"), &json!("grant"))
    );
    assert_eq!(
        (&of_bot["would_lose"], &of_bot["also"][0]["rule"]),
        (&json!(1), &json!("everyone"))
    );
    assert_eq!(of_bot["matched"]["grant"]["grantee_name"], "bot");
    assert_eq!(named("helper")["would_lose"], 0);
    assert_eq!(named("everyone")["principal"]["kind"], "everyone");
    let part = server.get(&format!("{url}?limit=3")).await.ok();
    assert_eq!((part["data"].as_array().unwrap().len(), &part["next_page"]), (3, &json!("3")));
    let rest = server.get(&format!("{url}?limit=3&page=3")).await.ok();
    assert_eq!((rest["data"].as_array().unwrap().len(), &rest["next_page"]), (1, &Value::Null));
    let private = server.store("private").await;
    let none = server.get(&of(private, "access?who=bot")).await.ok();
    assert_eq!((&none["level"], &none["matched"]), (&json!("none"), &Value::Null));
    let none = server.get(&of(private, "access?who=everyone")).await.ok();
    assert_eq!(none["level"], "none");
    server.get(&format!("{url}?who=nobody")).await.refused(404, "not_found_error");
    server.get(&format!("{url}?limit=0")).await.refused(400, "invalid_request_error");
    let (_, stranger) = stranger(&server).await;
    let refused = server.call(&stranger, "GET", &url, Value::Null).await;
    refused.refused(403, "permission_error");
}

#[tokio::test]
async fn all_stores_are_seen_at_a_glance_and_ids_have_names() {
    let server = Server::new().await;
    let (busy, quiet) = (server.store("busy").await, server.store("quiet").await);
    let bot = writer(&server, busy, "bot").await;
    let search = json!({"grantee": "bot", "level": "search"});
    server.post(&of(quiet, "grants"), search).await.ok();
    put(&server, ADMIN, quiet, "/a", "tea").await;
    let fact = json!({"edits": [{"op": "put", "path": "/b", "content": "x", "attributes": {"kind": "fact"}}]});
    server.call(&bot, "POST", &of(busy, "edits"), fact).await.ok();
    put(&server, &bot, busy, "/c", "more").await;
    let seen = server.get("/console/stores").await.ok();
    assert_eq!(strings(&seen, "name"), ["busy", "quiet"], "what changed last comes first");
    assert_eq!(seen["is_truncated"], false);
    let row = &seen["data"][0];
    assert_eq!((&row["level"], &row["rule"]), (&json!("owner"), &json!("owner")));
    assert_eq!(
        (&row["memories"], &row["versions"], &row["last_seq"]),
        (&json!(2), &json!(2), &json!(2))
    );
    assert_eq!(row["by_kind"], json!({"fact": 1, "": 1}));
    assert_eq!(row["days"], json!([0, 0, 0, 0, 0, 0, 2]));
    assert_eq!((&row["owner"]["name"], &row["home_of"]), (&json!("admin"), &Value::Null));
    let key = row["changed_by"]["api_key_id"].as_str().unwrap();
    let of_bot = server.call(&bot, "GET", "/console/stores", Value::Null).await.ok();
    let level = |id: &str| {
        let data = of_bot["data"].as_array().unwrap();
        data.iter().find(|row| row["memory_store_id"] == id).unwrap().clone()
    };
    let (busy_row, quiet_row) = (level(&busy.to_string()), level(&quiet.to_string()));
    assert_eq!((&busy_row["level"], &busy_row["rule"]), (&json!("readwrite"), &json!("grant")));
    assert_eq!((&busy_row["name"], &busy_row["owner"]["name"]), (&json!("busy"), &json!("admin")));
    assert_eq!((&quiet_row["level"], &quiet_row["memories"]), (&json!("search"), &Value::Null));
    assert_eq!(quiet_row["days"], Value::Null);
    // Who may only search is told its id and how far they reach.
    assert_eq!(quiet_row["name"], quiet_row["memory_store_id"]);
    assert_eq!((&quiet_row["owner"], &quiet_row["metadata"]), (&Value::Null, &json!({})));
    assert_eq!(quiet_row["description"], "");
    let admin = seen["data"][0]["owner"]["id"].as_str().unwrap();
    let names = |reply: Reply| reply.ok()["data"].clone();
    let url = format!("/console/names?ids={key},{admin},{busy},{quiet},nonsense");
    let known = names(server.get(&url).await);
    assert_eq!(known[key]["name"], "bot");
    assert_eq!((&known[key]["kind"], &known[key]["key"]), (&json!("agent"), &json!("bot's key")));
    assert_eq!(known[admin]["name"], "admin");
    assert_eq!(known[busy.to_string()], json!({"name": "busy", "kind": "memory_store"}));
    assert_eq!(known.as_object().unwrap().len(), 4);
    let known = names(server.call(&bot, "GET", &url, Value::Null).await);
    assert_eq!(known[admin]["name"], "admin", "whoever shares a store knows its owner");
    let (_, stranger) = stranger(&server).await;
    let known = names(server.call(&stranger, "GET", &url, Value::Null).await);
    assert_eq!(known, json!({}), "strangers learn nothing");
    let many = vec![key; 201].join(",");
    let refused = server.get(&format!("/console/names?ids={many}")).await;
    refused.refused(400, "invalid_request_error");
}

#[tokio::test]
async fn what_deserves_a_look_is_found_and_secrets_stay_masked() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    put(&server, ADMIN, store, "/small", "chamomile").await;
    put(&server, ADMIN, store, "/large", &"word ".repeat(500)).await;
    put(&server, ADMIN, store, "/leak", "the key is AKIAIOSFODNN7EXAMPLE").await;
    let url = |check: &str| of(store, &format!("hygiene?check={check}"));
    let paths = |found: &Value| -> Vec<String> {
        let data = found["data"].as_array().unwrap().iter();
        data.map(|one| one["entry"]["path"].as_str().unwrap().to_owned()).collect()
    };
    let largest = server.get(&url("largest&limit=2")).await.ok();
    assert_eq!(paths(&largest), ["/large", "/leak"]);
    assert_eq!(largest["data"][0]["why"], "2500 bytes");
    let next = largest["next_page"].as_str().unwrap();
    let rest = server.get(&url(&format!("largest&limit=2&page={next}"))).await.ok();
    assert_eq!((paths(&rest), &rest["next_page"]), (vec!["/small".to_owned()], &Value::Null));
    let secrets = server.get(&url("secrets")).await.ok();
    assert_eq!(paths(&secrets), ["/leak"]);
    let line = &secrets["data"][0];
    assert_eq!(line["pattern"], "aws_access_key");
    assert!(line["excerpt"].as_str().unwrap().starts_with("the key is AKIA"), "{line}");
    assert!(!secrets.to_string().contains("FODNN7"));
    assert_eq!(paths(&server.get(&url("stale")).await.ok()), Vec::<String>::new());
    assert_eq!(paths(&server.get(&url("never_recalled")).await.ok()).len(), 3);
    let found =
        server.post(&of(store, "search"), json!({"query": "chamomile", "limit": 1})).await.ok();
    assert_eq!(strings(&found, "path"), ["/small"]);
    let never = server.get(&url("never_recalled&limit=1")).await.ok();
    assert_eq!(paths(&never), ["/large"]);
    let next = never["next_page"].as_str().unwrap();
    let rest = server.get(&url(&format!("never_recalled&limit=1&page={next}"))).await.ok();
    assert_eq!(paths(&rest), ["/leak"]);
    let small = server.get(&of(store, "entries?limit=1&direction=desc")).await.ok();
    let id = small["data"][0]["id"].as_str().unwrap();
    let small = server.get(&of(store, &format!("entries/{id}"))).await.ok();
    assert_eq!((&small["recalls"]["count"], &small["recalls"]["actors"]), (&json!(1), &json!(1)));
    for bad in
        ["", "check=all", "check=stale&limit=201", "check=stale&page=!", "check=secrets&page=AA"]
    {
        let refused = server.get(&of(store, &format!("hygiene?{bad}"))).await;
        refused.refused(400, "invalid_request_error");
    }
    let share = json!({"grantee": "everyone", "level": "search"});
    server.post(&of(store, "grants"), share).await.ok();
    let (_, stranger) = stranger(&server).await;
    for check in ["secrets", "largest", "stale", "never_recalled"] {
        let refused = server.call(&stranger, "GET", &url(check), Value::Null).await;
        refused.refused(403, "permission_error");
    }
}

#[tokio::test]
async fn series_count_what_happened_for_whoever_may_know() {
    let server = Server::new().await;
    let store = server.store("notes").await;
    for number in 0..3 {
        put(&server, ADMIN, store, &format!("/{number}"), "tea").await;
    }
    remove(&server, ADMIN, store, "/0").await;
    server.post(&of(store, "search"), json!({"query": "tea"})).await.ok();
    let seen = server.get("/console/series?hours=24").await.ok();
    let sum = |series: &Value| -> u64 {
        series.as_array().unwrap().iter().filter_map(Value::as_u64).sum()
    };
    assert_eq!((&seen["type"], &seen["step_seconds"]), (&json!("overview"), &json!(1800)));
    assert_eq!((sum(&seen["writes"]), sum(&seen["recalls"]), sum(&seen["evictions"])), (4, 1, 0));
    for series in ["writes", "recalls", "evictions", "requests", "errors"] {
        assert_eq!(seen[series].as_array().unwrap().len(), 48, "{series}");
    }
    assert_eq!(seen["recalls"][0], Value::Null, "nothing was counted before the start");
    assert!(sum(&seen["requests"]) >= 5 && sum(&seen["errors"]) == 0);
    assert!(seen["latency_ms"]["p99"][47].as_f64().unwrap() > 0.0);
    let grown = seen["stores"][0]["memories"].as_array().unwrap();
    assert_eq!((&grown[0], &grown[47]), (&json!(0), &json!(2)));
    let (_, stranger) = stranger(&server).await;
    let other = server.call(&stranger, "GET", "/console/series", Value::Null).await.ok();
    assert_eq!((sum(&other["writes"]), &other["stores"]), (0, &json!([])));
    assert_eq!((&other["requests"], &other["latency_ms"]), (&Value::Null, &Value::Null));
    for bad in ["0", "721", "x"] {
        let refused = server.get(&format!("/console/series?hours={bad}")).await;
        refused.refused(400, "invalid_request_error");
    }
}

#[tokio::test]
async fn series_look_at_a_bounded_number_of_stores_and_say_so() {
    let server = Server::new().await;
    for number in 0..1003 {
        server.store(&format!("notes {number}")).await;
    }
    let seen = server.get("/console/series?hours=24").await.ok();
    assert_eq!(seen["stores_left_out"], 3);
}

#[tokio::test]
async fn the_audit_log_is_read_from_its_end() {
    let server = Server::new().await;
    for number in 0..5 {
        server.post("/v1/principals", json!({"name": format!("p{number}")})).await.ok();
    }
    let all = server.get("/v1/events?limit=1000").await.ok();
    let mut seqs: Vec<u64> = all["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    seqs.reverse();
    let mut seen = Vec::new();
    let mut before = 0;
    loop {
        let part = server.get(&format!("/v1/events?before={before}&limit=2")).await.ok();
        let data = part["data"].as_array().unwrap();
        seen.extend(data.iter().map(|event| event["seq"].as_u64().unwrap()));
        before = *seen.last().unwrap();
        if before == 1 {
            break;
        }
    }
    assert_eq!(seen, seqs);
    server.get("/v1/events?before=3&after=1").await.refused(400, "invalid_request_error");
}
