//! Readings: what costly readers found. A reading is there only while the version it was made from
//! has its text; both go in the same transaction.
//!
//! Who puts readings does not take the store, as who puts vectors does not, and holds the versions
//! instead: who redacts one at the same moment waits, and then deletes what was put; or goes first,
//! and then there is nothing to put. Numbers are taken from one row for each store, which is held
//! until the end, so that a number is never seen before those below it.

use crate::client::{Tx, uuid};
use crate::fault::Result;
use crate::row::{count, get, id, int, string, text, time};
use crate::texts::{changed_heads, searched};
use loci_model::policy::{AdminPass, SearchPass};
use loci_model::{MemoryId, StoreId, VersionId, WorkspaceId};
use loci_storage::column::visibility_max;
use loci_storage::{
    NewReading, NewlyRead, ReadablePage, Reading, ReadingBatch, ReadingEnd, ReadingLag,
    ReadingMark, Receipt, Spent, check_reader,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tokio_postgres::Row;
use uuid::Uuid;

/// Drops what was read in versions.
pub(crate) async fn delete(tx: &Tx, store: Uuid, seqs: &[i64]) -> Result<()> {
    tx.execute(include_str!("../queries/reading/delete.sql"), &[&store, &seqs]).await?;
    Ok(())
}

pub(crate) async fn put(tx: &Tx, batch: &ReadingBatch) -> Result<Receipt> {
    batch.check()?;
    let (store, workspace) = (uuid(batch.store.to_bytes()), uuid(batch.workspace.to_bytes()));
    let sql = include_str!("../queries/store/hold.sql");
    let Some(row) = tx.query_opt(sql, &[&store]).await? else {
        return Ok(Receipt::ReadingsPut(0));
    };
    let through = batch.through.min(count(&row, 0)?);
    let written = put_rows(tx, batch, store, workspace).await?;
    let Spent { day, requests, tokens } = batch.spent;
    tx.execute(
        include_str!("../queries/reading/mark.sql"),
        &[
            &store,
            &text(&batch.reader),
            &workspace,
            &int(through),
            &i64::from(day),
            &int(requests),
            &int(tokens),
        ],
    )
    .await?;
    Ok(Receipt::ReadingsPut(written))
}

async fn put_rows(tx: &Tx, batch: &ReadingBatch, store: Uuid, workspace: Uuid) -> Result<u64> {
    let ids: Vec<Uuid> = batch.readings.iter().map(|one| uuid(one.version.to_bytes())).collect();
    if ids.is_empty() {
        return Ok(0);
    }
    let sql = include_str!("../queries/reading/text_versions.sql");
    let mut known: HashMap<VersionId, (Uuid, i64)> = HashMap::with_capacity(ids.len());
    for row in tx.query(sql, &[&store, &ids]).await? {
        known.insert(VersionId::from_bytes(id(&row, 0)?), (get(&row, 1)?, get(&row, 2)?));
    }
    let kept = batch.readings.iter().filter_map(|one| Some((*known.get(&one.version)?, one)));
    let kept: Vec<_> = kept.collect();
    if kept.is_empty() {
        return Ok(0);
    }
    let taken = int(kept.len() as u64);
    let sql = include_str!("../queries/reading/take_numbers.sql");
    let last: i64 = get(&tx.query_one(sql, &[&store, &workspace, &taken]).await?, 0)?;
    // The last that is said of a memory counts, and one statement takes each memory once.
    let mut rows: BTreeMap<Uuid, (i64, i64, &NewReading)> = BTreeMap::new();
    for (((memory, seq), reading), number) in kept.iter().zip(last - taken + 1..) {
        rows.insert(*memory, (*seq, number, reading));
    }
    let memories: Vec<Uuid> = rows.keys().copied().collect();
    let seqs: Vec<i64> = rows.values().map(|(seq, _, _)| *seq).collect();
    let numbers: Vec<i64> = rows.values().map(|(_, number, _)| *number).collect();
    let claims: Vec<_> = rows.values().map(|(_, _, one)| text(&one.claims)).collect();
    let times: Vec<i64> = rows.values().map(|(_, _, one)| one.at.as_micros()).collect();
    tx.execute(
        include_str!("../queries/reading/put.sql"),
        &[&store, &text(&batch.reader), &workspace, &memories, &seqs, &numbers, &times, &claims],
    )
    .await?;
    Ok(kept.len() as u64)
}

pub(crate) async fn forget(
    tx: &Tx,
    pass: &AdminPass,
    reader: &str,
    limit: usize,
) -> Result<Receipt> {
    check_reader(reader)?;
    let workspace = uuid(pass.workspace().to_bytes());
    // One more than may go, to know whether anything is left.
    let asked = int(limit as u64).saturating_add(1);
    let sql = include_str!("../queries/reading/of_reader.sql");
    let found = tx.query(sql, &[&workspace, &text(reader), &asked]).await?;
    let (mut stores, mut memories): (Vec<Uuid>, Vec<Uuid>) = (Vec::new(), Vec::new());
    for row in found.iter().take(limit) {
        stores.push(get(row, 0)?);
        memories.push(get(row, 1)?);
    }
    if !stores.is_empty() {
        let touched: BTreeSet<Uuid> = stores.iter().copied().collect();
        let touched: Vec<Uuid> = touched.into_iter().collect();
        // First of all, as those do who put readings.
        tx.query(include_str!("../queries/reading/lock_ends.sql"), &[&touched]).await?;
        let sql = include_str!("../queries/reading/forget.sql");
        tx.execute(sql, &[&text(reader), &stores, &memories]).await?;
        tx.execute(include_str!("../queries/reading/forgotten.sql"), &[&touched]).await?;
    }
    Ok(Receipt::Purged { is_done: found.len() <= limit })
}

pub(crate) async fn ends(tx: &Tx, pass: &SearchPass) -> Result<Vec<ReadingEnd>> {
    let stores: Vec<Uuid> = pass.stores().iter().map(|store| uuid(store.to_bytes())).collect();
    let rows = tx.query(include_str!("../queries/reading/ends.sql"), &[&stores]).await?;
    let read = |row: &Row| {
        let store = StoreId::from_bytes(id(row, 0)?);
        Ok(ReadingEnd { store, number: count(row, 1)?, forgotten: count(row, 2)? })
    };
    rows.iter().map(read).collect()
}

pub(crate) async fn newly_read(
    tx: &Tx,
    pass: &SearchPass,
    store: StoreId,
    after: u64,
    limit: usize,
) -> Result<NewlyRead> {
    searched(tx, pass, store).await?;
    let id = uuid(store.to_bytes());
    // How far it goes is asked first: what comes in between is told the next time.
    let end = tx.query_opt(include_str!("../queries/reading/ends.sql"), &[&vec![id]]).await?;
    let end = end.map_or(Ok(0), |row| count(&row, 1))?;
    let asked = int(limit as u64).saturating_add(1);
    let sql = include_str!("../queries/reading/after.sql");
    let rows = tx.query(sql, &[&id, &int(after), &asked]).await?;
    let read = |row: &Row| {
        let memory: Uuid = get(row, 1)?;
        Ok((count(row, 0)?, MemoryId::from_bytes(memory.into_bytes())))
    };
    let mut found = rows.iter().map(read).collect::<Result<Vec<_>>>()?;
    let is_cut = found.len() > limit;
    found.truncate(limit);
    let last = found.last().map_or(after, |(number, _)| *number);
    let through = if is_cut { last } else { end.max(last) };
    Ok(NewlyRead { through, memories: found.into_iter().map(|(_, memory)| memory).collect() })
}

pub(crate) async fn readings(
    tx: &Tx,
    pass: &SearchPass,
    store: StoreId,
    memories: &[MemoryId],
) -> Result<Vec<Reading>> {
    searched(tx, pass, store).await?;
    let ids: Vec<Uuid> = memories.iter().map(|id| uuid(id.to_bytes())).collect();
    let (shown_to, now) = (visibility_max(pass.audience()), pass.now().as_micros());
    let sql = include_str!("../queries/reading/of_memories.sql");
    let rows = tx.query(sql, &[&uuid(store.to_bytes()), &ids, &shown_to, &now]).await?;
    let read = |row: &Row| {
        Ok(Reading {
            memory: MemoryId::from_bytes(id(row, 0)?),
            version: VersionId::from_bytes(id(row, 1)?),
            reader: string(row, 2)?,
            claims: string(row, 3)?,
            at: time(row, 4)?,
        })
    };
    rows.iter().map(read).collect()
}

pub(crate) async fn marks(tx: &Tx, pass: &SearchPass, store: StoreId) -> Result<Vec<ReadingMark>> {
    searched(tx, pass, store).await?;
    let sql = include_str!("../queries/reading/marks.sql");
    let read = |row: &Row| {
        let day = u32::try_from(count(row, 2)?).unwrap_or(u32::MAX);
        let spent = Spent { day, requests: count(row, 3)?, tokens: count(row, 4)? };
        Ok(ReadingMark { reader: string(row, 0)?, through: count(row, 1)?, spent })
    };
    tx.query(sql, &[&uuid(store.to_bytes())]).await?.iter().map(read).collect()
}

pub(crate) async fn lags(
    tx: &Tx,
    reader: &str,
    stores: Option<&[StoreId]>,
    limit: usize,
) -> Result<Vec<ReadingLag>> {
    let among: Option<Vec<Uuid>> =
        stores.map(|stores| stores.iter().map(|store| uuid(store.to_bytes())).collect());
    let sql = include_str!("../queries/reading/lags.sql");
    let read = |row: &Row| {
        Ok(ReadingLag {
            workspace: WorkspaceId::from_bytes(id(row, 0)?),
            store: StoreId::from_bytes(id(row, 1)?),
            through: count(row, 2)?,
        })
    };
    tx.query(sql, &[&text(reader), &among, &int(limit as u64)]).await?.iter().map(read).collect()
}

pub(crate) async fn readable(
    tx: &Tx,
    pass: &SearchPass,
    store: StoreId,
    reader: &str,
    after: u64,
    limit: usize,
) -> Result<ReadablePage> {
    let (through, heads) = changed_heads(tx, pass, store, after, limit).await?;
    let memories: Vec<_> = heads.into_iter().filter_map(|(_, head)| Some(head?.memory)).collect();
    if memories.is_empty() {
        return Ok(ReadablePage { through, memories });
    }
    let ids: Vec<Uuid> = memories.iter().map(|memory| uuid(memory.id.to_bytes())).collect();
    let digests: Vec<&[u8]> =
        memories.iter().map(|memory| memory.digest.as_bytes().as_slice()).collect();
    let sql = include_str!("../queries/reading/unread.sql");
    let rows = tx.query(sql, &[&uuid(store.to_bytes()), &text(reader), &ids, &digests]).await?;
    let unread = rows.iter().map(|row| get(row, 0)).collect::<Result<HashSet<i64>>>()?;
    // Places count from one.
    let kept = (1i64..).zip(memories).filter(|(place, _)| unread.contains(place));
    Ok(ReadablePage { through, memories: kept.map(|(_, memory)| memory).collect() })
}

pub(crate) async fn spent(tx: &Tx, reader: &str, day: u32) -> Result<Spent> {
    let sql = include_str!("../queries/reading/spent.sql");
    let row = tx.query_one(sql, &[&text(reader), &i64::from(day)]).await?;
    Ok(Spent { day, requests: count(&row, 0)?, tokens: count(&row, 1)? })
}
