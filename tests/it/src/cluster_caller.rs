//! A client of several servers that does not give up: without an answer, or with one that says to
//! come back, it sends the same request with the same idempotency key to another server.
//!
//! It keeps the time of both ends of every question, on one clock for all clients of a run.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::{Client, Reply};
use crate::cluster_fleet::Fleet;
use crate::server::ADMIN_KEY;
use loci_test_kit::Dice;

/// How long one request may stay without an answer, whatever is being broken.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two tries; a polite client would wait for the second it is told.
const PAUSE: Duration = Duration::from_millis(15);

/// An answer, and how it was got.
#[derive(Debug)]
pub struct Answer {
    pub reply: Reply,
    /// Nanoseconds of the run.
    pub sent: u64,
    pub answered: u64,
    /// How often it was sent.
    pub tries: usize,
}

/// One client.
pub struct Caller<'a> {
    fleet: &'a Fleet<'a>,
    clock: Instant,
    pub dice: Dice,
    /// One connection for each place.
    clients: Vec<Option<(SocketAddr, Client)>>,
}

impl<'a> Caller<'a> {
    pub fn new(fleet: &'a Fleet<'a>, clock: Instant, dice: Dice) -> Self {
        let clients = (0..fleet.count()).map(|_| None).collect();
        Self { fleet, clock, dice, clients }
    }

    /// The time of the run.
    pub fn now(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_nanos()).expect("a run takes less than centuries")
    }

    /// Asks until somebody answers. An answer that is neither a yes, a no nor an orderly "not now"
    /// ends the test.
    #[track_caller]
    pub fn ask(&mut self, method: &str, path: &str, body: Option<&Value>, key: &str) -> Answer {
        let body = body.map(Value::to_string);
        let bytes = body.as_ref().map(String::as_bytes);
        let headers = [("idempotency-key", key)];
        let mut place = self.dice.below(self.fleet.count());
        let (began, sent) = (Instant::now(), self.now());
        let mut tries = 0;
        while began.elapsed() < PATIENCE {
            if let Some(client) = self.client(place) {
                tries += 1;
                if let Ok(reply) = client.send(method, path, bytes, &headers) {
                    if reply.status < 500 {
                        return Answer { reply, sent, answered: self.now(), tries };
                    }
                    let is_orderly = reply.status == 503 && reply.header("retry-after").is_some();
                    assert!(is_orderly, "{method} {path}: {} {}", reply.status, reply.text());
                }
            }
            place = (place + 1 + self.dice.below(self.fleet.count() - 1)) % self.fleet.count();
            thread::sleep(PAUSE);
        }
        panic!("{method} {path} has no answer after {tries} tries and {PATIENCE:?}");
    }

    /// The connection to a place, if somebody is there.
    fn client(&mut self, place: usize) -> Option<&mut Client> {
        let address = self.fleet.address(place)?;
        let known = &mut self.clients[place];
        if known.as_ref().is_none_or(|(old, _)| *old != address) {
            *known = Some((address, Client::new(address, Some(ADMIN_KEY))));
        }
        known.as_mut().map(|(_, client)| client)
    }
}
