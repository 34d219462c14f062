//! One client for every command, whichever way the server is reached: over TCP, over the socket of
//! the data directory, or inside this process when nobody else holds the directory.
//!
//! All three speak the same HTTP, so a command cannot behave differently. A process that holds the
//! directory may end at any moment; every write carries an idempotency key, so the client takes the
//! directory itself, or asks the next holder, without doing anything twice.

use super::reach::{self, Lane, Origin};
use crate::exit::{Exit, Failure};
use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use loci_engine::seam::Seams;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

const BETA: HeaderName = HeaderName::from_static("anthropic-beta");
const BETA_VALUE: HeaderValue = HeaderValue::from_static("agent-memory-2026-07-22");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// How long a lost holder is tried to be replaced.
const RETRY_FOR: Duration = Duration::from_secs(10);

/// The way to the memories.
pub(crate) struct Client {
    origin: Origin,
    key: Option<String>,
    lane: Option<Lane>,
}

/// What came back instead of a success.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The server said no.
    Answer { status: StatusCode, body: Value },
    /// There is no answer.
    Failed(Failure),
}

impl Refused {
    /// A field of the error, such as `conflicting_path`.
    pub(crate) fn detail(&self, name: &str) -> Option<&str> {
        match self {
            Self::Answer { body, .. } => body["error"][name].as_str(),
            Self::Failed(_) => None,
        }
    }

    pub(crate) fn is(&self, status: StatusCode) -> bool {
        matches!(self, Self::Answer { status: found, .. } if *found == status)
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Failed(failure) => failure,
            Refused::Answer { status, ref body } => {
                let exit = Exit::from_status(status.as_u16());
                match body["error"]["message"].as_str() {
                    Some(message) => Self::new(exit, message.replace('\n', " ")),
                    None => Self::new(exit, format!("the server answered {status}")),
                }
            }
        }
    }
}

/// Whether a request may be sent a second time when its answer is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    /// It only reads, or carries an idempotency key.
    Safe,
    /// Its answer cannot be had twice.
    Never,
}

/// A request that can be built again.
struct Call<'a> {
    method: Method,
    target: &'a str,
    body: Option<Bytes>,
    idempotency: Option<String>,
}

/// What went wrong on the way, and whether another way may work.
pub(crate) enum Broken {
    /// The connection is gone; nobody knows whether the request was done.
    Connection(String),
    /// Asking again would not help.
    Failed(Failure),
}

impl From<Broken> for Refused {
    fn from(broken: Broken) -> Self {
        Self::Failed(match broken {
            Broken::Failed(failure) => failure,
            Broken::Connection(why) => Failure::failed(format!("the connection was lost: {why}")),
        })
    }
}

impl Client {
    pub(crate) fn new(origin: Origin, key: Option<String>) -> Self {
        Self { origin, key, lane: None }
    }

    /// Reads.
    pub(crate) async fn get(&mut self, target: &str) -> Result<Value, Refused> {
        self.exchange(Method::GET, target, None, Repeat::Safe).await
    }

    /// Reads with a body: there is nothing to be remembered and nothing to be done twice.
    pub(crate) async fn ask(&mut self, target: &str, body: &Value) -> Result<Value, Refused> {
        let body = Some(Bytes::from(body.to_string()));
        let call = Call { method: Method::POST, target, body, idempotency: None };
        let response = self.insist(&call, Repeat::Safe, Wait::ForAll).await?;
        parse(succeeded(response).await?).await
    }

    /// Writes, once whatever happens.
    pub(crate) async fn post(&mut self, target: &str, body: &Value) -> Result<Value, Refused> {
        self.exchange(Method::POST, target, Some(body), Repeat::Safe).await
    }

    /// Writes something whose answer is given only once, such as a secret.
    pub(crate) async fn post_once(&mut self, target: &str, body: &Value) -> Result<Value, Refused> {
        self.exchange(Method::POST, target, Some(body), Repeat::Never).await
    }

    /// Makes it so, once or again.
    pub(crate) async fn put(&mut self, target: &str, body: &Value) -> Result<Value, Refused> {
        self.exchange(Method::PUT, target, Some(body), Repeat::Safe).await
    }

    /// Deletes.
    pub(crate) async fn delete(&mut self, target: &str) -> Result<Value, Refused> {
        self.exchange(Method::DELETE, target, None, Repeat::Safe).await
    }

    /// Reads something large; the body comes as it is made.
    pub(crate) async fn download(&mut self, target: &str) -> Result<Body, Refused> {
        let call = Call { method: Method::GET, target, body: None, idempotency: None };
        let response = self.insist(&call, Repeat::Safe, Wait::ForHead).await?;
        Ok(succeeded(response).await?.into_body())
    }

