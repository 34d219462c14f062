//! Runs of days in the calendar, and midnight in UTC, from which everything is counted.

use jiff::ToSpan;
use jiff::civil::Date;
use loci_model::Timestamp;

/// The days from `first` up to `end`, which is the day after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Days {
    pub(super) first: Date,
    pub(super) end: Date,
}

impl Days {
    pub(super) fn one(day: Date) -> Option<Self> {
        Some(Self { first: day, end: day.checked_add(1.day()).ok()? })
    }

    pub(super) fn month(year: i16, month: i8) -> Option<Self> {
        let first = Date::new(year, month, 1).ok()?;
        Some(Self { first, end: first.checked_add(1.month()).ok()? })
    }

    pub(super) fn year(year: i16) -> Option<Self> {
        Some(Self { first: Date::new(year, 1, 1).ok()?, end: Date::new(year + 1, 1, 1).ok()? })
    }

    pub(super) fn season(year: i16, season: &str) -> Option<Self> {
        let month = match season {
            "spring" => 3,
            "summer" => 6,
            "autumn" | "fall" => 9,
            _ => 12,
        };
        let first = Date::new(year, month, 1).ok()?;
        Some(Self { first, end: first.checked_add(3.months()).ok()? })
    }
}

/// Midnight in UTC at the beginning of a day.
pub(super) fn midnight(day: Date) -> Option<Timestamp> {
    let moment = day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    Some(Timestamp::from_micros(moment.as_microsecond()))
}

/// The day of a moment in UTC; the beginning of 1970 for moments no calendar has.
pub(super) fn day_of(at: Timestamp) -> Date {
    let moment = jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or_default();
    moment.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// A part of an interval.
#[derive(Clone, Copy)]
pub(super) enum Part {
    All,
    First,
    Middle,
    Last,
    End,
}

impl Part {
    pub(super) fn of(self, days: Days) -> Option<Days> {
        let length = days.first.until(days.end).ok()?.get_days();
        let third = |thirds: i32| days.first.checked_add((length * thirds / 3).days()).ok();
        Some(match self {
            Self::All => days,
            Self::First => Days { first: days.first, end: third(1)? },
            Self::Middle => Days { first: third(1)?, end: third(2)? },
            Self::Last => Days { first: third(2)?, end: days.end },
            Self::End => Days { first: days.end.checked_sub(1.day()).ok()?, end: days.end },
        })
    }
}
