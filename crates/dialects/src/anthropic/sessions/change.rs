//! Changing what a session is given beside memory stores. Each change is made to what the session is
//! when it is written, so that changes at the same time keep each other; a repeated request is answered
//! from what the first one left.

use super::render::Details;
use super::resources::UpdateResource;
use super::resources::{FileResource, GithubRepositoryResource, OTHERS_MAX, OtherBody, Placed};
use super::{NOUN, request, session_id};
use crate::anthropic::body;
use crate::anthropic::call::{Answer, Call};
use crate::anthropic::error::{Envelope, Problem};
use crate::anthropic::query::refuse;
use crate::anthropic::render::{DeletedBody, deleted, json};
use loci_engine::Error;
use loci_model::Session;
use serde::Deserialize;
use utoipa::ToSchema;

/// How often a change is tried again because another one came between.
const ATTEMPTS_MAX: usize = 20;

/// What can be added to a session.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = AddSessionResource)]
#[expect(dead_code, reason = "describes what `request::added` reads")]
pub(in crate::anthropic) enum AddedResource {
    File(FileResource),
    Repository(GithubRepositoryResource),
}

/// Adds a file or a repository to a session. Memory stores are attached when a session is made.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/resources",
    tag = "sessions",
    params(("session_id" = String, Path)),
    request_body = AddedResource,
    responses((status = 200, body = OtherBody), (status = "4XX", body = Envelope<'_>))
)]
pub(in crate::anthropic) async fn add_resource(call: Call) -> Answer {
    let mut placed = request::added(&call.body)?.placed(&call.engine, usize::MAX)?;
    let session = change(&call, |session, details| {
        if details.others.len() >= OTHERS_MAX {
            let why = format!("takes at most {OTHERS_MAX} beside memory stores");
            return Err(refuse("resources", why));
        }
        placed.put_at(session.attachments.len() + details.others.len());
        details.others.push(placed.clone());
        Ok(())
    })
    .await?;
    Ok(json(added_to(&Details::of(&session), placed.resource())))
}

/// The resource that was just added to a session: by this request, or by the one that it repeats.
fn added_to<'d>(details: &'d Details, added: &'d OtherBody) -> &'d OtherBody {
    let mut resources = details.others.iter().rev().map(Placed::resource);
    let itself = resources.clone().find(|one| one.id() == added.id());
    itself.or_else(|| resources.find(|one| one.is_like(added))).unwrap_or(added)
}

/// Gives a repository a new token, which is taken and not kept.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/resources/{resource_id}",
    tag = "sessions",
    params(("session_id" = String, Path), ("resource_id" = String, Path)),
    request_body = UpdateResource,
    responses((status = 200, body = OtherBody), (status = "4XX", body = Envelope<'_>))
)]
pub(in crate::anthropic) async fn update_resource(call: Call) -> Answer {
    let _: UpdateResource = body::read(&call.body)?;
    let now = call.engine.seams().now();
    let session = change(&call, |_, details| {
        let at = position(&call, details)?;
        details.others[at].rotate(now)
    })
    .await?;
    let details = Details::of(&session);
    Ok(json(details.others[position(&call, &details)?].resource()))
}

/// Takes a file or a repository away from a session.
#[utoipa::path(
    delete,
    path = "/v1/sessions/{session_id}/resources/{resource_id}",
    tag = "sessions",
    params(("session_id" = String, Path), ("resource_id" = String, Path)),
    responses((status = 200, body = DeletedBody), (status = "4XX", body = Envelope<'_>))
)]
pub(in crate::anthropic) async fn delete_resource(call: Call) -> Answer {
    change(&call, |_, details| {
        let gone = details.others.remove(position(&call, details)?);
        for placed in &mut details.others {
            placed.close_up(&gone);
        }
        Ok(())
    })
    .await?;
    Ok(deleted(call.param("resource_id").unwrap_or_default(), "session_resource_deleted"))
}

/// Where the resource that a request names is among the others of its session.
fn position(call: &Call, details: &Details) -> Result<usize, Problem> {
    let wanted = call.param("resource_id");
    let mut others = details.others.iter();
    let found = others.position(|placed| Some(placed.resource().id()) == wanted);
    found.ok_or_else(|| Error::NotFound(NOUN).into())
}

/// Changes the session that a request names.
async fn change(
    call: &Call,
    mut apply: impl FnMut(&Session, &mut Details) -> Result<(), Problem>,
) -> Result<Session, Problem> {
    let id = session_id(call)?;
    if let Some(session) = call.engine.repeated_session(&call.context).await? {
        return Ok(session);
    }
    for _ in 0..ATTEMPTS_MAX {
        let session = call.engine.session(&call.context, id).await?;
        if session.archived_at.is_some() {
            return Err(refuse("session", "is archived"));
        }
        let mut details = Details::of(&session);
        apply(&session, &mut details)?;
        match call.engine.detail_session(&call.context, &session, details.to_text()).await {
            Err(Error::ExpectFailed) => {}
            changed => return Ok(changed?),
        }
    }
    Err(Error::Unavailable("others change this session all the time; try again").into())
}
