//! The two older generations: `/api/storage/kv` and `/api/kv`. Both are the acting agent's own
//! entries under other routes, so what one wrote the others see.

use super::call::{Answer, Call};
use super::entry::Desk;
use super::error::{ErrorBody, Problem};
use super::memory::{read_entry, remove_entry, what_to_write, write_entry};
use super::place::Place;
use super::render::{DoneBody, EntriesBody, EntryBody, json};
use super::value::Value;
use super::{list, memory};
use crate::key::Name;
use crate::size;
use loci_engine::{Context, Error, Purpose};
use serde::Serialize;
use utoipa::ToSchema;

/// Where the second generation has its entries.
const SECOND: &str = "/api/storage/kv";

/// Lists the agent's own entries.
#[utoipa::path(
    get,
    path = "/api/storage/kv",
    tag = "key-value",
    params(
        ("agentId" = Option<String>, Query, description = "the acting agent, if not the key's own"),
        ("prefix" = Option<String>, Query, description = "only keys that begin with this"),
    ),
    responses((status = 200, body = EntriesBody<'_>), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn many(call: Call) -> Answer {
    let context = call.acting().await?;
    let place = Place::own(&call.engine, &context, Purpose::Read).await?;
    list::answer(&call, &context, &place).await
}

/// Reads one of the agent's own entries.
#[utoipa::path(
    get,
    path = "/api/storage/kv/{key}",
    tag = "key-value",
    params(
        ("key" = String, Path, description = "free text"),
        ("agentId" = Option<String>, Query, description = "the acting agent, if not the key's own"),
    ),
    responses((status = 200, body = EntryBody<'_>), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn read(call: Call) -> Answer {
    let Some(key) = call.key_after(SECOND)? else { return many(call).await };
    let context = call.acting().await?;
    let place = Place::own(&call.engine, &context, Purpose::Read).await?;
    read_entry(&call, &context, &place, key).await
}

/// Writes one of the agent's own entries.
#[utoipa::path(
    put,
    path = "/api/storage/kv/{key}",
    tag = "key-value",
    params(("key" = String, Path, description = "free text")),
    request_body = memory::WriteBody,
    responses((status = 200, body = DoneBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn write(call: Call) -> Answer {
    let Some(key) = call.key_after(SECOND)? else { return memory::nameless(call).await };
    let context = call.acting().await?;
    write_own(&call, &context, key).await
}

/// Removes one of the agent's own entries.
#[utoipa::path(
    delete,
    path = "/api/storage/kv/{key}",
    tag = "key-value",
    params(
        ("key" = String, Path, description = "free text"),
        ("agentId" = Option<String>, Query, description = "the acting agent, if not the key's own"),
    ),
    responses((status = 200, body = DoneBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn remove(call: Call) -> Answer {
    let Some(key) = call.key_after(SECOND)? else { return memory::nameless(call).await };
    let context = call.acting().await?;
    let place = Place::own(&call.engine, &context, Purpose::Change).await?;
    remove_entry(&call, &context, &place, key).await
}

async fn write_own(call: &Call, context: &Context, key: String) -> Answer {
    let (name, new) = what_to_write(call, key)?;
    let place = Place::own(&call.engine, context, Purpose::Write).await?;
    write_entry(call, context, &place, &name, &new).await
}

/// What the first generation answers to a read.
#[derive(Serialize, ToSchema)]
#[schema(as = RobutlerKeyValue)]
pub(super) struct KeyValueBody<'a> {
    found: bool,
    key: &'a str,
    namespace: &'a str,
    /// Null when nothing is there.
    #[schema(value_type = serde_json::Value)]
    value: Option<Value<'a>>,
}

/// A value to be written by the first generation.
#[derive(ToSchema)]
#[schema(as = RobutlerKeyValueWrite)]
#[expect(dead_code, reason = "only described; the fields are read one by one")]
pub(super) struct KeyValueWriteBody {
    key: String,
    /// Any JSON.
    #[schema(value_type = serde_json::Value)]
    value: (),
    namespace: Option<String>,
    /// The acting agent, if not the key's own.
    #[schema(rename = "agentId")]
    agent_id: Option<String>,
    /// `agent`; another way to name the acting agent.
    #[schema(rename = "subjectType")]
    subject_type: Option<String>,
    #[schema(rename = "subjectId")]
    subject_id: Option<String>,
}

/// Reads a value; when there is none, the answer says so.
#[utoipa::path(
    get,
    path = "/api/kv",
    tag = "key-value",
    params(
        ("key" = String, Query),
        ("namespace" = Option<String>, Query),
        ("agentId" = Option<String>, Query, description = "the acting agent, if not the key's own"),
        ("subjectType" = Option<String>, Query, description = "`agent`"),
        ("subjectId" = Option<String>, Query, description = "the acting agent"),
    ),
    responses((status = 200, body = KeyValueBody<'_>), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn first_read(call: Call) -> Answer {
    let context = first_acting(&call).await?;
    let namespace = call.text("namespace")?.unwrap_or_default().into_owned();
    let name = Name { namespace, key: first_key(&call)? };
    let place = Place::own(&call.engine, &context, Purpose::Read).await?;
    let found = match place.store {
        None => Err(Error::NotFound("memory")),
        Some(store) => Desk::at(&call.engine, &context, store).await?.read(&name).await,
    };
    let found = match found {
        Err(Error::NotFound("memory")) => None,
        found => Some(found?),
    };
    let bytes = size::of_all(&found);
    let write = move || {
        json(&KeyValueBody {
            found: found.is_some(),
            key: &name.key,
            namespace: &name.namespace,
            value: found.as_ref().map(Value::of),
        })
    };
    Ok(call.engine.written(bytes, write).await?)
}

/// Writes a value.
#[utoipa::path(
    post,
    path = "/api/kv",
    tag = "key-value",
    request_body = KeyValueWriteBody,
    responses((status = 200, body = DoneBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn first_write(call: Call) -> Answer {
    let context = first_acting(&call).await?;
    let key = first_key(&call)?;
    write_own(&call, &context, key).await
}

/// Removes a value.
#[utoipa::path(
    delete,
    path = "/api/kv",
    tag = "key-value",
    params(
        ("key" = String, Query),
        ("namespace" = Option<String>, Query),
        ("agentId" = Option<String>, Query, description = "the acting agent, if not the key's own"),
        ("subjectType" = Option<String>, Query, description = "`agent`"),
        ("subjectId" = Option<String>, Query, description = "the acting agent"),
    ),
    responses((status = 200, body = DoneBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn first_remove(call: Call) -> Answer {
    let context = first_acting(&call).await?;
    let key = first_key(&call)?;
    let place = Place::own(&call.engine, &context, Purpose::Change).await?;
    remove_entry(&call, &context, &place, key).await
}

/// The caller as the agent it says it is, in either of this generation's ways.
async fn first_acting(call: &Call) -> Result<Context, Problem> {
    if call.id("agentId")?.is_some() {
        return call.acting().await;
    }
    if call.text("subjectType")?.is_some_and(|kind| kind != "agent") {
        return Err(Problem::invalid("subjectType must be agent"));
    }
    let subject = call.id("subjectId")?;
    Ok(call.engine.acting(&call.context, subject.as_deref()).await?)
}

fn first_key(call: &Call) -> Result<String, Problem> {
    let key = match call.fields.text("key")? {
        Some(key) => Some(key),
        None => call.query().get("key")?.map(|key| key.into_owned()),
    };
    key.filter(|key| !key.is_empty()).ok_or_else(|| Problem::invalid("key is needed"))
}
