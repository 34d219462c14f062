//! The fields of a JSON body. Unknown ones are ignored, null is as good as none except where a value
//! may be null, and what is wrong with one is said without repeating it: it may be content.
//!
//! Values are kept as they were written until they are asked for, so that numbers of any size come
//! back as they were sent.

use super::error::Problem;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Seconds an entry or a grant may last: some three thousand years, which every clock can hold.
const SECS_MAX: f64 = 1e11;

/// A JSON object.
#[derive(Default)]
pub(in crate::robutler) struct Fields(BTreeMap<String, Box<RawValue>>);

impl Fields {
    /// Reads a body.
    pub(in crate::robutler) fn read(body: &[u8]) -> Result<Self, Problem> {
        if body.is_empty() {
            return Err(Problem::invalid("a JSON object is needed"));
        }
        let fields = serde_json::from_slice(body);
        fields.map(Self).map_err(|error| match error.is_data() {
            true => Problem::invalid("the body must be a JSON object"),
            false => Problem::invalid("the body is not valid JSON"),
        })
    }

    /// A field as it was written, null included.
    pub(in crate::robutler) fn raw(&self, name: &str) -> Option<&RawValue> {
        self.0.get(name).map(|value| &**value)
    }

    fn get(&self, name: &str) -> Option<&RawValue> {
        self.raw(name).filter(|value| value.get() != "null")
    }

    /// A text.
    pub(in crate::robutler) fn text(&self, name: &'static str) -> Result<Option<String>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let refuse = |_| Problem::invalid(format!("{name} must be a string"));
        serde_json::from_str(value.get()).map(Some).map_err(refuse)
    }

    /// Yes or no.
    pub(in crate::robutler) fn flag(&self, name: &'static str) -> Result<Option<bool>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let refuse = |_| Problem::invalid(format!("{name} must be true or false"));
        serde_json::from_str(value.get()).map(Some).map_err(refuse)
    }

    /// A time to live: whole seconds, of which null, zero and less mean "for ever". `None` when the
    /// field is not there at all.
    pub(in crate::robutler) fn lifetime(
        &self,
        name: &'static str,
    ) -> Result<Option<Lifetime>, Problem> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        if value.get() == "null" {
            return Ok(Some(Lifetime::Endless));
        }
        // Models write 60.0 for 60 now and then.
        let number: Option<f64> = serde_json::from_str(value.get()).ok();
        match number.filter(|number| number.fract() == 0.0 && *number <= SECS_MAX) {
            None => Err(Problem::invalid(format!("{name} must be a whole number of seconds"))),
            Some(number) if number <= 0.0 => Ok(Some(Lifetime::Endless)),
            Some(number) => Ok(Some(Lifetime::Secs(number as i64))),
        }
    }
}

/// How long something lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::robutler) enum Lifetime {
    Endless,
    Secs(i64),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lifetime(value: &str) -> Option<Option<Lifetime>> {
        let body = format!(r#"{{"ttl":{value}}}"#);
        Fields::read(body.as_bytes()).unwrap().lifetime("ttl").ok()
    }

    #[test]
    fn only_objects_are_bodies() {
        for bad in ["", "[]", "1", "null", "{", r#"{"a":}"#, "\u{ff}", "{} {}"] {
            assert!(Fields::read(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(Fields::read(b"{\"a\xff\":1}").is_err());
        assert!(Fields::read(br#" {"anything":[1],"a":1,"a":2} "#).is_ok());
    }

    #[test]
    fn types_are_checked_where_they_matter() {
        let body = br#"{"t":"x\n","n":1,"z":null,"f":true,"big":12345678901234567890123}"#;
        let fields = Fields::read(body).unwrap();
        assert_eq!(fields.text("t").unwrap().as_deref(), Some("x\n"));
        assert_eq!(fields.text("z").unwrap(), None);
        assert!(fields.text("n").is_err() && fields.flag("t").is_err());
        assert_eq!(fields.flag("f").unwrap(), Some(true));
        assert_eq!(fields.raw("big").unwrap().get(), "12345678901234567890123");
        assert_eq!(fields.raw("z").unwrap().get(), "null");
        assert!(fields.raw("none").is_none());
    }

    #[test]
    fn lifetimes() {
        assert_eq!(Fields::default().lifetime("ttl").unwrap(), None);
        for endless in ["null", "0", "-5", "-0.0", "-1e30"] {
            assert_eq!(lifetime(endless), Some(Some(Lifetime::Endless)), "{endless}");
        }
        assert_eq!(lifetime("60"), Some(Some(Lifetime::Secs(60))));
        assert_eq!(lifetime("60.0"), Some(Some(Lifetime::Secs(60))));
        for bad in ["\"60\"", "[60]", "1e30", "0.5", "true", "{}"] {
            assert_eq!(lifetime(bad), None, "{bad}");
        }
    }
}
