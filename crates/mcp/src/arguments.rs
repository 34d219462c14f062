//! What a model gave a tool, taken apart. Every argument is checked here against its type and its
//! bounds, and one that the tool does not have is refused by name: a misspelt argument must not
//! become a wrong default.

use crate::trouble::Trouble;
use loci_model::{MemoryPath, PathPrefix, limit};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// The arguments of one call.
pub(crate) struct Arguments<'a>(&'a Map<String, Value>);

impl<'a> Arguments<'a> {
    /// The arguments, none of which the tool does not have.
    pub(crate) fn of(given: &'a Map<String, Value>, known: &[&str]) -> Result<Self, Trouble> {
        match given.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(Self(given)),
            Some(name) => {
                let shown: String = name.chars().take(64).collect();
                let known = known.join(", ");
                Err(Trouble::call(format!("there is no argument {shown:?}; there are: {known}")))
            }
        }
    }

    /// A text, if it is given. What is `null` is not given.
    pub(crate) fn text(&self, name: &str, chars_max: usize) -> Result<Option<&'a str>, Trouble> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.chars().nth(chars_max).is_none() => Ok(Some(text)),
            Some(Value::String(_)) => {
                Err(Trouble::call(format!("{name} takes up to {chars_max} characters")))
            }
            Some(_) => Err(Trouble::call(format!("{name} must be a string"))),
        }
    }

    /// A text that must be there.
    pub(crate) fn needed(&self, name: &str, chars_max: usize) -> Result<&'a str, Trouble> {
        let found = self.text(name, chars_max)?;
        found.ok_or_else(|| Trouble::call(format!("{name} is needed")))
    }

    /// A whole number within bounds, if it is given.
    pub(crate) fn number(
        &self,
        name: &str,
        bounds: RangeInclusive<u64>,
    ) -> Result<Option<u64>, Trouble> {
        let number = match self.0.get(name) {
            None | Some(Value::Null) => return Ok(None),
            // Some models write 10.0 for 10.
            Some(value) => value.as_u64().or_else(|| whole(value.as_f64()?)),
        };
        match number {
            Some(number) if bounds.contains(&number) => Ok(Some(number)),
            _ => {
                let (from, to) = bounds.into_inner();
                Err(Trouble::call(format!("{name} takes a whole number from {from} to {to}")))
            }
        }
    }

    /// Yes or no; no when it is not given.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Trouble> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(Trouble::call(format!("{name} must be true or false"))),
        }
    }

    /// Which store; none is the caller's own.
    pub(crate) fn store(&self) -> Result<Option<&'a str>, Trouble> {
        self.text("store", limit::NAME_CHARS_MAX)
    }

    /// The path of a memory. Models forget the slash at its beginning.
    pub(crate) fn path(&self) -> Result<MemoryPath, Trouble> {
        let text = self.needed("path", limit::PATH_BYTES_MAX)?;
        match text.starts_with('/') {
            true => Ok(MemoryPath::parse(text)?),
            false => Ok(MemoryPath::parse(&format!("/{text}"))?),
        }
    }

    /// A directory; the whole store when none is given.
    pub(crate) fn directory(&self) -> Result<PathPrefix, Trouble> {
        let text = self.text("path", limit::PATH_BYTES_MAX)?.unwrap_or_default();
        let inner = text.trim_matches('/');
        match inner.is_empty() {
            true => Ok(PathPrefix::root()),
            false => Ok(PathPrefix::parse(&format!("/{inner}/"))?),
        }
    }
}

fn whole(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && (0.0..=9e15).contains(&number);
    is_whole.then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn arguments_are_bounded_and_typed() {
        let map = given(&json!({"a": "xyz", "n": 10.0, "f": true, "z": null, "m": -1}));
        let arguments = Arguments::of(&map, &["a", "n", "f", "z", "m"]).unwrap();
        assert_eq!(arguments.text("a", 3).unwrap(), Some("xyz"));
        assert!(arguments.text("a", 2).is_err());
        assert!(arguments.text("n", 2).is_err());
        assert_eq!(arguments.number("n", 1..=10).unwrap(), Some(10));
        assert!(arguments.number("n", 1..=9).is_err());
        assert!(arguments.number("m", 0..=9).is_err());
        assert!(arguments.flag("f").unwrap() && !arguments.flag("z").unwrap());
        assert!(arguments.flag("a").is_err());
        assert!(arguments.needed("z", 9).is_err());
        let unknown = Arguments::of(&map, &["a"]).map(|_| ()).unwrap_err().to_string();
        assert!(unknown.contains("there are: a"), "{unknown}");
    }

    #[test]
    fn paths_are_forgiven_their_slashes() {
        let path = |text: &str| {
            let map = given(&json!({ "path": text }));
            let arguments = Arguments::of(&map, &["path"]).unwrap();
            let path = arguments.path().map(|path| path.to_string());
            (path.ok(), arguments.directory().ok().map(|one| one.as_str().to_owned()))
        };
        assert_eq!(path("a/b.md"), (Some("/a/b.md".into()), Some("/a/b.md/".into())));
        assert_eq!(path("/a/"), (None, Some("/a/".into())));
        assert_eq!(path("/"), (None, Some("/".into())));
        assert_eq!(path("/a/../b").0, None);
    }
}
