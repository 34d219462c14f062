//! Promise: `loci serve` takes a data directory over from every other process that has it open, and what
//! those are at goes on: nothing that was acknowledged is lost, no write is refused, and what is under way
//! ends where it began. Only another server keeps it.

use loci_it::mcp::{Mcp, done};
use loci_it::{Api, Loci, Mounted, Running, Server, Setup, count, eventually, sha256};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const FAILURE: i32 = 1;
const PROCESSES: usize = 8;

/// Processes of `loci mcp` that write without a pause, and what each was told.
struct Writers {
    is_over: Arc<AtomicBool>,
    written: Arc<AtomicUsize>,
    running: Vec<JoinHandle<Vec<String>>>,
}

impl Writers {
    fn start(data: &Path, processes: usize) -> Self {
        let (is_over, written) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let start = |process: usize| {
            let (is_over, written, data) = (is_over.clone(), written.clone(), data.to_owned());
            thread::spawn(move || {
                let mut mcp = Mcp::on_data(&data, &[]);
                let mut paths = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    let path = format!("/w{process}/{}.md", paths.len());
                    let arguments = json!({"path": path, "content": path});
                    done(&mcp.call("memory_write", &arguments).expect("the process lives"));
                    paths.push(path);
                    written.fetch_add(1, Ordering::Relaxed);
                }
                assert!(mcp.finish().success());
                paths
            })
        };
        let running = (0..processes).map(start).collect();
        Self { is_over, written, running }
    }

    /// Waits until they have written some more.
    fn go_on(&self) {
        let enough = self.written.load(Ordering::Relaxed) + 2 * PROCESSES;
        eventually("more writes", || self.written.load(Ordering::Relaxed) >= enough);
    }

    /// Everything that was acknowledged.
    fn stop(self) -> BTreeSet<String> {
        self.is_over.store(true, Ordering::Relaxed);
        self.running.into_iter().flat_map(|one| one.join().unwrap()).collect()
    }
}

/// The paths of the home that processes of `loci mcp` share.
fn home(server: &Server) -> BTreeSet<String> {
    let mut client = server.client();
    let stores = client.get("/v1/memory_stores").ok();
    let home = stores["data"][0]["id"].as_str().expect("there is a home").to_owned();
    let mut api = Api::open(server.client(), &home);
    for memory in api.memories() {
        assert_eq!(api.content(&memory.id), memory.path);
        assert_eq!(api.versions(&memory.id).len(), 1, "{} was written twice", memory.path);
    }
    api.memories().into_iter().map(|memory| memory.path).collect()
}

/// A store, made by a server that is gone again.
fn with_store(setup: &Setup) -> String {
    let server = setup.start();
    let store = Api::create(server.client(), "notes").store;
    server.stop();
    store
}

#[track_caller]
fn said(setup: &Setup, command: &str, pid: u32) {
    let owner = format!("process {pid}, loci {command}");
    eventually(&format!("the log names {owner:?}"), || {
        let printed = setup.printed();
        printed.contains("waiting for the data directory") && printed.contains(&owner)
    });
}

