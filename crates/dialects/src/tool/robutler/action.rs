//! `action` instead of `command`: what the clients before the nine commands say, over the same
//! entries. Keys are meant to the letter, and refusals are in those clients' words.

use super::address::{KEY_CHARS_MAX, Key};
use super::entry::kept;
use super::{access, read, write};
use crate::robutler::error::status;
use crate::tool::answer::{Answer, Json, Stop, is_beyond_words, json_of, says};
use crate::tool::desk::Desk;
use crate::tool::input::Input;
use crate::tool::place::Place;
use loci_engine::{Error, Purpose};
use loci_model::{Patch, limit};

/// Seconds that an entry may last: some three thousand years, which every clock can hold.
const SECS_MAX: i64 = 100_000_000_000;

/// Runs one action.
pub(in crate::tool) async fn run(desk: &Desk<'_>, input: &Input) -> Result<Answer, Error> {
    let may_share = !desk.options.hide_sharing;
    let ran = match input.command() {
        "get" => get(desk, input).await,
        "set" => set(desk, input).await,
        "delete" => delete(desk, input).await,
        "list" => list(desk, input).await,
        "search" => match input.has("query") {
            true => read::search(desk, input).await,
            false => says("query is required"),
        },
        "share" | "unshare" if may_share && !input.has("agent") => says("agent is required"),
        "share" if may_share => access::share(desk, input).await,
        "unshare" if may_share => access::unshare(desk, input).await,
        "stores" => access::stores(desk, input).await,
        _ => says(format!("Unknown action: {}", input.command_shown())),
    };
    match ran {
        Ok(result) => Ok(Answer::done(result)),
        Err(Stop::Says(words)) => Ok(Answer::refused_object(words)),
        Err(Stop::Fails(error)) if is_beyond_words(&error) => Err(error),
        Err(Stop::Fails(error)) => Ok(Answer::refused_object(words(input.command(), &error))),
    }
}

/// What those clients make of a refusal.
fn words(action: &str, error: &Error) -> String {
    match (action, status(error)) {
        ("get" | "set", 403) => "Access denied".to_owned(),
        (action, status) => format!("{action} failed: {status}"),
    }
}

async fn place(desk: &Desk<'_>, input: &Input, purpose: Purpose) -> Result<Place, Stop> {
    desk.place(desk.whose(input)?, purpose).await
}

fn key(input: &Input) -> Result<Key, Stop> {
    match input.text("key", KEY_CHARS_MAX)? {
        None => says("key is required"),
        Some(key) => Ok(Key::exact(key)),
    }
}

async fn get(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let key = key(input)?;
    read::get(desk, &place(desk, input, Purpose::Read).await?, &key).await
}

async fn set(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let key = key(input)?;
    let Some(value) = input.raw("value") else { return says("value is required") };
    let Some((content, mut attributes)) = kept(value) else {
        return says("value is not valid text");
    };
    attributes.expires_at = match input.integer("ttl")? {
        None if !input.is_null("ttl") => Patch::Keep,
        Some(secs @ 1..=SECS_MAX) => Patch::Set(Some(desk.engine.seams().now().plus_secs(secs))),
        Some(secs) if secs > SECS_MAX => return says("ttl is too large"),
        _ => Patch::Set(None),
    };
    let place = place(desk, input, Purpose::Change).await?;
    write::put(desk.shelf(&place), &key, content, attributes).await?;
    Ok(json_of("OK"))
}

async fn delete(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let key = key(input)?;
    let place = place(desk, input, Purpose::Change).await?;
    write::take_out(desk.shelf(&place), &key).await?;
    Ok(json_of("OK"))
}

async fn list(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let prefix = input.text("prefix", limit::PATH_BYTES_MAX)?.unwrap_or_default();
    let place = place(desk, input, Purpose::Read).await?;
    read::list(desk, desk.shelf(&place), prefix).await
}
