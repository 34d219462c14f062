//! Batches of edits. Each edit is decided by the model; this file finds the memory it means, makes
//! sure that its path is free, and writes.
//!
//! The order of refusals is part of the contract: archived, expired, missing, nothing to do, failed
//! expectation, taken path, repeated content, full store. All of them come before the edit's first
//! write.

use crate::apply::Core;
use crate::fault::{Result, not_found};
use crate::history::{self, NewVersion};
use crate::read;
use crate::repeats;
use crate::row::{MemoryRow, opt_id_bytes};
use crate::rows::{
    BareMemory, chain, insert_content, insert_memory, insert_piece, strip_memory, update_memory,
};
use crate::stores::StoreRow;
use loci_model::decide::{Decision, NextState, Refusal, decide, needs_content};
use loci_model::policy::WritePass;
use loci_model::store::{OnRemove, Repeats};
use loci_model::{
    Actor, At, Audience, Cause, EditOp, Memory, MemoryId, MemoryPath, Operation, Outcome,
    PrincipalId, Timestamp, VersionId,
};
use loci_storage::column::{Code, visibility_max};
use loci_storage::tail::Head;
use loci_storage::{Batch, Receipt, StampedEdit, StorageError, reason};
use rusqlite::{Connection, OptionalExtension, params};

/// Who writes, when and why.
pub(crate) struct Stamp<'a> {
    pub(crate) version: VersionId,
    pub(crate) actor: Actor,
    pub(crate) at: Timestamp,
    pub(crate) cause: &'a Cause,
}

impl Core {
    pub(crate) fn commit(&mut self, pass: &WritePass, batch: &Batch) -> Result<Receipt> {
        self.with_store(pass.store(), |core, store| {
            let mut outcomes = Vec::with_capacity(batch.edits.len());
            for (index, edit) in batch.edits.iter().enumerate() {
                outcomes.push(core.apply_edit(store, pass, &batch.cause, index, edit)?);
            }
            Ok(Receipt::Committed(outcomes))
        })
    }

    /// Removes a memory whose time is over.
    pub(crate) fn expire(
        &mut self,
        pass: &WritePass,
        memory: MemoryId,
        version: VersionId,
    ) -> Result<Receipt> {
        self.with_store(pass.store(), |core, store| {
            let due = read::named(&core.conn, store.store_pk, pass.store(), &At::Id(memory))?
                .filter(|row| row.is_expired_at(pass.now()))
                .ok_or_else(|| not_found("memory"))?;
            let cause = Cause::new(None, reason::EXPIRED);
            let stamp = Stamp {
                version,
                actor: Actor::System,
                at: history::next_at(store, pass.now()),
                cause: &cause,
            };
            core.remove(store, &due, &stamp)?;
            let outcome = Outcome { memory: due.memory, operation: Some(Operation::Deleted) };
            Ok(Receipt::Committed(vec![outcome]))
        })
    }

