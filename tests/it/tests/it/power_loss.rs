//! Promise: what was erased is gone when we say so, and does not come back when the power fails; and
//! what was acknowledged is still there.
//!
//! A library that is loaded before the C library keeps what a power loss would leave of the data
//! directory: each file as it was when it was last synced. Round after round a scrub is cut off by
//! SIGKILL and a power loss, before, while or right after it is answered, and sent again with the same
//! idempotency key; after each answer no byte of the canary may be in any file, also not after one
//! more power loss.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{Api, Client, Dice, Loci, Needles, Reply, Server, Setup, count, hits_in_dir, sha256};
use serde_json::{Value, json};

/// Longer than a scrub takes here, so that some are answered before the kill.
const CUT_AFTER_MILLIS: u64 = 40;
/// How long a repeated request may be told to ask again.
const PATIENCE: Duration = Duration::from_secs(60);

/// A directory whose unsynced changes can be lost.
struct Disk {
    live: PathBuf,
    kept: PathBuf,
    library: PathBuf,
}

impl Disk {
    fn new(folder: &Path) -> Self {
        let library = folder.join("power_loss.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/power_loss.c");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .args([library.to_str().unwrap(), source, "-ldl"])
            .status()
            .expect("a C compiler is here, because the bundled SQLite needs one");
        assert!(compiled.success());
        // The library compares names as the kernel tells them.
        let folder = folder.canonicalize().unwrap();
        let (live, kept) = (folder.join("data"), folder.join("kept"));
        fs::create_dir(&kept).unwrap();
        Self { live, kept, library }
    }

    /// What the processes have to know.
    fn variables(&self) -> [(&'static str, &str); 3] {
        [
            ("LD_PRELOAD", self.library.to_str().unwrap()),
            ("LOCI_TEST_DISK", self.live.to_str().unwrap()),
            ("LOCI_TEST_DISK_KEPT", self.kept.to_str().unwrap()),
        ]
    }

    /// The power fails: what was not synced is lost, all of it, or only in those files that the
    /// kernel had not written by itself.
    fn lose_power(&self, dice: &mut Dice) {
        let loses_all = dice.percent(70);
        self.lose(|| loses_all || dice.percent(50));
    }

    fn lose(&self, mut is_lost: impl FnMut() -> bool) {
        let mut names: Vec<_> = self.names(&self.live);
        names.extend(self.names(&self.kept));
        names.sort();
        names.dedup();
        for name in names {
            if !is_lost() {
                continue;
            }
            let (live, kept) = (self.live.join(&name), self.kept.join(&name));
            if kept.exists() {
                fs::copy(kept, live).unwrap();
            } else if live.exists() {
                fs::remove_file(live).unwrap();
            }
        }
        // What is there now is on the disk.
        for name in self.names(&self.kept) {
            fs::remove_file(self.kept.join(name)).unwrap();
        }
        for name in self.names(&self.live) {
            fs::copy(self.live.join(&name), self.kept.join(&name)).unwrap();
        }
    }

    /// The files right in a folder, but for halves that the kill left.
    fn names(&self, folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
        let names = files.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".part")).collect()
    }
}

/// Otherwise the promise below would be kept by a disk that loses nothing.
#[test]
fn the_disk_of_this_test_loses_what_is_not_synced() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(folder.path());
    fs::create_dir(&disk.live).unwrap();
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(&disk.live).envs(disk.variables());
        assert!(command.status().unwrap().success(), "{script}");
    };
    let there = |name: &str| fs::read_to_string(disk.live.join(name)).ok();
    shell("printf old > cut; printf old > longer; printf old > removed; sync cut longer removed");
    shell("truncate -s 0 cut; printf new >> longer; rm removed; printf new > unsynced");
    disk.lose(|| true);
    assert_eq!(there("cut").as_deref(), Some("old"));
    assert_eq!(there("longer").as_deref(), Some("old"));
    assert_eq!(there("removed").as_deref(), Some("old"));
    assert_eq!(there("unsynced"), None);
    shell("truncate -s 0 cut; printf new >> longer; rm removed; sync cut longer .");
    disk.lose(|| true);
    assert_eq!(there("cut").as_deref(), Some(""));
    assert_eq!(there("longer").as_deref(), Some("oldnew"));
    assert_eq!(there("removed"), None);
}

/// Something that takes a canary away, as it is sent, and sent again.
struct Scrub {
    what: &'static str,
    method: &'static str,
    url: String,
    body: Option<Value>,
    key: String,
}

