//! Promise: what is erased or redacted takes its words and its vectors along, in the same commit.
//!
//! The canary is a word and the bytes of the vector made of its text. Once the call has returned
//! neither is in any file of the data directory, and the very next search finds nothing, by word or
//! by meaning, now or in the past.

use std::fs;
use std::path::Path;

use loci_it::{
    Api, Dice, FACTS, Loci, Memory, Needles, Server, Setup, count, crowd, hits_in, hits_in_dir, ids,
};
use serde_json::{Value, json};

/// The stored vectors, by their keys, as a copy of the database has them.
fn vectors(setup: &Setup) -> Vec<(i64, Vec<u8>)> {
    let folder = setup.scratch().join("copy");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for name in ["loci.db", "loci.db-wal"] {
        let from = setup.data().join(name);
        if from.is_file() {
            fs::copy(from, folder.join(name)).unwrap();
        }
    }
    let connection = rusqlite::Connection::open(folder.join("loci.db")).unwrap();
    let mut rows = connection.prepare("select vector, passages from vector order by 1").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let rows = rows.collect::<Result<_, _>>().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    rows
}

/// A text, its word and its vector.
struct Canary {
    word: String,
    text: String,
    memory: Memory,
    words: Needles,
    vector: Needles,
}

const ASKED: &str = "Who raises insects for honey?";

impl Canary {
    /// Writes the text, waits for its vector, and sees both on disk.
    fn plant(setup: &Setup, api: &mut Api, path: &str) -> Self {
        let word = Dice::new("canary").letters(32);
        let text = format!("{} The password is {word}.", FACTS[0].0);
        let before = vectors(setup);
        let memory = api.put(path, &text);
        api.settle();
        let after = vectors(setup);
        let new: Vec<_> = after.iter().filter(|row| !before.contains(row)).collect();
        let [(_, bytes)] = new[..] else { panic!("{} new vectors", new.len()) };
        assert_eq!(bytes.len() % (2 * 384), 0, "half-precision numbers: {} bytes", bytes.len());
        let (words, vector) = (Needles::of(&word), Needles::of_bytes(bytes));
        let canary = Self { word, text, memory, words, vector };
        canary.is_in(setup.data(), true, "after the write");
        canary
    }

    #[track_caller]
    fn is_in(&self, folder: &Path, expect: bool, when: &str) {
        for (what, needles) in [("words", &self.words), ("vector", &self.vector)] {
            let hits = hits_in_dir(folder, needles);
            assert_eq!(!hits.is_empty(), expect, "{when}, {what}: {hits:#?}");
        }
    }

    /// Gone from disk, from the log and from everything that can be searched.
    #[track_caller]
    fn is_gone(&self, setup: &Setup, api: &mut Api, when: &str) {
        self.is_not_found(api, &Value::Null, when);
        self.is_in(setup.data(), false, when);
        let log = hits_in("log", setup.printed().as_bytes(), &self.words);
        assert!(log.is_empty(), "{when}: {log:?}");
    }

    #[track_caller]
    fn is_not_found(&self, api: &mut Api, as_of: &Value, when: &str) {
        for mode in ["lexical", "semantic", "hybrid"] {
            for query in [&self.word, ASKED, &self.text] {
                let body = json!({"query": query, "mode": mode, "as_of": as_of, "limit": 100});
                let answer = api.search(&body).ok();
                let shown = answer.to_string().contains(&self.word);
                assert!(!shown, "{when}: {mode} still shows it as of {as_of}");
            }
        }
    }

    #[track_caller]
    fn is_found(&self, api: &mut Api, as_of: &Value) {
        for (mode, query) in [("lexical", self.word.as_str()), ("semantic", ASKED)] {
            let body = json!({"query": query, "mode": mode, "as_of": as_of, "limit": 3});
            let found = ids(&api.search(&body).ok());
            assert!(found.contains(&self.memory.id), "{mode} as of {as_of}");
        }
    }
}

fn start() -> (Setup, Server, Api) {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "forgetting");
    for number in 0..40 {
        api.put(&format!("/crowd/{number}"), &crowd(number));
    }
    api.settle();
    (setup, server, api)
}

