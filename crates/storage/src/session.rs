//! Changes of a session, and what they make of one: the same for every storage engine.

use crate::{Result, StorageError};
use loci_model::decide::Refusal;
use loci_model::store::{LabelsPatch, patch_labels, validate_labels};
use loci_model::{Session, Timestamp};

/// A change of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChange {
    /// A new title (`Some(None)` clears it) and changed labels.
    Describe {
        /// The title, when it changes.
        title: Option<Option<String>>,
        /// The labels that change.
        metadata: LabelsPatch,
    },
    /// What its door keeps about it, on condition that nobody changed that meanwhile.
    Detail {
        /// The details that the new ones were made from.
        was: String,
        /// The new ones.
        details: String,
    },
    /// Archive it; a second time changes nothing.
    Archive,
}

impl SessionChange {
    /// The session after this change.
    pub fn apply_to(&self, session: &Session, now: Timestamp) -> Result<Session> {
        let mut next = session.clone();
        match self {
            Self::Archive => {
                next.archived_at.get_or_insert(now);
                return Ok(next);
            }
            Self::Describe { title, metadata } => {
                if let Some(title) = title {
                    next.title.clone_from(title);
                }
                patch_labels(&mut next.metadata, metadata);
                validate_labels(&next.metadata)?;
            }
            Self::Detail { was, details } => {
                if session.details != *was {
                    let refusal = Refusal::ExpectFailed;
                    return Err(StorageError::Refused { index: 0, refusal });
                }
                next.details.clone_from(details);
            }
        }
        if next != *session {
            next.updated_at = now;
        }
        Ok(next)
    }
}
