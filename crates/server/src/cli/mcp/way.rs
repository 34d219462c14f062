//! The way from a relay to whoever has the memories. It changes while the relay runs: the process that
//! holds a data directory may end at any moment, and then another holds it, or this one does.
//!
//! A request whose answer was lost is sent again under the same idempotency key, so it happens once.

use super::super::client::Broken;
use super::super::reach::{Lane, Origin, POLL};
use super::message::Request as Message;
use crate::background;
use crate::exit::Failure;
use crate::mcp::{PATH, PROFILES, Profiles};
use crate::wire::Answering;
use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{Request, Response};
use loci_engine::seam::Seams;
use loci_http::LocalOperator;
use loci_mcp::RELAYED;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tower::ServiceExt;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// How long an answer is tried to be had.
const RETRY_FOR: Duration = Duration::from_secs(30);
/// Connections that wait for the next message.
const IDLE_MAX: usize = 4;

/// The way, shared by all messages.
pub(super) struct Way {
    origin: Origin,
    key: Option<String>,
    profiles: Option<Profiles>,
    standing: Mutex<Standing>,
}

/// How the memories are reached at the moment.
#[derive(Default)]
struct Standing {
    /// This process has them.
    here: Option<Here>,
    /// Connections to whoever has them.
    idle: Vec<SendRequest<Body>>,
}

struct Here {
    answering: Box<Answering>,
    working: [JoinHandle<()>; 2],
}

/// A way for one message.
enum Path {
    Here(Router, LocalOperator),
    Wire(SendRequest<Body>),
}

/// An answer.
pub(super) enum Answered {
    /// All of it.
    Whole(Response<Bytes>),
    /// Its head; the rest comes as it happens.
    Stream(Response<Body>),
}

impl Way {
    pub(super) fn new(origin: Origin, key: Option<String>, profiles: Option<Profiles>) -> Self {
        Self { origin, key, profiles, standing: Mutex::default() }
    }

    /// Reaches the memories, or says why they cannot be reached.
    pub(super) async fn begin(&self) -> Result<(), Failure> {
        if let Path::Wire(sender) = self.path().await? {
            self.put_back(sender).await;
        }
        Ok(())
    }

    /// Sends a message until it is answered. `version` is what the client agreed on, for messages that
    /// do not say it themselves.
    pub(super) async fn ask(
        &self,
        message: &Message,
        version: Option<&str>,
    ) -> Result<Answered, Failure> {
        let deadline = Instant::now() + RETRY_FOR;
        let body = Bytes::from(message.whole.to_string());
        let idempotency = message.is_call().then(fresh_key);
        loop {
            let request = self.request(message, version, idempotency.as_deref(), body.clone())?;
            let failure = match self.path().await {
                Err(failure) => failure,
                Ok(path) => match self.send(path, request).await {
                    Ok(answered) => return Ok(answered),
                    Err(Broken::Failed(failure)) => return Err(failure),
                    Err(Broken::Connection(why)) if message.is_repeatable() => {
                        Failure::failed(format!("the connection was lost: {why}"))
                    }
                    Err(Broken::Connection(_)) => {
                        return Err(Failure::failed(
                            "the connection was lost, and nobody knows whether this was done; look \
                             before you try it again",
                        ));
                    }
                },
            };
            if Instant::now() >= deadline {
                return Err(failure);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Gives back what this process holds; others may be asking it for something still.
    pub(super) async fn close(&self) {
        let here = self.standing.lock().await.here.take();
        if let Some(Here { answering, working }) = here {
            answering.stop();
            for work in working {
                work.abort();
                let _ = work.await;
            }
            answering.release().await;
        }
    }

    /// The way as it is now. Only one message looks for a new one at a time.
    async fn path(&self) -> Result<Path, Failure> {
        let mut standing = self.standing.lock().await;
        if let Some(here) = &standing.here {
            return Ok(Path::Here(here.answering.router(), here.answering.operator()));
        }
        while let Some(sender) = standing.idle.pop() {
            if !sender.is_closed() {
                return Ok(Path::Wire(sender));
            }
        }
        match self.origin.reach().await? {
            Lane::Wire(sender) => Ok(Path::Wire(sender)),
            Lane::Here(answering) => {
                let path = Path::Here(answering.router(), answering.operator());
                let engine = || answering.engine().clone();
                let working = [
                    tokio::spawn(background::sweep(engine(), answering.stopping())),
                    tokio::spawn(background::compact(engine(), answering.stopping())),
                ];
                standing.here = Some(Here { answering, working });
                Ok(path)
            }
        }
    }

    async fn send(&self, path: Path, mut request: Request<Body>) -> Result<Answered, Broken> {
        let (response, sender) = match path {
            Path::Here(router, operator) => {
                request.extensions_mut().insert(operator);
                match router.oneshot(request).await {
                    Ok(response) => (response, None),
                    Err(never) => match never {},
                }
            }
            Path::Wire(mut sender) => {
                let gone = |error: hyper::Error| Broken::Connection(error.to_string());
                sender.ready().await.map_err(gone)?;
                let response = sender.send_request(request).await.map_err(gone)?;
                (response.map(Body::new), Some(sender))
            }
        };
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            // The connection is busy until the stream ends.
            if let Some(sender) = sender {
                tokio::spawn(keep(sender));
            }
            return Ok(Answered::Stream(response));
        }
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| Broken::Connection(error.to_string()))?;
        if let Some(sender) = sender {
            self.put_back(sender).await;
        }
        Ok(Answered::Whole(Response::from_parts(parts, body.to_bytes())))
    }

    async fn put_back(&self, sender: SendRequest<Body>) {
        let mut standing = self.standing.lock().await;
        if standing.idle.len() < IDLE_MAX {
            standing.idle.push(sender);
        }
    }

    fn request(
        &self,
        message: &Message,
        version: Option<&str>,
        idempotency: Option<&str>,
        body: Bytes,
    ) -> Result<Request<Body>, Failure> {
        let mut request = Request::post(self.origin.target(PATH))
            .header(HOST, self.origin.host())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header(RELAYED, "1")
            .header(METHOD, &message.method);
        let given = [
            (VERSION, message.version().or(version).map(str::to_owned)),
            (NAME, message.name()),
            (IDEMPOTENCY_KEY, idempotency.map(str::to_owned)),
            (PROFILES, self.profiles.map(Profiles::spelled)),
        ];
        for (name, value) in given {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        if let Some(key) = &self.key {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
                .map_err(|_| Failure::usage("the key has characters no key has"))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let whole = request.body(Body::from(body));
        whole.map_err(|error| Failure::failed(format!("this cannot be asked: {error}")))
    }
}

/// Keeps a connection open while its stream is read: dropping the sender would end it.
async fn keep(mut sender: SendRequest<Body>) {
    let _ = sender.ready().await;
}

fn fresh_key() -> String {
    let mut random = [0u8; 16];
    Seams::real().fill(&mut random);
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("mcp-{digits}")
}
