//! Promise: whoever asks for much holds up nobody who asks for little. Beside sixteen connections that
//! do nothing but heavy searches, reports and questions, a health probe is answered as ever.

use loci_it::{Client, Setup, amount, budget};
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 16;
const MEMORIES: usize = 100;
/// Bytes of a memory, about.
const BYTES: usize = 97_000;
const P99_WITHIN: Duration = Duration::from_millis(50);
const PROBE_EVERY: Duration = Duration::from_millis(5);
/// Words alone decide: vectors of so much text would take minutes and show nothing more.
const CONFIG: &str = "[search]\nembedder = \"none\"\n";

/// A text that every query here fits.
fn text(number: usize) -> String {
    let mut text = format!("Anna works for company {number}. ");
    for word in 0.. {
        if text.len() > BYTES {
            break;
        }
        let other = (number * 7_919 + word * 104_729) % 100_003;
        let _ = write!(text, "The harbour w{other} settled boats{} leaving. ", word % 1_000);
    }
    text
}

#[test]
fn a_probe_is_answered_beside_heavy_requests() {
    let setup = Setup::new().config(CONFIG);
    let server = setup.start();
    let mut admin = server.client();
    let store = admin.post("/v1/memory_stores", &json!({"name": "large"})).ok();
    let store = store["id"].as_str().unwrap().to_owned();
    for number in 0..MEMORIES {
        let body = json!({"path": format!("/{number}"), "content": text(number)});
        admin.post(&format!("/v1/memory_stores/{store}/memories"), &body).ok();
    }
    // What is derived from the store is there before anything is timed.
    heavy(&mut admin, &store, 0);
    heavy(&mut admin, &store, 1);
    heavy(&mut admin, &store, 2);

    let done = Arc::new(AtomicBool::new(false));
    let answered = Arc::new(AtomicUsize::new(0));
    let askers: Vec<_> = (0..CONNECTIONS)
        .map(|number| {
            let (mut client, store) = (server.client(), store.clone());
            let (done, answered) = (Arc::clone(&done), Arc::clone(&answered));
            thread::spawn(move || {
                for round in number.. {
                    if done.load(Ordering::SeqCst) {
                        break;
                    }
                    heavy(&mut client, &store, round);
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    let mut probe = server.client_as(None);
    let (began, mut times) = (Instant::now(), Vec::new());
    while began.elapsed() < Duration::from_secs(amount("heavy_secs")) {
        let sent = Instant::now();
        assert_eq!(probe.get("/healthz").status, 200);
        times.push(sent.elapsed());
        thread::sleep(PROBE_EVERY);
    }
    done.store(true, Ordering::SeqCst);
    for asker in askers {
        asker.join().unwrap();
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let (p50, p99, worst) = (at(0.5), at(0.99), at(1.0));
    let heavy = answered.load(Ordering::SeqCst);
    println!(
        "{heavy} heavy requests; {} probes: p50 {p50:?} p99 {p99:?} max {worst:?}",
        times.len()
    );
    assert!(heavy > 0, "nothing heavy was answered");
    assert!(p99 <= budget(P99_WITHIN), "p99 {p99:?}, the slowest {worst:?}");
    server.stop();
}

fn heavy(client: &mut Client, store: &str, round: usize) {
    let reply = match round % 3 {
        0 => {
            let body = json!({"query": "settled harbour boats", "limit": 100});
            client.post(&format!("/v1/memory_stores/{store}/search"), &body)
        }
        1 => client.get(&format!("/v1/memory_stores/{store}/duplicates")),
        _ => client.post("/v1/knowledge", &json!({"query": "who works for the harbour?"})),
    };
    assert_eq!(reply.status, 200, "{}", reply.text());
}
