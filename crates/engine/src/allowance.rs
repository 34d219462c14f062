//! How much visitors may keep: each of them, and all together. Whoever makes a token of their own can
//! come, and come again as somebody else, so without bounds a loop would fill the disk.
//!
//! What is kept is asked of the storage, so servers that share one agree. What was taken away lies there
//! for a day; so beside that, nobody may write more in a day than they may keep. That is counted by each
//! server for itself, as newcomers are.

use crate::{Context, Engine, Error, Result};
use loci_model::policy::System;
use loci_model::query::Amount;
use loci_model::{PrincipalId, Timestamp, limit};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
/// How long what all visitors keep is believed: it is counted over all their stores.
const BELIEVED_MICROS: i64 = 10 * 1_000_000;
/// Visitors that are counted at once; beyond it, those whose day is over are forgotten.
const COUNTED_MAX: usize = 100_000;
const MB: u64 = 1024 * 1024;

/// What visitors may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisitorLimits {
    /// How many come for the first time on one day.
    pub new_per_day: u32,
    /// What each may keep.
    pub each: Amount,
    /// What all of them may keep together.
    pub all: Amount,
}

impl Default for VisitorLimits {
    fn default() -> Self {
        Self {
            new_per_day: limit::NEW_VISITORS_PER_DAY,
            each: Amount { memories: limit::VISITOR_MEMORIES_MAX, bytes: limit::VISITOR_BYTES_MAX },
            all: Amount {
                memories: limit::VISITORS_MEMORIES_MAX,
                bytes: limit::VISITORS_BYTES_MAX,
            },
        }
    }
}

/// What was written in the day that runs, and since when it does.
#[derive(Debug, Clone, Copy)]
struct Written {
    since: Timestamp,
    amount: Amount,
}

impl Written {
    fn new(since: Timestamp) -> Self {
        Self { since, amount: Amount::default() }
    }

    /// Microseconds of its day that are left.
    fn left(&self, now: Timestamp) -> i64 {
        self.since.as_micros() + DAY_MICROS - now.as_micros()
    }

    /// What it comes to with so much more; refused when that is too much for a day.
    fn with(self, more: Amount, most: Amount, now: Timestamp, why: &'static str) -> Result<Self> {
        let day = if self.left(now) > 0 { self } else { Self::new(now) };
        let amount = day.amount.and(more);
        if amount.fits(most) {
            return Ok(Self { amount, ..day });
        }
        let secs = day.left(now).div_euclid(1_000_000) + 1;
        Err(Error::TooMany { why, after_secs: u32::try_from(secs).unwrap_or(u32::MAX) })
    }
}

#[derive(Default)]
struct Counts {
    by: HashMap<PrincipalId, Written>,
    all: Option<Written>,
    /// What all visitors keep, as it was last counted, with what was written since.
    kept: Option<(Timestamp, Amount)>,
}

/// The bounds, and what was written on this day.
#[derive(Default)]
pub(crate) struct Allowance {
    limits: VisitorLimits,
    counts: Mutex<Counts>,
}

impl Allowance {
    pub(crate) fn new(limits: VisitorLimits) -> Self {
        Self { limits, counts: Mutex::default() }
    }

    /// What all visitors keep, if that was counted lately.
    fn believed(&self, now: Timestamp) -> Option<Amount> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, kept) = counts.kept?;
        (at.as_micros() + BELIEVED_MICROS > now.as_micros()).then_some(kept)
    }

    /// Takes so much off what a visitor, who keeps `own`, and all of them, who keep `kept`, may still
    /// write.
    fn take(
        &self,
        visitor: PrincipalId,
        own: Amount,
        kept: Amount,
        more: Amount,
        now: Timestamp,
    ) -> Result<()> {
        let VisitorLimits { each, all, .. } = self.limits;
        let over = |whose: &str, most: Amount| {
            let (memories, mb) = (most.memories, most.bytes / MB);
            let why = format!("{whose} may keep {memories} memories and {mb} MB here, and no more");
            Error::OverQuota(why)
        };
        if !own.and(more).fits(each) {
            return Err(over("a visitor", each));
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        // Counted by somebody else meanwhile, and written since.
        let (counted_at, kept) = match counts.kept {
            Some((at, known)) if at.as_micros() + BELIEVED_MICROS > now.as_micros() => (at, known),
            _ => (now, kept),
        };
        if !kept.and(more).fits(all) {
            return Err(over("all visitors together", all));
        }
        if counts.by.len() >= COUNTED_MAX {
            counts.by.retain(|_, written| written.left(now) > 0);
        }
        let own = counts.by.get(&visitor).copied().unwrap_or_else(|| Written::new(now));
        let own =
            own.with(more, each, now, "you have written as much today as a visitor may in a day")?;
        let of_all = counts.all.unwrap_or_else(|| Written::new(now));
        let of_all = of_all.with(
            more,
            all,
            now,
            "visitors have written as much today as they may in a day",
        )?;
        counts.by.insert(visitor, own);
        counts.all = Some(of_all);
        counts.kept = Some((counted_at, kept.and(more)));
        Ok(())
    }
}

