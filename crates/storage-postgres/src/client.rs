//! Connections and the transactions they carry. Every transaction is opened for one tenant, and row
//! security shows it nothing else; there is no other way to run a statement on a tenant's rows.
//!
//! Opening costs no round trip: `begin` goes out ahead of the first statement on the same
//! connection, and PostgreSQL takes them in order. A transaction that is dropped instead of ended
//! takes its connection with it, so nothing half done comes back to the pool.

use crate::fault::{Fault, Result};
use deadpool_postgres::{Object, Pool};
use futures_util::poll;
use loci_model::WorkspaceId;
use loci_storage::request::{left_of, took};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};
use uuid::Uuid;

/// Parameters of a statement.
pub(crate) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// For whom a transaction is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Tenant {
    /// A workspace: it sees that workspace's rows.
    Workspace(WorkspaceId),
    /// Loci itself: it sees what belongs to nobody, and may call what looks across tenants.
    Nobody,
}

/// The way to the database.
#[derive(Clone)]
pub(crate) struct Clients {
    pub(crate) pool: Pool,
    /// How long a caller is kept waiting for an answer.
    pub(crate) patience: Duration,
}

impl Clients {
    /// Opens a transaction that sees one moment and changes nothing.
    pub(crate) async fn read(&self, tenant: impl Into<Tenant>) -> Result<Tx> {
        self.open("begin isolation level repeatable read read only", tenant.into(), self.patience)
            .await
    }

    /// For one statement about what belongs to no tenant: it needs no transaction around it.
    pub(crate) async fn ask(&self) -> Result<Tx> {
        let waiting = Waiting::begin(true);
        let deadline = waiting.since + left_of(self.patience);
        let client = in_time(deadline, self.pool.get()).await?;
        Ok(Tx { client: Some(client), deadline, is_open: false, _waiting: waiting })
    }

    /// Like [`Self::read`], with time for something long.
    pub(crate) async fn read_for(&self, tenant: Tenant, patience: Duration) -> Result<Tx> {
        self.open("begin isolation level repeatable read read only", tenant, patience).await
    }

    /// Opens a transaction that may write; each of its statements sees what was committed before it.
    /// It does not ask to write: who made the database read-only is to be heard, not overruled.
    pub(crate) async fn write(&self, tenant: Tenant, patience: Duration) -> Result<Tx> {
        self.open("begin isolation level read committed", tenant, patience).await
    }

    async fn open(&self, begin: &str, tenant: Tenant, patience: Duration) -> Result<Tx> {
        let is_long = patience > self.patience;
        let waiting = Waiting::begin(!is_long);
        let left = if is_long { patience } else { left_of(patience) };
        let deadline = waiting.since + left;
        let client = in_time(deadline, self.pool.get()).await?;
        let begin = if is_long {
            // Who has time for a long statement has it for those before it, too.
            let millis = patience.as_millis();
            format!(
                "{begin}; {}; set local statement_timeout = {millis}; \
                 set local lock_timeout = {millis}",
                enter(tenant)
            )
        } else {
            format!("{begin}; {}", enter(tenant))
        };
        {
            // Asked once, the request is on its way; whether it went well shows in what follows.
            let mut sent = pin!(client.batch_execute(&begin));
            let _ = poll!(sent.as_mut());
        }
        Ok(Tx { client: Some(client), deadline, is_open: true, _waiting: waiting })
    }
}

impl From<WorkspaceId> for Tenant {
    fn from(id: WorkspaceId) -> Self {
        Self::Workspace(id)
    }
}

/// The statement that opens a transaction to a tenant's rows. What it quotes is a UUID's digits.
fn enter(tenant: Tenant) -> String {
    let workspace = match tenant {
        Tenant::Workspace(id) => uuid(id.to_bytes()).to_string(),
        Tenant::Nobody => String::new(),
    };
    format!("set local loci.workspace = '{workspace}'")
}

