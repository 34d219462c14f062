//! Stores: making, describing, archiving and hiding them, finding them by address, and the row a writer holds of
//! each while it works. Whoever holds that row is the store's only writer, on whatever server.

use crate::client::{Tx, uuid};
use crate::fault::{Result, corrupt, not_found};
use crate::row::{
    coded, count, get, id, int, micros, opt_count, opt_string, opt_time, string, taken, text, time,
};
use loci_model::policy::ManagePass;
use loci_model::query::{Amount, Direction};
use loci_model::store::{OnRemove, Partitioning, Who};
use loci_model::{
    Address, PrincipalId, Store, StoreId, StorePatch, StorePolicy, Timestamp, WorkspaceId,
};
use loci_storage::column::{self, Code, labels_json};
use loci_storage::{Receipt, StorageError};
use std::collections::BTreeMap;
use tokio_postgres::Row;
use uuid::Uuid;

/// How often a store is made whose address was taken a moment ago and is free again.
const CREATIONS_MAX: usize = 3;

/// A store with its counters.
#[derive(Debug, Clone)]
pub(crate) struct StoreRow {
    pub(crate) store: Store,
    pub(crate) is_removed: bool,
    /// The newest number of the feed.
    pub(crate) seq: u64,
    /// The newest time of the feed.
    pub(crate) last_at: Option<Timestamp>,
    pub(crate) memory_count: u64,
    pub(crate) content_bytes: u64,
    pub(crate) version_count: u64,
}

/// A store, removed or not.
pub(crate) async fn load(tx: &Tx, store: StoreId) -> Result<Option<StoreRow>> {
    let id = uuid(store.to_bytes());
    let row = tx.query_opt(include_str!("../queries/store/by_id.sql"), &[&id]).await?;
    row.as_ref().map(read).transpose()
}

/// Takes the rows of stores, removed or not, until the end of the transaction. Always in the order
/// of their ids, so that no two writers wait for each other.
pub(crate) async fn lock(tx: &Tx, stores: &[StoreId]) -> Result<Vec<StoreRow>> {
    let ids: Vec<Uuid> = stores.iter().map(|store| uuid(store.to_bytes())).collect();
    let rows = tx.query(include_str!("../queries/store/lock.sql"), &[&ids]).await?;
    rows.iter().map(read).collect()
}

/// Takes the row of one store that is not removed.
pub(crate) async fn lock_one(tx: &Tx, store: StoreId) -> Result<StoreRow> {
    let found = lock(tx, &[store]).await?.pop();
    found.filter(|row| !row.is_removed).ok_or_else(|| not_found("memory store"))
}

/// Takes the row of one store that was removed and is not purged yet, and waits for those who hold
/// it: later, with other rows taken, would be too late, because they may want those.
pub(crate) async fn lock_removed(tx: &Tx, store: StoreId) -> Result<StoreRow> {
    let id = uuid(store.to_bytes());
    let row = tx.query_opt(include_str!("../queries/store/lock_alone.sql"), &[&id]).await?;
    row.as_ref().map(read).transpose()?.ok_or_else(|| not_found("memory store"))
}

/// The columns of a store, as every statement of this file selects them.
pub(crate) fn read(row: &Row) -> Result<StoreRow> {
    let secs: Option<i64> = get(row, 9)?;
    let on_remove = match secs {
        None => OnRemove::KeepHistory,
        Some(secs) => OnRemove::EraseAfter {
            secs: secs.try_into().map_err(|_| corrupt("a time out of range"))?,
        },
    };
    Ok(StoreRow {
        store: Store {
            id: StoreId::from_bytes(id(row, 0)?),
            workspace: WorkspaceId::from_bytes(id(row, 1)?),
            owner: PrincipalId::from_bytes(id(row, 2)?),
            address: address(row)?,
            name: string(row, 3)?,
            description: string(row, 4)?,
            metadata: labels(row, 5)?,
            policy: StorePolicy {
                partitioning: if get(row, 6)? { Partitioning::ByOwner } else { Partitioning::None },
                remove: who(get(row, 7)?),
                share: who(get(row, 8)?),
                on_remove,
                content_bytes_max: count(row, 10)?,
                memories_max: count(row, 11)?,
                repeats: coded(row, 12)?,
                soft_cap: opt_count(row, 23)?,
            },
            created_at: time(row, 13)?,
            updated_at: time(row, 14)?,
            archived_at: opt_time(row, 15)?,
        },
        is_removed: opt_time(row, 16)?.is_some(),
        seq: count(row, 17)?,
        last_at: opt_time(row, 18)?,
        memory_count: count(row, 19)?,
        content_bytes: count(row, 20)?,
        version_count: count(row, 21)?,
    })
}

fn address(row: &Row) -> Result<Option<Address>> {
    let text = opt_string(row, 22)?;
    let read = |text: String| Address::parse(&text).map_err(|_| corrupt("not an address"));
    text.map(read).transpose()
}

fn who(is_owner: bool) -> Who {
    if is_owner { Who::Owner } else { Who::Writer }
}

/// A map of strings.
pub(crate) fn labels(row: &Row, column: usize) -> Result<BTreeMap<String, String>> {
    let json = string(row, column)?;
    column::labels_from_json(&json).ok_or_else(|| corrupt("not a map of strings"))
}

