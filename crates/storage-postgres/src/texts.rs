//! What search indexes are made of: the live texts of a store, and what became of those that
//! changed. Indexes are made of a million of these at a time, so content is not checked against its
//! digest here; whatever is shown in the end comes from [`found`], which does. What cannot be read
//! as text is left out, so that one damaged memory does not hide all others.
//!
//! A page ends after so many bytes, too. Statements add up the sizes as they walk and fetch no
//! content behind that point, so no answer is larger than a page.

use crate::client::{Tx, uuid};
use crate::fault::{Result, not_found};
use crate::pieces::{self, Last};
use crate::read::{keep_to_indexes, require_store};
use crate::row::{self, LIVE_MEMORY_COLUMNS, MemoryRow, checked, count, get as column, id, int};
use loci_model::policy::SearchPass;
use loci_model::{Content, Memory, MemoryId, StoreId, View};
use loci_storage::column::visibility_max;
use loci_storage::{ChangedTexts, FeedEnd, GenerationId, TextPage};
use tokio_postgres::Row;
use uuid::Uuid;

/// Bytes of content after which a page ends, however few its memories are.
pub(crate) const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Fails when the pass does not reach a store, or when it is gone.
pub(crate) async fn searched(tx: &Tx, pass: &SearchPass, store: StoreId) -> Result<()> {
    require_reach(pass, store)?;
    require_store(tx, store).await
}

/// The same for statements that see by themselves whether the store is there.
fn require_reach(pass: &SearchPass, store: StoreId) -> Result<()> {
    let is_reached = pass.stores().contains(&store);
    if is_reached { Ok(()) } else { Err(not_found("memory store")) }
}

/// The feed's end and the marks of each of the stores that exist.
pub(crate) async fn ends(tx: &Tx, stores: &[StoreId]) -> Result<Vec<FeedEnd>> {
    let ids: Vec<Uuid> = stores.iter().map(|store| uuid(store.to_bytes())).collect();
    let rows = tx.query(include_str!("../queries/store/ends.sql"), &[&ids]).await?;
    let mut ends: Vec<FeedEnd> = Vec::with_capacity(stores.len());
    for row in &rows {
        let store = StoreId::from_bytes(id(row, 0)?);
        if ends.last().is_none_or(|end| end.store != store) {
            ends.push(FeedEnd { store, seq: count(row, 1)?, vectors: Vec::new() });
        }
        if let Some(generation) = column::<Option<i32>>(row, 2)?
            && let Some(end) = ends.last_mut()
        {
            let generation = GenerationId(generation.cast_unsigned());
            end.vectors.push((generation, count(row, 3)?));
        }
    }
    Ok(ends)
}

/// A live memory with its content; without when that is not text.
fn text(row: &Row, store: StoreId, bytes: Option<Vec<u8>>) -> Result<MemoryRow> {
    let mut found = row::memory(row, store)?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    found.memory.content = text.map(Content::Text);
    Ok(found)
}

/// What the statements of this file add behind the columns of a memory and the last piece of its
/// content.
const BEYOND_COLUMN: usize = LIVE_MEMORY_COLUMNS + 2;
const TOUCHED_COLUMN: usize = LIVE_MEMORY_COLUMNS + 3;
const FIRST_SEQ_COLUMN: usize = LIVE_MEMORY_COLUMNS + 4;
const LAST_SEQ_COLUMN: usize = LIVE_MEMORY_COLUMNS + 5;

pub(crate) async fn page(
    tx: &Tx,
    pass: &SearchPass,
    store: StoreId,
    after: u64,
    limit: usize,
) -> Result<TextPage> {
    require_reach(pass, store)?;
    keep_to_indexes(tx).await;
    let mut cut = Cut::new(after, limit);
    loop {
        let wanted = cut.rows_wanted();
        let rows = tx
            .query(
                include_str!("../queries/text/page.sql"),
                &[
                    &uuid(store.to_bytes()),
                    &place_time(cut.place),
                    &visibility_max(pass.audience()),
                    &pass.now().as_micros(),
                    &wanted,
                    &cut.bytes_left(),
                ],
            )
            .await?;
        let first = rows.first().ok_or_else(|| not_found("memory store"))?;
        if column::<Option<Uuid>>(first, 0)?.is_none() {
            return Ok(cut.last_page());
        }
        let mut has_more = int(rows.len() as u64) == wanted;
        let contents = pieces::of_rows(tx, &rows, store, LIVE_MEMORY_COLUMNS).await?;
        for (row, bytes) in rows.iter().zip(contents) {
            if cut.is_full() {
                return Ok(cut.with_next());
            }
            if column(row, BEYOND_COLUMN)? {
                has_more = true;
                break;
            }
            let memory = text(row, store, bytes)?.memory;
            cut.add(time_place(memory.created_at.as_micros()), memory);
        }
        if !has_more {
            return Ok(cut.last_page());
        }
    }
}

/// Texts go by the time of their creation, which no two of a store share. As a place it counts from
/// the earliest moment there is, so that no place is before 0.
const TIME_ZERO: u64 = 1 << 63;

fn time_place(micros: i64) -> u64 {
    micros.cast_unsigned() ^ TIME_ZERO
}

fn place_time(place: u64) -> i64 {
    (place ^ TIME_ZERO).cast_signed()
}

/// A page in the making: full when it has enough memories or bytes.
pub(crate) struct Cut {
    limit: usize,
    memories: Vec<Memory>,
    bytes: usize,
    /// Where the walk stands: behind everything that was added or left out.
    pub(crate) place: u64,
}

