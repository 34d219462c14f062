//! Promise: the command line does the same on an idle data directory, on the directory of a
//! running server, and over HTTP, with exit codes a script can rely on.

use std::fs;
use std::path::Path;
use std::thread;

use loci_it::{ADMIN_KEY, Api, Loci, Setup, sha256};

const OK: i32 = 0;
const FAILURE: i32 = 1;
const USAGE: i32 = 2;
const NOT_FOUND: i32 = 3;
const CONFLICT: i32 = 4;
const DENIED: i32 = 5;

/// Every version id named in some text, in order, once each.
fn versions_in(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text).into_owned();
    let mut found: Vec<String> = Vec::new();
    for (at, _) in text.match_indices("memver_") {
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let id = rest[..end].to_owned();
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Everything a person does with memories, whichever way the command line reaches them.
fn tour(loci: &Loci, scratch: &Path) {
    loci.ok(&["store", "create", "notes"]);
    assert!(text(&loci.ok(&["store", "list"])).contains("notes"));
    let store = loci.json(&["store", "show", "notes"]);
    let id = store["id"].as_str().expect("a store as JSON has an id").to_owned();
    assert!(id.starts_with("memstore_"), "{store}");

    // From an option, from a file, from standard input; by name and by id.
    loci.ok(&["put", "notes", "/a.md", "--text", "first\n"]);
    let file = scratch.join("b.md");
    fs::write(&file, "from a file, no newline at the end").unwrap();
    loci.ok(&["put", &id, "/dir/b.md", "--file", file.to_str().unwrap()]);
    let args = ["put", "notes", "/dir/c.md"];
    let _ = loci.run_with_input(&args, "from stdin: é\n".as_bytes()).expect_code(OK, &args);
    assert_eq!(loci.ok(&["get", "notes", "/a.md"]), b"first\n", "content and nothing else");
    let from_file = loci.ok(&["get", &id, "/dir/b.md"]);
    assert_eq!(text(&from_file), "from a file, no newline at the end");
    assert_eq!(text(&loci.ok(&["get", "notes", "/dir/c.md"])), "from stdin: é\n");

    let all = text(&loci.ok(&["list", "notes"]));
    assert!(["/a.md", "/dir/b.md", "/dir/c.md"].iter().all(|path| all.contains(path)), "{all}");
    let below = text(&loci.ok(&["list", "notes", "/dir/"]));
    assert!(below.contains("/dir/b.md") && !below.contains("/a.md"), "{below}");
    let listed = loci.json(&["list", "notes"]).to_string();
    assert!(listed.contains(&sha256("first\n")), "the JSON list has digests: {listed}");

    loci.ok(&["put", "notes", "/a.md", "--text", "second", "--if-digest", &sha256("first\n")]);
    let stale = ["put", "notes", "/a.md", "--text", "third", "--if-digest", &sha256("first\n")];
    let _ = loci.run(&stale).expect_code(CONFLICT, &stale);
    assert_eq!(loci.ok(&["get", "notes", "/a.md"]), b"second", "a refused put changes nothing");

    history(loci);
    keys(loci);
    exit_codes(loci);
    loci.ok(&["check"]);
    loci.ok(&["doctor"]);
    backup(loci, scratch);
}

fn history(loci: &Loci) {
    let versions = versions_in(&loci.ok(&["history", "notes", "/a.md"]));
    assert_eq!(versions.len(), 2, "{versions:?}");
    let as_json = loci.json(&["history", "notes", "/a.md"]).to_string();
    assert_eq!(versions_in(as_json.as_bytes()).len(), 2, "{as_json}");
    let content = |id: &String| loci.ok(&["get", "notes", "/a.md", "--version", id]);
    let old = versions.iter().find(|id| content(id) == b"first\n").expect("the first is kept");
    let new = versions.iter().find(|id| content(id) == b"second").expect("the second is kept");

    loci.ok(&["restore", "notes", "/a.md", old]);
    assert_eq!(loci.ok(&["get", "notes", "/a.md"]), b"first\n");
    let after = versions_in(&loci.ok(&["history", "notes", "/a.md"]));
    assert_eq!(after.len(), 3, "restoring is a new version, not a rewind");

    loci.ok(&["redact", new, "--store", "notes"]);
    let args = ["get", "notes", "/a.md", "--version", new];
    let gone = loci.run(&args);
    assert_ne!(gone.code, Some(OK), "a redacted version has no content");
    assert!(!text(&gone.stdout).contains("second"));
    let head = after.iter().find(|id| !versions.contains(id)).unwrap();
    let args = ["redact", head, "--store", "notes"];
    let refused = loci.run(&args).expect_code(FAILURE, &args);
    assert!(!refused.stderr.is_empty(), "says why the live head cannot be redacted");
    assert_eq!(loci.ok(&["get", "notes", "/a.md"]), b"first\n");
}

fn keys(loci: &Loci) {
    let made = loci.json(&["key", "create", "--name", "robot", "--level", "read"]).to_string();
    let word = |start: &str| {
        let from = made.find(start).unwrap_or_else(|| panic!("no {start}… in {made}"));
        made[from..].split('"').next().unwrap().to_owned()
    };
    let (id, secret) = (word("apikey_"), word("loci_"));
    let listed = text(&loci.ok(&["key", "list"]));
    assert!(listed.contains(&id) && listed.contains("robot"), "{listed}");
    assert!(!listed.contains(&secret), "a listed key shows its secret");
    loci.ok(&["key", "revoke", &id]);
    let args = ["key", "revoke", "apikey_011111111111111111111111"];
    let _ = loci.run(&args).expect_code(NOT_FOUND, &args);
}

fn exit_codes(loci: &Loci) {
    let cases: [(&[&str], i32); 11] = [
        (&["get", "notes", "/missing"], NOT_FOUND),
        (&["get", "no-such-store", "/a.md"], NOT_FOUND),
        (&["get", "memstore_011111111111111111111111", "/a.md"], NOT_FOUND),
        (&["history", "notes", "/missing"], NOT_FOUND),
        (&["redact", "memver_011111111111111111111111", "--store", "notes"], NOT_FOUND),
        (&["put", "notes", "no-slash", "--text", "x"], FAILURE),
        (&["put", "notes", "/a.md/below", "--text", "x"], CONFLICT),
        (&["put", "notes"], USAGE),
        (&["put", "notes", "/x", "--no-such-option"], USAGE),
        (&["no-such-command"], USAGE),
        (&["get", "notes", "/a.md", "--version", "nonsense"], NOT_FOUND),
    ];
    for (args, code) in cases {
        let ended = loci.run(args).expect_code(code, args);
        assert!(!ended.stderr.trim().is_empty(), "{args:?} fails without a word");
        assert!(ended.stdout.is_empty(), "{args:?} prints to stdout: {}", text(&ended.stdout));
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    }
}

fn backup(loci: &Loci, scratch: &Path) {
    let file = scratch.join("backup.db");
    loci.ok(&["backup", file.to_str().unwrap()]);
    // A backup is a data directory's database: put in place, it is the same memory.
    let restored = scratch.join("restored");
    fs::create_dir_all(&restored).unwrap();
    fs::copy(&file, restored.join("loci.db")).unwrap();
    let copy = Loci::on_data(&restored);
    copy.ok(&["check"]);
    assert_eq!(copy.ok(&["get", "notes", "/a.md"]), b"first\n");
    let here = scratch.join("here.jsonl");
    let there = scratch.join("there.jsonl");
    loci.ok(&["export", here.to_str().unwrap()]);
    copy.ok(&["export", there.to_str().unwrap()]);
    assert!(fs::read(here).unwrap() == fs::read(there).unwrap(), "the backup differs");
}

#[test]
fn on_an_idle_data_directory() {
    let setup = Setup::new();
    tour(&Loci::on_data(setup.data()), setup.scratch());
}

#[test]
fn on_the_data_directory_of_a_running_server() {
    let setup = Setup::new();
    let server = setup.start();
    tour(&Loci::on_data(setup.data()), setup.scratch());
    // The server saw it all: there is one truth, not two.
    let stores = server.client().get("/v1/memory_stores").ok();
    let store = stores["data"][0]["id"].as_str().unwrap();
    let mut api = Api::open(server.client(), store);
    assert_eq!(api.memories().len(), 3);
    server.stop();
}

#[test]
fn on_a_server_by_url() {
    let setup = Setup::new();
    let server = setup.start();
    tour(&Loci::on_url(&server.url(), ADMIN_KEY), setup.scratch());
    let by_env = Loci::on_env(&server.url(), ADMIN_KEY);
    assert_eq!(by_env.ok(&["get", "notes", "/a.md"]), b"first\n");

    let args = ["store", "list"];
    let wrong = Loci::on_url(&server.url(), "loci_wrong");
    let denied = wrong.run(&args).expect_code(DENIED, &args);
    assert!(!denied.stderr.contains("loci_wrong"), "the key is repeated: {}", denied.stderr);
    let url = server.url();
    server.stop();
    let _ = Loci::on_url(&url, ADMIN_KEY).run(&args).expect_code(FAILURE, &args);
}

#[test]
fn a_limited_key_is_denied_what_it_was_not_given() {
    let setup = Setup::new();
    let server = setup.start();
    let admin = Loci::on_url(&server.url(), ADMIN_KEY);
    admin.ok(&["store", "create", "notes"]);
    admin.ok(&["put", "notes", "/a", "--text", "x"]);
    let made = admin.json(&["key", "create", "--name", "r", "--level", "read"]).to_string();
    let start = made.find("loci_").expect("the new key is shown");
    let end = made[start..].find('"').unwrap() + start;
    let reader = Loci::on_url(&server.url(), &made[start..end]);
    assert_eq!(reader.ok(&["get", "notes", "/a"]), b"x");
    for args in [
        &["put", "notes", "/a", "--text", "y"][..],
        &["key", "create", "--name", "more"],
        &["key", "list"],
        &["export", "-"],
    ] {
        let _ = reader.run(args).expect_code(DENIED, args);
    }
    let listed = text(&admin.ok(&["key", "list"]));
    assert!(!listed.contains(&made[start..end]), "a listed key shows its secret");
    assert_eq!(admin.ok(&["get", "notes", "/a"]), b"x");
    server.stop();
}

#[test]
fn export_import_export_is_byte_equal() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "full of history");
    for number in 0..30 {
        let memory = api.put(&format!("/m/{number}"), &format!("content {number} é\n\u{0}"));
        if number % 2 == 0 {
            api.update(&memory.id, &serde_json::json!({"content": format!("again {number}")}));
        }
        if number % 3 == 0 {
            api.delete(&memory.id);
            let versions = api.versions(&memory.id);
            api.redact(versions.last().unwrap()["id"].as_str().unwrap()).ok();
        }
        if number % 7 == 1 && number % 3 != 0 {
            let url = api.path(&format!("/memories/{}/attributes", memory.id));
            let body = serde_json::json!({"tags": ["t1", "t2"], "metadata": {"n": number}});
            api.client.post(&url, &body).ok();
        }
    }
    let archived = Api::create(server.client(), "archived");
    let url = archived.path("/archive");
    server.client().call("POST", &url, None).ok();

    let path = |name: &str| setup.scratch().join(name).to_str().unwrap().to_owned();
    // From the running server over its socket, and over HTTP: the same bytes.
    Loci::on_data(setup.data()).ok(&["export", &path("socket.jsonl")]);
    let by_http = Loci::on_url(&server.url(), ADMIN_KEY).ok(&["export", "-"]);
    let first = fs::read(path("socket.jsonl")).unwrap();
    assert!(by_http == first, "the same data, another export");
    assert!(first.len() > 5_000, "only {} bytes", first.len());
    server.stop();

    let empty = setup.scratch().join("empty");
    let copy = Loci::on_data(&empty);
    copy.ok(&["import", &path("socket.jsonl")]);
    copy.ok(&["check"]);
    let second = copy.ok(&["export", "-"]);
    let differing = text(&first)
        .lines()
        .zip(text(&second).lines())
        .find(|(a, b)| a != b)
        .map(|(a, b)| format!("{a}\n{b}"));
    assert!(
        second == first,
        "{} and {} bytes; first difference: {differing:?}",
        first.len(),
        second.len()
    );

    // By standard input as well, and through a server.
    let other = Setup::new();
    let server = other.start();
    let args = ["import", "-"];
    let by_url = Loci::on_url(&server.url(), ADMIN_KEY);
    let _ = by_url.run_with_input(&args, &first).expect_code(OK, &args);
    let mut copied = Api::open(server.client(), &api.store);
    assert_eq!(copied.memories().len(), 20);
    let args = ["import", "-"];
    let nonsense = by_url.run_with_input(&args, b"this is no export\n").expect_code(FAILURE, &args);
    assert!(!nonsense.stderr.trim().is_empty());
    server.stop();
}

