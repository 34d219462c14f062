//! Stores that were purged while a scrub is unfinished. Their rows are gone, and their bytes may still
//! be in the log or in a copy: a repeated removal of one of them must not be answered as if they were
//! not.

use loci_model::{StoreId, WorkspaceId};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Beyond this many, every store counts as one of them.
const STORES_MAX: usize = 100_000;

/// The stores; the writer adds them before their purge is committed and clears them after each scrub.
pub(crate) struct Unscrubbed(Mutex<Stores>);

#[derive(Default)]
struct Stores {
    known: HashSet<(WorkspaceId, StoreId)>,
    /// There may be others.
    are_more: bool,
}

impl Unscrubbed {
    /// None yet; or, where an earlier process left a scrub unfinished, unknown ones.
    pub(crate) fn new(owes_scrub: bool) -> Self {
        Self(Mutex::new(Stores { are_more: owes_scrub, ..Stores::default() }))
    }

    pub(crate) fn add(&self, stores: impl Iterator<Item = (WorkspaceId, StoreId)>) {
        let mut stores = stores.peekable();
        if stores.peek().is_none() {
            return;
        }
        let mut all = self.lock();
        for store in stores {
            if all.known.len() < STORES_MAX {
                all.known.insert(store);
            } else {
                all.are_more = true;
            }
        }
    }

    pub(crate) fn clear(&self) {
        *self.lock() = Stores::default();
    }

    /// Whether a store may be one of them.
    pub(crate) fn may_have(&self, workspace: WorkspaceId, store: StoreId) -> bool {
        let all = self.lock();
        all.are_more || all.known.contains(&(workspace, store))
    }

    fn lock(&self) -> MutexGuard<'_, Stores> {
        // Every change is one step, so a panic elsewhere left nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_known_until_the_next_scrub() {
        let one = |n| (WorkspaceId::from_u128(1), StoreId::from_u128(n));
        let stores = Unscrubbed::new(false);
        stores.add([one(1)].into_iter());
        assert!(stores.may_have(one(1).0, one(1).1));
        assert!(!stores.may_have(WorkspaceId::from_u128(2), one(1).1), "another workspace's");
        stores.add((0..=STORES_MAX as u128).map(one));
        assert!(stores.may_have(one(u128::MAX).0, one(u128::MAX).1), "it may be one of too many");
        stores.clear();
        assert!(!stores.may_have(one(1).0, one(1).1));
        assert!(Unscrubbed::new(true).may_have(one(1).0, one(1).1), "of an earlier process");
    }
}
