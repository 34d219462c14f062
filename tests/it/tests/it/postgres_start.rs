//! Promise: servers on a database start in any order and at the same moment, with each other and with
//! PostgreSQL, and end up with one workspace, one administrator, and what the configuration declares
//! once. The password in the database's URL is never shown.

use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{ADMIN_KEY, Api, Cluster, Loci, Server, Setup, budget};
use loci_test_postgres::{Build, Postgres};
use serde_json::json;

const CONFIG: &str = "
[[principal]]
name = 'ana'
kind = 'user'

[[store]]
name = 'declared'
owner = 'ana'

[[grant]]
store = 'declared'
grantee = 'everyone'
level = 'read'

[[key]]
name = 'reports'
principal = 'ana'
level = 'read'
secret_env = 'REPORTS_KEY'
";

#[test]
fn servers_that_start_together_on_an_empty_database_make_one_beginning() {
    let reports = "reports-key-0123456789";
    let cluster = Cluster::fresh();
    let cluster = cluster
        .with(|setup| setup.config(CONFIG).env("REPORTS_KEY", reports).admin_key(Some(ADMIN_KEY)));
    let servers = cluster.start_together(5);
    assert_eq!(cluster.sql("select count(*) from loci.workspace"), "1");
    let names = "select string_agg(name, ',' order by name) from loci.principal";
    assert_eq!(cluster.sql(names), "admin,ana");
    assert_eq!(cluster.sql("select count(*) from loci.store"), "1");
    assert_eq!(cluster.sql("select count(*) from loci.grant_"), "1");
    let keys = "select string_agg(name, ',' order by name) from loci.api_key";
    assert_eq!(cluster.sql(keys), "admin (environment),reports");
    for server in &servers {
        let stores = server.client_as(Some(reports)).get("/v1/memory_stores").ok();
        assert_eq!(stores["data"].as_array().unwrap().len(), 1, "{stores}");
    }
    servers.into_iter().for_each(Server::stop);

    // And once more, when all of it is there.
    let servers = cluster.start_together(3);
    assert_eq!(cluster.sql("select count(*) from loci.api_key"), "2");
    assert_eq!(cluster.sql("select count(*) from loci.store"), "1");
    servers.into_iter().for_each(Server::stop);
}

#[test]
fn one_of_the_servers_that_start_together_shows_the_key() {
    let cluster = Cluster::fresh().with(|setup| setup.admin_key(None));
    let servers = cluster.start_together(4);
    let key = shown_key(&cluster);
    for server in &servers {
        server.client_as(Some(&key)).get("/v1/memory_stores").ok();
    }
}

/// The key that was shown, exactly once.
#[track_caller]
fn shown_key(cluster: &Cluster) -> String {
    let printed = cluster.setup().printed();
    let keys: Vec<&str> =
        printed.lines().filter_map(|line| line.strip_prefix("admin key (shown once): ")).collect();
    let [key] = keys.as_slice() else { panic!("{} keys", keys.len()) };
    (*key).to_owned()
}

