//! One client for every command, whichever way the server is reached: over TCP, over the socket of
//! the data directory, or inside this process when nobody else holds the directory.
//!
//! All three speak the same HTTP, so a command cannot behave differently. Every write carries an
//! idempotency key, so that a lost holder is replaced without doing anything twice. A client can be
//! cloned and asked many things at once.

use super::way::{Answered, Ask, Broken, Insistence, Wait, Way, fresh_key};
use crate::exit::{Exit, Failure};
use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Response, StatusCode};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

const BETA: HeaderName = HeaderName::from_static("anthropic-beta");
const BETA_VALUE: HeaderValue = HeaderValue::from_static("agent-memory-2026-07-22");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const AUDIENCE: HeaderName = HeaderName::from_static("loci-audience");
const MODEL: HeaderValue = HeaderValue::from_static("model");
/// How long a lost holder is tried to be replaced.
const RETRY_FOR: Duration = Duration::from_secs(10);

/// The way to the memories, and as whom to go.
#[derive(Clone)]
pub(crate) struct Client {
    way: Arc<Way>,
    key: Option<String>,
    is_model: bool,
    patience: Patience,
}

/// How long an answer is waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For how long a lost answer is asked for again.
    pub(crate) retry_for: Duration,
    /// Whether somebody who cannot be reached is tried again.
    pub(crate) outlasts_absence: bool,
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

    /// The stable code of the error.
    pub(crate) fn code(&self) -> Option<&str> {
        self.detail("code")
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

impl From<Broken> for Refused {
    fn from(broken: Broken) -> Self {
        Self::Failed(broken.into())
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

impl Client {
    /// Over a way that others use too.
    pub(crate) fn over(way: Arc<Way>, key: Option<String>) -> Self {
        let patience = Patience { retry_for: RETRY_FOR, outlasts_absence: false };
        Self { way, key, is_model: false, patience }
    }

    /// The same with another key.
    #[must_use]
    pub(crate) fn with_key(&self, key: Option<String>) -> Self {
        Self { key, ..self.clone() }
    }

    /// The same, for whoever waits longer or shorter.
    #[must_use]
    pub(crate) fn with_patience(&self, patience: Patience) -> Self {
        Self { patience, ..self.clone() }
    }

    /// The same for a model, which does not see what is internal.
    #[must_use]
    pub(crate) fn as_model(&self) -> Self {
        Self { is_model: true, ..self.clone() }
    }

    /// Reads.
    pub(crate) async fn get(&self, target: &str) -> Result<Value, Refused> {
        self.exchange(Method::GET, target, None, Repeat::Safe).await
    }

    /// Reads; the answer is given as it came, for whoever reads much.
    pub(crate) async fn get_bytes(&self, target: &str) -> Result<Bytes, Refused> {
        let ask = self.request(Method::GET, target)?;
        self.bytes(&ask, Repeat::Safe).await
    }

    /// Writes, once whatever happens; body and answer are JSON as it goes over the wire. Under the
    /// idempotency key of an earlier request, it is that request once more.
    pub(crate) async fn post_bytes(
        &self,
        target: &str,
        body: Bytes,
        key: Option<&str>,
    ) -> Result<Bytes, Refused> {
        let mut ask = self.writing(Method::POST, target, Some(body))?;
        if let Some(key) = key {
            let key = HeaderValue::try_from(key).map_err(|_| Failure::usage("not a key"))?;
            ask.headers.insert(IDEMPOTENCY_KEY, key);
        }
        self.bytes(&ask, Repeat::Safe).await
    }

    /// Reads with a body: there is nothing to be remembered and nothing to be done twice.
    pub(crate) async fn ask(&self, target: &str, body: &Value) -> Result<Value, Refused> {
        let mut ask = self.request(Method::POST, target)?;
        ask.headers.insert(CONTENT_TYPE, JSON);
        ask.body = Some(Bytes::from(body.to_string()));
        self.whole(&ask, Repeat::Safe).await
    }

    /// Writes, once whatever happens.
    pub(crate) async fn post(&self, target: &str, body: &Value) -> Result<Value, Refused> {
        self.exchange(Method::POST, target, Some(body), Repeat::Safe).await
    }

    /// Writes something whose answer is given only once, such as a secret.
    pub(crate) async fn post_once(&self, target: &str, body: &Value) -> Result<Value, Refused> {
        self.exchange(Method::POST, target, Some(body), Repeat::Never).await
    }

    /// Makes it so, once or again.
    pub(crate) async fn put(&self, target: &str, body: &Value) -> Result<Value, Refused> {
        self.exchange(Method::PUT, target, Some(body), Repeat::Safe).await
    }

    /// Deletes.
    pub(crate) async fn delete(&self, target: &str) -> Result<Value, Refused> {
        self.exchange(Method::DELETE, target, None, Repeat::Safe).await
    }

    /// Reads something large; the body comes as it is made.
    pub(crate) async fn download(&self, target: &str) -> Result<Body, Refused> {
        let ask = Ask { wait: Wait::Head, ..self.request(Method::GET, target)? };
        let answered = self.way.ask(&ask, self.insistence(Repeat::Safe)).await?;
        Ok(succeeded(body_of(answered)).await?.into_body())
    }

    /// Writes something large, sent as it is read.
    pub(crate) async fn upload(&self, target: &str, body: Body) -> Result<Value, Refused> {
        let mut ask = self.request(Method::POST, target)?;
        ask.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
        let answered = self.way.ask_once(&ask, body).await?;
        read(&collect(succeeded(body_of(answered)).await?).await?)
    }

    /// Gives back what the client holds; others may be asking it for something still.
    pub(crate) async fn close(self) {
        self.way.close().await;
    }

    async fn exchange(
        &self,
        method: Method,
        target: &str,
        body: Option<&Value>,
        repeat: Repeat,
    ) -> Result<Value, Refused> {
        let body = body.map(|body| Bytes::from(body.to_string()));
        let ask = match method {
            Method::GET => self.request(method, target)?,
            _ => self.writing(method, target, body)?,
        };
        self.whole(&ask, repeat).await
    }

    async fn whole(&self, ask: &Ask<'_>, repeat: Repeat) -> Result<Value, Refused> {
        read(&self.bytes(ask, repeat).await?)
    }

    async fn bytes(&self, ask: &Ask<'_>, repeat: Repeat) -> Result<Bytes, Refused> {
        let answered = self.way.ask(ask, self.insistence(repeat)).await?;
        collect(succeeded(body_of(answered)).await?).await
    }

    /// A request that may arrive twice and happens once.
    fn writing<'a>(
        &self,
        method: Method,
        target: &'a str,
        body: Option<Bytes>,
    ) -> Result<Ask<'a>, Failure> {
        let mut ask = self.request(method, target)?;
        let key = HeaderValue::try_from(fresh_key("cli")).expect("hex digits are plain");
        ask.headers.insert(IDEMPOTENCY_KEY, key);
        if body.is_some() {
            ask.headers.insert(CONTENT_TYPE, JSON);
        }
        Ok(Ask { body, ..ask })
    }

    fn insistence(&self, repeat: Repeat) -> Insistence {
        let Patience { retry_for, outlasts_absence } = self.patience;
        Insistence { retry_for, outlasts_absence, is_repeatable: repeat == Repeat::Safe }
    }

    fn request<'a>(&self, method: Method, target: &'a str) -> Result<Ask<'a>, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(BETA, BETA_VALUE);
        if self.is_model {
            headers.insert(AUDIENCE, MODEL);
        }
        if let Some(key) = &self.key {
            headers.insert(AUTHORIZATION, bearer(key)?);
        }
        Ok(Ask { method, target, headers, body: None, wait: Wait::All })
    }
}

/// A key as a header carries it.
pub(crate) fn bearer(key: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
        .map_err(|_| Failure::usage("the key has characters no key has"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn body_of(answered: Answered) -> Response<Body> {
    match answered {
        Answered::Whole(response) => response.map(Body::from),
        Answered::Stream(response) => response,
    }
}

async fn succeeded(response: Response<Body>) -> Result<Response<Body>, Refused> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    // An answer without our envelope comes from something in between.
    let body = collect(response).await.and_then(|bytes| read(&bytes)).unwrap_or(Value::Null);
    Err(Refused::Answer { status, body })
}

async fn collect(response: Response<Body>) -> Result<Bytes, Refused> {
    let bytes = response.into_body().collect().await;
    Ok(bytes.map_err(|error| Broken::Connection(error.to_string()))?.to_bytes())
}

fn read(bytes: &[u8]) -> Result<Value, Refused> {
    serde_json::from_slice(bytes)
        .map_err(|_| Failure::failed("the answer is not one of a loci server").into())
}
