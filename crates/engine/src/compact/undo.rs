//! Taking a compaction back: the sources that a summary names come back from the history as they
//! were, and the summary goes, in one batch.

use super::Compacted;
use crate::{Context, Engine, Error, Result, damage};
use loci_model::policy;
use loci_model::query::VersionQuery;
use loci_model::{
    At, AttributesPatch, Edit, EditOp, Expect, Invalid, MemoryId, OnSame, Operation, StoreId,
    Timestamp, Version, VersionId, View,
};

/// What the feed shows as the reason.
const REASON: &str = "restored";

impl Engine {
    /// Brings back what a summary was made from and removes the summary. What was redacted since, and
    /// what would have expired by now, stays away. Refused whole when something else is at one of
    /// the paths.
    pub async fn undo_compaction(
        &self,
        context: &Context,
        store: StoreId,
        summary: MemoryId,
    ) -> Result<Compacted> {
        self.require_primary()?;
        let facts = self.facts(context, store).await?;
        let now = self.seams.now();
        policy::compact(&context.caller, &facts, facts.store.owner, now)?;
        if facts.store.archived_at.is_some() {
            return Err(Error::Archived);
        }
        let read = policy::read(&context.caller, &facts, now)?;
        let found = self.storage.get(&read, &At::Id(summary), View::Basic).await?;
        let found = found.ok_or(Error::NotFound("memory"))?;
        let mut edits = vec![Edit::remove(At::Id(summary), Expect::Revision(found.revision))];
        for source in self.sources_of(context, store, summary).await? {
            let version = damage::version(self.storage.as_ref(), &read, source, View::Full).await?;
            edits.extend(version.and_then(|version| restoring(version, found.partition, now)));
        }
        if edits.len() == 1 {
            let why = "is no summary of memories that could be brought back";
            return Err(Invalid::new("memory", why).into());
        }
        let owner = found.partition.unwrap_or(facts.store.owner);
        let pass = policy::compact(&context.caller, &facts, owner, now)?;
        let batch = self.stamp(edits, context.cause(REASON));
        let outcomes = self.write_batch(&pass, batch, None).await?;
        let paths = outcomes.into_iter().map(|outcome| outcome.memory.path);
        let restored: Vec<_> = paths.skip(1).collect();
        Ok(Compacted { removed: vec![found.path], summaries: restored, left: 0 })
    }

    /// The versions that a summary was made from.
    async fn sources_of(
        &self,
        context: &Context,
        store: StoreId,
        summary: MemoryId,
    ) -> Result<Vec<VersionId>> {
        let query = VersionQuery {
            memory: Some(summary),
            operation: Some(Operation::Created),
            actor: None,
            since: None,
            until: None,
            view: View::Basic,
            before_seq: None,
            limit: 1,
        };
        let page = self.versions(context, store, &query).await?;
        Ok(page
            .items
            .into_iter()
            .next()
            .map(|version| version.cause.derived_from)
            .unwrap_or_default())
    }
}

fn restoring(
    version: Version,
    partition: Option<loci_model::PrincipalId>,
    now: Timestamp,
) -> Option<Edit> {
    let (path, attributes, content) = (version.path?, version.attributes?, version.content?);
    if attributes.expires_at.is_some_and(|end| end <= now) {
        return None;
    }
    Some(Edit {
        at: At::Path(partition, path),
        expect: Expect::Absent,
        on_same: OnSame::Skip,
        op: EditOp::Put {
            content: Some(content),
            to: None,
            attributes: AttributesPatch::replace(attributes),
        },
    })
}
