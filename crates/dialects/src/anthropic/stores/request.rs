//! Reading requests about stores. Limits are the model's to check; here only shapes are.

use crate::anthropic::cursor::Cursor;
use crate::anthropic::error::Problem;
use crate::anthropic::query::Query;
use loci_engine::NewStore;
use loci_model::query::{Direction, StoreQuery};
use loci_model::store::LabelsPatch;
use loci_model::{StorePatch, StorePolicy, View};
use serde::Deserialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A memory store to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct CreateStore {
    /// 1 to 255 characters, no control characters; not unique.
    #[schema(min_length = 1, max_length = 255)]
    name: String,
    /// Up to 1,024 characters, written for the model.
    #[schema(max_length = 1024)]
    description: Option<String>,
    /// Up to 16 pairs; keys of 1 to 64, values of up to 512 characters.
    metadata: Option<BTreeMap<String, String>>,
}

impl CreateStore {
    pub(super) fn into_new(self) -> NewStore {
        NewStore {
            name: self.name,
            description: self.description.unwrap_or_default(),
            metadata: self.metadata.unwrap_or_default(),
            policy: StorePolicy::default(),
        }
    }
}

/// A change of a memory store. What is not given or null stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct UpdateStore {
    /// A new name.
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// A new description; empty clears it.
    #[schema(max_length = 1024)]
    description: Option<String>,
    /// A patch: a string sets a key, null removes it, keys not given stay.
    metadata: Option<BTreeMap<String, Option<String>>>,
}

impl UpdateStore {
    pub(super) fn into_patch(self) -> StorePatch {
        let metadata: LabelsPatch = self.metadata.unwrap_or_default();
        StorePatch { name: self.name, description: self.description, metadata }
    }
}

/// The listing a query asks for.
pub(super) fn listing(query: Query<'_>) -> Result<StoreQuery, Problem> {
    Ok(StoreQuery {
        since: query.time("created_at[gte]")?,
        until: query.time("created_at[lte]")?,
        include_archived: query.flag("include_archived")?,
        direction: Direction::Descending,
        after: Cursor::from_query(query, |cursor| match cursor {
            Cursor::Stores(at, id) => Some((at, id)),
            _ => None,
        })?,
        limit: query.page_limit(View::Basic)?,
    })
}