impl Cut {
    pub(crate) fn new(after: u64, limit: usize) -> Self {
        Self { limit: limit.max(1), memories: Vec::new(), bytes: 0, place: after }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.memories.len() >= self.limit || self.bytes >= PAGE_BYTES_MAX
    }

    /// How many rows to ask for: those that fit and one more, to know whether there is one.
    pub(crate) fn rows_wanted(&self) -> i64 {
        int((self.limit - self.memories.len()) as u64).saturating_add(1)
    }

    pub(crate) fn bytes_left(&self) -> i64 {
        int(PAGE_BYTES_MAX.saturating_sub(self.bytes) as u64)
    }

    /// Adds a memory, unless its content could not be read.
    pub(crate) fn add(&mut self, place: u64, memory: Memory) {
        if let Some(content) = &memory.content {
            self.bytes += content.bytes().len();
            self.memories.push(memory);
        }
        self.place = place;
    }

    /// The page, when there is something behind it.
    pub(crate) fn with_next(self) -> TextPage {
        TextPage { memories: self.memories, next: Some(self.place) }
    }

    /// The page, when there is nothing behind it.
    pub(crate) fn last_page(self) -> TextPage {
        TextPage { memories: self.memories, next: None }
    }
}

/// The memories that the next entries of the feed are about, at most `limit` entries, each memory
/// once: its text as the pass's audience may get it now, if it may. Also gives back the last number
/// looked at.
pub(crate) async fn changed_heads(
    tx: &Tx,
    pass: &SearchPass,
    store: StoreId,
    after: u64,
    limit: usize,
) -> Result<(u64, Vec<(MemoryId, Option<MemoryRow>)>)> {
    require_reach(pass, store)?;
    let last = after.saturating_add(limit as u64);
    let rows = tx
        .query(
            include_str!("../queries/text/changed.sql"),
            &[
                &uuid(store.to_bytes()),
                &int(after),
                &int(last),
                &visibility_max(pass.audience()),
                &pass.now().as_micros(),
                &int(PAGE_BYTES_MAX as u64),
            ],
        )
        .await?;
    let first = rows.first().ok_or_else(|| not_found("memory store"))?;
    let through = count(first, LAST_SEQ_COLUMN)?.min(last).max(after);
    let mut heads = Vec::with_capacity(rows.len());
    let contents = pieces::of_rows(tx, &rows, store, LIVE_MEMORY_COLUMNS).await?;
    for (row, bytes) in rows.iter().zip(contents) {
        let Some(touched) = column::<Option<Uuid>>(row, TOUCHED_COLUMN)? else { break };
        if column(row, BEYOND_COLUMN)? {
            // Every entry before this memory's first is about memories that are here.
            return Ok((count(row, FIRST_SEQ_COLUMN)? - 1, heads));
        }
        let is_shown = column::<Option<Uuid>>(row, 0)?.is_some();
        let head = if is_shown { Some(text(row, store, bytes)?) } else { None };
        let head = head.filter(|head| head.memory.content.is_some());
        heads.push((MemoryId::from_bytes(touched.into_bytes()), head));
    }
    Ok((through, heads))
}

pub(crate) async fn changed(
    tx: &Tx,
    pass: &SearchPass,
    store: StoreId,
    after: u64,
    limit: usize,
) -> Result<ChangedTexts> {
    let (through, heads) = changed_heads(tx, pass, store, after, limit).await?;
    let memories = heads.into_iter().map(|(id, head)| (id, head.map(|head| head.memory)));
    Ok(ChangedTexts { through, memories: memories.collect() })
}

pub(crate) async fn found(
    tx: &Tx,
    pass: &SearchPass,
    ids: &[(StoreId, MemoryId)],
    view: View,
) -> Result<Vec<Memory>> {
    let reached = ids.iter().filter(|(store, _)| pass.stores().contains(store));
    let (stores, memories): (Vec<Uuid>, Vec<Uuid>) =
        reached.map(|(store, id)| (uuid(store.to_bytes()), uuid(id.to_bytes()))).unzip();
    if stores.is_empty() {
        return Ok(Vec::new());
    }
    let rows = tx
        .query(
            include_str!("../queries/text/found.sql"),
            &[
                &stores,
                &memories,
                &visibility_max(pass.audience()),
                &pass.now().as_micros(),
                &(view == View::Full),
            ],
        )
        .await?;
    let mut found = Vec::with_capacity(rows.len());
    let mut last = Vec::with_capacity(rows.len());
    for row in &rows {
        let store = StoreId::from_bytes(id(row, LIVE_MEMORY_COLUMNS + 2)?);
        found.push(row::memory(row, store)?.memory);
        last.push(Last::read(row, store, LIVE_MEMORY_COLUMNS)?);
    }
    if view == View::Full {
        for (memory, bytes) in found.iter_mut().zip(pieces::whole(tx, last).await?) {
            memory.content = Some(checked(bytes, memory.digest, memory.is_sealed)?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_by_time_from_the_earliest() {
        let times = [i64::MIN, -1, 0, 1, i64::MAX];
        assert_eq!(time_place(i64::MIN), 0);
        assert!(times.windows(2).all(|pair| time_place(pair[0]) < time_place(pair[1])));
        assert!(times.iter().all(|micros| place_time(time_place(*micros)) == *micros));
    }
}
