//! Reading memories and their history.

use crate::{Context, Engine, Error, Result};
use loci_model::policy;
use loci_model::query::{ListCursor, ListItem, ListQuery, StoreStats, Tally, VersionQuery};
use loci_model::store::Partitioning;
use loci_model::{At, Memory, Page, StoreId, Version, VersionId, View};

impl Engine {
    /// One memory. Where each owner has its own paths, a path by itself is what changed there last,
    /// whoever wrote it.
    pub async fn get(
        &self,
        context: &Context,
        store: StoreId,
        at: &At,
        view: View,
    ) -> Result<Memory> {
        let facts = self.facts(context, store).await?;
        let pass = policy::read(&context.caller, &facts, self.seams.now())?;
        let found = match at {
            At::Path(None, path) if facts.store.policy.partitioning == Partitioning::ByOwner => {
                self.storage.newest(&pass, path, view).await?
            }
            at => self.storage.get(&pass, at, view).await?,
        };
        found.ok_or(Error::NotFound("memory"))
    }

    /// A page of memories and folded directories.
    pub async fn list(
        &self,
        context: &Context,
        store: StoreId,
        query: &ListQuery,
    ) -> Result<Page<ListItem, ListCursor>> {
        let pass = self.read_pass(context, store).await?;
        Ok(self.storage.list(&pass, query).await?)
    }

    /// One version.
    pub async fn version(
        &self,
        context: &Context,
        store: StoreId,
        version: VersionId,
        view: View,
    ) -> Result<Version> {
        let pass = self.read_pass(context, store).await?;
        self.storage.version(&pass, version, view).await?.ok_or(Error::NotFound("memory version"))
    }

    /// A page of versions, newest first.
    pub async fn versions(
        &self,
        context: &Context,
        store: StoreId,
        query: &VersionQuery,
    ) -> Result<Page<Version, u64>> {
        let pass = self.read_pass(context, store).await?;
        Ok(self.storage.versions(&pass, query).await?)
    }

    /// How many memories of which kinds a store holds, of each path what changed last; those at
    /// paths that begin with `besides` are left out.
    pub async fn tally(
        &self,
        context: &Context,
        store: StoreId,
        besides: Option<&str>,
    ) -> Result<Tally> {
        let pass = self.read_pass(context, store).await?;
        Ok(self.storage.tally(&pass, besides).await?)
    }

    /// Numbers about a store.
    pub async fn stats(&self, context: &Context, store: StoreId) -> Result<StoreStats> {
        let pass = self.read_pass(context, store).await?;
        Ok(self.storage.stats(&pass).await?)
    }
}
