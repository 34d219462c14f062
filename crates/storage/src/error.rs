//! Why a storage call failed. These never reach a caller raw: the engine turns each into its own
//! error, which decides what may be said.

use loci_model::decide::Refusal;
use loci_model::{MemoryId, MemoryPath};

/// A storage failure.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The store, memory, version, grant, key or session is not there.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// An edit of the batch was refused; nothing of the batch was applied.
    #[error("edit {index} refused: {refusal:?}")]
    Refused {
        /// Which edit.
        index: usize,
        /// Why.
        refusal: Refusal,
    },
    /// A path is taken, or lies above or below one that is.
    #[error("path taken")]
    PathTaken {
        /// By which memory, unless the writer may not see it.
        memory: Option<MemoryId>,
        /// At which path; the one asked for when the memory may not be seen.
        path: MemoryPath,
    },
    /// The store refuses a new memory with content it has already.
    #[error("content is in the store already")]
    Repeat {
        /// In which memory.
        memory: MemoryId,
        /// At which path.
        path: MemoryPath,
    },
    /// A memory that has expired but is not removed yet is named by the edit or in its way: expire
    /// it (`Mutation::Expire`), then try again.
    #[error("an expired memory is in the way")]
    Expired {
        /// Which.
        memory: MemoryId,
    },
    /// The store is archived.
    #[error("store is archived")]
    Archived,
    /// The store holds as many memories as it may.
    #[error("store holds {limit} memories, its limit")]
    StoreFull {
        /// How many it may hold.
        limit: u64,
    },
    /// The version is the head of a live memory.
    #[error("version is the head of a live memory")]
    IsHead,
    /// A name that must be unique is taken.
    #[error("{0} taken")]
    Taken(&'static str),
    /// A grant asks for more than the giver has.
    #[error("grant exceeds the giver's own access")]
    ExceedsGiver,
    /// There are too many of something.
    #[error("too many {0}")]
    TooMany(&'static str),
    /// A value breaks a rule.
    #[error(transparent)]
    Invalid(#[from] loci_model::Invalid),
    /// The idempotency key was used for another request.
    #[error("idempotency key was used for another request")]
    KeyReused,
    /// The change is durable, but a reader still holds old pages: the content is not gone yet. Ask
    /// again.
    #[error("content is not scrubbed from every file yet")]
    ScrubPending,
    /// Too busy; try again.
    #[error("busy")]
    Busy,
    /// The database cannot be reached, takes no writes or does not answer in time. Whether a write
    /// happened may be unknown.
    #[error("database unreachable: {0}")]
    Unreachable(String),
    /// This engine reads a replica: writes and what they depend on are for the primary.
    #[error("a replica takes no writes")]
    Replica,
    /// The disk is full.
    #[error("disk full")]
    Full,
    /// Writes have stopped until a restart, because the disk failed under us.
    #[error("writes stopped: {0}")]
    Stopped(String),
    /// What was read is not what was written.
    #[error("corrupt: {0}")]
    Corrupt(String),
    /// Any other failure of the disk or database.
    #[error("storage: {0}")]
    Io(String),
}
