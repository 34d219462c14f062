//! Saving and deleting: what a version is, what stays, what is counted.

use crate::mobius::world::{A, B, World, fields};
use serde_json::{Value, json};

#[tokio::test]
async fn a_new_key_is_201_and_a_known_one_a_new_version() {
    let world = World::new().await;
    for base in [A, B] {
        let agent = format!("{base}/ada");
        let key = if base == A { "user.timezone" } else { "other:KEY_1-x" };
        let first = world.put(&agent, key, json!({"content": "UTC"})).await;
        assert_eq!(first.status, 201);
        assert_eq!(first.headers["content-type"], "application/json");
        let first = first.body;
        assert_eq!(
            (&first["key"], &first["content"], &first["version"]),
            (&json!(key), &json!("UTC"), &json!(1))
        );
        assert_eq!(
            (&first["kind"], &first["importance"], &first["pinned"]),
            (&json!("fact"), &json!(50), &json!(false))
        );
        assert!(first["entry_id"].as_str().unwrap().starts_with("mem_"));
        let second = world.put(&agent, key, json!({"content": "CET"})).await;
        assert_eq!(second.status, 200);
        let second = second.body;
        assert_eq!(second["version"], 2);
        assert_eq!(
            (&second["entry_id"], &second["created_at"]),
            (&first["entry_id"], &first["created_at"])
        );
        assert_ne!(second["updated_at"], first["updated_at"]);
        // The same again is a version all the same.
        assert_eq!(world.save(&agent, key, "CET").await["version"], 3);
    }
}

#[tokio::test]
async fn each_revision_has_exactly_its_fields() {
    let world = World::new().await;
    let whole = json!({
        "content": "x", "summary": "a line", "kind": "preference", "importance": 7, "pinned": true,
        "metadata": {"deep": {"number": 12345678901234567890_u64}, "list": [1.5, null]},
    });
    let common = [
        "content",
        "created_at",
        "entry_id",
        "importance",
        "key",
        "kind",
        "metadata",
        "pinned",
        "summary",
        "updated_at",
    ];
    let in_a = world.put(&format!("{A}/ada"), "k", whole.clone()).await.ok();
    let mut expected = common.to_vec();
    expected.push("version");
    assert_eq!(fields(&in_a), expected);
    let in_b = world.put(&format!("{B}/ada"), "k", whole.clone()).await.ok();
    expected.insert(expected.len() - 1, "user_id");
    assert_eq!(fields(&in_b), expected);
    assert_eq!(in_b["user_id"], "");
    for name in ["content", "summary", "kind", "importance", "pinned", "metadata"] {
        assert_eq!((&in_a[name], &in_b[name]), (&whole[name], &whole[name]), "{name}");
    }
    let bare = world.put(&format!("{A}/ada"), "bare", json!({"content": "x"})).await.ok();
    assert!(bare.get("summary").is_none() && bare.get("metadata").is_none(), "{bare}");
}

#[tokio::test]
async fn what_is_not_said_stays_but_for_a_stale_summary() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    let first = json!({
        "content": "x", "summary": "about x", "kind": "episode", "importance": 90, "pinned": true,
        "metadata": {"a": 1}, "user_id": "",
    });
    world.put(&agent, "k", first.clone()).await.ok();
    let same = world.save(&agent, "k", "x").await;
    for name in ["summary", "kind", "importance", "pinned", "metadata"] {
        assert_eq!(same[name], first[name], "{name}");
    }
    let other = world.put(&agent, "k", json!({"content": "y", "pinned": false})).await.ok();
    assert!(other.get("summary").is_none(), "{other}");
    assert_eq!(
        (&other["kind"], &other["importance"], &other["pinned"]),
        (&json!("episode"), &json!(90), &json!(false))
    );
    let given = json!({"content": "z", "summary": "about z", "kind": "fact"});
    let given = world.put(&agent, "k", given).await.ok();
    assert_eq!((&given["summary"], &given["kind"]), (&json!("about z"), &json!("fact")));
    let cleared = world.put(&agent, "k", json!({"content": "z", "summary": ""})).await.ok();
    assert!(cleared.get("summary").is_none());
    let null = world.put(&agent, "k", json!({"content": "z", "kind": null})).await.ok();
    assert_eq!(null["kind"], "fact");
}

