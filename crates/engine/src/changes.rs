//! The change feed of a store, and waiting for it to go on.
//!
//! Whoever waits is told of writes here at once and of other servers' as soon as they say so, but
//! looks for itself now and then as well: what is said is a hint and may be lost.

use crate::{Context, Engine, Result};
use loci_model::{Change, StoreId, limit};
use std::time::Duration;
use tokio::time::Instant;

/// Between two looks when nobody says anything.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Writes within this time are one piece of news, so that those who wait do not cost writers much.
const BREATH: Duration = Duration::from_millis(5);

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

    /// The same, waiting for something to happen when nothing has yet. Access is decided at every
    /// look, so whoever loses it meanwhile learns nothing more.
    pub async fn changes_within(
        &self,
        context: &Context,
        store: StoreId,
        after: u64,
        limit: usize,
        wait: Duration,
    ) -> Result<ChangePage> {
        let end = Instant::now() + wait;
        let mut news = self.search.news.subscribe();
        loop {
            let is_over = news.borrow_and_update().is_over;
            let page = self.changes(context, store, after, limit).await?;
            if !page.changes.is_empty() || is_over || Instant::now() >= end {
                return Ok(page);
            }
            let next_look = end.min(Instant::now() + LOOK_EVERY);
            // An engine that is gone says nothing more; then it is looked at as often as otherwise.
            if let Ok(Ok(())) = tokio::time::timeout_at(next_look, news.changed()).await {
                tokio::time::sleep(BREATH).await;
            }
        }
    }

    /// How many are listening for news of writes: whoever waits for a feed and every open stream.
    pub fn listeners(&self) -> usize {
        self.search.news.receiver_count()
    }

    /// Lets nobody wait for news any longer, because this server stops.
    pub fn end_waiting(&self) {
        self.search.news.send_modify(|news| news.is_over = true);
    }

    /// Passes on what other servers say they wrote, until the task is dropped.
    pub async fn listen_to_others(&self) {
        loop {
            self.storage.others_wrote().await;
            self.search.heard();
        }
    }
}
