//! Who is in which group, and what they gave only because they were.
//!
//! Whoever changes it holds the row of the workspace, on whatever server: so nobody leaves twice, no
//! group takes more than it may, and who is near to whom stays so while grants are taken back.

use crate::client::{Tx, uuid};
use crate::fault::{Result, not_found};
use crate::grants;
use crate::keys;
use crate::row::{NO_ID, count, get, id, int, time};
use crate::stores::{self, StoreRow};
use loci_model::policy::{ConvenePass, System};
use loci_model::{
    Grant, GrantId, Invalid, Membership, PrincipalId, PrincipalKind, StoreId, Timestamp,
    WorkspaceId, limit,
};
use loci_storage::ground::{holds_grant, take_back};
use loci_storage::{Receipt, StorageError};
use std::collections::{BTreeMap, HashSet};
use tokio_postgres::Row;
use uuid::Uuid;

fn read(row: &Row) -> Result<Membership> {
    Ok(Membership {
        group: PrincipalId::from_bytes(id(row, 0)?),
        member: PrincipalId::from_bytes(id(row, 1)?),
        since: time(row, 2)?,
    })
}

/// Takes the row of the workspace until the end of the transaction.
pub(crate) async fn lock(tx: &Tx, workspace: WorkspaceId) -> Result<()> {
    let sql = include_str!("../queries/workspace/lock.sql");
    tx.query_opt(sql, &[&uuid(workspace.to_bytes())]).await?;
    Ok(())
}

async fn get_one(
    tx: &Tx,
    workspace: WorkspaceId,
    group: PrincipalId,
    member: PrincipalId,
) -> Result<Option<Membership>> {
    let ids = [workspace.to_bytes(), group.to_bytes(), member.to_bytes()].map(uuid);
    let sql = include_str!("../queries/membership/get.sql");
    let found = tx.query_opt(sql, &[&ids[0], &ids[1], &ids[2]]).await?;
    found.as_ref().map(read).transpose()
}

/// Who is in a group, in the order of joining.
pub(crate) async fn of_group(
    tx: &Tx,
    workspace: WorkspaceId,
    group: PrincipalId,
) -> Result<Vec<Membership>> {
    let sql = include_str!("../queries/membership/of_group.sql");
    let ids = [workspace.to_bytes(), group.to_bytes()].map(uuid);
    let found = tx.query(sql, &[&ids[0], &ids[1]]).await?;
    found.iter().map(read).collect()
}

pub(crate) async fn page(
    tx: &Tx,
    workspace: WorkspaceId,
    after: Option<(PrincipalId, PrincipalId)>,
    limit: usize,
) -> Result<Vec<Membership>> {
    // No id is all zeros.
    let (group, member) = after.map_or((NO_ID, NO_ID), |(group, member)| {
        (uuid(group.to_bytes()), uuid(member.to_bytes()))
    });
    let sql = include_str!("../queries/membership/page.sql");
    let workspace = uuid(workspace.to_bytes());
    let found = tx.query(sql, &[&workspace, &group, &member, &int(limit as u64)]).await?;
    found.iter().map(read).collect()
}

pub(crate) async fn add(tx: &Tx, pass: &ConvenePass, new: Membership) -> Result<Receipt> {
    lock(tx, pass.workspace()).await?;
    if kind_of(tx, pass, new.group).await? != PrincipalKind::Group {
        return Err(Invalid::new("group", "is not a group").into());
    }
    if kind_of(tx, pass, new.member).await? == PrincipalKind::Group {
        return Err(Invalid::new("member", "is a group").into());
    }
    if let Some(known) = get_one(tx, pass.workspace(), new.group, new.member).await? {
        return Ok(Receipt::Member(known));
    }
    let ids = [pass.workspace().to_bytes(), new.group.to_bytes(), new.member.to_bytes()].map(uuid);
    let sql = include_str!("../queries/membership/count.sql");
    let inside = count(&tx.query_one(sql, &[&ids[0], &ids[1]]).await?, 0)?;
    if inside >= limit::MEMBERS_MAX as u64 {
        return Err(StorageError::TooMany("members").into());
    }
    let sql = include_str!("../queries/membership/insert.sql");
    tx.execute(sql, &[&ids[0], &ids[1], &ids[2], &new.since.as_micros()]).await?;
    Ok(Receipt::Member(new))
}

async fn kind_of(tx: &Tx, pass: &ConvenePass, id: PrincipalId) -> Result<PrincipalKind> {
    let found = keys::principal(tx, id).await?;
    let found = found.filter(|found| found.workspace == pass.workspace());
    found.map(|found| found.kind).ok_or_else(|| not_found("principal"))
}

/// Takes in a membership as it was elsewhere. The row of the workspace is held.
pub(crate) async fn import(
    tx: &Tx,
    workspace: WorkspaceId,
    new: Membership,
    now: Timestamp,
) -> Result<bool> {
    match get_one(tx, workspace, new.group, new.member).await? {
        Some(known) if known == new => Ok(false),
        Some(_) => Err(StorageError::Taken("member").into()),
        None => {
            let convene = System::because("an administrator imports it").convene(workspace, now);
            add(tx, &convene, new).await?;
            Ok(true)
        }
    }
}

