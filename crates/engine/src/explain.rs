//! Who reaches a store and why, told by policy itself; for those who may share it.

use crate::{Context, Engine, Result};
use loci_model::policy::{self, Explanation, Facts, Match, Reach, Rule, System};
use loci_model::{
    Grant, GrantId, Grantee, Principal, PrincipalId, PrincipalKind, StoreId, Timestamp,
};
use loci_storage::ground::{Ledger, people};
use std::collections::{BTreeSet, HashMap};

/// Whom access is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reacher {
    /// Somebody.
    Principal(Principal),
    /// Everybody in the workspace.
    Everyone,
}

/// How somebody reaches a store.
#[derive(Debug, Clone)]
pub struct AccessReport {
    /// Who.
    pub who: Reacher,
    /// How, and why.
    pub explanation: Explanation,
    /// The chat that owns the store, where being in it counts.
    pub chat: Option<Principal>,
    /// How many others lose access with the grant that decides; of a grant that decides.
    pub would_lose: Option<usize>,
}

impl Engine {
    /// Everybody who reaches a store, by name; administrators and owners among them.
    pub async fn access(&self, context: &Context, store: StoreId) -> Result<Vec<AccessReport>> {
        let pass = self.share_pass(context, store).await?;
        let facts = self.facts(context, store).await?;
        let (workspace, now) = (context.caller.workspace, pass.now());
        let system = System::because("whoever may share a store may know who reaches it");
        let grants = self.storage.grants(&system.read(workspace, store, now)).await?;
        let mut ids: BTreeSet<PrincipalId> = BTreeSet::from([facts.store.owner]);
        ids.extend(grants.iter().filter_map(|grant| match grant.grantee {
            Grantee::Principal(id) => Some(id),
            Grantee::Everyone => None,
        }));
        let everybody = self.storage.principals(&system.administer(workspace, now)).await?;
        ids.extend(everybody.iter().filter(|one| one.is_admin).map(|one| one.id));
        ids.extend(self.near(&facts, now).await?);
        let mut reports = Vec::new();
        if grants.iter().any(|grant| grant.grantee == Grantee::Everyone) {
            reports.extend(self.everyone(&facts, &grants, now).await?);
        }
        let mut named: Vec<Principal> =
            everybody.into_iter().filter(|one| ids.contains(&one.id)).collect();
        named.sort_by(|a, b| a.name.cmp(&b.name));
        for principal in named {
            let report = self.report(store, principal, &grants, now).await?;
            let is_shut = report.explanation.matched.is_none();
            reports.extend((!is_shut).then_some(report));
        }
        Ok(reports)
    }

    /// How one principal, or everybody, reaches a store, also if they do not.
    pub async fn access_of(
        &self,
        context: &Context,
        store: StoreId,
        who: &str,
    ) -> Result<AccessReport> {
        let pass = self.share_pass(context, store).await?;
        let (workspace, now) = (context.caller.workspace, pass.now());
        let system = System::because("whoever may share a store may know who reaches it");
        let grants = self.storage.grants(&system.read(workspace, store, now)).await?;
        if who == "everyone" {
            let facts = self.facts(context, store).await?;
            let report = self.everyone(&facts, &grants, now).await?;
            return Ok(report.unwrap_or(AccessReport {
                who: Reacher::Everyone,
                explanation: Explanation {
                    reach: Reach::None,
                    matched: None,
                    also: Vec::new(),
                    is_switched_off: false,
                },
                chat: None,
                would_lose: None,
            }));
        }
        let principal = self.find_grantee(context, who).await?;
        self.report(store, principal, &grants, now).await
    }

