//! What nearly every request asks for again: whose key it is, and what policy needs to know about
//! a store. Kept in memory while nothing that could change it has been written.
//!
//! The directory has one writer, and it turns the page (`Known::turn`) after committing any
//! mutation of keys, principals, stores, grants or sessions and before answering it. An entry
//! counts only while the page it was read on is still open, so a revoked key or grant opens nothing
//! from the moment its revocation is answered.

use crate::ends::Ends;
use loci_model::policy::Facts;
use loci_model::{ApiKey, Caller, Principal, PrincipalId, SessionId, StoreId, WorkspaceId};
use loci_storage::{Mutation, Result};
use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Entries of one kind; when it is full, it starts over.
const ENTRIES_MAX: usize = 10_000;
/// The same for callers' whole reach, which may be thousands of stores each.
const REACHES_MAX: usize = 256;

type FactsKey = (WorkspaceId, StoreId, PrincipalId, Option<SessionId>);
type ReachKey = (WorkspaceId, PrincipalId, bool, Option<SessionId>);

pub(crate) struct Known {
    page: AtomicU64,
    keys: Shelf<[u8; 32], (ApiKey, Principal)>,
    facts: Shelf<FactsKey, Facts>,
    reaches: Shelf<ReachKey, Arc<Vec<Facts>>>,
    /// How far each store has come; it turns no pages and has rules of its own.
    pub(crate) ends: Ends,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            page: AtomicU64::new(0),
            keys: Shelf::new(ENTRIES_MAX),
            facts: Shelf::new(ENTRIES_MAX),
            reaches: Shelf::new(REACHES_MAX),
            ends: Ends::default(),
        }
    }
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

    /// The facts about every store of a caller, or what `load` finds.
    pub(crate) async fn reach(
        &self,
        caller: &Caller,
        load: impl Future<Output = Result<Vec<Facts>>>,
    ) -> Result<Arc<Vec<Facts>>> {
        let key = (caller.workspace, caller.principal, caller.is_admin, caller.session);
        let open = self.page.load(Ordering::SeqCst);
        if let Some(known) = self.reaches.held(open, &key) {
            return Ok(known);
        }
        let known = Arc::new(load.await?);
        self.reaches.keep(open, key, Arc::clone(&known));
        Ok(known)
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
            | Mutation::OpenGeneration { .. }
            | Mutation::PutVectors(_)
            | Mutation::DropGeneration { .. }
            | Mutation::ForgetKeys { .. }
    )
}

struct Shelf<K, V> {
    entries: RwLock<HashMap<K, (u64, V)>>,
    entries_max: usize,
}

impl<K: Eq + Hash + Clone, V: Clone> Shelf<K, V> {
    fn new(entries_max: usize) -> Self {
        Self { entries: RwLock::new(HashMap::new()), entries_max }
    }

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
        if let Some(value) = self.held(open, key) {
            return Ok(Some(value));
        }
        let Some(value) = load()? else { return Ok(None) };
        self.keep(open, key.clone(), value.clone());
        Ok(Some(value))
    }

    /// The entry, if it was read on the page that is open.
    fn held(&self, open: u64, key: &K) -> Option<V> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let (read_on, value) = entries.get(key)?;
        (*read_on == open).then(|| value.clone())
    }

    /// Keeps what was loaded since `open` was the open page.
    fn keep(&self, open: u64, key: K, value: V) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= self.entries_max {
            entries.clear();
        }
        entries.insert(key, (open, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_counts_until_the_page_is_turned() {
        let (page, shelf) = (AtomicU64::new(0), Shelf::<u8, u8>::new(9));
        assert_eq!(shelf.get(&page, &1, || Ok(Some(10))).unwrap(), Some(10));
        assert_eq!(shelf.get(&page, &1, || Ok(Some(11))).unwrap(), Some(10));
        page.fetch_add(1, Ordering::SeqCst);
        assert_eq!(shelf.get(&page, &1, || Ok(Some(12))).unwrap(), Some(12));
    }

    #[test]
    fn what_was_loaded_while_the_page_turned_does_not_count() {
        let (page, shelf) = (AtomicU64::new(0), Shelf::<u8, u8>::new(9));
        let turning = || {
            page.fetch_add(1, Ordering::SeqCst);
            Ok(Some(10))
        };
        shelf.get(&page, &1, turning).unwrap();
        assert_eq!(shelf.get(&page, &1, || Ok(Some(11))).unwrap(), Some(11));
    }

    #[test]
    fn nothing_is_not_kept() {
        let (page, shelf) = (AtomicU64::new(0), Shelf::<u8, u8>::new(9));
        assert_eq!(shelf.get(&page, &1, || Ok(None)).unwrap(), None);
        assert_eq!(shelf.get(&page, &1, || Ok(Some(1))).unwrap(), Some(1));
    }
}
