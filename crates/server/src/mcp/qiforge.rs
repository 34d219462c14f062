//! `/qiforge/mcp`: the six tools of QiForge's oracles over the Model Context Protocol, for visitors.
//!
//! Whoever is not let in is told so on every method alike, with the number in front of the text: its
//! clients show nothing else, and wait for ever on a stream that has nothing to say.

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::routing::any;
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Response, StatusCode};
use loci_dialects::qiforge::{self, Access, QiforgeOptions, Refusal, TOOLS, Tools};
use loci_engine::Engine;
use loci_mcp::{Asked, Effect, Endpoint, EndpointOptions, Offer, Outcome, ToolDefinition, ToolSet};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use tokio::sync::watch;

/// Where it is served. Clients put two slashes where their configured URL ends with one.
const PATHS: [&str; 2] = ["/qiforge/mcp", "/qiforge//mcp"];

#[derive(Clone)]
pub(crate) struct Door {
    options: Arc<QiforgeOptions>,
    endpoint: Endpoint,
}

/// The routes. The layers around them leave what they found in the visitor's token on each request.
pub(crate) fn router(
    engine: Engine,
    options: Arc<QiforgeOptions>,
    body_bytes_max: usize,
    stopping: watch::Receiver<bool>,
) -> Router {
    let who = EndpointOptions {
        // Oracles are servers; no page has business here.
        allowed_origins: Vec::new(),
        body_bytes_max,
    };
    let offer = Offer {
        name: "loci",
        version: env!("CARGO_PKG_VERSION"),
        instructions: None,
        tools: vec![Arc::new(OracleTools(Tools(engine.clone())))],
        library: None,
        prompts: Vec::new(),
    };
    let door = Door { options, endpoint: Endpoint::new(engine, offer, &who, stopping) };
    let routes = PATHS.iter().fold(Router::new(), |routes, path| routes.route(path, any(answer)));
    routes.with_state(door)
}

/// Messages of the Model Context Protocol, for visitors: the six tools of QiForge's oracles.
#[utoipa::path(
    post,
    path = "/qiforge/mcp",
    operation_id = "qiforge_mcp",
    tag = "qiforge",
    params(("x-room-id" = String, Header, description = "the room")),
    request_body(content = serde_json::Value, description = "a message of JSON-RPC 2.0"),
    responses(
        (status = 200, description = "Answered"),
        (status = 202, description = "Heard; there is nothing to answer"),
        (status = "4XX", description = "Refused")
    )
)]
pub(crate) async fn answer(State(door): State<Door>, mut request: Request) -> Response<Body> {
    match qiforge::admit(request.extensions(), &door.options) {
        Err(refusal) => refused(&refusal),
        Ok(_) if request.method() != Method::POST => {
            let text = "405 this server has nothing to say by itself".to_owned();
            rendered(StatusCode::METHOD_NOT_ALLOWED, &text)
        }
        Ok(access) => {
            request.extensions_mut().insert(access);
            door.endpoint.answer(request).await.map(Body::new)
        }
    }
}

fn refused(refusal: &Refusal) -> Response<Body> {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    rendered(status, &refusal.text)
}

fn rendered(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(json!({ "detail": text }).to_string()));
    *response.status_mut() = status;
    let json = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

struct OracleTools(Tools);

#[async_trait]
impl ToolSet for OracleTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        let tool = |tool: &qiforge::Tool| ToolDefinition {
            name: Cow::Borrowed(tool.name),
            description: Cow::Borrowed(tool.description),
            input_schema: serde_json::from_str((tool.schema)()).expect("a schema is an object"),
            effect: if tool.is_read_only { Effect::Reads } else { Effect::Adds },
        };
        TOOLS.iter().map(tool).collect()
    }

    async fn call(&self, asked: &Asked<'_>) -> Outcome {
        let Some(access) = asked.extensions.get::<Access>() else {
            return Outcome::failed("401 a UCAN is needed");
        };
        let arguments = Value::Object(asked.arguments.clone());
        match self.0.call(access, asked.name, &arguments).await {
            Ok(text) => Outcome::done(text),
            Err(why) => Outcome::failed(why),
        }
    }
}