#[test]
fn a_server_takes_over_from_a_model_that_writes_and_listens() {
    let setup = Setup::new();
    let mut mcp = Mcp::on_data(setup.data(), &[]);
    mcp.initialize("2025-11-25");
    let write = |mcp: &mut Mcp, path: &str| {
        done(&mcp.call("memory_write", &json!({"path": path, "content": path})).unwrap())
    };
    write(&mut mcp, "/first.md");
    let uri = "loci://home/first.md";
    let subscribed = mcp.ask("resources/subscribe", &json!({"uri": uri})).unwrap();
    assert!(subscribed["result"].is_object(), "{subscribed}");
    let writers = Writers::start(setup.data(), 1);
    writers.go_on();
    let server = setup.start();
    said(&setup, "mcp", mcp.id());
    writers.go_on();
    let written = writers.stop();
    // The subscription goes on at the server, where others write.
    let stores = server.client().get("/v1/memory_stores").ok();
    let mut api = Api::open(server.client(), stores["data"][0]["id"].as_str().unwrap());
    let first = api.memories().into_iter().find(|one| one.path == "/first.md").unwrap();
    let is_update = |line: &Value| line["method"] == "notifications/resources/updated";
    let is_heard = (0..60).any(|number| {
        api.update(&first.id, &json!({"content": format!("for the {number}. time")}));
        mcp.within(Duration::from_secs(1), is_update).is_some()
    });
    assert!(is_heard, "no update after 60 writes");
    write(&mut mcp, "/last.md");
    api.update(&first.id, &json!({"content": "/first.md"}));
    let paths: BTreeSet<String> = api.memories().into_iter().map(|one| one.path).collect();
    assert!(paths.is_superset(&written) && paths.contains("/last.md"), "{paths:?}");
    assert_eq!(paths.len(), written.len() + 2);
    server.stop();
    // Without the server the model has the directory again.
    write(&mut mcp, "/after.md");
    assert!(mcp.finish().success());
}

#[test]
fn a_server_takes_over_while_eight_models_write() {
    let setup = Setup::new();
    let writers = Writers::start(setup.data(), PROCESSES);
    writers.go_on();
    let server = setup.start();
    writers.go_on();
    let written = writers.stop();
    assert_eq!(home(&server), written);
    server.stop();
}

#[test]
fn a_killed_server_comes_back_while_models_write_and_loses_nothing() {
    let setup = Setup::new();
    let writers = Writers::start(setup.data(), PROCESSES / 2);
    for round in 0..count("takeover_rounds") {
        writers.go_on();
        let server = setup.start();
        writers.go_on();
        server.kill();
        println!("round {round}");
    }
    writers.go_on();
    let server = setup.start();
    let written = writers.stop();
    assert_eq!(home(&server), written);
    server.stop();
}

#[test]
fn a_server_takes_over_from_a_mount_and_what_is_unsaved_is_saved_there() {
    let setup = Setup::new();
    let store = with_store(&setup);
    let loci = Loci::on_data(setup.data());
    let mounted = Mounted::start(&loci, &setup.scratch().join("mnt"), &["--flat"]);
    let at = |name: &str| mounted.at().join(name);
    fs::write(at("before.md"), "before").unwrap();
    let mut open = File::create(at("open.md")).unwrap();
    open.write_all(b"begun, ").unwrap();
    let server = setup.start();
    said(&setup, "mount", mounted.id());
    let mut api = Api::open(server.client(), &store);
    open.write_all(b"and done").unwrap();
    open.sync_all().unwrap();
    drop(open);
    fs::write(at("after.md"), "after").unwrap();
    assert_eq!(fs::read_to_string(at("before.md")).unwrap(), "before");
    let mut found = Vec::new();
    for memory in api.memories() {
        found.push((memory.path.clone(), api.content(&memory.id)));
    }
    found.sort();
    let expect =
        [("/after.md", "after"), ("/before.md", "before"), ("/open.md", "begun, and done")];
    assert_eq!(found, expect.map(|(path, text)| (path.to_owned(), text.to_owned())));
    mounted.stop();
    server.stop();
}

#[test]
fn a_server_takes_over_from_a_sync_which_goes_on() {
    let setup = Setup::new();
    let store = with_store(&setup);
    let dir = setup.scratch().join("dir");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("before.md"), "before").unwrap();
    let args = ["sync", dir.to_str().unwrap(), "--store", "notes"];
    let syncing = Running::start(&Loci::on_data(setup.data()), &args);
    let label = setup.data().join("loci.holder");
    eventually("the sync has the directory", || label.exists());
    let server = setup.start();
    said(&setup, "sync", syncing.id());
    let mut api = Api::open(server.client(), &store);
    let mut has = |path: &str| api.memories().iter().any(|one| one.path == path);
    eventually("the first file", || has("/before.md"));
    fs::write(dir.join("after.md"), "after").unwrap();
    eventually("the second file", || has("/after.md"));
    let (status, printed) = syncing.terminate();
    assert!(status.success(), "{status}: {printed}");
    server.stop();
}

