//! Agents as the doors of agent platforms know them: who may speak for one, who there are, and what
//! home each has. An agent is a principal; nothing is kept about it but that and its home.

use crate::access::expect_receipt;
use crate::{Context, Engine, Error, NewPrincipal, Result};
use loci_model::event::kind;
use loci_model::policy::{self, System};
use loci_model::query::{Direction, StoreQuery};
use loci_model::{Principal, PrincipalId, PrincipalKind, Store, limit};
use loci_storage::{Mutation, Receipt};
use std::collections::HashMap;

/// An agent.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Who it is.
    pub principal: Principal,
    /// Its home, if anything was ever kept there.
    pub home: Option<Store>,
}

impl Engine {
    /// Whether the caller's credential acts for agents, so that ones it names are made when they
    /// were never heard of.
    pub fn acts_for_agents(&self, context: &Context) -> bool {
        policy::convene(&context.caller, self.seams.now()).is_ok()
    }

    /// The caller in a request about an agent: as that agent if the credential may act for it, and
    /// as itself otherwise, so that its own rights decide. What is switched off for the agent is
    /// still there for whoever administers.
    pub fn concerning(&self, context: &Context, agent: &Principal) -> Context {
        if agent.id == context.caller.principal {
            return context.clone();
        }
        let is_off = !agent.memory.is_on || !agent.memory.own;
        if is_off && self.admin_pass(context).is_ok() {
            return context.clone();
        }
        match policy::act_for(&context.caller, agent, self.seams.now()) {
            Ok(caller) => Context { caller, ..context.clone() },
            Err(_) => context.clone(),
        }
    }

    /// Makes an agent; its name must be free.
    pub async fn create_agent(&self, context: &Context, name: &str) -> Result<Principal> {
        if !self.acts_for_agents(context) {
            return Err(Error::Denied("this needs an administrator's or a platform's key"));
        }
        if let Some(receipt) = self.recall(context).await? {
            return expect_receipt!(receipt, Receipt::Principal(principal) => principal);
        }
        let workspace = context.caller.workspace;
        if self.named_in(workspace, name).await?.is_some() {
            return Err(Error::Taken("name"));
        }
        let kind = PrincipalKind::Agent;
        let new = NewPrincipal { kind, name: name.to_owned(), is_admin: false };
        let principal = self.new_principal(workspace, &new)?;
        let told = self.happening(context, kind::PRINCIPAL_CREATED).about(&principal.id);
        let receipt = self.audited(context, Mutation::CreatePrincipal(principal), told).await?;
        expect_receipt!(receipt, Receipt::Principal(principal) => principal)
    }

    /// The agents that the caller may speak for, oldest first: all of the workspace, or itself.
    pub async fn agents(&self, context: &Context) -> Result<Vec<Agent>> {
        let workspace = context.caller.workspace;
        let system = System::because("whoever acts for agents may know them");
        let pass = system.administer(workspace, self.seams.now());
        let mut found = match self.acts_for_agents(context) {
            true => self.storage.principals(&pass).await?,
            false => {
                let own = self.storage.principal(workspace, context.caller.principal).await?;
                own.into_iter().collect()
            }
        };
        found.retain(|one| one.kind == PrincipalKind::Agent && !one.is_admin);
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let mut homes = self.homes_of_all(context).await?;
        let with_home = |principal: Principal| {
            let home = homes.remove(&principal.id);
            Agent { principal, home }
        };
        Ok(found.into_iter().map(with_home).collect())
    }

    async fn homes_of_all(&self, context: &Context) -> Result<HashMap<PrincipalId, Store>> {
        let system = System::because("homes are shown with those who have them");
        let pass = system.browse(context.caller.workspace, self.seams.now());
        let mut query = StoreQuery {
            since: None,
            until: None,
            include_archived: true,
            direction: Direction::Ascending,
            after: None,
            limit: limit::PAGE_ITEMS_MAX,
        };
        let mut homes = HashMap::new();
        loop {
            let page = self.storage.list_stores(&pass, &query).await?;
            for store in page.items {
                if store.address.as_ref().is_some_and(|one| one.is_home_of(store.owner)) {
                    homes.insert(store.owner, store);
                }
            }
            query.after = page.next;
            if query.after.is_none() {
                return Ok(homes);
            }
        }
    }
}
