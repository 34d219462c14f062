//! JSON bodies. A body is an object with known fields and nothing else; what is wrong with one is
//! said without repeating what was sent, which may be content and may be long.

use super::error::Problem;
use super::query::refuse;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use std::fmt;
use std::marker::PhantomData;

/// Characters of a field's name that an error repeats.
const NAME_CHARS_MAX: usize = 64;

/// Reads a body that must be there.
pub(super) fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Problem> {
    if body.is_empty() {
        return Err(refuse("body", "a JSON object is needed"));
    }
    let read: Result<Object<T>, _> = serde_json::from_slice(body);
    read.map(|object| object.0).map_err(|error| explain("body", &error))
}

/// Reads an object that was found at `field` of a body.
pub(super) fn read_value<T: DeserializeOwned>(
    field: &'static str,
    value: serde_json::Value,
) -> Result<T, Problem> {
    let read: Result<Object<T>, _> = serde_json::from_value(value);
    read.map(|object| object.0).map_err(|error| explain(field, &error))
}

/// Reads the body of an action that takes none. Clients send nothing at all, or an empty object.
pub(super) fn read_none(body: &[u8]) -> Result<(), Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    if body.is_empty() {
        return Ok(());
    }
    read::<Nothing>(body).map(drop)
}

/// A JSON object and nothing else: derived readers would take an array of the fields' values too.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Reader(PhantomData))
    }
}

/// Tells a field that is null from one that is not there.
pub(super) fn nullable<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

fn explain(field: &'static str, error: &serde_json::Error) -> Problem {
    // A value that was already taken apart has no place.
    let place = match (error.line(), error.column()) {
        (0, _) => String::new(),
        (line, column) => format!(" at line {line} column {column}"),
    };
    let why = match error.classify() {
        Category::Syntax | Category::Eof | Category::Io => format!("is not valid JSON{place}"),
        Category::Data => {
            let said = error.to_string();
            let named = ["missing field", "unknown field", "duplicate field"].into_iter();
            let mut named = named.filter_map(|what| Some((what, quoted_after(&said, what)?)));
            match named.next() {
                Some((what, field)) => format!("{what} {field}"),
                None => format!("has a value of the wrong type{place}"),
            }
        }
    };
    refuse(field, why)
}

/// The name in back quotes that follows `what` at the start of a message.
fn quoted_after(said: &str, what: &str) -> Option<String> {
    let rest = said.strip_prefix(what)?.strip_prefix(" `")?;
    let is_shown = |c: &char| *c != '`' && !c.is_control();
    Some(rest.chars().take_while(is_shown).take(NAME_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[expect(dead_code, reason = "only reading is tested")]
        path: String,
        inner: Option<Object<Inner>>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[expect(dead_code, reason = "only reading is tested")]
        kind: String,
    }

    impl fmt::Debug for Object<Inner> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Inner")
        }
    }

    fn check(body: &[u8], part: &str) {
        let problem = read::<Sample>(body).expect_err("is bad");
        let said = format!("{problem:?}");
        assert!(said.contains(part), "{said}");
        assert!(!said.contains("canary"), "{said}");
    }

    #[test]
    fn what_is_wrong_is_said_without_repeating_the_body() {
        check(b"", "a JSON object is needed");
        check(b"{", "not valid JSON");
        check(b"{\"path\":\"\xff\"}", "not valid JSON");
        check(b"null", "wrong type");
        check(b"\"canary\"", "wrong type");
        check(b"{}", "missing field path");
        check(b"{\"path\":7}", "wrong type");
        check(b"{\"path\":[\"canary\"]}", "wrong type");
        check(b"{\"path\":\"/a\",\"extra\":\"canary\"}", "unknown field extra");
        check(b"{\"path\":\"/a\",\"path\":\"canary\"}", "duplicate field path");
        check(b"{\"path\":\"/a\"}{}", "not valid JSON");
        let long = format!("{{\"path\":\"/a\",\"{}\":1}}", "x".repeat(5000));
        let said = format!("{:?}", read::<Sample>(long.as_bytes()).expect_err("is bad"));
        assert!(said.len() < 400, "{said}");
    }

    #[test]
    fn arrays_do_not_stand_in_for_objects() {
        check(b"[\"/a\"]", "wrong type");
        check(b"{\"path\":\"/a\",\"inner\":[\"x\"]}", "wrong type");
        let good =
            read::<Sample>(b"{\"path\":\"/a\",\"inner\":{\"kind\":\"x\"}}").expect("is good");
        assert!(good.inner.is_some());
    }

    #[test]
    fn actions_take_nothing_or_an_empty_object() {
        for good in ["", "{}", " { } "] {
            assert!(read_none(good.as_bytes()).is_ok(), "{good}");
        }
        for bad in ["null", "[]", "{\"a\":1}", "x"] {
            assert!(read_none(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
