//! Entries and pages as they are shown. Clients refuse fields they do not know, so what an answer
//! holds is decided by the revision of its path, and nothing that is not there is written as null.

use super::call::Revision;
use super::kind::Kind;
use super::partition::Label;
use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use loci_model::{Content, Memory};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// What an entry without importance is shown with, and made with.
pub(super) const IMPORTANCE_DEFAULT: u8 = 50;

/// One entry of an agent's memory.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusEntry)]
pub(super) struct EntryBody {
    /// What the agent calls it.
    key: String,
    /// Whose it is; empty for everybody's. Only without projects in the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// `fact`, `preference`, `episode` or `summary`.
    kind: &'static str,
    /// One line about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// Whatever was put beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    metadata: Option<Box<RawValue>>,
    /// 0 to 100.
    importance: u8,
    /// Never compacted.
    pinned: bool,
    /// The memory.
    entry_id: String,
    /// 1, 2, 3 …
    version: u64,
    created_at: String,
    updated_at: String,
}

impl EntryBody {
    /// A memory that was loaded with its content.
    pub(super) fn of(memory: &Memory, revision: Revision) -> Self {
        let Label { user, key } = Label::of(&memory.path);
        let attributes = &memory.attributes;
        let metadata =
            attributes.metadata.clone().filter(|text| text.trim_start().starts_with('{'));
        Self {
            key,
            user_id: (revision == Revision::B).then_some(user),
            kind: Kind::of(attributes.kind.as_deref()).name(),
            summary: attributes.summary.clone(),
            content: memory.content.as_ref().and_then(Content::text).map(str::to_owned),
            metadata: metadata.and_then(|text| RawValue::from_string(text).ok()),
            importance: attributes.importance.unwrap_or(IMPORTANCE_DEFAULT),
            pinned: attributes.pinned,
            entry_id: memory.id.to_string(),
            version: memory.revision,
            created_at: memory.created_at.to_string(),
            updated_at: memory.updated_at.to_string(),
        }
    }
}

/// A page of entries.
#[derive(Serialize, ToSchema, Default)]
#[schema(as = MobiusEntries)]
pub(super) struct EntriesBody {
    pub(super) items: Vec<EntryBody>,
    /// Whether there are more.
    pub(super) has_more: bool,
    /// Where they go on; only when there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
    /// How much was searched by meaning; only when it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) search_coverage: Option<CoverageBody>,
}

impl EntriesBody {
    /// About how long it becomes.
    pub(super) fn bytes(&self) -> usize {
        self.items.iter().map(EntryBody::bytes).sum()
    }
}

impl EntryBody {
    /// About how long it becomes.
    pub(super) fn bytes(&self) -> usize {
        let metadata = self.metadata.as_ref().map_or(0, |metadata| metadata.get().len());
        ENTRY_BYTES + metadata + self.content.as_ref().map_or(0, String::len)
    }
}

/// How many entries can be found by meaning.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusSearchCoverage)]
pub(super) struct CoverageBody {
    pub(super) indexed_entries: u64,
    pub(super) total_entries: u64,
    /// Whether that is all of them.
    pub(super) complete: bool,
}

/// What an entry takes beside its content and metadata, about.
const ENTRY_BYTES: usize = 512;

/// An answer with a JSON body.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    let bytes = serde_json::to_vec(body).expect("our bodies have string keys");
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// It is done, and there is nothing to say.
pub(super) fn nothing() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