    fn apply_edit(
        &mut self,
        store: &mut StoreRow,
        pass: &WritePass,
        cause: &Cause,
        index: usize,
        stamped: &StampedEdit,
    ) -> Result<Outcome> {
        let edit = &stamped.edit;
        if store.store.archived_at.is_some() && edit.op != EditOp::Remove {
            return Err(StorageError::Archived.into());
        }
        let refused = |refusal| StorageError::Refused { index, refusal };
        let (mut current, vacancy) = self.find_for_edit(store, pass, &edit.at)?;
        if current.is_none() && matches!(edit.at, At::Id(_)) {
            return Err(refused(Refusal::NotFound).into());
        }
        if let Some(row) = &mut current
            && needs_content(edit)
        {
            let memory = &mut row.memory;
            let content = read::content(&self.conn, row.head_pk, memory.digest, memory.is_sealed)?;
            memory.content = Some(content);
        }
        let create_at = match &edit.at {
            At::Path(_, path) => Some(path),
            At::Id(_) | At::First(_) => None,
        };
        let memory = current.as_ref().map(|row| &row.memory);
        let policy = &store.store.policy;
        let decision = match decide(edit, memory, create_at, policy, pass.remover()) {
            Ok(decision) => decision,
            Err(refusal) => {
                return Err(match (refusal, current) {
                    (Refusal::Present, Some(row)) => StorageError::PathTaken {
                        memory: Some(row.memory.id),
                        path: row.memory.path,
                    },
                    (refusal, _) => refused(refusal),
                }
                .into());
            }
        };
        let stamp = Stamp {
            version: stamped.version,
            actor: pass.actor(),
            at: history::next_at(store, pass.now()),
            cause,
        };
        match (decision, current) {
            (Decision::Unchanged, Some(row)) => Ok(outcome(row.memory, None)),
            (Decision::Remove, Some(row)) => {
                self.remove(store, &row, &stamp)?;
                Ok(outcome(row.memory, Some(Operation::Deleted)))
            }
            (Decision::Modify(next), Some(row)) => {
                if next.path != row.memory.path {
                    let place = Place {
                        partition: row.memory.partition,
                        path: &next.path,
                        itself: Some(row.memory_pk),
                        audience: pass.audience(),
                        vacancy: None,
                    };
                    require_free(&self.conn, store, &place, pass.now())?;
                }
                let written = self.modify(store, row, next, &stamp)?;
                Ok(outcome(written, Some(Operation::Modified)))
            }
            (Decision::Create(next), _) => {
                let partition = match &edit.at {
                    At::Path(partition, _) => *partition,
                    At::First(filter) => filter.partition.flatten(),
                    At::Id(_) => None,
                };
                let place = Place {
                    partition,
                    path: &next.path,
                    itself: None,
                    audience: pass.audience(),
                    vacancy: vacancy.filter(|_| create_at == Some(&next.path)),
                };
                require_free(&self.conn, store, &place, pass.now())?;
                let content = next.content.as_whole();
                if let Some(known) = repeats::find(&self.conn, store, pass, partition, content)? {
                    if store.store.policy.repeats == Repeats::Merge {
                        return Ok(outcome(known.memory, None));
                    }
                    let Memory { id: memory, path, .. } = known.memory;
                    return Err(StorageError::Repeat { memory, path }.into());
                }
                let limit = store.store.policy.memories_max;
                if store.memory_count >= limit {
                    return Err(StorageError::StoreFull { limit }.into());
                }
                let new = (stamped.new_memory, partition, pass.principal());
                let written = self.create(store, new, next, &stamp)?;
                Ok(outcome(written, Some(Operation::Created)))
            }
            (decision, None) => unreachable!("decided {decision:?} where no memory is"),
        }
    }

    /// The memory an edit means. One whose time is over is to be expired before anything is decided
    /// about it; one that the audience does not see is as good as absent, except for its path. Also
    /// tells what lies around a path where nothing is at all.
    fn find_for_edit(
        &self,
        store: &StoreRow,
        pass: &WritePass,
        at: &At,
    ) -> Result<(Option<MemoryRow>, Option<Vacancy>)> {
        let (store_pk, id) = (store.store_pk, pass.store());
        if let At::First(filter) = at {
            let (audience, now) = (pass.audience(), pass.now());
            let first = crate::list::first(&self.conn, store_pk, id, filter, audience, now)?;
            return Ok((first, None));
        }
        if let At::Path(partition, path) = at
            && let Some(vacancy) = vacancy(&self.conn, store_pk, *partition, path)?
        {
            return Ok((None, Some(vacancy)));
        }
        let named = read::named(&self.conn, store_pk, id, at)?;
        refuse_expired(named.as_ref(), pass.now())?;
        let seen = named.filter(|row| {
            row.memory.attributes.visibility.code() <= visibility_max(pass.audience())
        });
        Ok((seen, None))
    }

