//! Promise: a connection on which nothing happens is closed, and keeps nobody out until it is: when all
//! places are taken by connections that wait, whoever has something to ask is served at once.

use loci_it::{Client, Reply, Server, Setup, count, eventually};
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Files that a process has open beside its connections.
const OTHER_FILES: u64 = 600;
const PATIENCE: Duration = Duration::from_secs(60);
/// The files of this process are enough for the connections of one test at a time.
static CROWD: Mutex<()> = Mutex::new(());
const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Connections that have made one request and go silent.
fn silent(server: &Server, number: usize) -> Vec<TcpStream> {
    let open = |at: usize| {
        let mut stream = TcpStream::connect(server.addr())
            .unwrap_or_else(|error| panic!("connection {at} of {number}: {error}"));
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        std::io::Write::write_all(&mut stream, HEALTH).unwrap();
        let mut answer = [0; 1024];
        let length = stream.read(&mut answer).unwrap();
        assert!(answer[..length].starts_with(b"HTTP/1.1 200"), "connection {at}");
        stream
    };
    (0..number).map(open).collect()
}

/// As many connections as this run is for, if the system allows this process and the server as many
/// files. In the deep tier it has to: fewer connections would show nothing of what is promised.
fn connections() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let allowed = limit.map_or(usize::MAX, |limit| limit.saturating_sub(OTHER_FILES) as usize);
    let wanted = count("idle_connections");
    assert!(
        allowed >= wanted || !loci_it::timing_budgets(),
        "{wanted} connections need a limit of {} open files (ulimit -Hn)",
        wanted as u64 + OTHER_FILES
    );
    wanted.min(allowed)
}

fn stats(server: &Server) -> Reply {
    let mut client: Client = server.client();
    client.connect().unwrap();
    client.get("/v1/stats")
}

#[test]
fn connections_that_go_silent_are_all_closed() {
    let _alone = CROWD.lock().unwrap_or_else(PoisonError::into_inner);
    let setup = Setup::new().config("[limits]\nidle_timeout_seconds = 2\n");
    let server = setup.start();
    let began = Instant::now();
    let held = silent(&server, connections());
    for (at, mut stream) in held.into_iter().enumerate() {
        match stream.read(&mut [0; 16]) {
            Ok(0) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            other => panic!("connection {at} after {:?}: {other:?}", began.elapsed()),
        }
    }
    assert_eq!(stats(&server).status, 200);
    server.stop();
}

#[test]
fn whoever_asks_is_served_at_once_while_idle_connections_take_all_places() {
    let _alone = CROWD.lock().unwrap_or_else(PoisonError::into_inner);
    let number = connections();
    let setup = Setup::new().config(&format!("[limits]\nconnections = {number}\n"));
    let server = setup.start();
    let held = silent(&server, number);
    let mut worst = Duration::ZERO;
    for probe in 0..60 {
        let began = Instant::now();
        let reply = stats(&server);
        assert_eq!(reply.status, 200, "probe {probe}: {}", reply.text());
        worst = worst.max(began.elapsed());
        thread::sleep(Duration::from_millis(20));
    }
    println!("{number} idle connections: the slowest probe took {worst:?}");
    assert!(worst <= loci_it::budget(Duration::from_secs(1)), "{worst:?}");
    drop(held);
    server.stop();
}

/// So many connections that all say the same, whether or not the server takes them.
fn crowd(server: &Server, number: usize, says: &[u8]) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        // The server may have closed it already.
        let _ = std::io::Write::write_all(&mut stream, says);
        stream
    };
    (0..number).map(open).collect()
}

#[test]
fn whoever_has_a_key_is_served_when_more_connect_than_there_are_files() {
    let _alone = CROWD.lock().unwrap_or_else(PoisonError::into_inner);
    for says in [HEALTH, b"", b"GET /healthz HTTP/1.1\r\n"] {
        let setup = Setup::new().open_files(64, 256);
        let server = setup.start();
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.id())).unwrap();
        let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
        assert_eq!(files.split_whitespace().nth(3), Some("256"), "{files}");
        eventually("a warning of the bound", || {
            setup.printed().contains("fewer connections than configured")
        });
        let held = crowd(&server, 400, says);
        let (began, mut refused) = (Instant::now(), 0);
        for _ in 0..5 {
            // While those over the limit are told so, there may be no place for a moment.
            while stats(&server).status != 200 {
                refused += 1;
                assert!(began.elapsed() < PATIENCE, "refused {refused} times: {}", setup.printed());
                thread::sleep(Duration::from_millis(50));
            }
        }
        let complaints = setup.printed().matches("cannot accept connections").count();
        println!("{:?}, {refused} refusals, {complaints} complaints", began.elapsed());
        assert!(complaints <= 1, "{complaints} lines for one episode");
        drop(held);
        server.stop();
    }
}
