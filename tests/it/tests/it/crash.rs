//! Promise: a write we acknowledged survives a crash, whole and once.
//!
//! Eight writers create, change and remove memories until the process is killed, round after
//! round. Each keeps a journal of what was acknowledged outside the server. The one request a
//! writer had in flight is sent again after the restart with the same idempotency key and must
//! have had, or now have, exactly one effect.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{Api, Client, Dice, Loci, Reply, Server, Setup, budget, count, eventually, sha256};
use serde_json::{Value, json};

fn rounds() -> usize {
    count("crash_rounds")
}
const WRITERS: usize = 8;
/// Writes that are acknowledged in each round at least.
const ANSWERS_MIN: u64 = 20;
/// Generous; a clean machine is ready in a fraction of it.
const READY_AFTER_CRASH: Duration = Duration::from_secs(5);

/// What one writer wants done; enough to send it twice.
#[derive(Clone, Debug)]
struct Op {
    key: String,
    method: &'static str,
    url: String,
    body: Option<Value>,
    effect: Effect,
}

#[derive(Clone, Debug)]
enum Effect {
    Create { path: String, content: String },
    Change { id: String, content: String },
    Remove { id: String },
}

/// A memory as its writer knows it from acknowledgements.
#[derive(Clone, Debug)]
struct Known {
    path: String,
    digest: String,
    version: String,
    /// How many versions it must have, no more and no fewer.
    revisions: usize,
    live: bool,
}

#[derive(Debug)]
struct Writer {
    number: usize,
    store: String,
    dice: Dice,
    sequence: u64,
    known: BTreeMap<String, Known>,
    /// Sent but not answered when the connection broke.
    pending: Option<Op>,
    acknowledged: u64,
    touched: Vec<String>,
}

impl Writer {
    fn new(number: usize, store: &str, dice: Dice) -> Self {
        Self {
            number,
            store: store.to_owned(),
            dice,
            sequence: 0,
            known: BTreeMap::new(),
            pending: None,
            acknowledged: 0,
            touched: Vec::new(),
        }
    }

    /// Writes until the connection breaks.
    fn work(&mut self, mut client: Client, answers: &AtomicU64) {
        loop {
            let op = self.next_op();
            self.pending = Some(op.clone());
            match send(&mut client, &op) {
                Ok(reply) => {
                    self.acknowledge(&op, &reply);
                    answers.fetch_add(1, Ordering::Relaxed);
                }
                Err(_) => return,
            }
        }
    }

    fn next_op(&mut self) -> Op {
        self.sequence += 1;
        let content = format!("writer {} says {} ", self.number, self.sequence)
            + &self.dice.hex(20 + self.sequence as usize % 400);
        let memories = format!("/v1/memory_stores/{}/memories", self.store);
        let live: Vec<&String> =
            self.known.iter().filter(|(_, known)| known.live).map(|(id, _)| id).collect();
        let choice = if live.len() < 3 { 0 } else { self.dice.below(10) };
        let (method, url, body, effect) = if choice < 4 {
            let path = format!("/w{}/{}.md", self.number, self.sequence);
            let body = json!({"path": path, "content": content});
            ("POST", memories, Some(body), Effect::Create { path, content })
        } else {
            let id = live[self.dice.below(live.len())].clone();
            let url = format!("{memories}/{id}");
            if choice < 8 {
                let body = json!({"content": content});
                ("POST", url, Some(body), Effect::Change { id, content })
            } else {
                ("DELETE", url, None, Effect::Remove { id })
            }
        };
        let key = format!("w{}-{}-{}", self.number, self.sequence, self.dice.hex(8));
        Op { key, method, url, body, effect }
    }

