//! The list of a store's entries: everybody's, by path, as many as one answer may hold.

use super::call::{Answer, Call};
use super::entry::Desk;
use super::place::Place;
use super::render::{EntriesBody, EntryBody, Writers, json};
use crate::key::Name;
use crate::size;
use loci_engine::{Context, Error};
use loci_model::query::{ListItem, ListQuery};
use loci_model::{Memory, PrincipalId, View};
use std::collections::HashMap;

/// Entries of one list.
const ENTRIES_MAX: usize = 1000;
/// Bytes of the values in one list.
const VALUES_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Memories looked through for one list.
const SCAN_MAX: usize = 20_000;
/// Memories of one read, without content and with it.
const STEP: usize = 500;
const STEP_FULL: usize = 100;

/// Which entries.
struct Wanted {
    prefix: String,
    /// All of them when none is named.
    namespace: Option<String>,
}

impl Wanted {
    fn is_everything(&self) -> bool {
        self.prefix.is_empty() && self.namespace.is_none()
    }

    fn has(&self, name: &Name) -> bool {
        name.key.starts_with(&self.prefix)
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == name.namespace)
    }
}

/// Answers with a place's entries.
pub(super) async fn answer(call: &Call, context: &Context, place: &Place) -> Answer {
    let query = call.query();
    let wanted = Wanted {
        prefix: query.get("prefix")?.unwrap_or_default().into_owned(),
        namespace: query.given("namespace")?.map(|namespace| namespace.into_owned()),
    };
    let Some(store) = place.store else {
        return Ok(json(&EntriesBody { entries: Vec::new(), truncated: false }));
    };
    let desk = Desk::at(&call.engine, context, store).await?;
    let (found, mut truncated) = scan(desk, &wanted).await?;
    let (mut memories, mut bytes) = (Vec::new(), 0);
    for memory in found {
        bytes += memory.size_bytes;
        if memories.len() == ENTRIES_MAX || bytes > VALUES_BYTES_MAX {
            truncated = true;
            break;
        }
        match memory.content {
            Some(_) => memories.push(memory),
            // None when it is gone by now, or damaged.
            None => memories.extend(desk.engine.get_listed(context, store, memory.id).await?),
        }
    }
    let writers = Writers::of(&call.engine, context, memories.iter()).await?;
    let (bytes, name) = (size::of_all(&memories), place.name.clone());
    let write = move || {
        let shown = memories.iter();
        let shown = shown.map(|memory| EntryBody::of(memory, &name, writers.name(memory)));
        json(&EntriesBody { entries: shown.collect(), truncated })
    };
    Ok(call.engine.written(bytes, write).await?)
}

/// The memories that are wanted and whether there may be more: a few more than an answer holds, with
/// content where all are wanted anyway. Of what one writer has at two paths of one name, the one
/// that changed last.
async fn scan(desk: Desk<'_>, wanted: &Wanted) -> Result<(Vec<Memory>, bool), Error> {
    let mut query = match wanted.is_everything() {
        true => ListQuery::everything(View::Full, STEP_FULL),
        false => ListQuery::everything(View::Basic, STEP),
    };
    let mut found: Vec<Memory> = Vec::new();
    let mut known: HashMap<(Option<PrincipalId>, Name), usize> = HashMap::new();
    let (mut scanned, mut bytes) = (0, 0);
    loop {
        let page = desk.engine.list(desk.context, desk.store, &query).await?;
        scanned += page.items.len();
        for item in page.items {
            let ListItem::Memory(memory) = item else { continue };
            let name = Name::of_memory(&memory);
            if !wanted.has(&name) || !desk.shows(&memory) {
                continue;
            }
            bytes += memory.size_bytes;
            let at = *known.entry((memory.partition, name)).or_insert(found.len());
            match found.get_mut(at) {
                None => found.push(*memory),
                Some(there) if there.updated_at < memory.updated_at => *there = *memory,
                Some(_) => {}
            }
        }
        query.after = page.next;
        let has_more = query.after.is_some();
        let is_enough = found.len() > ENTRIES_MAX || bytes > VALUES_BYTES_MAX;
        if !has_more || is_enough || scanned >= SCAN_MAX {
            return Ok((found, has_more));
        }
    }
}
