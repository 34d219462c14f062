//! Batches of edits. The order of refusals is part of the contract: archived, missing memory,
//! nothing to do, failed expectation, taken path, repeated content, full store.

use super::state::{Kept, Shelf, State, is_expired, is_shown_to, memory_in};
use loci_model::decide::{Decision, NextContent, NextState, Refusal, decide};
use loci_model::policy::WritePass;
use loci_model::store::{OnRemove, Repeats};
use loci_model::{
    Actor, At, Audience, Cause, Content, EditOp, Memory, MemoryId, MemoryPath, Operation, Outcome,
    PrincipalId, Timestamp, Version, VersionId, View,
};
use loci_storage::reason;
use loci_storage::{Batch, Receipt, Result, StampedEdit, StorageError};

/// Who writes, when and why: what every version of a batch has in common.
pub(super) struct Stamp {
    pub(super) actor: Actor,
    pub(super) now: Timestamp,
    pub(super) cause: Cause,
}

impl State {
    pub(super) fn commit(&mut self, pass: &WritePass, batch: &Batch) -> Result<Receipt> {
        let shelf = self.shelf_mut(pass.store())?;
        let mut outcomes = Vec::new();
        for (index, stamped) in batch.edits.iter().enumerate() {
            outcomes.push(shelf.apply_edit(pass, batch, index, stamped)?);
        }
        Ok(Receipt::Committed(outcomes))
    }

    /// Removes a memory whose time is over.
    pub(super) fn expire(
        &mut self,
        pass: &WritePass,
        memory: MemoryId,
        version: VersionId,
    ) -> Result<Receipt> {
        let shelf = self.shelf_mut(pass.store())?;
        let due = shelf
            .live()
            .find(|live| live.id == memory && is_expired(live, pass.now()))
            .ok_or(StorageError::NotFound("memory"))?;
        let stamp = Stamp {
            actor: Actor::System,
            now: pass.now(),
            cause: Cause::new(None, reason::EXPIRED),
        };
        shelf.remove(memory, version, stamp);
        let removed = outcome(due, Some(Operation::Deleted));
        Ok(Receipt::Committed(vec![removed]))
    }
}

impl Shelf {
    fn apply_edit(
        &mut self,
        pass: &WritePass,
        batch: &Batch,
        index: usize,
        stamped: &StampedEdit,
    ) -> Result<Outcome> {
        let edit = &stamped.edit;
        let refused = |refusal| StorageError::Refused { index, refusal };
        if self.store.archived_at.is_some() && edit.op != EditOp::Remove {
            return Err(StorageError::Archived);
        }
        let current = self.find_for_edit(pass, &edit.at)?;
        if current.is_none() && matches!(edit.at, At::Id(_)) {
            return Err(refused(Refusal::NotFound));
        }
        let create_at = match &edit.at {
            At::Path(_, path) => Some(path),
            At::Id(_) | At::First(_) => None,
        };
        let decision =
            decide(edit, current.as_ref(), create_at, &self.store.policy, pass.remover());
        let stamp = Stamp { actor: pass.actor(), now: pass.now(), cause: batch.cause.clone() };
        match (decision, current) {
            (Ok(Decision::Unchanged), Some(memory)) => Ok(outcome(memory, None)),
            (Ok(Decision::Remove), Some(memory)) => {
                self.remove(memory.id, stamped.version, stamp);
                Ok(outcome(memory, Some(Operation::Deleted)))
            }
            (Ok(Decision::Modify(next)), Some(memory)) => {
                if next.path != memory.path {
                    let (partition, itself) = (memory.partition, Some(memory.id));
                    self.check_free(partition, &next.path, itself, pass.audience(), pass.now())?;
                }
                let written = self.write_version(memory.id, stamped.version, next, stamp);
                Ok(outcome(written, Some(Operation::Modified)))
            }
            (Ok(Decision::Create(next)), None) => {
                let partition = match &edit.at {
                    At::Path(partition, _) => *partition,
                    At::First(filter) => filter.partition.flatten(),
                    At::Id(_) => None,
                };
                self.check_free(partition, &next.path, None, pass.audience(), pass.now())?;
                if let Some(known) = self.repeated(pass, partition, &next) {
                    if self.store.policy.repeats == Repeats::Merge {
                        return Ok(outcome(known, None));
                    }
                    return Err(StorageError::Repeat { memory: known.id, path: known.path });
                }
                let limit = self.store.policy.memories_max;
                if self.live().count() as u64 >= limit {
                    return Err(StorageError::StoreFull { limit });
                }
                let kept = Kept {
                    partition,
                    owner: pass.principal(),
                    versions: Vec::new(),
                    erase_at: None,
                };
                self.memories.insert(stamped.new_memory, kept);
                let written = self.write_version(stamped.new_memory, stamped.version, next, stamp);
                Ok(outcome(written, Some(Operation::Created)))
            }
            (Err(Refusal::Present), Some(memory)) => {
                Err(StorageError::PathTaken { memory: Some(memory.id), path: memory.path })
            }
            (Err(refusal), _) => Err(refused(refusal)),
            (Ok(decision), current) => unreachable!(
                "decided {decision:?} where a memory is {}",
                if current.is_some() { "present" } else { "absent" }
            ),
        }
    }

