//! Promise: who speaks for an agent, by a platform's key or a signed token, has that agent's rights at
//! the doors that know agents, and no others.

use super::world::{Kind, Who, World};
use crate::sharing::NO_MODEL;
use crate::sharing_tokens::{SECRET, claims, hs256};
use loci_it::{Client, Cluster, Server, Setup};
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

/// What somebody is told about what is an agent's own, at the doors that have no stores of others:
/// key-value, caller-scoped memory and Mobius, whose paths name the agent. What describes an agent is
/// no memory: a platform sees it of every agent, also of one whose memory is switched off.
fn told_of_own(client: &mut Client, name: &str, agent: Option<&str>) -> Vec<u16> {
    let said = agent.map(|agent| format!("&agentId={agent}")).unwrap_or_default();
    let body = |mut body: Value| {
        if let Some(agent) = agent {
            body["agentId"] = json!(agent);
        }
        body
    };
    let note = json!({"namespace": "owner", "key": "note", "content": "tea", "source": "tool", "at": null});
    let (kv, scoped) = ("/api/storage/kv", "/api/storage/memory-scoped");
    let entries = format!("/v1/agents/{name}/memory/entries");
    let remembered = json!({"input": {"key": "b", "content": "tea"}});
    [
        client.call("PUT", &format!("{kv}/a"), Some(&body(json!({"value": 1})))),
        client.get(&format!("{kv}/a?x=1{said}")),
        client.get(&format!("{kv}?prefix=a{said}")),
        client.post("/api/kv", &body(json!({"key": "a", "value": "tea"}))),
        client.get(&format!("/api/kv?key=a{said}")),
        client.delete(&format!("{kv}/a?x=1{said}")),
        client.call("PUT", scoped, Some(&body(note))),
        client.get(&format!("{scoped}?action=list{said}")),
        client.get(&format!("{scoped}?action=search&q=tea{said}")),
        client.get(&format!("{scoped}?action=sync&namespace=owner{said}")),
        client.delete(&format!("{scoped}?namespace=owner&key=note{said}")),
        client.call("PUT", &format!("{entries}/b"), Some(&json!({"content": "tea"}))),
        client.get(&entries),
        client.get(&format!("/v1/agents/{name}/memory")),
        client.post(&format!("/v1/agents/{name}/tools/mobius.memory.remember/invoke"), &remembered),
        client.delete(&format!("{entries}/b")),
        // Another agent's is not theirs.
        client.get("/v1/agents/owner-of-archived/memory/entries"),
    ]
    .into_iter()
    .map(|reply| reply.status)
    .collect()
}

fn setup(setup: Setup) -> Setup {
    setup
        .config(&format!("{NO_MODEL}[jwt]\nsecret_env = 'TOKEN_SECRET'\n"))
        .env("TOKEN_SECRET", SECRET)
}

#[test]
fn who_speaks_for_an_agent_has_its_rights() {
    speaks(&setup(Setup::new()).start());
}

#[test]
fn who_speaks_for_an_agent_has_its_rights_on_postgresql() {
    let cluster = Cluster::fresh().with(setup);
    speaks(&cluster.start());
}

fn speaks(server: &Server) {
    let world = World::new(server, &|_| vec!["seed".to_owned(), "seed-Internal".to_owned()]);
    let mut platform = platform(server);
    for who in AGENTS {
        let name = format!("{who:?}");
        let mut by_token = server.client_as(Some(&hs256(&claims(&name, 600), SECRET)));
        for kind in Kind::ALL {
            let own = told(&mut world.client(who, kind).unwrap(), kind, None);
            assert_eq!(told(&mut platform, kind, Some(&name)), own, "{who:?} {kind:?}, platform");
            assert_eq!(told(&mut by_token, kind, None), own, "{who:?} {kind:?}, token");
        }
        // Whatever was made the first time is there the second: the own key comes twice.
        let mut client = world.client(who, Kind::Home).unwrap();
        told_of_own(&mut client, &name, None);
        let own = told_of_own(&mut client, &name, None);
        assert_eq!(told_of_own(&mut by_token, &name, None), own, "{who:?}, token");
        let by_platform = told_of_own(&mut platform, &name, Some(&name));
        let last = own.len() - 1;
        assert_eq!(by_platform[..last], own[..last], "{who:?}, platform");
        assert!(own[last] >= 400 || who != Who::Stranger, "{who:?}: {own:?}");
    }
    // Nobody speaks for those who are no agents.
    for name in ["admin", "the-user", "the-chat"] {
        let url = format!("/api/storage/memory?agentId={name}");
        assert_eq!(platform.get(&url).status, 403, "{name}");
    }
}
