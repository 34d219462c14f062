//! Every documented string of the nine commands, and what they leave behind.

use crate::tool::world::{World, create, path, view};
use loci_model::{AttributesPatch, Content, Edit, EditOp, Patch, Timestamp};
use serde_json::{Value, json};

const ME: &str = "a";

async fn with_entry(content: Value) -> World {
    let world = World::new().await;
    let call = json!({ "command": "create", "path": "/memories/k", "content": content });
    world.done(ME, call, "Created /memories/k").await;
    world
}

/// What a call of these arguments would be in this shape.
fn call(command: &str, rest: Value) -> Value {
    let mut call = rest;
    call["command"] = json!(command);
    call["dialect"] = json!("robutler");
    call
}

#[tokio::test]
async fn arguments_that_are_missing() {
    let world = World::new().await;
    let path = |path: &str| json!({ "path": path });
    for (command, rest, words) in [
        ("view", json!({}), "path is required for view"),
        ("view", path("/memories"), "path is required for view"),
        ("view", path("/memories/shared/x"), "path is required for view"),
        ("create", json!({ "content": "x" }), "path is required for create"),
        ("create", path("/memories/a"), "content is required for create"),
        (
            "create",
            json!({ "path": "/memories/a", "content": null }),
            "content is required for create",
        ),
        (
            "create",
            json!({ "path": "/memories/", "content": "x" }),
            "path must include a filename for create",
        ),
        (
            "create",
            json!({ "path": "/memories", "content": "x" }),
            "path must include a filename for create",
        ),
        ("edit", json!({}), "path is required for edit"),
        ("edit", path("/memories/a"), "old_str and new_str are required for edit"),
        (
            "edit",
            json!({ "path": "/memories/a", "old_str": "x" }),
            "old_str and new_str are required for edit",
        ),
        (
            "edit",
            json!({ "path": "/memories/a", "old_str": "", "new_str": "x" }),
            "old_str and new_str are required for edit",
        ),
        ("delete", json!({}), "path is required for delete"),
        ("delete", path("/memories/"), "path must include a filename for delete"),
        ("rename", json!({}), "path and new_str (new path) are required for rename"),
        ("rename", path("/memories/a"), "path and new_str (new path) are required for rename"),
        ("search", json!({}), "query is required for search"),
        ("search", json!({ "query": "  " }), "query is required for search"),
        ("share", json!({}), "agent is required for share"),
        ("unshare", json!({}), "agent is required for unshare"),
        ("view", path("/elsewhere"), "path must start with /memories"),
        ("view", json!({ "path": 7 }), "path must be a string"),
        (
            "view",
            json!({ "path": format!("/memories/{}", "k".repeat(250)) }),
            "path takes up to 256 characters",
        ),
        ("view", json!({ "key": "k".repeat(201) }), "key takes up to 200 characters"),
        ("search", json!({ "query": "q".repeat(4097) }), "query takes up to 4096 characters"),
        ("search", json!({ "query": "q", "limit": 0 }), "limit takes 1 to 50"),
        (
            "share",
            json!({ "agent": "b", "level": "own" }),
            "level must be search, read or readwrite",
        ),
    ] {
        world.error(ME, call(command, rest), words).await;
    }
}

#[tokio::test]
async fn entries_are_seen_as_json() {
    let world = World::new().await;
    world.done(ME, json!({ "command": "view", "key": "k" }), Value::Null).await;
    world.done(ME, call("view", json!({ "path": "/memories/" })), json!({ "entries": [] })).await;
    for (key, value) in [
        ("text", json!("words")),
        ("n", json!(7)),
        ("o", json!({ "b": [1, null], "a": "ü" })),
        ("false", json!(false)),
        ("a/b", json!("slash")),
        ("..", json!("dots")),
        ("e\u{301}", json!("not in normal form")),
        ("zero\u{200b}width", json!("format character")),
        (":odd %2F", json!("escaped")),
    ] {
        let done = format!("Created /memories/{key}");
        world.done(ME, json!({ "command": "create", "key": key, "content": value }), done).await;
        let shown = world.call(ME, json!({ "command": "view", "key": key })).await;
        assert_eq!(shown["result"]["value"], value, "{key}");
        assert_eq!(shown["result"]["key"], key);
    }
    let list = world.call(ME, call("view", json!({ "path": "/memories/" }))).await;
    let keys: Vec<&str> = list["result"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["key"].as_str().unwrap())
        .collect();
    assert_eq!(
        keys,
        ["..", ":odd %2F", "a/b", "e\u{301}", "false", "n", "o", "text", "zero\u{200b}width"]
    );
    let below = world.call(ME, call("view", json!({ "path": "/memories/a/" }))).await;
    assert_eq!(below["result"]["entries"].as_array().unwrap().len(), 1);
    let shown = world.call(ME, json!({ "command": "view", "key": "text" })).await;
    let expected = json!({
        "key": "text", "value": "words", "namespace": "", "storeId": "a", "ownerId": "a",
        "inContext": true, "encrypted": false, "ttl": 0, "expiresAt": null,
        "createdAt": "2026-01-01T00:00:03.000Z", "updatedAt": "2026-01-01T00:00:03.000Z",
    });
    assert_eq!(shown["result"], expected);
    let content: Value = serde_json::from_str(shown["content"].as_str().unwrap()).unwrap();
    assert_eq!(content, expected);
}

