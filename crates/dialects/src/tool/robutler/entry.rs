//! Entries: where they are looked up, what they hold, how they are shown.

use super::address::Key;
use crate::key::Name;
use crate::robutler::value::{Kept, Value};
use crate::tool::desk::Desk;
use crate::tool::path::paths_of;
use crate::tool::shelf::Shelf;
use loci_engine::Error;
use loci_model::{
    AttributesPatch, Content, Memory, MemoryPath, Patch, PrincipalId, Timestamp, Visibility,
};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::collections::HashMap;

const SECOND_MICROS: i64 = 1_000_000;
/// `2026-11-16T14:15:00.123`, without the zone.
const MILLIS_CHARS: usize = 23;

/// Everybody's memories under a key, the one that changed last first, without content.
pub(super) async fn at(shelf: Shelf<'_>, key: &Key) -> Result<Vec<Memory>, Error> {
    // With its ending it is what another door or the native shape wrote, and then it is meant.
    let mut found = shelf.at_any(&paths_of(&key.given)).await?;
    if found.is_empty() && key.given != key.plain {
        found = shelf.at_any(&paths_of(&key.plain)).await?;
    }
    // A list of files shows keys as they are kept.
    if found.is_empty()
        && let Ok(path) = MemoryPath::parse(&format!("/{}", key.given))
    {
        found = shelf.at(&path).await?;
    }
    Ok(found)
}

/// The key of a memory; none when it is in a namespace, which models have no word for.
pub(super) fn key_of(memory: &Memory) -> Option<String> {
    let Name { namespace, key } = Name::of_memory(memory);
    namespace.is_empty().then_some(key)
}

/// The path an entry gets.
pub(super) fn path_of(key: &str) -> Result<MemoryPath, Error> {
    Ok(named(key).path()?)
}

/// The metadata an entry gets, beside what it had.
pub(super) fn told(key: &str, before: Option<&Memory>) -> Patch<Option<String>> {
    named(key).told(before)
}

fn named(key: &str) -> Name {
    Name { namespace: String::new(), key: key.to_owned() }
}

/// A value as it is kept: strings as they are, anything else as JSON; none for what is no text.
pub(super) fn kept(value: &RawValue) -> Option<(Content, AttributesPatch)> {
    let value = Kept::read(value)?;
    let media_type = value.mark(None);
    Some((value.content(false), AttributesPatch { media_type, ..AttributesPatch::default() }))
}

/// The value of an entry; none when it is sealed or was not loaded.
pub(super) fn value_of(memory: &Memory) -> Option<Value<'_>> {
    memory.content.as_ref().and_then(Content::text)?;
    Some(Value::of(memory))
}

/// A time to the millisecond, as the clients' own clocks write it.
fn to_millis(time: Timestamp) -> String {
    let mut text = time.to_string();
    if text.ends_with('Z') && text.len() > MILLIS_CHARS {
        text.truncate(MILLIS_CHARS);
        text.push('Z');
    }
    text
}

/// An entry to be shown, with what it takes to write it down: that goes through the whole value, so it
/// is left to a thread that may be blocked.
pub(super) struct Shown {
    memory: Memory,
    store: String,
    owner: String,
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { memory, store, owner } = self;
        let attributes = &memory.attributes;
        let ttl = attributes.expires_at.map_or(0, |end| {
            let micros = end.as_micros().saturating_sub(memory.updated_at.as_micros());
            // The end is set a moment before the write is stamped, so it is rounded.
            (micros.saturating_add(SECOND_MICROS / 2) / SECOND_MICROS).max(1)
        });
        let fields = Fields {
            key: key_of(memory),
            value: value_of(memory),
            namespace: "",
            store_id: store,
            owner_id: owner,
            in_context: attributes.visibility == Visibility::Context,
            encrypted: memory.is_sealed,
            ttl,
            expires_at: attributes.expires_at.map(to_millis),
            created_at: to_millis(memory.created_at),
            updated_at: to_millis(memory.updated_at),
            note: memory.is_sealed.then_some("sealed: only the program that wrote it can open it"),
        };
        fields.serialize(serializer)
    }
}

/// An entry as models see it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    key: Option<String>,
    value: Option<Value<'a>>,
    namespace: &'static str,
    store_id: &'a str,
    owner_id: &'a str,
    in_context: bool,
    encrypted: bool,
    ttl: i64,
    expires_at: Option<String>,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// What the answers of one request call those who wrote.
#[derive(Default)]
pub(super) struct Writers(HashMap<PrincipalId, String>);

impl Writers {
    /// An entry, all fields.
    pub(super) async fn show(
        &mut self,
        desk: &Desk<'_>,
        memory: Memory,
        store: &str,
    ) -> Result<Shown, Error> {
        let owner = self.name(desk, memory.owner).await?;
        Ok(Shown { memory, store: store.to_owned(), owner })
    }

    async fn name(&mut self, desk: &Desk<'_>, id: PrincipalId) -> Result<String, Error> {
        if let Some(name) = self.0.get(&id) {
            return Ok(name.clone());
        }
        let found = desk.engine.named(&desk.context, &id.to_string()).await?;
        let name = found.map_or_else(|| id.to_string(), |principal| principal.name);
        self.0.insert(id, name.clone());
        Ok(name)
    }
}
