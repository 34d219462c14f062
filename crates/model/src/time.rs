//! Points in time: microseconds since 1970 in UTC, and the seam through which they enter.
//!
//! Nothing below the engine asks the machine for the time; it travels with each request, so that
//! one request sees one moment and tests can choose it.

use crate::Invalid;
use std::fmt;
use std::time::Duration;

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

/// RFC 3339 in UTC with six digits of a second. Written by hand because every answer shows several
/// of these; the calendar is the usual one of days since March in cycles of 400 years.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY: i64 = 86_400_000_000;
        let (days, within) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let since_march = days + 719_468;
        let (cycle, day) = (since_march.div_euclid(146_097), since_march.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let of_year = day - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let of_month = of_year - (153 * month + 2) / 5 + 1;
        let calendar_month = if month < 10 { month + 3 } else { month - 9 };
        let calendar_year = year + cycle * 400 + i64::from(calendar_month <= 2);
        if !(0..=9999).contains(&calendar_year) {
            return write!(f, "{}us", self.0);
        }
        let secs = within / 1_000_000;
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        let mut put = |at: usize, digits: usize, mut value: i64| {
            for slot in text[at..at + digits].iter_mut().rev() {
                *slot = b'0' + (value % 10) as u8;
                value /= 10;
            }
        };
        put(0, 4, calendar_year);
        put(5, 2, calendar_month);
        put(8, 2, of_month);
        put(11, 2, secs / 3600);
        put(14, 2, secs / 60 % 60);
        put(17, 2, secs % 60);
        put(20, 6, within % 1_000_000);
        f.write_str(std::str::from_utf8(&text).expect("digits are ASCII"))
    }
}

/// Where the present comes from. One implementation reads the machine's clock (in the engine);
/// tests bring their own.
pub trait Clock: Send + Sync {
    /// The present moment, as it was set: it may go back.
    fn now(&self) -> Timestamp;

    /// How long the clock has run, whatever it was set to meanwhile. One in the hand of a test stands
    /// still.
    fn ran(&self) -> Duration {
        Duration::ZERO
    }
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
    fn the_calendar_is_everybody_elses() {
        let mut micros = -62_167_219_200_000_000i64;
        while micros < 253_402_200_000_000_000 {
            let theirs = jiff::Timestamp::from_microsecond(micros).unwrap();
            assert_eq!(Timestamp(micros).to_string(), format!("{theirs:.6}"));
            micros += 86_400_000_000 * 13 + 3_723_000_417;
        }
        for leap in ["2000-02-29", "2024-02-29", "1900-03-01", "2400-02-29", "9999-12-29"] {
            let text = format!("{leap}T23:59:59.999999Z");
            assert_eq!(Timestamp::parse(&text).unwrap().to_string(), text);
        }
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
