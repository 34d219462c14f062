//! What a test may rely on: both builds start and answer, only one has pgvector, data survives
//! restarts and kills, and nothing stays behind, not even when the process that started a server
//! is killed.
//!
//! Tests with `pgvector` in their name need the current build, the others the floor.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
#![allow(clippy::disallowed_methods, reason = "one test starts a copy of itself")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use loci_test_postgres::{Build, Database, Postgres, Settings};
use tokio::time::timeout;
use tokio_postgres::{Client, NoTls};

const PATIENCE: Duration = Duration::from_secs(60);

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    // Ends with an error when a test cuts the connection, which is the point of the test.
    tokio::spawn(async move { drop(connection.await) });
    client
}

async fn count(url: &str, from: &str) -> i64 {
    let client = connect(url).await;
    client.query_one(&format!("select count(*) from {from}"), &[]).await.unwrap().get(0)
}

/// The major version, and whether pgvector can be had.
async fn check_answers(build: Build, version: &str, has_vector: bool) {
    let shared = connect(&build.url().unwrap()).await;
    assert_eq!(shared.query_one("select 1", &[]).await.unwrap().get::<_, i32>(0), 1);
    let database = Database::fresh(&build.url().unwrap(), None).await.unwrap();
    let client = connect(&database.url()).await;
    let found: String = client.query_one("show server_version", &[]).await.unwrap().get(0);
    assert!(found.starts_with(version), "{found}");
    let made = client.batch_execute("create extension vector").await;
    assert_eq!(made.is_ok(), has_vector, "{made:?}");
}

#[tokio::test]
async fn the_floor_answers_and_has_no_extension_for_vectors() {
    check_answers(Build::Floor, "15.", false).await;
}

#[tokio::test]
async fn the_current_build_answers_and_has_pgvector() {
    check_answers(Build::Current, "18.", true).await;
}

