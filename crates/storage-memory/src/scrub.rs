//! Taking content away: redaction of one version, erasure of a memory, purging of a store.

use super::commit::Stamp;
use super::state::{Shelf, State};
use loci_model::policy::ManagePass;
use loci_model::version::Redaction;
use loci_model::{Cause, ChangeOp, MemoryId, Version, VersionId, View};
use loci_storage::reason;
use loci_storage::{Receipt, Result, StorageError};

impl State {
    pub(super) fn redact(&mut self, pass: &ManagePass, id: VersionId) -> Result<Receipt> {
        let shelf = self.shelf_mut(pass.store())?;
        let found = shelf.versions().find(|version| version.id == id);
        let version = found.ok_or(StorageError::NotFound("memory version"))?;
        let kept = &shelf.memories[&version.memory];
        if !kept.is_removed() && kept.last().id == id {
            return Err(StorageError::IsHead);
        }
        let (memory, revision) = (version.memory, version.revision);
        shelf.scrub(pass, memory, revision, reason::REDACTED);
        let scrubbed = shelf.version_mut(memory, revision).clone();
        Ok(Receipt::Redacted(Box::new(scrubbed)))
    }

    pub(super) fn erase(
        &mut self,
        pass: &ManagePass,
        memory: MemoryId,
        version: VersionId,
    ) -> Result<Receipt> {
        let shelf = self.shelf_mut(pass.store())?;
        let found = shelf.memories.get(&memory);
        let kept = found.ok_or(StorageError::NotFound("memory"))?;
        if !kept.is_removed() {
            let stamp = Stamp {
                actor: pass.actor(),
                now: pass.now(),
                cause: Cause::new(None, reason::ERASED),
            };
            shelf.remove(memory, version, stamp);
        }
        let revisions = shelf.memories[&memory].versions.len() as u64;
        let scrubbed = (1..=revisions)
            .filter(|revision| shelf.scrub(pass, memory, *revision, reason::ERASED))
            .count();
        let kept = shelf.memories.get_mut(&memory).expect("found above");
        kept.erase_at = None;
        Ok(Receipt::Erased { memory, versions: scrubbed as u64 })
    }

    pub(super) fn purge_store(&mut self, pass: &ManagePass, limit: usize) -> Result<Receipt> {
        let removed = self.shelves.get_mut(&pass.store());
        let shelf = removed
            .filter(|shelf| shelf.is_removed && shelf.store.workspace == pass.workspace())
            .ok_or(StorageError::NotFound("memory store"))?;
        let doomed: Vec<MemoryId> = shelf.memories.keys().take(limit).copied().collect();
        for memory in doomed {
            let purged = shelf.memories.remove(&memory);
            for version in purged.iter().flat_map(|kept| &kept.versions) {
                shelf.drop_derived(version.id);
            }
        }
        let is_done = shelf.memories.is_empty();
        if is_done {
            self.shelves.remove(&pass.store());
        }
        Ok(Receipt::Purged { is_done })
    }
}

impl Shelf {
    /// Takes everything from a version but the fact that it was; tells whether there was anything
    /// left to take.
    fn scrub(&mut self, pass: &ManagePass, memory: MemoryId, revision: u64, why: &str) -> bool {
        let at = self.next_at(pass.now());
        let version = self.version_mut(memory, revision);
        if version.redaction.is_some() {
            return false;
        }
        empty(version, Redaction { at, by: pass.actor() });
        let scrubbed = super::state::version_in(View::Basic, version);
        self.drop_derived(scrubbed.id);
        self.push_change(&scrubbed, ChangeOp::Redacted, pass.actor(), at, why);
        true
    }

    pub(super) fn version_mut(&mut self, memory: MemoryId, revision: u64) -> &mut Version {
        let kept = self.memories.get_mut(&memory);
        let mut versions = kept.into_iter().flat_map(|kept| &mut kept.versions);
        let found = versions.find(|version| version.revision == revision);
        found.expect("revisions have no gaps")
    }
}

pub(super) fn empty(version: &mut Version, redaction: Redaction) {
    version.path = None;
    version.attributes = None;
    version.content = None;
    version.digest = None;
    version.size_bytes = None;
    version.redaction = Some(redaction);
}
