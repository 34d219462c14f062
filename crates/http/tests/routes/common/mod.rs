//! A router over a storage, the in-memory one unless told otherwise, with an administrator's key, and requests to it.

use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use loci_engine::seam::Seams;
use loci_engine::{Context, Engine, FirstStart, NewStore, Secret};
use loci_http::{HttpOptions, LocalOperator};
use loci_model::{Edit, Memory, MemoryPath, StoreId};
use loci_storage::Storage;
use loci_storage_memory::MemStorage;
use serde_json::Value;
use std::sync::Arc;
use tower::ServiceExt;
use utoipa::openapi::{InfoBuilder, OpenApiBuilder};

pub(crate) const ADMIN: &str = "test-admin-key";

pub(crate) struct Server {
    pub(crate) engine: Engine,
    pub(crate) start: FirstStart,
    pub(crate) router: Router,
}

/// One answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) bytes: bytes::Bytes,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.bytes);
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("not JSON: {text}"))
    }

    /// The body of a success.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        let text = String::from_utf8_lossy(&self.bytes);
        assert_eq!(self.status, StatusCode::OK, "{text}");
        self.json()
    }

    /// Checks a refusal: status, type, and that the envelope is whole.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, kind: &str) -> &Self {
        let body = self.json();
        assert_eq!((self.status, &body["error"]["type"]), (status, &kind.into()), "{body}");
        assert_eq!(body["type"], "error");
        assert!(body["error"]["message"].is_string());
        assert_eq!(self.headers["content-type"], "application/json");
        assert_eq!(self.headers["request-id"], body["request_id"].as_str().unwrap());
        assert!(body["request_id"].as_str().unwrap().starts_with("req_"));
        self
    }
}

impl Server {
    pub(crate) async fn new() -> Self {
        Self::with(&HttpOptions::default(), Router::new()).await
    }

    pub(crate) async fn with(options: &HttpOptions, doors: Router) -> Self {
        Self::over(Arc::new(MemStorage::new()), options, doors).await
    }

    pub(crate) async fn over(
        storage: Arc<dyn Storage>,
        options: &HttpOptions,
        doors: Router,
    ) -> Self {
        let engine = Engine::new(storage, Seams::real());
        let start = engine.bootstrap(Some(&Secret::given(ADMIN))).await.unwrap();
        let info = InfoBuilder::new().title("doors").version("0").build();
        let openapi = OpenApiBuilder::new().info(info).build();
        let router = loci_http::router(engine.clone(), doors, openapi, options);
        Self { engine, start, router }
    }

    pub(crate) fn operator(&self) -> LocalOperator {
        LocalOperator(self.engine.local_operator(&self.start))
    }

    /// The administrator, as the engine sees them.
    pub(crate) fn context(&self) -> Context {
        let seams = self.engine.seams();
        Context {
            caller: self.engine.local_operator(&self.start),
            request: seams.request_id(seams.now()),
            idempotency: None,
        }
    }

    pub(crate) async fn store(&self, name: &str) -> StoreId {
        let new = NewStore { name: name.into(), ..NewStore::default() };
        self.engine.create_store(&self.context(), new).await.unwrap().id
    }

    pub(crate) async fn put(&self, store: StoreId, path: &str, text: &str) -> Memory {
        let edit = Edit::put_text(MemoryPath::parse(path).unwrap(), text);
        let context = self.context();
        let outcome = self.engine.commit_one(&context, store, edit, "api");
        outcome.await.unwrap().memory
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Reply {
            status: parts.status.as_u16(),
            headers: parts.headers,
            bytes: body.collect().await.unwrap().to_bytes(),
        }
    }

    pub(crate) async fn call(&self, key: &str, method: &str, uri: &str, body: Value) -> Reply {
        let request = Request::builder().method(method).uri(uri);
        let request = request.header("authorization", format!("Bearer {key}"));
        let body = match body {
            Value::Null => Body::empty(),
            body => Body::from(body.to_string()),
        };
        self.send(request.body(body).unwrap()).await
    }

    pub(crate) async fn get(&self, uri: &str) -> Reply {
        self.call(ADMIN, "GET", uri, Value::Null).await
    }

    pub(crate) async fn post(&self, uri: &str, body: Value) -> Reply {
        self.call(ADMIN, "POST", uri, body).await
    }

    pub(crate) async fn delete(&self, uri: &str) -> Reply {
        self.call(ADMIN, "DELETE", uri, Value::Null).await
    }

    /// A new key made over the wire: its id and secret.
    pub(crate) async fn key(&self, body: Value) -> (String, String) {
        let made = self.post("/v1/api_keys", body).await.ok();
        let text = |field: &str| made[field].as_str().unwrap().to_owned();
        (text("id"), text("secret"))
    }
}
