//! Reading requests about sessions.

use super::agent::{AgentBody, check_foreign_id};
use super::budget::Budget;
use super::render::Details;
use super::resources::{Declared, OTHERS_MAX};
use crate::anthropic::body::{self, nullable};
use crate::anthropic::cursor::{Cursor, Sense};
use crate::anthropic::error::Problem;
use crate::anthropic::query::{Query, refuse};
use loci_engine::{Engine, Error, NewAttachment, NewSession};
use loci_model::query::{CreatedQuery, Direction, SessionQuery};
use loci_model::store::LabelsPatch;
use loci_model::{Access, SessionId, StoreId, Timestamp, View, limit};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Events a session may start with.
const INITIAL_EVENTS_MAX: usize = 50;
/// What is kept of a session beside the core's own: a page of a hundred must fit into memory.
const DETAILS_BYTES_MAX: usize = limit::SESSION_DETAILS_BYTES_MAX;
/// Resources on one page.
const RESOURCES_PAGE_MAX: usize = 1000;
/// Ids are made from the clock and dice; none is ever zero.
const NO_STORE: StoreId = StoreId::from_u128(0);

/// A session to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct CreateSession {
    /// An agent's id, or an object with `type`, `id` and more.
    #[schema(value_type = serde_json::Value)]
    agent: Value,
    /// An environment's id; any is accepted.
    #[schema(min_length = 1, max_length = 255)]
    environment_id: String,
    /// Up to eight memory stores, beside up to 999 files and repositories, which are kept and
    /// given back.
    #[schema(value_type = Option<Vec<Object>>)]
    resources: Option<Vec<Value>>,
    #[schema(max_length = 1024)]
    title: Option<String>,
    /// Up to 16 pairs; keys of 1 to 64, values of up to 512 characters.
    metadata: Option<BTreeMap<String, String>>,
    /// Given back as they are.
    vault_ids: Option<Vec<String>>,
    /// Up to 50; dropped, because no agent runs here.
    #[schema(value_type = Option<Vec<Object>>, max_items = 50)]
    initial_events: Option<Vec<Value>>,
    /// Given back as it is: `{"type": "limit", "max_list_cost": {"amount", "currency"}}`.
    #[schema(value_type = Option<Object>)]
    budget: Option<Value>,
}

/// A memory store to attach.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct MemoryStoreResource {
    /// Always `memory_store`.
    #[serde(rename = "type")]
    #[schema(example = "memory_store")]
    _type: String,
    memory_store_id: String,
    /// `read_write` (default) or `read_only`.
    access: Option<String>,
    /// Guidance for the model, up to 4,096 characters.
    #[schema(max_length = 4096)]
    instructions: Option<String>,
}

impl CreateSession {
    /// The id of the agent, if the request names one.
    pub(super) fn agent_id(&self) -> Option<&str> {
        match &self.agent {
            Value::String(id) => Some(id),
            agent => agent.get("id").and_then(Value::as_str),
        }
    }

    /// The session to be made. `known` is the agent that was made here under the id, if one was.
    pub(super) fn into_new(
        self,
        engine: &Engine,
        known: Option<AgentBody>,
    ) -> Result<NewSession, Problem> {
        check_foreign_id("environment_id", &self.environment_id)?;
        let agent = AgentBody::read(self.agent, known)?;
        let events = self.initial_events.unwrap_or_default();
        let is_event = |event: &Value| event.get("type").is_some_and(Value::is_string);
        if events.len() > INITIAL_EVENTS_MAX || !events.iter().all(is_event) {
            let why = format!("takes at most {INITIAL_EVENTS_MAX} objects with a type");
            return Err(refuse("initial_events", why));
        }
        let budget = match self.budget {
            None => None,
            Some(given) => Some(body::read_value::<Budget>("budget", given)?.checked()?),
        };
        let vault_ids = self.vault_ids.unwrap_or_default();
        for id in &vault_ids {
            check_foreign_id("vault_ids", id)?;
        }
        let (mut attachments, mut others) = (Vec::new(), Vec::new());
        for (at, resource) in self.resources.unwrap_or_default().into_iter().enumerate() {
            match Declared::read(&resource)? {
                Some(declared) => others.push(declared.placed(engine, at)?),
                None => attachments.push(attachment(resource)?),
            }
        }
        if others.len() > OTHERS_MAX {
            let why = format!("takes at most {OTHERS_MAX} beside memory stores");
            return Err(refuse("resources", why));
        }
        let (agent_id, agent_version) = (agent.id.clone(), agent.version);
        let environment_id = self.environment_id;
        let details = Details { agent, environment_id, vault_ids, budget, others }.to_text();
        if details.len() > DETAILS_BYTES_MAX {
            let why =
                format!("agent, vault_ids and resources take at most {DETAILS_BYTES_MAX} bytes");
            return Err(refuse("body", why));
        }
        Ok(NewSession {
            title: self.title,
            metadata: self.metadata.unwrap_or_default(),
            agent_id,
            agent_version,
            details,
            attachments,
        })
    }
}

