//! Who lies next to whom: the memories of one directory, in the order in which people would count
//! their names (`turn_9`, `turn_10`). What was said just before is part of what a short memory
//! means; and where names say nothing about order, neighbours at least share their directory's
//! topic.

use crate::text::natural::natural_cmp;
use foldhash::fast::RandomState;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// No neighbour, no directory.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Directory {
    /// Whose it is and where.
    key: Arc<str>,
    /// The first `sorted` are in order; the rest came since.
    docs: Vec<u32>,
    sorted: usize,
}

/// The directories of a store and the order in them.
#[derive(Debug, Default)]
pub(crate) struct Siblings {
    directories: HashMap<Arc<str>, u32, RandomState>,
    members: Vec<Directory>,
    unsettled: Vec<u32>,
    directory: Vec<u32>,
    previous: Vec<u32>,
    next: Vec<u32>,
}

/// The name of a memory in its directory.
fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

impl Siblings {
    /// Adds the next document; its neighbours are known after [`Self::settle`].
    pub(crate) fn add(&mut self, doc: u32, directory: &str) {
        debug_assert_eq!(doc as usize, self.directory.len());
        let directory = match self.directories.get(directory) {
            Some(known) => *known,
            None => {
                let new = u32::try_from(self.members.len()).expect("no more than documents");
                let key: Arc<str> = directory.into();
                self.directories.insert(Arc::clone(&key), new);
                self.members.push(Directory { key, docs: Vec::new(), sorted: 0 });
                new
            }
        };
        let members = &mut self.members[directory as usize];
        if members.docs.len() == members.sorted {
            self.unsettled.push(directory);
        }
        members.docs.push(doc);
        self.directory.push(directory);
        self.previous.push(NONE);
        self.next.push(NONE);
    }

    /// Puts what came since into order. Tells `changed` about every document whose neighbours, near
    /// or two away, may be others now.
    pub(crate) fn settle<'p>(
        &mut self,
        path: impl Fn(u32) -> &'p str + Copy,
        mut changed: impl FnMut(u32),
    ) {
        for directory in std::mem::take(&mut self.unsettled) {
            let sorted = self.members[directory as usize].sorted;
            let mut docs = std::mem::take(&mut self.members[directory as usize].docs);
            let came = docs.len() - sorted;
            if came * 8 > sorted {
                docs.sort_by(|a, b| order(path(*a), *a, path(*b), *b));
                for at in 0..docs.len() {
                    self.link(&docs, at);
                }
                docs.iter().for_each(|doc| changed(*doc));
            } else {
                for doc in docs.split_off(sorted) {
                    let before = |other: &u32| order(path(*other), *other, path(doc), doc).is_lt();
                    let at = docs.partition_point(before);
                    docs.insert(at, doc);
                    self.relink(&docs, at, &mut changed);
                }
            }
            let members = &mut self.members[directory as usize];
            members.sorted = docs.len();
            members.docs = docs;
        }
    }

    /// Takes a document out. Everything must be settled.
    pub(crate) fn remove<'p>(
        &mut self,
        doc: u32,
        path: impl Fn(u32) -> &'p str + Copy,
        mut changed: impl FnMut(u32),
    ) {
        let directory = self.directory[doc as usize] as usize;
        let mut docs = std::mem::take(&mut self.members[directory].docs);
        let at = docs.partition_point(|other| order(path(*other), *other, path(doc), doc).is_lt());
        debug_assert_eq!(docs.get(at), Some(&doc));
        docs.remove(at);
        self.relink(&docs, at, &mut changed);
        self.members[directory].sorted = docs.len();
        self.members[directory].docs = docs;
        self.previous[doc as usize] = NONE;
        self.next[doc as usize] = NONE;
    }

    /// Renews the links around a place where something came or went.
    fn relink(&mut self, docs: &[u32], at: usize, changed: &mut impl FnMut(u32)) {
        for near in at.saturating_sub(1)..(at + 2).min(docs.len()) {
            self.link(docs, near);
        }
        let around = at.saturating_sub(2)..(at + 3).min(docs.len());
        docs[around].iter().for_each(|doc| changed(*doc));
    }

    fn link(&mut self, docs: &[u32], at: usize) {
        let doc = docs[at] as usize;
        let previous = at.checked_sub(1).and_then(|before| docs.get(before));
        self.previous[doc] = previous.copied().unwrap_or(NONE);
        self.next[doc] = docs.get(at + 1).copied().unwrap_or(NONE);
    }

    pub(crate) fn previous(&self, doc: u32) -> u32 {
        self.previous[doc as usize]
    }

    pub(crate) fn next(&self, doc: u32) -> u32 {
        self.next[doc as usize]
    }

    pub(crate) fn directory(&self, doc: u32) -> u32 {
        self.directory[doc as usize]
    }

    /// Under which key a document's directory was named.
    pub(crate) fn directory_key(&self, doc: u32) -> &str {
        &self.members[self.directory[doc as usize] as usize].key
    }

    pub(crate) fn directory_count(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.directory.len() * 20 + self.directories.len() * 160
    }
}

/// By name as people count, then so that no two are equal.
fn order(a_path: &str, a: u32, b_path: &str, b: u32) -> Ordering {
    natural_cmp(name(a_path), name(b_path)).then_with(|| a_path.cmp(b_path)).then(a.cmp(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn chain(siblings: &Siblings, first: u32) -> Vec<u32> {
        let mut docs = vec![first];
        while siblings.next(docs[docs.len() - 1]) != NONE {
            docs.push(siblings.next(docs[docs.len() - 1]));
        }
        docs
    }

    #[test]
    fn names_follow_each_other_whatever_the_order_of_arrival() {
        let paths = ["/s/turn_10", "/s/turn_2", "/s/turn_1", "/t/turn_3", "/s/intro", "/s/turn_3"];
        let path = |doc: u32| paths[doc as usize];
        let mut siblings = Siblings::default();
        let mut told = BTreeSet::new();
        for (doc, path) in (0..).zip(paths) {
            siblings.add(doc, path.rsplit_once('/').unwrap().0);
        }
        siblings.settle(path, |doc| {
            told.insert(doc);
        });
        assert_eq!(told.len(), paths.len());
        assert_eq!(chain(&siblings, 4), [4, 2, 1, 5, 0]);
        assert_eq!(siblings.previous(1), 2);
        assert_eq!((siblings.previous(3), siblings.next(3)), (NONE, NONE));
        siblings.remove(1, path, |_| {});
        assert_eq!(chain(&siblings, 4), [4, 2, 5, 0]);
    }

    #[test]
    fn a_late_arrival_finds_its_place_and_partitions_stay_apart() {
        let paths: Vec<String> = (0..40).map(|n| format!("/s/{}.md", n * 2)).collect();
        let paths: Vec<String> =
            paths.into_iter().chain(["/s/5.md".into(), "/s/6.md".into()]).collect();
        let path = |doc: u32| paths[doc as usize].as_str();
        let mut siblings = Siblings::default();
        for doc in 0..40 {
            siblings.add(doc, "/s");
        }
        siblings.settle(path, |_| {});
        siblings.add(40, "/s");
        siblings.add(41, "other/s");
        let mut told = Vec::new();
        siblings.settle(path, |doc| told.push(doc));
        assert_eq!((siblings.previous(40), siblings.next(40)), (2, 3));
        assert_eq!((siblings.next(2), siblings.previous(3)), (40, 40));
        assert_eq!((siblings.previous(41), siblings.next(41)), (NONE, NONE));
        assert!(told.contains(&1) && told.contains(&4), "two away count too");
    }
}
