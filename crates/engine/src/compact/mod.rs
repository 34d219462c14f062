//! Compaction: a store that holds more than it should gives up its episodes first, merged into
//! summaries, and then what matters least. Each step is one ordinary batch that writes a summary
//! with its sources named and removes the sources, so it is versioned, in the feed, and can be taken
//! back from the history.
//!
//! A step expects every memory it removes to be as it was when the step was planned. Whoever changes
//! or pins one of them in the meantime wins, and the step is planned anew.

mod derived;
mod extract;
mod summary;
mod undo;

pub(crate) use derived::Taken;
pub use derived::{DerivedLine, Fate};
pub use summary::{Source, Summarizer, Summary};

use crate::{Context, Engine, Error, Result};
use loci_model::compact::{Candidate, Place, Step, plan};
use loci_model::policy::{self, System, WritePass};
use loci_model::query::{ListItem, ListQuery};
use loci_model::{
    At, Cause, Edit, Expect, Invalid, Memory, MemoryId, MemoryPath, Outcome, PrincipalId, Store,
    StoreId, View,
};
use std::collections::{HashMap, HashSet};

/// What the feed shows as the reason of all that compaction writes and removes.
pub const REASON: &str = "compacted";
/// How long compacting is one server's to do.
const LEASE_SECS: u32 = 60;
/// Stores that are looked at in one go.
const STORES_MAX: usize = 100;
/// How many memories are read at a time.
const PAGE: usize = 1000;
/// How often a plan is made anew because others changed what it was about.
const ATTEMPTS_MAX: usize = 8;
/// Other names that are tried for a summary whose own is taken.
const NAMES_MAX: usize = 1000;

/// What compaction did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compacted {
    /// What was removed, those that were merged first.
    pub removed: Vec<MemoryPath>,
    /// The summaries that were written.
    pub summaries: Vec<MemoryPath>,
    /// How many memories are left.
    pub left: u64,
}

/// On whose authority a store is compacted.
enum Authority<'a> {
    /// Somebody asked.
    Caller(&'a Context),
    /// It holds more than it should.
    Cap,
}

impl Engine {
    /// Compacts a store down to so many memories, or says what that would do. For whoever may manage
    /// the store.
    pub async fn compact(
        &self,
        context: &Context,
        store: StoreId,
        keep: u64,
        is_dry_run: bool,
    ) -> Result<Compacted> {
        self.require_primary()?;
        let facts = self.facts(context, store).await?;
        let now = self.seams.now();
        policy::compact(&context.caller, &facts, facts.store.owner, now)?;
        if facts.store.archived_at.is_some() {
            return Err(Error::Archived);
        }
        let keep =
            usize::try_from(keep).map_err(|_| Invalid::new("max_entries", "is too large"))?;
        let authority = Authority::Caller(context);
        self.compact_store(&facts.store, keep, is_dry_run, &authority).await
    }

    /// Compacts the stores that hold more than they should, unless another server does. Answers how
    /// many memories went.
    ///
    /// A store is brought a tenth below its cap, so that the next memory does not make another
    /// summary of two.
    pub async fn compact_crowded(&self) -> Result<u64> {
        if self.storage.is_replica() || !self.storage.lease("compact", LEASE_SECS).await? {
            return Ok(0);
        }
        let system = System::because("the store holds more than its cap");
        let mut removed = 0;
        for (workspace, store) in self.storage.crowded(STORES_MAX).await? {
            let owner = PrincipalId::from_u128(0);
            let Some(facts) = self.storage.facts(workspace, store, owner, None).await? else {
                continue;
            };
            let Some(cap) = facts.store.policy.soft_cap else { continue };
            let keep = usize::try_from(cap - cap / 10).unwrap_or(usize::MAX);
            // Where everything is pinned there is nothing to do, however often it is looked at.
            if self.compaction.is_idle(
                store,
                &self.storage.stats(&system.read(workspace, store, self.seams.now())).await?,
            ) {
                continue;
            }
            match self.compact_store(&facts.store, keep, false, &Authority::Cap).await {
                Ok(done) => removed += done.removed.len() as u64,
                Err(Error::NotFound(_) | Error::Archived) => {}
                Err(error) => {
                    tracing::warn!(%store, %error, "compaction failed; it is tried again")
                }
            }
            let stats = self.storage.stats(&system.read(workspace, store, self.seams.now())).await;
            if let Ok(stats) = stats {
                self.compaction.looked_at(store, &stats);
            }
        }
        Ok(removed)
    }

    /// Waits until a store with a cap may have grown.
    pub async fn grown(&self) {
        self.compaction.grown.notified().await;
    }

