//! What all parts of a running mount share: the port, the tree behind its lock, the cached contents,
//! and who tells the kernel what it must not believe any more.
//!
//! The lock on the tree is short and never held across a wait; what waits for the server runs on the
//! runtime, so that no thread of the kernel's requests is ever blocked by it.

use crate::ahead::Ahead;
use crate::cache::Cache;
use crate::history::{History, Line};
use crate::lanes::Lanes;
use crate::loading::TURNS;
use crate::node::Ino;
use crate::port::{Port, Refusal};
use crate::together::Queue;
use crate::tree::Tree;
use foldhash::HashMap;
use loci_model::time::Clock;
use loci_model::{MemoryId, StoreId, VersionId};
use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::runtime::Handle;
use tokio::sync::{RwLock, watch};
use tokio::task::JoinHandle;

/// How long the server may take for one answer. Below the five seconds after which an operation on a
/// dead server has to have failed.
const PATIENCE: Duration = Duration::from_secs(4);
/// How long for contents, which may have waited for a page already.
const PATIENCE_TO_READ: Duration = Duration::from_secs(3);
/// How long a server that was waited for in vain is not asked again.
const SILENCE: Duration = Duration::from_millis(500);
/// Bytes that a file may grow to before it is saved, or not.
pub(crate) const BUFFER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Something that the kernel may have cached and that is no longer so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outdated {
    /// Bytes and attributes of an inode.
    Node(Ino),
    /// The attributes only.
    Attributes(Ino),
    /// What a name in a directory leads to.
    Name(Ino, Arc<str>),
}

/// Directories that are being listed.
#[derive(Default)]
pub(crate) struct Listings {
    pub(crate) lines: HashMap<u64, Arc<Vec<Line>>>,
    pub(crate) last: u64,
}

/// The running mount.
pub(crate) struct Volume {
    pub(crate) port: Arc<dyn Port>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) runtime: Handle,
    /// The stores that were ever shown, each at the number of its place in the tree.
    pub(crate) stores: Lanes<StoreId>,
    /// A directory is renamed while nothing in its store is being saved.
    pub(crate) gates: Lanes<RwLock<()>>,
    /// Edits on their way, for each store.
    pub(crate) queues: Lanes<Queue>,
    pub(crate) ahead: Ahead,
    pub(crate) history: History,
    /// Whether content that can never be saved is no error when a file is closed.
    pub(crate) keeps_refused: bool,
    /// Where numbers and times of files are remembered, and up to which change they are.
    pub(crate) marks: Option<PathBuf>,
    pub(crate) changes_kept: AtomicU64,
    /// Whether the mount is gone and only saves what it has.
    pub(crate) is_ending: AtomicBool,
    pub(crate) listings: Mutex<Listings>,
    /// Counts stores that were loaded behind the mount.
    pub(crate) loaded: watch::Sender<u64>,
    /// Held by whoever lists a directory before its turn.
    pub(crate) listing: [tokio::sync::Mutex<()>; TURNS],
    tree: Mutex<Tree>,
    cache: Mutex<Cache>,
    silent_until: Mutex<Option<Instant>>,
    outdated: Sender<Outdated>,
}

impl Volume {
    #[expect(clippy::too_many_arguments, reason = "the parts come from one place")]
    pub(crate) fn new(
        port: Arc<dyn Port>,
        clock: Arc<dyn Clock>,
        runtime: Handle,
        tree: Tree,
        cache_bytes: usize,
        keeps_refused: bool,
        marks: Option<PathBuf>,
        history: History,
        outdated: Sender<Outdated>,
    ) -> Self {
        let stores: Vec<StoreId> = tree.places.iter().map(|place| place.seen.id).collect();
        Self {
            port,
            clock,
            runtime,
            gates: stores.iter().map(|_| RwLock::new(())).collect(),
            queues: stores.iter().map(|_| Queue::default()).collect(),
            stores: stores.into_iter().collect(),
            ahead: Ahead::default(),
            history,
            keeps_refused,
            marks,
            changes_kept: AtomicU64::new(tree.changes),
            is_ending: AtomicBool::new(false),
            listings: Mutex::default(),
            loaded: watch::Sender::new(0),
            listing: Default::default(),
            tree: Mutex::new(tree),
            cache: Mutex::new(Cache::new(cache_bytes)),
            silent_until: Mutex::new(None),
            outdated,
        }
    }

    /// The tree. Nobody waits while holding it.
    pub(crate) fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> SystemTime {
        crate::node::moment(self.clock.now())
    }

    /// Waits for an answer of the server, but not for ever.
    pub(crate) async fn ask<T>(
        &self,
        call: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Refusal> {
        self.ask_within(PATIENCE, call).await
    }

    /// The content of a version.
    pub(crate) async fn text(
        &self,
        store: usize,
        memory: MemoryId,
        version: VersionId,
    ) -> Result<String, Refusal> {
        let call = self.port.text(self.stores[store], memory, version);
        self.ask_within(PATIENCE_TO_READ, call).await
    }

    /// Whoever waited for somebody else's question to a dead server, or for the kernel's first of two,
    /// is told at once: one operation waits once.
    async fn ask_within<T>(
        &self,
        within: Duration,
        call: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Refusal> {
        let silent = || self.silent_until.lock().unwrap_or_else(PoisonError::into_inner);
        if silent().is_some_and(|until| Instant::now() < until) {
            return Err(Refusal::Unreachable("it did not answer a moment ago".into()));
        }
        let began = Instant::now();
        let late = || Err(Refusal::Unreachable(format!("nothing within {within:?}")));
        let answer = tokio::time::timeout(within, call).await.unwrap_or_else(|_| late());
        let has_waited = began.elapsed() > SILENCE;
        let is_silent = has_waited && matches!(answer, Err(Refusal::Unreachable(_)));
        *silent() = is_silent.then(|| Instant::now() + SILENCE);
        answer
    }

    /// Tells the kernel, in the background: it may be waiting for an answer of ours meanwhile.
    pub(crate) fn outdate(&self, what: impl IntoIterator<Item = Outdated>) {
        for one in what {
            // Nobody listens only when the mount has ended.
            let _ = self.outdated.send(one);
        }
    }

    /// Runs something that waits for the server.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> JoinHandle<()> {
        self.runtime.spawn(work)
    }
}
