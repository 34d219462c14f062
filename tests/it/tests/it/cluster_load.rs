//! What one client of a chaos run does: it knows its own memories from what it was told, and those
//! that all share from a board on which everybody notes what they saw last. What is on the board may
//! be out of date, which is what preconditions are for.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use loci_it::{Answer, Asked, Call, Caller, Told, error_type, sha256};
use serde_json::{Value, json};

/// The shared memories, by number: id and digest as somebody saw them last.
pub(crate) struct Board {
    seen: Vec<Option<(String, String)>>,
}

impl Board {
    pub(crate) fn new(count: usize) -> Self {
        Self { seen: vec![None; count] }
    }
}

/// What all clients of a run go by.
#[derive(Default)]
pub(crate) struct Progress {
    /// Set when the clients are to end.
    pub(crate) is_over: AtomicBool,
    /// Writes that were acknowledged.
    pub(crate) acknowledged: AtomicUsize,
}

/// Whose memory a request is about.
#[derive(Clone, Copy)]
enum Whose {
    Own(usize),
    Shared(usize),
}

/// One client.
pub(crate) struct Visitor<'a> {
    caller: Caller<'a>,
    number: usize,
    seed: u64,
    memories: String,
    board: &'a Mutex<Board>,
    own: Vec<(String, String)>,
    written: usize,
    calls: Vec<Call>,
}

impl<'a> Visitor<'a> {
    pub(crate) fn new(
        caller: Caller<'a>,
        number: usize,
        seed: u64,
        store: &str,
        board: &'a Mutex<Board>,
    ) -> Self {
        let memories = format!("/v1/memory_stores/{store}/memories");
        let (own, calls) = (Vec::new(), Vec::new());
        Self { caller, number, seed, memories, board, own, written: 0, calls }
    }

    /// Works until it is over, and hands in what it did and was told.
    pub(crate) fn work(mut self, progress: &Progress) -> Vec<Call> {
        while !progress.is_over.load(Ordering::Acquire) {
            let seen = self.calls.len();
            self.step();
            let done = |call: &&Call| matches!(call.told, Told::Done { .. });
            let acknowledged = self.calls[seen..].iter().filter(done).count();
            progress.acknowledged.fetch_add(acknowledged, Ordering::Relaxed);
        }
        self.calls
    }

    fn step(&mut self) {
        let shared = self.caller.dice.below(self.board.lock().unwrap().seen.len());
        let known = self.board.lock().unwrap().seen[shared].clone();
        let choice = self.caller.dice.below(100);
        match (known, choice) {
            (_, 0..20) => self.create(None),
            (_, 20..45) if !self.own.is_empty() => {
                let index = self.caller.dice.below(self.own.len());
                let known = self.own[index].clone();
                match choice {
                    20..35 => self.update(Whose::Own(index), known, choice < 30),
                    35..38 => self.remove(Whose::Own(index), known, choice < 37),
                    _ => self.read(Whose::Own(index), known),
                }
            }
            (Some(known), 45..70) => self.update(Whose::Shared(shared), known, true),
            (Some(known), 70..74) => self.update(Whose::Shared(shared), known, false),
            (Some(known), 74..80) => self.remove(Whose::Shared(shared), known, choice < 78),
            (Some(known), 80..92) => self.read(Whose::Shared(shared), known),
            _ => self.create(Some(shared)),
        }
    }

    /// A text that nobody else ever writes.
    fn content(&mut self) -> String {
        self.written += 1;
        format!("seed {} client {} writes {}", self.seed, self.number, self.written)
    }

    fn create(&mut self, shared: Option<usize>) {
        let content = self.content();
        let path = match shared {
            Some(number) => format!("/shared/{number}.md"),
            None => format!("/own/{}/{}.md", self.number, self.written),
        };
        let digest = sha256(&content);
        let url = self.memories.clone();
        let body = json!({"path": path, "content": content});
        let answer = self.ask("POST", &url, Some(&body));
        let told = told(&answer);
        match (&told, shared) {
            (Told::Done { memory, .. }, Some(number)) => {
                self.note(number, Some((memory.clone(), digest.clone())));
            }
            (Told::Done { memory, .. }, None) => self.own.push((memory.clone(), digest.clone())),
            (Told::Taken { by }, Some(number)) => {
                // Its digest is not known: whoever compares with this one learns that it differs.
                let mut board = self.board.lock().unwrap();
                board.seen[number].get_or_insert((by.clone(), digest.clone()));
            }
            _ => {}
        }
        self.record(&answer, Asked::Create { path, digest }, told);
    }