impl Scrub {
    /// Plants a canary and says what takes it away.
    fn prepare(api: &mut Api, dice: &mut Dice, canary: &str) -> Self {
        let key = dice.hex(16);
        let scrub = |what, method, url, body| Self { what, method, url, body, key };
        let note = format!("the password is {canary}");
        let kind = dice.below(4);
        if kind == 3 {
            let name = json!({"name": format!("store {canary}"), "description": canary});
            let store = api.client.post("/v1/memory_stores", &name).ok();
            let url = format!("/v1/memory_stores/{}", store["id"].as_str().unwrap());
            let memory = json!({"path": format!("/{canary}"), "content": note});
            api.client.post(&format!("{url}/memories"), &memory).ok();
            return scrub("removal of a store", "DELETE", url, None);
        }
        let memory = api.put(&format!("/secrets/{canary}"), &note);
        if kind == 2 {
            let url = api.path(&format!("/memories/{}/erase", memory.id));
            return scrub("erasure", "POST", url, None);
        }
        let clean =
            json!({"content": "nothing to see", "path": format!("/clean/{}", dice.hex(16))});
        api.update(&memory.id, &clean);
        if kind == 1 {
            let body = json!({"memory_version_ids": [memory.version], "reason": "private"});
            return scrub("redaction of some", "POST", api.path("/redactions"), Some(body));
        }
        let url = api.path(&format!("/memory_versions/{}/redact", memory.version));
        scrub("redaction", "POST", url, None)
    }

    fn send(&self, client: &mut Client) -> std::io::Result<Reply> {
        let body = self.body.as_ref().map(Value::to_string);
        let body = body.as_ref().map(String::as_bytes);
        client.send(self.method, &self.url, body, &[("idempotency-key", &self.key)])
    }

    /// Sends it and kills the server at a random moment, or as soon as it is answered.
    fn cut_off(&self, server: Server, dice: &mut Dice) -> Option<Reply> {
        let mut client = server.client();
        client.connect().unwrap();
        let after = (!dice.percent(30)).then(|| dice.millis(0, CUT_AFTER_MILLIS));
        thread::scope(|scope| {
            let sent = scope.spawn(move || self.send(&mut client).ok());
            match after {
                Some(after) => {
                    thread::sleep(after);
                    server.kill();
                    sent.join().unwrap()
                }
                None => {
                    let reply = sent.join().unwrap();
                    server.kill();
                    reply
                }
            }
        })
    }

    /// Asks until it is done; "ask again" is an answer, everything else is a broken promise.
    fn repeat(&self, client: &mut Client) {
        let began = Instant::now();
        loop {
            let reply = self.send(client).expect("the server answers after a restart");
            if reply.status == 200 {
                return;
            }
            assert_eq!(reply.status, 503, "{}, asked again: {}", self.what, reply.text());
            assert!(began.elapsed() < PATIENCE, "{} is never done: {}", self.what, reply.text());
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Memories that were acknowledged, by id, with their digests.
#[derive(Default)]
struct Acknowledged(Vec<(String, String)>);

impl Acknowledged {
    fn write(&mut self, api: &mut Api, dice: &mut Dice) {
        let content = dice.hex(200);
        let memory = api.put(&format!("/kept/{}", self.0.len()), &content);
        self.0.push((memory.id, sha256(&content)));
    }

    fn verify(&self, api: &mut Api) {
        let stored = api.pages("/memories", "limit=100&path_prefix=/kept/");
        assert_eq!(stored.len(), self.0.len(), "an acknowledged write is lost");
        for (id, digest) in &self.0 {
            let found = stored.iter().find(|memory| memory["id"] == id.as_str());
            let found = found.unwrap_or_else(|| panic!("{id} is lost"));
            assert_eq!(found["content_sha256"], digest.as_str(), "{id}");
        }
    }
}

#[test]
fn what_was_erased_does_not_come_back_after_a_power_loss() {
    let mut dice = Dice::new("power loss");
    let setup = Setup::new();
    let disk = Disk::new(setup.scratch());
    let mut setup = setup.data_at(&disk.live);
    for (name, value) in disk.variables() {
        setup = setup.env(name, value);
    }
    let mut server = setup.start();
    let store = Api::create(server.client(), "kept").store;
    let mut acknowledged = Acknowledged::default();
    let mut answered = 0;
    for round in 0..count("power_losses") {
        let canary = dice.letters(40);
        let needles = Needles::of(&canary);
        let is_gone = |when: &str| {
            let hits = hits_in_dir(setup.data(), &needles);
            assert!(hits.is_empty(), "round {round}, {when}: {hits:#?}");
        };
        let mut api = Api::open(server.client(), &store);
        let scrub = Scrub::prepare(&mut api, &mut dice, &canary);
        acknowledged.write(&mut api, &mut dice);
        assert!(!hits_in_dir(setup.data(), &needles).is_empty(), "the canary never arrived");

        let reply = scrub.cut_off(server, &mut dice);
        disk.lose_power(&mut dice);
        if let Some(reply) = reply {
            assert_eq!(reply.status, 200, "{}: {}", scrub.what, reply.text());
            is_gone(&format!("{}, answered before the power loss", scrub.what));
            answered += 1;
        }

        server = setup.start();
        acknowledged.verify(&mut Api::open(server.client(), &store));
        scrub.repeat(&mut server.client());
        is_gone(&format!("{}, answered once more", scrub.what));
        server.kill();
        disk.lose_power(&mut dice);
        is_gone(&format!("{}, one more power loss", scrub.what));

        server = setup.start();
        acknowledged.verify(&mut Api::open(server.client(), &store));
    }
    eprintln!("power loss: {answered} of {} scrubs were answered first", count("power_losses"));
    server.stop();
    Loci::on_data(setup.data()).ok(&["check"]);
}
