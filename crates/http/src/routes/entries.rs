//! Memories with everything that is known about them, listed like a directory: what mounts, copies
//! and the console read. `last_seq` is taken before the listing, so whoever follows the feed from
//! there misses nothing that the listing did not show.

use super::attributes::DescribedView;
use super::{Native, large};
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, InStore, Params};
use crate::wire::moment;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use loci_engine::{RecallCount, Sieve, damaged};
use loci_model::query::{Direction, Filter, ListCursor, ListItem, ListOrder, ListQuery};
use loci_model::{At, Content, Memory, MemoryId, PathPrefix, StoreId, View, limit};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const ENTRIES_DEFAULT: usize = 100;
/// Characters of the longest `page`: a path of the greatest length and a little.
const PAGE_CHARS_MAX: usize = 2048;

/// In which order.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OrderName {
    /// By the bytes of the path.
    #[default]
    Path,
    /// By creation.
    Created,
    /// By last change.
    Updated,
}

/// Up or down.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DirectionName {
    /// Smallest first.
    #[default]
    Asc,
    /// Largest first.
    Desc,
}

/// With content or without.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ViewName {
    /// Without.
    #[default]
    Basic,
    /// With.
    Full,
}

impl From<ViewName> for View {
    fn from(name: ViewName) -> Self {
        match name {
            ViewName::Basic => Self::Basic,
            ViewName::Full => Self::Full,
        }
    }
}

/// Which sort of lines.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SortName {
    /// Directories alone.
    Directory,
}

/// Which entries.
#[derive(Deserialize)]
pub(crate) struct EntriesParams {
    prefix: Option<String>,
    depth: Option<usize>,
    #[serde(rename = "type")]
    sort: Option<SortName>,
    #[serde(default)]
    order: OrderName,
    #[serde(default)]
    direction: DirectionName,
    kind: Option<String>,
    #[serde(alias = "tag")]
    tags: Option<String>,
    source: Option<String>,
    scope: Option<String>,
    #[serde(default)]
    view: ViewName,
    as_of: Option<String>,
    updated_after: Option<String>,
    updated_before: Option<String>,
    #[serde(default)]
    pinned: bool,
    expires_before: Option<String>,
    limit: Option<usize>,
    page: Option<String>,
}

impl EntriesParams {
    fn sieve(&self) -> Result<Sieve> {
        Ok(Sieve {
            updated_after: moment("updated_after", self.updated_after.as_deref())?,
            updated_before: moment("updated_before", self.updated_before.as_deref())?,
            pinned: self.pinned,
            expires_before: moment("expires_before", self.expires_before.as_deref())?,
            directories: self.sort.is_some(),
        })
    }

    fn into_query(self) -> Result<ListQuery> {
        let limit = self.limit.unwrap_or(ENTRIES_DEFAULT);
        if !(1..=limit::ENTRIES_PAGE_MAX).contains(&limit) {
            let max = limit::ENTRIES_PAGE_MAX;
            return Err(Failure::invalid(format!("limit: expected 1 to {max}")));
        }
        let order = match self.order {
            OrderName::Path => ListOrder::Path,
            OrderName::Created => ListOrder::Created,
            OrderName::Updated => ListOrder::Updated,
        };
        if self.depth.is_some() && order != ListOrder::Path {
            return Err(Failure::invalid("depth: only with order=path"));
        }
        if self.sort.is_some() && self.depth.is_none() {
            return Err(Failure::invalid("type: only with depth"));
        }
        if self.depth.is_some_and(|depth| !(1..=limit::PATH_SEGMENTS_MAX).contains(&depth)) {
            let max = limit::PATH_SEGMENTS_MAX;
            return Err(Failure::invalid(format!("depth: expected 1 to {max}")));
        }
        let tags = self.tags.as_deref().unwrap_or_default();
        let tags: Vec<String> =
            tags.split(',').filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
        if tags.len() > limit::FILTER_VALUES_MAX {
            let max = limit::FILTER_VALUES_MAX;
            return Err(Failure::invalid(format!("tags: at most {max}")));
        }
        Ok(ListQuery {
            prefix: match &self.prefix {
                Some(prefix) => PathPrefix::parse(prefix)?,
                None => PathPrefix::root(),
            },
            fold_depth: self.depth,
            order,
            direction: match self.direction {
                DirectionName::Asc => Direction::Ascending,
                DirectionName::Desc => Direction::Descending,
            },
            filter: Filter {
                kind: self.kind,
                source: self.source,
                scope: self.scope,
                tags,
                partition: None,
            },
            view: self.view.into(),
            after: self.page.as_deref().map(|page| read_page(order, page)).transpose()?,
            limit,
        })
    }
}

