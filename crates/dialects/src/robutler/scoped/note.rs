//! A note as a memory and back. What the core has a word for is an attribute (scope, source,
//! summary); the times that clients say are kept in the metadata, beside whatever else is there.
//!
//! A time that a client said belongs to the revision it was written with: when another door changes
//! the memory afterwards, the server's own time counts, or devices would take the change for old.

use super::moment::Moment;
use super::name::{Key, Namespace, Place};
use loci_model::attributes::{AttributesPatch, Patch, Visibility};
use loci_model::{Attributes, Invalid, Memory, Timestamp, Version};
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// The member of a memory's metadata that is this door's.
const MEMBER: &str = "robutler";
/// The kind of a tombstone.
pub(super) const TOMBSTONE_KIND: &str = "forgotten";
/// Seconds for which it is remembered that a note was forgotten.
pub(super) const TOMBSTONE_SECS: i64 = 90 * 24 * 3600;
/// Characters of a description.
const DESCRIPTION_CHARS_MAX: usize = 200;

/// Where a note came from. What one device pulled and another pushes was a tool's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Tool,
    Compaction,
    Owner,
}

impl Source {
    pub(super) fn parse(text: &str) -> Result<Self, Invalid> {
        match text {
            "tool" | "sync" => Ok(Self::Tool),
            "compaction" => Ok(Self::Compaction),
            "owner" => Ok(Self::Owner),
            _ => Err(Invalid::new("source", "expected tool, compaction, owner or sync")),
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Compaction => "compaction",
            Self::Owner => "owner",
        }
    }

    /// Of a memory, which another door may have written.
    pub(super) fn of(memory: &Memory) -> Self {
        let claimed = memory.attributes.source.as_deref();
        claimed.and_then(|source| Self::parse(source).ok()).unwrap_or(Self::Tool)
    }
}

/// Checks a description; an empty one is none.
pub(super) fn description(text: Option<String>) -> Result<Option<String>, Invalid> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    if text.chars().count() > DESCRIPTION_CHARS_MAX || text.contains(char::is_control) {
        let why = format!("expected one line of up to {DESCRIPTION_CHARS_MAX} characters");
        return Err(Invalid::new("description", why));
    }
    Ok(Some(text))
}

/// What a note is to hold.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) content: String,
    pub(super) description: Option<String>,
    pub(super) source: Source,
    /// When, if the writer says so.
    pub(super) at: Option<Moment>,
}

/// What a client said about times, as the metadata of a memory keeps it.
#[derive(Debug, Default)]
struct Said {
    /// When the revision was written.
    at: Option<(Moment, u64)>,
    /// When the note began.
    created: Option<Moment>,
}

impl Said {
    fn read(attributes: &Attributes) -> Self {
        let metadata = members(attributes.metadata.as_deref());
        let Some(Value::Object(said)) = metadata.get(MEMBER) else { return Self::default() };
        let moment = |name: &str| Moment::parse(said.get(name)?.as_str()?).ok();
        let revision = said.get("revision").and_then(Value::as_u64);
        Self { at: moment("at").zip(revision), created: moment("created") }
    }

    /// The metadata with this in it, and the rest as it was.
    fn write(&self, metadata: Option<&str>) -> Option<String> {
        let mut members = members(metadata);
        let mut said = Map::new();
        if let Some((at, revision)) = &self.at {
            said.insert("at".into(), json!(at.as_str()));
            said.insert("revision".into(), json!(revision));
        }
        if let Some(created) = &self.created {
            said.insert("created".into(), json!(created.as_str()));
        }
        match said.is_empty() {
            true => drop(members.remove(MEMBER)),
            false => drop(members.insert(MEMBER.into(), Value::Object(said))),
        }
        (!members.is_empty()).then(|| Value::Object(members).to_string())
    }
}

