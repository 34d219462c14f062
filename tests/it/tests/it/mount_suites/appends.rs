//! Promise: lines appended through two mounts and the API are all there, each once and whole; and
//! what `fsync` has answered is there, whoever is killed.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use loci_it::{ADMIN_KEY, Api, Loci, Mounted, Setup, count, eventually};
use rustix::io::Errno;
use serde_json::json;

use super::coherence::wait;
use super::scene::{Scene, Store};

const FILES: [&str; 4] = ["a.md", "b.md", "d/c.md", "d/e.md"];

/// As a shell's `>>` does, and asks for what went wrong.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

/// How often each line is in the files.
fn lines_of(texts: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for text in texts {
        assert!(text.is_empty() || text.ends_with('\n'), "the last line is torn");
        for line in text.lines() {
            *found.entry(line.to_owned()).or_default() += 1;
        }
    }
    found
}

#[test]
fn two_mounts_and_the_api_lose_and_tear_no_line() {
    for run in 0..count("append_runs") {
        let scene = Scene::new();
        let local = Loci::on_data(scene.setup.data());
        let options = ["--flat", "--store", &scene.api.store];
        let other = Mounted::start(&local, &scene.setup.scratch().join("other"), &options);
        let mut store = scene.witness();
        for file in FILES {
            store.api.put(&format!("/{file}"), "");
            wait("the files", || scene.at(file).exists() && other.at().join(file).exists());
        }
        let all = count("append_lines");
        let lines = all / 3;
        // What does not divide by three is the first one's.
        let of = move |name: &str| if name == "one" { all - 2 * lines } else { lines };
        let by_mount = |name: &'static str, at: &Path| {
            let at = at.to_owned();
            move || {
                for n in 0..of(name) {
                    append(&at.join(FILES[n % FILES.len()]), &format!("{name} {n}\n")).unwrap();
                }
            }
        };
        thread::scope(|scope| {
            scope.spawn(by_mount("one", scene.mount.at()));
            scope.spawn(by_mount("two", other.at()));
            for n in 0..lines {
                let (path, text) = (format!("/{}", FILES[n % FILES.len()]), format!("api {n}\n"));
                store.edit(&json!({"op": "append", "path": path, "text": text}));
            }
        });
        let texts = FILES.map(|file| store.text(&format!("/{file}")).unwrap());
        let mut found = lines_of(texts.into_iter());
        assert_eq!(found.values().sum::<usize>(), all, "run {run}");
        for name in ["one", "two", "api"] {
            for n in 0..of(name) {
                let line = format!("{name} {n}");
                assert_eq!(found.remove(&line), Some(1), "run {run}: {line}");
            }
        }
        assert!(found.is_empty(), "run {run}: torn: {found:?}");
        assert_eq!(store.api.memories().len(), FILES.len(), "run {run}: something is beside");
        other.stop();
    }
}

/// One writer: appends until it is told to stop or its mount is dead; what was acknowledged.
fn write(
    name: &str,
    at: &Path,
    is_over: &AtomicBool,
    acknowledged: &Mutex<Vec<String>>,
    count: &AtomicUsize,
) {
    for n in 0..1_000_000 {
        if is_over.load(Ordering::Acquire) {
            return;
        }
        let line = format!("{name} {n}");
        match append(&at.join("log.md"), &format!("{line}\n")) {
            Ok(()) => {
                acknowledged.lock().unwrap().push(line);
                count.fetch_add(1, Ordering::AcqRel);
            }
            Err(error) if error.raw_os_error() == Some(107) => return,
            // The server is gone for a moment: the line may be there or not.
            Err(_) => {}
        }
    }
}

