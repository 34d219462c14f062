//! What every test here starts from: an engine, a clock that stands still until told otherwise, and
//! an administrator.

use crate::embedder::WordSum;
use loci_engine::seam::Seams;
use loci_engine::search::embed::Embedder;
use loci_engine::search::{Hit, Mode, Reach, SearchAnswer, SearchOptions, SearchRequest, Wanted};
use loci_engine::{
    Context, Engine, FirstStart, IdempotencyKey, NewKey, NewPrincipal, NewStore, Secret,
};
use loci_model::time::Clock;
use loci_model::{
    ApiKey, Audience, Edit, MemoryPath, Outcome, Power, PrincipalKind, Store, StoreId, Timestamp,
    View,
};
use loci_storage::Storage;
use loci_storage_memory::MemStorage;
use loci_test_kit::{HandClock, counting_bytes};
use std::sync::Arc;

pub(crate) struct Stage {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) start: FirstStart,
    pub(crate) admin: Context,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::searching(SearchOptions::default()).await
    }

    /// With an embedder that adds up words.
    pub(crate) async fn with_vectors() -> (Self, Arc<WordSum>) {
        let embedder = Arc::new(WordSum::new("words-16", 16));
        let embedders: Vec<Arc<dyn Embedder>> = vec![embedder.clone()];
        let options = SearchOptions { embedders, ..SearchOptions::default() };
        (Self::searching(options).await, embedder)
    }

    pub(crate) async fn searching(options: SearchOptions) -> Self {
        Self::over(Arc::new(MemStorage::new()), options).await
    }

    /// Over a storage that the test has a hand on.
    pub(crate) async fn over(storage: Arc<dyn Storage>, options: SearchOptions) -> Self {
        let clock = Arc::new(HandClock::new(Timestamp::from_micros(1_800_000_000_000_000)));
        let seams = Seams::new(clock.clone(), Arc::new(counting_bytes(1)));
        let engine = Engine::new(storage, seams).with_search(options);
        let start = engine.bootstrap(None).await.unwrap();
        let caller = engine.local_operator(&start);
        let request = engine.seams().request_id(clock.now());
        let admin = Context { caller, request, idempotency: None };
        Self { engine, clock, start, admin }
    }

    pub(crate) fn pass_secs(&self, secs: i64) {
        self.clock.advance_secs(secs);
    }

    pub(crate) async fn store(&self, name: &str) -> Store {
        let new = NewStore { name: name.into(), ..NewStore::default() };
        self.engine.create_store(&self.admin, new).await.unwrap()
    }

    pub(crate) async fn put(&self, store: StoreId, path: &str, text: &str) -> Outcome {
        let edit = Edit::put_text(MemoryPath::parse(path).unwrap(), text);
        self.engine.commit_one(&self.admin, store, edit, "api").await.unwrap()
    }

    /// Makes every vector that is missing.
    pub(crate) async fn follow(&self) {
        while self.engine.follow_once().await.unwrap() {}
    }

    /// What the administrator finds.
    pub(crate) async fn search(&self, request: &SearchRequest) -> SearchAnswer {
        self.engine.search(&self.admin, request).await.unwrap()
    }

    /// Paths of what the administrator finds that holds a word of the query, best first.
    pub(crate) async fn paths(&self, store: StoreId, text: &str) -> Vec<String> {
        let wanted = Wanted { mode: Mode::Lexical, ..Wanted::new(text, 100) };
        paths_by_word(&self.search(&asking(store, wanted)).await)
    }

    /// A principal with a key of its own.
    pub(crate) async fn somebody(&self, name: &str) -> Context {
        let new = NewPrincipal { kind: PrincipalKind::Agent, name: name.into(), is_admin: false };
        let principal = self.engine.create_principal(&self.admin, new).await.unwrap();
        let key = NewKey { principal: Some(principal.id), ..full_key(name) };
        self.enter(&self.key(key).await.1).await
    }

    pub(crate) async fn key(&self, new: NewKey) -> (ApiKey, Secret) {
        let (key, secret) = self.engine.create_key(&self.admin, new).await.unwrap();
        (key, secret.expect("a first request shows the secret"))
    }

    pub(crate) async fn enter(&self, secret: &Secret) -> Context {
        let caller = self.engine.authenticate(secret.reveal()).await.unwrap();
        Context { caller, ..self.admin.clone() }
    }
}

/// A search of one store.
pub(crate) fn asking(store: StoreId, wanted: Wanted) -> SearchRequest {
    SearchRequest {
        reach: Reach::Store(store),
        wanted,
        view: View::Full,
        explain: true,
        content_bytes_max: usize::MAX,
        snippet_chars: 100,
        as_of: None,
        wait: None,
    }
}

pub(crate) fn paths(answer: &SearchAnswer) -> Vec<String> {
    answer.hits.iter().map(|hit| hit.memory.path.as_str().to_owned()).collect()
}

/// Paths of what holds a word of the query itself; what only has it from its neighbours is left out.
pub(crate) fn paths_by_word(answer: &SearchAnswer) -> Vec<String> {
    let has_words = |hit: &&Hit| hit.explanation.as_ref().is_some_and(|why| !why.words.is_empty());
    let own = answer.hits.iter().filter(has_words);
    own.map(|hit| hit.memory.path.as_str().to_owned()).collect()
}

pub(crate) fn full_key(name: &str) -> NewKey {
    NewKey {
        name: name.into(),
        principal: None,
        power: Power::Full,
        stores: None,
        session: None,
        audience: Audience::Host,
        acts_for_agents: false,
        expires_at: None,
    }
}

pub(crate) fn idempotent(context: &Context, key: &str, fingerprint: u8) -> Context {
    let given = IdempotencyKey { key: key.into(), fingerprint: [fingerprint; 32] };
    Context { idempotency: Some(given), ..context.clone() }
}
