//! The one place that knows the library which speaks the protocol. Everything outside deals in
//! [`Offer`], [`Endpoint`] and plain HTTP, so a new version of the library is a change of this folder.
//!
//! Stateless: no session ids, no replay, every request stands for itself and may reach any server.

mod batch;
mod handler;
mod listen;
mod writing;

use crate::prompts::Prompt;
use crate::resources::Library;
use crate::seam::ToolSet;
use bytes::Bytes;
use handler::Face;
use http::{HeaderName, Method, Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use loci_engine::Engine;
use loci_model::Timestamp;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use writing::Size;

/// Says that a relay in front turns `subscriptions/listen` into what older clients know, so that
/// subscribing can be offered to them. Without it a stateless server has no way to reach them.
pub const RELAYED: HeaderName = HeaderName::from_static("loci-mcp-relay");

/// How often a silent stream shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What an endpoint answers with.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What a server offers.
#[derive(Clone)]
pub struct Offer {
    /// What it is called.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What a model is told about it.
    pub instructions: Option<&'static str>,
    /// Its tools, set by set.
    pub tools: Vec<Arc<dyn ToolSet>>,
    /// Memories as resources, where they are offered.
    pub library: Option<Library>,
    /// Its prompts.
    pub prompts: Vec<Prompt>,
}

/// Who may ask from where.
#[derive(Debug, Clone)]
pub struct EndpointOptions {
    /// Origins whose pages may ask; a request without an origin is no page's.
    pub allowed_origins: Vec<String>,
    /// Bytes of one message.
    pub body_bytes_max: usize,
}

/// The protocol over HTTP, for any path. Cheap to clone.
#[derive(Clone)]
pub struct Endpoint {
    engine: Engine,
    service: StreamableHttpService<Face, NeverSessionManager>,
    library: Option<Library>,
    body_bytes_max: usize,
}

/// When a request came: what changes from then on is news to whoever subscribes by it.
#[derive(Debug, Clone, Copy)]
struct Came(Timestamp);

impl Endpoint {
    /// An endpoint, whose large answers are written where the engine writes such answers; streams end
    /// when `stopping` turns true.
    pub fn new(
        engine: Engine,
        offer: Offer,
        options: &EndpointOptions,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_keep_alive(Some(KEEP_ALIVE))
            // Whoever hands requests over has looked at what they are for, at every door alike.
            .disable_allowed_hosts()
            .with_allowed_origins(options.allowed_origins.clone())
            .enforce_origin_validation()
            .with_max_request_body_bytes(options.body_bytes_max);
        let library = offer.library.clone();
        let handler = Face::new(offer, stopping);
        let factory = move || Ok(handler.clone());
        let service = StreamableHttpService::new(factory, Arc::default(), config);
        Self { engine, service, library, body_bytes_max: options.body_bytes_max }
    }

    /// Answers one request. Whoever calls this has found out who asks and left it in the request's
    /// extensions, where the tools find it.
    pub async fn answer<B>(&self, mut request: Request<B>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if let Some(library) = &self.library {
            request.extensions_mut().insert(Came(library.now()));
        }
        let (parts, body) = request.into_parts();
        if parts.method != Method::POST {
            return self.service.handle(Request::from_parts(parts, Full::<Bytes>::default())).await;
        }
        let body = match Limited::new(body, self.body_bytes_max).collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => return batch::too_long(self.body_bytes_max),
        };
        if batch::is_batch(&body) {
            let endpoint = self.clone();
            let one = move |one| {
                let endpoint = endpoint.clone();
                async move { endpoint.one(one).await }
            };
            let answers = batch::answer(parts, body, one).await;
            let written = self.engine.written(answers.bytes(), move || answers.together()).await;
            return written.unwrap_or_else(|error| batch::failed(&error));
        }
        self.one(Request::from_parts(parts, Full::new(body))).await
    }

    /// Answers one message.
    async fn one(&self, mut request: Request<Full<Bytes>>) -> Answer {
        let (size, service) = (Size::default(), self.service.clone());
        request.extensions_mut().insert(size.clone());
        let answering = async move { service.handle(request).await };
        writing::answered(&self.engine, &size, answering).await
    }
}