fn members(metadata: Option<&str>) -> Map<String, Value> {
    metadata.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// When a note, or its tombstone, was last written as clients see it.
pub(super) fn updated_at(memory: &Memory) -> Moment {
    match Said::read(&memory.attributes).at {
        Some((at, revision)) if revision == memory.revision => at,
        _ => memory.updated_at.into(),
    }
}

/// Which note a version deleted, and when as clients see it: not before the note was written, which
/// a device whose clock is ahead may have dated. None for tombstones and what was no note.
pub(super) fn deleted(version: &Version) -> Option<(Place, Moment)> {
    let (path, attributes) = (version.path.as_ref()?, version.attributes.as_ref()?);
    let place = Place::at(path.as_str(), attributes.scope.as_deref())?;
    if place.is_tombstone || attributes.visibility != Visibility::Context {
        return None;
    }
    let at = Moment::from(version.created_at);
    let said = Said::read(attributes).at;
    let said = said.filter(|(_, revision)| revision + 1 == version.revision);
    let said = said.map(|(said, _)| said.just_after());
    Some((place, said.into_iter().chain([at]).max()?))
}

fn created_at(memory: &Memory) -> Moment {
    Said::read(&memory.attributes).created.unwrap_or_else(|| memory.created_at.into())
}

/// Whether a memory at the place of a note is one to clients: meant for models, and text.
pub(super) fn is_shown(memory: &Memory) -> bool {
    memory.attributes.visibility == Visibility::Context && !memory.is_sealed
}

/// The attributes of a note that takes the place of `before`; `is_new` lets it begin anew.
pub(super) fn attributes(
    namespace: &Namespace,
    written: &Written,
    before: Option<&Memory>,
    is_new: bool,
) -> AttributesPatch {
    let at = written.at.clone();
    let created = match before {
        Some(before) if !is_new => Said::read(&before.attributes).created,
        _ => at.clone(),
    };
    let revision = before.map_or(0, |before| before.revision) + 1;
    let said = Said { at: at.map(|at| (at, revision)), created };
    let metadata = before.and_then(|before| before.attributes.metadata.as_deref());
    AttributesPatch {
        visibility: Patch::Set(Visibility::Context),
        expires_at: Patch::Set(None),
        source: Patch::Set(Some(written.source.as_str().into())),
        scope: Patch::Set(namespace.label()),
        summary: Patch::Set(written.description.clone()),
        media_type: Patch::Set(None),
        metadata: Patch::Set(said.write(metadata)),
        ..AttributesPatch::default()
    }
}

/// The attributes of the tombstone of a note that was forgotten `at` a moment, if the writer says
/// so. It takes the place of `before`, another tombstone.
pub(super) fn tombstone(
    namespace: &Namespace,
    at: Option<&Moment>,
    before: Option<&Memory>,
    now: Timestamp,
) -> AttributesPatch {
    let revision = before.map_or(0, |before| before.revision) + 1;
    let said = Said { at: at.map(|at| (at.clone(), revision)), created: None };
    AttributesPatch::replace(Attributes {
        kind: Some(TOMBSTONE_KIND.into()),
        visibility: Visibility::Internal,
        expires_at: Some(now.plus_secs(TOMBSTONE_SECS)),
        scope: namespace.label(),
        metadata: said.write(None),
        ..Attributes::default()
    })
}

/// A note as clients see it.
#[derive(Debug, Clone)]
pub(super) struct Note {
    pub(super) place: Place,
    pub(super) content: String,
    pub(super) description: Option<String>,
    pub(super) source: Source,
    pub(super) created_at: Moment,
    pub(super) updated_at: Moment,
}

impl Note {
    /// The note that a memory is, read with its content; none for what is no note to clients.
    pub(super) fn of(memory: &Memory) -> Option<Self> {
        let content = memory.content.as_ref()?.text()?.to_owned();
        Self::with(memory, content)
    }

    /// The note that a memory is, with this content.
    pub(super) fn with(memory: &Memory, content: String) -> Option<Self> {
        let place = Place::of(memory).filter(|place| !place.is_tombstone && is_shown(memory))?;
        Some(Self {
            place,
            content,
            description: memory.attributes.summary.clone(),
            source: Source::of(memory),
            created_at: created_at(memory),
            updated_at: updated_at(memory),
        })
    }
}

/// The id of an entry: the same on every device, and computed the same way by all of them.
pub(super) fn entry_id(agent: &str, namespace: &Namespace, key: &Key) -> Uuid {
    let name = format!("{agent}\n{}\n{}", namespace.as_str(), key.as_str());
    Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_that_devices_compute() {
        let agent = "7f3c2a10-5b6e-4c8d-9e1f-0a2b3c4d5e6f";
        let (owner, key) = (Namespace::parse("owner").unwrap(), Key::parse("preferences").unwrap());
        let id = entry_id(agent, &owner, &key);
        assert_eq!(id.to_string(), "e109e6ea-d0df-5a6c-b659-4f81dba13d4f");
    }

    #[test]
    fn what_others_keep_in_the_metadata_stays() {
        let at = Moment::parse("2026-01-02T03:04:05.678Z").unwrap();
        let said = Said { at: Some((at.clone(), 3)), created: None };
        let whole = said.write(Some(r#"{"mine":[1],"robutler":{"created":"x"}}"#)).unwrap();
        let read: Value = serde_json::from_str(&whole).unwrap();
        assert_eq!(read, json!({"mine": [1], "robutler": {"at": at.as_str(), "revision": 3}}));
        let attributes = Attributes { metadata: Some(whole.clone()), ..Attributes::default() };
        assert_eq!(Said::read(&attributes).at, Some((at, 3)));
        let nothing = Said::default().write(Some(&whole));
        assert_eq!(nothing.as_deref(), Some(r#"{"mine":[1]}"#));
        assert_eq!(Said::default().write(Some(r#"{"robutler":7}"#)), None);
        for odd in ["", "7", "[]", r#"{"robutler":7}"#, r#"{"robutler":{"at":7,"revision":"x"}}"#] {
            let attributes = Attributes { metadata: Some(odd.into()), ..Attributes::default() };
            assert!(Said::read(&attributes).at.is_none(), "{odd}");
        }
    }

    #[test]
    fn descriptions_are_one_line() {
        assert_eq!(description(None).unwrap(), None);
        assert_eq!(description(Some(String::new())).unwrap(), None);
        assert!(description(Some("ü".repeat(200))).is_ok());
        assert!(description(Some("ü".repeat(201))).is_err());
        assert!(description(Some("two\nlines".into())).is_err());
    }
}