#[tokio::test]
async fn a_database_can_be_copied_from_a_template_and_is_dropped_with_its_connections() {
    let url = Build::Floor.url().unwrap();
    let template = Database::fresh_blocking(&url, None).unwrap();
    connect(&template.url()).await.batch_execute("create table t as select 7 as n").await.unwrap();
    // The connection above ends on its own time; a template must have none.
    let copy = timeout(PATIENCE, async {
        loop {
            if let Ok(copy) = Database::fresh(&url, Some(template.name())).await {
                return copy;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let copy = copy.await.unwrap();
    let _held = connect(&copy.url()).await;
    assert_eq!(count(&copy.url(), "t").await, 1);
    let name = copy.name().to_owned();
    drop(copy);
    assert_eq!(count(&url, &format!("pg_database where datname = '{name}'")).await, 0);
}

/// Rows written before each of a restart, a kill and a crash are there after it.
async fn check_survives(build: Build, settings: Settings) {
    let mut server = Postgres::start_with(build, &settings).unwrap();
    let url = server.url();
    connect(&url).await.batch_execute("create table t (n int)").await.unwrap();
    server.restart_fast().unwrap();
    connect(&url).await.batch_execute("insert into t values (1)").await.unwrap();
    let held = connect(&url).await;
    held.batch_execute("insert into t values (2)").await.unwrap();
    server.kill();
    assert!(tokio_postgres::connect(&url, NoTls).await.is_err(), "nobody listens");
    server.start_again().unwrap();
    assert_eq!(server.url(), url);
    assert_eq!(count(&url, "t").await, 2);
    assert!(server.start_again().is_err(), "it runs already");
}

#[tokio::test]
async fn the_floor_keeps_data_over_restart_and_kill() {
    check_survives(Build::Floor, Settings::durable()).await;
    check_survives(Build::Floor, Settings::default()).await;
}

#[tokio::test]
async fn the_build_with_pgvector_keeps_data_over_restart_and_kill() {
    check_survives(Build::Current, Settings::durable()).await;
}

#[tokio::test]
async fn settings_reach_the_server() {
    let settings = Settings::durable().with("work_mem", "5MB").with("cluster_name", "it's");
    let server = Postgres::start_with(Build::Floor, &settings).unwrap();
    let client = connect(&server.url()).await;
    for (name, expected) in [
        ("work_mem", "5MB"),
        ("cluster_name", "it's"),
        ("fsync", "on"),
        ("data_checksums", "on"),
        ("listen_addresses", "127.0.0.1"),
        ("server_encoding", "UTF8"),
        ("lc_collate", "C.UTF-8"),
        ("password_encryption", "scram-sha-256"),
    ] {
        let found: String = client.query_one(&format!("show {name}"), &[]).await.unwrap().get(0);
        assert_eq!(found, expected, "{name}");
    }
    let wrong = server.url().replace("postgres://loci:", "postgres://loci:not");
    assert!(tokio_postgres::connect(&wrong, NoTls).await.is_err(), "a password is needed");
}

#[tokio::test]
async fn a_frozen_server_accepts_and_does_not_answer() {
    let server = Postgres::start(Build::Floor).unwrap();
    let client = connect(&server.url()).await;
    server.freeze();
    let patience = Duration::from_millis(300);
    assert!(timeout(patience, client.query_one("select 1", &[])).await.is_err());
    assert!(timeout(patience, tokio_postgres::connect(&server.url(), NoTls)).await.is_err());
    server.thaw();
    assert!(timeout(PATIENCE, client.query_one("select 1", &[])).await.unwrap().is_ok());
    server.freeze();
}

#[tokio::test]
async fn dropping_leaves_no_process_and_no_folder() {
    let elsewhere = tempfile::tempdir().unwrap();
    open(elsewhere.path());
    for ending in ["running", "killed", "stopped", "frozen"] {
        let settings = Settings::durable().data_on(elsewhere.path());
        let mut server = Postgres::start_with(Build::Floor, &settings).unwrap();
        let _held = connect(&server.url()).await;
        let (pid, data) = (server.pid().unwrap(), server.data().to_owned());
        assert!(data.starts_with(elsewhere.path().canonicalize().unwrap()));
        assert!(runs(pid));
        match ending {
            "killed" => server.kill(),
            "stopped" => server.stop().unwrap(),
            "frozen" => server.freeze(),
            _ => {}
        }
        drop(server);
        assert!(!runs(pid), "{ending}");
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0, "{ending}");
    }
}

/// Lets the server's account pass through a folder of ours.
fn open(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn runs(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}/cwd")).read_link().is_ok()
}

/// Set in the copy of this program that [`a_killed_process_takes_its_server_along`] kills.
const VICTIM: &str = "LOCI_TEST_POSTGRES_VICTIM";

#[test]
fn a_killed_process_takes_its_server_along() {
    let own = std::env::current_exe().unwrap();
    let mut victim = Command::new(own)
        .args(["--exact", "a_victim_waits_for_its_end", "--nocapture"])
        .env(VICTIM, "yes")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines().map_while(Result::ok);
    let said = lines.into_iter().find_map(|line| {
        let (pid, data) = line.split_once("server ")?.1.split_once(' ')?;
        Some((pid.parse::<u32>().unwrap(), PathBuf::from(data)))
    });
    let (pid, data) = said.expect("the victim names its server");
    assert!(runs(pid) && data.is_dir());
    victim.kill().unwrap();
    victim.wait().unwrap();
    let began = Instant::now();
    while (runs(pid) || data.exists()) && began.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(!runs(pid), "the server outlived the process that started it");
    assert!(!data.exists(), "the data outlived the process that made it");
}

/// The other half of the test above; on its own it does nothing.
#[test]
fn a_victim_waits_for_its_end() {
    if std::env::var_os(VICTIM).is_some() {
        let server = Postgres::start(Build::Floor).unwrap();
        println!("server {} {}", server.pid().unwrap(), server.data().display());
        thread::sleep(Duration::from_secs(60));
    }
}
