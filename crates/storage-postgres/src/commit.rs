//! Batches of edits. Each edit is decided by the model; this file finds the memory it means, makes
//! sure that its path is free, and changes the draft.
//!
//! The order of refusals is part of the contract: archived, expired, missing, nothing to do, failed
//! expectation, taken path, repeated content, full store. All of them come before the edit's first
//! change.

use crate::draft::{Bare, Desk, Draft, Known, Wanted};
use crate::fault::{Result, not_found};
use crate::list;
use crate::repeats;
use crate::row::MemoryRow;
use loci_model::decide::{Decision, NextContent, NextState, Refusal, decide, needs_content};
use loci_model::policy::WritePass;
use loci_model::store::{OnRemove, Repeats};
use loci_model::{
    Actor, At, Attributes, Audience, Cause, EditOp, Memory, MemoryId, MemoryPath, Operation,
    Outcome, PrincipalId, StoreId, Timestamp, Version, VersionId,
};
use loci_storage::column::{Code, visibility_max};
use loci_storage::tail::{Chain, Head, Written};
use loci_storage::{Batch, Receipt, StampedEdit, StorageError, reason};
use std::collections::BTreeSet;

/// Who writes, when and why.
pub(crate) struct Stamp<'a> {
    pub(crate) version: VersionId,
    pub(crate) actor: Actor,
    pub(crate) at: Timestamp,
    pub(crate) cause: &'a Cause,
}

/// What deciding a batch will ask for, as far as the batch itself tells.
pub(crate) fn want(wanted: &mut Wanted, store: StoreId, batch: &Batch) {
    for stamped in &batch.edits {
        match &stamped.edit.at {
            At::Path(partition, path) => wanted.path(store, *partition, path),
            At::Id(id) => drop(wanted.memories.insert((store, *id))),
            At::First(_) => {}
        }
    }
}

/// The content that edits of a batch build upon: number of the version that has it.
pub(crate) async fn built_upon(
    draft: &mut Draft<'_>,
    store: StoreId,
    batch: &Batch,
    wanted: &mut BTreeSet<(StoreId, u64)>,
) -> Result<()> {
    if !draft.desks.contains_key(&store) {
        return Ok(());
    }
    for stamped in &batch.edits {
        let edit = &stamped.edit;
        if !needs_content(edit) && !matches!(edit.op, EditOp::Append { .. }) {
            continue;
        }
        let row = match &stamped.edit.at {
            At::Path(partition, path) => draft.at_path(store, *partition, path.as_str()).await?,
            At::Id(id) => draft.memory(store, *id).await?.and_then(|known| known.live),
            At::First(_) => None,
        };
        let Some(row) = row else { continue };
        // An append mostly goes on from what the row of the memory tells.
        let chain = draft.desk(store)?.chain(row.memory.id);
        let next = NextContent::Extended(String::new());
        if needs_content(edit) || Head::of(&row.memory, &chain).needs_old(&next) {
            wanted.insert((store, row.head));
        }
    }
    Ok(())
}

