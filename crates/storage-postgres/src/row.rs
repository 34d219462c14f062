//! Rows to model types and back, with the encodings of [`loci_storage::column`]. What no engine can
//! have written is an error, which becomes `Corrupt` at the edge; reading never panics.

use crate::client::uuid;
use crate::fault::{Fault, Result, corrupt};
use loci_model::{
    Actor, Attributes, Cause, Content, Digest, Memory, MemoryId, MemoryPath, Operation,
    PrincipalId, StoreId, Timestamp, Version, VersionId, version::Redaction,
};
use loci_storage::StorageError;
use loci_storage::column::{self, Code};
use std::borrow::Cow;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

/// Stands for "none" in columns that are part of a key: no id is all zeros.
pub(crate) const NO_ID: Uuid = Uuid::nil();

/// A column by position.
pub(crate) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T> {
    row.try_get(column).map_err(Fault::from)
}

/// Counts fit in PostgreSQL's integers: they count rows or bytes of one database.
pub(crate) fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The inverse of [`int`].
pub(crate) fn count(row: &Row, column: usize) -> Result<u64> {
    let value: i64 = get(row, column)?;
    u64::try_from(value).map_err(|_| corrupt("a count below zero"))
}

pub(crate) fn opt_count(row: &Row, column: usize) -> Result<Option<u64>> {
    let value: Option<i64> = get(row, column)?;
    let read = |value| u64::try_from(value).map_err(|_| corrupt("a count below zero"));
    value.map(read).transpose()
}

pub(crate) fn time(row: &Row, column: usize) -> Result<Timestamp> {
    get(row, column).map(Timestamp::from_micros)
}

pub(crate) fn opt_time(row: &Row, column: usize) -> Result<Option<Timestamp>> {
    let micros: Option<i64> = get(row, column)?;
    Ok(micros.map(Timestamp::from_micros))
}

pub(crate) fn micros(time: Option<Timestamp>) -> Option<i64> {
    time.map(Timestamp::as_micros)
}

/// The bytes of an id.
pub(crate) fn id(row: &Row, column: usize) -> Result<[u8; 16]> {
    get::<Uuid>(row, column).map(Uuid::into_bytes)
}

pub(crate) fn opt_id(row: &Row, column: usize) -> Result<Option<[u8; 16]>> {
    get::<Option<Uuid>>(row, column).map(|id| id.map(Uuid::into_bytes))
}

/// A partition or grantee: an id, or all zeros for none.
pub(crate) fn keyed_id(row: &Row, column: usize) -> Result<Option<PrincipalId>> {
    let id = get::<Uuid>(row, column)?;
    Ok((id != NO_ID).then(|| PrincipalId::from_bytes(id.into_bytes())))
}

/// The inverse of [`keyed_id`].
pub(crate) fn key_of(id: Option<PrincipalId>) -> Uuid {
    id.map_or(NO_ID, |id| uuid(id.to_bytes()))
}

/// A value that is a small number in its column.
pub(crate) fn coded<T: Code>(row: &Row, column: usize) -> Result<T> {
    T::from_code(get(row, column)?).ok_or_else(|| corrupt("an unknown code"))
}

/// An actor in two columns, the second after the first.
pub(crate) fn actor(row: &Row, column: usize) -> Result<Actor> {
    column::actor(get(row, column)?, opt_id(row, column + 1)?)
        .ok_or_else(|| corrupt("an unknown actor"))
}

/// An actor as its two columns.
pub(crate) fn actor_columns(actor: Actor) -> (i16, Option<Uuid>) {
    let (kind, id) = column::actor_code(actor);
    (kind, id.map(uuid))
}

/// The character that announces an escape; private, so hardly ever there.
const ESCAPE: char = '\u{f8ff}';

/// Text for a column. PostgreSQL holds every character but the zero one.
pub(crate) fn text(value: &str) -> Cow<'_, str> {
    if !value.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(value);
    }
    let mut escaped = String::with_capacity(value.len() + 8);
    for character in value.chars() {
        match character {
            '\0' => escaped.extend([ESCAPE, '0']),
            ESCAPE => escaped.extend([ESCAPE, '1']),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// The inverse of [`text`].
pub(crate) fn untext(value: String) -> String {
    if !value.contains(ESCAPE) {
        return value;
    }
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            ESCAPE => plain.push(if characters.next() == Some('0') { '\0' } else { ESCAPE }),
            other => plain.push(other),
        }
    }
    plain
}

/// A column of text.
pub(crate) fn string(row: &Row, column: usize) -> Result<String> {
    get(row, column).map(untext)
}

pub(crate) fn opt_string(row: &Row, column: usize) -> Result<Option<String>> {
    get::<Option<String>>(row, column).map(|value| value.map(untext))
}

pub(crate) fn path(text: &str) -> Result<MemoryPath> {
    MemoryPath::parse(text).map_err(|_| corrupt("not a path"))
}

pub(crate) fn opt_path(row: &Row, column: usize) -> Result<Option<MemoryPath>> {
    get::<Option<&str>>(row, column)?.map(path).transpose()
}

pub(crate) fn digest(row: &Row, column: usize) -> Result<Digest> {
    digest_of(get(row, column)?)
}

pub(crate) fn opt_digest(row: &Row, column: usize) -> Result<Option<Digest>> {
    get::<Option<&[u8]>>(row, column)?.map(digest_of).transpose()
}

