//! What the writer has to know of a mutation before it applies it: whether its answer waits for a
//! scrub, whether it may use the room kept for a full disk, and how much it weighs in a group.

use loci_model::{Content, EditOp, MemorySwitches, StoreId, WorkspaceId};
use loci_storage::log::{ImportItem, LogEntry};
use loci_storage::{Mutation, SessionChange, VectorSource};

/// Whether the caller was promised that old bytes are gone.
pub(crate) fn is_scrub(mutation: &Mutation) -> bool {
    match mutation {
        Mutation::Redact(..) | Mutation::Erase { .. } | Mutation::PurgeStore { .. } => true,
        Mutation::Audited(mutation, _) => is_scrub(mutation),
        _ => false,
    }
}

/// The store that the mutation purges, or a part of it.
pub(crate) fn purged(mutation: &Mutation) -> Option<(WorkspaceId, StoreId)> {
    match mutation {
        Mutation::PurgeStore { pass, .. } => Some((pass.workspace(), pass.store())),
        Mutation::Audited(mutation, _) => purged(mutation),
        _ => None,
    }
}

/// Whether the mutation gets the room of the ballast when the disk is full: it makes room, or it takes
/// access away, which nobody may prevent by filling the disk.
pub(crate) fn may_use_ballast(mutation: &Mutation) -> bool {
    match mutation {
        Mutation::Audited(mutation, _) => may_use_ballast(mutation),
        other => makes_room(other) || takes_access(other),
    }
}

fn makes_room(mutation: &Mutation) -> bool {
    match mutation {
        Mutation::Commit(_, batch) => {
            batch.edits.iter().all(|stamped| stamped.edit.op == EditOp::Remove)
        }
        Mutation::RemoveStore(_)
        | Mutation::Expire { .. }
        | Mutation::RemoveSession(..)
        | Mutation::DropGeneration { .. }
        | Mutation::ForgetReadings { .. }
        | Mutation::ForgetKeys { .. } => true,
        other => is_scrub(other),
    }
}

fn takes_access(mutation: &Mutation) -> bool {
    match mutation {
        Mutation::RevokeKey(..) | Mutation::Revoke(..) | Mutation::RemoveMember { .. } => true,
        Mutation::SwitchMemory(.., memory) => *memory != MemorySwitches::default(),
        Mutation::ChangeSession { change, .. } => *change == SessionChange::Archive,
        _ => false,
    }
}

pub(crate) fn size_of(mutation: &Mutation) -> usize {
    const ROW: usize = 512;
    match mutation {
        Mutation::Audited(mutation, _) => ROW + size_of(mutation),
        Mutation::Commit(_, batch) => batch
            .edits
            .iter()
            .map(|stamped| match &stamped.edit.op {
                EditOp::Put { content, .. } => {
                    ROW + content.as_ref().map_or(0, |content| content.bytes().len())
                }
                EditOp::Append { text, .. } => ROW + text.len(),
                EditOp::Replace { .. } | EditOp::Remove => ROW,
            })
            .sum(),
        Mutation::Import(_, items) => items
            .iter()
            .map(|item| match item {
                ImportItem::Entry(_, LogEntry::Version { version, .. }) => {
                    let content = version.content.as_ref();
                    ROW + content.map_or(0, |content: &Content| content.bytes().len())
                }
                _ => ROW,
            })
            .sum(),
        Mutation::PutVectors(batch) => batch
            .vectors
            .iter()
            .map(|(_, source)| match source {
                VectorSource::Made(bytes) => ROW + bytes.len(),
                VectorSource::SameAs(_) => ROW,
            })
            .sum(),
        Mutation::PutReadings(batch) => {
            batch.readings.iter().map(|reading| ROW + reading.claims.len()).sum()
        }
        _ => ROW,
    }
}
