//! A store's history on its way out: the feed with every version whole, for export and for moving.

use crate::client::{Tx, uuid};
use crate::fault::{Result, not_found};
use crate::pieces;
use crate::row::{self, KNOWN_VERSION_COLUMNS, actor, coded, count, int, string, time};
use crate::{stores, versions};
use loci_model::policy::AdminPass;
use loci_model::{ChangeOp, StoreId};
use loci_storage::StorageError;
use loci_storage::log::LogEntry;
use tokio_postgres::Row;

pub(crate) async fn export(
    tx: &Tx,
    pass: &AdminPass,
    store: StoreId,
    after: u64,
    limit: usize,
) -> Result<Vec<LogEntry>> {
    let rows = tx
        .query(
            include_str!("../queries/change/log.sql"),
            &[
                &uuid(store.to_bytes()),
                &int(after),
                &int(after.saturating_add(limit as u64)),
                &uuid(pass.workspace().to_bytes()),
            ],
        )
        .await?;
    if rows.is_empty() {
        let is_there =
            |row: &stores::StoreRow| !row.is_removed && row.store.workspace == pass.workspace();
        let found = stores::load(tx, store).await?.filter(is_there);
        found.ok_or_else(|| not_found("memory store"))?;
    }
    let contents = pieces::of_rows(tx, &rows, store, KNOWN_VERSION_COLUMNS + 6).await?;
    rows.iter().zip(contents).map(|(row, bytes)| entry(row, store, bytes)).collect()
}

/// The columns of a version and of its entry in the feed, and its content.
fn entry(row: &Row, store: StoreId, bytes: Option<Vec<u8>>) -> Result<LogEntry> {
    const ENTRY: usize = KNOWN_VERSION_COLUMNS;
    let known = row::version(row, store)?;
    Ok(match coded::<ChangeOp>(row, ENTRY + 1)? {
        ChangeOp::Redacted => LogEntry::Redaction {
            seq: count(row, ENTRY)?,
            memory: known.version.memory,
            version: known.version.id,
            actor: actor(row, ENTRY + 2)?,
            at: time(row, ENTRY + 4)?,
            reason: string(row, ENTRY + 5)?,
        },
        ChangeOp::Created | ChangeOp::Modified | ChangeOp::Deleted => {
            let (partition, owner) = (known.partition, known.owner);
            let bare = Box::new(known.version.clone());
            match versions::filled(known, bytes).map_err(StorageError::from) {
                Ok(version) => LogEntry::Version { version: Box::new(version), partition, owner },
                Err(StorageError::Corrupt(_)) => {
                    LogEntry::Damaged { version: bare, partition, owner }
                }
                Err(error) => return Err(error.into()),
            }
        }
    })
}
