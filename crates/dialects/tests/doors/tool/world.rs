//! The server the tables are played against, with a clock that moves one second with every request.
//! Whoever is named as sender is an agent of that name; `admin` is the administrator.

use axum::Router;
use axum::body::Body;
use http_body_util::BodyExt;
use loci_dialects::tool::{ToolOptions, router};
use loci_engine::seam::Seams;
use loci_engine::{Context, Engine, FirstStart, Identified, NewPrincipal, Purpose};
use loci_model::{
    Actor, At, Audience, Caller, Content, Edit, KeyScope, MemoryPath, Power, Principal,
    PrincipalKind, RequestId, StoreId,
};
use loci_storage_memory::MemStorage;
use loci_test_kit::{HandClock, counting_bytes};
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;

const START: &str = "2026-01-01T00:00:00Z";

pub(crate) struct World {
    pub(crate) engine: Engine,
    router: Router,
    clock: Arc<HandClock>,
    start: FirstStart,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(ToolOptions::default()).await
    }

    pub(crate) async fn with(options: ToolOptions) -> Self {
        let clock = Arc::new(HandClock::at(START));
        let seams = Seams::new(clock.clone(), Arc::new(counting_bytes(1)));
        let engine = Engine::new(Arc::new(MemStorage::new()), seams);
        let start = engine.bootstrap(None).await.unwrap();
        let router = router(engine.clone(), options);
        Self { engine, router, clock, start }
    }

    pub(crate) fn pass_seconds(&self, seconds: i64) {
        self.clock.advance_secs(seconds);
    }

    /// Sends a call of the tool; gives status and body.
    pub(crate) async fn send(&self, who: &str, body: String) -> (u16, Value) {
        let context = self.context(who).await;
        self.send_as(Some(context), "POST", body).await
    }

    /// The same, with the body as it was sent.
    pub(crate) async fn raw(&self, who: &str, body: String) -> (u16, String) {
        let context = self.context(who).await;
        self.ask(Some(context), "POST", body).await
    }

    pub(crate) async fn send_as(
        &self,
        context: Option<Context>,
        method: &str,
        body: String,
    ) -> (u16, Value) {
        let (status, body) = self.ask(context, method, body).await;
        (status, serde_json::from_str(&body).unwrap())
    }

    async fn ask(&self, context: Option<Context>, method: &str, body: String) -> (u16, String) {
        self.pass_seconds(1);
        let id = RequestId::from_u128(7);
        let mut request =
            axum::http::Request::builder().method(method).uri("/v1/tools/memory").extension(id);
        if let Some(context) = context {
            request = request.extension(Identified(Arc::new(Ok(context))));
        }
        let request = request.body(Body::from(body)).unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Calls the tool, which answers.
    pub(crate) async fn call(&self, who: &str, body: Value) -> Value {
        let (status, answer) = self.send(who, body.to_string()).await;
        assert_eq!(status, 200, "{body}: {answer}");
        answer
    }

    /// Calls the tool, which succeeds with exactly this.
    pub(crate) async fn done(&self, who: &str, body: Value, result: impl Into<Value>) {
        let (answer, result) = (self.call(who, body.clone()).await, result.into());
        let content = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
        let expected = json!({ "result": result, "content": content, "is_error": false });
        assert_eq!(answer, expected, "{body}");
    }

    /// Calls the tool in its native shape, which refuses with exactly these words.
    pub(crate) async fn refused(&self, who: &str, body: Value, words: &str) {
        let answer = self.call(who, body.clone()).await;
        let expected = json!({ "result": words, "content": words, "is_error": true });
        assert_eq!(answer, expected, "{body}");
    }

    /// Calls the tool in its Robutler shape, which refuses with exactly these words.
    pub(crate) async fn error(&self, who: &str, body: Value, words: &str) {
        let answer = self.call(who, body.clone()).await;
        let expected = json!({ "result": { "error": words }, "content": words, "is_error": true });
        assert_eq!(answer, expected, "{body}");
    }

    /// What the tool says, whatever it is.
    pub(crate) async fn content(&self, who: &str, body: Value) -> String {
        self.call(who, body).await["content"].as_str().unwrap().to_owned()
    }

    /// An agent, made when it was never heard of.
    pub(crate) async fn agent(&self, name: &str) -> Principal {
        let new = NewPrincipal { kind: PrincipalKind::Agent, name: name.into(), is_admin: false };
        self.engine.declare_principal(self.start.workspace, new).await.unwrap()
    }

    /// An agent as it comes with a key of its own.
    pub(crate) async fn context(&self, who: &str) -> Context {
        let admin = self.engine.local_operator(&self.start);
        let caller = if who == "admin" {
            admin
        } else {
            let agent = self.agent(who).await;
            Caller {
                principal: agent.id,
                is_admin: false,
                actor: Actor::Service(agent.id),
                audience: Audience::Host,
                memory: agent.memory,
                scope: KeyScope { power: Power::Full, stores: None },
                ..admin
            }
        };
        Context { caller, request: RequestId::from_u128(1), idempotency: None }
    }

    /// The home of an agent, which is made.
    pub(crate) async fn home(&self, who: &str) -> StoreId {
        let context = self.context(who).await;
        let agent = self.agent(who).await;
        self.engine.home(&context, &agent, Purpose::Write).await.unwrap().unwrap()
    }

    /// Writes past the tool, as another door would.
    pub(crate) async fn write(&self, who: &str, store: StoreId, edit: Edit) {
        self.pass_seconds(1);
        let context = self.context(who).await;
        self.engine.commit_one(&context, store, edit, "api").await.unwrap();
    }

    /// Reads past the tool, as another door would.
    pub(crate) async fn read(&self, who: &str, store: StoreId, path: &str) -> Option<Content> {
        let context = self.context(who).await;
        let at = At::Path(None, MemoryPath::parse(path).unwrap());
        let memory = self.engine.get(&context, store, &at, loci_model::View::Full).await;
        memory.ok().and_then(|memory| memory.content)
    }
}

pub(crate) fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

/// A call that makes a file.
pub(crate) fn create(path: &str, text: &str) -> Value {
    json!({ "command": "create", "path": path, "file_text": text })
}

/// A call that shows a path.
pub(crate) fn view(path: &str) -> Value {
    json!({ "command": "view", "path": path })
}