fn read_page(order: ListOrder, page: &str) -> Result<ListCursor> {
    let bytes = (page.len() <= PAGE_CHARS_MAX).then(|| URL_SAFE_NO_PAD.decode(page).ok());
    let cursor = bytes.flatten().and_then(|bytes| ListCursor::from_bytes(order, &bytes));
    cursor.ok_or_else(|| Failure::invalid("page: is not one that was given out for this order"))
}

/// A memory with everything that is known about it.
#[derive(Serialize, ToSchema)]
pub(crate) struct EntryView {
    /// Survives renames.
    id: String,
    /// Its store.
    memory_store_id: String,
    /// Where it is.
    path: String,
    /// Its newest version.
    memory_version_id: String,
    /// The number of its newest version.
    revision: u64,
    /// Of the exact bytes, 64 lower-case hex digits.
    content_sha256: String,
    /// Bytes of the content.
    size_bytes: u64,
    /// Whether only clients can open the content.
    is_sealed: bool,
    /// When it was created.
    #[schema(format = DateTime)]
    created_at: String,
    /// When it last changed.
    #[schema(format = DateTime)]
    updated_at: String,
    /// Whose partition it is in, in stores that are partitioned.
    partition: Option<String>,
    /// The principal who created it.
    owner: String,
    #[serde(flatten)]
    described: DescribedView,
    /// The text, if asked for; `null` when it is sealed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    content: Option<Option<String>>,
    /// How often searches found it, where one entry is asked for as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    recalls: Option<RecallsView>,
}

/// How often searches found a memory, counted by this server since it started.
#[derive(Serialize, ToSchema)]
pub(crate) struct RecallsView {
    /// How often.
    count: u64,
    /// By how many callers, up to 16.
    actors: usize,
    /// When last.
    last_at: Option<String>,
    /// Since when it is counted.
    since: String,
}

impl From<RecallCount> for RecallsView {
    fn from(recalls: RecallCount) -> Self {
        Self {
            count: recalls.count,
            actors: recalls.actors,
            last_at: (recalls.count > 0).then(|| recalls.last_at.to_string()),
            since: recalls.since.to_string(),
        }
    }
}

impl EntryView {
    pub(crate) fn of(memory: Memory) -> Result<Self> {
        Ok(Self {
            id: memory.id.to_string(),
            memory_store_id: memory.store.to_string(),
            path: memory.path.to_string(),
            memory_version_id: memory.head.to_string(),
            revision: memory.revision,
            content_sha256: memory.digest.to_string(),
            size_bytes: memory.size_bytes,
            is_sealed: memory.is_sealed,
            created_at: memory.created_at.to_string(),
            updated_at: memory.updated_at.to_string(),
            partition: memory.partition.map(|owner| owner.to_string()),
            owner: memory.owner.to_string(),
            described: DescribedView::of(memory.attributes)?,
            content: memory.content.map(|content| match content {
                Content::Text(text) => Some(text),
                Content::Sealed(_) => None,
            }),
            recalls: None,
        })
    }
}

/// One line of a listing.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum ListedView {
    /// A memory.
    Entry(Box<EntryView>),
    /// Something deeper than asked for.
    Directory {
        /// With its trailing slash.
        path: String,
    },
}

/// A part of a listing.
#[derive(Serialize, ToSchema)]
pub(crate) struct Entries {
    /// The lines.
    data: Vec<ListedView>,
    /// What to send as `page` for the next part; `null` at the end.
    next_page: Option<String>,
    /// How far the feed was before this part was read.
    last_seq: u64,
    /// Memories that belong to this part and are left out, because their contents are damaged.
    damaged: Vec<String>,
}