#[tokio::test]
async fn one_ending_is_dropped_and_found_again() {
    let world = World::new().await;
    let made = json!({ "command": "create", "path": "/memories/notes.md", "content": "x" });
    world.done(ME, made, "Created /memories/notes.md").await;
    let shown = world.call(ME, json!({ "command": "view", "key": "notes" })).await;
    assert_eq!(shown["result"]["value"], "x");
    // The native shape wrote a file that really has the ending, in a directory.
    world.call(ME, create("/memories/d/file.md", "y")).await;
    for key in ["d/file.md", "d/file"] {
        let shown = world.call(ME, json!({ "command": "view", "key": key })).await;
        let found = if key == "d/file.md" { json!("y") } else { Value::Null };
        assert_eq!(shown["result"]["value"], found, "{key}");
    }
}

#[tokio::test]
async fn create_writes_over_what_is_there() {
    let world = with_entry(json!({ "a": 1 })).await;
    let again = json!({ "command": "create", "key": "k", "content": "{\"a\":1}" });
    world.done(ME, again, "Created /memories/k").await;
    let shown = world.call(ME, json!({ "command": "view", "key": "k" })).await;
    assert_eq!(shown["result"]["value"], "{\"a\":1}", "a string is a string");
    let large = json!({ "command": "create", "key": "k", "content": "x".repeat(102_401) });
    world.error(ME, large, "Value too large").await;
    let home = world.home(ME).await;
    assert_eq!(world.read(ME, home, "/k").await, Some(Content::Text("{\"a\":1}".into())));
}

fn edit(old: &str, new: &str) -> Value {
    json!({ "command": "edit", "path": "/memories/k", "old_str": old, "new_str": new })
}

#[tokio::test]
async fn edits() {
    let world = with_entry(json!("one two one")).await;
    let done = "Edited /memories/k\n  - one [two] one\n  + one [$&] one";
    world.done(ME, edit("two", "$&"), done).await;
    world.error(ME, edit("three", "x"), "old_str not found in /memories/k").await;
    let many = "old_str matches 2 times in /memories/k. Add more surrounding context so the match \
                is unique.";
    world.error(ME, edit("one", "x"), many).await;
    let mut first = edit("one", "1");
    first["occurrence"] = json!("first");
    world.done(ME, first.clone(), "Edited /memories/k\n  - [one] $& one\n  + [1] $& one").await;
    first["occurrence"] = json!("last");
    world.error(ME, first, "occurrence must be only or first").await;
    world.done(ME, edit(" $&", ""), "Edited /memories/k\n  - 1[ $&] one\n  + 1[] one").await;
    let home = world.home(ME).await;
    assert_eq!(world.read(ME, home, "/k").await, Some(Content::Text("1 one".into())));
    let mut missing = edit("a", "b");
    missing["path"] = json!("/memories/x");
    world.error(ME, missing, "Memory not found: /memories/x").await;
}

#[tokio::test]
async fn what_is_not_text_is_not_edited() {
    for (value, kind) in [
        (json!(1), "number"),
        (json!(true), "boolean"),
        (json!([1]), "array"),
        (json!({ "a": 1 }), "object"),
    ] {
        let world = with_entry(value).await;
        let words = format!(
            "Cannot edit /memories/k: value is {kind}, not text. Use create to overwrite, or fetch \
             + delete + create to convert."
        );
        world.error(ME, edit("1", "2"), &words).await;
    }
}

