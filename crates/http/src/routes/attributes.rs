//! What is known about a memory beside its content: shown, and changed field by field.
//!
//! A field that is absent stays, one that is `null` is cleared. A change writes a version like any
//! other edit.

use super::{Native, end};
use crate::error::{Failure, Result};
use crate::extract::{Authed, InStore, JsonBody};
use crate::wire::{given, time};
use axum::Json;
use axum::extract::State;
use loci_model::{
    At, Attributes, AttributesPatch, Edit, EditOp, Expect, Memory, MemoryId, OnSame, Patch,
    Timestamp, View, Visibility,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use utoipa::ToSchema;

/// Who a memory is meant for.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VisibilityName {
    /// Models and hosts.
    Context,
    /// Hosts only.
    Internal,
    /// Nobody, until a host approves it.
    Quarantine,
}

impl From<Visibility> for VisibilityName {
    fn from(visibility: Visibility) -> Self {
        match visibility {
            Visibility::Context => Self::Context,
            Visibility::Internal => Self::Internal,
            Visibility::Quarantine => Self::Quarantine,
        }
    }
}

impl From<VisibilityName> for Visibility {
    fn from(name: VisibilityName) -> Self {
        match name {
            VisibilityName::Context => Self::Context,
            VisibilityName::Internal => Self::Internal,
            VisibilityName::Quarantine => Self::Quarantine,
        }
    }
}

/// What must hold for a change to happen.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum AttributesPrecondition {
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

/// A change of attributes: absent keeps, `null` clears.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttributesRequest {
    /// A slug such as `fact`.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 64, pattern = "^\\S+$")]
    kind: Option<Option<String>>,
    /// Tags, without repeats.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>, max_items = 64)]
    tags: Option<Option<Vec<String>>>,
    /// 0 to 100.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u8>, maximum = 100)]
    importance: Option<Option<u8>>,
    /// Exempt from compaction.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<bool>)]
    pinned: Option<Option<bool>>,
    /// Who sees it; cleared is `context`.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<VisibilityName>)]
    visibility: Option<Option<VisibilityName>>,
    /// When it stops existing.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Option<String>>,
    /// The same in seconds from now.
    #[schema(minimum = 1)]
    ttl_seconds: Option<u32>,
    /// Where the writer says it came from.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 1024)]
    source: Option<Option<String>>,
    /// A free grouping label.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 1024)]
    scope: Option<Option<String>>,
    /// One line for indexes.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 280)]
    summary: Option<Option<String>>,
    /// What the content is, when it is not plain text.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 1024)]
    media_type: Option<Option<String>>,
    /// Any JSON object; replaced whole.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Object>)]
    metadata: Option<Option<serde_json::Map<String, serde_json::Value>>>,
    /// What must hold for the change to happen.
    precondition: Option<AttributesPrecondition>,
}

/// What is known about a memory beside its content, as every answer shows it.
#[derive(Serialize, ToSchema)]
pub(crate) struct DescribedView {
    /// A slug such as `fact`.
    kind: Option<String>,
    /// Tags.
    tags: Vec<String>,
    /// 0 to 100.
    importance: Option<u8>,
    /// Exempt from compaction.
    pinned: bool,
    /// Who sees it.
    visibility: VisibilityName,
    /// When it stops existing.
    expires_at: Option<String>,
    /// Where the writer says it came from.
    source: Option<String>,
    /// A free grouping label.
    scope: Option<String>,
    /// One line for indexes.
    summary: Option<String>,
    /// What the content is, when it is not plain text.
    media_type: Option<String>,
    /// A JSON object.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Box<RawValue>>,
}

impl DescribedView {
    pub(crate) fn of(attributes: Attributes) -> Result<Self> {
        let metadata = attributes.metadata.map(RawValue::from_string).transpose();
        let broken = |_| Failure::internal("stored metadata is not JSON");
        Ok(Self {
            kind: attributes.kind,
            tags: attributes.tags,
            importance: attributes.importance,
            pinned: attributes.pinned,
            visibility: attributes.visibility.into(),
            expires_at: time(attributes.expires_at),
            source: attributes.source,
            scope: attributes.scope,
            summary: attributes.summary,
            media_type: attributes.media_type,
            metadata: metadata.map_err(broken)?,
        })
    }
}