/// Memories with their attributes.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/entries",
    tag = "entries", operation_id = "entries_list",
    params(
        ("memory_store_id" = String, Path),
        ("prefix" = Option<String>, Query, description = "Below this directory, such as `/a/`."),
        ("depth" = Option<usize>, Query,
            description = "Show what lies deeper as directories; only with `order=path`."),
        ("type" = Option<String>, Query, description = "`directory`: only these, without the \
            memories beside them; only with `depth`. A page may be short or empty."),
        ("order" = Option<OrderName>, Query, description = "By what; `path` when not given."),
        ("direction" = Option<DirectionName>, Query, description = "`asc` when not given."),
        ("kind" = Option<String>, Query, description = "Only of this kind."),
        ("tags" = Option<String>, Query, description = "Only with all of these, comma-separated."),
        ("source" = Option<String>, Query, description = "Only with this claimed source."),
        ("scope" = Option<String>, Query, description = "Only with this label."),
        ("as_of" = Option<String>, Query, description = "The store as it was at this time: texts \
            only, without what was redacted since, under the rules of today."),
        ("updated_after" = Option<String>, Query, description = "Only what changed then or later."),
        ("updated_before" = Option<String>, Query,
            description = "Only what changed then or earlier."),
        ("pinned" = Option<bool>, Query, description = "`true`: only what is pinned."),
        ("expires_before" = Option<String>, Query, description = "Only what ends before this time. \
            Pages that are sifted so may be short; the last says that it is."),
        ("view" = Option<ViewName>, Query, description = "`full` brings the content, and pages \
            end early after about a megabyte of it."),
        ("limit" = Option<usize>, Query, description = "How many, 1 to 1000; 100 when not given."),
        ("page" = Option<String>, Query, description = "`next_page` of the part before."),
    ),
    responses((status = 200, body = Entries)))]
pub(crate) async fn list(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    Params(params): Params<EntriesParams>,
) -> Result<Response> {
    let as_of = moment("as_of", params.as_of.as_deref())?;
    let sieve = params.sieve()?;
    let query = params.into_query()?;
    let engine = &native.engine;
    let last_seq = engine.stats(&context, store).await?.last_seq;
    let page = match as_of {
        Some(at) => engine.list_past(&context, store, at, &query, &sieve).await?,
        None => engine.list_sifted(&context, store, &query, &sieve).await?,
    };
    let damaged = damaged().iter().map(|(_, memory)| memory.to_string()).collect();
    let next_page = page.next.map(|cursor| URL_SAFE_NO_PAD.encode(cursor.to_bytes()));
    let weight = |item: &ListItem| match item {
        ListItem::Memory(memory) => large::weight(memory),
        ListItem::Directory(path) => path.len(),
    };
    let bytes = page.items.iter().map(weight).sum();
    let shown = |item| match item {
        ListItem::Memory(memory) => {
            EntryView::of(*memory).map(|entry| ListedView::Entry(Box::new(entry)))
        }
        ListItem::Directory(path) => Ok(ListedView::Directory { path }),
    };
    let view = move || {
        let data = page.items.into_iter().map(shown).collect::<Result<_>>()?;
        Ok(Entries { data, next_page, last_seq, damaged })
    };
    large::answer(&native, bytes, view).await
}

/// Whether one entry is shown with its content.
#[derive(Deserialize)]
pub(crate) struct EntryParams {
    #[serde(default)]
    view: ViewName,
    as_of: Option<String>,
}

/// One memory with its attributes.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/entries/{memory_id}",
    tag = "entries", operation_id = "entries_retrieve",
    params(
        ("memory_store_id" = String, Path),
        ("memory_id" = String, Path),
        ("view" = Option<ViewName>, Query, description = "`full` brings the content."),
        ("as_of" = Option<String>, Query, description = "As it was at this time."),
    ),
    responses((status = 200, body = EntryView)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    InStore(store, memory): InStore<MemoryId>,
    Params(params): Params<EntryParams>,
) -> Result<Json<EntryView>> {
    let engine = &native.engine;
    let view = params.view.into();
    if let Some(at) = moment("as_of", params.as_of.as_deref())? {
        let past = engine.get_past(&context, store, memory, at, view).await?;
        return Ok(Json(EntryView::of(past)?));
    }
    let memory = engine.get(&context, store, &At::Id(memory), view).await?;
    let recalls = engine.recalls_of(&memory).into();
    Ok(Json(EntryView { recalls: Some(recalls), ..EntryView::of(memory)? }))
}
