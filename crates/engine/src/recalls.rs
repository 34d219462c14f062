//! What searches found, counted in memory since the start of this server: how often each memory was
//! part of an answer, for how many callers, and when. A count for people to look at, which nothing
//! rests on; it is bounded, and begins anew when it is full.

use crate::Engine;
use loci_model::{Actor, MemoryId, StoreId, Timestamp};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memories that are counted.
const MEMORIES_MAX: usize = 200_000;
/// Callers told apart for each memory.
const ACTORS_MAX: usize = 16;
/// Searches are counted for spans of this length, and so many counts are kept.
const SPAN_MICROS: i64 = 60 * 1_000_000;
const SPANS_MAX: usize = 200_000;

/// How often a memory was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecallCount {
    /// How often.
    pub count: u64,
    /// By how many, up to 16.
    pub actors: usize,
    /// When last.
    pub last_at: Timestamp,
    /// Since when it is counted.
    pub since: Timestamp,
}

struct Recalled {
    count: u64,
    actors: HashSet<Actor>,
    last_at: Timestamp,
}

#[derive(Default)]
struct Counts {
    since: Option<Timestamp>,
    memories: HashMap<(StoreId, MemoryId), Recalled>,
    /// Searches that found something in a store, by span.
    spans: BTreeMap<(i64, StoreId), u64>,
}

/// The counts of one server.
#[derive(Default)]
pub(crate) struct Recalls(Mutex<Counts>);

impl Recalls {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what one search found.
    pub(crate) fn note(&self, found: &[(StoreId, MemoryId)], actor: Actor, now: Timestamp) {
        if found.is_empty() {
            return;
        }
        let mut counts = self.lock();
        if counts.memories.len() + found.len() > MEMORIES_MAX {
            counts.memories.clear();
            counts.since = Some(now);
        }
        for place in found {
            let recalled = counts.memories.entry(*place).or_insert_with(|| Recalled {
                count: 0,
                actors: HashSet::new(),
                last_at: now,
            });
            recalled.count += 1;
            recalled.last_at = now;
            if recalled.actors.len() < ACTORS_MAX {
                recalled.actors.insert(actor);
            }
        }
        let span = now.as_micros().div_euclid(SPAN_MICROS);
        let stores: HashSet<StoreId> = found.iter().map(|(store, _)| *store).collect();
        for store in stores {
            *counts.spans.entry((span, store)).or_default() += 1;
        }
        while counts.spans.len() > SPANS_MAX {
            counts.spans.pop_first();
        }
    }
}

impl Engine {
    /// Since when recalls are counted.
    pub fn recalls_since(&self) -> Timestamp {
        let mut counts = self.recalls.lock();
        *counts.since.get_or_insert(self.began)
    }

    /// How often a memory was found; whoever asks has read it.
    pub(crate) fn recalled(&self, store: StoreId, memory: MemoryId) -> Option<RecallCount> {
        let since = self.recalls_since();
        let counts = self.recalls.lock();
        counts.memories.get(&(store, memory)).map(|recalled| RecallCount {
            count: recalled.count,
            actors: recalled.actors.len(),
            last_at: recalled.last_at,
            since,
        })
    }

    /// How often a memory that the caller was just shown has been found.
    pub fn recalls_of(&self, memory: &loci_model::Memory) -> RecallCount {
        let since = self.recalls_since();
        let found = self.recalled(memory.store, memory.id);
        found.unwrap_or(RecallCount { count: 0, actors: 0, last_at: since, since })
    }

    /// Searches that found something in one of these stores, with when.
    pub(crate) fn recall_spans(
        &self,
        stores: &HashSet<StoreId>,
        from: Timestamp,
    ) -> Vec<(Timestamp, u64)> {
        let first = from.as_micros().div_euclid(SPAN_MICROS);
        let counts = self.recalls.lock();
        let spans = counts.spans.range((first, StoreId::from_u128(0))..);
        let wanted = spans.filter(|((_, store), _)| stores.contains(store));
        wanted
            .map(|((span, _), count)| (Timestamp::from_micros(span * SPAN_MICROS), *count))
            .collect()
    }
}
