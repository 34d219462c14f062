//! What a mutation did.

use crate::indexing::Generation;
use loci_model::event::LogEnd;
use loci_model::{
    ApiKey, Grant, GrantId, Membership, MemoryId, Outcome, Principal, PrincipalId, Session,
    SessionId, Store, StoreId, Version, WorkspaceId,
};

/// The result of a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receipt {
    /// The workspace.
    Workspace(WorkspaceId),
    /// The principal as stored.
    Principal(Principal),
    /// The membership as stored.
    Member(Membership),
    /// Somebody is out of a group.
    MemberRemoved {
        /// The group.
        group: PrincipalId,
        /// Who left.
        member: PrincipalId,
        /// The grants that went with it.
        revoked: Vec<GrantId>,
    },
    /// The key as stored.
    Key(ApiKey),
    /// The store as it is now.
    Store(Store),
    /// The store is gone from sight.
    StoreRemoved(StoreId),
    /// Part of a removed store, of a generation of vectors, or of what a reader found, is gone for
    /// good.
    Purged {
        /// Whether nothing is left.
        is_done: bool,
    },
    /// What each edit did.
    Committed(Vec<Outcome>),
    /// The version as it is now.
    Redacted(Box<Version>),
    /// The memory and all it ever held are gone.
    Erased {
        /// The memory.
        memory: MemoryId,
        /// How many versions were scrubbed.
        versions: u64,
    },
    /// The store is shared.
    Grant {
        /// The grant as stored.
        grant: Grant,
        /// The grants that went because their giver was left with less.
        revoked: Vec<GrantId>,
    },
    /// The grants that were taken back.
    Revoked(Vec<GrantId>),
    /// The session as it is now.
    Session(Box<Session>),
    /// The session is gone.
    SessionRemoved(SessionId),
    /// How many items were added.
    Imported(u64),
    /// The generation of vectors.
    Generation(Generation),
    /// How many versions got vectors.
    VectorsPut(u64),
    /// In how many memories something was read.
    ReadingsPut(u64),
    /// Old idempotency keys are forgotten.
    KeysForgotten(u64),
    /// The number of a new event.
    Recorded(u64),
}

impl Receipt {
    /// Whether it is told only when what was taken away is gone from every file.
    pub fn promises_a_scrub(&self) -> bool {
        matches!(
            self,
            Self::Redacted(_) | Self::Erased { .. } | Self::StoreRemoved(_) | Self::Purged { .. }
        )
    }
}

/// A receipt, and whether it is an old one given again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// What was done.
    pub receipt: Receipt,
    /// Whether it was done before, under the same idempotency key.
    pub is_replay: bool,
}

/// What an integrity check looked at and found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Stores looked at.
    pub stores: u64,
    /// Live memories looked at.
    pub memories: u64,
    /// Versions looked at.
    pub versions: u64,
    /// Feed entries looked at.
    pub changes: u64,
    /// Versions with vectors looked at.
    pub vectors: u64,
    /// Readings looked at.
    pub readings: u64,
    /// Where the audit log of each workspace ends.
    pub audit_ends: Vec<(WorkspaceId, LogEnd)>,
    /// What does not fit, for people; no content, no paths.
    pub problems: Vec<String>,
}

impl CheckReport {
    /// Takes note of where the audit log of a workspace ends, and of a problem where that is not the
    /// end that was written down with its last event.
    pub fn audit_log(&mut self, workspace: WorkspaceId, found: LogEnd, written: Option<LogEnd>) {
        self.audit_ends.push((workspace, found));
        let (ends, what) = (
            found.seq,
            match written {
                Some(written) if written == found => return,
                Some(written) if written.seq == found.seq => "with another hash".to_owned(),
                Some(written) => written.seq.to_string(),
                None => "an end that was written down".to_owned(),
            },
        );
        let problem = format!("{workspace}: the audit log ends at {ends}, expected {what}");
        self.problems.push(problem);
    }
}
