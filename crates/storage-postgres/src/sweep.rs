//! What is due in any tenant's stores: expired memories, histories to be erased, removed stores.
//! Found by functions that look across tenants and give out ids only; what is then done about one
//! of them happens in its own tenant.

use crate::client::Tx;
use crate::fault::Result;
use crate::row::{id, int};
use loci_model::{MemoryId, StoreId, Timestamp, WorkspaceId};
use tokio_postgres::Row;

pub(crate) async fn expired(
    tx: &Tx,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
    due(tx, include_str!("../queries/memory/expired.sql"), now, limit).await
}

pub(crate) async fn erasable(
    tx: &Tx,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
    due(tx, include_str!("../queries/memory/erasable.sql"), now, limit).await
}

async fn due(
    tx: &Tx,
    sql: &str,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<(WorkspaceId, StoreId, MemoryId)>> {
    let rows = tx.query(sql, &[&now.as_micros(), &int(limit as u64)]).await?;
    let read = |row: &Row| {
        let (workspace, store) = place(row)?;
        Ok((workspace, store, MemoryId::from_bytes(id(row, 2)?)))
    };
    rows.iter().map(read).collect()
}

pub(crate) async fn unpurged(tx: &Tx, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
    let sql = include_str!("../queries/store/unpurged.sql");
    let rows = tx.query(sql, &[&int(limit as u64)]).await?;
    rows.iter().map(place).collect()
}

pub(crate) async fn crowded(tx: &Tx, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
    let sql = include_str!("../queries/store/crowded.sql");
    let rows = tx.query(sql, &[&int(limit as u64)]).await?;
    rows.iter().map(place).collect()
}

fn place(row: &Row) -> Result<(WorkspaceId, StoreId)> {
    Ok((WorkspaceId::from_bytes(id(row, 0)?), StoreId::from_bytes(id(row, 1)?)))
}
