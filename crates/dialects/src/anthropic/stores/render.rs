//! Writing stores.

use crate::anthropic::cursor::Cursor;
use crate::anthropic::render::{PageBody, Shown, json};
use axum::body::Body;
use axum::http::Response;
use loci_model::{Page, Store, StoreId, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A memory store.
#[derive(Serialize, ToSchema)]
#[schema(as = MemoryStore)]
pub(in crate::anthropic) struct StoreBody<'a> {
    #[schema(value_type = String)]
    id: Shown<StoreId>,
    /// Always `memory_store`.
    r#type: &'static str,
    name: &'a str,
    /// Empty when there is none.
    description: &'a str,
    metadata: &'a BTreeMap<String, String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Shown<Timestamp>,
    /// Moves with name, description, metadata and archiving, not with memories.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Shown<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    archived_at: Option<Shown<Timestamp>>,
}

impl<'a> StoreBody<'a> {
    pub(in crate::anthropic) fn of(store: &'a Store) -> Self {
        Self {
            id: Shown(store.id),
            r#type: "memory_store",
            name: &store.name,
            description: &store.description,
            metadata: &store.metadata,
            created_at: Shown(store.created_at),
            updated_at: Shown(store.updated_at),
            archived_at: store.archived_at.map(Shown),
        }
    }
}

/// A page of stores.
pub(super) fn page(page: &Page<Store, (Timestamp, StoreId)>) -> Response<Body> {
    json(&PageBody {
        data: page.items.iter().map(StoreBody::of).collect(),
        next_page: page.next.map(|(at, id)| Cursor::Stores(at, id).show()),
    })
}
