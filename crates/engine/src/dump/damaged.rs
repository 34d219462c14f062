//! What an export says of versions whose contents are damaged: a stand-in in the history, which any
//! import takes, and a line at the end, which names it.

use loci_model::version::Redaction;
use loci_model::{Actor, Operation, Version};
use serde::{Deserialize, Serialize};

/// A version whose content is damaged, so that its line has none.
#[derive(Serialize, Deserialize)]
pub(super) struct DamagedLine {
    store: String,
    memory: String,
    version: String,
    revision: u64,
    path: Option<String>,
    /// Whether it is what the memory was; then the memory is exported as removed.
    is_head: bool,
}

impl DamagedLine {
    pub(super) fn new(damaged: &Version, is_head: bool) -> Self {
        Self {
            store: damaged.store.to_string(),
            memory: damaged.memory.to_string(),
            version: damaged.id.to_string(),
            revision: damaged.revision,
            path: damaged.path.as_ref().map(|path| path.to_string()),
            is_head,
        }
    }
}

/// What stands for a version whose content is damaged, so that an import takes the history without
/// knowing of damage: the same id, revision and number in the feed, redacted by the system. A head
/// cannot be redacted, so it is a removal, unless it is the first version: that can be no removal,
/// and what a memory was never more than is no head.
pub(crate) fn without_content(damaged: &Version, is_head: bool) -> Version {
    let bare = Version { content: None, digest: None, size_bytes: None, ..damaged.clone() };
    let redaction = Redaction { at: damaged.created_at, by: Actor::System };
    match is_head && damaged.revision > 1 {
        false => Version { path: None, attributes: None, redaction: Some(redaction), ..bare },
        true => Version { operation: Operation::Deleted, ..bare },
    }
}
