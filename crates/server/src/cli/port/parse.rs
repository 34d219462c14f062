//! Reads what the server says into the mount's own nouns. An answer that lacks what it must have does
//! not come from a server that this program knows, and counts as none.

use loci_model::{Attributes, MemoryPath, Operation, Timestamp, Visibility};
use loci_mount::port::{Change, Done, Edition, Entry, Listed, Refusal};
use serde_json::Value;
use std::str::FromStr;

fn strange(what: &str) -> Refusal {
    Refusal::Unreachable(format!("the answer has no {what} that this program understands"))
}

/// A text field that has to be there and be right.
fn read<T: FromStr>(value: &Value, field: &'static str) -> Result<T, Refusal> {
    let text = value[field].as_str().ok_or_else(|| strange(field))?;
    text.parse().map_err(|_| strange(field))
}

fn number(value: &Value, field: &'static str) -> Result<u64, Refusal> {
    value[field].as_u64().ok_or_else(|| strange(field))
}

fn moment(value: &Value, field: &'static str) -> Result<Timestamp, Refusal> {
    let text = value[field].as_str().ok_or_else(|| strange(field))?;
    Timestamp::parse(text).map_err(|_| strange(field))
}

fn text(value: &Value, field: &str) -> Option<String> {
    value[field].as_str().map(str::to_owned)
}

fn path(value: &Value) -> Result<MemoryPath, Refusal> {
    let text = value["path"].as_str().ok_or_else(|| strange("path"))?;
    MemoryPath::parse(text).map_err(|_| strange("path"))
}

fn items(value: &Value) -> Result<&[Value], Refusal> {
    value["data"].as_array().map(Vec::as_slice).ok_or_else(|| strange("data"))
}

/// An entry; none if it is sealed.
pub(super) fn entry(value: &Value, principal: &str) -> Result<Option<Entry>, Refusal> {
    if value["is_sealed"] == Value::Bool(true) {
        return Ok(None);
    }
    any_entry(value, principal).map(Some)
}

fn any_entry(value: &Value, principal: &str) -> Result<Entry, Refusal> {
    Ok(Entry {
        memory: read(value, "id")?,
        version: read(value, "memory_version_id")?,
        revision: number(value, "revision")?,
        path: path(value)?,
        digest: read(value, "content_sha256")?,
        size_bytes: number(value, "size_bytes")?,
        created_at: moment(value, "created_at")?,
        updated_at: moment(value, "updated_at")?,
        attributes: attributes(value)?,
        is_own: value["partition"].as_str().is_none_or(|owner| owner == principal),
    })
}

fn attributes(value: &Value) -> Result<Attributes, Refusal> {
    let tags = value["tags"].as_array().into_iter().flatten();
    Ok(Attributes {
        kind: text(value, "kind"),
        tags: tags.filter_map(|tag| tag.as_str().map(str::to_owned)).collect(),
        importance: value["importance"].as_u64().and_then(|number| u8::try_from(number).ok()),
        pinned: value["pinned"].as_bool().unwrap_or(false),
        visibility: match value["visibility"].as_str() {
            Some("internal") => Visibility::Internal,
            Some("quarantine") => Visibility::Quarantine,
            _ => Visibility::Context,
        },
        expires_at: match value["expires_at"].is_string() {
            true => Some(moment(value, "expires_at")?),
            false => None,
        },
        source: text(value, "source"),
        scope: text(value, "scope"),
        summary: text(value, "summary"),
        media_type: text(value, "media_type"),
        metadata: match &value["metadata"] {
            Value::Null => None,
            some => Some(some.to_string()),
        },
    })
}

/// A page of entries; directories come from paths and are left out.
pub(super) fn listed(page: &Value, principal: &str) -> Result<Listed, Refusal> {
    let mut entries = Vec::new();
    for item in items(page)? {
        if item["type"] != "entry" {
            continue;
        }
        if let Some(entry) = entry(item, principal)? {
            entries.push((entry, text(item, "content")));
        }
    }
    let last_seq = number(page, "last_seq")?;
    Ok(Listed { entries, next: text(page, "next_page"), last_seq })
}

