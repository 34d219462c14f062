//! How the SQL engines write model values into columns: small numbers for enums, packed ids, JSON for
//! attributes, labels and tags. Written down once, so that a row means the same in every engine.
//!
//! Reading never panics: what no engine can have written is `None`, which becomes `Corrupt` at the
//! edge.

use loci_model::attributes::Visibility;
use loci_model::store::Repeats;
use loci_model::{
    Access, Actor, Attributes, Audience, ChangeOp, Content, KeyId, Level, MemorySwitches,
    Operation, PrincipalId, PrincipalKind, SessionId, Timestamp,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A value with a small number.
pub trait Code: Sized {
    /// Its number.
    fn code(self) -> i16;
    /// The inverse of [`Self::code`].
    fn from_code(code: i16) -> Option<Self>;
}

macro_rules! codes {
    ($($type:ty: { $($value:path = $number:literal),+ $(,)? })+) => {
        $(impl Code for $type {
            fn code(self) -> i16 {
                match self { $($value => $number),+ }
            }

            fn from_code(code: i16) -> Option<Self> {
                match code {
                    $($number => Some($value),)+
                    _ => None,
                }
            }
        })+
    };
}

codes! {
    Operation: { Operation::Created = 0, Operation::Modified = 1, Operation::Deleted = 2 }
    ChangeOp: {
        ChangeOp::Created = 0, ChangeOp::Modified = 1, ChangeOp::Deleted = 2,
        ChangeOp::Redacted = 3,
    }
    Visibility: {
        Visibility::Context = 0, Visibility::Internal = 1, Visibility::Quarantine = 2,
    }
    Level: { Level::Search = 0, Level::Read = 1, Level::ReadWrite = 2 }
    PrincipalKind: {
        PrincipalKind::User = 0, PrincipalKind::Agent = 1, PrincipalKind::Service = 2,
        PrincipalKind::Group = 3,
    }
    Audience: { Audience::Host = 0, Audience::Model = 1 }
    Access: { Access::ReadOnly = 0, Access::ReadWrite = 1 }
    Repeats: { Repeats::Allow = 0, Repeats::Refuse = 1, Repeats::Merge = 2 }
}

/// The highest visibility code an audience sees.
pub fn visibility_max(audience: Audience) -> i16 {
    match audience {
        Audience::Host => Visibility::Quarantine.code(),
        Audience::Model => Visibility::Context.code(),
    }
}

/// Switches as bits; what was never switched is zero.
pub fn switches_code(memory: MemorySwitches) -> i16 {
    let off = [memory.is_on, memory.own, memory.groups, memory.users];
    off.iter().zip(0..).map(|(is_on, bit)| i16::from(!is_on) << bit).sum()
}

/// The inverse of [`switches_code`].
pub fn switches(code: i16) -> Option<MemorySwitches> {
    let is_on = |bit: i16| code >> bit & 1 == 0;
    let memory =
        MemorySwitches { is_on: is_on(0), own: is_on(1), groups: is_on(2), users: is_on(3) };
    (0..16).contains(&code).then_some(memory)
}

/// An actor as its kind and, except for Loci itself, its id.
pub fn actor_code(actor: Actor) -> (i16, Option<[u8; 16]>) {
    match actor {
        Actor::Session(id) => (0, Some(id.to_bytes())),
        Actor::Key(id) => (1, Some(id.to_bytes())),
        Actor::User(id) => (2, Some(id.to_bytes())),
        Actor::Service(id) => (3, Some(id.to_bytes())),
        Actor::System => (4, None),
    }
}

/// The inverse of [`actor_code`].
pub fn actor(kind: i16, id: Option<[u8; 16]>) -> Option<Actor> {
    Some(match (kind, id) {
        (0, Some(id)) => Actor::Session(SessionId::from_bytes(id)),
        (1, Some(id)) => Actor::Key(KeyId::from_bytes(id)),
        (2, Some(id)) => Actor::User(PrincipalId::from_bytes(id)),
        (3, Some(id)) => Actor::Service(PrincipalId::from_bytes(id)),
        (4, None) => Actor::System,
        _ => return None,
    })
}

/// Ids one after the other.
pub fn pack_ids(ids: impl IntoIterator<Item = [u8; 16]>) -> Vec<u8> {
    ids.into_iter().flatten().collect()
}

/// The inverse of [`pack_ids`].
pub fn unpack_ids(bytes: &[u8]) -> Option<Vec<[u8; 16]>> {
    let (ids, rest) = bytes.as_chunks::<16>();
    rest.is_empty().then(|| ids.to_vec())
}

/// A map of strings as JSON.
pub fn labels_json(labels: &BTreeMap<String, String>) -> String {
    serde_json::to_string(labels).expect("a map of strings is JSON")
}

/// The inverse of [`labels_json`].
pub fn labels_from_json(text: &str) -> Option<BTreeMap<String, String>> {
    serde_json::from_str(text).ok()
}

/// Tags as JSON; `None` when there are none.
pub fn tags_json(tags: &[String]) -> Option<String> {
    (!tags.is_empty()).then(|| serde_json::to_string(tags).expect("a list of strings is JSON"))
}

/// The inverse of [`tags_json`].
pub fn tags_from_json(text: Option<&str>) -> Option<Vec<String>> {
    text.map_or(Some(Vec::new()), |text| serde_json::from_str(text).ok())
}

/// The attributes that are not at their default, as a JSON object; `None` when all are.
pub fn attributes_json(attributes: &Attributes) -> Option<String> {
    if *attributes == Attributes::default() {
        return None;
    }
    let mut object = Map::new();
    let texts = [
        ("kind", &attributes.kind),
        ("source", &attributes.source),
        ("scope", &attributes.scope),
        ("summary", &attributes.summary),
        ("media_type", &attributes.media_type),
        ("metadata", &attributes.metadata),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            object.insert(name.into(), text.as_str().into());
        }
    }
    if !attributes.tags.is_empty() {
        object.insert("tags".into(), attributes.tags.as_slice().into());
    }
    if let Some(importance) = attributes.importance {
        object.insert("importance".into(), importance.into());
    }
    if attributes.pinned {
        object.insert("pinned".into(), true.into());
    }
    if attributes.visibility != Visibility::Context {
        object.insert("visibility".into(), attributes.visibility.code().into());
    }
    if let Some(end) = attributes.expires_at {
        object.insert("expires_at".into(), end.as_micros().into());
    }
    Some(Value::Object(object).to_string())
}

