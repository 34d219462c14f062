//! Promise: a connection on which nothing happens is closed, and keeps nobody out until it is: when all
//! places are taken by connections that wait, whoever has something to ask is served at once.

use loci_it::{Client, Reply, Server, Setup, count};
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// Files that a process has open beside its connections.
const OTHER_FILES: u64 = 200;
const PATIENCE: Duration = Duration::from_secs(60);
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

/// As many connections as this run is for and the system allows this process.
fn connections() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let allowed = limit.map_or(usize::MAX, |limit| limit.saturating_sub(OTHER_FILES) as usize);
    count("idle_connections").min(allowed)
}

fn stats(server: &Server) -> Reply {
    let mut client: Client = server.client();
    client.connect().unwrap();
    client.get("/v1/stats")
}

#[test]
fn connections_that_go_silent_are_all_closed() {
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
