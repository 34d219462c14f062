//! What nearly every request asks for again: whose key it is, and what policy needs to know about
//! a store. Kept in memory while nothing that could change it has been written.
//!
//! The directory has one writer, and it turns the page (`Known::turn`) after committing any
//! mutation of keys, principals, stores, grants or sessions and before answering it. An entry
//! counts only while the page it was read on is still open, so a revoked key or grant opens nothing
//! from the moment its revocation is answered.

use loci_model::policy::Facts;
use loci_model::{ApiKey, Principal, PrincipalId, SessionId, StoreId};
use loci_storage::{Mutation, Result};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// Entries of one kind; when it is full, it starts over.
const ENTRIES_MAX: usize = 10_000;

type FactsKey = (StoreId, PrincipalId, Option<SessionId>);

#[derive(Default)]
pub(crate) struct Known {
    page: AtomicU64,
    keys: Shelf<[u8; 32], (ApiKey, Principal)>,
    facts: Shelf<FactsKey, Facts>,
}

impl Known {
    /// Makes everything read so far count no more.
    pub(crate) fn turn(&self) {
        self.page.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn key(
        &self,
        hash: &[u8; 32],
        load: impl FnOnce() -> Result<Option<(ApiKey, Principal)>>,
    ) -> Result<Option<(ApiKey, Principal)>> {
        self.keys.get(&self.page, hash, load)
    }

    pub(crate) fn facts(
        &self,
        key: &FactsKey,
        load: impl FnOnce() -> Result<Option<Facts>>,
    ) -> Result<Option<Facts>> {
        self.facts.get(&self.page, key, load)
    }
}

/// Whether a mutation can change a key, a principal, or what policy knows about a store.
pub(crate) fn is_about_access(mutation: &Mutation) -> bool {
    !matches!(
        mutation,
        Mutation::Commit(..)
            | Mutation::Expire { .. }
            | Mutation::Redact(..)
            | Mutation::Erase { .. }
            | Mutation::ForgetKeys { .. }
    )
}

struct Shelf<K, V>(RwLock<HashMap<K, (u64, V)>>);

impl<K, V> Default for Shelf<K, V> {
    fn default() -> Self {
        Self(RwLock::new(HashMap::new()))
    }
}

impl<K: Eq + Hash + Clone, V: Clone> Shelf<K, V> {
    /// The entry, or what `load` finds. What is not there is not kept: the absent are without
    /// number.
    fn get(
        &self,
        page: &AtomicU64,
        key: &K,
        load: impl FnOnce() -> Result<Option<V>>,
    ) -> Result<Option<V>> {
        // Read before loading: what is loaded while a page is being turned belongs to the old one.
        let open = page.load(Ordering::SeqCst);
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((read_on, value)) = held.get(key)
            && *read_on == open
        {
            return Ok(Some(value.clone()));
        }
        drop(held);
        let Some(value) = load()? else { return Ok(None) };
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= ENTRIES_MAX {
            held.clear();
        }
        held.insert(key.clone(), (open, value.clone()));
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_counts_until_the_page_is_turned() {
        let (page, shelf) = (AtomicU64::new(0), Shelf::<u8, u8>::default());
        assert_eq!(shelf.get(&page, &1, || Ok(Some(10))).unwrap(), Some(10));
        assert_eq!(shelf.get(&page, &1, || Ok(Some(11))).unwrap(), Some(10));
        page.fetch_add(1, Ordering::SeqCst);
        assert_eq!(shelf.get(&page, &1, || Ok(Some(12))).unwrap(), Some(12));
    }

    #[test]
    fn what_was_loaded_while_the_page_turned_does_not_count() {
        let (page, shelf) = (AtomicU64::new(0), Shelf::<u8, u8>::default());
        let turning = || {
            page.fetch_add(1, Ordering::SeqCst);
            Ok(Some(10))
        };
        shelf.get(&page, &1, turning).unwrap();
        assert_eq!(shelf.get(&page, &1, || Ok(Some(11))).unwrap(), Some(11));
    }

    #[test]
    fn nothing_is_not_kept() {
        let (page, shelf) = (AtomicU64::new(0), Shelf::<u8, u8>::default());
        assert_eq!(shelf.get(&page, &1, || Ok(None)).unwrap(), None);
        assert_eq!(shelf.get(&page, &1, || Ok(Some(1))).unwrap(), Some(1));
    }
}
