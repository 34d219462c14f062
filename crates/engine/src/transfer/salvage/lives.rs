//! What is left of the memories of a store: which of them have a history without gaps that leads to
//! what they are now.

use loci_model::{MemoryId, Operation, Version, VersionId};
use loci_storage::log::LogEntry;
use std::collections::HashMap;

/// What the history of a store has of its memories, and what they are now.
#[derive(Default)]
pub(super) struct Lives {
    seen: HashMap<MemoryId, Life>,
    pub(super) heads: HashMap<MemoryId, VersionId>,
    /// Whether all heads are known.
    pub(super) knows_heads: bool,
}

/// What a history has of one memory.
struct Life {
    revision: u64,
    has_gaps: bool,
    last: VersionId,
    /// Whether the last version is a removal, which nothing follows.
    is_over: bool,
    /// Whether the last version leaves nothing that could be live.
    is_bare: bool,
}

impl Lives {
    pub(super) fn add(&mut self, entry: &LogEntry) {
        let version = match entry {
            LogEntry::Version { version, .. } | LogEntry::Damaged { version, .. } => version,
            LogEntry::Redaction { .. } => return,
        };
        let life = self.seen.entry(version.memory).or_insert(Life {
            revision: 0,
            has_gaps: false,
            last: version.id,
            is_over: false,
            is_bare: false,
        });
        life.has_gaps |= version.revision != life.revision + 1;
        life.has_gaps |= (version.operation == Operation::Created) != (version.revision == 1);
        life.has_gaps |= life.is_over;
        life.revision = version.revision;
        life.last = version.id;
        life.is_over = version.operation == Operation::Deleted;
        life.is_bare = life.is_over || version.redaction.is_some();
    }

    /// Whether all of a memory's history is there.
    pub(super) fn is_whole(&self, memory: MemoryId) -> bool {
        let Some(life) = self.seen.get(&memory) else { return false };
        !life.has_gaps
            && match self.heads.get(&memory) {
                Some(head) => *head == life.last,
                None => !self.knows_heads || life.is_bare,
            }
    }

    pub(super) fn is_head(&self, version: &Version) -> bool {
        match self.knows_heads {
            true => self.heads.get(&version.memory) == Some(&version.id),
            false => self.seen.get(&version.memory).is_some_and(|life| life.last == version.id),
        }
    }
}
