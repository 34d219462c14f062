//! Promise: what you redact or erase is gone from our files before we answer.
//!
//! A canary goes into content, path, tags and metadata. Once the call has returned, no byte of any
//! file in the data directory, of the log, or of a backup or export made afterwards may hold it.
//! Each test first sees the canary on disk, so that it cannot pass by looking in the wrong place.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use loci_it::{ADMIN_KEY, Api, Dice, Loci, Memory, Needles, Server, Setup, hits_in, hits_in_dir};
use serde_json::json;

struct Canary {
    text: String,
    needles: Needles,
}

impl Canary {
    fn new(what: &str) -> Self {
        let text = Dice::new(what).letters(40);
        Self { needles: Needles::of(&text), text }
    }

    #[track_caller]
    fn is_on_disk(&self, setup: &Setup) {
        assert!(!hits_in_dir(setup.data(), &self.needles).is_empty(), "the canary never arrived");
    }

    /// Gone from the data directory and never in the log.
    #[track_caller]
    fn is_gone(&self, setup: &Setup, when: &str) {
        let mut hits = hits_in_dir(setup.data(), &self.needles);
        hits.extend(hits_in("log", setup.printed().as_bytes(), &self.needles));
        assert!(hits.is_empty(), "{when}: {hits:#?}");
    }

    /// Also gone from what is copied out afterwards.
    #[track_caller]
    fn is_gone_from_copies(&self, setup: &Setup) {
        let loci = Loci::on_data(setup.data());
        let folder = setup.scratch().join("copies");
        fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        loci.ok(&["backup", &path("backup.db")]);
        loci.ok(&["export", &path("export.jsonl")]);
        assert!(Path::new(&path("backup.db")).is_file());
        let hits = hits_in_dir(&folder, &self.needles);
        assert!(hits.is_empty(), "copies: {hits:#?}");
        self.is_gone(setup, "after the copies");
    }
}

/// Memories around the canary's, so that index pages and table pages are shared and split.
fn crowd(api: &mut Api, dice: &mut Dice) {
    for number in 0..60 {
        let words: Vec<String> = (0..30).map(|_| dice.letters(7)).collect();
        api.put(&format!("/crowd/{number}"), &words.join(" "));
    }
}

/// A memory with the canary everywhere a caller can put text.
fn plant(api: &mut Api, canary: &str) -> Memory {
    let memory = api.put(
        &format!("/secrets/{canary}/note"),
        &format!("the password is {canary}, and {canary} again"),
    );
    let attributes = api.path(&format!("/memories/{}/attributes", memory.id));
    let body = json!({
        "tags": [format!("tag-{canary}")],
        "source": format!("said by {canary}"),
        "summary": format!("about {canary}"),
        "metadata": {"note": format!("meta {canary}"), format!("key{canary}"): 1},
    });
    api.client.post(&attributes, &body).ok();
    memory
}

/// Takes the canary out of the live memory, so that only old versions hold it.
fn clean_head(api: &mut Api, memory: &str) {
    let attributes = api.path(&format!("/memories/{memory}/attributes"));
    let body = json!({"tags": [], "source": null, "summary": null, "metadata": null});
    api.client.post(&attributes, &body).ok();
    api.update(memory, &json!({"content": "nothing to see", "path": "/plain"}));
}

fn start(what: &str) -> (Setup, Server, Api, Canary) {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "redaction");
    crowd(&mut api, &mut Dice::new("crowd"));
    (setup, server, api, Canary::new(what))
}

#[test]
fn redacted_versions_leave_no_byte() {
    let (setup, server, mut api, canary) = start("redact");
    let memory = plant(&mut api, &canary.text);
    let head = api.versions(&memory.id)[0]["id"].as_str().unwrap().to_owned();
    let refused = api.redact(&head);
    assert_eq!(refused.status, 400, "the live head cannot be redacted: {}", refused.text());
    clean_head(&mut api, &memory.id);
    crowd_more(&mut api);
    canary.is_on_disk(&setup);

    let versions = api.versions(&memory.id);
    assert!(versions.len() >= 2, "the first version and the head at least");
    for version in &versions[1..] {
        let reply = api.redact(version["id"].as_str().unwrap()).ok();
        assert!(reply["redacted_at"].is_string());
        for key in ["path", "content", "content_sha256", "content_size_bytes"] {
            assert!(reply[key].is_null(), "{key} of a redacted version: {reply}");
        }
    }
    canary.is_gone(&setup, "after redact");
    assert_eq!(api.content(&memory.id), "nothing to see");
    canary.is_gone_from_copies(&setup);

    server.stop();
    canary.is_gone(&setup, "after a stop");
    Loci::on_data(setup.data()).ok(&["check"]);
}

/// Writes that may move pages around and split index segments.
fn crowd_more(api: &mut Api) {
    let mut dice = Dice::new("more");
    for number in 0..20 {
        api.put(&format!("/more/{number}"), &dice.letters(300));
    }
}

