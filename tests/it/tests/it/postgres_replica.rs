//! Promise: a server on a streaming standby serves reads and says with every answer that it may be
//! behind; it takes no writes, and nothing a write depends on is decided by it. Who runs one by
//! mistake is told.

use std::thread;
use std::time::{Duration, Instant};

use loci_it::{ADMIN_KEY, Api, Client, Cluster, Loci, Reply, Server, Setup};
use loci_test_postgres::{Build, Postgres};
use serde_json::{Value, json};

/// How long replication may take on a machine that others use too.
const REPLAY_MAX: Duration = Duration::from_secs(60);

/// A primary with a server, a standby with another, and a store on both.
struct Pair {
    postgres: Postgres,
    cluster: Cluster,
    primary: Server,
    standby: Postgres,
    replica: Server,
    store: String,
}

impl Pair {
    fn start() -> Self {
        let postgres = Postgres::start(Build::Floor).unwrap();
        let cluster = Cluster::on(&postgres).with(without_model);
        let primary = cluster.start();
        let store = Api::create(primary.client(), "notes").store;
        let standby = postgres.replica().unwrap();
        let replica = replica_setup(&cluster, &standby).start();
        Self { postgres, cluster, primary, standby, replica, store }
    }

    fn on_primary(&self) -> Api {
        Api::open(self.primary.client(), &self.store)
    }

    fn on_replica(&self) -> Api {
        Api::open(self.replica.client(), &self.store)
    }

    /// All that is written, as the primary knows it.
    fn written(&self) -> String {
        let tables = ["version", "store", "session", "grant_", "api_key", "principal", "lease"];
        let counts = tables.map(|table| format!("(select count(*) from loci.{table})"));
        self.cluster.sql(&format!(
            "select {}, (select max(xmin::text) from loci.memory)",
            counts.join(", ")
        ))
    }
}

fn without_model(setup: Setup) -> Setup {
    setup.config("[search]\nembedder = 'none'\n")
}

fn replica_setup(cluster: &Cluster, standby: &Postgres) -> Setup {
    let setup = Setup::new().on_database(&standby_url(cluster, standby));
    setup.config("[server]\nreplica = true\n[search]\nembedder = 'none'\n")
}

fn standby_url(cluster: &Cluster, standby: &Postgres) -> String {
    let url = cluster.url();
    standby.url_of(url.rsplit('/').next().unwrap())
}

/// Asks until the answer is as it should be.
#[track_caller]
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < REPLAY_MAX, "{what}: not after {REPLAY_MAX:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// How far behind an answer says it may be.
#[track_caller]
fn lag(reply: &Reply) -> Option<u64> {
    assert_eq!(reply.header("loci-stale"), Some("true"), "{} {:?}", reply.status, reply.headers);
    reply.header("loci-replica-lag-ms").map(|lag| lag.parse().unwrap())
}

#[test]
fn reads_are_served_and_marked() {
    let pair = Pair::start();
    let (mut written, mut read) = (pair.on_primary(), pair.on_replica());
    let memory = written.put("/tea.md", "green tea at four");
    eventually("the memory arrives", || read.get(&memory.id).status == 200);
    assert_eq!(read.content(&memory.id), "green tea at four");
    assert_eq!(read.memories(), written.memories());
    assert_eq!(read.changes(0), written.changes(0));
    assert_eq!(read.found("lexical", "tea"), [memory.id.as_str()]);
    for n in 0..5 {
        let content = format!("tea number {n}");
        written.update(&memory.id, &json!({"content": content}));
        eventually("the update arrives", || read.content(&memory.id) == content);
        assert_eq!(read.found("lexical", &n.to_string()), [memory.id.as_str()]);
    }
    eventually("nothing is behind", || lag(&read.get(&memory.id)) == Some(0));

    let mut nobody = pair.replica.client_as(None);
    for (path, status) in
        [("/healthz", 200), ("/readyz", 200), ("/v1/nothing", 404), ("/v1/memory_stores", 401)]
    {
        let reply = nobody.get(path);
        assert_eq!(reply.status, status, "{path}");
        lag(&reply);
    }
    let reply = written.get(&memory.id);
    assert_eq!((reply.header("loci-stale"), reply.header("loci-replica-lag-ms")), (None, None));
    pair.replica.stop();
}

#[track_caller]
fn assert_sent_away(client: &mut Client, method: &str, path: &str, body: Option<&Value>) {
    let headers = [("idempotency-key", "the first of all")];
    for headers in [&[][..], &headers[..]] {
        let reply = client.call_with(method, path, body, headers);
        assert_eq!(reply.status, 421, "{method} {path}: {}", reply.text());
        let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("replica") && message.contains("primary"), "{message}");
        assert_eq!(reply.header("retry-after"), None);
        lag(&reply);
    }
}

