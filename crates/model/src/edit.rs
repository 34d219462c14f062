//! What a caller wants changed. A batch of edits is atomic: all of them or none.
//!
//! The doors differ in what they call these; the edit is the same. Creating where something is,
//! overwriting, piling up and refusing are one `Put` with different `at` and `expect`.

use crate::query::Filter;
use crate::{
    AttributesPatch, Content, Digest, Invalid, MemoryId, MemoryPath, PrincipalId, VersionId, limit,
};

/// Which memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// By id.
    Id(MemoryId),
    /// By path, in a partition or in none.
    Path(Option<PrincipalId>, MemoryPath),
    /// The oldest one that matches.
    First(Filter),
}

/// What must hold for the edit to happen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Expect {
    /// Nothing.
    #[default]
    Anything,
    /// Nothing may be there.
    Absent,
    /// Something must be there.
    Present,
    /// The content must have this digest.
    Digest(Digest),
    /// The memory must be at this revision.
    Revision(u64),
}

/// What to do when an edit would change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnSame {
    /// Nothing: no version, no change.
    #[default]
    Skip,
    /// Write a version all the same.
    Record,
}

/// Which occurrence a replacement means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Occurrence {
    /// The first one.
    First,
    /// The only one; refused when there are more.
    Only,
}

/// What an append puts between the old text and the new. An empty text needs nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Separator {
    /// This, whatever the old text ends with.
    Always(String),
    /// This, unless the old text ends with it: a line break then starts a line of its own.
    IfMissing(String),
}

impl Default for Separator {
    /// Nothing.
    fn default() -> Self {
        Self::Always(String::new())
    }
}

/// The change itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditOp {
    /// Writes content, path and attributes; what is not given stays. Creates the memory when `at`
    /// is a path where nothing is, or a selector that matches nothing (then `to` says where).
    Put {
        /// New content.
        content: Option<Content>,
        /// New path.
        to: Option<MemoryPath>,
        /// Changed attributes.
        attributes: AttributesPatch,
    },
    /// Adds text at the end; creates the memory where nothing is.
    Append {
        /// What to add.
        text: String,
        /// What to put between the old text and the new.
        separator: Separator,
        /// Where to create it when `at` finds nothing.
        to: Option<MemoryPath>,
        /// Attributes for a memory that is created; an existing one keeps its own.
        attributes: AttributesPatch,
    },
    /// Replaces one occurrence of a text.
    Replace {
        /// What to look for.
        old: String,
        /// What to put there.
        new: String,
        /// Which occurrence.
        which: Occurrence,
    },
    /// Hides the memory; its history stays.
    Remove,
}

/// One intended change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Which memory.
    pub at: At,
    /// Under which condition.
    pub expect: Expect,
    /// What to do when nothing would change.
    pub on_same: OnSame,
    /// What to do.
    pub op: EditOp,
}

impl Edit {
    /// Writes text at a path, whatever is there.
    pub fn put_text(path: MemoryPath, text: impl Into<String>) -> Self {
        Self {
            at: At::Path(None, path),
            expect: Expect::Anything,
            on_same: OnSame::Skip,
            op: EditOp::Put {
                content: Some(Content::Text(text.into())),
                to: None,
                attributes: AttributesPatch::default(),
            },
        }
    }

    /// Removes a memory.
    pub fn remove(at: At, expect: Expect) -> Self {
        Self { at, expect, on_same: OnSame::Skip, op: EditOp::Remove }
    }
}

/// Why a version was written: the request, the door's word for it, and what it was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The request, when there was one.
    pub request: Option<String>,
    /// `api`, `expired`, `compacted` … ; shown in the feed.
    pub reason: String,
    /// The versions a derived memory was made from.
    pub derived_from: Vec<VersionId>,
}

impl Cause {
    /// A cause without sources.
    pub fn new(request: Option<String>, reason: &str) -> Self {
        Self { request, reason: reason.to_owned(), derived_from: Vec::new() }
    }

    /// The cause of a removal in the same batch: what was made from something is what was written.
    pub fn of_removal(&self) -> Self {
        Self::new(self.request.clone(), &self.reason)
    }

    /// Checks the limits.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.derived_from.len() > limit::DERIVED_FROM_MAX {
            let why = format!("names {} versions", self.derived_from.len());
            return Err(Invalid::new("derived_from", why));
        }
        Ok(())
    }
}
