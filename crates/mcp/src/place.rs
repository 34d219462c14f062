//! Which store a call is about, and which stores the caller has. Without a name it is the caller's
//! home, which is made by the first write; a name is a store's id or its name, or whose home it is.
//! Whether the caller may do anything there is decided by the engine when it is done.

use crate::trouble::Trouble;
use loci_engine::{Context, Engine, Error, Purpose, Reached};
use loci_model::{Level, Power, StoreId};

/// How many stores a refusal names.
const NAMED_MAX: usize = 20;
/// What the caller's own store can be called.
pub(crate) const HOME: &str = "home";

/// The caller's home; none while nothing was written there.
pub(crate) async fn home(
    engine: &Engine,
    context: &Context,
    purpose: Purpose,
) -> Result<Option<StoreId>, Error> {
    let id = context.caller.principal.to_string();
    let own = engine.named(context, &id).await?.ok_or(Error::NotFound("principal"))?;
    engine.home(context, &own, purpose).await
}

/// The store that is meant; none is a home in which nothing was written.
pub(crate) async fn find(
    engine: &Engine,
    context: &Context,
    named: Option<&str>,
    purpose: Purpose,
) -> Result<Option<StoreId>, Trouble> {
    let Some(named) = named.filter(|name| !name.is_empty() && *name != HOME) else {
        return Ok(home(engine, context, purpose).await?);
    };
    // Ids first: names can be chosen, and nobody may take the place of an id by one.
    if let Ok(id) = named.parse::<StoreId>() {
        return match is_hidden(engine, context, id).await? {
            true => Err(Trouble::call(unknown(&engine.stores_of(context).await?, context))),
            false => Ok(Some(id)),
        };
    }
    let reached = engine.stores_of(context).await?;
    let same: Vec<&Reached> = reached.iter().filter(|one| one.store.name == named).collect();
    match same.as_slice() {
        [one] => Ok(Some(one.store.id)),
        [] => match engine.store_named(context, named, purpose).await {
            Err(Error::NotFound(_)) => Err(Trouble::call(unknown(&reached, context))),
            Ok(Some(id)) if is_hidden(engine, context, id).await? => {
                Err(Trouble::call(unknown(&reached, context)))
            }
            found => Ok(found?),
        },
        several => {
            let ids: Vec<String> = several.iter().map(|one| one.store.id.to_string()).collect();
            let ids = ids.join(", ");
            Err(Trouble::call(format!("several stores have this name; use an id: {ids}")))
        }
    }
}

/// Whether the caller may not know of a store: then it is as one that is not there, in the same words.
async fn is_hidden(engine: &Engine, context: &Context, store: StoreId) -> Result<bool, Error> {
    match engine.store(context, store).await {
        Err(Error::NotFound(_)) => Ok(true),
        // What else may be done there is told when it is.
        Ok(_) | Err(Error::Denied(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The store to write to.
pub(crate) async fn to_write(
    engine: &Engine,
    context: &Context,
    named: Option<&str>,
) -> Result<StoreId, Trouble> {
    let found = find(engine, context, named, Purpose::Write).await?;
    Ok(found.ok_or(Error::NotFound("memory store"))?)
}

/// What a store is called in answers: the caller's own needs no name, and one that may only be searched
/// shows none.
pub(crate) fn label(one: &Reached, context: &Context) -> String {
    match &one.home_of {
        Some(of) if of.id == context.caller.principal => HOME.to_owned(),
        _ if level(one, context) == Level::Search => one.store.id.to_string(),
        Some(of) => of.name.clone(),
        None => one.store.name.clone(),
    }
}

/// How much the credential may do there.
pub(crate) fn level(one: &Reached, context: &Context) -> Level {
    match context.caller.scope.power {
        Power::Full => one.level,
        Power::UpTo(most) => one.level.min(most),
    }
}

fn unknown(reached: &[Reached], context: &Context) -> String {
    let name = |one: &Reached| match level(one, context) {
        Level::Search => one.store.id.to_string(),
        _ => one.store.name.clone(),
    };
    let mut names: Vec<String> = reached.iter().map(name).collect();
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    let mut text = "there is no such memory store; leave out store to use your own".to_owned();
    if !names.is_empty() {
        text.push_str(&format!(". These are there: {}", names.join(", ")));
    }
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
