//! Rows to model types and back. Every encoding of the schema (small numbers for enums, packed ids,
//! attributes as JSON) is written down here once.
//!
//! Reading never panics: a value that this crate cannot have written is an error, which becomes
//! `Corrupt` at the edge.

use loci_model::attributes::Visibility;
use loci_model::store::Repeats;
use loci_model::{
    Access, Actor, Attributes, Audience, Cause, ChangeOp, Content, Digest, KeyId, Level, Memory,
    MemoryId, MemoryPath, Operation, PrincipalId, PrincipalKind, SessionId, StoreId, Timestamp,
    Version, VersionId, version::Redaction,
};
use rusqlite::types::Type;
use rusqlite::{Error, Result, Row};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A column that holds what this crate never writes.
pub(crate) fn unreadable(column: usize, what: &'static str) -> Error {
    Error::FromSqlConversionFailure(column, Type::Null, what.into())
}

/// Counts fit in SQLite's integers: they count rows or bytes of one file.
pub(crate) fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The inverse of [`int`].
pub(crate) fn count(row: &Row<'_>, column: usize) -> Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| unreadable(column, "a count below zero"))
}

pub(crate) fn opt_count(row: &Row<'_>, column: usize) -> Result<Option<u64>> {
    let value: Option<i64> = row.get(column)?;
    value
        .map(|value| u64::try_from(value).map_err(|_| unreadable(column, "a count below zero")))
        .transpose()
}

pub(crate) fn time(row: &Row<'_>, column: usize) -> Result<Timestamp> {
    row.get(column).map(Timestamp::from_micros)
}

