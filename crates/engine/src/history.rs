//! What happened to memories, version by version: of one memory, by somebody, in a time, below a path.
//!
//! What storage cannot ask for is picked out of what it gives, a bounded part at a time; a page may
//! therefore be short, and is the last one only if it says so.

use crate::compute::may_block;
use crate::{Context, Engine, Result, damage};
use loci_model::policy::ReadPass;
use loci_model::query::VersionQuery;
use loci_model::{Actor, MemoryId, Page, PathPrefix, StoreId, Timestamp, Version, View};
use std::collections::HashSet;

/// Versions read at once, and how often for one page.
const STEP: usize = 1000;
const STEPS_MAX: usize = 20;
/// Bytes of content on one page, after which it ends.
const PAGE_BYTES: u64 = 2 * 1024 * 1024;

/// Which versions.
#[derive(Debug, Clone)]
pub struct HistoryQuery {
    /// Of this memory.
    pub memory: Option<MemoryId>,
    /// By any of these.
    pub actors: Option<HashSet<Actor>>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Not after.
    pub until: Option<Timestamp>,
    /// Below this directory.
    pub prefix: PathPrefix,
    /// With content or without.
    pub view: View,
    /// Only versions with a smaller feed number than this.
    pub before_seq: Option<u64>,
    /// How many at most.
    pub limit: usize,
}

impl HistoryQuery {
    fn matches(&self, version: &Version) -> bool {
        let is_by = self.actors.as_ref().is_none_or(|actors| actors.contains(&version.actor));
        let prefix = self.prefix.as_str();
        let is_below = prefix == "/"
            || version.path.as_ref().is_some_and(|path| path.as_str().starts_with(prefix));
        is_by && is_below
    }

    fn step(&self, before_seq: Option<u64>) -> VersionQuery {
        // One author is asked for where the versions lie.
        let only = self.actors.as_ref().filter(|actors| actors.len() == 1);
        VersionQuery {
            memory: self.memory,
            operation: None,
            actor: only.and_then(|actors| actors.iter().next().copied()),
            since: self.since,
            until: self.until,
            view: View::Basic,
            before_seq,
            limit: STEP,
        }
    }
}

impl Engine {
    /// A page of versions, newest first; its cursor is for `before_seq`.
    pub async fn history(
        &self,
        context: &Context,
        store: StoreId,
        query: &HistoryQuery,
    ) -> Result<Page<Version, u64>> {
        let pass = self.read_pass(context, store).await?;
        let mut page = self.pick(&pass, query).await?;
        if query.view == View::Full {
            self.fill(&pass, &mut page).await?;
        }
        Ok(page)
    }

    /// The versions that match, without content.
    async fn pick(&self, pass: &ReadPass, query: &HistoryQuery) -> Result<Page<Version, u64>> {
        let mut picked = Page { items: Vec::new(), next: None };
        let mut before = query.before_seq;
        for _ in 0..STEPS_MAX {
            let part = self.storage.versions(pass, &query.step(before)).await?;
            for version in part.items {
                if picked.items.len() == query.limit {
                    picked.next = picked.items.last().map(|last: &Version| last.seq);
                    return Ok(picked);
                }
                if query.matches(&version) {
                    picked.items.push(version);
                }
            }
            picked.next = part.next;
            before = part.next;
            if before.is_none() {
                break;
            }
        }
        Ok(picked)
    }

    /// Brings the contents, as many as a page may hold.
    async fn fill(&self, pass: &ReadPass, page: &mut Page<Version, u64>) -> Result<()> {
        let mut bytes = 0;
        for place in 0..page.items.len() {
            if bytes > PAGE_BYTES {
                page.items.truncate(place);
                page.next = page.items.last().map(|last| last.seq);
                break;
            }
            let version = &mut page.items[place];
            bytes += version.size_bytes.unwrap_or(0);
            damage::fill(self.storage.as_ref(), pass, version).await?;
        }
        Ok(())
    }

    /// Everything that matches, newest first, up to a number; and whether there is more.
    pub(crate) async fn all_versions(
        &self,
        pass: &ReadPass,
        query: &HistoryQuery,
        most: usize,
    ) -> Result<(Vec<Version>, bool)> {
        debug_assert!(may_block(), "going through a whole history computes");
        let mut all = Vec::new();
        let mut step = HistoryQuery { limit: STEP, ..query.clone() };
        loop {
            let page = self.pick(pass, &step).await?;
            all.extend(page.items);
            step.before_seq = page.next;
            if all.len() > most {
                all.truncate(most);
                return Ok((all, true));
            }
            if step.before_seq.is_none() {
                return Ok((all, false));
            }
        }
    }
}
