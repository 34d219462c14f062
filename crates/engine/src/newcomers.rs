//! How many people and agents that nobody has heard of may turn up in a day: those whom somebody
//! shares with, those whom tokens of a trusted issuer name, and visitors, who bring a token of their own
//! making. Each becomes a principal, which stays: without a bound, a loop would fill the workspace with
//! names.
//!
//! The counts are kept by each server for itself, like that of guarded searches.

use crate::{Error, Result};
use loci_model::{PrincipalId, Timestamp, limit};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
/// Givers that are counted at once; beyond it, those whose day is over are forgotten.
const COUNTED_MAX: usize = 100_000;

const TOO_MANY_BROUGHT: &str =
    "shared with too many agents that nobody has heard of; try again tomorrow";
const TOO_MANY_NAMES: &str =
    "too many names that nobody has; name them by their ids, or try again tomorrow";

/// How many there were in the day that runs, and since when it does.
struct Count {
    since: Timestamp,
    count: u32,
}

impl Count {
    fn new(now: Timestamp) -> Self {
        Self { since: now, count: 0 }
    }

    /// Microseconds of its day that are left.
    fn left(&self, now: Timestamp) -> i64 {
        self.since.as_micros() + DAY_MICROS - now.as_micros()
    }

    /// Counts one more, unless there were as many as there may be.
    fn admit(&mut self, most: u32, now: Timestamp, why: &'static str) -> Result<()> {
        if self.left(now) <= 0 {
            *self = Self::new(now);
        }
        if self.count >= most {
            let secs = self.left(now).div_euclid(1_000_000) + 1;
            return Err(Error::TooMany {
                why,
                after_secs: u32::try_from(secs).unwrap_or(u32::MAX),
            });
        }
        self.count += 1;
        Ok(())
    }
}

/// So many in a day, whoever brings them: names cost nothing, so all are counted together.
struct Daily {
    most: u32,
    count: Mutex<Option<Count>>,
}

impl Daily {
    fn new(most: u32) -> Self {
        Self { most, count: Mutex::default() }
    }

    fn admit(&self, now: Timestamp, why: &'static str) -> Result<()> {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        count.get_or_insert_with(|| Count::new(now)).admit(self.most, now, why)
    }
}

/// Who brought how many, and how many came by themselves.
pub(crate) struct Newcomers {
    brought: Mutex<HashMap<PrincipalId, Count>>,
    unknown: Mutex<HashMap<PrincipalId, Count>>,
    visitors: Daily,
    agents: Daily,
}

impl Default for Newcomers {
    fn default() -> Self {
        Self::new(limit::NEW_VISITORS_PER_DAY, limit::NEW_AGENTS_PER_DAY)
    }
}

impl Newcomers {
    fn new(visitors: u32, agents: u32) -> Self {
        let (visitors, agents) = (Daily::new(visitors), Daily::new(agents));
        Self { brought: Mutex::default(), unknown: Mutex::default(), visitors, agents }
    }

    /// Nobody counted yet, and so many visitors.
    pub(crate) fn with_visitors(&self, per_day: u32) -> Self {
        Self::new(per_day, self.agents.most)
    }

    /// Nobody counted yet, and so many agents that tokens name.
    pub(crate) fn with_agents(&self, per_day: u32) -> Self {
        Self::new(self.visitors.most, per_day)
    }

    /// Counts one more whom somebody shares with.
    pub(crate) fn admit(&self, giver: PrincipalId, now: Timestamp) -> Result<()> {
        let mut counted = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.len() >= COUNTED_MAX {
            counted.retain(|_, count| count.left(now) > 0);
        }
        let count = counted.entry(giver).or_insert_with(|| Count::new(now));
        count.admit(limit::NEWCOMERS_PER_DAY, now, TOO_MANY_BROUGHT)
    }

    /// Refuses somebody who shared with too many today whom nobody had heard of: with one more of them and
    /// with those who are known alike, or the answer would tell which a name is.
    pub(crate) fn may_bring(&self, giver: PrincipalId, now: Timestamp) -> Result<()> {
        may(&self.brought, giver, limit::NEWCOMERS_PER_DAY, now, TOO_MANY_BROUGHT)
    }