/// The store at an address.
pub(crate) async fn at_address(
    tx: &Tx,
    workspace: WorkspaceId,
    address: &Address,
) -> Result<Option<StoreId>> {
    let sql = include_str!("../queries/store/at_address.sql");
    let workspace = uuid(workspace.to_bytes());
    let found = tx.query_opt(sql, &[&workspace, &text(address.as_str())]).await?;
    found.map(|row| id(&row, 0).map(StoreId::from_bytes)).transpose()
}

/// What live stores hold whose addresses begin so, of one owner or of all.
pub(crate) async fn kept(
    tx: &Tx,
    workspace: WorkspaceId,
    owner: Option<PrincipalId>,
    addresses: &str,
) -> Result<Amount> {
    let workspace = uuid(workspace.to_bytes());
    let (from, to) = Address::range(addresses);
    let (from, to) = (text(&from), text(&to));
    let row = match owner {
        Some(owner) => {
            let sql = include_str!("../queries/store/kept_by.sql");
            tx.query_one(sql, &[&workspace, &from, &to, &uuid(owner.to_bytes())]).await?
        }
        None => {
            let sql = include_str!("../queries/store/kept.sql");
            tx.query_one(sql, &[&workspace, &from, &to]).await?
        }
    };
    Ok(Amount { memories: count(&row, 0)?, bytes: count(&row, 1)? })
}

/// Makes a store, or finds the one that is at its address.
pub(crate) async fn create(tx: &Tx, store: &Store) -> Result<Store> {
    for _ in 0..CREATIONS_MAX {
        if insert(tx, store).await? {
            return Ok(store.clone());
        }
        let Some(address) = &store.address else { break };
        if load(tx, store.id).await?.is_some() {
            break;
        }
        if let Some(there) = at_address(tx, store.workspace, address).await?
            && let Some(row) = load(tx, there).await?.filter(|row| !row.is_removed)
        {
            return Ok(row.store);
        }
    }
    Err(taken("memory store"))
}

async fn insert(tx: &Tx, store: &Store) -> Result<bool> {
    let policy = &store.policy;
    let erase_after_secs = match policy.on_remove {
        OnRemove::KeepHistory => None,
        OnRemove::EraseAfter { secs } => Some(i64::from(secs)),
    };
    let added = tx
        .execute(
            include_str!("../queries/store/insert.sql"),
            &[
                &uuid(store.id.to_bytes()),
                &uuid(store.workspace.to_bytes()),
                &uuid(store.owner.to_bytes()),
                &text(&store.name),
                &text(&store.description),
                &text(&labels_json(&store.metadata)),
                &(policy.partitioning == Partitioning::ByOwner),
                &(policy.remove == Who::Owner),
                &(policy.share == Who::Owner),
                &erase_after_secs,
                &int(policy.content_bytes_max),
                &int(policy.memories_max),
                &policy.repeats.code(),
                &store.created_at.as_micros(),
                &store.updated_at.as_micros(),
                &micros(store.archived_at),
                &store.address.as_ref().map(|address| text(address.as_str())),
                &policy.soft_cap.map(int),
            ],
        )
        .await?;
    Ok(added > 0)
}

pub(crate) async fn describe(tx: &Tx, pass: &ManagePass, patch: &StorePatch) -> Result<Receipt> {
    let store = lock_one(tx, pass.store()).await?.store;
    if store.archived_at.is_some() {
        return Err(StorageError::Archived.into());
    }
    let mut next = patch.apply_to(&store)?;
    if next != store {
        next.updated_at = pass.now();
        save(tx, &next).await?;
    }
    Ok(Receipt::Store(next))
}

pub(crate) async fn archive(tx: &Tx, pass: &ManagePass) -> Result<Receipt> {
    let mut store = lock_one(tx, pass.store()).await?.store;
    if store.archived_at.is_none() {
        store.archived_at = Some(pass.now());
        store.updated_at = pass.now();
        save(tx, &store).await?;
    }
    Ok(Receipt::Store(store))
}

pub(crate) async fn remove(tx: &Tx, pass: &ManagePass) -> Result<Receipt> {
    let store = lock_one(tx, pass.store()).await?.store.id;
    let sql = include_str!("../queries/store/remove.sql");
    tx.execute(sql, &[&uuid(store.to_bytes()), &pass.now().as_micros()]).await?;
    Ok(Receipt::StoreRemoved(store))
}

/// Writes what can change of a store beside its counters. Its row is held.
pub(crate) async fn save(tx: &Tx, store: &Store) -> Result<()> {
    tx.execute(
        include_str!("../queries/store/describe.sql"),
        &[
            &uuid(store.id.to_bytes()),
            &text(&store.name),
            &text(&store.description),
            &text(&labels_json(&store.metadata)),
            &store.updated_at.as_micros(),
            &micros(store.archived_at),
            &store.policy.repeats.code(),
            &store.policy.soft_cap.map(int),
        ],
    )
    .await?;
    Ok(())
}

/// Where a listing by time starts: after the last thing shown, or at the bound. The statements ask
/// for strictly more (or less) than this; no real id is all zeros or all ones.
pub(crate) fn start_of(
    direction: Direction,
    bound: (Timestamp, [u8; 16]),
    after: Option<(Timestamp, [u8; 16])>,
) -> (Timestamp, [u8; 16]) {
    match (direction, after) {
        (_, None) => bound,
        (Direction::Ascending, Some(after)) => after.max(bound),
        (Direction::Descending, Some(after)) => after.min(bound),
    }
}
