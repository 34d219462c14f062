//! Requests that come twice, to whatever server. The first one's effect is remembered as ids only,
//! in the same transaction; a second one gets the same receipt, read again from what is there now,
//! so that what was redacted since does not come back this way.

use crate::client::{Tx, uuid};
use crate::fault::{Result, corrupt, not_found};
use crate::row::{self, KNOWN_VERSION_COLUMNS, count, get, id, int, string, text, time};
use crate::{grants, keys, sessions, stores, vectors, versions};
use loci_model::{Memory, Outcome, StoreId, Timestamp, VersionId, WorkspaceId};
use loci_storage::{Idempotency, OutcomeRefs, Receipt, ReceiptRefs, Remembered, StorageError};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use tokio_postgres::Row;
use uuid::Uuid;

/// The receipt of an earlier request under the same key.
pub(crate) async fn recall(tx: &Tx, key: &Idempotency) -> Result<Option<Receipt>> {
    match known(tx, key).await? {
        None => Ok(None),
        Some(known) if known.idempotency.fingerprint != key.fingerprint => {
            Err(StorageError::KeyReused.into())
        }
        Some(known) => read_again(tx, known.refs).await.map(Some),
    }
}

/// Which of the keys were used before.
pub(crate) async fn used(tx: &Tx, keys: &[&Idempotency]) -> Result<HashSet<(u128, String)>> {
    if keys.is_empty() {
        return Ok(HashSet::new());
    }
    let workspaces: Vec<Uuid> = keys.iter().map(|key| uuid(key.workspace.to_bytes())).collect();
    let scopes: Vec<Uuid> = keys.iter().map(|key| Uuid::from_u128(key.scope)).collect();
    let names: Vec<Cow<'_, str>> = keys.iter().map(|key| text(&key.key)).collect();
    let sql = include_str!("../queries/idempotency/used.sql");
    let rows = tx.query(sql, &[&workspaces, &scopes, &names]).await?;
    let read = |row: &Row| Ok((get::<Uuid>(row, 0)?.as_u128(), string(row, 1)?));
    rows.iter().map(read).collect()
}

pub(crate) async fn put(tx: &Tx, key: &Idempotency, refs: &ReceiptRefs) -> Result<()> {
    let (kind, refs) = refs.encode();
    // The statement takes many at once.
    tx.execute(
        include_str!("../queries/idempotency/put.sql"),
        &[
            &[uuid(key.workspace.to_bytes())].as_slice(),
            &[Uuid::from_u128(key.scope)].as_slice(),
            &[text(&key.key)].as_slice(),
            &[key.fingerprint.as_slice()].as_slice(),
            &[kind].as_slice(),
            &[refs].as_slice(),
            &[key.now.as_micros()].as_slice(),
        ],
    )
    .await?;
    Ok(())
}

pub(crate) async fn forget(tx: &Tx, before: Timestamp) -> Result<Receipt> {
    let sql = include_str!("../queries/idempotency/forget.sql");
    let row = tx.query_one(sql, &[&before.as_micros()]).await?;
    count(&row, 0).map(Receipt::KeysForgotten)
}

/// What is remembered under a key, whatever the request was.
pub(crate) async fn known(tx: &Tx, key: &Idempotency) -> Result<Option<Remembered>> {
    let (workspace, scope) = (uuid(key.workspace.to_bytes()), Uuid::from_u128(key.scope));
    let sql = include_str!("../queries/idempotency/known.sql");
    let found = tx.query_opt(sql, &[&workspace, &scope, &text(&key.key)]).await?;
    found.map(|row| read(&row, key.workspace)).transpose()
}

/// What is remembered of the workspace's credentials, a page of it.
pub(crate) async fn page(
    tx: &Tx,
    workspace: WorkspaceId,
    after: Option<&(u128, String)>,
    limit: usize,
) -> Result<Vec<Remembered>> {
    // No scope is all zeros.
    let (scope, key) = after.map_or((0, ""), |(scope, key)| (*scope, key.as_str()));
    let rows = tx
        .query(
            include_str!("../queries/idempotency/page.sql"),
            &[&uuid(workspace.to_bytes()), &Uuid::from_u128(scope), &text(key), &int(limit as u64)],
        )
        .await?;
    rows.iter().map(|row| read(row, workspace)).collect()
}

