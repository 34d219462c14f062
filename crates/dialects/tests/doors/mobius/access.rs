//! Who is let in, and what others are told.

use crate::mobius::world::{A, B, World, context};
use loci_engine::NewGrant;
use loci_model::{Grantee, Level, PrincipalKind};
use serde_json::json;

const TEXT: &str = "{\"content\":\"x\"}";

#[tokio::test]
async fn without_a_credential_nothing_is_said() {
    let world = World::new().await;
    for url in [format!("{A}/ada/memory"), format!("{B}/ada/memory/entries"), B.to_owned()] {
        world.ask_as(None, None, "GET", &url, None).await.refused(401, "unauthorized");
    }
}

#[tokio::test]
async fn an_agent_has_its_own_and_others_are_not_there() {
    let world = World::new().await;
    let ada = world.agent("ada").await;
    let url = |name: &str| format!("{B}/{name}/memory/entries/k");
    let ask = async |name: &str, method: &str| {
        let body = (method == "PUT").then(|| TEXT.to_owned());
        world.ask_as(Some(ada.clone()), None, method, &url(name), body).await
    };
    assert_eq!(ask("ada", "PUT").await.status, 201);
    assert_eq!(ask("ada", "DELETE").await.status, 204);
    world.save(&format!("{B}/bob"), "k", "x").await;
    for name in ["bob", "nobody"] {
        for method in ["PUT", "DELETE"] {
            ask(name, method).await.refused(404, "not_found");
        }
        for rest in ["", "/memory", "/memory/entries", "/memory/changes", "/tools"] {
            let url = format!("{B}/{name}{rest}");
            let reply = world.ask_as(Some(ada.clone()), None, "GET", &url, None).await;
            assert_eq!(reply.body["error"]["message"], "agent not found");
            reply.refused(404, "not_found");
        }
    }
    let own = world.ask_as(Some(ada.clone()), None, "GET", B, None).await.ok();
    assert_eq!(own["items"].as_array().unwrap().len(), 1, "itself");
    let made = world.ask_as(Some(ada), None, "POST", B, Some("{\"name\":\"new\"}".into())).await;
    made.refused(403, "permission_denied");
}

#[tokio::test]
async fn a_grant_opens_an_agents_memory() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    let entry = world.save(&agent, "k", "x").await;
    let store = world.home("ada").await;
    let guest = world.agent("guest").await;
    let give = async |level| {
        let new =
            NewGrant { grantee: Grantee::Principal(guest.principal), level, expires_at: None };
        world.engine.share(&context(world.admin()), store, new).await.unwrap();
    };
    let ask = async |method: &str, url: String, body: Option<String>| {
        world.ask_as(Some(guest.clone()), None, method, &url, body).await
    };
    give(Level::Read).await;
    assert_eq!(ask("GET", format!("{agent}/memory"), None).await.ok()["entry_count"], 1);
    let key = format!("{agent}/memory/entries/k");
    ask("PUT", key.clone(), Some(TEXT.into())).await.refused(403, "permission_denied");
    ask("DELETE", format!("{agent}/memory/entries/none"), None)
        .await
        .refused(403, "permission_denied");
    give(Level::ReadWrite).await;
    // The entry that is there is edited, whoever wrote it.
    let edited = ask("PUT", key.clone(), Some("{\"content\":\"y\"}".into())).await.ok();
    assert_eq!((&edited["entry_id"], &edited["version"]), (&entry["entry_id"], &json!(2)));
    let own = ask("PUT", format!("{agent}/memory/entries/own"), Some(TEXT.into())).await;
    assert_eq!(own.status, 201);
    ask("DELETE", key, None).await.refused(403, "permission_denied");
    assert_eq!(ask("DELETE", format!("{agent}/memory/entries/own"), None).await.status, 204);
    // The agent sees and may take away what a guest wrote.
    ask("PUT", format!("{agent}/memory/entries/gift"), Some(TEXT.into())).await.ok();
    assert_eq!(world.save(&agent, "gift", "y").await["version"], 2);
    assert_eq!(world.delete(&agent, "gift").await.status, 204);
    assert_eq!(world.keys(&format!("{agent}/memory/entries")).await, ["k"]);
}

#[tokio::test]
async fn others_than_agents_have_no_agents_memory() {
    let world = World::new().await;
    world.principal(PrincipalKind::Group, "chat").await;
    world.principal(PrincipalKind::User, "user").await;
    for name in ["chat", "user", "admin"] {
        for (method, rest) in [("GET", "/memory"), ("PUT", "/memory/entries/k"), ("GET", "")] {
            let body = (method == "PUT").then(|| json!({"content": "x"}));
            let reply = world.ask(method, &format!("{B}/{name}{rest}"), body).await;
            reply.refused(404, "not_found");
        }
    }
}

#[tokio::test]
async fn a_key_for_a_project_is_for_no_other() {
    let world = World::new().await;
    let ask = async |appended: &str, url: &str| {
        world.ask_as(Some(world.admin()), Some(appended), "GET", url, None).await
    };
    assert_eq!(ask("default", &format!("{A}/ada/memory")).await.status, 200);
    let other = ask("team", &format!("{A}/ada/memory")).await;
    other.refused(403, "permission_denied");
    // Without projects in the path the key says which.
    let put = format!("{B}/ada/memory/entries/k");
    let made =
        world.ask_as(Some(world.admin()), Some("team"), "PUT", &put, Some(TEXT.into())).await;
    assert_eq!(made.status, 201);
    let inside = world.get("/v1/projects/team/agents/ada/memory").await;
    assert_eq!(inside["entry_count"], 1);
    assert_eq!(world.get(&format!("{A}/ada/memory")).await["entry_count"], 0);
    // An agent of another project is not there, by its id either.
    let id = inside["agent_id"].as_str().unwrap();
    world.ask("GET", &format!("{A}/{id}/memory"), None).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_platform_acts_for_agents_and_makes_them() {
    let world = World::new().await;
    let platform = world.platform().await;
    let ask = async |method: &str, url: &str, body: Option<&str>| {
        world.ask_as(Some(platform.clone()), None, method, url, body.map(str::to_owned)).await
    };
    let url = format!("{A}/new/memory/entries/k");
    assert_eq!(ask("PUT", &url, Some(TEXT)).await.status, 201);
    assert_eq!(
        ask("POST", A, Some("{\"name\":\"made\",\"external_ref\":\"r\"}")).await.status,
        201
    );
    let names = ask("GET", B, None).await.ok();
    let names: Vec<_> = names["items"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert!(names.contains(&&json!("new")) && names.contains(&&json!("made")), "{names:?}");
}