#[test]
fn what_was_acknowledged_outlives_the_server_and_a_mount() {
    let setup = Setup::new();
    let server = setup.start();
    let api = Api::create(server.client(), "notes");
    let loci = Loci::on_data(setup.data());
    let options = ["--flat", "--store", "notes"];
    let mounts =
        ["one", "two"].map(|name| Mounted::start(&loci, &setup.scratch().join(name), &options));
    let (is_over, acknowledged) = (AtomicBool::new(false), Mutex::default());
    let counts = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let [one, two] = mounts;
    let second = two.at().to_owned();
    thread::scope(|scope| {
        for (name, at, count) in
            [("one", one.at().to_owned(), &counts[0]), ("two", second.clone(), &counts[1])]
        {
            let (is_over, acknowledged) = (&is_over, &acknowledged);
            scope.spawn(move || write(name, &at, is_over, acknowledged, count));
        }
        let more = |count: &AtomicUsize, what: &str| {
            let before = count.load(Ordering::Acquire);
            eventually(what, || count.load(Ordering::Acquire) > before + 25);
        };
        more(&counts[0], "lines of the first");
        more(&counts[1], "lines of the second");
        drop(api);
        server.kill();
        more(&counts[0], "lines of the first without a server");
        more(&counts[1], "lines of the second without a server");
        one.kill();
        more(&counts[1], "lines of the second alone");
        is_over.store(true, Ordering::Release);
    });
    let text = String::from_utf8(loci.ok(&["get", "notes", "/log.md"])).unwrap();
    two.stop();
    assert_eq!(fs::read_dir(&second).unwrap().count(), 0, "unmounted");
    let found = lines_of([text].into_iter());
    for line in acknowledged.into_inner().unwrap() {
        assert!(found.contains_key(&line), "{line} was acknowledged");
    }
    for line in found.keys() {
        let (name, number) = line.split_once(' ').unwrap();
        assert!(["one", "two"].contains(&name) && number.parse::<usize>().is_ok(), "torn: {line}");
    }
}