fn attachment(resource: Value) -> Result<NewAttachment, Problem> {
    if resource.get("type").and_then(Value::as_str) != Some("memory_store") {
        let why = "type must be memory_store, file or github_repository";
        return Err(refuse("resources", why));
    }
    let resource: MemoryStoreResource = body::read_value("resources", resource)?;
    Ok(NewAttachment {
        access: match resource.access.as_deref() {
            None | Some("read_write") => Access::ReadWrite,
            Some("read_only") => Access::ReadOnly,
            Some(_) => return Err(refuse("access", "expected read_write or read_only")),
        },
        store: match resource.memory_store_id.parse() {
            Ok(store) => store,
            Err(_) => return Err(Error::NotFound("memory store").into()),
        },
        instructions: resource.instructions,
    })
}

/// A change of a session. What is not given stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct UpdateSession {
    /// A new title; null clears it.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, max_length = 1024)]
    title: Option<Option<String>>,
    /// A patch: a string sets a key, null removes it, keys not given stay.
    metadata: Option<BTreeMap<String, Option<String>>>,
}

impl UpdateSession {
    pub(super) fn into_patch(self) -> (Option<Option<String>>, LabelsPatch) {
        (self.title, self.metadata.unwrap_or_default())
    }
}

/// The resource that is to be added to a session that exists.
pub(super) fn added(body: &[u8]) -> Result<Declared, Problem> {
    let resource: Map<String, Value> = body::read(body)?;
    let kind = resource.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    match Declared::read(&Value::Object(resource))? {
        Some(declared) => Ok(declared),
        None if kind == "memory_store" => {
            let why = "a memory_store can be attached only when the session is created";
            Err(refuse("type", why))
        }
        None => Err(refuse("type", "must be file or github_repository")),
    }
}

/// A session listing and which way its page lies.
pub(super) struct Listing {
    pub(super) query: SessionQuery,
    /// The order the caller sees; the query runs the other way for a previous page.
    pub(super) order: Direction,
    /// How the page was reached; `None` for the first.
    pub(super) sense: Option<Sense>,
}

/// The listing a query asks for.
pub(super) fn listing(query: Query<'_>) -> Result<Listing, Problem> {
    let order = query.order()?.unwrap_or(Direction::Descending);
    let from = Cursor::from_query(query, |cursor| match cursor {
        Cursor::Sessions(of_order, sense, at, id) if of_order == order => Some((sense, (at, id))),
        _ => None,
    })?;
    let (since, until) = bounds(query)?;
    let created: CreatedQuery<SessionId> = CreatedQuery {
        since,
        until,
        include_archived: query.flag("include_archived")?,
        direction: match from {
            Some((Sense::Previous, _)) => reverse(order),
            _ => order,
        },
        after: from.map(|(_, position)| position),
        limit: query.page_limit(View::Basic)?,
    };
    let agent_id = query.get("agent_id")?.map(Into::into);
    let agent_version = query.parsed("agent_version", "expected a number")?;
    Ok(Listing {
        query: SessionQuery {
            created,
            store: store(query)?,
            agent_version: agent_id.is_some().then_some(agent_version).flatten(),
            agent_id,
        },
        order,
        sense: from.map(|(sense, _)| sense),
    })
}

