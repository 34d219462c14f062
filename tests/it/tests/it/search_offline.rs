//! Promise: search by meaning works from the first minute on a machine without a network.
//!
//! The server and its client run in a network namespace that has a loopback interface and not one
//! route: whatever tried to fetch a model would fail at once. Needs root and `ip` (iproute2).

use std::fs::File;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{Api, FACTS, Setup, timing_budgets};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Addresses that a machine with any route at all would try.
const OUTSIDE: [&str; 3] = ["192.0.2.1:443", "[2001:db8::1]:443", "10.255.255.254:80"];

/// A network namespace of our own, gone when dropped.
struct Island {
    name: String,
}

impl Island {
    fn new() -> Self {
        let name = format!("loci-it-{}", std::process::id());
        let added = Command::new("ip").args(["netns", "add", &name]).status();
        assert!(
            added.is_ok_and(|status| status.success()),
            "this test makes a network namespace: run it as root (CAP_SYS_ADMIN) with iproute2"
        );
        let island = Self { name };
        island.ip(&["link", "set", "lo", "up"]);
        island
    }

    #[track_caller]
    fn ip(&self, args: &[&str]) -> String {
        let output = Command::new("ip").args(["-n", &self.name]).args(args).output();
        let output = output.expect("ip was here a moment ago");
        assert!(output.status.success(), "ip {args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Moves the calling thread, and whatever it starts, into the namespace.
    fn enter(&self) {
        let file = File::open(PathBuf::from("/var/run/netns").join(&self.name));
        let file = file.expect("the namespace has a file");
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
            .expect("who made the namespace may enter it");
    }
}

impl Drop for Island {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.name]).status();
    }
}

#[test]
fn meaning_works_without_a_network_from_the_first_minute() {
    let island = Island::new();
    assert_eq!(island.ip(&["route", "show", "table", "main"]), "", "not one route");
    let links = island.ip(&["-o", "link", "show"]);
    assert_eq!(links.lines().count(), 1, "loopback and nothing else: {links}");
    thread::scope(|scope| {
        let inside = scope.spawn(|| {
            island.enter();
            for address in OUTSIDE {
                let wait = Duration::from_secs(5);
                let tried = TcpStream::connect_timeout(&address.parse().unwrap(), wait);
                let failed = tried.expect_err("there is a way out of the namespace").kind();
                assert_eq!(failed, ErrorKind::NetworkUnreachable, "{address}");
            }
            search();
        });
        inside.join().expect("search works without a network");
    });
}

fn search() {
    let began = Instant::now();
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "island");
    let made: Vec<_> = FACTS
        .iter()
        .enumerate()
        .map(|(number, (text, _))| api.put(&format!("/f/{number}"), text).id)
        .collect();
    api.settle();
    for ((_, asked), id) in FACTS.iter().zip(&made) {
        let found = api.found("semantic", asked);
        assert!(found.iter().take(3).any(|it| it == id), "{asked}");
    }
    let status = server.client().get("/v1/embedding").ok();
    assert!(status["model"].is_string(), "{status}");
    let took = began.elapsed();
    eprintln!("searched by meaning {took:.1?} after the first start, without a network");
    let is_in_time = !timing_budgets() || took < Duration::from_secs(60);
    assert!(is_in_time, "not in the first minute: {took:?}");
    server.stop();
}
