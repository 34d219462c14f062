//! The query string. Values are form-encoded (`+` is a space), the last of repeated names wins,
//! unknown names are ignored, and an empty value is as good as none: clients that do not know
//! something send it empty.

use super::error::Problem;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// A raw query string.
#[derive(Clone, Copy)]
pub(in crate::robutler) struct Query<'a>(&'a str);

impl<'a> Query<'a> {
    pub(in crate::robutler) fn new(raw: &'a str) -> Self {
        Self(raw)
    }

    /// The last value of a parameter, empty or not.
    pub(in crate::robutler) fn given(
        self,
        name: &'static str,
    ) -> Result<Option<Cow<'a, str>>, Problem> {
        let raw = self.raw(name).last();
        raw.map(|raw| decoded(name, raw)).transpose()
    }

    /// The last value of a parameter, unless it is empty.
    pub(in crate::robutler) fn get(
        self,
        name: &'static str,
    ) -> Result<Option<Cow<'a, str>>, Problem> {
        Ok(self.given(name)?.filter(|value| !value.is_empty()))
    }

    /// Every value of a parameter that may repeat.
    pub(in crate::robutler) fn all(self, name: &'static str) -> Result<Vec<Cow<'a, str>>, Problem> {
        self.raw(name).map(|raw| decoded(name, raw)).collect()
    }

    fn raw(self, name: &str) -> impl Iterator<Item = &'a str> {
        let pairs = self.0.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let is_named = move |key: &str| match percent_decode_str(key).decode_utf8() {
            Ok(key) => key == name,
            Err(_) => false,
        };
        pairs.filter(move |(key, _)| is_named(key)).map(|(_, value)| value)
    }
}

fn decoded<'a>(name: &'static str, raw: &'a str) -> Result<Cow<'a, str>, Problem> {
    let not_text = |_| Problem::invalid(format!("{name} is not UTF-8"));
    if !raw.contains('+') {
        return percent_decode_str(raw).decode_utf8().map_err(not_text);
    }
    let spaced = raw.replace('+', " ");
    let text = percent_decode_str(&spaced).decode_utf8().map_err(not_text)?;
    Ok(text.into_owned().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_form_encoded_and_the_last_one_wins() {
        let query = Query::new("q=a&q=q+r%2Bs&&store=&x&agent%49d=7&bad=%ff");
        let get = |name| query.get(name).ok().flatten().map(Cow::into_owned);
        assert_eq!(get("q").as_deref(), Some("q r+s"));
        assert_eq!(get("agentId").as_deref(), Some("7"));
        assert_eq!(get("store"), None);
        assert_eq!(query.given("store").ok().flatten().as_deref(), Some(""));
        assert_eq!(query.given("x").ok().flatten().as_deref(), Some(""));
        assert_eq!(get("y"), None);
        assert!(query.get("bad").is_err());
    }
}
