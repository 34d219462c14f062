//! Agents themselves: listed, made, shown, changed. What is kept is what memory needs: the name, the
//! owner's reference, whether there is memory at all, and how much of it a turn begins with. The
//! rest of an agent (its model, its prompt, who may talk to it) is the business of whoever runs it;
//! it is taken and not kept.

use super::agent::{AgentBody, AgentsBody, NAME_CHARS_MAX, body, has_reference};
use super::call::{Answer, Call, Revision};
use super::cursor::{parse_agents, show_agents};
use super::error::{ErrorBody, Problem};
use super::fields::Fields;
use super::labels::{EXTERNAL_REF, MEMORY_CONTEXT, MemoryContext};
use super::place::{check_name, find, full_name, name_in};
use super::render::json;
use axum::http::StatusCode;
use loci_engine::{Agent, Error, Purpose};
use loci_model::{MemorySwitches, Principal, Store, StorePatch};

const REF_CHARS_MAX: usize = 200;

/// Fields of requests that clients of both revisions send and that are nobody's business here.
const FOREIGN: [&str; 18] = [
    "action_selectors",
    "affected_resource_dispositions",
    "color",
    "compaction_policy",
    "confirm_visibility_change",
    "description",
    "members",
    "model",
    "model_route",
    "output_folder",
    "owner",
    "stranded_disposition",
    "system_prompt",
    "tags",
    "thinking_effort",
    "timeout_seconds",
    "tool_presentation",
    "visibility",
];
/// Fields that are kept.
const OWN: [&str; 4] = ["name", "external_ref", "memory_enabled", "memory_context"];

