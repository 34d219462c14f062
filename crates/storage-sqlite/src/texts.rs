//! What search indexes are made of: the live texts of a store, and what became of those that
//! changed. Indexes are made of a million of these at a time, so content is not checked against its
//! digest here; whatever is shown in the end comes from [`found`], which does. What cannot be read
//! as text is left out, so that one damaged memory does not hide all others.

use crate::fault::{Result, not_found};
use crate::read::{self, in_view, store_key};
use crate::row::{self, LIVE_MEMORY_COLUMNS, MemoryRow, int};
use loci_model::policy::SearchPass;
use loci_model::{At, Content, Memory, MemoryId, StoreId, View};
use loci_storage::column::visibility_max;
use loci_storage::{ChangedTexts, FeedEnd, GenerationId, TextPage};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashSet;

/// Bytes of content after which a page ends, however few its memories are.
pub(crate) const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The key of a store that the pass reaches.
pub(crate) fn searched(conn: &Connection, pass: &SearchPass, store: StoreId) -> Result<i64> {
    let is_reached = pass.stores().contains(&store);
    let key = if is_reached { store_key(conn, store)? } else { None };
    key.ok_or_else(|| not_found("memory store"))
}

/// The feed's end and the marks of each of the stores that exist.
pub(crate) fn ends(conn: &Connection, stores: &[StoreId]) -> Result<Vec<FeedEnd>> {
    let mut end = conn.prepare_cached(include_str!("../queries/store/end.sql"))?;
    let mut marks = conn.prepare_cached(include_str!("../queries/vector/marks.sql"))?;
    let mut ends = Vec::with_capacity(stores.len());
    for store in stores {
        let found = end
            .query_row([store.to_bytes()], |row| Ok((row.get::<_, i64>(0)?, row::count(row, 1)?)));
        let Some((store_pk, seq)) = found.optional()? else { continue };
        let vectors = marks
            .query_map([store_pk], |row| Ok((GenerationId(row.get(0)?), row::count(row, 1)?)))?;
        let vectors = vectors.collect::<rusqlite::Result<_>>()?;
        ends.push(FeedEnd { store: *store, seq, vectors });
    }
    Ok(ends)
}

/// A live memory with its content behind its columns; without content when that is not text.
fn text(conn: &Connection, row: &Row<'_>, store: StoreId) -> Result<MemoryRow> {
    let mut found = row::memory(row, store)?;
    let last = row.get(LIVE_MEMORY_COLUMNS)?;
    let bytes = read::whole(conn, found.head_pk, last, row.get(LIVE_MEMORY_COLUMNS + 1)?)?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    found.memory.content = text.map(Content::Text);
    Ok(found)
}

fn bytes_of(memory: &Memory) -> usize {
    memory.content.as_ref().map_or(0, |content| content.bytes().len())
}

pub(crate) fn page(
    conn: &Connection,
    pass: &SearchPass,
    store: StoreId,
    after: u64,
    limit: usize,
) -> Result<TextPage> {
    let store_pk = searched(conn, pass, store)?;
    let mut statement = conn.prepare_cached(include_str!("../queries/text/page.sql"))?;
    let mut rows = statement.query(params![
        store_pk,
        int(after),
        visibility_max(pass.audience()),
        pass.now().as_micros(),
    ])?;
    let mut cut = Cut::new(limit);
    while let Some(row) = rows.next()? {
        if cut.is_full() {
            return Ok(cut.with_next());
        }
        let found = text(conn, row, store)?;
        cut.add(found.memory_pk, found.memory);
    }
    Ok(cut.last_page())
}

/// A page in the making: full when it has enough memories or bytes.
pub(crate) struct Cut {
    limit: usize,
    memories: Vec<Memory>,
    bytes: usize,
    last_pk: i64,
}

impl Cut {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), memories: Vec::new(), bytes: 0, last_pk: 0 }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.memories.len() >= self.limit || self.bytes >= PAGE_BYTES_MAX
    }

    /// Adds a memory, unless its content could not be read.
    pub(crate) fn add(&mut self, memory_pk: i64, memory: Memory) {
        if memory.content.is_some() {
            self.bytes += bytes_of(&memory);
            self.memories.push(memory);
            self.last_pk = memory_pk;
        }
    }

    /// The page, when there is something behind it.
    pub(crate) fn with_next(self) -> TextPage {
        let next = u64::try_from(self.last_pk).expect("keys count from one");
        TextPage { memories: self.memories, next: Some(next) }
    }

    /// The page, when there is nothing behind it.
    pub(crate) fn last_page(self) -> TextPage {
        TextPage { memories: self.memories, next: None }
    }
}

/// Walks the entries of the feed after a number, at most `limit` of them, and gives `visit` each
/// memory they are about once; it says whether to go on. Gives back the last number looked at.
pub(crate) fn each_changed(
    conn: &Connection,
    store_pk: i64,
    after: u64,
    limit: usize,
    mut visit: impl FnMut(i64, MemoryId) -> Result<bool>,
) -> Result<u64> {
    let mut statement = conn.prepare_cached(include_str!("../queries/change/touched.sql"))?;
    let mut rows = statement.query(params![store_pk, int(after), int(limit as u64)])?;
    let mut through = after;
    let mut seen = HashSet::new();
    while let Some(row) = rows.next()? {
        through = row::count(row, 0)?;
        let memory_pk = row.get(1)?;
        let is_enough =
            seen.insert(memory_pk) && !visit(memory_pk, MemoryId::from_bytes(row.get(2)?))?;
        if is_enough {
            break;
        }
    }
    Ok(through)
}

/// The text of a memory as the pass's audience may get it now.
pub(crate) fn current(
    conn: &Connection,
    pass: &SearchPass,
    store: StoreId,
    memory_pk: i64,
) -> Result<Option<MemoryRow>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/text/of_memory.sql"))?;
    let bounds = params![memory_pk, visibility_max(pass.audience()), pass.now().as_micros()];
    let mut rows = statement.query(bounds)?;
    let found = rows.next()?.map(|row| text(conn, row, store)).transpose()?;
    Ok(found.filter(|row| row.memory.content.is_some()))
}

pub(crate) fn changed(
    conn: &Connection,
    pass: &SearchPass,
    store: StoreId,
    after: u64,
    limit: usize,
) -> Result<ChangedTexts> {
    let store_pk = searched(conn, pass, store)?;
    let mut memories = Vec::new();
    let mut bytes = 0;
    let through = each_changed(conn, store_pk, after, limit, |memory_pk, id| {
        let memory = current(conn, pass, store, memory_pk)?.map(|row| row.memory);
        bytes += memory.as_ref().map_or(0, bytes_of);
        memories.push((id, memory));
        Ok(bytes < PAGE_BYTES_MAX)
    })?;
    Ok(ChangedTexts { through, memories })
}

pub(crate) fn found(
    conn: &Connection,
    pass: &SearchPass,
    ids: &[(StoreId, MemoryId)],
    view: View,
) -> Result<Vec<Memory>> {
    let mut memories = Vec::with_capacity(ids.len());
    for (store, id) in ids {
        if !pass.stores().contains(store) {
            continue;
        }
        let Some(store_pk) = store_key(conn, *store)? else { continue };
        let found = read::named(conn, store_pk, *store, &At::Id(*id))?;
        let found = found.filter(|row| {
            read::is_shown(row, pass.audience(), pass.now()) && !row.memory.is_sealed
        });
        if let Some(row) = found {
            memories.push(in_view(conn, row, view)?);
        }
    }
    Ok(memories)
}
