//! Stores: making, describing, archiving, hiding and listing them, and the row the writer keeps of
//! each while it works, whose counters are written back once per group.

use crate::apply::Core;
use crate::fault::{Result, not_found};
use crate::members::Circle;
use crate::read::{EARLIEST, LATEST};
use crate::row::{self, count, int, micros, opt_time, time};
use crate::sessions;
use loci_model::policy::{BrowsePass, Facts, ManagePass};
use loci_model::query::{Amount, Direction, StoreQuery};
use loci_model::store::{OnRemove, Partitioning, Who};
use loci_model::{
    Address, Caller, Page, PrincipalId, SessionId, Store, StoreId, StorePatch, StorePolicy,
    Timestamp, WorkspaceId,
};
use loci_storage::column::{Code, labels_json};
use loci_storage::{Receipt, StorageError};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashSet;

/// A store with its key and counters.
#[derive(Debug, Clone)]
pub(crate) struct StoreRow {
    pub(crate) store_pk: i64,
    pub(crate) store: Store,
    pub(crate) is_removed: bool,
    /// The newest number of the feed.
    pub(crate) seq: u64,
    /// The newest time of the feed.
    pub(crate) last_at: Option<Timestamp>,
    pub(crate) memory_count: u64,
    pub(crate) content_bytes: u64,
    pub(crate) version_count: u64,
    /// Whether the counters here are newer than those in the database.
    pub(crate) is_dirty: bool,
}

