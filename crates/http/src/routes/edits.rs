//! Edits in the core's own words: a batch that happens whole or not at all. Mounts, copies and the
//! console write with it; a file renamed over another, or a directory moved, is one request.

use super::Native;
use super::attributes::AttributesRequest;
use super::entries::EntryView;
use super::history::operation_name;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, JsonBody};
use axum::Json;
use axum::extract::State;
use loci_model::edit::Separator;
use loci_model::{
    At, AttributesPatch, Content, Edit, EditOp, Expect, MemoryPath, OnSame, Outcome, StoreId,
    Timestamp, limit,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What the feed says when the request does not.
const REASON: &str = "api";

/// What must hold for an edit to happen.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ExpectRequest {
    /// Nothing may be there.
    Absent {},
    /// Something must be there.
    Present {},
    /// The content has this digest.
    ContentSha256 {
        /// 64 hex digits.
        content_sha256: String,
    },
    /// The memory is at this revision.
    Revision {
        /// The number of its newest version.
        revision: u64,
    },
}

impl ExpectRequest {
    fn into_expect(self) -> Result<Expect> {
        Ok(match self {
            Self::Absent {} => Expect::Absent,
            Self::Present {} => Expect::Present,
            Self::Revision { revision } => Expect::Revision(revision),
            Self::ContentSha256 { content_sha256 } => {
                let digest = content_sha256.parse();
                Expect::Digest(digest.map_err(|_| {
                    Failure::invalid("expect.content_sha256: expected 64 hex digits")
                })?)
            }
        })
    }
}

/// What to do when an edit would change nothing.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnSameName {
    /// Nothing.
    #[default]
    Skip,
    /// Write a version all the same.
    Record,
}

/// Which sort of edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OpName {
    /// Writes content, path and attributes; what is not given stays.
    Put,
    /// Adds text at the end; creates the memory where nothing is.
    Append,
    /// Hides the memory; its history stays.
    Remove,
}

/// When the separator of an append is put.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SeparateName {
    /// Whatever the old text ends with.
    #[default]
    Always,
    /// Unless the old text ends with it: a line break then starts a line of its own.
    IfMissing,
}

/// One edit: of the memory at a path, or with an id.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditRequest {
    /// `put`, `append` or `remove`.
    op: OpName,
    /// Where the memory is, or shall be.
    path: Option<String>,
    /// Which memory, wherever it is.
    memory_id: Option<String>,
    /// What must hold.
    expect: Option<ExpectRequest>,
    /// New content (`put`).
    content: Option<String>,
    /// New path (`put`).
    to: Option<String>,
    /// Changed attributes (`put`, and `append` where it creates): absent keeps, `null` clears.
    attributes: Option<AttributesRequest>,
    /// What to add (`append`).
    text: Option<String>,
    /// What to put between the old text and the new (`append`).
    separator: Option<String>,
    /// Whether to put it there always, or only if the old text does not end with it (`append`).
    separate: Option<SeparateName>,
    /// What to do when nothing would change.
    #[serde(default)]
    on_same: OnSameName,
}

