//! The change feed of a store.

use crate::{Context, Engine, Result};
use loci_model::{Change, StoreId, limit};

/// A page of the feed.
#[derive(Debug, Clone)]
pub struct ChangePage {
    /// The entries, oldest first.
    pub changes: Vec<Change>,
    /// The number to go on after; the one asked for when the page is empty.
    pub last_seq: u64,
    /// Whether more can be had at once.
    pub has_more: bool,
}

impl Engine {
    /// What happened in a store after `after`.
    pub async fn changes(
        &self,
        context: &Context,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<ChangePage> {
        let limit = limit.clamp(1, limit::CHANGES_PAGE_MAX);
        let pass = self.read_pass(context, store).await?;
        let mut changes = self.storage.changes(&pass, after, limit + 1).await?;
        let has_more = changes.len() > limit;
        changes.truncate(limit);
        let last_seq = changes.last().map_or(after, |change| change.seq);
        Ok(ChangePage { changes, last_seq, has_more })
    }
}