#[tokio::test]
async fn sealed_entries_stay_closed() {
    let world = World::new().await;
    let home = world.home(ME).await;
    let content = Some(Content::Sealed(b"ciphertext".to_vec()));
    let op =
        EditOp::Put { content: content.clone(), to: None, attributes: AttributesPatch::default() };
    world.write(ME, home, Edit { op, ..Edit::put_text(path("/k"), "") }).await;
    let shown = world.call(ME, json!({ "command": "view", "key": "k" })).await;
    assert_eq!(
        (&shown["result"]["value"], &shown["result"]["encrypted"]),
        (&Value::Null, &json!(true))
    );
    assert!(!shown.to_string().contains("cipher"));
    let words = "Cannot edit /memories/k: it is sealed, and only its writer can open it.";
    world.error(ME, edit("c", "d"), words).await;
    let moved = json!({ "command": "rename", "path": "/memories/k", "new_str": "/memories/l" });
    world.done(ME, moved, "Renamed /memories/k → /memories/l").await;
    assert_eq!(world.read(ME, home, "/l").await, content);
}

#[tokio::test]
async fn deletes() {
    let world = with_entry(json!("x")).await;
    world.done(ME, call("delete", json!({ "path": "/memories/k" })), "Deleted /memories/k").await;
    let gone = "Memory not found: /memories/k";
    world.error(ME, call("delete", json!({ "path": "/memories/k" })), gone).await;
    world.done(ME, json!({ "command": "view", "key": "k" }), Value::Null).await;
}

#[tokio::test]
async fn renames_keep_everything() {
    let world = with_entry(json!({ "a": 1 })).await;
    let home = world.home(ME).await;
    let end = Timestamp::from_micros(1_767_225_600_000_000 + 3_600_000_000);
    let attributes =
        AttributesPatch { expires_at: Patch::Set(Some(end)), ..AttributesPatch::default() };
    let op = EditOp::Put { content: None, to: None, attributes };
    world.write(ME, home, Edit { op, ..Edit::put_text(path("/k"), "") }).await;
    for (from, to, key) in [
        ("/memories/k", "/memories/l.md", "l"),
        ("/memories/l", "plain name", "plain name"),
        ("/memories/plain name", "/memories/plain name", "plain name"),
        ("/memories/plain name", "a/b", "a/b"),
    ] {
        let moved = json!({ "command": "rename", "path": from, "new_str": to });
        world.done(ME, moved, format!("Renamed {from} → {to}")).await;
        let shown = world.call(ME, json!({ "command": "view", "key": key })).await;
        assert_eq!(shown["result"]["value"], json!({ "a": 1 }), "{to}");
        assert_eq!(shown["result"]["expiresAt"], "2026-01-01T01:00:00.000Z");
    }
    let missing = json!({ "command": "rename", "path": "/memories/k", "new_str": "x" });
    world.error(ME, missing, "Memory not found: /memories/k").await;
    world.call(ME, json!({ "command": "create", "key": "other", "content": "y" })).await;
    let taken = json!({ "command": "rename", "path": "/memories/other", "new_str": "a/b" });
    world.error(ME, taken, "Cannot rename /memories/other: a/b already exists").await;
}

#[tokio::test]
async fn a_rename_to_another_store_loses_nothing() {
    let world = with_entry(json!({ "a": 1 })).await;
    let store = world.home("b").await;
    let to = format!("/memories/shared/{store}/k2");
    let moved = json!({ "command": "rename", "path": "/memories/k", "new_str": to });
    let words = "Access denied to this store";
    world.error(ME, moved.clone(), words).await;
    let share = |level: &str| json!({ "command": "share", "agent": "a", "level": level });
    world.done("b", share("read"), "OK").await;
    let words = format!("Cannot rename /memories/k: no write access to the store of {to}");
    world.error(ME, moved.clone(), &words).await;
    let kept = world.call(ME, json!({ "command": "view", "key": "k" })).await;
    assert_eq!(kept["result"]["value"], json!({ "a": 1 }));
    world.done("b", share("readwrite"), "OK").await;
    world.done(ME, moved.clone(), format!("Renamed /memories/k → {to}")).await;
    world.done(ME, json!({ "command": "view", "key": "k" }), Value::Null).await;
    let there = world.call("b", json!({ "command": "view", "key": "k2" })).await;
    assert_eq!(there["result"]["value"], json!({ "a": 1 }));
    assert_eq!(there["result"]["ownerId"], "a");
    world.call(ME, json!({ "command": "create", "key": "k", "content": "z" })).await;
    world.error(ME, moved, &format!("Cannot rename /memories/k: {to} already exists")).await;
    // What cannot be removed here is not left there either.
    world.call("b", json!({ "command": "create", "key": "theirs", "content": "t" })).await;
    let carried =
        json!({ "command": "rename", "store": "b", "key": "theirs", "new_str": "/memories/mine" });
    let words =
        "Cannot delete /memories/shared/b/theirs: only its owner may remove or move this memory";
    world.error(ME, carried, words).await;
    world.done(ME, json!({ "command": "view", "key": "mine" }), Value::Null).await;
}

