//! Which words are where. Lists only grow at their end: units are numbered as they come, so a list
//! is sorted by itself, and a unit that is gone is skipped until the index is made compact.

use crate::text::query::Prefix;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// The places of one term, ascending, and how often it is there.
#[derive(Debug, Default)]
pub(crate) struct Places {
    at: Vec<u32>,
    count: Vec<u8>,
}

impl Places {
    pub(crate) fn len(&self) -> usize {
        self.at.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.at.iter().copied().zip(self.count.iter().map(|count| u32::from(*count)))
    }

    /// Whether the term is anywhere in a range of places.
    pub(crate) fn meets(&self, places: std::ops::Range<u32>) -> bool {
        let first = self.at.partition_point(|at| *at < places.start);
        self.at.get(first).is_some_and(|at| *at < places.end)
    }
}

/// All terms of an index.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    terms: HashMap<Box<str>, u32, RandomState>,
    lists: Vec<Places>,
    entries: usize,
    text_bytes: usize,
}

impl Postings {
    /// Notes a term at a place, which is the newest place or a later one.
    pub(crate) fn add(&mut self, term: &str, at: u32) {
        let list = match self.terms.get(term) {
            Some(list) => *list,
            None => {
                let list = u32::try_from(self.lists.len()).expect("fewer terms than bytes of text");
                self.terms.insert(term.into(), list);
                self.text_bytes += term.len();
                self.lists.push(Places::default());
                list
            }
        };
        let list = &mut self.lists[list as usize];
        if list.at.last() == Some(&at) {
            let count = list.count.last_mut().expect("as long as the places");
            *count = count.saturating_add(1);
        } else {
            list.at.push(at);
            list.count.push(1);
            self.entries += 1;
        }
    }

    pub(crate) fn get(&self, term: &str) -> Option<&Places> {
        self.terms.get(term).map(|list| &self.lists[*list as usize])
    }

    #[cfg(test)]
    pub(crate) fn terms(&self) -> impl Iterator<Item = &str> {
        self.terms.keys().map(|term| &**term)
    }

    /// Terms that a prefix means, the commonest first, at most `max`. What is gone neither counts
    /// nor is found: a word must not be felt longer than what held it.
    pub(crate) fn matching(
        &self,
        prefix: &Prefix,
        max: usize,
        is_live: impl Fn(u32) -> bool,
    ) -> Vec<&str> {
        let live = |list: u32| self.lists[list as usize].at.iter().filter(|at| is_live(**at));
        let mut found: Vec<(&str, usize)> = self
            .terms
            .iter()
            .filter(|(term, _)| prefix.matches(term))
            .map(|(term, list)| (&**term, live(*list).count()))
            .filter(|(_, count)| *count > 0)
            .collect();
        found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        found.truncate(max);
        found.into_iter().map(|(term, _)| term).collect()
    }

    /// Renumbers places, dropping those that are gone. `new_place` must keep their order.
    pub(crate) fn renumber(&mut self, new_place: impl Fn(u32) -> Option<u32>) {
        let old = std::mem::take(self);
        for (term, list) in old.terms {
            let list = &old.lists[list as usize];
            let mut kept = Places::default();
            for (at, count) in list.at.iter().zip(&list.count) {
                if let Some(at) = new_place(*at) {
                    kept.at.push(at);
                    kept.count.push(*count);
                }
            }
            if !kept.at.is_empty() {
                self.entries += kept.len();
                self.text_bytes += term.len();
                let list = u32::try_from(self.lists.len()).expect("no more than before");
                self.terms.insert(term, list);
                self.lists.push(kept);
            }
        }
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        // A term costs its table entry, its list's two vectors and its text; vectors have slack.
        self.terms.len() * 96 + self.text_bytes + self.entries * 6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_terms_are_counted_and_places_renumbered() {
        let mut postings = Postings::default();
        for (term, at) in [("a", 0), ("a", 0), ("b", 0), ("a", 2), ("b", 3)] {
            postings.add(term, at);
        }
        assert_eq!(postings.get("a").unwrap().iter().collect::<Vec<_>>(), [(0, 2), (2, 1)]);
        assert!(postings.get("a").unwrap().meets(1..3));
        assert!(!postings.get("a").unwrap().meets(1..2));
        postings.renumber(|at| (at != 0).then(|| at - 2));
        assert_eq!(postings.get("a").unwrap().iter().collect::<Vec<_>>(), [(0, 1)]);
        assert_eq!(postings.get("b").unwrap().iter().collect::<Vec<_>>(), [(1, 1)]);
    }
}
