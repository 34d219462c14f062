//! Deleting a removed store for good, a bounded number of memories at a time, so that other writes
//! get their turn in between.
//!
//! Nobody writes to a removed store any more, except who began to put vectors or readings a moment before. They
//! hold its row, so taking it for itself waits for them first of all; whoever comes later finds a
//! removed store and leaves it alone.

use crate::client::{Tx, uuid};
use crate::fault::Result;
use crate::row::{get, int};
use crate::{readings, stores, vectors};
use loci_model::policy::ManagePass;
use loci_storage::Receipt;
use uuid::Uuid;

pub(crate) async fn purge_store(tx: &Tx, pass: &ManagePass, limit: usize) -> Result<Receipt> {
    let store = uuid(stores::lock_removed(tx, pass.store()).await?.store.id.to_bytes());
    // One more than may go, to know whether anything is left.
    let asked = int(limit as u64).saturating_add(1);
    let found = tx.query(include_str!("../queries/memory/of_store.sql"), &[&store, &asked]).await?;
    let is_done = found.len() <= limit;
    let doomed: Vec<Uuid> =
        found.iter().take(limit).map(|row| get(row, 0)).collect::<Result<_>>()?;
    if !doomed.is_empty() {
        purge_memories(tx, pass, &doomed).await?;
    }
    if is_done {
        for sql in [
            include_str!("../queries/store/delete.sql"),
            include_str!("../queries/redaction/delete_of_store.sql"),
            include_str!("../queries/grant/delete_of_store.sql"),
            include_str!("../queries/vector/delete_marks_of_store.sql"),
            include_str!("../queries/vector/delete_of_store.sql"),
            include_str!("../queries/reading/delete_of_store.sql"),
            include_str!("../queries/reading/delete_marks_of_store.sql"),
            include_str!("../queries/reading/delete_end_of_store.sql"),
        ] {
            tx.execute(sql, &[&store]).await?;
        }
        let all: Option<&[Uuid]> = None;
        let sql = include_str!("../queries/word/forget_memories.sql");
        tx.execute(sql, &[&store, &all]).await?;
    } else {
        let sql = include_str!("../queries/redaction/delete_some.sql");
        tx.execute(sql, &[&store, &int(limit as u64)]).await?;
    }
    Ok(Receipt::Purged { is_done })
}

async fn purge_memories(tx: &Tx, pass: &ManagePass, doomed: &[Uuid]) -> Result<()> {
    let store = uuid(pass.store().to_bytes());
    let sql = include_str!("../queries/version/delete_of_memories.sql");
    let gone = tx.query(sql, &[&store, &doomed]).await?;
    let seqs: Vec<i64> = gone.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
    vectors::delete(tx, pass.store(), &seqs).await?;
    readings::delete(tx, store, &seqs).await?;
    tx.execute(include_str!("../queries/word/forget_memories.sql"), &[&store, &doomed]).await?;
    tx.execute(include_str!("../queries/payload/delete.sql"), &[&store, &seqs]).await?;
    tx.execute(include_str!("../queries/memory/delete.sql"), &[&store, &doomed]).await?;
    Ok(())
}
