//! Promise: Kilroy's memory blocks work against the real server as its platform calls them. No append
//! is lost, on either engine and across servers; what a block wrote is an ordinary memory at every
//! other door; and the token in its URLs is a credential that no log ever holds.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Barrier};
use std::thread;

use loci_it::{ADMIN_KEY, Api, Client, Cluster, Reply, Server, Setup};
use serde_json::{Value, json};

const WRITERS: usize = 32;
const TOKEN: &str = "kilroy-was-here-4711";

fn url(token: &str, block: &str) -> String {
    format!("/api/v1/pd/webhook_sync/{token}/kilroy.ai.webhooks/{block}")
}

fn call(client: &mut Client, token: &str, block: &str, targs: &Value, text: &str) -> Reply {
    let body = json!({
        "tagentname": "notes", "tid": "t", "targs": targs.to_string(), "args": [{"text": text}],
    });
    client.post(&url(token, block), &body)
}

/// What a block answers, by the token alone.
fn ask(server: &Server, token: &str, block: &str, targs: &Value, text: &str) -> Value {
    let answer = call(&mut server.client_as(None), token, block, targs, text).ok();
    let message = &answer["args"]["x"]["args"][0];
    serde_json::from_str(message["text"].as_str().unwrap()).unwrap()
}

fn with_token(setup: Setup) -> Setup {
    setup.env("LOCI_KILROY_TOKEN", TOKEN)
}