    fn update(&mut self, whose: Whose, known: (String, String), compares: bool) {
        let (memory, old) = known;
        let content = self.content();
        let digest = sha256(&content);
        let url = format!("{}/{memory}", self.memories);
        let mut body = json!({"content": content});
        if compares {
            body["precondition"] = json!({"type": "content_sha256", "content_sha256": old});
        }
        let answer = self.ask("POST", &url, Some(&body));
        let told = told(&answer);
        match (&told, whose) {
            (Told::Done { .. }, _) => self.learn(whose, Some((memory.clone(), digest.clone()))),
            (Told::Missing, Whose::Shared(number)) => self.note(number, None),
            (Told::Differs, Whose::Shared(_)) => self.read(whose, (memory.clone(), old.clone())),
            _ => {}
        }
        let expects = compares.then_some(old);
        self.record(&answer, Asked::Update { memory, expects, digest }, told);
    }

    fn remove(&mut self, whose: Whose, known: (String, String), compares: bool) {
        let (memory, old) = known;
        let query = if compares { format!("?expected_content_sha256={old}") } else { "".into() };
        let url = format!("{}/{memory}{query}", self.memories);
        let answer = self.ask("DELETE", &url, None);
        let told = told(&answer);
        if matches!(told, Told::Done { .. } | Told::Missing) {
            self.learn(whose, None);
        }
        let expects = compares.then_some(old);
        self.record(&answer, Asked::Remove { memory, expects }, told);
    }

    fn read(&mut self, whose: Whose, known: (String, String)) {
        let memory = known.0;
        let url = format!("{}/{memory}", self.memories);
        let answer = self.ask("GET", &url, None);
        let told = match answer.reply.status {
            200 => {
                let body = answer.reply.json();
                self.learn(whose, Some((memory.clone(), text(&body, "content_sha256"))));
                Told::Saw { version: text(&body, "memory_version_id") }
            }
            _ => told(&answer),
        };
        if let (Told::Missing, Whose::Shared(number)) = (&told, whose) {
            self.note(number, None);
        }
        self.record(&answer, Asked::Read { memory }, told);
    }

    fn learn(&mut self, whose: Whose, seen: Option<(String, String)>) {
        match (whose, seen) {
            (Whose::Shared(number), seen) => self.note(number, seen),
            (Whose::Own(index), Some(seen)) => self.own[index] = seen,
            (Whose::Own(index), None) => {
                self.own.swap_remove(index);
            }
        }
    }

    fn note(&self, number: usize, seen: Option<(String, String)>) {
        self.board.lock().unwrap().seen[number] = seen;
    }

    fn ask(&mut self, method: &str, url: &str, body: Option<&Value>) -> Answer {
        let key = format!("{}-{}-{}", self.seed, self.number, self.caller.dice.hex(16));
        self.caller.ask(method, url, body, &key)
    }

    fn record(&mut self, answer: &Answer, asked: Asked, told: Told) {
        let Answer { sent, answered, tries, .. } = *answer;
        self.calls.push(Call { sent, answered, is_repeated: tries > 1, asked, told });
    }
}

/// What an answer to a write says.
fn told(answer: &Answer) -> Told {
    let reply = &answer.reply;
    let body = reply.json();
    match (reply.status, error_type(reply).as_deref()) {
        (200, _) => Told::Done {
            memory: text(&body, "id"),
            version: body["memory_version_id"].as_str().map(str::to_owned),
        },
        (404, _) => Told::Missing,
        (409, Some("memory_precondition_failed_error")) => Told::Differs,
        (409, Some("memory_path_conflict_error")) => {
            Told::Taken { by: text(&body["error"], "conflicting_memory_id") }
        }
        _ => panic!("{}: {}", reply.status, reply.text()),
    }
}

fn text(body: &Value, name: &str) -> String {
    body[name].as_str().unwrap_or_else(|| panic!("no {name} in {body}")).to_owned()
}
