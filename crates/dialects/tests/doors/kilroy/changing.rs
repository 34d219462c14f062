//! `memory_write`, `memory_append` and `memory_delete`: contract sections 3 and 4.

use crate::kilroy::world::{START_MS, World, error};
use serde_json::{Value, json};

#[tokio::test]
async fn a_record_has_exactly_eight_fields() {
    let world = World::new().await;
    let guid = world.write(json!({"memory_id": "m/n"}), "  as it is\n").await;
    let records = world.ask("memory_read", json!({"memory_id": "m/n"}), "ignored").await;
    let expected = json!([{
        "guid": guid, "scope": "m/n", "kind": "observation", "content": "  as it is\n",
        "source": "notes", "tags": [], "created_at": START_MS, "updated_at": START_MS,
    }]);
    assert_eq!(records, expected);
    assert_eq!(guid.len(), 36);
}

#[tokio::test]
async fn options_describe_a_record() {
    let world = World::new().await;
    let targs = json!({
        "memory_id": "m", "scope": "project x", "kind": "user fact 50%", "source": "crm",
        "tags": "[\"a\", \"b\", \"a\"]",
    });
    world.write(targs, "one").await;
    let record = world.ask("memory_read", json!({"memory_id": "m"}), "").await[0].take();
    assert_eq!(record["scope"], "project x");
    assert_eq!(record["kind"], "user fact 50%");
    assert_eq!(record["source"], "crm");
    assert_eq!(record["tags"], json!(["a", "b"]));
    let empty = json!({"memory_id": "m", "scope": "", "kind": "", "source": "", "tags": ""});
    world.write(empty, "two").await;
    let record = world.ask("memory_read", json!({"memory_id": "m"}), "").await[1].take();
    let found = [&record["scope"], &record["kind"], &record["source"]];
    assert_eq!(found, [&json!("m"), &json!("observation"), &json!("notes")]);
}

