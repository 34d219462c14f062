//! Making content go away for good. When these return, what was scrubbed is in no file of ours.

use crate::access::expect_receipt;
use crate::compact::{DerivedLine, Taken};
use crate::history::HistoryQuery;
use crate::{Context, Engine, Error, Result};
use loci_model::event::kind;
use loci_model::policy::ReadPass;
use loci_model::{At, MemoryId, PathPrefix, StoreId, Version, VersionId, View};
use loci_storage::{Mutation, Receipt};
use std::collections::HashSet;

/// Versions among which the same text is looked for, newest first, and how many are shown.
const SAME_LOOKED_AT_MAX: usize = 20_000;
const SAME_SHOWN_MAX: usize = 100;

impl Engine {
    /// Scrubs one version that is not the head of a live memory.
    pub async fn redact(
        &self,
        context: &Context,
        store: StoreId,
        version: VersionId,
    ) -> Result<Version> {
        // A session writes; people and keys take away.
        if context.caller.session.is_some() {
            return Err(Error::Denied("a session cannot redact"));
        }
        let receipt = match self.recall(context).await? {
            Some(receipt) => receipt,
            None => {
                let pass = self.manage_pass(context, store).await?;
                let told = self.happening(context, kind::VERSION_REDACTED).in_store(store);
                let redact = Mutation::Redact(pass, version);
                self.audited(context, redact, told.about(&version)).await?
            }
        };
        let version = expect_receipt!(receipt, Receipt::Redacted(version) => *version)?;
        self.take_derived(taken(context, store, version.memory, Some(version.id))).await?;
        Ok(version)
    }

    /// Removes a memory, if it is live, and scrubs every version it ever had, and what compaction
    /// made of it.
    pub async fn erase(
        &self,
        context: &Context,
        store: StoreId,
        memory: MemoryId,
    ) -> Result<Erased> {
        let receipt = match self.recall(context).await? {
            Some(receipt) => receipt,
            None => {
                let pass = self.manage_pass(context, store).await?;
                let version = self.seams.version_id(pass.now());
                let told = self.happening(context, kind::MEMORY_ERASED).in_store(store);
                let erase = Mutation::Erase { pass, memory, version };
                self.audited(context, erase, told.about(&memory)).await?
            }
        };
        let versions = expect_receipt!(receipt, Receipt::Erased { versions, .. } => versions)?;
        let derived = self.take_derived(taken(context, store, memory, None)).await?;
        Ok(Erased { versions, derived })
    }
}

fn taken(context: &Context, store: StoreId, memory: MemoryId, version: Option<VersionId>) -> Taken {
    Taken { workspace: context.caller.workspace, store, memory, version }
}

/// What an erasure took away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased {
    /// How many versions of the memory were scrubbed.
    pub versions: u64,
    /// The summary that was made from it, and those made from that one where it was erased.
    pub derived: Vec<DerivedLine>,
}

/// A version that is, or would be, redacted.
#[derive(Debug, Clone)]
pub struct RedactionLine {
    /// The version, without content.
    pub version: Version,
    /// Whether it is the newest of a memory that is live: it cannot be redacted then.
    pub is_head: bool,
}

/// What redacting some versions erases.
#[derive(Debug, Clone)]
pub struct RedactionPlan {
    /// The versions, in the order asked for.
    pub lines: Vec<RedactionLine>,
    /// Other versions of the store that hold the same bytes.
    pub same_content: Vec<RedactionLine>,
    /// Summaries that were made from the versions, and what becomes of them.
    pub derived: Vec<DerivedLine>,
}

impl Engine {
    /// What redacting versions would erase, and where else the same text is.
    pub async fn plan_redaction(
        &self,
        context: &Context,
        store: StoreId,
        versions: &[VersionId],
    ) -> Result<RedactionPlan> {
        self.manage_pass(context, store).await?;
        let pass = self.read_pass(context, store).await?;
        let mut lines = Vec::with_capacity(versions.len());
        for id in versions {
            let version = self.storage.version(&pass, *id, View::Basic).await?;
            let version = version.ok_or(Error::NotFound("memory version"))?;
            lines.push(self.redaction_line(&pass, version).await?);
        }
        let digests: HashSet<_> = lines.iter().filter_map(|line| line.version.digest).collect();
        let mut same_content = Vec::new();
        let query = HistoryQuery {
            memory: None,
            actors: None,
            since: None,
            until: None,
            prefix: PathPrefix::root(),
            view: View::Basic,
            before_seq: None,
            limit: 1,
        };
        let (engine, read) = (self.clone(), pass.clone());
        let looked_at = async move { engine.all_versions(&read, &query, SAME_LOOKED_AT_MAX).await };
        let (all, _) = self.compute(looked_at).await?;
        for version in all {
            let is_same = version.digest.is_some_and(|digest| digests.contains(&digest));
            if is_same && !versions.contains(&version.id) && same_content.len() < SAME_SHOWN_MAX {
                same_content.push(self.redaction_line(&pass, version).await?);
            }
        }
        let sources = lines.iter().map(|line| &line.version);
        let sources: Vec<Taken> =
            sources.map(|it| taken(context, store, it.memory, Some(it.id))).collect();
        let derived = self.plan_derived(&sources).await?;
        Ok(RedactionPlan { lines, same_content, derived })
    }

    async fn redaction_line(&self, pass: &ReadPass, version: Version) -> Result<RedactionLine> {
        let live = self.storage.get(pass, &At::Id(version.memory), View::Basic).await?;
        Ok(RedactionLine { is_head: live.is_some_and(|live| live.head == version.id), version })
    }

    /// Redacts versions, and takes them out of what compaction made of them, and writes down why. None
    /// is touched when one of them cannot be.
    pub async fn redact_all(
        &self,
        context: &Context,
        store: StoreId,
        versions: &[VersionId],
        reason: &str,
    ) -> Result<RedactionPlan> {
        let plan = self.plan_redaction(context, store, versions).await?;
        if plan.lines.iter().any(|line| line.is_head) {
            return Err(Error::IsHead);
        }
        let mut lines = Vec::with_capacity(plan.lines.len());
        let mut derived = Vec::new();
        for line in plan.lines {
            let pass = self.manage_pass(context, store).await?;
            let told = self.happening(context, kind::VERSION_REDACTED).in_store(store);
            let told = told.about(&line.version.id).saying(&reason);
            let redact = Mutation::Redact(pass, line.version.id);
            let receipt = self.audited_unasked(redact, told).await?;
            let version = expect_receipt!(receipt, Receipt::Redacted(version) => *version)?;
            let (memory, id) = (version.memory, version.id);
            let found = self.take_derived(taken(context, store, memory, Some(id))).await?;
            found.into_iter().for_each(|line| add(&mut derived, line));
            lines.push(RedactionLine { version, is_head: false });
        }
        self.search.wrote();
        Ok(RedactionPlan { lines, same_content: plan.same_content, derived })
    }
}

/// Several sources of one summary are one line: the last one that was looked at says what became of it.
fn add(lines: &mut Vec<DerivedLine>, found: DerivedLine) {
    lines.retain(|line| line.memory != found.memory);
    lines.push(found);
}