pub(crate) fn opt_time(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>> {
    let micros: Option<i64> = row.get(column)?;
    Ok(micros.map(Timestamp::from_micros))
}

pub(crate) fn micros(time: Option<Timestamp>) -> Option<i64> {
    time.map(Timestamp::as_micros)
}

/// A partition or grantee: an id, or empty for none.
pub(crate) fn opt_id_bytes(id: Option<PrincipalId>) -> Vec<u8> {
    id.map_or_else(Vec::new, |id| id.to_bytes().to_vec())
}

pub(crate) fn opt_id(row: &Row<'_>, column: usize) -> Result<Option<PrincipalId>> {
    let bytes = row.get_ref(column)?.as_blob()?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let bytes = bytes.try_into().map_err(|_| unreadable(column, "an id of another length"))?;
    Ok(Some(PrincipalId::from_bytes(bytes)))
}

/// Ids one after the other; `None` when there are none.
pub(crate) fn pack_ids(ids: impl IntoIterator<Item = [u8; 16]>) -> Vec<u8> {
    ids.into_iter().flatten().collect()
}

pub(crate) fn unpack_ids(bytes: &[u8], column: usize) -> Result<Vec<[u8; 16]>> {
    let (ids, rest) = bytes.as_chunks::<16>();
    if rest.is_empty() {
        Ok(ids.to_vec())
    } else {
        Err(unreadable(column, "ids of another length"))
    }
}

macro_rules! codes {
    ($($type:ty, $code:ident, $read:ident: { $($value:path = $number:literal),+ $(,)? })+) => {
        $(
            pub(crate) fn $code(value: $type) -> i64 {
                match value { $($value => $number),+ }
            }

            pub(crate) fn $read(row: &Row<'_>, column: usize) -> Result<$type> {
                match row.get::<_, i64>(column)? {
                    $($number => Ok($value),)+
                    _ => Err(unreadable(column, concat!("unknown ", stringify!($type)))),
                }
            }
        )+
    };
}

codes! {
    Operation, operation_code, operation: {
        Operation::Created = 0, Operation::Modified = 1, Operation::Deleted = 2,
    }
    ChangeOp, change_code, change_op: {
        ChangeOp::Created = 0, ChangeOp::Modified = 1, ChangeOp::Deleted = 2,
        ChangeOp::Redacted = 3,
    }
    Visibility, visibility_code, visibility: {
        Visibility::Context = 0, Visibility::Internal = 1, Visibility::Quarantine = 2,
    }
    Level, level_code, level: { Level::Search = 0, Level::Read = 1, Level::ReadWrite = 2 }
    PrincipalKind, principal_kind_code, principal_kind: {
        PrincipalKind::User = 0, PrincipalKind::Agent = 1, PrincipalKind::Service = 2,
    }
    Audience, audience_code, audience: { Audience::Host = 0, Audience::Model = 1 }
    Access, access_code, access: { Access::ReadOnly = 0, Access::ReadWrite = 1 }
    Repeats, repeats_code, repeats: {
        Repeats::Allow = 0, Repeats::Refuse = 1, Repeats::Merge = 2,
    }
}

/// The highest visibility code an audience sees.
pub(crate) fn visibility_max(audience: Audience) -> i64 {
    match audience {
        Audience::Host => visibility_code(Visibility::Quarantine),
        Audience::Model => visibility_code(Visibility::Context),
    }
}

pub(crate) fn actor_code(actor: Actor) -> (i64, Option<[u8; 16]>) {
    match actor {
        Actor::Session(id) => (0, Some(id.to_bytes())),
        Actor::Key(id) => (1, Some(id.to_bytes())),
        Actor::User(id) => (2, Some(id.to_bytes())),
        Actor::Service(id) => (3, Some(id.to_bytes())),
        Actor::System => (4, None),
    }
}

/// An actor in two columns, the second after the first.
pub(crate) fn actor(row: &Row<'_>, column: usize) -> Result<Actor> {
    let id = || row.get::<_, [u8; 16]>(column + 1);
    match row.get::<_, i64>(column)? {
        0 => Ok(Actor::Session(SessionId::from_bytes(id()?))),
        1 => Ok(Actor::Key(KeyId::from_bytes(id()?))),
        2 => Ok(Actor::User(PrincipalId::from_bytes(id()?))),
        3 => Ok(Actor::Service(PrincipalId::from_bytes(id()?))),
        4 => Ok(Actor::System),
        _ => Err(unreadable(column, "unknown actor")),
    }
}

pub(crate) fn path(row: &Row<'_>, column: usize) -> Result<MemoryPath> {
    let text = row.get_ref(column)?.as_str()?;
    MemoryPath::parse(text).map_err(|_| unreadable(column, "not a path"))
}

fn opt_path(row: &Row<'_>, column: usize) -> Result<Option<MemoryPath>> {
    match row.get_ref(column)? {
        rusqlite::types::ValueRef::Null => Ok(None),
        _ => path(row, column).map(Some),
    }
}

fn digest(row: &Row<'_>, column: usize) -> Result<Digest> {
    row.get(column).map(Digest::from_bytes)
}

/// A string map as JSON.
pub(crate) fn labels_json(labels: &BTreeMap<String, String>) -> String {
    serde_json::to_string(labels).expect("a map of strings is JSON")
}

pub(crate) fn labels(row: &Row<'_>, column: usize) -> Result<BTreeMap<String, String>> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|_| unreadable(column, "not a map of strings"))
}

/// Tags as JSON; `None` when there are none.
pub(crate) fn tags_json(tags: &[String]) -> Option<String> {
    (!tags.is_empty()).then(|| serde_json::to_string(tags).expect("a list of strings is JSON"))
}

fn tags(row: &Row<'_>, column: usize) -> Result<Vec<String>> {
    let text: Option<&str> = row.get_ref(column)?.as_str_or_null()?;
    text.map_or(Ok(Vec::new()), |text| {
        serde_json::from_str(text).map_err(|_| unreadable(column, "not a list of strings"))
    })
}

/// The attributes that are not at their default, as a JSON object; `None` when all are.
pub(crate) fn attributes_json(attributes: &Attributes) -> Option<String> {
    if *attributes == Attributes::default() {
        return None;
    }
    let mut object = Map::new();
    let texts = [
        ("kind", &attributes.kind),
        ("source", &attributes.source),
        ("scope", &attributes.scope),
        ("summary", &attributes.summary),
        ("media_type", &attributes.media_type),
        ("metadata", &attributes.metadata),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            object.insert(name.into(), text.as_str().into());
        }
    }
    if !attributes.tags.is_empty() {
        object.insert("tags".into(), attributes.tags.as_slice().into());
    }
    if let Some(importance) = attributes.importance {
        object.insert("importance".into(), importance.into());
    }
    if attributes.pinned {
        object.insert("pinned".into(), true.into());
    }
    if attributes.visibility != Visibility::Context {
        let code = visibility_code(attributes.visibility);
        object.insert("visibility".into(), code.into());
    }
    if let Some(end) = attributes.expires_at {
        object.insert("expires_at".into(), end.as_micros().into());
    }
    Some(Value::Object(object).to_string())
}

