//! Reading single things: one memory, one content, a store's numbers.
//! Each is one statement, because every further one costs a round trip; content that is in pieces
//! takes a second one.
//!
//! A read runs in a transaction that sees one moment: what its first statement finds is still so for
//! the last. A store that was removed is gone for every statement here, though its rows are not yet.

use crate::client::{Tx, uuid};
use crate::fault::{Result, not_found};
use crate::list;
use crate::pieces::Last;
use crate::row::{self, LIVE_MEMORY_COLUMNS, MemoryRow, checked, int, key_of};
use crate::stores;
use futures_util::poll;
use loci_model::policy::ReadPass;
use loci_model::query::StoreStats;
use loci_model::{At, Audience, Content, Digest, Memory, MemoryPath, StoreId, Timestamp, View};
use loci_storage::column::{Code, visibility_max};
use std::pin::pin;
use tokio_postgres::Row;

/// Fails when a store is not there (any more).
pub(crate) async fn require_store(tx: &Tx, store: StoreId) -> Result<()> {
    let sql = include_str!("../queries/store/is_there.sql");
    let found = tx.query_opt(sql, &[&uuid(store.to_bytes())]).await?;
    found.map(drop).ok_or_else(|| not_found("memory store"))
}

/// Keeps what follows in this transaction to the indexes that its statements are written for. A walk
/// that ends after a page would otherwise read and sort a whole store whenever PostgreSQL guesses
/// that there is little in it, and for prepared statements it always guesses that.
///
/// Goes out ahead of the next statement, so it costs no round trip.
pub(crate) async fn keep_to_indexes(tx: &Tx) {
    const SETTINGS: &str = "set local enable_seqscan = off; set local enable_bitmapscan = off; \
        set local enable_sort = off; set local enable_hashjoin = off; \
        set local enable_mergejoin = off";
    let mut sent = pin!(tx.client().batch_execute(SETTINGS));
    let _ = poll!(sent.as_mut());
}

pub(crate) async fn get(tx: &Tx, pass: &ReadPass, at: &At, view: View) -> Result<Option<Memory>> {
    let store = pass.store();
    if let At::First(filter) = at {
        let found = list::first(tx, store, filter, pass.audience(), pass.now()).await?;
        return Ok(match found {
            None => None,
            Some(found) => Some(in_view(tx, found, view).await?),
        });
    }
    let Some(row) = named_row(tx, store, at, view).await? else { return Ok(None) };
    let found = row::memory(&row, store)?;
    if !is_shown(&found, pass.audience(), pass.now()) {
        return Ok(None);
    }
    with_content(tx, &row, found, view).await.map(Some)
}

/// The memory at a path that changed last, in whatever partition, among those that are shown.
pub(crate) async fn newest(
    tx: &Tx,
    pass: &ReadPass,
    path: &MemoryPath,
    view: View,
) -> Result<Option<Memory>> {
    let found = tx
        .query_opt(
            include_str!("../queries/memory/newest.sql"),
            &[
                &uuid(pass.store().to_bytes()),
                &path.as_str(),
                &(view == View::Full),
                &visibility_max(pass.audience()),
                &pass.now().as_micros(),
            ],
        )
        .await?;
    let Some(row) = found else { return Ok(None) };
    with_content(tx, &row, row::memory(&row, pass.store())?, view).await.map(Some)
}

/// The live memory of an id or path, whoever may see it.
async fn named_row(tx: &Tx, store: StoreId, at: &At, view: View) -> Result<Option<Row>> {
    let (store, is_full) = (uuid(store.to_bytes()), view == View::Full);
    match at {
        At::Id(id) => {
            let sql = include_str!("../queries/memory/get_by_id.sql");
            tx.query_opt(sql, &[&store, &uuid(id.to_bytes()), &is_full]).await
        }
        At::Path(partition, path) => {
            let sql = include_str!("../queries/memory/get_by_path.sql");
            tx.query_opt(sql, &[&store, &path.as_str(), &is_full, &key_of(*partition)]).await
        }
        At::First(_) => Ok(None),
    }
}

/// A memory with the content that stands behind its columns, if the view wants it.
async fn with_content(tx: &Tx, row: &Row, found: MemoryRow, view: View) -> Result<Memory> {
    let mut memory = found.memory;
    if view == View::Full {
        let bytes = Last::read(row, memory.store, LIVE_MEMORY_COLUMNS)?.whole(tx).await?;
        memory.content = Some(checked(bytes, memory.digest, memory.is_sealed)?);
    }
    Ok(memory)
}

/// Whether an audience sees a memory at a moment.
pub(crate) fn is_shown(row: &MemoryRow, audience: Audience, now: Timestamp) -> bool {
    row.memory.attributes.visibility.code() <= visibility_max(audience) && !row.is_expired_at(now)
}

async fn in_view(tx: &Tx, row: MemoryRow, view: View) -> Result<Memory> {
    let mut memory = row.memory;
    if view == View::Full {
        let content = content(tx, memory.store, row.head, memory.digest, memory.is_sealed);
        memory.content = Some(content.await?);
    }
    Ok(memory)
}

/// The content of a version, checked against its digest: what does not match is never shown.
pub(crate) async fn content(
    tx: &Tx,
    store: StoreId,
    seq: u64,
    digest: Digest,
    is_sealed: bool,
) -> Result<Content> {
    checked(raw_content(tx, store, seq).await?, digest, is_sealed)
}

/// The stored bytes of a version, unchecked; none if some of them are missing.
pub(crate) async fn raw_content(tx: &Tx, store: StoreId, seq: u64) -> Result<Option<Vec<u8>>> {
    let sql = include_str!("../queries/payload/get.sql");
    let found = tx.query_opt(sql, &[&uuid(store.to_bytes()), &int(seq)]).await?;
    match found {
        None => Ok(None),
        Some(row) => Last::read(&row, store, 0)?.whole(tx).await,
    }
}

pub(crate) async fn stats(tx: &Tx, store: StoreId) -> Result<StoreStats> {
    let row = stores::load(tx, store).await?.filter(|row| !row.is_removed);
    let row = row.ok_or_else(|| not_found("memory store"))?;
    Ok(StoreStats {
        memories: row.memory_count,
        content_bytes: row.content_bytes,
        versions: row.version_count,
        last_seq: row.seq,
    })
}

/// The earliest and latest moments, for listings without a bound.
pub(crate) const EARLIEST: Timestamp = Timestamp::from_micros(i64::MIN);
pub(crate) const LATEST: Timestamp = Timestamp::from_micros(i64::MAX);
