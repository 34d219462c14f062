//! The audit log. Whoever adds to the log of a workspace holds the row of its end until the commit,
//! so numbers have no gaps and each hash builds on the one before, whichever servers write.
//!
//! The row is taken after all others but the page of access ([`crate::apply`]): many kinds of
//! transactions want it, and nobody who has it waits for a store any more.

use crate::client::{Tx, uuid};
use crate::draft::Draft;
use crate::fault::{Result, corrupt};
use crate::row::{actor, count, get, id, int, opt_id, opt_string, string, time};
use loci_model::event::LogEnd;
use loci_model::policy::AdminPass;
use loci_model::{Event, Happening, Invalid, PrincipalId, StoreId, WorkspaceId};
use loci_storage::StorageError;
use std::collections::HashMap;
use tokio_postgres::Row;

/// A log whose end a transaction holds, and what it adds.
pub(crate) struct HeldLog {
    pub(crate) workspace: WorkspaceId,
    pub(crate) end: LogEnd,
    /// What is not written yet.
    pub(crate) added: Vec<Event>,
}

/// Takes the end of a workspace's log, unless it is held already.
async fn hold<'d>(draft: &'d mut Draft<'_>, workspace: WorkspaceId) -> Result<&'d mut HeldLog> {
    let is_held = draft.log.as_ref().is_some_and(|log| log.workspace == workspace);
    if !is_held {
        let end = lock_end(draft.tx, workspace).await?;
        draft.log = Some(HeldLog { workspace, end, added: Vec::new() });
    }
    Ok(draft.log.as_mut().expect("held since a moment ago at the latest"))
}

async fn lock_end(tx: &Tx, workspace: WorkspaceId) -> Result<LogEnd> {
    let id = uuid(workspace.to_bytes());
    let sql = include_str!("../queries/event/lock_end.sql");
    if let Some(row) = tx.query_opt(sql, &[&id]).await? {
        return read_end(&row, 0);
    }
    // It was there since the workspace was made.
    let row = tx.query_one(include_str!("../queries/event/last.sql"), &[&id]).await?;
    put_end(tx, workspace, LogEnd::lost(count(&row, 0)?)).await?;
    read_end(&tx.query_one(sql, &[&id]).await?, 0)
}

/// Begins the log of a workspace that is made.
pub(crate) async fn begin(tx: &Tx, workspace: WorkspaceId) -> Result<()> {
    put_end(tx, workspace, LogEnd::default()).await
}

/// Writes down an end where there is none.
async fn put_end(tx: &Tx, workspace: WorkspaceId, end: LogEnd) -> Result<()> {
    let (id, sql) = (uuid(workspace.to_bytes()), include_str!("../queries/event/begin.sql"));
    tx.execute(sql, &[&id, &int(end.seq), &end.hash.as_slice()]).await?;
    Ok(())
}

/// The end of a log whose columns begin at `first`.
pub(crate) fn read_end(row: &Row, first: usize) -> Result<LogEnd> {
    Ok(LogEnd { seq: count(row, first)?, hash: hash(row, first + 1)? })
}

/// Adds an event to the log and tells its number.
pub(crate) async fn record(draft: &mut Draft<'_>, happening: &Happening) -> Result<u64> {
    happening.validate()?;
    let log = hold(draft, happening.workspace).await?;
    let event = Event::next(log.end, happening.clone());
    Ok(log.add(event))
}

impl HeldLog {
    fn add(&mut self, event: Event) -> u64 {
        self.end = event.end();
        self.added.push(event);
        self.end.seq
    }
}

/// Takes in events as they were elsewhere, and tells how many are new.
pub(crate) async fn import(
    draft: &mut Draft<'_>,
    pass: &AdminPass,
    events: &[&Event],
) -> Result<u64> {
    let workspace = pass.workspace();
    if events.iter().any(|event| event.workspace != workspace) {
        return Err(StorageError::NotFound("workspace").into());
    }
    hold(draft, workspace).await?;
    let mut known = some(draft.tx, workspace, events).await?;
    let log = hold(draft, workspace).await?;
    let mut added = 0;
    for event in events {
        if known.get(&event.seq) == Some(event) {
            continue;
        }
        if !event.follows(log.end) {
            return Err(Invalid::new("event", "does not follow the log as it stands").into());
        }
        log.add((*event).clone());
        known.insert(event.seq, (*event).clone());
        added += 1;
    }
    Ok(added)
}

/// What the log has under the numbers of these events.
async fn some(tx: &Tx, workspace: WorkspaceId, events: &[&Event]) -> Result<HashMap<u64, Event>> {
    let seqs: Vec<i64> = events.iter().map(|event| int(event.seq)).collect();
    let sql = include_str!("../queries/event/some.sql");
    let rows = tx.query(sql, &[&uuid(workspace.to_bytes()), &seqs]).await?;
    rows.iter().map(|row| read(row).map(|event| (event.seq, event))).collect()
}

/// The log after a number, oldest first.
pub(crate) async fn page(
    tx: &Tx,
    workspace: WorkspaceId,
    after: u64,
    limit: usize,
) -> Result<Vec<Event>> {
    let sql = include_str!("../queries/event/page.sql");
    let workspace = uuid(workspace.to_bytes());
    let rows = tx.query(sql, &[&workspace, &int(after), &int(limit as u64)]).await?;
    rows.iter().map(read).collect()
}

/// The columns of an event, as every statement about events selects them.
pub(crate) fn read(row: &Row) -> Result<Event> {
    Ok(Event {
        workspace: WorkspaceId::from_bytes(id(row, 0)?),
        seq: count(row, 1)?,
        at: time(row, 2)?,
        actor: actor(row, 3)?,
        principal: PrincipalId::from_bytes(id(row, 5)?),
        kind: string(row, 6)?,
        store: opt_id(row, 7)?.map(StoreId::from_bytes),
        subject: opt_string(row, 8)?,
        detail: opt_string(row, 9)?,
        hash: hash(row, 10)?,
    })
}

fn hash(row: &Row, column: usize) -> Result<[u8; 32]> {
    let hash: &[u8] = get(row, column)?;
    hash.try_into().map_err(|_| corrupt("not a hash"))
}
