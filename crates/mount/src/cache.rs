//! Contents of versions, kept while there is room: the ones used longest ago go first. What is in
//! here is clean, so that dropping it costs only time.

use foldhash::HashMap;
use loci_model::VersionId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The contents.
#[derive(Debug)]
pub(crate) struct Cache {
    held: HashMap<VersionId, (Arc<Vec<u8>>, u64)>,
    by_use: BTreeMap<u64, VersionId>,
    uses: u64,
    bytes: usize,
    bytes_max: usize,
}

impl Cache {
    /// Room for so many bytes.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { held: HashMap::default(), by_use: BTreeMap::new(), uses: 0, bytes: 0, bytes_max }
    }

    /// The content of a version.
    pub(crate) fn get(&mut self, version: VersionId) -> Option<Arc<Vec<u8>>> {
        let (bytes, used) = self.held.get_mut(&version)?;
        self.by_use.remove(used);
        self.uses += 1;
        *used = self.uses;
        self.by_use.insert(self.uses, version);
        Some(Arc::clone(bytes))
    }

    /// Keeps a content, if there is room for one of its size at all.
    pub(crate) fn put(&mut self, version: VersionId, bytes: Arc<Vec<u8>>) {
        self.drop_one(version);
        if cost(&bytes) > self.bytes_max {
            return;
        }
        self.uses += 1;
        self.bytes += cost(&bytes);
        self.by_use.insert(self.uses, version);
        self.held.insert(version, (bytes, self.uses));
        while self.bytes > self.bytes_max
            && let Some((_, oldest)) = self.by_use.first_key_value()
        {
            self.drop_one(*oldest);
        }
    }

    /// Forgets all contents.
    pub(crate) fn clear(&mut self) {
        self.held.clear();
        self.by_use.clear();
        self.bytes = 0;
    }

    fn drop_one(&mut self, version: VersionId) {
        if let Some((bytes, used)) = self.held.remove(&version) {
            self.by_use.remove(&used);
            self.bytes -= cost(&bytes);
        }
    }
}

/// What a content takes, bookkeeping included.
fn cost(bytes: &[u8]) -> usize {
    bytes.len() + 200
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let mut cache = Cache::new(3 * 300);
        let version = VersionId::from_u128;
        for n in 1..=3 {
            cache.put(version(n), Arc::new(vec![0; 100]));
        }
        assert!(cache.get(version(1)).is_some());
        cache.put(version(4), Arc::new(vec![0; 100]));
        assert!(cache.get(version(2)).is_none());
        assert!([1, 3, 4].iter().all(|n| cache.get(version(*n)).is_some()));
        cache.put(version(5), Arc::new(vec![0; 1000]));
        assert!(cache.get(version(5)).is_none() && cache.get(version(4)).is_some());
        cache.put(version(4), Arc::new(vec![1; 10]));
        assert_eq!(cache.bytes, 300 + 300 + 210);
        cache.clear();
        assert!(cache.bytes == 0 && cache.get(version(4)).is_none());
    }
}