impl Draft<'_> {
    pub(crate) async fn commit(&mut self, pass: &WritePass, batch: &Batch) -> Result<Receipt> {
        self.desk(pass.store())?;
        let mut outcomes = Vec::with_capacity(batch.edits.len());
        for (index, edit) in batch.edits.iter().enumerate() {
            outcomes.push(self.apply_edit(pass, &batch.cause, index, edit).await?);
        }
        Ok(Receipt::Committed(outcomes))
    }

    /// Removes a memory whose time is over.
    pub(crate) async fn expire(
        &mut self,
        pass: &WritePass,
        memory: MemoryId,
        version: VersionId,
    ) -> Result<Receipt> {
        let known = self.memory(pass.store(), memory).await?;
        let due = known.as_ref().and_then(|known| known.live.clone());
        let due =
            due.filter(|row| row.is_expired_at(pass.now())).ok_or_else(|| not_found("memory"))?;
        let cause = Cause::new(None, reason::EXPIRED);
        let desk = self.desk(pass.store())?;
        let at = desk.next_at(pass.now());
        let stamp = Stamp { version, actor: Actor::System, at, cause: &cause };
        desk.remove(known.expect("it is due"), &stamp);
        let outcome = Outcome { memory: due.memory, operation: Some(Operation::Deleted) };
        Ok(Receipt::Committed(vec![outcome]))
    }

    async fn apply_edit(
        &mut self,
        pass: &WritePass,
        cause: &Cause,
        index: usize,
        stamped: &StampedEdit,
    ) -> Result<Outcome> {
        let edit = &stamped.edit;
        let store = pass.store();
        if self.desk(store)?.row.store.archived_at.is_some() && edit.op != EditOp::Remove {
            return Err(StorageError::Archived.into());
        }
        let refused = |refusal| StorageError::Refused { index, refusal };
        let mut current = self.find_for_edit(pass, &edit.at).await?;
        if current.is_none() && matches!(edit.at, At::Id(_)) {
            return Err(refused(Refusal::NotFound).into());
        }
        if let Some(row) = &mut current
            && needs_content(edit)
        {
            row.memory.content = Some(self.content(store, row.head, &row.memory).await?);
        }
        let create_at = match &edit.at {
            At::Path(_, path) => Some(path),
            At::Id(_) | At::First(_) => None,
        };
        let memory = current.as_ref().map(|row| &row.memory);
        let policy = self.desk(store)?.row.store.policy;
        let decision = match decide(edit, memory, create_at, &policy, pass.remover()) {
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
        let at = self.desk(store)?.next_at(pass.now());
        let stamp = Stamp { version: stamped.version, actor: pass.actor(), at, cause };
        match (decision, current) {
            (Decision::Unchanged, Some(row)) => Ok(outcome(row.memory, None)),
            (Decision::Remove, Some(row)) => {
                let known = self.memory(store, row.memory.id).await?.expect("it was just found");
                self.desk(store)?.remove(known, &stamp);
                Ok(outcome(row.memory, Some(Operation::Deleted)))
            }
            (Decision::Modify(next), Some(row)) => {
                if next.path != row.memory.path {
                    let place = Place {
                        partition: row.memory.partition,
                        path: &next.path,
                        itself: Some(row.memory.id),
                        audience: pass.audience(),
                    };
                    self.require_free(store, &place, pass.now()).await?;
                }
                let NextState { path, content, attributes } = next;
                let chain = self.desk(store)?.chain(row.memory.id);
                let head = Head::of(&row.memory, &chain);
                let old = if head.needs_old(&content) {
                    Some(self.content(store, row.head, &row.memory).await?)
                } else {
                    None
                };
                let content = head.write(content, old);
                let written = self.desk(store)?.modify(row, path, attributes, content, &stamp);
                Ok(outcome(written, Some(Operation::Modified)))
            }
            (Decision::Create(next), _) => {
                let partition = match &edit.at {
                    At::Path(partition, _) => *partition,
                    At::First(filter) => filter.partition.flatten(),
                    At::Id(_) => None,
                };
                let place =
                    Place { partition, path: &next.path, itself: None, audience: pass.audience() };
                self.require_free(store, &place, pass.now()).await?;
                if let Some(known) =
                    repeats::find(self, pass, partition, next.content.as_whole()).await?
                {
                    if policy.repeats == Repeats::Merge {
                        return Ok(outcome(known.memory, None));
                    }
                    let Memory { id: memory, path, .. } = known.memory;
                    return Err(StorageError::Repeat { memory, path }.into());
                }
                let desk = self.desk(store)?;
                let limit = policy.memories_max;
                if desk.row.memory_count >= limit {
                    return Err(StorageError::StoreFull { limit }.into());
                }
                let new = (stamped.new_memory, partition, pass.principal());
                let written = desk.create(new, next, &stamp);
                Ok(outcome(written, Some(Operation::Created)))
            }
            (decision, None) => unreachable!("decided {decision:?} where no memory is"),
        }
    }

    /// The memory an edit means. One whose time is over is to be expired before anything is decided
    /// about it; one that the audience does not see is as good as absent, except for its path.
    async fn find_for_edit(&mut self, pass: &WritePass, at: &At) -> Result<Option<MemoryRow>> {
        let store = pass.store();
        let named = match at {
            At::First(filter) => {
                // The oldest of many: that is for the database to find.
                self.flush().await?;
                let (audience, now) = (pass.audience(), pass.now());
                let first = list::first(self.tx, store, filter, audience, now).await?;
                let Some(first) = first else { return Ok(None) };
                return Ok(self.memory(store, first.memory.id).await?.and_then(|k| k.live));
            }
            At::Id(id) => self.memory(store, *id).await?.and_then(|known| known.live),
            At::Path(partition, path) => self.at_path(store, *partition, path.as_str()).await?,
        };
        refuse_expired(named.as_ref(), pass.now())?;
        Ok(named.filter(|row| {
            row.memory.attributes.visibility.code() <= visibility_max(pass.audience())
        }))
    }

    /// Makes sure that a path is free, together with everything above and below it.
    pub(crate) async fn require_free(
        &mut self,
        store: StoreId,
        place: &Place<'_>,
        now: Timestamp,
    ) -> Result<()> {
        let refuse = |row: MemoryRow| {
            refuse_expired(Some(&row), now)?;
            Err(taken(row, place).into())
        };
        let is_other = |row: &MemoryRow| Some(row.memory.id) != place.itself;
        let own = place.path.as_str();
        for path in std::iter::once(own).chain(place.path.ancestors()) {
            let found = self.at_path(store, place.partition, path).await?;
            if let Some(row) = found.filter(is_other) {
                return refuse(row);
            }
        }
        let below = self.below(store, place.partition, place.path, place.itself).await?;
        below.map_or(Ok(()), refuse)
    }
}

