//! `action=share`: giving an agent a part in a store, and taking it back.
//!
//! Whoever may not share a store learns nothing from trying, and makes nobody: an agent that was
//! never heard of is made only once the engine has said that the store may be shared.

use super::call::{Answer, Call};
use super::error::Problem;
use super::fields::Lifetime;
use super::place::Place;
use super::render::done;
use loci_engine::{Context, EXCEEDS_GIVER, Error, NewGrant, Purpose};
use loci_model::{Grant, Grantee, Level, PrincipalKind, StoreId, Timestamp};

/// Who may not be named as a principal: everybody.
const EVERYONE: &str = "everyone";

/// A store to be shared.
#[derive(utoipa::ToSchema)]
#[schema(as = RobutlerShare)]
#[expect(dead_code, reason = "only described; the fields are read one by one")]
pub(super) struct ShareBody {
    /// The agent it is shared with, or `everyone`.
    grantee: String,
    /// `search`, `read` (when not given) or `readwrite`.
    level: Option<String>,
    /// Whose store; the acting agent's when not given.
    store: Option<String>,
    /// The acting agent, if not the key's own.
    #[schema(rename = "agentId")]
    agent_id: Option<String>,
    /// Seconds until it ends; null, 0 and less are no end. Not together with `expiresAt`.
    ttl: Option<i64>,
    /// When it ends.
    #[schema(rename = "expiresAt")]
    expires_at: Option<String>,
}

/// Shares.
pub(super) async fn share(call: &Call) -> Answer {
    let context = call.acting().await?;
    let level = match call.fields.text("level")?.as_deref() {
        None | Some("" | "read") => Level::Read,
        Some("search") => Level::Search,
        Some("readwrite") => Level::ReadWrite,
        Some(_) => return Err(Problem::invalid("level must be search, read or readwrite")),
    };
    let end = end(call)?;
    let named = grantee_named(call)?;
    let store = Place::of(call, &context, Purpose::Write).await?.existing()?;
    let grantee = grantee(call, &context, store, &named).await?;
    let new = NewGrant { grantee, level, expires_at: end };
    match call.engine.share(&context, store, new.clone()).await {
        // Without an end it lasts as long as it can.
        Err(Error::Denied(EXCEEDS_GIVER)) if end.is_none() => {
            let expires_at = own_end(call, &context, store).await?;
            let new = NewGrant { expires_at, ..new };
            call.engine.share(&context, store, new).await?;
        }
        shared => {
            shared?;
        }
    }
    Ok(done())
}

/// When the grant that the caller shares by ends.
async fn own_end(
    call: &Call,
    context: &Context,
    store: StoreId,
) -> Result<Option<Timestamp>, Error> {
    let grants = call.engine.grants(context, store).await?;
    let to = |grantee| grants.iter().find(|grant: &&Grant| grant.grantee == grantee);
    let own = to(Grantee::Principal(context.caller.principal));
    Ok(own.or_else(|| to(Grantee::Everyone)).and_then(|grant| grant.expires_at))
}

/// Takes back. Where nothing was shared there is nothing to take back, which is not an error to
/// whoever could have shared it.
pub(super) async fn unshare(call: &Call) -> Answer {
    let context = unsharer(call).await?;
    let named = grantee_named(call)?;
    let Some(store) = Place::of(call, &context, Purpose::Change).await?.store else {
        return Ok(done());
    };
    let grantee = match named.as_str() {
        EVERYONE => Some(Grantee::Everyone),
        named => {
            let found = call.engine.named(&context, named).await?;
            found.map(|principal| Grantee::Principal(principal.id))
        }
    };
    let grants = call.engine.grants(&context, store).await?;
    let found = grants.iter().find(|grant| Some(grant.grantee) == grantee);
    let Some(found) = found else { return Ok(done()) };
    match call.engine.revoke(&context, store, found.id).await {
        Err(Error::NotFound("grant")) => {
            Err(Problem::denied("only its giver or the store's owner may take this back"))
        }
        revoked => {
            revoked?;
            Ok(done())
        }
    }
}

/// Who takes back. One client never says for which agent: a platform can then only mean the agent
/// whose store it names.
async fn unsharer(call: &Call) -> Result<Context, Problem> {
    let context = &call.context;
    let is_platform = context.caller.acts_for_agents && !context.caller.is_admin;
    if is_platform && call.id("agentId")?.is_none() {
        let store = call.id("store")?.filter(|store| !matches!(&**store, "default" | "self"));
        if let Some(store) = &store {
            // Nobody is made for having nothing to take back.
            let known = call.engine.named(context, store).await?;
            known.ok_or(Error::NotFound("memory store"))?;
        }
        return Ok(call.engine.acting(context, store.as_deref()).await?);
    }
    call.acting().await
}

fn grantee_named(call: &Call) -> Result<String, Problem> {
    let named = call.id("grantee")?;
    let named = named.ok_or_else(|| Problem::invalid("grantee is needed: the agent's id"))?;
    Ok(named.into_owned())
}

async fn grantee(
    call: &Call,
    context: &Context,
    store: StoreId,
    named: &str,
) -> Result<Grantee, Problem> {
    if named == EVERYONE {
        return Ok(Grantee::Everyone);
    }
    let known = call.engine.named(context, named).await?;
    let principal = match known {
        Some(known) if known.kind == PrincipalKind::Group => {
            // Said only to whoever may share here.
            call.engine.grants(context, store).await?;
            return Err(Problem::invalid(
                "grantee is a chat; those in it have access to its store",
            ));
        }
        Some(known) => known,
        None => {
            call.engine.grants(context, store).await?;
            call.engine.grantee(context, named).await?
        }
    };
    Ok(Grantee::Principal(principal.id))
}

/// When a grant shall end.
fn end(call: &Call) -> Result<Option<Timestamp>, Problem> {
    let until = call.fields.text("expiresAt")?;
    let until = until.map(|text| Timestamp::parse(&text)).transpose();
    let until = until.map_err(|_| Problem::invalid("expiresAt must be a date and time"))?;
    match (call.fields.lifetime("ttl")?, until) {
        (Some(Lifetime::Secs(_)), Some(_)) => {
            Err(Problem::invalid("ttl and expiresAt exclude each other"))
        }
        (Some(Lifetime::Secs(secs)), None) => Ok(Some(call.engine.seams().now().plus_secs(secs))),
        (_, until) => Ok(until),
    }
}