impl Engine {
    /// Takes off a visitor's allowance what they are about to write: so many memories, with so many bytes
    /// of content and labels. What visitors keep lies in stores whose addresses begin with `places`. Asked
    /// before such a store is made, so that a visitor without allowance leaves no empty ones.
    pub async fn admit_written(&self, context: &Context, places: &str, more: Amount) -> Result<()> {
        let (caller, now) = (&context.caller, self.seams.now());
        let system = System::because("how much visitors keep is bounded");
        let pass = system.administer(caller.workspace, now);
        let own = counted(self.storage.kept(&pass, Some(caller.principal), places).await?);
        let kept = match self.allowance.believed(now) {
            Some(kept) => kept,
            None => counted(self.storage.kept(&pass, None, places).await?),
        };
        self.allowance.take(caller.principal, own, kept, counted(more), now)
    }
}

/// An amount with what each memory takes beside its content.
fn counted(amount: Amount) -> Amount {
    let beside = amount.memories.saturating_mul(limit::VISITOR_MEMORY_BYTES);
    Amount { bytes: amount.bytes.saturating_add(beside), ..amount }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(memories: u64, bytes: u64) -> Amount {
        Amount { memories, bytes }
    }

    fn allowance() -> Allowance {
        let (each, all) = (amount(10, 1000), amount(15, 1500));
        Allowance::new(VisitorLimits { new_per_day: 1, each, all })
    }

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_micros(hours * 3_600_000_000)
    }

    const NOTHING: Amount = Amount { memories: 0, bytes: 0 };

    #[test]
    fn what_is_kept_is_bounded_for_each_and_for_all() {
        let (allowance, one) = (allowance(), PrincipalId::from_u128(1));
        let take = |own, kept, more| allowance.take(one, own, kept, more, at(0));
        assert!(matches!(take(amount(10, 0), NOTHING, amount(1, 0)), Err(Error::OverQuota(_))));
        assert!(matches!(take(amount(0, 901), NOTHING, amount(1, 100)), Err(Error::OverQuota(_))));
        let refused = take(NOTHING, amount(15, 0), amount(1, 1)).unwrap_err().to_string();
        assert!(refused.contains("all visitors together") && refused.contains("15"), "{refused}");
        assert!(take(amount(9, 900), amount(14, 1400), amount(1, 100)).is_ok());
        // What was written since the count is part of it.
        assert!(matches!(take(NOTHING, NOTHING, amount(1, 1)), Err(Error::OverQuota(_))));
    }

    #[test]
    fn nobody_writes_more_in_a_day_than_they_may_keep() {
        let allowance = allowance();
        let (one, other) = (PrincipalId::from_u128(1), PrincipalId::from_u128(2));
        // Everything is taken away again at once, so nothing is ever kept.
        let take = |who, more, hours| {
            allowance.counts.lock().unwrap().kept = None;
            allowance.take(who, NOTHING, NOTHING, more, at(hours))
        };
        take(one, amount(10, 10), 0).unwrap();
        assert!(matches!(
            take(one, amount(1, 1), 23),
            Err(Error::TooMany { after_secs: 3601, .. })
        ));
        take(other, amount(5, 5), 1).unwrap();
        let refused = take(other, amount(1, 1), 1).unwrap_err().to_string();
        assert!(refused.starts_with("visitors have written"), "{refused}");
        take(one, amount(1, 1), 24).unwrap();
        take(other, amount(1, 1), 24).unwrap();
    }
}
