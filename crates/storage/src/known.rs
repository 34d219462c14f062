//! What nearly every request asks for again: whose key it is, and what policy needs to know about a
//! store. Engines keep it in memory, by pages.
//!
//! An engine turns the page in the transaction of any mutation that is about access
//! ([`is_about_access`]), or before it is answered. An entry counts only on the page it was read on,
//! so a revoked key or grant opens nothing from the moment its revocation is answered. How the
//! number of the open page is known is the engine's own business.

use crate::Mutation;
use loci_model::policy::Facts;
use loci_model::{
    Address, ApiKey, Caller, Principal, PrincipalId, SessionId, StoreId, WorkspaceId,
};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

/// Entries of one kind; when it is full, it starts over.
const ENTRIES_MAX: usize = 10_000;
/// The same for callers' whole reach, which may be thousands of stores each.
const REACHES_MAX: usize = 256;

/// Whose facts about which store.
pub type FactsKey = (WorkspaceId, StoreId, PrincipalId, Option<SessionId>);
/// Whose facts about all stores.
pub type ReachKey = (WorkspaceId, PrincipalId, bool, Option<SessionId>);

/// What is kept.
pub struct Known {
    /// Keys by the hash of their secret.
    pub keys: Shelf<[u8; 32], (ApiKey, Principal)>,
    /// Facts about one store.
    pub facts: Shelf<FactsKey, Facts>,
    /// Stores that are not there, asked about by whom: or a store that somebody may not know of would be
    /// told from one that does not exist by how long the answer takes. Apart from the facts, because
    /// those that are not there are without number.
    pub absent: Shelf<FactsKey, ()>,
    /// Facts about every store of a caller.
    pub reaches: Shelf<ReachKey, Arc<Vec<Facts>>>,
    /// Stores by their address.
    pub addresses: Shelf<(WorkspaceId, Address), StoreId>,
    /// Principals by their name.
    pub names: Shelf<(WorkspaceId, String), Principal>,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            keys: Shelf::new(ENTRIES_MAX),
            facts: Shelf::new(ENTRIES_MAX),
            absent: Shelf::new(ENTRIES_MAX),
            reaches: Shelf::new(REACHES_MAX),
            addresses: Shelf::new(ENTRIES_MAX),
            names: Shelf::new(ENTRIES_MAX),
        }
    }
}

/// Under what the facts about every store of a caller are kept.
pub fn reach_key(caller: &Caller) -> ReachKey {
    (caller.workspace, caller.principal, caller.is_admin, caller.session)
}

/// Whether a mutation can change a key, a principal, or what policy knows about a store.
pub fn is_about_access(mutation: &Mutation) -> bool {
    if let Mutation::Audited(mutation, _) = mutation {
        return is_about_access(mutation);
    }
    !matches!(
        mutation,
        Mutation::Commit(..)
            | Mutation::Expire { .. }
            | Mutation::Redact(..)
            | Mutation::Erase { .. }
            | Mutation::OpenGeneration { .. }
            | Mutation::PutVectors(_)
            | Mutation::DropGeneration { .. }
            | Mutation::ForgetKeys { .. }
            | Mutation::Record(_)
    )
}

/// Entries of one kind, each with the page it was read on.
pub struct Shelf<K, V> {
    entries: RwLock<HashMap<K, (u64, V)>>,
    entries_max: usize,
}

impl<K: Eq + Hash, V: Clone> Shelf<K, V> {
    /// An empty shelf for so many entries.
    pub fn new(entries_max: usize) -> Self {
        Self { entries: RwLock::new(HashMap::new()), entries_max }
    }

    /// The entry, if it was read on this page.
    pub fn held(&self, page: u64, key: &K) -> Option<V> {
        let (read_on, value) = self.last(key)?;
        (read_on == page).then_some(value)
    }

    /// The entry and the page that it was read on, which need not be the open one.
    pub fn last(&self, key: &K) -> Option<(u64, V)> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.get(key).cloned()
    }

    /// Keeps what was loaded when this page was open, or since.
    pub fn keep(&self, page: u64, key: K, value: V) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= self.entries_max {
            entries.clear();
        }
        entries.insert(key, (page, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_counts_on_its_page_only() {
        let shelf = Shelf::<u8, u8>::new(9);
        shelf.keep(3, 1, 10);
        assert_eq!(shelf.held(3, &1), Some(10));
        assert_eq!((shelf.held(2, &1), shelf.held(4, &1), shelf.held(3, &2)), (None, None, None));
        assert_eq!(shelf.last(&1), Some((3, 10)));
        shelf.keep(4, 1, 11);
        assert_eq!(shelf.held(4, &1), Some(11));
    }

    #[test]
    fn a_full_shelf_starts_over() {
        let shelf = Shelf::<u8, u8>::new(2);
        (0..3).for_each(|key| shelf.keep(0, key, key));
        assert_eq!((shelf.held(0, &0), shelf.held(0, &2)), (None, Some(2)));
    }
}