fn digest_of(bytes: &[u8]) -> Result<Digest> {
    let bytes = bytes.try_into().map_err(|_| corrupt("a digest of another length"))?;
    Ok(Digest::from_bytes(bytes))
}

fn attributes(row: &Row, column: usize) -> Result<Attributes> {
    column::attributes_from_json(get(row, column)?).ok_or_else(|| corrupt("not attributes"))
}

/// Stored bytes as the content they should be: what does not match its digest is never shown.
pub(crate) fn checked(bytes: Option<Vec<u8>>, digest: Digest, is_sealed: bool) -> Result<Content> {
    bytes
        .and_then(|bytes| column::content_of(bytes, is_sealed))
        .filter(|content| content.digest() == digest)
        .ok_or_else(|| corrupt("content does not match its digest"))
}

/// A live memory with the number of its newest version.
#[derive(Debug, Clone)]
pub(crate) struct MemoryRow {
    /// The feed number of its newest version.
    pub(crate) head: u64,
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

/// How many columns of the view `live_memory` are read; what a statement adds comes after them.
pub(crate) const LIVE_MEMORY_COLUMNS: usize = 13;

/// The columns that [`memory`] reads, for statements: the first of the view `live_memory`.
pub(crate) fn memory(row: &Row, store: StoreId) -> Result<MemoryRow> {
    Ok(MemoryRow {
        head: count(row, 12)?,
        memory: Memory {
            id: MemoryId::from_bytes(id(row, 0)?),
            store,
            partition: keyed_id(row, 1)?,
            owner: PrincipalId::from_bytes(id(row, 2)?),
            path: path(get(row, 3)?)?,
            attributes: attributes(row, 4)?,
            head: VersionId::from_bytes(id(row, 5)?),
            revision: count(row, 6)?,
            content: None,
            digest: digest(row, 7)?,
            size_bytes: count(row, 8)?,
            is_sealed: get(row, 9)?,
            created_at: time(row, 10)?,
            updated_at: time(row, 11)?,
        },
    })
}

/// A version with what its memory adds.
#[derive(Debug, Clone)]
pub(crate) struct VersionRow {
    /// Whether its content is sealed.
    pub(crate) is_sealed: bool,
    /// Who owns its memory.
    pub(crate) owner: PrincipalId,
    /// Whose partition its memory is in.
    pub(crate) partition: Option<PrincipalId>,
    /// Since when its memory is there.
    pub(crate) memory_created_at: Timestamp,
    /// The version, without content.
    pub(crate) version: Version,
}

/// How many columns of the view `known_version` are read; what a statement adds comes after them.
pub(crate) const KNOWN_VERSION_COLUMNS: usize = 22;

/// The first columns of the view `known_version`.
pub(crate) fn version(row: &Row, store: StoreId) -> Result<VersionRow> {
    let redaction = match opt_time(row, 15)? {
        Some(at) => Some(Redaction { at, by: actor(row, 16)? }),
        None => None,
    };
    let attributes = match &redaction {
        Some(_) => None,
        None => Some(attributes(row, 6)?),
    };
    let derived_from = column::unpack_ids(get::<Option<&[u8]>>(row, 14)?.unwrap_or_default())
        .ok_or_else(|| corrupt("ids of another length"))?;
    Ok(VersionRow {
        is_sealed: get(row, 18)?,
        owner: PrincipalId::from_bytes(id(row, 19)?),
        partition: keyed_id(row, 20)?,
        memory_created_at: time(row, 21)?,
        version: Version {
            id: VersionId::from_bytes(id(row, 0)?),
            memory: MemoryId::from_bytes(id(row, 1)?),
            store,
            revision: count(row, 2)?,
            seq: count(row, 3)?,
            operation: coded::<Operation>(row, 4)?,
            path: opt_path(row, 5)?,
            attributes,
            content: None,
            digest: opt_digest(row, 7)?,
            size_bytes: opt_count(row, 8)?,
            actor: actor(row, 9)?,
            created_at: time(row, 11)?,
            cause: Cause {
                request: opt_string(row, 12)?,
                reason: string(row, 13)?,
                derived_from: derived_from.into_iter().map(VersionId::from_bytes).collect(),
            },
            redaction,
        },
    })
}

impl VersionRow {
    /// The memory as this version has it, without content; none for removals and redacted versions.
    pub(crate) fn as_memory(&self) -> Option<Memory> {
        let version = &self.version;
        Some(Memory {
            id: version.memory,
            store: version.store,
            partition: self.partition,
            owner: self.owner,
            path: version.path.clone()?,
            attributes: version.attributes.clone()?,
            head: version.id,
            revision: version.revision,
            content: None,
            digest: version.digest?,
            size_bytes: version.size_bytes?,
            is_sealed: self.is_sealed,
            created_at: self.memory_created_at,
            updated_at: version.created_at,
        })
    }
}

/// The contract's word for a row that is taken already.
pub(crate) fn taken(what: &'static str) -> Fault {
    StorageError::Taken(what).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_keeps_every_character() {
        for value in ["", "plain", "a\0b", "\u{f8ff}", "\u{f8ff}0\0\u{f8ff}1", "ü\0"] {
            let stored = text(value).into_owned();
            assert!(!stored.contains('\0'));
            assert_eq!(untext(stored), value);
        }
        assert!(matches!(text("plain"), Cow::Borrowed(_)));
    }
}