impl Desk {
    fn create(
        &mut self,
        (id, partition, owner): (MemoryId, Option<PrincipalId>, PrincipalId),
        next: NextState,
        stamp: &Stamp<'_>,
    ) -> Memory {
        let content = next.content.whole().expect("a new memory brings content");
        let memory = Memory {
            id,
            store: self.row.store.id,
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
        let head = self.append_head(&memory, Operation::Created, stamp);
        self.put_content(head, content);
        self.list(memory.size_bytes);
        let row = MemoryRow { head, memory: memory.clone() };
        self.set_live(row, Chain::default(), Operation::Created);
        memory
    }

    fn modify(
        &mut self,
        mut row: MemoryRow,
        path: MemoryPath,
        attributes: Attributes,
        content: Written,
        stamp: &Stamp<'_>,
    ) -> Memory {
        let size_before = row.memory.size_bytes;
        let memory = &mut row.memory;
        memory.path = path;
        memory.attributes = attributes;
        memory.head = stamp.version;
        memory.revision += 1;
        memory.updated_at = stamp.at;
        memory.content = None;
        memory.digest = content.digest;
        memory.size_bytes = content.size_bytes;
        memory.is_sealed = content.is_sealed;
        let head = self.append_head(&row.memory, Operation::Modified, stamp);
        self.put_piece(row.head, head, content.piece);
        self.row.content_bytes = self.row.content_bytes + row.memory.size_bytes - size_before;
        row.head = head;
        self.set_live(row.clone(), content.chain, Operation::Modified);
        row.memory
    }

    /// Hides a memory: a `deleted` version that keeps path and attributes, and a bare row.
    pub(crate) fn remove(&mut self, known: Known, stamp: &Stamp<'_>) {
        let memory = &known.live.as_ref().expect("only what is live is removed").memory;
        let id = memory.id;
        let revision = memory.revision + 1;
        let version = Version {
            id: stamp.version,
            memory: id,
            store: self.row.store.id,
            revision,
            seq: 0,
            operation: Operation::Deleted,
            path: Some(memory.path.clone()),
            attributes: Some(memory.attributes.clone()),
            content: None,
            digest: None,
            size_bytes: None,
            actor: stamp.actor,
            created_at: stamp.at,
            cause: stamp.cause.of_removal(),
            redaction: None,
        };
        self.unlist(memory.size_bytes);
        let seq = self.append(version, false);
        let bare = Bare {
            revision,
            operation: Operation::Deleted,
            head: (seq, stamp.version),
            updated_at: stamp.at,
            erase_at: self.erase_at(stamp.at),
        };
        self.set_bare(id, known, &bare);
    }

    /// Adds a memory's share to the counters of the live ones. What it made room for may have been
    /// written in between, counters included.
    pub(crate) fn list(&mut self, size_bytes: u64) {
        self.row.memory_count += 1;
        self.row.content_bytes += size_bytes;
        self.is_counted = true;
    }

    /// Takes a memory's share from the counters of the live ones.
    pub(crate) fn unlist(&mut self, size_bytes: u64) {
        self.is_counted = true;
        self.row.memory_count -= 1;
        self.row.content_bytes -= size_bytes;
    }

    /// When the history of a memory removed at a moment is due to be erased.
    pub(crate) fn erase_at(&self, removed_at: Timestamp) -> Option<Timestamp> {
        match self.row.store.policy.on_remove {
            OnRemove::KeepHistory => None,
            OnRemove::EraseAfter { secs } => Some(removed_at.plus_secs(secs.into())),
        }
    }

    fn append_head(&mut self, memory: &Memory, operation: Operation, stamp: &Stamp<'_>) -> u64 {
        let version = Version {
            id: stamp.version,
            memory: memory.id,
            store: memory.store,
            revision: memory.revision,
            seq: 0,
            operation,
            path: Some(memory.path.clone()),
            attributes: Some(memory.attributes.clone()),
            content: None,
            digest: Some(memory.digest),
            size_bytes: Some(memory.size_bytes),
            actor: stamp.actor,
            created_at: stamp.at,
            cause: stamp.cause.clone(),
            redaction: None,
        };
        self.append(version, memory.is_sealed)
    }
}

fn outcome(mut memory: Memory, operation: Option<Operation>) -> Outcome {
    memory.content = None;
    Outcome { memory, operation }
}

/// Where a memory wants to be.
pub(crate) struct Place<'a> {
    pub(crate) partition: Option<PrincipalId>,
    pub(crate) path: &'a MemoryPath,
    /// The memory that moves there; it is not in its own way.
    pub(crate) itself: Option<MemoryId>,
    /// Who wants it there.
    pub(crate) audience: Audience,
}

/// Names what is in the way, unless the writer may not see it: then only that the path is taken.
fn taken(row: MemoryRow, place: &Place<'_>) -> StorageError {
    if row.memory.attributes.visibility.code() <= visibility_max(place.audience) {
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
