//! Promise: sealed content is closed to the server. It keeps the bytes and gives them back; it does
//! not show, find, embed or edit them, and what was sealed is in no file of its data directory.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use loci_it::{Api, Dice, FACTS, Loci, Needles, Setup, error_type, hits_in, hits_in_dir, ids};
use serde_json::{Value, json};
use std::fs;

/// Writes sealed bytes as any client may.
fn put(api: &mut Api, path: &str, bytes: &[u8]) -> Value {
    let url = api.path("/sealed");
    api.client.post(&url, &json!({"path": path, "sealed_base64": BASE64.encode(bytes)})).ok()
}

/// The bytes of a memory as they are kept.
fn fetch(api: &mut Api, id: &Value) -> Vec<u8> {
    let url = api.path(&format!("/memories/{}/sealed", id.as_str().unwrap()));
    let reply = api.client.get(&url);
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("content-type"), Some("application/octet-stream"));
    reply.body
}

#[test]
fn what_the_command_seals_is_in_no_file() {
    let setup = Setup::new();
    let loci = Loci::on_data(setup.data());
    let identity = setup.scratch().join("identity.txt");
    let identity = identity.to_str().unwrap();
    let recipient = String::from_utf8(loci.ok(&["seal", "keygen", "--output", identity])).unwrap();
    let recipient = recipient.trim();
    let word = Dice::new("sealed").letters(32);
    let plain = format!("{} The password is {word}.", FACTS[0].0);
    let needles = Needles::of(&word);

    // Into a directory that the command opens itself, then into that of a running server.
    let args =
        ["put", "notes", "/here", "--create-store", "--text", &plain, "--seal-to", recipient];
    loci.ok(&args);
    assert_eq!(hits_in_dir(setup.data(), &needles), [""; 0], "the command wrote the plaintext");
    let server = setup.start();
    loci.ok(&["put", "notes", "/there", "--text", &plain, "--seal-to", recipient]);
    let stores = server.client().get("/v1/memory_stores").ok();
    let mut api = Api::open(server.client(), stores["data"][0]["id"].as_str().unwrap());
    // The same text in the clear is found, so the search and the files are looked at rightly.
    let clear = api.put("/clear", FACTS[0].0);
    api.settle();
    assert_eq!(hits_in_dir(setup.data(), &needles), [""; 0], "the server wrote the plaintext");

    assert_eq!(api.found("lexical", &word), [""; 0]);
    for mode in ["lexical", "semantic", "hybrid"] {
        assert_eq!(api.found(mode, FACTS[0].0), [clear.id.as_str()], "{mode}");
    }
    let listed = api.pages("/memories", "limit=20&view=full");
    let sealed: Vec<_> = listed.iter().filter(|item| item["path"] != "/clear").collect();
    assert_eq!(sealed.len(), 2, "{listed:?}");
    for memory in sealed {
        assert_eq!(memory["content"], Value::Null);
        assert!(memory["content_size_bytes"].as_u64().unwrap() > plain.len() as u64);
        let shown = api.get(memory["id"].as_str().unwrap()).ok();
        assert_eq!(shown["content"], Value::Null, "the Memory Stores API shows it");
        assert_eq!(hits_in("bytes", &fetch(&mut api, &memory["id"]), &needles), [""; 0]);
    }
    for path in ["/here", "/there"] {
        let opened = loci.ok(&["get", "notes", path, "--open-with", identity]);
        assert_eq!(String::from_utf8(opened).unwrap(), plain);
    }
    assert_eq!(hits_in("the log", setup.printed().as_bytes(), &needles), [""; 0]);
    let secret = fs::read_to_string(identity).unwrap();
    let secret = secret.lines().find(|line| line.starts_with("AGE-SECRET-KEY-")).unwrap();
    assert_eq!(hits_in_dir(setup.data(), &Needles::of(secret)), [""; 0], "it has the key");
    server.stop();
    loci.ok(&["check"]);
    assert_eq!(hits_in_dir(setup.data(), &needles), [""; 0]);
}

#[test]
fn bytes_that_look_like_text_are_not_searched() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "notes");
    // The server cannot know whether a client encrypts; what it is told is sealed is sealed.
    let memory = put(&mut api, "/sealed", b"the ferry to the island leaves at nine");
    let text = api.put("/text", "the ferry to the mainland leaves at ten");
    api.settle();
    for mode in ["lexical", "semantic", "hybrid"] {
        let found = api.found(mode, "when does the ferry to the island leave?");
        assert_eq!(found, [text.id.as_str()], "{mode}");
    }
    let past = json!({"query": "ferry", "as_of": memory["memory_version_id"]});
    assert_eq!(ids(&api.search(&past).ok()), [""; 0], "in the past it was sealed too");
    assert_eq!(fetch(&mut api, &memory["id"]), b"the ferry to the island leaves at nine");
    server.stop();
}

