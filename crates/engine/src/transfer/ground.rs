//! The look before the first write: whatever the destination holds must have come from the source,
//! so that a move never mixes two Locis, and a move that was cut off can go on.

use super::side::Side;
use super::{Result, TransferError};
use loci_model::{Store, WorkspaceId};
use loci_storage::Generation;
use std::cmp::Ordering;
use std::fmt::Display;

pub(super) async fn refuse_foreign(from: &Side, to: &Side) -> Result<()> {
    let known = from.workspaces().await?;
    let there = to.workspaces().await?;
    for (workspace, at) in &there {
        if !known.contains(&(*workspace, *at)) {
            return Err(foreign("workspace", workspace));
        }
    }
    if !is_beginning(&to.generations().await?, &from.generations().await?) {
        return Err(TransferError::Foreign("a generation of vectors".into()));
    }
    if let Some((_, store)) = to.unpurged().await?.first() {
        return Err(foreign("removed store", store));
    }
    for (workspace, _) in there {
        people(from, to, workspace).await?;
        requests(from, to, workspace).await?;
        let mut stores = to.stores(workspace);
        while let Some(store) = stores.next().await? {
            history(from, to, &store).await?;
        }
    }
    Ok(())
}

fn foreign(what: &str, which: &dyn Display) -> TransferError {
    TransferError::Foreign(format!("{what} {which}"))
}

/// Whether some generations are the first of others; only their numbers may be different.
pub(super) fn is_beginning(some: &[Generation], all: &[Generation]) -> bool {
    let is_same = |(a, b): (&Generation, &Generation)| {
        (&a.model, a.dims, a.created_at) == (&b.model, b.dims, b.created_at)
    };
    some.len() <= all.len() && some.iter().zip(all).all(is_same)
}

async fn people(from: &Side, to: &Side, workspace: WorkspaceId) -> Result<()> {
    let known = from.principals(workspace).await?;
    for principal in to.principals(workspace).await? {
        if !known.contains(&principal) {
            return Err(foreign("principal", &principal.id));
        }
    }
    let known = from.keys(workspace).await?;
    for key in to.keys(workspace).await? {
        if !known.contains(&key) {
            return Err(foreign("key", &key.id));
        }
    }
    let mut memberships = to.memberships(workspace);
    let mut known = from.memberships(workspace);
    while let Some(membership) = memberships.next().await? {
        // Both sides tell them in the same order.
        loop {
            match known.next().await? {
                Some(candidate) if candidate == membership => break,
                Some(_) => {}
                None => return Err(foreign("a member of group", &membership.group)),
            }
        }
    }
    let (mut known, mut there) = (from.events(workspace), to.events(workspace));
    while let Some(event) = there.next().await? {
        if known.next().await?.as_ref() != Some(&event) {
            return Err(foreign("audit event", &event.seq));
        }
    }
    let mut sessions = to.sessions(workspace);
    while let Some(session) = sessions.next().await? {
        if from.session(&session).await?.as_ref() != Some(&session) {
            return Err(foreign("session", &session.id));
        }
    }
    Ok(())
}

/// Both sides tell their requests in the same order, so one look along each is enough.
async fn requests(from: &Side, to: &Side, workspace: WorkspaceId) -> Result<()> {
    let order =
        |seen: &loci_storage::Remembered| (seen.idempotency.scope, seen.idempotency.key.clone());
    let (mut known, mut there) = (from.requests(workspace), to.requests(workspace));
    while let Some(seen) = there.next().await? {
        loop {
            let candidate = known.next().await?;
            let position = candidate.as_ref().map(|one| order(one).cmp(&order(&seen)));
            match position {
                Some(Ordering::Less) => {}
                Some(Ordering::Equal) if candidate.as_ref() == Some(&seen) => break,
                _ => {
                    return Err(TransferError::Foreign("an idempotency key".into()));
                }
            }
        }
    }
    Ok(())
}

async fn history(from: &Side, to: &Side, store: &Store) -> Result<()> {
    let is_known = from.store(store).await?.as_ref() == Some(store);
    if !is_known {
        return Err(foreign("store", &store.id));
    }
    let known = from.grants(store).await?;
    for grant in to.grants(store).await? {
        if !known.contains(&grant) {
            return Err(foreign("grant", &grant.id));
        }
    }
    let end = to.end(store).await?.seq;
    if end > 0 && from.entry(store, end).await? != to.entry(store, end).await? {
        return Err(foreign("history in store", &store.id));
    }
    Ok(())
}
