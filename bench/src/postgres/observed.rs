//! What PostgreSQL and the kernel tell of a measurement: which statements ran how often, what the log
//! cost, what connections waited for, and whose work the processors did.

use crate::child::Server;
use crate::search::cost::Worker;
use anyhow::Context;
use loci_test_postgres::Postgres;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio_postgres::{Client, NoTls, Row};

const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Statements of one database since they were last forgotten; those that are not waited for, because
/// they go out ahead of others or end what was only read, are left out.
const STATEMENTS: &str = "
    select
        coalesce(sum(calls), 0)::float8,
        coalesce(sum(calls) filter (where query like '%from access_page where%'), 0)::float8,
        coalesce(sum(calls) filter (where query like '%left join grant_%'), 0)::float8,
        coalesce(sum(calls) filter (where query like '%for no key update%'), 0)::float8
    from pg_stat_statements
    where
        dbid = (select oid from pg_database where datname = $1)
        and query !~* '^(begin|rollback|set|select (set_config|pg_notify))'";

const LOG: &str = "select wal_sync::float8, wal_sync_time, wal_bytes::float8 from pg_stat_wal";

const WAITS: &str = "
    select
        count(*) filter (where wait_event is null),
        count(*) filter (where wait_event_type = 'Lock'),
        count(*) filter (where wait_event in ('WALSync', 'WALWrite')),
        count(*) filter (where wait_event = 'ClientRead'),
        count(*)
    from pg_stat_activity
    where datname = $1 and backend_type = 'client backend' and state <> 'idle'";

const TABLES: &str = "
    select c.relname::text, pg_table_size(c.oid), pg_indexes_size(c.oid)
    from pg_class as c inner join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = 'loci' and c.relkind = 'r'
    order by pg_total_relation_size(c.oid) desc, c.relname";

/// How often what was asked.
pub(crate) struct Statements {
    /// All that somebody waited for.
    pub(crate) all: f64,
    /// Whether what is known about access still counts.
    pub(crate) pages: f64,
    /// What the store is and who was given what.
    pub(crate) facts: f64,
    /// Transactions that write: each begins by taking the rows of its stores.
    pub(crate) groups: f64,
}

/// What the log cost.
pub(crate) struct Log {
    pub(crate) syncs: f64,
    pub(crate) sync_ms: f64,
    pub(crate) bytes: f64,
}

/// Connections in a transaction, on average over the looks.
#[derive(Default)]
pub(crate) struct Waits {
    /// Being worked for.
    pub(crate) working: f64,
    /// Waiting for a row that another one holds.
    pub(crate) rows: f64,
    /// Waiting for the log to be written or synced.
    pub(crate) log: f64,
    /// Waiting for Loci's next statement.
    pub(crate) loci: f64,
    /// Waiting for anything else.
    pub(crate) other: f64,
}

/// Seconds of processors.
#[derive(Clone, Copy)]
pub(crate) struct Processors {
    pub(crate) client: f64,
    pub(crate) loci: f64,
    pub(crate) postgres: f64,
}

impl Processors {
    pub(crate) fn now(servers: &[Server], postgres: &Postgres) -> anyhow::Result<Self> {
        let of = |server: &Server| Worker::Other(server.id()).processor_seconds();
        let loci = servers.iter().map(of).sum::<anyhow::Result<f64>>()?;
        let postmaster = postgres.pid().context("PostgreSQL does not run")?;
        let client = Worker::Own.processor_seconds()?;
        Ok(Self { client, loci, postgres: family_seconds(postmaster)? })
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            client: self.client - before.client,
            loci: self.loci - before.loci,
            postgres: self.postgres - before.postgres,
        }
    }
}

/// A process, those of its children that have ended, and those that have not.
fn family_seconds(parent: u32) -> anyhow::Result<f64> {
    let mut seconds = Worker::Other(parent).processor_seconds()?;
    seconds += Worker::Other(parent).ended_children_seconds()?;
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))?;
    for child in children.split_whitespace() {
        // One that ends at this moment is counted with its parent from now on.
        seconds += Worker::Other(child.parse()?).processor_seconds().unwrap_or_default();
    }
    Ok(seconds)
}

/// Runs statements that answer nothing.
pub(crate) fn execute(url: &str, statements: &str) -> anyhow::Result<()> {
    asked(url, async |client| Ok(client.batch_execute(statements).await?))
}

/// The one text that a statement answers.
pub(crate) fn one_text(url: &str, statement: &str) -> anyhow::Result<String> {
    asked(url, async |client| Ok(client.query_one(statement, &[]).await?.try_get(0)?))
}

pub(crate) fn statements(url: &str, database: &str) -> anyhow::Result<Statements> {
    let row = asked(url, async |client| Ok(client.query_one(STATEMENTS, &[&database]).await?))?;
    Ok(Statements {
        all: row.try_get(0)?,
        pages: row.try_get(1)?,
        facts: row.try_get(2)?,
        groups: row.try_get(3)?,
    })
}

pub(crate) fn log(url: &str) -> anyhow::Result<Log> {
    let row = asked(url, async |client| Ok(client.query_one(LOG, &[]).await?))?;
    Ok(Log { syncs: row.try_get(0)?, sync_ms: row.try_get(1)?, bytes: row.try_get(2)? })
}

/// Bytes of every table and of its indexes.
pub(crate) fn table_bytes(url: &str) -> anyhow::Result<Vec<(String, i64, i64)>> {
    let read = |row: &Row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
    asked(url, async |client| client.query(TABLES, &[]).await?.iter().map(read).collect())
}

/// Does something, and looks at what connections to a database wait for meanwhile.
pub(crate) fn watched<T>(
    url: &str,
    database: &str,
    work: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<(T, Waits)> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looking =
            scope.spawn(|| asked(url, async |client| look(client, database, &is_over).await));
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        let waits = looking.join().expect("looking reports errors as values")?;
        Ok((done?, waits))
    })
}

async fn look(client: &Client, database: &str, is_over: &AtomicBool) -> anyhow::Result<Waits> {
    let statement = client.prepare(WAITS).await?;
    let mut sums = [0i64; 5];
    let mut looks = 0.0;
    while !is_over.load(Ordering::Relaxed) {
        let row = client.query_one(&statement, &[&database]).await?;
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum += row.try_get::<_, i64>(at)?;
        }
        looks += 1.0;
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let [working, rows, log, loci, all] = sums.map(|sum| sum as f64 / f64::max(looks, 1.0));
    Ok(Waits { working, rows, log, loci, other: (all - working - rows - log - loci).max(0.0) })
}

/// Connects, asks, and waits for the answer, but not for ever unless what is asked has an end of its own.
fn asked<T>(
    url: &str,
    question: impl AsyncFnOnce(&Client) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (client, connection) = in_time(tokio_postgres::connect(url, NoTls)).await??;
        let link = tokio::spawn(connection);
        let answer = question(&client).await;
        drop(client);
        // The goodbye; what was asked is answered already.
        let _ = in_time(link).await;
        answer
    })
}

async fn in_time<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    tokio::time::timeout(PATIENCE, work).await.context("PostgreSQL does not answer in time")
}
