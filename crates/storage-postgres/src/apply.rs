//! Which function applies which mutation, and for which tenant. Each runs in a transaction of its
//! own, which a refusal rolls back whole; only edits of single memories share one ([`crate::group`]).
//!
//! Rows that others wait for are taken in one order, so that no two transactions wait for each other:
//! the row of the workspace (who is in which group; whoever gives or takes back a grant shares it, so
//! that nobody leaves meanwhile), the rows of stores by their ids, single keys,
//! sessions and addresses, the end of the audit log, a request's idempotency key, the page of access.
//! Nobody who holds one of these takes an earlier one.

use crate::client::{Clients, Tenant, Tx, uuid};
use crate::draft::Draft;
use crate::fault::{Fault, Result, refusal};
use crate::flush::Remembered;
use crate::{
    events, grants, idempotency, import, keys, members, purge, readings, repeats, sessions, stores,
    vectors,
};
use loci_model::{StoreId, WorkspaceId};
use loci_storage::ground::told;
use loci_storage::known::is_about_access;
use loci_storage::{Applied, Idempotency, Mutation, Receipt, ReceiptRefs};
use std::time::Duration;
use tokio::time::Instant;

/// How long something that may touch many rows can take.
const LONG: Duration = Duration::from_secs(120);
/// How often a transaction that got in another's way is tried.
const TRIES_MAX: usize = 5;

/// For whom a mutation is.
pub(crate) fn tenant(mutation: &Mutation) -> Tenant {
    Tenant::Workspace(match mutation {
        Mutation::CreateWorkspace(id, _) => *id,
        Mutation::CreatePrincipal(principal) => principal.workspace,
        Mutation::SwitchMemory(pass, ..) | Mutation::Recast(pass, ..) => pass.workspace(),
        Mutation::AddMember(pass, _) | Mutation::RemoveMember { pass, .. } => pass.workspace(),
        Mutation::CreateKey(key) => key.workspace,
        Mutation::RevokeKey(pass, _) | Mutation::Import(pass, _) => pass.workspace(),
        Mutation::CreateStore(store) => store.workspace,
        Mutation::DescribeStore(pass, _)
        | Mutation::SetPolicy(pass, _)
        | Mutation::ArchiveStore(pass)
        | Mutation::RemoveStore(pass)
        | Mutation::PurgeStore { pass, .. }
        | Mutation::Redact(pass, _)
        | Mutation::Erase { pass, .. } => pass.workspace(),
        Mutation::Commit(pass, _) | Mutation::Expire { pass, .. } => pass.workspace(),
        Mutation::Share(pass, _) | Mutation::Revoke(pass, _) => pass.workspace(),
        Mutation::CreateSession(session) => session.workspace,
        Mutation::ChangeSession { workspace, .. } | Mutation::RemoveSession(workspace, _) => {
            *workspace
        }
        Mutation::PutVectors(batch) => batch.workspace,
        Mutation::PutReadings(batch) => batch.workspace,
        Mutation::ForgetReadings { pass, .. } => pass.workspace(),
        Mutation::Record(happening) => happening.workspace,
        Mutation::Audited(mutation, happening) => match tenant(mutation) {
            Tenant::Workspace(id) => id,
            Tenant::Nobody => happening.workspace,
        },
        Mutation::OpenGeneration { .. }
        | Mutation::DropGeneration { .. }
        | Mutation::ForgetKeys { .. } => return Tenant::Nobody,
    })
}

/// The same for a request whose key is to be remembered, which is somebody's in any case.
fn opened_for(mutation: &Mutation, idempotency: Option<&Idempotency>) -> Tenant {
    match (tenant(mutation), idempotency) {
        (Tenant::Nobody, Some(key)) => Tenant::Workspace(key.workspace),
        (tenant, _) => tenant,
    }
}

/// Whether a mutation may take longer than a caller is kept waiting otherwise.
pub(crate) fn is_long(mutation: &Mutation) -> bool {
    if let Mutation::Audited(mutation, _) = mutation {
        return is_long(mutation);
    }
    matches!(
        mutation,
        Mutation::Import(..)
            | Mutation::PurgeStore { .. }
            | Mutation::SetPolicy(..)
            | Mutation::Erase { .. }
            | Mutation::PutVectors(_)
            | Mutation::ForgetReadings { .. }
            | Mutation::DropGeneration { .. }
            | Mutation::ForgetKeys { .. }
    )
}

