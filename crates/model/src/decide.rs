//! What an edit does to a memory: a pure function that every storage engine calls, so that engines
//! cannot disagree about preconditions, no-ops or limits. Engines add only what needs a look at
//! other rows: whether a path is free and whether a store is full.

use crate::edit::{Occurrence, Separator};
use crate::{
    Attributes, Content, Edit, EditOp, Expect, Invalid, Memory, MemoryPath, OnSame, PrincipalId,
    StorePolicy, store::Who,
};
use std::fmt;

/// What an edit comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing changes and nothing is recorded.
    Unchanged,
    /// A new memory.
    Create(NextState),
    /// A new version of the memory.
    Modify(NextState),
    /// The memory goes.
    Remove,
}

/// A memory as it will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextState {
    /// Where.
    pub path: MemoryPath,
    /// With what.
    pub content: NextContent,
    /// Described how.
    pub attributes: Attributes,
}

/// The content of a memory as it will be.
#[derive(Clone, PartialEq, Eq)]
pub enum NextContent {
    /// As it is.
    Kept,
    /// Another one.
    Whole(Content),
    /// The text that is there with this behind it, so that nobody has to read what is there.
    Extended(String),
}

/// Content never reaches a log through `Debug`.
impl fmt::Debug for NextContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept => f.write_str("Kept"),
            Self::Whole(content) => write!(f, "Whole({content:?})"),
            Self::Extended(tail) => write!(f, "Extended({} bytes)", tail.len()),
        }
    }
}

impl NextContent {
    /// The content of a memory that is new, which brings all of it.
    pub fn whole(self) -> Option<Content> {
        match self {
            Self::Whole(content) => Some(content),
            Self::Kept | Self::Extended(_) => None,
        }
    }

    /// The same to look at.
    pub fn as_whole(&self) -> Option<&Content> {
        match self {
            Self::Whole(content) => Some(content),
            Self::Kept | Self::Extended(_) => None,
        }
    }

    /// Whether a memory has this content already.
    fn is_same(&self, memory: &Memory) -> bool {
        match self {
            Self::Kept => true,
            Self::Whole(content) => {
                content.is_sealed() == memory.is_sealed && content.digest() == memory.digest
            }
            Self::Extended(tail) => tail.is_empty(),
        }
    }
}

/// Why an edit cannot happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing is there.
    NotFound,
    /// Something is there already.
    Present,
    /// The precondition does not hold.
    ExpectFailed,
    /// The content is sealed and cannot be edited in place.
    Sealed,
    /// The text to replace is not there.
    TextNotFound,
    /// The text to replace is there more than once.
    TextAmbiguous {
        /// How often.
        count: usize,
    },
    /// The content would be too large.
    TooLarge {
        /// How large.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
    /// Only the memory's owner may remove it, or move it away from where it is.
    NotOwner,
    /// A value breaks a rule.
    Invalid(Invalid),
}

/// Decides an edit.
///
/// `current` is the memory that `edit.at` names, with content if [`needs_content`] says so; `path`
/// is where to create it otherwise. `remover` is the principal that removal rules look at (`None`:
/// may remove anything).
pub fn decide(
    edit: &Edit,
    current: Option<&Memory>,
    path: Option<&MemoryPath>,
    policy: &StorePolicy,
    remover: Option<PrincipalId>,
) -> Result<Decision, Refusal> {
    match current {
        None => decide_absent(edit, path, policy),
        Some(memory) => decide_present(edit, memory, policy, remover),
    }
}

/// Whether deciding this edit takes the memory's content, not only its digest.
pub fn needs_content(edit: &Edit) -> bool {
    match &edit.op {
        EditOp::Replace { .. } => true,
        EditOp::Append { separator: Separator::IfMissing(separator), .. } => !separator.is_empty(),
        EditOp::Append { .. } | EditOp::Put { .. } | EditOp::Remove => false,
    }
}

fn decide_absent(
    edit: &Edit,
    path: Option<&MemoryPath>,
    policy: &StorePolicy,
) -> Result<Decision, Refusal> {
    match edit.expect {
        Expect::Anything | Expect::Absent => {}
        Expect::Present | Expect::Digest(_) | Expect::Revision(_) => return Err(Refusal::NotFound),
    }
    let (content, to, patch) = match &edit.op {
        EditOp::Put { content, to, attributes } => {
            (content.clone().ok_or(Refusal::NotFound)?, to, attributes)
        }
        EditOp::Append { text, to, attributes, .. } => {
            (Content::Text(text.clone()), to, attributes)
        }
        EditOp::Replace { .. } | EditOp::Remove => return Err(Refusal::NotFound),
    };
    let path = to.as_ref().or(path).ok_or(Refusal::NotFound)?.clone();
    check_size(content.bytes().len() as u64, policy)?;
    let attributes = patch.apply_to(&Attributes::default());
    attributes.validate().map_err(Refusal::Invalid)?;
    Ok(Decision::Create(NextState { path, content: NextContent::Whole(content), attributes }))
}

