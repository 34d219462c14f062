//! Sharing. A store has at most one grant for each grantee; taking one back takes back what stood
//! on it.

use crate::apply::Core;
use crate::fault::{Result, not_found};
use crate::keys;
use crate::row::{self, int, micros, opt_id_bytes, opt_time, time};
use loci_model::policy::SharePass;
use loci_model::{Grant, GrantId, Grantee, PrincipalId, StoreId, limit};
use loci_storage::column::Code;
use loci_storage::ground::{beyond, take_back};
use loci_storage::{Receipt, StorageError};
use rusqlite::{Connection, OptionalExtension, Row, params};

fn read(row: &Row<'_>, store: StoreId) -> rusqlite::Result<Grant> {
    Ok(Grant {
        id: GrantId::from_bytes(row.get(0)?),
        store,
        grantee: row::opt_id(row, 1)?.map_or(Grantee::Everyone, Grantee::Principal),
        level: row::coded(row, 2)?,
        given_by: PrincipalId::from_bytes(row.get(3)?),
        expires_at: opt_time(row, 4)?,
        created_at: time(row, 5)?,
    })
}

fn grantee_bytes(grantee: Grantee) -> Vec<u8> {
    match grantee {
        Grantee::Principal(id) => opt_id_bytes(Some(id)),
        Grantee::Everyone => opt_id_bytes(None),
    }
}

/// The store's grant to a principal, or to everyone.
pub(crate) fn to_grantee(
    conn: &Connection,
    store_pk: i64,
    store: StoreId,
    grantee: Option<PrincipalId>,
) -> Result<Option<Grant>> {
    let found = conn
        .prepare_cached(include_str!("../queries/grant/by_grantee.sql"))?
        .query_row(params![store_pk, opt_id_bytes(grantee)], |row| read(row, store));
    Ok(found.optional()?)
}

/// The grants of a store to a principal and to everyone.
pub(crate) fn concerning(
    conn: &Connection,
    store_pk: i64,
    store: StoreId,
    principal: PrincipalId,
) -> Result<Vec<Grant>> {
    let mut grants = Vec::new();
    for grantee in [Some(principal), None] {
        grants.extend(to_grantee(conn, store_pk, store, grantee)?);
    }
    Ok(grants)
}

/// A grant by its id.
pub(crate) fn by_id(conn: &Connection, id: GrantId) -> Result<Option<Grant>> {
    let found = conn
        .prepare_cached(include_str!("../queries/grant/by_id.sql"))?
        .query_row([id.to_bytes()], |row| read(row, StoreId::from_bytes(row.get(6)?)));
    Ok(found.optional()?)
}

/// The store's grants, oldest first.
pub(crate) fn list(conn: &Connection, store_pk: i64, store: StoreId) -> Result<Vec<Grant>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/grant/list.sql"))?;
    let grants = statement.query_map([store_pk], |row| read(row, store))?;
    Ok(grants.collect::<rusqlite::Result<_>>()?)
}

/// Writes a grant; one to the same grantee is replaced and keeps its id.
pub(crate) fn put(conn: &Connection, store_pk: i64, grant: &Grant) -> Result<()> {
    conn.prepare_cached(include_str!("../queries/grant/put.sql"))?.execute(params![
        store_pk,
        grantee_bytes(grant.grantee),
        grant.id.to_bytes(),
        grant.level.code(),
        grant.given_by.to_bytes(),
        micros(grant.expires_at),
        grant.created_at.as_micros(),
    ])?;
    Ok(())
}

impl Core {
    pub(crate) fn share(&mut self, pass: &SharePass, grant: &Grant) -> Result<Receipt> {
        self.with_store(pass.store(), |core, row| {
            let outlives = match (pass.expires_max(), grant.expires_at) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(latest), Some(end)) => end > latest,
            };
            if grant.level > pass.level_max() || outlives {
                return Err(StorageError::ExceedsGiver.into());
            }
            let mut grant = grant.clone();
            grant.store = pass.store();
            let grantee = match grant.grantee {
                Grantee::Principal(id) => Some(id),
                Grantee::Everyone => None,
            };
            match to_grantee(&core.conn, row.store_pk, pass.store(), grantee)? {
                Some(known) if !pass.may_replace(&known) => {
                    return Err(StorageError::ExceedsGiver.into());
                }
                Some(known) => grant.id = known.id,
                None => {
                    let count: i64 = core
                        .conn
                        .prepare_cached(include_str!("../queries/grant/count.sql"))?
                        .query_row([row.store_pk], |row| row.get(0))?;
                    if count >= int(limit::GRANTS_PER_STORE_MAX as u64) {
                        return Err(StorageError::TooMany("grants").into());
                    }
                }
            }
            put(&core.conn, row.store_pk, &grant)?;
            let is_admin = match grantee.map(|id| keys::principal(&core.conn, id)) {
                Some(found) => found?.is_some_and(|found| found.is_admin),
                None => false,
            };
            let needs_none = |who| is_admin || who == row.store.owner;
            let mut grants = list(&core.conn, row.store_pk, pass.store())?;
            for id in beyond(&grants, &grant, needs_none) {
                let taken = take_back(&mut grants, id, row.store.owner);
                delete(&core.conn, row.store_pk, &taken)?;
            }
            Ok(Receipt::Grant(grant))
        })
    }

    pub(crate) fn revoke(&mut self, pass: &SharePass, id: GrantId) -> Result<Receipt> {
        self.with_store(pass.store(), |core, row| {
            let mut grants = list(&core.conn, row.store_pk, pass.store())?;
            let found = grants.iter().find(|grant| grant.id == id);
            if !found.is_some_and(|grant| pass.may_revoke(grant)) {
                return Err(not_found("grant"));
            }
            let revoked = take_back(&mut grants, id, row.store.owner);
            delete(&core.conn, row.store_pk, &revoked).map(Receipt::Revoked)
        })
    }
}

/// The stores of an owner of which somebody gave grants.
pub(crate) fn shared_by(
    conn: &Connection,
    giver: PrincipalId,
    owner: PrincipalId,
) -> Result<Vec<(i64, StoreId)>> {
    let sql = include_str!("../queries/grant/stores_of_giver.sql");
    let mut statement = conn.prepare_cached(sql)?;
    let stores = statement.query_map(params![giver.to_bytes(), owner.to_bytes()], |row| {
        Ok((row.get(0)?, StoreId::from_bytes(row.get(1)?)))
    })?;
    Ok(stores.collect::<rusqlite::Result<_>>()?)
}

/// Takes back everything that somebody gave of the grants of a store, with what stood on it.
pub(crate) fn take_back_all(
    conn: &Connection,
    store_pk: i64,
    mut grants: Vec<Grant>,
    owner: PrincipalId,
    giver: PrincipalId,
) -> Result<Vec<GrantId>> {
    let given = grants.iter().filter(|grant| grant.given_by == giver);
    let given: Vec<GrantId> = given.map(|grant| grant.id).collect();
    let mut revoked = Vec::new();
    for id in given {
        revoked.extend(take_back(&mut grants, id, owner));
    }
    delete(conn, store_pk, &revoked)
}

fn delete(conn: &Connection, store_pk: i64, revoked: &[Grant]) -> Result<Vec<GrantId>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/grant/delete.sql"))?;
    for grant in revoked {
        statement.execute(params![store_pk, grantee_bytes(grant.grantee)])?;
    }
    Ok(revoked.iter().map(|grant| grant.id).collect())
}
