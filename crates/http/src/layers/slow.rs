//! Slows down an address whose credentials keep opening nothing: the first failures are answered at
//! once, later ones one after the other, each a moment later than the one before, up to ten seconds, however
//! many connections they come by. What would have to wait longer waits as long and is told to slow down.
//!
//! Only answers to failures wait, and only after the credential was looked up. So a valid key is never
//! held up, whoever shares an address with a guesser, and nobody can be locked out. A refusal waits like any
//! other answer: at once, it would tell a guesser sooner that the guess was wrong.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Failures that an address has free.
const FREE: f64 = 300.0;
/// How many it earns back in a second, which is how fast its failures are answered then.
const PER_SECOND: f64 = 20.0;
/// How long one answer waits at most, in seconds.
const WAIT_MAX: f64 = 10.0;
/// Addresses that are counted at once.
const COUNTED_MAX: usize = 10_000;

/// What the answer to a failure has to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Slowed {
    /// Wait so long.
    pub(super) wait: Duration,
    /// Say that there were too many.
    pub(super) is_too_much: bool,
}

/// The failures of all addresses.
#[derive(Default)]
pub(super) struct SlowDown(Mutex<HashMap<IpAddr, Count>>);

#[derive(Clone, Copy)]
struct Count {
    /// Free failures that are left; less than none is a wait.
    left: f64,
    at: Instant,
}

impl Count {
    fn left_at(&self, now: Instant) -> f64 {
        let earned = now.duration_since(self.at).as_secs_f64() * PER_SECOND;
        (self.left + earned).min(FREE)
    }
}

impl SlowDown {
    /// Counts one more failure of an address.
    pub(super) fn after_failure(&self, from: IpAddr, now: Instant) -> Slowed {
        let from = network(from);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= COUNTED_MAX && !counts.contains_key(&from) {
            counts.retain(|_, count| count.left_at(now) < FREE);
            // Whoever has that many addresses is not slowed down by counting them.
            if counts.len() >= COUNTED_MAX {
                counts.clear();
            }
        }
        let count = counts.entry(from).or_insert(Count { left: FREE, at: now });
        let left = count.left_at(now) - 1.0;
        let least = -WAIT_MAX * PER_SECOND;
        *count = Count { left: left.max(least), at: now };
        let wait = Duration::from_secs_f64((-count.left).max(0.0) / PER_SECOND);
        Slowed { wait, is_too_much: left < least }
    }
}

/// What one customer of a network provider has: an address, or 64 bits of one.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_wait_once_the_free_ones_are_used_and_never_long() {
        let (slow, start) = (SlowDown::default(), Instant::now());
        let (one, other): (IpAddr, IpAddr) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        let wait = |millis| Slowed { wait: Duration::from_millis(millis), is_too_much: false };
        for _ in 0..300 {
            assert_eq!(slow.after_failure(one, start), wait(0));
        }
        for number in 1..=200 {
            assert_eq!(slow.after_failure(one, start), wait(50 * number));
        }
        for _ in 0..1000 {
            let most = Slowed { is_too_much: true, ..wait(10_000) };
            assert_eq!(slow.after_failure(one, start), most);
        }
        assert_eq!(slow.after_failure(other, start), wait(0), "addresses do not share");
        let later = start + Duration::from_millis(10_100);
        assert_eq!(slow.after_failure(one, later), wait(0), "it passes");
    }

    #[test]
    fn the_table_stays_bounded_and_neighbours_of_one_network_share() {
        let (slow, now) = (SlowDown::default(), Instant::now());
        for number in 0..2 * COUNTED_MAX as u32 {
            slow.after_failure(IpAddr::from(number.to_be_bytes()), now);
        }
        assert!(slow.0.lock().unwrap().len() <= COUNTED_MAX);
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::2:3:4:5"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
