//! All stores of a caller at one glance: what each holds, how far it is open, what happened in it lately.
//!
//! What is counted is counted under the same passes as everything else. Counts that cost a look at the
//! whole store are remembered for as long as its feed stands still, and where a day began in a feed for
//! good.

use crate::{Context, Engine, Result};
use loci_model::policy::{self, Facts, Reach, ReadPass, Rule};
use loci_model::query::StoreStats;
use loci_model::{
    Audience, Change, Principal, PrincipalId, PrincipalKind, Store, StoreId, Timestamp,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stores at one glance; the newest, for who has more.
const STORES_MAX: usize = 1000;
/// What is remembered of stores and of moments, before everything is forgotten.
const TALLIES_MAX: usize = 10_000;
const MOMENTS_MAX: usize = 100_000;
/// Days of which changes are counted, today included.
pub const DAYS: usize = 7;
const DAY_MICROS: i64 = 24 * 3600 * 1_000_000;

/// One store at a glance.
#[derive(Debug, Clone)]
pub struct StoreGlance {
    /// The store.
    pub store: Store,
    /// Whose it is.
    pub owner: Option<Principal>,
    /// What sort of owner has its home here.
    pub home_of: Option<PrincipalKind>,
    /// How far the caller reaches.
    pub reach: Reach,
    /// By which rule.
    pub rule: Option<Rule>,
    /// What is in it, for who may read it.
    pub numbers: Option<StoreNumbers>,
}

/// What is in a store.
#[derive(Debug, Clone)]
pub struct StoreNumbers {
    /// How much.
    pub stats: StoreStats,
    /// Live memories by kind.
    pub by_kind: BTreeMap<Option<String>, u64>,
    /// The last thing that happened.
    pub last: Option<Change>,
    /// Changes on each of the last days, today last.
    pub days: [u64; DAYS],
}

/// What is remembered between two glances.
#[derive(Default)]
pub(crate) struct Glances {
    tallies: Mutex<HashMap<(StoreId, bool), Tallied>>,
    moments: Mutex<HashMap<(StoreId, Timestamp), u64>>,
}

#[derive(Clone)]
struct Tallied {
    through: u64,
    by_kind: BTreeMap<Option<String>, u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// The stores that the caller may at least search, those that changed last first; and whether
    /// there are more than are shown.
    pub async fn glance(&self, context: &Context) -> Result<(Vec<StoreGlance>, bool)> {
        let caller = &context.caller;
        let now = self.seams.now();
        let own = self.own_principal(context).await?;
        let facts = self.storage.all_facts(caller).await?;
        let open: Vec<&Facts> =
            facts.iter().filter(|facts| policy::reach(caller, facts, now) > Reach::None).collect();
        let is_cut = open.len() > STORES_MAX;
        let mut owners: HashMap<PrincipalId, Option<Principal>> = HashMap::new();
        let mut glances = Vec::new();
        for facts in open.into_iter().rev().take(STORES_MAX) {
            let owner = facts.store.owner;
            if let std::collections::hash_map::Entry::Vacant(place) = owners.entry(owner) {
                place.insert(self.storage.principal(caller.workspace, owner).await?);
            }
            let matched = policy::explain(&own, facts, now).matched;
            let numbers = match policy::read(caller, facts, now) {
                Ok(pass) => Some(self.numbers(&pass).await?),
                Err(_) => None,
            };
            glances.push(StoreGlance {
                store: facts.store.clone(),
                owner: owners[&owner].clone(),
                home_of: facts.home_of,
                reach: policy::reach(caller, facts, now),
                rule: matched.map(|matched| matched.rule),
                numbers,
            });
        }
        let changed_at = |glance: &StoreGlance| {
            let last = glance.numbers.as_ref().and_then(|numbers| numbers.last.as_ref());
            last.map(|change| change.at)
        };
        glances.sort_by_key(|glance| {
            std::cmp::Reverse((changed_at(glance), glance.store.created_at, glance.store.id))
        });
        Ok((glances, is_cut))
    }

    async fn numbers(&self, pass: &ReadPass) -> Result<StoreNumbers> {
        let stats = self.storage.stats(pass).await?;
        let before_last = stats.last_seq.saturating_sub(1);
        let last = self.storage.changes(pass, before_last, 1).await?.pop();
        let today = pass.now().as_micros().div_euclid(DAY_MICROS) * DAY_MICROS;
        let mut days = [0; DAYS];
        let mut later = stats.last_seq;
        for (back, count) in days.iter_mut().rev().enumerate() {
            let back = i64::try_from(back).unwrap_or(i64::MAX);
            let began = Timestamp::from_micros(today.saturating_sub(back * DAY_MICROS));
            let before = self.seq_before(pass, began, later).await?;
            *count = later - before;
            later = before;
        }
        let by_kind = self.tallied(pass, stats.last_seq).await?;
        Ok(StoreNumbers { stats, by_kind, last, days })
    }

    async fn tallied(
        &self,
        pass: &ReadPass,
        through: u64,
    ) -> Result<BTreeMap<Option<String>, u64>> {
        let place = (pass.store(), pass.audience() == Audience::Model);
        let known = lock(&self.glances.tallies).get(&place).cloned();
        if let Some(known) = known.filter(|known| known.through == through) {
            return Ok(known.by_kind);
        }
        let by_kind = self.storage.tally(pass, None).await?.kinds;
        let mut tallies = lock(&self.glances.tallies);
        if tallies.len() >= TALLIES_MAX {
            tallies.clear();
        }
        tallies.insert(place, Tallied { through, by_kind: by_kind.clone() });
        Ok(by_kind)
    }

    /// The number of the last change of a store before a moment; `end` is a number that was given out
    /// after it.
    pub(crate) async fn seq_before(
        &self,
        pass: &ReadPass,
        moment: Timestamp,
        end: u64,
    ) -> Result<u64> {
        let place = (pass.store(), moment);
        if let Some(known) = lock(&self.glances.moments).get(&place).copied() {
            return Ok(known.min(end));
        }
        // The feed has no gaps and its times grow, so that it can be halved until the place is found.
        let (mut low, mut high) = (0, end);
        while low < high {
            let middle = low + (high - low) / 2;
            let change = self.storage.changes(pass, middle, 1).await?.pop();
            match change {
                Some(change) if change.at < moment => low = middle + 1,
                _ => high = middle,
            }
        }
        if moment <= pass.now() {
            let mut moments = lock(&self.glances.moments);
            if moments.len() >= MOMENTS_MAX {
                moments.clear();
            }
            moments.insert(place, low);
        }
        Ok(low)
    }
}
