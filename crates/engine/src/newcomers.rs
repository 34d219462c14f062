//! How many agents that nobody has heard of somebody may share with. Each becomes a principal, which
//! stays: without a bound, a loop would fill the workspace with names.
//!
//! The count is kept by each server for itself, like that of guarded searches.

use crate::{Error, Result};
use loci_model::{PrincipalId, Timestamp, limit};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
/// Givers that are counted at once; beyond it, those whose day is over are forgotten.
const COUNTED_MAX: usize = 100_000;

/// Who made how many in the day that runs, and since when it does.
#[derive(Default)]
pub(crate) struct Newcomers(Mutex<HashMap<PrincipalId, (Timestamp, u32)>>);

impl Newcomers {
    /// Counts one more.
    pub(crate) fn admit(&self, giver: PrincipalId, now: Timestamp) -> Result<()> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = |since: Timestamp| since.as_micros() + DAY_MICROS - now.as_micros();
        if counted.len() >= COUNTED_MAX {
            counted.retain(|_, (since, _)| left(*since) > 0);
        }
        let count = counted.entry(giver).or_insert((now, 0));
        if left(count.0) <= 0 {
            *count = (now, 0);
        }
        if count.1 >= limit::NEWCOMERS_PER_DAY {
            let secs = left(count.0).div_euclid(1_000_000) + 1;
            return Err(Error::TooMany {
                why: "shared with too many agents that nobody has heard of; try again tomorrow",
                after_secs: u32::try_from(secs).unwrap_or(u32::MAX),
            });
        }
        count.1 += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_holds_so_many_and_each_giver_counts_alone() {
        let newcomers = Newcomers::default();
        let (one, other) = (PrincipalId::from_u128(1), PrincipalId::from_u128(2));
        let at = |hours: i64| Timestamp::from_micros(hours * 3_600_000_000);
        for _ in 0..limit::NEWCOMERS_PER_DAY {
            newcomers.admit(one, at(0)).unwrap();
        }
        assert!(matches!(newcomers.admit(one, at(23)), Err(Error::TooMany { .. })));
        assert!(newcomers.admit(other, at(23)).is_ok() && newcomers.admit(one, at(24)).is_ok());
    }
}
