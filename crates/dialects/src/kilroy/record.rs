//! Records: what Kilroy keeps in a memory, with exactly eight fields.
//!
//! A record is a memory at `/records/<guid>`; scope, kind, source and tags are its attributes of
//! these names. What another door put elsewhere in the store is a record too, under its own id.

use loci_engine::Engine;
use loci_model::{At, Memory, MemoryPath};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use utoipa::ToSchema;
use uuid::Uuid;

const FOLDER: &str = "/records/";

/// A record as it is shown. What another door left out is empty.
#[derive(Serialize, ToSchema)]
#[schema(as = KilroyRecord)]
pub(super) struct Record<'m> {
    pub(super) guid: String,
    pub(super) scope: &'m str,
    pub(super) kind: Cow<'m, str>,
    pub(super) content: &'m str,
    pub(super) source: &'m str,
    pub(super) tags: &'m [String],
    /// Milliseconds since 1970.
    pub(super) created_at: u64,
    /// Milliseconds since 1970.
    pub(super) updated_at: u64,
}

impl<'m> Record<'m> {
    /// The record that a memory, loaded with its content, is; none if that is sealed.
    pub(super) fn of(memory: &'m Memory) -> Option<Self> {
        let attributes = &memory.attributes;
        Some(Self {
            guid: guid_of(memory),
            scope: attributes.scope.as_deref().unwrap_or_default(),
            kind: unescape_kind(attributes.kind.as_deref().unwrap_or_default()),
            content: memory.content.as_ref()?.text()?,
            source: attributes.source.as_deref().unwrap_or_default(),
            tags: &attributes.tags,
            created_at: memory.created_at.as_millis(),
            updated_at: memory.updated_at.as_millis(),
        })
    }
}

/// What names a record.
pub(super) fn guid_of(memory: &Memory) -> String {
    let in_folder = memory.path.as_str().strip_prefix(FOLDER);
    let guid = in_folder.and_then(|name| {
        let guid = Uuid::try_parse(name).ok()?;
        // Written in another way it would not lead back here.
        (guid.to_string() == name).then_some(guid)
    });
    guid.unwrap_or(Uuid::from_u128(memory.id.as_u128())).to_string()
}

/// Where a new record goes.
pub(super) fn new_path(engine: &Engine) -> MemoryPath {
    let seams = engine.seams();
    path(Uuid::from_u128(seams.memory_id(seams.now()).as_u128()))
}

/// Where the record of a guid may be; nowhere if it is none.
pub(super) fn places(guid: &str) -> Vec<At> {
    match Uuid::try_parse(guid.trim()) {
        Ok(guid) => {
            let id = loci_model::MemoryId::from_u128(guid.as_u128());
            vec![At::Path(None, path(guid)), At::Id(id)]
        }
        Err(_) => Vec::new(),
    }
}

fn path(guid: Uuid) -> MemoryPath {
    MemoryPath::parse(&format!("{FOLDER}{guid}")).expect("a guid is a valid segment")
}

/// A kind as it is kept. Kinds are free here and slugs there, so what a slug cannot hold is escaped,
/// and a `%` only where it would be read as an escape.
pub(super) fn escape_kind(kind: &str) -> String {
    let mut slug = String::with_capacity(kind.len());
    for (at, c) in kind.char_indices() {
        if c.is_whitespace() || c.is_control() || (c == '%' && is_escape(&kind[at..])) {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(slug, "%{byte:02X}");
            }
        } else {
            slug.push(c);
        }
    }
    slug
}

/// The inverse of [`escape_kind`].
pub(super) fn unescape_kind(slug: &str) -> Cow<'_, str> {
    percent_decode_str(slug).decode_utf8().unwrap_or(Cow::Borrowed(slug))
}

fn is_escape(text: &str) -> bool {
    let digits = text.as_bytes().get(1..3);
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kinds_that_are_slugs_stay_as_they_are() {
        for same in ["observation", "user-note", "50%", "a%b", "日本語", "100%!"] {
            assert_eq!(escape_kind(same), same);
            assert_eq!(unescape_kind(same), same);
        }
        assert_eq!(escape_kind("two words"), "two%20words");
        assert_eq!(escape_kind("a%20b"), "a%2520b");
    }

    proptest! {
        #[test]
        fn kinds_come_back(kind in "[%0-9a-fA-F \\t\u{a0}é]{0,12}") {
            let slug = escape_kind(&kind);
            prop_assert!(!slug.chars().any(|c| c.is_whitespace() || c.is_control()));
            prop_assert_eq!(unescape_kind(&slug), kind);
        }
    }

    #[test]
    fn only_guids_lead_somewhere() {
        assert!(places("clear").is_empty() && places("../x").is_empty() && places(" ").is_empty());
        assert_eq!(places(" 0190b5a0-0000-7000-8000-000000000001\n").len(), 2);
    }
}
