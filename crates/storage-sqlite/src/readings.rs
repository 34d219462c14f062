//! Readings: what costly readers found, written by the one writer like everything else, so that a
//! version that was scrubbed a moment ago gets none. A reading is there only while the version it
//! was made from has its text; both go in the same transaction.

use crate::apply::Core;
use crate::fault::{Fault, Result};
use crate::row::{count, int, time};
use crate::stores::StoreRow;
use crate::texts::{self, PAGE_BYTES_MAX, each_changed};
use loci_model::policy::{AdminPass, SearchPass};
use loci_model::{MemoryId, StoreId, VersionId, WorkspaceId};
use loci_storage::column::visibility_max;
use loci_storage::{
    NewReading, NewlyRead, ReadablePage, Reading, ReadingBatch, ReadingEnd, ReadingLag,
    ReadingMark, Receipt, Spent, StorageError, check_reader,
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::BTreeSet;

/// Drops what was read in a version.
pub(crate) fn delete(conn: &Connection, version_pk: i64) -> Result<()> {
    conn.prepare_cached(include_str!("../queries/reading/delete.sql"))?.execute([version_pk])?;
    Ok(())
}

impl Core {
    pub(crate) fn put_readings(&mut self, batch: &ReadingBatch) -> Result<Receipt> {
        batch.check()?;
        match self.with_store(batch.store, |core, store| put(&core.conn, store, batch)) {
            // Only the store itself can be missing: all else is passed over.
            Err(Fault::Refused(StorageError::NotFound(_))) => Ok(Receipt::ReadingsPut(0)),
            put => put.map(Receipt::ReadingsPut),
        }
    }
}

fn put(conn: &Connection, store: &StoreRow, batch: &ReadingBatch) -> Result<u64> {
    if store.store.workspace != batch.workspace {
        return Ok(0);
    }
    let mut find = conn.prepare_cached(include_str!("../queries/reading/text_version.sql"))?;
    let mut next = conn.prepare_cached(include_str!("../queries/reading/next.sql"))?;
    let mut put = conn.prepare_cached(include_str!("../queries/reading/put.sql"))?;
    let mut written = 0;
    for NewReading { version, claims, at } in &batch.readings {
        let found = find.query_row(params![version.to_bytes(), store.store_pk], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        });
        let Some((version_pk, memory_pk)) = found.optional()? else { continue };
        let number: i64 = next.query_row([store.store_pk], |row| row.get(0))?;
        put.execute(params![
            memory_pk,
            batch.reader,
            version_pk,
            store.store_pk,
            number,
            at.as_micros(),
            claims
        ])?;
        written += 1;
    }
    let Spent { day, requests, tokens } = batch.spent;
    conn.prepare_cached(include_str!("../queries/reading/mark.sql"))?.execute(params![
        store.store_pk,
        batch.reader,
        int(batch.through.min(store.seq)),
        day,
        int(requests),
        int(tokens)
    ])?;
    Ok(written)
}

pub(crate) fn forget(
    conn: &Connection,
    pass: &AdminPass,
    reader: &str,
    limit: usize,
) -> Result<Receipt> {
    check_reader(reader)?;
    let doomed = {
        let sql = include_str!("../queries/reading/of_reader.sql");
        let mut statement = conn.prepare_cached(sql)?;
        // One more than may go, to know whether anything is left.
        let asked = int(limit as u64).saturating_add(1);
        let found = statement
            .query_map(params![reader, pass.workspace().to_bytes(), asked], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
            })?;
        found.collect::<rusqlite::Result<Vec<_>>>()?
    };
    let mut touched = BTreeSet::new();
    let mut forget = conn.prepare_cached(include_str!("../queries/reading/forget.sql"))?;
    for (reading_pk, store_pk) in doomed.iter().take(limit) {
        forget.execute([reading_pk])?;
        touched.insert(*store_pk);
    }
    let mut tell = conn.prepare_cached(include_str!("../queries/reading/forgotten.sql"))?;
    for store_pk in touched {
        tell.execute([store_pk])?;
    }
    Ok(Receipt::Purged { is_done: doomed.len() <= limit })
}

pub(crate) fn ends(conn: &Connection, pass: &SearchPass) -> Result<Vec<ReadingEnd>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/reading/end.sql"))?;
    let mut ends = Vec::new();
    for store in pass.stores() {
        let end = statement.query_row([store.to_bytes()], |row| {
            Ok(ReadingEnd { store: *store, number: count(row, 0)?, forgotten: count(row, 1)? })
        });
        ends.extend(end.optional()?);
    }
    Ok(ends)
}