/// Applies one mutation in a transaction of its own.
pub(crate) async fn alone(
    clients: &Clients,
    mutation: &Mutation,
    idempotency: Option<&Idempotency>,
) -> loci_storage::Result<Applied> {
    let patience = if is_long(mutation) { LONG } else { clients.patience };
    let deadline = Instant::now() + patience;
    let mut tries = 0;
    loop {
        tries += 1;
        let left = deadline.saturating_duration_since(Instant::now());
        let tx = clients.write(opened_for(mutation, idempotency), left).await?;
        let fault = match attempt(tx, mutation, idempotency).await {
            Ok(applied) => return Ok(applied),
            Err(fault) => fault,
        };
        // Somebody else wrote down the same key first: what they did is the answer.
        let is_again =
            fault.is_worth_retrying() || fault.broken_constraint() == Some("idempotency_pk");
        if !is_again || tries >= TRIES_MAX {
            clients.had_fault(&fault);
            return Err(refusal(fault));
        }
    }
}

async fn attempt(
    tx: Tx,
    mutation: &Mutation,
    idempotency: Option<&Idempotency>,
) -> Result<Applied> {
    let mut draft = Draft::new(&tx);
    let applied = match apply(&tx, &mut draft, mutation, idempotency).await {
        Ok(applied) => applied,
        Err(fault) => {
            drop(draft);
            if let Fault::Refused(_) = &fault {
                tx.leave();
            }
            return Err(fault);
        }
    };
    if applied.is_replay {
        drop(draft);
        tx.leave();
        return Ok(applied);
    }
    let extra = idempotency.map(|key| remember(key, &applied.receipt));
    let turned = match tenant(mutation) {
        Tenant::Workspace(id) if is_about_access(mutation) => Some(id),
        _ => None,
    };
    draft.finish(extra.into_iter().collect(), turned).await?;
    tx.committed();
    Ok(applied)
}

async fn apply<'t>(
    tx: &'t Tx,
    draft: &mut Draft<'t>,
    mutation: &Mutation,
    idempotency: Option<&Idempotency>,
) -> Result<Applied> {
    // The lock first: a retry on another server waits there, and then finds what the first one did.
    if idempotency.is_some() {
        if let Some(workspace) = locked_workspace(mutation) {
            members::lock(tx, workspace).await?;
        }
        if let Some(workspace) = held_workspace(mutation) {
            members::hold(tx, workspace).await?;
        }
        if let Some(store) = locked_store(mutation) {
            stores::lock(tx, &[store]).await?;
        }
    }
    if let Some(key) = idempotency
        && let Some(receipt) = idempotency::recall(tx, key).await?
    {
        return Ok(Applied { receipt, is_replay: true });
    }
    let receipt = dispatch(tx, draft, mutation).await?;
    Ok(Applied { receipt, is_replay: false })
}

/// The workspace whose row a mutation takes.
fn locked_workspace(mutation: &Mutation) -> Option<WorkspaceId> {
    match mutation {
        Mutation::AddMember(pass, _) | Mutation::RemoveMember { pass, .. } => {
            Some(pass.workspace())
        }
        Mutation::Recast(pass, ..) => Some(pass.workspace()),
        Mutation::Audited(mutation, _) => locked_workspace(mutation),
        _ => None,
    }
}

/// The workspace whose row a mutation only keeps from being taken.
fn held_workspace(mutation: &Mutation) -> Option<WorkspaceId> {
    match mutation {
        Mutation::Share(pass, _) | Mutation::Revoke(pass, _) => Some(pass.workspace()),
        Mutation::Audited(mutation, _) => held_workspace(mutation),
        _ => None,
    }
}

/// The store whose row a mutation takes.
fn locked_store(mutation: &Mutation) -> Option<StoreId> {
    match mutation {
        Mutation::Commit(pass, _) | Mutation::Expire { pass, .. } => Some(pass.store()),
        Mutation::DescribeStore(pass, _)
        | Mutation::SetPolicy(pass, _)
        | Mutation::ArchiveStore(pass)
        | Mutation::RemoveStore(pass)
        | Mutation::PurgeStore { pass, .. }
        | Mutation::Redact(pass, _)
        | Mutation::Erase { pass, .. } => Some(pass.store()),
        Mutation::Share(pass, _) | Mutation::Revoke(pass, _) => Some(pass.store()),
        Mutation::Audited(mutation, _) => locked_store(mutation),
        _ => None,
    }
}

