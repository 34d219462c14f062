//! Writing versions. A deleted version keeps its path and has no content; a redacted one has
//! neither, but still says who wrote it and when.

use crate::anthropic::cursor::Cursor;
use crate::anthropic::render::{ActorBody, PageBody, Shown, capacity_for, json_with_capacity};
use axum::body::Body;
use axum::http::Response;
use loci_model::{
    Content, Digest, MemoryId, Operation, Page, StoreId, Timestamp, Version, VersionId,
};
use serde::Serialize;
use utoipa::ToSchema;

/// A version of a memory.
#[derive(Serialize, ToSchema)]
#[schema(as = MemoryVersion)]
pub(in crate::anthropic) struct VersionBody<'a> {
    #[schema(value_type = String)]
    id: Shown<VersionId>,
    /// Always `memory_version`.
    r#type: &'static str,
    #[schema(value_type = String)]
    memory_store_id: Shown<StoreId>,
    #[schema(value_type = String)]
    memory_id: Shown<MemoryId>,
    /// `created`, `modified` or `deleted`.
    operation: &'static str,
    #[schema(value_type = String, format = DateTime)]
    created_at: Shown<Timestamp>,
    /// Null when redacted.
    path: Option<&'a str>,
    /// Null when deleted, redacted, sealed, or not asked for.
    content: Option<&'a str>,
    /// Null when deleted or redacted.
    #[schema(value_type = Option<String>)]
    content_sha256: Option<Shown<Digest>>,
    /// Null when deleted or redacted.
    content_size_bytes: Option<u64>,
    /// Null when the server itself wrote it.
    created_by: Option<ActorBody>,
    #[schema(value_type = Option<String>, format = DateTime)]
    redacted_at: Option<Shown<Timestamp>>,
    redacted_by: Option<ActorBody>,
}

impl<'a> VersionBody<'a> {
    fn of(version: &'a Version) -> Self {
        Self {
            id: Shown(version.id),
            r#type: "memory_version",
            memory_store_id: Shown(version.store),
            memory_id: Shown(version.memory),
            operation: match version.operation {
                Operation::Created => "created",
                Operation::Modified => "modified",
                Operation::Deleted => "deleted",
            },
            created_at: Shown(version.created_at),
            path: version.path.as_ref().map(|path| path.as_str()),
            content: version.content.as_ref().and_then(Content::text),
            content_sha256: version.digest.map(Shown),
            content_size_bytes: version.size_bytes,
            created_by: ActorBody::of(version.actor),
            redacted_at: version.redaction.map(|redaction| Shown(redaction.at)),
            redacted_by: version.redaction.and_then(|redaction| ActorBody::of(redaction.by)),
        }
    }
}

/// One version.
pub(super) fn version(version: &Version) -> Response<Body> {
    json_with_capacity(&VersionBody::of(version), bytes_of(version))
}

/// A page of versions.
pub(super) fn page(page: &Page<Version, u64>) -> Response<Body> {
    let bytes = page.items.iter().map(bytes_of).sum();
    let body = PageBody {
        data: page.items.iter().map(VersionBody::of).collect(),
        next_page: page.next.map(|seq| Cursor::Versions(seq).show()),
    };
    json_with_capacity(&body, bytes)
}

/// About how long a version becomes.
pub(super) fn bytes_of(version: &Version) -> usize {
    let content = version.content.as_ref().and_then(Content::text);
    capacity_for(content.map_or(0, str::len))
}
