//! Who speaks. A label in front of a text (`Name (date): …`) is taken for an author once it stands
//! in front of several memories; then a query that names the author prefers what the author said.

use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Nobody.
pub(crate) const NOBODY: u32 = u32::MAX;
/// Memories a label must stand in front of to be an author.
const MEMORIES_MIN: u32 = 3;

#[derive(Debug, Default)]
pub(crate) struct Authors {
    ids: HashMap<Box<str>, u32, RandomState>,
    names: Vec<Box<str>>,
    memories: Vec<u32>,
}

impl Authors {
    /// One more memory by an author.
    pub(crate) fn add(&mut self, name: &str) -> u32 {
        let name = name.to_lowercase();
        let id = match self.ids.get(name.as_str()) {
            Some(id) => *id,
            None => {
                let id = u32::try_from(self.names.len()).expect("no more authors than memories");
                self.ids.insert(name.as_str().into(), id);
                self.names.push(name.into());
                self.memories.push(0);
                id
            }
        };
        self.memories[id as usize] += 1;
        id
    }

    pub(crate) fn remove(&mut self, id: u32) {
        if id != NOBODY {
            self.memories[id as usize] -= 1;
        }
    }

    pub(crate) fn id(&self, name: &str) -> u32 {
        self.ids.get(name).copied().unwrap_or(NOBODY)
    }

    /// How many memories an author has here.
    pub(crate) fn memories(&self, name: &str) -> u32 {
        self.ids.get(name).map_or(0, |id| self.memories[*id as usize])
    }

    /// Names that a query consisting of these folded words may mean.
    pub(crate) fn named<'a>(&'a self, words: &'a [String]) -> impl Iterator<Item = &'a str> {
        // A name has one or two words.
        let pairs = words.windows(2).map(|pair| pair.join(" "));
        let candidates = words.iter().cloned().chain(pairs);
        candidates
            .filter_map(|name| self.ids.get(name.as_str()).map(|id| &*self.names[*id as usize]))
    }

    /// Whether a label on so many memories is an author.
    pub(crate) fn is_author(memories: u32) -> bool {
        memories >= MEMORIES_MIN
    }
}
