//! Promise: SIGTERM ends the server in order. It drains within five seconds, exits with 0, and
//! everything it acknowledged is there after the next start.

use std::io::Read;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use loci_it::{Api, Dice, Loci, Setup, budget, sha256};
use serde_json::json;

const CLIENTS: usize = 64;
const DRAIN: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn sigterm_under_load_drains_and_keeps_every_acknowledged_write() {
    let setup = Setup::new();
    let server = setup.start();
    let store = Api::create(server.client(), "drain").store;
    let stopping = Arc::new(AtomicBool::new(false));
    let (send, journal) = mpsc::channel();
    let mut dice = Dice::new("shutdown");
    let threads: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let mut client = server.client();
            let (send, stopping) = (send.clone(), Arc::clone(&stopping));
            let url = format!("/v1/memory_stores/{store}/memories");
            let mut dice = dice.split();
            thread::spawn(move || {
                for turn in 0.. {
                    let content = dice.hex(500);
                    let path = format!("/c{number}/{turn}");
                    let body = json!({"path": path, "content": content}).to_string();
                    let answer = client.send("POST", &url, Some(body.as_bytes()), &[]);
                    match answer {
                        Ok(reply) if reply.status == 200 => {
                            send.send((path, sha256(&content))).unwrap();
                        }
                        // Refusing with "come back later" is in order, but only while stopping.
                        Ok(reply) => {
                            assert_eq!(reply.status, 503, "{}", reply.text());
                            assert!(stopping.load(Ordering::SeqCst));
                            return;
                        }
                        Err(error) => {
                            assert!(stopping.load(Ordering::SeqCst), "broken early: {error}");
                            return;
                        }
                    }
                }
            })
        })
        .collect();
    drop(send);
    // Everybody is at work when many more have been answered than there are clients.
    let early = (0..4 * CLIENTS).map(|_| journal.recv_timeout(PATIENCE).expect("writes go on"));
    let mut acknowledged: Vec<(String, String)> = early.collect();
    // A connection that says nothing must not hold the server up.
    let mut idle = TcpStream::connect(server.addr()).unwrap();

    stopping.store(true, Ordering::SeqCst);
    let (status, took) = server.terminate();
    assert!(status.success(), "{status}:\n{}", setup.printed());
    assert!(took <= budget(DRAIN), "took {took:?} to drain");
    for thread in threads {
        thread.join().unwrap();
    }
    idle.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(!matches!(idle.read(&mut [0; 16]), Ok(1..)), "an idle connection is closed silently");

    Loci::on_data(setup.data()).ok(&["check"]);
    acknowledged.extend(journal.iter());
    let server = setup.start();
    let mut api = Api::open(server.client(), &store);
    let stored: std::collections::BTreeMap<String, String> =
        api.memories().into_iter().map(|memory| (memory.path, memory.digest)).collect();
    for (path, digest) in &acknowledged {
        assert_eq!(stored.get(path), Some(digest), "{path} was acknowledged");
    }
    eprintln!("shutdown: {} acknowledged, {} stored, {took:?}", acknowledged.len(), stored.len());
    server.stop();
}

#[test]
fn a_second_server_on_the_same_data_directory_is_refused() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "mine");
    api.put("/a", "before");
    let Err(status) = setup.try_start() else { panic!("two servers on one data directory") };
    assert!(!status.success());
    api.put("/b", "the first one goes on");
    server.stop();
}
