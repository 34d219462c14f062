//! Promise: a client that lost its answer asks again with the same idempotency key, at another
//! server, and there is one effect.
//!
//! The connection is cut right after the request has gone out, at a random moment: before the server
//! reads it, while it waits for its turn, while the database commits, or when the answer is on its
//! way. The repetition may overtake the first sending or meet it at the store.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use loci_it::{ADMIN_KEY, Api, Client, Cluster, Dice, Server, count, sha256};
use serde_json::{Value, json};

const CLIENTS: usize = 12;
fn rounds() -> usize {
    count("retry_rounds")
}
/// About as long as a write takes on a busy machine.
const CUT_WITHIN: Duration = Duration::from_millis(60);

/// A request that can be sent more than once.
struct Request {
    method: &'static str,
    url: String,
    body: Option<Value>,
    key: String,
}

impl Request {
    /// Sends it, and does not wait for the answer.
    fn send_and_cut(&self, server: &Server, after: Duration) {
        let body = self.body.as_ref().map_or_else(String::new, Value::to_string);
        let mut message = format!("{} {} HTTP/1.1\r\nhost: localhost\r\n", self.method, self.url);
        message += &format!("authorization: Bearer {ADMIN_KEY}\r\n");
        message += &format!("idempotency-key: {}\r\n", self.key);
        if self.body.is_some() {
            message += "content-type: application/json\r\n";
            message += &format!("content-length: {}\r\n", body.len());
        }
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.write_all(format!("{message}\r\n{body}").as_bytes()).unwrap();
        thread::sleep(after);
        // Fails only when the other side was faster.
        let _ = stream.shutdown(Shutdown::Both);
    }

    #[track_caller]
    fn ask(&self, client: &mut Client) -> Value {
        let headers = [("idempotency-key", self.key.as_str())];
        client.call_with(self.method, &self.url, self.body.as_ref(), &headers).ok()
    }
}

/// One client and what it asks for.
struct Forgetful<'a> {
    servers: &'a [Server],
    clients: Vec<Client>,
    memories: String,
    number: usize,
    dice: Dice,
}

impl Forgetful<'_> {
    /// Asks one server and hangs up, asks a second one, and has the answer confirmed by the third.
    #[track_caller]
    fn insist(&mut self, method: &'static str, url: String, body: Option<Value>) -> Value {
        let key = format!("{}-{}", self.number, self.dice.hex(24));
        let request = Request { method, url, body, key };
        let first = self.dice.below(self.servers.len());
        let micros = self.dice.below(usize::try_from(CUT_WITHIN.as_micros()).unwrap());
        // Most of what matters happens in the first part of the time.
        let micros = micros >> self.dice.below(6);
        request.send_and_cut(&self.servers[first], Duration::from_micros(micros as u64));
        let [second, third] = if self.dice.below(2) == 0 { [1, 2] } else { [2, 1] };
        let count = self.servers.len();
        let answer = request.ask(&mut self.clients[(first + second) % count]);
        assert_eq!(request.ask(&mut self.clients[(first + third) % count]), answer);
        answer
    }

    /// Creates, changes and removes memories; their ids, and whether they are gone.
    fn work(mut self) -> Vec<(String, bool)> {
        let mut made = Vec::new();
        for round in 0..rounds() {
            let (old, new) = (self.dice.hex(40), self.dice.hex(40));
            let body = json!({"path": format!("/{}/{round}", self.number), "content": old});
            let created = self.insist("POST", self.memories.clone(), Some(body));
            let id = created["id"].as_str().unwrap().to_owned();
            let url = format!("{}/{id}", self.memories);
            let expected = json!({"type": "content_sha256", "content_sha256": sha256(&old)});
            let body = json!({"content": new, "precondition": expected});
            let changed = self.insist("POST", url.clone(), Some(body));
            assert_eq!(changed["content_sha256"], sha256(&new));
            let is_removed = round % 2 == 0;
            if is_removed {
                let url = format!("{url}?expected_content_sha256={}", sha256(&new));
                self.insist("DELETE", url, None);
            }
            made.push((id, is_removed));
        }
        made
    }
}

#[test]
fn an_answer_that_was_lost_is_had_from_another_server_and_nothing_happens_twice() {
    let mut dice = Dice::new("lost answers");
    let cluster = Cluster::fresh().with(|setup| setup.config("[search]\nembedder = 'none'\n"));
    let servers = cluster.start_together(3);
    let mut api = Api::create(servers[0].client(), "lost answers");
    let memories = api.path("/memories");
    let made: Vec<(String, bool)> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let forgetful = Forgetful {
                    servers: &servers,
                    clients: servers.iter().map(Server::client).collect(),
                    memories: memories.clone(),
                    number,
                    dice: dice.split(),
                };
                scope.spawn(move || forgetful.work())
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(made.len(), CLIENTS * rounds());

    let mut expected = 0;
    for (id, is_removed) in &made {
        let versions = api.versions(id);
        let operations: Vec<&str> =
            versions.iter().rev().filter_map(|version| version["operation"].as_str()).collect();
        let all = ["created", "modified", "deleted"];
        assert_eq!(operations, all[..if *is_removed { 3 } else { 2 }], "{id}");
        expected += operations.len();
    }
    let numbers: Vec<usize> = api
        .changes(0)
        .iter()
        .filter_map(|change| change["seq"].as_u64().and_then(|seq| usize::try_from(seq).ok()))
        .collect();
    assert!(numbers.into_iter().eq(1..=expected), "one entry for each request, without a gap");
    cluster.check();
    servers.into_iter().for_each(Server::stop);
}
