//! Promise: what leaves the server as a whole, what comes in, what is scrubbed and who looks with others'
//! eyes is in the audit log, once each, on either engine.

use crate::sharing::NO_MODEL;
use loci_it::{Api, Cluster, Server, Setup};
use serde_json::{Value, json};

/// More than an import takes at a time.
const MEMORIES: usize = 600;

fn kinds(server: &Server) -> Vec<String> {
    let events = server.client().get("/v1/events?limit=1000").ok();
    let kind = |event: &Value| event["kind"].as_str().unwrap().to_owned();
    events["data"].as_array().unwrap().iter().map(kind).collect()
}

/// What is asked, and what the log says of it. `backs_up` where the engine has backups of its own.
fn audited(server: &Server, backs_up: bool) {
    let mut api = Api::create(server.client(), "notes");
    api.client.post("/v1/principals", &json!({"name": "ana", "kind": "user"})).ok();
    for batch in 0..MEMORIES / 100 {
        let edit =
            |n: usize| json!({"op": "put", "path": format!("/{batch}/{n}"), "content": "tea"});
        let edits: Vec<Value> = (0..100).map(edit).collect();
        let url = api.path("/edits");
        api.client.post(&url, &json!({"edits": edits})).ok();
    }
    let first = api.put("/a", "one");
    api.update(&first.id, &json!({"content": "two"}));
    let before = kinds(server).len();
    let mut admin = server.client();
    let mut expected = vec!["exported"];
    let exported = admin.get("/v1/export");
    assert_eq!(exported.status, 200);
    let lines = exported.body.split(|byte| *byte == b'\n').count();
    assert!(lines > MEMORIES, "{lines} lines");
    let imported = admin.send("POST", "/v1/import", Some(&exported.body), &[]).unwrap();
    assert_eq!((imported.status, imported.json()["items"].as_u64()), (200, Some(0)));
    expected.push("imported");
    if backs_up {
        assert_eq!(admin.get("/v1/backup").status, 200);
        expected.push("backed_up");
    }
    for _ in 0..2 {
        let viewed = admin.call_with("GET", "/v1/whoami", None, &[("loci-view-as", "ana")]);
        assert_eq!(viewed.status, 200, "{}", viewed.text());
    }
    expected.push("viewed_as");
    assert_eq!(api.redact(&first.version).status, 200);
    assert_eq!(api.erase(&first.id).status, 200);
    expected.extend(["version_redacted", "memory_erased"]);
    // What is refused is in no log.
    let mut stranger = crate::sharing::agent(server, "stranger");
    for path in ["/v1/export", "/v1/backup"] {
        assert_eq!(stranger.get(path).status, 403, "{path}");
    }
    let refused = stranger.send("POST", "/v1/import", Some(&exported.body), &[]).unwrap();
    assert_eq!(refused.status, 403);
    let told = kinds(server);
    assert_eq!(told[before..before + expected.len()], expected);
    assert_eq!(told[before + expected.len()..], ["principal_created", "key_created"]);
}

#[test]
fn what_leaves_and_what_comes_is_in_the_log() {
    let setup = Setup::new().config(NO_MODEL);
    audited(&setup.start(), true);
}

#[test]
fn what_leaves_and_what_comes_is_in_the_log_of_a_database() {
    let cluster = Cluster::fresh().with(|setup| setup.config(NO_MODEL));
    audited(&cluster.start(), false);
}
