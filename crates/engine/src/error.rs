//! What can go wrong, in words every door can translate. Messages are safe to show: they name the
//! field and the limit, never content, never other people's paths.

use loci_model::decide::Refusal;
use loci_model::policy::Denied;
use loci_model::{Invalid, MemoryId, MemoryPath, VersionId};
use loci_storage::StorageError;

/// Why a grant is refused that its giver cannot give.
pub const EXCEEDS_GIVER: &str =
    "a grant cannot exceed the giver's own access, nor leave somebody with less than they have";
/// Why something is refused to a principal whose memory is off.
pub const SWITCHED_OFF: &str = "memory is switched off for this agent";
/// Why something is refused to those who did not write a memory.
pub const NOT_THE_WRITER: &str = "only its owner may remove or move this memory";

/// An engine failure. [`crate::codes`] gives each its stable code and HTTP status.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// A value breaks a rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// It is not there, or the caller may not know that it is.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// The caller may not do this.
    #[error("{0}")]
    Denied(&'static str),
    /// No credential, or not one of ours, or no longer.
    #[error("{0}")]
    Unauthenticated(&'static str),
    /// A path is taken, or lies above or below one that is.
    #[error("path is taken by another memory, or lies above or below one")]
    PathTaken {
        /// By which memory, unless the caller may not see it.
        memory: Option<MemoryId>,
        /// At which path; the one asked for when the memory may not be seen.
        path: MemoryPath,
    },
    /// The store refuses a new memory with content it has already.
    #[error("content is in the memory store already")]
    Repeat {
        /// In which memory.
        memory: MemoryId,
        /// At which path.
        path: MemoryPath,
    },
    /// The precondition does not hold.
    #[error("precondition failed: the memory has changed")]
    ExpectFailed,
    /// The store is archived.
    #[error("memory store is archived")]
    Archived,
    /// The content is sealed and cannot be edited in place.
    #[error("content is sealed and can only be replaced whole")]
    Sealed,
    /// The text to replace is not there, or is there more than once.
    #[error("text to replace occurs {count} times")]
    TextMatches {
        /// How often it is there.
        count: usize,
    },
    /// The content is too large.
    #[error("content is {bytes} bytes, limit {limit}")]
    TooLarge {
        /// How large.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
    /// A count limit is reached.
    #[error("{0}")]
    OverQuota(String),
    /// Asked too often.
    #[error("{why}")]
    TooMany {
        /// Of what.
        why: &'static str,
        /// After how many seconds it can be asked again.
        after_secs: u32,
    },
    /// The version is the head of a live memory and cannot be redacted.
    #[error("version is the current version of a live memory; write or delete the memory first")]
    IsHead,
    /// A name that must be unique is taken.
    #[error("{0} is taken")]
    Taken(&'static str),
    /// The idempotency key was used for another request.
    #[error("idempotency key was used for another request")]
    KeyReused,
    /// This server reads a replica; writes are for one on the primary.
    #[error("this server reads from a replica; write to the primary")]
    Replica,
    /// The disk is full: nothing was written; reading, erasing and taking access away still work.
    #[error("disk is full; nothing was written")]
    Full,
    /// Cannot do it now; asking again may work.
    #[error("{0}")]
    Unavailable(&'static str),
    /// What was asked for is there, but its content is not what was written.
    #[error(
        "content of {version} is damaged on disk and cannot be read; write, redact or erase it"
    )]
    Damaged {
        /// Of which version.
        version: VersionId,
    },
    /// Our fault. The text is for the log, not for the caller.
    #[error("internal error")]
    Internal(String),
}

impl From<Denied> for Error {
    fn from(denied: Denied) -> Self {
        if denied.is_off {
            Self::Denied(SWITCHED_OFF)
        } else if denied.may_know {
            Self::Denied("this key does not allow that")
        } else {
            Self::NotFound("memory store")
        }
    }
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::NotFound(what) => Self::NotFound(what),
            StorageError::Refused { refusal, .. } => refusal.into(),
            StorageError::PathTaken { memory, path } => Self::PathTaken { memory, path },
            StorageError::Repeat { memory, path } => Self::Repeat { memory, path },
            StorageError::Expired { .. } => Self::NotFound("memory"),
            StorageError::Archived => Self::Archived,
            StorageError::StoreFull { limit } => {
                Self::OverQuota(format!("memory store holds {limit} memories, its limit"))
            }
            StorageError::IsHead => Self::IsHead,
            StorageError::Taken(what) => Self::Taken(what),
            StorageError::ExceedsGiver => Self::Denied(EXCEEDS_GIVER),
            StorageError::TooMany(what) => Self::OverQuota(format!("too many {what}")),
            StorageError::Invalid(invalid) => Self::Invalid(invalid),
            StorageError::KeyReused => Self::KeyReused,
            StorageError::ScrubPending => Self::Unavailable(
                "the content is hidden but not scrubbed from every file yet; ask again",
            ),
            StorageError::Busy => Self::Unavailable("too many writes are waiting; try again"),
            StorageError::Unreachable(why) => {
                tracing::warn!(why, "the database does not answer");
                Self::Unavailable("the database does not answer; try again")
            }
            StorageError::Replica => Self::Replica,
            StorageError::Full => Self::Full,
            StorageError::Stopped(why) => {
                tracing::error!(why, "writes are stopped");
                Self::Unavailable("writes have stopped after a disk failure")
            }
            StorageError::Corrupt(why) | StorageError::Io(why) => Self::Internal(why),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound => Self::NotFound("memory"),
            Refusal::Present => Self::Internal("storage left an occupied path unnamed".into()),
            Refusal::ExpectFailed => Self::ExpectFailed,
            Refusal::Sealed => Self::Sealed,
            Refusal::TextNotFound => Self::TextMatches { count: 0 },
            Refusal::TextAmbiguous { count } => Self::TextMatches { count },
            Refusal::TooLarge { bytes, limit } => Self::TooLarge { bytes, limit },
            Refusal::NotOwner => Self::Denied(NOT_THE_WRITER),
            Refusal::Invalid(invalid) => Self::Invalid(invalid),
        }
    }
}
