//! Time that never goes back. What has expired has expired: a clock that is set back, by a person, by a
//! time server or by an empty battery, revives no key, no grant and no memory.
//!
//! The present is the time of the clock as long as that is the latest time there was. When the clock
//! shows less, the present goes on from the latest time at half speed, so that what is to end ends and
//! the clock catches up.

use loci_model::Timestamp;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A clock that is farther behind than this is worth a line in the log.
const TOLD_MICROS: i64 = 60 * 1_000_000;

/// The latest time there was.
pub(crate) struct Onward {
    latest: AtomicI64,
    behind: Mutex<Option<Behind>>,
}

/// The line on which the present goes on while the clock is behind it.
struct Behind {
    /// How long the clock had run where the line begins.
    since: Duration,
    /// The present there.
    from: i64,
    is_told: bool,
}

impl Behind {
    fn at(&self, ran: Duration) -> i64 {
        let passed = ran.saturating_sub(self.since).as_micros() / 2;
        self.from.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
    }
}

impl Default for Onward {
    fn default() -> Self {
        Self { latest: AtomicI64::new(i64::MIN), behind: Mutex::default() }
    }
}

impl Onward {
    /// The present, by what the clock shows and how long it has run.
    pub(crate) fn at(&self, shown: Timestamp, ran: impl FnOnce() -> Duration) -> Timestamp {
        let shown = shown.as_micros();
        if shown >= self.latest.fetch_max(shown, Ordering::Relaxed) {
            return Timestamp::from_micros(shown);
        }
        let mut behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        let ran = ran();
        let latest = self.latest.load(Ordering::Relaxed);
        // A line of an earlier time at which the clock was behind is below the latest time.
        let line = behind.take().filter(|line| line.at(ran) >= latest);
        let mut line = line.unwrap_or(Behind { since: ran, from: latest, is_told: false });
        let present = line.at(ran);
        if !line.is_told && present - shown > TOLD_MICROS {
            let (clock, present) = (Timestamp::from_micros(shown), Timestamp::from_micros(present));
            tracing::warn!(%clock, %present, "the clock went back; time goes on at half speed until it has caught up");
            line.is_told = true;
        }
        *behind = Some(line);
        self.latest.fetch_max(present, Ordering::Relaxed);
        Timestamp::from_micros(present)
    }

    /// From now on it is this moment, or later.
    pub(crate) fn go_on_from(&self, moment: Timestamp) {
        self.latest.fetch_max(moment.as_micros(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3600;

    fn at(onward: &Onward, shown_secs: i64, ran_secs: u64) -> i64 {
        let shown = Timestamp::from_micros(shown_secs * 1_000_000);
        onward.at(shown, || Duration::from_secs(ran_secs)).as_micros() / 1_000_000
    }

    #[test]
    fn a_clock_that_goes_back_is_waited_for_at_half_speed() {
        let onward = Onward::default();
        assert_eq!(at(&onward, 10 * HOUR, 0), 10 * HOUR);
        assert_eq!(at(&onward, 9 * HOUR, 0), 10 * HOUR, "set back");
        assert_eq!(at(&onward, 9 * HOUR + 60, 60), 10 * HOUR + 30);
        assert_eq!(at(&onward, 10 * HOUR, 3600), 10 * HOUR + 1800);
        assert_eq!(at(&onward, 11 * HOUR, 7200), 11 * HOUR, "it has caught up");
        assert_eq!(at(&onward, 11 * HOUR + 60, 7260), 11 * HOUR + 60);
        // Once more, and again in the middle.
        assert_eq!(at(&onward, 8 * HOUR, 7260), 11 * HOUR + 60);
        assert_eq!(at(&onward, 8 * HOUR + 100, 7360), 11 * HOUR + 110);
        assert_eq!(at(&onward, 2 * HOUR, 7360), 11 * HOUR + 110);
        assert_eq!(at(&onward, 2 * HOUR + 10, 7370), 11 * HOUR + 115);
    }

    #[test]
    fn time_begins_no_earlier_than_told() {
        let onward = Onward::default();
        onward.go_on_from(Timestamp::from_micros(HOUR * 1_000_000));
        assert_eq!(at(&onward, 0, 5), HOUR);
        assert_eq!(at(&onward, 10, 15), HOUR + 5);
        onward.go_on_from(Timestamp::from_micros(0));
        assert_eq!(at(&onward, 10, 15), HOUR + 5);
    }

    #[test]
    fn it_never_goes_back_between_threads() {
        let onward = Onward::default();
        let shown = AtomicI64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut last = Timestamp::from_micros(i64::MIN);
                    for turn in 0..20_000 {
                        // It jumps to and fro.
                        let step = if turn % 7 == 0 { -5_000 } else { 1_000 };
                        let clock = shown.fetch_add(step, Ordering::Relaxed) + step;
                        let now = onward.at(Timestamp::from_micros(clock), || {
                            Duration::from_micros(clock.unsigned_abs())
                        });
                        assert!(now >= last);
                        last = now;
                    }
                });
            }
        });
    }
}
