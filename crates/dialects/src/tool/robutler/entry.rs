//! Entries: where they are looked up, what they hold, how they are shown.

use super::address::Key;
use super::key::{key_of, paths_of};
use crate::tool::answer::Stop;
use crate::tool::desk::Desk;
use crate::tool::shelf::Shelf;
use loci_engine::Error;
use loci_model::{AttributesPatch, Content, Memory, MemoryPath, Patch, PrincipalId, Visibility};
use serde_json::{Value, json};
use std::collections::HashMap;

/// What marks content as a JSON value that is not a string.
const JSON: &str = "application/json";
const MICROS: i64 = 1_000_000;

/// Everybody's memories under a key, the one that changed last first, without content.
pub(super) async fn at(shelf: Shelf<'_>, key: &Key) -> Result<Vec<Memory>, Stop> {
    let mut found = Vec::new();
    for path in paths(key)? {
        found.extend(shelf.at(&path).await?);
    }
    // Without its ending it is the client's key; with it, what another door wrote.
    if found.is_empty() && key.given != key.plain {
        for path in paths_of(&key.given).map_err(Error::from)? {
            found.extend(shelf.at(&path).await?);
        }
    }
    found.sort_by_key(|memory| std::cmp::Reverse((memory.updated_at, memory.id)));
    Ok(found)
}

fn paths(key: &Key) -> Result<Vec<MemoryPath>, Stop> {
    Ok(paths_of(&key.plain).map_err(Error::from)?)
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
        let ttl = attributes
            .expires_at
            .map_or(0, |end| (end.as_micros() - memory.updated_at.as_micros()) / MICROS);
        let mut shown = json!({
            "key": key_of(&memory.path),
            "value": value_of(memory),
            "namespace": "",
            "storeId": store,
            "ownerId": owner,
            "inContext": attributes.visibility == Visibility::Context,
            "encrypted": memory.is_sealed,
            "ttl": ttl,
            "expiresAt": attributes.expires_at.map(|end| end.to_string()),
            "createdAt": memory.created_at.to_string(),
            "updatedAt": memory.updated_at.to_string(),
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
