//! Taking in everything but the history of stores ([`crate::log`] does that): principals, stores,
//! grants, sessions, keys, remembered requests, memberships and events, as they were elsewhere. What
//! is there already, equal, is passed over; anything else of the same name or id is refused.

use crate::apply::Core;
use crate::fault::{Result, not_found};
use crate::stores::{self, StoreRow};
use crate::{events, grants, idempotency, keys, members, sessions};
use loci_model::policy::AdminPass;
use loci_model::{ApiKey, Grant, Grantee, Principal, Session, Store, WorkspaceId};
use loci_storage::log::ImportItem;
use loci_storage::{Receipt, Remembered, StorageError};
use rusqlite::Connection;

impl Core {
    pub(crate) fn import(&mut self, pass: &AdminPass, items: &[ImportItem]) -> Result<Receipt> {
        let mut added = 0;
        for item in items {
            let is_new = match item {
                ImportItem::Principal(principal) => import_principal(&self.conn, pass, principal)?,
                ImportItem::Store(store) => import_store(&self.conn, pass, store)?,
                ImportItem::Grant(grant) => self.with_store(grant.store, |core, row| {
                    require_workspace(pass, row)?;
                    import_grant(&core.conn, row, grant)
                })?,
                ImportItem::Entry(store, entry) => self.with_store(*store, |core, row| {
                    require_workspace(pass, row)?;
                    core.import_entry(row, entry)
                })?,
                ImportItem::Session(session) => import_session(&self.conn, pass, session)?,
                ImportItem::Key(key) => import_key(&self.conn, pass, key)?,
                ImportItem::Remembered(seen) => import_remembered(&self.conn, pass, seen)?,
                ImportItem::Membership(new) => members::import(&self.conn, pass, *new)?,
                ImportItem::Event(event) => {
                    require_own(pass, event.workspace)?;
                    events::import(&self.conn, event)?
                }
            };
            added += u64::from(is_new);
        }
        Ok(Receipt::Imported(added))
    }
}

fn import_principal(conn: &Connection, pass: &AdminPass, principal: &Principal) -> Result<bool> {
    if keys::principal(conn, principal.id)?.as_ref() == Some(principal) {
        return Ok(false);
    }
    require_own(pass, principal.workspace)?;
    keys::create_principal(conn, principal)?;
    Ok(true)
}

fn import_store(conn: &Connection, pass: &AdminPass, store: &Store) -> Result<bool> {
    let known = stores::load(conn, store.id)?;
    if known.is_some_and(|row| !row.is_removed && row.store == *store) {
        return Ok(false);
    }
    require_own(pass, store.workspace)?;
    if let Some(address) = &store.address
        && stores::at(conn, store.workspace, address)?.is_some()
    {
        return Err(StorageError::Taken("address").into());
    }
    stores::create(conn, store)?;
    Ok(true)
}

fn import_grant(conn: &Connection, store: &StoreRow, grant: &Grant) -> Result<bool> {
    let grantee = match grant.grantee {
        Grantee::Principal(id) => Some(id),
        Grantee::Everyone => None,
    };
    let known = grants::to_grantee(conn, store.store_pk, store.store.id, grantee)?;
    if known.as_ref() == Some(grant) {
        return Ok(false);
    }
    if known.is_some() || grants::by_id(conn, grant.id)?.is_some() {
        return Err(StorageError::Taken("grant").into());
    }
    grants::put(conn, store.store_pk, grant)?;
    Ok(true)
}

fn import_session(conn: &Connection, pass: &AdminPass, session: &Session) -> Result<bool> {
    require_own(pass, session.workspace)?;
    if sessions::load(conn, session.workspace, session.id)?.as_ref() == Some(session) {
        return Ok(false);
    }
    sessions::create(conn, session)?;
    Ok(true)
}

fn import_key(conn: &Connection, pass: &AdminPass, key: &ApiKey) -> Result<bool> {
    require_own(pass, key.workspace)?;
    if keys::by_id(conn, key.id)?.as_ref() == Some(key) {
        return Ok(false);
    }
    keys::create(conn, key)?;
    Ok(true)
}

fn import_remembered(conn: &Connection, pass: &AdminPass, seen: &Remembered) -> Result<bool> {
    let key = &seen.idempotency;
    require_own(pass, key.workspace)?;
    match idempotency::known(conn, key)? {
        Some(known) if known == *seen => Ok(false),
        Some(_) => Err(StorageError::Taken("idempotency key").into()),
        None => {
            idempotency::put(conn, key, &seen.refs)?;
            Ok(true)
        }
    }
}

fn require_own(pass: &AdminPass, workspace: WorkspaceId) -> Result<()> {
    if workspace == pass.workspace() { Ok(()) } else { Err(not_found("workspace")) }
}

fn require_workspace(pass: &AdminPass, store: &StoreRow) -> Result<()> {
    if store.store.workspace == pass.workspace() { Ok(()) } else { Err(not_found("memory store")) }
}