pub(crate) fn newly_read(
    conn: &Connection,
    pass: &SearchPass,
    store: StoreId,
    after: u64,
    limit: usize,
) -> Result<NewlyRead> {
    let store_pk = texts::searched(conn, pass, store)?;
    let mut statement = conn.prepare_cached(include_str!("../queries/reading/after.sql"))?;
    let asked = int(limit as u64).saturating_add(1);
    let found = statement.query_map(params![store_pk, int(after), asked], |row| {
        Ok((count(row, 0)?, MemoryId::from_bytes(row.get(1)?)))
    })?;
    let mut found = found.collect::<rusqlite::Result<Vec<_>>>()?;
    let through = if found.len() > limit {
        found.truncate(limit);
        found.last().map_or(after, |(number, _)| *number)
    } else {
        let mut statement = conn.prepare_cached(include_str!("../queries/reading/end.sql"))?;
        let end = statement.query_row([store.to_bytes()], |row| count(row, 0)).optional()?;
        end.unwrap_or(0).max(after)
    };
    Ok(NewlyRead { through, memories: found.into_iter().map(|(_, memory)| memory).collect() })
}

pub(crate) fn readings(
    conn: &Connection,
    pass: &SearchPass,
    store: StoreId,
    memories: &[MemoryId],
) -> Result<Vec<Reading>> {
    let store_pk = texts::searched(conn, pass, store)?;
    let (shown_to, now) = (visibility_max(pass.audience()), pass.now().as_micros());
    let mut statement = conn.prepare_cached(include_str!("../queries/reading/of_memory.sql"))?;
    let mut all = Vec::new();
    for memory in memories {
        let bounds = params![store_pk, memory.to_bytes(), shown_to, now];
        let found = statement.query_map(bounds, |row| {
            Ok(Reading {
                memory: *memory,
                version: VersionId::from_bytes(row.get(0)?),
                reader: row.get(1)?,
                claims: row.get(2)?,
                at: time(row, 3)?,
            })
        })?;
        for reading in found {
            all.push(reading?);
        }
    }
    Ok(all)
}

pub(crate) fn marks(
    conn: &Connection,
    pass: &SearchPass,
    store: StoreId,
) -> Result<Vec<ReadingMark>> {
    let store_pk = texts::searched(conn, pass, store)?;
    let mut statement = conn.prepare_cached(include_str!("../queries/reading/marks.sql"))?;
    let found = statement.query_map([store_pk], |row| {
        let spent = Spent { day: row.get(2)?, requests: count(row, 3)?, tokens: count(row, 4)? };
        Ok(ReadingMark { reader: row.get(0)?, through: count(row, 1)?, spent })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn lag(row: &Row<'_>) -> rusqlite::Result<ReadingLag> {
    Ok(ReadingLag {
        workspace: WorkspaceId::from_bytes(row.get(0)?),
        store: StoreId::from_bytes(row.get(1)?),
        through: count(row, 2)?,
    })
}

pub(crate) fn lags(
    conn: &Connection,
    reader: &str,
    stores: Option<&[StoreId]>,
    limit: usize,
) -> Result<Vec<ReadingLag>> {
    let Some(stores) = stores else {
        let mut statement = conn.prepare_cached(include_str!("../queries/reading/lags.sql"))?;
        let found = statement.query_map(params![reader, int(limit as u64)], lag)?;
        return Ok(found.collect::<rusqlite::Result<_>>()?);
    };
    let mut statement = conn.prepare_cached(include_str!("../queries/reading/lag.sql"))?;
    let mut lags = Vec::new();
    for store in stores {
        let found = statement
            .query_row(params![reader, store.to_bytes()], |row| Ok((lag(row)?, count(row, 3)?)));
        if let Some((lag, end)) = found.optional()? {
            lags.push((end - lag.through, lag));
        }
    }
    lags.sort_by_key(|(behind, lag)| (*behind, lag.store));
    lags.dedup();
    Ok(lags.into_iter().map(|(_, lag)| lag).take(limit).collect())
}

pub(crate) fn readable(
    conn: &Connection,
    pass: &SearchPass,
    store: StoreId,
    reader: &str,
    after: u64,
    limit: usize,
) -> Result<ReadablePage> {
    let store_pk = texts::searched(conn, pass, store)?;
    let mut memories = Vec::new();
    let mut bytes = 0;
    let mut is_read = conn.prepare_cached(include_str!("../queries/reading/is_read.sql"))?;
    let through = each_changed(conn, store_pk, after, limit, |memory_pk, _| {
        let Some(row) = texts::current(conn, pass, store, memory_pk)? else { return Ok(true) };
        if !is_read.exists(params![memory_pk, reader, row.memory.digest.as_bytes()])? {
            bytes += row.memory.content.as_ref().map_or(0, |content| content.bytes().len());
            memories.push(row.memory);
        }
        Ok(bytes < PAGE_BYTES_MAX)
    })?;
    Ok(ReadablePage { through, memories })
}

pub(crate) fn spent(conn: &Connection, reader: &str, day: u32) -> Result<Spent> {
    let mut statement = conn.prepare_cached(include_str!("../queries/reading/spent.sql"))?;
    Ok(statement.query_row(params![reader, day], |row| {
        Ok(Spent { day, requests: count(row, 0)?, tokens: count(row, 1)? })
    })?)
}
