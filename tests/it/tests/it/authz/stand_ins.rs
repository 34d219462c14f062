//! Promise: who speaks for an agent, by a platform's key or a signed token, has that agent's rights at
//! the doors that know agents, and no others.

use super::world::{Kind, Who, World};
use crate::sharing::NO_MODEL;
use crate::sharing_tokens::{SECRET, claims, hs256};
use loci_it::{Client, Server, Setup};
use serde_json::{Value, json};

/// Agents of every standing, each named like its sort.
const AGENTS: [Who; 8] = [
    Who::Searcher,
    Who::Reader,
    Who::Writer,
    Who::Lapsed,
    Who::Member,
    Who::Companion,
    Who::SwitchedOff,
    Who::Stranger,
];

fn platform(server: &Server) -> Client {
    let mut admin = server.client();
    admin.post("/v1/principals", &json!({"name": "platform", "kind": "service"})).ok();
    let body = json!({"name": "platform", "principal": "platform", "level": "readwrite",
        "acts_for_agents": true});
    let made = admin.post("/v1/api_keys", &body).ok();
    server.client_as(made["secret"].as_str())
}

/// What somebody is told about a store and one entry of it; `agent` is said where it must be.
fn told(client: &mut Client, kind: Kind, agent: Option<&str>) -> Vec<u16> {
    let said = agent.map(|agent| format!("&agentId={agent}")).unwrap_or_default();
    let store = kind.name();
    let mut told = Vec::new();
    for key in ["seed", "seed-Internal"] {
        let url = format!("/api/storage/memory/{key}?store={store}{said}");
        told.push(client.get(&url).status);
        told.push(client.get(&format!("{url}&userId=another-user")).status);
    }
    told.push(client.get(&format!("/api/storage/memory?store={store}{said}")).status);
    let search = format!("/api/storage/memory?action=search&q=tea&store={store}{said}");
    told.push(client.get(&search).status);
    let mut view = json!({"command": "view", "key": "seed", "store": store});
    if let Some(agent) = agent {
        view["agentId"] = json!(agent);
    }
    let viewed = client.post("/v1/tools/memory", &view).ok();
    told.push(u16::from(viewed["is_error"] == Value::Bool(true)));
    let mut body = json!({"store": store, "value": "more"});
    if let Some(agent) = agent {
        body["agentId"] = json!(agent);
    }
    told.push(client.call("PUT", "/api/storage/memory/own", Some(&body)).status);
    told
}

#[test]
fn who_speaks_for_an_agent_has_its_rights() {
    let setup = Setup::new()
        .config(&format!("{NO_MODEL}[jwt]\nsecret_env = 'TOKEN_SECRET'\n"))
        .env("TOKEN_SECRET", SECRET);
    let server = setup.start();
    let world = World::new(&server, &|_| vec!["seed".to_owned(), "seed-Internal".to_owned()]);
    let mut platform = platform(&server);
    for who in AGENTS {
        let name = format!("{who:?}");
        let mut by_token = server.client_as(Some(&hs256(&claims(&name, 600), SECRET)));
        for kind in Kind::ALL {
            let own = told(&mut world.client(who, kind).unwrap(), kind, None);
            assert_eq!(told(&mut platform, kind, Some(&name)), own, "{who:?} {kind:?}, platform");
            assert_eq!(told(&mut by_token, kind, None), own, "{who:?} {kind:?}, token");
        }
    }
    // Nobody speaks for those who are no agents.
    for name in ["admin", "the-user", "the-chat"] {
        let url = format!("/api/storage/memory?agentId={name}");
        assert_eq!(platform.get(&url).status, 403, "{name}");
    }
    server.stop();
}