fn read(row: &Row, workspace: WorkspaceId) -> Result<Remembered> {
    let fingerprint: &[u8] = get(row, 2)?;
    let idempotency = Idempotency {
        workspace,
        scope: get::<Uuid>(row, 0)?.as_u128(),
        key: string(row, 1)?,
        fingerprint: fingerprint.try_into().map_err(|_| corrupt("not a fingerprint"))?,
        now: time(row, 5)?,
    };
    let refs = ReceiptRefs::decode(get(row, 3)?, get(row, 4)?);
    let refs = refs.ok_or_else(|| corrupt("a remembered receipt is of no known kind"))?;
    Ok(Remembered { idempotency, refs })
}

async fn read_again(tx: &Tx, refs: ReceiptRefs) -> Result<Receipt> {
    Ok(match refs {
        ReceiptRefs::Workspace(id) => Receipt::Workspace(id),
        ReceiptRefs::Principal(id) => {
            let found = keys::principal(tx, id).await?;
            Receipt::Principal(found.ok_or_else(|| not_found("principal"))?)
        }
        ReceiptRefs::Key(id) => {
            let found = keys::by_id(tx, id).await?;
            Receipt::Key(found.ok_or_else(|| not_found("key"))?)
        }
        ReceiptRefs::Store(id) => {
            let found = stores::load(tx, id).await?;
            Receipt::Store(found.ok_or_else(|| not_found("memory store"))?.store)
        }
        ReceiptRefs::StoreRemoved(id) => Receipt::StoreRemoved(id),
        ReceiptRefs::Purged(is_done) => Receipt::Purged { is_done },
        ReceiptRefs::Committed(outcomes) => {
            Receipt::Committed(outcomes_again(tx, &outcomes).await?)
        }
        ReceiptRefs::Redacted(store, version) => {
            let found = versions::load(tx, store, version).await?;
            let found = found.ok_or_else(|| not_found("memory version"))?;
            Receipt::Redacted(Box::new(found.version))
        }
        ReceiptRefs::Erased(memory, versions) => Receipt::Erased { memory, versions },
        ReceiptRefs::Grant(id, revoked) => {
            let grant = grants::by_id(tx, id).await?.ok_or_else(|| not_found("grant"))?;
            Receipt::Grant { grant, revoked }
        }
        ReceiptRefs::Revoked(ids) => Receipt::Revoked(ids),
        ReceiptRefs::Session(workspace, id) => {
            let found = sessions::load(tx, workspace, id).await?;
            Receipt::Session(Box::new(found.ok_or_else(|| not_found("session"))?))
        }
        ReceiptRefs::SessionRemoved(id) => Receipt::SessionRemoved(id),
        ReceiptRefs::Imported(added) => Receipt::Imported(added),
        ReceiptRefs::KeysForgotten(forgotten) => Receipt::KeysForgotten(forgotten),
        ReceiptRefs::Generation(id) => {
            let found = vectors::generation(tx, id).await?;
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

/// The memories as the versions had them that the edits wrote or found. When one of those versions
/// was redacted since, there is no such memory to show any more.
async fn outcomes_again(tx: &Tx, refs: &[OutcomeRefs]) -> Result<Vec<Outcome>> {
    let stores: Vec<Uuid> = refs.iter().map(|one| uuid(one.store.to_bytes())).collect();
    let heads: Vec<Uuid> = refs.iter().map(|one| uuid(one.head.to_bytes())).collect();
    let sql = include_str!("../queries/version/by_ids.sql");
    let mut memories: HashMap<(StoreId, VersionId), Memory> = HashMap::new();
    for row in tx.query(sql, &[&stores, &heads]).await? {
        let store = StoreId::from_bytes(id(&row, KNOWN_VERSION_COLUMNS)?);
        let version = row::version(&row, store)?;
        let memory = version.as_memory();
        memories.extend(memory.map(|memory| ((store, version.version.id), memory)));
    }
    let again = |one: &OutcomeRefs| {
        let memory = memories.get(&(one.store, one.head)).cloned();
        let memory = memory.ok_or_else(|| not_found("memory"))?;
        Ok(Outcome { memory, operation: one.operation })
    };
    refs.iter().map(again).collect()
}
