//! Who is in which group, and what that makes them to the owners of stores.
//!
//! Nothing about access is derived from a membership and kept: it is looked up whenever policy asks,
//! so it ends with the membership. Only grants outlive it, and those that stood on it alone are taken
//! back in the transaction that ends it.

use crate::apply::Core;
use crate::fault::{Result, not_found};
use crate::row::{int, time};
use crate::stores::StoreRow;
use crate::{grants, keys};
use loci_model::policy::{AdminPass, ConvenePass, Facts, Relation};
use loci_model::{
    Invalid, Membership, PrincipalId, PrincipalKind, Store, StoreId, WorkspaceId, limit,
};
use loci_storage::ground::is_home;
use loci_storage::{Receipt, StorageError};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::{BTreeSet, HashSet};

fn read(row: &Row<'_>) -> rusqlite::Result<Membership> {
    Ok(Membership {
        group: PrincipalId::from_bytes(row.get(0)?),
        member: PrincipalId::from_bytes(row.get(1)?),
        since: time(row, 2)?,
    })
}

/// How somebody stands to the owner of a store.
pub(crate) fn relation(
    conn: &Connection,
    who: PrincipalId,
    owner: PrincipalId,
) -> Result<Option<Relation>> {
    if who == owner {
        return Ok(None);
    }
    let mut statement = conn.prepare_cached(include_str!("../queries/membership/relation.sql"))?;
    let found = statement.query_row(params![who.to_bytes(), owner.to_bytes()], |row| {
        Ok(match (row.get(0)?, row.get(1)?) {
            (true, _) => Some(Relation::Member),
            (false, true) => Some(Relation::Companion),
            (false, false) => None,
        })
    });
    Ok(found?)
}

/// What sort of owner has its home in a store, if it is one.
pub(crate) fn home_of(conn: &Connection, store: &Store) -> Result<Option<PrincipalKind>> {
    if !is_home(store) {
        return Ok(None);
    }
    Ok(keys::principal(conn, store.owner)?.map(|owner| owner.kind))
}

/// Everybody whose stores somebody reaches by being in groups: the same answers as [`relation`], for
/// those who ask about many stores.
pub(crate) struct Circle {
    who: PrincipalId,
    groups: HashSet<PrincipalId>,
    users: HashSet<PrincipalId>,
}

impl Circle {
    pub(crate) fn of(conn: &Connection, who: PrincipalId) -> Result<Self> {
        let ids = |sql: &str| -> Result<HashSet<PrincipalId>> {
            let mut statement = conn.prepare_cached(sql)?;
            let found = statement.query_map([who.to_bytes()], |row| row.get(0))?;
            let found = found.map(|bytes| bytes.map(PrincipalId::from_bytes));
            Ok(found.collect::<rusqlite::Result<_>>()?)
        };
        let groups = ids(include_str!("../queries/membership/groups.sql"))?;
        let users = match groups.is_empty() {
            true => HashSet::new(),
            false => ids(include_str!("../queries/membership/users.sql"))?,
        };
        Ok(Self { who, groups, users })
    }

    fn relation(&self, owner: PrincipalId) -> Option<Relation> {
        if self.groups.contains(&owner) {
            Some(Relation::Member)
        } else {
            self.users.contains(&owner).then_some(Relation::Companion)
        }
    }

    /// What policy needs to know about a store, outside of sessions.
    pub(crate) fn facts(&self, conn: &Connection, row: StoreRow) -> Result<Facts> {
        let grants = grants::concerning(conn, row.store_pk, row.store.id, self.who)?;
        let relation = self.relation(row.store.owner);
        let home_of = home_of(conn, &row.store)?;
        Ok(Facts { store: row.store, grants, home_of, relation, attachment: None })
    }
}