#[test]
fn an_erased_memory_leaves_no_byte() {
    let (setup, server, mut api, canary) = start("erase");
    let memory = plant(&mut api, &canary.text);
    let again = format!("once more {}", canary.text);
    api.update(&memory.id, &json!({"content": again}));
    canary.is_on_disk(&setup);

    let reply = api.erase(&memory.id);
    assert_eq!(reply.status, 200, "{}", reply.text());
    canary.is_gone(&setup, "after erase");
    assert_eq!(api.get(&memory.id).status, 404);
    for version in api.versions(&memory.id) {
        assert!(version["path"].is_null() && version["content_sha256"].is_null(), "{version}");
    }
    canary.is_gone_from_copies(&setup);
    assert_eq!(api.memories().len(), 60, "the crowd is untouched");
    server.stop();
    Loci::on_data(setup.data()).ok(&["check"]);
}

#[test]
fn a_deleted_memory_can_be_redacted_to_the_last_byte() {
    let (setup, server, mut api, canary) = start("delete");
    let memory = plant(&mut api, &canary.text);
    api.delete(&memory.id);
    canary.is_on_disk(&setup);
    for version in api.versions(&memory.id) {
        let reply = api.redact(version["id"].as_str().unwrap());
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    canary.is_gone(&setup, "after redacting every version");
    canary.is_gone_from_copies(&setup);
    server.stop();
}

#[test]
fn a_deleted_store_leaves_no_byte() {
    let (setup, server, mut api, canary) = start("store");
    let text = &canary.text;
    let store = api.client.post(
        "/v1/memory_stores",
        &json!({
            "name": format!("store {text}"),
            "description": format!("about {text}"),
            "metadata": {"note": text},
        }),
    );
    let store = store.ok()["id"].as_str().unwrap().to_owned();
    let mut doomed = Api::open(server.client(), &store);
    let memory = plant(&mut doomed, text);
    doomed.update(&memory.id, &json!({"content": format!("again {text}")}));
    canary.is_on_disk(&setup);

    let url = doomed.path("");
    doomed.client.delete(&url).ok();
    canary.is_gone(&setup, "after deleting the store");
    assert_eq!(doomed.client.get(&url).status, 404);
    canary.is_gone_from_copies(&setup);
    server.stop();
    canary.is_gone(&setup, "after a stop");
}

/// An export that nobody reads to its end must not keep a secret alive in the log.
#[test]
fn a_slow_reader_does_not_make_redaction_lie() {
    let (setup, server, mut api, canary) = start("reader");
    let memory = plant(&mut api, &canary.text);
    // More than the kernel buffers for the connection, so that the export really has to wait.
    for number in 0..150 {
        api.put(&format!("/bulk/{number}"), &"x ".repeat(50_000));
    }
    let mut reader = TcpStream::connect(server.addr()).unwrap();
    let request = format!(
        "GET /v1/export HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ADMIN_KEY}\r\n\r\n"
    );
    reader.write_all(request.as_bytes()).unwrap();
    let mut first = [0; 512];
    assert!(reader.read(&mut first).unwrap() > 0, "the export has begun");
    canary.is_on_disk(&setup);

    let reply = api.erase(&memory.id);
    eprintln!("erase beside a slow export: {}", reply.status);
    if reply.status == 200 {
        canary.is_gone(&setup, "erase said 200 while an export was being read");
    } else {
        // Saying "not yet" is honest; then it must work once the reader is gone.
        assert_eq!(reply.status, 503, "{}", reply.text());
        assert!(reply.header("retry-after").is_some(), "{}", reply.text());
        drop(reader);
        let began = std::time::Instant::now();
        while api.erase(&memory.id).status == 503 {
            assert!(began.elapsed().as_secs() < 60, "erase never worked again");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        canary.is_gone(&setup, "after the reader left");
    }
    server.stop();
}

/// A summary quotes its sources, so it gives up what is erased of them, and keeps the rest.
#[test]
fn what_compaction_quoted_of_an_erased_memory_leaves_no_byte() {
    let (setup, server, mut api, canary) = start("summary");
    let store = Api::create(server.client(), "episodes").store;
    let mut episodes = Api::open(server.client(), &store);
    let erased = episodes.put(&format!("/{}", canary.text), &format!("They said {}.", canary.text));
    let kept = episodes.put("/kept", "They said hello.");
    for memory in [&erased, &kept] {
        let url = episodes.path(&format!("/memories/{}/attributes", memory.id));
        episodes.client.post(&url, &json!({"kind": "episode"})).ok();
    }
    let compact = json!({"max_memories": 1});
    let url = episodes.path("/compact");
    episodes.client.post(&url, &compact).ok();
    let summary = episodes.memories().pop().unwrap();
    assert!(episodes.content(&summary.id).contains(&canary.text), "or nothing was quoted");
    crowd_more(&mut api);
    canary.is_on_disk(&setup);

    let reply = episodes.erase(&erased.id).ok();
    let derived = json!([{"memory_id": summary.id, "path": summary.path, "outcome": "requoted"}]);
    assert_eq!(reply["derived"], derived);
    canary.is_gone(&setup, "after erasing a source");
    assert!(episodes.content(&summary.id).contains("They said hello."));
    let search = episodes.client.post("/v1/search", &json!({"query": canary.text}));
    assert!(!search.text().contains(&canary.text), "{}", search.text());
    canary.is_gone_from_copies(&setup);
    server.stop();
    Loci::on_data(setup.data()).ok(&["check"]);
}