/// Everybody appends a line of their own at the same moment, at the servers in turn.
fn append_all(servers: &[Server], targs: &Value) -> Vec<Value> {
    let barrier = Arc::new(Barrier::new(WRITERS));
    thread::scope(|scope| {
        let append = |number: usize| {
            let (server, barrier) = (&servers[number % servers.len()], Arc::clone(&barrier));
            scope.spawn(move || {
                barrier.wait();
                ask(server, TOKEN, "memory_append", targs, &format!("line {number}\n"))
            })
        };
        let writing: Vec<_> = (0..WRITERS).map(append).collect();
        writing.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn no_append_is_lost(servers: &[Server]) {
    let id = json!({"memory_id": "instances/a3d8f1b2/memories"});
    let guid = ask(&servers[0], TOKEN, "memory_write", &id, "begin\n")["guid"].take();
    let by_guid = json!({"memory_id": "instances/a3d8f1b2/memories", "guid": guid});
    for answer in append_all(servers, &by_guid) {
        assert_eq!(answer, json!({"guid": guid, "appended": true}));
    }
    let by_kind = json!({"memory_id": "instances/a3d8f1b2/memories", "kind": "log"});
    let answers = append_all(servers, &by_kind);
    assert_eq!(answers.iter().filter(|one| one["created"] == true).count(), 1);
    for server in servers {
        let records = ask(server, TOKEN, "memory_read", &id, "");
        let lines = |at: usize| -> BTreeSet<String> {
            let content = records[at]["content"].as_str().unwrap();
            content.lines().map(str::to_owned).collect()
        };
        assert_eq!(records.as_array().unwrap().len(), 2);
        assert_eq!((lines(0).len(), lines(1).len()), (WRITERS + 1, WRITERS));
        assert_eq!(records[0]["guid"], guid);
        // What was appended is found at once, by whatever server.
        let found = ask(server, TOKEN, "memory_search", &id, "line 31 begin");
        assert_eq!(found[0]["guid"], guid);
    }
}

#[test]
fn no_append_is_lost_when_many_write_at_once() {
    let setup = with_token(Setup::new());
    no_append_is_lost(&[setup.start()]);
}

#[test]
fn no_append_is_lost_across_servers() {
    let cluster = Cluster::fresh().with(with_token);
    let servers = cluster.start_together(2);
    no_append_is_lost(&servers);
    servers.into_iter().for_each(Server::stop);
    cluster.check();
}

fn is_an_ordinary_memory(server: &Server) {
    let targs = json!({
        "memory_id": "shared/notes", "kind": "trip note", "scope": "summer", "source": "planner",
        "tags": "[\"boats\", \"2026\"]",
    });
    let text = "The ferry to the island leaves at nine";
    let guid = ask(server, TOKEN, "memory_write", &targs, text)["guid"].take();
    let mut client = server.client();
    let stores = client.get("/v1/memory_stores?limit=100").ok();
    let is_it = |store: &&Value| store["name"] == "kilroy shared/notes";
    let store = stores["data"].as_array().unwrap().iter().find(is_it).unwrap()["id"].clone();
    let mut api = Api::open(server.client(), store.as_str().unwrap());
    let memories = api.memories();
    assert_eq!(memories.len(), 1);
    assert_eq!(memories[0].path, format!("/records/{}", guid.as_str().unwrap()));
    let attributes = api.path(&format!("/memories/{}/attributes", memories[0].id));
    let expected = |found: &Value| {
        assert_eq!(found["kind"], "trip%20note", "{found}");
        assert_eq!(found["scope"], "summer");
        assert_eq!(found["source"], "planner");
        assert_eq!(found["tags"], json!(["boats", "2026"]));
    };
    expected(&api.client.get(&attributes).ok());
    let found = client.post("/v1/search", &json!({"query": "ferry", "mode": "lexical"})).ok();
    assert!(found.to_string().contains(memories[0].id.as_str()), "{found}");

    // Changed through another door it is the same record with the same attributes.
    api.update(&memories[0].id, &json!({"content": "The ferry leaves at ten"}));
    expected(&api.client.get(&attributes).ok());
    let id = json!({"memory_id": "shared/notes", "tags": "boats"});
    let records = ask(server, TOKEN, "memory_search", &id, "TEN ferry");
    assert_eq!(records[0]["guid"], guid);
    assert_eq!(records[0]["kind"], "trip note");
    assert_eq!(records[0]["scope"], "summer");
    assert_eq!(records[0]["tags"], json!(["boats", "2026"]));
    assert_eq!(records[0].as_object().unwrap().len(), 8);
    assert_eq!(ask(server, TOKEN, "memory_search", &id, "island"), json!([]));
    // And what another door puts there is a record.
    let other = api.put("/elsewhere.md", "Bring a hat");
    let records = ask(server, TOKEN, "memory_read", &json!({"memory_id": "shared/notes"}), "");
    assert_eq!(records[1]["content"], "Bring a hat");
    let delete = json!({"memory_id": "shared/notes", "guid": records[1]["guid"]});
    assert_eq!(ask(server, TOKEN, "memory_delete", &delete, ""), json!({"deleted": 1}));
    assert_eq!(api.get(&other.id).status, 404);
}

#[test]
fn a_record_is_an_ordinary_memory() {
    is_an_ordinary_memory(&with_token(Setup::new()).start());
}

#[test]
fn a_record_is_an_ordinary_memory_on_postgresql() {
    let cluster = Cluster::fresh().with(with_token);
    is_an_ordinary_memory(&cluster.start());
}

#[test]
fn the_token_in_the_url_is_a_credential_and_never_in_a_log() {
    let config = "[kilroy]\ntoken_env = 'MY_TOKEN'\nprincipal = 'webhooks'\n";
    let token = "token/with+odd chars?%";
    let escaped = "token%2Fwith%2Bodd%20chars%3F%25";
    let setup = Setup::new().config(config).env("MY_TOKEN", token).env("LOCI_LOG", "trace");
    let server = setup.start();
    let id = json!({"memory_id": "m"});
    ask(&server, escaped, "memory_write", &id, "one");
    // An API key does as well, and one in a header makes the URL's a name.
    ask(&server, ADMIN_KEY, "memory_write", &id, "two");
    let reply = call(&mut server.client(), "API_TOKEN", "memory_read", &id, "");
    assert!(reply.ok().to_string().contains("two"));
    let mut session = server.client_as(None);
    let body = json!({"targs": id, "args": []}).to_string();
    let headers = [("x-concluent-token", "")];
    let reply = session
        .send("POST", &url(escaped, "memory_read"), Some(body.as_bytes()), &headers)
        .unwrap();
    assert_eq!(reply.status, 200);

    for (key, in_url) in [
        (None, "API_TOKEN"),
        (None, "wrong-token-in-the-url"),
        (None, "%20"),
        (Some("loci_wrong"), escaped),
    ] {
        for what in ["memory_read", "memory_nothing"] {
            let reply = call(&mut server.client_as(key), in_url, what, &id, "");
            assert_eq!(reply.status, 401, "{}", reply.text());
            assert_eq!(reply.json()["success"], false);
            assert!(reply.json()["args"]["error"].is_string());
            assert!(!reply.text().contains("wrong-token"));
        }
    }
    // A token is for hooks only: elsewhere it stands in a header like any key.
    let elsewhere = format!("/v1/memory_stores?api_token={escaped}&key={ADMIN_KEY}");
    assert_eq!(server.client_as(None).get(&elsewhere).status, 401);
    let metrics = server.client().get("/metrics").text();
    assert!(metrics.contains("/api/v1/pd/webhook_sync/{api_token}/{pd_alias}/{trigger_name}"));
    server.stop();
    let printed = setup.printed();
    assert!(printed.contains("webhook_sync/{api_token}"), "the requests are in the log");
    for secret in [token, escaped, ADMIN_KEY, "wrong-token-in-the-url"] {
        assert!(!printed.contains(secret), "{secret} is in the log");
        assert!(!metrics.contains(secret), "{secret} is in the metrics");
    }
}

#[test]
fn who_the_token_is_and_that_a_new_one_retires_it() {
    let setup = Setup::new().env("LOCI_KILROY_TOKEN", TOKEN);
    let server = setup.start();
    let id = json!({"memory_id": "m"});
    ask(&server, TOKEN, "memory_write", &id, "kept");
    let principals = server.client().get("/v1/principals").ok().to_string();
    assert!(principals.contains("\"kilroy\"") && principals.contains("service"), "{principals}");
    server.stop();
    let setup = setup.env("LOCI_KILROY_TOKEN", "another-token-altogether");
    let server = setup.start();
    assert_eq!(call(&mut server.client_as(None), TOKEN, "memory_read", &id, "").status, 401);
    let records = ask(&server, "another-token-altogether", "memory_read", &id, "");
    assert_eq!(records[0]["content"], "kept");
    server.stop();
    let short = Setup::new().env("LOCI_KILROY_TOKEN", "short");
    assert!(short.try_start().is_err(), "a token that can be guessed is refused");
}

#[test]
fn bad_input_is_never_a_fault_of_the_server() {
    let setup = with_token(Setup::new());
    let server = setup.start();
    let mut client = server.client_as(None);
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let large = format!("{{\"args\": \"{}\"}}", "x".repeat(1_200_000));
    for (body, status) in [
        (String::new(), 400),
        ("{".into(), 400),
        ("[]".into(), 400),
        ("{\"targs\": \"\u{0}\"}".into(), 400),
        (format!("{{\"args\": {deep}}}"), 400),
        (large, 413),
        (format!("{{\"targs\": {}}}", json!(deep)), 200),
        ("{}".into(), 200),
        ("{\"targs\": {\"memory_id\": \"m\", \"scope\": \"\\u0000\"}}".into(), 200),
        ("{\"targs\": {\"memory_id\": \"m\\u0000\"}}".into(), 200),
    ] {
        for block in ["memory_write", "memory_read", "memory_delete"] {
            let reply =
                client.send("POST", &url(TOKEN, block), Some(body.as_bytes()), &[]).unwrap();
            assert_eq!(reply.status, status, "{}", reply.text());
            assert_eq!(reply.json()["success"], status == 200, "{}", reply.text());
        }
    }
    for (method, path, status) in [
        ("GET", url(TOKEN, "memory_read"), 405),
        ("PUT", url(TOKEN, "memory_read"), 405),
        ("POST", url(TOKEN, "memory_forget"), 404),
        ("POST", format!("/api/v1/pd/webhook/{TOKEN}/other/memory_read"), 404),
        ("POST", format!("/api/v1/pd/webhook/{TOKEN}/memory_read"), 404),
    ] {
        let reply = client.call(method, &path, Some(&json!({})));
        assert_eq!(reply.status, status, "{method} {path}: {}", reply.text());
        assert_eq!(reply.json()["success"], false);
    }
}

#[test]
fn text_of_every_sort_comes_back_on_postgresql() {
    let cluster = Cluster::fresh().with(with_token);
    let server = cluster.start();
    let id = json!({"memory_id": "m"});
    for text in ["\u{0}", "a\u{0}b\u{1f}", "\u{feff}x", "🙂", "\\u0000", "'; drop table memory; --"]
    {
        let guid = ask(&server, TOKEN, "memory_write", &id, text)["guid"].take();
        let records = ask(&server, TOKEN, "memory_read", &id, "");
        let record = records.as_array().unwrap().last().unwrap();
        assert_eq!((&record["guid"], &record["content"]), (&guid, &json!(text)));
        // Nothing in a search, a guid or a filter makes the database stumble.
        assert!(ask(&server, TOKEN, "memory_search", &id, text).is_array());
        assert_eq!(ask(&server, TOKEN, "memory_delete", &id, text)["deleted"], 0);
        let kind = json!({"memory_id": "m", "kind": text});
        assert!(ask(&server, TOKEN, "memory_read", &kind, "").is_array());
        let scope = json!({"memory_id": "m", "scope": text, "tags": [text], "source": text});
        ask(&server, TOKEN, "memory_append", &scope, "x");
        ask(&server, TOKEN, "memory_search", &scope, "x");
    }
}

#[test]
fn the_example_pipeline_runs() {
    let setup = with_token(Setup::new());
    let server = setup.start();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kilroy-pipeline");
    let run = |lines: &[&str]| {
        let mut command = Command::new("python3");
        command.arg(example.join("pipeline.py")).args(lines);
        command.env("LOCI_BASE_URL", server.url()).env("LOCI_API_KEY", TOKEN);
        let output = command.output().expect("python3 can be started");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        said
    };
    let said = run(&[
        "/write the spare key is under the blue mat",
        "/write tea at four",
        "hello there",
        "/search BLUE key",
        "/search nothing like it",
        "/unknown command",
        "/read",
    ]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[1].starts_with("memory_write> {\"guid\":\""), "{said}");
    assert_eq!(lines[5], "assistant> (a model would answer this: hello there)");
    assert_eq!(lines[7], "memory_search> the spare key is under the blue mat [chat]");
    assert_eq!(lines[9], "memory_search> ");
    assert_eq!(lines[10..12], ["you> /unknown command", "you> /read"]);
    assert!(lines[12].ends_with("  the spare key is under the blue mat"), "{said}");
    assert_eq!(lines.len(), 14, "{said}");
    let guid = lines[12].split_whitespace().nth(1).unwrap().to_owned();
    let said = run(&["/delete clear", &format!("/delete {guid}"), "/read"]);
    assert!(said.contains("memory_delete> {\"deleted\":0}\n"), "{said}");
    assert!(said.contains("memory_delete> {\"deleted\":1}\n"), "{said}");
    assert!(said.contains("tea at four") && !said.contains("blue mat"), "{said}");
    let id = json!({"memory_id": "instances/a3d8f1b2/memories"});
    let records = ask(&server, TOKEN, "memory_read", &id, "");
    assert_eq!(records[0]["source"], "memory_write");
    assert_eq!(records[0]["tags"], json!(["chat"]));
}
