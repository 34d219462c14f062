//! Everything that is known of one store, page by page.

use super::{Entity, Fact, Filter};
use crate::search::Reach;
use crate::{Context, Engine, Error, Result};
use loci_knowledge::graph::FactId;
use loci_model::policy;
use loci_model::{Invalid, MemoryId, StoreId, limit};

/// Which facts or entities, and where the page starts.
#[derive(Debug, Clone, Default)]
pub struct FactsQuery {
    /// Which.
    pub filter: Filter,
    /// Only those about this entity, by name.
    pub about: Option<String>,
    /// Only what this memory says.
    pub memory: Option<MemoryId>,
    /// How many were shown before.
    pub after: usize,
    /// How many to show.
    pub limit: usize,
}

/// One page.
#[derive(Debug, Clone)]
pub struct FactsPage<T> {
    /// What it shows.
    pub items: Vec<T>,
    /// How many there are in all.
    pub total: usize,
}

impl Engine {
    /// The facts of a store, the newest first.
    pub async fn known_facts(
        &self,
        context: &Context,
        store: StoreId,
        query: FactsQuery,
    ) -> Result<FactsPage<Fact>> {
        self.look(context, store, query, |graph, query| {
            let about = query.about.as_deref();
            if let Some(memory) = query.memory {
                let (mut all, _) = graph.list(&query.filter, about, 0, usize::MAX);
                all.retain(|fact| fact.sources.contains(&memory));
                let total = all.len();
                let items = all.into_iter().skip(query.after).take(query.limit).collect();
                return FactsPage { items, total };
            }
            let (items, total) = graph.list(&query.filter, about, query.after, query.limit);
            FactsPage { items, total }
        })
        .await
    }

    /// The entities of a store by name.
    pub async fn known_entities(
        &self,
        context: &Context,
        store: StoreId,
        query: FactsQuery,
    ) -> Result<FactsPage<Entity>> {
        self.look(context, store, query, |graph, query| {
            let (items, total) = graph.list_entities(&query.filter, query.after, query.limit);
            FactsPage { items, total }
        })
        .await
    }

    /// One fact of a store.
    pub async fn known_fact(&self, context: &Context, store: StoreId, id: FactId) -> Result<Fact> {
        let query = FactsQuery { limit: 1, ..FactsQuery::default() };
        let found = self.look(context, store, query, move |graph, _| graph.fact(id)).await?;
        found.ok_or(Error::NotFound("fact"))
    }

    async fn look<T: Send + 'static>(
        &self,
        context: &Context,
        store: StoreId,
        query: FactsQuery,
        look: impl FnOnce(&loci_knowledge::graph::Graph, &FactsQuery) -> T + Send + 'static,
    ) -> Result<T> {
        if query.limit == 0 || query.limit > limit::PAGE_ITEMS_MAX {
            let why = format!("takes 1 to {}", limit::PAGE_ITEMS_MAX);
            return Err(Invalid::new("limit", why).into());
        }
        // Whoever lists must be allowed to read, not only to search.
        let facts = self.facts(context, store).await?;
        policy::read(&context.caller, &facts, self.seams.now())?;
        let reached = self.reach(context, &Reach::Store(store)).await?;
        let mut graphs = self.graphs_of(&reached.pass).await?;
        let (_, held) = graphs.pop().ok_or(Error::NotFound("memory store"))?;
        self.compute(async move { Ok(look(&held.it.graph, &query)) }).await
    }
}
