//! `/mcp`: the Model Context Protocol over HTTP, behind the same layers as every other door, and the
//! document that tells clients how to get a credential (RFC 9728).
//!
//! Which tools are there is the operator's choice. A client may ask for fewer of them; only whoever
//! comes over a channel of the operator's own may ask for others.

mod memory_tool;
mod metadata;
mod mobius;
mod profile;
pub(crate) mod qiforge;

pub(crate) use profile::{Profile, Profiles};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::routing::{any, get};
use hyper::header::{CONTENT_TYPE, HeaderName, WWW_AUTHENTICATE};
use hyper::{HeaderMap, Response, StatusCode};
use loci_dialects::tool::ToolOptions;
use loci_engine::{Engine, Error, Identified, codes};
use loci_http::LocalOperator;
use loci_mcp::{
    AdminTools, Endpoint, EndpointOptions, INSTRUCTIONS, Library, MemoryTools, Offer, ToolSet,
    prompts,
};
use memory_tool::MemoryTool;
use metadata::METADATA;
use mobius::MobiusTools;
use serde_json::json;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

/// Where the protocol is spoken.
pub(crate) const PATH: &str = "/mcp";
/// Which profiles a client wants.
pub(crate) const PROFILES: HeaderName = HeaderName::from_static("loci-mcp-profiles");

/// What the operator can set.
#[derive(Debug, Clone, Default)]
pub(crate) struct McpOptions {
    /// The tools that are there.
    pub(crate) profiles: Profiles,
    /// Origins whose pages may ask, besides this machine's own.
    pub(crate) allowed_origins: Vec<String>,
    /// How clients reach the server, without a slash at its end.
    pub(crate) public_url: Option<String>,
    /// Who issues tokens.
    pub(crate) issuer: Option<String>,
}

/// Why a request is refused on which the layers left nothing.
const NO_KEY: Error = Error::Unauthenticated("an API key is needed");

/// This machine, whatever the port.
const LOOPBACK_ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

pub(crate) struct Door {
    engine: Engine,
    tools: ToolOptions,
    options: McpOptions,
    who: EndpointOptions,
    stopping: watch::Receiver<bool>,
    /// One for each choice of profiles, made when it is first asked for.
    endpoints: [OnceLock<Endpoint>; Profiles::CHOICES],
}

/// The routes. The layers around them leave `loci_engine::Identified` on each request; streams end
/// when `stopping` turns true.
pub(crate) fn router(
    engine: Engine,
    tools: ToolOptions,
    options: McpOptions,
    body_bytes_max: usize,
    stopping: watch::Receiver<bool>,
) -> Router {
    let own = LOOPBACK_ORIGINS.iter().map(|origin| (*origin).to_owned());
    let allowed_origins = own.chain(options.allowed_origins.iter().cloned()).collect();
    let who = EndpointOptions { allowed_origins, body_bytes_max };
    let endpoints = std::array::from_fn(|_| OnceLock::new());
    let door = Arc::new(Door { engine, tools, options, who, stopping, endpoints });
    Router::new()
        .route(PATH, any(answer))
        .route(METADATA, get(describe))
        .route(&format!("{METADATA}{PATH}"), get(describe))
        .with_state(door)
}

/// Messages of the Model Context Protocol.
#[utoipa::path(
    post,
    path = "/mcp",
    operation_id = "mcp",
    tag = "mcp",
    params(
        ("mcp-protocol-version" = Option<String>, Header, description = "what was agreed on"),
        ("loci-mcp-profiles" = Option<String>, Header, description = "fewer tools than there are"),
    ),
    request_body(content = serde_json::Value, description = "a message of JSON-RPC 2.0, or up to 32 of them up to version 2025-03-26"),
    responses(
        (status = 200, description = "Answered; a subscription is answered by a stream of events",
            content((serde_json::Value = "application/json"), (String = "text/event-stream"))),
        (status = 202, description = "Heard; there is nothing to answer"),
        (status = "4XX", description = "Refused, in the words of JSON-RPC", body = RefusalBody)
    )
)]
pub(crate) async fn answer(State(door): State<Arc<Door>>, request: Request) -> Response<Body> {
    let identified = request.extensions().get::<Identified>().cloned();
    match identified.as_ref().map(|found| &*found.0) {
        Some(Ok(_)) => {}
        Some(Err(error)) => return door.refuse(error, request.headers()),
        None => return door.refuse(&NO_KEY, request.headers()),
    }
    let endpoint = door.endpoint(door.chosen(&request));
    endpoint.answer(request).await.map(Body::new)
}

