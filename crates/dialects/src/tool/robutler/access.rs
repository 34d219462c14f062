//! `stores`, `share` and `unshare`: which stores an agent has here and now, and giving others a
//! part in one.
//!
//! A chat's store and a user's count only where the request names the chat or the user: what was
//! said in one conversation is not searched from another.

use super::address::target;
use crate::tool::answer::{SWITCHED_OFF, Stop, says};
use crate::tool::desk::Desk;
use crate::tool::input::Input;
use crate::tool::place::{Place, Whose, own};
use loci_engine::{Error, NewGrant, Purpose};
use loci_model::policy::Ground;
use loci_model::{Grantee, Level, Power, PrincipalId, PrincipalKind, StoreId, limit};
use serde_json::{Value, json};

/// The agent's home, and other stores of its own.
const HOME: &str = "self";
const OWN: &str = "own";

/// A store that the agent can reach.
pub(super) struct Reachable {
    /// None while nothing was written there.
    pub(super) store: Option<StoreId>,
    pub(super) name: String,
    level: Level,
    source: &'static str,
}

/// Every store that counts for this request, the agent's own first.
pub(super) async fn reachable(desk: &Desk<'_>, input: &Input) -> Result<Vec<Reachable>, Stop> {
    if !desk.context.caller.memory.is_on {
        return Err(Error::Denied(SWITCHED_OFF).into());
    }
    let chat = near(desk, input, "chatId", PrincipalKind::Group).await?;
    let user = near(desk, input, "userId", PrincipalKind::User).await?;
    let mut all = Vec::new();
    for one in desk.engine.stores_of(&desk.context).await? {
        let home_of = one.home_of.as_ref().map(|principal| principal.id);
        let source = match one.ground {
            Ground::Owner if home_of.is_some() => HOME,
            // What has an address and is no home is not the tool's business.
            Ground::Owner if one.store.address.is_none() => OWN,
            Ground::Owner => continue,
            Ground::Grant | Ground::Everyone => "grant",
            Ground::Member if chat.is_some() && home_of == chat => "chat",
            Ground::Companion if user.is_some() && home_of == user => "user",
            Ground::Member | Ground::Companion => continue,
        };
        let name = one.home_of.map_or_else(|| one.store.id.to_string(), |principal| principal.name);
        let level = match desk.context.caller.scope.power {
            Power::Full => one.level,
            Power::UpTo(most) => one.level.min(most),
        };
        all.push(Reachable { store: Some(one.store.id), name, level, source });
    }
    if desk.context.caller.memory.own && !all.iter().any(|one| one.source == HOME) {
        let name = own(desk.engine, &desk.context).await?.name;
        let level = Level::ReadWrite;
        all.insert(0, Reachable { store: None, name, level, source: HOME });
    }
    all.sort_by_key(|one| (one.source != HOME, one.source != OWN));
    Ok(all)
}

/// The chat or user that a request says it is about. Its home is made if it has none yet: only of
/// what is there the core can say who is near it.
async fn near(
    desk: &Desk<'_>,
    input: &Input,
    argument: &str,
    kind: PrincipalKind,
) -> Result<Option<PrincipalId>, Stop> {
    let Some(id) = input.text(argument, limit::NAME_CHARS_MAX)? else { return Ok(None) };
    let found = desk.engine.named(&desk.context, id).await?;
    let Some(found) = found.filter(|found| found.kind == kind) else { return Ok(None) };
    match desk.engine.home(&desk.context, &found, Purpose::Search).await {
        Ok(_) | Err(Error::NotFound(_) | Error::Denied(_)) => Ok(Some(found.id)),
        Err(error) => Err(error.into()),
    }
}

/// Lists the stores.
pub(super) async fn stores(desk: &Desk<'_>, input: &Input) -> Result<Value, Stop> {
    let stores = reachable(desk, input).await?;
    let show = |one: &Reachable| {
        let level = spelled(one.level);
        json!({ "storeId": one.name, "level": level, "source": one.source })
    };
    Ok(json!({ "stores": stores.iter().map(show).collect::<Vec<Value>>() }))
}

fn spelled(level: Level) -> &'static str {
    match level {
        Level::Search => "search",
        Level::Read => "read",
        Level::ReadWrite => "readwrite",
    }
}

/// Gives an agent a part in a store.
pub(super) async fn share(desk: &Desk<'_>, input: &Input) -> Result<Value, Stop> {
    let agent = agent(input, "share")?;
    let level = match input.text("level", limit::NAME_CHARS_MAX)? {
        None | Some("" | "read") => Level::Read,
        Some("search") => Level::Search,
        Some("readwrite") => Level::ReadWrite,
        Some(_) => return says("level must be search, read or readwrite"),
    };
    let store = store_to_share(desk, input).await?;
    let known = desk.engine.named(&desk.sharer, agent).await?;
    let grantee = match known {
        Some(known) => known,
        // An agent that has not come yet gets a name only by somebody who may share.
        None => {
            desk.engine.grants(&desk.sharer, store).await?;
            desk.engine.grantee(&desk.sharer, agent).await?
        }
    };
    let grantee = Grantee::Principal(grantee.id);
    desk.engine.share(&desk.sharer, store, NewGrant { grantee, level, expires_at: None }).await?;
    Ok(Value::from("OK"))
}

/// Takes it back.
pub(super) async fn unshare(desk: &Desk<'_>, input: &Input) -> Result<Value, Stop> {
    let agent = agent(input, "unshare")?;
    let store = store_to_share(desk, input).await?;
    // Only those who may share learn who is known here.
    desk.engine.require_share(&desk.sharer, store).await?;
    if let Some(grantee) = desk.engine.named(&desk.sharer, agent).await? {
        let grantee = Grantee::Principal(grantee.id);
        match desk.engine.revoke_from(&desk.sharer, store, grantee).await {
            // There was nothing to take back, which is what was wanted.
            Ok(_) | Err(Error::NotFound("grant")) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Value::from("OK"))
}

fn agent<'i>(input: &'i Input, command: &str) -> Result<&'i str, Stop> {
    match input.text("agent", limit::NAME_CHARS_MAX)? {
        None | Some("") => says(format!("agent is required for {command}")),
        Some(agent) => Ok(agent),
    }
}

/// The store a command about sharing means; a home is made, so that it can be shared before
/// anything is in it.
async fn store_to_share(desk: &Desk<'_>, input: &Input) -> Result<StoreId, Stop> {
    let whose = target(desk, input)?.map_or(Whose::Own, |target| target.whose);
    let place = Place::find(desk.engine, &desk.sharer, whose, Purpose::Change).await?;
    Ok(place.to_write(desk.engine, &desk.sharer).await?)
}
