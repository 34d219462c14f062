//! What happened to memories, version by version, with what was known about each; newest first.

use super::attributes::DescribedView;
use super::entries::ViewName;
use super::{Native, large};
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, Params};
use crate::wire::{ActorView, Page, moment, time};
use axum::extract::State;
use axum::response::Response;
use loci_engine::HistoryQuery;
use loci_model::{Content, MemoryId, Operation, PathPrefix, StoreId, Version};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const VERSIONS_DEFAULT: usize = 100;
const VERSIONS_MAX: usize = 1000;

/// Which versions.
#[derive(Deserialize)]
pub(crate) struct HistoryParams {
    memory_id: Option<String>,
    actor: Option<String>,
    since: Option<String>,
    until: Option<String>,
    prefix: Option<String>,
    #[serde(default)]
    view: ViewName,
    limit: Option<usize>,
    page: Option<String>,
}

/// One version of a memory.
#[derive(Serialize, ToSchema)]
pub(crate) struct HistoryVersion {
    /// Always `version`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// `memver_…`.
    id: String,
    /// Its store.
    memory_store_id: String,
    /// Its memory.
    memory_id: String,
    /// 1, 2, 3 … within the memory.
    revision: u64,
    /// Its place in the store's feed.
    seq: u64,
    /// `created`, `modified` or `deleted`.
    operation: &'static str,
    /// The path after it; of a removal before it; `null` once redacted.
    path: Option<String>,
    /// The text, if asked for; `null` of removals, of what is sealed, and once redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    content: Option<Option<String>>,
    /// Of the exact bytes; `null` of removals and once redacted.
    content_sha256: Option<String>,
    /// Bytes of the content.
    size_bytes: Option<u64>,
    /// Whether only clients can open the content; known where the content was asked for.
    is_sealed: bool,
    /// When.
    created_at: String,
    /// Who; `null` is the server itself.
    created_by: Option<ActorView>,
    /// Why: `api`, `expired` …
    reason: String,
    /// What was known beside the content; `null` once redacted.
    attributes: Option<DescribedView>,
    /// When it was redacted.
    redacted_at: Option<String>,
    /// By whom.
    redacted_by: Option<ActorView>,
}

/// The name of what a version records.
pub(crate) fn operation_name(operation: Operation) -> &'static str {
    match operation {
        Operation::Created => "created",
        Operation::Modified => "modified",
        Operation::Deleted => "deleted",
    }
}

impl HistoryVersion {
    fn of(version: Version, view: ViewName) -> Result<Self> {
        let is_sealed = matches!(version.content, Some(Content::Sealed(_)));
        let text = match version.content {
            Some(Content::Text(text)) => Some(text),
            Some(Content::Sealed(_)) | None => None,
        };
        Ok(Self {
            kind: "version",
            id: version.id.to_string(),
            memory_store_id: version.store.to_string(),
            memory_id: version.memory.to_string(),
            revision: version.revision,
            seq: version.seq,
            operation: operation_name(version.operation),
            path: version.path.map(|path| path.to_string()),
            content: matches!(view, ViewName::Full).then_some(text),
            content_sha256: version.digest.map(|digest| digest.to_string()),
            size_bytes: version.size_bytes,
            is_sealed,
            created_at: version.created_at.to_string(),
            created_by: ActorView::of(version.actor),
            reason: version.cause.reason,
            attributes: version.attributes.map(DescribedView::of).transpose()?,
            redacted_at: time(version.redaction.map(|redaction| redaction.at)),
            redacted_by: version.redaction.and_then(|redaction| ActorView::of(redaction.by)),
        })
    }
}

/// Versions of a store's memories, newest first. A page may be short; the last says so.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/history",
    tag = "entries", operation_id = "history_list",
    params(
        ("memory_store_id" = String, Path),
        ("memory_id" = Option<String>, Query, description = "Only of this memory."),
        ("actor" = Option<String>, Query, description = "Only by this key, session, user or \
            service account; or by a principal, with everything that acts for it."),
        ("since" = Option<String>, Query, description = "Not before this time."),
        ("until" = Option<String>, Query, description = "Not after this time."),
        ("prefix" = Option<String>, Query, description = "Below this directory, such as `/a/`."),
        ("view" = Option<ViewName>, Query, description = "`full` brings the content, and pages \
            end early after about two megabytes of it."),
        ("limit" = Option<usize>, Query, description = "How many, 1 to 1000; 100 when not given."),
        ("page" = Option<String>, Query, description = "`next_page` of the part before."),
    ),
    responses((status = 200, body = Page<HistoryVersion>)))]
pub(crate) async fn list(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    Params(params): Params<HistoryParams>,
) -> Result<Response> {
    let engine = &native.engine;
    let limit = params.limit.unwrap_or(VERSIONS_DEFAULT);
    if !(1..=VERSIONS_MAX).contains(&limit) {
        return Err(Failure::invalid(format!("limit: expected 1 to {VERSIONS_MAX}")));
    }
    // Nobody learns here whether a name is somebody's who may not read the store.
    engine.store(&context, store).await?;
    let memory = params.memory_id.as_deref().map(str::parse::<MemoryId>).transpose();
    let page = params.page.as_deref().map(str::parse).transpose();
    let query = HistoryQuery {
        memory: memory.map_err(|_| Failure::not_found("memory"))?,
        actors: match &params.actor {
            Some(actor) => Some(engine.actors(&context, actor).await?),
            None => None,
        },
        since: moment("since", params.since.as_deref())?,
        until: moment("until", params.until.as_deref())?,
        prefix: match &params.prefix {
            Some(prefix) => PathPrefix::parse(prefix)?,
            None => PathPrefix::root(),
        },
        view: params.view.into(),
        before_seq: page.map_err(|_| Failure::invalid("page: is not one that was given out"))?,
        limit,
    };
    let page = engine.history(&context, store, &query).await?;
    let bytes = page.items.iter().map(weight).sum();
    let view = move || {
        let versions = page.items.into_iter();
        let versions = versions.map(|version| HistoryVersion::of(version, params.view));
        Ok(Page {
            data: versions.collect::<Result<_>>()?,
            next_page: page.next.map(|seq| seq.to_string()),
        })
    };
    large::answer(&native, bytes, view).await
}

/// About how large a version is in an answer.
fn weight(version: &Version) -> usize {
    const EACH: usize = 1024;
    EACH + version.content.as_ref().map_or(0, |content| content.bytes().len())
}