/// The attributes of a memory.
#[derive(Serialize, ToSchema)]
pub(crate) struct AttributesView {
    /// The memory.
    memory_id: String,
    /// Always `memory_attributes`.
    #[serde(rename = "type")]
    object: &'static str,
    /// Its store.
    memory_store_id: String,
    /// Its newest version.
    memory_version_id: String,
    /// The number of its newest version.
    revision: u64,
    /// Where it is.
    path: String,
    /// Whose partition it is in, in stores that are partitioned.
    partition: Option<String>,
    /// The principal who created it.
    owner: String,
    #[serde(flatten)]
    described: DescribedView,
}

impl AttributesView {
    fn of(memory: Memory) -> Result<Self> {
        Ok(Self {
            memory_id: memory.id.to_string(),
            object: "memory_attributes",
            memory_store_id: memory.store.to_string(),
            memory_version_id: memory.head.to_string(),
            revision: memory.revision,
            path: memory.path.to_string(),
            partition: memory.partition.map(|owner| owner.to_string()),
            owner: memory.owner.to_string(),
            described: DescribedView::of(memory.attributes)?,
        })
    }
}

impl AttributesRequest {
    fn into_edit(mut self, memory: MemoryId, now: Timestamp) -> Result<Edit> {
        let expect = match self.precondition.take() {
            None => Expect::Anything,
            Some(AttributesPrecondition::Revision { revision }) => Expect::Revision(revision),
            Some(AttributesPrecondition::ContentSha256 { content_sha256 }) => {
                let digest = content_sha256.parse();
                Expect::Digest(digest.map_err(|_| {
                    Failure::invalid("precondition.content_sha256: expected 64 hex digits")
                })?)
            }
        };
        let attributes = self.into_patch(now)?;
        Ok(Edit {
            at: At::Id(memory),
            expect,
            on_same: OnSame::Skip,
            op: EditOp::Put { content: None, to: None, attributes },
        })
    }

    /// The change by itself, where what must hold is said elsewhere.
    pub(crate) fn into_patch(self, now: Timestamp) -> Result<AttributesPatch> {
        if self.precondition.is_some() {
            return Err(Failure::invalid(
                "attributes.precondition: expect stands beside attributes",
            ));
        }
        let expires_at = match (self.expires_at, self.ttl_seconds) {
            (None, None) => Patch::Keep,
            (Some(None), None) => Patch::Set(None),
            (at, secs) => Patch::Set(end(now, at.flatten().as_deref(), secs, "ttl_seconds")?),
        };
        let metadata = self
            .metadata
            .map(|given| given.map(|object| serde_json::Value::Object(object).to_string()));
        Ok(AttributesPatch {
            kind: self.kind.into(),
            tags: self.tags.map(Option::unwrap_or_default).into(),
            importance: self.importance.into(),
            pinned: self.pinned.map(Option::unwrap_or_default).into(),
            visibility: self
                .visibility
                .map(|name| name.map(Visibility::from).unwrap_or_default())
                .into(),
            expires_at,
            source: self.source.into(),
            scope: self.scope.into(),
            summary: self.summary.into(),
            media_type: self.media_type.into(),
            metadata: metadata.into(),
        })
    }
}

/// The attributes of a memory.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/memories/{memory_id}/attributes",
    tag = "attributes", operation_id = "attributes_retrieve",
    params(("memory_store_id" = String, Path), ("memory_id" = String, Path)),
    responses((status = 200, body = AttributesView)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    InStore(store, memory): InStore<MemoryId>,
) -> Result<Json<AttributesView>> {
    let at = At::Id(memory);
    let memory = native.engine.get(&context, store, &at, View::Basic).await?;
    Ok(Json(AttributesView::of(memory)?))
}

/// Changes attributes of a memory.
#[utoipa::path(method(post, patch),
    path = "/v1/memory_stores/{memory_store_id}/memories/{memory_id}/attributes",
    tag = "attributes", operation_id = "attributes_update", request_body = AttributesRequest,
    params(("memory_store_id" = String, Path), ("memory_id" = String, Path)),
    responses((status = 200, body = AttributesView)))]
pub(crate) async fn change(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    InStore(store, memory): InStore<MemoryId>,
    JsonBody(wanted): JsonBody<AttributesRequest>,
) -> Result<Json<AttributesView>> {
    let engine = &native.engine;
    let edit = wanted.into_edit(memory, engine.seams().now())?;
    let outcome = engine.commit_one(&context, store, edit, "api").await?;
    Ok(Json(AttributesView::of(outcome.memory)?))
}