#[test]
fn text_and_sealed_content_replace_each_other() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "notes");
    let first = put(&mut api, "/a", &[0, 1, 2]);
    let second = put(&mut api, "/a", &[255, 254]);
    assert_eq!(second["id"], first["id"]);
    let id = first["id"].as_str().unwrap().to_owned();
    assert_eq!(fetch(&mut api, &first["id"]), [255, 254]);

    // In the clear over sealed: then it is text again and is found.
    let text = api.update(&id, &json!({"content": "the lighthouse keeper sleeps"}));
    assert_eq!(api.content(&id), "the lighthouse keeper sleeps");
    assert_eq!(api.found("lexical", "lighthouse"), [id.as_str()]);
    let url = api.path(&format!("/memories/{id}/sealed"));
    let refused = api.client.get(&url);
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert_eq!(error_type(&refused).as_deref(), Some("invalid_request_error"));

    // Sealed over text: it is not found any more, and a stale write changes nothing.
    let sealed = api.path("/sealed");
    let seen = json!({"type": "content_sha256", "content_sha256": text.digest});
    let mut body = json!({"path": "/a", "sealed_base64": "AQI=", "precondition": seen});
    api.client.post(&sealed, &body).ok();
    assert_eq!(api.found("lexical", "lighthouse"), [""; 0]);
    body["sealed_base64"] = json!("AwQ=");
    let stale = api.client.post(&sealed, &body);
    assert_eq!(stale.status, 409, "{}", stale.text());
    assert_eq!(fetch(&mut api, &first["id"]), [1, 2]);
    assert_eq!(api.versions(&id).len(), 4);

    let old = first["memory_version_id"].as_str().unwrap();
    assert_eq!(api.client.get(&format!("{url}?version={old}")).body, [0, 1, 2]);
    assert_eq!(api.redact(old).status, 200);
    let gone = api.client.get(&format!("{url}?version={old}"));
    assert_eq!(gone.status, 404, "{}", gone.text());
    server.stop();
}

#[test]
fn an_export_carries_what_is_sealed() {
    let (here, there) = (Setup::new(), Setup::new());
    let server = here.start();
    let mut api = Api::create(server.client(), "notes");
    let bytes: Vec<u8> = (0..=255).collect();
    let made = put(&mut api, "/a", &bytes);
    let file = here.scratch().join("export.jsonl");
    let file = file.to_str().unwrap();
    Loci::on_data(here.data()).ok(&["export", file]);
    server.stop();

    let copy = Loci::on_data(there.data());
    copy.ok(&["import", file]);
    assert_eq!(copy.ok(&["get", "notes", "/a", "--sealed"]), bytes);
    copy.ok(&["check"]);
    let server = there.start();
    let mut api = Api::open(server.client(), &api.store);
    assert_eq!(fetch(&mut api, &made["id"]), bytes);
    assert_eq!(api.get(made["id"].as_str().unwrap()).ok()["content"], Value::Null);
    server.stop();
}

#[test]
fn limits_hold_and_refusals_leave_nothing() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "notes");
    let url = api.path("/sealed");
    let body = |base64: &str| json!({"path": "/a", "sealed_base64": base64});
    for base64 in ["", "AQ", "A===", "AR==", "AQ==\n", "not base64!", "_-8="] {
        let refused = api.client.post(&url, &body(base64));
        assert_eq!(refused.status, 400, "{base64:?}: {}", refused.text());
        assert!(refused.text().contains("sealed_base64"), "{}", refused.text());
    }
    let over = api.client.post(&url, &body(&BASE64.encode(vec![7; 102_401])));
    assert_eq!(over.status, 400, "{}", over.text());
    assert!(over.text().contains("102400"), "says the limit: {}", over.text());
    let huge = api.client.post(&url, &body(&BASE64.encode(vec![7; 1024 * 1024])));
    assert_eq!(huge.status, 413, "{}", huge.text());
    assert_eq!(api.memories(), []);
    let most = vec![7; 102_400];
    let made = put(&mut api, "/a", &most);
    assert_eq!(fetch(&mut api, &made["id"]), most);
    server.stop();
}
