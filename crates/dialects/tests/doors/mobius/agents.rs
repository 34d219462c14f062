//! Agents as records: made, adopted, listed, changed.

use crate::mobius::world::{A, B, World, fields};
use serde_json::{Value, json};

const IN_A: [&str; 6] = ["created_at", "id", "name", "principal_id", "status", "updated_at"];
const IN_B: [&str; 10] = [
    "created_at",
    "id",
    "memory_enabled",
    "name",
    "owner",
    "posture",
    "principal_id",
    "status",
    "updated_at",
    "visibility",
];

#[tokio::test]
async fn an_agent_is_made_once() {
    let world = World::new().await;
    for (base, expected) in [(A, &IN_A[..]), (B, &IN_B[..])] {
        let name = format!("agent of {}", base.len());
        let made = world
            .ask("POST", base, Some(json!({"name": name, "model": "any", "tags": {"a": "b"}})))
            .await;
        assert_eq!(made.status, 201, "{:?}", made.body);
        assert_eq!(fields(&made.body), expected);
        assert_eq!((&made.body["name"], &made.body["status"]), (&json!(name), &json!("active")));
        let id = made.body["id"].as_str().unwrap();
        assert!(id.starts_with("agent_"));
        world.ask("POST", base, Some(json!({"name": name}))).await.refused(409, "already_exists");
        // By its id or its name it is the same.
        world.save(&format!("{base}/{id}"), "k", "x").await;
        let escaped = name.replace(' ', "%20");
        let summary = world.get(&format!("{base}/{escaped}/memory")).await;
        assert_eq!((&summary["agent_id"], &summary["entry_count"]), (&json!(id), &json!(1)));
        assert_eq!(world.get(&format!("{base}/{escaped}")).await["id"], id);
    }
    world.ask("GET", &format!("{B}/nobody"), None).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_reference_is_adopted_or_refused() {
    let world = World::new().await;
    let make = |name: &str, reference: &str, if_exists: &str| json!({"name": name, "external_ref": reference, "if_exists": if_exists});
    let first = world.ask("POST", B, Some(make("ada", "r1", "adopt"))).await;
    assert_eq!((first.status, &first.body["external_ref"]), (201, &json!("r1")));
    let again = world.ask("POST", B, Some(make("ada", "r1", "adopt"))).await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    world
        .ask("POST", B, Some(make("bob", "r1", "adopt")))
        .await
        .refused(409, "external_identity_conflict");
    world
        .ask("POST", B, Some(make("ada", "r2", "adopt")))
        .await
        .refused(409, "external_identity_conflict");
    world.ask("POST", B, Some(make("bob", "r1", "error"))).await.refused(409, "already_exists");
    world
        .ask("POST", B, Some(json!({"name": "x", "if_exists": "adopt"})))
        .await
        .refused(400, "bad_request");
    // Projects have references of their own.
    let elsewhere = "/v1/projects/team/agents";
    assert_eq!(world.ask("POST", elsewhere, Some(make("ada", "r1", "error"))).await.status, 201);
    let id = first.body["id"].as_str().unwrap();
    let url = format!("{B}/{id}");
    let same = world.ask("PATCH", &url, Some(json!({"external_ref": "r1", "name": "ada"}))).await;
    assert_eq!(same.status, 200);
    world
        .ask("PATCH", &url, Some(json!({"external_ref": "r2"})))
        .await
        .refused(409, "external_identity_conflict");
    world.save(&format!("{B}/bob"), "k", "x").await;
    world
        .ask("PATCH", &format!("{B}/bob"), Some(json!({"external_ref": "r1"})))
        .await
        .refused(409, "already_exists");
    let set =
        world.ask("PATCH", &format!("{B}/bob"), Some(json!({"external_ref": "r2"}))).await.ok();
    assert_eq!(set["external_ref"], "r2");
}

#[tokio::test]
async fn lists_have_pages_where_the_revision_has_them() {
    let world = World::new().await;
    for number in 0..5 {
        world.save(&format!("{B}/agent-{number}"), "k", "x").await;
    }
    world.save("/v1/projects/team/agents/inside", "k", "x").await;
    let names = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    let all: Vec<String> = (0..5).map(|number| format!("agent-{number}")).collect();
    let page = world.get(A).await;
    assert_eq!((fields(&page), names(&page)), (vec!["items"], all.clone()));
    assert_eq!(names(&world.get("/v1/projects/team/agents").await), ["inside"]);
    assert_eq!(names(&world.get("/v1/projects/none/agents").await), Vec::<String>::new());
    let (mut joined, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = world.get(&format!("{B}?limit=2&cursor={cursor}")).await;
        joined.extend(names(&page));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(joined, all);
    assert_eq!(names(&world.get(&format!("{B}?name=agent-3")).await), ["agent-3"]);
    let id = world.get(&format!("{B}/agent-4")).await["principal_id"].as_str().unwrap().to_owned();
    assert_eq!(
        names(&world.get(&format!("{B}?principal_id={id}&status=active")).await),
        ["agent-4"]
    );
    assert_eq!(names(&world.get(&format!("{B}?status=inactive")).await), Vec::<String>::new());
    for bad in ["limit=0", "cursor=x", "status=gone"] {
        world.ask("GET", &format!("{B}?{bad}"), None).await.refused(400, "bad_request");
    }
}

#[tokio::test]
async fn the_context_is_a_setting_of_the_agent() {
    let world = World::new().await;
    let full = json!({"mode": "full", "max_bytes": 5000});
    let made =
        world.ask("POST", A, Some(json!({"name": "ada", "memory_context": full}))).await.ok();
    assert_eq!(made["memory_context"], full);
    let url = format!("{A}/ada");
    let off = world.ask("PATCH", &url, Some(json!({"memory_context": {"mode": "off"}}))).await.ok();
    assert_eq!(off["memory_context"], json!({"mode": "off"}));
    assert_eq!(world.get(&url).await["memory_context"], json!({"mode": "off"}));
    let cleared = world.ask("PATCH", &url, Some(json!({"memory_context": {}}))).await.ok();
    assert!(cleared.get("memory_context").is_none());
    for bad in [
        json!({"memory_context": {"mode": "all"}}),
        json!({"name": "bob"}),
        json!({"status": "inactive"}),
        json!({"more": 1}),
        json!({"memory_enabled": "no"}),
    ] {
        world.ask("PATCH", &url, Some(bad)).await.refused(400, "bad_request");
    }
}

#[tokio::test]
async fn memory_is_switched_off_by_administrators() {
    let world = World::new().await;
    let url = format!("{B}/ada");
    world.save(&url, "k", "x").await;
    let off = world.ask("PATCH", &url, Some(json!({"memory_enabled": false}))).await.ok();
    assert_eq!(off["memory_enabled"], false);
    // What is there stays visible to whoever administers, and to nobody else.
    assert_eq!(world.keys(&format!("{url}/memory/entries")).await, ["k"]);
    assert_eq!(world.get(&url).await["memory_enabled"], false);
    let list = format!("{url}/memory/entries");
    for caller in [world.agent("ada").await, world.platform().await] {
        let refused = world.ask_as(Some(caller), None, "GET", &list, None).await;
        refused.refused(403, "permission_denied");
    }
    let platform = world.platform().await;
    let shown = world.ask_as(Some(platform.clone()), None, "GET", &url, None).await.ok();
    assert_eq!(shown["memory_enabled"], false);
    let on = Some(json!({"memory_enabled": true}).to_string());
    let refused = world.ask_as(Some(platform), None, "PATCH", &url, on).await;
    refused.refused(403, "permission_denied");
    world.ask("PATCH", &url, Some(json!({"memory_enabled": true}))).await.ok();
    assert_eq!(world.save(&url, "k", "y").await["version"], 2);
    let made = world.ask("POST", B, Some(json!({"name": "mute", "memory_enabled": false}))).await;
    assert_eq!((made.status, &made.body["memory_enabled"]), (201, &json!(false)));
    assert_eq!(world.get(&format!("{B}/mute/memory")).await["entry_count"], 0);
}
