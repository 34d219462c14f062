//! Memories that say the same, or nearly: a report to clean up by, which changes nothing.

use super::search::MemoryView;
use super::{Native, large};
use crate::error::Result;
use crate::extract::{Authed, Id, Params};
use axum::extract::State;
use axum::response::Response;
use loci_engine::search::{DuplicateGroup, DuplicatesRequest};
use loci_model::StoreId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const THRESHOLD_DEFAULT: f32 = 0.8;
const GROUPS_DEFAULT: usize = 100;

/// How alike, and how many.
#[derive(Deserialize)]
pub(crate) struct DuplicatesParams {
    /// From which similarity on memories count as near duplicates, 0.5 to 1; 0.8 when not given.
    threshold: Option<f32>,
    /// How many groups of either sort, 1 to 100; 100 when not given.
    limit: Option<usize>,
}

/// Memories that say the same, or nearly.
#[derive(Serialize, ToSchema)]
#[schema(as = DuplicateGroup)]
pub(crate) struct GroupView {
    /// The memories, oldest first, without content.
    memories: Vec<MemoryView>,
    /// How much the least alike neighbours of the group share, up to 1.
    similarity: f32,
}

impl GroupView {
    fn of(group: DuplicateGroup) -> Result<Self> {
        let memories = group.memories.into_iter().map(MemoryView::of).collect::<Result<_>>()?;
        Ok(Self { memories, similarity: group.similarity })
    }
}

/// The duplicates of a store.
#[derive(Serialize, ToSchema)]
#[schema(as = DuplicatesReport)]
pub(crate) struct ReportView {
    /// Always `duplicates_report`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Those with the very same content.
    exact: Vec<GroupView>,
    /// Those with nearly the same.
    near: Vec<GroupView>,
    /// Whether there are more groups than are shown.
    is_truncated: bool,
}

fn groups(groups: Vec<DuplicateGroup>) -> Result<Vec<GroupView>> {
    groups.into_iter().map(GroupView::of).collect()
}

/// Which memories of a store say the same, or nearly.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/duplicates",
    tag = "search", operation_id = "duplicates",
    params(
        ("memory_store_id" = String, Path),
        ("threshold" = Option<f32>, Query,
            description = "From which similarity on memories count as near duplicates, 0.5 to 1; \
                0.8 when not given."),
        ("limit" = Option<usize>, Query, description = "How many groups of either sort, 1 to 100; 100 when not given."),
    ),
    responses((status = 200, body = ReportView)))]
pub(crate) async fn report(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    Params(params): Params<DuplicatesParams>,
) -> Result<Response> {
    let request = DuplicatesRequest {
        threshold: params.threshold.unwrap_or(THRESHOLD_DEFAULT),
        limit: params.limit.unwrap_or(GROUPS_DEFAULT),
    };
    let report = native.engine.duplicates(&context, store, &request).await?;
    let memories = report.exact.iter().chain(&report.near).flat_map(|group| &group.memories);
    let bytes = memories.map(large::weight).sum();
    let view = move || {
        Ok(ReportView {
            kind: "duplicates_report",
            exact: groups(report.exact)?,
            near: groups(report.near)?,
            is_truncated: report.is_truncated,
        })
    };
    large::answer(&native, bytes, view).await
}
