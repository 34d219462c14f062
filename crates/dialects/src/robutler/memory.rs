//! Store memory: `/api/storage/memory[/{key}]`. Reads, writes, deletes and lists entries; what is
//! asked for with `action=` is in [`super::reach`] and [`super::share`].

use super::call::{Answer, Call};
use super::entry::{Desk, Write};
use super::error::{ErrorBody, Problem};
use super::place::Place;
use super::render::{DoneBody, EntryBody, Writers, done, json};
use super::value::Kept;
use super::{list, reach, share};
use crate::key::Name;
use crate::size;
use loci_engine::{Context, Error, Purpose};
use loci_model::Audience;

/// Where entries are.
pub(super) const ROUTE: &str = "/api/storage/memory";

/// Lists the entries of a store, or does what `action` says: finds entries, or lists stores.
#[utoipa::path(
    get,
    path = "/api/storage/memory",
    tag = "store memory",
    params(
        ("action" = Option<String>, Query, description = "`search` or `stores`; a list when not given"),
        ("agentId" = Option<String>, Query, description = "the acting agent, if not the key's own"),
        ("store" = Option<String>, Query, description = "whose store: an agent's, chat's or user's id, or a store's own; the acting agent's when not given"),
        ("inContext" = Option<bool>, Query, description = "list: only what is meant for models"),
        ("prefix" = Option<String>, Query, description = "list: only keys that begin with this"),
        ("namespace" = Option<String>, Query, description = "list: only of this namespace"),
        ("q" = Option<String>, Query, description = "search: what to look for, in `store` or else in every store there is"),
        ("limit" = Option<u32>, Query, description = "search: 1 to 50 results"),
        ("chatId" = Option<String>, Query, description = "search and stores: this chat's store too"),
        ("userId" = Option<String>, Query, description = "search and stores: this user's store too; stores of other users are closed"),
    ),
    responses(
        (status = 200, description = "The entries; with `action=stores`, the stores", body = reach::FoundBody<'_>),
        (status = "4XX", body = ErrorBody<'_>)
    )
)]
pub(super) async fn many(call: Call) -> Answer {
    match call.query().get("action")?.as_deref() {
        None => list_entries(&call).await,
        Some("search") => reach::search(&call).await,
        Some("stores") => reach::stores(&call).await,
        Some(_) => Err(unknown_action("search or stores")),
    }
}

