//! Which stores an agent has here and now, for the doors that know stores by whose they are.
//!
//! A chat's store and a user's count only where the request names the chat or the user: what was
//! said in one conversation is not searched from another. Naming them opens nothing; the engine
//! says whether the agent is there.

use loci_engine::{Context, Engine, Error, Purpose, SWITCHED_OFF};
use loci_model::policy::Ground;
use loci_model::{Level, Power, Principal, PrincipalId, PrincipalKind, StoreId};

/// A store that the agent can reach.
pub(crate) struct Reachable {
    /// None while nothing was written there.
    pub(crate) store: Option<StoreId>,
    /// The id of whose home it is, or its own.
    pub(crate) name: String,
    /// How much the credential may do there.
    pub(crate) level: Level,
    /// Why it can.
    pub(crate) source: Source,
}

/// Why a store can be reached, in the order in which stores are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Its own home.
    Home,
    /// Another store of its own.
    Own,
    /// It was granted.
    Grant,
    /// The chat that the request is about.
    Chat,
    /// The user that the request is about.
    User,
}

impl Source {
    /// What clients are told.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Home | Self::Own => "self",
            Self::Grant => "grant",
            Self::Chat => "chat",
            Self::User => "user",
        }
    }
}

/// A level as clients know it.
pub(crate) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Search => "search",
        Level::Read => "read",
        Level::ReadWrite => "readwrite",
    }
}

/// The acting agent.
pub(crate) async fn own(engine: &Engine, context: &Context) -> Result<Principal, Error> {
    let id = context.caller.principal.to_string();
    engine.named(context, &id).await?.ok_or(Error::NotFound("principal"))
}

/// Every store that counts for a request about this chat and this user, the agent's own first.
pub(crate) async fn reachable(
    engine: &Engine,
    context: &Context,
    chat: Option<&str>,
    user: Option<&str>,
) -> Result<Vec<Reachable>, Error> {
    let switches = context.caller.memory;
    if !switches.is_on {
        return Err(Error::Denied(SWITCHED_OFF));
    }
    let chat = near(engine, context, chat, PrincipalKind::Group).await?;
    let user = near(engine, context, user, PrincipalKind::User).await?;
    let mut all = Vec::new();
    for one in engine.stores_of(context).await? {
        let home_of = one.home_of.as_ref().map(|principal| principal.id);
        let source = match one.ground {
            Ground::Owner if home_of.is_some() => Source::Home,
            // What has an address and is no home is another door's.
            Ground::Owner if one.store.address.is_none() => Source::Own,
            Ground::Owner => continue,
            Ground::Grant | Ground::Everyone => Source::Grant,
            Ground::Member if chat.is_some() && home_of == chat => Source::Chat,
            Ground::Companion if user.is_some() && home_of == user => Source::User,
            Ground::Member | Ground::Companion => continue,
        };
        let level = match context.caller.scope.power {
            Power::Full => one.level,
            Power::UpTo(most) => one.level.min(most),
        };
        let name = one.home_of.map_or_else(|| one.store.id.to_string(), |of| of.name);
        all.push(Reachable { store: Some(one.store.id), name, level, source });
    }
    if let Some(level) = engine.level_at_home(context)
        && !all.iter().any(|one| one.source == Source::Home)
    {
        let name = own(engine, context).await?.name;
        all.push(Reachable { store: None, name, level, source: Source::Home });
    }
    all.sort_by_key(|one| one.source);
    Ok(all)
}

/// The chat or user that a request says it is about. Its home is made if it has none yet: only of
/// what is there the engine can say who is near it.
async fn near(
    engine: &Engine,
    context: &Context,
    named: Option<&str>,
    kind: PrincipalKind,
) -> Result<Option<PrincipalId>, Error> {
    let Some(id) = named else { return Ok(None) };
    let found = engine.named(context, id).await?;
    let Some(found) = found.filter(|found| found.kind == kind) else { return Ok(None) };
    match engine.home(context, &found, Purpose::Search).await {
        Ok(_) | Err(Error::NotFound(_) | Error::Denied(_) | Error::Replica) => Ok(Some(found.id)),
        Err(error) => Err(error),
    }
}
