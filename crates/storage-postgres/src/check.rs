//! Looks at everything and reports what does not fit: heads and revisions, digests, shared
//! content, the feed, the counters, the paths, the vectors, words and passages, the index of repeats, strays and the audit
//! log. Problems name ids, never paths or content. What PostgreSQL itself keeps in order is left to its
//! own tools.
//!
//! One transaction sees one moment of all tenants, one after the other, some stores of each at a
//! time; contents come as a stream, so that no more than a few are held at once.

use crate::client::{Clients, Params, Tenant, Tx, uuid};
use crate::events;
use crate::fault::{Fault, Result};
use crate::row::{NO_ID, count, digest, get as column, id, int};
use futures_util::TryStreamExt;
use loci_model::event::LogEnd;
use loci_model::{MemoryId, StoreId, VersionId, WorkspaceId};
use loci_storage::tail::{Comparison, Found};
use loci_storage::{CheckReport, StorageError, fits};
use std::pin::pin;
use std::time::Duration;
use tokio_postgres::Row;
use uuid::Uuid;

/// How long a check may take.
const PATIENCE: Duration = Duration::from_secs(6 * 3600);
/// Beyond this many, more problems say nothing new.
const PROBLEMS_MAX: usize = 200;
const WORKSPACES_AT_ONCE: i64 = 100;
const STORES_AT_ONCE: i64 = 64;
/// Rows after which others get their turn.
const ROWS_AT_ONCE: usize = 64;

pub(crate) async fn run(clients: &Clients) -> loci_storage::Result<CheckReport> {
    let mut report = CheckReport::default();
    let tx = clients.read_for(Tenant::Nobody, PATIENCE).await?;
    let looked = look(&tx, &mut report).await;
    match tx.end(looked) {
        Ok(()) => {}
        Err(StorageError::Corrupt(what)) => {
            report.problems.push(format!("cannot be read: {what}"));
        }
        Err(other) => return Err(other),
    }
    report.problems.truncate(PROBLEMS_MAX);
    Ok(report)
}

async fn look(tx: &Tx, report: &mut CheckReport) -> Result<()> {
    strays(tx, report).await?;
    let mut after = (i64::MIN, NO_ID);
    loop {
        let sql = include_str!("../queries/check/workspaces.sql");
        let rows = tx.query(sql, &[&after.0, &after.1, &WORKSPACES_AT_ONCE]).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = (column(last, 1)?, column(last, 0)?);
        for row in &rows {
            let workspace = WorkspaceId::from_bytes(id(row, 0)?);
            tx.enter(Tenant::Workspace(workspace)).await?;
            look_at_workspace(tx, report).await?;
            log(tx, workspace, report).await?;
        }
    }
}

/// Rows that row security shows to nobody, because their store is missing or another tenant's.
async fn strays(tx: &Tx, report: &mut CheckReport) -> Result<()> {
    let sql = include_str!("../queries/check/strays.sql");
    for row in tx.query(sql, &[&int(PROBLEMS_MAX as u64)]).await? {
        let (kind, store) = (column::<&str>(&row, 0)?, StoreId::from_bytes(id(&row, 1)?));
        note(report, format!("{store}: rows of {kind} are in no store of their workspace"));
    }
    Ok(())
}

async fn look_at_workspace(tx: &Tx, report: &mut CheckReport) -> Result<()> {
    let mut after = NO_ID;
    loop {
        let sql = include_str!("../queries/check/stores_after.sql");
        let rows = tx.query(sql, &[&after, &STORES_AT_ONCE]).await?;
        let ids = rows.iter().map(|row| column(row, 0)).collect::<Result<Vec<Uuid>>>()?;
        let Some(last) = ids.last() else { return Ok(()) };
        after = *last;
        for rule in RULES {
            rule.look(tx, &ids, report).await?;
        }
        digests(tx, &ids, report).await?;
        vectors(tx, &ids, report).await?;
        feeds(tx, &ids, report).await?;
        stores(tx, &ids, report).await?;
    }
}

/// What a rule's statement finds.
#[derive(Clone, Copy)]
enum Finds {
    Memories,
    Versions,
    Stores,
}