#[test]
fn a_server_waits_for_an_import_as_long_as_it_takes() {
    let setup = Setup::new();
    let server = setup.start();
    let exported = server.client().get("/v1/export").text();
    let key = server.client().get("/v1/api_keys").ok()["data"][0]["id"].clone();
    let key = key.as_str().unwrap();
    let store = &Api::create(server.client(), "imported").store;
    server.stop();
    let pipe = setup.scratch().join("lines");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let args = ["import", pipe.to_str().unwrap()];
    let mut import = Running::start(&Loci::on_data(setup.data()), &args);
    let mut lines = File::options().write(true).open(&pipe).unwrap();
    writeln!(lines, "{}", exported.lines().next().unwrap()).unwrap();
    let mut imported = 0;
    let mut go_on = |lines: &mut File| {
        imported += 1;
        writeln!(lines, "{}", version(store, key, imported)).unwrap();
        thread::sleep(Duration::from_millis(2));
        imported
    };
    let setup = &setup;
    thread::scope(move |scope| {
        let starting = scope.spawn(|| setup.start());
        eventually("the server waits for the import", || {
            go_on(&mut lines);
            setup.printed().contains("waiting for the data directory")
        });
        // Long enough for the question to be asked several times.
        let imported = (0..500).map(|_| go_on(&mut lines)).last();
        assert!(!starting.is_finished(), "the import is not over: {}", setup.printed());
        drop(lines);
        assert!(import.wait().success(), "{}", import.printed());
        let server = starting.join().unwrap();
        said(setup, "import", import.id());
        let mut api = Api::open(server.client(), store);
        assert_eq!(Some(api.memories().len()), imported);
        server.stop();
    });
}

fn version(store: &str, key: &str, number: usize) -> Value {
    json!({
        "type": "version", "store": store, "seq": number,
        "id": format!("memver_01{number:022}"), "memory": format!("mem_01{number:022}"),
        "owner": "admin", "partition": null, "revision": 1, "operation": "created",
        "path": format!("/{number}"), "attributes": {}, "text": "text",
        "sha256": sha256("text"), "actor": format!("key:{key}"),
        "created_at": format!("2026-01-01T00:{:02}:{:02}.{:06}Z", number / 60_000, number / 1000 % 60, number % 1000),
        "request": null, "reason": "import", "redacted_at": null, "redacted_by": null,
    })
}

#[test]
fn a_second_server_and_an_owner_without_a_socket_are_named_and_left_alone() {
    let setup = Setup::new();
    let server = setup.start();
    let label: Value =
        serde_json::from_slice(&fs::read(setup.data().join("loci.holder")).unwrap()).unwrap();
    let second = Setup::new().data_at(setup.data());
    assert_eq!(second.try_start().unwrap_err().code(), Some(FAILURE));
    let printed = second.printed();
    assert!(printed.contains("is a server; stop it first"), "{printed}");
    assert!(printed.contains(&format!("process {}, loci serve", label["pid"])), "{printed}");
    server.stop();

    // As `loci move` and older versions have it: the lock and a label, and no socket.
    let lock = File::options().write(true).open(setup.data().join("loci.lock")).unwrap();
    lock.try_lock().unwrap();
    let text = json!({"pid": std::process::id(), "kind": "command"}).to_string();
    fs::write(setup.data().join("loci.holder"), text).unwrap();
    assert_eq!(second.try_start().unwrap_err().code(), Some(FAILURE));
    let printed = second.printed();
    assert!(printed.contains("does not give it up"), "{printed}");
    assert!(printed.contains(&format!("process {}", std::process::id())), "{printed}");
    drop(lock);
    setup.start().stop();
}
