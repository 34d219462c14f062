//! The doors' routers over the in-memory engine, and those who ask. The clock goes on by a second
//! with each request.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt;
use loci_engine::seam::Seams;
use loci_engine::search::SearchOptions;
use loci_engine::search::embed::{EmbedError, Embedder, Purpose};
use loci_engine::{Appended, Context, Engine, FirstStart, Identified, NewPrincipal};
use loci_model::{Audience, Caller, KeyScope, Principal, PrincipalKind, RequestId, StoreId};
use loci_storage_memory::MemStorage;
use loci_test_kit::{HandClock, counting_bytes};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tower::ServiceExt;

pub(crate) const A: &str = "/v1/projects/default/agents";
pub(crate) const B: &str = "/v1/agents";

pub(crate) struct World {
    pub(crate) engine: Engine,
    router: Router,
    clock: Arc<HandClock>,
    start: FirstStart,
    pub(crate) letters: Arc<Letters>,
}

/// Counts letters; fails when told to.
pub(crate) struct Letters {
    pub(crate) fails: AtomicBool,
}

impl Embedder for Letters {
    fn model(&self) -> &str {
        "letters"
    }

    fn dims(&self) -> usize {
        26
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(EmbedError::Unavailable("told to fail".into()));
        }
        Ok(texts.iter().map(|text| vector(text)).collect())
    }

    fn tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut counts = [0.01_f32; 26];
    for byte in text.to_lowercase().bytes().filter(u8::is_ascii_lowercase) {
        counts[usize::from(byte - b'a')] += 1.0;
    }
    let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
    counts.iter().map(|count| count / length).collect()
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Reply {
    pub(crate) fn ok(self) -> Value {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.body);
        self.body
    }

    /// Refused with this status and code, in the envelope that clients read.
    pub(crate) fn refused(self, status: u16, code: &str) -> Self {
        assert_eq!(
            (self.status, &self.body["error"]["code"]),
            (status, &json!(code)),
            "{:?}",
            self.body
        );
        let error = self.body["error"].as_object().unwrap();
        assert!(error["message"].is_string() && error.len() == 2, "{error:?}");
        self
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with_embedder(true).await
    }

    pub(crate) async fn with_embedder(has_one: bool) -> Self {
        let clock = Arc::new(HandClock::at("2026-03-01T00:00:00Z"));
        let letters = Arc::new(Letters { fails: AtomicBool::new(false) });
        let embedders: Vec<Arc<dyn Embedder>> =
            if has_one { vec![letters.clone()] } else { vec![] };
        let seams = Seams::new(clock.clone(), Arc::new(counting_bytes(1)));
        let engine = Engine::new(Arc::new(MemStorage::new()), seams)
            .with_search(SearchOptions { embedders, ..SearchOptions::default() });
        let start = engine.bootstrap(None).await.unwrap();
        let router = loci_dialects::mobius::router(engine.clone())
            .merge(loci_dialects::robutler::router(engine.clone()))
            .merge(loci_dialects::anthropic::router(engine.clone()));
        Self { engine, router, clock, start, letters }
    }

    pub(crate) fn pass_secs(&self, secs: i64) {
        self.clock.advance_secs(secs);
    }

    /// Whoever may act for agents.
    pub(crate) fn admin(&self) -> Caller {
        self.engine.local_operator(&self.start)
    }

    /// An agent by a key of its host.
    pub(crate) async fn agent(&self, name: &str) -> Caller {
        self.engine.authenticate_agent(name, Audience::Host, None).await.unwrap()
    }

    /// A platform: no administrator, but one that acts for agents.
    pub(crate) async fn platform(&self) -> Caller {
        let service = self.principal(PrincipalKind::Service, "platform").await;
        let caller = self.agent("any").await;
        Caller { principal: service.id, acts_for_agents: true, scope: KeyScope::FULL, ..caller }
    }

    pub(crate) async fn principal(&self, kind: PrincipalKind, name: &str) -> Principal {
        let context = context(self.admin());
        if let Some(found) = self.engine.named(&context, name).await.unwrap() {
            return found;
        }
        let new = NewPrincipal { kind, name: name.into(), is_admin: false };
        self.engine.create_principal(&context, new).await.unwrap()
    }

    /// The home of an agent, which must be there.
    pub(crate) async fn home(&self, name: &str) -> StoreId {
        let caller = self.agent(name).await;
        let context = context(caller);
        let agent = self.engine.find_principal(&context, name).await.unwrap();
        let home = self.engine.home(&context, &agent, loci_engine::Purpose::Read).await;
        home.unwrap().unwrap()
    }

    pub(crate) async fn ask_as(
        &self,
        caller: Option<Caller>,
        appended: Option<&str>,
        method: &str,
        url: &str,
        body: Option<String>,
    ) -> Reply {
        self.pass_secs(1);
        let mut request = Request::builder()
            .method(method)
            .uri(url)
            .header("anthropic-beta", "managed-agents-2026-04-01");
        if let Some(caller) = caller {
            request = request.extension(Identified(Arc::new(Ok(context(caller)))));
        }
        if let Some(handle) = appended {
            request = request.extension(Appended(handle.into()));
        }
        let body = body.map_or(Body::empty(), Body::from);
        let answer = self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let body =
            if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
        Reply { status, headers, body }
    }

    pub(crate) async fn ask(&self, method: &str, url: &str, body: Option<Value>) -> Reply {
        let body = body.map(|body| body.to_string());
        self.ask_as(Some(self.admin()), None, method, url, body).await
    }

    pub(crate) async fn get(&self, url: &str) -> Value {
        self.ask("GET", url, None).await.ok()
    }

    pub(crate) async fn put(&self, agent: &str, key: &str, body: Value) -> Reply {
        self.ask("PUT", &format!("{agent}/memory/entries/{key}"), Some(body)).await
    }

    /// Saves a text and gives the entry.
    pub(crate) async fn save(&self, agent: &str, key: &str, text: &str) -> Value {
        self.put(agent, key, json!({"content": text})).await.ok()
    }

    pub(crate) async fn delete(&self, agent: &str, key: &str) -> Reply {
        self.ask("DELETE", &format!("{agent}/memory/entries/{key}"), None).await
    }

    /// The keys of a listing.
    pub(crate) async fn keys(&self, url: &str) -> Vec<String> {
        keys(&self.get(url).await)
    }

    /// `operation key version reason` of the whole feed.
    pub(crate) async fn feed(&self, agent: &str) -> Vec<String> {
        rows(&self.get(&format!("{agent}/memory/changes?limit=100")).await)
    }

    /// Makes every vector that is missing.
    pub(crate) async fn follow(&self) {
        while self.engine.follow_once().await.unwrap() {}
    }
}

pub(crate) fn context(caller: Caller) -> Context {
    Context { caller, request: RequestId::from_u128(7), idempotency: None }
}

pub(crate) fn keys(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item["key"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn rows(page: &Value) -> Vec<String> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let items = page["items"].as_array().unwrap().iter();
    items
        .map(|row| {
            let words = [
                text(row, "operation"),
                text(row, "memory_key"),
                row["version"].to_string(),
                text(row, "reason"),
            ];
            words.join(" ")
        })
        .collect()
}

/// The names of an object's fields.
pub(crate) fn fields(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}