/// Shares a store with an agent.
#[utoipa::path(
    post,
    path = "/api/storage/memory",
    tag = "store memory",
    params(("action" = String, Query, description = "`share`")),
    request_body = share::ShareBody,
    responses((status = 200, body = DoneBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn give(call: Call) -> Answer {
    match call.query().get("action")?.as_deref() {
        Some("share") => share::share(&call).await,
        _ => Err(unknown_action("share")),
    }
}

/// Takes back what was shared with an agent.
#[utoipa::path(
    delete,
    path = "/api/storage/memory",
    tag = "store memory",
    params(
        ("action" = String, Query, description = "`share`"),
        ("store" = Option<String>, Query, description = "whose store"),
        ("grantee" = String, Query, description = "the agent it was shared with"),
        ("agentId" = Option<String>, Query, description = "the acting agent, if not the key's own"),
        ("userId" = Option<String>, Query, description = "the user spoken with; stores of other users are closed"),
    ),
    responses((status = 200, body = DoneBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn take_back(call: Call) -> Answer {
    match call.query().get("action")?.as_deref() {
        Some("share") => share::unshare(&call).await,
        _ => Err(unknown_action("share")),
    }
}

fn unknown_action(known: &str) -> Problem {
    Problem::invalid(format!("action must be {known}; everything else needs a key"))
}

/// Refuses to write without a key, which is in the path.
#[utoipa::path(
    put,
    path = "/api/storage/memory",
    tag = "store memory",
    responses((status = "4XX", description = "A key is needed", body = ErrorBody<'_>))
)]
pub(super) async fn nameless(_: Call) -> Answer {
    Err(Problem::invalid("a key is needed"))
}

/// Reads an entry: of several writers', the one that changed last.
#[utoipa::path(
    get,
    path = "/api/storage/memory/{key}",
    tag = "store memory",
    params(
        ("key" = String, Path, description = "free text; `/` may be escaped or not"),
        ("agentId" = Option<String>, Query, description = "the acting agent, if not the key's own"),
        ("store" = Option<String>, Query, description = "whose store"),
        ("namespace" = Option<String>, Query, description = "empty when not given"),
        ("userId" = Option<String>, Query, description = "the user spoken with; stores of other users are closed"),
    ),
    responses((status = 200, body = EntryBody<'_>), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn read(call: Call) -> Answer {
    let Some(key) = call.key_after(ROUTE)? else { return many(call).await };
    let context = call.acting().await?;
    let place = Place::of(&call, &context, Purpose::Read).await?;
    read_entry(&call, &context, &place, key).await
}

/// Writes the acting agent's own entry.
#[utoipa::path(
    put,
    path = "/api/storage/memory/{key}",
    tag = "store memory",
    params(("key" = String, Path, description = "free text; `/` may be escaped or not")),
    request_body = WriteBody,
    responses((status = 200, body = DoneBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn write(call: Call) -> Answer {
    let Some(key) = call.key_after(ROUTE)? else { return nameless(call).await };
    let context = call.acting().await?;
    let (name, new) = what_to_write(&call, key)?;
    let place = Place::of(&call, &context, Purpose::Write).await?;
    write_entry(&call, &context, &place, &name, &new).await
}

/// Removes the acting agent's own entry.
#[utoipa::path(
    delete,
    path = "/api/storage/memory/{key}",
    tag = "store memory",
    params(
        ("key" = String, Path, description = "free text; `/` may be escaped or not"),
        ("agentId" = Option<String>, Query, description = "the acting agent, if not the key's own"),
        ("store" = Option<String>, Query, description = "whose store"),
        ("namespace" = Option<String>, Query, description = "empty when not given"),
        ("userId" = Option<String>, Query, description = "the user spoken with; stores of other users are closed"),
    ),
    responses((status = 200, body = DoneBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn remove(call: Call) -> Answer {
    let Some(key) = call.key_after(ROUTE)? else { return take_back(call).await };
    let context = call.acting().await?;
    let place = Place::of(&call, &context, Purpose::Change).await?;
    remove_entry(&call, &context, &place, key).await
}

/// An entry to be written.
#[derive(utoipa::ToSchema)]
#[schema(as = RobutlerWrite)]
#[expect(dead_code, reason = "only described; the fields are read one by one")]
pub(super) struct WriteBody {
    /// Any JSON.
    #[schema(value_type = serde_json::Value)]
    value: (),
    /// The acting agent, if not the key's own.
    #[schema(rename = "agentId", max_length = 255)]
    agent_id: Option<String>,
    /// Whose store; the acting agent's when not given.
    #[schema(max_length = 255)]
    store: Option<String>,
    /// The user spoken with; stores of other users are closed.
    #[schema(rename = "userId", max_length = 255)]
    user_id: Option<String>,
    /// Empty when not given.
    namespace: Option<String>,
    /// Seconds; null, 0 and less are no end. What is there keeps its own when not given.
    ttl: Option<i64>,
    /// Whether models are shown it. What is there stays as it is when not given.
    #[schema(rename = "inContext")]
    in_context: Option<bool>,
    /// Whether the value is a client's ciphertext: kept and given back, never searched.
    encrypted: Option<bool>,
}

/// What a request wants written, checked before anything is made for it.
pub(super) fn what_to_write(call: &Call, key: String) -> Result<(Name, Write), Problem> {
    let fields = &call.fields;
    let Some(value) = fields.raw("value") else {
        return Err(Problem::invalid("value is needed"));
    };
    let value = Kept::read(value).ok_or_else(|| Problem::invalid("value is not valid text"))?;
    let write = Write {
        value,
        lifetime: fields.lifetime("ttl")?,
        in_context: fields.flag("inContext")?,
        encrypted: fields.flag("encrypted")?,
    };
    let name = Name { namespace: namespace(call)?, key };
    name.path()?;
    Ok((name, write))
}

/// The namespace that a request names.
fn namespace(call: &Call) -> Result<String, Problem> {
    Ok(call.text("namespace")?.unwrap_or_default().into_owned())
}

/// Answers with an entry.
pub(super) async fn read_entry(
    call: &Call,
    context: &Context,
    place: &Place,
    key: String,
) -> Answer {
    let name = Name { namespace: namespace(call)?, key };
    let store = place.store.ok_or(Error::NotFound("memory"))?;
    let memory = Desk::at(&call.engine, context, store).await?.read(&name).await?;
    let writers = Writers::of(&call.engine, context, [&memory].into_iter()).await?;
    let (bytes, name) = (size::of(&memory), place.name.clone());
    let write = move || json(&EntryBody::of(&memory, &name, writers.name(&memory)));
    Ok(call.engine.written(bytes, write).await?)
}

/// Writes an entry into a place that was looked for to be written to.
pub(super) async fn write_entry(
    call: &Call,
    context: &Context,
    place: &Place,
    name: &Name,
    new: &Write,
) -> Answer {
    let store = place.existing()?;
    Desk::at(&call.engine, context, store).await?.write(name, new).await?;
    Ok(done())
}

/// Removes an entry.
pub(super) async fn remove_entry(
    call: &Call,
    context: &Context,
    place: &Place,
    key: String,
) -> Answer {
    let name = Name { namespace: namespace(call)?, key };
    let store = place.store.ok_or(Error::NotFound("memory"))?;
    Desk::at(&call.engine, context, store).await?.remove(&name).await?;
    Ok(done())
}

async fn list_entries(call: &Call) -> Answer {
    let mut context = call.acting().await?;
    if call.query().get("inContext")?.as_deref() == Some("true") {
        context.caller.audience = Audience::Model;
    }
    let place = Place::of(call, &context, Purpose::Read).await?;
    list::answer(call, &context, &place).await
}
