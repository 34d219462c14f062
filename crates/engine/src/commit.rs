//! The one write path. Doors, mounts, tools, expiry and compaction all come through here.

use crate::access::expect_receipt;
use crate::{Context, Engine, Error, Result};
use loci_model::policy::{self, System, WritePass};
use loci_model::store::Partitioning;
use loci_model::{
    At, Cause, Edit, Invalid, MemoryId, Outcome, PrincipalId, StoreId, WorkspaceId, limit,
};
use loci_storage::{Batch, Idempotency, Mutation, Receipt, StampedEdit, StorageError};

/// How many edits a batch may have, and what it does to an archived store.
#[derive(Debug, Clone, Copy)]
struct Terms {
    edits_max: usize,
    /// Whether an archived store refuses removals, too.
    needs_open: bool,
}

impl Engine {
    /// Applies edits to one store, all or none; when this returns they are on disk and searchable
    /// by word. `reason` is shown in the feed.
    pub async fn commit(
        &self,
        context: &Context,
        store: StoreId,
        edits: Vec<Edit>,
        reason: &str,
    ) -> Result<Vec<Outcome>> {
        let terms = Terms { edits_max: limit::BATCH_EDITS_MAX, needs_open: false };
        self.commit_on(terms, context, store, edits, reason).await
    }

    /// The same for what is done to a whole directory at once.
    pub async fn commit_tree(
        &self,
        context: &Context,
        store: StoreId,
        edits: Vec<Edit>,
        reason: &str,
    ) -> Result<Vec<Outcome>> {
        let terms = Terms { edits_max: limit::TREE_EDITS_MAX, needs_open: false };
        self.commit_on(terms, context, store, edits, reason).await
    }

    /// The same, but an archived store refuses removals like every other edit: what shows it as a
    /// read-only directory must not empty it.
    pub async fn commit_tree_if_open(
        &self,
        context: &Context,
        store: StoreId,
        edits: Vec<Edit>,
        reason: &str,
    ) -> Result<Vec<Outcome>> {
        let terms = Terms { edits_max: limit::TREE_EDITS_MAX, needs_open: true };
        self.commit_on(terms, context, store, edits, reason).await
    }

    async fn commit_on(
        &self,
        terms: Terms,
        context: &Context,
        store: StoreId,
        mut edits: Vec<Edit>,
        reason: &str,
    ) -> Result<Vec<Outcome>> {
        let Terms { edits_max, needs_open } = terms;
        if edits.is_empty() || edits.len() > edits_max {
            let why = format!("takes 1 to {edits_max} edits");
            return Err(Invalid::new("batch", why).into());
        }
        if let Some(receipt) = self.recall(context).await? {
            return expect_receipt!(receipt, Receipt::Committed(outcomes) => outcomes);
        }
        let facts = self.facts(context, store).await?;
        let pass = policy::write(&context.caller, &facts, self.seams.now())?;
        if needs_open && facts.store.archived_at.is_some() {
            return Err(Error::Archived);
        }
        if facts.store.policy.partitioning == Partitioning::ByOwner {
            edits.iter_mut().for_each(|edit| into_own_partition(edit, pass.principal()));
        }
        let batch = self.stamp(edits, context.cause(reason));
        let outcomes = self.write_batch(&pass, batch, context.idempotency_at(pass.now())).await?;
        if facts.store.policy.soft_cap.is_some() {
            self.compaction.wrote(&outcomes);
        }
        Ok(outcomes)
    }

    /// Applies a batch; what is in its way and has expired goes first.
    pub(crate) async fn write_batch(
        &self,
        pass: &WritePass,
        batch: Batch,
        idempotency: Option<Idempotency>,
    ) -> Result<Vec<Outcome>> {
        for _ in 0..=batch.edits.len() {
            let mutation = Mutation::Commit(pass.clone(), batch.clone());
            match self.storage.write(mutation, idempotency.clone()).await {
                Ok(applied) => {
                    self.search.wrote();
                    return expect_receipt!(applied.receipt, Receipt::Committed(outcomes) => outcomes);
                }
                // What has expired is no longer there for anybody; make it so, then go on.
                Err(StorageError::Expired { memory }) => {
                    self.expire(pass.workspace(), pass.store(), memory).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Unavailable("memories expire faster than this batch can be written; try again"))
    }

    /// Removes a memory whose time is over, unless somebody else did.
    pub(crate) async fn expire(
        &self,
        workspace: WorkspaceId,
        store: StoreId,
        memory: MemoryId,
    ) -> Result<()> {
        let now = self.seams.now();
        let system = System::because("its time is over");
        let pass = system.write(workspace, store, PrincipalId::from_u128(0), now);
        let version = self.seams.version_id(now);
        match self.write_unasked(Mutation::Expire { pass, memory, version }).await {
            Ok(_) | Err(Error::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Applies one edit.
    pub async fn commit_one(
        &self,
        context: &Context,
        store: StoreId,
        edit: Edit,
        reason: &str,
    ) -> Result<Outcome> {
        let mut outcomes = self.commit(context, store, vec![edit], reason).await?;
        outcomes.pop().ok_or_else(|| Error::Internal("a commit without outcome".into()))
    }

    pub(crate) fn stamp(&self, edits: Vec<Edit>, cause: Cause) -> Batch {
        let now = self.seams.now();
        let stamp = |edit| StampedEdit {
            edit,
            new_memory: self.seams.memory_id(now),
            version: self.seams.version_id(now),
        };
        Batch { edits: edits.into_iter().map(stamp).collect(), cause }
    }
}

/// Where each owner has its own paths, a path by itself is the writer's own.
fn into_own_partition(edit: &mut Edit, writer: PrincipalId) {
    if let At::Path(partition @ None, _) = &mut edit.at {
        *partition = Some(writer);
    }
}
