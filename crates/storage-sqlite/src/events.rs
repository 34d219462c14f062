//! The audit log of each workspace. An entry is written in the transaction of what it tells about,
//! after the last one, whose hash is part of its own. Number and hash of the last one are written down
//! with it, so that the next does not build on a log whose tail was cut off.

use crate::fault::Result;
use crate::row::{actor, count, int, time, unreadable};
use loci_model::event::LogEnd;
use loci_model::{Event, Happening, Invalid, PrincipalId, StoreId, WorkspaceId};
use loci_storage::column::actor_code;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// A row with all columns of the table.
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Event> {
    let store: Option<[u8; 16]> = row.get(7)?;
    Ok(Event {
        workspace: WorkspaceId::from_bytes(row.get(0)?),
        seq: count(row, 1)?,
        at: time(row, 2)?,
        actor: actor(row, 3)?,
        principal: PrincipalId::from_bytes(row.get(5)?),
        kind: row.get(6)?,
        store: store.map(StoreId::from_bytes),
        subject: row.get(8)?,
        detail: row.get(9)?,
        hash: row.get(10).map_err(|_| unreadable(10, "not a hash"))?,
    })
}

/// Writes what happened at the end of its workspace's log.
pub(crate) fn record(conn: &Connection, happening: &Happening) -> Result<u64> {
    happening.validate()?;
    let event = Event::next(end(conn, happening.workspace)?, happening.clone());
    insert(conn, &event)?;
    Ok(event.seq)
}

/// Takes in an entry as it was elsewhere; tells whether it is new.
pub(crate) fn import(conn: &Connection, event: &Event) -> Result<bool> {
    let end = end(conn, event.workspace)?;
    if (1..=end.seq).contains(&event.seq) {
        let known = page(conn, event.workspace, event.seq - 1, 1)?;
        if known.first() == Some(event) {
            return Ok(false);
        }
    }
    if !event.follows(end) {
        return Err(Invalid::new("event", "does not follow the log as it stands").into());
    }
    insert(conn, event)?;
    Ok(true)
}

/// The log of a workspace after a number.
pub(crate) fn page(
    conn: &Connection,
    workspace: WorkspaceId,
    after: u64,
    limit: usize,
) -> Result<Vec<Event>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/event/after.sql"))?;
    let found =
        statement.query_map(params![workspace.to_bytes(), int(after), int(limit as u64)], read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Begins the log of a workspace that is made.
pub(crate) fn begin(conn: &Connection, workspace: WorkspaceId) -> Result<()> {
    put_end(conn, workspace, LogEnd::default())
}

fn end(conn: &Connection, workspace: WorkspaceId) -> Result<LogEnd> {
    let workspace = workspace.to_bytes();
    let found = conn
        .prepare_cached(include_str!("../queries/event/end.sql"))?
        .query_row([workspace], |row| read_end(row, 0))
        .optional()?;
    match found {
        Some(end) => Ok(end),
        None => {
            let last = conn
                .prepare_cached(include_str!("../queries/event/last.sql"))?
                .query_row([workspace], |row| count(row, 0))?;
            Ok(LogEnd::lost(last))
        }
    }
}

/// The end of a log whose columns begin at `first`.
pub(crate) fn read_end(row: &Row<'_>, first: usize) -> rusqlite::Result<LogEnd> {
    let hash = row.get(first + 1).map_err(|_| unreadable(first + 1, "not a hash"))?;
    Ok(LogEnd { seq: count(row, first)?, hash })
}

fn put_end(conn: &Connection, workspace: WorkspaceId, end: LogEnd) -> Result<()> {
    conn.prepare_cached(include_str!("../queries/event/put_end.sql"))?.execute(params![
        workspace.to_bytes(),
        int(end.seq),
        end.hash
    ])?;
    Ok(())
}

fn insert(conn: &Connection, event: &Event) -> Result<()> {
    let (actor_kind, actor_id) = actor_code(event.actor);
    conn.prepare_cached(include_str!("../queries/event/insert.sql"))?.execute(params![
        event.workspace.to_bytes(),
        int(event.seq),
        event.at.as_micros(),
        actor_kind,
        actor_id,
        event.principal.to_bytes(),
        event.kind,
        event.store.map(StoreId::to_bytes),
        event.subject,
        event.detail,
        event.hash,
    ])?;
    put_end(conn, event.workspace, event.end())
}
