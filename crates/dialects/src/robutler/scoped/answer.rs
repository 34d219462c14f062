//! What goes over the wire: entries, and the lines of a sync. Fields have the names and the order
//! that clients of this memory give them.

use super::moment::Moment;
use super::name::Place;
use super::note::{Note, entry_id};
use serde::Serialize;
use utoipa::ToSchema;

/// A note.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ScopedEntry)]
pub(in crate::robutler) struct EntryBody {
    /// The same on every device: a UUID made of agent, namespace and key.
    id: String,
    /// `owner`, `shared`, or `caller:` and who.
    namespace: String,
    key: String,
    content: String,
    /// One line.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// `tool`, `compaction` or `owner`.
    source: &'static str,
    /// When the note began, in UTC with milliseconds.
    created_at: String,
    /// When it was written, as its writer said or else as the server saw it.
    updated_at: String,
}

impl EntryBody {
    pub(super) fn new(agent: &str, note: Note) -> Self {
        let Place { namespace, key, .. } = &note.place;
        Self {
            id: entry_id(agent, namespace, key).to_string(),
            namespace: namespace.as_str().to_owned(),
            key: key.as_str().to_owned(),
            content: note.content,
            description: note.description,
            source: note.source.as_str(),
            created_at: note.created_at.as_str().to_owned(),
            updated_at: note.updated_at.as_str().to_owned(),
        }
    }
}

/// A change of one note, as devices tell each other.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "op", rename_all = "lowercase")]
#[schema(as = ScopedLine)]
pub(in crate::robutler) enum LineBody {
    /// It was written.
    Put {
        id: String,
        namespace: String,
        key: String,
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        source: &'static str,
        at: String,
    },
    /// It was forgotten.
    Delete { id: String, namespace: String, key: String, at: String },
}

impl LineBody {
    pub(super) fn put(agent: &str, note: Note) -> Self {
        let EntryBody { id, namespace, key, content, description, source, updated_at, .. } =
            EntryBody::new(agent, note);
        Self::Put { id, namespace, key, content, description, source, at: updated_at }
    }

    pub(super) fn delete(agent: &str, place: &Place, at: &Moment) -> Self {
        let Place { namespace, key, .. } = place;
        Self::Delete {
            id: entry_id(agent, namespace, key).to_string(),
            namespace: namespace.as_str().to_owned(),
            key: key.as_str().to_owned(),
            at: at.as_str().to_owned(),
        }
    }
}

/// What a request is answered with.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = ScopedAnswer)]
pub(in crate::robutler) enum AnswerBody {
    /// One entry, or null where there is none.
    Entry {
        #[schema(required)]
        entry: Option<EntryBody>,
    },
    /// Some entries.
    Entries { entries: Vec<EntryBody> },
    /// How many notes were forgotten.
    Forgotten { forgotten: usize },
    /// A page of changes, oldest first, and where the next one begins.
    Lines { lines: Vec<LineBody>, cursor: Option<String>, more: bool },
    /// How many lines of a push changed something.
    Applied { applied: usize },
}

/// What an entry or a line takes beside its content, about.
const EACH: usize = 512;

impl AnswerBody {
    /// About how long it becomes.
    pub(super) fn bytes(&self) -> usize {
        let entry = |entry: &EntryBody| EACH + entry.content.len();
        match self {
            Self::Entry { entry: found } => found.as_ref().map_or(0, entry),
            Self::Entries { entries } => entries.iter().map(entry).sum(),
            Self::Lines { lines, .. } => {
                let line = |line: &LineBody| match line {
                    LineBody::Put { content, .. } => EACH + content.len(),
                    LineBody::Delete { .. } => EACH,
                };
                lines.iter().map(line).sum()
            }
            Self::Forgotten { .. } | Self::Applied { .. } => 0,
        }
    }
}
