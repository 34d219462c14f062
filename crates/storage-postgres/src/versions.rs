//! History as readers see it: single versions, versions newest first, and the feed.
//!
//! Feed numbers have no gaps and times only grow: a bound in time is found by halving and becomes a
//! bound of numbers, and the next so many entries are those with the next so many numbers.

use crate::client::{Tx, uuid};
use crate::fault::{Result, corrupt};
use crate::pieces;
use crate::read::{keep_to_indexes, require_store};
use crate::row::{
    self, KNOWN_VERSION_COLUMNS, VersionRow, actor, actor_columns, checked, coded, count, id, int,
    opt_path, string, time,
};
use loci_model::policy::ReadPass;
use loci_model::query::VersionQuery;
use loci_model::{Change, MemoryId, Page, StoreId, Timestamp, Version, VersionId, View};
use loci_storage::column::{Code, visibility_max};
use tokio_postgres::Row;

pub(crate) async fn get(
    tx: &Tx,
    pass: &ReadPass,
    id: VersionId,
    view: View,
) -> Result<Option<Version>> {
    let found = tx
        .query_opt(
            include_str!("../queries/version/visible.sql"),
            &[
                &uuid(pass.store().to_bytes()),
                &uuid(id.to_bytes()),
                &visibility_max(pass.audience()),
                &(view == View::Full),
            ],
        )
        .await?;
    let rows: Vec<Row> = found.into_iter().collect();
    Ok(in_view(tx, &rows, pass.store(), view).await?.pop())
}

/// Versions with the contents that stand behind their columns, if the view wants them and they have
/// any.
async fn in_view(tx: &Tx, rows: &[Row], store: StoreId, view: View) -> Result<Vec<Version>> {
    if view == View::Basic {
        return rows.iter().map(|row| Ok(row::version(row, store)?.version)).collect();
    }
    let contents = pieces::of_rows(tx, rows, store, KNOWN_VERSION_COLUMNS).await?;
    let filled = |(row, bytes)| filled(row::version(row, store)?, bytes);
    rows.iter().zip(contents).map(filled).collect()
}

/// A version with its content, if it still has one.
pub(crate) fn filled(known: VersionRow, bytes: Option<Vec<u8>>) -> Result<Version> {
    let mut version = known.version;
    if let Some(digest) = version.digest {
        version.content = Some(checked(bytes, digest, known.is_sealed)?);
    }
    Ok(version)
}

/// The version of a store, whoever may see it.
pub(crate) async fn load(tx: &Tx, store: StoreId, id: VersionId) -> Result<Option<VersionRow>> {
    let sql = include_str!("../queries/version/by_id.sql");
    let found = tx.query_opt(sql, &[&uuid(store.to_bytes()), &uuid(id.to_bytes())]).await?;
    found.map(|row| row::version(&row, store)).transpose()
}

pub(crate) async fn page(
    tx: &Tx,
    pass: &ReadPass,
    query: &VersionQuery,
) -> Result<Page<Version, u64>> {
    let store = pass.store();
    keep_to_indexes(tx).await;
    let mut before = query.before_seq.unwrap_or(u64::MAX);
    if let Some(until) = query.until {
        before = before.min(first_after(tx, store, until).await?);
    }
    let from = match query.since {
        None => 0,
        Some(since) => {
            let earlier = Timestamp::from_micros(since.as_micros().saturating_sub(1));
            first_after(tx, store, earlier).await?
        }
    };
    let store_id = uuid(store.to_bytes());
    let (from, before) = (int(from), int(before));
    let shown_to = visibility_max(pass.audience());
    let operation = query.operation.map(Code::code);
    let (actor_kind, actor_id) = match query.actor.map(actor_columns) {
        None => (None, None),
        Some((kind, id)) => (Some(kind), id),
    };
    let is_full = query.view == View::Full;
    // One more than the page, to know whether there is a next one.
    let limit = int(query.limit as u64).saturating_add(1);
    let rows = match query.memory {
        None => {
            let sql = include_str!("../queries/version/newest.sql");
            tx.query(
                sql,
                &[
                    &store_id,
                    &from,
                    &before,
                    &shown_to,
                    &operation,
                    &actor_kind,
                    &actor_id,
                    &is_full,
                    &limit,
                ],
            )
            .await?
        }
        Some(memory) => {
            let sql = include_str!("../queries/version/of_memory.sql");
            tx.query(
                sql,
                &[
                    &store_id,
                    &from,
                    &before,
                    &shown_to,
                    &operation,
                    &actor_kind,
                    &actor_id,
                    &is_full,
                    &limit,
                    &uuid(memory.to_bytes()),
                ],
            )
            .await?
        }
    };
    if rows.is_empty() {
        require_store(tx, store).await?;
    }
    let versions = in_view(tx, &rows, store, query.view).await?;
    Ok(Page::cut(versions, query.limit, |version| version.seq))
}

/// The first feed number whose time is after a moment.
pub(crate) async fn first_after(tx: &Tx, store: StoreId, until: Timestamp) -> Result<u64> {
    let sql = include_str!("../queries/change/first_after.sql");
    let found = tx.query_opt(sql, &[&uuid(store.to_bytes()), &until.as_micros()]).await?;
    match found {
        Some(row) => count(&row, 0),
        None => {
            require_store(tx, store).await?;
            Err(corrupt("the feed has a gap"))
        }
    }
}

pub(crate) async fn changes(
    tx: &Tx,
    pass: &ReadPass,
    after: u64,
    limit: usize,
) -> Result<Vec<Change>> {
    let rows = tx
        .query(
            include_str!("../queries/change/list.sql"),
            &[
                &uuid(pass.store().to_bytes()),
                &int(after),
                &int(after.saturating_add(limit as u64)),
                &visibility_max(pass.audience()),
            ],
        )
        .await?;
    if rows.is_empty() {
        require_store(tx, pass.store()).await?;
    }
    let read = |row: &Row| {
        Ok(Change {
            store: pass.store(),
            seq: count(row, 0)?,
            op: coded(row, 1)?,
            memory: MemoryId::from_bytes(id(row, 2)?),
            version: VersionId::from_bytes(id(row, 3)?),
            revision: count(row, 4)?,
            path: opt_path(row, 5)?,
            actor: actor(row, 6)?,
            at: time(row, 8)?,
            reason: string(row, 9)?,
        })
    };
    rows.iter().map(read).collect()
}