async fn dispatch<'t>(tx: &'t Tx, draft: &mut Draft<'t>, mutation: &Mutation) -> Result<Receipt> {
    match mutation {
        Mutation::CreateWorkspace(id, at) => keys::create_workspace(tx, *id, *at).await,
        Mutation::CreatePrincipal(principal) => keys::create_principal(tx, principal).await,
        Mutation::CreateKey(key) => keys::create(tx, key).await,
        Mutation::RevokeKey(pass, id) => keys::revoke(tx, pass, *id).await,
        Mutation::CreateStore(store) => stores::create(tx, store).await.map(Receipt::Store),
        Mutation::Recast(pass, id, kind, is_admin) => {
            members::lock(tx, pass.workspace()).await?;
            keys::recast(tx, pass, *id, *kind, *is_admin).await
        }
        Mutation::SwitchMemory(pass, id, memory) => keys::switch(tx, pass, *id, *memory).await,
        Mutation::AddMember(pass, membership) => members::add(tx, pass, *membership).await,
        Mutation::RemoveMember { pass, group, member } => {
            members::remove(tx, draft, pass, *group, *member).await
        }
        Mutation::DescribeStore(pass, patch) => stores::describe(tx, pass, patch).await,
        Mutation::SetPolicy(pass, patch) => repeats::set_policy(tx, pass, *patch).await,
        Mutation::ArchiveStore(pass) => stores::archive(tx, pass).await,
        Mutation::RemoveStore(pass) => stores::remove(tx, pass).await,
        Mutation::PurgeStore { pass, limit } => purge::purge_store(tx, pass, *limit).await,
        Mutation::Commit(pass, batch) => {
            *draft = Draft::of(tx, pass.store()).await?;
            draft.commit(pass, batch).await
        }
        Mutation::Expire { pass, memory, version } => {
            *draft = Draft::of(tx, pass.store()).await?;
            draft.expire(pass, *memory, *version).await
        }
        Mutation::Redact(pass, version) => {
            *draft = Draft::of(tx, pass.store()).await?;
            draft.redact(pass, *version).await
        }
        Mutation::Erase { pass, memory, version } => {
            *draft = Draft::of(tx, pass.store()).await?;
            draft.erase(pass, *memory, *version).await
        }
        Mutation::Share(pass, grant) => grants::share(tx, draft, pass, grant).await,
        Mutation::Revoke(pass, id) => grants::revoke(tx, draft, pass, *id).await,
        Mutation::CreateSession(session) => sessions::create(tx, session).await,
        Mutation::ChangeSession { workspace, session, change, now } => {
            sessions::change(tx, *workspace, *session, change, *now).await
        }
        Mutation::RemoveSession(workspace, id) => sessions::remove(tx, *workspace, *id).await,
        Mutation::Import(pass, items) => import::import(tx, draft, pass, items).await,
        Mutation::OpenGeneration { model, dims, is_fresh, now } => {
            vectors::open_generation(tx, model, *dims, *is_fresh, *now).await
        }
        Mutation::PutVectors(batch) => vectors::put(tx, batch).await,
        Mutation::DropGeneration { generation, limit } => {
            vectors::drop_generation(tx, *generation, *limit).await
        }
        Mutation::PutReadings(batch) => readings::put(tx, batch).await,
        Mutation::ForgetReadings { pass, reader, limit } => {
            readings::forget(tx, pass, reader, *limit).await
        }
        Mutation::ForgetKeys { before } => idempotency::forget(tx, *before).await,
        Mutation::Record(happening) => {
            events::record(draft, happening).await.map(Receipt::Recorded)
        }
        Mutation::Audited(mutation, happening) => {
            let receipt = Box::pin(dispatch(tx, draft, mutation)).await?;
            events::record(draft, happening).await?;
            for other in told(happening, &std::mem::take(&mut draft.taken)) {
                events::record(draft, &other).await?;
            }
            Ok(receipt)
        }
    }
}

/// What to keep of a request with an idempotency key.
pub(crate) fn remember(key: &Idempotency, receipt: &Receipt) -> Remembered {
    let (kind, refs) = ReceiptRefs::from(receipt).encode();
    Remembered {
        workspace: uuid(key.workspace.to_bytes()),
        scope: uuid(key.scope.to_be_bytes()),
        key: key.key.clone(),
        fingerprint: key.fingerprint.to_vec(),
        kind,
        refs,
        at: key.now.as_micros(),
    }
}
