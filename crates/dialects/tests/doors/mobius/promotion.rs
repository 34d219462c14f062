//! From one user's entries to everybody's, and back.

use crate::mobius::world::{A, B, World};
use serde_json::{Value, json};

async fn promote(world: &World, key: &str, body: Value) -> crate::mobius::world::Reply {
    world.ask("POST", &format!("{B}/ada/memory/entries/{key}/promotion"), Some(body)).await
}

#[tokio::test]
async fn an_entry_is_copied_and_the_copy_taken_away() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    let body = json!({
        "content": "x", "summary": "line", "kind": "preference", "importance": 80, "pinned": true,
        "metadata": {"a": 1}, "user_id": "u1",
    });
    let private = world.put(&agent, "k", body.clone()).await.ok();
    let shared = promote(&world, "k", json!({"user_id": "u1"})).await;
    assert_eq!(shared.status, 200);
    for name in ["content", "summary", "kind", "importance", "pinned", "metadata"] {
        assert_eq!(shared.body[name], body[name], "{name}");
    }
    assert_eq!((&shared.body["user_id"], &shared.body["version"]), (&json!(""), &json!(1)));
    promote(&world, "k", json!({"user_id": "u1"})).await.refused(409, "conflict");
    promote(&world, "k", json!({"user_id": "u1", "replace": false})).await.refused(409, "conflict");
    let again = promote(&world, "k", json!({"user_id": "u1", "replace": true})).await.ok();
    assert_eq!((&again["version"], &again["entry_id"]), (&json!(2), &shared.body["entry_id"]));
    for _ in 0..2 {
        let url = format!("{agent}/memory/entries/k/promotion");
        assert_eq!(world.ask("DELETE", &url, None).await.status, 204);
    }
    let left = world.get(&format!("{agent}/memory/entries")).await;
    assert_eq!(left["items"], json!([private]));
    assert_eq!(
        world.feed(&agent).await,
        [
            "created k 1 api",
            "created k 1 promoted",
            "updated k 2 promoted",
            "deleted k 3 promotion_reverted"
        ]
    );
    let shown = world.feed(&format!("{A}/ada")).await;
    assert_eq!(shown, ["created k 1 api", "updated k 2 api", "deleted k 3 api"]);
}

#[tokio::test]
async fn what_is_not_there_cannot_be_promoted() {
    let world = World::new().await;
    promote(&world, "k", json!({"user_id": "u1"})).await.refused(404, "not_found");
    world.save(&format!("{B}/ada"), "k", "x").await;
    promote(&world, "k", json!({"user_id": "u1"})).await.refused(404, "not_found");
    for bad in [
        json!({}),
        json!({"user_id": ""}),
        json!({"user_id": 5}),
        json!({"user_id": "u", "replace": 1}),
        json!({"user_id": "u", "more": 1}),
    ] {
        promote(&world, "k", bad).await.refused(400, "bad_request");
    }
    let url = format!("{A}/ada/memory/entries/k/promotion");
    let router = world.ask("POST", &url, Some(json!({"user_id": "u1"})));
    assert_eq!(router.await.status, 404, "only without projects");
}
