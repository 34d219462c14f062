//! `stores`, `share` and `unshare`: which stores an agent has here and now, and giving others a
//! part in one.

use super::address::target;
use crate::reach::{self, Reachable, level_name};
use crate::tool::answer::{Stop, says};
use crate::tool::desk::Desk;
use crate::tool::input::Input;
use crate::tool::place::{Place, Whose};
use loci_engine::{Error, NewGrant, Purpose};
use loci_model::{Grantee, Level, StoreId, limit};
use serde_json::{Value, json};

/// Every store that counts for this request, the agent's own first.
pub(super) async fn reachable(desk: &Desk<'_>, input: &Input) -> Result<Vec<Reachable>, Stop> {
    let chat = input.text("chatId", limit::NAME_CHARS_MAX)?;
    let user = input.text("userId", limit::NAME_CHARS_MAX)?;
    Ok(reach::reachable(desk.engine, &desk.context, chat, user).await?)
}

/// Lists the stores.
pub(super) async fn stores(desk: &Desk<'_>, input: &Input) -> Result<Value, Stop> {
    let stores = reachable(desk, input).await?;
    let show = |one: &Reachable| {
        let (level, source) = (level_name(one.level), one.source.name());
        json!({ "storeId": one.name, "level": level, "source": source })
    };
    Ok(json!({ "stores": stores.iter().map(show).collect::<Vec<Value>>() }))
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
