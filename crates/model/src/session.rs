//! Sessions, and the stores attached to them. What an attachment shows of its store is a snapshot:
//! a later rename of the store must not move a running agent's directory.

use crate::{PrincipalId, SessionId, StoreId, Timestamp, WorkspaceId};
use std::collections::BTreeMap;

/// How a session may use an attached store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Look only.
    ReadOnly,
    /// Look and write.
    ReadWrite,
}

/// A store given to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The store.
    pub store: StoreId,
    /// How.
    pub access: Access,
    /// Guidance for the model.
    pub instructions: Option<String>,
    /// The store's name when attached.
    pub name: String,
    /// The store's description when attached.
    pub description: String,
    /// Where the session sees it.
    pub mount_path: String,
}

impl Attachment {
    /// The directory name for a store: lower case, every run of other characters one hyphen; a name
    /// without letters or digits falls back to the store's id.
    pub fn slug(name: &str, store: StoreId) -> String {
        let mut slug = String::with_capacity(name.len());
        for c in name.chars() {
            if c.is_ascii_alphanumeric() {
                slug.push(c.to_ascii_lowercase());
            } else if !slug.ends_with('-') {
                slug.push('-');
            }
        }
        if slug.is_empty() || slug == "-" { store.to_string() } else { slug }
    }
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The session.
    pub id: SessionId,
    /// The tenant.
    pub workspace: WorkspaceId,
    /// Who made it.
    pub owner: PrincipalId,
    /// A title for people.
    pub title: Option<String>,
    /// The owner's labels.
    pub metadata: BTreeMap<String, String>,
    /// The agent's id, for filtering.
    pub agent_id: String,
    /// The agent's version, for filtering.
    pub agent_version: u64,
    /// What the door that made it wants back: a JSON object, opaque here.
    pub details: String,
    /// Its stores, in the order given.
    pub attachments: Vec<Attachment>,
    /// Since when.
    pub created_at: Timestamp,
    /// Last change of title or metadata.
    pub updated_at: Timestamp,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs() {
        let store = StoreId::from_u128(1);
        let check = |name, slug: &str| assert_eq!(Attachment::slug(name, store), slug);
        check("Demo Memory", "demo-memory");
        check("a -- b", "a-b");
        check("Notes!", "notes-");
        check("日本", &store.to_string());
        check("", &store.to_string());
    }
}
