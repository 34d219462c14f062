//! The query string, read by hand: names such as `created_at[gte]` are literal keys, the last of
//! repeated keys wins, unknown keys are ignored, and a known key with a bad value is refused.
//!
//! Nothing is decoded until it is asked for, so a request without parameters costs nothing.

use super::error::Problem;
use loci_model::query::Direction;
use loci_model::{Invalid, Timestamp, View, limit};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::str::FromStr;

/// A raw query string.
#[derive(Clone, Copy)]
pub(super) struct Query<'a>(&'a str);

impl<'a> Query<'a> {
    pub(super) fn new(raw: &'a str) -> Self {
        Self(raw)
    }

    /// The value of a parameter. One that is given must not be empty: a client that sends `page=`
    /// meant to send something.
    pub(super) fn get(self, name: &'static str) -> Result<Option<Cow<'a, str>>, Problem> {
        let last = self.pairs().filter(|(key, _)| key == name).last();
        last.map(|(_, raw)| value(name, raw)).transpose()
    }

    /// All values of a parameter that may repeat.
    pub(super) fn all(self, name: &'static str) -> Result<Vec<Cow<'a, str>>, Problem> {
        let given = self.pairs().filter(|(key, _)| key == name);
        given.map(|(_, raw)| value(name, raw)).collect()
    }

    fn pairs(self) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> {
        let pairs = self.0.split('&').filter(|pair| !pair.is_empty());
        pairs.map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            // A key that is not UTF-8 is not one of ours, whatever stands in for its bad bytes.
            let key = match spaced(key) {
                Cow::Borrowed(key) => percent_decode_str(key).decode_utf8_lossy(),
                Cow::Owned(key) => percent_decode_str(&key).decode_utf8_lossy().into_owned().into(),
            };
            (key, value)
        })
    }

    /// A parameter read with its type's own parser.
    pub(super) fn parsed<T: FromStr>(
        self,
        name: &'static str,
        expected: &str,
    ) -> Result<Option<T>, Problem> {
        let text = self.get(name)?;
        text.map(|text| text.parse().map_err(|_| refuse(name, expected))).transpose()
    }

    /// `limit`, within 1 and `max`.
    pub(super) fn limit(self, max: usize) -> Result<Option<usize>, Problem> {
        let expected = || format!("expected a number from 1 to {max}");
        let limit: Option<usize> = self.parsed("limit", &expected())?;
        match limit {
            Some(limit) if limit == 0 || limit > max => Err(refuse("limit", expected())),
            limit => Ok(limit),
        }
    }

    /// `limit` of a page of this view. Pages with content are shorter whatever the caller asks for.
    pub(super) fn page_limit(self, view: View) -> Result<usize, Problem> {
        let limit = self.limit(limit::PAGE_ITEMS_MAX)?;
        let limit = limit.unwrap_or(limit::PAGE_ITEMS_DEFAULT);
        Ok(match view {
            View::Basic => limit,
            View::Full => limit.min(limit::PAGE_FULL_ITEMS_MAX),
        })
    }

    /// `view`, with the endpoint's default.
    pub(super) fn view(self, default: View) -> Result<View, Problem> {
        match self.get("view")?.as_deref() {
            None => Ok(default),
            Some("basic") => Ok(View::Basic),
            Some("full") => Ok(View::Full),
            Some(_) => Err(refuse("view", "expected basic or full")),
        }
    }

    /// `order`.
    pub(super) fn order(self) -> Result<Option<Direction>, Problem> {
        match self.get("order")?.as_deref() {
            None => Ok(None),
            Some("asc") => Ok(Some(Direction::Ascending)),
            Some("desc") => Ok(Some(Direction::Descending)),
            Some(_) => Err(refuse("order", "expected asc or desc")),
        }
    }

    /// A switch that is off by default.
    pub(super) fn flag(self, name: &'static str) -> Result<bool, Problem> {
        Ok(self.parsed(name, "expected true or false")?.unwrap_or(false))
    }

