//! A store's feed as a timeline: what stood at any moment of it. A moment is a number of the feed,
//! and means right after that entry; 0 is the empty store.

use std::collections::HashMap;
use std::ops::RangeInclusive;

/// One entry of the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub seq: u64,
    pub memory: String,
    pub version: String,
    pub revision: u64,
    pub operation: Operation,
    pub path: String,
    /// Of the content; a removal has none.
    pub digest: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Created,
    Modified,
    Deleted,
}

/// The feed, and where to find what in it.
pub(crate) struct Timeline<'a> {
    feed: &'a [Entry],
    by_memory: HashMap<&'a str, Vec<u64>>,
    by_path: HashMap<&'a str, Vec<u64>>,
    by_digest: HashMap<&'a str, Vec<u64>>,
}

impl<'a> Timeline<'a> {
    /// A timeline, and what is wrong with the feed by itself.
    pub(crate) fn of(feed: &'a [Entry]) -> (Self, Vec<String>) {
        let mut faults = Vec::new();
        let mut timeline = Self {
            feed,
            by_memory: HashMap::new(),
            by_path: HashMap::new(),
            by_digest: HashMap::new(),
        };
        for (seq, entry) in (1..).zip(feed) {
            if entry.seq != seq {
                faults.push(format!("{seq} in the feed is {entry:?}"));
            }
            let last = timeline.live(&entry.memory, seq - 1);
            let is_first = !timeline.by_memory.contains_key(entry.memory.as_str());
            let follows = match entry.operation {
                Operation::Created => is_first && entry.revision == 1,
                Operation::Modified | Operation::Deleted => {
                    last.is_some_and(|last| last.revision + 1 == entry.revision)
                }
            };
            if !follows {
                faults.push(format!("{entry:?} cannot follow {last:?}"));
            }
            timeline.by_memory.entry(&entry.memory).or_default().push(seq);
            if entry.operation != Operation::Modified {
                timeline.by_path.entry(&entry.path).or_default().push(seq);
            }
            if let Some(digest) = &entry.digest {
                timeline.by_digest.entry(digest).or_default().push(seq);
            }
        }
        (timeline, faults)
    }

    /// The last number.
    pub(crate) fn len(&self) -> u64 {
        self.feed.len() as u64
    }

    pub(crate) fn entry(&self, seq: u64) -> &'a Entry {
        let index = usize::try_from(seq - 1).expect("the feed is in memory");
        &self.feed[index]
    }

    /// The newest version of a memory at a moment, unless it is not there then.
    pub(crate) fn live(&self, memory: &str, at: u64) -> Option<&'a Entry> {
        let last = last_until(self.by_memory.get(memory)?, at)?;
        Some(self.entry(last)).filter(|entry| entry.operation != Operation::Deleted)
    }

    /// The memory at a path at a moment.
    pub(crate) fn holder(&self, path: &str, at: u64) -> Option<&'a String> {
        let last = self.entry(last_until(self.by_path.get(path)?, at)?);
        (last.operation == Operation::Created).then_some(&last.memory)
    }

    /// Entries with this content that the claim holds for.
    pub(crate) fn written(&self, digest: &str, claim: impl Fn(&Entry) -> bool) -> Vec<u64> {
        let all = self.by_digest.get(digest).map_or(&[][..], Vec::as_slice);
        all.iter().copied().filter(|seq| claim(self.entry(*seq))).collect()
    }

    /// Where a memory was removed.
    pub(crate) fn removal(&self, memory: &str) -> Option<u64> {
        let last = *self.by_memory.get(memory)?.last()?;
        (self.entry(last).operation == Operation::Deleted).then_some(last)
    }

    /// The moments of a span at which a memory changed, and the first of the span.
    pub(crate) fn moments_of_memory(&self, memory: &str, span: RangeInclusive<u64>) -> Vec<u64> {
        moments(self.by_memory.get(memory), span)
    }

    /// The moments of a span at which a path was taken or given up, and the first of the span.
    pub(crate) fn moments_of_path(&self, path: &str, span: RangeInclusive<u64>) -> Vec<u64> {
        moments(self.by_path.get(path), span)
    }
}

fn last_until(numbers: &[u64], at: u64) -> Option<u64> {
    let count = numbers.partition_point(|seq| *seq <= at);
    numbers[..count].last().copied()
}

fn moments(numbers: Option<&Vec<u64>>, span: RangeInclusive<u64>) -> Vec<u64> {
    let inside = numbers.into_iter().flatten().copied().filter(|seq| span.contains(seq));
    let first = (!span.is_empty()).then_some(*span.start());
    first.into_iter().chain(inside).collect()
}
