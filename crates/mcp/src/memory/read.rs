//! `memory_read`: the text of one memory, in parts that fit. A cursor remembers which version it is
//! of, so that parts of two versions are never put together.

use super::definitions::READ;
use super::search::by;
use super::{Call, day};
use crate::arguments::Arguments;
use crate::cursor::{self, Question};
use crate::trouble::Trouble;
use crate::{budget, place};
use loci_engine::{Error, Purpose};
use loci_model::{At, Content, View};
use std::fmt::Write as _;

/// What the lines around the text take.
const FRAME_BYTES: usize = 200;

pub(super) async fn read(call: &Call<'_>) -> Result<String, Trouble> {
    let arguments = Arguments::of(call.given, &["path", "store", "cursor", budget::NAME])?;
    let path = arguments.path()?;
    let store = arguments.store()?;
    let room = budget::bytes(&arguments)?.saturating_sub(FRAME_BYTES);
    let question = Question::new(READ, &[path.as_str(), store.unwrap_or_default()]);
    let from = match arguments.text("cursor", cursor::CHARS_MAX)? {
        None => None,
        Some(cursor) => Some(position(&question.position(cursor)?)?),
    };
    let found = place::find(call.engine, call.context, store, Purpose::Read).await?;
    let found = found.ok_or(Error::NotFound("memory"))?;
    let at = At::Path(None, path.clone());
    let memory = call.engine.get(call.context, found, &at, View::Full).await?;
    let Some(text) = memory.content.as_ref().and_then(Content::text) else {
        let why = "this memory is sealed: only the program that wrote it can open it";
        return Err(Trouble::call(why));
    };
    let start = match from {
        None => 0,
        Some((revision, start)) if revision == memory.revision && text.is_char_boundary(start) => {
            start
        }
        Some(_) => {
            let why = "the memory has changed since; read it from the beginning, without a cursor";
            return Err(Trouble::call(why));
        }
    };
    let part = budget::head(&text[start..], room);
    let end = start + part.len();
    let author = call.engine.authors(call.context).of(&memory).await?;
    let mut shown = format!(
        "{path} (version {}, {}, {} bytes{})\n",
        memory.revision,
        day(memory.updated_at),
        memory.size_bytes,
        by(author.as_deref()),
    );
    if start > 0 || end < text.len() {
        let _ = writeln!(shown, "Bytes {start} to {end}:");
    }
    let _ = write!(shown, "\n{part}");
    if end < text.len() {
        let cursor = question.cursor(&format!("{}:{end}", memory.revision));
        let _ = write!(shown, "\n\nThere is more: cursor {cursor}");
    }
    Ok(shown)
}

fn position(text: &str) -> Result<(u64, usize), Trouble> {
    let parsed = text
        .split_once(':')
        .and_then(|(revision, start)| Some((revision.parse().ok()?, start.parse().ok()?)));
    parsed.ok_or_else(|| Trouble::call("this cursor is not one of ours"))
}
