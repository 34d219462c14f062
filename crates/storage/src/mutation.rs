//! Everything that can change a store, as one closed set. Each mutation is applied whole or not at
//! all, and carries the ids and times it needs, so that applying it takes no clock and no dice.

use crate::indexing::{GenerationId, VectorBatch};
use crate::log::ImportItem;
use crate::reading::ReadingBatch;
use crate::session::SessionChange;
use loci_model::policy::{AdminPass, ConvenePass, ManagePass, SharePass, WritePass};
use loci_model::store::PolicyPatch;
use loci_model::{
    ApiKey, Cause, Edit, Grant, GrantId, Happening, KeyId, Membership, MemoryId, MemorySwitches,
    Principal, PrincipalId, PrincipalKind, Session, SessionId, Store, StorePatch, Timestamp,
    VersionId, WorkspaceId,
};

/// The reasons that storage engines write into the feed themselves.
pub mod reason {
    /// A memory's time was over.
    pub const EXPIRED: &str = "expired";
    /// A version was redacted.
    pub const REDACTED: &str = "redacted";
    /// A memory was erased: its removal, and the scrubbing of each version.
    pub const ERASED: &str = "erased";
}

/// One edit with the ids it will use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StampedEdit {
    /// What to do.
    pub edit: Edit,
    /// The id of the memory, should the edit create one.
    pub new_memory: MemoryId,
    /// The id of the version, should the edit write one.
    pub version: VersionId,
}

/// An atomic list of edits to one store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The edits, applied in order, each seeing the ones before it.
    pub edits: Vec<StampedEdit>,
    /// Why.
    pub cause: Cause,
}

/// Makes a retried request have one effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// The tenant.
    pub workspace: WorkspaceId,
    /// Whose key it is: the bits of the credential's id. Keys of different credentials do not meet,
    /// so two agents that both count their requests from one stay apart.
    pub scope: u128,
    /// The caller's key.
    pub key: String,
    /// A digest of the request; the same key with another request is refused.
    pub fingerprint: [u8; 32],
    /// The moment of the request.
    pub now: Timestamp,
}

/// One change of state.
#[derive(Debug, Clone)]
pub enum Mutation {
    /// Makes the workspace of a new data directory.
    CreateWorkspace(WorkspaceId, Timestamp),
    /// Makes a principal; its name must be free in the workspace.
    CreatePrincipal(Principal),
    /// Says what a principal is that is there only because somebody shared with it: an agent that
    /// never had a key, owns no store, is in no group and gave nothing. Any other is `Taken`.
    Recast(AdminPass, PrincipalId, PrincipalKind, bool),
    /// Says which memory a principal may use.
    SwitchMemory(AdminPass, PrincipalId, MemorySwitches),
    /// Puts somebody who is not a group into a group; who is in it already stays.
    AddMember(ConvenePass, Membership),
    /// Takes somebody out of a group, and takes back the grants that they could give only because
    /// they were in it, with those that stood on them. So go grants between a user and somebody who
    /// are in no group together any more.
    RemoveMember {
        /// Who may.
        pass: ConvenePass,
        /// The group.
        group: PrincipalId,
        /// Who leaves.
        member: PrincipalId,
    },
    /// Makes a key; its hash must be new.
    CreateKey(ApiKey),
    /// Revokes a key; a second time changes nothing.
    RevokeKey(AdminPass, KeyId),
    /// Makes a store. Where a store is at its address already, that one is the receipt.
    CreateStore(Store),
    /// Changes name, description or labels.
    DescribeStore(ManagePass, StorePatch),
    /// Changes those switches of a store that can be changed.
    SetPolicy(ManagePass, PolicyPatch),
    /// Archives; a second time changes nothing.
    ArchiveStore(ManagePass),
    /// Hides a store and everything in it at once; purging it follows.
    RemoveStore(ManagePass),
    /// Deletes up to `limit` memories of a removed store, and at last the store.
    PurgeStore {
        /// The store.
        pass: ManagePass,
        /// How many memories at most.
        limit: usize,
    },
    /// Applies a batch of edits.
    Commit(WritePass, Batch),
    /// Removes a memory whose time is over, as of the pass's moment, like `EditOp::Remove` by
    /// `Actor::System` with the reason `expired`; a memory that is not due is `NotFound`. A commit
    /// never does this by itself: when the live memory it would meet (at its `at` or in the way of
    /// its path) is expired but not yet removed, it answers `StorageError::Expired`, and the engine
    /// expires it first and commits again.
    Expire {
        /// The store.
        pass: WritePass,
        /// The memory.
        memory: MemoryId,
        /// The id of the `deleted` version.
        version: VersionId,
    },
    /// Scrubs one version that is not the head of a live memory; a second time changes nothing.
    Redact(ManagePass, VersionId),
    /// Removes a memory, if it is live, and scrubs all its versions.
    Erase {
        /// The store.
        pass: ManagePass,
        /// The memory.
        memory: MemoryId,
        /// The id of the `deleted` version, should one be written.
        version: VersionId,
    },
    /// Shares a store; a grant to the same grantee is replaced and keeps its id.
    Share(SharePass, Grant),
    /// Takes back a grant and the grants its grantee gave on.
    Revoke(SharePass, GrantId),
    /// Makes a session.
    CreateSession(Session),
    /// Changes a session.
    ChangeSession {
        /// The tenant.
        workspace: WorkspaceId,
        /// The session.
        session: SessionId,
        /// The change.
        change: SessionChange,
        /// The moment.
        now: Timestamp,
    },
    /// Removes a session; its keys open nothing any more.
    RemoveSession(WorkspaceId, SessionId),
    /// Adds exported data as it was, ids and times included.
    Import(AdminPass, Vec<ImportItem>),
    /// Begins a generation of vectors; unless `is_fresh`, the newest one is taken when it is by the
    /// same model with as many numbers. A generation's number is never given again.
    OpenGeneration {
        /// The name of the model.
        model: String,
        /// Numbers in a vector.
        dims: u32,
        /// Whether a new one is wanted in any case.
        is_fresh: bool,
        /// The moment.
        now: Timestamp,
    },
    /// Adds vectors and moves the mark up to which they reach, never back and never beyond the
    /// feed. A batch for a store or generation that is gone does nothing. When a version was to get
    /// the vectors of another that has lost them in the meantime, the mark stays where it is, and
    /// the version is embeddable once more.
    PutVectors(VectorBatch),
    /// Deletes the vectors of up to `limit` versions in a generation, and at last the generation;
    /// one that is gone is done.
    DropGeneration {
        /// Which.
        generation: GenerationId,
        /// How many rows at most.
        limit: usize,
    },
    /// Adds what a reader found, in the place of what it found in the same memories before, moves
    /// the mark up to which it has read, never back and never beyond the feed, and adds up what it
    /// cost. A batch for a store that is gone does nothing.
    PutReadings(ReadingBatch),
    /// Forgets what a reader found in up to `limit` memories of a workspace. How far it has read
    /// stays, so that nothing is read a second time for it.
    ForgetReadings {
        /// Who may.
        pass: AdminPass,
        /// Which reader.
        reader: String,
        /// How many rows at most.
        limit: usize,
    },
    /// Forgets idempotency keys from before a moment.
    ForgetKeys {
        /// Older ones go.
        before: Timestamp,
    },
    /// Writes something into the audit log.
    Record(Happening),
    /// A mutation, and in the same moment its line in the audit log. The receipt is the mutation's.
    Audited(Box<Self>, Happening),
}