    fn create(
        &mut self,
        store: &mut StoreRow,
        (id, partition, owner): (MemoryId, Option<PrincipalId>, PrincipalId),
        next: NextState,
        stamp: &Stamp<'_>,
    ) -> Result<Memory> {
        let content = next.content.whole().expect("a new memory brings content");
        let memory = Memory {
            id,
            store: store.store.id,
            partition,
            owner,
            path: next.path,
            attributes: next.attributes,
            head: stamp.version,
            revision: 1,
            content: None,
            digest: content.digest(),
            size_bytes: content.bytes().len() as u64,
            is_sealed: content.is_sealed(),
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        let (memory_pk, version_pk) = (self.next_memory_pk(), self.next_version_pk());
        insert_memory(&self.conn, store, memory_pk, version_pk, &memory)?;
        append(&self.conn, store, memory_pk, version_pk, &memory, Operation::Created, stamp)?;
        insert_content(&self.conn, version_pk, &content)?;
        store.memory_count += 1;
        store.content_bytes += memory.size_bytes;
        Ok(memory)
    }

    fn modify(
        &mut self,
        store: &mut StoreRow,
        mut row: MemoryRow,
        next: NextState,
        stamp: &Stamp<'_>,
    ) -> Result<Memory> {
        let size_before = row.memory.size_bytes;
        let chain = chain(&self.conn, &row)?;
        let head = Head::of(&row.memory, &chain);
        let old = if head.needs_old(&next.content) {
            let memory = &row.memory;
            Some(read::content(&self.conn, row.head_pk, memory.digest, memory.is_sealed)?)
        } else {
            None
        };
        let written = head.write(next.content, old);
        let version_pk = self.next_version_pk();
        let memory = &mut row.memory;
        memory.path = next.path;
        memory.attributes = next.attributes;
        memory.head = stamp.version;
        memory.revision += 1;
        memory.updated_at = stamp.at;
        memory.digest = written.digest;
        memory.size_bytes = written.size_bytes;
        memory.is_sealed = written.is_sealed;
        let memory = &row.memory;
        append(&self.conn, store, row.memory_pk, version_pk, memory, Operation::Modified, stamp)?;
        insert_piece(&self.conn, row.head_pk, version_pk, &written.piece)?;
        update_memory(&self.conn, store, row.memory_pk, version_pk, memory, &written.chain)?;
        store.content_bytes = store.content_bytes + memory.size_bytes - size_before;
        Ok(row.memory)
    }

    /// Hides a memory: a `deleted` version that keeps path and attributes, and a bare row.
    pub(crate) fn remove(
        &mut self,
        store: &mut StoreRow,
        row: &MemoryRow,
        stamp: &Stamp<'_>,
    ) -> Result<()> {
        let memory = &row.memory;
        let version_pk = self.next_version_pk();
        let cause = stamp.cause.of_removal();
        let version = NewVersion {
            version_pk,
            id: stamp.version,
            memory_pk: row.memory_pk,
            revision: memory.revision + 1,
            operation: Operation::Deleted,
            path: Some(memory.path.as_str()),
            attributes: Some(&memory.attributes),
            content: None,
            is_sealed: false,
            actor: stamp.actor,
            at: stamp.at,
            cause: &cause,
            redaction: None,
        };
        history::append(&self.conn, store, &version)?;
        unlist(store, memory);
        let bare = BareMemory {
            head_pk: version_pk,
            revision: version.revision,
            updated_at: stamp.at,
            erase_at: erase_at(store, stamp.at),
        };
        strip_memory(&self.conn, row.memory_pk, &bare)
    }
}

/// Takes a memory's share from the counters of the live ones.
pub(crate) fn unlist(store: &mut StoreRow, memory: &Memory) {
    store.memory_count -= 1;
    store.content_bytes -= memory.size_bytes;
}

/// When the history of a memory removed at a moment is due to be erased.
pub(crate) fn erase_at(store: &StoreRow, removed_at: Timestamp) -> Option<Timestamp> {
    match store.store.policy.on_remove {
        OnRemove::KeepHistory => None,
        OnRemove::EraseAfter { secs } => Some(removed_at.plus_secs(secs.into())),
    }
}

fn outcome(mut memory: Memory, operation: Option<Operation>) -> Outcome {
    memory.content = None;
    Outcome { memory, operation }
}

/// Names what is in the way, unless the writer may not see it: then only that the path is taken.
fn taken(row: MemoryRow, place: &Place<'_>) -> StorageError {
    let visibility = row.memory.attributes.visibility.code();
    if visibility <= visibility_max(place.audience) {
        StorageError::PathTaken { memory: Some(row.memory.id), path: row.memory.path }
    } else {
        StorageError::PathTaken { memory: None, path: place.path.clone() }
    }
}

fn refuse_expired(row: Option<&MemoryRow>, now: Timestamp) -> Result<()> {
    match row {
        Some(row) if row.is_expired_at(now) => {
            Err(StorageError::Expired { memory: row.memory.id }.into())
        }
        _ => Ok(()),
    }
}

/// Where a memory wants to be.
pub(crate) struct Place<'a> {
    pub(crate) partition: Option<PrincipalId>,
    pub(crate) path: &'a MemoryPath,
    /// The memory that moves there; it is not in its own way.
    pub(crate) itself: Option<i64>,
    /// Who wants it there.
    pub(crate) audience: Audience,
    /// What lies around the path, if it is known already that nothing is at the path itself.
    pub(crate) vacancy: Option<Vacancy>,
}

