//! Answers: entries with all their fields, in camelCase, with times to the millisecond.

use super::value::Value;
use crate::key::Name;
use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use loci_engine::{Context, Engine, Error};
use loci_model::{Memory, PrincipalId, Timestamp, Visibility};
use serde::Serialize;
use std::collections::HashMap;
use utoipa::ToSchema;

const SECOND_MICROS: i64 = 1_000_000;
/// `2026-11-16T14:15:00.123`, without the zone.
const MILLIS_CHARS: usize = 23;

/// An entry.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RobutlerEntry)]
pub(in crate::robutler) struct EntryBody<'a> {
    key: String,
    /// Any JSON, as it was sent.
    #[schema(value_type = serde_json::Value)]
    value: Value<'a>,
    /// Empty for most.
    namespace: String,
    /// The id of whose home the store is, or its own.
    store_id: &'a str,
    /// Who wrote it.
    owner_id: String,
    /// Whether it is shown to models.
    in_context: bool,
    encrypted: bool,
    /// Seconds from the last write to the end; 0 without an end.
    ttl: i64,
    expires_at: Option<String>,
    created_at: String,
    updated_at: String,
    /// How well it fits a query; comparable within one answer only.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

impl<'a> EntryBody<'a> {
    /// An entry that was loaded with its content.
    pub(in crate::robutler) fn of(memory: &'a Memory, store: &'a str, owner: &str) -> Self {
        let Name { namespace, key } = Name::of_memory(memory);
        let expires_at = memory.attributes.expires_at;
        Self {
            key,
            value: Value::of(memory),
            namespace,
            store_id: store,
            owner_id: owner.to_owned(),
            in_context: memory.attributes.visibility == Visibility::Context,
            encrypted: memory.is_sealed,
            ttl: expires_at.map_or(0, |end| secs_between(memory.updated_at, end)),
            expires_at: expires_at.map(to_millis),
            created_at: to_millis(memory.created_at),
            updated_at: to_millis(memory.updated_at),
            score: None,
        }
    }

    /// The same, found by a query.
    pub(in crate::robutler) fn scored(self, score: f32) -> Self {
        Self { score: Some(score), ..self }
    }
}

/// The end is set a moment before the write is stamped, so it is rounded.
fn secs_between(start: Timestamp, end: Timestamp) -> i64 {
    let micros = end.as_micros().saturating_sub(start.as_micros());
    (micros.saturating_add(SECOND_MICROS / 2) / SECOND_MICROS).max(1)
}

/// A time to the millisecond, as the clients' own clocks write it.
pub(in crate::robutler) fn to_millis(time: Timestamp) -> String {
    let mut text = time.to_string();
    if text.ends_with('Z') && text.len() > MILLIS_CHARS {
        text.truncate(MILLIS_CHARS);
        text.push('Z');
    }
    text
}

/// Several entries.
#[derive(Serialize, ToSchema)]
#[schema(as = RobutlerEntries)]
pub(in crate::robutler) struct EntriesBody<'a> {
    pub(in crate::robutler) entries: Vec<EntryBody<'a>>,
    /// Only there when there are more than one answer holds.
    #[serde(skip_serializing_if = "is_false")]
    pub(in crate::robutler) truncated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// It is done.
#[derive(Serialize, ToSchema)]
#[schema(as = RobutlerDone)]
pub(in crate::robutler) struct DoneBody {
    /// Always true.
    success: bool,
}

/// It is done.
pub(in crate::robutler) fn done() -> Response<Body> {
    json(&DoneBody { success: true })
}

/// What the answers of one request call those who wrote.
#[derive(Default)]
pub(in crate::robutler) struct Writers(HashMap<PrincipalId, String>);

impl Writers {
    /// Looks up those who wrote some memories.
    pub(in crate::robutler) async fn of(
        engine: &Engine,
        context: &Context,
        memories: impl Iterator<Item = &Memory>,
    ) -> Result<Self, Error> {
        let mut known = HashMap::new();
        for memory in memories {
            if known.contains_key(&memory.owner) {
                continue;
            }
            let id = memory.owner.to_string();
            let found = engine.named(context, &id).await?;
            known.insert(memory.owner, found.map_or(id, |principal| principal.name));
        }
        Ok(Self(known))
    }

    /// What one of them is called.
    pub(in crate::robutler) fn name(&self, memory: &Memory) -> &str {
        self.0.get(&memory.owner).map(String::as_str).unwrap_or_default()
    }
}

/// A 200 with a JSON body.
pub(in crate::robutler) fn json(body: &impl Serialize) -> Response<Body> {
    let bytes = serde_json::to_vec(body).expect("our bodies have string keys");
    let mut response = Response::new(Body::from(bytes));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_to_the_millisecond() {
        let time = Timestamp::from_micros(1_767_225_600_123_999);
        assert_eq!(to_millis(time), "2026-01-01T00:00:00.123Z");
    }

    #[test]
    fn seconds_are_rounded_and_never_none() {
        let at = Timestamp::from_micros;
        assert_eq!(secs_between(at(2_000), at(60_000_000)), 60);
        assert_eq!(secs_between(at(2_000), at(3_000)), 1);
    }
}
