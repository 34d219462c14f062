//! `memory_list`: what is where, one line each. Sealed memories are left out, and directories with
//! nothing else in them: a model cannot open them, and their paths are somebody's secret.

use super::definitions::{DEPTH_MAX, LIST};
use super::search::by;
use super::{Call, day};
use crate::arguments::Arguments;
use crate::cursor::{self, Question};
use crate::trouble::Trouble;
use crate::{budget, place};
use loci_engine::Purpose;
use loci_model::query::{ListCursor, ListItem, ListOrder, ListQuery};
use loci_model::{MemoryPath, PathPrefix, StoreId, View};
use std::fmt::Write as _;

/// How many are read at a time.
const PAGE: usize = 100;

pub(super) async fn list(call: &Call<'_>) -> Result<String, Trouble> {
    let known = ["path", "store", "depth", "cursor", budget::NAME];
    let arguments = Arguments::of(call.given, &known)?;
    let prefix = arguments.directory()?;
    let store = arguments.store()?;
    let depth = arguments.number("depth", 1..=DEPTH_MAX)?;
    let bytes_max = budget::bytes(&arguments)?;
    let depth_text = depth.map(|depth| depth.to_string()).unwrap_or_default();
    let question = Question::new(LIST, &[prefix.as_str(), store.unwrap_or_default(), &depth_text]);
    let after = match arguments.text("cursor", cursor::CHARS_MAX)? {
        None => None,
        Some(cursor) => Some(after(&question.position(cursor)?)?),
    };
    let Some(store) = place::find(call.engine, call.context, store, Purpose::Read).await? else {
        return Ok("Nothing is written there yet.".to_owned());
    };
    let mut query = ListQuery { prefix, after, ..ListQuery::everything(View::Basic, PAGE) };
    query.fold_depth = depth.and_then(|depth| usize::try_from(depth).ok());
    let mut text = String::new();
    let mut authors = call.engine.authors(call.context);
    loop {
        let page = call.engine.list(call.context, store, &query).await?;
        for item in &page.items {
            if !is_shown(call, store, item).await? {
                query.after = Some(item.cursor(ListOrder::Path));
                continue;
            }
            let author = match item {
                ListItem::Memory(memory) => authors.of(memory).await?,
                ListItem::Directory(_) => None,
            };
            let line = line(item, author.as_deref());
            if !text.is_empty() && text.len() + line.len() > bytes_max {
                if let Some(last) = &query.after {
                    let cursor = question.cursor(&spelled(last));
                    let _ = write!(text, "There is more: cursor {cursor}");
                }
                return Ok(text);
            }
            text.push_str(&line);
            query.after = Some(item.cursor(ListOrder::Path));
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    Ok(if text.is_empty() { "Nothing is there.".to_owned() } else { text })
}

/// Whether anything is there that can be read.
async fn is_shown(call: &Call<'_>, store: StoreId, item: &ListItem) -> Result<bool, Trouble> {
    let prefix = match (item, item.cursor(ListOrder::Path)) {
        (ListItem::Memory(memory), _) => return Ok(!memory.is_sealed),
        (ListItem::Directory(_), ListCursor::Directory(prefix)) => prefix,
        (ListItem::Directory(_), _) => return Ok(true),
    };
    let mut query = ListQuery { prefix, ..ListQuery::everything(View::Basic, PAGE) };
    loop {
        let page = call.engine.list(call.context, store, &query).await?;
        let is_open =
            |item: &ListItem| matches!(item, ListItem::Memory(memory) if !memory.is_sealed);
        if page.items.iter().any(is_open) {
            return Ok(true);
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(false),
        }
    }
}

fn line(item: &ListItem, author: Option<&str>) -> String {
    match item {
        ListItem::Directory(path) => format!("{path}\n"),
        ListItem::Memory(memory) => {
            let summary = memory.attributes.summary.as_deref().unwrap_or_default();
            let about = if summary.is_empty() { String::new() } else { format!(": {summary}") };
            format!(
                "{} ({} bytes, version {}, {}{}){about}\n",
                memory.path,
                memory.size_bytes,
                memory.revision,
                day(memory.updated_at),
                by(author),
            )
        }
    }
}

/// Where a page ended, as text.
fn spelled(cursor: &ListCursor) -> String {
    match cursor {
        ListCursor::Memory(path, id) => format!("m{id} {path}"),
        ListCursor::Directory(prefix) => format!("d{}", prefix.as_str()),
        // Only listings by time have these, and ours is by path.
        ListCursor::Time(_, id) => format!("t{id}"),
    }
}

fn after(position: &str) -> Result<ListCursor, Trouble> {
    let parsed = match position.split_at_checked(1) {
        Some(("d", prefix)) => PathPrefix::parse(prefix).ok().map(ListCursor::Directory),
        Some(("m", rest)) => rest.split_once(' ').and_then(|(id, path)| {
            Some(ListCursor::Memory(MemoryPath::parse(path).ok()?, id.parse().ok()?))
        }),
        _ => None,
    };
    parsed.ok_or_else(|| Trouble::call("this cursor is not one of ours"))
}
