//! What to write: an entry as it was sent, and the change it makes to one that is there. What is not
//! said stays as it was, but for a line about a text that is another now.

use super::error::Problem;
use super::fields::Fields;
use super::kind::Kind;
use super::render::IMPORTANCE_DEFAULT;
use loci_model::limit::MEMORY_METADATA_BYTES_MAX;
use loci_model::{Attributes, AttributesPatch, Content, Memory, Patch};
use serde_json::Value;

const CONTENT_CHARS_MAX: usize = 16_384;
const SUMMARY_CHARS_MAX: usize = 140;
const METADATA_KEYS_MAX: usize = 32;
const IMPORTANCE_MAX: i64 = 100;
/// What marks content that is not text; this door writes text.
const JSON: &str = "application/json";

/// The fields of an entry.
pub(super) const FIELDS: [&str; 6] =
    ["content", "summary", "kind", "metadata", "importance", "pinned"];

/// An entry to be written, as it is sent.
#[derive(utoipa::ToSchema)]
#[schema(as = MobiusSave)]
#[expect(dead_code, reason = "only described; the fields are read one by one")]
pub(super) struct SaveBody {
    #[schema(min_length = 1, max_length = 16384)]
    content: String,
    /// One line; empty takes it away.
    #[schema(max_length = 140)]
    summary: Option<String>,
    /// One of the kinds of an entry.
    kind: Option<String>,
    /// Up to 32 members.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    #[schema(minimum = 0, maximum = 100)]
    importance: Option<i64>,
    pinned: Option<bool>,
    /// Whose entry, at the revision that has users; everybody's when empty or not given.
    #[schema(max_length = 200)]
    user_id: Option<String>,
}

/// An entry to be written.
#[derive(Debug, Clone)]
pub(super) struct Save {
    content: String,
    /// Empty takes the line away.
    summary: Option<String>,
    kind: Option<Kind>,
    metadata: Option<String>,
    importance: Option<u8>,
    pinned: Option<bool>,
}

impl Save {
    pub(super) fn read(fields: &Fields) -> Result<Self, Problem> {
        let content = fields.text("content")?;
        let content = content.ok_or_else(|| Problem::invalid("content is needed"))?;
        let chars = content.chars().count();
        if !(1..=CONTENT_CHARS_MAX).contains(&chars) {
            let why = format!("content is {chars} characters, takes 1 to {CONTENT_CHARS_MAX}");
            return Err(Problem::invalid(why));
        }
        let importance = match fields.integer("importance")? {
            Some(number) if !(0..=IMPORTANCE_MAX).contains(&number) => {
                return Err(Problem::invalid("importance takes 0 to 100"));
            }
            number => number.and_then(|number| u8::try_from(number).ok()),
        };
        let summary = fields.short("summary", SUMMARY_CHARS_MAX)?;
        if summary.as_ref().is_some_and(|line| line.contains(char::is_control)) {
            return Err(Problem::invalid("summary is one line, without control characters"));
        }
        Ok(Self {
            content,
            summary,
            kind: fields.text("kind")?.map(|kind| Kind::parse(&kind)).transpose()?,
            metadata: metadata(fields)?,
            importance,
            pinned: fields.flag("pinned")?,
        })
    }

    /// The same as another entry, for a copy of it.
    pub(super) fn like(memory: &Memory) -> Option<Self> {
        let attributes = &memory.attributes;
        Some(Self {
            content: memory.content.as_ref()?.text()?.to_owned(),
            summary: Some(attributes.summary.clone().unwrap_or_default()),
            kind: Some(Kind::of(attributes.kind.as_deref())),
            metadata: attributes.metadata.clone(),
            importance: Some(attributes.importance.unwrap_or(IMPORTANCE_DEFAULT)),
            pinned: Some(attributes.pinned),
        })
    }

    pub(super) fn content(&self) -> Content {
        Content::Text(self.content.clone())
    }

    /// The attributes of a new entry.
    pub(super) fn new_attributes(&self) -> AttributesPatch {
        AttributesPatch {
            kind: Patch::Set(Some(self.kind.unwrap_or(Kind::Fact).name().to_owned())),
            importance: Patch::Set(Some(self.importance.unwrap_or(IMPORTANCE_DEFAULT))),
            ..self.said()
        }
    }

    /// The change to an entry that is there.
    pub(super) fn changed_attributes(&self, there: &Memory) -> AttributesPatch {
        let is_same = self.content().digest() == there.digest;
        let mut patch = self.said();
        if self.summary.is_none() && !is_same {
            patch.summary = Patch::Set(None);
        }
        if !is_same && there.attributes.media_type.as_deref() == Some(JSON) {
            patch.media_type = Patch::Set(None);
        }
        patch
    }

    /// The same for the caller's own entry, which somebody else's has come before since: what is
    /// not said stays as it was shown, and that was the other.
    pub(super) fn taken_over(&self, shown: &Memory) -> AttributesPatch {
        let next = self.changed_attributes(shown).apply_to(&shown.attributes);
        let Attributes { kind, importance, pinned, summary, media_type, metadata, .. } = next;
        AttributesPatch {
            kind: Patch::Set(kind),
            importance: Patch::Set(importance),
            pinned: Patch::Set(pinned),
            summary: Patch::Set(summary),
            media_type: Patch::Set(media_type),
            metadata: Patch::Set(metadata),
            ..AttributesPatch::default()
        }
    }

    fn said(&self) -> AttributesPatch {
        let summary = self.summary.clone().map(|line| Some(line).filter(|line| !line.is_empty()));
        AttributesPatch {
            kind: self.kind.map(|kind| Some(kind.name().to_owned())).into(),
            importance: self.importance.map(Some).into(),
            pinned: self.pinned.into(),
            summary: summary.into(),
            metadata: self.metadata.clone().map(Some).into(),
            ..AttributesPatch::default()
        }
    }
}

/// Metadata is kept as it was written, so that its numbers come back as they were.
fn metadata(fields: &Fields) -> Result<Option<String>, Problem> {
    let Some(raw) = fields.raw("metadata") else { return Ok(None) };
    let Ok(Value::Object(members)) = serde_json::from_str(raw) else {
        return Err(Problem::invalid("metadata must be an object, and not nested too deep"));
    };
    if members.len() > METADATA_KEYS_MAX {
        let why = format!("metadata has {} keys, limit {METADATA_KEYS_MAX}", members.len());
        return Err(Problem::invalid(why));
    }
    if raw.len() > MEMORY_METADATA_BYTES_MAX {
        let max = MEMORY_METADATA_BYTES_MAX;
        return Err(Problem::invalid(format!("metadata is {} bytes, limit {max}", raw.len())));
    }
    Ok(Some(raw.to_owned()))
}
