//! `action=share`: giving an agent a part in a store, and taking it back ([`crate::sharing`]).

use super::call::{Answer, Call};
use super::error::Problem;
use super::fields::Lifetime;
use super::place::Place;
use super::render::done;
use crate::sharing::{self, IS_A_CHAT, Refused};
use loci_engine::{Context, Error, NOT_THE_GIVER, Purpose};
use loci_model::{PrincipalKind, Timestamp};

/// How often it is asked again who gave something.
const ATTEMPTS_MAX: usize = 100;

/// A store to be shared.
#[derive(utoipa::ToSchema)]
#[schema(as = RobutlerShare)]
#[expect(dead_code, reason = "only described; the fields are read one by one")]
pub(super) struct ShareBody {
    /// The agent it is shared with, or `everyone`.
    #[schema(min_length = 1, max_length = 255)]
    grantee: String,
    /// `search`, `read` (when not given) or `readwrite`.
    #[schema(pattern = "^(search|read|readwrite)?$")]
    level: Option<String>,
    /// Whose store; the acting agent's when not given.
    #[schema(max_length = 255)]
    store: Option<String>,
    /// The acting agent, if not the key's own.
    #[schema(rename = "agentId", max_length = 255)]
    agent_id: Option<String>,
    /// The user spoken with; stores of other users are closed.
    #[schema(rename = "userId", max_length = 255)]
    user_id: Option<String>,
    /// Seconds until it ends; null, 0 and less are no end. Not together with `expiresAt`.
    ttl: Option<i64>,
    /// When it ends.
    #[schema(rename = "expiresAt")]
    expires_at: Option<String>,
}

/// Shares.
pub(super) async fn share(call: &Call) -> Answer {
    let context = call.acting().await?;
    let level = sharing::level(call.text("level")?.as_deref());
    let level = level.ok_or_else(|| Problem::invalid("level must be search, read or readwrite"))?;
    let end = end(call)?;
    let named = grantee_named(call)?;
    let store = Place::of(call, &context, Purpose::Write).await?.existing()?;
    match sharing::give(&call.engine, &context, store, &named, (level, end)).await {
        Ok(()) => Ok(done()),
        Err(Refused::IsAChat) => Err(Problem::invalid(format!("grantee {IS_A_CHAT}"))),
        Err(Refused::Fails(error)) => Err(error.into()),
    }
}

/// Takes back.
pub(super) async fn unshare(call: &Call) -> Answer {
    let named = grantee_named(call)?;
    let Some(context) = unsharer(call).await? else {
        return unshare_as_giver(call, &named).await;
    };
    let Some(store) = Place::of(call, &context, Purpose::Change).await?.store else {
        return Ok(done());
    };
    sharing::take_back(&call.engine, &context, store, &named).await?;
    Ok(done())
}

/// Who takes back. One client never says for which agent: a platform can then only mean the agent
/// whose store it names, or in a store that is no agent's (`None`) the one that shared it.
async fn unsharer(call: &Call) -> Result<Option<Context>, Problem> {
    let context = &call.context;
    let is_platform = context.caller.acts_for_agents && !context.caller.is_admin;
    if !is_platform || call.id("agentId")?.is_some() {
        return Ok(Some(call.acting().await?));
    }
    let store = call.id("store")?.filter(|store| !matches!(&**store, "default" | "self"));
    let Some(store) = store else { return Ok(Some(call.acting().await?)) };
    match call.engine.named(context, &store).await? {
        Some(known) if known.kind == PrincipalKind::Agent => {
            let agent = known.id.to_string();
            Ok(Some(call.engine.acting(context, Some(&agent)).await?))
        }
        _ => Ok(None),
    }
}

async fn unshare_as_giver(call: &Call, named: &str) -> Answer {
    let (engine, context) = (&call.engine, &call.context);
    let named_store = call.id("store")?.unwrap_or_default();
    let store = match engine.store_named(context, &named_store, Purpose::Change).await {
        Ok(Some(store)) => store,
        // A chat or user whose store was never needed.
        Ok(None) => return Ok(done()),
        Err(Error::NotFound(_)) if engine.named(context, &named_store).await?.is_some() => {
            return Ok(done());
        }
        Err(error) => return Err(error.into()),
    };
    let Some(grantee) = sharing::known(engine, context, named).await? else {
        return Ok(done());
    };
    for _ in 0..ATTEMPTS_MAX {
        let Some(giver) = engine.acting_as_giver(context, store, grantee).await? else {
            return Ok(done());
        };
        match sharing::take_back(engine, &giver, store, named).await {
            Ok(()) => return Ok(done()),
            // Another one gave it in the meantime.
            Err(Error::Denied(NOT_THE_GIVER)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::Unavailable("others share this store all the time; try again").into())
}

fn grantee_named(call: &Call) -> Result<String, Problem> {
    let named = call.id("grantee")?;
    let named = named.ok_or_else(|| Problem::invalid("grantee is needed: the agent's id"))?;
    Ok(named.into_owned())
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