/// One writer by the API, on a connection that ends with the server: what was acknowledged.
fn write_by_api(
    mut store: Store,
    is_over: &AtomicBool,
    acknowledged: &Mutex<Vec<String>>,
    count: &AtomicUsize,
) {
    let url = store.api.path("/edits");
    for n in 0..1_000_000 {
        if is_over.load(Ordering::Acquire) {
            return;
        }
        let line = format!("api {n}");
        // Without an answer it may be there or not: it is not sent again.
        let edit = json!({"op": "append", "path": "/log.md", "text": format!("{line}\n"),
            "separator": "\n", "separate": "if_missing"});
        let body = json!({"edits": [edit]}).to_string();
        match store.api.client.send("POST", &url, Some(body.as_bytes()), &[]) {
            Ok(reply) if reply.status == 200 => {
                acknowledged.lock().unwrap().push(line);
                count.fetch_add(1, Ordering::AcqRel);
            }
            Ok(_) | Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

#[test]
fn no_line_is_there_twice_however_often_the_server_is_killed() {
    let setup = Setup::new();
    let server = setup.start();
    let setup = setup.listen(&server.addr().to_string());
    let mut api = Api::create(server.client(), "notes");
    api.put("/log.md", "");
    let loci = Loci::on_url(&server.url(), ADMIN_KEY);
    let options = ["--flat", "--store", "notes"];
    let mounts =
        ["one", "two"].map(|name| Mounted::start(&loci, &setup.scratch().join(name), &options));
    let (is_over, acknowledged) = (AtomicBool::new(false), Mutex::default());
    let counts = [const { AtomicUsize::new(0) }; 3];
    let address = server.addr();
    let server = thread::scope(|scope| {
        let (is_over, acknowledged) = (&is_over, &acknowledged);
        for (name, mount, count) in
            [("one", &mounts[0], &counts[0]), ("two", &mounts[1], &counts[1])]
        {
            scope.spawn(move || write(name, mount.at(), is_over, acknowledged, count));
        }
        let store = Store::of(Api::open(api.client.at(address), &api.store));
        let by_api = &counts[2];
        scope.spawn(move || write_by_api(store, is_over, acknowledged, by_api));
        let more = |what: &str| {
            let before = counts.each_ref().map(|count| count.load(Ordering::Acquire));
            let has_more = |at: usize| counts[at].load(Ordering::Acquire) > before[at] + 10;
            eventually(what, || (0..3).all(has_more));
        };
        let mut server = server;
        for round in 0..count("append_runs") {
            more(&format!("lines before round {round}"));
            server.kill();
            // Long enough for saves to be given up on, every other time.
            thread::sleep(Duration::from_millis(if round % 2 == 0 { 5000 } else { 50 }));
            server = setup.start();
        }
        more("lines at the end");
        is_over.store(true, Ordering::Release);
        server
    });
    // What got no answer at the end is saved by then.
    for mount in mounts {
        mount.stop();
    }
    let mut store = Store::of(Api::open(server.client(), &api.store));
    let text = store.text("/log.md").unwrap();
    let found = lines_of([text].into_iter());
    for (line, count) in &found {
        let (name, number) = line.split_once(' ').unwrap();
        let is_known = ["one", "two", "api"].contains(&name) && number.parse::<usize>().is_ok();
        assert!(is_known, "torn: {line}");
        assert_eq!(*count, 1, "{line}");
    }
    for line in acknowledged.into_inner().unwrap() {
        assert!(found.contains_key(&line), "{line} was acknowledged");
    }
    assert_eq!(store.api.memories().len(), 1, "something is beside");
    server.stop();
}

/// Carries everything to a server, and what it answers back unless that is to be lost.
fn way_that_loses_answers(to: SocketAddr, is_lost: &Arc<AtomicBool>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let is_lost = Arc::clone(is_lost);
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(to).unwrap();
            let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server);
            let (mut from_server, mut to_client) = (to_server.try_clone().unwrap(), client);
            let is_lost = Arc::clone(&is_lost);
            // Whoever hangs up ends both.
            thread::spawn(move || io::copy(&mut from_client, &mut to_server));
            thread::spawn(move || {
                let mut piece = [0; 4096];
                while let Ok(count @ 1..) = from_server.read(&mut piece) {
                    let is_kept = !is_lost.load(Ordering::Acquire);
                    if is_kept && to_client.write_all(&piece[..count]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn a_line_whose_answer_is_lost_on_the_way_is_there_once() {
    let setup = Setup::new();
    let server = setup.start();
    let mut store = Store::of(Api::create(server.client(), "notes"));
    store.api.put("/begun.md", "start\n");
    let is_lost = Arc::new(AtomicBool::new(false));
    let address = way_that_loses_answers(server.addr(), &is_lost);
    let loci = Loci::on_url(&format!("http://{address}"), ADMIN_KEY);
    let mount =
        Mounted::start(&loci, &setup.scratch().join("mount"), &["--flat", "--store", "notes"]);
    for (name, start) in [("begun.md", "start\n"), ("new.md", "")] {
        let (path, at) = (format!("/{name}"), mount.at().join(name));
        let mut file = OpenOptions::new().append(true).create(true).open(at).unwrap();
        file.write_all(b"mine\n").unwrap();
        is_lost.store(true, Ordering::Release);
        let refused = file.sync_all().unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(Errno::IO.raw_os_error()), "{refused}");
        assert_eq!(store.text(&path), Some(format!("{start}mine\n")), "only the answer is lost");
        store.edit(&json!({"op": "append", "path": path, "text": "theirs\n"}));
        file.write_all(b"more\n").unwrap();
        is_lost.store(false, Ordering::Release);
        eventually("the next save", || file.sync_all().is_ok());
        assert_eq!(store.text(&path), Some(format!("{start}mine\ntheirs\nmore\n")));
    }
    assert_eq!(store.api.memories().len(), 2, "something is beside");
    mount.stop();
    server.stop();
}

/// What a shell has answered nothing about is there as well: `close` saves before it returns.
#[test]
fn lines_of_shells_are_there_when_they_end() {
    let scene = Scene::new();
    let other = scene.mount_again("other", &["--flat", "--store", &scene.api.store]);
    let lines = 60;
    let script = |name: &str| {
        format!("for n in $(seq {lines}); do echo {name} $n >> log.md || exit 1; done")
    };
    let shells = [("one", scene.mount.at()), ("two", other.at())].map(|(name, at)| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-euc", &script(name)]).current_dir(at).spawn().unwrap()
    });
    for mut shell in shells {
        assert!(shell.wait().unwrap().success());
    }
    let mut store: Store = scene.witness();
    let found = lines_of(store.text("/log.md").into_iter());
    assert_eq!(found.len(), 2 * lines, "{:?}", found.keys());
    assert!(found.values().all(|count| *count == 1));
    assert_eq!(store.api.memories().len(), 1);
}