#[tokio::test]
async fn sharing() {
    let world = with_entry(json!("shared words")).await;
    let stores = json!([{ "storeId": "b", "level": "readwrite", "source": "self" }]);
    world.done("b", json!({ "command": "stores" }), json!({ "stores": stores })).await;
    world.done(ME, json!({ "command": "share", "agent": "b", "level": null }), "OK").await;
    let stores = json!([
        { "storeId": "b", "level": "readwrite", "source": "self" },
        { "storeId": "a", "level": "read", "source": "grant" },
    ]);
    world.done("b", json!({ "command": "stores" }), json!({ "stores": stores })).await;
    let query = json!({ "command": "search", "query": "words" });
    let found = world.call("b", query.clone()).await;
    let entries = found["result"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!((&entries[0]["storeId"], &entries[0]["key"]), (&json!("a"), &json!("k")));
    world.done(ME, json!({ "command": "unshare", "agent": "b" }), "OK").await;
    world.done("b", query, json!({ "entries": [] })).await;
    let again = json!({ "command": "unshare", "agent": "b" });
    world.done(ME, again, "OK").await;
    // One may share with an agent that has not come yet.
    world
        .done(ME, json!({ "command": "share", "agent": "c-later", "level": "search" }), "OK")
        .await;
}

#[tokio::test]
async fn what_one_shape_writes_the_other_sees() {
    let world = World::new().await;
    world.call(ME, create("/memories/d/f.txt", "tree")).await;
    world.call(ME, json!({ "command": "create", "key": "flat", "content": "entry" })).await;
    let shown = world.call(ME, json!({ "command": "view", "key": "d/f.txt" })).await;
    assert_eq!(shown["result"]["value"], "tree");
    let shown = "Here's the content of /memories/flat with line numbers:\n     1\tentry";
    world.done(ME, view("/memories/flat"), shown).await;
    let edited =
        json!({ "command": "edit", "key": "d/f.txt", "old_str": "tree", "new_str": "wood" });
    world.done(ME, edited, "Edited /memories/d/f.txt\n  - [tree]\n  + [wood]").await;
    let home = world.home(ME).await;
    assert_eq!(world.read(ME, home, "/d/f.txt").await, Some(Content::Text("wood".into())));
}

/// Numbers come back as they were written, however many digits they have.
#[tokio::test]
async fn numbers_are_kept_as_written() {
    let world = World::new().await;
    for number in ["12345678901234567890123", "1.0", "1e400", "-0", "[ 0.1000, 1E2 ]"] {
        let create = format!(r#"{{"command":"create","key":"n","content":{number}}}"#);
        assert_eq!(world.send(ME, create).await.1["is_error"], false, "{number}");
        let view = r#"{"command":"view","key":"n"}"#.to_owned();
        let (status, answer) = world.raw(ME, view.clone()).await;
        assert_eq!(status, 200);
        assert!(answer.contains(&format!("\"value\":{number},")), "{answer}");
        let list = r#"{"command":"view","path":"/memories/","dialect":"robutler"}"#.to_owned();
        assert!(world.raw(ME, list).await.1.contains(&format!("\"value\":{number},")));
        let edit = r#"{"command":"edit","key":"n","old_str":"1","new_str":"2"}"#.to_owned();
        let refused = world.send(ME, edit).await.1;
        assert!(refused["content"].as_str().unwrap().contains("not text"), "{refused}");
    }
}

/// The shape that clients had before the nine commands.
#[tokio::test]
async fn actions() {
    let world = World::new().await;
    let action = |action: &str, rest: Value| {
        let mut call = rest;
        call["action"] = json!(action);
        call
    };
    for (name, rest, words) in [
        ("get", json!({}), "key is required"),
        ("set", json!({ "value": 1 }), "key is required"),
        ("set", json!({ "key": "k" }), "value is required"),
        ("set", json!({ "key": "k", "value": null }), "value is required"),
        ("delete", json!({}), "key is required"),
        ("delete", json!({ "key": "k" }), "delete failed: 404"),
        ("search", json!({}), "query is required"),
        ("share", json!({}), "agent is required"),
        ("unshare", json!({}), "agent is required"),
        ("fly", json!({}), "Unknown action: fly"),
        ("get", json!({ "store": "nobody", "key": "k" }), "Access denied"),
        ("set", json!({ "store": "nobody", "key": "k", "value": 1 }), "Access denied"),
        ("list", json!({ "store": "nobody" }), "list failed: 403"),
        ("share", json!({ "store": "nobody", "agent": "b" }), "share failed: 403"),
    ] {
        world.error(ME, action(name, rest), words).await;
    }
    world.done(ME, action("get", json!({ "key": "k" })), Value::Null).await;
    let set = json!({ "key": "a/k.md", "value": { "n": 1 }, "ttl": 60 });
    world.done(ME, action("set", set), "OK").await;
    let got = world.call(ME, action("get", json!({ "key": "a/k.md" }))).await;
    let got = &got["result"];
    assert_eq!((&got["key"], &got["value"]), (&json!("a/k.md"), &json!({ "n": 1 })));
    assert_eq!(got["ttl"], 60);
    world.done(ME, action("set", json!({ "key": "a/k.md", "value": "words" })), "OK").await;
    let listed = world.call(ME, action("list", json!({ "prefix": "a/" }))).await;
    let entry = &listed["result"]["entries"][0];
    assert_eq!(entry["value"], "words");
    assert!(entry["ttl"].as_i64().unwrap() > 0, "what is not named stays: {entry}");
    let clear = json!({ "key": "a/k.md", "value": "words", "ttl": null });
    world.done(ME, action("set", clear), "OK").await;
    let found = world.call(ME, action("search", json!({ "query": "words" }))).await;
    assert_eq!(found["result"]["entries"][0]["key"], "a/k.md");
    assert_eq!(found["result"]["entries"][0]["ttl"], 0);
    world.done(ME, action("share", json!({ "agent": "b", "level": null })), "OK").await;
    let stores = world.call("b", action("stores", json!({}))).await;
    assert_eq!(stores["result"]["stores"][1]["storeId"], ME);
    let delete = json!({ "store": ME, "key": "a/k.md" });
    world.error("b", action("delete", delete), "delete failed: 403").await;
    world.done(ME, action("unshare", json!({ "agent": "b" })), "OK").await;
    world.done(ME, action("delete", json!({ "key": "a/k.md" })), "OK").await;
    world.done(ME, action("get", json!({ "key": "a/k.md" })), Value::Null).await;
}

#[tokio::test]
async fn long_keys_are_kept_and_told() {
    let world = World::new().await;
    let key = "\u{200b}".repeat(200);
    let other = "\u{200c}".repeat(200);
    let path = format!("/memories/{key}");
    let on = |command: &str, more: Value| {
        let mut call = json!({ "command": command, "key": key });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    };
    world.done(ME, on("create", json!({ "content": "words" })), format!("Created {path}")).await;
    let edit = on("edit", json!({ "old_str": "words", "new_str": "boats" }));
    assert_eq!(world.call(ME, edit).await["is_error"], false);
    let seen = world.call(ME, on("view", json!({}))).await;
    assert_eq!((&seen["result"]["key"], &seen["result"]["value"]), (&json!(key), &json!("boats")));
    let renamed = format!("Renamed {path} → {other}");
    world.done(ME, on("rename", json!({ "new_str": other })), renamed).await;
    let found = world.call(ME, json!({ "command": "search", "query": "boats" })).await;
    assert_eq!(found["result"]["entries"][0]["key"], json!(other));
    let back = json!({ "command": "rename", "key": other, "new_str": "short" });
    assert_eq!(world.call(ME, back).await["is_error"], false);
    let seen = world.call(ME, json!({ "command": "view", "key": "short" })).await;
    assert_eq!(seen["result"]["key"], "short");
}
