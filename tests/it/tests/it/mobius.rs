//! Promise: an agent's entries are ordinary memories. What the Mobius door writes is listed, searched
//! and shown by the others, its attributes outlive an edit elsewhere, and saves of one key at once
//! are as many versions, on one server or on several.

use loci_it::{ADMIN_KEY, Client, Cluster, Server, Setup};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

const SAVES: usize = 32;
/// How often an entry is saved in vain: as often as patient clients try.
const REFUSALS_MAX: usize = 10;

/// Saves an entry, again if the server has no time for it, as clients do.
#[track_caller]
fn save(client: &mut Client, agent: &str, key: &str, body: &Value) -> Value {
    let mut last = String::new();
    for _ in 0..REFUSALS_MAX {
        let reply = client.call("PUT", &format!("{agent}/memory/entries/{key}"), Some(body));
        match reply.status {
            200 | 201 => return reply.json(),
            503 => last = reply.text(),
            status => panic!("{status} {}", reply.text()),
        }
        let wait = reply.header("retry-after").and_then(|wait| wait.parse().ok()).unwrap_or(1);
        thread::sleep(Duration::from_secs(wait));
    }
    panic!("{key} was refused {REFUSALS_MAX} times, with 503 {last} in the end");
}

fn saves_at_once(servers: &[&Server]) {
    let start = Arc::new(Barrier::new(SAVES));
    let saving = (0..SAVES).map(|number| {
        let (start, mut client) = (Arc::clone(&start), servers[number % servers.len()].client());
        thread::spawn(move || {
            client.get("/v1/agents").ok();
            start.wait();
            let body = json!({"content": format!("text {number}")});
            save(&mut client, "/v1/agents/rivals", "k", &body)["version"].as_u64().unwrap()
        })
    });
    let saving: Vec<_> = saving.collect();
    let versions: BTreeSet<u64> = saving.into_iter().map(|one| one.join().unwrap()).collect();
    assert_eq!(versions.len(), SAVES, "each its own: {versions:?}");
    let mut client = servers[0].client();
    let feed = client.get("/v1/projects/default/agents/rivals/memory/changes?limit=100").ok();
    let rows = feed["items"].as_array().unwrap().iter();
    let told: Vec<u64> = rows.map(|row| row["version"].as_u64().unwrap()).collect();
    // One that was not answered in time may have been written all the same.
    assert_eq!(told, (1..=told.len() as u64).collect::<Vec<_>>());
    assert!(versions.iter().all(|version| told.contains(version)), "{versions:?} {told:?}");
}

#[test]
fn saves_at_once_are_as_many_versions() {
    let setup = Setup::new();
    let server = setup.start();
    saves_at_once(&[&server]);
    server.stop();
}

#[test]
fn saves_at_once_through_two_servers_are_as_many_versions() {
    let cluster = Cluster::fresh();
    let servers = cluster.start_together(2);
    saves_at_once(&servers.iter().collect::<Vec<_>>());
    entries_are_ordinary_memories(&servers[0], &servers[1]);
}

#[test]
fn entries_are_memories_of_every_door() {
    let setup = Setup::new();
    let server = setup.start();
    entries_are_ordinary_memories(&server, &server);
    server.stop();
}

fn entries_are_ordinary_memories(here: &Server, there: &Server) {
    let agent = "/v1/agents/ordinary";
    let (mut here, mut there) = (here.client(), there.client());
    let body = json!({
        "content": "The ferry leaves at nine", "summary": "Departure", "kind": "episode",
        "importance": 80, "pinned": true, "metadata": {"from": "chat"},
    });
    let entry = save(&mut here, agent, "ferry.time", &body);
    let stores = there.get("/v1/memory_stores?limit=100").ok();
    let named = |store: &&Value| store["name"] == "home of ordinary";
    let store = stores["data"].as_array().unwrap().iter().find(named).expect("it is listed");
    let memory = format!(
        "/v1/memory_stores/{}/memories/{}",
        store["id"].as_str().unwrap(),
        entry["entry_id"].as_str().unwrap()
    );
    assert_eq!(there.get(&memory).ok()["path"], "/ferry.time");
    let found = there.post("/v1/search", &json!({"query": "ferry", "mode": "lexical"})).ok();
    assert!(found.to_string().contains(entry["entry_id"].as_str().unwrap()), "{found}");
    there.post(&memory, &json!({"content": "The ferry leaves at ten"})).ok();
    let shown = here.get(&format!("{agent}/memory/entries")).ok()["items"][0].take();
    for name in ["kind", "importance", "pinned", "metadata", "summary"] {
        assert_eq!(shown[name], body[name], "{name}");
    }
    assert_eq!(
        (&shown["content"], &shown["version"]),
        (&json!("The ferry leaves at ten"), &json!(2))
    );
    let value = there.get("/api/storage/memory/ferry.time?agentId=ordinary").ok();
    assert_eq!(value["value"], "The ferry leaves at ten");
    let value = json!({"value": "It is cancelled", "agentId": "ordinary"});
    there.call("PUT", "/api/storage/memory/ferry.time", Some(&value)).ok();
    let shown = here.get("/v1/projects/default/agents/ordinary/memory/entries").ok();
    assert_eq!(shown["items"][0]["content"], "It is cancelled");
    assert_eq!(shown["items"][0]["kind"], "episode");
}

#[test]
fn a_key_may_carry_a_project_and_nothing_else() {
    let setup = Setup::new();
    let server = setup.start();
    let ask = |key: &str, url: &str| server.client_as(Some(key)).get(url);
    let inside = format!("{ADMIN_KEY}.team-2");
    assert_eq!(ask(&inside, "/v1/projects/team-2/agents/ada/memory").status, 200);
    let other = ask(&inside, "/v1/projects/default/agents/ada/memory");
    assert_eq!((other.status, &other.json()["error"]["code"]), (403, &json!("permission_denied")));
    assert_eq!(ask(&inside, "/v1/agents/ada/memory").status, 200);
    for wrong in
        [format!("{ADMIN_KEY}."), format!("{ADMIN_KEY}.Team"), format!("x{ADMIN_KEY}.team-2")]
    {
        let refused = ask(&wrong, "/v1/agents/ada/memory");
        assert_eq!(
            (refused.status, &refused.json()["error"]["code"]),
            (401, &json!("unauthorized"))
        );
        assert!(refused.header("x-request-id").is_some());
    }
    server.stop();
}