    async fn report(
        &self,
        store: StoreId,
        principal: Principal,
        grants: &[Grant],
        now: Timestamp,
    ) -> Result<AccessReport> {
        let facts = self.storage.facts(principal.workspace, store, principal.id, None).await?;
        let facts = facts.ok_or(crate::Error::NotFound("memory store"))?;
        let explanation = policy::explain(&principal, &facts, now);
        let by_chat = |one: &Match| one.rule == Rule::Member;
        let chat = match explanation.matched.iter().chain(&explanation.also).any(by_chat) {
            true => self.storage.principal(principal.workspace, facts.store.owner).await?,
            false => None,
        };
        let decides = explanation.matched.as_ref().and_then(|matched| matched.grant.as_ref());
        let would_lose = match decides {
            Some(grant) => Some(self.would_lose(&facts, grants, grant.id, now).await?),
            None => None,
        };
        Ok(AccessReport { who: Reacher::Principal(principal), explanation, chat, would_lose })
    }

    async fn everyone(
        &self,
        facts: &Facts,
        grants: &[Grant],
        now: Timestamp,
    ) -> Result<Option<AccessReport>> {
        let to_all = |grant: &&Grant| grant.grantee == Grantee::Everyone && grant.is_valid_at(now);
        let Some(grant) = grants.iter().find(to_all) else { return Ok(None) };
        let reach = Reach::Upto(grant.level);
        let matched = Match { rule: Rule::Everyone, reach, grant: Some(grant.clone()) };
        Ok(Some(AccessReport {
            who: Reacher::Everyone,
            explanation: Explanation {
                reach,
                matched: Some(matched),
                also: Vec::new(),
                is_switched_off: false,
            },
            chat: None,
            would_lose: Some(self.would_lose(facts, grants, grant.id, now).await?),
        }))
    }

    /// How many other grants go with one, by the rule that takes them.
    async fn would_lose(
        &self,
        facts: &Facts,
        grants: &[Grant],
        gone: GrantId,
        now: Timestamp,
    ) -> Result<usize> {
        let mut known = HashMap::new();
        for who in people(grants, []) {
            let workspace = facts.store.workspace;
            let principal = self.storage.principal(workspace, who).await?;
            let own = self.storage.facts(workspace, facts.store.id, who, None).await?;
            known.insert(
                who,
                loci_storage::ground::Person {
                    is_admin: principal.is_some_and(|principal| principal.is_admin),
                    relation: own.and_then(|own| own.relation),
                },
            );
        }
        let left = grants.iter().filter(|grant| grant.id != gone).cloned().collect();
        let mut ledger = Ledger {
            store: facts.store.clone(),
            home_of: facts.home_of,
            grants: left,
            people: known,
        };
        Ok(ledger.settle(now).len())
    }

    /// Those who reach a home by being in a chat.
    async fn near(&self, facts: &Facts, now: Timestamp) -> Result<BTreeSet<PrincipalId>> {
        let workspace = facts.store.workspace;
        let pass = System::because("whoever may share a store may know who is near")
            .convene(workspace, now);
        let mut near = BTreeSet::new();
        match facts.home_of {
            Some(PrincipalKind::Group) => {
                let members = self.storage.members(&pass, facts.store.owner).await?;
                near.extend(members.iter().map(|membership| membership.member));
            }
            Some(PrincipalKind::User) => {
                // Which chats the user is in is only told by all of them.
                let mut all = Vec::new();
                let mut after = None;
                loop {
                    let page = self.storage.memberships(&pass, after, MEMBERSHIPS_PAGE).await?;
                    after = page.last().map(|last| (last.group, last.member));
                    let is_last = page.len() < MEMBERSHIPS_PAGE;
                    all.extend(page);
                    if is_last {
                        break;
                    }
                }
                let own = all.iter().filter(|one| one.member == facts.store.owner);
                let own: BTreeSet<PrincipalId> = own.map(|one| one.group).collect();
                let beside = all.iter().filter(|one| own.contains(&one.group));
                near.extend(beside.map(|one| one.member));
            }
            _ => {}
        }
        Ok(near)
    }
}

/// Memberships read at once.
const MEMBERSHIPS_PAGE: usize = 1000;