#[test]
fn an_import_of_something_else_says_what_is_wrong_and_adds_nothing() {
    let setup = Setup::new();
    let loci = Loci::on_data(setup.data());
    loci.ok(&["store", "create", "kept"]);
    let before = loci.ok(&["export", "-"]);
    let file = setup.scratch().join("bad");
    for (bytes, reason) in
        [(&b"h\xffi"[..], "UTF-8"), (b"{\"type\":\"loci_export\"", "export line")]
    {
        fs::write(&file, bytes).unwrap();
        let output = loci.run(&["import", file.to_str().unwrap()]);
        let told = &output.stderr;
        assert_eq!(output.code, Some(1), "{told}");
        assert!(told.contains(reason) && !told.contains("panicked"), "{told}");
    }
    assert!(loci.ok(&["export", "-"]) == before, "a refused import added something");
}

#[test]
fn many_processes_at_once_on_one_data_directory() {
    let setup = Setup::new();
    let loci = Loci::on_data(setup.data());
    loci.ok(&["store", "create", "shared"]);
    let writers: Vec<_> = (0..12)
        .map(|number| {
            let loci = loci.clone();
            thread::spawn(move || {
                for turn in 0..3 {
                    let path = format!("/p{number}/{turn}");
                    loci.ok(&["put", "shared", &path, "--text", &path]);
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    loci.ok(&["check"]);
    for number in 0..12 {
        for turn in 0..3 {
            let path = format!("/p{number}/{turn}");
            assert_eq!(text(&loci.ok(&["get", "shared", &path])), path);
        }
    }
}
