//! The three tools of Mobius agents over the Model Context Protocol, executed by the door that has
//! them. They use the home of whoever the credential is, as all other tools do.

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use http_body_util::BodyExt;
use hyper::header::CONTENT_TYPE;
use hyper::{Request, StatusCode};
use loci_dialects::mobius;
use loci_engine::{Engine, Identified};
use loci_mcp::{Asked, Effect, Outcome, ToolDefinition, ToolSet};
use serde_json::{Value, json};
use tower::ServiceExt;

/// Recall, remember, forget.
pub(super) struct MobiusTools {
    engine: Engine,
    door: Router,
}

impl MobiusTools {
    pub(super) fn new(engine: Engine) -> Self {
        Self { door: mobius::router(engine.clone()), engine }
    }
}

#[async_trait]
impl ToolSet for MobiusTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        let each = mobius::definitions().into_iter().map(|tool| {
            let effect = match tool.model_name {
                "mobius_memory_recall" => Effect::Reads,
                _ => Effect::Sets,
            };
            let input_schema = tool.input_schema.as_object().cloned().unwrap_or_default();
            ToolDefinition {
                name: tool.model_name.into(),
                description: tool.description.into(),
                input_schema,
                effect,
            }
        });
        each.collect()
    }

    async fn call(&self, asked: &Asked<'_>) -> Outcome {
        // What the door calls whoever asks.
        let agent = match asked.context() {
            Ok(context) => context.caller.principal.with_prefix("agent_"),
            Err(error) => return Outcome::failed(error.to_string()),
        };
        let url = format!("/v1/agents/{agent}/tools/{}/invoke", asked.name);
        let input = json!({ "input": asked.arguments });
        ask(&self.engine, &self.door, asked, (&url, &input), told).await
    }
}

fn told(answer: &Value) -> Outcome {
    match answer["status"] == "completed" {
        true => Outcome::done(answer["output"].to_string()),
        false => Outcome::failed(answer["error"].as_str().unwrap_or("it failed").to_owned()),
    }
}

/// Asks a door, as whoever asked us; `told` is what its answer says.
pub(super) async fn ask(
    engine: &Engine,
    door: &Router,
    asked: &Asked<'_>,
    (url, body): (&str, &Value),
    told: fn(&Value) -> Outcome,
) -> Outcome {
    let response = match request(asked, url, body) {
        Ok(request) => door.clone().oneshot(request).await,
        Err(outcome) => return outcome,
    };
    let response = match response {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let status = response.status();
    let bytes = match response.into_body().collect().await {
        Ok(bytes) => bytes.to_bytes(),
        Err(error) => return Outcome::failed(error.to_string()),
    };
    let size = bytes.len();
    let read = move || {
        let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if status == StatusCode::OK {
            return told(&body);
        }
        let message = body["error"]["message"].as_str().map(str::to_owned);
        Outcome::failed(message.unwrap_or_else(|| format!("it failed with {status}")))
    };
    let read = engine.written(size, read).await;
    read.unwrap_or_else(|error| Outcome::failed(error.to_string()))
}

fn request(asked: &Asked<'_>, url: &str, body: &Value) -> Result<Request<Body>, Outcome> {
    let failed = |why: String| Outcome::failed(why);
    // As the credential is: these doors turn it into a model's themselves, where they must.
    let identified = asked.extensions.get::<Identified>().cloned();
    let identified = identified.ok_or_else(|| failed("an API key is needed".to_owned()))?;
    let id = asked.context().map_err(|error| failed(error.to_string()))?.request;
    Request::post(url)
        .header(CONTENT_TYPE, "application/json")
        .extension(identified)
        .extension(id)
        .body(Body::from(body.to_string()))
        .map_err(|error| failed(error.to_string()))
}
