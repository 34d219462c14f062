//! The three tools of an agent's memory, executed here: recall, remember, forget. They do what the
//! routes of entries do, for the entries that are everybody's: whoever talks to the agent must not
//! get what it was told by another user.
//!
//! What a model did wrong is an answer that says so; what it cannot help is a refusal.

mod definitions;

pub use definitions::{ToolDefinition, definitions};

use super::call::{Answer, Call};
use super::cursor::SearchMode;
use super::error::{ErrorBody, Problem};
use super::fields::Fields;
use super::kind::Kind;
use super::partition::Label;
use super::place::{Place, find};
use super::query::page_limit;
use super::render::{EntriesBody, EntryBody, json};
use super::save::{FIELDS, Save};
use super::{entries, list};
use axum::http::StatusCode;
use definitions::Tool;
use loci_engine::{Error, Purpose, SWITCHED_OFF};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What the feed shows as the reason of writes by an agent.
pub(super) const REMEMBERED: &str = "remembered";

/// Tools for a model.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusTools)]
pub(super) struct ToolsBody {
    /// None when the agent has no memory.
    #[schema(value_type = Vec<Object>)]
    tools: Vec<ToolDefinition>,
}

/// What a tool did.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusInvocation)]
pub(super) struct InvocationBody {
    /// `completed` or `failed`.
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    output: Option<Value>,
    /// What the model did wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// An entry and whether it is new.
#[derive(Serialize)]
struct RememberedBody {
    #[serde(flatten)]
    entry: EntryBody,
    created: bool,
}

/// The tools of an agent, to be given to its model; none when its memory is off.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent}/tools",
    tag = "mobius",
    summary = "List an agent's tools",
    responses((status = 200, body = ToolsBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn define(call: Call) -> Answer {
    let place = open(&call, Purpose::Read).await?;
    let tools = place.map(|_| definitions()).unwrap_or_default();
    Ok(json(StatusCode::OK, &ToolsBody { tools }))
}

/// Executes a tool; the body's `input` is what the model gave it.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent}/tools/{tool}/invoke",
    tag = "mobius",
    summary = "Execute a tool of an agent",
    request_body = Object,
    responses((status = 200, body = InvocationBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn invoke(call: Call) -> Answer {
    let tool = Tool::named(&call.segment(2)?).ok_or(Error::NotFound("tool"))?;
    let fields = call.fields()?;
    fields.only(&["input"])?;
    let outcome = match open(&call, Purpose::Read).await? {
        None => Err(SWITCHED_OFF.to_owned()),
        Some(place) => match run(&call, &place, tool, fields.raw("input").unwrap_or("{}")).await {
            Ok(output) => Ok(output),
            Err(problem) => Err(problem.for_model()?),
        },
    };
    let body = match outcome {
        Ok(output) => InvocationBody { status: "completed", output: Some(output), error: None },
        Err(error) => InvocationBody { status: "failed", output: None, error: Some(error) },
    };
    // How much a tool found is in its output, which is not measured.
    let bytes = if body.output.is_some() { usize::MAX } else { 0 };
    Ok(call.engine.written(bytes, move || json(StatusCode::OK, &body)).await?)
}

/// The agent's memory. None when it is switched off, for an administrator too, who stands in for a
/// model here.
async fn open(call: &Call, purpose: Purpose) -> Result<Option<Place>, Problem> {
    let found = find(call, &call.segment(0)?).await?;
    let is_off = found.as_ref().is_some_and(|agent| !agent.memory.is_on || !agent.memory.own);
    let is_own = found.is_some_and(|agent| agent.id == call.context.caller.principal);
    if is_off && (is_own || call.engine.acts_for_agents(&call.context)) {
        return Ok(None);
    }
    // Who has no right to it is not told that it is off.
    let place = Place::of(call, purpose).await?;
    Ok(Some(place).filter(|_| !is_off))
}

async fn run(call: &Call, place: &Place, tool: Tool, input: &str) -> Result<Value, Problem> {
    let input = Fields::read(input.as_bytes());
    let input = input.map_err(|_| Problem::invalid("input must be an object"))?;
    match tool {
        Tool::Recall => recall(call, place, &input).await,
        Tool::Remember => remember(call, &input).await,
        Tool::Forget => forget(call, &input).await,
    }
}

async fn recall(call: &Call, place: &Place, input: &Fields) -> Result<Value, Problem> {
    input.only(&["query", "kind", "limit", "cursor"])?;
    let kind = input.text("kind")?.map(|kind| Kind::parse(&kind)).transpose()?;
    let limit = page_limit(input.integer("limit")?)?;
    let mode = Some(SearchMode::Keyword);
    let cursor = input.text("cursor")?.filter(|cursor| !cursor.is_empty());
    let (listed, from) = entries::listed(input.text("query")?, kind, mode, cursor)?;
    let page = match place.desk(call) {
        Some(desk) => list::page(desk.shared(), &listed, from, limit).await?,
        None => EntriesBody::default(),
    };
    Ok(shown(&page))
}

async fn remember(call: &Call, input: &Fields) -> Result<Value, Problem> {
    let known: Vec<&str> = FIELDS.into_iter().chain(["key"]).collect();
    input.only(&known)?;
    let label = label(input)?;
    let new = Save::read(input)?;
    let place = Place::of(call, Purpose::Write).await?;
    let (memory, created) = place.made(call)?.save(&label, &new, REMEMBERED).await?;
    Ok(shown(&RememberedBody { entry: EntryBody::of(&memory, call.revision), created }))
}

async fn forget(call: &Call, input: &Fields) -> Result<Value, Problem> {
    input.only(&["key"])?;
    let label = label(input)?;
    let place = Place::of(call, Purpose::Change).await?;
    let deleted = match place.desk(call) {
        Some(desk) => desk.remove(&label, REMEMBERED).await?,
        None => false,
    };
    Ok(serde_json::json!({ "key": label.key, "deleted": deleted }))
}

fn label(input: &Fields) -> Result<Label, Problem> {
    let key = input.text("key")?.ok_or_else(|| Problem::invalid("key is needed"))?;
    Label::parse("", &key)
}

fn shown(body: &impl Serialize) -> Value {
    serde_json::to_value(body).expect("our bodies have string keys")
}