/// An open transaction.
pub(crate) struct Tx {
    client: Option<Object>,
    deadline: Instant,
    /// Whether there is something to end.
    is_open: bool,
    _waiting: Waiting,
}

/// Counts, until it is dropped, for how long the request around it waits.
struct Waiting {
    since: Instant,
    counts: bool,
}

impl Waiting {
    fn begin(counts: bool) -> Self {
        Self { since: Instant::now(), counts }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.counts {
            took(self.since.elapsed());
        }
    }
}

impl Tx {
    /// The connection, for statements that are to go out together with others.
    pub(crate) fn client(&self) -> &Object {
        self.client.as_ref().expect("there until the end")
    }

    /// A prepared statement, made once for each connection.
    pub(crate) async fn prepare(&self, sql: &str) -> Result<Statement> {
        self.in_time(self.client().prepare_cached(sql)).await
    }

    pub(crate) async fn query(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>> {
        let statement = self.prepare(sql).await?;
        self.in_time(self.client().query(&statement, params)).await
    }

    pub(crate) async fn query_opt(&self, sql: &str, params: Params<'_>) -> Result<Option<Row>> {
        let statement = self.prepare(sql).await?;
        self.in_time(self.client().query_opt(&statement, params)).await
    }

    pub(crate) async fn query_one(&self, sql: &str, params: Params<'_>) -> Result<Row> {
        let statement = self.prepare(sql).await?;
        self.in_time(self.client().query_one(&statement, params)).await
    }

    pub(crate) async fn execute(&self, sql: &str, params: Params<'_>) -> Result<u64> {
        let statement = self.prepare(sql).await?;
        self.in_time(self.client().execute(&statement, params)).await
    }

    /// Opens the transaction to another tenant's rows, and no longer to the last one's: for work
    /// that visits all of them.
    pub(crate) async fn enter(&self, tenant: Tenant) -> Result<()> {
        self.in_time(self.client().batch_execute(&enter(tenant))).await
    }

    /// Waits for an answer, but not for ever.
    pub(crate) async fn in_time<T, E: Into<Fault>>(
        &self,
        answer: impl Future<Output = std::result::Result<T, E>>,
    ) -> Result<T> {
        in_time(self.deadline, answer).await
    }

    /// Ends a transaction that changed nothing, or whose changes are not wanted. The answer is not
    /// waited for: the connection is free again when it is there.
    pub(crate) fn leave(mut self) {
        let client = self.client.take().expect("there until the end");
        if !self.is_open {
            return;
        }
        tokio::spawn(async move {
            if client.batch_execute("rollback").await.is_err() {
                drop(Object::take(client));
            }
        });
    }

    /// Ends a transaction after its last statement: what was read is handed on.
    pub(crate) fn end<T>(self, result: Result<T>) -> loci_storage::Result<T> {
        match result {
            // A connection that failed is not worth asking once more.
            Err(fault @ (Fault::Unreachable(_) | Fault::Sql(_))) => Err(fault.into()),
            other => {
                self.leave();
                Ok(other?)
            }
        }
    }

    /// Makes the changes last. Without an answer it is unknown whether they do.
    pub(crate) async fn commit(mut self) -> Result<()> {
        self.in_time(self.client().batch_execute("commit")).await?;
        self.client = None;
        Ok(())
    }

    /// The end of a transaction that was committed by a statement of its own.
    pub(crate) fn committed(mut self) {
        self.client = None;
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

async fn in_time<T, E: Into<Fault>>(
    deadline: Instant,
    answer: impl Future<Output = std::result::Result<T, E>>,
) -> Result<T> {
    match timeout_at(deadline, answer).await {
        Ok(answer) => answer.map_err(Into::into),
        Err(_) => Err(Fault::Unreachable("no answer in time".into())),
    }
}

/// Sixteen bytes as PostgreSQL takes them.
pub(crate) const fn uuid(bytes: [u8; 16]) -> Uuid {
    Uuid::from_bytes(bytes)
}