/// The inverse of [`attributes_json`].
pub fn attributes_from_json(text: Option<&str>) -> Option<Attributes> {
    let Some(text) = text else {
        return Some(Attributes::default());
    };
    let Value::Object(mut object) = serde_json::from_str(text).ok()? else {
        return None;
    };
    let mut take_text = |name: &str| match object.remove(name) {
        None => Some(None),
        Some(Value::String(text)) => Some(Some(text)),
        Some(_) => None,
    };
    let mut attributes = Attributes {
        kind: take_text("kind")?,
        source: take_text("source")?,
        scope: take_text("scope")?,
        summary: take_text("summary")?,
        media_type: take_text("media_type")?,
        metadata: take_text("metadata")?,
        ..Attributes::default()
    };
    for (name, value) in object {
        match name.as_str() {
            "tags" => attributes.tags = serde_json::from_value(value).ok()?,
            "importance" => attributes.importance = Some(u8::try_from(value.as_u64()?).ok()?),
            "pinned" => attributes.pinned = value.as_bool()?,
            "expires_at" => {
                attributes.expires_at = Some(Timestamp::from_micros(value.as_i64()?));
            }
            "visibility" => {
                let code = i16::try_from(value.as_i64()?).ok()?;
                attributes.visibility =
                    Visibility::from_code(code).filter(|known| *known != Visibility::Context)?;
            }
            _ => return None,
        }
    }
    Some(attributes)
}

/// Bytes of a payload as content.
pub fn content_of(bytes: Vec<u8>, is_sealed: bool) -> Option<Content> {
    if is_sealed {
        Some(Content::Sealed(bytes))
    } else {
        String::from_utf8(bytes).ok().map(Content::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_round_trip() {
        let full = Attributes {
            kind: Some("fact".into()),
            tags: vec!["a".into(), "ü \"x\"".into()],
            importance: Some(100),
            pinned: true,
            visibility: Visibility::Quarantine,
            expires_at: Some(Timestamp::from_micros(-5)),
            source: Some(String::new()),
            scope: Some("s".into()),
            summary: Some("one line".into()),
            media_type: Some("text/markdown".into()),
            metadata: Some("{\"k\":1}".into()),
        };
        for attributes in [Attributes::default(), full] {
            let json = attributes_json(&attributes);
            assert_eq!(attributes_from_json(json.as_deref()), Some(attributes));
        }
        for damaged in ["", "[]", "{\"kind\":1}", "{\"visibility\":7}", "{\"x\":1}"] {
            assert_eq!(attributes_from_json(Some(damaged)), None, "{damaged}");
        }
    }

    #[test]
    fn packed_ids_round_trip() {
        let ids = [[1u8; 16], [2u8; 16]];
        assert_eq!(unpack_ids(&pack_ids(ids)).unwrap(), ids);
        assert!(unpack_ids(&[0; 17]).is_none());
    }

    #[test]
    fn actors_round_trip() {
        let known = PrincipalId::from_u128(7);
        for one in [Actor::User(known), Actor::Service(known), Actor::System] {
            let (kind, id) = actor_code(one);
            assert_eq!(actor(kind, id), Some(one));
        }
        assert_eq!(actor(0, None), None);
        assert_eq!(actor(4, Some([1; 16])), None);
    }
}
