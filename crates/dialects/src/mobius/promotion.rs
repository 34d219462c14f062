//! From one user's entries to everybody's: the entry is copied, and the copy taken away again. The
//! user's own is never touched.

use super::call::{Answer, Call};
use super::error::{ErrorBody, Problem};
use super::partition::Label;
use super::place::Place;
use super::render::{EntryBody, json, nothing};
use super::save::Save;
use axum::http::StatusCode;
use loci_engine::{Error, Purpose};

/// What the feed shows as the reasons.
pub(super) const PROMOTED: &str = "promoted";
pub(super) const REVERTED: &str = "promotion_reverted";

/// Which entry is shared, and over what.
#[derive(utoipa::ToSchema)]
#[schema(as = MobiusPromote)]
#[expect(dead_code, reason = "only described; the fields are read one by one")]
pub(super) struct PromoteBody {
    /// Whose entry.
    #[schema(min_length = 1, max_length = 200)]
    user_id: String,
    /// Whether it may go over one that is there.
    replace: Option<bool>,
}

/// Copies a user's entry to where everybody's are. Where one of the same key is, that is a conflict,
/// unless `replace` is said; then it becomes a new version of that one.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent}/memory/entries/{memory_key}/promotion",
    tag = "mobius",
    summary = "Share a user's entry",
    request_body = PromoteBody,
    responses((status = 200, body = EntryBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn promote(call: Call) -> Answer {
    let fields = call.fields()?;
    fields.only(&["user_id", "replace"])?;
    let user = fields.text("user_id")?.filter(|user| !user.is_empty());
    let user = user.ok_or_else(|| Problem::invalid("user_id is needed: whose entry"))?;
    let may_replace = fields.flag("replace")?.unwrap_or_default();
    let key = call.segment(3)?;
    let (private, shared) = (Label::parse(&user, &key)?, Label::parse("", &key)?);
    let place = Place::of(&call, Purpose::Change).await?;
    let desk = place.desk(&call).ok_or(Error::NotFound("memory"))?;
    let source = desk.read(&private).await?;
    let copy = source.as_ref().and_then(Save::like).ok_or(Error::NotFound("memory"))?;
    let (memory, _) = match may_replace {
        true => desk.save(&shared, &copy, PROMOTED).await?,
        false => desk.create(&shared, &copy, PROMOTED).await?,
    };
    Ok(json(StatusCode::OK, &EntryBody::of(&memory, call.revision)))
}

/// Takes everybody's entry of a key away; where there is none, that is done as well.
#[utoipa::path(
    delete,
    path = "/v1/agents/{agent}/memory/entries/{memory_key}/promotion",
    tag = "mobius",
    summary = "Take a shared entry back",
    responses((status = 204, description = "It is gone"), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn revert(call: Call) -> Answer {
    let label = Label::parse("", &call.segment(3)?)?;
    let place = Place::of(&call, Purpose::Change).await?;
    if let Some(desk) = place.desk(&call) {
        desk.remove(&label, REVERTED).await?;
    }
    Ok(nothing())
}
