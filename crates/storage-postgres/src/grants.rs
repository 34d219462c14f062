//! Sharing. A store has at most one grant for each grantee; what stands on what is decided by the
//! store's ledger, which is read here and written down. Whoever changes grants holds the row of the
//! store.

use crate::client::{Tx, uuid};
use crate::draft::Draft;
use crate::fault::Result;
use crate::row::{coded, get, id, key_of, keyed_id, micros, opt_time, time};
use crate::stores::{self, StoreRow};
use crate::{facts, members};
use loci_model::policy::SharePass;
use loci_model::{Grant, GrantId, Grantee, PrincipalId, Store, StoreId, Timestamp, WorkspaceId};
use loci_storage::Receipt;
use loci_storage::column::Code;
use loci_storage::ground::{self, Ledger, Person, concerned, is_home};
use std::collections::HashMap;
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

/// Gives a grant. Who stands how to the owner stays so until the commit, because whoever changes it
/// takes the row of the workspace.
pub(crate) async fn share(
    tx: &Tx,
    draft: &mut Draft<'_>,
    pass: &SharePass,
    grant: &Grant,
) -> Result<Receipt> {
    members::hold(tx, pass.workspace()).await?;
    let store = stores::lock_one(tx, pass.store()).await?.store;
    let workspace = store.workspace;
    let mut ledger = ledger(tx, store, &concerned(pass, grant)).await?;
    let (grant, taken) = ledger.share(pass, grant)?;
    put(tx, workspace, &grant).await?;
    delete(tx, grant.store, &taken).await?;
    Ok(Receipt::Grant { grant, revoked: draft.gone(taken) })
}

pub(crate) async fn revoke(
    tx: &Tx,
    draft: &mut Draft<'_>,
    pass: &SharePass,
    id: GrantId,
) -> Result<Receipt> {
    members::hold(tx, pass.workspace()).await?;
    let store = stores::lock_one(tx, pass.store()).await?.store;
    let mut ledger = ledger(tx, store, &[pass.giver()]).await?;
    let taken = ledger.revoke(pass, id)?;
    delete(tx, ledger.store.id, &taken).await?;
    Ok(Receipt::Revoked(draft.gone(taken)))
}

/// Everything that decides about the grants of a store whose row is held.
async fn ledger(tx: &Tx, store: Store, concerned: &[PrincipalId]) -> Result<Ledger> {
    let grants = list(tx, store.id).await?;
    let mut ledger = Ledger { store, home_of: None, grants, people: HashMap::new() };
    know(tx, concerned, std::slice::from_mut(&mut ledger)).await?;
    Ok(ledger)
}

/// Takes back what nobody can give of stores any more, whose rows are held.
pub(crate) async fn settle(tx: &Tx, rows: Vec<StoreRow>, now: Timestamp) -> Result<Vec<Grant>> {
    let mut ledgers: Vec<Ledger> = rows
        .into_iter()
        .filter(|row| !row.is_removed)
        .map(|StoreRow { store, .. }| Ledger {
            store,
            home_of: None,
            grants: Vec::new(),
            people: HashMap::new(),
        })
        .collect();
    let held: Vec<Uuid> = ledgers.iter().map(|one| uuid(one.store.id.to_bytes())).collect();
    for row in tx.query(include_str!("../queries/grant/of_stores.sql"), &[&held]).await? {
        let store = StoreId::from_bytes(id(&row, 6)?);
        if let Some(ledger) = ledgers.iter_mut().find(|ledger| ledger.store.id == store) {
            ledger.grants.push(read(&row, 0, store)?);
        }
    }
    know(tx, &[], &mut ledgers).await?;
    let mut taken = Vec::new();
    for mut ledger in ledgers {
        let gone = ledger.settle(now);
        delete(tx, ledger.store.id, &gone).await?;
        taken.extend(gone);
    }
    Ok(taken)
}

/// Brings what ledgers have to know about people, all in one question.
async fn know(tx: &Tx, concerned: &[PrincipalId], ledgers: &mut [Ledger]) -> Result<()> {
    let (mut people, mut owners) = (Vec::new(), Vec::new());
    for ledger in &*ledgers {
        let wanted = ground::people(&ledger.grants, concerned.iter().copied());
        // The owner itself, too, for what sort it is.
        for who in wanted.into_iter().chain([ledger.store.owner]) {
            people.push(uuid(who.to_bytes()));
            owners.push(uuid(ledger.store.owner.to_bytes()));
        }
    }
    let workspace = ledgers.first().map(|ledger| uuid(ledger.store.workspace.to_bytes()));
    let Some(workspace) = workspace else { return Ok(()) };
    let sql = include_str!("../queries/grant/people.sql");
    for row in tx.query(sql, &[&workspace, &people, &owners]).await? {
        let who = PrincipalId::from_bytes(id(&row, 0)?);
        let owner = PrincipalId::from_bytes(id(&row, 1)?);
        let person = Person { is_admin: get(&row, 3)?, relation: facts::relation(&row, 4)? };
        for ledger in ledgers.iter_mut().filter(|ledger| ledger.store.owner == owner) {
            if who == owner && is_home(&ledger.store) {
                ledger.home_of = Some(coded(&row, 2)?);
            }
            ledger.people.insert(who, person);
        }
    }
    Ok(())
}

async fn delete(tx: &Tx, store: StoreId, grants: &[Grant]) -> Result<()> {
    if grants.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = grants.iter().map(|grant| uuid(grant.id.to_bytes())).collect();
    let sql = include_str!("../queries/grant/delete.sql");
    tx.execute(sql, &[&uuid(store.to_bytes()), &ids]).await?;
    Ok(())
}
