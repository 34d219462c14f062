//! Promise: `loci move` brings everything to another place, also when it is killed again and again on
//! the way; what is not the source's is refused; and whoever used the old place can use the new one.
//!
//! The source has every kind of event in it. What a server on it shows is compared with what a server
//! on the destination shows, apart from the command's own comparison.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{
    Api, Client, Cluster, Dice, Loci, Reply, Server, Setup, binary, count, timing_budgets,
};
use loci_test_postgres::{Build, Database, Postgres};
use serde_json::{Value, json};

const WRITERS: usize = 6;
/// How long a move may take until it writes.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a move is killed before it may end.
fn kills() -> usize {
    count("transfer_kills")
}

/// What is in the source, as its server showed it before it was stopped.
struct Source {
    setup: Setup,
    shown: Vec<Shown>,
    /// A key that is not the operator's.
    key: String,
    once: Request,
}

/// One store through the API.
#[derive(Debug, PartialEq)]
struct Shown {
    store: Value,
    stats: Value,
    memories: Vec<Value>,
    versions: Vec<Value>,
    changes: Vec<Value>,
    grants: Value,
}

/// A request whose answer is known.
struct Request {
    url: String,
    body: Value,
    answer: Value,
}

impl Request {
    fn store(&self) -> &str {
        self.url.split('/').nth(3).expect("the URL names its store")
    }

    fn send(&self, client: &mut Client) -> Reply {
        let headers = [("idempotency-key", "moved-once")];
        client.call_with("POST", &self.url, Some(&self.body), &headers)
    }
}

fn furnished() -> Source {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "large");
    fill(&server, &api.store);
    events(&mut api);
    let key = people(&server, &api);
    let body = json!({"path": "/once", "content": "written once"});
    let mut once = Request { url: api.path("/memories"), body, answer: Value::Null };
    once.answer = once.send(&mut server.client_as(Some(&key))).ok();
    let mut archived = Api::create(server.client(), "archived");
    archived.put("/kept", "as it was");
    let loci = Loci::on_url(&server.url(), loci_it::ADMIN_KEY);
    loci.ok(&["search", "as it was", "--store", &archived.store, "--wait"]);
    let url = archived.path("/archive");
    archived.client.call("POST", &url, None).ok();
    sealed(&setup);
    let shown = shown(&server);
    assert_eq!(shown.len(), 3);
    server.stop();
    Source { setup, shown, key, once }
}

/// Some thousand memories, a third of them changed once.
fn fill(server: &Server, store: &str) {
    let writer = |number: usize| {
        let mut api = Api::open(server.client(), store);
        thread::spawn(move || {
            for n in 0..count("transfer_memories") {
                let memory = api.put(&format!("/w{number}/{n}.md"), &format!("note {number} {n}"));
                if n % 3 == 0 {
                    api.update(&memory.id, &json!({"content": format!("changed {n}")}));
                }
            }
        })
    };
    let writers: Vec<_> = (0..WRITERS).map(writer).collect();
    for writer in writers {
        writer.join().expect("a writer writes");
    }
}

/// Redacted, erased, removed, renamed, expired, hidden, described.
fn events(api: &mut Api) {
    let old = api.put("/redacted", "a secret");
    api.update(&old.id, &json!({"content": "no secret"}));
    api.redact(&old.version).ok();
    let gone = api.put("/erased", "all of it a secret");
    api.erase(&gone.id).ok();
    let removed = api.put("/removed", "kept as history");
    api.delete(&removed.id);
    let moved = api.put("/before", "renamed");
    api.update(&moved.id, &json!({"path": "/after/that"}));
    for (path, attributes) in [
        ("/over", json!({"ttl_seconds": 1})),
        ("/hidden", json!({"visibility": "internal"})),
        ("/tagged", json!({"tags": ["a", "b"], "summary": "one line", "metadata": {"n": [1]}})),
    ] {
        let memory = api.put(path, "with attributes");
        let url = api.path(&format!("/memories/{}/attributes", memory.id));
        api.client.post(&url, &attributes).ok();
    }
    // What has expired is removed by the next who comes along; expiring is a matter of the clock.
    thread::sleep(Duration::from_millis(1_100));
    api.put("/over", "in the place of what expired");
}

