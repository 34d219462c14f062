//! The nine commands of the Robutler memory skill: entries under keys, in stores that agents share.
//!
//! Sentences are those of the published client, which made them of HTTP statuses; a refusal by the
//! core becomes the sentence that the client would have made of it.

mod access;
mod action;
mod address;
mod entry;
mod read;
mod write;

use super::answer::{
    Answer, Json, NOT_THE_GIVER, NOT_THE_WRITER, SWITCHED_OFF, Stop, is_beyond_words, says,
};
use super::desk::Desk;
use super::input::Input;
use crate::robutler::error::status;
use loci_engine::Error;

pub(super) use action::run as run_action;

/// Runs one command.
pub(super) async fn run(desk: &Desk<'_>, input: &Input) -> Result<Answer, Error> {
    let may_share = !desk.options.hide_sharing;
    let ran = match input.command() {
        "view" => read::view(desk, input).await,
        "create" => write::create(desk, input).await,
        "edit" => write::edit(desk, input).await,
        "delete" => write::delete(desk, input).await,
        "rename" => write::rename(desk, input).await,
        "search" => read::search(desk, input).await,
        "share" if may_share => access::share(desk, input).await,
        "unshare" if may_share => access::unshare(desk, input).await,
        "stores" => access::stores(desk, input).await,
        _ => unknown(input, may_share),
    };
    match ran {
        Ok(result) => Ok(Answer::done(result)),
        Err(Stop::Says(words)) => Ok(Answer::refused_object(words)),
        Err(Stop::Fails(error)) if is_beyond_words(&error) => Err(error),
        Err(Stop::Fails(error)) => Ok(Answer::refused_object(words(input.command(), &error))),
    }
}

fn unknown(input: &Input, may_share: bool) -> Result<Json, Stop> {
    let sharing = if may_share { "share, unshare, " } else { "" };
    let command = input.command_shown();
    says(format!(
        "Unknown command: {command}. Use view, create, edit, delete, rename, search, {sharing}or \
         stores."
    ))
}

/// What the client makes of a refusal.
fn words(command: &str, error: &Error) -> String {
    match (command, error) {
        (_, Error::Denied(why @ (SWITCHED_OFF | NOT_THE_WRITER | NOT_THE_GIVER))) => {
            let mut chars = why.chars();
            let first = chars.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(chars).collect()
        }
        ("share" | "unshare", Error::Denied(_)) => {
            format!("You need write access to {command} this store")
        }
        ("search" | "stores", Error::Denied(_)) => format!("Memory {command} failed: 403"),
        (_, Error::Denied(_) | Error::NotFound("memory store")) => {
            "Access denied to this store".to_owned()
        }
        (_, Error::Archived) => "Access denied to this store: it is archived".to_owned(),
        (_, Error::TooLarge { .. }) => "Value too large".to_owned(),
        (_, Error::OverQuota(_)) => "Key limit reached for this store".to_owned(),
        (_, Error::Invalid(invalid)) => format!("Memory {command} failed: 400 ({invalid})"),
        (_, error) => format!("Memory {command} failed: {}", status(error)),
    }
}
