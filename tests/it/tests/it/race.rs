//! Promise: an update with a precondition is a compare-and-set, however many try at once.

use std::sync::{Arc, Barrier};
use std::thread;

use loci_it::{Api, Setup, count, error_type};
use serde_json::json;

#[test]
fn of_a_thousand_updates_with_one_precondition_exactly_one_wins() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "race");
    let memory = api.put("/prize.md", "before");
    let url = api.path(&format!("/memories/{}", memory.id));

    // Everybody is connected and holds the request ready before the first one may send it.
    let start = Arc::new(Barrier::new(count("race_rivals")));
    let rivals: Vec<_> = (0..count("race_rivals"))
        .map(|number| {
            let mut client = server.client();
            let (start, url, digest) = (Arc::clone(&start), url.clone(), memory.digest.clone());
            let rival = move || {
                let body = json!({
                    "content": format!("rival {number} was here"),
                    "precondition": {"type": "content_sha256", "content_sha256": digest},
                });
                let connected = client.connect();
                start.wait();
                connected.expect("the server takes a thousand connections");
                (number, client.call("POST", &url, Some(&body)))
            };
            thread::Builder::new().stack_size(256 * 1024).spawn(rival).unwrap()
        })
        .collect();
    let answers: Vec<_> = rivals.into_iter().map(|rival| rival.join().unwrap()).collect();

    let mut winners = Vec::new();
    for (number, reply) in &answers {
        if reply.status == 200 {
            winners.push(*number);
            continue;
        }
        assert_eq!(reply.status, 409, "{}", reply.text());
        assert_eq!(error_type(reply).as_deref(), Some("memory_precondition_failed_error"));
        assert_eq!(reply.header("x-should-retry"), Some("false"));
    }
    assert_eq!(winners.len(), 1, "winners: {winners:?}");
    assert_eq!(api.content(&memory.id), format!("rival {} was here", winners[0]));
    assert_eq!(api.versions(&memory.id).len(), 2, "the first version and the winner's");
}

#[test]
fn of_many_creates_at_one_path_exactly_one_wins() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "race");
    let url = api.path("/memories");
    let rivals: Vec<_> = (0..64)
        .map(|number| {
            let mut client = server.client();
            let url = url.clone();
            thread::spawn(move || {
                let body = json!({"path": "/spot", "content": format!("{number}")});
                client.post(&url, &body)
            })
        })
        .collect();
    let answers: Vec<_> = rivals.into_iter().map(|rival| rival.join().unwrap()).collect();
    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|reply| reply.status == 200);
    assert_eq!(won.len(), 1);
    let id = won[0].json()["id"].clone();
    for reply in lost {
        assert_eq!(error_type(reply).as_deref(), Some("memory_path_conflict_error"));
        assert_eq!(reply.json()["error"]["conflicting_memory_id"], id);
        assert_eq!(reply.header("x-should-retry"), Some("false"));
    }
    assert_eq!(api.memories().len(), 1);
}
