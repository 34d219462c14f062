//! Sharing. A store has at most one grant for each grantee; what stands on what is decided by the
//! store's ledger, which is read here and written down.

use crate::apply::Core;
use crate::fault::Result;
use crate::row::{self, micros, opt_id_bytes, opt_time, time};
use crate::stores::StoreRow;
use crate::{keys, members};
use loci_model::policy::SharePass;
use loci_model::{Grant, GrantId, Grantee, PrincipalId, StoreId, Timestamp};
use loci_storage::Receipt;
use loci_storage::column::Code;
use loci_storage::ground::{Ledger, Person, concerned, people};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashMap;

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
        let (grant, taken) = self.with_store(pass.store(), |core, row| {
            let mut ledger = ledger(&core.conn, row, concerned(pass, grant))?;
            let (grant, taken) = ledger.share(pass, grant)?;
            put(&core.conn, row.store_pk, &grant)?;
            delete(&core.conn, row.store_pk, &taken)?;
            Ok((grant, taken))
        })?;
        Ok(Receipt::Grant { grant, revoked: self.gone(taken) })
    }

    pub(crate) fn revoke(&mut self, pass: &SharePass, id: GrantId) -> Result<Receipt> {
        let taken = self.with_store(pass.store(), |core, row| {
            let taken = ledger(&core.conn, row, [pass.giver()])?.revoke(pass, id)?;
            delete(&core.conn, row.store_pk, &taken)?;
            Ok(taken)
        })?;
        Ok(Receipt::Revoked(self.gone(taken)))
    }

    /// Keeps grants that went for the audit log.
    pub(crate) fn gone(&mut self, taken: Vec<Grant>) -> Vec<GrantId> {
        let ids = taken.iter().map(|grant| grant.id).collect();
        self.taken = taken;
        ids
    }
}

/// Everything that decides about the grants of a store.
fn ledger(
    conn: &Connection,
    row: &StoreRow,
    concerned: impl IntoIterator<Item = PrincipalId>,
) -> Result<Ledger> {
    let grants = list(conn, row.store_pk, row.store.id)?;
    let mut known = HashMap::new();
    for who in people(&grants, concerned) {
        let is_admin = keys::principal(conn, who)?.is_some_and(|who| who.is_admin);
        let relation = members::relation(conn, who, row.store.owner)?;
        known.insert(who, Person { is_admin, relation });
    }
    let home_of = members::home_of(conn, &row.store)?;
    Ok(Ledger { store: row.store.clone(), home_of, grants, people: known })
}

/// Takes back what nobody can give of a store any more.
pub(crate) fn settle(conn: &Connection, row: &StoreRow, now: Timestamp) -> Result<Vec<Grant>> {
    let taken = ledger(conn, row, [])?.settle(now);
    delete(conn, row.store_pk, &taken)?;
    Ok(taken)
}

/// The stores of an owner of which somebody gave grants.
pub(crate) fn shared_by(
    conn: &Connection,
    giver: PrincipalId,
    owner: PrincipalId,
) -> Result<Vec<StoreId>> {
    let sql = include_str!("../queries/grant/stores_of_giver.sql");
    let mut statement = conn.prepare_cached(sql)?;
    let stores = statement.query_map(params![giver.to_bytes(), owner.to_bytes()], |row| {
        row.get(0).map(StoreId::from_bytes)
    })?;
    Ok(stores.collect::<rusqlite::Result<_>>()?)
}

fn delete(conn: &Connection, store_pk: i64, taken: &[Grant]) -> Result<()> {
    let mut statement = conn.prepare_cached(include_str!("../queries/grant/delete.sql"))?;
    for grant in taken {
        statement.execute(params![store_pk, grantee_bytes(grant.grantee)])?;
    }
    Ok(())
}