    /// A point in time.
    pub(super) fn time(self, name: &'static str) -> Result<Option<Timestamp>, Problem> {
        let Some(text) = self.get(name)? else {
            return Ok(None);
        };
        let moment = Timestamp::parse(&mended_zone(&text));
        let moment = moment.map_err(|invalid| refuse(name, invalid.why))?;
        Ok(Some(moment))
    }
}

/// A refused parameter.
pub(super) fn refuse(name: &'static str, why: impl Into<String>) -> Problem {
    Invalid::new(name, why).into()
}

fn value<'a>(name: &'static str, raw: &'a str) -> Result<Cow<'a, str>, Problem> {
    let not_text = |_| refuse(name, "is not UTF-8");
    let text = match spaced(raw) {
        Cow::Borrowed(text) => percent_decode_str(text).decode_utf8().map_err(not_text)?,
        Cow::Owned(text) => {
            let text = percent_decode_str(&text).decode_utf8().map_err(not_text)?;
            text.into_owned().into()
        }
    };
    if text.is_empty() {
        return Err(refuse(name, "must not be empty"));
    }
    Ok(text)
}

fn spaced(raw: &str) -> Cow<'_, str> {
    if raw.contains('+') { raw.replace('+', " ").into() } else { raw.into() }
}

/// A zone offset whose `+` was not percent-encoded arrives with a space in its place.
fn mended_zone(text: &str) -> Cow<'_, str> {
    match text.rsplit_once(' ') {
        Some((time, zone)) if time.contains(':') => format!("{time}+{zone}").into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_literal_and_the_last_one_wins() {
        let query = Query::new("limit=3&created_at%5Bgte%5D=a%20b&limit=5&&x&beta=true");
        assert_eq!(query.get("limit").unwrap().as_deref(), Some("5"));
        assert_eq!(query.get("created_at[gte]").unwrap().as_deref(), Some("a b"));
        assert_eq!(query.get("created_at[lte]").unwrap(), None);
        assert!(query.get("x").is_err(), "given but empty");
        assert_eq!(Query::new("s[]=a&s[]=b%2B+c").all("s[]").unwrap(), ["a", "b+ c"]);
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_only_where_it_is_asked_for() {
        let query = Query::new("other=%ff&%ff=1&page=%ff");
        assert!(query.get("page").is_err());
        assert_eq!(query.get("limit").unwrap(), None);
    }

    #[test]
    fn limits() {
        let check = |raw: &str, expect: Option<usize>| {
            assert_eq!(Query::new(raw).page_limit(View::Basic).ok(), expect, "{raw}");
        };
        check("", Some(20));
        check("limit=1", Some(1));
        check("limit=100", Some(100));
        for bad in ["0", "101", "-1", "1.5", "many", "", "99999999999999999999", "%205"] {
            check(&format!("limit={bad}"), None);
        }
        assert_eq!(Query::new("limit=100").page_limit(View::Full).unwrap(), 20);
    }

    #[test]
    fn times_in_every_form_clients_send() {
        let utc = Timestamp::parse("2026-11-15T21:00:00Z").unwrap();
        for given in [
            "2026-11-15T21:00:00Z",
            "2026-11-15T21:00:00%2B00:00",
            "2026-11-15T21:00:00+00:00",
            "2026-11-15T22:00:00.000000+01:00",
            "2026-11-15T21:00:00",
            "2026-11-15%2021:00:00",
            "2026-11-15T19:00:00-02:00",
        ] {
            let raw = format!("created_at[gte]={given}");
            assert_eq!(Query::new(&raw).time("created_at[gte]").unwrap(), Some(utc), "{given}");
        }
        for bad in ["yesterday", "1", "2026-13-01T00:00:00Z", "%20"] {
            let raw = format!("created_at[gte]={bad}");
            assert!(Query::new(&raw).time("created_at[gte]").is_err(), "{bad}");
        }
    }
}
