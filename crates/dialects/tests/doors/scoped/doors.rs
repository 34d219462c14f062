//! What other doors write into the same store, and what they see of it.

use crate::scoped::world::{ADA, World, day, put_line};
use loci_model::attributes::{AttributesPatch, Patch, Visibility};
use loci_model::{At, Content, Edit, EditOp, Expect, MemoryPath, OnSame, View};
use serde_json::{Value, json};

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

#[tokio::test]
async fn what_others_write_at_the_place_of_a_note_is_one() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let store = world.store_of(notes.caller.clone()).await;
    let context = World::context(notes.caller.clone());
    for text in ["/owner/k", "/caller:user:7/k", "/loose.md", "/owner/deep/k", "/owner/.hidden"] {
        world
            .engine
            .commit_one(&context, store, Edit::put_text(path(text), "boats"), "api")
            .await
            .unwrap();
    }
    let note = notes.get("owner", "k").await;
    assert_eq!(
        (&note["source"], &note["updated_at"]),
        (&json!("tool"), &json!("2026-03-01T00:00:00.000Z"))
    );
    assert_eq!(note["content"], "boats");
    let mut names = notes.names(&[("action", "list")]).await;
    names.sort();
    assert_eq!(names, ["caller:user:7/k", "owner/k"]);
    let found =
        notes.names(&[("action", "search"), ("q", "boats"), ("namespace", "caller:user:7")]).await;
    assert_eq!(found, ["caller:user:7/k"]);
    assert_eq!(notes.pull("owner", None).await.outline(), ["put k"]);
    assert_eq!(notes.forget("owner", "k").await, 1);
    assert_eq!(notes.pull("owner", None).await.outline(), ["delete k"]);
    // What is no note lies on.
    assert!(
        world
            .engine
            .get(&context, store, &At::Path(None, path("/loose.md")), View::Basic)
            .await
            .is_ok()
    );
    // Written again by the other door, it is there; its tombstone goes with the next write here.
    world
        .engine
        .commit_one(&context, store, Edit::put_text(path("/owner/k"), "back"), "api")
        .await
        .unwrap();
    assert_eq!(notes.get("owner", "k").await["content"], "back");
    notes.put("owner", "k", "mine", json!({})).await;
    assert_eq!(notes.pull("owner", None).await.outline(), ["put k"]);
}

#[tokio::test]
async fn a_change_by_another_door_is_as_late_as_it_is() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    notes.push("owner", &[put_line("k", &day(5), "device")]).await;
    let store = world.store_of(notes.caller.clone()).await;
    let context = World::context(notes.caller.clone());
    world
        .engine
        .commit_one(&context, store, Edit::put_text(path("/owner/k"), "edited"), "api")
        .await
        .unwrap();
    let note = notes.get("owner", "k").await;
    assert_eq!(note["content"], "edited");
    assert_eq!(note["updated_at"], "2026-03-01T00:00:00.000Z", "or devices would not take it");
    assert_eq!(note["created_at"], day(5));
    assert_eq!(notes.push("owner", &[put_line("k", &day(6), "older")]).await, 0);
}

#[tokio::test]
async fn what_is_not_for_models_is_not_shown_and_can_be_replaced() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let store = world.store_of(notes.caller.clone()).await;
    let host = World::context(world.agent_host(ADA).await);
    let attributes = AttributesPatch {
        visibility: Patch::Set(Visibility::Internal),
        ..AttributesPatch::default()
    };
    let hidden = |key: &str, content: Content, attributes: AttributesPatch| Edit {
        at: At::Path(None, path(&format!("/owner/{key}"))),
        expect: Expect::Absent,
        on_same: OnSame::Skip,
        op: EditOp::Put { content: Some(content), to: None, attributes },
    };
    let edits = vec![
        hidden("internal", Content::Text("for hosts".into()), attributes),
        hidden("sealed", Content::Sealed(vec![1, 2, 3]), AttributesPatch::default()),
    ];
    world.engine.commit(&host, store, edits, "api").await.unwrap();
    assert!(notes.names(&[("action", "list")]).await.is_empty());
    assert!(notes.pull("owner", None).await.lines.is_empty());
    for key in ["internal", "sealed"] {
        assert_eq!(notes.get("owner", key).await, Value::Null);
        assert_eq!(notes.forget("owner", key).await, 0);
        notes.put("owner", key, "mine", json!({})).await;
        assert_eq!(notes.get("owner", key).await["content"], "mine");
    }
}