/// A guest with a grant, keys and a session; the secret of the guest's key.
fn people(server: &Server, api: &Api) -> String {
    let mut client = server.client();
    client.post("/v1/principals", &json!({"kind": "agent", "name": "guest"})).ok();
    let grant = json!({"grantee": "guest", "level": "readwrite", "ttl_seconds": 1_000_000});
    client.post(&api.path("/grants"), &grant).ok();
    client.post(&api.path("/grants"), &json!({"grantee": "everyone", "level": "search"})).ok();
    let mut make = |name: &str| {
        let body = json!({"name": name, "principal": "guest", "level": "readwrite"});
        client.post("/v1/api_keys", &body).ok()
    };
    let (kept, revoked) = (make("kept"), make("revoked"));
    let url = format!("/v1/api_keys/{}", revoked["id"].as_str().unwrap());
    client.delete(&url).ok();
    Loci::on_url(&server.url(), loci_it::ADMIN_KEY).ok(&[
        "session",
        "create",
        "--store",
        &format!("{}:ro", api.store),
        "--title",
        "a talk",
    ]);
    kept["secret"].as_str().expect("a new key shows its secret").to_owned()
}

/// A store with sealed content, which only an import brings.
fn sealed(setup: &Setup) {
    let other = setup.scratch().join("sealed");
    let loci = Loci::on_data(&other);
    loci.ok(&["put", "sealed", "/box", "--text", "AAAA", "--create-store"]);
    let lines = String::from_utf8(loci.ok(&["export", "-"])).unwrap();
    let lines = lines.replace("\"text\":\"AAAA\"", "\"sealed_base64\":\"QUFBQQ==\"");
    assert!(lines.contains("sealed_base64"));
    let file = setup.scratch().join("sealed.jsonl");
    fs::write(&file, lines).unwrap();
    Loci::on_data(setup.data()).ok(&["import", file.to_str().unwrap()]);
}

/// Everything a server shows of every store.
fn shown(server: &Server) -> Vec<Shown> {
    let list = server.client().get("/v1/memory_stores?limit=100&include_archived=true").ok();
    let stores = list["data"].as_array().unwrap().clone();
    let one = |store: Value| {
        let id = store["id"].as_str().unwrap().to_owned();
        let mut api = Api::open(server.client(), &id);
        let get = |api: &mut Api, rest: &str| {
            let url = api.path(rest);
            api.client.get(&url).ok()
        };
        Shown {
            store,
            stats: get(&mut api, "/stats"),
            memories: api.pages("/memories", "limit=100&view=full"),
            versions: api.all_versions(),
            changes: api.changes(0),
            grants: get(&mut api, "/grants"),
        }
    };
    stores.into_iter().map(one).collect()
}

fn move_command(from: &str, to: &str) -> Command {
    let mut command = Command::new(binary());
    command.arg("move").env("LOCI_MOVE_FROM", from).env("LOCI_MOVE_TO", to);
    for name in ["LOCI_URL", "LOCI_KEY", "LOCI_DATA", "LOCI_DATABASE"] {
        command.env_remove(name);
    }
    command
}

/// Moves to the end; what the command says.
#[track_caller]
pub(crate) fn moved(from: &str, to: &str, options: &[&str]) -> Value {
    let done = move_command(from, to).arg("--json").args(options).output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{told}");
    assert!(!told.contains("note 1"), "content in the progress: {told}");
    serde_json::from_slice(&done.stdout).unwrap()
}

/// How long an undisturbed move takes here.
fn pace(from: &str, to: &str) -> u64 {
    let began = Instant::now();
    moved(from, to, &[]);
    u64::try_from(began.elapsed().as_millis()).expect("a move does not take ages")
}

/// A move that runs.
struct Running {
    child: Child,
    errors: BufReader<ChildStderr>,
    told: String,
}

impl Running {
    fn start(from: &str, to: &str) -> Self {
        let mut command = move_command(from, to);
        let spawned = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self { child, errors, told: String::new() }
    }