fn operation(value: &Value) -> Result<Option<Operation>, Refusal> {
    match value["operation"].as_str() {
        Some("created") => Ok(Some(Operation::Created)),
        Some("modified") => Ok(Some(Operation::Modified)),
        Some("deleted") => Ok(Some(Operation::Deleted)),
        Some(_) => Err(strange("operation")),
        None => Ok(None),
    }
}

/// What a batch did.
pub(super) fn done(answer: &Value, principal: &str) -> Result<Vec<Done>, Refusal> {
    let one = |item: &Value| {
        let entry = any_entry(&item["entry"], principal)?;
        Ok(Done { entry, operation: operation(item)? })
    };
    items(answer)?.iter().map(one).collect()
}

/// A page of the feed.
pub(super) fn changes(page: &Value) -> Result<Vec<Change>, Refusal> {
    let one = |item: &Value| {
        Ok(Change {
            seq: number(item, "seq")?,
            memory: read(item, "memory_id")?,
            version: read(item, "memory_version_id")?,
            revision: number(item, "revision")?,
            is_removal: item["operation"] == "deleted",
        })
    };
    items(page)?.iter().map(one).collect()
}

/// Versions, oldest first, of a list with the newest first and the number of that one.
pub(super) fn editions(newest_first: &[Value], newest: u64) -> Result<Vec<Edition>, Refusal> {
    let count = newest_first.len() as u64;
    let one = |(index, item): (usize, &Value)| {
        let has_content = item["content_sha256"].is_string() && item["redacted_at"].is_null();
        Ok(Edition {
            version: read(item, "id")?,
            revision: (newest + 1 + index as u64).saturating_sub(count),
            operation: operation(item)?.ok_or_else(|| strange("operation"))?,
            size_bytes: item["content_size_bytes"].as_u64().filter(|_| has_content),
            created_at: moment(item, "created_at")?,
            actor: super::super::output::actor(&item["created_by"]),
        })
    };
    newest_first.iter().rev().enumerate().map(one).collect()
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
    fn sealed_entries_and_directories_are_left_out() {
        let mut sealed = found();
        sealed["is_sealed"] = json!(true);
        let directory = json!({"type": "directory", "path": "/x/"});
        let page = json!({"data": [directory, sealed, found()], "next_page": "p", "last_seq": 9});
        let listed = listed(&page, "prn_x").unwrap();
        assert_eq!(
            (listed.entries.len(), listed.next.as_deref(), listed.last_seq),
            (1, Some("p"), 9)
        );
        let (entry, content) = &listed.entries[0];
        assert_eq!((entry.revision, entry.attributes.importance), (2, Some(7)));
        assert_eq!(entry.attributes.metadata.as_deref(), Some(r#"{"n":1}"#));
        assert!(entry.is_own && content.as_deref() == Some("abc"));
    }

    #[test]
    fn whose_a_partition_is_says_the_principal() {
        let mut other = found();
        other["partition"] = json!("prn_y");
        assert!(!any_entry(&other, "prn_x").unwrap().is_own);
        assert!(any_entry(&other, "prn_y").unwrap().is_own);
    }

    #[test]
    fn what_lacks_a_field_is_no_answer() {
        for field in ["id", "path", "revision", "content_sha256", "updated_at"] {
            let mut value = found();
            value[field] = Value::Null;
            assert!(matches!(any_entry(&value, ""), Err(Refusal::Unreachable(_))), "{field}");
        }
    }

    #[test]
    fn versions_are_numbered_from_the_newest() {
        let version = |operation: &str| {
            json!({"id": "memver_011111111111111111111111", "operation": operation,
                "created_at": "2026-01-01T00:00:00Z", "redacted_at": null,
                "content_sha256": "00", "content_size_bytes": 1})
        };
        let newest_first = [version("modified"), version("modified"), version("created")];
        let numbers = |newest| {
            let editions = editions(&newest_first, newest).unwrap();
            editions.iter().map(|edition| edition.revision).collect::<Vec<_>>()
        };
        assert_eq!(numbers(3), [1, 2, 3]);
        assert_eq!(numbers(9), [7, 8, 9]);
    }
}
