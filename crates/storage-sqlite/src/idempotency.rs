//! Requests that come twice. The first one's effect is remembered as ids only, in the same
//! transaction; a second one gets the same receipt, read again from what is there now, so that what
//! was redacted since does not come back this way.

use crate::fault::{Result, corrupt, not_found};
use crate::row::{self, operation_code};
use crate::{grants, keys, sessions, stores, vectors, versions};
use loci_model::{
    GrantId, KeyId, Memory, MemoryId, Operation, Outcome, PrincipalId, SessionId, StoreId,
    Timestamp, VersionId, WorkspaceId,
};
use loci_storage::{GenerationId, Idempotency, Receipt, StorageError};
use rusqlite::{Connection, OptionalExtension, params};

/// What stands for "changed nothing" beside the codes of operations.
const NO_OPERATION: u8 = 255;

/// The receipt of an earlier request under the same key.
pub(crate) fn recall(conn: &Connection, key: &Idempotency) -> Result<Option<Receipt>> {
    let found = conn
        .prepare_cached(include_str!("../queries/idempotency/get.sql"))?
        .query_row(params![key.scope.to_be_bytes(), key.key], |row| {
            Ok((row.get::<_, [u8; 32]>(0)?, row.get::<_, i64>(1)?, row.get::<_, Vec<u8>>(2)?))
        })
        .optional()?;
    match found {
        None => Ok(None),
        Some((fingerprint, _, _)) if fingerprint != key.fingerprint => {
            Err(StorageError::KeyReused.into())
        }
        Some((_, kind, refs)) => read_again(conn, kind, &refs).map(Some),
    }
}

pub(crate) fn remember(conn: &Connection, key: &Idempotency, receipt: &Receipt) -> Result<()> {
    let (kind, refs) = refs_of(receipt);
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

/// A receipt as a kind and the ids it takes to read it again.
fn refs_of(receipt: &Receipt) -> (i64, Vec<u8>) {
    match receipt {
        Receipt::Workspace(id) => (0, id.to_bytes().into()),
        Receipt::Principal(principal) => (1, principal.id.to_bytes().into()),
        Receipt::Key(key) => (2, key.id.to_bytes().into()),
        Receipt::Store(store) => (3, store.id.to_bytes().into()),
        Receipt::StoreRemoved(id) => (4, id.to_bytes().into()),
        Receipt::Purged { is_done } => (5, vec![u8::from(*is_done)]),
        Receipt::Committed(outcomes) => (6, outcomes.iter().flat_map(outcome_refs).collect()),
        Receipt::Redacted(version) => {
            (7, [version.store.to_bytes(), version.id.to_bytes()].concat())
        }
        Receipt::Erased { memory, versions } => {
            (8, [&memory.to_bytes()[..], &versions.to_be_bytes()].concat())
        }
        Receipt::Grant(grant) => (9, grant.id.to_bytes().into()),
        Receipt::Revoked(ids) => (10, row::pack_ids(ids.iter().map(|id| id.to_bytes()))),
        Receipt::Session(session) => {
            (11, [session.workspace.to_bytes(), session.id.to_bytes()].concat())
        }
        Receipt::SessionRemoved(id) => (12, id.to_bytes().into()),
        Receipt::Imported(added) => (13, added.to_be_bytes().into()),
        Receipt::KeysForgotten(forgotten) => (14, forgotten.to_be_bytes().into()),
        Receipt::Generation(generation) => (15, generation.id.0.to_be_bytes().into()),
        Receipt::VectorsPut(written) => (16, written.to_be_bytes().into()),
    }
}

fn outcome_refs(outcome: &Outcome) -> Vec<u8> {
    let operation = outcome.operation.map_or(NO_OPERATION, |operation| {
        u8::try_from(operation_code(operation)).expect("operations have small codes")
    });
    let mut refs = Vec::with_capacity(33);
    refs.extend(outcome.memory.store.to_bytes());
    refs.extend(outcome.memory.head.to_bytes());
    refs.push(operation);
    refs
}

/// The bytes of a receipt, taken from the front.
struct Refs<'a>(&'a [u8]);

