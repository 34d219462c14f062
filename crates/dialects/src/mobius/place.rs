//! Which agent a request is about, as whom it goes on, and where the agent's memory is.
//!
//! An agent is called by its name or by the id that this door gave it. Its principal's name is its
//! own in the project `default`, and begins with the project's in others. One that nobody heard of
//! has no entries for those who may act for agents, and is made by the first write or when it is asked
//! what it is called; for others it is not there.

use super::call::{Call, DEFAULT_PROJECT, Revision};
use super::entry::Desk;
use super::error::Problem;
use loci_engine::{Context, Error, Purpose, SWITCHED_OFF};
use loci_model::{Audience, Principal, PrincipalId, PrincipalKind, StoreId};

/// What ids of agents begin with; the rest is the principal's.
const PREFIX: &str = "agent_";
const AGENT_CHARS_MAX: usize = 200;
const NO_AGENT: Error = Error::NotFound("agent");

/// An agent's memory, or where it will be.
pub(super) struct Place {
    /// What the agent is called in answers.
    pub(super) agent_id: String,
    /// Whether anybody ever heard of it.
    is_known: bool,
    /// Who asks, with the agent's rights if the credential may act for it. Entries are for models:
    /// what is hidden from them is not shown here.
    pub(super) context: Context,
    /// None while nothing was ever written.
    pub(super) store: Option<StoreId>,
}

impl Place {
    /// The place that a request names.
    pub(super) async fn of(call: &Call, purpose: Purpose) -> Result<Self, Problem> {
        let text = call.segment(0)?;
        let mut principal = find(call, &text).await?;
        if principal.is_none() {
            if !call.engine.acts_for_agents(&call.context) {
                return Err(NO_AGENT.into());
            }
            if purpose == Purpose::Write {
                principal = Some(make(call, &text).await?);
            }
        }
        let Some(principal) = principal else {
            let context = as_model(call.context.clone());
            return Ok(Self { agent_id: text, is_known: false, context, store: None });
        };
        let context = call.engine.concerning(&call.context, &principal);
        let store = match call.engine.home(&context, &principal, purpose).await {
            // There is none, which is the same as an empty one for those who may know.
            Err(Error::NotFound(_)) if call.engine.acts_for_agents(&call.context) => {
                match purpose {
                    Purpose::Write => return Err(Error::Denied(SWITCHED_OFF).into()),
                    Purpose::Search | Purpose::Read | Purpose::Change => None,
                }
            }
            found => found?,
        };
        if let Some(store) = store.filter(|_| purpose == Purpose::Read) {
            // Before anything is said that only the agent's own would know.
            call.engine.store(&context, store).await?;
        }
        Ok(Self {
            agent_id: agent_id(principal.id),
            is_known: true,
            context: as_model(context),
            store,
        })
    }

    /// The same with the agent's id, which the first answer that names the agent gives it: it is the
    /// same before and after the first write. A server that cannot write, a replica or one with a full
    /// disk, makes nobody and gives the name back: what is only read does not fail for it.
    pub(super) async fn introduced(mut self, call: &Call) -> Result<Self, Problem> {
        if self.is_known || call.engine.is_replica() {
            return Ok(self);
        }
        match make(call, &self.agent_id).await {
            Ok(made) => {
                self.agent_id = agent_id(made.id);
                self.is_known = true;
            }
            Err(problem) if problem.is_no_write() => {}
            Err(problem) => return Err(problem),
        }
        Ok(self)
    }

    /// Where its entries are, if it has any.
    pub(super) fn desk<'a>(&'a self, call: &'a Call) -> Option<Desk<'a>> {
        let store = self.store?;
        Some(Desk {
            engine: &call.engine,
            context: &self.context,
            store,
            revision: call.revision,
            has_private: call.revision == Revision::B,
        })
    }

    /// The same after a write was announced, which made it.
    pub(super) fn made<'a>(&'a self, call: &'a Call) -> Result<Desk<'a>, Problem> {
        let desk = self.desk(call);
        desk.ok_or_else(|| Error::Internal("a home that was made is not there".into()).into())
    }
}

fn as_model(mut context: Context) -> Context {
    context.caller.audience = Audience::Model;
    context
}

/// What an agent is called by its id.
pub(super) fn agent_id(principal: PrincipalId) -> String {
    principal.with_prefix(PREFIX)
}

/// The agent of the call's project that a text names. An id that is nobody's is refused, and not
/// taken for a name. The caller's own id stands for the caller, whatever it is: tools without an agent of
/// their own work on the home of who calls them.
pub(super) async fn find(call: &Call, text: &str) -> Result<Option<Principal>, Problem> {
    check_name(text, AGENT_CHARS_MAX).map_err(|_| NO_AGENT)?;
    let found = match PrincipalId::parse_with_prefix(PREFIX, text) {
        Some(id) => {
            let found = call.engine.named(&call.context, &id.to_string()).await?;
            let found = found.ok_or(NO_AGENT)?;
            let is_caller = found.id == call.context.caller.principal;
            if is_caller && found.kind != PrincipalKind::Agent {
                return Ok(Some(found));
            }
            Some(found)
        }
        None => call.engine.named(&call.context, &full_name(&call.project, text)).await?,
    };
    match found {
        Some(found) if name_in(&call.project, &found).is_none() => Err(NO_AGENT.into()),
        found => Ok(found),
    }
}

async fn make(call: &Call, text: &str) -> Result<Principal, Problem> {
    let name = full_name(&call.project, text);
    match call.engine.acting(&call.context, Some(&name)).await {
        // Somebody else's, made a moment ago.
        Err(Error::Taken(_) | Error::Denied(_)) => return Err(NO_AGENT.into()),
        acting => acting?,
    };
    Ok(find(call, text).await?.ok_or(NO_AGENT)?)
}

/// Refuses what cannot be the name of an agent.
pub(super) fn check_name(name: &str, chars_max: usize) -> Result<(), Problem> {
    let is_long = name.chars().count() > chars_max;
    if name.is_empty() || is_long || name.contains(|c: char| c == '/' || c.is_control()) {
        let why =
            format!("name takes 1 to {chars_max} characters, no slash nor control characters");
        return Err(Problem::invalid(why));
    }
    Ok(())
}

/// What the principal of an agent is called.
pub(super) fn full_name(project: &str, agent: &str) -> String {
    match project {
        DEFAULT_PROJECT => agent.to_owned(),
        project => format!("{project}/{agent}"),
    }
}

/// What a principal is called as an agent of a project, if it is one.
pub(super) fn name_in<'p>(project: &str, principal: &'p Principal) -> Option<&'p str> {
    let name = match project {
        DEFAULT_PROJECT => Some(principal.name.as_str()),
        project => principal.name.strip_prefix(project).and_then(|rest| rest.strip_prefix('/')),
    };
    let is_agent = principal.kind == PrincipalKind::Agent;
    name.filter(|name| is_agent && !name.is_empty() && !name.contains('/'))
}
