//! Caller-scoped memory (`/api/storage/memory-scoped`): an agent's notes about its owner, for
//! everybody, and about each of those who call it, and their sync between devices.
//!
//! One route; the method and `action` say what is asked. The server trusts the agent about which
//! caller a namespace belongs to, and never about another agent's notes: the acting agent is the
//! credential's own, or one that the credential may act for.

mod answer;
mod moment;
mod name;
mod note;
mod push;
mod shelf;
mod write;

pub(in crate::robutler) use answer::{AnswerBody, EntryBody, LineBody};

use super::call::{Answer, Call, Endpoint};
use super::error::{ErrorBody, Problem};
use super::render::json;
use axum::routing::{MethodRouter, get};
use loci_engine::Engine;
use loci_model::limit;
use moment::Moment;
use name::{Key, Namespace};
use note::{Source, Written};
use serde::Deserialize;
use shelf::{Shelf, Wish};
use std::borrow::Cow;
use utoipa::ToSchema;

/// The one route.
pub(super) const ROUTE: &str = "/api/storage/memory-scoped";
/// Namespaces named by one request.
const NAMESPACES_MAX: usize = limit::FILTER_VALUES_MAX;
/// Notes of a listing when the caller does not say, and at most: clients count what they get, so it
/// is as many as an agent can have.
const LISTED: Bounds = Bounds { default: 50, max: 10_000 };
/// The same of a search.
const FOUND: Bounds = Bounds { default: 10, max: 50 };
/// Lists as they were once joined by commas, which callers' names may contain, and what to send.
const JOINED: [(&str, &str); 2] =
    [("namespaces", "namespace"), ("excludeSources", "excludeSource")];

/// How many things an answer holds.
#[derive(Clone, Copy)]
struct Bounds {
    default: usize,
    max: usize,
}

/// The methods of the route.
pub(super) fn methods() -> MethodRouter<Engine> {
    get(Endpoint(read)).put(Endpoint(write)).post(Endpoint(push)).delete(Endpoint(forget))
}

