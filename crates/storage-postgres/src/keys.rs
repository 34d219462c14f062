//! Workspaces, principals and their keys. Whose key it is has to be found before the tenant is
//! known, so that one question goes across tenants, through a function of the database that answers
//! only to the hash of a secret.

use crate::client::{Tx, uuid};
use crate::events;
use crate::fault::{Result, corrupt, not_found};
use crate::row::{coded, count, get, id, micros, opt_id, opt_time, string, taken, text, time};
use loci_model::policy::AdminPass;
use loci_model::{
    ApiKey, KeyId, KeyScope, Level, MemorySwitches, Power, Principal, PrincipalId, PrincipalKind,
    SessionId, StoreId, Timestamp, WorkspaceId,
};
use loci_storage::Receipt;
use loci_storage::column::{self, Code, switches_code};
use tokio_postgres::Row;
use uuid::Uuid;

/// The code of full power, after those of the levels.
const POWER_FULL: i16 = 3;

pub(crate) async fn create_workspace(tx: &Tx, id: WorkspaceId, at: Timestamp) -> Result<Receipt> {
    let sql = include_str!("../queries/workspace/insert.sql");
    let added = tx.execute(sql, &[&uuid(id.to_bytes()), &at.as_micros()]).await?;
    if added == 0 {
        return Err(taken("workspace"));
    }
    events::begin(tx, id).await?;
    Ok(Receipt::Workspace(id))
}

pub(crate) async fn default_workspace(tx: &Tx) -> Result<Option<WorkspaceId>> {
    let first = tx.query_opt(include_str!("../queries/workspace/first.sql"), &[]).await?;
    first.map(|row| id(&row, 0).map(WorkspaceId::from_bytes)).transpose()
}

pub(crate) async fn workspaces(tx: &Tx) -> Result<Vec<(WorkspaceId, Timestamp)>> {
    let found = tx.query(include_str!("../queries/workspace/list.sql"), &[]).await?;
    let read = |row: &Row| Ok((WorkspaceId::from_bytes(id(row, 0)?), time(row, 1)?));
    found.iter().map(read).collect()
}

/// The latest time anything in a workspace has.
pub(crate) async fn newest_time(tx: &Tx, workspace: WorkspaceId) -> Result<Option<Timestamp>> {
    let sql = include_str!("../queries/workspace/newest_time.sql");
    opt_time(&tx.query_one(sql, &[&uuid(workspace.to_bytes())]).await?, 0)
}

fn read_principal(row: &Row) -> Result<Principal> {
    Ok(Principal {
        id: PrincipalId::from_bytes(id(row, 0)?),
        workspace: WorkspaceId::from_bytes(id(row, 1)?),
        kind: coded(row, 2)?,
        name: string(row, 3)?,
        is_admin: get(row, 4)?,
        created_at: time(row, 5)?,
        memory: memory(row, 6)?,
    })
}

fn memory(row: &Row, column: usize) -> Result<MemorySwitches> {
    column::switches(get(row, column)?).ok_or_else(|| corrupt("an unknown code"))
}

/// Says which memory a principal may use.
pub(crate) async fn switch(
    tx: &Tx,
    pass: &AdminPass,
    id: PrincipalId,
    memory: MemorySwitches,
) -> Result<Receipt> {
    let (id, workspace) = (uuid(id.to_bytes()), uuid(pass.workspace().to_bytes()));
    let sql = include_str!("../queries/principal/switch.sql");
    let found = tx.query_opt(sql, &[&id, &workspace, &switches_code(memory)]).await?;
    read_principal(&found.ok_or_else(|| not_found("principal"))?).map(Receipt::Principal)
}

/// Says what a principal is, if it is nobody yet. The row of the workspace is held, so that nobody
/// joins or gives meanwhile.
pub(crate) async fn recast(
    tx: &Tx,
    pass: &AdminPass,
    id: PrincipalId,
    kind: PrincipalKind,
    is_admin: bool,
) -> Result<Receipt> {
    let found = principal(tx, id).await?.filter(|found| found.workspace == pass.workspace());
    let mut found = found.ok_or_else(|| not_found("principal"))?;
    let key = uuid(id.to_bytes());
    let workspace = uuid(pass.workspace().to_bytes());
    let sql = include_str!("../queries/principal/is_somebody.sql");
    let is_somebody: bool = get(&tx.query_one(sql, &[&workspace, &key]).await?, 0)?;
    if is_somebody || found.kind != PrincipalKind::Agent || found.is_admin {
        return Err(taken("name"));
    }
    let sql = include_str!("../queries/principal/recast.sql");
    tx.execute(sql, &[&key, &kind.code(), &is_admin]).await?;
    (found.kind, found.is_admin) = (kind, is_admin);
    Ok(Receipt::Principal(found))
}

pub(crate) async fn create_principal(tx: &Tx, principal: &Principal) -> Result<Receipt> {
    let added = tx
        .execute(
            include_str!("../queries/principal/insert.sql"),
            &[
                &uuid(principal.id.to_bytes()),
                &uuid(principal.workspace.to_bytes()),
                &principal.kind.code(),
                &text(&principal.name),
                &principal.is_admin,
                &principal.created_at.as_micros(),
                &switches_code(principal.memory),
            ],
        )
        .await?;
    if added == 0 { Err(taken("name")) } else { Ok(Receipt::Principal(principal.clone())) }
}

pub(crate) async fn principal(tx: &Tx, id: PrincipalId) -> Result<Option<Principal>> {
    let sql = include_str!("../queries/principal/by_id.sql");
    let found = tx.query_opt(sql, &[&uuid(id.to_bytes())]).await?;
    found.as_ref().map(read_principal).transpose()
}