/// Makes sure that a path is free, together with everything above and below it.
pub(crate) fn require_free(
    conn: &Connection,
    store: &StoreRow,
    place: &Place<'_>,
    now: Timestamp,
) -> Result<()> {
    let (store_pk, id) = (store.store_pk, store.store.id);
    let refuse = |row: MemoryRow| {
        refuse_expired(Some(&row), now)?;
        Err(taken(row, place).into())
    };
    let at = |path: &str| read::at_path(conn, store_pk, id, place.partition, path);
    let is_other = |row: &MemoryRow| Some(row.memory_pk) != place.itself;
    if place.vacancy.is_none()
        && let Some(row) = at(place.path.as_str())?.filter(is_other)
    {
        return refuse(row);
    }
    // Where a memory lies beside this one, its ancestors are directories already.
    if !place.vacancy.is_some_and(|vacancy| vacancy.has_sibling) {
        for path in place.path.ancestors() {
            if let Some(row) = at(path)?.filter(is_other) {
                return refuse(row);
            }
        }
    }
    if place.vacancy.is_some_and(|vacancy| !vacancy.has_descendant) {
        return Ok(());
    }
    let (low, high) = place.path.descendants();
    let partition = opt_id_bytes(place.partition);
    // No memory has key zero.
    let itself = place.itself.unwrap_or(0);
    let below = conn
        .prepare_cached(include_str!("../queries/memory/below.sql"))?
        .query_row(params![store_pk, low, high, partition, itself], |row| {
            crate::row::memory(row, id)
        })
        .optional()?;
    below.map_or(Ok(()), refuse)
}

/// What lies around a path where nothing is: mostly this one look at the index is all that creating
/// a memory takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vacancy {
    /// A memory lies in the same directory or deeper in it, so everything above is a directory.
    has_sibling: bool,
    /// A memory lies below the path, so it is a directory itself.
    has_descendant: bool,
}

/// Looks around a path; `None` when something is there.
fn vacancy(
    conn: &Connection,
    store_pk: i64,
    partition: Option<PrincipalId>,
    path: &MemoryPath,
) -> Result<Option<Vacancy>> {
    let (below, below_end) = path.descendants();
    // A path of one segment has nothing above it, and an empty range beside it.
    let parent = path.parent();
    let (beside, beside_end) =
        parent.map_or_else(Default::default, |parent| (format!("{parent}/"), format!("{parent}0")));
    let partition = opt_id_bytes(partition);
    let text = path.as_str();
    let mut statement = conn.prepare_cached(include_str!("../queries/memory/vacancy.sql"))?;
    let found = statement.query_row(
        params![store_pk, text, partition, beside, beside_end, below, below_end],
        |row| {
            let vacancy = Vacancy {
                has_sibling: parent.is_none() || row.get(1)?,
                has_descendant: row.get(2)?,
            };
            Ok((!row.get::<_, bool>(0)?).then_some(vacancy))
        },
    );
    Ok(found?)
}

fn append(
    conn: &Connection,
    store: &mut StoreRow,
    memory_pk: i64,
    version_pk: i64,
    memory: &Memory,
    operation: Operation,
    stamp: &Stamp<'_>,
) -> Result<()> {
    let version = NewVersion {
        version_pk,
        id: stamp.version,
        memory_pk,
        revision: memory.revision,
        operation,
        path: Some(memory.path.as_str()),
        attributes: Some(&memory.attributes),
        content: Some((memory.digest, memory.size_bytes)),
        is_sealed: memory.is_sealed,
        actor: stamp.actor,
        at: stamp.at,
        cause: stamp.cause,
        redaction: None,
    };
    history::append(conn, store, &version)
}
