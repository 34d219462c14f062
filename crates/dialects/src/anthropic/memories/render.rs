//! Writing memories. Reading one memory is what this door does most, so it goes from the engine's
//! struct to the wire in one pass over one buffer.

use crate::anthropic::cursor::Cursor;
use crate::anthropic::render::{PageBody, Shown, capacity_for, json_with_capacity};
use axum::body::Body;
use axum::http::Response;
use loci_model::query::{Direction, ListCursor, ListItem, ListOrder};
use loci_model::{Content, Digest, Memory, MemoryId, Page, StoreId, Timestamp, VersionId};
use serde::Serialize;
use utoipa::ToSchema;

/// A memory.
#[derive(Serialize, ToSchema)]
#[schema(as = Memory)]
pub(in crate::anthropic) struct MemoryBody<'a> {
    /// Survives renames.
    #[schema(value_type = String)]
    id: Shown<MemoryId>,
    r#type: MemoryType,
    #[schema(value_type = String)]
    memory_store_id: Shown<StoreId>,
    /// The newest version.
    #[schema(value_type = String)]
    memory_version_id: Shown<VersionId>,
    path: &'a str,
    /// Null unless the view is full. Sealed content, which other doors can write, is not text and
    /// is null here too; its size and hash are shown.
    content: Option<&'a str>,
    content_size_bytes: u64,
    /// Of the exact bytes, 64 lower-case hex digits.
    #[schema(value_type = String)]
    content_sha256: Shown<Digest>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Shown<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Shown<Timestamp>,
}

/// Says that a line of a listing is a memory.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum MemoryType {
    Memory,
}

/// Says that a line of a listing is a directory.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum PrefixType {
    MemoryPrefix,
}

/// A directory that holds memories deeper down.
#[derive(Serialize, ToSchema)]
#[schema(as = MemoryPrefix)]
pub(in crate::anthropic) struct PrefixBody<'a> {
    r#type: PrefixType,
    /// With its trailing slash.
    path: &'a str,
}

/// One line of a listing.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = MemoryListItem)]
pub(in crate::anthropic) enum ItemBody<'a> {
    Memory(MemoryBody<'a>),
    Prefix(PrefixBody<'a>),
}

impl<'a> MemoryBody<'a> {
    fn of(memory: &'a Memory, content: Option<&'a Content>) -> Self {
        Self {
            id: Shown(memory.id),
            r#type: MemoryType::Memory,
            memory_store_id: Shown(memory.store),
            memory_version_id: Shown(memory.head),
            path: memory.path.as_str(),
            content: content.and_then(Content::text),
            content_size_bytes: memory.size_bytes,
            content_sha256: Shown(memory.digest),
            created_at: Shown(memory.created_at),
            updated_at: Shown(memory.updated_at),
        }
    }
}

impl<'a> ItemBody<'a> {
    fn of(item: &'a ListItem) -> Self {
        match item {
            ListItem::Memory(memory) => {
                Self::Memory(MemoryBody::of(memory, memory.content.as_ref()))
            }
            ListItem::Directory(path) => {
                Self::Prefix(PrefixBody { r#type: PrefixType::MemoryPrefix, path })
            }
        }
    }
}

/// A memory with the content to show.
pub(super) fn memory(memory: &Memory, content: Option<&Content>) -> Response<Body> {
    let body = MemoryBody::of(memory, content);
    json_with_capacity(&body, capacity_for(body.path.len() + text_bytes(content)))
}

/// A page of memories and prefixes.
pub(super) fn page(
    page: &Page<ListItem, ListCursor>,
    order: ListOrder,
    direction: Direction,
) -> Response<Body> {
    let bytes = page.items.iter().map(bytes_of).sum();
    let data = page.items.iter().map(ItemBody::of).collect();
    let cursor = |at: &ListCursor| Cursor::Memories(order, direction, at.clone()).show();
    let next_page = page.next.as_ref().map(cursor);
    json_with_capacity(&PageBody { data, next_page }, bytes)
}

fn bytes_of(item: &ListItem) -> usize {
    match item {
        ListItem::Memory(memory) => capacity_for(text_bytes(memory.content.as_ref())),
        ListItem::Directory(path) => capacity_for(path.len()),
    }
}

fn text_bytes(content: Option<&Content>) -> usize {
    content.and_then(Content::text).map_or(0, str::len)
}