fn decide_present(
    edit: &Edit,
    memory: &Memory,
    policy: &StorePolicy,
    remover: Option<PrincipalId>,
) -> Result<Decision, Refusal> {
    if edit.expect == Expect::Absent {
        return Err(Refusal::Present);
    }
    let is_owner = remover.is_none_or(|remover| remover == memory.owner);
    let may_remove = policy.remove == Who::Writer || is_owner;
    let expected = || match edit.expect {
        Expect::Digest(digest) => digest == memory.digest,
        Expect::Revision(revision) => revision == memory.revision,
        Expect::Anything | Expect::Present | Expect::Absent => true,
    };
    let next = match &edit.op {
        EditOp::Remove => {
            if !may_remove {
                return Err(Refusal::NotOwner);
            }
            return if expected() { Ok(Decision::Remove) } else { Err(Refusal::ExpectFailed) };
        }
        EditOp::Put { content, to, attributes } => NextState {
            path: to.as_ref().unwrap_or(&memory.path).clone(),
            content: content.clone().map_or(NextContent::Kept, NextContent::Whole),
            attributes: attributes.apply_to(&memory.attributes),
        },
        EditOp::Append { text, separator, .. } => {
            if memory.is_sealed {
                return Err(Refusal::Sealed);
            }
            let between = between(memory, separator)?;
            with_content(memory, NextContent::Extended([between, text.as_str()].concat()))
        }
        EditOp::Replace { old, new, which } => {
            let text = replace(text_of(memory)?, old, new, *which)?;
            with_content(memory, NextContent::Whole(Content::Text(text)))
        }
    };
    // A request that asks for what already is succeeds whatever it expected: a retry after a lost
    // answer must not turn into a conflict.
    let is_same = next.content.is_same(memory)
        && next.path == memory.path
        && next.attributes == memory.attributes;
    if is_same && edit.on_same == OnSame::Skip {
        return Ok(Decision::Unchanged);
    }
    if !expected() {
        return Err(Refusal::ExpectFailed);
    }
    // Whoever may not take a memory away may not carry it off either.
    if next.path != memory.path && !may_remove {
        return Err(Refusal::NotOwner);
    }
    match &next.content {
        NextContent::Kept => {}
        NextContent::Whole(content) => check_size(content.bytes().len() as u64, policy)?,
        NextContent::Extended(tail) => check_size(memory.size_bytes + tail.len() as u64, policy)?,
    }
    next.attributes.validate().map_err(Refusal::Invalid)?;
    Ok(Decision::Modify(next))
}

fn with_content(memory: &Memory, content: NextContent) -> NextState {
    NextState { path: memory.path.clone(), content, attributes: memory.attributes.clone() }
}

/// What an append puts in front of its text.
fn between<'s>(memory: &Memory, separator: &'s Separator) -> Result<&'s str, Refusal> {
    let (separator, is_there) = match separator {
        Separator::Always(separator) => (separator.as_str(), false),
        Separator::IfMissing(separator) if separator.is_empty() => ("", true),
        Separator::IfMissing(separator) => {
            (separator.as_str(), text_of(memory)?.ends_with(separator.as_str()))
        }
    };
    Ok(if is_there || memory.size_bytes == 0 { "" } else { separator })
}

fn text_of(memory: &Memory) -> Result<&str, Refusal> {
    let content = memory.content.as_ref().expect("needs_content asked for it");
    content.text().ok_or(Refusal::Sealed)
}

fn replace(text: &str, old: &str, new: &str, which: Occurrence) -> Result<String, Refusal> {
    let count = if old.is_empty() { 0 } else { text.matches(old).count() };
    match (count, which) {
        (0, _) => Err(Refusal::TextNotFound),
        (1, _) | (_, Occurrence::First) => Ok(text.replacen(old, new, 1)),
        (count, Occurrence::Only) => Err(Refusal::TextAmbiguous { count }),
    }
}

fn check_size(bytes: u64, policy: &StorePolicy) -> Result<(), Refusal> {
    let limit = policy.content_bytes_max.min(crate::limit::CONTENT_BYTES_MAX as u64);
    if bytes > limit { Err(Refusal::TooLarge { bytes, limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