pub(crate) async fn principal_by_name(
    tx: &Tx,
    workspace: WorkspaceId,
    name: &str,
) -> Result<Option<Principal>> {
    let sql = include_str!("../queries/principal/by_name.sql");
    let found = tx.query_opt(sql, &[&uuid(workspace.to_bytes()), &text(name)]).await?;
    found.as_ref().map(read_principal).transpose()
}

pub(crate) async fn principals(tx: &Tx, workspace: WorkspaceId) -> Result<Vec<Principal>> {
    let sql = include_str!("../queries/principal/list.sql");
    let found = tx.query(sql, &[&uuid(workspace.to_bytes())]).await?;
    found.iter().map(read_principal).collect()
}

fn read_key(row: &Row) -> Result<ApiKey> {
    let power = match get::<i16>(row, 6)? {
        POWER_FULL => Power::Full,
        _ => Power::UpTo(coded(row, 6)?),
    };
    let stores: Option<Vec<Uuid>> = get(row, 7)?;
    let stores = stores.map(|stores| {
        let ids = stores.into_iter().map(Uuid::into_bytes);
        ids.map(StoreId::from_bytes).collect()
    });
    let secret_hash: &[u8] = get(row, 5)?;
    Ok(ApiKey {
        id: KeyId::from_bytes(id(row, 0)?),
        workspace: WorkspaceId::from_bytes(id(row, 1)?),
        principal: PrincipalId::from_bytes(id(row, 2)?),
        name: string(row, 3)?,
        hint: string(row, 4)?,
        secret_hash: secret_hash.try_into().map_err(|_| corrupt("not a hash"))?,
        scope: KeyScope { power, stores },
        session: opt_id(row, 8)?.map(SessionId::from_bytes),
        audience: coded(row, 9)?,
        created_at: time(row, 10)?,
        expires_at: opt_time(row, 11)?,
        revoked_at: opt_time(row, 12)?,
        acts_for_agents: get(row, 13)?,
    })
}

pub(crate) async fn create(tx: &Tx, key: &ApiKey) -> Result<Receipt> {
    let (id, principal) = (uuid(key.id.to_bytes()), uuid(key.principal.to_bytes()));
    let hash = &key.secret_hash[..];
    let sql = include_str!("../queries/key/vacancy.sql");
    let found = tx.query_one(sql, &[&id, &hash, &principal]).await?;
    if get(&found, 0)? {
        return Err(taken("key"));
    }
    if !get(&found, 1)? {
        return Err(not_found("principal"));
    }
    let power = match key.scope.power {
        Power::Full => POWER_FULL,
        Power::UpTo(level) => level.code(),
    };
    debug_assert!(power == POWER_FULL || power <= Level::ReadWrite.code());
    let stores = key.scope.stores.as_ref();
    let stores: Option<Vec<Uuid>> =
        stores.map(|stores| stores.iter().map(|id| uuid(id.to_bytes())).collect());
    let added = tx
        .execute(
            include_str!("../queries/key/insert.sql"),
            &[
                &id,
                &uuid(key.workspace.to_bytes()),
                &principal,
                &text(&key.name),
                &text(&key.hint),
                &hash,
                &power,
                &stores,
                &key.session.map(|session| uuid(session.to_bytes())),
                &key.audience.code(),
                &key.created_at.as_micros(),
                &micros(key.expires_at),
                &micros(key.revoked_at),
                &key.acts_for_agents,
            ],
        )
        .await?;
    if added == 0 { Err(taken("key")) } else { Ok(Receipt::Key(key.clone())) }
}

pub(crate) async fn revoke(tx: &Tx, pass: &AdminPass, id: KeyId) -> Result<Receipt> {
    let ids = [uuid(id.to_bytes()), uuid(pass.workspace().to_bytes())];
    let sql = include_str!("../queries/key/revoke.sql");
    let found = tx.query_opt(sql, &[&ids[0], &ids[1], &pass.now().as_micros()]).await?;
    let row = found.ok_or_else(|| not_found("key"))?;
    read_key(&row).map(Receipt::Key)
}

pub(crate) async fn by_id(tx: &Tx, id: KeyId) -> Result<Option<ApiKey>> {
    let sql = include_str!("../queries/key/by_id.sql");
    let found = tx.query_opt(sql, &[&uuid(id.to_bytes())]).await?;
    found.as_ref().map(read_key).transpose()
}

/// A key and its principal, by the hash of the secret, of whatever tenant; and the page they were
/// read on.
pub(crate) async fn with_principal(
    tx: &Tx,
    hash: &[u8; 32],
) -> Result<Option<(u64, (ApiKey, Principal))>> {
    let sql = include_str!("../queries/key/by_hash.sql");
    let Some(row) = tx.query_opt(sql, &[&&hash[..]]).await? else {
        return Ok(None);
    };
    let key = read_key(&row)?;
    let principal = Principal {
        id: key.principal,
        workspace: key.workspace,
        kind: coded(&row, 14)?,
        name: string(&row, 15)?,
        is_admin: get(&row, 16)?,
        created_at: time(&row, 17)?,
        memory: memory(&row, 18)?,
    };
    Ok(Some((count(&row, 19)?, (key, principal))))
}

pub(crate) async fn list(tx: &Tx, workspace: WorkspaceId) -> Result<Vec<ApiKey>> {
    let sql = include_str!("../queries/key/list.sql");
    let found = tx.query(sql, &[&uuid(workspace.to_bytes())]).await?;
    found.iter().map(read_key).collect()
}
