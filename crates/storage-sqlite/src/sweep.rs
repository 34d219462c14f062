//! What is due: expired memories and histories to be erased, each found through its own small index.

use crate::fault::Result;
use crate::row::int;
use loci_model::{MemoryId, StoreId, Timestamp, WorkspaceId};
use rusqlite::{Connection, params};

pub(crate) fn expired(
    conn: &Connection,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
    due(conn, include_str!("../queries/memory/expired.sql"), now, limit)
}

pub(crate) fn erasable(
    conn: &Connection,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
    due(conn, include_str!("../queries/memory/erasable.sql"), now, limit)
}

fn due(
    conn: &Connection,
    sql: &str,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_map(params![now.as_micros(), int(limit as u64)], |row| {
        let workspace = row.get(0).map(WorkspaceId::from_bytes)?;
        let store = row.get(1).map(StoreId::from_bytes)?;
        let memory = row.get(2).map(MemoryId::from_bytes)?;
        Ok((workspace, store, memory))
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
