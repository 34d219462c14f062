//! How many entries of which kinds an agent has.

use super::call::{Answer, Call, Revision};
use super::error::{ErrorBody, Problem};
use super::kind::Kind;
use super::partition::PRIVATE;
use super::place::Place;
use super::render::json;
use axum::http::StatusCode;
use loci_engine::Purpose;
use loci_model::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// An agent's memory in numbers.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusMemory)]
pub(super) struct MemoryBody {
    agent_id: String,
    entry_count: u64,
    /// By kind; those that are not there are zero.
    counts_by_kind: BTreeMap<&'static str, u64>,
    /// The last change of any entry; none without entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
}

/// The entries that a revision shows.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) by_kind: BTreeMap<Kind, u64>,
    pub(super) updated_at: Option<Timestamp>,
}

impl Counts {
    pub(super) async fn of(call: &Call, place: &Place) -> Result<Self, Problem> {
        let Some(store) = place.store else { return Ok(Self::default()) };
        let besides = (call.revision == Revision::A).then_some(PRIVATE);
        let tally = call.engine.tally(&place.context, store, besides).await?;
        let mut counts = Self { updated_at: tally.updated_at, ..Self::default() };
        for (kind, count) in tally.kinds {
            *counts.by_kind.entry(Kind::of(kind.as_deref())).or_default() += count;
        }
        Ok(counts)
    }

    pub(super) fn total(&self) -> u64 {
        self.by_kind.values().sum()
    }
}

/// Counts the entries of an agent.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent}/memory",
    tag = "mobius",
    summary = "How many entries an agent has",
    responses((status = 200, body = MemoryBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn read(call: Call) -> Answer {
    let place = Place::of(&call, Purpose::Read).await?.introduced(&call).await?;
    let counts = Counts::of(&call, &place).await?;
    let named = counts.by_kind.iter().map(|(kind, count)| (kind.name(), *count));
    let body = MemoryBody {
        entry_count: counts.total(),
        counts_by_kind: named.collect(),
        updated_at: counts.updated_at.map(|at| at.to_string()),
        agent_id: place.agent_id,
    };
    Ok(json(StatusCode::OK, &body))
}
