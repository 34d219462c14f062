//! Pull and push: stamps, cursors, tombstones and merging.

use crate::scoped::world::{ADA, Pulled, World, day, delete_line, put_line};
use serde_json::{Value, json};

fn nothing() -> Pulled {
    Pulled { lines: Vec::new(), cursor: None, more: false }
}

#[tokio::test]
async fn what_was_pushed_is_pulled() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    assert_eq!(notes.pull("owner", None).await, nothing());
    assert_eq!(notes.push("owner", &[]).await, 0);
    let mut first = put_line("preferences", &day(1), "one");
    first["description"] = json!("first");
    let second = json!({"op": "put", "namespace": "owner", "key": "b", "content": "", "source": "sync", "at": day(2)});
    assert_eq!(notes.push("owner", &[first, second]).await, 2);
    let pulled = notes.pull("owner", None).await;
    assert_eq!(
        pulled.lines[0],
        json!({
            "op": "put", "id": "e109e6ea-d0df-5a6c-b659-4f81dba13d4f", "namespace": "owner",
            "key": "preferences", "content": "one", "description": "first", "source": "tool", "at": day(1),
        })
    );
    assert_eq!(
        (&pulled.lines[1]["source"], &pulled.lines[1]["content"]),
        (&json!("tool"), &json!(""))
    );
    let cursor = pulled.cursor.unwrap();
    assert_eq!(cursor, "2026-03-01T00:00:00.000001Z", "stamps grow while the clock stands still");
    assert_eq!(
        notes.pull("owner", Some(&cursor)).await,
        Pulled { cursor: Some(cursor.clone()), ..nothing() }
    );
    assert_eq!(notes.get("owner", "b").await["updated_at"], day(2));
    assert_eq!(notes.pull("shared", None).await, nothing());
    assert_eq!(
        notes.pull("shared", Some("2026-01-01T00:00:00Z")).await.cursor.as_deref(),
        Some("2026-01-01T00:00:00Z"),
        "an empty page leaves it as it is"
    );
}

#[tokio::test]
async fn every_change_moves_to_the_end() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let lines: Vec<Value> = ["a", "b", "c"].map(|key| put_line(key, &day(9), "x")).into();
    notes.push("owner", &lines).await;
    let cursor = notes.pull("owner", None).await.cursor.unwrap();
    notes.put("owner", "b", "changed", json!({})).await;
    assert_eq!(notes.forget("owner", "a").await, 1);
    notes.put("owner", "d", "new", json!({})).await;
    notes.push("owner", &[put_line("e", &day(1), "old, but new here")]).await;
    let pulled = notes.pull("owner", Some(&cursor)).await;
    assert_eq!(pulled.outline(), ["put b", "delete a", "put d", "put e"]);
    assert_eq!(pulled.lines[1]["at"], "2026-03-01T00:00:00.000Z");
    assert_eq!(pulled.lines[1].as_object().unwrap().len(), 5, "no text, no description");
    let whole = notes.pull("owner", None).await;
    assert_eq!(whole.outline(), ["put c", "put b", "delete a", "put d", "put e"]);
    assert_eq!(whole.cursor, pulled.cursor);
    notes.put("owner", "a", "again", json!({})).await;
    let whole = notes.pull("owner", None).await.outline();
    assert_eq!(whole, ["put c", "put b", "put d", "put e", "put a"], "no tombstone is left");
}

#[tokio::test]
async fn tombstones_last_90_days() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    notes.put("owner", "k", "x", json!({})).await;
    notes.forget("owner", "k").await;
    world.pass_secs(90 * 24 * 3600 - 1);
    assert_eq!(notes.pull("owner", None).await.outline(), ["delete k"]);
    assert_eq!(notes.push("owner", &[put_line("k", &day(1), "old")]).await, 0);
    world.pass_secs(2);
    assert_eq!(notes.pull("owner", None).await.lines.len(), 0);
    assert_eq!(notes.push("owner", &[put_line("k", &day(1), "old")]).await, 1);
    assert_eq!(notes.pull("owner", None).await.outline(), ["put k"]);
    // And where one expired but still lies, the next note can be forgotten as well.
    notes.forget("owner", "k").await;
    world.pass_secs(91 * 24 * 3600);
    notes.put("owner", "k", "x", json!({})).await;
    assert_eq!(notes.forget("owner", "k").await, 1);
}

