//! Promise: access is decided before anything is ranked, so nobody's results are crowded out. A
//! caller whose only memory fits the query worse than a hundred thousand of other people's gets it,
//! at every door and on both engines.

use loci_it::{Client, Cluster, Server, Setup, count, sha256};
use serde_json::{Value, json};

fn others() -> usize {
    count("other_memories")
}
/// Lines of one import: few enough that a slow machine answers within the client's patience.
const CHUNK: usize = 4_000;
/// Words alone decide: vectors for all of these would take minutes and show nothing more.
const CONFIG: &str = "[search]\nembedder = \"none\"\n";
const OWN: &str = "somewhere in a long and winding sentence there is also a lighthouse to be seen";

#[test]
fn one_memory_is_found_among_a_hundred_thousand_better_ones() {
    let setup = Setup::new().config(CONFIG);
    nobody_starves(&setup.start());
}

#[test]
fn one_memory_is_found_among_a_hundred_thousand_better_ones_on_postgresql() {
    let cluster = Cluster::fresh().with(|setup| setup.config(CONFIG));
    nobody_starves(&cluster.start());
}

fn nobody_starves(server: &Server) {
    let mut admin = server.client();
    let mut agent = agent(server, &mut admin);
    let written = agent.call("PUT", "/api/storage/memory/own", Some(&json!({"value": OWN})));
    assert_eq!(written.status, 200, "{}", written.text());
    crowd(&mut admin);

    let everywhere = json!({"query": "lighthouse", "limit": 10});
    let all = admin.post("/v1/search", &everywhere).ok();
    let first = &all["data"][0]["content"];
    assert_eq!(first, "lighthouse", "the others' fit better: {all}");

    let found = agent.post("/v1/search", &everywhere).ok();
    assert_eq!(found["data"].as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found["data"][0]["content"], OWN);
    let found = agent.get("/api/storage/memory?action=search&q=lighthouse").ok();
    assert_eq!(values(&found["entries"]), [OWN]);
    let search = json!({"command": "search", "query": "lighthouse"});
    let found = agent.post("/v1/tools/memory", &search).ok();
    assert_eq!(values(&found["result"]["entries"]), [OWN]);
}

fn values(entries: &Value) -> Vec<&str> {
    let entries = entries.as_array().expect("a search has entries");
    entries.iter().map(|entry| entry["value"].as_str().unwrap()).collect()
}

fn agent(server: &Server, admin: &mut Client) -> Client {
    admin.post("/v1/principals", &json!({"name": "agent"})).ok();
    let key = admin.post("/v1/api_keys", &json!({"name": "key", "principal": "agent"})).ok();
    server.client_as(key["secret"].as_str())
}

/// A store of the administrator's in which everything is about lighthouses, and nothing else.
fn crowd(admin: &mut Client) {
    let exported = admin.get("/v1/export").text();
    let store = admin.post("/v1/memory_stores", &json!({"name": "others"})).ok();
    let store = store["id"].as_str().unwrap();
    let key = admin.get("/v1/api_keys").ok()["data"][0]["id"].clone();
    let header = exported.lines().next().expect("an export has a first line").to_owned();
    let digest = sha256("lighthouse");
    let line = |number: usize| {
        json!({
            "type": "version", "store": store, "seq": number,
            "id": format!("memver_01{number:022}"), "memory": format!("mem_01{number:022}"),
            "owner": "admin", "partition": null, "revision": 1, "operation": "created",
            "path": format!("/{number}"), "attributes": {}, "text": "lighthouse",
            "sha256": digest, "actor": format!("key:{}", key.as_str().unwrap()),
            "created_at": format!("2026-01-01T00:{:02}:{:02}.{:06}Z", number / 60_000, number / 1000 % 60, number % 1000),
            "request": null, "reason": "import", "redacted_at": null, "redacted_by": null,
        })
        .to_string()
    };
    for first in (1..=others()).step_by(CHUNK) {
        let lines = (first..first + CHUNK).map(line);
        let text: Vec<String> = std::iter::once(header.clone()).chain(lines).collect();
        let body = text.join("\n");
        let reply = admin.send("POST", "/v1/import", Some(body.as_bytes()), &[]).unwrap();
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
}