pub(crate) async fn remove(
    tx: &Tx,
    pass: &ConvenePass,
    group: PrincipalId,
    member: PrincipalId,
) -> Result<Receipt> {
    let workspace = pass.workspace();
    lock(tx, workspace).await?;
    let others = of_group(tx, workspace, group).await?.into_iter().map(|one| one.member);
    let (gone, others): (Vec<_>, Vec<_>) = others.partition(|other| *other == member);
    if gone.is_empty() {
        return Err(not_found("member"));
    }
    let ids = [workspace.to_bytes(), group.to_bytes(), member.to_bytes()].map(uuid);
    let sql = include_str!("../queries/membership/delete.sql");
    tx.execute(sql, &[&ids[0], &ids[1], &ids[2]]).await?;
    let mut revoked = Vec::new();
    let mut shelves = given(tx, workspace, group, member, &others).await?;
    let unfounded = unfounded(tx, workspace, &shelves).await?;
    // Who gave what on whose store, and only because of this membership.
    let pairs = others.iter().flat_map(|other| [(member, *other), (*other, member)]);
    for pair in std::iter::once((member, group)).chain(pairs) {
        if unfounded.contains(&pair) {
            let (giver, owner) = pair;
            let needs_none = |one| !unfounded.contains(&(one, owner));
            let owned = shelves.values_mut().filter(|shelf| shelf.owner == owner);
            for shelf in owned {
                if !holds_grant(&shelf.grants, giver, pass.now(), needs_none) {
                    shelf.take_back_from(giver, &mut revoked);
                }
            }
        }
    }
    for (store, shelf) in shelves.iter().filter(|(_, shelf)| !shelf.revoked.is_empty()) {
        let grants: Vec<Uuid> = shelf.revoked.iter().map(|id| uuid(id.to_bytes())).collect();
        let sql = include_str!("../queries/grant/delete.sql");
        tx.execute(sql, &[&uuid(store.to_bytes()), &grants]).await?;
    }
    Ok(Receipt::MemberRemoved { group, member, revoked })
}

/// A store of which somebody gave something who may have to take it back.
struct Shelf {
    owner: PrincipalId,
    grants: Vec<Grant>,
    revoked: Vec<GrantId>,
}

impl Shelf {
    fn take_back_from(&mut self, giver: PrincipalId, revoked: &mut Vec<GrantId>) {
        let given = self.grants.iter().filter(|grant| grant.given_by == giver);
        let given: Vec<GrantId> = given.map(|grant| grant.id).collect();
        for id in given {
            let taken = take_back(&mut self.grants, id, self.owner);
            self.revoked.extend(taken.iter().map(|grant| grant.id));
            revoked.extend(taken.iter().map(|grant| grant.id));
        }
    }
}

/// Takes the stores of which who leaves gave something to others, or the others of theirs, in the
/// order of their ids, and reads their grants.
async fn given(
    tx: &Tx,
    workspace: WorkspaceId,
    group: PrincipalId,
    member: PrincipalId,
    others: &[PrincipalId],
) -> Result<BTreeMap<StoreId, Shelf>> {
    let others: Vec<Uuid> = others.iter().map(|other| uuid(other.to_bytes())).collect();
    let (group, member) = (uuid(group.to_bytes()), uuid(member.to_bytes()));
    let owners: Vec<Uuid> = [group, member].into_iter().chain(others.iter().copied()).collect();
    let sql = include_str!("../queries/grant/given.sql");
    let found = tx.query(sql, &[&uuid(workspace.to_bytes()), &owners, &member, &others]).await?;
    if found.is_empty() {
        return Ok(BTreeMap::new());
    }
    let ids = found.iter().map(|row| id(row, 0).map(StoreId::from_bytes));
    let rows = stores::lock(tx, &ids.collect::<Result<Vec<_>>>()?).await?;
    let mut shelves: BTreeMap<StoreId, Shelf> = BTreeMap::new();
    for StoreRow { store, is_removed, .. } in rows {
        if !is_removed {
            let shelf = Shelf { owner: store.owner, grants: Vec::new(), revoked: Vec::new() };
            shelves.insert(store.id, shelf);
        }
    }
    let held: Vec<Uuid> = shelves.keys().map(|store| uuid(store.to_bytes())).collect();
    for row in tx.query(include_str!("../queries/grant/of_stores.sql"), &[&held]).await? {
        let store = StoreId::from_bytes(id(&row, 6)?);
        if let Some(shelf) = shelves.get_mut(&store) {
            shelf.grants.push(grants::read(&row, 0, store)?);
        }
    }
    Ok(shelves)
}

/// Which of those who gave something of a store need a grant to do so: they are not its owner, not
/// related to the owner, and no administrators.
async fn unfounded(
    tx: &Tx,
    workspace: WorkspaceId,
    shelves: &BTreeMap<StoreId, Shelf>,
) -> Result<HashSet<(PrincipalId, PrincipalId)>> {
    let pairs = shelves.values().flat_map(|shelf| {
        let givers = shelf.grants.iter().map(|grant| grant.given_by);
        givers.map(|giver| (uuid(giver.to_bytes()), uuid(shelf.owner.to_bytes())))
    });
    let pairs: HashSet<(Uuid, Uuid)> = pairs.collect();
    if pairs.is_empty() {
        return Ok(HashSet::new());
    }
    let (givers, owners): (Vec<Uuid>, Vec<Uuid>) = pairs.into_iter().unzip();
    let sql = include_str!("../queries/grant/unfounded.sql");
    let found = tx.query(sql, &[&uuid(workspace.to_bytes()), &givers, &owners]).await?;
    let read = |row: &Row| {
        let pair: (Uuid, Uuid) = (get(row, 0)?, get(row, 1)?);
        let id = |id: Uuid| PrincipalId::from_bytes(id.into_bytes());
        Ok((id(pair.0), id(pair.1)))
    };
    found.iter().map(read).collect()
}
