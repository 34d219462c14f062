//! The routes of entries: listed and searched, saved, deleted.

use super::call::{Answer, Call, Revision};
use super::cursor::{Listed, Position, SearchMode, parse_page};
use super::error::{ErrorBody, Problem};
use super::kind::Kind;
use super::partition::Label;
use super::place::Place;
use super::render::{EntriesBody, EntryBody, json, nothing};
use super::save::{FIELDS, Save, SaveBody};
use super::{list, search};
use axum::http::StatusCode;
use loci_engine::Purpose;

/// What the feed shows as the reason of writes that a person or program made.
const REASON: &str = "api";
/// Characters of a query: it travels in cursors.
const QUERY_CHARS_MAX: usize = 1024;

/// Lists the entries of an agent, those that changed last first, or searches them. `query` finds all
/// of its words anywhere in key, kind, summary and content; `search_mode` compares meaning instead.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent}/memory/entries",
    tag = "mobius",
    summary = "List or search an agent's entries",
    params(
        ("query" = Option<String>, Query, description = "What to look for; up to 1024 characters"),
        ("kind" = Option<String>, Query, description = "`fact`, `preference`, `episode` or `summary`"),
        ("search_mode" = Option<String>, Query, description = "`keyword` (default), `semantic` or `hybrid`"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the page before"),
        ("limit" = Option<u32>, Query, description = "1 to 100, otherwise 20"),
    ),
    responses(
        (status = 200, body = EntriesBody),
        (status = 503, description = "Meaning cannot be compared now", body = ErrorBody<'_>),
        (status = "4XX", body = ErrorBody<'_>),
    )
)]
pub(super) async fn many(call: Call) -> Answer {
    let limit = call.query().limit()?;
    let (listed, from) = wanted(&call)?;
    let place = Place::of(&call, Purpose::Read).await?;
    let page = page(&call, &place, &listed, from, limit).await?;
    let written = call.engine.written(page.bytes(), move || json(StatusCode::OK, &page));
    Ok(written.await?)
}

/// A page of what is listed.
async fn page(
    call: &Call,
    place: &Place,
    listed: &Listed,
    from: Option<Position>,
    limit: usize,
) -> Result<EntriesBody, Problem> {
    if listed.mode != SearchMode::Keyword && !listed.query.is_empty() {
        return search::page(call, place, listed, from, limit).await;
    }
    match place.desk(call) {
        Some(desk) => list::page(desk, listed, from, limit).await,
        None => Ok(EntriesBody::default()),
    }
}

/// What a query string lists, and from where. A cursor goes on with what it is of.
fn wanted(call: &Call) -> Result<(Listed, Option<Position>), Problem> {
    let query = call.query();
    let text = query.get("query")?;
    let kind = query.get("kind")?.map(|kind| Kind::parse(&kind)).transpose()?;
    let mode =
        match query.get("search_mode")? {
            None => None,
            Some(mode) => Some(SearchMode::parse(&mode).ok_or_else(|| {
                Problem::invalid("search_mode must be keyword, semantic or hybrid")
            })?),
        };
    listed(text, kind, mode, query.get("cursor")?)
}

/// What is listed, and from where, wherever the parts came from.
pub(super) fn listed(
    text: Option<String>,
    kind: Option<Kind>,
    mode: Option<SearchMode>,
    cursor: Option<String>,
) -> Result<(Listed, Option<Position>), Problem> {
    let text = text.unwrap_or_default().trim().to_owned();
    if text.chars().count() > QUERY_CHARS_MAX {
        return Err(Problem::invalid(format!("query takes up to {QUERY_CHARS_MAX} characters")));
    }
    let Some(cursor) = cursor else {
        let mode = mode.filter(|_| !text.is_empty()).unwrap_or_default();
        return Ok((Listed { query: text, kind, mode }, None));
    };
    let parsed = parse_page(&cursor);
    let (known, from) = parsed.ok_or_else(|| Problem::invalid("cursor is not one of this list"))?;
    let is_same = (text.is_empty() || text == known.query)
        && kind.is_none_or(|kind| Some(kind) == known.kind)
        && mode.is_none_or(|mode| mode == known.mode || known.query.is_empty());
    if !is_same {
        return Err(Problem::invalid("cursor is of another query"));
    }
    Ok((known, Some(from)))
}

/// Writes an entry, over what is there: 201 for a new one, 200 for a new version. What is not said
/// stays as it was.
#[utoipa::path(
    put,
    path = "/v1/agents/{agent}/memory/entries/{memory_key}",
    tag = "mobius",
    summary = "Save an entry",
    request_body = SaveBody,
    responses(
        (status = 200, description = "A new version", body = EntryBody),
        (status = 201, description = "A new entry", body = EntryBody),
        (status = "4XX", body = ErrorBody<'_>),
    )
)]
pub(super) async fn save(call: Call) -> Answer {
    let fields = call.fields()?;
    let user = match call.revision {
        Revision::A => {
            fields.only(&FIELDS)?;
            String::new()
        }
        Revision::B => {
            let known: Vec<&str> = FIELDS.into_iter().chain(["user_id"]).collect();
            fields.only(&known)?;
            fields.text("user_id")?.unwrap_or_default()
        }
    };
    let label = Label::parse(&user, &call.segment(3)?)?;
    let new = Save::read(&fields)?;
    let place = Place::of(&call, Purpose::Write).await?;
    let (memory, is_new) = place.made(&call)?.save(&label, &new, REASON).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let body = EntryBody::of(&memory, call.revision);
    Ok(call.engine.written(body.bytes(), move || json(status, &body)).await?)
}

/// Deletes an entry; one that is not there is deleted as well.
#[utoipa::path(
    delete,
    path = "/v1/agents/{agent}/memory/entries/{memory_key}",
    tag = "mobius",
    summary = "Delete an entry",
    params(("user_id" = Option<String>, Query, description = "Whose entry; everybody's when empty. Only without projects in the path")),
    responses((status = 204, description = "It is gone"), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn remove(call: Call) -> Answer {
    let user = match call.revision {
        Revision::A => None,
        Revision::B => call.query().get("user_id")?,
    };
    let label = Label::parse(&user.unwrap_or_default(), &call.segment(3)?)?;
    let place = Place::of(&call, Purpose::Change).await?;
    if let Some(desk) = place.desk(&call) {
        desk.remove(&label, REASON).await?;
    }
    Ok(nothing())
}