/// The store that must be attached. Filters that none of our sessions can satisfy ask for a store
/// that does not exist: every session is idle, and none comes from a deployment.
fn store(query: Query<'_>) -> Result<Option<StoreId>, Problem> {
    let mut statuses = query.all("statuses[]")?;
    statuses.extend(query.all("statuses")?);
    let known = ["idle", "running", "rescheduling", "terminated"];
    if !statuses.iter().all(|status| known.contains(&&**status)) {
        let why = format!("expected one of {}", known.join(", "));
        return Err(refuse("statuses", why));
    }
    let is_none_idle = !statuses.is_empty() && !statuses.iter().any(|status| status == "idle");
    let is_of_deployment = query.get("deployment_id")?.is_some();
    let store = query.get("memory_store_id")?;
    if is_none_idle || is_of_deployment {
        return Ok(Some(NO_STORE));
    }
    Ok(store.map(|text| text.parse().unwrap_or(NO_STORE)))
}

/// The tightest inclusive bounds on the creation time. Times are whole microseconds, so after a
/// moment is from the next one on.
fn bounds(query: Query<'_>) -> Result<(Option<Timestamp>, Option<Timestamp>), Problem> {
    let step =
        |at: Timestamp, micros: i64| Timestamp::from_micros(at.as_micros().saturating_add(micros));
    let after = query.time("created_at[gt]")?.map(|at| step(at, 1));
    let before = query.time("created_at[lt]")?.map(|at| step(at, -1));
    let from = query.time("created_at[gte]")?;
    let to = query.time("created_at[lte]")?;
    let since = [after, from].into_iter().flatten().max();
    let until = [before, to].into_iter().flatten().min();
    Ok((since, until))
}

fn reverse(direction: Direction) -> Direction {
    match direction {
        Direction::Ascending => Direction::Descending,
        Direction::Descending => Direction::Ascending,
    }
}

/// Which of a session's resources to show.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) skip: usize,
    pub(super) limit: usize,
}

/// The window a query asks for.
pub(super) fn resources(query: Query<'_>) -> Result<Window, Problem> {
    let shown = Cursor::from_query(query, |cursor| match cursor {
        Cursor::Resources(shown) => Some(shown),
        _ => None,
    })?;
    Ok(Window {
        skip: shown.unwrap_or(0) as usize,
        limit: query.limit(RESOURCES_PAGE_MAX)?.unwrap_or(RESOURCES_PAGE_MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_bounds_are_the_tightest_given() {
        let check = |raw: &str, since: Option<i64>, until: Option<i64>| {
            let (from, to) = bounds(Query::new(raw)).unwrap();
            let micros = |at: Option<Timestamp>| at.map(Timestamp::as_micros);
            assert_eq!((micros(from), micros(to)), (since, until), "{raw}");
        };
        let (epoch, second) = ("1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z");
        check("", None, None);
        check(&format!("created_at[gte]={epoch}"), Some(0), None);
        check(&format!("created_at[gt]={epoch}"), Some(1), None);
        check(&format!("created_at[lt]={epoch}"), None, Some(-1));
        let both = format!("created_at[gt]={epoch}&created_at[gte]={second}");
        check(&both, Some(1_000_000), None);
        let both = format!("created_at[lte]={epoch}&created_at[lt]={second}");
        check(&both, None, Some(0));
    }

    #[test]
    fn filters_nothing_can_satisfy_match_nothing() {
        let check = |raw: &str, expect: Option<StoreId>| {
            assert_eq!(store(Query::new(raw)).unwrap(), expect, "{raw}");
        };
        check("", None);
        check("statuses[]=idle", None);
        check("statuses[]=running&statuses[]=idle", None);
        check("statuses[]=running", Some(NO_STORE));
        check("deployment_id=dep_1", Some(NO_STORE));
        check("memory_store_id=nonsense", Some(NO_STORE));
        let real = StoreId::from_u128(3);
        check(&format!("memory_store_id={real}"), Some(real));
        assert!(store(Query::new("statuses[]=asleep")).is_err());
    }

    #[test]
    fn a_previous_page_is_read_backwards() {
        let at = Timestamp::from_micros(5);
        let id = SessionId::from_u128(6);
        let back = Cursor::Sessions(Direction::Descending, Sense::Previous, at, id).show();
        let listing = listing(Query::new(&format!("page={back}"))).unwrap();
        assert_eq!(listing.query.created.direction, Direction::Ascending);
        assert_eq!(listing.query.created.after, Some((at, id)));
        let other_order = format!("page={back}&order=asc");
        assert!(super::listing(Query::new(&other_order)).is_err());
    }
}
