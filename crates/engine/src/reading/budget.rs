//! What may still be spent today. What was spent is kept beside the marks of a reader, so that a
//! restart does not make the day begin again, and two servers share one budget.

use super::Reading;
use crate::{Engine, Result};
use loci_model::Timestamp;
use loci_storage::Spent;

const DAY_MICROS: i64 = 86_400_000_000;

/// The day of a moment, counted from 1970 in UTC.
pub(super) fn day_of(at: Timestamp) -> u32 {
    u32::try_from(at.as_micros().div_euclid(DAY_MICROS)).unwrap_or(0)
}

/// What a budget says to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowance {
    /// It may be read, with so many requests.
    Requests(u32),
    /// Not today.
    Spent,
    /// Never: it takes more than a whole day has.
    TooDear,
}

impl Engine {
    /// Whether a text of so many bytes may be read now.
    pub(super) async fn allowance(&self, reading: &Reading, bytes: usize) -> Result<Allowance> {
        let options = &reading.options;
        let reader = options.reader.as_ref();
        let spent = self.storage.spent(reader.name(), day_of(self.seams.now())).await?;
        Ok(allow(spent, options.requests_per_day, options.tokens_per_day, reader.tokens_max(bytes)))
    }
}

fn allow(spent: Spent, requests: u64, tokens: u64, dearest: u64) -> Allowance {
    if dearest > tokens {
        return Allowance::TooDear;
    }
    let left = requests.saturating_sub(spent.requests);
    // Every request may take as much as one can.
    let afford = tokens.saturating_sub(spent.tokens) / dearest.max(1);
    match left.min(afford) {
        0 => Allowance::Spent,
        some => Allowance::Requests(u32::try_from(some).unwrap_or(u32::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_request_is_allowed_that_could_go_beyond_the_budget() {
        let spent = |requests, tokens| Spent { day: 1, requests, tokens };
        assert_eq!(allow(spent(0, 0), 3, 100, 40), Allowance::Requests(2));
        assert_eq!(allow(spent(2, 0), 3, 100, 40), Allowance::Requests(1));
        assert_eq!(allow(spent(3, 0), 3, 100, 40), Allowance::Spent);
        assert_eq!(allow(spent(0, 61), 3, 100, 40), Allowance::Spent);
        assert_eq!(allow(spent(0, 0), 3, 100, 101), Allowance::TooDear);
        assert_eq!(allow(spent(0, 0), 0, 100, 1), Allowance::Spent);
    }

    #[test]
    fn days_begin_at_midnight_in_utc() {
        assert_eq!(day_of(Timestamp::from_micros(DAY_MICROS - 1)), 0);
        assert_eq!(day_of(Timestamp::from_micros(DAY_MICROS)), 1);
        assert_eq!(day_of(Timestamp::from_micros(-1)), 0);
    }
}
