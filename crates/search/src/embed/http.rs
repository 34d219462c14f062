//! An embedder behind HTTP: any endpoint that speaks the `/embeddings` request of OpenAI.
//!
//! The other side is not trusted to answer well: size, count, order, dimension and every number are
//! checked before a vector is let in. Errors are built from fixed words and status codes only, never
//! from the endpoint's text or address, either of which may hold the key.

use super::{EmbedError, Embedder, Purpose, normalized};
use crate::vector::DIMS_MAX;
use serde::Deserialize;
use serde_json::json;
use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};
use ureq::http::{Response, StatusCode, Uri, header};
use ureq::{Agent, Body, Proxy};

/// Texts are cut here; passages and questions are far shorter.
const TEXT_BYTES_MAX: usize = 32_768;
const BATCH_MAX: usize = 2_048;
/// A number in JSON, its comma, and what pretty printing puts around it.
const NUMBER_BYTES_MAX: u64 = 48;
const ANSWER_BYTES_BESIDE: u64 = 65_536;
const BACKOFF_FIRST: Duration = Duration::from_millis(250);
const BACKOFF_MAX: Duration = Duration::from_secs(8);
/// However long the endpoint asks to be left alone, ask again after this.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);
/// English text has about four bytes a token, other scripts fewer.
const BYTES_PER_TOKEN: usize = 3;

/// How to reach an endpoint.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// The endpoint, or what comes before its `/embeddings`, such as `https://host/v1`.
    pub url: String,
    /// The model to ask for.
    pub model: String,
    /// Sent as a bearer token, if there is one.
    pub api_key: Option<EndpointKey>,
    /// The dimension of the model's vectors; an answer with another is refused.
    pub dims: usize,
    /// For one attempt; for all attempts together when somebody waits for a query.
    pub timeout: Duration,
    /// How often to try again after a failure that may pass.
    pub retries: u32,
    /// The most texts in one request.
    pub batch_max: usize,
}

/// The key of an endpoint. Never shows in `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct EndpointKey(String);

impl EndpointKey {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
}

impl fmt::Debug for EndpointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EndpointKey(…)")
    }
}

/// Embeds by asking an endpoint.
pub struct HttpEmbedder {
    config: HttpConfig,
    name: String,
    endpoint: Uri,
    authorization: Option<header::HeaderValue>,
    agent: Agent,
}

impl HttpEmbedder {
    /// Checks the configuration; asks the endpoint nothing yet.
    pub fn new(config: HttpConfig) -> Result<Self, EmbedError> {
        let refuse = |why: &str| Err(EmbedError::Refused(why.into()));
        let Some(endpoint) = endpoint(&config.url) else {
            return refuse("its url is not an http or https address without user and password");
        };
        if config.model.is_empty() {
            return refuse("its model has no name");
        }
        if !(1..=DIMS_MAX).contains(&config.dims) {
            return refuse("its dimension is out of range");
        }
        if !(1..=BATCH_MAX).contains(&config.batch_max) || config.timeout.is_zero() {
            return refuse("its batch or its timeout is out of range");
        }
        let authorization = match &config.api_key {
            None => None,
            Some(EndpointKey(key)) => {
                match header::HeaderValue::try_from(format!("Bearer {key}")) {
                    Ok(mut value) => {
                        value.set_sensitive(true);
                        Some(value)
                    }
                    Err(_) => return refuse("its key has characters a header cannot carry"),
                }
            }
        };
        // The endpoint is the one that was configured: a redirect is an answer, not an order.
        let agent = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(proxy_for(&endpoint))
            .build();
        let name = format!("http/{}/{}", config.model, config.dims);
        Ok(Self { name, endpoint, authorization, agent: agent.into(), config })
    }

    /// Asks for one batch, again and again while that may help.
    fn ask(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let started = Instant::now();
        let mut backoff = BACKOFF_FIRST;
        let mut retries = self.config.retries;
        loop {
            let timeout = match purpose {
                Purpose::Query => self.config.timeout.saturating_sub(started.elapsed()),
                Purpose::Passage => self.config.timeout,
            };
            let failure = match self.ask_once(texts, timeout) {
                Ok(vectors) => return Ok(vectors),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(failure)) => failure,
            };
            let wait = failure.retry_after.unwrap_or(backoff).min(RETRY_AFTER_MAX);
            let too_late = started.elapsed() + wait >= self.config.timeout;
            if retries == 0 || (purpose == Purpose::Query && too_late) {
                return Err(EmbedError::Unavailable(failure.why));
            }
            sleep(wait);
            retries -= 1;
            backoff = (backoff * 2).min(BACKOFF_MAX);
        }
    }

    fn ask_once(&self, texts: &[&str], timeout: Duration) -> Result<Vec<Vec<f32>>, Failure> {
        let body = json!({
            "model": self.config.model, "input": texts, "encoding_format": "float",
        });
        let body = body.to_string();
        let mut request = self.agent.post(self.endpoint.clone()).content_type("application/json");
        if let Some(key) = &self.authorization {
            request = request.header(header::AUTHORIZATION, key.clone());
        }
        let request = request.config().timeout_global(Some(timeout)).build();
        let mut answer = request.send(&body).map_err(|e| Failure::of(&e))?;
        check_status(&answer)?;
        let numbers = (texts.len() * self.config.dims) as u64;
        let limit = numbers * NUMBER_BYTES_MAX + ANSWER_BYTES_BESIDE;
        let bytes = answer.body_mut().with_config().limit(limit).read_to_vec();
        let bytes = bytes.map_err(|e| Failure::of(&e))?;
        vectors_of(&bytes, texts.len(), self.config.dims).map_err(Failure::bad)
    }
}