    /// Takes an answer into the journal; anything but success is a broken promise.
    fn acknowledge(&mut self, op: &Op, reply: &Reply) {
        assert_eq!(reply.status, 200, "{op:?} answered {}", reply.text());
        let answer = reply.json();
        let id = answer["id"].as_str().unwrap().to_owned();
        match &op.effect {
            Effect::Create { path, content } => {
                let known = Known {
                    path: path.clone(),
                    digest: sha256(content),
                    version: answer["memory_version_id"].as_str().unwrap().to_owned(),
                    revisions: 1,
                    live: true,
                };
                assert_eq!(answer["content_sha256"], known.digest.as_str(), "{op:?}");
                assert!(self.known.insert(id.clone(), known).is_none(), "{id} given out twice");
            }
            Effect::Change { id: wanted, content } => {
                assert_eq!(&id, wanted);
                let known = self.known.get_mut(wanted).unwrap();
                known.digest = sha256(content);
                known.version = answer["memory_version_id"].as_str().unwrap().to_owned();
                known.revisions += 1;
                assert_eq!(answer["content_sha256"], known.digest.as_str(), "{op:?}");
            }
            Effect::Remove { id: wanted } => {
                assert_eq!(&id, wanted);
                let known = self.known.get_mut(wanted).unwrap();
                known.live = false;
                known.revisions += 1;
            }
        }
        self.pending = None;
        self.acknowledged += 1;
        self.touched.push(id);
    }

    /// Before the retry: the unanswered request happened whole or not at all.
    fn check_pending(&self, api: &mut Api) {
        let Some(op) = &self.pending else { return };
        match &op.effect {
            Effect::Create { path, content } => {
                let own = format!("limit=100&path_prefix=/w{}/", self.number);
                let found = api.pages("/memories", &own).into_iter().find(|it| it["path"] == *path);
                if let Some(memory) = found {
                    assert_eq!(memory["content_sha256"], sha256(content), "half: {op:?}");
                    let versions = api.versions(memory["id"].as_str().unwrap());
                    assert_eq!(versions.len(), 1, "{op:?}");
                }
            }
            Effect::Change { id, content } => {
                let digest = api.get(id).ok()["content_sha256"].as_str().unwrap().to_owned();
                let before = &self.known[id];
                let versions = api.versions(id).len();
                let whole = (digest == before.digest && versions == before.revisions)
                    || (digest == sha256(content) && versions == before.revisions + 1);
                assert!(whole, "half a change: {op:?}, {digest}, {versions} versions");
            }
            Effect::Remove { id } => {
                let status = api.get(id).status;
                let versions = api.versions(id).len();
                let before = &self.known[id];
                let whole = (status == 200 && versions == before.revisions)
                    || (status == 404 && versions == before.revisions + 1);
                assert!(whole, "half a remove: {op:?}, {status}, {versions} versions");
            }
        }
    }

    /// Sends the unanswered request again, twice: it must have one effect and one answer.
    fn retry_pending(&mut self, client: &mut Client) {
        let Some(op) = self.pending.clone() else {
            return;
        };
        let first = send(client, &op).expect("the server answers after a restart");
        self.acknowledge(&op, &first);
        let second = send(client, &op).expect("the server answers after a restart");
        assert_eq!(second.status, 200, "{op:?} again: {}", second.text());
        assert_eq!(second.body, first.body, "{op:?}: the same key, another answer");
    }
}

fn send(client: &mut Client, op: &Op) -> std::io::Result<Reply> {
    let body = op.body.as_ref().map(Value::to_string);
    let body = body.as_ref().map(String::as_bytes);
    client.send(op.method, &op.url, body, &[("idempotency-key", &op.key)])
}

#[test]
fn acknowledged_writes_survive_kill_9() {
    let mut dice = Dice::new("crash");
    let setup = Setup::new();
    let mut server = setup.start();
    let store = Api::create(server.client(), "crash").store;
    let mut feed = Feed::default();
    let mut writers: Vec<Writer> =
        (0..WRITERS).map(|number| Writer::new(number, &store, dice.split())).collect();

    for round in 1..=rounds() {
        writers = kill_under_load(server, writers, dice.millis(50, 500));
        if round % 8 == 0 {
            // What a crash left behind is sound even before a server has recovered it.
            check_integrity(&setup);
        }
        server = setup.start();
        let ready = server.ready_after();
        assert!(ready < budget(READY_AFTER_CRASH), "ready {ready:?} after the crash");

        let mut api = Api::open(server.client(), &store);
        for writer in &mut writers {
            writer.check_pending(&mut api);
            writer.retry_pending(&mut api.client);
        }
        verify(&mut api, &mut writers, &mut feed);
    }

    verify_every_version(&mut Api::open(server.client(), &store), &writers);
    check_integrity(&setup);
    let acknowledged: u64 = writers.iter().map(|writer| writer.acknowledged).sum();
    eprintln!("crash: {acknowledged} acknowledged writes over {} kills", rounds());
    assert!(acknowledged >= ANSWERS_MIN * rounds() as u64, "only {acknowledged} writes");
    server.stop();
    check_integrity(&setup);
}

