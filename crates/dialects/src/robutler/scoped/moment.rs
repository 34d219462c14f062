//! Points in time as clients of this door write and compare them: ISO 8601 in UTC with three digits
//! of a second, so that comparing texts is comparing times. Cursors are the same with six digits.

use loci_model::{Invalid, Timestamp};

/// Characters of a moment with six digits of a second.
const MICROS_CHARS: usize = "0000-00-00T00:00:00.000000Z".len();
/// Characters of its part before the fraction.
const WHOLE_CHARS: usize = "0000-00-00T00:00:00".len();

/// `YYYY-MM-DDTHH:MM:SS.mmmZ`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(String);

impl Moment {
    /// Reads what a client says; other ways to write the same moment are put into ours.
    pub(super) fn parse(text: &str) -> Result<Self, Invalid> {
        let refuse =
            || Invalid::new("at", "expected a date and time such as 2026-01-02T03:04:05.678Z");
        if !text.contains(['T', 't']) {
            return Err(refuse());
        }
        let moment = Timestamp::parse(text).map_err(|_| refuse())?;
        Self::of(moment).ok_or_else(refuse)
    }

    /// None for years that have no four digits.
    fn of(moment: Timestamp) -> Option<Self> {
        let shown = moment.to_string();
        (shown.len() == MICROS_CHARS).then(|| Self(format!("{}Z", &shown[..WHOLE_CHARS + 4])))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Timestamp> for Moment {
    fn from(moment: Timestamp) -> Self {
        Self::of(moment).expect("the server's clock shows a year of four digits")
    }
}

/// Where a pull goes on: a moment with up to six digits of a second. None for what is no cursor of
/// ours or no real date: then everything is shown again, which loses nothing.
pub(super) fn cursor(text: &str) -> Option<Timestamp> {
    let (whole, rest) = text.split_at_checked(WHOLE_CHARS)?;
    let fraction = match rest.strip_suffix('Z')? {
        "" => "",
        fraction => fraction.strip_prefix('.').filter(|digits| !digits.is_empty())?,
    };
    if fraction.len() > 6 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole = format!("{whole}.{fraction:0<6}Z");
    let moment = Timestamp::parse(&whole).ok()?;
    // A date that does not exist would be written differently.
    (moment.to_string() == whole).then_some(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_one_form() {
        let check = |given: &str, expected: &str| {
            assert_eq!(Moment::parse(given).unwrap().as_str(), expected, "{given}");
        };
        check("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z");
        check("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z");
        check("2026-01-02T03:04:05.678999Z", "2026-01-02T03:04:05.678Z");
        check("2026-01-02T04:04:05+01:00", "2026-01-02T03:04:05.000Z");
        for bad in [
            "",
            "yesterday",
            "soon",
            "2026-01-02",
            "2026-13-02T00:00:00Z",
            "7",
            "-009999-01-02T03:04:05Z",
        ] {
            assert!(Moment::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn cursors_are_real_dates() {
        for good in [
            "2026-11-15T00:00:00Z",
            "2026-01-01T00:00:00.5Z",
            "2026-01-01T00:00:00.000001Z",
            "2024-02-29T23:59:59Z",
        ] {
            assert!(cursor(good).is_some(), "{good}");
        }
        assert_eq!(
            cursor("2026-01-01T00:00:00.5Z").unwrap().to_string(),
            "2026-01-01T00:00:00.500000Z"
        );
        for bad in [
            "",
            "garbage",
            "9007199254740991",
            "2026-13-45T00:00:00Z",
            "2026-02-30T00:00:00.000000Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.0000000Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00+Z",
            "２026-01-01T00:00:00Z",
        ] {
            assert_eq!(cursor(bad), None, "{bad}");
        }
    }
}
