//! Notes: put, get, list, search and forget.

use crate::scoped::world::{ADA, World};
use serde_json::{Value, json};

#[tokio::test]
async fn a_note_is_shown_with_all_its_fields() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    assert_eq!(notes.get("owner", "preferences").await, Value::Null, "missing is 200 null");
    let made =
        notes.put("owner", "preferences", "likes blue", json!({"description": "colours"})).await;
    let expected = json!({
        "id": "e109e6ea-d0df-5a6c-b659-4f81dba13d4f", "namespace": "owner", "key": "preferences",
        "content": "likes blue", "description": "colours", "source": "tool",
        "created_at": "2026-03-01T00:00:00.000Z", "updated_at": "2026-03-01T00:00:00.000Z",
    });
    assert_eq!(made, expected);
    assert_eq!(notes.get("owner", "preferences").await, expected);
    let plain = notes.put("shared", "preferences", "", json!({})).await;
    assert_eq!(plain.get("description"), None);
    assert_eq!(plain["content"], "");
}

#[tokio::test]
async fn overwriting_keeps_when_a_note_began_and_forgetting_does_not() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let times = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        (text("created_at"), text("updated_at"))
    };
    let first = notes.put("owner", "k", "one", json!({"description": "d"})).await;
    world.pass_secs(10);
    let second = notes.put("owner", "k", "two", json!({})).await;
    assert_eq!(second.get("description"), None, "what is not given is none");
    let (began, later) =
        ("2026-03-01T00:00:00.000Z".to_owned(), "2026-03-01T00:00:10.000Z".to_owned());
    assert_eq!(times(&first), (began.clone(), began.clone()));
    assert_eq!(times(&second), (began.clone(), later));
    world.pass_secs(10);
    // The same again is a write too.
    let third = notes.put("owner", "k", "two", json!({})).await;
    assert_eq!(times(&third), (began, "2026-03-01T00:00:20.000Z".into()));
    assert_eq!(notes.forget("owner", "k").await, 1);
    world.pass_secs(10);
    let anew = notes.put("owner", "k", "three", json!({})).await;
    let now = "2026-03-01T00:00:30.000Z".to_owned();
    assert_eq!(times(&anew), (now.clone(), now));
    assert_eq!(anew["id"], first["id"]);
}

#[tokio::test]
async fn a_moment_that_is_given_is_kept() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let first = "2026-01-02T03:04:05.678Z";
    let made = notes.put("owner", "k", "one", json!({"at": first})).await;
    assert_eq!((&made["created_at"], &made["updated_at"]), (&json!(first), &json!(first)));
    let second = "2026-01-03T00:00:00.000Z";
    let made = notes.put("owner", "k", "two", json!({"at": second})).await;
    assert_eq!((&made["created_at"], &made["updated_at"]), (&json!(first), &json!(second)));
    // A put is no push: an earlier moment does not lose.
    let made = notes.put("owner", "k", "three", json!({"at": first})).await;
    assert_eq!((&made["content"], &made["updated_at"]), (&json!("three"), &json!(first)));
    let made = notes.put("owner", "k", "four", json!({})).await;
    let now = json!("2026-03-01T00:00:00.000Z");
    assert_eq!((&made["created_at"], &made["updated_at"]), (&json!(first), &now));
    assert_eq!(notes.get("owner", "k").await, made);
}

#[tokio::test]
async fn sources() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    for (given, kept) in
        [("tool", "tool"), ("compaction", "compaction"), ("owner", "owner"), ("sync", "tool")]
    {
        assert_eq!(notes.put("owner", "k", "text", json!({"source": given})).await["source"], kept);
        assert_eq!(notes.get("owner", "k").await["source"], kept);
    }
    assert_eq!(notes.put("owner", "k", "text", json!({"source": null})).await["source"], "tool");
}

#[tokio::test]
async fn forgetting_counts_what_was_there() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    assert_eq!(notes.forget("owner", "k").await, 0, "nothing was ever written");
    notes.put("owner", "k", "one", json!({})).await;
    notes.put("shared", "k", "two", json!({})).await;
    assert_eq!(notes.forget("owner", "other").await, 0);
    assert_eq!(notes.forget("owner", "k").await, 1);
    assert_eq!(notes.forget("owner", "k").await, 0);
    assert_eq!(notes.get("owner", "k").await, Value::Null);
    assert_eq!(notes.names(&[("action", "list")]).await, ["shared/k"], "no tombstones");
}

#[tokio::test]
async fn lists_are_newest_first_by_what_clients_say() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    for (key, day) in [("b", 2), ("c", 3), ("a", 1)] {
        notes
            .put("owner", key, key, json!({"at": format!("2026-01-{day:02}T00:00:00.000Z")}))
            .await;
    }
    assert_eq!(notes.names(&[("action", "list")]).await, ["owner/c", "owner/b", "owner/a"]);
    notes.put("owner", "a", "again", json!({})).await;
    let two = notes.names(&[("action", "list"), ("limit", "2")]).await;
    assert_eq!(two, ["owner/a", "owner/c"]);
}

