//! Workspaces, principals and their keys.

use crate::events;
use crate::fault::{Result, not_found};
use crate::row::{self, micros, opt_time, time, unreadable};
use loci_model::policy::AdminPass;
use loci_model::{
    ApiKey, KeyId, KeyScope, Level, MemorySwitches, Power, Principal, PrincipalId, PrincipalKind,
    SessionId, StoreId, Timestamp, WorkspaceId,
};
use loci_storage::column::{self, Code, pack_ids, unpack_ids};
use loci_storage::{Receipt, StorageError};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// The code of full power, after those of the levels.
const POWER_FULL: i16 = 3;

pub(crate) fn create_workspace(
    conn: &Connection,
    id: WorkspaceId,
    at: Timestamp,
) -> Result<Receipt> {
    let known = conn
        .prepare_cached(include_str!("../queries/workspace/exists.sql"))?
        .exists([id.to_bytes()])?;
    if known {
        return Err(StorageError::Taken("workspace").into());
    }
    conn.prepare_cached(include_str!("../queries/workspace/insert.sql"))?
        .execute(params![id.to_bytes(), at.as_micros()])?;
    events::begin(conn, id)?;
    Ok(Receipt::Workspace(id))
}

pub(crate) fn default_workspace(conn: &Connection) -> Result<Option<WorkspaceId>> {
    let first = conn
        .prepare_cached(include_str!("../queries/workspace/first.sql"))?
        .query_row([], |row| row.get(0).map(WorkspaceId::from_bytes));
    Ok(first.optional()?)
}

pub(crate) fn workspaces(conn: &Connection) -> Result<Vec<(WorkspaceId, Timestamp)>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/workspace/list.sql"))?;
    let found =
        statement.query_map([], |row| Ok((WorkspaceId::from_bytes(row.get(0)?), time(row, 1)?)))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// The latest time anything in a workspace has.
pub(crate) fn newest_time(conn: &Connection, workspace: WorkspaceId) -> Result<Option<Timestamp>> {
    let found = conn
        .prepare_cached(include_str!("../queries/workspace/newest_time.sql"))?
        .query_row([workspace.to_bytes()], |row| row.get::<_, Option<i64>>(0))?;
    Ok(found.map(Timestamp::from_micros))
}

fn read_principal(row: &Row<'_>) -> rusqlite::Result<Principal> {
    Ok(Principal {
        id: PrincipalId::from_bytes(row.get(0)?),
        workspace: WorkspaceId::from_bytes(row.get(1)?),
        kind: row::coded(row, 2)?,
        name: row.get(3)?,
        is_admin: row.get(4)?,
        created_at: time(row, 5)?,
        memory: column::switches(row.get(6)?).ok_or_else(|| unreadable(6, "no switches"))?,
    })
}

pub(crate) fn create_principal(conn: &Connection, principal: &Principal) -> Result<Receipt> {
    let is_taken = self::principal(conn, principal.id)?.is_some()
        || principal_by_name(conn, principal.workspace, &principal.name)?.is_some();
    if is_taken {
        return Err(StorageError::Taken("name").into());
    }
    conn.prepare_cached(include_str!("../queries/principal/insert.sql"))?.execute(params![
        principal.id.to_bytes(),
        principal.workspace.to_bytes(),
        principal.kind.code(),
        principal.name,
        principal.is_admin,
        principal.created_at.as_micros(),
        column::switches_code(principal.memory),
    ])?;
    Ok(Receipt::Principal(principal.clone()))
}

/// Says what a principal is, if it is nobody yet.
pub(crate) fn recast(
    conn: &Connection,
    pass: &AdminPass,
    id: PrincipalId,
    kind: PrincipalKind,
    is_admin: bool,
) -> Result<Receipt> {
    let mut found = principal(conn, id)?
        .filter(|found| found.workspace == pass.workspace())
        .ok_or_else(|| not_found("principal"))?;
    let is_somebody: bool = conn
        .prepare_cached(include_str!("../queries/principal/is_somebody.sql"))?
        .query_row([id.to_bytes()], |row| row.get(0))?;
    if is_somebody || found.kind != PrincipalKind::Agent || found.is_admin {
        return Err(StorageError::Taken("name").into());
    }
    conn.prepare_cached(include_str!("../queries/principal/recast.sql"))?.execute(params![
        id.to_bytes(),
        kind.code(),
        is_admin
    ])?;
    (found.kind, found.is_admin) = (kind, is_admin);
    Ok(Receipt::Principal(found))
}

pub(crate) fn switch_memory(
    conn: &Connection,
    pass: &AdminPass,
    id: PrincipalId,
    memory: MemorySwitches,
) -> Result<Receipt> {
    let mut found = principal(conn, id)?
        .filter(|found| found.workspace == pass.workspace())
        .ok_or_else(|| not_found("principal"))?;
    conn.prepare_cached(include_str!("../queries/principal/switch.sql"))?
        .execute(params![id.to_bytes(), column::switches_code(memory)])?;
    found.memory = memory;
    Ok(Receipt::Principal(found))
}