/// Lists agents, the oldest first: all of a project for those who act for agents, itself for an
/// agent.
#[utoipa::path(
    get,
    path = "/v1/agents",
    tag = "mobius",
    summary = "List agents",
    params(
        ("name" = Option<String>, Query, description = "The one of this name"),
        ("principal_id" = Option<String>, Query, description = "The one that is this principal"),
        ("status" = Option<String>, Query, description = "`active` (all of them) or `inactive` (none)"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the page before"),
        ("limit" = Option<u32>, Query, description = "1 to 100, otherwise 20"),
    ),
    responses((status = 200, body = AgentsBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn many(call: Call) -> Answer {
    let query = call.query();
    let limit = query.limit()?;
    let (name, principal) = (query.get("name")?, query.get("principal_id")?);
    let is_none = match query.get("status")?.as_deref() {
        None | Some("active") => false,
        Some("inactive") => true,
        Some(_) => return Err(Problem::invalid("status must be active or inactive")),
    };
    let after = match query.get("cursor")? {
        None => None,
        Some(text) => Some(
            parse_agents(&text)
                .ok_or_else(|| Problem::invalid("cursor is not one of this list"))?,
        ),
    };
    let mut agents = call.engine.agents(&call.context).await?;
    agents.retain(|agent| {
        let shown = name_in(&call.project, &agent.principal);
        shown.is_some()
            && !is_none
            && name.as_deref().is_none_or(|name| shown == Some(name))
            && principal.as_deref().is_none_or(|id| agent.principal.id.to_string() == id)
            && after.is_none_or(|after| agent.principal.id > after)
    });
    agents.sort_by_key(|agent| agent.principal.id);
    let has_more = agents.len() > limit;
    agents.truncate(limit);
    let last = agents.last().filter(|_| has_more).map(|agent| agent.principal.id);
    let items = agents.iter();
    let items = items.map(|agent| body(&call, &agent.principal, agent.home.as_ref())).collect();
    let answer = match call.revision {
        Revision::A => AgentsBody { items, has_more: None, next_cursor: None },
        Revision::B => {
            AgentsBody { items, has_more: Some(has_more), next_cursor: last.map(show_agents) }
        }
    };
    Ok(json(StatusCode::OK, &answer))
}

/// Makes an agent. With `if_exists: adopt`, one that has the reference already comes back as it is.
#[utoipa::path(
    post,
    path = "/v1/agents",
    tag = "mobius",
    summary = "Make an agent",
    request_body = Object,
    responses(
        (status = 200, description = "It was there", body = AgentBody),
        (status = 201, description = "It was made", body = AgentBody),
        (status = "4XX", body = ErrorBody<'_>),
    )
)]
pub(super) async fn create(call: Call) -> Answer {
    let fields = call.fields()?;
    fields.only(&known(&["if_exists"]))?;
    let name = fields.text("name")?.ok_or_else(|| Problem::invalid("name is needed"))?;
    check_name(&name, NAME_CHARS_MAX)?;
    let reference = reference(&fields)?;
    let adopts = match fields.text("if_exists")?.as_deref() {
        None | Some("error") => false,
        Some("adopt") => true,
        Some(_) => return Err(Problem::invalid("if_exists must be error or adopt")),
    };
    if adopts && reference.is_none() {
        return Err(Problem::invalid("if_exists: adopt needs external_ref"));
    }
    let settings = Settings::read(&fields)?;
    if !call.engine.acts_for_agents(&call.context) {
        return Err(Problem::denied("this needs an administrator's or a platform's key"));
    }
    if let Some(reference) = &reference {
        let mut agents = call.engine.agents(&call.context).await?;
        agents.retain(|agent| name_in(&call.project, &agent.principal).is_some());
        let owner = agents.into_iter().find(|agent| has_reference(agent, reference));
        if let Some(Agent { principal, home }) = owner {
            let is_same = name_in(&call.project, &principal) == Some(&name);
            return match (adopts, is_same) {
                (true, true) => Ok(json(StatusCode::OK, &body(&call, &principal, home.as_ref()))),
                (true, false) => {
                    Err(Problem::other_identity("an agent of another name has this external_ref"))
                }
                (false, _) => Err(Problem::already_exists("an agent has this external_ref")),
            };
        }
    }
    let full = full_name(&call.project, &name);
    let made =
        call.engine.create_agent(&call.context, &full).await.map_err(|error| match error {
            Error::Taken(_) if adopts => {
                Problem::other_identity("the agent of this name has another external_ref, or none")
            }
            Error::Taken(_) => Problem::already_exists("an agent has this name"),
            other => other.into(),
        })?;
    let (made, home) = settings.apply(&call, made, reference).await?;
    Ok(json(StatusCode::CREATED, &body(&call, &made, home.as_ref())))
}

/// Shows an agent.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent}",
    tag = "mobius",
    summary = "Show an agent",
    responses((status = 200, body = AgentBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn one(call: Call) -> Answer {
    let (principal, home) = known_agent(&call).await?;
    Ok(json(StatusCode::OK, &body(&call, &principal, home.as_ref())))
}

/// Changes an agent: its reference, once; whether it has memory, by an administrator; what of its
/// memory a turn begins with, `{}` for the default.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent}",
    tag = "mobius",
    summary = "Change an agent",
    request_body = Object,
    responses((status = 200, body = AgentBody), (status = "4XX", body = ErrorBody<'_>))
)]
pub(super) async fn change(call: Call) -> Answer {
    let fields = call.fields()?;
    fields.only(&known(&["status"]))?;
    let name = fields.text("name")?;
    let mut reference = reference(&fields)?;
    match fields.text("status")?.as_deref() {
        None | Some("active") => {}
        Some("inactive") => return Err(Problem::invalid("agents cannot be made inactive here")),
        Some(_) => return Err(Problem::invalid("status must be active or inactive")),
    }
    let settings = Settings::read(&fields)?;
    let (principal, home) = known_agent(&call).await?;
    if name.is_some_and(|name| name_in(&call.project, &principal) != Some(&name)) {
        return Err(Problem::invalid("the name of an agent cannot be changed"));
    }
    if let Some(wanted) = &reference {
        let current = home.as_ref().and_then(|home| home.metadata.get(EXTERNAL_REF));
        match current {
            Some(current) if current == wanted => reference = None,
            Some(_) => {
                return Err(Problem::other_identity("the agent has another external_ref"));
            }
            None => {
                let agents = call.engine.agents(&call.context).await?;
                let is_near = |agent: &&Agent| name_in(&call.project, &agent.principal).is_some();
                if agents.iter().filter(is_near).any(|agent| has_reference(agent, wanted)) {
                    return Err(Problem::already_exists("an agent has this external_ref"));
                }
            }
        }
    }
    let (changed, now) = settings.apply(&call, principal, reference).await?;
    Ok(json(StatusCode::OK, &body(&call, &changed, now.or(home).as_ref())))
}

/// What a request says about memory.
struct Settings {
    is_enabled: Option<bool>,
    /// `Some(None)` takes the setting away.
    context: Option<Option<MemoryContext>>,
}

impl Settings {
    fn read(fields: &Fields) -> Result<Self, Problem> {
        let is_enabled = fields.flag("memory_enabled")?;
        Ok(Self { is_enabled, context: MemoryContext::read(fields)? })
    }

    /// Does what was said; the home comes back if anything was written there.
    async fn apply(
        self,
        call: &Call,
        mut agent: Principal,
        reference: Option<String>,
    ) -> Result<(Principal, Option<Store>), Problem> {
        let mut patch = StorePatch::default();
        patch.metadata.extend(reference.map(|text| (EXTERNAL_REF.to_owned(), Some(text))));
        let context = self.context.map(|context| context.map(MemoryContext::label));
        patch.metadata.extend(context.map(|label| (MEMORY_CONTEXT.to_owned(), label)));
        let mut home = None;
        if !patch.metadata.is_empty() {
            let context = call.engine.concerning(&call.context, &agent);
            let store = call.engine.home(&context, &agent, Purpose::Write).await?;
            if let Some(store) = store {
                home = Some(call.engine.describe_store(&context, store, patch).await?);
            }
        }
        if let Some(is_on) = self.is_enabled.filter(|is_on| *is_on != agent.memory.is_on) {
            let memory = MemorySwitches { is_on, ..agent.memory };
            agent = call.engine.switch_memory(&call.context, agent.id, memory).await?;
        }
        Ok((agent, home))
    }
}

/// The agent that a request names, and its home: for those who may act for it, and those to whom
/// its memory was opened.
async fn known_agent(call: &Call) -> Result<(Principal, Option<Store>), Problem> {
    let found = find(call, &call.segment(0)?).await?;
    let principal = found.ok_or(Error::NotFound("agent"))?;
    let context = call.engine.concerning(&call.context, &principal);
    let acts = call.engine.acts_for_agents(&call.context);
    let home = match call.engine.home(&context, &principal, Purpose::Read).await {
        Ok(None) => None,
        Ok(Some(store)) => match call.engine.store(&context, store).await {
            Err(Error::Denied(_)) if acts => None,
            read => Some(read?),
        },
        Err(Error::NotFound(_) | Error::Denied(_)) if acts => None,
        Err(error) => return Err(error.into()),
    };
    Ok((principal, home))
}

fn known(more: &[&'static str]) -> Vec<&'static str> {
    FOREIGN.iter().chain(&OWN).chain(more).copied().collect()
}

fn reference(fields: &Fields) -> Result<Option<String>, Problem> {
    let reference = fields.short("external_ref", REF_CHARS_MAX)?;
    if reference.as_deref() == Some("") {
        return Err(Problem::invalid("external_ref must not be empty"));
    }
    Ok(reference)
}
