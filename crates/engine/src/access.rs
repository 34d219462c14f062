//! Loads the facts policy decides on, and runs writes with their receipts. The only callers of
//! `model::policy`.

use crate::{Context, Engine, Error, Result};
use loci_model::policy::{self, AdminPass, Facts, ManagePass, ReadPass, SharePass};
use loci_model::{Caller, StoreId};
use loci_storage::{Mutation, Receipt};

impl Engine {
    pub(crate) async fn facts(&self, context: &Context, store: StoreId) -> Result<Facts> {
        let Caller { workspace, principal, session, .. } = context.caller;
        let facts = self.storage.facts(workspace, store, principal, session).await?;
        facts.ok_or(Error::NotFound("memory store"))
    }

    pub(crate) async fn read_pass(&self, context: &Context, store: StoreId) -> Result<ReadPass> {
        let facts = self.facts(context, store).await?;
        Ok(policy::read(&context.caller, &facts, self.seams.now())?)
    }

    /// Whether the caller may write to a store, for those who find that there is nothing to write.
    pub async fn require_write(&self, context: &Context, store: StoreId) -> Result<()> {
        let facts = self.facts(context, store).await?;
        policy::write(&context.caller, &facts, self.seams.now())?;
        Ok(())
    }

    /// Whether a store is the caller's own or the caller administers its workspace, whatever narrows
    /// the credential.
    pub async fn keeps_store(&self, context: &Context, store: StoreId) -> Result<bool> {
        let facts = self.facts(context, store).await?;
        Ok(policy::keeps(&context.caller, &facts))
    }

    pub(crate) async fn manage_pass(
        &self,
        context: &Context,
        store: StoreId,
    ) -> Result<ManagePass> {
        self.require_primary()?;
        let facts = self.facts(context, store).await?;
        Ok(policy::manage(&context.caller, &facts, self.seams.now())?)
    }

    pub(crate) async fn share_pass(&self, context: &Context, store: StoreId) -> Result<SharePass> {
        let facts = self.facts(context, store).await?;
        Ok(policy::share(&context.caller, &facts, self.seams.now())?)
    }

    /// Refuses whoever is no administrator, or comes with a credential that is narrower than one.
    pub fn require_admin(&self, context: &Context) -> Result<()> {
        self.admin_pass(context).map(drop)
    }

    pub(crate) fn admin_pass(&self, context: &Context) -> Result<AdminPass> {
        policy::administer(&context.caller, self.seams.now())
            .map_err(|_| Error::Denied("this needs an administrator's key"))
    }

    /// The receipt of an earlier request with this context's idempotency key. What writes asks this
    /// first. A receipt is durable before what it took away is gone from every file, so the receipt of
    /// a scrub is given only after that, like the first answer.
    pub(crate) async fn recall(&self, context: &Context) -> Result<Option<Receipt>> {
        self.require_primary()?;
        let Some(idempotency) = context.idempotency_at(self.seams.now()) else { return Ok(None) };
        let receipt = self.storage.recall(&idempotency).await?;
        if receipt.as_ref().is_some_and(Receipt::promises_a_scrub) {
            self.storage.settle_scrubs().await?;
        }
        Ok(receipt)
    }

    /// Applies a mutation under the context's idempotency key.
    pub(crate) async fn write(&self, context: &Context, mutation: Mutation) -> Result<Receipt> {
        let idempotency = context.idempotency_at(self.seams.now());
        let receipt = self.storage.write(mutation, idempotency).await?.receipt;
        self.search.written.notify_one();
        Ok(receipt)
    }

    /// Applies a mutation that no caller asked for.
    pub(crate) async fn write_unasked(&self, mutation: Mutation) -> Result<Receipt> {
        Ok(self.storage.write(mutation, None).await?.receipt)
    }
}

/// Takes the one kind of receipt a mutation can give. Another kind means the idempotency key came
/// from another sort of request, which the fingerprint should have told apart.
macro_rules! expect_receipt {
    ($receipt:expr, $pattern:pat => $value:expr) => {
        match $receipt {
            $pattern => Ok($value),
            other => Err($crate::Error::Internal(format!("unexpected receipt {other:?}"))),
        }
    };
}
pub(crate) use expect_receipt;
