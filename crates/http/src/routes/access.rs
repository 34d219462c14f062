//! Who reaches a store and why: the rule that decides and those that would decide without it, as policy
//! itself tells.

use super::Native;
use super::grants::GrantView;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, Params};
use axum::Json;
use axum::extract::State;
use loci_engine::{AccessReport, Context, Reacher};
use loci_model::policy::{Match, Reach, Rule};
use loci_model::{Level, StoreId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const REACHERS_DEFAULT: usize = 100;
const REACHERS_MAX: usize = 1000;

/// Whose access.
#[derive(Deserialize)]
pub(crate) struct AccessParams {
    who: Option<String>,
    limit: Option<usize>,
    page: Option<usize>,
}

/// Somebody who may reach a store.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReacherView {
    /// `prn_…`, or `everyone`.
    id: String,
    /// Its name.
    name: String,
    /// `user`, `agent`, `service`, `group` or `everyone`.
    kind: &'static str,
}

/// A chat.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChatName {
    /// Its principal.
    id: String,
    /// Its name.
    name: String,
}

/// A rule that lets somebody in.
#[derive(Serialize, ToSchema)]
pub(crate) struct RuleView {
    /// `owner`, `administrator`, `grant`, `member`, `companion` or `everyone`.
    rule: &'static str,
    /// `search`, `read`, `readwrite` or `owner`.
    level: &'static str,
    /// The grant it rests on.
    grant: Option<GrantView>,
    /// The chat that they are in.
    chat: Option<ChatName>,
}

/// How somebody reaches a store.
#[derive(Serialize, ToSchema)]
pub(crate) struct Access {
    /// Always `access`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The store.
    memory_store_id: String,
    /// Who.
    principal: ReacherView,
    /// How far: `none`, `search`, `read`, `readwrite` or `owner`.
    level: &'static str,
    /// Whether the operator's switches keep it away, whatever matched.
    is_switched_off: bool,
    /// The rule that decides.
    matched: Option<RuleView>,
    /// The rules that would decide without it, in the order in which they are asked.
    also: Vec<RuleView>,
    /// How many other grants go with the one that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_lose: Option<usize>,
}

/// The name of how far somebody reaches.
pub(crate) fn reach_name(reach: Reach) -> &'static str {
    match reach {
        Reach::None => "none",
        Reach::Upto(Level::Search) => "search",
        Reach::Upto(Level::Read) => "read",
        Reach::Upto(Level::ReadWrite) => "readwrite",
        Reach::Owner => "owner",
    }
}

/// The name of a rule.
pub(crate) fn rule_name(rule: Rule) -> &'static str {
    match rule {
        Rule::Owner => "owner",
        Rule::Administrator => "administrator",
        Rule::Grant => "grant",
        Rule::Member => "member",
        Rule::Companion => "companion",
        Rule::Everyone => "everyone",
    }
}

impl Access {
    async fn of(
        native: &Native,
        context: &Context,
        store: StoreId,
        report: AccessReport,
    ) -> Result<Self> {
        let principal = match &report.who {
            Reacher::Everyone => {
                let everyone = || "everyone".to_owned();
                ReacherView { id: everyone(), name: everyone(), kind: "everyone" }
            }
            Reacher::Principal(principal) => ReacherView {
                id: principal.id.to_string(),
                name: principal.name.clone(),
                kind: super::principals::kind_name(principal.kind),
            },
        };
        let chat = report.chat.as_ref();
        let explanation = report.explanation;
        let mut rules = Vec::new();
        for one in explanation.matched.iter().chain(&explanation.also) {
            rules.push(Self::rule(native, context, one, chat).await?);
        }
        let mut rules = rules.into_iter();
        Ok(Self {
            kind: "access",
            memory_store_id: store.to_string(),
            principal,
            level: reach_name(explanation.reach),
            is_switched_off: explanation.is_switched_off,
            matched: rules.next(),
            also: rules.collect(),
            would_lose: report.would_lose,
        })
    }

    async fn rule(
        native: &Native,
        context: &Context,
        one: &Match,
        chat: Option<&loci_model::Principal>,
    ) -> Result<RuleView> {
        let grant = match &one.grant {
            Some(grant) => Some(GrantView::of(&native.engine, context, grant.clone()).await?),
            None => None,
        };
        let chat = chat.filter(|_| one.rule == Rule::Member);
        Ok(RuleView {
            rule: rule_name(one.rule),
            level: reach_name(one.reach),
            grant,
            chat: chat.map(|chat| ChatName { id: chat.id.to_string(), name: chat.name.clone() }),
        })
    }
}

/// A part of those who reach a store.
#[derive(Serialize, ToSchema)]
pub(crate) struct AccessPage {
    /// By name; everyone first.
    data: Vec<Access>,
    /// What to send as `page` for the next part; `null` at the end.
    next_page: Option<String>,
}

/// A part of those who reach a store, or the access of the one principal that was asked about.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum AccessAnswer {
    Page(AccessPage),
    One(Box<Access>),
}

/// Everybody who reaches a store and why, or one of them.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/access",
    tag = "grants", operation_id = "access_list",
    params(
        ("memory_store_id" = String, Path),
        ("who" = Option<String>, Query, description = "Only this principal, by name or id, or \
            `everyone`: the answer is then one access instead of a list, also of somebody who \
            reaches nothing."),
        ("limit" = Option<usize>, Query, description = "How many, 1 to 1000; 100 when not given."),
        ("page" = Option<usize>, Query, description = "`next_page` of the part before."),
    ),
    responses((status = 200, body = AccessAnswer)))]
pub(crate) async fn list(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    Params(params): Params<AccessParams>,
) -> Result<Json<AccessAnswer>> {
    let engine = &native.engine;
    if let Some(who) = &params.who {
        let report = engine.access_of(&context, store, who).await?;
        let access = Access::of(&native, &context, store, report).await?;
        return Ok(Json(AccessAnswer::One(Box::new(access))));
    }
    let limit = params.limit.unwrap_or(REACHERS_DEFAULT);
    if !(1..=REACHERS_MAX).contains(&limit) {
        return Err(Failure::invalid(format!("limit: expected 1 to {REACHERS_MAX}")));
    }
    let start = params.page.unwrap_or(0);
    let reports = engine.access(&context, store).await?;
    let end = start.saturating_add(limit);
    let next_page = (reports.len() > end).then(|| end.to_string());
    let mut data = Vec::new();
    for report in reports.into_iter().skip(start).take(limit) {
        data.push(Access::of(&native, &context, store, report).await?);
    }
    Ok(Json(AccessAnswer::Page(AccessPage { data, next_page })))
}
