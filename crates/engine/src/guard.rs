//! Search-only access, kept from being read access by other means: whoever may search a store but
//! not read it gets few results at a time, a bounded number of searches a minute, a bounded number of
//! different memories a day, and a line in the audit log for each search.
//!
//! The counts are kept by each server for itself; what is written down is one log for all.

use crate::search::Hit;
use crate::{Context, Engine, Error, Result};
use loci_model::event::kind;
use loci_model::policy::SearchPass;
use loci_model::{Content, MemoryId, PrincipalId, StoreId, Timestamp, limit};
use loci_search::text::snippet::snippet;
use loci_search::text::{Analyzer, TextQuery};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

const SECOND_MICROS: i64 = 1_000_000;
const MINUTE_MICROS: i64 = 60 * SECOND_MICROS;
/// Pairs that are counted at once; beyond it, those whose minute is over are forgotten.
const COUNTED_MAX: usize = 100_000;
const DAY_MICROS: i64 = 24 * 60 * MINUTE_MICROS;
/// Memories that are remembered for the day on which they were given, of all pairs together; beyond it
/// those whose day is over are forgotten, and if that is not enough, nobody gets a new one.
const GIVEN_MAX: usize = 1_000_000;

/// Characters of a snippet that stands for a content.
const SNIPPET_CHARS: usize = 240;

/// How often who searched what in the minute that runs.
pub(crate) struct Guard {
    per_minute: u32,
    per_day: u32,
    counted: Mutex<HashMap<(PrincipalId, StoreId), Count>>,
    given: Mutex<Given>,
}

/// Which memories were given to whom on the day that runs.
#[derive(Default)]
struct Given {
    days: HashMap<(PrincipalId, StoreId), Day>,
    count: usize,
}

struct Day {
    since: Timestamp,
    memories: HashSet<MemoryId>,
}

impl Day {
    fn is_over(&self, now: Timestamp) -> bool {
        now.as_micros() - self.since.as_micros() >= DAY_MICROS
    }
}

impl Default for Guard {
    fn default() -> Self {
        Self::new(limit::GUARDED_SEARCHES_PER_MINUTE, limit::GUARDED_MEMORIES_PER_DAY)
    }
}

#[derive(Clone, Copy)]
struct Count {
    since: Timestamp,
    searches: u32,
}

impl Guard {
    /// Lets so many searches through, and gives so many memories away.
    pub(crate) fn new(per_minute: u32, per_day: u32) -> Self {
        Self { per_minute, per_day, counted: Mutex::default(), given: Mutex::default() }
    }

    /// Whether somebody gets a memory: one that they had today, or one of so many new ones.
    fn gives(&self, who: PrincipalId, store: StoreId, memory: MemoryId, now: Timestamp) -> bool {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let Given { days, count } = &mut *given;
        if days.get(&(who, store)).is_some_and(|day| day.is_over(now)) || *count >= GIVEN_MAX {
            days.retain(|_, day| !day.is_over(now));
            *count = days.values().map(|day| day.memories.len()).sum();
        }
        let fresh = || Day { since: now, memories: HashSet::new() };
        let is_full = *count >= GIVEN_MAX;
        let day = days.entry((who, store)).or_insert_with(fresh);
        if day.memories.contains(&memory) {
            return true;
        }
        if is_full || day.memories.len() >= self.per_day as usize {
            return false;
        }
        day.memories.insert(memory);
        *count += 1;
        true
    }

    /// Counts one more search of each store, unless one of them was searched too often: then says
    /// after how many seconds it can be searched again.
    fn admit(
        &self,
        who: PrincipalId,
        stores: &[StoreId],
        now: Timestamp,
    ) -> std::result::Result<(), u32> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |count: &Count| now.as_micros() - count.since.as_micros() >= MINUTE_MICROS;
        if counted.len() + stores.len() > COUNTED_MAX {
            counted.retain(|_, count| !is_over(count));
        }
        let fresh = Count { since: now, searches: 0 };
        let mut counts = Vec::with_capacity(stores.len());
        for store in stores {
            let known = counted.get(&(who, *store)).copied().filter(|count| !is_over(count));
            let count = known.unwrap_or(fresh);
            if count.searches >= self.per_minute {
                let left = count.since.as_micros() + MINUTE_MICROS - now.as_micros();
                let secs = left.div_euclid(SECOND_MICROS) + i64::from(left % SECOND_MICROS > 0);
                return Err(u32::try_from(secs.clamp(1, 60)).unwrap_or(60));
            }
            counts.push(Count { searches: count.searches + 1, ..count });
        }
        counted.extend(stores.iter().map(|store| (who, *store)).zip(counts));
        Ok(())
    }
}

