//! Repeated content: what a store that minds it knows about its live texts, and the memory that a
//! new one would only repeat. Stores that do not mind keep nothing for this.

use crate::apply::Core;
use crate::fault::Result;
use crate::row::{self, MemoryRow, opt_id_bytes};
use crate::stores::StoreRow;
use loci_model::policy::{ManagePass, WritePass};
use loci_model::store::{PolicyPatch, Repeats};
use loci_model::{Content, Memory, PrincipalId};
use loci_storage::column::visibility_max;
use loci_storage::{Receipt, StorageError};
use rusqlite::{Connection, OptionalExtension, params};

/// What the index of repeats holds of a live memory.
pub(crate) fn indexed<'a>(store: &StoreRow, memory: &'a Memory) -> Option<&'a [u8; 32]> {
    let minds = store.store.policy.repeats != Repeats::Allow;
    (minds && !memory.is_sealed).then(|| memory.digest.as_bytes())
}

/// The oldest memory the writer sees that a new one would only repeat, where the store minds.
pub(crate) fn find(
    conn: &Connection,
    store: &StoreRow,
    pass: &WritePass,
    partition: Option<PrincipalId>,
    content: Option<&Content>,
) -> Result<Option<MemoryRow>> {
    let minds = store.store.policy.repeats != Repeats::Allow;
    let Some(content) = content.filter(|content| minds && !content.is_sealed()) else {
        return Ok(None);
    };
    let found = conn
        .prepare_cached(include_str!("../queries/memory/repeated.sql"))?
        .query_row(
            params![
                store.store_pk,
                content.digest().as_bytes(),
                opt_id_bytes(partition),
                visibility_max(pass.audience()),
                pass.now().as_micros(),
            ],
            |row| row::memory(row, store.store.id),
        )
        .optional()?;
    Ok(found)
}

impl Core {
    pub(crate) fn set_policy(&mut self, pass: &ManagePass, patch: PolicyPatch) -> Result<Receipt> {
        self.with_store(pass.store(), |core, row| {
            if row.store.archived_at.is_some() {
                return Err(StorageError::Archived.into());
            }
            let before = row.store.policy;
            let after = patch.apply_to(before)?;
            if before != after {
                let mut next = row.store.clone();
                next.policy = after;
                next.updated_at = pass.now();
                core.save_store(row, next)?;
                let minds = after.repeats != Repeats::Allow;
                if minds != (before.repeats != Repeats::Allow) {
                    core.conn
                        .prepare_cached(include_str!("../queries/memory/mark_repeats.sql"))?
                        .execute(params![row.store_pk, minds])?;
                }
            }
            Ok(Receipt::Store(row.store.clone()))
        })
    }
}
