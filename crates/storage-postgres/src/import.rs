//! Taking in what was exported or is moved here: principals, stores, grants, sessions, keys and
//! remembered requests as they were elsewhere; the history of stores goes through [`crate::log`].
//! What is there already, equal, is passed over; anything else of the same name or id is refused.

use crate::client::Tx;
use crate::draft::Draft;
use crate::fault::{Result, not_found};
use crate::log::{Held, import_entry, take};
use crate::stores::{self, StoreRow};
use crate::{events, grants, idempotency, keys, members, sessions};
use loci_model::policy::AdminPass;
use loci_model::{ApiKey, Event, Grant, Principal, Session, Store, StoreId, WorkspaceId};
use loci_storage::log::ImportItem;
use loci_storage::{Receipt, Remembered, StorageError};
use std::collections::BTreeSet;

pub(crate) async fn import(
    tx: &Tx,
    draft: &mut Draft<'_>,
    pass: &AdminPass,
    items: &[ImportItem],
) -> Result<Receipt> {
    let mut held = Held::default();
    let mut added = 0;
    take_rows(tx, pass, items).await?;
    for (position, item) in items.iter().enumerate() {
        let is_new = match item {
            ImportItem::Principal(principal) => import_principal(tx, pass, principal).await?,
            ImportItem::Store(store) => import_store(tx, pass, store).await?,
            ImportItem::Grant(grant) => {
                let store = stores::lock_one(tx, grant.store).await?;
                require_workspace(pass, &store)?;
                import_grant(tx, &store, grant).await?
            }
            ImportItem::Entry(store, entry) => {
                if !draft.desks.contains_key(store) {
                    take(draft, &mut held, *store, &items[position..]).await?;
                }
                require_workspace(pass, &draft.desk(*store)?.row)?;
                import_entry(draft, &mut held, *store, entry).await?
            }
            ImportItem::Session(session) => import_session(tx, pass, session).await?,
            ImportItem::Key(key) => import_key(tx, pass, key).await?,
            ImportItem::Remembered(seen) => import_remembered(tx, pass, seen).await?,
            ImportItem::Membership(membership) => {
                members::import(tx, pass.workspace(), *membership, pass.now()).await?
            }
            ImportItem::Event(_) => false,
        };
        added += u64::from(is_new);
    }
    // Last, because the end of the log is taken after everything else.
    let events = items.iter().filter_map(|item| match item {
        ImportItem::Event(event) => Some(&**event),
        _ => None,
    });
    let events: Vec<&Event> = events.collect();
    if !events.is_empty() {
        added += events::import(draft, pass, &events).await?;
    }
    Ok(Receipt::Imported(added))
}

/// Takes the rows that the items need in the order in which everybody takes them.
async fn take_rows(tx: &Tx, pass: &AdminPass, items: &[ImportItem]) -> Result<()> {
    if items.iter().any(|item| matches!(item, ImportItem::Membership(_))) {
        members::lock(tx, pass.workspace()).await?;
    }
    let stores: BTreeSet<StoreId> = items
        .iter()
        .filter_map(|item| match item {
            ImportItem::Grant(grant) => Some(grant.store),
            ImportItem::Entry(store, _) => Some(*store),
            _ => None,
        })
        .collect();
    if stores.len() > 1 {
        let stores: Vec<StoreId> = stores.into_iter().collect();
        stores::lock(tx, &stores).await?;
    }
    Ok(())
}

async fn import_principal(tx: &Tx, pass: &AdminPass, principal: &Principal) -> Result<bool> {
    if keys::principal(tx, principal.id).await?.as_ref() == Some(principal) {
        return Ok(false);
    }
    require_own(pass, principal.workspace)?;
    keys::create_principal(tx, principal).await?;
    Ok(true)
}

async fn import_store(tx: &Tx, pass: &AdminPass, store: &Store) -> Result<bool> {
    let known = stores::load(tx, store.id).await?;
    if known.is_some_and(|row| !row.is_removed && row.store == *store) {
        return Ok(false);
    }
    require_own(pass, store.workspace)?;
    if let Some(address) = &store.address
        && stores::at_address(tx, store.workspace, address).await?.is_some()
    {
        return Err(StorageError::Taken("address").into());
    }
    let made = stores::create(tx, store).await?;
    if made.id == store.id { Ok(true) } else { Err(StorageError::Taken("address").into()) }
}

async fn import_grant(tx: &Tx, store: &StoreRow, grant: &Grant) -> Result<bool> {
    let known = grants::list(tx, grant.store).await?;
    if known.contains(grant) {
        return Ok(false);
    }
    let is_taken = known.iter().any(|known| known.grantee == grant.grantee)
        || grants::by_id(tx, grant.id).await?.is_some();
    if is_taken {
        return Err(StorageError::Taken("grant").into());
    }
    grants::put(tx, store.store.workspace, grant).await?;
    Ok(true)
}

async fn import_session(tx: &Tx, pass: &AdminPass, session: &Session) -> Result<bool> {
    require_own(pass, session.workspace)?;
    if sessions::load(tx, session.workspace, session.id).await?.as_ref() == Some(session) {
        return Ok(false);
    }
    sessions::create(tx, session).await?;
    Ok(true)
}

async fn import_key(tx: &Tx, pass: &AdminPass, key: &ApiKey) -> Result<bool> {
    require_own(pass, key.workspace)?;
    if keys::by_id(tx, key.id).await?.as_ref() == Some(key) {
        return Ok(false);
    }
    keys::create(tx, key).await?;
    Ok(true)
}

async fn import_remembered(tx: &Tx, pass: &AdminPass, seen: &Remembered) -> Result<bool> {
    let key = &seen.idempotency;
    require_own(pass, key.workspace)?;
    match idempotency::known(tx, key).await? {
        Some(known) if known == *seen => Ok(false),
        Some(_) => Err(StorageError::Taken("idempotency key").into()),
        None => {
            idempotency::put(tx, key, &seen.refs).await?;
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
