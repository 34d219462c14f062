//! How the server did, minute by minute since it started, for the console's plots: how many requests, how
//! many failed, how long they took. Beside the metrics because those only know sums.
//!
//! A bounded number of minutes is kept; a minute in which nobody asked takes no room.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Thirty days.
const MINUTES_MAX: usize = 30 * 24 * 60;
const MINUTE_MICROS: i64 = 60_000_000;
/// Upper ends of the sorts of durations, in microseconds; each about half as long again as the last.
const ENDS: [u32; 28] = [
    100, 150, 225, 340, 510, 760, 1_150, 1_700, 2_600, 3_900, 5_800, 8_700, 13_000, 19_500, 29_000,
    44_000, 66_000, 98_000, 148_000, 220_000, 330_000, 500_000, 750_000, 1_100_000, 1_700_000,
    5_000_000, 15_000_000, 60_000_000,
];

#[derive(Clone)]
struct Minute {
    minute: i64,
    requests: u32,
    errors: u32,
    durations: [u32; ENDS.len()],
}

/// What happened in a span of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub(crate) requests: u64,
    pub(crate) errors: u64,
    /// Half took at most so many milliseconds; unknown when nobody asked.
    pub(crate) p50: Option<f64>,
    /// All but one in a hundred did.
    pub(crate) p99: Option<f64>,
}

/// The minutes.
#[derive(Default)]
pub(crate) struct Ring(Mutex<VecDeque<Minute>>);

impl Ring {
    /// Takes note of one answer, at a time given in microseconds of the epoch.
    pub(crate) fn count(&self, at_micros: i64, is_error: bool, took: Duration) {
        let minute = at_micros.div_euclid(MINUTE_MICROS);
        let micros = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
        let sort = ENDS.iter().position(|end| micros <= *end).unwrap_or(ENDS.len() - 1);
        let mut minutes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that is set back counts into the newest minute.
        if minutes.back().is_none_or(|last| last.minute < minute) {
            if minutes.len() == MINUTES_MAX {
                minutes.pop_front();
            }
            let durations = [0; ENDS.len()];
            minutes.push_back(Minute { minute, requests: 0, errors: 0, durations });
        }
        if let Some(last) = minutes.back_mut() {
            last.requests = last.requests.saturating_add(1);
            last.errors = last.errors.saturating_add(u32::from(is_error));
            last.durations[sort] = last.durations[sort].saturating_add(1);
        }
    }

    /// What happened in each of so many spans, given in microseconds. A minute counts where it begins.
    pub(crate) fn spans(&self, from_micros: i64, step_micros: i64, steps: usize) -> Vec<Span> {
        let mut sums = vec![(0u64, 0u64, [0u64; ENDS.len()]); steps];
        let minutes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for minute in minutes.iter() {
            let begins = minute.minute * MINUTE_MICROS;
            // The minute in which the first span begins belongs to it.
            let is_first = begins < from_micros && begins + MINUTE_MICROS > from_micros;
            let since = if is_first { 0 } else { begins - from_micros };
            let step = since.div_euclid(step_micros);
            let Some(sum) = usize::try_from(step).ok().and_then(|step| sums.get_mut(step)) else {
                continue;
            };
            sum.0 += u64::from(minute.requests);
            sum.1 += u64::from(minute.errors);
            for (total, count) in sum.2.iter_mut().zip(minute.durations) {
                *total += u64::from(count);
            }
        }
        let told = sums.iter().map(|(requests, errors, durations)| Span {
            requests: *requests,
            errors: *errors,
            p50: within(durations, *requests, 50),
            p99: within(durations, *requests, 99),
        });
        told.collect()
    }
}

/// How long so many in a hundred took at most, in milliseconds, as far as the sorts tell.
fn within(durations: &[u64; ENDS.len()], requests: u64, percent: u64) -> Option<f64> {
    let wanted = (requests * percent).div_ceil(100);
    let mut counted = 0;
    let sort = durations.iter().position(|count| {
        counted += count;
        counted >= wanted
    });
    sort.filter(|_| requests > 0).map(|sort| f64::from(ENDS[sort]) / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = MINUTE_MICROS;

    #[test]
    fn minutes_are_put_together_and_the_slow_ones_show() {
        let ring = Ring::default();
        for number in 0..100 {
            let took =
                if number < 2 { Duration::from_millis(300) } else { Duration::from_micros(90) };
            ring.count(10 * MINUTE + number, number == 0, took);
        }
        ring.count(12 * MINUTE, false, Duration::from_millis(1));
        let spans = ring.spans(10 * MINUTE, 2 * MINUTE, 3);
        assert_eq!((spans[0].requests, spans[0].errors), (100, 1));
        assert_eq!((spans[0].p50, spans[0].p99), (Some(0.1), Some(330.0)));
        assert_eq!((spans[1].requests, spans[1].p50), (1, Some(1.15)));
        assert_eq!(spans[2], Span { requests: 0, errors: 0, p50: None, p99: None });
        let earlier = ring.spans(0, MINUTE, 5);
        assert!(earlier.iter().all(|span| span.requests == 0), "what comes later is not counted");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let ring = Ring::default();
        for minute in 0..50_000 {
            ring.count(minute * MINUTE, false, Duration::ZERO);
        }
        assert_eq!(ring.0.lock().unwrap().len(), MINUTES_MAX);
    }
}
