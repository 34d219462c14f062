//! Entries by when they changed, the newest first; those with all words of a query, if there is one.
//!
//! A word is found anywhere in the key, the kind, the line about it or the text, whatever its case.
//! A store is read in steps until the page is full; a page may also end because enough was read, and
//! then says that there is more.

use super::cursor::{Listed, Position, show_page};
use super::entry::Desk;
use super::error::Problem;
use super::kind::Kind;
use super::partition::Label;
use super::render::{EntriesBody, EntryBody};
use crate::size;
use loci_model::query::{Direction, Filter, ListCursor, ListItem, ListOrder, ListQuery};
use loci_model::{Content, Memory, View};
use std::sync::Arc;

/// Memories looked through for one page.
const SCAN_MAX: usize = 5000;
/// Memories of one read, when most of them will not be shown.
const STEP: usize = 100;

/// A page of what is listed.
pub(super) async fn page(
    desk: Desk<'_>,
    listed: &Listed,
    from: Option<Position>,
    limit: usize,
) -> Result<EntriesBody, Problem> {
    let words = listed.query.split_whitespace().map(str::to_lowercase);
    let words: Arc<Vec<String>> = Arc::new(words.collect());
    let is_all = words.is_empty() && listed.kind.is_none();
    let mut query = ListQuery {
        order: ListOrder::Updated,
        direction: Direction::Descending,
        filter: Filter { kind: stored_kind(listed.kind), ..Filter::default() },
        after: match from {
            Some(Position::After(at, id)) => Some(ListCursor::Time(at, id)),
            Some(Position::Shown(_)) | None => None,
        },
        ..ListQuery::everything(View::Full, if is_all { limit + 1 } else { STEP })
    };
    let mut shown: Vec<Memory> = Vec::with_capacity(limit);
    let mut scanned = 0;
    loop {
        let page = desk.engine.list(desk.context, desk.store, &query).await?;
        scanned += page.items.len();
        let memories = page.items.into_iter().filter_map(|item| match item {
            ListItem::Memory(memory) => Some(memory),
            ListItem::Directory(_) => None,
        });
        let mut memories: Vec<_> = memories.collect();
        let (kind, wanted) = (listed.kind, Arc::clone(&words));
        // What is only listed has nothing looked for in it.
        let bytes = match words.is_empty() {
            true => 0,
            false => size::of_all(memories.iter().map(|memory| &**memory)),
        };
        let matching = desk.engine.computed(bytes, move || {
            memories.retain(|memory| matches(memory, kind, &wanted));
            memories
        });
        for memory in matching.await? {
            if !desk.is_entry(&memory).await? {
                continue;
            }
            if shown.len() == limit {
                let last = shown.last().map(|last| Position::After(last.updated_at, last.id));
                return Ok(body(desk, listed, &shown, last));
            }
            shown.push(*memory);
        }
        query.after = page.next;
        if query.after.is_none() || scanned >= SCAN_MAX {
            let next = query.after.as_ref().and_then(Position::of);
            return Ok(body(desk, listed, &shown, next));
        }
    }
}

/// The kind that storage can look for; facts are also what has another kind or none.
fn stored_kind(kind: Option<Kind>) -> Option<String> {
    kind.filter(|kind| *kind != Kind::Fact).map(|kind| kind.name().to_owned())
}

fn body(desk: Desk<'_>, listed: &Listed, shown: &[Memory], next: Option<Position>) -> EntriesBody {
    EntriesBody {
        items: shown.iter().map(|memory| EntryBody::of(memory, desk.revision)).collect(),
        has_more: next.is_some(),
        next_cursor: next.map(|next| show_page(listed, &next)),
        search_coverage: None,
    }
}

/// Whether a memory is of a kind and has all words.
fn matches(memory: &Memory, kind: Option<Kind>, words: &[String]) -> bool {
    let attributes = &memory.attributes;
    let shown_as = Kind::of(attributes.kind.as_deref());
    if kind.is_some_and(|kind| kind != shown_as) {
        return false;
    }
    if words.is_empty() {
        return true;
    }
    let text = memory.content.as_ref().and_then(Content::text).unwrap_or_default();
    let key = Label::of(&memory.path).key;
    let line = attributes.summary.as_deref().unwrap_or_default();
    // One after the other with something between them that is no part of a word.
    let whole = [key.as_str(), shown_as.name(), line, text].join("\n").to_lowercase();
    words.iter().all(|word| whole.contains(word.as_str()))
}