/// The inverse of [`attributes_json`].
pub(crate) fn attributes_from_json(text: Option<&str>) -> Option<Attributes> {
    let Some(text) = text else {
        return Some(Attributes::default());
    };
    let Value::Object(mut object) = serde_json::from_str(text).ok()? else {
        return None;
    };
    let mut take_text = |name: &str| match object.remove(name) {
        None => Some(None),
        Some(Value::String(text)) => Some(Some(text)),
        Some(_) => None,
    };
    let mut attributes = Attributes {
        kind: take_text("kind")?,
        source: take_text("source")?,
        scope: take_text("scope")?,
        summary: take_text("summary")?,
        media_type: take_text("media_type")?,
        metadata: take_text("metadata")?,
        ..Attributes::default()
    };
    for (name, value) in object {
        match name.as_str() {
            "tags" => attributes.tags = serde_json::from_value(value).ok()?,
            "importance" => attributes.importance = Some(u8::try_from(value.as_u64()?).ok()?),
            "pinned" => attributes.pinned = value.as_bool()?,
            "expires_at" => {
                attributes.expires_at = Some(Timestamp::from_micros(value.as_i64()?));
            }
            "visibility" => {
                attributes.visibility = match value.as_i64()? {
                    1 => Visibility::Internal,
                    2 => Visibility::Quarantine,
                    _ => return None,
                };
            }
            _ => return None,
        }
    }
    Some(attributes)
}

/// Bytes of a payload as content.
pub(crate) fn content_of(bytes: Vec<u8>, is_sealed: bool) -> Option<Content> {
    if is_sealed {
        Some(Content::Sealed(bytes))
    } else {
        String::from_utf8(bytes).ok().map(Content::Text)
    }
}

/// A live memory with the keys of its rows.
#[derive(Debug, Clone)]
pub(crate) struct MemoryRow {
    /// Its key.
    pub(crate) memory_pk: i64,
    /// The key of its newest version.
    pub(crate) head_pk: i64,
    /// The memory, without content.
    pub(crate) memory: Memory,
}

impl MemoryRow {
    /// Whether its time is over.
    pub(crate) fn is_expired_at(&self, now: Timestamp) -> bool {
        let end = self.memory.attributes.expires_at;
        end.is_some_and(|end| end <= now)
    }
}

/// How many columns the view `live_memory` has; what a statement adds comes after them.
pub(crate) const LIVE_MEMORY_COLUMNS: usize = 25;