/// Who is in a group, in the order of joining.
pub(crate) fn list(
    conn: &Connection,
    workspace: WorkspaceId,
    group: PrincipalId,
) -> Result<Vec<Membership>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/membership/of_group.sql"))?;
    let found = statement.query_map(params![group.to_bytes(), workspace.to_bytes()], read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Everybody who is in a group, by group and member.
pub(crate) fn page(
    conn: &Connection,
    workspace: WorkspaceId,
    after: Option<(PrincipalId, PrincipalId)>,
    limit: usize,
) -> Result<Vec<Membership>> {
    // Every id is longer than the empty one before the first.
    let (group, member) = after.map_or((Vec::new(), Vec::new()), |(group, member)| {
        (group.to_bytes().to_vec(), member.to_bytes().to_vec())
    });
    let mut statement = conn.prepare_cached(include_str!("../queries/membership/page.sql"))?;
    let bounds = params![group, member, workspace.to_bytes(), int(limit as u64)];
    let found = statement.query_map(bounds, read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn get(conn: &Connection, group: PrincipalId, member: PrincipalId) -> Result<Option<Membership>> {
    let found = conn
        .prepare_cached(include_str!("../queries/membership/get.sql"))?
        .query_row(params![group.to_bytes(), member.to_bytes()], read);
    Ok(found.optional()?)
}

pub(crate) fn add(conn: &Connection, pass: &ConvenePass, new: Membership) -> Result<Receipt> {
    let known = put(conn, pass.workspace(), new)?;
    Ok(Receipt::Member(known.unwrap_or(new)))
}

/// Takes in a membership as it was elsewhere; tells whether it is new.
pub(crate) fn import(conn: &Connection, pass: &AdminPass, new: Membership) -> Result<bool> {
    match get(conn, new.group, new.member)? {
        Some(known) if known == new => Ok(false),
        Some(_) => Err(StorageError::Taken("member").into()),
        None => {
            put(conn, pass.workspace(), new)?;
            Ok(true)
        }
    }
}

/// Puts somebody into a group, unless they are in it: then says since when.
fn put(conn: &Connection, workspace: WorkspaceId, new: Membership) -> Result<Option<Membership>> {
    let kind = |id| {
        let found = keys::principal(conn, id)?.filter(|found| found.workspace == workspace);
        found.map(|found| found.kind).ok_or_else(|| not_found("principal"))
    };
    if kind(new.group)? != PrincipalKind::Group {
        return Err(Invalid::new("group", "is not a group").into());
    }
    if kind(new.member)? == PrincipalKind::Group {
        return Err(Invalid::new("member", "is a group").into());
    }
    if let Some(known) = get(conn, new.group, new.member)? {
        return Ok(Some(known));
    }
    let inside: i64 = conn
        .prepare_cached(include_str!("../queries/membership/count.sql"))?
        .query_row([new.group.to_bytes()], |row| row.get(0))?;
    if inside >= int(limit::MEMBERS_MAX as u64) {
        return Err(StorageError::TooMany("members").into());
    }
    conn.prepare_cached(include_str!("../queries/membership/insert.sql"))?.execute(params![
        new.group.to_bytes(),
        new.member.to_bytes(),
        new.since.as_micros(),
    ])?;
    Ok(None)
}

impl Core {
    pub(crate) fn remove_member(
        &mut self,
        pass: &ConvenePass,
        group: PrincipalId,
        member: PrincipalId,
    ) -> Result<Receipt> {
        let stores = remove(&self.conn, pass, group, member)?;
        let mut taken = Vec::new();
        for store in stores {
            taken.extend(
                self.with_store(store, |core, row| grants::settle(&core.conn, row, pass.now()))?,
            );
        }
        Ok(Receipt::MemberRemoved { group, member, revoked: self.gone(taken) })
    }
}

/// Takes somebody out of a group and tells the stores of which somebody gave something, perhaps only
/// because of it.
fn remove(
    conn: &Connection,
    pass: &ConvenePass,
    group: PrincipalId,
    member: PrincipalId,
) -> Result<BTreeSet<StoreId>> {
    let inside = list(conn, pass.workspace(), group)?;
    if !inside.iter().any(|one| one.member == member) {
        return Err(not_found("member"));
    }
    conn.prepare_cached(include_str!("../queries/membership/delete.sql"))?
        .execute(params![group.to_bytes(), member.to_bytes()])?;
    let is_other =
        |one: PrincipalId| one != member && inside.iter().any(|in_it| in_it.member == one);
    let mut stores = BTreeSet::new();
    for (giver, owner) in given_by_or_of(conn, member)? {
        let may_have_lost = match owner == member {
            true => is_other(giver),
            false => giver == member && (owner == group || is_other(owner)),
        };
        if may_have_lost {
            stores.extend(grants::shared_by(conn, giver, owner)?);
        }
    }
    Ok(stores)
}

/// Those who gave grants and those whose stores they gave, where either is somebody.
fn given_by_or_of(conn: &Connection, who: PrincipalId) -> Result<Vec<(PrincipalId, PrincipalId)>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/grant/by_member.sql"))?;
    let pairs = statement.query_map([who.to_bytes()], |row| {
        Ok((PrincipalId::from_bytes(row.get(0)?), PrincipalId::from_bytes(row.get(1)?)))
    })?;
    Ok(pairs.collect::<rusqlite::Result<_>>()?)
}
