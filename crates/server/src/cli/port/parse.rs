//! Reads what the server says into the mount's own nouns. An answer that lacks what it must have does
//! not come from a server that this program knows, and counts as none.
//!
//! A mount reads one line for every file it writes, so they are read from the bytes as they come,
//! without a tree of values in between.

use loci_model::{
    Access, Attributes, Digest, MemoryId, MemoryPath, Operation, Timestamp, VersionId, Visibility,
};
use loci_mount::port::{Change, Done, Edition, Entry, Feed, Listed, Refusal};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// What is written as a text and means something.
trait Meaning: Sized {
    const NAME: &'static str;
    fn read(text: &str) -> Option<Self>;
}

macro_rules! meaning {
    ($($noun:ty, $name:literal, $read:expr;)*) => {
        $(impl Meaning for $noun {
            const NAME: &'static str = $name;
            fn read(text: &str) -> Option<Self> {
                let read: fn(&str) -> Option<Self> = $read;
                read(text)
            }
        })*
    };
}

meaning! {
    MemoryId, "a memory's id", |text| text.parse().ok();
    VersionId, "a version's id", |text| text.parse().ok();
    Digest, "a digest", |text| text.parse().ok();
    MemoryPath, "a path", |text| MemoryPath::parse(text).ok();
    Timestamp, "a moment", |text| Timestamp::parse(text).ok();
    Visibility, "a visibility", |text| Some(match text {
        "internal" => Visibility::Internal,
        "quarantine" => Visibility::Quarantine,
        _ => Visibility::Context,
    });
    Access, "an access", |text| Some(match text {
        "read_only" => Access::ReadOnly,
        "read_write" => Access::ReadWrite,
        _ => return None,
    });
    Operation, "an operation", |text| Some(match text {
        "created" => Operation::Created,
        "modified" => Operation::Modified,
        "deleted" => Operation::Deleted,
        _ => return None,
    });
}

/// A text, read.
struct Said<T>(T);

impl<'de, T: Meaning> Deserialize<'de> for Said<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reading<T>(PhantomData<T>);
        impl<T: Meaning> Visitor<'_> for Reading<T> {
            type Value = Said<T>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str(T::NAME)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Said<T>, E> {
                T::read(text).map(Said).ok_or_else(|| E::custom(format_args!("not {}", T::NAME)))
            }
        }
        from.deserialize_str(Reading(PhantomData))
    }
}

/// A memory, as the server tells of it; the rest of what it tells is not needed here.
#[derive(serde::Deserialize)]
struct Told<'a> {
    id: Said<MemoryId>,
    memory_version_id: Said<VersionId>,
    revision: u64,
    path: Said<MemoryPath>,
    content_sha256: Said<Digest>,
    size_bytes: u64,
    #[serde(default)]
    is_sealed: bool,
    created_at: Said<Timestamp>,
    updated_at: Said<Timestamp>,
    #[serde(borrow)]
    partition: Option<Cow<'a, str>>,
    kind: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    importance: Option<u8>,
    #[serde(default)]
    pinned: bool,
    visibility: Option<Said<Visibility>>,
    expires_at: Option<Said<Timestamp>>,
    source: Option<String>,
    scope: Option<String>,
    summary: Option<String>,
    media_type: Option<String>,
    metadata: Option<Value>,
    content: Option<String>,
}

impl Told<'_> {
    fn entry(self, principal: &str) -> (Entry, Option<String>) {
        let attributes = Attributes {
            kind: self.kind,
            tags: self.tags,
            importance: self.importance,
            pinned: self.pinned,
            visibility: self.visibility.map_or(Visibility::Context, |it| it.0),
            expires_at: self.expires_at.map(|it| it.0),
            source: self.source,
            scope: self.scope,
            summary: self.summary,
            media_type: self.media_type,
            metadata: self.metadata.map(|it| it.to_string()),
        };
        let entry = Entry {
            memory: self.id.0,
            version: self.memory_version_id.0,
            revision: self.revision,
            path: self.path.0,
            digest: self.content_sha256.0,
            size_bytes: self.size_bytes,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
            attributes,
            is_own: self.partition.is_none_or(|owner| owner == principal),
        };
        (entry, self.content)
    }
}

/// A whole answer.
fn answer<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Refusal> {
    serde_json::from_slice(bytes).map_err(|error| {
        Refusal::Unreachable(format!("the answer is none that this program understands: {error}"))
    })
}

/// An entry; none if it is sealed.
pub(super) fn entry(bytes: &[u8], principal: &str) -> Result<Option<Entry>, Refusal> {
    let told: Told<'_> = answer(bytes)?;
    Ok((!told.is_sealed).then(|| told.entry(principal).0))
}

