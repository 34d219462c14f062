//! Promise: whoever guesses credentials gets so many answers a second and no more, however many connections
//! they open and wherever they guess: at the console's login, in the path of Kilroy's hooks, at `/mcp`. Keys
//! that are valid are answered beside it as ever.

use loci_it::{Client, Reply, Server, Setup, budget};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 64;
/// Failures that an address has free, and how many it earns back in a second.
const FREE: usize = 300;
const PER_SECOND: f64 = 20.0;
/// How long is counted.
const COUNTED: Duration = Duration::from_secs(4);
/// How long a valid key may take beside it.
const AS_EVER: Duration = Duration::from_secs(1);
const CONFIG: &str = "[search]\nembedder = \"none\"\n";

fn guess_at(guess: fn(&mut Client, usize) -> Reply, make: fn(&Server) -> Client) {
    let setup = Setup::new().config(CONFIG);
    let server = setup.start();
    let (done, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let guessing: Vec<_> = (0..CONNECTIONS)
        .map(|connection| {
            let (mut client, done, answered) =
                (make(&server), Arc::clone(&done), Arc::clone(&answered));
            thread::spawn(move || {
                for round in 0.. {
                    if done.load(Ordering::SeqCst) {
                        return;
                    }
                    let reply = guess(&mut client, connection * 1_000_000 + round);
                    assert!([401, 429].contains(&reply.status), "{}", reply.text());
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    let deadline = Instant::now() + budget(Duration::from_secs(60));
    while answered.load(Ordering::SeqCst) < FREE {
        assert!(Instant::now() < deadline, "the free ones were not answered at once");
        thread::sleep(Duration::from_millis(5));
    }
    let (began, before) = (Instant::now(), answered.load(Ordering::SeqCst));
    let mut admin = server.client();
    while began.elapsed() < COUNTED {
        let sent = Instant::now();
        admin.get("/v1/whoami").ok();
        assert!(sent.elapsed() < budget(AS_EVER), "a valid key took {:?}", sent.elapsed());
        thread::sleep(Duration::from_millis(50));
    }
    let guesses = answered.load(Ordering::SeqCst) - before;
    // Those that were on their way at the beginning waited already.
    let most = CONNECTIONS as f64 + PER_SECOND * began.elapsed().as_secs_f64();
    assert!(guesses as f64 <= most, "{guesses} of at most {most} in {:?}", began.elapsed());
    done.store(true, Ordering::SeqCst);
    for one in guessing {
        one.join().unwrap();
    }
    server.stop();
}

#[test]
fn guesses_at_the_login_are_slowed_down_together() {
    let guess = |client: &mut Client, number| {
        let page = [("x-loci-console", "1")];
        let body = json!({"key": format!("guess-{number}")});
        client.call_with("POST", "/console/login", Some(&body), &page)
    };
    guess_at(guess, |server| server.client_as(None).without_beta());
}

#[test]
fn guesses_in_the_path_are_slowed_down_together() {
    let guess = |client: &mut Client, number| {
        let url = format!("/api/v1/pd/webhook_sync/guess-{number}/kilroy.ai.webhooks/memory_read");
        client.post(&url, &json!({}))
    };
    guess_at(guess, |server| server.client_as(None).without_beta());
}

#[test]
fn guesses_at_mcp_are_slowed_down_together() {
    let guess = |client: &mut Client, number| {
        let key = format!("Bearer guess-{number}");
        let headers =
            [("authorization", key.as_str()), ("accept", "application/json, text/event-stream")];
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
        client.call_with("POST", "/mcp", Some(&body), &headers)
    };
    guess_at(guess, |server| server.client_as(None).without_beta());
}