#[test]
fn writes_are_sent_to_the_primary() {
    let pair = Pair::start();
    let (mut written, read) = (pair.on_primary(), pair.on_replica());
    let url = written.path("/memories");
    let body = json!({"path": "/first", "content": "one"});
    let headers = [("idempotency-key", "the first of all")];
    let memory = written.client.call_with("POST", &url, Some(&body), &headers).ok();
    let (id, version) = (memory["id"].as_str().unwrap(), &memory["memory_version_id"]);
    let version = version.as_str().unwrap();
    let mut waiting = pair.on_replica();
    eventually("the memory arrives", || waiting.get(id).status == 200);

    let before = pair.written();
    let mut client = read.client;
    let last = if pair.store.ends_with('1') { '2' } else { '1' };
    let unknown = format!("{}{last}", &pair.store[..pair.store.len() - 1]);
    let unknown = format!("/v1/memory_stores/{unknown}/memories");
    let store = format!("/v1/memory_stores/{}", pair.store);
    let own = |rest: &str| format!("{store}{rest}");
    let expecting = json!({
        "content": "two",
        "precondition": {"type": "content_sha256", "content_sha256": memory["content_sha256"]},
    });
    for (method, path, body) in [
        ("POST", "/v1/memory_stores".to_owned(), Some(json!({"name": "more"}))),
        ("POST", own("/memories"), Some(json!({"path": "/second", "content": "two"}))),
        // Taken, expected otherwise, unknown here: it is not for a replica to say.
        ("POST", own("/memories"), Some(body.clone())),
        ("POST", unknown, Some(body.clone())),
        ("POST", own(&format!("/memories/{id}")), Some(expecting)),
        ("DELETE", own(&format!("/memories/{id}")), None),
        ("POST", own(&format!("/memory_versions/{version}/redact")), None),
        ("POST", own(&format!("/memories/{id}/erase")), None),
        ("POST", own(""), Some(json!({"description": "new"}))),
        ("POST", own("/archive"), None),
        ("DELETE", own(""), None),
    ] {
        assert_sent_away(&mut client, method, &path, body.as_ref());
    }
    assert_eq!(pair.written(), before, "nothing was written");
    pair.primary.stop();
    pair.replica.stop();
}

#[test]
fn a_revoked_key_opens_the_replica_no_longer() {
    let pair = Pair::start();
    let loci = Loci::on_url(&pair.primary.url(), ADMIN_KEY);
    let key = loci.json(&["key", "create", "--name", "guest"]);
    let text = key.to_string();
    let part = |start: &str| {
        let from = text.find(start).unwrap_or_else(|| panic!("no {start}…"));
        text[from..].split('"').next().unwrap().to_owned()
    };
    let (id, secret) = (part("apikey_"), part("loci_"));
    let mut client = pair.replica.client_as(Some(&secret));
    eventually("the key arrives", || client.get("/v1/memory_stores").status == 200);
    loci.ok(&["key", "revoke", &id]);
    eventually("so does its end", || client.get("/v1/memory_stores").status == 401);
}

#[test]
fn a_replica_outlives_the_end_of_either_database() {
    let mut pair = Pair::start();
    let (mut written, mut read) = (pair.on_primary(), pair.on_replica());
    let memory = written.put("/a", "before");
    eventually("the memory arrives", || read.get(&memory.id).status == 200);

    pair.standby.stop().unwrap();
    let away = read.get(&memory.id);
    assert_eq!(away.status, 503, "{}", away.text());
    eventually("nobody can tell", || lag(&read.get(&memory.id)).is_none());
    assert_eq!(pair.replica.client().get("/readyz").status, 503);
    pair.standby.start_again().unwrap();
    eventually("reads work again", || read.get(&memory.id).status == 200);
    assert_eq!(pair.replica.client().get("/readyz").status, 200);
    written.update(&memory.id, &json!({"content": "after"}));
    eventually("it follows again", || read.content(&memory.id) == "after");

    pair.postgres.stop().unwrap();
    eventually("it knows that it may be behind", || {
        let reply = read.get(&memory.id);
        assert_eq!(reply.status, 200, "{}", reply.text());
        lag(&reply).is_some_and(|lag| lag > 0)
    });
    assert_eq!(read.content(&memory.id), "after", "what is there can be read without the primary");
    pair.postgres.start_again().unwrap();
    let url = written.path(&format!("/memories/{}", memory.id));
    let last = json!({"content": "last"});
    eventually("the primary is back", || written.client.post(&url, &last).status == 200);
    eventually("it follows again", || read.content(&memory.id) == "last");
}

#[test]
fn only_who_says_so_works_on_a_standby() {
    let postgres = Postgres::start(Build::Floor).unwrap();
    let cluster = Cluster::on(&postgres).with(without_model);
    let standby = postgres.replica().unwrap();
    cluster.loci().ok(&["put", "notes", "/a", "--text", "one", "--create-store"]);

    let url = standby_url(&cluster, &standby);
    let setup = without_model(Setup::new().on_database(&url));
    let ended = setup.try_start().expect_err("a server that writes needs a primary");
    assert_eq!(ended.code(), Some(1));
    assert!(setup.printed().contains("--replica"), "{}", setup.printed());

    let setup = Setup::new().config("[server]\nreplica = true\n");
    assert_eq!(setup.try_start().expect_err("a directory has no replica").code(), Some(2));

    let loci = Loci::on_database(&url);
    eventually("the memory arrives", || loci.run(&["get", "notes", "/a"]).code == Some(0));
    assert_eq!(loci.ok(&["get", "notes", "/a"]), b"one");
    let put = loci.run(&["put", "notes", "/a", "--text", "two"]).expect_code(1, &["put"]);
    assert!(put.stderr.contains("write to the primary"), "{}", put.stderr);
    assert_eq!(cluster.loci().ok(&["get", "notes", "/a"]), b"one");
}