/// A page of entries, and of the directories beside them.
pub(super) fn listed(bytes: &[u8], principal: &str) -> Result<Listed, Refusal> {
    #[derive(serde::Deserialize)]
    struct Page<'a> {
        #[serde(borrow)]
        data: Vec<&'a RawValue>,
        next_page: Option<String>,
        last_seq: u64,
    }
    #[derive(serde::Deserialize)]
    struct Sort<'a> {
        #[serde(rename = "type", borrow)]
        name: Cow<'a, str>,
        path: String,
    }
    let page: Page<'_> = answer(bytes)?;
    let mut entries = Vec::with_capacity(page.data.len());
    let mut directories = Vec::new();
    for item in page.data {
        let item = item.get().as_bytes();
        let sort: Sort<'_> = answer(item)?;
        if sort.name != "entry" {
            directories.extend((sort.name == "directory").then_some(sort.path));
            continue;
        }
        let told: Told<'_> = answer(item)?;
        if !told.is_sealed {
            entries.push(told.entry(principal));
        }
    }
    Ok(Listed { entries, directories, next: page.next_page, last_seq: page.last_seq })
}

/// What a batch did.
pub(super) fn done(bytes: &[u8], principal: &str) -> Result<Vec<Done>, Refusal> {
    #[derive(serde::Deserialize)]
    struct Batch<'a> {
        #[serde(borrow)]
        data: Vec<Line<'a>>,
    }
    #[derive(serde::Deserialize)]
    struct Line<'a> {
        operation: Option<Said<Operation>>,
        #[serde(borrow)]
        entry: Told<'a>,
    }
    let one = |line: Line<'_>| Done {
        entry: line.entry.entry(principal).0,
        operation: line.operation.map(|it| it.0),
    };
    Ok(answer::<Batch<'_>>(bytes)?.data.into_iter().map(one).collect())
}

/// A page of the feed.
pub(super) fn feed(bytes: &[u8]) -> Result<Feed, Refusal> {
    #[derive(serde::Deserialize)]
    struct Page<'a> {
        #[serde(borrow)]
        data: Vec<Line<'a>>,
        access: Said<Access>,
    }
    #[derive(serde::Deserialize)]
    struct Line<'a> {
        seq: u64,
        memory_id: Said<MemoryId>,
        memory_version_id: Said<VersionId>,
        path: Option<Said<MemoryPath>>,
        revision: u64,
        #[serde(borrow)]
        operation: Cow<'a, str>,
    }
    let one = |line: Line<'_>| Change {
        seq: line.seq,
        memory: line.memory_id.0,
        version: line.memory_version_id.0,
        path: line.path.map(|it| it.0),
        revision: line.revision,
        is_removal: line.operation == "deleted",
    };
    let page: Page<'_> = answer(bytes)?;
    Ok(Feed { access: page.access.0, changes: page.data.into_iter().map(one).collect() })
}

/// One page of a memory's versions, the newest first.
#[derive(serde::Deserialize)]
pub(super) struct Versions {
    pub(super) data: Vec<Version>,
    pub(super) next_page: Option<String>,
}

/// One of them.
#[derive(serde::Deserialize)]
pub(super) struct Version {
    id: Said<VersionId>,
    operation: Said<Operation>,
    content_sha256: Option<String>,
    content_size_bytes: Option<u64>,
    redacted_at: Option<String>,
    created_at: Said<Timestamp>,
    #[serde(default)]
    created_by: Value,
}

/// A page of versions.
pub(super) fn versions(bytes: &[u8]) -> Result<Versions, Refusal> {
    answer(bytes)
}

/// Versions, oldest first, of a list with the newest first and the number of that one.
pub(super) fn editions(newest_first: &[Version], newest: u64) -> Vec<Edition> {
    let count = newest_first.len() as u64;
    let one = |(index, it): (usize, &Version)| {
        let has_content = it.content_sha256.is_some() && it.redacted_at.is_none();
        Edition {
            version: it.id.0,
            revision: (newest + 1 + index as u64).saturating_sub(count),
            operation: it.operation.0,
            size_bytes: it.content_size_bytes.filter(|_| has_content),
            created_at: it.created_at.0,
            actor: super::super::output::actor(&it.created_by),
        }
    };
    newest_first.iter().rev().enumerate().map(one).collect()
}

/// The version that a memory is at, and its text.
#[derive(serde::Deserialize)]
struct Head {
    memory_version_id: Said<VersionId>,
    content: Option<String>,
}

/// The text of a memory, if it is at this version.
pub(super) fn text_at(bytes: &[u8], version: VersionId) -> Option<String> {
    let head: Head = answer(bytes).ok()?;
    head.content.filter(|_| head.memory_version_id.0 == version)
}

