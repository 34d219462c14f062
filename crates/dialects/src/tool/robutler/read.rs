//! `view` and `search`: entries as JSON, one, those of a store, or those a query finds.

use super::access::reachable;
use super::address::{Key, Target, What, target};
use super::entry::{self, Shown, Writers, key_of};
use crate::tool::answer::{Json, Stop, json_of, says};
use crate::tool::desk::Desk;
use crate::tool::input::Input;
use crate::tool::place::Place;
use crate::tool::shelf::{SCAN_MAX, Shelf};
use loci_engine::Purpose;
use loci_engine::search::{Reach, SearchRequest, Wanted};
use loci_model::{Memory, PathPrefix, StoreId, View, limit};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// Entries of one list.
const LISTED_MAX: usize = 1000;
/// Results of one search.
const FOUND_MAX: i64 = 50;
/// Bytes of the values in one answer: more than a model reads.
const VALUES_BYTES_MAX: usize = 1024 * 1024;

/// One entry (null when there is none), or the entries of a store.
pub(super) async fn view(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let Some(Target { whose, what, .. }) = target(desk, input)? else {
        return says("path is required for view");
    };
    let key = match what {
        What::Nothing => return says("path is required for view"),
        What::List(prefix) => {
            let place = desk.place(whose, Purpose::Read).await?;
            return list(desk, desk.shelf(&place), &prefix).await;
        }
        What::Entry(key) => key,
    };
    let place = desk.place(whose, Purpose::Read).await?;
    get(desk, &place, &key).await
}

/// An entry of a key, or null.
pub(super) async fn get(desk: &Desk<'_>, place: &Place, key: &Key) -> Result<Json, Stop> {
    let shelf = desk.shelf(place);
    let Some(newest) = entry::at(shelf, key).await?.into_iter().next() else {
        return Ok(json_of(&()));
    };
    let Some(memory) = shelf.load(newest.id).await? else { return Ok(json_of(&())) };
    let bytes = memory.size_bytes as usize;
    let shown = Writers::default().show(desk, memory, &place.name).await?;
    Ok(desk.engine.written(bytes, move || json_of(&shown)).await?)
}

/// The entries whose keys begin with a prefix, by key. An answer that had to leave some out says
/// so.
pub(super) async fn list(desk: &Desk<'_>, shelf: Shelf<'_>, prefix: &str) -> Result<Json, Stop> {
    let tree = shelf.below(&PathPrefix::root(), SCAN_MAX).await?;
    let mut newest: BTreeMap<String, Memory> = BTreeMap::new();
    for memory in tree.memories {
        let Some(key) = key_of(&memory).filter(|key| key.starts_with(prefix)) else {
            continue;
        };
        let is_newer =
            |known: &Memory| (known.updated_at, known.id) < (memory.updated_at, memory.id);
        if newest.get(&key).is_none_or(is_newer) {
            newest.insert(key, memory);
        }
    }
    let mut is_cut = tree.is_cut || newest.len() > LISTED_MAX;
    let (mut entries, mut writers, mut bytes) = (Vec::new(), Writers::default(), 0);
    for memory in newest.values().take(LISTED_MAX) {
        bytes += memory.size_bytes as usize;
        if bytes > VALUES_BYTES_MAX {
            is_cut = true;
            break;
        }
        if let Some(memory) = shelf.listed(memory.id).await? {
            entries.push(writers.show(desk, memory, &shelf.place.name).await?);
        }
    }
    let entries = Entries { entries, truncated: is_cut.then_some(true), ..Entries::default() };
    Ok(desk.engine.written(bytes, move || json_of(&entries)).await?)
}

/// Several entries.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entries {
    entries: Vec<Shown>,
    /// Whether there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// How many stores a search left out because they were searched too often.
    #[serde(skip_serializing_if = "Option::is_none")]
    stores_left_out: Option<usize>,
}

/// What a query finds in one store, or in all that the agent can reach here and now.
pub(super) async fn search(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let query = input.text("query", limit::QUERY_CHARS_MAX)?.unwrap_or_default();
    if query.trim().is_empty() {
        return says("query is required for search");
    }
    let count = match input.integer("limit")? {
        None => limit::SEARCH_RESULTS_DEFAULT,
        Some(count @ 1..=FOUND_MAX) => count as usize,
        Some(_) => return says(format!("limit takes 1 to {FOUND_MAX}")),
    };
    let names = stores_to_search(desk, input).await?;
    let reach = match input.names_store() {
        true => Reach::Stores,
        false => Reach::Among,
    };
    if names.is_empty() {
        return Ok(json_of(&Entries::default()));
    }
    let request = SearchRequest {
        reach: reach(names.keys().copied().collect()),
        wanted: Wanted::new(query, count),
        view: View::Full,
        explain: false,
        content_bytes_max: VALUES_BYTES_MAX,
        snippet_chars: 0,
        as_of: None,
        wait: None,
    };
    let found = desk.engine.search(&desk.context, &request).await?;
    let (mut entries, mut writers) = (Vec::new(), Writers::default());
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    for hit in found.hits {
        let Some(key) = key_of(&hit.memory) else { continue };
        bytes += hit.memory.size_bytes as usize;
        let is_left_out = hit.memory.content.is_none() || bytes > VALUES_BYTES_MAX;
        if is_left_out || !seen.insert((hit.memory.store, key)) {
            continue;
        }
        let store = names.get(&hit.memory.store).map(String::as_str).unwrap_or_default();
        entries.push(writers.show(desk, hit.memory, store).await?);
    }
    let stores_left_out = (found.left_out > 0).then_some(found.left_out);
    let entries = Entries { entries, stores_left_out, ..Entries::default() };
    Ok(desk.engine.written(bytes, move || json_of(&entries)).await?)
}

/// The stores to search, with what they are called: the one that is named, or all.
async fn stores_to_search(
    desk: &Desk<'_>,
    input: &Input,
) -> Result<BTreeMap<StoreId, String>, Stop> {
    if input.names_store() {
        let place = desk.place(desk.whose(input)?, Purpose::Search).await?;
        return Ok(place.store.map(|store| (store, place.name)).into_iter().collect());
    }
    let stores = reachable(desk, input).await?;
    Ok(stores.into_iter().filter_map(|one| Some((one.store?, one.name))).collect())
}
