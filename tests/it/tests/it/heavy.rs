//! Promise: whoever asks for much holds up nobody who asks for little. Beside sixteen connections that
//! do nothing but heavy searches, reports and questions at every door, a health probe is answered as ever,
//! on either engine.

use crate::qiforge::{did, now};
use loci_it::mcp::tool;
use loci_it::ucan::{Signer, delegated};
use loci_it::{ADMIN_KEY, Client, Cluster, Reply, Server, Setup, amount, budget};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 16;
const MEMORIES: usize = 100;
/// Memories in the place that another door has of its own.
const OF_A_DOOR: usize = 30;
/// Bytes of a memory, about.
const BYTES: usize = 97_000;
const P99_WITHIN: Duration = Duration::from_millis(50);
const PROBE_EVERY: Duration = Duration::from_millis(5);
/// Words alone decide: vectors of so much text would take minutes and show nothing more.
const CONFIG: &str = "[search]\nembedder = \"none\"\n[qiforge]\n\
    [mcp]\nprofiles = ['default', 'memory-tool', 'mobius']\n";

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
    beside_heavy_requests(setup.start());
}

#[test]
fn a_probe_is_answered_beside_heavy_requests_on_postgresql() {
    let cluster = Cluster::fresh().with(|setup| setup.config(CONFIG));
    beside_heavy_requests(cluster.start());
}

/// Puts into every door's own place what its heavy requests go through; gives the store.
fn fill(admin: &mut Client) -> String {
    let store = admin.post("/v1/memory_stores", &json!({"name": "large"})).ok();
    let store = store["id"].as_str().unwrap().to_owned();
    for number in 0..MEMORIES {
        let body = json!({"path": format!("/{number}"), "content": text(number)});
        admin.post(&format!("/v1/memory_stores/{store}/memories"), &body).ok();
    }
    for number in 0..OF_A_DOOR {
        let text = text(number);
        admin.post(&kilroy("memory_write"), &to_kilroy(&text)).ok();
        let value = json!({"value": text});
        let entry = format!("/api/storage/memory/k{number}?agentId=busy");
        assert_eq!(admin.call("PUT", &entry, Some(&value)).status, 200);
        let value = json!({"content": text[..16_000]});
        let entry = format!("/v1/agents/busy/memory/entries/k{number}");
        assert!(admin.call("PUT", &entry, Some(&value)).status < 300);
    }
    store
}

fn kilroy(block: &str) -> String {
    format!("/api/v1/pd/webhook_sync/{ADMIN_KEY}/kilroy.ai.webhooks/{block}")
}

fn to_kilroy(text: &str) -> Value {
    let targs = json!({"memory_id": "instances/a/memories"}).to_string();
    json!({"tagentname": "notes", "tid": "t", "targs": targs, "args": [{"text": text}]})
}

fn beside_heavy_requests(server: Server) {
    let mut admin = server.client();
    let store = fill(&mut admin);
    let (user, oracle) = (Signer::new(1), Signer::new(2));
    let token = delegated(&user, &oracle, &did(&server), now() + 3600);
    let mut visitor = server.client_as(Some(&token)).without_beta();
    for number in 0..OF_A_DOOR {
        let arguments = json!({"name": format!("n{number}"), "content": text(number)});
        asked_tool(&mut visitor, "/qiforge/mcp", "add_memory", &arguments);
    }
    // What is derived from the store is there before anything is timed.
    for round in 0..SORTS {
        heavy(&mut admin, &mut visitor, &store, round);
    }

    let done = Arc::new(AtomicBool::new(false));
    let answered = Arc::new(AtomicUsize::new(0));
    let askers: Vec<_> = (0..CONNECTIONS)
        .map(|number| {
            let (mut client, store) = (server.client(), store.clone());
            let mut visitor = server.client_as(Some(&token)).without_beta();
            let (done, answered) = (Arc::clone(&done), Arc::clone(&answered));
            thread::spawn(move || {
                for round in number.. {
                    if done.load(Ordering::SeqCst) {
                        break;
                    }
                    heavy(&mut client, &mut visitor, &store, round);
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
    eprintln!(
        "{heavy} heavy requests; {} probes: p50 {p50:?} p99 {p99:?} max {worst:?}",
        times.len()
    );
    assert!(heavy > 0, "nothing heavy was answered");
    assert!(p99 <= budget(P99_WITHIN), "p99 {p99:?}, the slowest {worst:?}");
    server.stop();
}

/// Sorts of heavy requests.
const SORTS: usize = 18;
const PLOTS: usize = 5;

/// A call of a tool of the Model Context Protocol.
fn asked_tool(client: &mut Client, url: &str, name: &str, arguments: &Value) -> Reply {
    let body = tool(name, arguments);
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("x-auth-type", "ucan"),
        ("x-room-id", "!room:matrix.example.org"),
    ];
    let reply = client.call_with("POST", url, Some(&body), &headers);
    assert!(reply.json()["result"]["isError"] != true, "{name}: {}", reply.text());
    reply
}

fn heavy(client: &mut Client, visitor: &mut Client, store: &str, round: usize) {
    let of_store = |rest: &str| format!("/v1/memory_stores/{store}/{rest}");
    let search = |mode: &str| json!({"query": "settled harbour boats", "limit": 100, "mode": mode});
    let reply = match round % SORTS {
        0 => client.post(&of_store("search"), &search("lexical")),
        1 => client.get(&of_store("duplicates")),
        2 => client.post("/v1/knowledge", &json!({"query": "who works for the harbour?"})),
        3 => client.post("/v1/search", &search("hybrid")),
        4 => client.get(&of_store("brief")),
        PLOTS => client.get("/console/series"),
        6 => client.get(&of_store("entries?view=full&as_of=2100-01-01T00:00:00Z")),
        7 => client.get(&of_store("memories?view=full&limit=20")),
        8 => client.post(&kilroy("memory_search"), &to_kilroy("the")),
        9 => client.post(&kilroy("memory_read"), &to_kilroy("")),
        10 => client.get("/v1/agents/busy/memory/entries?limit=100&query=harbour+leaving"),
        11 => client.get("/api/storage/memory?agentId=busy&action=search&q=harbour"),
        12 => client.get("/api/storage/memory?agentId=busy"),
        13 => {
            let search = json!({"query": "settled harbour boats", "store": store, "limit": 50,
                "max_tokens": 20_000});
            asked_tool(client, "/mcp", "memory_search", &search)
        }
        14 => {
            // Several large answers in one.
            let path = format!("/memories/shared/{store}/1");
            let read = json!({"command": "view", "path": path});
            let call = tool("memory", &read);
            let batch: Vec<Value> = (0..16)
                .map(|id| {
                    let mut call = call.clone();
                    call["id"] = json!(id);
                    call
                })
                .collect();
            let headers = [("accept", "application/json, text/event-stream")];
            client.call_with("POST", "/mcp", Some(&json!(batch)), &headers)
        }
        15 => {
            let search = json!({"query": "where is the harbour?", "strategy": "balanced",
                "max_episodes": 50});
            asked_tool(visitor, "/qiforge/mcp", "search_memory_engine", &search)
        }
        16 => {
            let recall = json!({"query": "harbour"});
            asked_tool(client, "/mcp", "mobius_memory_recall", &recall)
        }
        _ => {
            let search = json!({"command": "search", "query": "harbour", "agentId": "busy"});
            client.post("/v1/tools/memory", &search)
        }
    };
    // Of plots, nobody asks for more than two at once.
    let is_refused = round % SORTS == PLOTS && reply.status == 429;
    assert!(reply.status == 200 || is_refused, "{round}: {}", reply.text());
}
