//! The door's router over the in-memory engine. The clock stands still unless it is moved.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use loci_engine::seam::Seams;
use loci_engine::{Context, Engine, FirstStart, Identified};
use loci_model::{Audience, Caller, Edit, EditOp, MemoryPath, Patch, RequestId, Store};
use loci_storage_memory::MemStorage;
use loci_test_kit::{HandClock, counting_bytes};
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;

/// What the stock interface puts where a token belongs.
pub(crate) const SYNC: &str = "/api/v1/pd/webhook_sync/API_TOKEN/kilroy.ai.webhooks/";
pub(crate) const ASYNC: &str = "/api/v1/pd/webhook/API_TOKEN/kilroy.ai.webhooks/";
/// 2026-03-01T00:00:00Z.
pub(crate) const START_MS: u64 = 1_772_323_200_000;

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) engine: Engine,
    router: Router,
    clock: Arc<HandClock>,
    start: Arc<FirstStart>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(HandClock::at("2026-03-01T00:00:00Z"));
        let seams = Seams::new(clock.clone(), Arc::new(counting_bytes(1)));
        let engine = Engine::new(Arc::new(MemStorage::new()), seams);
        let start = Arc::new(engine.bootstrap(None).await.unwrap());
        let router = loci_dialects::kilroy::router(engine.clone());
        Self { engine, router, clock, start }
    }

    pub(crate) fn pass_secs(&self, secs: i64) {
        self.clock.advance_secs(secs);
    }

    /// An administrator, as good as the platform.
    pub(crate) fn platform(&self) -> Caller {
        self.engine.local_operator(&self.start)
    }

    /// Somebody with a key of their own.
    pub(crate) async fn agent(&self, name: &str) -> Caller {
        self.engine.authenticate_agent(name, Audience::Host, None).await.unwrap()
    }

    pub(crate) fn context(caller: Caller) -> Context {
        Context { caller, request: RequestId::from_u128(7), idempotency: None }
    }

    /// One request, and the status and body of its answer.
    pub(crate) async fn send(
        &self,
        caller: Option<Caller>,
        method: &str,
        url: &str,
        body: Vec<u8>,
    ) -> (u16, Value) {
        let mut request = Request::builder().method(method).uri(url);
        if let Some(caller) = caller {
            request = request.extension(Identified(Arc::new(Ok(Self::context(caller)))));
        }
        let request = request.body(Body::from(body)).unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        assert_eq!(answer.headers()["content-type"], "application/json");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }

    /// A whole body to a block of the platform's, and the whole answer.
    pub(crate) async fn call(&self, block: &str, body: &Value) -> Value {
        let url = format!("{SYNC}{block}");
        let (status, answer) =
            self.send(Some(self.platform()), "POST", &url, body.to_string().into_bytes()).await;
        assert_eq!(status, 200, "{block} {body}: {answer}");
        assert_eq!(answer["success"], true, "{answer}");
        answer
    }

    /// What a block of the platform's answers to a text, read.
    pub(crate) async fn ask(&self, block: &str, targs: Value, text: &str) -> Value {
        self.ask_as(self.platform(), block, targs, text).await
    }

    pub(crate) async fn ask_as(
        &self,
        caller: Caller,
        block: &str,
        targs: Value,
        text: &str,
    ) -> Value {
        let body = json!({
            "tagentname": "notes", "tusername": "ana", "tid": "t-1", "tpublish": true,
            "targs": targs.to_string(), "args": [{"text": text, "type": "text/plain"}],
        });
        let url = format!("{SYNC}{block}");
        let (status, answer) =
            self.send(Some(caller), "POST", &url, body.to_string().into_bytes()).await;
        assert_eq!(status, 200, "{block}: {answer}");
        let message = &answer["args"]["x"]["args"][0];
        assert_eq!(message["type"], "application/json", "{answer}");
        serde_json::from_str(message["text"].as_str().unwrap()).unwrap()
    }

    /// The text of a block that has a template.
    pub(crate) async fn text(&self, block: &str, targs: Value, text: &str) -> String {
        let body = json!({"targs": targs, "args": [{"text": text}]});
        let answer = self.call(block, &body).await;
        let message = &answer["args"]["x"]["args"][0];
        assert_eq!(message["type"], "text/plain", "{answer}");
        message["text"].as_str().unwrap().to_owned()
    }

    /// Writes a record; gives its guid.
    pub(crate) async fn write(&self, targs: Value, text: &str) -> String {
        let answer = self.ask("memory_write", targs, text).await;
        assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
        answer["guid"].as_str().unwrap().to_owned()
    }

    /// Writes many records of a kind, faster than one by one.
    pub(crate) async fn write_many(&self, id: &str, kind: &str, count: usize) {
        let guid = self.write(json!({"memory_id": id, "kind": kind}), "x").await;
        let context = Self::context(self.platform());
        let reached = self.engine.stores_of(&context).await.unwrap();
        let address = format!("kilroy:{id}");
        let is_it = |store: &&Store| store.address.as_ref().is_some_and(|a| a.as_str() == address);
        let store = reached.iter().map(|one| &one.store).find(is_it).unwrap().id;
        let edit = |number: usize| {
            let path = MemoryPath::parse(&format!("/records/{number:08}{}", &guid[8..])).unwrap();
            let mut edit = Edit::put_text(path, "x");
            if let EditOp::Put { attributes, .. } = &mut edit.op {
                attributes.kind = Patch::Set(Some(kind.to_owned()));
            }
            edit
        };
        let edits: Vec<Edit> = (1..count).map(edit).collect();
        for some in edits.chunks(5000) {
            self.engine.commit_tree(&context, store, some.to_vec(), "test").await.unwrap();
        }
    }

    /// The contents of what a block answers.
    pub(crate) async fn contents(&self, block: &str, targs: Value, text: &str) -> Vec<String> {
        contents(&self.ask(block, targs, text).await)
    }
}

pub(crate) fn contents(records: &Value) -> Vec<String> {
    let records = records.as_array().unwrap_or_else(|| panic!("{records} is no list"));
    records.iter().map(|record| record["content"].as_str().unwrap().to_owned()).collect()
}

/// The words of a block that did nothing.
pub(crate) fn error(answer: &Value) -> &str {
    assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    answer["error"].as_str().unwrap()
}
