//! Sessions, as far as giving an agent its memory stores needs them: made with stores attached,
//! read, listed, described, archived, deleted.
//!
//! This server runs no agents: any id of an agent or an environment is accepted and given back, what
//! an agent was made with here ([`super::registry`]) is shown, the status is always `idle`, and initial
//! events are checked and dropped.

mod agent;
mod budget;
pub(super) mod change;
pub(super) mod render;
pub(super) mod request;
pub(super) mod resources;
mod tools;

pub(super) use agent::{AgentBody, CreateAgent, FIRST_VERSION};

use super::body;
use super::call::{Answer, Call};
use super::error::{Envelope, Problem};
use super::registry;
use super::render::{DeletedBody, PageBody, deleted, json};
use loci_engine::Error;
use loci_model::SessionId;
use render::{Details, SessionBody, SessionPageBody};
use request::{CreateSession, UpdateSession};
use resources::{AnyResource, OtherBody, Placed};

/// What a missing resource is called.
const NOUN: &str = "session resource";

/// Makes a session with memory stores attached.
#[utoipa::path(
    post,
    path = "/v1/sessions",
    tag = "sessions",
    request_body = CreateSession,
    responses((status = 200, body = SessionBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn create(call: Call) -> Answer {
    let new = body::read::<CreateSession>(&call.body)?;
    let known = match new.agent_id() {
        Some(id) => registry::agents::known(&call, id).await?,
        None => None,
    };
    let new = new.into_new(&call.engine, known)?;
    let session = call.engine.create_session(&call.context, new).await?;
    Ok(json(&SessionBody::of(&session)))
}

/// Lists sessions by creation, newest first.
#[utoipa::path(
    get,
    path = "/v1/sessions",
    tag = "sessions",
    params(
        ("memory_store_id" = Option<String>, Query, description = "with this store attached"),
        ("agent_id" = Option<String>, Query, description = "of this agent"),
        ("agent_version" = Option<u64>, Query, description = "of this version; only with agent_id"),
        ("deployment_id" = Option<String>, Query, description = "matches nothing: there are no deployments"),
        ("statuses[]" = Option<Vec<String>>, Query, description = "in one of these states; all are idle"),
        ("created_at[gt]" = Option<String>, Query, description = "created after this time"),
        ("created_at[gte]" = Option<String>, Query, description = "created at or after this time"),
        ("created_at[lt]" = Option<String>, Query, description = "created before this time"),
        ("created_at[lte]" = Option<String>, Query, description = "created at or before this time"),
        ("include_archived" = Option<bool>, Query, description = "archived sessions too"),
        ("order" = Option<String>, Query, description = "asc or desc (default)"),
        ("limit" = Option<u32>, Query, description = "1 to 100, 20 when not given"),
        ("page" = Option<String>, Query, description = "`next_page` or `prev_page` of another page"),
    ),
    responses((status = 200, body = SessionPageBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn list(call: Call) -> Answer {
    let listing = request::listing(call.query())?;
    let page = call.engine.list_sessions(&call.context, &listing.query).await?;
    Ok(render::page(page, &listing))
}

/// Reads a session.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}",
    tag = "sessions",
    params(("session_id" = String, Path)),
    responses((status = 200, body = SessionBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn retrieve(call: Call) -> Answer {
    let id = session_id(&call)?;
    let session = call.engine.session(&call.context, id).await?;
    Ok(json(&SessionBody::of(&session)))
}

/// Changes a session's title and metadata.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}",
    tag = "sessions",
    params(("session_id" = String, Path)),
    request_body = UpdateSession,
    responses((status = 200, body = SessionBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn update(call: Call) -> Answer {
    let update: UpdateSession = body::read(&call.body)?;
    let (title, metadata) = update.into_patch();
    let (engine, id) = (&call.engine, session_id(&call)?);
    let session = engine.describe_session(&call.context, id, title, metadata).await?;
    Ok(json(&SessionBody::of(&session)))
}

/// Deletes a session; its stores remain.
#[utoipa::path(
    delete,
    path = "/v1/sessions/{session_id}",
    tag = "sessions",
    params(("session_id" = String, Path)),
    responses((status = 200, body = DeletedBody), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn delete(call: Call) -> Answer {
    let id = session_id(&call)?;
    let id = call.engine.remove_session(&call.context, id).await?;
    Ok(deleted(id, "session_deleted"))
}

/// Archives a session.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/archive",
    tag = "sessions",
    params(("session_id" = String, Path)),
    responses((status = 200, body = SessionBody<'_>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn archive(call: Call) -> Answer {
    body::read_none(&call.body)?;
    let id = session_id(&call)?;
    let session = call.engine.archive_session(&call.context, id).await?;
    Ok(json(&SessionBody::of(&session)))
}

/// Lists what is attached to a session; without a limit, all of it.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/resources",
    tag = "sessions",
    params(
        ("session_id" = String, Path),
        ("limit" = Option<u32>, Query, description = "1 to 1,000, everything when not given"),
        ("page" = Option<String>, Query, description = "`next_page` of the page before"),
    ),
    responses((status = 200, body = PageBody<AnyResource<'_>>), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn list_resources(call: Call) -> Answer {
    let window = request::resources(call.query())?;
    let id = session_id(&call)?;
    let session = call.engine.session(&call.context, id).await?;
    Ok(render::some_resources(&session, window))
}

/// Shows a file or a repository of a session; attached memory stores have no ids of their own.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/resources/{resource_id}",
    tag = "sessions",
    params(("session_id" = String, Path), ("resource_id" = String, Path)),
    responses((status = 200, body = OtherBody), (status = "4XX", body = Envelope<'_>))
)]
pub(super) async fn retrieve_resource(call: Call) -> Answer {
    let id = session_id(&call)?;
    let session = call.engine.session(&call.context, id).await?;
    let details = Details::of(&session);
    let wanted = call.param("resource_id");
    let mut resources = details.others.iter().map(Placed::resource);
    let found = resources.find(|one| Some(one.id()) == wanted);
    Ok(json(found.ok_or(Error::NotFound(NOUN))?))
}

fn session_id(call: &Call) -> Result<SessionId, Problem> {
    call.id("session_id", "session")
}
