//! History as readers see it: single versions, versions newest first, and the feed.
//!
//! A store's versions are listed by walking its feed backwards; a bound in time is found by halving,
//! because feed numbers have no gaps and times only grow.

use crate::fault::Result;
use crate::read::{content, require_store, store_key};
use crate::row::{self, VersionRow, actor, coded, count, int, time};
use loci_model::policy::ReadPass;
use loci_model::query::VersionQuery;
use loci_model::{
    Change, Memory, MemoryId, MemoryPath, Page, PrincipalId, StoreId, Timestamp, Version,
    VersionId, View,
};
use loci_storage::column::visibility_max;
use rusqlite::{Connection, OptionalExtension, Row, params};

pub(crate) fn get(
    conn: &Connection,
    pass: &ReadPass,
    id: VersionId,
    view: View,
) -> Result<Option<Version>> {
    let Some(store_pk) = store_key(conn, pass.store())? else {
        return Ok(None);
    };
    let found = conn
        .prepare_cached(include_str!("../queries/version/visible.sql"))?
        .query_row(params![id.to_bytes(), store_pk, visibility_max(pass.audience())], |row| {
            row::version(row, pass.store())
        });
    let found = found.optional()?;
    found.map(|row| in_view(conn, row, view)).transpose()
}

/// A version with its content, if the view wants it and there is one.
pub(crate) fn in_view(conn: &Connection, row: VersionRow, view: View) -> Result<Version> {
    let mut version = row.version;
    if view == View::Full
        && let Some(digest) = version.digest
    {
        version.content = Some(content(conn, row.version_pk, digest, row.is_sealed)?);
    }
    Ok(version)
}

/// How many columns the view `known_version` has; what a statement adds comes after them.
pub(crate) const KNOWN_VERSION_COLUMNS: usize = 27;

/// The memory as a row of the view `known_version` has it, without content; none for removals and
/// redacted versions.
pub(crate) fn as_memory(row: &Row<'_>, store: StoreId) -> rusqlite::Result<Option<Memory>> {
    let known = row::version(row, store)?;
    let version = known.version;
    let (Some(path), Some(attributes), Some(digest), Some(size_bytes)) =
        (version.path, version.attributes, version.digest, version.size_bytes)
    else {
        return Ok(None);
    };
    Ok(Some(Memory {
        id: version.memory,
        store,
        partition: row::opt_id(row, 25)?,
        owner: PrincipalId::from_bytes(row.get(24)?),
        path,
        attributes,
        head: version.id,
        revision: version.revision,
        content: None,
        digest,
        size_bytes,
        is_sealed: known.is_sealed,
        created_at: time(row, 26)?,
        updated_at: version.created_at,
    }))
}

/// The version of a store, whoever may see it.
pub(crate) fn load(
    conn: &Connection,
    store_pk: i64,
    store: StoreId,
    id: VersionId,
) -> Result<Option<VersionRow>> {
    let found = conn
        .prepare_cached(include_str!("../queries/version/by_id.sql"))?
        .query_row(params![id.to_bytes(), store_pk], |row| row::version(row, store));
    Ok(found.optional()?)
}

/// The key of a memory, removed or not, and whether it is live.
pub(crate) fn memory_key(
    conn: &Connection,
    store_pk: i64,
    memory: MemoryId,
) -> Result<Option<(i64, bool)>> {
    let found = conn
        .prepare_cached(include_str!("../queries/memory/key.sql"))?
        .query_row(params![store_pk, memory.to_bytes()], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(found.optional()?)
}

pub(crate) fn page(
    conn: &Connection,
    pass: &ReadPass,
    query: &VersionQuery,
) -> Result<Page<Version, u64>> {
    let store_pk = require_store(conn, pass.store())?;
    let mut before = query.before_seq.unwrap_or(i64::MAX as u64);
    let (sql, key) = match query.memory {
        None => {
            if let Some(until) = query.until {
                before = before.min(first_after(conn, pass.store(), store_pk, until)?);
            }
            (include_str!("../queries/version/newest.sql"), store_pk)
        }
        Some(memory) => match memory_key(conn, store_pk, memory)? {
            Some((memory_pk, _)) => (include_str!("../queries/version/of_memory.sql"), memory_pk),
            None => (include_str!("../queries/version/of_memory.sql"), 0),
        },
    };
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params![key, int(before), visibility_max(pass.audience())])?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        let found = row::version(row, pass.store())?;
        let version = &found.version;
        if query.since.is_some_and(|since| version.created_at < since) {
            break;
        }
        let is_listed = query.until.is_none_or(|until| version.created_at <= until)
            && query.operation.is_none_or(|op| version.operation == op)
            && query.actor.is_none_or(|actor| version.actor == actor);
        if is_listed {
            versions.push(in_view(conn, found, query.view)?);
            if versions.len() > query.limit {
                break;
            }
        }
    }
    Ok(Page::cut(versions, query.limit, |version| version.seq))
}

/// The first feed number whose time is after a moment.
pub(crate) fn first_after(
    conn: &Connection,
    store: StoreId,
    store_pk: i64,
    until: Timestamp,
) -> Result<u64> {
    let last = crate::read::stats(conn, store)?.last_seq;
    let (mut low, mut high) = (1, last + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let at = conn
            .prepare_cached(include_str!("../queries/change/at.sql"))?
            .query_row(params![store_pk, int(middle)], |row| time(row, 0))?;
        if at <= until {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

pub(crate) fn changes(
    conn: &Connection,
    pass: &ReadPass,
    after: u64,
    limit: usize,
) -> Result<Vec<Change>> {
    let store_pk = require_store(conn, pass.store())?;
    let mut statement = conn.prepare_cached(include_str!("../queries/change/list.sql"))?;
    let shown_to = visibility_max(pass.audience());
    let bounds = params![store_pk, int(after), int(limit as u64), shown_to];
    let changes = statement.query_map(bounds, |row| {
        let path = match row.get_ref(5)?.as_str_or_null()? {
            None => None,
            Some(text) => {
                Some(MemoryPath::parse(text).map_err(|_| row::unreadable(5, "not a path"))?)
            }
        };
        Ok(Change {
            store: pass.store(),
            seq: count(row, 0)?,
            op: coded(row, 1)?,
            memory: MemoryId::from_bytes(row.get(2)?),
            version: VersionId::from_bytes(row.get(3)?),
            revision: count(row, 4)?,
            path,
            actor: actor(row, 6)?,
            at: time(row, 8)?,
            reason: row.get(9)?,
        })
    })?;
    Ok(changes.collect::<rusqlite::Result<_>>()?)
}