/// What is there, what comes, and what is left; all about one key.
async fn check(before: &[Value], line: Value, applied: u64, left: Option<&str>) {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    notes.push("owner", before).await;
    let cursor = notes.pull("owner", None).await.cursor;
    assert_eq!(
        notes.push("owner", std::slice::from_ref(&line)).await,
        applied,
        "{before:?} {line}"
    );
    let note = notes.get("owner", "k").await;
    assert_eq!(note["content"].as_str(), left, "{before:?} {line}");
    let changed = notes.pull("owner", cursor.as_deref()).await.lines.len() as u64;
    assert_eq!(changed, applied, "what was skipped is no change: {before:?} {line}");
}

#[tokio::test]
async fn the_merge_table() {
    let put = |number: u32, content: &str| put_line("k", &day(number), content);
    let delete = |number: u32| delete_line("k", &day(number));
    // Nothing is there.
    check(&[], put(5, "new"), 1, Some("new")).await;
    check(&[], delete(5), 0, None).await;
    // A note is there.
    let note = [put(5, "first")];
    check(&note, put(6, "later"), 1, Some("later")).await;
    check(&note, put(5, "equal"), 0, Some("first")).await;
    check(&note, put(4, "earlier"), 0, Some("first")).await;
    check(&note, delete(6), 1, None).await;
    check(&note, delete(5), 0, Some("first")).await;
    check(&note, delete(4), 0, Some("first")).await;
    // A tombstone is there.
    let grave = [put(5, "first"), delete(7)];
    check(&grave, put(8, "again"), 1, Some("again")).await;
    check(&grave, put(7, "equal"), 0, None).await;
    check(&grave, put(6, "between"), 0, None).await;
    check(&grave, delete(8), 0, None).await;
    check(&grave, delete(6), 0, None).await;
}

#[tokio::test]
async fn a_forget_here_is_as_late_as_the_servers_clock() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    notes.push("owner", &[put_line("k", &day(1), "x")]).await;
    notes.forget("owner", "k").await;
    assert_eq!(notes.push("owner", &[put_line("k", "2026-02-28T23:59:59.999Z", "x")]).await, 0);
    assert_eq!(notes.push("owner", &[put_line("k", "2026-03-01T00:00:00.000Z", "x")]).await, 0);
    assert_eq!(notes.push("owner", &[put_line("k", "2026-03-01T00:00:00.001Z", "y")]).await, 1);
    assert_eq!(notes.get("owner", "k").await["created_at"], "2026-03-01T00:00:00.001Z");
}

#[tokio::test]
async fn lines_about_one_key_are_taken_in_order() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let lines = [
        put_line("k", &day(1), "one"),
        put_line("other", &day(1), "x"),
        put_line("k", &day(2), "two"),
        delete_line("k", &day(3)),
        put_line("k", &day(4), "four"),
        put_line("k", &day(4), "four again"),
    ];
    assert_eq!(notes.push("owner", &lines).await, 5);
    let note = notes.get("owner", "k").await;
    assert_eq!((&note["content"], &note["created_at"]), (&json!("four"), &json!(day(4))));
    assert_eq!(notes.pull("owner", None).await.outline(), ["put other", "put k"]);
    assert_eq!(notes.push("owner", &lines).await, 0, "pushing again changes nothing");
    // One that is there begins anew when it is forgotten in between.
    let lines = [delete_line("k", &day(5)), put_line("k", &day(6), "six")];
    assert_eq!(notes.push("owner", &lines).await, 2);
    assert_eq!(notes.get("owner", "k").await["created_at"], day(6));
    let lines = [put_line("k", &day(7), "seven"), delete_line("k", &day(8))];
    assert_eq!(notes.push("owner", &lines).await, 2);
    assert_eq!(notes.pull("owner", None).await.outline(), ["put other", "delete k"]);
    assert_eq!(notes.pull("owner", None).await.lines[1]["at"], day(8));
}

#[tokio::test]
async fn a_line_that_means_nothing_is_passed_over() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let bad = [
        json!(7),
        json!([]),
        json!({}),
        json!({"op": "move", "namespace": "owner", "key": "k", "at": day(1)}),
        json!({"op": "put", "namespace": "owner", "key": "a/b", "content": "x", "at": day(1)}),
        json!({"op": "put", "namespace": "owner", "key": null, "content": "x", "at": day(1)}),
        json!({"op": "put", "namespace": "owner", "key": "k", "content": 7, "at": day(1)}),
        json!({"op": "put", "namespace": "owner", "key": "k", "at": day(1)}),
        json!({"op": "put", "namespace": "owner", "key": "k", "content": "x"}),
        json!({"op": "put", "namespace": "owner", "key": "k", "content": "x", "at": "soon"}),
        json!({"op": "put", "namespace": "owner", "key": "k", "content": "x", "at": day(1), "source": "?"}),
        json!({"op": "put", "namespace": "owner", "key": "k", "content": "x", "at": day(1), "description": "a\nb"}),
        json!({"op": "put", "namespace": "shared", "key": "k", "content": "x", "at": day(1)}),
    ];
    let mut lines = vec![put_line("before", &day(1), "x")];
    lines.extend(bad);
    lines.push(put_line("after", &day(1), "x"));
    assert_eq!(notes.push("owner", &lines).await, 2);
    assert_eq!(notes.pull("owner", None).await.outline(), ["put before", "put after"]);
    assert_eq!(notes.get("shared", "k").await, Value::Null);
}

