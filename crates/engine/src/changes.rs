//! The change feed of a store, and waiting for it to go on.
//!
//! Whoever waits is told of writes here at once and of other servers' as soon as they say so, but
//! looks for itself now and then as well: what is said is a hint and may be lost.

use crate::{Context, Engine, Result};
use loci_model::policy;
use loci_model::{Access, Change, StoreId, limit};
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
    /// Whether the caller may write to the store now: policy allows it, the store is not archived,
    /// and this server is no replica.
    pub access: Access,
}

/// How a caller waits for a feed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waiting {
    /// How long, when nothing has happened yet.
    pub at_most: Duration,
    /// The access that the caller believes to have: the answer comes at once when it is another.
    pub believed: Option<Access>,
    /// The hash of the credential, where the engine can look it up again.
    pub shown: Option<[u8; 32]>,
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
        let (facts, now) = (self.facts(context, store).await?, self.seams.now());
        let pass = policy::read(&context.caller, &facts, now)?;
        let is_open = facts.store.archived_at.is_none() && !self.storage.is_replica();
        let may_write = is_open && policy::write(&context.caller, &facts, now).is_ok();
        let access = if may_write { Access::ReadWrite } else { Access::ReadOnly };
        let mut changes = self.storage.changes(&pass, after, limit + 1).await?;
        let has_more = changes.len() > limit;
        changes.truncate(limit);
        let last_seq = changes.last().map_or(after, |change| change.seq);
        Ok(ChangePage { changes, last_seq, has_more, access })
    }

    /// The same, waiting for something to happen when nothing has yet. Access is decided and the
    /// credential is checked again at every look, so a caller that loses either learns nothing more
    /// and hears of it within moments.
    pub async fn changes_within(
        &self,
        mut context: Context,
        store: StoreId,
        after: u64,
        limit: usize,
        waiting: Waiting,
    ) -> Result<ChangePage> {
        let end = Instant::now() + waiting.at_most;
        let mut news = self.search.news.subscribe();
        loop {
            let is_over = news.borrow_and_update().is_over;
            let page = self.changes(&context, store, after, limit).await?;
            let is_other = waiting.believed.is_some_and(|believed| believed != page.access);
            if !page.changes.is_empty() || is_other || is_over || Instant::now() >= end {
                return Ok(page);
            }
            let next_look = end.min(Instant::now() + LOOK_EVERY);
            // An engine that is gone says nothing more; then it is looked at as often as otherwise.
            if let Ok(Ok(())) = tokio::time::timeout_at(next_look, news.changed()).await {
                tokio::time::sleep(BREATH).await;
            }
            context.caller = self.caller_again(&context.caller, waiting.shown.as_ref()).await?;
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
