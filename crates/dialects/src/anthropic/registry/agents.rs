//! `/v1/agents` for clients of this API, which name its beta in a header. The same paths are the Mobius
//! door's, which is asked for agents that are not known here. The beta of agents itself says that no
//! other door is meant; that of memory stores is also sent by callers of both doors.

use super::{Sort, find, make, read};
use crate::anthropic::beta;
use crate::anthropic::body;
use crate::anthropic::call::{Answer, Call, plain};
use crate::anthropic::error::{Envelope, Problem};
use crate::anthropic::query::refuse;
use crate::anthropic::render::{Shown, json};
use crate::anthropic::sessions::{AgentBody, CreateAgent, FIRST_VERSION};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::{Method, Response, StatusCode};
use axum::middleware::Next;
use loci_engine::{Engine, Error};
use loci_model::store::validate_labels;
use loci_model::{Memory, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

const AGENTS: Sort = Sort { folder: "/agents", prefix: "agent_", noun: "agent" };
const ROUTE: &str = "/v1/agents";

/// What is kept of an agent.
#[derive(Serialize, Deserialize)]
struct Record {
    agent: AgentBody,
    metadata: BTreeMap<String, String>,
}

/// An agent by itself, with every key.
#[derive(Serialize, ToSchema)]
#[schema(as = ManagedAgent)]
pub(in crate::anthropic) struct AgentObject {
    #[serde(flatten)]
    agent: AgentBody,
    metadata: BTreeMap<String, String>,
    /// Always null.
    archived_at: Option<&'static str>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Shown<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Shown<Timestamp>,
}

/// Lets the clients of this API use the paths of another door.
pub(in crate::anthropic) async fn divert(
    State(engine): State<Engine>,
    request: Request,
    next: Next,
) -> Response<Body> {
    match ours(&request) {
        None => next.run(request).await,
        Some(Ours::Make) => plain(create).call(request, engine).await,
        Some(Ours::Nothing) => plain(super::unknown).call(request, engine).await,
        Some(Ours::Read) => {
            let (parts, _) = request.into_parts();
            let asked_again = Request::from_parts(parts.clone(), Body::empty());
            let request = Request::from_parts(parts, Body::empty());
            let found = plain(retrieve).call(request, engine).await;
            if found.status() != StatusCode::NOT_FOUND {
                return found;
            }
            let of_another = next.run(asked_again).await;
            if of_another.status() == StatusCode::NOT_FOUND { found } else { of_another }
        }
    }
}

/// What a request of a client of this API asks for.
enum Ours {
    Make,
    Read,
    Nothing,
}

fn ours(request: &Request) -> Option<Ours> {
    let rest = request.uri().path().strip_prefix(ROUTE)?.trim_start_matches('/');
    if !beta::names_either(request.headers()) || rest.contains('/') {
        return None;
    }
    match *request.method() {
        Method::POST if rest.is_empty() => Some(Ours::Make),
        Method::GET if !rest.is_empty() => Some(Ours::Read),
        _ => beta::names_agents(request.headers()).then_some(Ours::Nothing),
    }
}

/// Makes an agent.
#[utoipa::path(
    post,
    path = "/v1/agents",
    tag = "managed agents",
    request_body = CreateAgent,
    responses((status = 200, body = AgentObject), (status = "4XX", body = Envelope<'_>))
)]
pub(in crate::anthropic) async fn create(call: Call) -> Answer {
    let mut new: CreateAgent = body::read(&call.body)?;
    let metadata = new.metadata.take().unwrap_or_default();
    validate_labels(&metadata).map_err(Error::from)?;
    let record = |id: String| AgentBody::made(&id, new).map(|agent| Record { agent, metadata });
    let memory = make(&call, &AGENTS, record).await?;
    show(&memory)
}

/// Shows an agent. It has one version, the first: agents are not changed here.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent}",
    tag = "managed agents",
    params(
        ("agent" = String, Path),
        ("version" = Option<u64>, Query, minimum = 1, description = "this version of it"),
    ),
    responses((status = 200, body = AgentObject), (status = "4XX", body = Envelope<'_>))
)]
pub(in crate::anthropic) async fn retrieve(call: Call) -> Answer {
    let version: Option<u64> = call.query().parsed("version", "expected a number")?;
    if version == Some(0) {
        return Err(refuse("version", "must be at least 1"));
    }
    let id = call.param("agent").unwrap_or_default();
    let memory = find(&call, &AGENTS, id).await?.ok_or(Error::NotFound(AGENTS.noun))?;
    if version.is_some_and(|version| version != FIRST_VERSION) {
        return Err(Error::NotFound("agent version").into());
    }
    show(&memory)
}

fn show(memory: &Memory) -> Answer {
    let Record { agent, metadata } = read(memory).ok_or(Error::NotFound(AGENTS.noun))?;
    Ok(json(&AgentObject {
        agent,
        metadata,
        archived_at: None,
        created_at: Shown(memory.created_at),
        updated_at: Shown(memory.updated_at),
    }))
}

/// The agent that was made here under an id, if one was.
pub(in crate::anthropic) async fn known(
    call: &Call,
    id: &str,
) -> Result<Option<AgentBody>, Problem> {
    let memory = find(call, &AGENTS, id).await?;
    Ok(memory.and_then(|memory| read::<Record>(&memory)).map(|record| record.agent))
}