/// A statement, and what is wrong with that which it finds.
struct Rule {
    finds: Finds,
    what: &'static str,
    sql: &'static str,
}

const RULES: [Rule; 15] = [
    Rule {
        finds: Finds::Memories,
        what: "its head is not its newest version",
        sql: include_str!("../queries/check/wrong_head.sql"),
    },
    Rule {
        finds: Finds::Memories,
        what: "its revisions have gaps",
        sql: include_str!("../queries/check/revision_gap.sql"),
    },
    Rule {
        finds: Finds::Memories,
        what: "it lies below another live memory",
        sql: include_str!("../queries/check/nested_path.sql"),
    },
    Rule {
        finds: Finds::Memories,
        what: "it is not among the repeats as its store wants it",
        sql: include_str!("../queries/check/wrong_repeat.sql"),
    },
    Rule {
        finds: Finds::Memories,
        what: "its row does not tell how its content is kept",
        sql: include_str!("../queries/check/wrong_chain.sql"),
    },
    Rule {
        finds: Finds::Versions,
        what: "its memory is missing",
        sql: include_str!("../queries/check/no_memory.sql"),
    },
    Rule {
        finds: Finds::Versions,
        what: "it has a digest without content or content without a digest",
        sql: include_str!("../queries/check/payload_mismatch.sql"),
    },
    Rule {
        finds: Finds::Versions,
        what: "what its content goes on from is missing or not of its memory",
        sql: include_str!("../queries/check/wrong_base.sql"),
    },
    Rule {
        finds: Finds::Versions,
        what: "it has vectors though it has no text",
        sql: include_str!("../queries/check/vector_misplaced.sql"),
    },
    Rule {
        finds: Finds::Versions,
        what: "it has words though it has no text",
        sql: include_str!("../queries/check/word_misplaced.sql"),
    },
    Rule {
        finds: Finds::Versions,
        what: "it has passages though it has no text",
        sql: include_str!("../queries/check/passage_misplaced.sql"),
    },
    Rule {
        finds: Finds::Versions,
        what: "it was read though it has no text",
        sql: include_str!("../queries/check/reading_misplaced.sql"),
    },
    Rule {
        finds: Finds::Stores,
        what: "it is said to be read further than it goes",
        sql: include_str!("../queries/check/reading_mark_unfit.sql"),
    },
    Rule {
        finds: Finds::Stores,
        what: "the feed tells of a redaction that did not happen",
        sql: include_str!("../queries/check/wrong_redaction.sql"),
    },
    Rule {
        finds: Finds::Stores,
        what: "its vectors are said to reach where they cannot",
        sql: include_str!("../queries/check/mark_unfit.sql"),
    },
];

impl Rule {
    async fn look(&self, tx: &Tx, stores: &[Uuid], report: &mut CheckReport) -> Result<()> {
        for row in tx.query(self.sql, &[&stores, &int(PROBLEMS_MAX as u64)]).await? {
            let found = id(&row, 0)?;
            let named = match self.finds {
                Finds::Memories => MemoryId::from_bytes(found).to_string(),
                Finds::Versions => VersionId::from_bytes(found).to_string(),
                Finds::Stores => StoreId::from_bytes(found).to_string(),
            };
            note(report, format!("{named}: {}", self.what));
        }
        Ok(())
    }
}

/// Adds a problem, unless there are enough.
fn note(report: &mut CheckReport, problem: String) {
    if report.problems.len() < PROBLEMS_MAX {
        report.problems.push(problem);
    }
}

/// Every content against its digest and size.
async fn digests(tx: &Tx, stores: &[Uuid], report: &mut CheckReport) -> Result<()> {
    let mut contents = Comparison::default();
    each(tx, include_str!("../queries/check/contents.sql"), &[&stores], |row| {
        let store: Uuid = column(row, 8)?;
        let is_sound = contents.is_sound(Found {
            key: (store, column::<i64>(row, 5)?),
            base: column::<Option<i64>>(row, 6)?.map(|base| (store, base)),
            is_base: column(row, 7)?,
            bytes: column(row, 4)?,
            digest: digest(row, 1)?,
            size_bytes: count(row, 2)?,
            is_sealed: column(row, 3)?,
        });
        if !is_sound {
            let version = VersionId::from_bytes(id(row, 0)?);
            note(report, format!("{version}: its content does not match its digest"));
        }
        Ok(())
    })
    .await
}