    /// Waits until both places are open and the copying begins, or until it has ended.
    fn wait_for_copying(&mut self) {
        while !self.told.contains("moving: ") {
            if self.errors.read_line(&mut self.told).unwrap() == 0 {
                return;
            }
        }
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end; whether that was a success, and what it said.
    fn end(mut self) -> (bool, String) {
        self.errors.read_to_string(&mut self.told).unwrap();
        (self.child.wait().unwrap().success(), self.told)
    }
}

/// Starts a move and kills it, again and again; how often, until one ended by itself.
fn moved_under_fire(from: &str, to: &str, pace: u64, dice: &mut Dice) -> usize {
    for kills in 0..kills() {
        let mut running = Running::start(from, to);
        // The first is killed as soon as it copies, so that there is one; every third of the others
        // wherever it happens to be, perhaps while it opens the places.
        if kills % 3 != 2 {
            running.wait_for_copying();
        }
        if kills > 0 {
            thread::sleep(dice.millis(0, pace / 3 + 10));
        }
        if running.has_ended() {
            let (is_done, told) = running.end();
            assert!(is_done, "a move failed instead of going on: {told}");
            return kills;
        }
        running.child.kill().unwrap();
        running.child.wait().unwrap();
    }
    kills()
}

/// How many kills there have to be, so that a test is one. Beside other work a move may end before it
/// is hit again.
fn kills_min() -> usize {
    if timing_budgets() { 3 } else { 1 }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// Shows the first that differs, and not thousands.
#[track_caller]
fn assert_alike(found: &[Value], expected: &[Value]) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

/// The source as a server on a moved directory shows it, and what its users can do there.
fn check_users(source: &Source, data: &Path) {
    let setup = Setup::new().data_at(data);
    let server = setup.start();
    let found = shown(&server);
    assert_eq!(found.len(), source.shown.len());
    for (found, expected) in found.iter().zip(&source.shown) {
        assert_alike(&found.memories, &expected.memories);
        assert_alike(&found.versions, &expected.versions);
        assert_alike(&found.changes, &expected.changes);
        assert_eq!(found, expected);
    }
    let mut guest = server.client_as(Some(&source.key));
    let again = source.once.send(&mut guest);
    assert_eq!(again.ok(), source.once.answer, "the same answer");
    assert_eq!(shown(&server), found, "and no second effect");
    Api::open(guest, source.once.store()).put("/after-the-move", "life goes on");
    server.stop();
    Loci::on_data(data).ok(&["check"]);
}

#[test]
fn a_directory_moves_to_another_through_many_kills() {
    let source = furnished();
    let from = text(source.setup.data()).to_owned();
    let mut dice = Dice::new("transfer");
    let data = source.setup.scratch().join("moved");
    let pace = pace(&from, text(&source.setup.scratch().join("undisturbed")));
    let kills = moved_under_fire(&from, text(&data), pace, &mut dice);
    eprintln!("transfer: {kills} kills, {pace} ms undisturbed");
    assert!(kills >= kills_min(), "hardly a test");
    let told = moved(&from, text(&data), &[]);
    let expected = (WRITERS * count("transfer_memories")) as u64;
    assert!(told["memories"].as_u64().unwrap() > expected, "{told}");
    for (name, count) in [("workspaces", 1), ("stores", 3), ("keys", 3), ("sessions", 1)] {
        assert_eq!(told[name], count, "{name}: {told}");
    }
    assert_eq!(told["equal"], true);
    assert!(told["vectors"].as_u64().unwrap() > 0, "nothing is embedded again: {told}");
    assert_eq!(moved(&from, text(&data), &["--verify-only"])["moved"], false);
    check_users(&source, &data);

    // Now there is more in it than in the source: another move is refused, whatever it would do.
    let refused = move_command(&from, text(&data)).output().unwrap();
    assert_eq!(refused.status.code(), Some(4), "{}", String::from_utf8_lossy(&refused.stderr));
    let differ = move_command(&from, text(&data)).arg("--verify-only").output().unwrap();
    let told = String::from_utf8_lossy(&differ.stderr).into_owned();
    let store = source.once.store();
    assert_eq!(differ.status.code(), Some(1), "{told}");
    assert!(told.contains(&format!("store {store}: versions differ")), "{told}");
    assert!(!told.contains("after-the-move"), "a path is told: {told}");
    check_source_is_whole(&source);
}

/// The source is as it was: its server shows the same.
fn check_source_is_whole(source: &Source) {
    let server = source.setup.start();
    assert_eq!(shown(&server), source.shown);
    server.stop();
}

#[test]
fn what_cannot_be_moved_is_refused() {
    let setup = Setup::new();
    let from = text(setup.data()).to_owned();
    Loci::on_data(setup.data()).ok(&["put", "notes", "/a", "--text", "x", "--create-store"]);
    let path = |name: &str| text(&setup.scratch().join(name)).to_owned();
    let refused = |from: &str, to: &str, options: &[&str], code: i32| {
        let done = move_command(from, to).args(options).output().unwrap();
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(code), "{from} {to} {options:?}: {told}");
        told
    };
    // Another Loci's directory, which stays as it is.
    let other = Loci::on_data(Path::new(&path("other")));
    other.ok(&["put", "notes", "/b", "--text", "y", "--create-store"]);
    let before = other.ok(&["export", "-"]);
    let told = refused(&from, &path("other"), &[], 4);
    assert!(told.contains("nothing was written"), "{told}");
    assert_eq!(other.ok(&["export", "-"]), before);

    refused(&path("nowhere"), &path("new"), &[], 3);
    refused(&from, &path("new"), &["--verify-only"], 3);
    assert!(!Path::new(&path("nowhere")).exists() && !Path::new(&path("new")).exists());
    refused(&from, &from, &[], 2);
    refused(&from, &format!("{from}/."), &[], 2);
    refused(&from, "", &[], 2);
    refused(&from, &path("new"), &["--data", "/tmp"], 2);
    let server = setup.start();
    let told = refused(&from, &path("new"), &[], 1);
    assert!(told.contains("in use"), "{told}");
    server.stop();
}

/// There and back: a directory, a database, another directory; each way killed again and again.
fn through_postgres(build: Build) {
    let source = furnished();
    let from = text(source.setup.data()).to_owned();
    let mut dice = Dice::new("transfer through PostgreSQL");
    let database = Database::fresh_blocking(&build.url().unwrap(), None).unwrap();
    let url = database.url();
    let undisturbed = Database::fresh_blocking(&build.url().unwrap(), None).unwrap();
    let pace_there = pace(&from, &undisturbed.url());
    let there = moved_under_fire(&from, &url, pace_there, &mut dice);
    let told = moved(&from, &url, &[]);
    assert_eq!(told["equal"], true);
    let data = source.setup.scratch().join("back");
    let pace_back = pace(&url, text(&source.setup.scratch().join("undisturbed")));
    let back = moved_under_fire(&url, text(&data), pace_back, &mut dice);
    assert_eq!(moved(&url, text(&data), &[])["equal"], true);
    let mut again = moved(&from, text(&data), &["--verify-only"]);
    again["moved"] = told["moved"].clone();
    assert_eq!(again, told, "the first and the last are equal");
    eprintln!(
        "transfer through {build:?}: {there} kills there ({pace_there} ms), {back} back ({pace_back} ms)"
    );
    assert!(there >= 1 && back >= 1, "hardly a test");
    check_users(&source, &data);
}

#[test]
fn a_directory_moves_to_the_oldest_postgresql_and_back() {
    through_postgres(Build::Floor);
}

#[test]
fn a_directory_moves_to_postgresql_with_pgvector_and_back() {
    through_postgres(Build::Current);
}

/// Waits until a move has written to the database that it is to fill.
fn wait_for_rows(running: &mut Running, to: &Cluster) {
    running.wait_for_copying();
    let began = Instant::now();
    while to.sql("select exists (select from loci.version)") != "t" {
        assert!(!running.has_ended(), "it ended without writing: {}", running.told);
        assert!(began.elapsed() < PATIENCE, "it writes nothing");
    }
}

/// How long the database is away: longer than a request waits for it.
const OUTAGE: Duration = Duration::from_secs(6);

/// Whoever moves hours of history does not begin again because the database had a bad moment.
#[test]
fn a_move_outlives_a_database_that_stands_still_and_one_that_restarts() {
    let source = furnished();
    let from = text(source.setup.data()).to_owned();
    let mut postgres = Postgres::start(Build::Floor).unwrap();
    for restarts in [false, true] {
        // A move that ends before the database goes away shows nothing.
        let is_shown = (0..5).any(|_| outlives(&from, &mut postgres, restarts));
        assert!(is_shown, "each was over before the database went away");
    }
}

/// Moves a directory to a database that goes away meanwhile; false if the move was over by then.
fn outlives(from: &str, postgres: &mut Postgres, restarts: bool) -> bool {
    let cluster = Cluster::on(postgres);
    let url = cluster.url();
    let mut running = Running::start(from, &url);
    wait_for_rows(&mut running, &cluster);
    match restarts {
        false => postgres.freeze(),
        true => postgres.stop().unwrap(),
    }
    thread::sleep(OUTAGE);
    let is_over = running.has_ended();
    match restarts {
        false => postgres.thaw(),
        true => postgres.start_again().unwrap(),
    }
    let (is_done, told) = running.end();
    assert!(is_done, "restarts: {restarts}: {told}");
    assert_eq!(moved(from, &url, &["--verify-only"])["equal"], true);
    !is_over
}
