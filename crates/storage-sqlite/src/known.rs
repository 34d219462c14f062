//! What is kept in memory of keys and of what policy knows, on the page that is open.
//!
//! The directory has one writer, and it turns the page (`Known::turn`) after committing any mutation
//! that is about access and before answering it.

use crate::ends::Ends;
use loci_model::policy::Facts;
use loci_model::{Address, ApiKey, Caller, Principal, StoreId, WorkspaceId};
use loci_storage::Result;
use loci_storage::known::{self, FactsKey, Shelf, reach_key};
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
pub(crate) struct Known {
    page: AtomicU64,
    kept: known::Known,
    /// How far each store has come; it turns no pages and has rules of its own.
    pub(crate) ends: Ends,
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
        get(&self.kept.keys, &self.page, hash, load)
    }

    pub(crate) fn facts(
        &self,
        key: &FactsKey,
        load: impl FnOnce() -> Result<Option<Facts>>,
    ) -> Result<Option<Facts>> {
        let open = self.page.load(Ordering::SeqCst);
        if let Some(facts) = self.kept.facts.held(open, key) {
            return Ok(Some(facts));
        }
        if self.kept.absent.held(open, key).is_some() {
            return Ok(None);
        }
        let found = load()?;
        match &found {
            Some(facts) => self.kept.facts.keep(open, *key, facts.clone()),
            None => self.kept.absent.keep(open, *key, ()),
        }
        Ok(found)
    }

    pub(crate) fn store_at(
        &self,
        workspace: WorkspaceId,
        address: &Address,
        load: impl FnOnce() -> Result<Option<StoreId>>,
    ) -> Result<Option<StoreId>> {
        get(&self.kept.addresses, &self.page, &(workspace, address.clone()), load)
    }

    pub(crate) fn principal_by_name(
        &self,
        workspace: WorkspaceId,
        name: &str,
        load: impl FnOnce() -> Result<Option<Principal>>,
    ) -> Result<Option<Principal>> {
        get(&self.kept.names, &self.page, &(workspace, name.to_owned()), load)
    }

    /// The facts about every store of a caller, or what `load` finds.
    pub(crate) async fn reach(
        &self,
        caller: &Caller,
        load: impl Future<Output = Result<Vec<Facts>>>,
    ) -> Result<Arc<Vec<Facts>>> {
        let (key, reaches) = (reach_key(caller), &self.kept.reaches);
        let open = self.page.load(Ordering::SeqCst);
        if let Some(known) = reaches.held(open, &key) {
            return Ok(known);
        }
        let known = Arc::new(load.await?);
        reaches.keep(open, key, Arc::clone(&known));
        Ok(known)
    }
}

/// The entry, or what `load` finds.
fn get<K: Eq + Hash + Clone, V: Clone>(
    shelf: &Shelf<K, V>,
    page: &AtomicU64,
    key: &K,
    load: impl FnOnce() -> Result<Option<V>>,
) -> Result<Option<V>> {
    // Read before loading: what is loaded while a page is being turned belongs to the old one.
    let open = page.load(Ordering::SeqCst);
    if let Some(value) = shelf.held(open, key) {
        return Ok(Some(value));
    }
    let Some(value) = load()? else { return Ok(None) };
    shelf.keep(open, key.clone(), value.clone());
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf() -> Shelf<u8, u8> {
        Shelf::new(9)
    }

    #[test]
    fn an_entry_counts_until_the_page_is_turned() {
        let (page, shelf) = (AtomicU64::new(0), shelf());
        assert_eq!(get(&shelf, &page, &1, || Ok(Some(10))).unwrap(), Some(10));
        assert_eq!(get(&shelf, &page, &1, || Ok(Some(11))).unwrap(), Some(10));
        page.fetch_add(1, Ordering::SeqCst);
        assert_eq!(get(&shelf, &page, &1, || Ok(Some(12))).unwrap(), Some(12));
    }

    #[test]
    fn what_was_loaded_while_the_page_turned_does_not_count() {
        let (page, shelf) = (AtomicU64::new(0), shelf());
        let turning = || {
            page.fetch_add(1, Ordering::SeqCst);
            Ok(Some(10))
        };
        get(&shelf, &page, &1, turning).unwrap();
        assert_eq!(get(&shelf, &page, &1, || Ok(Some(11))).unwrap(), Some(11));
    }

    #[test]
    fn a_store_that_is_not_there_is_known_until_the_page_is_turned() {
        let known = Known::default();
        let id = StoreId::from_u128(1);
        let key = (WorkspaceId::from_u128(1), id, loci_model::PrincipalId::from_u128(1), None);
        let mut loads = 0;
        let mut ask = |known: &Known| {
            let load = || {
                loads += 1;
                Ok(None)
            };
            assert!(known.facts(&key, load).unwrap().is_none());
            loads
        };
        assert_eq!((ask(&known), ask(&known)), (1, 1));
        known.turn();
        assert_eq!(ask(&known), 2);
    }

    #[test]
    fn nothing_is_not_kept() {
        let (page, shelf) = (AtomicU64::new(0), shelf());
        assert_eq!(get(&shelf, &page, &1, || Ok(None)).unwrap(), None);
        assert_eq!(get(&shelf, &page, &1, || Ok(Some(1))).unwrap(), Some(1));
    }
}
