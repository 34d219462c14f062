//! Sharing. A store has at most one grant for each grantee; taking one back takes back what stood
//! on it. Whoever changes grants holds the row of the store.

use crate::client::{Tx, uuid};
use crate::fault::{Result, not_found};
use crate::keys;
use crate::row::{coded, count, id, key_of, keyed_id, micros, opt_time, time};
use crate::stores;
use loci_model::policy::SharePass;
use loci_model::{Grant, GrantId, Grantee, PrincipalId, StoreId, WorkspaceId, limit};
use loci_storage::column::Code;
use loci_storage::ground::{beyond, take_back};
use loci_storage::{Receipt, StorageError};
use tokio_postgres::Row;
use uuid::Uuid;

/// A grant whose columns begin at `first`.
pub(crate) fn read(row: &Row, first: usize, store: StoreId) -> Result<Grant> {
    Ok(Grant {
        id: GrantId::from_bytes(id(row, first)?),
        store,
        grantee: keyed_id(row, first + 1)?.map_or(Grantee::Everyone, Grantee::Principal),
        level: coded(row, first + 2)?,
        given_by: PrincipalId::from_bytes(id(row, first + 3)?),
        expires_at: opt_time(row, first + 4)?,
        created_at: time(row, first + 5)?,
    })
}

fn grantee_key(grantee: Grantee) -> Uuid {
    match grantee {
        Grantee::Principal(id) => key_of(Some(id)),
        Grantee::Everyone => key_of(None),
    }
}

/// A grant by its id, of any store of the tenant.
pub(crate) async fn by_id(tx: &Tx, grant: GrantId) -> Result<Option<Grant>> {
    let sql = include_str!("../queries/grant/by_id.sql");
    let found = tx.query_opt(sql, &[&uuid(grant.to_bytes())]).await?;
    found.map(|row| read(&row, 0, StoreId::from_bytes(id(&row, 6)?))).transpose()
}

/// The store's grants, oldest first.
pub(crate) async fn list(tx: &Tx, store: StoreId) -> Result<Vec<Grant>> {
    let sql = include_str!("../queries/grant/list.sql");
    let found = tx.query(sql, &[&uuid(store.to_bytes())]).await?;
    found.iter().map(|row| read(row, 0, store)).collect()
}

/// Writes a grant; one to the same grantee is replaced and keeps its id.
pub(crate) async fn put(tx: &Tx, workspace: WorkspaceId, grant: &Grant) -> Result<()> {
    tx.execute(
        include_str!("../queries/grant/put.sql"),
        &[
            &uuid(grant.store.to_bytes()),
            &grantee_key(grant.grantee),
            &uuid(workspace.to_bytes()),
            &uuid(grant.id.to_bytes()),
            &grant.level.code(),
            &uuid(grant.given_by.to_bytes()),
            &micros(grant.expires_at),
            &grant.created_at.as_micros(),
        ],
    )
    .await?;
    Ok(())
}

pub(crate) async fn share(tx: &Tx, pass: &SharePass, grant: &Grant) -> Result<Receipt> {
    let store = stores::lock_one(tx, pass.store()).await?.store;
    let outlives = match (pass.expires_max(), grant.expires_at) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(latest), Some(end)) => end > latest,
    };
    if grant.level > pass.level_max() || outlives {
        return Err(StorageError::ExceedsGiver.into());
    }
    let mut grant = grant.clone();
    grant.store = store.id;
    let id = uuid(store.id.to_bytes());
    let sql = include_str!("../queries/grant/by_grantee.sql");
    match tx.query_opt(sql, &[&id, &grantee_key(grant.grantee)]).await? {
        Some(row) => {
            let known = read(&row, 0, store.id)?;
            if !pass.may_replace(&known) {
                return Err(StorageError::ExceedsGiver.into());
            }
            grant.id = known.id;
        }
        None => {
            let row = tx.query_one(include_str!("../queries/grant/count.sql"), &[&id]).await?;
            if count(&row, 0)? >= limit::GRANTS_PER_STORE_MAX as u64 {
                return Err(StorageError::TooMany("grants").into());
            }
        }
    }
    put(tx, store.workspace, &grant).await?;
    let is_admin = match grant.grantee {
        Grantee::Principal(id) => keys::principal(tx, id).await?.is_some_and(|one| one.is_admin),
        Grantee::Everyone => false,
    };
    let needs_none = |who| is_admin || who == store.owner;
    let mut grants = list(tx, store.id).await?;
    let mut taken = Vec::new();
    for id in beyond(&grants, &grant, needs_none) {
        taken.extend(take_back(&mut grants, id, store.owner));
    }
    if !taken.is_empty() {
        delete(tx, store.id, &taken).await?;
    }
    Ok(Receipt::Grant(grant))
}

pub(crate) async fn revoke(tx: &Tx, pass: &SharePass, id: GrantId) -> Result<Receipt> {
    let store = stores::lock_one(tx, pass.store()).await?.store;
    let mut grants = list(tx, store.id).await?;
    let found = grants.iter().find(|grant| grant.id == id);
    if !found.is_some_and(|grant| pass.may_revoke(grant)) {
        return Err(not_found("grant"));
    }
    let revoked = take_back(&mut grants, id, store.owner);
    delete(tx, store.id, &revoked).await.map(Receipt::Revoked)
}

async fn delete(tx: &Tx, store: StoreId, grants: &[Grant]) -> Result<Vec<GrantId>> {
    let ids: Vec<Uuid> = grants.iter().map(|grant| uuid(grant.id.to_bytes())).collect();
    let sql = include_str!("../queries/grant/delete.sql");
    tx.execute(sql, &[&uuid(store.to_bytes()), &ids]).await?;
    Ok(grants.iter().map(|grant| grant.id).collect())
}