pub(crate) fn principal(conn: &Connection, id: PrincipalId) -> Result<Option<Principal>> {
    let found = conn
        .prepare_cached(include_str!("../queries/principal/by_id.sql"))?
        .query_row([id.to_bytes()], read_principal);
    Ok(found.optional()?)
}

pub(crate) fn principal_by_name(
    conn: &Connection,
    workspace: WorkspaceId,
    name: &str,
) -> Result<Option<Principal>> {
    let found = conn
        .prepare_cached(include_str!("../queries/principal/by_name.sql"))?
        .query_row(params![workspace.to_bytes(), name], read_principal);
    Ok(found.optional()?)
}

pub(crate) fn principals(conn: &Connection, workspace: WorkspaceId) -> Result<Vec<Principal>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/principal/list.sql"))?;
    let found = statement.query_map([workspace.to_bytes()], read_principal)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn read_key(row: &Row<'_>) -> rusqlite::Result<ApiKey> {
    let power = match row.get(6)? {
        POWER_FULL => Power::Full,
        _ => Power::UpTo(row::coded(row, 6)?),
    };
    let stores = match row.get_ref(7)?.as_blob_or_null()? {
        None => None,
        Some(bytes) => {
            let ids = unpack_ids(bytes).ok_or_else(|| unreadable(7, "ids of another length"))?;
            Some(ids.into_iter().map(StoreId::from_bytes).collect())
        }
    };
    let session: Option<[u8; 16]> = row.get(8)?;
    let secret_hash = row.get(5).map_err(|_| unreadable(5, "not a hash"))?;
    Ok(ApiKey {
        id: KeyId::from_bytes(row.get(0)?),
        workspace: WorkspaceId::from_bytes(row.get(1)?),
        principal: PrincipalId::from_bytes(row.get(2)?),
        name: row.get(3)?,
        hint: row.get(4)?,
        secret_hash,
        scope: KeyScope { power, stores },
        session: session.map(SessionId::from_bytes),
        audience: row::coded(row, 9)?,
        created_at: time(row, 10)?,
        expires_at: opt_time(row, 11)?,
        revoked_at: opt_time(row, 12)?,
        acts_for_agents: row.get(13)?,
    })
}

pub(crate) fn create(conn: &Connection, key: &ApiKey) -> Result<Receipt> {
    if by_id(conn, key.id)?.is_some() || by_hash(conn, &key.secret_hash)?.is_some() {
        return Err(StorageError::Taken("key").into());
    }
    if principal(conn, key.principal)?.is_none() {
        return Err(not_found("principal"));
    }
    let power = match key.scope.power {
        Power::Full => POWER_FULL,
        Power::UpTo(level) => level.code(),
    };
    debug_assert!(power == POWER_FULL || power <= Level::ReadWrite.code());
    let stores = key.scope.stores.as_ref();
    let stores = stores.map(|stores| pack_ids(stores.iter().map(|id| id.to_bytes())));
    conn.prepare_cached(include_str!("../queries/key/insert.sql"))?.execute(params![
        key.id.to_bytes(),
        key.workspace.to_bytes(),
        key.principal.to_bytes(),
        key.name,
        key.hint,
        key.secret_hash,
        power,
        stores,
        key.session.map(SessionId::to_bytes),
        key.audience.code(),
        key.created_at.as_micros(),
        micros(key.expires_at),
        micros(key.revoked_at),
        key.acts_for_agents,
    ])?;
    Ok(Receipt::Key(key.clone()))
}

pub(crate) fn revoke(conn: &Connection, pass: &AdminPass, id: KeyId) -> Result<Receipt> {
    let mut key = by_id(conn, id)?
        .filter(|key| key.workspace == pass.workspace())
        .ok_or_else(|| not_found("key"))?;
    if key.revoked_at.is_none() {
        key.revoked_at = Some(pass.now());
        conn.prepare_cached(include_str!("../queries/key/revoke.sql"))?
            .execute(params![id.to_bytes(), pass.now().as_micros()])?;
    }
    Ok(Receipt::Key(key))
}

pub(crate) fn by_id(conn: &Connection, id: KeyId) -> Result<Option<ApiKey>> {
    let found = conn
        .prepare_cached(include_str!("../queries/key/by_id.sql"))?
        .query_row([id.to_bytes()], read_key);
    Ok(found.optional()?)
}

fn by_hash(conn: &Connection, hash: &[u8; 32]) -> Result<Option<ApiKey>> {
    let found = conn
        .prepare_cached(include_str!("../queries/key/by_hash.sql"))?
        .query_row([hash], read_key);
    Ok(found.optional()?)
}

/// A key and its principal, by the hash of the secret.
pub(crate) fn with_principal(
    conn: &Connection,
    hash: &[u8; 32],
) -> Result<Option<(ApiKey, Principal)>> {
    let Some(key) = by_hash(conn, hash)? else {
        return Ok(None);
    };
    let principal = principal(conn, key.principal)?;
    Ok(principal.map(|principal| (key, principal)))
}

pub(crate) fn list(conn: &Connection, workspace: WorkspaceId) -> Result<Vec<ApiKey>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/key/list.sql"))?;
    let found = statement.query_map([workspace.to_bytes()], read_key)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
