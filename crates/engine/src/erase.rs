//! Making content go away for good. When these return, what was scrubbed is in no file of ours.

use crate::access::expect_receipt;
use crate::{Context, Engine, Error, Result};
use loci_model::{MemoryId, StoreId, Version, VersionId};
use loci_storage::{Mutation, Receipt};

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
        if let Some(receipt) = self.recall(context).await? {
            return expect_receipt!(receipt, Receipt::Redacted(version) => *version);
        }
        let pass = self.manage_pass(context, store).await?;
        let receipt = self.write(context, Mutation::Redact(pass, version)).await?;
        expect_receipt!(receipt, Receipt::Redacted(version) => *version)
    }

    /// Removes a memory, if it is live, and scrubs every version it ever had. Answers how many.
    pub async fn erase(&self, context: &Context, store: StoreId, memory: MemoryId) -> Result<u64> {
        if let Some(receipt) = self.recall(context).await? {
            return expect_receipt!(receipt, Receipt::Erased { versions, .. } => versions);
        }
        let pass = self.manage_pass(context, store).await?;
        let version = self.seams.version_id(pass.now());
        let receipt = self.write(context, Mutation::Erase { pass, memory, version }).await?;
        expect_receipt!(receipt, Receipt::Erased { versions, .. } => versions)
    }
}
