//! What other doors write into the same store, and what they see of it.

use crate::world::{ADA, World, day, put_line};
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