pub(crate) fn load(conn: &Connection, store: StoreId) -> Result<Option<StoreRow>> {
    let found = conn
        .prepare_cached(include_str!("../queries/store/by_id.sql"))?
        .query_row([store.to_bytes()], read)
        .optional()?;
    Ok(found)
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoreRow> {
    Ok(StoreRow {
        store_pk: row.get(0)?,
        store: Store {
            id: StoreId::from_bytes(row.get(1)?),
            workspace: WorkspaceId::from_bytes(row.get(2)?),
            owner: PrincipalId::from_bytes(row.get(3)?),
            address: address(row, 23)?,
            name: row.get(4)?,
            description: row.get(5)?,
            metadata: row::labels(row, 6)?,
            policy: StorePolicy {
                partitioning: if row.get(7)? { Partitioning::ByOwner } else { Partitioning::None },
                remove: who(row.get(8)?),
                share: who(row.get(9)?),
                on_remove: match row.get(10)? {
                    None => OnRemove::KeepHistory,
                    Some(secs) => OnRemove::EraseAfter { secs },
                },
                content_bytes_max: count(row, 11)?,
                memories_max: count(row, 12)?,
                repeats: row::coded(row, 22)?,
                soft_cap: row::opt_count(row, 24)?,
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
        is_dirty: false,
    })
}

fn address(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Address>> {
    let text = row.get_ref(column)?.as_str_or_null()?;
    let parsed = text.map(Address::parse).transpose();
    parsed.map_err(|_| row::unreadable(column, "not an address"))
}

fn who(is_owner: bool) -> Who {
    if is_owner { Who::Owner } else { Who::Writer }
}

/// The store at an address of a workspace.
pub(crate) fn at(
    conn: &Connection,
    workspace: WorkspaceId,
    address: &Address,
) -> Result<Option<StoreId>> {
    let found = conn
        .prepare_cached(include_str!("../queries/store/at_address.sql"))?
        .query_row(params![workspace.to_bytes(), address.as_str()], |row| row.get(0));
    Ok(found.optional()?.map(StoreId::from_bytes))
}

/// What live stores hold whose addresses begin so, of one owner or of all.
pub(crate) fn kept(
    conn: &Connection,
    workspace: WorkspaceId,
    owner: Option<PrincipalId>,
    addresses: &str,
) -> Result<Amount> {
    let read = |row: &Row<'_>| Ok(Amount { memories: count(row, 0)?, bytes: count(row, 1)? });
    let (workspace, (from, to)) = (workspace.to_bytes(), Address::range(addresses));
    let kept = match owner {
        Some(owner) => conn
            .prepare_cached(include_str!("../queries/store/kept_by.sql"))?
            .query_row(params![workspace, from, to, owner.to_bytes()], read),
        None => conn
            .prepare_cached(include_str!("../queries/store/kept.sql"))?
            .query_row(params![workspace, from, to], read),
    };
    Ok(kept?)
}

/// The store at the new one's address, where there is one; else the new one.
pub(crate) fn get_or_create(conn: &Connection, store: &Store) -> Result<Store> {
    let there = match &store.address {
        Some(address) if load(conn, store.id)?.is_none() => at(conn, store.workspace, address)?,
        Some(_) | None => None,
    };
    if let Some(there) = there {
        let row = load(conn, there)?.ok_or_else(|| not_found("memory store"))?;
        return Ok(row.store);
    }
    create(conn, store)?;
    Ok(store.clone())
}

pub(crate) fn create(conn: &Connection, store: &Store) -> Result<()> {
    if load(conn, store.id)?.is_some() {
        return Err(StorageError::Taken("memory store").into());
    }
    let policy = &store.policy;
    let erase_after_secs = match policy.on_remove {
        OnRemove::KeepHistory => None,
        OnRemove::EraseAfter { secs } => Some(secs),
    };
    conn.prepare_cached(include_str!("../queries/store/insert.sql"))?.execute(params![
        store.id.to_bytes(),
        store.workspace.to_bytes(),
        store.owner.to_bytes(),
        store.name,
        store.description,
        labels_json(&store.metadata),
        policy.partitioning == Partitioning::ByOwner,
        policy.remove == Who::Owner,
        policy.share == Who::Owner,
        erase_after_secs,
        int(policy.content_bytes_max),
        int(policy.memories_max),
        store.created_at.as_micros(),
        store.updated_at.as_micros(),
        micros(store.archived_at),
        policy.repeats.code(),
        store.address.as_ref().map(Address::as_str),
        policy.soft_cap.map(int),
    ])?;
    Ok(())
}

impl Core {
    pub(crate) fn describe_store(
        &mut self,
        pass: &ManagePass,
        patch: &StorePatch,
    ) -> Result<Receipt> {
        self.with_store(pass.store(), |core, row| {
            if row.store.archived_at.is_some() {
                return Err(StorageError::Archived.into());
            }
            let mut next = patch.apply_to(&row.store)?;
            if next != row.store {
                next.updated_at = pass.now();
                core.save_store(row, next)?;
            }
            Ok(Receipt::Store(row.store.clone()))
        })
    }

    pub(crate) fn archive_store(&mut self, pass: &ManagePass) -> Result<Receipt> {
        self.with_store(pass.store(), |core, row| {
            if row.store.archived_at.is_none() {
                let mut next = row.store.clone();
                next.archived_at = Some(pass.now());
                next.updated_at = pass.now();
                core.save_store(row, next)?;
            }
            Ok(Receipt::Store(row.store.clone()))
        })
    }

    pub(crate) fn remove_store(&mut self, pass: &ManagePass) -> Result<Receipt> {
        self.with_store(pass.store(), |core, row| {
            core.conn
                .prepare_cached(include_str!("../queries/store/remove.sql"))?
                .execute(params![row.store_pk, pass.now().as_micros()])?;
            write_counters(&core.conn, row)?;
            row.is_removed = true;
            Ok(Receipt::StoreRemoved(pass.store()))
        })
    }

    pub(crate) fn save_store(&self, row: &mut StoreRow, next: Store) -> Result<()> {
        self.conn.prepare_cached(include_str!("../queries/store/describe.sql"))?.execute(
            params![
                row.store_pk,
                next.name,
                next.description,
                labels_json(&next.metadata),
                next.updated_at.as_micros(),
                micros(next.archived_at),
                next.policy.repeats.code(),
                next.policy.soft_cap.map(int),
            ],
        )?;
        row.store = next;
        Ok(())
    }
}

/// Writes a store's counters if they changed.
pub(crate) fn write_counters(conn: &Connection, row: &mut StoreRow) -> Result<()> {
    if row.is_dirty {
        conn.prepare_cached(include_str!("../queries/store/count.sql"))?.execute(params![
            row.store_pk,
            int(row.seq),
            micros(row.last_at),
            int(row.memory_count),
            int(row.content_bytes),
            int(row.version_count),
        ])?;
        row.is_dirty = false;
    }
    Ok(())
}

pub(crate) fn list(
    conn: &Connection,
    pass: &BrowsePass,
    query: &StoreQuery,
) -> Result<Page<Store, (Timestamp, StoreId)>> {
    let (sql, start) = match query.direction {
        Direction::Ascending => (
            include_str!("../queries/store/list_ascending.sql"),
            (query.since.unwrap_or(EARLIEST), [0; 16]),
        ),
        Direction::Descending => (
            include_str!("../queries/store/list_descending.sql"),
            (query.until.unwrap_or(LATEST), [0xff; 16]),
        ),
    };
    let (at, id) =
        start_of(query.direction, start, query.after.map(|(at, id)| (at, id.to_bytes())));
    let circle = pass.reader().map(|reader| Circle::of(conn, reader)).transpose()?;
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params![
        pass.workspace().to_bytes(),
        at.as_micros(),
        id,
        query.include_archived,
    ])?;
    let mut stores = Vec::new();
    while let Some(row) = rows.next()? {
        let found = read(row)?;
        let created_at = found.store.created_at;
        if query.since.is_some_and(|since| created_at < since)
            || query.until.is_some_and(|until| created_at > until)
        {
            break;
        }
        let facts = match &circle {
            Some(circle) => circle.facts(conn, found)?,
            None => Facts {
                store: found.store,
                grants: vec![],
                home_of: None,
                relation: None,
                attachment: None,
            },
        };
        if pass.shows(&facts) {
            stores.push(facts.store);
            if stores.len() > query.limit {
                break;
            }
        }
    }
    Ok(Page::cut(stores, query.limit, |store| (store.created_at, store.id)))
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

/// Facts about every store in which the caller may have a standing, oldest store first.
pub(crate) fn all_facts(conn: &Connection, caller: &Caller) -> Result<Vec<Facts>> {
    if let Some(session) = caller.session {
        return facts_of_session(conn, caller, session);
    }
    let mut rows = Vec::new();
    if caller.is_admin {
        let sql = include_str!("../queries/store/list_ascending.sql");
        let mut statement = conn.prepare_cached(sql)?;
        let all = params![caller.workspace.to_bytes(), EARLIEST.as_micros(), [0u8; 16], true];
        rows.extend(statement.query_map(all, read)?.collect::<rusqlite::Result<Vec<_>>>()?);
    } else {
        let sql = include_str!("../queries/store/reachable.sql");
        let mut statement = conn.prepare_cached(sql)?;
        let reach = params![caller.workspace.to_bytes(), caller.principal.to_bytes()];
        rows.extend(statement.query_map(reach, read)?.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    let circle = Circle::of(conn, caller.principal)?;
    let known = rows.into_iter().map(|row| circle.facts(conn, row));
    let mut known = known.collect::<Result<Vec<_>>>()?;
    known.retain(|facts| caller.is_admin || facts.concern(caller.principal));
    Ok(known)
}

/// The same for a session: only what it attaches.
fn facts_of_session(conn: &Connection, caller: &Caller, session: SessionId) -> Result<Vec<Facts>> {
    let Some(attached) = sessions::load(conn, caller.workspace, session)? else {
        return Ok(Vec::new());
    };
    let stores: HashSet<StoreId> = attached.attachments.iter().map(|one| one.store).collect();
    let mut known = Vec::new();
    for store in stores {
        known.extend(crate::read::facts(
            conn,
            caller.workspace,
            store,
            caller.principal,
            Some(session),
        )?);
    }
    known.retain(|facts| facts.attachment.is_some());
    known.sort_by_key(|facts| (facts.store.created_at, facts.store.id));
    Ok(known)
}

pub(crate) fn unpurged(conn: &Connection, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
    named(conn, include_str!("../queries/store/unpurged.sql"), limit)
}

/// Whether a store of a workspace was removed and is not purged yet.
pub(crate) fn is_removed(
    conn: &Connection,
    workspace: WorkspaceId,
    store: StoreId,
) -> Result<bool> {
    let found = load(conn, store)?;
    Ok(found.is_some_and(|row| row.is_removed && row.store.workspace == workspace))
}

/// Stores that hold more than they should.
pub(crate) fn crowded(conn: &Connection, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
    named(conn, include_str!("../queries/store/crowded.sql"), limit)
}

fn named(conn: &Connection, sql: &str, limit: usize) -> Result<Vec<(WorkspaceId, StoreId)>> {
    let mut statement = conn.prepare_cached(sql)?;
    let stores = statement.query_map([int(limit as u64)], |row| {
        Ok((WorkspaceId::from_bytes(row.get(0)?), StoreId::from_bytes(row.get(1)?)))
    })?;
    Ok(stores.collect::<rusqlite::Result<_>>()?)
}

/// The row of a store of a workspace that was removed and is not purged yet.
pub(crate) fn load_removed(
    conn: &Connection,
    workspace: WorkspaceId,
    store: StoreId,
) -> Result<StoreRow> {
    load(conn, store)?
        .filter(|row| row.is_removed && row.store.workspace == workspace)
        .ok_or_else(|| not_found("memory store"))
}
