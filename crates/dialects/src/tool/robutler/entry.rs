//! Entries: where they are looked up, what they hold, how they are shown.

use super::address::Key;
use crate::key::Name;
use crate::tool::answer::Stop;
use crate::tool::desk::Desk;
use crate::tool::path::paths_of;
use crate::tool::shelf::Shelf;
use loci_engine::Error;
use loci_model::{
    AttributesPatch, Content, Memory, MemoryPath, Patch, PrincipalId, Timestamp, Visibility,
};
use serde_json::{Value, json};
use std::collections::HashMap;

/// What marks content as a JSON value that is not a string.
const JSON: &str = "application/json";
const SECOND_MICROS: i64 = 1_000_000;
/// `2026-11-16T14:15:00.123`, without the zone.
const MILLIS_CHARS: usize = 23;

/// Everybody's memories under a key, the one that changed last first, without content.
pub(super) async fn at(shelf: Shelf<'_>, key: &Key) -> Result<Vec<Memory>, Stop> {
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
pub(super) fn key_of(path: &MemoryPath) -> Option<String> {
    let Name { namespace, key } = Name::of(path);
    namespace.is_empty().then_some(key)
}

/// The path an entry gets.
pub(super) fn path_of(key: &str) -> Result<MemoryPath, Error> {
    Ok(Name { namespace: String::new(), key: key.to_owned() }.path()?)
}

/// A value as it is kept: strings as they are, anything else as JSON.
pub(super) fn kept(value: &Value) -> (Content, AttributesPatch) {
    let (text, media_type) = match value {
        Value::String(text) => (text.clone(), None),
        other => (other.to_string(), Some(JSON.to_owned())),
    };
    let media_type = Patch::Set(media_type);
    (Content::Text(text), AttributesPatch { media_type, ..AttributesPatch::default() })
}

/// The value of an entry; none when it is sealed or was not loaded.
pub(super) fn value_of(memory: &Memory) -> Option<Value> {
    let text = memory.content.as_ref().and_then(Content::text)?;
    let is_json = memory.attributes.media_type.as_deref() == Some(JSON);
    let parsed = is_json.then(|| serde_json::from_str(text).ok()).flatten();
    Some(parsed.unwrap_or_else(|| Value::String(text.to_owned())))
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

/// What the answers of one request call those who wrote.
#[derive(Default)]
pub(super) struct Writers(HashMap<PrincipalId, String>);

impl Writers {
    /// An entry, all fields.
    pub(super) async fn show(
        &mut self,
        desk: &Desk<'_>,
        memory: &Memory,
        store: &str,
    ) -> Result<Value, Error> {
        let owner = self.name(desk, memory.owner).await?;
        let attributes = &memory.attributes;
        let ttl = attributes.expires_at.map_or(0, |end| {
            let micros = end.as_micros().saturating_sub(memory.updated_at.as_micros());
            // The end is set a moment before the write is stamped, so it is rounded.
            (micros.saturating_add(SECOND_MICROS / 2) / SECOND_MICROS).max(1)
        });
        let mut shown = json!({
            "key": key_of(&memory.path),
            "value": value_of(memory),
            "namespace": "",
            "storeId": store,
            "ownerId": owner,
            "inContext": attributes.visibility == Visibility::Context,
            "encrypted": memory.is_sealed,
            "ttl": ttl,
            "expiresAt": attributes.expires_at.map(to_millis),
            "createdAt": to_millis(memory.created_at),
            "updatedAt": to_millis(memory.updated_at),
        });
        if memory.is_sealed {
            shown["note"] = Value::from("sealed: only the program that wrote it can open it");
        }
        Ok(shown)
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
