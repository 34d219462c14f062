//! Taking back what somebody wrote in a time: every memory they touched goes back to what it was before.
//!
//! It is planned from the versions and carried out as one ordinary batch, on the condition that nothing
//! changed since it was planned; so it is a version like any other and can be taken back itself. What
//! others wrote afterwards is taken back only where the caller says so.

use crate::history::HistoryQuery;
use crate::{Context, Engine, Error, Result, damage};
use loci_model::policy::ReadPass;
use loci_model::{
    Actor, At, AttributesPatch, Edit, EditOp, Expect, Invalid, MemoryId, MemoryPath, OnSame,
    Operation, Outcome, PathPrefix, StoreId, Timestamp, Version, VersionId, View, limit,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What the feed says.
const REASON: &str = "revert";
/// Versions of the author that are looked at.
const VERSIONS_MAX: usize = 50_000;
/// Memories of one plan.
const MEMORIES_MAX: usize = limit::TREE_EDITS_MAX;
/// Versions of one memory that are looked at, newest first.
const HISTORY_MAX: usize = 2000;

/// What is to be taken back.
#[derive(Debug, Clone)]
pub struct RevertRequest {
    /// What these wrote.
    pub actors: HashSet<Actor>,
    /// From then on.
    pub since: Timestamp,
    /// Until then.
    pub until: Option<Timestamp>,
    /// Below this directory.
    pub prefix: PathPrefix,
    /// Only these, and these even if others changed them since.
    pub memories: Option<HashSet<MemoryId>>,
}

/// Whether a memory can go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevertState {
    /// Nobody else touched it.
    Clean,
    /// Somebody else did; the last of them.
    ChangedSince(Actor),
    /// What it was before is gone.
    Impossible,
}

/// What going back comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevertAction {
    /// An earlier version is written again.
    Restore,
    /// It was made then, and goes.
    Delete,
    /// It was removed then, and comes back.
    BringBack,
}

/// One memory that goes back.
#[derive(Debug, Clone)]
pub struct RevertStep {
    /// The memory.
    pub memory: MemoryId,
    /// Where it is, or was.
    pub path: Option<MemoryPath>,
    /// Whether it can.
    pub state: RevertState,
    /// Its newest revision.
    pub revision: u64,
    /// What it goes back to.
    pub to: Option<(u64, VersionId)>,
    /// How.
    pub action: RevertAction,
}

impl Engine {
    /// What taking back would do; and whether there is more than one plan holds.
    pub async fn plan_revert(
        &self,
        context: &Context,
        store: StoreId,
        request: &RevertRequest,
    ) -> Result<(Vec<RevertStep>, bool)> {
        self.require_write(context, store).await?;
        if self.facts(context, store).await?.store.archived_at.is_some() {
            return Err(Error::Archived);
        }
        let pass = self.read_pass(context, store).await?;
        let (engine, request) = (self.clone(), request.clone());
        self.compute(async move { engine.planned(&pass, &request).await }).await
    }

    async fn planned(
        &self,
        pass: &ReadPass,
        request: &RevertRequest,
    ) -> Result<(Vec<RevertStep>, bool)> {
        let query = HistoryQuery {
            memory: None,
            actors: Some(request.actors.clone()),
            since: Some(request.since),
            until: request.until,
            prefix: request.prefix.clone(),
            view: View::Basic,
            before_seq: None,
            limit: 1,
        };
        let (versions, mut is_cut) = self.all_versions(pass, &query, VERSIONS_MAX).await?;
        // Newest first, so what is put in last is the first that was written.
        let mut first: HashMap<MemoryId, u64> = HashMap::new();
        let mut order = Vec::new();
        for version in &versions {
            let is_wanted =
                request.memories.as_ref().is_none_or(|wanted| wanted.contains(&version.memory));
            // What it said before is no longer known, nor what it said then.
            if is_wanted && first.insert(version.memory, version.revision).is_none() {
                order.push(version.memory);
            }
        }
        is_cut |= order.len() > MEMORIES_MAX;
        order.truncate(MEMORIES_MAX);
        let mut steps = Vec::with_capacity(order.len());
        for memory in order {
            steps.extend(self.plan_one(pass, memory, first[&memory], request).await?);
        }
        Ok((steps, is_cut))
    }

