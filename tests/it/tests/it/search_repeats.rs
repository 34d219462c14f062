//! Promise: a store can refuse content it has already, or merge it into the memory that has it. No
//! store does until it is told to, and near repeats are reported, never touched.

use loci_it::{Api, Server, Setup, error_type};
use serde_json::{Value, json};

fn start() -> (Setup, Server, Api) {
    let setup = Setup::new();
    let server = setup.start();
    let api = Api::create(server.client(), "repeats");
    (setup, server, api)
}

fn policy(api: &mut Api, repeats: &str) -> Value {
    let url = api.path("/policy");
    api.client.post(&url, &json!({"repeats": repeats})).ok()
}

fn create(api: &mut Api, path: &str, content: &str) -> loci_it::Reply {
    let url = api.path("/memories");
    api.client.post(&url, &json!({"path": path, "content": content}))
}

#[test]
fn repeats_are_kept_refused_or_merged_as_the_store_says() {
    let (_setup, server, mut api) = start();
    let url = api.path("/policy");
    assert_eq!(api.client.get(&url).ok()["repeats"], "allow", "off by default");
    let first = api.put("/a", "said once");
    let second = api.put("/b", "said once");
    assert_ne!(first.id, second.id);

    assert_eq!(policy(&mut api, "refuse")["repeats"], "refuse");
    let refused = create(&mut api, "/c", "said once");
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert_eq!(error_type(&refused).as_deref(), Some("conflict_error"));
    assert_eq!(refused.header("x-should-retry"), Some("false"));
    let error = &refused.json()["error"];
    assert_eq!(error["conflicting_memory_id"], first.id.as_str(), "{error}");
    assert_eq!(error["conflicting_path"], "/a", "{error}");
    assert!(!refused.text().contains("said once"));
    assert_eq!(create(&mut api, "/c", "said twice").status, 200);
    assert_eq!(api.memories().len(), 3, "a refusal writes nothing");

    policy(&mut api, "merge");
    let before = api.changes(0).len();
    let merged = create(&mut api, "/d", "said twice").ok();
    assert_eq!(merged["path"], "/c", "the memory that has it: {merged}");
    let again = create(&mut api, "/e", "said once").ok();
    assert_eq!((&again["id"], &again["path"]), (&json!(first.id), &json!("/a")));
    assert_eq!(api.memories().len(), 3);
    assert_eq!(api.changes(0).len(), before, "merging changes nothing");
    assert_eq!(api.versions(&first.id).len(), 1);

    // What is gone or changed is no longer repeated.
    api.update(&first.id, &json!({"content": "another thing"}));
    api.delete(&second.id);
    assert_eq!(create(&mut api, "/f", "said once").ok()["path"], "/f");

    policy(&mut api, "allow");
    assert_eq!(create(&mut api, "/g", "said once").ok()["path"], "/g");
    server.stop();
}

#[test]
fn a_repeat_is_only_what_the_writer_may_see_in_the_same_store() {
    let (_setup, server, mut api) = start();
    policy(&mut api, "refuse");
    let mut other = Api::create(server.client(), "another store");
    policy(&mut other, "refuse");
    other.put("/a", "elsewhere");
    assert_eq!(create(&mut api, "/a", "elsewhere").status, 200, "stores are apart");

    let hidden = api.put("/hidden", "for hosts only");
    let url = api.path(&format!("/memories/{}/attributes", hidden.id));
    api.client.post(&url, &json!({"visibility": "internal"})).ok();
    let body = json!({"name": "m", "audience": "model"});
    let made = server.client().post("/v1/api_keys", &body).ok();
    let model = server.client_as(made["secret"].as_str());
    let mut model = Api::open(model, &api.store);
    assert_eq!(create(&mut model, "/b", "for hosts only").status, 200, "a refusal would tell");
    assert_eq!(create(&mut api, "/c", "for hosts only").status, 409);
    server.stop();
}

#[test]
fn only_who_manages_the_store_changes_its_policy() {
    let (_setup, server, mut api) = start();
    let body = json!({"name": "r", "level": "readwrite"});
    let made = server.client().post("/v1/api_keys", &body).ok();
    let mut writer = server.client_as(made["secret"].as_str());
    let url = api.path("/policy");
    assert_eq!(writer.get(&url).ok()["repeats"], "allow");
    let refused = writer.post(&url, &json!({"repeats": "merge"}));
    assert_eq!(refused.status, 403, "{}", refused.text());
    for bad in [json!({}), json!({"repeats": "drop"}), json!({"repeats": "merge", "share": "x"})] {
        let reply = api.client.post(&url, &bad);
        assert_eq!(reply.status, 400, "{bad}: {}", reply.text());
    }
    assert_eq!(api.client.get(&url).ok()["repeats"], "allow");
    server.stop();
}

#[test]
fn the_report_names_equal_and_nearly_equal_texts() {
    let (_setup, server, mut api) = start();
    let long = "The committee met on Tuesday and agreed to move the spring fair from the school \
                yard to the old market square because of the building work near the gate.";
    let near = long.replace("Tuesday", "Wednesday");
    let put = |api: &mut Api, path: &str, text: &str| api.put(path, text).id;
    let a = put(&mut api, "/a", long);
    let b = put(&mut api, "/b", long);
    let c = put(&mut api, "/c", &near);
    put(&mut api, "/d", "Something that has nothing to do with any of the other texts at all.");
    let url = api.path("/duplicates?threshold=0.7");
    let report = api.client.get(&url).ok();
    let group = |value: &Value| {
        let memories = value["memories"].as_array().unwrap();
        memories.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let exact: Vec<_> = report["exact"].as_array().unwrap().iter().map(group).collect();
    assert_eq!(exact, [[a.clone(), b]], "{report}");
    let near: Vec<_> = report["near"].as_array().unwrap().iter().map(group).collect();
    assert_eq!(near, [[a, c]], "one stands for its equals: {report}");
    assert!(report["near"][0]["similarity"].as_f64().unwrap() > 0.7, "{report}");
    assert_eq!(report["is_truncated"], false);
    assert_eq!(api.memories().len(), 4, "a report changes nothing");
    for bad in ["?threshold=0.1", "?threshold=2", "?threshold=x", "?limit=0", "?limit=1000000"] {
        let url = api.path(&format!("/duplicates{bad}"));
        assert_eq!(api.client.get(&url).status, 400, "{bad}");
    }
    server.stop();
}
