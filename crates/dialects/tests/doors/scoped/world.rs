//! The door's router over the in-memory engine. The clock stands still unless it is moved, so that
//! stamps have to grow by themselves.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use loci_engine::seam::Seams;
use loci_engine::{Context, Engine, FirstStart, HomeLimits, Identified, Purpose};
use loci_model::{Audience, Caller, RequestId, StoreId};
use loci_storage_memory::MemStorage;
use loci_test_kit::{HandClock, counting_bytes};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;

pub(crate) const ADA: &str = "7f3c2a10-5b6e-4c8d-9e1f-0a2b3c4d5e6f";
pub(crate) const BOB: &str = "bob";
const ROUTE: &str = "/api/storage/memory-scoped";

pub(crate) struct World {
    pub(crate) engine: Engine,
    router: Router,
    clock: Arc<HandClock>,
    start: FirstStart,
}

/// A parameter of a query.
pub(crate) type Pair<'a> = (&'a str, &'a str);

impl World {
    /// It is 2026-03-01T00:00:00Z.
    pub(crate) async fn new() -> Self {
        Self::with_homes(HomeLimits::default()).await
    }

    pub(crate) async fn with_homes(homes: HomeLimits) -> Self {
        let clock = Arc::new(HandClock::at("2026-03-01T00:00:00Z"));
        let seams = Seams::new(clock.clone(), Arc::new(counting_bytes(1)));
        let engine = Engine::new(Arc::new(MemStorage::new()), seams).with_homes(homes);
        let start = engine.bootstrap(None).await.unwrap();
        let router = loci_dialects::robutler::router(engine.clone());
        Self { engine, router, clock, start }
    }

    pub(crate) fn pass_secs(&self, secs: i64) {
        self.clock.advance_secs(secs);
    }

    /// An agent by its own key. It is a model's key: tombstones must work for it all the same.
    pub(crate) async fn agent(&self, name: &str) -> Caller {
        self.engine.authenticate_agent(name, Audience::Model, None).await.unwrap()
    }

    /// The same by a key of its host.
    pub(crate) async fn agent_host(&self, name: &str) -> Caller {
        self.engine.authenticate_agent(name, Audience::Host, None).await.unwrap()
    }

    /// A key that acts for agents.
    pub(crate) fn platform(&self) -> Caller {
        self.engine.local_operator(&self.start)
    }

    pub(crate) fn context(caller: Caller) -> Context {
        Context { caller, request: RequestId::from_u128(7), idempotency: None }
    }

    pub(crate) async fn store_of(&self, caller: Caller) -> StoreId {
        let store = self.engine.callers_store(&Self::context(caller), Purpose::Write).await;
        store.unwrap().unwrap()
    }

    /// One request, and the status and body of its answer.
    pub(crate) async fn ask(
        &self,
        caller: Option<Caller>,
        method: &str,
        query: &[Pair<'_>],
        body: Option<Value>,
    ) -> (u16, Value) {
        let escaped = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let pairs: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        let url = format!("{ROUTE}?{}", pairs.join("&"));
        let mut request = Request::builder().method(method).uri(url);
        if let Some(caller) = caller {
            let identified = Identified(Arc::new(Ok(Self::context(caller))));
            request = request.extension(identified);
        }
        let body = body.map_or(Body::empty(), |body| Body::from(body.to_string()));
        let answer = self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }

    /// The notes of an agent.
    pub(crate) async fn notes(&self, name: &str) -> Notes<'_> {
        Notes { world: self, caller: self.agent(name).await }
    }
}

/// An agent at work; whatever it asks must be answered with 200.
pub(crate) struct Notes<'w> {
    world: &'w World,
    pub(crate) caller: Caller,
}

impl Notes<'_> {
    pub(crate) async fn try_ask(
        &self,
        method: &str,
        query: &[Pair<'_>],
        body: Option<Value>,
    ) -> (u16, Value) {
        self.world.ask(Some(self.caller.clone()), method, query, body).await
    }

    pub(crate) async fn ask(&self, method: &str, query: &[Pair<'_>], body: Option<Value>) -> Value {
        let (status, answer) = self.try_ask(method, query, body).await;
        assert_eq!(status, 200, "{method} {query:?}: {answer}");
        answer
    }

    pub(crate) async fn get(&self, namespace: &str, key: &str) -> Value {
        let query = [("action", "get"), ("namespace", namespace), ("key", key)];
        self.ask("GET", &query, None).await["entry"].take()
    }

    /// Writes a note; `more` is what else the body says.
    pub(crate) async fn put(
        &self,
        namespace: &str,
        key: &str,
        content: &str,
        more: Value,
    ) -> Value {
        let mut body = json!({"namespace": namespace, "key": key, "content": content, "source": "tool", "at": null});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.ask("PUT", &[], Some(body)).await["entry"].take()
    }

    pub(crate) async fn forget(&self, namespace: &str, key: &str) -> u64 {
        let answer = self.ask("DELETE", &[("namespace", namespace), ("key", key)], None).await;
        answer["forgotten"].as_u64().unwrap()
    }

    /// `namespace/key` of a listing or search.
    pub(crate) async fn names(&self, query: &[Pair<'_>]) -> Vec<String> {
        let answer = self.ask("GET", query, None).await;
        let entries = answer["entries"].as_array().unwrap().iter();
        let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
        entries
            .map(|entry| format!("{}/{}", text(entry, "namespace"), text(entry, "key")))
            .collect()
    }

    pub(crate) async fn push(&self, namespace: &str, lines: &[Value]) -> u64 {
        let body = json!({"namespace": namespace, "lines": lines});
        let answer = self.ask("POST", &[("action", "sync")], Some(body)).await;
        assert_eq!(answer.as_object().unwrap().len(), 1, "never a cursor: {answer}");
        answer["applied"].as_u64().unwrap()
    }

    pub(crate) async fn pull(&self, namespace: &str, since: Option<&str>) -> Pulled {
        let mut query = vec![("action", "sync"), ("namespace", namespace)];
        query.extend(since.map(|since| ("since", since)));
        let answer = self.ask("GET", &query, None).await;
        Pulled {
            lines: answer["lines"].as_array().unwrap().clone(),
            cursor: answer["cursor"].as_str().map(str::to_owned),
            more: answer["more"].as_bool().unwrap(),
        }
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct Pulled {
    pub(crate) lines: Vec<Value>,
    pub(crate) cursor: Option<String>,
    pub(crate) more: bool,
}

impl Pulled {
    /// `op key` of each line.
    pub(crate) fn outline(&self) -> Vec<String> {
        let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
        self.lines
            .iter()
            .map(|line| format!("{} {}", text(line, "op"), text(line, "key")))
            .collect()
    }
}

pub(crate) fn put_line(key: &str, at: &str, content: &str) -> Value {
    json!({"op": "put", "id": "any", "namespace": "owner", "key": key, "content": content, "source": "tool", "at": at})
}

pub(crate) fn delete_line(key: &str, at: &str) -> Value {
    json!({"op": "delete", "id": "any", "namespace": "owner", "key": key, "at": at})
}

/// A moment of a day of January.
pub(crate) fn day(number: u32) -> String {
    format!("2026-01-{number:02}T00:00:00.000Z")
}