impl Engine {
    /// Lets a search through search-only access happen, and writes it down first: a search that is
    /// not in the log does not happen.
    pub(crate) async fn guard(
        &self,
        context: &Context,
        pass: &SearchPass,
        query: &str,
    ) -> Result<()> {
        if pass.guarded().is_empty() {
            return Ok(());
        }
        let admitted = self.guard.admit(context.caller.principal, pass.guarded(), pass.now());
        admitted.map_err(|after_secs| Error::TooMany {
            why: "too many searches of a store that may only be searched",
            after_secs,
        })?;
        for store in pass.guarded() {
            let told = self.happening(context, kind::SEARCHED).in_store(*store).saying(&query);
            self.record(told).await?;
        }
        Ok(())
    }

    /// Takes from what was found the memories beyond those that the caller gets on one day of stores
    /// that it may only search; says of how many stores some were taken.
    pub(crate) fn ration(
        &self,
        context: &Context,
        pass: &SearchPass,
        hits: &mut Vec<Hit>,
    ) -> usize {
        let (who, now) = (context.caller.principal, pass.now());
        let mut withheld = HashSet::new();
        hits.retain(|hit| {
            let (store, memory) = (hit.memory.store, hit.memory.id);
            let is_given =
                !pass.guarded().contains(&store) || self.guard.gives(who, store, memory, now);
            if !is_given {
                withheld.insert(store);
            }
            is_given
        });
        withheld.len()
    }

    /// Leaves out the contents of what the caller may only search: what fits the query is in the
    /// snippet.
    pub async fn snippets_only(&self, context: &Context, hits: &mut [Hit]) -> Result<()> {
        let searched_only = self.searched_only(context, hits).await?;
        for hit in hits.iter_mut().filter(|hit| searched_only.contains(&hit.memory.store)) {
            hit.memory.content = None;
        }
        Ok(())
    }

    /// The same for results that were read whole and have no snippets yet: what loses its content gets
    /// the part of it that fits the text.
    pub async fn cut_to_snippets(
        &self,
        context: &Context,
        text: &str,
        mut hits: Vec<Hit>,
    ) -> Result<Vec<Hit>> {
        let searched_only = self.searched_only(context, &hits).await?;
        if searched_only.is_empty() {
            return Ok(hits);
        }
        let query = TextQuery::parse(text);
        self.compute(async move {
            let analyzer = Analyzer::new();
            for hit in hits.iter_mut().filter(|hit| searched_only.contains(&hit.memory.store)) {
                let content = hit.memory.content.take();
                if let Some(text) = content.as_ref().and_then(Content::text) {
                    hit.snippet = snippet(&analyzer, text, &query, SNIPPET_CHARS);
                }
            }
            Ok(hits)
        })
        .await
    }

    /// The stores of results with contents that the caller may search and not read.
    async fn searched_only(&self, context: &Context, hits: &[Hit]) -> Result<HashSet<StoreId>> {
        let mut stores: HashSet<StoreId> = HashSet::new();
        stores
            .extend(hits.iter().filter(|it| it.memory.content.is_some()).map(|it| it.memory.store));
        let mut searched_only = HashSet::new();
        for store in stores {
            match self.read_pass(context, store).await {
                Ok(_) => {}
                Err(Error::Denied(_) | Error::NotFound(_)) => {
                    searched_only.insert(store);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(searched_only)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_holds_so_many_and_each_store_counts_for_itself() {
        let guard = Guard::default();
        let (who, other) = (PrincipalId::from_u128(1), PrincipalId::from_u128(2));
        let (one, two) = (StoreId::from_u128(1), StoreId::from_u128(2));
        let at = |secs: i64| Timestamp::from_micros(secs * 1_000_000);
        for _ in 0..limit::GUARDED_SEARCHES_PER_MINUTE {
            assert_eq!(guard.admit(who, &[one], at(0)), Ok(()));
        }
        assert_eq!(guard.admit(who, &[one], at(12)), Err(48), "when the minute is over");
        assert_eq!(guard.admit(who, &[two, one], at(59)), Err(1), "one of them too often");
        assert!(guard.admit(who, &[two], at(59)).is_ok());
        assert!(guard.admit(other, &[one], at(59)).is_ok());
        assert!(guard.admit(who, &[one], at(60)).is_ok());
    }

    #[test]
    fn a_day_holds_so_many_memories_and_each_pair_counts_for_itself() {
        let guard = Guard::new(60, 2);
        let (who, other) = (PrincipalId::from_u128(1), PrincipalId::from_u128(2));
        let (one, two) = (StoreId::from_u128(1), StoreId::from_u128(2));
        let at = |secs: i64| Timestamp::from_micros(secs * 1_000_000);
        let gives = |who, store, memory, secs| {
            guard.gives(who, store, MemoryId::from_u128(memory), at(secs))
        };
        assert!(gives(who, one, 1, 0) && gives(who, one, 2, 1));
        assert!(!gives(who, one, 3, 2));
        assert!(gives(who, one, 1, 3), "it was given today");
        assert!(gives(who, two, 3, 3) && gives(other, one, 3, 3));
        assert!(!gives(who, one, 3, 86_399));
        assert!(gives(who, one, 3, 86_400));
    }
}