#[tokio::test]
async fn what_lies_in_the_way_is_said_and_not_waited_for() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let store = world.store_of(notes.caller.clone()).await;
    let context = World::context(notes.caller.clone());
    for text in ["/owner/k/below", "/shared"] {
        world
            .engine
            .commit_one(&context, store, Edit::put_text(path(text), "x"), "api")
            .await
            .unwrap();
    }
    for namespace in ["owner", "shared"] {
        let body = json!({"namespace": namespace, "key": "k", "content": "x"});
        let (status, answer) = notes.try_ask("PUT", &[], Some(body)).await;
        assert_eq!(status, 409, "{answer}");
    }
}

#[tokio::test]
async fn a_forgotten_note_is_gone_for_other_doors() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    notes.put("owner", "k", "text", json!({})).await;
    notes.forget("owner", "k").await;
    let store = world.store_of(notes.caller.clone()).await;
    let model = World::context(notes.caller.clone());
    let seen = world.engine.get(&model, store, &At::Path(None, path("/owner/k")), View::Full).await;
    assert!(seen.is_err());
    let query = loci_model::query::ListQuery::everything(View::Full, 10);
    assert!(world.engine.list(&model, store, &query).await.unwrap().items.is_empty());
    let host = World::context(world.agent_host(ADA).await);
    let grave = At::Path(None, path("/owner/:forgotten/k"));
    let grave = world.engine.get(&host, store, &grave, View::Full).await.unwrap();
    assert_eq!(grave.content.unwrap().text(), Some(""), "nothing of its text is left there");
}

/// Other doors delete without a tombstone; devices hear of it all the same.
#[tokio::test]
async fn a_note_that_another_door_deleted_is_told() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    for key in ["a", "b", "c", "d"] {
        notes.put("owner", key, "x", json!({})).await;
    }
    notes.put("owner", "ahead", "x", json!({ "at": "2030-01-01T00:00:00.000Z" })).await;
    notes.put("shared", "a", "x", json!({})).await;
    let before = notes.pull("owner", None).await.cursor;
    let store = world.store_of(notes.caller.clone()).await;
    let context = World::context(notes.caller.clone());
    world.pass_secs(10);
    for text in ["/owner/a", "/owner/b", "/shared/a", "/owner/ahead"] {
        let remove = Edit::remove(At::Path(None, path(text)), Expect::Present);
        world.engine.commit_one(&context, store, remove, "api").await.unwrap();
    }
    notes.put("owner", "b", "again", json!({})).await;
    notes.forget("owner", "c").await;
    let pulled = notes.pull("owner", before.as_deref()).await;
    assert_eq!(pulled.outline(), ["delete a", "delete ahead", "put b", "delete c"]);
    assert_eq!(pulled.lines[0]["at"], "2026-03-01T00:00:10.000Z");
    assert_eq!(pulled.lines[1]["at"], "2030-01-01T00:00:00.001Z", "later than it was written");
    assert!(notes.pull("owner", pulled.cursor.as_deref()).await.lines.is_empty());
    let all = notes.pull("owner", None).await;
    assert_eq!(all.outline(), ["put d", "delete a", "delete ahead", "put b", "delete c"]);
    assert_eq!(notes.pull("shared", None).await.outline(), ["delete a"]);
    world.pass_secs(91 * 24 * 3600);
    assert_eq!(notes.pull("owner", None).await.outline(), ["put d", "put b"]);
}

#[tokio::test]
async fn many_deletions_are_told_page_by_page() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let lines: Vec<_> = (0..700).map(|n| put_line(&format!("k{n:03}"), &day(1), "x")).collect();
    assert_eq!(notes.push("owner", &lines).await, 700);
    let store = world.store_of(notes.caller.clone()).await;
    let context = World::context(notes.caller.clone());
    let remove = |n: usize| {
        let at = At::Path(None, path(&format!("/owner/k{n:03}")));
        Edit::remove(at, Expect::Present)
    };
    let edits = (0..650).map(remove).collect();
    world.engine.commit_tree(&context, store, edits, "api").await.unwrap();
    let (mut since, mut outline) = (None, Vec::new());
    for _ in 0..3 {
        let page = notes.pull("owner", since.as_deref()).await;
        assert!(page.lines.len() <= 500);
        outline.extend(page.outline());
        since = page.cursor;
        if !page.more {
            break;
        }
    }
    let puts = (650..700).map(|n| format!("put k{n:03}"));
    let deletes = (0..650).map(|n| format!("delete k{n:03}"));
    assert_eq!(outline, puts.chain(deletes).collect::<Vec<_>>());
}
