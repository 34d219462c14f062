//! Episodes: what was said or told, as it was. Each is an ordinary memory of the kind `episode`.
//!
//! Who spoke is the memory's source; the conversation it belongs to is its scope. The rest of what
//! clients say about an episode is its metadata.

use loci_model::{
    At, AttributesPatch, Content, Edit, EditOp, Expect, Memory, MemoryPath, OnSame, Patch,
    Visibility, limit,
};
use serde_json::{Map, Value};
use uuid::Uuid;

/// The kind of memory that an episode is.
pub(super) const KIND: &str = "episode";
/// Characters of a name, a speaker and the like.
pub(super) const LABEL_CHARS_MAX: usize = 255;
/// Characters of a description of where something came from.
pub(super) const DESCRIPTION_CHARS_MAX: usize = 1000;

/// A new episode.
pub(super) struct NewEpisode<'a> {
    pub(super) path: MemoryPath,
    pub(super) content: &'a str,
    /// One line about it.
    pub(super) name: Option<&'a str>,
    pub(super) speaker: Option<&'a str>,
    /// `text`, `message`, `json`.
    pub(super) source: &'a str,
    pub(super) description: &'a str,
    pub(super) visibility: Visibility,
    /// What else is known.
    pub(super) metadata: Map<String, Value>,
}

impl NewEpisode<'_> {
    /// The edit that writes it where nothing is yet.
    pub(super) fn edit(mut self) -> Edit {
        let label = |text: &str, max: usize| Some(line(text, max)).filter(|line| !line.is_empty());
        self.metadata.insert("source".into(), self.source.into());
        if !self.description.is_empty() {
            self.metadata.insert("source_description".into(), self.description.into());
        }
        let attributes = AttributesPatch {
            kind: Patch::Set(Some(KIND.to_owned())),
            tags: Patch::Set(label(self.source, limit::TAG_CHARS_MAX).into_iter().collect()),
            source: Patch::Set(self.speaker.and_then(|one| label(one, limit::LABEL_CHARS_MAX))),
            scope: Patch::Set(label(self.description, limit::LABEL_CHARS_MAX)),
            summary: Patch::Set(self.name.and_then(|one| label(one, limit::SUMMARY_CHARS_MAX))),
            visibility: Patch::Set(self.visibility),
            metadata: Patch::Set(Some(Value::Object(self.metadata).to_string())),
            ..AttributesPatch::default()
        };
        let content = Some(Content::Text(self.content.to_owned()));
        Edit {
            at: At::Path(None, self.path),
            expect: Expect::Absent,
            on_same: OnSame::Skip,
            op: EditOp::Put { content, to: None, attributes },
        }
    }
}

/// A text as attributes take it: one line, without what cannot be shown, cut.
pub(super) fn line(text: &str, chars_max: usize) -> String {
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    shown.take(chars_max).collect::<String>().trim().to_owned()
}

/// What clients call an episode by.
pub(super) fn uuid(memory: &Memory) -> String {
    Uuid::from_u128(memory.id.as_u128()).to_string()
}

/// What an episode is called.
pub(super) fn name(memory: &Memory) -> &str {
    let attributes = &memory.attributes;
    attributes.summary.as_deref().or(attributes.source.as_deref()).unwrap_or_default()
}

/// A text of an episode's metadata.
pub(super) fn told(memory: &Memory, name: &str) -> Option<String> {
    let metadata: Value = serde_json::from_str(memory.attributes.metadata.as_deref()?).ok()?;
    metadata.get(name)?.as_str().map(str::to_owned)
}
