//! Search-only access, kept from being read access by other means: whoever may search a store but
//! not read it gets few results at a time, a bounded number of searches a minute, and a line in the
//! audit log for each.
//!
//! The count is kept by each server for itself; what is written down is one log for all.

use crate::{Context, Engine, Error, Result};
use loci_model::event::kind;
use loci_model::policy::SearchPass;
use loci_model::{PrincipalId, StoreId, Timestamp, limit};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

const SECOND_MICROS: i64 = 1_000_000;
const MINUTE_MICROS: i64 = 60 * SECOND_MICROS;
/// Pairs that are counted at once; beyond it, those whose minute is over are forgotten.
const COUNTED_MAX: usize = 100_000;

/// How often who searched what in the minute that runs.
pub(crate) struct Guard {
    per_minute: u32,
    counted: Mutex<HashMap<(PrincipalId, StoreId), Count>>,
}

impl Default for Guard {
    fn default() -> Self {
        Self::new(limit::GUARDED_SEARCHES_PER_MINUTE)
    }
}

#[derive(Clone, Copy)]
struct Count {
    since: Timestamp,
    searches: u32,
}

impl Guard {
    /// Lets so many searches through.
    pub(crate) fn new(per_minute: u32) -> Self {
        Self { per_minute, counted: Mutex::default() }
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
}
