//! What policy needs to know about stores: the store, the grants that concern the caller, how it
//! stands to the owner, what its session attaches. One statement brings all of it, so that it is of one
//! moment; what follows from it is for policy to say.

use crate::client::{Tx, uuid};
use crate::fault::{Result, corrupt};
use crate::row::{NO_ID, coded, get, id};
use crate::{grants, stores};
use loci_model::policy::{Facts, Relation};
use loci_model::{Caller, PrincipalId, SessionId, StoreId, WorkspaceId};
use loci_storage::ground::is_home;
use tokio_postgres::Row;
use uuid::Uuid;

/// Where the columns of the attachment, the relation, the owner's kind and the grant begin, behind those
/// of the store.
const ATTACHMENT_COLUMN: usize = 24;
const RELATION_COLUMN: usize = 25;
const OWNER_KIND_COLUMN: usize = 26;
const GRANT_COLUMN: usize = 27;

/// Facts about one store.
pub(crate) async fn of_store(
    tx: &Tx,
    workspace: WorkspaceId,
    store: StoreId,
    principal: PrincipalId,
    session: Option<SessionId>,
) -> Result<Option<Facts>> {
    let rows = tx
        .query(
            include_str!("../queries/store/facts.sql"),
            &[
                &uuid(store.to_bytes()),
                &uuid(workspace.to_bytes()),
                &uuid(principal.to_bytes()),
                &session.map(|session| uuid(session.to_bytes())),
                &NO_ID,
            ],
        )
        .await?;
    Ok(read(&rows)?.pop())
}

/// Facts about every store in which the caller may have a standing, oldest store first: for a
/// session only what it attaches.
pub(crate) async fn all(tx: &Tx, caller: &Caller) -> Result<Vec<Facts>> {
    let (workspace, principal) =
        (uuid(caller.workspace.to_bytes()), uuid(caller.principal.to_bytes()));
    let rows = match caller.session {
        Some(session) => {
            let sql = include_str!("../queries/store/session_facts.sql");
            let session = uuid(session.to_bytes());
            tx.query(sql, &[&workspace, &principal, &NO_ID, &session]).await?
        }
        None if caller.is_admin => {
            let sql = include_str!("../queries/store/all_facts.sql");
            tx.query(sql, &[&workspace, &principal, &NO_ID]).await?
        }
        None => {
            let sql = include_str!("../queries/store/reachable_facts.sql");
            tx.query(sql, &[&workspace, &principal, &NO_ID]).await?
        }
    };
    let mut known = read(&rows)?;
    let takes_all = caller.session.is_some() || caller.is_admin;
    known.retain(|facts| takes_all || facts.concern(caller.principal));
    Ok(known)
}

/// Facts, out of a row for each grant or one for a store without; those of a store follow each other.
pub(crate) fn read(rows: &[Row]) -> Result<Vec<Facts>> {
    let mut known: Vec<Facts> = Vec::with_capacity(rows.len());
    for row in rows {
        let store = StoreId::from_bytes(id(row, 0)?);
        if known.last().is_none_or(|facts| facts.store.id != store) {
            let attachment = match get::<Option<i16>>(row, ATTACHMENT_COLUMN)? {
                None => None,
                Some(_) => Some(coded(row, ATTACHMENT_COLUMN)?),
            };
            let store = stores::read(row)?.store;
            let has_owner = get::<Option<i16>>(row, OWNER_KIND_COLUMN)?.is_some();
            let home_of = match is_home(&store) && has_owner {
                true => Some(coded(row, OWNER_KIND_COLUMN)?),
                false => None,
            };
            known.push(Facts {
                store,
                grants: Vec::new(),
                home_of,
                relation: relation(row, RELATION_COLUMN)?,
                attachment,
            });
        }
        let has_grant = get::<Option<Uuid>>(row, GRANT_COLUMN)?.is_some();
        if has_grant && let Some(facts) = known.last_mut() {
            facts.grants.push(grants::read(row, GRANT_COLUMN, store)?);
        }
    }
    Ok(known)
}

/// As the functions of the schema tell it.
pub(crate) fn relation(row: &Row, column: usize) -> Result<Option<Relation>> {
    match get::<Option<i16>>(row, column)? {
        None => Ok(None),
        Some(0) => Ok(Some(Relation::Member)),
        Some(1) => Ok(Some(Relation::Companion)),
        Some(_) => Err(corrupt("an unknown relation")),
    }
}