/// Kills the server so long after the writers began, and not before they have written something.
fn kill_under_load(server: Server, writers: Vec<Writer>, after: Duration) -> Vec<Writer> {
    let began = Instant::now();
    let answers = Arc::new(AtomicU64::new(0));
    let threads: Vec<_> = writers
        .into_iter()
        .map(|mut writer| {
            let (client, answers) = (server.client(), Arc::clone(&answers));
            thread::spawn(move || {
                writer.work(client, &answers);
                writer
            })
        })
        .collect();
    eventually("some writes", || answers.load(Ordering::Relaxed) >= ANSWERS_MIN);
    thread::sleep(after.saturating_sub(began.elapsed()));
    server.kill();
    threads.into_iter().map(|thread| thread.join().expect("a writer found a fault")).collect()
}

fn check_integrity(setup: &Setup) {
    Loci::on_data(setup.data()).ok(&["check"]);
}

/// What was read from the change feed so far.
#[derive(Default)]
struct Feed {
    last_seq: u64,
    total: u64,
}

/// Journal and server agree: every memory, digest and count; the feed has no gap.
fn verify(api: &mut Api, writers: &mut [Writer], feed: &mut Feed) {
    let stored: BTreeMap<_, _> =
        api.memories().into_iter().map(|memory| (memory.id.clone(), memory)).collect();
    let mut live = 0;
    for writer in writers.iter() {
        for (id, known) in writer.known.iter().filter(|(_, known)| known.live) {
            let memory = stored.get(id).unwrap_or_else(|| panic!("{id} lost: {known:?}"));
            assert_eq!(memory.path, known.path, "{id}");
            assert_eq!(memory.digest, known.digest, "{id} at {}", known.path);
            assert_eq!(memory.version, known.version, "{id}");
            live += 1;
        }
    }
    assert_eq!(stored.len(), live, "the server has memories nobody was promised");

    for change in api.changes(feed.last_seq) {
        feed.last_seq += 1;
        assert_eq!(change["seq"].as_u64(), Some(feed.last_seq), "a gap in the feed: {change}");
        feed.total += 1;
    }
    let acknowledged: u64 = writers.iter().map(|writer| writer.acknowledged).sum();
    assert_eq!(feed.total, acknowledged, "one change for each acknowledged write");

    for writer in writers {
        let touched = std::mem::take(&mut writer.touched);
        // The last ones were nearest to the crash; the rest is covered at the end.
        for id in touched.iter().rev().take(3) {
            verify_memory(api, id, &writer.known[id]);
        }
    }
}

fn verify_memory(api: &mut Api, id: &str, known: &Known) {
    let reply = api.get(id);
    if known.live {
        let memory = reply.ok();
        let content = memory["content"].as_str().unwrap();
        assert_eq!(sha256(content), known.digest, "{id}: the bytes are not the ones written");
    } else {
        assert_eq!(reply.status, 404, "{id} came back: {}", reply.text());
    }
    let versions = api.versions(id);
    assert_eq!(versions.len(), known.revisions, "{id}: versions lost or doubled");
    let newest = versions[0]["operation"].as_str().unwrap();
    let expected = match (known.live, known.revisions) {
        (false, _) => "deleted",
        (true, 1) => "created",
        (true, _) => "modified",
    };
    assert_eq!(newest, expected, "{id}");
}

/// At the end every memory's count of versions is checked, dead ones too.
fn verify_every_version(api: &mut Api, writers: &[Writer]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for version in api.all_versions() {
        *counts.entry(version["memory_id"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    let expected: BTreeMap<String, usize> = writers
        .iter()
        .flat_map(|writer| writer.known.iter())
        .map(|(id, known)| (id.clone(), known.revisions))
        .collect();
    assert_eq!(counts, expected);
}
