//! Requests that come twice. The first one's effect is remembered as ids only, in the same
//! transaction; a second one gets the same receipt, read again from what is there now, so that what
//! was redacted since does not come back this way.

use crate::fault::{Result, not_found};
use crate::row::{int, time, unreadable};
use crate::{grants, keys, sessions, stores, vectors, versions};
use loci_model::{Memory, Outcome, StoreId, Timestamp, VersionId, WorkspaceId};
use loci_storage::{Idempotency, OutcomeRefs, Receipt, ReceiptRefs, Remembered, StorageError};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// The receipt of an earlier request under the same key.
pub(crate) fn recall(conn: &Connection, key: &Idempotency) -> Result<Option<Receipt>> {
    match known(conn, key)? {
        None => Ok(None),
        Some(known) if known.idempotency.fingerprint != key.fingerprint => {
            Err(StorageError::KeyReused.into())
        }
        Some(known) => read_again(conn, known.refs).map(Some),
    }
}

pub(crate) fn remember(conn: &Connection, key: &Idempotency, receipt: &Receipt) -> Result<()> {
    put(conn, key, &ReceiptRefs::from(receipt))
}

pub(crate) fn put(conn: &Connection, key: &Idempotency, refs: &ReceiptRefs) -> Result<()> {
    let (kind, refs) = refs.encode();
    conn.prepare_cached(include_str!("../queries/idempotency/put.sql"))?.execute(params![
        key.scope.to_be_bytes(),
        key.key,
        key.fingerprint,
        kind,
        refs,
        key.now.as_micros(),
    ])?;
    Ok(())
}

pub(crate) fn forget(conn: &Connection, before: Timestamp) -> Result<Receipt> {
    let forgotten = conn
        .prepare_cached(include_str!("../queries/idempotency/forget.sql"))?
        .execute([before.as_micros()])?;
    Ok(Receipt::KeysForgotten(forgotten as u64))
}

/// What is remembered under a key, whatever the request was.
pub(crate) fn known(conn: &Connection, key: &Idempotency) -> Result<Option<Remembered>> {
    let found = conn
        .prepare_cached(include_str!("../queries/idempotency/known.sql"))?
        .query_row(params![key.scope.to_be_bytes(), key.key], |row| read(row, key.workspace));
    Ok(found.optional()?)
}

/// What is remembered of the workspace's credentials, a page of it.
pub(crate) fn page(
    conn: &Connection,
    workspace: WorkspaceId,
    after: Option<&(u128, String)>,
    limit: usize,
) -> Result<Vec<Remembered>> {
    // Every scope is longer than the empty one before the first.
    let (scope, key) =
        after.map_or((Vec::new(), ""), |(scope, key)| (scope.to_be_bytes().to_vec(), key.as_str()));
    let mut statement = conn.prepare_cached(include_str!("../queries/idempotency/page.sql"))?;
    let found = statement
        .query_map(params![scope, key, workspace.to_bytes(), int(limit as u64)], |row| {
            read(row, workspace)
        })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// The table does not say whose workspace a scope is in; whoever reads it knows.
fn read(row: &Row<'_>, workspace: WorkspaceId) -> rusqlite::Result<Remembered> {
    let refs = ReceiptRefs::decode(row.get(3)?, row.get_ref(4)?.as_blob()?);
    let idempotency = Idempotency {
        workspace,
        scope: u128::from_be_bytes(row.get(0)?),
        key: row.get(1)?,
        fingerprint: row.get(2)?,
        now: time(row, 5)?,
    };
    Ok(Remembered { idempotency, refs: refs.ok_or_else(|| unreadable(4, "no receipt"))? })
}

fn read_again(conn: &Connection, refs: ReceiptRefs) -> Result<Receipt> {
    Ok(match refs {
        ReceiptRefs::Workspace(id) => Receipt::Workspace(id),
        ReceiptRefs::Principal(id) => {
            let found = keys::principal(conn, id)?;
            Receipt::Principal(found.ok_or_else(|| not_found("principal"))?)
        }
        ReceiptRefs::Key(id) => {
            let found = keys::by_id(conn, id)?;
            Receipt::Key(found.ok_or_else(|| not_found("key"))?)
        }
        ReceiptRefs::Store(id) => {
            let found = stores::load(conn, id)?;
            Receipt::Store(found.ok_or_else(|| not_found("memory store"))?.store)
        }
        ReceiptRefs::StoreRemoved(id) => Receipt::StoreRemoved(id),
        ReceiptRefs::Purged(is_done) => Receipt::Purged { is_done },
        ReceiptRefs::Committed(outcomes) => {
            let outcomes = outcomes.iter().map(|one| outcome_again(conn, one));
            Receipt::Committed(outcomes.collect::<Result<_>>()?)
        }
        ReceiptRefs::Redacted(store, id) => {
            let found = match stores::load(conn, store)? {
                Some(row) => versions::load(conn, row.store_pk, store, id)?,
                None => None,
            };
            let found = found.ok_or_else(|| not_found("memory version"))?;
            Receipt::Redacted(Box::new(found.version))
        }
        ReceiptRefs::Erased(memory, versions) => Receipt::Erased { memory, versions },
        ReceiptRefs::Grant(id, revoked) => {
            let grant = grants::by_id(conn, id)?.ok_or_else(|| not_found("grant"))?;
            Receipt::Grant { grant, revoked }
        }
        ReceiptRefs::Revoked(ids) => Receipt::Revoked(ids),
        ReceiptRefs::Session(workspace, id) => {
            let found = sessions::load(conn, workspace, id)?;
            Receipt::Session(Box::new(found.ok_or_else(|| not_found("session"))?))
        }
        ReceiptRefs::SessionRemoved(id) => Receipt::SessionRemoved(id),
        ReceiptRefs::Imported(added) => Receipt::Imported(added),
        ReceiptRefs::KeysForgotten(forgotten) => Receipt::KeysForgotten(forgotten),
        ReceiptRefs::Generation(id) => {
            let found = vectors::generation(conn, id)?;
            Receipt::Generation(found.ok_or_else(|| not_found("generation"))?)
        }
        ReceiptRefs::VectorsPut(written) => Receipt::VectorsPut(written),
        ReceiptRefs::ReadingsPut(written) => Receipt::ReadingsPut(written),
        ReceiptRefs::Member(membership) => Receipt::Member(membership),
        ReceiptRefs::MemberRemoved(group, member, revoked) => {
            Receipt::MemberRemoved { group, member, revoked }
        }
        ReceiptRefs::Recorded(seq) => Receipt::Recorded(seq),
    })
}

/// The memory as the version had it that the edit wrote or found. When that version was redacted
/// since, there is no such memory to show any more.
fn outcome_again(conn: &Connection, refs: &OutcomeRefs) -> Result<Outcome> {
    let memory = match stores::load(conn, refs.store)? {
        Some(row) => as_of(conn, row.store_pk, refs.store, refs.head)?,
        None => None,
    };
    Ok(Outcome { memory: memory.ok_or_else(|| not_found("memory"))?, operation: refs.operation })
}

fn as_of(
    conn: &Connection,
    store_pk: i64,
    store: StoreId,
    head: VersionId,
) -> Result<Option<Memory>> {
    let found = conn
        .prepare_cached(include_str!("../queries/version/by_id.sql"))?
        .query_row(params![head.to_bytes(), store_pk], |row| versions::as_memory(row, store))
        .optional()?;
    Ok(found.flatten())
}
