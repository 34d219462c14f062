//! What happened over time in the stores that a caller may read, for plots: counted from the feeds, which
//! know everything, and from what this server counted since it started.

use crate::compute::may_block;
use crate::{Context, Engine, Result};
use loci_model::policy::{self, ReadPass};
use loci_model::{Caller, Change, ChangeOp, Invalid, StoreId, Timestamp, limit};
use loci_storage::reason;
use std::collections::HashSet;

/// Points of a plot.
pub const STEPS: usize = 48;
/// Hours that can be asked for.
const HOURS_MAX: u64 = 720;
/// Stores that are looked at at most; the newest.
const STORES_MAX: usize = 1000;
/// Changes of one store that are read one by one; of more only the number is told.
const CHANGES_MAX: u64 = 50_000;
/// Stores with a shorter feed are read whole instead of looking for where the time begins.
const READ_WHOLE: u64 = 256;
/// What one request may read: one for each thing that is looked up, and one for so many changes.
const READS_MAX: u64 = 20_000;
const CHANGES_PER_READ: u64 = 50;
/// Stores whose growth is told.
const GROWN_MAX: usize = 10;

/// Plots over the last hours.
#[derive(Debug, Clone)]
pub struct Series {
    /// The beginning of the first step.
    pub from: Timestamp,
    /// The end of the last.
    pub to: Timestamp,
    /// Seconds of a step.
    pub step_secs: u64,
    /// Since when recalls are counted.
    pub recalls_since: Timestamp,
    /// Changes of memories in each step.
    pub writes: Vec<u64>,
    /// Searches that found something.
    pub recalls: Vec<Option<u64>>,
    /// Memories that ended or were compacted away; unknown where too much happened.
    pub evictions: Vec<Option<u64>>,
    /// How many memories each store had at the end of each step; those that grew most.
    pub growth: Vec<Growth>,
    /// Stores that were not looked at, the oldest, because there was too much to read.
    pub stores_left_out: usize,
}

/// How a store grew.
#[derive(Debug, Clone)]
pub struct Growth {
    /// The store.
    pub store: StoreId,
    /// Its name.
    pub name: String,
    /// Memories at the end of each step.
    pub memories: Vec<u64>,
}

/// A span of time in equal steps.
struct Steps {
    from: i64,
    step: i64,
}

impl Steps {
    fn of(&self, at: Timestamp) -> Option<usize> {
        let step = (at.as_micros() - self.from).div_euclid(self.step);
        usize::try_from(step).ok().map(|step| step.min(STEPS - 1))
    }

    fn begin(&self, step: usize) -> Timestamp {
        Timestamp::from_micros(self.from + self.step * i64::try_from(step).unwrap_or(0))
    }
}

impl Engine {
    /// What happened over the last hours, 1 to 720.
    pub async fn series(&self, context: &Context, hours: u64) -> Result<Series> {
        if !(1..=HOURS_MAX).contains(&hours) {
            return Err(Invalid::new("hours", format!("expected 1 to {HOURS_MAX}")).into());
        }
        let (engine, caller) = (self.clone(), context.caller.clone());
        self.compute(async move { engine.counted_over(&caller, hours).await }).await
    }

