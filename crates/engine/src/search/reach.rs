//! Which stores a search may look into, decided before anything is looked at.

use super::{Reach, SearchRequest};
use crate::{Context, Engine, Error, Result, SWITCHED_OFF};
use loci_model::policy::{self, Facts, ReadPass, SearchPass};
use loci_model::{Audience, Invalid, StoreId, Timestamp, limit};
use std::collections::HashSet;

/// The stores of a search.
pub(crate) struct Reached {
    pub(crate) pass: SearchPass,
    /// Stores whose feed the caller may follow whole; only of these it may be told how far they
    /// are, because a number counts what it may not see.
    pub(crate) followable: HashSet<StoreId>,
    /// How many stores were left out because there are too many.
    pub(crate) left_out: usize,
}

impl Engine {
    pub(crate) async fn reach(&self, context: &Context, reach: &Reach) -> Result<Reached> {
        let now = self.seams.now();
        match reach {
            Reach::Store(store) => {
                let facts = [self.facts(context, *store).await?];
                named(context, &facts, now)
            }
            Reach::Stores(stores) => {
                if stores.is_empty() || stores.len() > limit::SEARCH_STORES_MAX {
                    let why = format!("takes 1 to {} stores", limit::SEARCH_STORES_MAX);
                    return Err(Invalid::new("memory_store_ids", why).into());
                }
                let mut facts = Vec::with_capacity(stores.len());
                let mut seen = HashSet::new();
                for store in stores.iter().filter(|store| seen.insert(**store)) {
                    facts.push(self.facts(context, *store).await?);
                }
                named(context, &facts, now)
            }
            Reach::Among(stores) => {
                let mut facts = Vec::with_capacity(stores.len());
                let mut seen = HashSet::new();
                let stores = stores.iter().filter(|store| seen.insert(**store));
                for store in stores.take(limit::SEARCH_STORES_MAX) {
                    match self.facts(context, *store).await {
                        Ok(found) => facts.push(found),
                        Err(Error::NotFound(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
                let pass = policy::search(&context.caller, &facts, now);
                Ok(Reached { followable: followable(context, &facts, now), pass, left_out: 0 })
            }
            Reach::Everywhere => {
                let facts = self.storage.all_facts(&context.caller).await?;
                let pass = policy::search(&context.caller, &facts, now);
                // Others can share as much as they like: that must not fail a search.
                let (pass, left_out) = pass.with_at_most(limit::SEARCH_STORES_MAX);
                Ok(Reached { followable: followable(context, &facts, now), pass, left_out })
            }
        }
    }

    /// The right to search what the search reaches, and to read the history of what is searched.
    pub(crate) async fn reach_past(
        &self,
        context: &Context,
        request: &SearchRequest,
    ) -> Result<(SearchPass, Vec<ReadPass>)> {
        let reached = self.reach(context, &request.reach).await?;
        let mut passes = Vec::new();
        for store in reached.pass.stores() {
            let facts = self.facts(context, *store).await?;
            match policy::read(&context.caller, &facts, reached.pass.now()) {
                Ok(pass) => passes.push(pass),
                // What may be searched but not read is left out where no store was named.
                Err(_) if !request.reach.is_named() => {}
                Err(denied) => return Err(denied.into()),
            }
        }
        Ok((reached.pass, passes))
    }
}

fn named(context: &Context, facts: &[Facts], now: Timestamp) -> Result<Reached> {
    let pass = policy::search(&context.caller, facts, now);
    if facts.iter().any(|facts| policy::is_switched_off(&context.caller, facts, now)) {
        return Err(Error::Denied(SWITCHED_OFF));
    }
    if pass.stores().len() < facts.len() {
        // Searching is the least there is: who may not search may not know.
        return Err(Error::NotFound("memory store"));
    }
    Ok(Reached { followable: followable(context, facts, now), pass, left_out: 0 })
}

fn followable(context: &Context, facts: &[Facts], now: Timestamp) -> HashSet<StoreId> {
    if context.caller.audience != Audience::Host {
        return HashSet::new();
    }
    let may_read = |facts: &&Facts| policy::read(&context.caller, facts, now).is_ok();
    facts.iter().filter(may_read).map(|facts| facts.store.id).collect()
}