impl Embedder for HttpEmbedder {
    fn model(&self) -> &str {
        &self.name
    }

    fn dims(&self) -> usize {
        self.config.dims
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let cut = |text: &&'_ str| text.floor_char_boundary(TEXT_BYTES_MAX);
        let texts: Vec<&str> = texts.iter().map(|text| &text[..cut(text)]).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.config.batch_max) {
            vectors.extend(self.ask(batch, purpose)?);
        }
        Ok(vectors)
    }

    fn tokens(&self, text: &str) -> usize {
        text.len().div_ceil(BYTES_PER_TOKEN)
    }
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Why one attempt failed, and whether another may not.
enum Failure {
    Passing(Passing),
    Final(EmbedError),
}

struct Passing {
    why: String,
    retry_after: Option<Duration>,
}

impl Failure {
    fn passing(why: impl Into<String>) -> Self {
        Self::Passing(Passing { why: why.into(), retry_after: None })
    }

    fn refused(why: impl Into<String>) -> Self {
        Self::Final(EmbedError::Refused(why.into()))
    }

    fn bad(why: &str) -> Self {
        Self::Final(EmbedError::Bad(why.into()))
    }

    /// The client's own words may hold the address, so they are not used.
    fn of(error: &ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::passing("no answer in time"),
            ureq::Error::Io(e) => Self::passing(format!("the connection failed ({:?})", e.kind())),
            ureq::Error::HostNotFound => Self::passing("its host name is not known"),
            ureq::Error::ConnectionFailed | ureq::Error::BodyStalled => {
                Self::passing("the connection failed")
            }
            ureq::Error::ConnectProxyFailed(_) => Self::passing("the proxy does not connect"),
            ureq::Error::BodyExceedsLimit(_) => Self::bad("longer than its vectors need"),
            ureq::Error::Protocol(_) => Self::bad("not HTTP"),
            ureq::Error::Rustls(_) | ureq::Error::Tls(_) => {
                Self::refused("TLS does not come about")
            }
            _ => Self::refused("the request cannot be sent"),
        }
    }
}

/// Lets success through.
fn check_status(answer: &Response<Body>) -> Result<(), Failure> {
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    let why = format!("status {}", status.as_u16());
    let passes = status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if !passes {
        return Err(Failure::refused(why));
    }
    let retry_after = answer.headers().get(header::RETRY_AFTER);
    let seconds = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
    Err(Failure::Passing(Passing { why, retry_after: seconds.map(Duration::from_secs) }))
}

/// The vectors of an answer in the order of the texts, or what is wrong with it.
fn vectors_of(bytes: &[u8], count: usize, dims: usize) -> Result<Vec<Vec<f32>>, &'static str> {
    // A number that is none cannot be written in JSON: null and words fail here.
    let answer: Answer = serde_json::from_slice(bytes).map_err(|_| "not vectors in JSON")?;
    if answer.data.len() != count {
        return Err("another number of vectors than of texts");
    }
    let mut vectors = vec![Vec::new(); count];
    for (place, Embedding { index, embedding }) in answer.data.into_iter().enumerate() {
        if embedding.len() != dims {
            return Err("a vector of another dimension");
        }
        let vector = normalized(embedding).ok_or("a vector without direction")?;
        match vectors.get_mut(index.unwrap_or(place)) {
            Some(slot) if slot.is_empty() => *slot = vector,
            _ => return Err("vectors out of order"),
        }
    }
    Ok(vectors)
}

/// The address to post to; none if it is not one, or carries a password.
fn endpoint(url: &str) -> Option<Uri> {
    const PATH: &str = "/embeddings";
    let (base, query) =
        url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let base = base.trim_end_matches('/');
    let path = if base.ends_with(PATH) { "" } else { PATH };
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let uri: Uri = format!("{base}{path}{query}").parse().ok()?;
    let is_web = matches!(uri.scheme_str()?, "http" | "https");
    let authority = uri.authority()?;
    (is_web && !authority.host().is_empty() && !authority.as_str().contains('@')).then_some(uri)
}

/// The environment's proxy, except to this machine.
fn proxy_for(endpoint: &Uri) -> Option<Proxy> {
    let host = endpoint.host()?.trim_matches(['[', ']']);
    let is_here = host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    if is_here { None } else { Proxy::try_from_env() }
}
