//! Promise: slow and silent clients cost nobody else anything. A client that dawdles over its
//! header or body is closed within 20 seconds while others are answered at once; too many
//! connections are refused cleanly and served again when some have left.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{ADMIN_KEY, Api, Setup, budget};

const CLOSED_WITHIN: Duration = Duration::from_secs(20);
const PROBE_WITHIN: Duration = Duration::from_secs(2);
const SLOW_CLIENTS: usize = 40;

/// How a client dawdles.
#[derive(Clone, Copy, Debug)]
enum Slow {
    /// Says nothing at all.
    Silent,
    /// One header byte each second.
    Header,
    /// A complete header, then one body byte each second.
    Body,
    /// The same with chunks.
    Chunks,
}

#[test]
fn slow_clients_are_closed_while_a_probe_is_answered() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "slow");
    let memory = api.put("/probe", "still here");
    let done = Arc::new(AtomicBool::new(false));

    let dawdlers: Vec<_> = (0..SLOW_CLIENTS)
        .map(|number| {
            let kind = [Slow::Silent, Slow::Header, Slow::Body, Slow::Chunks][number % 4];
            let addr = server.addr();
            thread::spawn(move || (kind, dawdle(addr, kind)))
        })
        .collect();
    let probe = {
        let done = Arc::clone(&done);
        thread::spawn(move || {
            let (mut worst, mut answers) = (Duration::ZERO, 0);
            while !done.load(Ordering::SeqCst) {
                let began = Instant::now();
                assert_eq!(api.content(&memory.id), "still here");
                worst = worst.max(began.elapsed());
                answers += 1;
                thread::sleep(Duration::from_millis(20));
            }
            (worst, answers)
        })
    };
    let outcomes: Vec<_> = dawdlers.into_iter().map(|thread| thread.join().unwrap()).collect();
    done.store(true, Ordering::SeqCst);
    let (worst, answers) = probe.join().unwrap();

    for (kind, closed) in outcomes {
        let after = closed.unwrap_or_else(|| panic!("{kind:?} was never closed"));
        assert!(after <= budget(CLOSED_WITHIN), "{kind:?} was closed after {after:?}");
    }
    assert!(worst <= budget(PROBE_WITHIN), "the probe once waited {worst:?}");
    assert!(answers > 0, "the probe was not answered");
    server.stop();
}

/// Dawdles until the server closes; how long that took, if it did.
fn dawdle(addr: SocketAddr, kind: Slow) -> Option<Duration> {
    let mut stream = TcpStream::connect(addr).unwrap();
    let began = Instant::now();
    let head = "POST /v1/memory_stores HTTP/1.1\r\nhost: localhost\r\n".to_owned()
        + &format!("authorization: Bearer {ADMIN_KEY}\r\n")
        + "anthropic-beta: agent-memory-2026-07-22\r\ncontent-type: application/json\r\n";
    let (at_once, drip): (String, &[u8]) = match kind {
        Slow::Silent => (String::new(), b""),
        Slow::Header => (head, b"x-"),
        Slow::Body => (head + "content-length: 1000\r\n\r\n{\"name\": \"", b"a"),
        Slow::Chunks => (head + "transfer-encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    };
    stream.write_all(at_once.as_bytes()).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut answer = [0; 1024];
    while began.elapsed() < budget(CLOSED_WITHIN) * 2 {
        // A refusal may come before the close; reading on until the end covers both.
        match stream.read(&mut answer) {
            Ok(0) => return Some(began.elapsed()),
            Ok(_) => continue,
            Err(error) if is_timeout(&error) => {}
            Err(_) => return Some(began.elapsed()),
        }
        if stream.write_all(drip).is_err() {
            return Some(began.elapsed());
        }
    }
    None
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

#[test]
fn too_many_busy_connections_are_refused_cleanly_and_served_again_later() {
    let setup = Setup::new().config("[limits]\nconnections = 20\n");
    let server = setup.start();
    let mut api = Api::create(server.client(), "busy");
    api.put("/a", "tea");
    // Each waits for something to happen, which is no idleness.
    let wait = format!(
        "GET /v1/memory_stores/{}/changes?after=1&wait_seconds=30 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ADMIN_KEY}\r\n\r\n",
        api.store
    );
    let mut held: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(server.addr()).unwrap();
            stream.write_all(wait.as_bytes()).unwrap();
            stream
        })
        .collect();
    // The place of the first connection, which waits between requests, went to the last of these.
    let mut refused = 0;
    for _ in 0..10 {
        let mut extra = server.client();
        match extra.send("GET", "/v1/memory_stores", None, &[]) {
            // Either an answer that says so, or a closed connection; never a hang, never a 200.
            Ok(reply) => {
                assert_eq!(reply.status, 503, "{}", reply.text());
                assert!(reply.header("retry-after").is_some(), "{:?}", reply.headers);
            }
            Err(error) => assert!(!is_timeout(&error), "left hanging: {error}"),
        }
        refused += 1;
    }
    assert_eq!(refused, 10);
    let mut probe = server.client_as(None);
    assert_eq!(probe.get("/healthz").status, 200, "probes are answered even so");

    held.pop();
    let began = Instant::now();
    // Kept: the server learns a moment later that a connection is gone, and its place is taken until then.
    let client = loop {
        let mut client = server.client();
        let answer = client.send("GET", "/v1/memory_stores", None, &[]);
        if answer.is_ok_and(|reply| reply.status == 200) {
            break client;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "still refused after one has left");
        thread::sleep(Duration::from_millis(50));
    };
    Api::open(client, &api.store).put("/b", "what they wait for");
    let mut answer = [0; 12];
    for mut busy in held {
        busy.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        busy.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200", "who is busy keeps its place");
    }
    server.stop();
}
