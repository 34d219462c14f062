//! What a mount and a directory in sync ask of a server, over the HTTP client that commands use. So a
//! mount can do nothing a remote client could not, and is the same on a directory, a database and a URL.
//!
//! Writes carry an idempotency key: one that is sent again after its answer was lost happens once.
//! Everything is asked for a model, so what is internal or in quarantine is not there.

mod acting;
mod edits;
mod parse;
mod refusal;
mod stores;

pub(crate) use acting::Acting;
pub(crate) use refusal::refusal;
pub(crate) use stores::{Chosen, Selection, Wanted};

use stores::Unreadable;

use super::client::{Client, Patience};
use super::find::{encode, store_url};
use super::way::fresh_key;
use async_trait::async_trait;
use bytes::Bytes;
use loci_model::{Access, MemoryId, StoreId, VersionId};
use loci_mount::Port;
use loci_mount::port::{Done, Edit, Edition, Entry, Feed, Listed, Listing, Refusal, StoreSeen};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Requests under way at once; those that only wait for news do not count.
const AT_ONCE_MAX: usize = 64;
/// Entries of one page.
const PAGE: usize = 1000;
/// Changes of one answer.
const CHANGES: usize = 1000;
/// Versions of one memory that are shown: this many pages of a hundred.
const VERSION_PAGES_MAX: usize = 50;
/// How long one request is tried: whoever waits for it gives up after five seconds.
const PATIENCE: Patience =
    Patience { retry_for: Duration::from_millis(4500), outlasts_absence: true };

/// A server's stores, by HTTP.
pub(crate) struct HttpPort {
    client: Client,
    stores: Vec<StoreSeen>,
    /// How they were chosen, and what was looked at since in vain.
    selection: Selection,
    unreadable: Unreadable,
    /// Whose memories are the caller's own.
    principal: String,
    room: Semaphore,
    reason: &'static str,
}

impl HttpPort {
    /// The port to these stores. `reason` is what the feed says of everything written through it.
    pub(crate) fn new(
        client: &Client,
        selection: Selection,
        chosen: Chosen,
        reason: &'static str,
    ) -> Self {
        let Chosen { stores, principal } = chosen;
        let (client, room) = (client.with_patience(PATIENCE), Semaphore::new(AT_ONCE_MAX));
        let unreadable = Unreadable::default();
        Self { client, stores, selection, unreadable, principal, room, reason }
    }

    async fn get(&self, target: &str) -> Result<Bytes, Refusal> {
        let _place = self.room.acquire().await.expect("never closed");
        self.client.get_bytes(target).await.map_err(|refused| refusal(&refused))
    }
}

#[async_trait]
impl Port for HttpPort {
    async fn stores(&self) -> Result<Vec<StoreSeen>, Refusal> {
        Ok(self.stores.clone())
    }

    async fn newcomers(&self, known: &[StoreId]) -> Result<Vec<StoreSeen>, Refusal> {
        let found = self.selection.newcomers(&self.client, known, &self.unreadable).await;
        found.map_err(|failure| Refusal::Unreachable(failure.message))
    }

    async fn list(&self, store: StoreId, listing: &Listing) -> Result<Listed, Refusal> {
        let prefix = encode(&listing.prefix);
        let view = if listing.with_text { "full" } else { "basic" };
        let url = store_url(&store.to_string());
        let mut target = format!("{url}/entries?prefix={prefix}&view={view}&limit={PAGE}");
        if !listing.is_deep {
            target.push_str("&depth=1");
        }
        if let Some(page) = &listing.page {
            target.push_str(&format!("&page={}", encode(page)));
        }
        let page = self.get(&target).await?;
        parse::listed(&page, &self.principal)
    }

    async fn entry(&self, store: StoreId, memory: MemoryId) -> Result<Entry, Refusal> {
        let url = store_url(&store.to_string());
        let found = self.get(&format!("{url}/entries/{memory}?view=basic")).await?;
        // What was sealed since is not there any more.
        parse::entry(&found, &self.principal)?.ok_or(Refusal::NotFound)
    }

    async fn text(
        &self,
        store: StoreId,
        memory: MemoryId,
        version: VersionId,
    ) -> Result<String, Refusal> {
        let url = store_url(&store.to_string());
        // The entry is one look, and mostly it is still at that version.
        let head = self.get(&format!("{url}/entries/{memory}?view=full")).await;
        if let Some(text) = head.ok().and_then(|head| parse::text_at(&head, version)) {
            return Ok(text);
        }
        let found = self.get(&format!("{url}/memory_versions/{version}")).await?;
        parse::text(&found)?.ok_or(Refusal::NotFound)
    }

    fn fresh_key(&self) -> String {
        fresh_key(self.reason)
    }

    async fn edit(
        &self,
        store: StoreId,
        edits: Vec<Edit>,
        key: Option<&str>,
    ) -> Result<Vec<Done>, Refusal> {
        let _place = self.room.acquire().await.expect("never closed");
        let body = edits::wire(&edits, self.reason);
        let url = format!("{}/edits", store_url(&store.to_string()));
        let answer = self.client.post_bytes(&url, body, key).await;
        parse::done(&answer.map_err(|refused| refusal(&refused))?, &self.principal)
    }

    async fn changes(
        &self,
        store: StoreId,
        after: u64,
        believed: Access,
        wait: Duration,
    ) -> Result<Feed, Refusal> {
        let (url, wait) = (store_url(&store.to_string()), wait.as_secs().min(30));
        let access = match believed {
            Access::ReadOnly => "read_only",
            Access::ReadWrite => "read_write",
        };
        let page = format!("after={after}&limit={CHANGES}&wait_seconds={wait}&access={access}");
        let target = format!("{url}/changes?{page}");
        let page = self.client.get_bytes(&target).await.map_err(|refused| refusal(&refused))?;
        parse::feed(&page)
    }

    async fn versions(&self, store: StoreId, memory: MemoryId) -> Result<Vec<Edition>, Refusal> {
        let url = format!("{}/memory_versions", store_url(&store.to_string()));
        let first = format!("{url}?memory_id={memory}&limit=100");
        let (mut newest_first, mut page) = (Vec::new(), None::<String>);
        for _ in 0..VERSION_PAGES_MAX {
            let target = match &page {
                Some(page) => format!("{first}&page={}", encode(page)),
                None => first.clone(),
            };
            let found = parse::versions(&self.get(&target).await?)?;
            newest_first.extend(found.data);
            page = found.next_page;
            if page.is_none() {
                return Ok(parse::editions(&newest_first, newest_first.len() as u64));
            }
        }
        // The oldest are left out, so the newest one has to say its number.
        let head = self.entry(store, memory).await?;
        Ok(parse::editions(&newest_first, head.revision))
    }
}
