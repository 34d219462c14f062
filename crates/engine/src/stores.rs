//! Stores: made, described, listed, archived, removed.

use crate::access::expect_receipt;
use crate::{Context, Engine, Error, Result};
use loci_model::event::kind;
use loci_model::policy::{self, System};
use loci_model::query::StoreQuery;
use loci_model::store::PolicyPatch;
use loci_model::{Page, Store, StoreId, StorePatch, StorePolicy, Timestamp, WorkspaceId};
use loci_storage::{Mutation, Receipt};
use std::collections::BTreeMap;

/// Memories deleted by one mutation while a store is purged: small enough that other writers hardly
/// notice, large enough that a big store goes quickly.
const PURGE_STEP: usize = 500;

/// A store to be made.
#[derive(Debug, Clone, Default)]
pub struct NewStore {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its labels.
    pub metadata: BTreeMap<String, String>,
    /// Its switches.
    pub policy: StorePolicy,
}

impl Engine {
    /// Makes a store owned by the caller.
    pub async fn create_store(&self, context: &Context, new: NewStore) -> Result<Store> {
        policy::create(&context.caller)
            .map_err(|_| Error::Denied("this key cannot make stores"))?;
        let now = self.seams.now();
        let store = Store {
            id: self.seams.store_id(now),
            workspace: context.caller.workspace,
            owner: context.caller.principal,
            address: None,
            name: new.name,
            description: new.description,
            metadata: new.metadata,
            policy: new.policy,
            created_at: now,
            updated_at: now,
            archived_at: None,
        };
        store.validate()?;
        let receipt = self.write(context, Mutation::CreateStore(store)).await?;
        expect_receipt!(receipt, Receipt::Store(store) => store)
    }

    /// One store.
    pub async fn store(&self, context: &Context, store: StoreId) -> Result<Store> {
        let facts = self.facts(context, store).await?;
        policy::read(&context.caller, &facts, self.seams.now())?;
        Ok(facts.store)
    }

    /// A page of the stores the caller can read.
    pub async fn list_stores(
        &self,
        context: &Context,
        query: &StoreQuery,
    ) -> Result<Page<Store, (Timestamp, StoreId)>> {
        let pass = policy::browse(&context.caller, self.seams.now());
        Ok(self.storage.list_stores(&pass, query).await?)
    }

    /// Changes name, description or labels.
    pub async fn describe_store(
        &self,
        context: &Context,
        store: StoreId,
        patch: StorePatch,
    ) -> Result<Store> {
        if let Some(receipt) = self.recall(context).await? {
            return expect_receipt!(receipt, Receipt::Store(store) => store);
        }
        let pass = self.manage_pass(context, store).await?;
        let receipt = self.write(context, Mutation::DescribeStore(pass, patch)).await?;
        expect_receipt!(receipt, Receipt::Store(store) => store)
    }

    /// Changes those switches of a store that can be changed.
    pub async fn set_policy(
        &self,
        context: &Context,
        store: StoreId,
        patch: PolicyPatch,
    ) -> Result<Store> {
        if let Some(receipt) = self.recall(context).await? {
            return expect_receipt!(receipt, Receipt::Store(store) => store);
        }
        let pass = self.manage_pass(context, store).await?;
        let receipt = self.write(context, Mutation::SetPolicy(pass, patch)).await?;
        expect_receipt!(receipt, Receipt::Store(store) => store)
    }

    /// Archives a store: it can be read and cleaned up, never written again.
    pub async fn archive_store(&self, context: &Context, store: StoreId) -> Result<Store> {
        let pass = self.manage_pass(context, store).await?;
        let told = self.happening(context, kind::STORE_ARCHIVED).in_store(store);
        let receipt = self.audited(context, Mutation::ArchiveStore(pass), told).await?;
        expect_receipt!(receipt, Receipt::Store(store) => store)
    }

    /// Removes a store with everything in it; when this returns, its content is gone from every
    /// file. The store is out of sight at once; the rest goes in steps so that writers of other
    /// stores do not wait. Of a store that is gone the answer is the same after that, too: an
    /// earlier request may have been cut off before its content was gone.
    pub async fn remove_store(&self, context: &Context, store: StoreId) -> Result<StoreId> {
        if self.recall(context).await?.is_none() {
            let pass = match self.manage_pass(context, store).await {
                Err(Error::NotFound(what)) => {
                    self.purge_what_is_left(context.caller.workspace, store).await?;
                    return Err(Error::NotFound(what));
                }
                pass => pass?,
            };
            let told = self.happening(context, kind::STORE_REMOVED).in_store(store);
            self.audited(context, Mutation::RemoveStore(pass), told).await?;
        }
        self.purge_store(context.caller.workspace, store).await?;
        Ok(store)
    }

    /// Purges a store that an earlier request removed. Of one that never was there is nothing to purge
    /// and no scrub to wait for, so whoever makes up ids costs a look and no write.
    async fn purge_what_is_left(&self, workspace: WorkspaceId, store: StoreId) -> Result<()> {
        match self.storage.is_unpurged(workspace, store).await? {
            true => self.purge_store(workspace, store).await,
            false => Ok(()),
        }
    }

    pub(crate) async fn purge_store(&self, workspace: WorkspaceId, store: StoreId) -> Result<()> {
        let system = System::because("the store was removed");
        let pass = system.manage(workspace, store, self.seams.now());
        loop {
            let purge = Mutation::PurgeStore { pass: pass.clone(), limit: PURGE_STEP };
            match self.write_unasked(purge).await {
                Ok(Receipt::Purged { is_done: false }) => {}
                Ok(_) => return Ok(()),
                // Others have purged it, and may not have been answered yet.
                Err(Error::NotFound(_)) => return Ok(self.storage.settle_scrubs().await?),
                Err(error) => return Err(error),
            }
        }
    }
}
