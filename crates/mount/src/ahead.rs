//! Reading ahead: whoever lists a directory and opens a file in it will open the next ones too
//! (`grep -r`, `tar`, `rsync`), and so will whoever has opened several. Contents then come by the
//! page instead of one by one.

use crate::node::Ino;
use crate::port::Listing;
use crate::volume::Volume;
use foldhash::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long a listing counts as the beginning of a walk.
const FRESH: Duration = Duration::from_secs(30);
/// How long a read waits for a page before it asks by itself.
const WAIT: Duration = Duration::from_secs(1);
/// Files in a directory from which reading ahead pays.
const FILES_MIN: usize = 4;
/// Contents of one directory, asked for one by one, from which it pays.
const MISSES_MIN: u32 = 8;
/// Bytes to bring in one go.
const BYTES_MAX: usize = 32 * 1024 * 1024;
/// Directories to remember.
const DIRECTORIES_MAX: usize = 1024;

/// How far a page has come: the last path of it, or none when all is done.
type Progress = watch::Receiver<Option<String>>;

#[derive(Default)]
struct Walk {
    listed: Option<Instant>,
    /// Contents that were asked for one by one since the last walk.
    misses: u32,
    running: Option<Progress>,
}

/// Walks that are going on.
#[derive(Default)]
pub(crate) struct Ahead(Mutex<HashMap<Ino, Walk>>);

impl Ahead {
    /// Somebody lists this directory.
    pub(crate) fn listed(&self, directory: Ino) {
        let mut walks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if walks.len() >= DIRECTORIES_MAX {
            walks.retain(|_, walk| walk.running.is_some());
        }
        walks.entry(directory).or_default().listed = Some(Instant::now());
    }

    /// The walk that a read of a file in this directory belongs to, and whether it is to be begun.
    fn join(&self, directory: Ino) -> Option<(Progress, Option<watch::Sender<Option<String>>>)> {
        let mut walks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if walks.len() >= DIRECTORIES_MAX {
            walks.retain(|_, walk| walk.running.is_some());
        }
        let walk = walks.entry(directory).or_default();
        if let Some(progress) = &walk.running {
            return Some((progress.clone(), None));
        }
        // One listing begins one walk, and so do a few reads without one.
        let is_listed = walk.listed.take().is_some_and(|at| at.elapsed() < FRESH);
        walk.misses += 1;
        if !is_listed && walk.misses < MISSES_MIN {
            return None;
        }
        walk.misses = 0;
        let (sender, progress) = watch::channel(Some(String::new()));
        walk.running = Some(progress.clone());
        Some((progress, Some(sender)))
    }

    fn finish(&self, directory: Ino) {
        let mut walks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(walk) = walks.get_mut(&directory) {
            walk.running = None;
        }
    }
}

impl Volume {
    /// Waits for the page that brings this file's content, if one is on its way or worth it.
    pub(crate) async fn read_ahead(self: &Arc<Self>, ino: Ino) {
        let (directory, store, prefix, path) = {
            let tree = self.tree();
            let Ok(node) = tree.get(ino) else { return };
            let directory = node.parent;
            let files =
                tree.get(directory).and_then(|it| it.directory().map(|it| it.children.len()));
            if files.unwrap_or(0) < FILES_MIN {
                return;
            }
            (directory, node.store, tree.path(directory) + "/", tree.path(ino))
        };
        let Some((mut progress, sender)) = self.ahead.join(directory) else { return };
        if let Some(sender) = sender {
            let volume = Arc::clone(self);
            self.spawn(async move {
                volume.bring(store, prefix, &sender).await;
                volume.ahead.finish(directory);
            });
        }
        let come = progress
            .wait_for(|come| come.as_ref().is_none_or(|come| come.as_str() >= path.as_str()));
        // Come or not, whoever waits looks whether it is there now.
        let _ = tokio::time::timeout(WAIT, come).await;
    }

    async fn bring(&self, store: usize, prefix: String, come: &watch::Sender<Option<String>>) {
        let mut listing = Listing { prefix, is_deep: false, with_text: true, page: None };
        let mut bytes = 0;
        loop {
            let Ok(page) = self.ask(self.port.list(self.stores[store], &listing)).await else {
                break;
            };
            let last = page.entries.last().map(|(entry, _)| entry.path.as_str().to_owned());
            {
                let mut cache = self.cache();
                for (entry, text) in page.entries {
                    if let Some(text) = text {
                        bytes += text.len();
                        cache.put(entry.version, Arc::new(text.into_bytes()));
                    }
                }
            }
            listing.page = page.next;
            if listing.page.is_none() || bytes > BYTES_MAX {
                break;
            }
            come.send_if_modified(|come| {
                let is_further = last.is_some();
                *come = last.or_else(|| come.take());
                is_further
            });
        }
        come.send_replace(None);
    }
}