#[tokio::test]
async fn cursors_that_are_none_begin_at_the_start() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    notes.push("owner", &[put_line("a", &day(1), "x"), put_line("b", &day(1), "x")]).await;
    let whole = notes.pull("owner", None).await;
    for since in [
        "garbage",
        "9007199254740991",
        "2026-13-45T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2999-01-01T00:00:00Z",
        "2026-01-01 00:00:00Z",
        "",
    ] {
        assert_eq!(notes.pull("owner", Some(since)).await, whole, "{since}");
    }
    assert_eq!(notes.pull("shared", Some("garbage")).await.cursor, None);
    let between = notes.pull("owner", Some("2026-03-01T00:00:00.000000Z")).await;
    assert_eq!(between.outline(), ["put b"], "a cursor is behind its row");
    assert_eq!(notes.pull("owner", Some("2026-02-28T00:00:00.5Z")).await, whole);
}

#[tokio::test]
async fn pages_of_500() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let lines: Vec<Value> =
        (0..1100).map(|n| put_line(&format!("n{n:04}"), &day(1 + n % 9), "x")).collect();
    assert_eq!(notes.push("owner", &lines).await, 1100);
    notes.put("shared", "other", "x", json!({})).await;
    let (mut keys, mut since, mut sizes) = (Vec::new(), None::<String>, Vec::new());
    loop {
        let page = notes.pull("owner", since.as_deref()).await;
        assert!(since < page.cursor);
        sizes.push(page.lines.len());
        keys.extend(page.outline());
        since = page.cursor;
        if !page.more {
            break;
        }
        assert!(sizes.len() < 5);
    }
    assert_eq!(sizes, [500, 500, 100]);
    let expected: Vec<String> = (0..1100).map(|n| format!("put n{n:04}")).collect();
    assert_eq!(keys, expected);
    assert_eq!(notes.names(&[("action", "list"), ("limit", "100000")]).await.len(), 1101);
}

/// A device whose clock is ahead dates its notes in our future. What happens here afterwards is
/// later all the same, and not undone when the device pushes again.
#[tokio::test]
async fn a_clock_that_is_ahead_undoes_nothing() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let ahead = "2026-03-01T01:00:00.000Z";
    assert_eq!(notes.push("owner", &[put_line("k", ahead, "theirs")]).await, 1);
    assert_eq!(notes.forget("owner", "k").await, 1);
    assert_eq!(notes.push("owner", &[put_line("k", ahead, "theirs")]).await, 0);
    assert!(notes.get("owner", "k").await.is_null());
    let lines = notes.pull("owner", None).await.lines;
    assert_eq!(lines.last().unwrap()["at"], "2026-03-01T01:00:00.001Z");
    let put = notes.put("owner", "k", "ours", json!({})).await;
    assert_eq!(put["updated_at"], "2026-03-01T01:00:00.002Z", "later than what was forgotten");
    assert_eq!(notes.push("owner", &[put_line("k", ahead, "theirs")]).await, 0);
    assert_eq!(notes.push("owner", &[delete_line("k", ahead)]).await, 0);
    assert_eq!(notes.get("owner", "k").await["content"], "ours");
    world.pass_secs(7200);
    let put = notes.put("owner", "k", "later", json!({})).await;
    assert_eq!(put["updated_at"], "2026-03-01T02:00:00.000Z", "and then the clock counts again");
}

#[tokio::test]
async fn the_last_moment_comes_back_as_it_was() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let last = "9999-12-31T23:59:59.999Z";
    let put = notes.put("owner", "k", "x", json!({ "at": last })).await;
    assert_eq!((&put["updated_at"], &put["created_at"]), (&json!(last), &json!(last)));
    assert_eq!(notes.get("owner", "k").await["updated_at"], last);
    assert_eq!(notes.forget("owner", "k").await, 1);
    assert_eq!(notes.push("owner", &[put_line("k", last, "theirs")]).await, 0);
}
