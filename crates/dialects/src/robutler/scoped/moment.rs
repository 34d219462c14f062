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
        if is_of_the_last_days(text) {
            return Ok(Self(text.to_owned()));
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

    /// A millisecond later; the last moment there is stays what it is.
    pub(super) fn just_after(&self) -> Self {
        let moment = Timestamp::parse(&self.0).ok();
        let later = moment.map(|moment| Timestamp::from_micros(moment.as_micros() + 1000));
        let later = later.and_then(Self::of);
        later.filter(|later| later > self).unwrap_or_else(|| self.clone())
    }
}

/// Whether a text is a moment, in our form, of the last days there are. Clients send the very last
/// one for "never", and the calendar behind [`Timestamp`] ends some hours before it.
fn is_of_the_last_days(text: &str) -> bool {
    let Some(day) = text.strip_prefix("9999-12-3").and_then(|rest| rest.strip_suffix('Z')) else {
        return false;
    };
    let is_form = day.len() == "1T23:59:59.999".len()
        && day.bytes().zip(b"1T23:59:59.999").all(|(given, form)| match form {
            b'0'..=b'9' => given.is_ascii_digit(),
            mark => given == *mark,
        });
    is_form
        && day <= "1T23:59:59.999"
        && day[5..7] < *"60"
        && day[8..10] < *"60"
        && day[2..4] < *"24"
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
        check("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z");
        check("9999-12-31T00:00:00.000Z", "9999-12-31T00:00:00.000Z");
        for bad in [
            "",
            "yesterday",
            "soon",
            "2026-01-02",
            "2026-13-02T00:00:00Z",
            "7",
            "-009999-01-02T03:04:05Z",
            "9999-12-32T00:00:00.000Z",
            "9999-12-31T23:60:00.000Z",
            "9999-12-3éT23:00:0.000Z",
        ] {
            assert!(Moment::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn moments_follow_each_other() {
        let after = |text: &str| Moment::parse(text).unwrap().just_after().0;
        assert_eq!(after("2026-01-02T03:04:05.999Z"), "2026-01-02T03:04:06.000Z");
        assert_eq!(after("9999-12-31T23:59:59.999Z"), "9999-12-31T23:59:59.999Z");
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
