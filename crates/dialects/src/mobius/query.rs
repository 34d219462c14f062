//! The query string. Values are form-encoded (`+` is a space), the last of repeated names wins,
//! unknown names are ignored, and an empty value is as good as none: clients drop empty ones.

use super::error::Problem;
use percent_encoding::percent_decode_str;
use std::ops::RangeInclusive;

/// Items on a page: how many there may be, and when nothing is said.
const PAGE: RangeInclusive<usize> = 1..=100;
const PAGE_DEFAULT: usize = 20;

/// A raw query string.
#[derive(Clone, Copy)]
pub(super) struct Query<'a>(&'a str);

impl<'a> Query<'a> {
    pub(super) fn new(raw: &'a str) -> Self {
        Self(raw)
    }

    /// The last value of a parameter, unless it is empty.
    pub(super) fn get(self, name: &'static str) -> Result<Option<String>, Problem> {
        let pairs = self.0.split('&').filter(|pair| !pair.is_empty());
        let mut pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let is_named =
            |key: &str| percent_decode_str(key).decode_utf8().is_ok_and(|key| key == name);
        let raw = pairs.rfind(|(key, _)| is_named(key)).map(|(_, value)| value);
        let Some(raw) = raw.filter(|raw| !raw.is_empty()) else { return Ok(None) };
        let spaced = raw.replace('+', " ");
        match percent_decode_str(&spaced).decode_utf8() {
            Ok(text) => Ok(Some(text.into_owned())),
            Err(_) => Err(Problem::invalid(format!("{name} is not UTF-8"))),
        }
    }

    /// How many items a page shall have.
    pub(super) fn limit(self) -> Result<usize, Problem> {
        let Some(text) = self.get("limit")? else { return Ok(PAGE_DEFAULT) };
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let limit = text.parse().ok().filter(|limit| is_number && PAGE.contains(limit));
        limit.ok_or_else(bad_limit)
    }
}

/// A page cannot be that long.
pub(super) fn bad_limit() -> Problem {
    Problem::invalid(format!("limit takes {} to {}", PAGE.start(), PAGE.end()))
}

/// A number of items that came with a tool's input.
pub(super) fn page_limit(limit: Option<i64>) -> Result<usize, Problem> {
    let Some(limit) = limit else { return Ok(PAGE_DEFAULT) };
    let limit = usize::try_from(limit).ok().filter(|limit| PAGE.contains(limit));
    limit.ok_or_else(bad_limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_form_encoded_and_the_last_one_wins() {
        let query = Query::new("q=a&q=q+r%2Bs&&kind=&x&me%6Dory=7&bad=%ff");
        let get = |name| query.get(name).ok().flatten();
        assert_eq!(get("q").as_deref(), Some("q r+s"));
        assert_eq!(get("memory").as_deref(), Some("7"));
        assert_eq!((get("kind"), get("x"), get("y")), (None, None, None));
        assert!(query.get("bad").is_err());
    }

    #[test]
    fn limits() {
        for (text, expected) in [("", Some(20)), ("limit=", Some(20)), ("limit=100", Some(100))] {
            assert_eq!(Query::new(text).limit().ok(), expected, "{text}");
        }
        for text in ["0", "101", "-1", "%2B5", "1.5", "ten", "99999999999999999999"] {
            assert!(Query::new(&format!("limit={text}")).limit().is_err(), "{text}");
        }
    }
}