/// Nothing of it comes back with a restart, and what is left is whole.
fn restart(setup: &Setup, server: Server, api: Api, canary: &Canary, count: usize) {
    let store = api.store.clone();
    drop(api);
    server.stop();
    canary.is_in(setup.data(), false, "after a stop");
    Loci::on_data(setup.data()).ok(&["check"]);
    let server = setup.start();
    let mut api = Api::open(server.client(), &store);
    api.settle();
    canary.is_gone(setup, &mut api, "after a restart");
    assert_eq!(api.memories().len(), count);
    server.stop();
    canary.is_in(setup.data(), false, "after another stop");
}

#[test]
fn an_erased_memory_takes_its_vector_along() {
    let (setup, server, mut api) = start();
    let canary = Canary::plant(&setup, &mut api, "/secret");
    for number in 0..10 {
        api.put(&format!("/later/{number}"), &crowd(100 + number));
    }
    api.settle();
    canary.is_found(&mut api, &Value::Null);
    let reply = api.erase(&canary.memory.id);
    assert_eq!(reply.status, 200, "{}", reply.text());
    canary.is_gone(&setup, &mut api, "after erase");
    canary.is_not_found(&mut api, &json!(41), "after erase");
    restart(&setup, server, api, &canary, 50);
}

#[test]
fn a_redacted_version_is_not_found_in_the_past_either() {
    let (setup, server, mut api) = start();
    let canary = Canary::plant(&setup, &mut api, "/secret");
    let old = api.versions(&canary.memory.id)[0].clone();
    api.update(&canary.memory.id, &json!({"content": "nothing about insects", "path": "/plain"}));
    api.settle();
    canary.is_not_found(&mut api, &Value::Null, "after the change");
    let moments = [json!(41), old["id"].clone(), old["created_at"].clone()];
    for moment in &moments {
        canary.is_found(&mut api, moment);
    }
    let reply = api.redact(old["id"].as_str().unwrap());
    assert_eq!(reply.status, 200, "{}", reply.text());
    canary.is_gone(&setup, &mut api, "after redact");
    for moment in [&moments[0], &moments[2]] {
        canary.is_not_found(&mut api, moment, "after redact");
    }
    restart(&setup, server, api, &canary, 41);
}

#[test]
fn a_deleted_store_takes_its_vectors_along() {
    let (setup, server, mut api) = start();
    let mut doomed = Api::create(server.client(), "doomed");
    doomed.put("/a", "something else");
    doomed.settle();
    let canary = Canary::plant(&setup, &mut doomed, "/secret");
    let url = doomed.path("");
    doomed.client.delete(&url).ok();
    canary.is_gone(&setup, &mut api, "after deleting the store");
    let everywhere = server.client().post("/v1/search", &json!({"query": ASKED})).ok();
    assert!(!everywhere.to_string().contains(&canary.word));
    restart(&setup, server, api, &canary, 40);
}

/// Erased while its vector is being made: whatever the background was at, nothing stays behind.
#[test]
fn erasing_beside_the_making_of_vectors_leaves_nothing() {
    let (setup, server, mut api) = start();
    let mut dice = Dice::new("beside");
    for round in 0..count("erase_rounds") {
        let word = dice.letters(32);
        let crowd_before = dice.below(6);
        for number in 0..crowd_before {
            api.put(&format!("/r{round}/{number}"), &crowd(200 + round * 8 + number));
        }
        let memory = api.put("/secret", &format!("{} Password {word}.", crowd(900 + round)));
        std::thread::sleep(dice.millis(0, 120));
        let reply = api.erase(&memory.id);
        assert_eq!(reply.status, 200, "{}", reply.text());
        let hits = hits_in_dir(setup.data(), &Needles::of(&word));
        assert!(hits.is_empty(), "round {round}: {hits:?}");
    }
    api.settle();
    let (live, rows) = (api.memories().len(), vectors(&setup).len());
    assert_eq!(rows, live, "a vector for each memory and none for what was erased");
    server.stop();
    Loci::on_data(setup.data()).ok(&["check"]);
}