impl EditRequest {
    fn into_edit(self, now: Timestamp) -> Result<Edit> {
        let only = |is_given: bool, field: &str, ops: &[OpName]| match is_given {
            true if !ops.contains(&self.op) => {
                Err(Failure::invalid(format!("{field}: has no meaning for this op")))
            }
            _ => Ok(()),
        };
        only(self.content.is_some(), "content", &[OpName::Put])?;
        only(self.to.is_some(), "to", &[OpName::Put])?;
        only(self.attributes.is_some(), "attributes", &[OpName::Put, OpName::Append])?;
        only(self.text.is_some(), "text", &[OpName::Append])?;
        only(self.separator.is_some(), "separator", &[OpName::Append])?;
        only(self.separate.is_some(), "separate", &[OpName::Append])?;
        let at = match (self.path, self.memory_id) {
            (Some(path), None) => At::Path(None, MemoryPath::parse(&path)?),
            (None, Some(id)) => {
                let id = id.parse().map_err(|_| Failure::not_found("memory"))?;
                At::Id(id)
            }
            _ => return Err(Failure::invalid("edit: give either path or memory_id")),
        };
        let patch = self.attributes.map(|wanted| wanted.into_patch(now)).transpose()?;
        let attributes: AttributesPatch = patch.unwrap_or_default();
        let op = match self.op {
            OpName::Put => EditOp::Put {
                content: self.content.map(Content::Text),
                to: self.to.as_deref().map(MemoryPath::parse).transpose()?,
                attributes,
            },
            OpName::Append => EditOp::Append {
                text: self.text.ok_or_else(|| Failure::invalid("text: must be given"))?,
                separator: separator(self.separator, self.separate),
                to: None,
                attributes,
            },
            OpName::Remove => EditOp::Remove,
        };
        let expect = self.expect.map(ExpectRequest::into_expect).transpose()?.unwrap_or_default();
        let on_same = match self.on_same {
            OnSameName::Skip => OnSame::Skip,
            OnSameName::Record => OnSame::Record,
        };
        Ok(Edit { at, expect, on_same, op })
    }
}

fn separator(text: Option<String>, when: Option<SeparateName>) -> Separator {
    let text = text.unwrap_or_default();
    match when.unwrap_or_default() {
        SeparateName::Always => Separator::Always(text),
        SeparateName::IfMissing => Separator::IfMissing(text),
    }
}

/// What removals come to in an archived store, which takes no other edits.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnArchivedName {
    /// They happen.
    #[default]
    Apply,
    /// They are refused, too: an archived store shown as a directory is read-only.
    Refuse,
}

/// A batch.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditsRequest {
    /// 1 to 5000 edits, done in this order.
    #[schema(min_items = 1, max_items = 5000)]
    edits: Vec<EditRequest>,
    /// A word that the feed shows as the reason, such as `mount`; `api` when not given.
    #[schema(min_length = 1, max_length = 32, pattern = "^[a-z_-]+$")]
    reason: Option<String>,
    /// What removals come to when the store is archived.
    #[serde(default)]
    on_archived: OnArchivedName,
}

/// What one edit did.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditedView {
    /// `created`, `modified` or `deleted`; `null` when nothing changed.
    operation: Option<&'static str>,
    /// The memory afterwards; of one that was removed, as it was before.
    entry: EntryView,
}

impl EditedView {
    fn of(outcome: Outcome) -> Result<Self> {
        let operation = outcome.operation.map(operation_name);
        Ok(Self { operation, entry: EntryView::of(outcome.memory)? })
    }
}

/// What a batch did.
#[derive(Serialize, ToSchema)]
pub(crate) struct Edited {
    /// One for each edit, in order.
    data: Vec<EditedView>,
}

/// Applies edits to one store, all or none.
#[utoipa::path(post, path = "/v1/memory_stores/{memory_store_id}/edits",
    tag = "entries", operation_id = "edits_apply", request_body = EditsRequest,
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = Edited)))]
pub(crate) async fn apply(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    JsonBody(wanted): JsonBody<EditsRequest>,
) -> Result<Json<Edited>> {
    let engine = &native.engine;
    let reason = wanted.reason.as_deref().unwrap_or(REASON);
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-';
    if !(1..=limit::REASON_CHARS_MAX).contains(&reason.len()) || !reason.bytes().all(is_word) {
        let max = limit::REASON_CHARS_MAX;
        let why = format!("reason: expected 1 to {max} of a to z, _ and -");
        return Err(Failure::invalid(why));
    }
    let now = engine.seams().now();
    let edits = wanted.edits.into_iter().map(|edit| edit.into_edit(now));
    let edits = edits.collect::<Result<Vec<_>>>()?;
    let outcomes = match wanted.on_archived {
        OnArchivedName::Apply => engine.commit_tree(&context, store, edits, reason).await?,
        OnArchivedName::Refuse => {
            engine.commit_tree_if_open(&context, store, edits, reason).await?
        }
    };
    let data = outcomes.into_iter().map(EditedView::of).collect::<Result<_>>()?;
    Ok(Json(Edited { data }))
}
