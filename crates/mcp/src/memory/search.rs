//! `memory_search`: pieces of what fits, best first, with where they are from.

use super::definitions::{RESULTS_MAX, SEARCH};
use super::{Call, day};
use crate::arguments::Arguments;
use crate::budget;
use crate::cursor::{self, Question};
use crate::place;
use crate::trouble::Trouble;
use loci_engine::search::{Hit, Reach, SearchRequest, Wanted};
use loci_engine::{Engine, Purpose, Reached};
use loci_model::{StoreId, View, limit};
use std::collections::HashMap;
use std::fmt::Write as _;

const RESULTS_DEFAULT: u64 = 10;
/// Characters of a piece: enough to judge, little enough for ten of them.
const SNIPPET_CHARS: usize = 300;

/// The stores that the caller has, and what they are called.
pub(super) struct Shelves {
    reached: Vec<Reached>,
    labels: HashMap<StoreId, String>,
}

impl Shelves {
    pub(super) async fn of(call: &Call<'_>) -> Result<Self, Trouble> {
        let reached = call.engine.stores_of(call.context).await?;
        let label = |one: &Reached| (one.store.id, place::label(one, call.context));
        Ok(Self { labels: reached.iter().map(label).collect(), reached })
    }

    /// What a store is called.
    fn label(&self, store: StoreId) -> String {
        self.labels.get(&store).cloned().unwrap_or_else(|| store.to_string())
    }

    fn reach(&self) -> Reach {
        let ids = self.reached.iter().map(|one| one.store.id);
        Reach::Among(ids.take(limit::SEARCH_STORES_MAX).collect())
    }
}

pub(super) async fn search(call: &Call<'_>) -> Result<String, Trouble> {
    let known = ["query", "store", "limit", "cursor", budget::NAME];
    let arguments = Arguments::of(call.given, &known)?;
    let query = arguments.needed("query", limit::QUERY_CHARS_MAX)?;
    if query.trim().is_empty() {
        return Err(Trouble::call("query must not be empty"));
    }
    let store = arguments.store()?;
    let bytes_max = budget::bytes(&arguments)?;
    let wanted = arguments.number("limit", 1..=RESULTS_MAX)?.unwrap_or(RESULTS_DEFAULT);
    let question = Question::new(SEARCH, &[query, store.unwrap_or_default()]);
    let skip = match arguments.text("cursor", cursor::CHARS_MAX)? {
        None => 0,
        Some(cursor) => question.position(cursor)?.parse::<usize>().unwrap_or(0),
    };
    let shelves = Shelves::of(call).await?;
    let reach = match store {
        None => shelves.reach(),
        Some(_) => match place::find(call.engine, call.context, store, Purpose::Search).await? {
            Some(id) => Reach::Store(id),
            None => return Ok(nothing()),
        },
    };
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    let asked = (skip + wanted + 1).min(limit::SEARCH_RESULTS_MAX);
    let hits = found(call, reach, query, asked).await?;
    // What is sealed is left out, and counts for where a page ends.
    let open = hits.iter().enumerate().skip(skip).filter(|(_, hit)| !hit.memory.is_sealed);
    let (places, page): (Vec<usize>, Vec<&Hit>) = open.take(wanted).unzip();
    if page.is_empty() {
        return Ok(nothing());
    }
    let authors = authors(call, &page).await?;
    let (mut text, shown) = render(&page, &authors, skip, bytes_max, &shelves);
    let end = places.get(shown).copied().unwrap_or_else(|| places[places.len() - 1] + 1);
    if end < hits.len() {
        let cursor = question.cursor(&end.to_string());
        let _ = write!(text, "There is more: cursor {cursor}");
    }
    Ok(text)
}

/// The best of what fits a query.
pub(super) async fn found(
    call: &Call<'_>,
    reach: Reach,
    query: &str,
    limit: usize,
) -> Result<Vec<Hit>, Trouble> {
    if matches!(&reach, Reach::Among(stores) if stores.is_empty()) {
        return Ok(Vec::new());
    }
    let request = SearchRequest {
        reach,
        wanted: Wanted::new(query, limit),
        view: View::Basic,
        explain: false,
        content_bytes_max: usize::MAX,
        snippet_chars: SNIPPET_CHARS,
        as_of: None,
        wait: None,
    };
    Ok(Engine::search(call.engine, call.context, &request).await?.hits)
}

/// Who wrote each result, where it was not whose store it is.
pub(super) async fn authors(
    call: &Call<'_>,
    hits: &[&Hit],
) -> Result<Vec<Option<String>>, Trouble> {
    let mut authors = call.engine.authors(call.context);
    let mut names = Vec::with_capacity(hits.len());
    for hit in hits {
        names.push(authors.of(&hit.memory).await?);
    }
    Ok(names)
}

/// Results as text, as many as fit but at least one, and how many those are.
pub(super) fn render(
    hits: &[&Hit],
    authors: &[Option<String>],
    skip: usize,
    bytes_max: usize,
    shelves: &Shelves,
) -> (String, usize) {
    let mut text = String::new();
    for (at, (hit, author)) in hits.iter().zip(authors).enumerate() {
        let memory = &hit.memory;
        let by = by(author.as_deref());
        let (before, after) = (cut(hit.snippet.is_cut_before), cut(hit.snippet.is_cut_after));
        let one = format!(
            "{}. {} ({}, version {}, {}{by})\n> {before}{}{after}\n",
            skip + at + 1,
            memory.path,
            shelves.label(memory.store),
            memory.revision,
            day(memory.updated_at),
            hit.snippet.text,
        );
        if at > 0 && text.len() + one.len() > bytes_max {
            return (text, at);
        }
        text.push_str(&one);
    }
    (text, hits.len())
}

/// By whom, after what else is said of a memory. A name takes one line whatever is in it.
pub(super) fn by(author: Option<&str>) -> String {
    let plain = |name: &str| name.replace(char::is_control, " ");
    author.map(|name| format!(", by {}", plain(name))).unwrap_or_default()
}

fn cut(is_cut: bool) -> &'static str {
    if is_cut { "…" } else { "" }
}

fn nothing() -> String {
    "Nothing was found. Try other words, or list what is there with memory_list.".to_owned()
}
