//! Who is in which group, and what they gave only because they were.
//!
//! Whoever changes it holds the row of the workspace, on whatever server: so nobody leaves twice, no
//! group takes more than it may, and who is near to whom stays so while grants are taken back.

use crate::client::{Tx, uuid};
use crate::draft::Draft;
use crate::fault::{Result, not_found};
use crate::row::{NO_ID, count, id, int, time};
use crate::stores::{self, StoreRow};
use crate::{grants, keys};
use loci_model::policy::{ConvenePass, System};
use loci_model::{
    Invalid, Membership, PrincipalId, PrincipalKind, StoreId, Timestamp, WorkspaceId, limit,
};
use loci_storage::{Receipt, StorageError};
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

/// Keeps who is in which group as it is until the end of the transaction; others may do so, too.
pub(crate) async fn hold(tx: &Tx, workspace: WorkspaceId) -> Result<()> {
    let sql = include_str!("../queries/workspace/hold.sql");
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
    draft: &mut Draft<'_>,
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
    let rows = given(tx, workspace, group, member, &others).await?;
    let taken = grants::settle(tx, rows, pass.now()).await?;
    Ok(Receipt::MemberRemoved { group, member, revoked: draft.gone(taken) })
}

/// Takes the stores of which who leaves gave something to others, or the others of theirs, in the
/// order of their ids.
async fn given(
    tx: &Tx,
    workspace: WorkspaceId,
    group: PrincipalId,
    member: PrincipalId,
    others: &[PrincipalId],
) -> Result<Vec<StoreRow>> {
    let others: Vec<Uuid> = others.iter().map(|other| uuid(other.to_bytes())).collect();
    let (group, member) = (uuid(group.to_bytes()), uuid(member.to_bytes()));
    let owners: Vec<Uuid> = [group, member].into_iter().chain(others.iter().copied()).collect();
    let sql = include_str!("../queries/grant/given.sql");
    let found = tx.query(sql, &[&uuid(workspace.to_bytes()), &owners, &member, &others]).await?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let ids = found.iter().map(|row| id(row, 0).map(StoreId::from_bytes));
    stores::lock(tx, &ids.collect::<Result<Vec<_>>>()?).await
}