    async fn compact_store(
        &self,
        store: &Store,
        keep: usize,
        is_dry_run: bool,
        authority: &Authority<'_>,
    ) -> Result<Compacted> {
        let mut done = Compacted::default();
        for _ in 0..ATTEMPTS_MAX {
            let memories = self.everything(store).await?;
            let candidates: Vec<Candidate> = memories.values().map(Candidate::of).collect();
            let steps = plan(&candidates, keep);
            done.left = memories.len() as u64;
            let mut taken: HashSet<_> =
                memories.values().map(|one| (one.partition, one.path.clone())).collect();
            let mut is_overtaken = false;
            for step in steps {
                match self
                    .take_step(store, &memories, &mut taken, &step, is_dry_run, authority)
                    .await
                {
                    Ok(step) => {
                        done.left =
                            done.left - step.removed.len() as u64 + step.summaries.len() as u64;
                        done.removed.extend(step.removed);
                        done.summaries.extend(step.summaries);
                    }
                    Err(Error::ExpectFailed | Error::NotFound("memory")) => is_overtaken = true,
                    Err(error) => return Err(error),
                }
            }
            if !is_overtaken {
                return Ok(done);
            }
        }
        Err(Error::Unavailable("others change this store all the time; try again"))
    }

    /// Every live memory of a store, without content.
    async fn everything(&self, store: &Store) -> Result<HashMap<MemoryId, Memory>> {
        let system = System::because("the store is to be compacted");
        let pass = system.read(store.workspace, store.id, self.seams.now());
        let mut query = ListQuery::everything(View::Basic, PAGE);
        let mut found = HashMap::new();
        loop {
            let page = self.storage.list(&pass, &query).await?;
            for item in page.items {
                if let ListItem::Memory(memory) = item {
                    found.insert(memory.id, *memory);
                }
            }
            match page.next {
                Some(next) => query.after = Some(next),
                None => return Ok(found),
            }
        }
    }

    async fn take_step(
        &self,
        store: &Store,
        memories: &HashMap<MemoryId, Memory>,
        taken: &mut HashSet<(Option<PrincipalId>, MemoryPath)>,
        step: &Step,
        is_dry_run: bool,
        authority: &Authority<'_>,
    ) -> Result<Compacted> {
        let (Step::Merge(_, ids) | Step::Evict(ids)) = step;
        let going: Vec<&Memory> = ids.iter().map(|id| &memories[id]).collect();
        let mut done = Compacted {
            removed: going.iter().map(|memory| memory.path.clone()).collect(),
            ..Compacted::default()
        };
        let removals = going
            .iter()
            .map(|memory| Edit::remove(At::Id(memory.id), Expect::Revision(memory.revision)));
        let mut edits: Vec<Edit> = removals.collect();
        let mut cause = Cause::new(None, REASON);
        if let Step::Merge(place, _) = step {
            let path = free_path(place, taken, &self.seams.now().to_string())?;
            done.summaries.push(path.clone());
            if !is_dry_run {
                let sources = self.sources(store, &going).await?;
                cause.derived_from = going.iter().map(|memory| memory.head).collect();
                edits.insert(
                    0,
                    self.summary_edit(store, place, path.clone(), &going, sources).await,
                );
            }
            taken.insert((place.partition, path));
        }
        if is_dry_run {
            return Ok(done);
        }
        let owner = going.first().and_then(|one| one.partition).unwrap_or(store.owner);
        let pass = self.compact_pass(store, owner, authority).await?;
        self.write_batch(&pass, self.stamp(edits, cause), None).await?;
        Ok(done)
    }

    async fn compact_pass(
        &self,
        store: &Store,
        owner: PrincipalId,
        authority: &Authority<'_>,
    ) -> Result<WritePass> {
        let now = self.seams.now();
        match authority {
            Authority::Caller(context) => {
                let facts = self.facts(context, store.id).await?;
                Ok(policy::compact(&context.caller, &facts, owner, now)?)
            }
            Authority::Cap => {
                let system = System::because("the store holds more than its cap");
                Ok(system.write(store.workspace, store.id, owner, now))
            }
        }
    }
}

/// The first free name for a summary in a place.
fn free_path(
    place: &Place,
    taken: &HashSet<(Option<PrincipalId>, MemoryPath)>,
    moment: &str,
) -> Result<MemoryPath> {
    let day = moment.get(..10).unwrap_or(moment);
    for number in 1..=NAMES_MAX {
        let path = MemoryPath::parse(&format!("{}summary.{day}-{number}", place.directory))?;
        if !taken.contains(&(place.partition, path.clone())) {
            return Ok(path);
        }
    }
    Err(Error::OverQuota(format!("there are {NAMES_MAX} summaries of this day already")))
}

/// What is remembered between two looks at stores with a cap.
#[derive(Default)]
pub(crate) struct Watch {
    /// Something was created in a store with a cap.
    pub(crate) grown: tokio::sync::Notify,
    /// How far each store was when it was looked at last.
    seen: std::sync::Mutex<HashMap<StoreId, u64>>,
}

impl Watch {
    fn is_idle(&self, store: StoreId, stats: &loci_model::query::StoreStats) -> bool {
        self.lock().get(&store) == Some(&stats.last_seq)
    }

    fn looked_at(&self, store: StoreId, stats: &loci_model::query::StoreStats) {
        let mut seen = self.lock();
        // Forgetting costs one look at each store.
        if seen.len() >= 10 * STORES_MAX {
            seen.clear();
        }
        seen.insert(store, stats.last_seq);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<StoreId, u64>> {
        self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Takes note of what a batch did in a store with a cap.
    pub(crate) fn wrote(&self, outcomes: &[Outcome]) {
        if outcomes.iter().any(Outcome::is_created) {
            self.grown.notify_one();
        }
    }
}
