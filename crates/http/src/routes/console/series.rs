//! What happened over time, for plots.

use crate::error::Result;
use crate::extract::{Authed, Params};
use crate::routes::Native;
use axum::Json;
use axum::extract::State;
use loci_engine::STEPS;
use loci_model::policy;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const HOURS_DEFAULT: u64 = 24;
/// Plots that are counted at the same time, and of these those of one principal.
pub(crate) const PLOTS_AT_ONCE_MAX: usize = 8;
pub(crate) const PLOTS_EACH_MAX: usize = 2;

/// How far back.
#[derive(Deserialize)]
pub(crate) struct SeriesParams {
    hours: Option<u64>,
}

/// How long requests took, in milliseconds.
#[derive(Serialize, ToSchema)]
pub(crate) struct Latency {
    /// Half took at most this.
    p50: Vec<Option<f64>>,
    /// All but one in a hundred did.
    p99: Vec<Option<f64>>,
}

/// How a store grew.
#[derive(Serialize, ToSchema)]
pub(crate) struct GrowthView {
    /// The store.
    memory_store_id: String,
    /// Its name.
    name: String,
    /// Memories at the end of each step.
    memories: Vec<u64>,
}

/// Plots; all of the same length, oldest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct OverviewSeries {
    /// Always `overview`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The beginning of the first step.
    from: String,
    /// The end of the last.
    to: String,
    /// Seconds of a step.
    step_seconds: u64,
    /// Since when recalls, requests and latency are counted.
    known_since: String,
    /// Changes in each step.
    writes: Vec<u64>,
    /// Searches that found something; `null` before they were counted.
    recalls: Vec<Option<u64>>,
    /// Memories that ended or were compacted away; `null` where too much happened to tell.
    evictions: Vec<Option<u64>>,
    /// Requests that this server answered; this and the next two are administrators' only.
    requests: Option<Vec<u64>>,
    /// Those that failed by its own fault.
    errors: Option<Vec<u64>>,
    /// How long they took.
    latency_ms: Option<Latency>,
    /// The ten stores that grew most.
    stores: Vec<GrowthView>,
    /// Stores that were not looked at, the oldest, because there was too much to read.
    stores_left_out: usize,
}

/// What happened over the last hours in the stores that the caller may read.
#[utoipa::path(get, path = "/console/series", tag = "console", operation_id = "console_series",
    params(("hours" = Option<u64>, Query, description = "1 to 720; 24 when not given.")),
    responses((status = 200, body = OverviewSeries)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Params(params): Params<SeriesParams>,
) -> Result<Json<OverviewSeries>> {
    let hours = params.hours.unwrap_or(HOURS_DEFAULT);
    let (own, all) = ("you ask for too many plots at once", "too many plots at once; try again");
    let _share = native.plots.take(context.caller.principal, own, all)?;
    let series = native.engine.series(&context, hours).await?;
    let is_admin = policy::administer(&context.caller, series.to).is_ok();
    let step_micros = i64::try_from(series.step_secs).unwrap_or(1).saturating_mul(1_000_000);
    let spans =
        is_admin.then(|| native.metrics.ring.spans(series.from.as_micros(), step_micros, STEPS));
    Ok(Json(OverviewSeries {
        kind: "overview",
        from: series.from.to_string(),
        to: series.to.to_string(),
        step_seconds: series.step_secs,
        known_since: series.recalls_since.to_string(),
        writes: series.writes,
        recalls: series.recalls,
        stores_left_out: series.stores_left_out,
        evictions: series.evictions,
        requests: spans.as_ref().map(|spans| spans.iter().map(|span| span.requests).collect()),
        errors: spans.as_ref().map(|spans| spans.iter().map(|span| span.errors).collect()),
        latency_ms: spans.as_ref().map(|spans| Latency {
            p50: spans.iter().map(|span| span.p50).collect(),
            p99: spans.iter().map(|span| span.p99).collect(),
        }),
        stores: series
            .growth
            .into_iter()
            .map(|growth| GrowthView {
                memory_store_id: growth.store.to_string(),
                name: growth.name,
                memories: growth.memories,
            })
            .collect(),
    }))
}