#[tokio::test]
async fn lists_narrow() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    assert!(notes.names(&[("action", "list")]).await.is_empty());
    for (namespace, key, source) in [
        ("owner", "plan.one", "tool"),
        ("owner", "plan_two", "compaction"),
        ("shared", "plan.three", "owner"),
        ("caller:user:7", "other", "tool"),
        ("caller:user:77", "other", "tool"),
    ] {
        notes.put(namespace, key, "x", json!({"source": source})).await;
    }
    let listed = async |query: &[(&str, &str)]| {
        let mut names = notes.names(&[&[("action", "list")], query].concat()).await;
        names.sort();
        names
    };
    assert_eq!(listed(&[]).await.len(), 5);
    assert_eq!(listed(&[("limit", "100000")]).await.len(), 5);
    assert_eq!(listed(&[("namespace", "owner")]).await, ["owner/plan.one", "owner/plan_two"]);
    let two = [("namespace", "shared"), ("namespace", "caller:user:7"), ("namespace", "shared")];
    assert_eq!(listed(&two).await, ["caller:user:7/other", "shared/plan.three"]);
    assert_eq!(listed(&[("prefix", "plan.")]).await, ["owner/plan.one", "shared/plan.three"]);
    assert_eq!(listed(&[("prefix", "plan_")]).await, ["owner/plan_two"], "no wildcards");
    assert_eq!(listed(&[("prefix", "%")]).await.len(), 0);
    let most =
        [("excludeSource", "compaction"), ("excludeSource", "owner"), ("namespace", "owner")];
    assert_eq!(listed(&most).await, ["owner/plan.one"]);
    assert_eq!(listed(&[("namespace", "caller:user:8")]).await.len(), 0);
    // A prefix is looked for before the page is cut.
    for number in 0..60 {
        notes.put("owner", &format!("n{number}"), "x", json!({})).await;
    }
    assert_eq!(listed(&[("prefix", "plan_"), ("limit", "1")]).await, ["owner/plan_two"]);
    assert_eq!(listed(&[]).await.len(), 50, "when nothing is said");
    let whole = listed(&[("limit", "10000")]).await;
    assert_eq!(whole.len(), 65);
}

#[tokio::test]
async fn searches_stay_in_their_namespaces() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let search = async |query: &[(&str, &str)]| {
        let mut names =
            notes.names(&[&[("action", "search"), ("q", "boats")], query].concat()).await;
        names.sort();
        names
    };
    assert!(search(&[]).await.is_empty(), "nothing was ever written");
    for (namespace, key, text) in [
        ("owner", "one", "she builds boats"),
        ("owner", "trains", "she likes trains"),
        ("shared", "two", "boats for everybody"),
        ("caller:user:7", "three", "his boats"),
        ("caller:user:77", "four", "their boats"),
    ] {
        notes.put(namespace, key, text, json!({})).await;
    }
    let every = ["caller:user:7/three", "caller:user:77/four", "owner/one", "shared/two"];
    assert_eq!(search(&[]).await, every);
    assert_eq!(search(&[("namespace", "owner")]).await, ["owner/one"]);
    let two = [("namespace", "shared"), ("namespace", "caller:user:7")];
    assert_eq!(search(&two).await, ["caller:user:7/three", "shared/two"]);
    assert!(search(&[("namespace", "caller:user")]).await.is_empty());
    assert_eq!(search(&[("limit", "1")]).await.len(), 1);
    // Access comes before ranking: others' notes take nobody's place.
    for number in 0..120 {
        notes.put("owner", &format!("b{number}"), "boats boats boats", json!({})).await;
    }
    assert_eq!(search(&two).await, ["caller:user:7/three", "shared/two"]);
    assert_eq!(search(&[]).await.len(), 10, "when nothing is said");
    assert_eq!(search(&[("limit", "1000")]).await.len(), 50, "at most");
    notes.forget("shared", "two").await;
    assert_eq!(search(&two).await, ["caller:user:7/three"], "tombstones are not found");
}

#[tokio::test]
async fn descriptions_are_searched_too() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    notes.put("owner", "one", "nothing of it", json!({"description": "about herons"})).await;
    notes.put("owner", "two", "nothing of it either", json!({})).await;
    let search = [("action", "search"), ("q", "herons")];
    assert_eq!(notes.names(&search).await, ["owner/one"]);
    notes.put("owner", "one", "nothing of it", json!({"description": "about owls"})).await;
    assert!(notes.names(&search).await.is_empty());
}

#[tokio::test]
async fn names_of_every_kind() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let long = format!("caller:{}", "長".repeat(300));
    let widest = format!("caller:{}", "🦀".repeat(300));
    let namespaces = [
        "caller:user:7",
        "caller:https://a.example/b?c=d&e",
        "caller:ж☃",
        "caller:..",
        "caller:%2F",
        "caller:/",
        "caller:e\u{301}",
        "caller:\u{1}",
        &long,
        &widest,
    ];
    let key = "x".repeat(128);
    for namespace in namespaces {
        let made = notes.put(namespace, &key, namespace, json!({})).await;
        assert_eq!((&made["namespace"], &made["key"]), (&json!(namespace), &json!(key)));
    }
    for namespace in namespaces {
        assert_eq!(notes.get(namespace, &key).await["content"], namespace);
        let listed = notes.names(&[("action", "list"), ("namespace", namespace)]).await;
        assert_eq!(listed, [format!("{namespace}/{key}")]);
        assert_eq!(notes.forget(namespace, &key).await, 1);
        let pulled = notes.pull(namespace, None).await;
        assert_eq!(pulled.outline(), [format!("delete {key}")]);
        assert_eq!(pulled.lines[0]["namespace"], namespace);
        notes.put(namespace, &key, "again", json!({})).await;
    }
    assert_eq!(notes.names(&[("action", "list")]).await.len(), namespaces.len());
}

#[tokio::test]
async fn contents_come_back_as_they_were() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let long = "word ".repeat(15_000);
    for content in ["", "# Markdown\n\n- ü ☃ 🦀\r\n", "{\"json\": 1}", "\0", &long] {
        notes.put("owner", "k", content, json!({})).await;
        assert_eq!(notes.get("owner", "k").await["content"], content);
    }
}
