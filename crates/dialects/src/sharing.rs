//! Giving somebody a part in a store and taking it back, for the doors that know agents by foreign
//! ids. All of them mean the same by it, so it is said once.
//!
//! Whoever may not share a store learns nothing from trying, and makes nobody: an agent that was
//! never heard of is made only once the engine has said that the store may be shared.

use loci_engine::{Context, EXCEEDS_GIVER, Engine, Error, NewGrant};
use loci_model::{Grant, Grantee, Level, PrincipalKind, StoreId, Timestamp};

/// Who may not be named as a principal: everybody.
const EVERYONE: &str = "everyone";
/// What is wrong with sharing with a chat, after the name of the argument.
pub(crate) const IS_A_CHAT: &str = "is a chat; those in it have access to its store";

/// Why nothing was shared.
#[derive(Debug)]
pub(crate) enum Refused {
    /// With chats nothing is shared.
    IsAChat,
    /// The engine says no.
    Fails(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Fails(error)
    }
}

/// A level as clients name it; nothing is `read`.
pub(crate) fn level(named: Option<&str>) -> Option<Level> {
    match named {
        None | Some("" | "read") => Some(Level::Read),
        Some("search") => Some(Level::Search),
        Some("readwrite") => Some(Level::ReadWrite),
        Some(_) => None,
    }
}

/// Shares a store. Without an end it lasts as long as the giver's own access.
pub(crate) async fn give(
    engine: &Engine,
    context: &Context,
    store: StoreId,
    named: &str,
    (level, end): (Level, Option<Timestamp>),
) -> Result<(), Refused> {
    let grantee = grantee(engine, context, store, named).await?;
    let new = NewGrant { grantee, level, expires_at: end };
    match engine.share(context, store, new.clone()).await {
        Err(Error::Denied(EXCEEDS_GIVER)) if end.is_none() => {
            let expires_at = own_end(engine, context, store).await?;
            engine.share(context, store, NewGrant { expires_at, ..new }).await?;
        }
        shared => {
            shared?;
        }
    }
    Ok(())
}

/// Takes back what somebody was given. Where nothing was given there is nothing to take back, which
/// is not an error to whoever could have given it.
pub(crate) async fn take_back(
    engine: &Engine,
    context: &Context,
    store: StoreId,
    named: &str,
) -> Result<(), Error> {
    // Only those who may share learn who is known here.
    engine.require_share(context, store).await?;
    if let Some(grantee) = known(engine, context, named).await? {
        engine.revoke_from(context, store, grantee).await?;
    }
    Ok(())
}

/// Whom a name means, if anybody.
pub(crate) async fn known(
    engine: &Engine,
    context: &Context,
    named: &str,
) -> Result<Option<Grantee>, Error> {
    if named == EVERYONE {
        return Ok(Some(Grantee::Everyone));
    }
    let found = engine.named(context, named).await?;
    Ok(found.map(|principal| Grantee::Principal(principal.id)))
}

async fn grantee(
    engine: &Engine,
    context: &Context,
    store: StoreId,
    named: &str,
) -> Result<Grantee, Refused> {
    if named == EVERYONE {
        return Ok(Grantee::Everyone);
    }
    // Only those who may share learn who is known here, and make somebody.
    engine.require_share(context, store).await?;
    let principal = engine.grantee(context, named).await?;
    match principal.kind {
        PrincipalKind::Group => Err(Refused::IsAChat),
        _ => Ok(Grantee::Principal(principal.id)),
    }
}

/// When the grant that the caller shares by ends.
async fn own_end(
    engine: &Engine,
    context: &Context,
    store: StoreId,
) -> Result<Option<Timestamp>, Error> {
    let grants = engine.grants(context, store).await?;
    let to = |grantee| grants.iter().find(|grant: &&Grant| grant.grantee == grantee);
    let own = to(Grantee::Principal(context.caller.principal));
    Ok(own.or_else(|| to(Grantee::Everyone)).and_then(|grant| grant.expires_at))
}