    async fn plan_one(
        &self,
        pass: &ReadPass,
        memory: MemoryId,
        first: u64,
        request: &RevertRequest,
    ) -> Result<Option<RevertStep>> {
        let query = HistoryQuery {
            memory: Some(memory),
            actors: None,
            since: None,
            until: None,
            prefix: PathPrefix::root(),
            view: View::Basic,
            before_seq: None,
            limit: 1,
        };
        let (versions, _) = self.all_versions(pass, &query, HISTORY_MAX).await?;
        let by_revision: BTreeMap<u64, &Version> =
            versions.iter().map(|version| (version.revision, version)).collect();
        let Some((&revision, head)) = by_revision.last_key_value() else { return Ok(None) };
        let is_live = head.operation != Operation::Deleted;
        let before = by_revision.get(&(first.saturating_sub(1))).copied();
        let was_live = before.is_some_and(|before| before.operation != Operation::Deleted);
        let is_in_time = |version: &Version| {
            version.created_at >= request.since
                && request.until.is_none_or(|until| version.created_at <= until)
        };
        let others = by_revision.range(first..).rev().map(|(_, version)| *version);
        let mut others = others
            .filter(|version| !(request.actors.contains(&version.actor) && is_in_time(version)));
        let (action, to) = match (was_live, is_live) {
            // Made and removed again: there is nothing to do.
            (false, false) => return Ok(None),
            (false, true) => (RevertAction::Delete, None),
            (true, true) => (RevertAction::Restore, before),
            (true, false) => (RevertAction::BringBack, before),
        };
        let is_gone = to.is_some_and(|to| to.redaction.is_some() || to.path.is_none());
        // Older than what was looked at, or scrubbed with the memory.
        let is_unknown = first > 1 && before.is_none();
        let state = match others.next() {
            _ if is_gone || is_unknown => RevertState::Impossible,
            Some(other) => RevertState::ChangedSince(other.actor),
            None => RevertState::Clean,
        };
        Ok(Some(RevertStep {
            memory,
            path: head.path.clone().or_else(|| to.and_then(|to| to.path.clone())),
            state,
            revision,
            to: to.map(|to| (to.revision, to.id)),
            action,
        }))
    }

    /// Takes back what can be: everything that is clean, or what was picked. All or none.
    pub async fn revert(
        &self,
        context: &Context,
        store: StoreId,
        request: &RevertRequest,
    ) -> Result<Vec<(RevertStep, Outcome)>> {
        let (steps, is_cut) = self.plan_revert(context, store, request).await?;
        if is_cut {
            let why = format!("touches more than {MEMORIES_MAX} memories; take a shorter time");
            return Err(Invalid::new("since", why).into());
        }
        let is_picked = |step: &RevertStep| match step.state {
            RevertState::Clean => true,
            RevertState::ChangedSince(_) => request.memories.is_some(),
            RevertState::Impossible => false,
        };
        let steps: Vec<RevertStep> = steps.into_iter().filter(is_picked).collect();
        if steps.is_empty() {
            return Ok(Vec::new());
        }
        let pass = self.read_pass(context, store).await?;
        let mut edits = Vec::with_capacity(steps.len());
        for step in &steps {
            edits.push(self.revert_edit(&pass, step).await?);
        }
        let outcomes = self.commit_tree(context, store, edits, REASON).await?;
        Ok(steps.into_iter().zip(outcomes).collect())
    }

    async fn revert_edit(&self, pass: &ReadPass, step: &RevertStep) -> Result<Edit> {
        let now = Expect::Revision(step.revision);
        let Some((_, to)) = step.to else {
            return Ok(Edit::remove(At::Id(step.memory), now));
        };
        let to = damage::version(self.storage.as_ref(), pass, to, View::Full).await?;
        let to = to.ok_or(Error::NotFound("memory version"))?;
        let (Some(content), Some(path), Some(attributes)) = (to.content, to.path, to.attributes)
        else {
            return Err(Error::NotFound("memory version"));
        };
        let attributes = AttributesPatch::replace(attributes);
        let content = Some(content);
        let (at, expect, path) = match step.action {
            // A memory that was removed is gone as such; its text comes back as a new one.
            RevertAction::BringBack => (At::Path(None, path), Expect::Absent, None),
            RevertAction::Restore | RevertAction::Delete => (At::Id(step.memory), now, Some(path)),
        };
        let op = EditOp::Put { content, to: path, attributes };
        Ok(Edit { at, expect, on_same: OnSame::Skip, op })
    }
}
