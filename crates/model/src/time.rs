//! Points in time: microseconds since 1970 in UTC, and the seam through which they enter.
//!
//! Nothing below the engine asks the machine for the time; it travels with each request, so that
//! one request sees one moment and tests can choose it.

use crate::Invalid;
use std::fmt;

/// A moment, in microseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// A moment from microseconds since 1970.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Milliseconds since 1970, zero before.
    pub const fn as_millis(self) -> u64 {
        if self.0 < 0 { 0 } else { self.0 as u64 / 1000 }
    }

    /// The moment `secs` seconds later; stops at the end of time.
    pub const fn plus_secs(self, secs: i64) -> Self {
        Self(self.0.saturating_add(secs.saturating_mul(1_000_000)))
    }

    /// The later of `now` and one tick after `previous`: keeps a sequence of stamps strictly
    /// increasing when the clock stands still or jumps back.
    pub fn after(previous: Option<Self>, now: Self) -> Self {
        previous.map_or(now, |last| Self(now.0.max(last.0 + 1)))
    }

    /// Reads RFC 3339; a time without a zone is taken as UTC, as some clients send it.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let moment: Result<jiff::Timestamp, _> = text.parse();
        let moment = moment.or_else(|_| {
            let civil: jiff::civil::DateTime = text.parse()?;
            civil.to_zoned(jiff::tz::TimeZone::UTC).map(|zoned| zoned.timestamp())
        });
        let moment = moment.or_else(|error| {
            // The last day there is: some clients send it for "no end".
            let pieces = jiff::fmt::temporal::Pieces::parse(text)?;
            let is_last = pieces.date().year() == 9999 && pieces.time().is_some();
            if is_last { Ok(jiff::Timestamp::MAX) } else { Err(error) }
        });
        moment
            .map(|moment| Self(moment.as_microsecond()))
            .map_err(|_| Invalid::new("timestamp", "expected an RFC 3339 date and time"))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(moment) => write!(f, "{moment:.6}"),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

/// Where the present comes from. One implementation reads the machine's clock (in the engine);
/// tests bring their own.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc3339_round_trips_with_microseconds() {
        let moment = Timestamp::parse("2026-11-15T21:35:31.000042Z").unwrap();
        assert_eq!(moment.to_string(), "2026-11-15T21:35:31.000042Z");
        assert_eq!(Timestamp::from_micros(0).to_string(), "1970-01-01T00:00:00.000000Z");
    }

    #[test]
    fn offsets_and_naive_times_are_understood() {
        let utc = Timestamp::parse("2026-11-15T21:00:00Z").unwrap();
        assert_eq!(Timestamp::parse("2026-11-15T22:00:00+01:00").unwrap(), utc);
        assert_eq!(Timestamp::parse("2026-11-15T21:00:00").unwrap(), utc);
        assert!(Timestamp::parse("yesterday").is_err());
        for end in ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999"] {
            assert!(Timestamp::parse(end).unwrap() > utc);
        }
    }

    #[test]
    fn stamps_grow_even_when_the_clock_goes_back() {
        let last = Timestamp::from_micros(100);
        assert_eq!(Timestamp::after(Some(last), Timestamp::from_micros(50)).as_micros(), 101);
        assert_eq!(Timestamp::after(Some(last), Timestamp::from_micros(500)).as_micros(), 500);
    }
}
