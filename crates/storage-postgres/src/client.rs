//! Connections and the transactions they carry. Every transaction is opened for one tenant, and row
//! security shows it nothing else; there is no other way to run a statement on a tenant's rows.
//!
//! Opening costs no round trip: `begin` goes out ahead of the first statement on the same
//! connection, and PostgreSQL takes them in order. A transaction that is dropped instead of ended
//! takes its connection with it, so nothing half done comes back to the pool. Short reads may share
//! one ([`crate::company`]); the last of them ends it.

use crate::company::Company;
use crate::fault::{Fault, Result};
use deadpool_postgres::{Object, Pool};
use futures_util::FutureExt;
use loci_model::WorkspaceId;
use loci_storage::request::{left_of, took};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
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
    /// Short reads that wait for a transaction to share.
    pub(crate) company: Arc<Company>,
    /// Whether the database had no room for the last write.
    full: Arc<AtomicBool>,
}

const BEGIN_READ: &str = "begin isolation level repeatable read read only";

impl Clients {
    pub(crate) fn new(pool: Pool, patience: Duration) -> Self {
        let company = Arc::new(Company::of(pool.status().max_size));
        Self { pool, patience, company, full: Arc::default() }
    }

    /// Notes that a write was applied, so there was room for it.
    pub(crate) fn had_room(&self) {
        self.full.store(false, Ordering::Relaxed);
    }

    /// Notes why a write was not applied.
    pub(crate) fn had_fault(&self, fault: &Fault) {
        if fault.is_disk_full() {
            self.full.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the database had no room for the last write.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Opens a transaction that sees one moment and changes nothing.
    pub(crate) async fn read(&self, tenant: impl Into<Tenant>) -> Result<Tx> {
        self.open(BEGIN_READ, tenant.into(), self.patience).await
    }

    /// Like [`Self::read`] for a short read, which may share the transaction with others that came
    /// before it was opened.
    pub(crate) async fn read_in_company(&self, tenant: impl Into<Tenant>) -> Result<Tx> {
        let waiting = Waiting::begin(true);
        let deadline = waiting.since + left_of(self.patience);
        let open = in_time(deadline, self.company.join(self, tenant.into())).await?;
        Ok(Tx { open, is_ended: false, deadline, _waiting: waiting })
    }

    /// For one statement about what belongs to no tenant: it needs no transaction around it.
    pub(crate) async fn ask(&self) -> Result<Tx> {
        let waiting = Waiting::begin(true);
        let deadline = waiting.since + left_of(self.patience);
        let client = in_time(deadline, self.pool.get()).await?;
        let open = Open::new(client, true, None);
        Ok(Tx { open, is_ended: false, deadline, _waiting: waiting })
    }

    /// Like [`Self::read`], with time for something long.
    pub(crate) async fn read_for(&self, tenant: Tenant, patience: Duration) -> Result<Tx> {
        self.open(BEGIN_READ, tenant, patience).await
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
        send_ahead(&client, &begin);
        let open = Open::new(client, false, None);
        Ok(Tx { open, is_ended: false, deadline, _waiting: waiting })
    }

    /// A connection, for whoever opens a transaction on it.
    pub(crate) async fn connect(&self) -> Result<Object> {
        in_time(Instant::now() + self.patience, self.pool.get()).await
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

/// A connection with a transaction on it, or with none, until nobody needs it any more.
pub(crate) struct Open {
    client: Option<Object>,
    /// Whether there is nothing (more) to end.
    is_over: AtomicBool,
    /// Whether somebody left without an answer to everything.
    is_spoilt: AtomicBool,
    _turn: Option<OwnedSemaphorePermit>,
}

impl Open {
    fn new(client: Object, is_over: bool, turn: Option<OwnedSemaphorePermit>) -> Arc<Self> {
        let (is_over, is_spoilt) = (AtomicBool::new(is_over), AtomicBool::new(false));
        Arc::new(Self { client: Some(client), is_over, is_spoilt, _turn: turn })
    }

    /// Begins a transaction for those who read together. What they see is as of their first
    /// statement, which nobody has sent yet.
    pub(crate) fn shared(client: Object, tenant: Tenant, turn: OwnedSemaphorePermit) -> Arc<Self> {
        send_ahead(&client, &format!("{BEGIN_READ}; {}", enter(tenant)));
        Self::new(client, false, Some(turn))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let client = self.client.take().expect("there until now");
        if self.is_spoilt.load(Ordering::Acquire) {
            drop(Object::take(client));
        } else if !self.is_over.load(Ordering::Acquire) {
            // Whoever has the connection next comes behind it.
            send_ahead(&client, "rollback");
        }
    }
}

/// Sends something whose answer is not waited for. Polled once, the request is on its way, ahead of
/// whatever follows on this connection; whether it went well shows there.
fn send_ahead(client: &Object, sql: &str) {
    let _ = client.batch_execute(sql).now_or_never();
}

/// An open transaction, or a share in one.
pub(crate) struct Tx {
    open: Arc<Open>,
    is_ended: bool,
    deadline: Instant,
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
        self.open.client.as_ref().expect("there until the end")
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

    /// Ends a transaction that changed nothing, or whose changes are not wanted.
    pub(crate) fn leave(mut self) {
        self.is_ended = true;
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
    pub(crate) async fn commit(self) -> Result<()> {
        self.in_time(self.client().batch_execute("commit")).await?;
        self.committed();
        Ok(())
    }

    /// The end of a transaction that was committed by a statement of its own.
    pub(crate) fn committed(mut self) {
        self.open.is_over.store(true, Ordering::Release);
        self.is_ended = true;
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        if !self.is_ended {
            self.open.is_spoilt.store(true, Ordering::Release);
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
