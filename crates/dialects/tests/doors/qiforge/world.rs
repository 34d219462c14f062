//! The door's router over the in-memory engine. The clock stands still unless it is moved.

use axum::Router;
use axum::body::Body;
use axum::http::{Extensions, Request};
use http_body_util::BodyExt;
use loci_dialects::qiforge::{self, Access, Oracle, QiforgeOptions, Tools};
use loci_engine::seam::Seams;
use loci_engine::{Context, Engine, FirstStart, Identified, Visit};
use loci_model::{Caller, Level, RequestId};
use loci_storage_memory::MemStorage;
use loci_test_kit::{HandClock, counting_bytes};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tower::ServiceExt;

pub(crate) const ORACLE: &str = "did:ixo:ixo1oracle";
pub(crate) const OPEN: &str = "did:ixo:ixo1open";
pub(crate) const OWNER: &str = "did:ixo:ixo1owner";
pub(crate) const ROOM: &str = "!room:server";

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) engine: Engine,
    router: Router,
    options: Arc<QiforgeOptions>,
    clock: Arc<HandClock>,
    start: Arc<FirstStart>,
}

/// Somebody at the door.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) user: String,
    pub(crate) oracle: Option<String>,
    pub(crate) room: Option<String>,
    pub(crate) level: Level,
}

/// A user who comes through the oracle to its room.
pub(crate) fn user(name: &str) -> Visitor {
    Visitor {
        user: format!("did:key:{name}"),
        oracle: Some(ORACLE.into()),
        room: Some(ROOM.into()),
        level: Level::ReadWrite,
    }
}

impl Visitor {
    pub(crate) fn through(self, oracle: Option<&str>) -> Self {
        Self { oracle: oracle.map(str::to_owned), ..self }
    }

    pub(crate) fn in_room(self, room: &str) -> Self {
        Self { room: Some(room.to_owned()), ..self }
    }
}

pub(crate) fn owner() -> Visitor {
    Visitor { user: OWNER.into(), ..user("x") }
}

impl World {
    pub(crate) async fn new() -> Self {
        let oracle = |is_open| Oracle {
            entity_did: Some(format!("did:ixo:entity:{}", u8::from(is_open))),
            owners: [OWNER.to_owned()].into(),
            is_open,
        };
        let oracles =
            BTreeMap::from([(ORACLE.to_owned(), oracle(false)), (OPEN.to_owned(), oracle(true))]);
        let did = Some("did:web:memory.example.org".to_owned());
        Self::with(QiforgeOptions { did, ignores_room: false, oracles }).await
    }

    pub(crate) async fn with(options: QiforgeOptions) -> Self {
        let clock = Arc::new(HandClock::at("2026-03-01T00:00:00Z"));
        let seams = Seams::new(clock.clone(), Arc::new(counting_bytes(1)));
        let engine = Engine::new(Arc::new(MemStorage::new()), seams);
        let start = Arc::new(engine.bootstrap(None).await.unwrap());
        let options = Arc::new(options);
        let router = qiforge::router(engine.clone(), Arc::clone(&options));
        Self { engine, router, options, clock, start }
    }

    pub(crate) fn pass_days(&self, days: i64) {
        self.clock.advance_secs(days * 86_400);
    }

    pub(crate) fn administrator(&self) -> Context {
        Self::context(self.engine.local_operator(&self.start))
    }

    pub(crate) fn context(caller: Caller) -> Context {
        Context { caller, request: RequestId::from_u128(7), idempotency: None }
    }

    /// What the layers leave on a visitor's request.
    pub(crate) async fn extensions(&self, visitor: &Visitor) -> Extensions {
        let Visitor { user, oracle, room, level } = visitor;
        let caller = self.engine.authenticate_visitor(user, oracle.as_deref(), *level, None).await;
        let mut extensions = Extensions::new();
        extensions.insert(Identified(Arc::new(Ok(Self::context(caller.unwrap())))));
        let text = |text: &Option<String>| text.as_deref().map(Into::into);
        let user = user.as_str().into();
        extensions.insert(Visit { user, oracle: text(oracle), room: text(room) });
        extensions
    }

    pub(crate) async fn access(&self, visitor: &Visitor) -> Access {
        qiforge::admit(&self.extensions(visitor).await, &self.options).unwrap()
    }

    /// One request, and the status and body of its answer.
    pub(crate) async fn send(
        &self,
        visitor: Option<&Visitor>,
        method: &str,
        path: &str,
        body: impl Into<Body>,
    ) -> (u16, Value) {
        let extensions = match visitor {
            Some(visitor) => self.extensions(visitor).await,
            None => Extensions::new(),
        };
        self.send_with(extensions, method, path, body).await
    }

    /// The same with what the layers left on it.
    pub(crate) async fn send_with(
        &self,
        extensions: Extensions,
        method: &str,
        path: &str,
        body: impl Into<Body>,
    ) -> (u16, Value) {
        let mut request = Request::builder().method(method).uri(path).body(body.into()).unwrap();
        *request.extensions_mut() = extensions;
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// Hands over a conversation.
    pub(crate) async fn say(&self, visitor: &Visitor, title: &str, said: &[(&str, &str)]) -> Value {
        let messages: Vec<Value> = said
            .iter()
            .map(|(name, content)| {
                let role = if *name == "Bot" { "assistant" } else { "user" };
                json!({"content": content, "role_type": role, "role": name, "name": name,
                    "source_description": format!("Chat Session: {title}")})
            })
            .collect();
        let body = json!({ "messages": messages }).to_string();
        let (status, answer) = self.send(Some(visitor), "POST", "/qiforge/messages", body).await;
        assert_eq!(status, 202, "{answer}");
        assert_eq!(answer["success"], true);
        answer["message"].clone()
    }

    pub(crate) async fn try_tool(
        &self,
        visitor: &Visitor,
        name: &str,
        arguments: Value,
    ) -> Result<Value, String> {
        let access = self.access(visitor).await;
        let answer = Tools(self.engine.clone()).call(&access, name, &arguments).await?;
        assert!(!answer.to_lowercase().contains("error"), "{answer}");
        Ok(serde_json::from_str(&answer).unwrap())
    }

    pub(crate) async fn tool(&self, visitor: &Visitor, name: &str, arguments: Value) -> Value {
        let answer = self.try_tool(visitor, name, arguments.clone()).await;
        answer.unwrap_or_else(|why| panic!("{name} {arguments}: {why}"))
    }

    pub(crate) async fn search(&self, visitor: &Visitor, query: &str, level: &str) -> Value {
        let arguments = json!({"query": query, "strategy": "balanced", "knowledge_level": level});
        self.tool(visitor, "search_memory_engine", arguments).await
    }

    /// The contents of the episodes that a search finds.
    pub(crate) async fn episodes(
        &self,
        visitor: &Visitor,
        query: &str,
        level: &str,
    ) -> Vec<String> {
        let mut found = contents(&self.search(visitor, query, level).await);
        found.sort();
        found
    }
}

pub(crate) fn contents(found: &Value) -> Vec<String> {
    let episodes = found["episodes"].as_array().unwrap_or_else(|| panic!("{found}"));
    episodes.iter().map(|one| one["content"].as_str().unwrap().to_owned()).collect()
}