#[test]
fn commands_work_on_a_database_with_and_without_servers() {
    let cluster = Cluster::fresh();
    let loci = cluster.loci();
    let nothing = loci.run(&["list", "notes"]).expect_code(1, &["list"]);
    assert!(nothing.stderr.contains("holds no memories yet"), "{}", nothing.stderr);
    assert_eq!(cluster.sql("select count(*) from pg_namespace where nspname = 'loci'"), "0");

    loci.ok(&["put", "notes", "/a.md", "--text", "written without a server", "--create-store"]);
    let server = cluster.start();
    let remote = Loci::on_url(&server.url(), ADMIN_KEY);
    assert_eq!(remote.ok(&["get", "notes", "/a.md"]), b"written without a server");
    remote.ok(&["put", "notes", "/a.md", "--text", "written through the server"]);
    assert_eq!(loci.ok(&["get", "notes", "/a.md"]), b"written through the server");
    assert_eq!(loci.ok(&["history", "notes", "/a.md"]), remote.ok(&["history", "notes", "/a.md"]));
    let dump = cluster.setup().scratch().join("dump.jsonl");
    loci.ok(&["export", dump.to_str().unwrap()]);
    assert!(dump.metadata().unwrap().len() > 0);
    for way in [&loci, &remote] {
        let backup = way.run(&["backup", "/nowhere/at/all"]).expect_code(1, &["backup"]);
        assert!(backup.stderr.contains("pg_basebackup"), "{}", backup.stderr);
    }
    cluster.check();
    server.stop();

    let doctor = loci.run(&["doctor", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let subjects: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|finding| finding["subject"].as_str())
        .collect();
    for subject in
        ["database", "postgresql", "format", "writable", "role", "durability", "pgvector"]
    {
        assert!(subjects.contains(&subject), "{subjects:?}");
    }
}

#[test]
fn a_server_waits_for_postgresql_and_outlives_it() {
    let mut postgres = Postgres::start(Build::Floor).unwrap();
    let cluster = Cluster::on(&postgres);
    postgres.stop().unwrap();

    let starting = thread::scope(|scope| {
        let starting = scope.spawn(|| cluster.start());
        wait_until("the start waits", || {
            cluster.setup().printed().contains("waiting for the database")
        });
        postgres.start_again().unwrap();
        starting.join().unwrap()
    });
    let server = starting;
    let mut api = Api::create(server.client(), "patient");
    api.put("/before", "written before");

    postgres.stop().unwrap();
    let mut anybody = server.client_as(None);
    anybody.get("/healthz").ok();
    for (path, body) in
        [("/readyz", None), ("/memories", Some(json!({"path": "/x", "content": ""})))]
    {
        let began = Instant::now();
        let reply = match &body {
            None => anybody.get(path),
            Some(body) => {
                let url = api.path(path);
                api.client.post(&url, body)
            }
        };
        let took = began.elapsed();
        assert_eq!(reply.status, 503, "{path}: {}", reply.text());
        assert!(reply.header("retry-after").is_some(), "{path}: {:?}", reply.headers);
        assert!(took < budget(Duration::from_secs(2)), "{path} took {took:?}");
    }
    anybody.get("/healthz").ok();
    postgres.start_again().unwrap();
    wait_until("it comes back", || anybody.get("/readyz").status == 200);
    api.put("/after", "written after");
    assert_eq!(api.memories().len(), 2);
    server.stop();
}

/// Somebody has the table to themselves until PostgreSQL ends, so a start stands exactly there.
fn hold_table(cluster: &Cluster, table: &str) -> Child {
    let statements = format!("begin; lock table loci.{table}; select pg_sleep(60)");
    let held = cluster.psql(&statements).stderr(Stdio::null()).spawn().unwrap();
    let is_held = format!(
        "select count(*) from pg_locks where relation = 'loci.{table}'::regclass
        and mode = 'AccessExclusiveLock' and granted"
    );
    wait_until("the table is held", || cluster.sql(&is_held) == "1");
    held
}

#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}: not in time");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_outlives_postgresql_between_opening_it_and_listening() {
    let mut postgres = Postgres::start(Build::Floor).unwrap();
    // What a start looks for first, what it takes turns by, and what it declares when it has made
    // a key.
    for table in ["workspace", "lease", "store"] {
        let declares = "[[store]]\nname = 'declared'\n";
        let cluster = Cluster::on(&postgres).with(|setup| setup.admin_key(None).config(declares));
        cluster.loci().ok(&["store", "create", "first"]);
        let mut held = hold_table(&cluster, table);
        let server = thread::scope(|scope| {
            let starting = scope.spawn(|| cluster.start());
            wait_until("the start waits", || {
                cluster.setup().printed().contains("waiting for the database")
                    || starting.is_finished()
            });
            postgres.stop().unwrap();
            // An outage of two tries; nothing is said of the second.
            thread::sleep(Duration::from_secs(1));
            postgres.start_again().unwrap();
            starting.join().unwrap()
        });
        held.wait().unwrap();
        let key = shown_key(&cluster);
        let stores = server.client_as(Some(&key)).get("/v1/memory_stores").ok();
        assert_eq!(stores["data"].as_array().unwrap().len(), 2, "{table}: {stores}");
        // Beside it there is the one-time word of the link to the console.
        let keys = "select count(*) from loci.api_key where name not like 'console link%'";
        assert_eq!(cluster.sql(keys), "1", "{table}");
        server.stop();
    }
}

#[test]
fn a_password_is_never_shown() {
    let url = "postgres://loci:hunter2-hunter2@127.0.0.1:1/loci";
    let finished = Loci::on_database(url).run(&["store", "list"]).expect_code(1, &["store"]);
    assert!(finished.stderr.contains("cannot be reached"), "{}", finished.stderr);
    let mut said = finished.stderr;
    for args in [
        &["store", "list", "--database", url, "--data", "/nowhere"][..],
        &["store", "list", "--database", url, "--url", "http://127.0.0.1:1"],
        &["store", "list", "--data", url],
        &["serve", "--database", "mysql://loci:hunter2-hunter2@127.0.0.1/x"],
        &["serve", "--database", "postgres://loci:hunter2-hunter2@"],
    ] {
        said += &Loci::default().run(args).expect_code(2, args).stderr;
    }
    let config = format!("[server]\ndatabase = '{url}'\n");
    let setup = Setup::new().config(&config);
    let config = setup.config_path();
    let args = ["serve", "--config", config.to_str().unwrap()];
    let refused = Loci::default().run(&args).expect_code(1, &args);
    assert!(refused.stderr.contains("database_env"), "{}", refused.stderr);
    said += &refused.stderr;
    assert!(!said.contains("hunter2"), "{said}");

    let cluster = Cluster::fresh().with(|setup| setup.env("LOCI_LOG", "trace"));
    let server = cluster.start();
    Api::create(server.client(), "quiet").put("/a", "text");
    server.stop();
    let url = cluster.url();
    let password = url.split(['@', ':']).nth(2).unwrap();
    let printed = cluster.setup().printed();
    assert!(printed.contains("postgres://loci@127.0.0.1"), "{printed}");
    assert!(!printed.contains(password), "the password is in the log");
}