    /// The memory an edit means. One whose time is over is to be expired before anything is decided
    /// about it.
    fn find_for_edit(&self, pass: &WritePass, at: &At) -> Result<Option<Memory>> {
        let named = match at {
            At::Id(id) => self.memories.get(id).and_then(Kept::live),
            At::Path(partition, path) => {
                self.live().find(|memory| memory.partition == *partition && memory.path == *path)
            }
            At::First(_) => None,
        };
        refuse_expired(named.as_ref(), pass.now())?;
        Ok(self.find(at, pass.audience(), pass.now()))
    }

    /// Makes sure that a path is free, together with everything above and below it.
    pub(super) fn check_free(
        &self,
        partition: Option<PrincipalId>,
        path: &MemoryPath,
        but: Option<MemoryId>,
        audience: Audience,
        now: Timestamp,
    ) -> Result<()> {
        let rank = |memory: &Memory| {
            // The exact path first, then ancestors from the root, then descendants in order.
            let is_below = memory.path.as_str().len() > path.as_str().len();
            (memory.path != *path, is_below, memory.path.clone())
        };
        let blocker = self
            .live()
            .filter(|memory| memory.partition == partition && Some(memory.id) != but)
            .filter(|memory| overlap(&memory.path, path))
            .min_by_key(rank);
        refuse_expired(blocker.as_ref(), now)?;
        blocker.map_or(Ok(()), |blocker| {
            // What the writer may not see is in the way without a name.
            Err(match is_shown_to(audience, blocker.attributes.visibility) {
                true => StorageError::PathTaken { memory: Some(blocker.id), path: blocker.path },
                false => StorageError::PathTaken { memory: None, path: path.clone() },
            })
        })
    }

    /// The oldest memory the writer sees that a new one would only repeat, where the store minds.
    fn repeated(
        &self,
        pass: &WritePass,
        partition: Option<PrincipalId>,
        next: &NextState,
    ) -> Option<Memory> {
        if self.store.policy.repeats == Repeats::Allow {
            return None;
        }
        let content = next.content.as_whole().filter(|content| !content.is_sealed())?;
        let digest = content.digest();
        self.texts(pass.audience(), pass.now())
            .filter(|memory| memory.partition == partition && memory.digest == digest)
            .min_by_key(|memory| memory.created_at)
    }

    /// Appends a `created` or `modified` version and gives back the memory without content.
    fn write_version(
        &mut self,
        memory: MemoryId,
        id: VersionId,
        next: NextState,
        stamp: Stamp,
    ) -> Memory {
        let kept = &self.memories[&memory];
        let last = kept.versions.last();
        let operation = match last {
            None => Operation::Created,
            Some(_) => Operation::Modified,
        };
        let old = last.and_then(|version| version.content.clone());
        let content = match (next.content, old) {
            (NextContent::Whole(content), _) | (NextContent::Kept, Some(content)) => content,
            (NextContent::Extended(tail), Some(Content::Text(text))) => Content::Text(text + &tail),
            (next, _) => unreachable!("{next:?} of what a memory does not have"),
        };
        let version = Version {
            id,
            memory,
            store: self.store.id,
            revision: kept.versions.len() as u64 + 1,
            seq: self.feed.len() as u64 + 1,
            operation,
            path: Some(next.path),
            attributes: Some(next.attributes),
            digest: Some(content.digest()),
            size_bytes: Some(content.bytes().len() as u64),
            content: Some(content),
            actor: stamp.actor,
            created_at: self.next_at(stamp.now),
            cause: stamp.cause,
            redaction: None,
        };
        self.push_version(version);
        let written = self.memories[&memory].live().expect("just written");
        memory_in(View::Basic, written)
    }

    /// Appends a `deleted` version.
    pub(super) fn remove(&mut self, memory: MemoryId, id: VersionId, stamp: Stamp) {
        let kept = &self.memories[&memory];
        let last = kept.last();
        let version = Version {
            id,
            memory,
            store: self.store.id,
            revision: last.revision + 1,
            seq: self.feed.len() as u64 + 1,
            operation: Operation::Deleted,
            path: last.path.clone(),
            attributes: last.attributes.clone(),
            content: None,
            digest: None,
            size_bytes: None,
            actor: stamp.actor,
            created_at: self.next_at(stamp.now),
            cause: Cause { derived_from: Vec::new(), ..stamp.cause },
            redaction: None,
        };
        self.push_version(version);
    }

    /// Appends a version to its memory and to the feed.
    pub(super) fn push_version(&mut self, version: Version) {
        let (op, actor, at) = (version.operation.into(), version.actor, version.created_at);
        self.push_change(&version, op, actor, at, &version.cause.reason.clone());
        let erase_at = match (version.operation, self.store.policy.on_remove) {
            (Operation::Deleted, OnRemove::EraseAfter { secs }) => Some(at.plus_secs(secs.into())),
            _ => None,
        };
        let kept =
            self.memories.get_mut(&version.memory).expect("the memory is made before its version");
        kept.erase_at = erase_at;
        kept.versions.push(version);
    }
}

fn refuse_expired(memory: Option<&Memory>, now: Timestamp) -> Result<()> {
    match memory {
        Some(memory) if is_expired(memory, now) => Err(StorageError::Expired { memory: memory.id }),
        _ => Ok(()),
    }
}

fn outcome(memory: Memory, operation: Option<Operation>) -> Outcome {
    Outcome { memory: memory_in(View::Basic, memory), operation }
}

/// Whether two paths are the same or one lies above the other.
pub(super) fn overlap(one: &MemoryPath, other: &MemoryPath) -> bool {
    one == other
        || one.ancestors().any(|above| above == other.as_str())
        || other.ancestors().any(|above| above == one.as_str())
}