#[tokio::test]
async fn deleting_is_idempotent_and_a_key_begins_anew() {
    let world = World::new().await;
    let agent = format!("{A}/ada");
    let gone = world.delete(&agent, "k").await;
    assert_eq!((gone.status, gone.body), (204, Value::Null), "of an agent nobody heard of");
    let first = world.save(&agent, "k", "x").await;
    for _ in 0..2 {
        assert_eq!(world.delete(&agent, "k").await.status, 204);
    }
    assert_eq!(world.get(&format!("{agent}/memory")).await["entry_count"], 0);
    let again = world.put(&agent, "k", json!({"content": "x"})).await;
    assert_eq!((again.status, &again.body["version"]), (201, &json!(1)));
    assert_ne!(again.body["entry_id"], first["entry_id"]);
    assert_eq!(world.feed(&agent).await, ["created k 1 api", "deleted k 2 api", "created k 1 api"]);
}

#[tokio::test]
async fn a_summary_counts_by_kind() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    let nothing = world.get(&format!("{agent}/memory")).await;
    let id = nothing["agent_id"].clone();
    assert!(id.as_str().unwrap().starts_with("agent_"), "{id}");
    assert_eq!(nothing, json!({"agent_id": id, "entry_count": 0, "counts_by_kind": {}}));
    world.save(&agent, "a", "x").await;
    world.put(&agent, "b", json!({"content": "x", "kind": "episode"})).await.ok();
    let last = world.put(&agent, "c", json!({"content": "x", "user_id": "u1"})).await.ok();
    let all = world.get(&format!("{agent}/memory")).await;
    assert_eq!(fields(&all), ["agent_id", "counts_by_kind", "entry_count", "updated_at"]);
    assert_eq!(all["agent_id"], id, "as before the first write");
    assert_eq!(
        (&all["entry_count"], &all["counts_by_kind"]),
        (&json!(3), &json!({"fact": 2, "episode": 1}))
    );
    assert_eq!(all["updated_at"], last["updated_at"]);
    // The revision with projects knows no users.
    let shared = world.get(&format!("{A}/ada/memory")).await;
    assert_eq!(
        (&shared["entry_count"], &shared["counts_by_kind"]),
        (&json!(2), &json!({"fact": 1, "episode": 1}))
    );
    assert_ne!(shared["updated_at"], last["updated_at"]);
}

#[tokio::test]
async fn agents_projects_and_users_do_not_meet() {
    let world = World::new().await;
    let places =
        [format!("{A}/ada"), format!("{A}/bob"), "/v1/projects/team-2/agents/ada".to_owned()];
    for place in &places {
        assert_eq!(world.put(place, "k", json!({"content": place})).await.status, 201);
    }
    for user in ["u1", "u2", "u/3 ü", ""] {
        let body = json!({"content": user.to_owned() + "!", "user_id": user});
        let status = if user.is_empty() { 200 } else { 201 };
        let saved = world.put(&format!("{B}/ada"), "k", body).await;
        assert_eq!((saved.status, &saved.body["user_id"]), (status, &json!(user)));
    }
    assert_eq!(world.get(&format!("{}/memory", places[1])).await["entry_count"], 1);
    assert_eq!(world.get(&format!("{}/memory", places[2])).await["entry_count"], 1);
    let list = world.get(&format!("{B}/ada/memory/entries")).await;
    assert_eq!(list["items"].as_array().unwrap().len(), 4);
    let gone = world.delete(&format!("{B}/ada"), "k?user_id=u%2F3%20%C3%BC").await;
    assert_eq!(gone.status, 204);
    let list = world.get(&format!("{B}/ada/memory/entries")).await;
    let users: Vec<&Value> =
        list["items"].as_array().unwrap().iter().map(|item| &item["user_id"]).collect();
    assert_eq!(users, ["", "u2", "u1"]);
}

#[tokio::test]
async fn limits_are_of_characters() {
    let world = World::new().await;
    let agent = format!("{A}/ada");
    let longest = "ü".repeat(16_384);
    assert_eq!(world.save(&agent, "k", &longest).await["content"], longest.as_str());
    let whole = json!({"content": "x", "summary": "ü".repeat(140), "importance": 100});
    assert_eq!(world.put(&agent, &"k".repeat(256), whole).await.status, 201);
    let members: serde_json::Map<String, Value> =
        (0..32).map(|n| (n.to_string(), json!(n))).collect();
    assert_eq!(
        world.put(&agent, "m", json!({"content": "x", "metadata": members})).await.status,
        201
    );
}
