//! `stores`, `share` and `unshare`: which stores an agent has here and now, and giving others a part
//! in one.
//!
//! A chat's store and a user's count only where the request names the chat or the user: what was
//! said in one conversation is not searched from another.

use super::address::target;
use crate::tool::answer::{SWITCHED_OFF, Stop, says};
use crate::tool::desk::Desk;
use crate::tool::input::Input;
use crate::tool::place::{Place, Whose, own};
use loci_engine::{Error, NewGrant};
use loci_model::policy::Ground;
use loci_model::{Grantee, Level, PrincipalId, StoreId, limit};
use serde_json::{Value, json};

/// A store that the agent can reach.
pub(super) struct Reachable {
    /// None while nothing was written there.
    pub(super) store: Option<StoreId>,
    pub(super) name: String,
    level: Level,
    source: &'static str,
}

/// Every store that counts for this request, the agent's own first.
pub(super) async fn reachable(desk: &Desk<'_>, input: &Input) -> Result<Vec<Reachable>, Error> {
    if !desk.context.caller.memory.is_on {
        return Err(Error::Denied(SWITCHED_OFF));
    }
    let (chat, user) = (named(desk, input, "chatId").await?, named(desk, input, "userId").await?);
    let mut all = Vec::new();
    for one in desk.engine.stores_of(&desk.context).await? {
        let home_of = one.home_of.as_ref().map(|principal| principal.id);
        let source = match one.ground {
            Ground::Owner if home_of.is_some() => "self",
            // What has an address and is no home is not the tool's business.
            Ground::Owner if one.store.address.is_none() => "own",
            Ground::Owner => continue,
            Ground::Grant | Ground::Everyone => "grant",
            Ground::Member if chat.is_some() && home_of == chat => "chat",
            Ground::Companion if user.is_some() && home_of == user => "user",
            Ground::Member | Ground::Companion => continue,
        };
        let name = one.home_of.map_or_else(|| one.store.id.to_string(), |principal| principal.name);
        all.push(Reachable { store: Some(one.store.id), name, level: one.level, source });
    }
    if desk.context.caller.memory.own && !all.iter().any(|one| one.source == "self") {
        let name = own(desk.engine, &desk.context).await?.name;
        let level = Level::ReadWrite;
        all.insert(0, Reachable { store: None, name, level, source: "self" });
    }
    all.sort_by_key(|one| one.source != "self");
    Ok(all)
}

async fn named(
    desk: &Desk<'_>,
    input: &Input,
    argument: &str,
) -> Result<Option<PrincipalId>, Error> {
    match input.text(argument, limit::NAME_CHARS_MAX) {
        Ok(Some(id)) => {
            Ok(desk.engine.named(&desk.context, id).await?.map(|principal| principal.id))
        }
        Ok(None) | Err(_) => Ok(None),
    }
}

/// Lists the stores.
pub(super) async fn stores(desk: &Desk<'_>, input: &Input) -> Result<Value, Stop> {
    let stores = reachable(desk, input).await?;
    let show = |one: &Reachable| json!({ "storeId": one.name, "level": spelled(one.level), "source": one.source });
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
    let grantee = desk.engine.named(&desk.sharer, agent).await?.ok_or(Error::NotFound("grant"))?;
    desk.engine.revoke_from(&desk.sharer, store, Grantee::Principal(grantee.id)).await?;
    Ok(Value::from("OK"))
}

fn agent<'i>(input: &'i Input, command: &str) -> Result<&'i str, Stop> {
    match input.text("agent", limit::NAME_CHARS_MAX)? {
        None | Some("") => says(format!("agent is required for {command}")),
        Some(agent) => Ok(agent),
    }
}

/// The store a command about sharing means; a home is made, so that it can be shared before anything
/// is in it.
async fn store_to_share(desk: &Desk<'_>, input: &Input) -> Result<StoreId, Stop> {
    let whose = target(desk, input)?.map_or(Whose::Own, |target| target.whose);
    let place = Place::find(desk.engine, &desk.sharer, whose).await?;
    Ok(place.to_write(desk.engine, &desk.sharer).await?)
}
