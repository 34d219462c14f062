//! Values as content, and back. A string is kept as its text, so that every door shows and searches
//! it as such; any other JSON is kept as it was written, marked as JSON. An encrypted value is
//! sealed: kept and given back, never looked into.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use loci_model::{Content, Memory, Patch};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What marks content as JSON that is not a string.
const JSON: &str = "application/json";

/// A value that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    text: String,
    is_json: bool,
}

impl Kept {
    /// A value as it will be kept. `None` when it is a string that is not text, such as half of a
    /// surrogate pair.
    pub(crate) fn read(value: &RawValue) -> Option<Self> {
        let is_json = !value.get().starts_with('"');
        let text = match is_json {
            true => value.get().to_owned(),
            false => serde_json::from_str(value.get()).ok()?,
        };
        Some(Self { text, is_json })
    }

    /// The content.
    pub(crate) fn content(&self, is_sealed: bool) -> Content {
        match is_sealed {
            true => Content::Sealed(self.text.clone().into_bytes()),
            false => Content::Text(self.text.clone()),
        }
    }

    /// The mark on an entry that is written over. It is always said: another value may have been
    /// written meanwhile, and its mark must not stay on this one.
    pub(crate) fn mark(&self, old: Option<&str>) -> Patch<Option<String>> {
        let other = old.filter(|old| *old != JSON);
        let mark = if self.is_json { Some(JSON) } else { other };
        Patch::Set(mark.map(str::to_owned))
    }
}

/// A value as it is shown.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Value<'a> {
    Text(Cow<'a, str>),
    Json(&'a RawValue),
}

impl<'a> Value<'a> {
    /// The value of a memory that was loaded with its content. Bytes that another door sealed and
    /// that are not text are shown in Base64.
    pub(crate) fn of(memory: &'a Memory) -> Self {
        let bytes = memory.content.as_ref().map_or(&[][..], Content::bytes);
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Self::Text(BASE64_STANDARD.encode(bytes).into());
        };
        let is_json = memory.attributes.media_type.as_deref() == Some(JSON);
        // Another door may have put something else there.
        let json = is_json.then(|| serde_json::from_str(text).ok()).flatten();
        json.map_or(Self::Text(text.into()), Self::Json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(json: &str) -> Option<Kept> {
        Kept::read(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn strings_are_text_and_the_rest_is_json_as_written() {
        let text = kept(r#""a\u0041\n""#).unwrap();
        assert_eq!((text.text.as_str(), text.is_json), ("aA\n", false));
        for json in ["null", "1e400", "12345678901234567890123", "1.0", "{ \"b\":1, \"a\":[ ] }"] {
            let kept = kept(json).unwrap();
            assert_eq!((kept.text.as_str(), kept.is_json), (json, true));
        }
        assert_eq!(kept(r#""\ud800""#), None);
    }

    #[test]
    fn marks_follow_the_type() {
        let (text, json) = (kept(r#""x""#).unwrap(), kept("1").unwrap());
        assert_eq!(text.mark(Some(JSON)), Patch::Set(None));
        assert_eq!(text.mark(None), Patch::Set(None));
        let markdown = Patch::Set(Some("text/markdown".to_owned()));
        assert_eq!(text.mark(Some("text/markdown")), markdown);
        assert_eq!(json.mark(None), Patch::Set(Some(JSON.to_owned())));
    }
}