/// Where clients of the protocol get a credential (RFC 9728).
#[utoipa::path(
    get,
    path = "/.well-known/oauth-protected-resource",
    operation_id = "mcp_protected_resource",
    tag = "mcp",
    security(()),
    responses(
        (status = 200, body = serde_json::Value),
        (status = "4XX", description = "Refused")
    )
)]
pub(crate) async fn describe(State(door): State<Arc<Door>>, headers: HeaderMap) -> Response<Body> {
    let document = metadata::document(&door.options, &headers);
    rendered(StatusCode::OK, &document)
}

/// A refusal by the protocol, which is not that of the other routes.
#[derive(utoipa::ToSchema)]
#[schema(as = McpRefusal)]
#[expect(dead_code, reason = "only described; it is written by hand")]
pub(crate) struct RefusalBody {
    /// Always `2.0`.
    jsonrpc: String,
    /// That of the request, if there is one that can be told.
    #[schema(value_type = serde_json::Value)]
    id: (),
    error: RefusalWords,
}

/// Why a message is refused.
#[derive(utoipa::ToSchema)]
#[schema(as = McpRefusalWords)]
#[expect(dead_code, reason = "only described; it is written by hand")]
pub(crate) struct RefusalWords {
    code: i64,
    /// Begins with the HTTP status where nobody is known.
    message: String,
}

impl Door {
    /// The profiles that a request gets.
    fn chosen(&self, request: &Request) -> Profiles {
        let wanted = request.headers().get(PROFILES).and_then(|value| value.to_str().ok());
        let wanted = wanted.and_then(|text| Profiles::parse(text).ok());
        let is_operator = request.extensions().get::<LocalOperator>().is_some();
        match wanted {
            None => self.options.profiles,
            Some(wanted) if is_operator => wanted,
            Some(wanted) => self.options.profiles.and(wanted),
        }
    }

    fn endpoint(&self, profiles: Profiles) -> &Endpoint {
        self.endpoints[profiles.index()].get_or_init(|| {
            let offer = self.offer(profiles);
            Endpoint::new(self.engine.clone(), offer, &self.who, self.stopping.clone())
        })
    }

    fn offer(&self, profiles: Profiles) -> Offer {
        let engine = || self.engine.clone();
        let tools = profiles.each().map(|profile| -> Arc<dyn ToolSet> {
            match profile {
                Profile::Default => Arc::new(MemoryTools::new(engine())),
                Profile::MemoryTool => Arc::new(MemoryTool::new(engine(), self.tools)),
                Profile::Mobius => Arc::new(MobiusTools::new(engine())),
                Profile::Admin => Arc::new(AdminTools::new(engine())),
            }
        });
        // What is taught is how to use the default tools.
        let is_default = profiles.has(Profile::Default);
        Offer {
            name: "loci",
            version: env!("CARGO_PKG_VERSION"),
            instructions: is_default.then_some(INSTRUCTIONS),
            tools: tools.collect(),
            library: Some(Library::new(engine())),
            prompts: if is_default { prompts() } else { Vec::new() },
        }
    }

    /// Refuses whoever is nobody, and says where to learn how to be somebody. The number stands in
    /// the text as well: some clients show nothing else.
    fn refuse(&self, error: &Error, headers: &HeaderMap) -> Response<Body> {
        let status = StatusCode::from_u16(codes::code(error).status);
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let message = format!("{} {error}", status.as_u16());
        let body = json!({
            "jsonrpc": "2.0",
            "id": null,
            "error": { "code": -32001, "message": message },
        });
        let mut response = rendered(status, &body);
        if status == StatusCode::UNAUTHORIZED {
            let challenge = metadata::challenge(&self.options, headers);
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

fn rendered(status: StatusCode, body: &serde_json::Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
