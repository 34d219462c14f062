//! `stores`, `share` and `unshare`: which stores an agent has here and now, and giving others a
//! part in one.

use super::address::target;
use crate::reach::{self, Reachable, level_name};
use crate::sharing::{self, IS_A_CHAT, Refused};
use crate::tool::answer::{Json, Stop, json_of, says};
use crate::tool::desk::Desk;
use crate::tool::input::Input;
use crate::tool::place::{Place, Whose};
use loci_engine::Purpose;
use loci_model::limit;
use serde_json::{Value, json};

/// Every store that counts for this request, the agent's own first.
pub(super) async fn reachable(desk: &Desk<'_>, input: &Input) -> Result<Vec<Reachable>, Stop> {
    let chat = input.text("chatId", limit::NAME_CHARS_MAX)?;
    let user = input.text("userId", limit::NAME_CHARS_MAX)?;
    Ok(reach::reachable(desk.engine, &desk.context, chat, user).await?)
}

/// Lists the stores.
pub(super) async fn stores(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let stores = reachable(desk, input).await?;
    let show = |one: &Reachable| {
        let (level, source) = (level_name(one.level), one.source.name());
        json!({ "storeId": one.name, "level": level, "source": source })
    };
    Ok(json_of(&json!({ "stores": stores.iter().map(show).collect::<Vec<Value>>() })))
}

/// Gives an agent a part in a store.
pub(super) async fn share(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let agent = agent(input, "share")?;
    let Some(level) = sharing::level(input.text("level", limit::NAME_CHARS_MAX)?) else {
        return says("level must be search, read or readwrite");
    };
    // A home is made, so that it can be shared before anything is in it.
    let place = place_to_share(desk, input).await?;
    let store = place.to_write(desk.engine, &desk.sharer).await?;
    match sharing::give(desk.engine, &desk.sharer, store, agent, (level, None)).await {
        Ok(()) => Ok(json_of("OK")),
        Err(Refused::IsAChat) => says(format!("agent {IS_A_CHAT}")),
        Err(Refused::Fails(error)) => Err(error.into()),
    }
}

/// Takes it back.
pub(super) async fn unshare(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let agent = agent(input, "unshare")?;
    if let Some(store) = place_to_share(desk, input).await?.store {
        sharing::take_back(desk.engine, &desk.sharer, store, agent).await?;
    }
    Ok(json_of("OK"))
}

fn agent<'i>(input: &'i Input, command: &str) -> Result<&'i str, Stop> {
    match input.text("agent", limit::NAME_CHARS_MAX)? {
        None | Some("") => says(format!("agent is required for {command}")),
        Some(agent) => Ok(agent),
    }
}

/// The place a command about sharing means.
async fn place_to_share(desk: &Desk<'_>, input: &Input) -> Result<Place, Stop> {
    let whose = target(desk, input)?.map_or(Whose::Own, |target| target.whose);
    Ok(Place::find(desk.engine, &desk.sharer, whose, Purpose::Change).await?)
}
