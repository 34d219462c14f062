//! Searching one store, or all the caller may search.

mod answer;
mod request;

pub(crate) use answer::MemoryView;

use super::{Native, large};
use crate::error::Result;
use crate::extract::{Authed, Id, JsonBody};
use answer::{Answer, StoreAnswer};
use axum::extract::State;
use axum::response::Response;
use loci_engine::Context;
use loci_engine::search::{Hit, SearchAnswer, SearchRequest};
use loci_model::StoreId;
use request::SearchBody;
use std::sync::Arc;
use tokio::time::Instant;

/// Searches one store, by word, by meaning or both.
#[utoipa::path(post, path = "/v1/memory_stores/{memory_store_id}/search",
    tag = "search", operation_id = "search_store",
    params(("memory_store_id" = String, Path)), request_body = SearchBody,
    responses((status = 200, body = StoreAnswer)))]
pub(crate) async fn in_store(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    JsonBody(body): JsonBody<SearchBody>,
) -> Result<Response> {
    let answer = search(&native, &context, body.in_store(store)?).await?;
    large::answer(&native, weight(&answer), move || StoreAnswer::of(answer)).await
}

/// Searches every store the caller may search, or those it names.
#[utoipa::path(post, path = "/v1/search", tag = "search", operation_id = "search",
    request_body = SearchBody, responses((status = 200, body = Answer)))]
pub(crate) async fn everywhere(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    JsonBody(body): JsonBody<SearchBody>,
) -> Result<Response> {
    let answer = search(&native, &context, body.everywhere()?).await?;
    large::answer(&native, weight(&answer), move || Answer::of(answer)).await
}

async fn search(
    native: &Native,
    context: &Context,
    request: SearchRequest,
) -> Result<SearchAnswer> {
    let started = Instant::now();
    let mut answer = native.engine.search(context, &request).await?;
    native.engine.snippets_only(context, &mut answer.hits).await?;
    native.metrics.count_search(request.wanted.mode, started.elapsed());
    Ok(answer)
}

fn weight(answer: &SearchAnswer) -> usize {
    let of = |hit: &Hit| large::weight(&hit.memory) + hit.snippet.text.len();
    answer.hits.iter().map(of).sum()
}
