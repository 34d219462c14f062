//! Promise: a database that is down, silent, full or read-only makes a server say "not now" in time,
//! never acknowledge what does not last, stay alive, and go on by itself once the database does.
//!
//! Needs root: the full disk is a tmpfs mounted for the test.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{Cluster, Server, amount, budget, eventually};
use loci_test_postgres::{Build, Postgres, Settings};

use crate::disk_full::SmallDisk;
use crate::postgres_faults_siege::{During, Siege};

const DISK: &str = "size=320m";
const ALIVE_WITH_KEY_WITHIN: Duration = Duration::from_millis(100);
/// How long PostgreSQL may take to end or to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// More than fit on the disk.
const LOG_FILES_MAX: usize = 40;

fn durable() -> Postgres {
    Postgres::start_with(Build::Floor, &Settings::durable()).unwrap()
}

/// One server, without the work of making vectors.
fn serve(postgres: &Postgres) -> (Cluster, Server) {
    let cluster = Cluster::on(postgres)
        .with(|setup| setup.config("[search]\nembedder = 'none'\n").env("LOCI_LOG", "warn"));
    let server = cluster.start();
    (cluster, server)
}

/// How long a fault lasts; the table of amounts says how long.
fn outage() -> Duration {
    Duration::from_millis(amount("outage_millis"))
}

#[test]
fn a_database_that_is_stopped_or_killed_is_survived() {
    let mut postgres = durable();
    let (cluster, server) = serve(&postgres);
    for is_killed in [false, true] {
        let mut siege = Siege::start(&server, if is_killed { "killed" } else { "stopped" });
        if is_killed {
            postgres.kill();
        } else {
            postgres.stop().unwrap();
        }
        siege.holds(outage());
        let siege = siege.mended(|| postgres.start_again().unwrap());
        siege.verify(During { writes: &[503], reads: &[503], is_ready: false });
    }
    cluster.check();
    server.stop();
}

#[test]
fn a_database_that_falls_silent_is_survived() {
    let postgres = durable();
    let (cluster, server) = serve(&postgres);
    let mut probe = server.client();
    for round in 0..2 {
        let mut siege = Siege::start(&server, &format!("silent {round}"));
        postgres.freeze();
        // Whether the process lives has nothing to do with the database, nor with whose key it is.
        let quickest = (0..5).map(|_| {
            let began = Instant::now();
            probe.get("/healthz").ok();
            began.elapsed()
        });
        let quickest = quickest.min().expect("five were sent");
        assert!(quickest < budget(ALIVE_WITH_KEY_WITHIN), "{quickest:?}");
        siege.holds(outage());
        let siege = siege.mended(|| postgres.thaw());
        siege.verify(During { writes: &[503], reads: &[503], is_ready: false });
    }
    cluster.check();
    server.stop();
}

/// Every answer of the database comes late, and one request needs several.
#[test]
fn a_database_that_stutters_is_survived() {
    let postgres = durable();
    let (cluster, server) = serve(&postgres);
    for silent_millis in [400, 900, 1300] {
        let mut siege = Siege::start(&server, &format!("silent for {silent_millis} ms each time"));
        let began = Instant::now();
        while began.elapsed() < outage() {
            postgres.freeze();
            siege.holds(Duration::from_millis(silent_millis));
            postgres.thaw();
            thread::sleep(Duration::from_millis(20));
        }
        let siege = siege.mended(|| {});
        siege.verify(During { writes: &[200, 503], reads: &[200, 503], is_ready: true });
    }
    cluster.check();
    server.stop();
}

#[test]
fn a_read_only_database_is_survived() {
    let postgres = durable();
    let (cluster, server) = serve(&postgres);
    let mut siege = Siege::start(&server, "read-only");
    read_only(&cluster, "on");
    // Connections look at the new configuration between two statements.
    siege.wait_for_refusals();
    siege.holds(outage());
    let siege = siege.mended(|| read_only(&cluster, "off"));
    siege.verify(During { writes: &[503], reads: &[200], is_ready: false });
    cluster.check();
    server.stop();
}

/// As operators and hosting companies do it.
fn read_only(cluster: &Cluster, setting: &str) {
    // Two commands: `alter system` takes no transaction, which is what two statements in one are.
    cluster.sql(&format!("alter system set default_transaction_read_only = {setting}"));
    cluster.sql("select pg_reload_conf()");
}

#[test]
fn a_full_disk_under_the_database_is_survived() {
    for is_log_full in [false, true] {
        let disk = SmallDisk::sized(DISK);
        let settings = Settings::durable().data_on(disk.path()).with("max_wal_size", "48MB");
        let mut postgres = Postgres::start_with(Build::Floor, &settings).unwrap();
        let (cluster, server) = serve(&postgres);
        let name = if is_log_full { "log full" } else { "full" };
        let mut siege = Siege::start_large(&server, name);
        let filler = disk.path().join("filler");
        fill(&filler);
        if is_log_full {
            use_up_log(&cluster);
        }
        siege.wait_for_refusals();
        // Where PostgreSQL ends for want of room, nobody is there to be full.
        if !is_log_full {
            says_full(&server, true, || has_ended(&postgres, &cluster));
        }
        siege.holds(outage());
        let siege = siege.mended(|| {
            std::fs::remove_file(&filler).unwrap();
            // Without room for its log PostgreSQL ends itself, and whoever runs it starts it again.
            if has_ended(&postgres, &cluster) {
                eprintln!("{name}: PostgreSQL had ended");
                postgres.start_again().unwrap();
            }
        });
        siege.verify(During { writes: &[200, 503], reads: &[200, 503], is_ready: true });
        says_full(&server, false, || false);
        cluster.check();
        server.stop();
    }
}

/// Waits until the server is ready and says this of the disk. What is small may still find room there
/// now and then, so it is asked again; not after the end.
fn says_full(server: &Server, is_full: bool, is_over: impl Fn() -> bool) {
    let mut client = server.client();
    eventually(&format!("disk_full is {is_full}"), || {
        let reply = client.get("/readyz");
        (reply.status == 200 && reply.json()["disk_full"] == is_full) || is_over()
    });
}

/// Goes on to new files of the log until there is no room for one.
fn use_up_log(cluster: &Cluster) {
    let more = "select pg_logical_emit_message(false, 'loci', 'x'), pg_switch_wal()";
    for _ in 0..LOG_FILES_MAX {
        if !cluster.psql(more).output().unwrap().status.success() {
            return;
        }
    }
    panic!("there is room for {LOG_FILES_MAX} files of the log");
}

/// Takes every free byte.
fn fill(path: &Path) {
    let mut file = File::create(path).unwrap();
    for length in [1 << 20, 1 << 12, 1] {
        let block = vec![7; length];
        while file.write_all(&block).is_ok() {}
    }
}

/// Whether PostgreSQL ended itself; if not, it answers. Until either is so it may be on its way down,
/// or recovering.
fn has_ended(postgres: &Postgres, cluster: &Cluster) -> bool {
    let began = Instant::now();
    loop {
        let stat = postgres.pid().map(|pid| format!("/proc/{pid}/stat"));
        let stat = stat.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        if stat.rsplit_once(')').is_none_or(|(_, rest)| rest.starts_with(" Z")) {
            return true;
        }
        if cluster.psql("select 1").output().unwrap().status.success() {
            return false;
        }
        assert!(began.elapsed() < PATIENCE, "PostgreSQL neither ends nor answers");
        thread::sleep(Duration::from_millis(50));
    }
}
