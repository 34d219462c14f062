//! Which store a request is about. Ids of agents, users and chats lead to their homes; a home of the
//! caller's in which nothing was ever written is empty to read, and made by the first write.
//!
//! Naming a store gives no right to it: that is decided by the engine when something is done there.

use super::call::Call;
use super::error::Problem;
use crate::reach::own;
use loci_engine::{Context, Engine, Error, Purpose};
use loci_model::StoreId;

/// A store, or where one will be.
#[derive(Debug, Clone)]
pub(in crate::robutler) struct Place {
    /// None while nothing was ever written in the caller's own home.
    pub(in crate::robutler) store: Option<StoreId>,
    /// What it is called in answers.
    pub(in crate::robutler) name: String,
}

impl Place {
    /// The place that a request names; the acting agent's own when it names none.
    pub(in crate::robutler) async fn of(
        call: &Call,
        context: &Context,
        purpose: Purpose,
    ) -> Result<Self, Problem> {
        let engine = &call.engine;
        match call.id("store")?.as_deref() {
            None | Some("default" | "self") => Ok(Self::own(engine, context, purpose).await?),
            Some(named) => Ok(Self::named(engine, context, named, purpose).await?),
        }
    }

    /// The acting agent's own home.
    pub(in crate::robutler) async fn own(
        engine: &Engine,
        context: &Context,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        let own = own(engine, context).await?;
        let store = engine.home(context, &own, purpose).await?;
        Ok(Self { store, name: own.name })
    }

    async fn named(
        engine: &Engine,
        context: &Context,
        text: &str,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        if text.parse::<StoreId>().is_err()
            && let Some(principal) = engine.named(context, text).await?
        {
            let store = engine.home(context, &principal, purpose).await?;
            return Ok(Self { store, name: principal.name });
        }
        let store = engine.store_named(context, text, purpose).await?;
        let name = match store {
            Some(store) => name_of(engine, context, store).await?,
            None => text.to_owned(),
        };
        Ok(Self { store, name })
    }

    /// The store, which must have been looked for to be written to.
    pub(in crate::robutler) fn existing(&self) -> Result<StoreId, Error> {
        self.store.ok_or(Error::NotFound("memory store"))
    }
}

/// What a store is called: the id of whose home it is, or its own.
async fn name_of(engine: &Engine, context: &Context, id: StoreId) -> Result<String, Error> {
    let store = match engine.store(context, id).await {
        Ok(store) => store,
        // It may still be searched; and whether it is there at all is not for here to say.
        Err(Error::Denied(_) | Error::NotFound(_)) => return Ok(id.to_string()),
        Err(error) => return Err(error),
    };
    if !store.address.as_ref().is_some_and(|address| address.is_home_of(store.owner)) {
        return Ok(id.to_string());
    }
    let owner = engine.named(context, &store.owner.to_string()).await?;
    Ok(owner.map_or_else(|| id.to_string(), |owner| owner.name))
}