/// Reads notes: one, a list, a search, or what changed.
#[utoipa::path(
    get,
    path = "/api/storage/memory-scoped",
    tag = "caller-scoped memory",
    params(
        ("action" = String, Query, description = "get, list, search or sync"),
        ("agentId" = Option<String>, Query, description = "the acting agent, for keys that act for several"),
        ("namespace" = Option<Vec<String>>, Query, description = "owner, shared or caller:…; repeated for several; a list or search that names none is of all"),
        ("key" = Option<String>, Query, description = "of get"),
        ("prefix" = Option<String>, Query, description = "of list: how keys begin"),
        ("excludeSource" = Option<Vec<String>>, Query, description = "of list: not from this source; repeated for several"),
        ("q" = Option<String>, Query, description = "of search: the words"),
        ("limit" = Option<u32>, Query, description = "of list (50 when not given) and search (10, at most 50)"),
        ("since" = Option<String>, Query, description = "of sync: `cursor` of the page before"),
    ),
    responses((status = 200, body = AnswerBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn read(call: Call) -> Answer {
    let query = call.query();
    for (joined, instead) in JOINED {
        if query.given(joined)?.is_some() {
            return Err(Problem::invalid(format!("{joined} is not read; repeat {instead}")));
        }
    }
    let shelf = shelf(&call).await?;
    let answer = match query.get("action")?.as_deref() {
        Some("get") => shelf.get(&namespace(&call)?, &key(&call)?).await?,
        Some("list") => {
            let wish = Wish {
                namespaces: namespaces(&call)?,
                prefix: query.get("prefix")?.map(Cow::into_owned).unwrap_or_default(),
                excluded: query.all("excludeSource")?.into_iter().map(Cow::into_owned).collect(),
                limit: limit(&call, LISTED)?,
            };
            shelf.list(&wish).await?
        }
        Some("search") => {
            let text = query.get("q")?.ok_or_else(|| Problem::invalid("q is needed"))?;
            shelf.search(&text, &namespaces(&call)?, limit(&call, FOUND)?).await?
        }
        Some("sync") => shelf.pull(&namespace(&call)?, query.get("since")?.as_deref()).await?,
        _ => return Err(Problem::invalid("action: expected get, list, search or sync")),
    };
    Ok(call.engine.written(answer.bytes(), move || json(&answer)).await?)
}

/// What `PUT` takes.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ScopedPut)]
#[expect(dead_code, reason = "describes the body; its fields are read one by one")]
pub(super) struct PutBody {
    agent_id: Option<String>,
    namespace: String,
    #[schema(min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    key: String,
    content: String,
    /// `tool` (when not given), `compaction`, `owner` or `sync`.
    #[schema(pattern = "^(tool|compaction|owner|sync)$")]
    source: Option<String>,
    /// When it was written; now when not given.
    at: Option<String>,
    /// One line of up to 200 characters; without it the note has none.
    #[schema(max_length = 200)]
    description: Option<String>,
}

/// Writes a note, in the place of what was there.
#[utoipa::path(
    put,
    path = "/api/storage/memory-scoped",
    tag = "caller-scoped memory",
    params(("agentId" = Option<String>, Query, description = "when the body does not name it")),
    request_body = PutBody,
    responses((status = 200, body = AnswerBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn write(call: Call) -> Answer {
    let (namespace, key) = (Namespace::parse(&needed(&call, "namespace")?)?, needed(&call, "key")?);
    let key = Key::parse(&key)?;
    let source = call.fields.text("source")?;
    let at = call.fields.text("at")?;
    let written = Written {
        content: needed(&call, "content")?,
        description: note::description(call.fields.text("description")?)?,
        source: source.as_deref().map_or(Ok(Source::Tool), Source::parse)?,
        at: at.as_deref().map(Moment::parse).transpose()?,
    };
    let answer = shelf(&call).await?.put(&namespace, &key, &written).await?;
    Ok(json(&answer))
}

/// What `POST` takes.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ScopedPush)]
#[expect(dead_code, reason = "describes the body; its fields are read one by one")]
pub(super) struct PushBody {
    agent_id: Option<String>,
    namespace: String,
    /// Oldest first; what means nothing is passed over.
    #[schema(value_type = Vec<LineBody>, max_items = 100000)]
    lines: Vec<String>,
}

/// Takes what a device wrote and forgot, as far as it is later than what is here.
#[utoipa::path(
    post,
    path = "/api/storage/memory-scoped",
    tag = "caller-scoped memory",
    params(
        ("action" = String, Query, description = "sync"),
        ("agentId" = Option<String>, Query, description = "when the body does not name it"),
    ),
    request_body = PushBody,
    responses((status = 200, body = AnswerBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn push(call: Call) -> Answer {
    if call.query().get("action")?.as_deref() != Some("sync") {
        return Err(Problem::invalid("action: expected sync"));
    }
    let namespace = Namespace::parse(&needed(&call, "namespace")?)?;
    let lines = call.fields.raw("lines").and_then(|lines| serde_json::from_str(lines.get()).ok());
    let lines = lines.ok_or_else(|| Problem::invalid("lines must be a list"))?;
    let answer = shelf(&call).await?.push(&namespace, lines).await?;
    Ok(json(&answer))
}

/// Forgets a note. Devices hear of it for 90 days.
#[utoipa::path(
    delete,
    path = "/api/storage/memory-scoped",
    tag = "caller-scoped memory",
    params(
        ("agentId" = Option<String>, Query, description = "the acting agent, for keys that act for several"),
        ("namespace" = String, Query),
        ("key" = String, Query),
    ),
    responses((status = 200, body = AnswerBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn forget(call: Call) -> Answer {
    let (namespace, key) = (namespace(&call)?, key(&call)?);
    let answer = shelf(&call).await?.forget(&namespace, &key).await?;
    Ok(json(&answer))
}

/// The notes of the agent that a request is about.
async fn shelf(call: &Call) -> Result<Shelf<'_>, Problem> {
    Ok(Shelf::of(&call.engine, call.acting().await?).await?)
}

/// A text of the body that may be empty but must be there.
fn needed(call: &Call, name: &'static str) -> Result<String, Problem> {
    call.fields.text(name)?.ok_or_else(|| Problem::invalid(format!("{name} is needed")))
}

fn namespace(call: &Call) -> Result<Namespace, Problem> {
    let text = call.query().get("namespace")?;
    let text = text.ok_or_else(|| Problem::invalid("namespace is needed"))?;
    Ok(Namespace::parse(&text)?)
}

fn namespaces(call: &Call) -> Result<Vec<Namespace>, Problem> {
    let mut namespaces: Vec<Namespace> = Vec::new();
    for text in call.query().all("namespace")? {
        let namespace = Namespace::parse(&text)?;
        if !namespaces.contains(&namespace) {
            namespaces.push(namespace);
        }
        if namespaces.len() > NAMESPACES_MAX {
            return Err(Problem::invalid(format!("namespace: takes up to {NAMESPACES_MAX}")));
        }
    }
    Ok(namespaces)
}

fn key(call: &Call) -> Result<Key, Problem> {
    let text = call.query().get("key")?.ok_or_else(|| Problem::invalid("key is needed"))?;
    Ok(Key::parse(&text)?)
}

/// `limit`: more than there can be is as many as there can be.
fn limit(call: &Call, bounds: Bounds) -> Result<usize, Problem> {
    let Some(text) = call.query().given("limit")? else { return Ok(bounds.default) };
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A number that is too large to be read is more than enough.
    match text.parse().unwrap_or(usize::MAX) {
        wanted if is_number && wanted > 0 => Ok(wanted.min(bounds.max)),
        _ => Err(Problem::invalid("limit: expected a number from 1")),
    }
}
