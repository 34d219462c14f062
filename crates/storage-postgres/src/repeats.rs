//! Repeated content: what a store that minds it knows about its live texts, and the memory that a
//! new one would only repeat. Stores that do not mind keep nothing for this.

use crate::client::{Tx, uuid};
use crate::draft::Draft;
use crate::fault::Result;
use crate::row::{self, MemoryRow, key_of};
use crate::stores;
use loci_model::policy::{ManagePass, WritePass};
use loci_model::store::{PolicyPatch, Repeats};
use loci_model::{Content, PrincipalId};
use loci_storage::column::visibility_max;
use loci_storage::{Receipt, StorageError};

/// The oldest memory the writer sees that a new one would only repeat, where the store minds.
pub(crate) async fn find(
    draft: &mut Draft<'_>,
    pass: &WritePass,
    partition: Option<PrincipalId>,
    content: Option<&Content>,
) -> Result<Option<MemoryRow>> {
    let store = pass.store();
    let minds = draft.desk(store)?.row.store.policy.repeats != Repeats::Allow;
    let Some(content) = content.filter(|content| minds && !content.is_sealed()) else {
        return Ok(None);
    };
    // The oldest of many: that is for the database to find.
    draft.flush().await?;
    let found = draft
        .tx
        .query_opt(
            include_str!("../queries/memory/repeated.sql"),
            &[
                &uuid(store.to_bytes()),
                &content.digest().as_bytes().as_slice(),
                &key_of(partition),
                &visibility_max(pass.audience()),
                &pass.now().as_micros(),
            ],
        )
        .await?;
    found.map(|row| row::memory(&row, store)).transpose()
}

pub(crate) async fn set_policy(tx: &Tx, pass: &ManagePass, patch: PolicyPatch) -> Result<Receipt> {
    let store = stores::lock_one(tx, pass.store()).await?.store;
    if store.archived_at.is_some() {
        return Err(StorageError::Archived.into());
    }
    let before = store.policy;
    let after = patch.apply_to(before)?;
    if before == after {
        return Ok(Receipt::Store(store));
    }
    let mut next = store;
    next.policy = after;
    next.updated_at = pass.now();
    stores::save(tx, &next).await?;
    let minds = after.repeats != Repeats::Allow;
    if minds != (before.repeats != Repeats::Allow) {
        let sql = include_str!("../queries/memory/mark_repeats.sql");
        tx.execute(sql, &[&uuid(next.id.to_bytes()), &minds]).await?;
    }
    Ok(Receipt::Store(next))
}
