//! Loading stores and following their feeds, so that what anybody writes is seen here within moments.
//!
//! The feed's number is read before the entries are, so nothing falls in between. A feed that cannot
//! be read is asked again, patiently, from where it was.

use crate::access::State;
use crate::node::Ino;
use crate::port::{Change, Entry, Feed, Listed, Listing, Refusal};
use crate::tree::Tree;
use crate::volume::Volume;
use foldhash::HashMap;
use futures_util::StreamExt;
use loci_model::{MemoryId, StoreId};
use std::sync::Arc;
use std::time::Duration;

/// How long to wait for something to happen.
const WAIT: Duration = Duration::from_secs(20);
/// How much longer an answer may take before it is taken for lost.
const PATIENCE: Duration = Duration::from_secs(10);
/// Whoever writes much makes one answer of many lines instead of many of one.
const BREATH: Duration = Duration::from_millis(25);
/// How long to wait before a store that was closed is asked for again.
const CLOSED: Duration = Duration::from_secs(2);
/// How long to wait before a memory that could not be asked for is asked for again.
const PAUSE: Duration = Duration::from_secs(1);
/// Entries to ask for at the same time.
const AT_ONCE: usize = 16;

/// The first page of a store, and how to go on, if there is more.
pub(crate) async fn first(
    port: &dyn crate::port::Port,
    store: StoreId,
) -> Result<(Listed, Option<Listing>), Refusal> {
    let listing = Listing { prefix: "/".into(), is_deep: true, with_text: false, page: None };
    let page = port.list(store, &listing).await?;
    let rest = page.next.clone().map(|next| Listing { page: Some(next), ..listing });
    Ok((page, rest))
}

/// Gives all entries of a store to whoever brings them into the tree; and the number to follow the
/// feed from.
pub(crate) async fn load(
    port: &dyn crate::port::Port,
    store: StoreId,
    mut hear: impl FnMut(Vec<Entry>),
) -> Result<u64, Refusal> {
    let mut listing = Listing { prefix: "/".into(), is_deep: true, with_text: false, page: None };
    let mut from = None;
    loop {
        let page = port.list(store, &listing).await?;
        from.get_or_insert(page.last_seq);
        hear(page.entries.into_iter().map(|(entry, _)| entry).collect());
        listing.page = page.next;
        if listing.page.is_none() {
            return Ok(from.unwrap_or(0));
        }
    }
}

impl Volume {
    /// Follows one store, for as long as the mount lives and shows it. Access that is lost closes it,
    /// and it goes on from the same number when access comes back: nothing falls in between.
    pub(crate) async fn follow(self: Arc<Self>, store: usize, era: u64, from: u64) {
        let (mut after, mut failures) = (from, 0u32);
        loop {
            let (believed, wait) = {
                let tree = self.tree();
                let place = &tree.places[store];
                if place.era != era {
                    return;
                }
                // Whether a closed store is open again, or one that failed answers, is to be known at once.
                let waits = place.state == State::Open && failures == 0;
                let wait = if waits { WAIT } else { Duration::ZERO };
                (place.told, wait)
            };
            let asked = self.port.changes(self.stores[store], after, believed, wait);
            let lost = Refusal::Unreachable("the feed fell silent".into());
            match tokio::time::timeout(WAIT + PATIENCE, asked).await.unwrap_or(Err(lost)) {
                Ok(Feed { access, changes }) => {
                    if failures > 0 {
                        self.retry_all(store);
                    }
                    failures = 0;
                    if self.tree().places[store].era != era {
                        return;
                    }
                    self.hear_access(store, access);
                    let Some(last) = changes.last().map(|it| it.seq) else { continue };
                    if self.hear_all(store, changes).await.is_ok() {
                        after = last;
                        tokio::time::sleep(BREATH).await;
                        continue;
                    }
                    failures += 1;
                }
                Err(Refusal::Denied | Refusal::NotFound) => {
                    self.close(store);
                    failures = 0;
                    tokio::time::sleep(CLOSED).await;
                    continue;
                }
                Err(refusal) => {
                    if failures == 0 {
                        let why = crate::errno::reason(&refusal);
                        tracing::warn!(store = %self.stores[store], why, "cannot follow the store");
                    }
                    failures += 1;
                }
            }
            let pause = Duration::from_millis(100 << failures.min(4));
            tokio::time::sleep(pause).await;
        }
    }

    async fn hear_all(self: &Arc<Self>, store: usize, changes: Vec<Change>) -> Result<(), ()> {
        // Only how a memory ended up matters.
        let mut newest: HashMap<MemoryId, Change> = HashMap::default();
        for change in changes {
            newest.insert(change.memory, change);
        }
        let mut unknown = Vec::new();
        let mut outdated = Vec::new();
        // A directory that is being renamed here moves as a whole, not file by file.
        let _gate = self.gates[store].read().await;
        {
            let mut tree = self.tree();
            for (memory, change) in newest {
                match is_news(&tree, store, &change) {
                    News::No => {}
                    News::Later(ino) => self.hear_later(store, ino, change),
                    News::Yes if change.is_removal => {
                        outdated.extend(tree.hear_gone(store, memory));
                    }
                    News::Yes => {
                        // It is there again, for whoever could not see it before.
                        tree.gone.remove(&memory);
                        unknown.push(memory);
                    }
                }
            }
        }
        self.outdate(outdated);
        let asked = unknown.into_iter().map(|memory| self.refresh(store, memory));
        let heard: Vec<_> =
            futures_util::stream::iter(asked).buffer_unordered(AT_ONCE).collect().await;
        if heard.iter().all(Result::is_ok) { Ok(()) } else { Err(()) }
    }

    /// The file is being saved: whether this was that save will be known when it has ended.
    fn hear_later(self: &Arc<Self>, store: usize, ino: Ino, change: Change) {
        let volume = Arc::clone(self);
        self.spawn(async move {
            // A file that is gone by now saves nothing any more.
            let turn = volume.tree().file(ino).map(|file| Arc::clone(&file.turn));
            if let Ok(turn) = turn {
                drop(turn.lock().await);
            }
            loop {
                let gate = volume.gates[store].read().await;
                if matches!(is_news(&volume.tree(), store, &change), News::No) {
                    break;
                }
                // It is there again, for whoever could not see it before; or it will not be found.
                volume.tree().gone.remove(&change.memory);
                if volume.refresh(store, change.memory).await.is_ok() {
                    break;
                }
                // The feed has gone on, and will not say it again.
                drop(gate);
                if volume.tree().places[store].state == State::Gone {
                    break;
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
    }
}

enum News {
    No,
    Yes,
    Later(Ino),
}

fn is_news(tree: &Tree, store: usize, change: &Change) -> News {
    let Some(ino) = tree.by_memory.get(&change.memory).copied() else {
        return match making(tree, store, change) {
            Some(ino) => News::Later(ino),
            None => News::Yes,
        };
    };
    let Ok(file) = tree.file(ino) else { return News::Yes };
    let known = file.saved.as_ref().map_or(0, |it| it.revision);
    if known >= change.revision && !change.is_removal {
        News::No
    } else if let Some(successor) = file.successor {
        News::Later(successor)
    } else if file.is_saving {
        News::Later(ino)
    } else {
        News::Yes
    }
}

/// The file here that is perhaps just becoming this memory: the feed can be faster than the answer.
fn making(tree: &Tree, store: usize, change: &Change) -> Option<Ino> {
    let ino = tree.find(store, change.path.as_ref()?.as_str())?;
    tree.file(ino).ok().filter(|file| file.is_saving && file.saved.is_none()).map(|_| ino)
}