    /// Writes something large, sent as it is read.
    pub(crate) async fn upload(&mut self, target: &str, body: Body) -> Result<Value, Refused> {
        let call = Call { method: Method::POST, target, body: None, idempotency: None };
        let mut request = self.request(&call)?;
        let lines = HeaderValue::from_static("application/x-ndjson");
        request.headers_mut().insert(CONTENT_TYPE, lines);
        *request.body_mut() = body;
        let response = self.send(request).await?;
        parse(succeeded(response).await?).await
    }

    /// Gives back what the client holds; others may be asking it for something still.
    pub(crate) async fn close(self) {
        if let Some(Lane::Here(answering)) = self.lane {
            answering.release().await;
        }
    }

    async fn exchange(
        &mut self,
        method: Method,
        target: &str,
        body: Option<&Value>,
        repeat: Repeat,
    ) -> Result<Value, Refused> {
        let is_write = method != Method::GET;
        let call = Call {
            method,
            target,
            body: body.map(|body| Bytes::from(body.to_string())),
            idempotency: (is_write && repeat == Repeat::Safe).then(fresh_key),
        };
        let response = self.insist(&call, repeat, Wait::ForAll).await?;
        parse(succeeded(response).await?).await
    }

    /// Sends until there is an answer, reaching for the next holder when one is lost.
    async fn insist(
        &mut self,
        call: &Call<'_>,
        repeat: Repeat,
        wait: Wait,
    ) -> Result<Response<Body>, Refused> {
        let deadline = Instant::now() + RETRY_FOR;
        loop {
            let request = self.request(call)?;
            let answer = match (self.send(request).await, wait) {
                (Ok(response), Wait::ForAll) => whole(response).await,
                (answer, _) => answer,
            };
            match answer {
                Ok(response) => return Ok(response),
                Err(Broken::Connection(_))
                    if repeat == Repeat::Safe && !self.is_here() && Instant::now() < deadline =>
                {
                    self.lane = None;
                    tokio::time::sleep(reach::POLL).await;
                }
                Err(broken) => return Err(broken.into()),
            }
        }
    }

    /// Whether this process is the one that answers: then there is no other to turn to.
    fn is_here(&self) -> bool {
        matches!(self.lane, Some(Lane::Here(_)))
    }

    fn request(&self, call: &Call<'_>) -> Result<Request<Body>, Failure> {
        let mut request = Request::builder()
            .method(&call.method)
            .uri(self.origin.target(call.target))
            .header(HOST, self.origin.host())
            .header(BETA, BETA_VALUE);
        if let Some(key) = &self.key {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
                .map_err(|_| Failure::usage("the key has characters no key has"))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        if let Some(key) = &call.idempotency {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        if call.body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let body = call.body.clone().map_or_else(Body::empty, Body::from);
        request.body(body).map_err(|error| Failure::usage(format!("not a request: {error}")))
    }

    async fn send(&mut self, request: Request<Body>) -> Result<Response<Body>, Broken> {
        if self.lane.as_ref().is_none_or(Lane::is_closed) {
            self.lane = Some(self.origin.reach().await.map_err(Broken::Failed)?);
        }
        let lane = self.lane.as_mut().expect("just reached");
        lane.send(request).await
    }
}

/// How much of an answer has to be here before it counts.
#[derive(Debug, Clone, Copy)]
enum Wait {
    ForHead,
    ForAll,
}

/// Reads a body to its end, so that one that is cut off counts as no answer.
async fn whole(response: Response<Body>) -> Result<Response<Body>, Broken> {
    let (parts, body) = response.into_parts();
    match body.collect().await {
        Ok(collected) => Ok(Response::from_parts(parts, Body::from(collected.to_bytes()))),
        Err(error) => Err(Broken::Connection(error.to_string())),
    }
}

async fn succeeded(response: Response<Body>) -> Result<Response<Body>, Refused> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    // An answer without our envelope comes from something in between.
    let body = parse(response).await.unwrap_or(Value::Null);
    Err(Refused::Answer { status, body })
}

async fn parse(response: Response<Body>) -> Result<Value, Refused> {
    let bytes = whole(response).await?.into_body().collect().await;
    let bytes = bytes.map_err(|error| Broken::Connection(error.to_string()))?.to_bytes();
    serde_json::from_slice(&bytes)
        .map_err(|_| Failure::failed("the answer is not one of a loci server").into())
}

fn fresh_key() -> String {
    let mut random = [0u8; 16];
    Seams::real().fill(&mut random);
    format!("cli-{}", hex::encode(random))
}