impl Refs<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (first, rest) = self
            .0
            .split_first_chunk::<N>()
            .ok_or_else(|| corrupt("a remembered receipt is too short"))?;
        self.0 = rest;
        Ok(*first)
    }
}

fn read_again(conn: &Connection, kind: i64, refs: &[u8]) -> Result<Receipt> {
    let mut refs = Refs(refs);
    Ok(match kind {
        0 => Receipt::Workspace(WorkspaceId::from_bytes(refs.take()?)),
        1 => {
            let id = PrincipalId::from_bytes(refs.take()?);
            let found = keys::principal(conn, id)?;
            Receipt::Principal(found.ok_or_else(|| not_found("principal"))?)
        }
        2 => {
            let found = keys::by_id(conn, KeyId::from_bytes(refs.take()?))?;
            Receipt::Key(found.ok_or_else(|| not_found("key"))?)
        }
        3 => {
            let found = stores::load(conn, StoreId::from_bytes(refs.take()?))?;
            Receipt::Store(found.ok_or_else(|| not_found("memory store"))?.store)
        }
        4 => Receipt::StoreRemoved(StoreId::from_bytes(refs.take()?)),
        5 => Receipt::Purged { is_done: refs.take()? == [1] },
        6 => {
            let mut outcomes = Vec::new();
            while !refs.0.is_empty() {
                outcomes.push(outcome_again(conn, &mut refs)?);
            }
            Receipt::Committed(outcomes)
        }
        7 => {
            let store = StoreId::from_bytes(refs.take()?);
            let id = VersionId::from_bytes(refs.take()?);
            let found = match stores::load(conn, store)? {
                Some(row) => versions::load(conn, row.store_pk, store, id)?,
                None => None,
            };
            let found = found.ok_or_else(|| not_found("memory version"))?;
            Receipt::Redacted(Box::new(found.version))
        }
        8 => Receipt::Erased {
            memory: MemoryId::from_bytes(refs.take()?),
            versions: u64::from_be_bytes(refs.take()?),
        },
        9 => {
            let found = grants::by_id(conn, GrantId::from_bytes(refs.take()?))?;
            Receipt::Grant(found.ok_or_else(|| not_found("grant"))?)
        }
        10 => {
            let ids = row::unpack_ids(refs.0, 2)?;
            Receipt::Revoked(ids.into_iter().map(GrantId::from_bytes).collect())
        }
        11 => {
            let workspace = WorkspaceId::from_bytes(refs.take()?);
            let id = SessionId::from_bytes(refs.take()?);
            let found = sessions::load(conn, workspace, id)?;
            Receipt::Session(Box::new(found.ok_or_else(|| not_found("session"))?))
        }
        12 => Receipt::SessionRemoved(SessionId::from_bytes(refs.take()?)),
        13 => Receipt::Imported(u64::from_be_bytes(refs.take()?)),
        14 => Receipt::KeysForgotten(u64::from_be_bytes(refs.take()?)),
        15 => {
            let id = GenerationId(u32::from_be_bytes(refs.take()?));
            let found = vectors::generation(conn, id)?;
            Receipt::Generation(found.ok_or_else(|| not_found("generation"))?)
        }
        16 => Receipt::VectorsPut(u64::from_be_bytes(refs.take()?)),
        _ => return Err(corrupt("a remembered receipt is of no known kind")),
    })
}

/// The memory as the version had it that the edit wrote or found. When that version was redacted
/// since, there is no such memory to show any more.
fn outcome_again(conn: &Connection, refs: &mut Refs<'_>) -> Result<Outcome> {
    let store = StoreId::from_bytes(refs.take()?);
    let head = VersionId::from_bytes(refs.take()?);
    let operation = match refs.take::<1>()? {
        [0] => Some(Operation::Created),
        [1] => Some(Operation::Modified),
        [2] => Some(Operation::Deleted),
        [NO_OPERATION] => None,
        _ => return Err(corrupt("a remembered operation is of no known kind")),
    };
    let memory = match stores::load(conn, store)? {
        Some(row) => as_of(conn, row.store_pk, store, head)?,
        None => None,
    };
    Ok(Outcome { memory: memory.ok_or_else(|| not_found("memory"))?, operation })
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
