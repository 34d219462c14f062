//! Rows to model types and back. How a value looks in a column is the same in every engine and
//! written down in [`loci_storage::column`]; here is which columns a row has.
//!
//! Reading never panics: a value that this crate cannot have written is an error, which becomes
//! `Corrupt` at the edge.

use loci_model::{
    Actor, Attributes, Cause, Digest, Memory, MemoryId, MemoryPath, PrincipalId, StoreId,
    Timestamp, Version, VersionId, version::Redaction,
};
use loci_storage::column::{self as encoding, Code};
use rusqlite::types::Type;
use rusqlite::{Error, Result, Row};
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

/// A value with a small number.
pub(crate) fn coded<T: Code>(row: &Row<'_>, column: usize) -> Result<T> {
    let code = i16::try_from(row.get::<_, i64>(column)?).ok();
    code.and_then(T::from_code).ok_or_else(|| unreadable(column, "an unknown number"))
}

/// An actor in two columns, the second after the first.
pub(crate) fn actor(row: &Row<'_>, column: usize) -> Result<Actor> {
    let kind = i16::try_from(row.get::<_, i64>(column)?).ok();
    let id = row.get(column + 1)?;
    kind.and_then(|kind| encoding::actor(kind, id))
        .ok_or_else(|| unreadable(column, "unknown actor"))
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

pub(crate) fn labels(row: &Row<'_>, column: usize) -> Result<BTreeMap<String, String>> {
    let text = row.get_ref(column)?.as_str()?;
    encoding::labels_from_json(text).ok_or_else(|| unreadable(column, "not a map of strings"))
}

fn tags(row: &Row<'_>, column: usize) -> Result<Vec<String>> {
    let text = row.get_ref(column)?.as_str_or_null()?;
    encoding::tags_from_json(text).ok_or_else(|| unreadable(column, "not a list of strings"))
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
                visibility: coded(row, 10)?,
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
            let read = encoding::attributes_from_json(text);
            Some(read.ok_or_else(|| unreadable(8, "not attributes"))?)
        }
    };
    let derived_from = match row.get_ref(16)?.as_blob_or_null()? {
        None => Vec::new(),
        Some(bytes) => {
            let ids = encoding::unpack_ids(bytes);
            let ids = ids.ok_or_else(|| unreadable(16, "ids of another length"))?;
            ids.into_iter().map(VersionId::from_bytes).collect()
        }
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
            operation: coded(row, 6)?,
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