#[tokio::test]
async fn a_source_is_the_agent_else_where_it_came_from_else_the_block() {
    let world = World::new().await;
    for (more, expected) in [
        (json!({"tagentname": "agent", "from": "chat"}), "agent"),
        (json!({"tagentname": "", "from": "chat"}), "chat"),
        (json!({}), "memory_write"),
    ] {
        let mut body = json!({"targs": {"memory_id": expected}, "args": [{"text": "x"}]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.call("memory_write", &body).await;
        let records = world.ask("memory_read", json!({"memory_id": expected}), "").await;
        assert_eq!(records[0]["source"], expected);
    }
}

#[tokio::test]
async fn nothing_is_written_without_content_and_repeats_pile_up() {
    let world = World::new().await;
    let id = json!({"memory_id": "m"});
    for block in ["memory_write", "memory_append"] {
        assert_eq!(error(&world.ask(block, id.clone(), "").await), "no content");
    }
    assert_eq!(world.ask("memory_read", id.clone(), "").await, json!([]));
    let one = world.write(id.clone(), "same").await;
    let two = world.write(id.clone(), "same").await;
    assert_ne!(one, two);
    assert_eq!(world.contents("memory_read", id, "").await, ["same", "same"]);
}

#[tokio::test]
async fn a_record_is_appended_to_by_its_guid() {
    let world = World::new().await;
    let targs = json!({"memory_id": "m", "kind": "log", "tags": "a,b"});
    let guid = world.write(targs, "one").await;
    world.pass_secs(5);
    let append = json!({
        "memory_id": "m", "guid": guid, "kind": "other", "scope": "s", "source": "x", "tags": "c",
    });
    let answer = world.ask("memory_append", append, "\ntwo").await;
    assert_eq!(answer, json!({"guid": guid, "appended": true}));
    let record = world.ask("memory_read", json!({"memory_id": "m"}), "").await[0].take();
    let expected = json!({
        "guid": guid, "scope": "m", "kind": "log", "content": "one\ntwo", "source": "notes",
        "tags": ["a", "b"], "created_at": START_MS, "updated_at": START_MS + 5000,
    });
    assert_eq!(record, expected);
    assert_eq!(world.contents("memory_search", json!({"memory_id": "m"}), "two").await.len(), 1);
}

#[tokio::test]
async fn appending_falls_from_guid_to_selector_to_a_new_record() {
    let world = World::new().await;
    let append = |targs: Value, text: &'static str| {
        let world = world.clone();
        async move { world.ask("memory_append", targs, text).await }
    };
    let gone = "0190b5a0-0000-7000-8000-000000000001";
    // Nothing is there yet, not even the store.
    let made =
        append(json!({"memory_id": "m", "guid": gone, "kind": "log", "tags": "t"}), "a").await;
    assert_eq!(made["created"], true, "{made}");
    assert_ne!(made["guid"], gone);
    // The selector finds it now, by all that is given.
    let again = append(json!({"memory_id": "m", "guid": gone, "kind": "log"}), "b").await;
    assert_eq!(again, json!({"guid": made["guid"], "appended": true}));
    let by_source = append(json!({"memory_id": "m", "kind": "log", "source": "notes"}), "c").await;
    assert_eq!(by_source["guid"], made["guid"]);
    let by_scope = append(json!({"memory_id": "m", "scope": "m"}), "d").await;
    assert_eq!(by_scope["guid"], made["guid"]);
    let other = append(json!({"memory_id": "m", "kind": "log", "source": "elsewhere"}), "e").await;
    assert_eq!(other["created"], true);
    // Of several, the first.
    let first = append(json!({"memory_id": "m", "kind": "log"}), "f").await;
    assert_eq!(first["guid"], made["guid"]);
    // A source alone chooses nothing, and neither does nothing.
    for targs in [json!({"memory_id": "m", "source": "notes"}), json!({"memory_id": "m"})] {
        assert_eq!(append(targs, "new").await["created"], true);
    }
    for guid in ["nonsense", "{}"] {
        let targs = json!({"memory_id": "m", "guid": guid});
        assert_eq!(append(targs, "new").await["created"], true);
    }
    let records = world.ask("memory_read", json!({"memory_id": "m"}), "").await;
    assert_eq!(records[0]["content"], "abcdf");
    assert_eq!(records[0]["tags"], json!(["t"]));
    assert_eq!(records[1]["source"], "elsewhere");
    assert_eq!(records[2]["kind"], "observation");
    assert_eq!(records.as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn a_record_is_deleted_by_the_first_name_it_is_given() {
    let world = World::new().await;
    let id = json!({"memory_id": "m"});
    assert_eq!(world.ask("memory_delete", id.clone(), "").await, json!({"skipped": "no query"}));
    let one = world.write(id.clone(), "one").await;
    let two = world.write(id.clone(), "two").await;
    let configured = json!({"memory_id": "m", "guid": one, "kind": "observation"});
    assert_eq!(world.ask("memory_delete", configured.clone(), &two).await, json!({"deleted": 1}));
    assert_eq!(world.contents("memory_read", id.clone(), "").await, ["two"]);
    assert_eq!(world.ask("memory_delete", configured, &two).await, json!({"deleted": 0}));
    assert_eq!(world.ask("memory_delete", id.clone(), &two).await, json!({"deleted": 1}));
    assert_eq!(world.ask("memory_read", id.clone(), "").await, json!([]));
    assert_eq!(world.ask("memory_delete", id, "no guid at all").await, json!({"deleted": 0}));
}

#[tokio::test]
async fn any_message_keeps_a_kind_from_being_deleted() {
    let world = World::new().await;
    for (kind, text) in [("temp note", "a"), ("temp note", "b"), ("kept", "c")] {
        world.write(json!({"memory_id": "m", "kind": kind}), text).await;
    }
    let kind = json!({"memory_id": "m", "kind": "temp note"});
    for trap in ["clear", " ", "\n"] {
        assert_eq!(world.ask("memory_delete", kind.clone(), trap).await, json!({"deleted": 0}));
    }
    assert_eq!(world.ask("memory_delete", kind.clone(), "").await, json!({"deleted": 2}));
    assert_eq!(world.contents("memory_read", json!({"memory_id": "m"}), "").await, ["c"]);
    assert_eq!(world.ask("memory_delete", kind, "").await, json!({"deleted": 0}));
    let nowhere = json!({"memory_id": "never/written", "kind": "x"});
    assert_eq!(world.ask("memory_delete", nowhere, "").await, json!({"deleted": 0}));
}

#[tokio::test]
async fn a_kind_of_thousands_is_deleted_whole() {
    let world = World::new().await;
    world.write_many("m", "temp", 1100).await;
    for _ in 0..21 {
        world.write(json!({"memory_id": "m", "kind": "kept"}), "x").await;
    }
    let kind = json!({"memory_id": "m", "kind": "temp"});
    assert_eq!(world.ask("memory_delete", kind, "").await, json!({"deleted": 1100}));
    let left = world.contents("memory_read", json!({"memory_id": "m"}), "").await;
    assert_eq!(left.len(), 21);
}