    /// Refuses somebody who named too many today whom nobody knows; right names and wrong ones alike.
    pub(crate) fn may_name(&self, who: PrincipalId, now: Timestamp) -> Result<()> {
        may(&self.unknown, who, limit::UNKNOWN_NAMES_PER_DAY, now, TOO_MANY_NAMES)
    }

    /// Counts one more name that nobody has.
    pub(crate) fn count_unknown(&self, who: PrincipalId, now: Timestamp) -> Result<()> {
        let mut counted = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.len() >= COUNTED_MAX {
            counted.retain(|_, count| count.left(now) > 0);
        }
        let count = counted.entry(who).or_insert_with(|| Count::new(now));
        count.admit(limit::UNKNOWN_NAMES_PER_DAY, now, TOO_MANY_NAMES)
    }

    /// Counts one more who comes by themselves. Names cost a visitor nothing, so all are counted
    /// together.
    pub(crate) fn admit_visitor(&self, now: Timestamp) -> Result<()> {
        let why = "too many visitors came for the first time today; try again tomorrow";
        self.visitors.admit(now, why)
    }

    /// Counts one more whom a token names.
    pub(crate) fn admit_agent(&self, now: Timestamp) -> Result<()> {
        let why = "tokens named too many agents today that nobody has heard of; try again tomorrow";
        self.agents.admit(now, why)
    }
}

/// Whether one more would be admitted; asking counts nothing.
fn may(
    counts: &Mutex<HashMap<PrincipalId, Count>>,
    who: PrincipalId,
    most: u32,
    now: Timestamp,
    why: &'static str,
) -> Result<()> {
    let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    match counts.get_mut(&who) {
        None => Ok(()),
        Some(count) => {
            count.admit(most, now, why)?;
            count.count -= 1;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_micros(hours * 3_600_000_000)
    }

    #[test]
    fn a_day_holds_so_many_and_each_giver_counts_alone() {
        let newcomers = Newcomers::default();
        let (one, other) = (PrincipalId::from_u128(1), PrincipalId::from_u128(2));
        for _ in 0..limit::NEWCOMERS_PER_DAY {
            newcomers.admit(one, at(0)).unwrap();
        }
        assert!(matches!(newcomers.admit(one, at(23)), Err(Error::TooMany { .. })));
        assert!(newcomers.admit(other, at(23)).is_ok() && newcomers.admit(one, at(24)).is_ok());
    }

    #[test]
    fn names_that_nobody_has_can_be_tried_so_often() {
        let newcomers = Newcomers::default();
        let (one, other) = (PrincipalId::from_u128(1), PrincipalId::from_u128(2));
        for _ in 0..limit::UNKNOWN_NAMES_PER_DAY {
            newcomers.may_name(one, at(0)).unwrap();
            newcomers.count_unknown(one, at(0)).unwrap();
        }
        // From now on the answer is the same for names that somebody has.
        assert!(matches!(newcomers.may_name(one, at(23)), Err(Error::TooMany { .. })));
        assert!(
            newcomers.may_name(other, at(23)).is_ok() && newcomers.may_name(one, at(24)).is_ok()
        );
    }

    #[test]
    fn visitors_are_counted_together() {
        let newcomers = Newcomers::default().with_visitors(2).with_agents(1);
        newcomers.admit_visitor(at(0)).unwrap();
        newcomers.admit_visitor(at(1)).unwrap();
        let refused = newcomers.admit_visitor(at(23));
        assert!(matches!(refused, Err(Error::TooMany { after_secs: 3601, .. })), "{refused:?}");
        assert!(newcomers.admit_visitor(at(24)).is_ok());
        assert!(Newcomers::new(0, 1).admit_visitor(at(0)).is_err());
        newcomers.admit_agent(at(23)).unwrap();
        assert!(newcomers.admit_agent(at(23)).is_err(), "agents are counted beside them");
    }
}
