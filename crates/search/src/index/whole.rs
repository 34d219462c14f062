//! What is known of a whole store by whoever holds only some of its memories: how many there are, and
//! how many hold each word of the query. A word is worth as much as it is rare in the store, not as
//! it is rare among those that were picked because they hold it.

use std::collections::HashMap;

/// The store that an index is a part of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whole {
    /// Memories that can be found.
    pub memories: u64,
    /// How many of them hold a word of the query, by [`LookupWord::key`].
    ///
    /// [`LookupWord::key`]: crate::rank::LookupWord::key
    pub holding: HashMap<String, u64>,
}

impl Whole {
    /// How many times as large as a part of it.
    pub(super) fn times(&self, part: usize) -> f64 {
        if part == 0 { 1.0 } else { (self.memories as f64 / part as f64).max(1.0) }
    }

    pub(super) fn holding(&self, key: &str) -> Option<u64> {
        self.holding.get(key).copied()
    }
}
