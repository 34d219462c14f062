//! The ceiling for writes: the rows one create leaves behind, put in by the shortest path. The same
//! schema, pragmas and statements as the SQLite engine, one writer thread that commits whatever has
//! queued together, and as many callers that wait for their commit.

use crate::samples::{Rate, Samples};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, params};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

const SCHEMA: [&str; 6] = [
    include_str!("../../crates/storage-sqlite/migrations/0001_init.sql"),
    include_str!("../../crates/storage-sqlite/migrations/0002_vectors.sql"),
    include_str!("../../crates/storage-sqlite/migrations/0003_sharing.sql"),
    include_str!("../../crates/storage-sqlite/migrations/0004_tails.sql"),
    include_str!("../../crates/storage-sqlite/migrations/0005_compaction.sql"),
    include_str!("../../crates/storage-sqlite/migrations/0006_readings.sql"),
];
const MEMORY: &str = include_str!("../../crates/storage-sqlite/queries/memory/insert.sql");
const VERSION: &str = include_str!("../../crates/storage-sqlite/queries/version/insert.sql");
const PAYLOAD: &str = include_str!("../../crates/storage-sqlite/queries/payload/insert.sql");
const CHANGE: &str = include_str!("../../crates/storage-sqlite/queries/change/insert.sql");
const COUNT: &str = include_str!("../../crates/storage-sqlite/queries/store/count.sql");

struct Job {
    path: String,
    text: String,
    done: oneshot::Sender<()>,
}

/// Rows a second with `callers` tasks waiting for each commit.
pub(crate) fn run(
    directory: &Path,
    callers: usize,
    seconds: f64,
    text_of: fn(u64) -> String,
) -> anyhow::Result<Rate> {
    let connection = open(&directory.join(format!("raw-{callers}.db")))?;
    let (sender, receiver) = mpsc::channel::<Job>();
    let writer = std::thread::spawn(move || write(&connection, &receiver));
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(seconds);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = tokio::task::LocalSet::new();
    let mut samples = local.block_on(&runtime, async move {
        let tasks: Vec<_> = (0..callers)
            .map(|caller| tokio::task::spawn_local(call(caller, sender.clone(), end, text_of)))
            .collect();
        drop(sender);
        let mut samples = Samples::default();
        for task in tasks {
            samples.extend(task.await.expect("a caller only sends and waits"));
        }
        samples
    });
    samples.took(start.elapsed());
    writer.join().expect("the writer reports errors as values")?;
    samples.rate()
}

/// One caller: writes, waits, writes again.
async fn call(
    caller: usize,
    sender: mpsc::Sender<Job>,
    end: Instant,
    text_of: fn(u64) -> String,
) -> Samples {
    let mut samples = Samples::default();
    for n in 0u64.. {
        let sent = Instant::now();
        if sent >= end {
            break;
        }
        let (done, answered) = oneshot::channel();
        let job = Job { path: format!("/bench/{caller}/{n}"), text: text_of(n), done };
        if sender.send(job).is_err() || answered.await.is_err() {
            break;
        }
        samples.push(sent.elapsed());
    }
    samples
}

/// As the engine opens its own: see `storage-sqlite/src/open.rs`.
fn open(path: &Path) -> anyhow::Result<Connection> {
    let connection = Connection::open_with_flags_and_vfs(path, OpenFlags::default(), "unix-excl")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(
        "pragma journal_mode=wal; pragma synchronous=full; pragma secure_delete=on;
         pragma foreign_keys=on; pragma temp_store=memory; pragma mmap_size=0;
         pragma cell_size_check=on; pragma cache_size=-65536;",
    )?;
    for step in SCHEMA {
        connection.execute_batch(step)?;
    }
    connection.execute_batch(
        "insert into store (store_id, workspace_id, owner, name, description, metadata,
             partitioning, remove_by, share_by, content_bytes_max, memories_max, created_at, updated_at)
         values (x'01', x'01', x'01', 'bench', '', '{}', 0, 0, 0, 102400, 1000000, 0, 0)",
    )?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

fn write(connection: &Connection, jobs: &mpsc::Receiver<Job>) -> anyhow::Result<()> {
    let mut row = 0i64;
    while let Ok(first) = jobs.recv() {
        let group: Vec<Job> = std::iter::once(first).chain(jobs.try_iter().take(511)).collect();
        connection.execute_batch("begin immediate")?;
        for job in &group {
            row += 1;
            insert(connection, row, job)?;
        }
        connection.prepare_cached(COUNT)?.execute(params![1, row, row, row, row * 400, row])?;
        connection.execute_batch("commit")?;
        for job in group {
            let _ = job.done.send(());
        }
    }
    Ok(())
}

fn insert(connection: &Connection, row: i64, job: &Job) -> anyhow::Result<()> {
    let id = u128::from(row.unsigned_abs()).to_be_bytes();
    let digest = [7u8; 32];
    let none: Option<&str> = None;
    connection.prepare_cached(MEMORY)?.execute(params![
        row,
        1,
        id,
        [0u8; 0],
        id,
        job.path,
        none,
        none,
        none,
        0,
        0,
        none,
        none,
        none,
        none,
        none,
        none,
        row,
        1,
        digest,
        job.text.len() as i64,
        0,
        row,
        row,
        none
    ])?;
    connection.prepare_cached(VERSION)?.execute(params![
        row,
        id,
        row,
        1,
        row,
        0,
        job.path,
        none,
        0,
        digest,
        job.text.len() as i64,
        0,
        1,
        id,
        row,
        "req_01benchbenchbenchbenchbe",
        "api",
        none,
        none,
        none,
        none
    ])?;
    connection.prepare_cached(PAYLOAD)?.execute(params![row, job.text.as_bytes(), none])?;
    connection.prepare_cached(CHANGE)?.execute(params![1, row, 0, row, 1, id, row, "api"])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_statements_fit_the_rows() {
        let directory = tempfile::tempdir().unwrap();
        let rate = run(directory.path(), 2, 0.05, |n| n.to_string()).unwrap();
        assert!(rate.per_second > 0.0);
    }
}