    async fn counted_over(&self, caller: &Caller, hours: u64) -> Result<Series> {
        debug_assert!(may_block(), "counting through so many feeds computes");
        let now = self.seams.now();
        let step_secs = hours * 3600 / STEPS as u64;
        let step = i64::try_from(step_secs).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        let span = step * i64::try_from(STEPS).unwrap_or(1);
        let steps = Steps { from: now.as_micros() - span, step };
        let recalls_since = self.recalls_since();
        let mut series = Series {
            from: steps.begin(0),
            to: now,
            step_secs,
            recalls_since,
            writes: vec![0; STEPS],
            recalls: vec![None; STEPS],
            evictions: vec![Some(0); STEPS],
            growth: Vec::new(),
            stores_left_out: 0,
        };
        let mut reads_left = READS_MAX;
        let facts = self.storage.all_facts(caller).await?;
        let mut stores = HashSet::new();
        for facts in facts.iter().rev() {
            let Ok(pass) = policy::read(caller, facts, now) else { continue };
            if reads_left == 0 || stores.len() == STORES_MAX {
                series.stores_left_out += 1;
                continue;
            }
            stores.insert(facts.store.id);
            let grown = self.count_store(&pass, &steps, &mut series, &mut reads_left).await?;
            let grown = grown.filter(|memories| memories.first() != memories.last());
            series.growth.extend(grown.map(|memories| Growth {
                store: facts.store.id,
                name: facts.store.name.clone(),
                memories,
            }));
        }
        let by = |growth: &Growth| {
            let (first, last) = (growth.memories.first(), growth.memories.last());
            std::cmp::Reverse(
                last.copied().unwrap_or(0).saturating_sub(first.copied().unwrap_or(0)),
            )
        };
        series.growth.sort_by_key(by);
        series.growth.truncate(GROWN_MAX);
        for (step, recalls) in series.recalls.iter_mut().enumerate() {
            *recalls = (steps.begin(step + 1) > recalls_since).then_some(0);
        }
        for (at, count) in self.recall_spans(&stores, steps.begin(0)) {
            if let Some(step) = steps.of(at) {
                *series.recalls[step].get_or_insert(0) += count;
            }
        }
        Ok(series)
    }

    /// Counts what happened in a store; its memories at the end of each step, if that can be told.
    async fn count_store(
        &self,
        pass: &ReadPass,
        steps: &Steps,
        series: &mut Series,
        reads_left: &mut u64,
    ) -> Result<Option<Vec<u64>>> {
        let stats = self.storage.stats(pass).await?;
        *reads_left = reads_left.saturating_sub(1);
        // To find a moment in a feed takes as many reads as its length has bits.
        let search = u64::from(u64::BITS - stats.last_seq.leading_zeros());
        let mut after = 0;
        if stats.last_seq > READ_WHOLE {
            *reads_left = reads_left.saturating_sub(search);
            after = self.seq_before(pass, steps.begin(0), stats.last_seq).await?;
        }
        if stats.last_seq - after > CHANGES_MAX {
            *reads_left = reads_left.saturating_sub(search * STEPS as u64);
            let mut before = after;
            for step in 0..STEPS {
                let end = match step + 1 {
                    STEPS => stats.last_seq,
                    next => self.seq_before(pass, steps.begin(next), stats.last_seq).await?,
                };
                series.writes[step] += end.saturating_sub(before);
                before = end;
            }
            series.evictions.fill(None);
            return Ok(None);
        }
        let mut moved = [0i64; STEPS];
        while after < stats.last_seq {
            let changes = self.storage.changes(pass, after, limit::CHANGES_PAGE_MAX).await?;
            *reads_left = reads_left.saturating_sub(1 + changes.len() as u64 / CHANGES_PER_READ);
            let Some(last) = changes.last() else { break };
            after = last.seq;
            for change in &changes {
                let Some(step) = steps.of(change.at) else { continue };
                series.writes[step] += 1;
                if is_eviction(change) {
                    series.evictions[step] = series.evictions[step].map(|count| count + 1);
                }
                moved[step] += match change.op {
                    ChangeOp::Created => 1,
                    ChangeOp::Deleted => -1,
                    ChangeOp::Modified | ChangeOp::Redacted => 0,
                };
            }
        }
        // Backwards from what there is now.
        let mut left = i64::try_from(stats.memories).unwrap_or(i64::MAX);
        let mut memories = vec![0; STEPS];
        for step in (0..STEPS).rev() {
            memories[step] = u64::try_from(left).unwrap_or(0);
            left -= moved[step];
        }
        Ok(Some(memories))
    }
}

fn is_eviction(change: &Change) -> bool {
    let is_unasked = [reason::EXPIRED, crate::compact::REASON].contains(&change.reason.as_str());
    change.op == ChangeOp::Deleted && is_unasked
}