/// The size of every version's vectors.
async fn vectors(tx: &Tx, stores: &[Uuid], report: &mut CheckReport) -> Result<()> {
    each(tx, include_str!("../queries/check/vector_unfit.sql"), &[&stores], |row| {
        let bytes: i32 = column(row, 1)?;
        let dims: i32 = column(row, 2)?;
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if !fits(bytes, u32::try_from(dims).unwrap_or(0)) {
            let version = VersionId::from_bytes(id(row, 0)?);
            note(report, format!("{version}: its vectors do not fit their generation"));
        }
        Ok(())
    })
    .await
}

/// Entries of feeds that do not follow the one before.
async fn feeds(tx: &Tx, stores: &[Uuid], report: &mut CheckReport) -> Result<()> {
    let sql = include_str!("../queries/check/feed.sql");
    for row in tx.query(sql, &[&stores, &int(PROBLEMS_MAX as u64)]).await? {
        let store = StoreId::from_bytes(id(&row, 0)?);
        let (number, before) = (count(&row, 1)?, count(&row, 2)?);
        if number != before + 1 {
            note(report, format!("{store}: the feed goes from {before} to {number}"));
        }
        if column(&row, 3)? {
            note(report, format!("{store}: entry {number} is not later than the one before"));
        }
    }
    Ok(())
}

/// The audit log: each event follows the one before, and the last one is where it ends.
async fn log(tx: &Tx, workspace: WorkspaceId, report: &mut CheckReport) -> Result<()> {
    let id = uuid(workspace.to_bytes());
    let mut end = LogEnd::default();
    each(tx, include_str!("../queries/check/events.sql"), &[&id], |row| {
        let event = events::read(row)?;
        if !event.follows(end) {
            note(report, format!("event {} does not follow the one before", event.seq));
        }
        end = event.end();
        Ok(())
    })
    .await?;
    let known = tx.query_opt(include_str!("../queries/check/event_end.sql"), &[&id]).await?;
    let known = known.map(|row| events::read_end(&row, 0)).transpose()?;
    report.audit_log(workspace, end, known);
    Ok(())
}

/// The counters of each store.
async fn stores(tx: &Tx, stores: &[Uuid], report: &mut CheckReport) -> Result<()> {
    for row in tx.query(include_str!("../queries/check/stores.sql"), &[&stores]).await? {
        let store = StoreId::from_bytes(id(&row, 0)?);
        let (seq, ends) = (count(&row, 1)?, count(&row, 2)?);
        if seq != ends {
            note(report, format!("{store}: the feed ends at {ends}, expected {seq}"));
        }
        let has_right_counters: bool = column(&row, 3)?;
        if !has_right_counters {
            let what = "its counters do not match its memories and versions";
            note(report, format!("{store}: {what}"));
        }
        report.stores += 1;
        report.memories += count(&row, 4)?;
        report.versions += count(&row, 5)?;
        report.changes += count(&row, 6)?;
        report.vectors += count(&row, 7)?;
        report.readings += count(&row, 8)?;
    }
    Ok(())
}

/// Gives `visit` each row of an answer that is too large to be held.
async fn each(
    tx: &Tx,
    sql: &str,
    params: Params<'_>,
    mut visit: impl FnMut(&Row) -> Result<()>,
) -> Result<()> {
    let statement = tx.prepare(sql).await?;
    let params = params.iter().copied();
    let rows = tx.in_time(tx.client().query_raw(&statement, params)).await?;
    let mut rows = pin!(rows);
    let mut seen = 0;
    while let Some(row) = tx.in_time(async { rows.try_next().await.map_err(Fault::from) }).await? {
        visit(&row)?;
        seen += 1;
        if seen % ROWS_AT_ONCE == 0 {
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}
