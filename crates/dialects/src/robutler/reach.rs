//! `action=stores` and `action=search`: which stores an agent has here and now, and what is found in
//! them.
//!
//! A chat's store and a user's count only where the request names the chat or the user: what was
//! said in one conversation is not searched from another. Naming them opens nothing; the engine
//! says whether the agent is there.

use super::call::{Answer, Call};
use super::error::Problem;
use super::place::{Place, own};
use super::render::{EntriesBody, EntryBody, Writers, json};
use axum::http::{HeaderName, HeaderValue};
use loci_engine::search::{Hit, Reach, SearchRequest, Wanted};
use loci_engine::{Context, Error, Purpose};
use loci_model::policy::Ground;
use loci_model::{Audience, Level, Power, Principal, PrincipalId, PrincipalKind, StoreId, View};
use serde::Serialize;
use utoipa::ToSchema;

/// Results of one search.
const FOUND_MAX: usize = 50;
/// How many stores a search left out because they were searched too often.
const LEFT_OUT: HeaderName = HeaderName::from_static("loci-stores-left-out");

/// A store that the agent can reach.
struct Reachable {
    /// None while nothing was written there.
    store: Option<StoreId>,
    name: String,
    level: Level,
    source: Source,
}

/// Why it can, in the order in which stores are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// Its own home.
    Home,
    /// Another store of its own.
    Own,
    Grant,
    Chat,
    User,
}

/// The stores an agent can reach.
#[derive(Serialize, ToSchema)]
#[schema(as = RobutlerStores)]
pub(super) struct StoresBody {
    stores: Vec<StoreBody>,
}

/// A store, how much of it, and why.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RobutlerStore)]
pub(super) struct StoreBody {
    /// The id of whose home it is, or its own.
    store_id: String,
    /// `search`, `read` or `readwrite`.
    level: &'static str,
    /// `self`, `grant`, `chat` or `user`.
    source: &'static str,
}

/// Answers with the stores.
pub(super) async fn stores(call: &Call) -> Answer {
    let context = call.acting().await?;
    let stores = reachable(call, &context).await?.into_iter().map(|one| StoreBody {
        store_id: one.name,
        level: match one.level {
            Level::Search => "search",
            Level::Read => "read",
            Level::ReadWrite => "readwrite",
        },
        source: match one.source {
            Source::Home | Source::Own => "self",
            Source::Grant => "grant",
            Source::Chat => "chat",
            Source::User => "user",
        },
    });
    Ok(json(&StoresBody { stores: stores.collect() }))
}

/// Every store that counts for this request, the agent's own first.
async fn reachable(call: &Call, context: &Context) -> Result<Vec<Reachable>, Problem> {
    let switches = context.caller.memory;
    if !switches.is_on {
        return Err(Error::Denied("memory is switched off for this agent").into());
    }
    let chat = near(call, context, "chatId", PrincipalKind::Group).await?;
    let user = near(call, context, "userId", PrincipalKind::User).await?;
    let mut all = Vec::new();
    for one in call.engine.stores_of(context).await? {
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
    if switches.own && !all.iter().any(|one| one.source == Source::Home) {
        let name = own(&call.engine, context).await?.name;
        let level = Level::ReadWrite;
        all.push(Reachable { store: None, name, level, source: Source::Home });
    }
    all.sort_by_key(|one| one.source);
    Ok(all)
}

/// The chat or user that a request says it is about. Its home is made if it has none yet: only of
/// what is there the engine can say who is near it.
async fn near(
    call: &Call,
    context: &Context,
    parameter: &'static str,
    kind: PrincipalKind,
) -> Result<Option<PrincipalId>, Problem> {
    let Some(id) = call.id(parameter)? else { return Ok(None) };
    let found: Option<Principal> = call.engine.named(context, &id).await?;
    let Some(found) = found.filter(|found| found.kind == kind) else { return Ok(None) };
    match call.engine.home(context, &found, Purpose::Search).await {
        Ok(_) | Err(Error::NotFound(_) | Error::Denied(_) | Error::Replica) => Ok(Some(found.id)),
        Err(error) => Err(error.into()),
    }
}

/// Answers with what a query finds in the store that is named, or else in all that can be reached.
/// What is not meant for models is never found.
pub(super) async fn search(call: &Call) -> Answer {
    let query = call.query();
    let text = query.get("q")?.unwrap_or_default();
    if text.trim().is_empty() {
        return Err(Problem::invalid("q is needed: what to search for"));
    }
    let limit = match query.get("limit")?.map(|limit| limit.parse::<usize>()) {
        None => FOUND_MAX,
        Some(Ok(limit)) if limit > 0 => limit.min(FOUND_MAX),
        Some(_) => return Err(Problem::invalid("limit must be a positive number")),
    };
    let mut context = call.acting().await?;
    context.caller.audience = Audience::Model;
    let wanted = Wanted::new(text, limit);
    let is_named = call.text("store")?.is_some();
    let mut stores = match is_named {
        true => vec![named(call, &context).await?],
        false => reachable(call, &context).await?,
    };
    let mut found = find(call, &context, &stores, &wanted).await;
    let mut left_out = 0;
    if let (Err(Error::TooMany(_)), false) = (&found, is_named) {
        // Anybody can share with anybody: that must not take away the search of what is one's own.
        let all = stores.len();
        stores.retain(|one| one.level > Level::Search);
        if !stores.is_empty() {
            found = find(call, &context, &stores, &wanted).await;
            left_out = all - stores.len();
        }
    }
    let hits = found?;
    let memories = hits.iter().map(|hit| &hit.memory);
    let writers = Writers::of(&call.engine, &context, memories).await?;
    let entries = hits.iter().map(|hit| {
        let store = stores.iter().find(|one| one.store == Some(hit.memory.store));
        let store = store.map(|one| one.name.as_str()).unwrap_or_default();
        EntryBody::of(&hit.memory, store, writers.name(&hit.memory)).scored(hit.score)
    });
    let mut answer = json(&EntriesBody { entries: entries.collect(), truncated: false });
    if left_out > 0 {
        answer.headers_mut().insert(LEFT_OUT, HeaderValue::from(left_out));
    }
    Ok(answer)
}

/// The one store that a request names.
async fn named(call: &Call, context: &Context) -> Result<Reachable, Problem> {
    let Place { store, name } = Place::of(call, context, Purpose::Search).await?;
    Ok(Reachable { store, name, level: Level::Search, source: Source::Grant })
}

async fn find(
    call: &Call,
    context: &Context,
    stores: &[Reachable],
    wanted: &Wanted,
) -> Result<Vec<Hit>, Error> {
    let stores: Vec<StoreId> = stores.iter().filter_map(|one| one.store).collect();
    if stores.is_empty() {
        return Ok(Vec::new());
    }
    let request = SearchRequest {
        reach: Reach::Stores(stores),
        wanted: wanted.clone(),
        view: View::Full,
        explain: false,
        snippet_chars: 0,
        as_of: None,
        wait: None,
    };
    let mut hits = call.engine.search(context, &request).await?.hits;
    hits.retain(|hit| !hit.memory.is_sealed);
    Ok(hits)
}