/// A row of the view `live_memory`.
pub(crate) fn memory(row: &Row<'_>, store: StoreId) -> Result<MemoryRow> {
    Ok(MemoryRow {
        memory_pk: row.get(0)?,
        head_pk: row.get(1)?,
        memory: Memory {
            id: MemoryId::from_bytes(row.get(2)?),
            store,
            partition: opt_id(row, 3)?,
            owner: PrincipalId::from_bytes(row.get(4)?),
            path: path(row, 5)?,
            attributes: Attributes {
                kind: row.get(6)?,
                tags: tags(row, 7)?,
                importance: row.get(8)?,
                pinned: row.get(9)?,
                visibility: visibility(row, 10)?,
                expires_at: opt_time(row, 11)?,
                source: row.get(12)?,
                scope: row.get(13)?,
                summary: row.get(14)?,
                media_type: row.get(15)?,
                metadata: row.get(16)?,
            },
            head: VersionId::from_bytes(row.get(17)?),
            revision: count(row, 18)?,
            content: None,
            digest: digest(row, 19)?,
            size_bytes: count(row, 20)?,
            is_sealed: row.get(21)?,
            created_at: time(row, 22)?,
            updated_at: time(row, 23)?,
        },
    })
}

/// A version with the keys of its rows.
#[derive(Debug, Clone)]
pub(crate) struct VersionRow {
    /// Its key.
    pub(crate) version_pk: i64,
    /// The key of its memory.
    pub(crate) memory_pk: i64,
    /// Whether its content is sealed.
    pub(crate) is_sealed: bool,
    /// The version, without content.
    pub(crate) version: Version,
}

/// A row of the view `known_version`.
pub(crate) fn version(row: &Row<'_>, store: StoreId) -> Result<VersionRow> {
    let redaction = match opt_time(row, 17)? {
        Some(at) => Some(Redaction { at, by: actor(row, 18)? }),
        None => None,
    };
    let attributes = match &redaction {
        Some(_) => None,
        None => {
            let text = row.get_ref(8)?.as_str_or_null()?;
            let read = attributes_from_json(text);
            Some(read.ok_or_else(|| unreadable(8, "not attributes"))?)
        }
    };
    let derived_from = match row.get_ref(16)?.as_blob_or_null()? {
        None => Vec::new(),
        Some(bytes) => unpack_ids(bytes, 16)?.into_iter().map(VersionId::from_bytes).collect(),
    };
    let digest_bytes: Option<[u8; 32]> = row.get(9)?;
    Ok(VersionRow {
        version_pk: row.get(0)?,
        memory_pk: row.get(1)?,
        is_sealed: row.get(20)?,
        version: Version {
            id: VersionId::from_bytes(row.get(2)?),
            memory: MemoryId::from_bytes(row.get(3)?),
            store,
            revision: count(row, 4)?,
            seq: count(row, 5)?,
            operation: operation(row, 6)?,
            path: opt_path(row, 7)?,
            attributes,
            content: None,
            digest: digest_bytes.map(Digest::from_bytes),
            size_bytes: opt_count(row, 10)?,
            actor: actor(row, 11)?,
            created_at: time(row, 13)?,
            cause: Cause { request: row.get(14)?, reason: row.get(15)?, derived_from },
            redaction,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_round_trip() {
        let full = Attributes {
            kind: Some("fact".into()),
            tags: vec!["a".into(), "ü \"x\"".into()],
            importance: Some(100),
            pinned: true,
            visibility: Visibility::Quarantine,
            expires_at: Some(Timestamp::from_micros(-5)),
            source: Some(String::new()),
            scope: Some("s".into()),
            summary: Some("one line".into()),
            media_type: Some("text/markdown".into()),
            metadata: Some("{\"k\":1}".into()),
        };
        for attributes in [Attributes::default(), full] {
            let json = attributes_json(&attributes);
            assert_eq!(attributes_from_json(json.as_deref()), Some(attributes));
        }
        for damaged in ["", "[]", "{\"kind\":1}", "{\"visibility\":7}", "{\"x\":1}"] {
            assert_eq!(attributes_from_json(Some(damaged)), None, "{damaged}");
        }
    }

    #[test]
    fn packed_ids_round_trip() {
        let ids = [[1u8; 16], [2u8; 16]];
        assert_eq!(unpack_ids(&pack_ids(ids), 0).unwrap(), ids);
        assert!(unpack_ids(&[0; 17], 0).is_err());
    }
}
