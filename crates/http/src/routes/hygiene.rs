//! Memories that deserve a look, with the reason. Looking changes nothing.

use super::Native;
use super::entries::EntryView;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, Params};
use axum::Json;
use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use loci_engine::{Check, Finding};
use loci_model::StoreId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const FINDINGS_DEFAULT: usize = 50;
const FINDINGS_MAX: usize = 200;
const PAGE_CHARS_MAX: usize = 2048;

/// What to look for.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckName {
    /// Not changed for 30 days, and not pinned.
    Stale,
    /// The thousand largest.
    Largest,
    /// Looks as if it held a key, a token or a password.
    Secrets,
    /// Found by no search since they are counted.
    NeverRecalled,
}

/// Which findings.
#[derive(Deserialize)]
pub(crate) struct HygieneParams {
    check: CheckName,
    limit: Option<usize>,
    page: Option<String>,
}

/// A memory that deserves a look.
#[derive(Serialize, ToSchema)]
pub(crate) struct FindingView {
    /// The memory, without content.
    entry: EntryView,
    /// Why, for people.
    why: String,
    /// What secret it looks like: `aws_access_key`, `private_key`, `github_token`, `jwt`, `password` …
    pattern: Option<&'static str>,
    /// Where it stands, with the secret masked.
    excerpt: Option<String>,
}

impl FindingView {
    fn of(finding: Finding) -> Result<Self> {
        let (pattern, excerpt) = match finding.suspect {
            Some(suspect) => (Some(suspect.pattern), Some(suspect.excerpt)),
            None => (None, None),
        };
        Ok(Self { entry: EntryView::of(finding.memory)?, why: finding.why, pattern, excerpt })
    }
}

/// Some of them.
#[derive(Serialize, ToSchema)]
pub(crate) struct FindingsPage {
    /// The worst first.
    data: Vec<FindingView>,
    /// What to send as `page` for the next part; `null` at the end. A part may be empty before it.
    next_page: Option<String>,
    /// Since when searches are counted.
    known_since: String,
}

/// Memories that deserve a look.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/hygiene",
    tag = "entries", operation_id = "hygiene_list",
    params(
        ("memory_store_id" = String, Path),
        ("check" = CheckName, Query, description = "What to look for."),
        ("limit" = Option<usize>, Query, description = "How many, 1 to 200; 50 when not given. \
            `secrets` may give some more."),
        ("page" = Option<String>, Query, description = "`next_page` of the part before."),
    ),
    responses((status = 200, body = FindingsPage)))]
pub(crate) async fn list(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    Params(params): Params<HygieneParams>,
) -> Result<Json<FindingsPage>> {
    let limit = params.limit.unwrap_or(FINDINGS_DEFAULT);
    if !(1..=FINDINGS_MAX).contains(&limit) {
        return Err(Failure::invalid(format!("limit: expected 1 to {FINDINGS_MAX}")));
    }
    let check = match params.check {
        CheckName::Stale => Check::Stale,
        CheckName::Largest => Check::Largest,
        CheckName::Secrets => Check::Secrets,
        CheckName::NeverRecalled => Check::NeverRecalled,
    };
    let from = params.page.as_deref().map(|page| {
        let bytes = (page.len() <= PAGE_CHARS_MAX).then(|| URL_SAFE_NO_PAD.decode(page).ok());
        bytes.flatten().ok_or_else(|| Failure::invalid("page: is not one that was given out"))
    });
    let from = from.transpose()?;
    let engine = &native.engine;
    let findings = engine.look_for(&context, store, check, from.as_deref(), limit).await?;
    Ok(Json(FindingsPage {
        data: findings.found.into_iter().map(FindingView::of).collect::<Result<_>>()?,
        next_page: findings.next.map(|next| URL_SAFE_NO_PAD.encode(next)),
        known_since: engine.recalls_since().to_string(),
    }))
}
