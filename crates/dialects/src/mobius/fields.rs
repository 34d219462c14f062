//! The fields of a JSON object that was sent. One that nobody knows is refused: it may be a
//! misspelled one, and nothing is to be lost in silence. Null is as good as none. What is wrong with
//! a value is said without repeating it: it may be content.

use super::error::Problem;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A JSON object.
pub(super) struct Fields(BTreeMap<String, Box<RawValue>>);

impl Fields {
    /// Reads a body.
    pub(super) fn read(body: &[u8]) -> Result<Self, Problem> {
        if body.is_empty() {
            return Err(Problem::invalid("a JSON object is needed"));
        }
        let fields = serde_json::from_slice(body);
        fields.map(Self).map_err(|error| match error.is_data() {
            true => Problem::invalid("the body must be a JSON object"),
            false => Problem::invalid("the body is not valid JSON"),
        })
    }

    /// Refuses fields other than these.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Problem> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) if name.chars().count() <= 64 && !name.chars().any(char::is_control) => {
                Err(Problem::invalid(format!("{name} is not a field of this request")))
            }
            Some(_) => Err(Problem::invalid("the request has a field that is not known")),
        }
    }

    /// A value as it was written.
    pub(super) fn raw(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.get()).filter(|value| *value != "null")
    }

    fn typed<T: DeserializeOwned>(
        &self,
        name: &'static str,
        what: &str,
    ) -> Result<Option<T>, Problem> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        let refuse = |_| Problem::invalid(format!("{name} must be {what}"));
        serde_json::from_str(value).map(Some).map_err(refuse)
    }

    /// A text.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<String>, Problem> {
        self.typed(name, "a string")
    }

    /// A text of so many characters.
    pub(super) fn short(&self, name: &'static str, max: usize) -> Result<Option<String>, Problem> {
        let text = self.text(name)?;
        if text.as_ref().is_some_and(|text| text.chars().count() > max) {
            return Err(Problem::invalid(format!("{name} takes up to {max} characters")));
        }
        Ok(text)
    }

    /// Yes or no.
    pub(super) fn flag(&self, name: &'static str) -> Result<Option<bool>, Problem> {
        self.typed(name, "true or false")
    }

    /// A whole number, written as one.
    pub(super) fn integer(&self, name: &'static str) -> Result<Option<i64>, Problem> {
        self.typed(name, "an integer")
    }

    /// An object within.
    pub(super) fn object(&self, name: &'static str) -> Result<Option<Self>, Problem> {
        let fields: Option<BTreeMap<String, Box<RawValue>>> = self.typed(name, "an object")?;
        Ok(fields.map(Self))
    }

    /// How many fields there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_kept_to() {
        let body = br#"{"a": "x", "n": 5, "f": 5.0, "b": true, "o": {"k": 1}, "z": null}"#;
        let fields = Fields::read(body).unwrap();
        assert_eq!(fields.text("a").unwrap().as_deref(), Some("x"));
        assert_eq!(fields.integer("n").unwrap(), Some(5));
        assert_eq!(fields.flag("b").unwrap(), Some(true));
        assert_eq!(fields.object("o").unwrap().unwrap().len(), 1);
        assert_eq!((fields.text("z").unwrap(), fields.text("none").unwrap()), (None, None));
        for wrong in ["a", "f", "b", "o"] {
            let name: &'static str = wrong;
            assert!(fields.integer(name).is_err(), "{wrong}");
        }
        assert!(fields.text("n").is_err() && fields.flag("n").is_err());
        assert!(fields.short("a", 0).is_err() && fields.object("a").is_err());
        assert!(fields.only(&["a", "n", "f", "b", "o", "z"]).is_ok());
        assert!(fields.only(&["a"]).is_err());
    }

    #[test]
    fn bodies_are_objects() {
        for bad in ["", "[]", "5", "{", "\"x\"", "{\"a\": \"\\ud800\"", "null"] {
            assert!(Fields::read(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
