//! A store: a named container with an owner and a policy.

use crate::{
    Address, Invalid, Patch, PrincipalId, StoreId, Timestamp, WorkspaceId, attributes::check_chars,
    limit,
};
use std::collections::BTreeMap;

/// How entries of a store are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Partitioning {
    /// One path, one memory.
    #[default]
    None,
    /// Each owner has its own paths.
    ByOwner,
}

/// Who may do a thing that not everybody with write access may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Who {
    /// Anybody who may write.
    #[default]
    Writer,
    /// Only the owner (of the memory for removal, of the store for sharing).
    Owner,
}

/// What becomes of the history of a removed memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnRemove {
    /// It stays.
    #[default]
    KeepHistory,
    /// It is erased this many seconds later.
    EraseAfter {
        /// Seconds between removal and erasure.
        secs: u32,
    },
}

/// What becomes of a new memory whose content the store has already, in a live text memory of the
/// same partition that the writer may see. Attributes are not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Repeats {
    /// It is kept like any other.
    #[default]
    Allow,
    /// It is refused, and the refusal names the memory that is there.
    Refuse,
    /// Nothing is written; the writer gets the memory that is there.
    Merge,
}

/// The few switches in which stores of different doors differ. Set when the store is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorePolicy {
    /// How entries are kept apart.
    pub partitioning: Partitioning,
    /// Who may remove a memory.
    pub remove: Who,
    /// Who may share the store.
    pub share: Who,
    /// What becomes of removed memories' history.
    pub on_remove: OnRemove,
    /// Bytes of one content.
    pub content_bytes_max: u64,
    /// Live memories.
    pub memories_max: u64,
    /// What becomes of repeated content; can be changed later.
    pub repeats: Repeats,
    /// How many live memories it should hold: when there are more, it is compacted. `None` is any
    /// number. Can be changed later.
    pub soft_cap: Option<u64>,
}

/// A change of those switches that can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PolicyPatch {
    /// What becomes of repeated content.
    pub repeats: Patch<Repeats>,
    /// How many memories the store should hold.
    pub soft_cap: Patch<Option<u64>>,
}

impl From<Repeats> for PolicyPatch {
    fn from(repeats: Repeats) -> Self {
        Self { repeats: Patch::Set(repeats), ..Self::default() }
    }
}

impl PolicyPatch {
    /// Another number of memories that the store should hold.
    pub fn soft_cap(cap: Option<u64>) -> Self {
        Self { soft_cap: Patch::Set(cap), ..Self::default() }
    }

    /// The switches after this change.
    pub fn apply_to(self, policy: StorePolicy) -> Result<StorePolicy, Invalid> {
        let mut next = policy;
        self.repeats.apply(&mut next.repeats);
        self.soft_cap.apply(&mut next.soft_cap);
        if next.soft_cap.is_some_and(|cap| cap == 0 || cap > next.memories_max) {
            let why = format!("takes 1 to {}, as many as the store may hold", next.memories_max);
            return Err(Invalid::new("soft_cap", why));
        }
        Ok(next)
    }
}

impl Default for StorePolicy {
    fn default() -> Self {
        Self {
            partitioning: Partitioning::None,
            remove: Who::Writer,
            share: Who::Writer,
            on_remove: OnRemove::KeepHistory,
            content_bytes_max: limit::CONTENT_BYTES_DEFAULT as u64,
            memories_max: limit::MEMORIES_PER_STORE_DEFAULT,
            repeats: Repeats::Allow,
            soft_cap: None,
        }
    }
}

/// A store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// The store.
    pub id: StoreId,
    /// The tenant.
    pub workspace: WorkspaceId,
    /// Who owns it.
    pub owner: PrincipalId,
    /// The foreign name that leads to it, if a door gave it one.
    pub address: Option<Address>,
    /// Its name; not unique.
    pub name: String,
    /// Written for the model.
    pub description: String,
    /// The owner's labels.
    pub metadata: BTreeMap<String, String>,
    /// Its switches.
    pub policy: StorePolicy,
    /// Since when.
    pub created_at: Timestamp,
    /// Last change of name, description, metadata or a switch, or the archiving.
    pub updated_at: Timestamp,
    /// When it was archived: no writes since, and no way back.
    pub archived_at: Option<Timestamp>,
}

impl Store {
    /// Checks name, description and labels.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.name.is_empty() {
            return Err(Invalid::new("name", "must not be empty"));
        }
        check_chars("name", &self.name, limit::STORE_NAME_CHARS_MAX)?;
        let chars = self.description.chars().count();
        if chars > limit::DESCRIPTION_CHARS_MAX {
            let max = limit::DESCRIPTION_CHARS_MAX;
            return Err(Invalid::new("description", format!("is {chars} characters, limit {max}")));
        }
        validate_labels(&self.metadata)
    }
}

/// Checks the size of a label map.
pub fn validate_labels(labels: &BTreeMap<String, String>) -> Result<(), Invalid> {
    let refuse = |why: String| Err(Invalid::new("metadata", why));
    if labels.len() > limit::METADATA_PAIRS_MAX {
        return refuse(format!("has {} pairs, limit {}", labels.len(), limit::METADATA_PAIRS_MAX));
    }
    for (key, value) in labels {
        if key.is_empty() || key.chars().count() > limit::METADATA_KEY_CHARS_MAX {
            return refuse(format!("keys take 1 to {} characters", limit::METADATA_KEY_CHARS_MAX));
        }
        if value.chars().count() > limit::METADATA_VALUE_CHARS_MAX {
            return refuse(format!("values take {} characters", limit::METADATA_VALUE_CHARS_MAX));
        }
    }
    Ok(())
}

/// A change of labels: a value upserts, `None` removes, absent keeps.
pub type LabelsPatch = BTreeMap<String, Option<String>>;

/// Applies a change of labels.
pub fn patch_labels(labels: &mut BTreeMap<String, String>, patch: &LabelsPatch) {
    for (key, value) in patch {
        match value {
            Some(value) => labels.insert(key.clone(), value.clone()),
            None => labels.remove(key),
        };
    }
}

/// A change of a store's description of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StorePatch {
    /// A new name.
    pub name: Option<String>,
    /// A new description.
    pub description: Option<String>,
    /// Changed labels.
    pub metadata: LabelsPatch,
}

impl StorePatch {
    /// The store after this patch, checked. `updated_at` is the caller's to set.
    pub fn apply_to(&self, store: &Store) -> Result<Store, Invalid> {
        let mut next = store.clone();
        if let Some(name) = &self.name {
            next.name.clone_from(name);
        }
        if let Some(description) = &self.description {
            next.description.clone_from(description);
        }
        patch_labels(&mut next.metadata, &self.metadata);
        next.validate()?;
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(count: usize) -> BTreeMap<String, String> {
        (0..count).map(|n| (format!("k{n}"), "v".to_owned())).collect()
    }

    #[test]
    fn label_limits() {
        assert!(validate_labels(&labels(16)).is_ok());
        assert!(validate_labels(&labels(17)).is_err());
        for (key, value) in [("", "v"), (&"k".repeat(65), "v"), ("k", &"v".repeat(513))] {
            assert!(validate_labels(&[(key.into(), value.into())].into()).is_err());
        }
    }

    #[test]
    fn label_patches_upsert_and_remove() {
        let mut current = labels(2);
        let patch = [("k0".into(), None), ("new".into(), Some("x".into()))].into();
        patch_labels(&mut current, &patch);
        assert_eq!(current.keys().collect::<Vec<_>>(), ["k1", "new"]);
    }
}
