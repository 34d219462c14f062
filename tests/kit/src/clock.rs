//! A clock that stands still until a test moves it.

use loci_model::Timestamp;
use loci_model::time::Clock;
use std::sync::atomic::{AtomicI64, Ordering};

/// The time that a test says it is.
#[derive(Debug)]
pub struct HandClock(AtomicI64);

impl HandClock {
    /// A clock that shows this moment.
    pub fn new(at: Timestamp) -> Self {
        Self(AtomicI64::new(at.as_micros()))
    }

    /// A clock that shows the moment of an RFC 3339 text.
    pub fn at(text: &str) -> Self {
        Self::new(Timestamp::parse(text).expect("the moment of a test is a valid timestamp"))
    }

    /// Moves the clock forward, or back by a negative number.
    pub fn advance_secs(&self, secs: i64) {
        self.0.fetch_add(secs * 1_000_000, Ordering::SeqCst);
    }

    /// Sets the clock.
    pub fn set(&self, at: Timestamp) {
        self.0.store(at.as_micros(), Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}
