//! Reading memories and their history.

use crate::{Context, Engine, Error, Result, damage};
use loci_model::policy;
use loci_model::query::{ListCursor, ListItem, ListQuery, StoreStats, Tally, VersionQuery};
use loci_model::store::Partitioning;
use loci_model::{At, Memory, MemoryId, Page, StoreId, Version, VersionId, View, limit};
use loci_storage::request::note_damaged;

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
                damage::newest(self.storage.as_ref(), &pass, path, view).await?
            }
            at => damage::memory(self.storage.as_ref(), &pass, at, view).await?,
        };
        found.ok_or(Error::NotFound("memory"))
    }

    /// A memory that a list has, with its content; none when it is gone since, or damaged, which is
    /// noted for the answer ([`crate::damaged`]).
    pub async fn get_listed(
        &self,
        context: &Context,
        store: StoreId,
        memory: MemoryId,
    ) -> Result<Option<Memory>> {
        match self.get(context, store, &At::Id(memory), View::Full).await {
            Err(Error::NotFound("memory")) => Ok(None),
            Err(Error::Damaged { .. }) => {
                note_damaged(store, memory);
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    /// A page of memories and folded directories. Those whose contents are asked for and damaged are
    /// left out and noted for the answer ([`crate::damaged`]).
    pub async fn list(
        &self,
        context: &Context,
        store: StoreId,
        query: &ListQuery,
    ) -> Result<Page<ListItem, ListCursor>> {
        let pass = self.read_pass(context, store).await?;
        damage::list(self.storage.as_ref(), &pass, query).await
    }

    /// The same, ending early where contents are large: bounded in bytes as well as in number.
    pub async fn list_bounded(
        &self,
        context: &Context,
        store: StoreId,
        query: &ListQuery,
    ) -> Result<Page<ListItem, ListCursor>> {
        let is_full = query.view == View::Full;
        if !is_full || query.limit <= limit::PAGE_FULL_ITEMS_MAX {
            return self.list(context, store, query).await;
        }
        let mut whole = Page { items: Vec::new(), next: query.after.clone() };
        let mut bytes = 0;
        while whole.items.len() < query.limit && bytes < limit::ENTRIES_PAGE_BYTES {
            let left = query.limit - whole.items.len();
            let step = ListQuery {
                after: whole.next.take(),
                limit: left.min(limit::PAGE_FULL_ITEMS_MAX),
                ..query.clone()
            };
            let page = self.list(context, store, &step).await?;
            for item in &page.items {
                if let ListItem::Memory(memory) = item {
                    bytes += usize::try_from(memory.size_bytes).unwrap_or(usize::MAX);
                }
            }
            whole.items.extend(page.items);
            whole.next = page.next;
            if whole.next.is_none() {
                break;
            }
        }
        Ok(whole)
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
        let found = damage::version(self.storage.as_ref(), &pass, version, view).await?;
        found.ok_or(Error::NotFound("memory version"))
    }

    /// A page of versions, newest first. Damaged ones come without content and are noted for the
    /// answer.
    pub async fn versions(
        &self,
        context: &Context,
        store: StoreId,
        query: &VersionQuery,
    ) -> Result<Page<Version, u64>> {
        let pass = self.read_pass(context, store).await?;
        damage::versions(self.storage.as_ref(), &pass, query).await
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
