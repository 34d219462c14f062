//! What searching keeps between requests: the indexes, the embedders, and the two signals between
//! writers, the background work that follows them, and those who wait for it.

use super::asked::AskedLately;
use super::cache::Indexes;
use crate::Result;
use crate::knowledge::{Graphs, Senses, ToldLately};
use loci_model::Timestamp;
use loci_search::embed::Embedder;
use loci_storage::{Generation, Storage};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio::sync::{Notify, Semaphore, watch};

/// What those who wait for news of feeds are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// How often something was written, here or by another server.
    pub(crate) count: u64,
    /// Nobody shall wait any longer: this server stops.
    pub(crate) is_over: bool,
}

/// How long a model that failed is not asked again.
const REST_MICROS: i64 = 2_000_000;

/// Searches of the past that run at the same time.
const PASTS_AT_ONCE: usize = 1;

/// Large answers that are written down at the same time.
const WRITTEN_AT_ONCE: usize = 2;

/// How search is set up.
#[derive(Clone)]
pub struct SearchOptions {
    /// Who embeds. The first makes the vectors; the others are there for queries against vectors
    /// made earlier, until those are replaced. None: search is by word only.
    pub embedders: Vec<Arc<dyn Embedder>>,
    /// Bytes that indexes may take in memory; what is known of stores may take a fourth of it more.
    pub index_bytes_max: usize,
    /// Bytes that a search of the past may hold beside them.
    pub past_bytes_max: usize,
    /// Stores with more memories than this are searched where they lie, if storage can do that.
    pub index_memories_max: u64,
    /// Searches that compute at the same time.
    pub searches_at_once: usize,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            embedders: Vec::new(),
            index_bytes_max: 2 << 30,
            past_bytes_max: 512 << 20,
            index_memories_max: 100_000,
            searches_at_once: 4,
        }
    }
}

/// The state of search, shared by every clone of the engine.
pub(crate) struct SearchState {
    pub(crate) indexes: Indexes,
    /// What is known of stores.
    pub(crate) graphs: Arc<Graphs>,
    /// What the sorts of facts mean.
    pub(crate) senses: Senses,
    /// Contexts that were compiled lately.
    pub(crate) told: ToldLately,
    /// Questions that were embedded lately.
    pub(crate) asked: AskedLately,
    pub(crate) index_memories_max: u64,
    pub(crate) embedders: Vec<Arc<dyn Embedder>>,
    /// The turn of a search of the past.
    pub(crate) pasts: Arc<Semaphore>,
    /// Bytes that such a search may hold.
    pub(crate) past_bytes_max: usize,
    /// Turns for what computes for long.
    pub(crate) computing: Arc<Semaphore>,
    /// Turns for writing down answers that are large.
    pub(crate) writing: Arc<Semaphore>,
    /// Somebody wrote, for whoever makes vectors.
    pub(crate) written: Notify,
    /// The same for everybody who waits for it.
    pub(crate) news: watch::Sender<News>,
    writes: AtomicU64,
    /// Vectors were written; counts how often.
    pub(crate) embedded: watch::Sender<u64>,
    generations: RwLock<Arc<Vec<Generation>>>,
    /// Until when models that failed a query are left alone.
    resting: Mutex<HashMap<String, Timestamp>>,
}

impl SearchState {
    pub(crate) fn new(options: SearchOptions) -> Self {
        Self {
            indexes: Indexes::new(options.index_bytes_max),
            graphs: Arc::new(Graphs::new(options.index_bytes_max / 4)),
            senses: Senses::default(),
            told: ToldLately::default(),
            asked: AskedLately::default(),
            index_memories_max: options.index_memories_max,
            embedders: options.embedders,
            pasts: Arc::new(Semaphore::new(PASTS_AT_ONCE)),
            past_bytes_max: options.past_bytes_max,
            computing: Arc::new(Semaphore::new(options.searches_at_once.max(1))),
            writing: Arc::new(Semaphore::new(WRITTEN_AT_ONCE)),
            written: Notify::new(),
            news: watch::Sender::default(),
            writes: AtomicU64::new(0),
            embedded: watch::Sender::new(0),
            generations: RwLock::default(),
            resting: Mutex::default(),
        }
    }

    /// Whether a model failed a moment ago. Each query would wait for it in vain otherwise.
    pub(crate) fn is_resting(&self, model: &str, now: Timestamp) -> bool {
        let resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        resting.get(model).is_some_and(|until| now < *until)
    }

    /// A model answered.
    pub(crate) fn is_well(&self, model: &str) {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner).remove(model);
    }

    /// A model failed a query.
    pub(crate) fn rest(&self, model: &str, now: Timestamp) {
        let until = Timestamp::from_micros(now.as_micros() + REST_MICROS);
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        resting.insert(model.to_owned(), until);
    }

    /// Tells whoever follows that there is something new.
    pub(crate) fn wrote(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.heard();
    }

    /// The same for what another server wrote.
    pub(crate) fn heard(&self) {
        self.written.notify_one();
        self.news.send_modify(|news| news.count += 1);
    }

    /// How often that happened.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// The embedder that makes vectors.
    pub(crate) fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.embedders.first()
    }

    /// The embedder of a model.
    pub(crate) fn embedder_of(&self, model: &str) -> Option<&Arc<dyn Embedder>> {
        self.embedders.iter().find(|embedder| embedder.model() == model)
    }

    /// Generations whose queries can be embedded, as of the last look at storage.
    pub(crate) fn usable(&self) -> Arc<Vec<Generation>> {
        Arc::clone(&self.generations.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks again which generations there are.
    pub(crate) async fn look(&self, storage: &dyn Storage) -> Result<Arc<Vec<Generation>>> {
        let is_usable = |generation: &Generation| {
            self.embedder_of(&generation.model)
                .is_some_and(|embedder| embedder.dims() == generation.dims as usize)
        };
        let found = storage.generations().await?.into_iter().filter(is_usable).collect();
        let found = Arc::new(found);
        *self.generations.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&found);
        Ok(found)
    }
}