/// The text of a version, if it has one.
pub(super) fn text(bytes: &[u8]) -> Result<Option<String>, Refusal> {
    #[derive(serde::Deserialize)]
    struct Whole {
        content: Option<String>,
    }
    answer::<Whole>(bytes).map(|it| it.content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found() -> Value {
        json!({
            "type": "entry", "id": "mem_011111111111111111111111", "path": "/a",
            "memory_version_id": "memver_011111111111111111111111", "revision": 2,
            "content_sha256": "0".repeat(64), "size_bytes": 3, "is_sealed": false,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z",
            "partition": null, "kind": "fact", "tags": ["x"], "importance": 7, "pinned": true,
            "visibility": "context", "expires_at": null, "metadata": {"n": 1}, "content": "abc",
        })
    }

    #[test]
    fn sealed_entries_are_left_out_and_directories_stand_beside() {
        let mut sealed = found();
        sealed["is_sealed"] = json!(true);
        let directory = json!({"type": "directory", "path": "/x/"});
        let page = json!({"data": [directory, sealed, found()], "next_page": "p", "last_seq": 9});
        let listed = listed(page.to_string().as_bytes(), "prn_x").unwrap();
        assert_eq!(
            (listed.entries.len(), listed.next.as_deref(), listed.last_seq),
            (1, Some("p"), 9)
        );
        assert_eq!(listed.directories, ["/x/"]);
        let (entry, content) = &listed.entries[0];
        assert_eq!((entry.revision, entry.attributes.importance), (2, Some(7)));
        assert_eq!(entry.attributes.metadata.as_deref(), Some(r#"{"n":1}"#));
        assert!(entry.is_own && content.as_deref() == Some("abc"));
    }

    #[test]
    fn whose_a_partition_is_says_the_principal() {
        let mut other = found();
        other["partition"] = json!("prn_y");
        let is_own = |principal| {
            let entry = entry(other.to_string().as_bytes(), principal).unwrap();
            entry.unwrap().is_own
        };
        assert!(!is_own("prn_x") && is_own("prn_y"));
    }

    #[test]
    fn what_lacks_a_field_is_no_answer() {
        for field in ["id", "path", "revision", "content_sha256", "updated_at"] {
            let mut value = found();
            value[field] = Value::Null;
            let told = value.to_string();
            let read = [
                entry(told.as_bytes(), "").map(drop),
                done(format!(r#"{{"data":[{{"operation":null,"entry":{told}}}]}}"#).as_bytes(), "")
                    .map(drop),
            ];
            for answer in read {
                assert!(matches!(answer, Err(Refusal::Unreachable(_))), "{field}");
            }
        }
    }

    #[test]
    fn a_batch_and_a_feed_say_what_happened() {
        let mut written = found();
        written["path"] = json!("/with \"quotes\" and \u{1f9e0}");
        let answer = json!({"data": [{"operation": "created", "entry": written},
            {"operation": null, "entry": found()}]});
        let done = done(answer.to_string().as_bytes(), "").unwrap();
        assert_eq!(done[0].operation, Some(Operation::Created));
        assert_eq!(done[0].entry.path.as_str(), "/with \"quotes\" and \u{1f9e0}");
        assert_eq!((done[1].operation, done[1].entry.path.as_str()), (None, "/a"));
        let line = |operation: &str, path: Value| {
            json!({"seq": 4, "type": "change", "operation": operation, "path": path,
                "memory_id": "mem_011111111111111111111111", "revision": 2,
                "memory_version_id": "memver_011111111111111111111111"})
        };
        let lines = [line("deleted", json!("/a")), line("redacted", Value::Null)];
        let page = json!({"data": lines, "access": "read_only"});
        let Feed { access, changes } = feed(page.to_string().as_bytes()).unwrap();
        assert_eq!(access, Access::ReadOnly);
        assert!(feed(br#"{"data":[],"access":"none"}"#).is_err());
        assert!(changes[0].is_removal && !changes[1].is_removal);
        let paths = changes.iter().map(|it| it.path.as_ref().map(|path| path.as_str()));
        assert_eq!(paths.collect::<Vec<_>>(), [Some("/a"), None]);
    }

    #[test]
    fn versions_are_numbered_from_the_newest() {
        let version = |operation: &str| {
            json!({"id": "memver_011111111111111111111111", "operation": operation,
                "created_at": "2026-01-01T00:00:00Z", "redacted_at": null,
                "content_sha256": "00", "content_size_bytes": 1})
        };
        let data = [version("modified"), version("modified"), version("created")];
        let page = json!({"data": data, "next_page": null}).to_string();
        let newest_first = versions(page.as_bytes()).unwrap().data;
        let numbers = |newest| {
            let editions = editions(&newest_first, newest);
            editions.iter().map(|edition| edition.revision).collect::<Vec<_>>()
        };
        assert_eq!(numbers(3), [1, 2, 3]);
        assert_eq!(numbers(9), [7, 8, 9]);
    }
}
