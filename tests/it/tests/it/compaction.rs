//! Promise: compaction loses nothing. Killed at any moment, every memory is there, or in the history
//! of a store whose summary names it; and a model that writes summaries may fail as it likes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{Api, Cluster, Dice, Loci, Server, Setup, count};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

/// A store with numbered episodes, one of them pinned.
fn filled(server: &Server, count: usize) -> Api {
    let mut api = Api::create(server.client(), "notes");
    for number in 0..count {
        let memory = api.put(&format!("/e{number:03}"), &format!("Episode {number} happened."));
        let attributes = json!({"kind": "episode", "importance": 10, "pinned": number == 7});
        let url = api.path(&format!("/memories/{}/attributes", memory.id));
        api.client.post(&url, &attributes).ok();
    }
    api
}

fn paths(api: &mut Api) -> Vec<String> {
    api.memories().into_iter().map(|memory| memory.path).collect()
}

fn cap(api: &mut Api, cap: &Value) {
    let url = api.path("/policy");
    api.client.post(&url, &json!({"soft_cap": cap})).ok();
}

/// Takes back compactions until there are no summaries, and looks whether everything is back.
fn everything_comes_back(api: &mut Api, count: usize) {
    cap(api, &Value::Null);
    for _ in 0..count {
        let summary = api.memories().into_iter().find(|one| one.path.starts_with("/summary."));
        let Some(summary) = summary else { break };
        let url = api.path(&format!("/memories/{}/undo_compaction", summary.id));
        api.client.call("POST", &url, None).ok();
    }
    let expected: Vec<String> = (0..count).map(|number| format!("/e{number:03}")).collect();
    assert_eq!(paths(api), expected);
    for memory in api.memories() {
        let number: usize = memory.path[2..].parse().unwrap();
        assert_eq!(api.content(&memory.id), format!("Episode {number} happened."));
    }
}

#[test]
fn killed_while_it_compacts_nothing_is_lost() {
    let setup = Setup::new();
    let mut dice = Dice::new("compaction");
    let mut server = setup.start();
    let store = filled(&server, count("compaction_episodes")).store;
    for round in 0..count("compaction_kills") {
        let mut api = Api::open(server.client(), &store);
        cap(&mut api, &json!(100 - 10 * round));
        thread::sleep(dice.millis(0, 400));
        server.kill();
        server = setup.start();
    }
    let mut api = Api::open(server.client(), &store);
    let began = Instant::now();
    while paths(&mut api).len() > 50 {
        assert!(began.elapsed() < PATIENCE, "the store is still over its cap");
        thread::sleep(Duration::from_millis(100));
    }
    assert!(paths(&mut api).contains(&"/e007".to_owned()), "what is pinned stays");
    let feed = api.changes(0);
    assert!(feed.iter().any(|one| one["reason"] == "compacted"), "the feed says why");
    everything_comes_back(&mut api, count("compaction_episodes"));
    server.stop();
    Loci::on_data(setup.data()).ok(&["check"]);
}

#[test]
fn several_servers_compact_a_store_once() {
    let cluster = Cluster::fresh();
    let servers = cluster.start_together(2);
    let mut api = filled(&servers[0], 40);
    cap(&mut api, &json!(20));
    let mut other = Api::open(servers[1].client(), &api.store);
    other.put("/fact", "One more.");
    let began = Instant::now();
    while paths(&mut other).len() > 20 {
        assert!(began.elapsed() < PATIENCE, "the store is still over its cap");
        thread::sleep(Duration::from_millis(100));
    }
    let fact = other.memories().into_iter().find(|one| one.path == "/fact").unwrap();
    other.delete(&fact.id);
    everything_comes_back(&mut other, 40);
}

#[test]
fn the_command_line_compacts_and_takes_back() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = filled(&server, 12);
    let loci = Loci::on_data(setup.data());
    let dry = loci.json(&["compact", "notes", "--keep", "4", "--dry-run"]);
    assert_eq!((&dry["memories_left"], dry["removed"].as_array().unwrap().len()), (&json!(4), 9));
    assert_eq!(paths(&mut api).len(), 12);
    let done = loci.json(&["compact", "notes", "--keep", "4"]);
    assert_eq!(done["removed"], dry["removed"]);
    let summary = done["summaries"][0].as_str().unwrap();
    let undone = loci.json(&["compact", "notes", "--undo", summary]);
    assert_eq!(undone["restored"].as_array().unwrap().len(), 9);
    assert_eq!(paths(&mut api).len(), 12);
    let _ = loci.run(&["compact", "notes"]).expect_code(1, &["compact", "notes"]);
    assert_eq!(loci.json(&["compact", "notes", "--soft-cap", "500"])["soft_cap"], 500);
    assert_eq!(loci.json(&["compact", "notes", "--soft-cap", "none"])["soft_cap"], Value::Null);
}

/// A model that answers every request with the same thing.
fn model(status: &'static str, answer: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = BufReader::new(stream);
            let mut length = 0;
            let mut has_key = false;
            loop {
                let mut line = String::new();
                if stream.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                    break;
                }
                let line = line.to_ascii_lowercase();
                has_key |= line.contains("hunter2");
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
            }
            let mut body = vec![0; length];
            let _ = stream.read_exact(&mut body);
            let is_asked = has_key && String::from_utf8_lossy(&body).contains("> Episode 0");
            let status = if is_asked { status } else { "400 Bad Request" };
            let head = "content-type: application/json\r\nconnection: close\r\ncontent-length:";
            let text = format!("HTTP/1.1 {status}\r\n{head} {}\r\n\r\n{answer}", answer.len());
            let _ = stream.get_mut().write_all(text.as_bytes());
        }
    });
    addr
}

#[test]
fn a_model_writes_summaries_and_may_fail() {
    let openai = json!({"choices": [{"message": {"content": "They did things."}}]}).to_string();
    let anthropic = json!({"content": [{"type": "text", "text": "They did things."}]}).to_string();
    for (api, status, answer, expected) in [
        ("openai", "200 OK", openai, "They did things."),
        ("anthropic", "200 OK", anthropic, "They did things."),
        ("openai", "200 OK", "not json".to_owned(), "Quoted from 9 episodes"),
        ("anthropic", "500 Internal Server Error", "{}".to_owned(), "Quoted from 9 episodes"),
    ] {
        let addr = model(status, answer);
        let config = format!(
            "[summaries]\napi = \"{api}\"\nurl = \"http://{addr}/v1\"\nmodel = \"m\"\n\
             api_key_env = \"SUMMARY_KEY\"\nretries = 1\ntimeout_seconds = 5\n"
        );
        let setup = Setup::new().config(&config).env("SUMMARY_KEY", "hunter2");
        let server = setup.start();
        let mut store = filled(&server, 12);
        let url = store.path("/compact");
        let done = store.client.post(&url, &json!({"max_memories": 4})).ok();
        let summary = done["summaries"][0].as_str().unwrap();
        let found = store.memories().into_iter().find(|one| one.path == summary).unwrap();
        let text = store.content(&found.id);
        assert!(text.starts_with(expected), "{api} {status}: {text}");
        everything_comes_back(&mut store, 12);
    }
}
