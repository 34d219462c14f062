//! The way to whoever has the memories, shared by everything that one process asks. It changes while
//! the process runs: whoever holds a data directory may end at any moment, and then another holds it,
//! or this process does.
//!
//! Any number of requests are under way at once. A request whose answer was lost is sent again, if it
//! may be; whoever writes puts an idempotency key on it, so it happens once. Taking a directory goes on
//! when the request that began it is given up, so that impatient callers do not keep it from opening.
//!
//! A directory that this process has open is given to a server that asks for it: writes and downloads
//! of this process end first, requests that come meanwhile wait, and go to the server then.

use super::reach::{Lane, Origin, POLL};
use crate::background;
use crate::exit::Failure;
use crate::wire::Answering;
use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap};
use hyper::{Method, Request, Response};
use loci_engine::seam::Seams;
use loci_http::LocalOperator;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tower::ServiceExt;

/// Connections that wait for the next request.
const IDLE_MAX: usize = 64;

/// The way.
pub(crate) struct Way {
    origin: Origin,
    upkeep: Upkeep,
    standing: Mutex<Standing>,
    /// Held by whoever is taking a directory: one is enough.
    reaching: tokio::sync::Mutex<()>,
    /// Held while this process gives a place back.
    releasing: tokio::sync::Mutex<()>,
}

/// Whether this process does the work of a server while it holds a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upkeep {
    /// It is gone in a moment.
    None,
    /// It stays: somebody has to sweep and compact.
    Standing,
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
    working: Vec<JoinHandle<()>>,
    /// Cloned by everything that has to end here.
    busy: Busy,
    /// Ends with the last clone.
    idle: mpsc::Receiver<Infallible>,
}

/// Kept by a write or a download while it lasts: it cannot be continued elsewhere.
type Busy = mpsc::Sender<Infallible>;

/// A way for one request.
enum Path {
    Here(Router, LocalOperator, Busy),
    Wire(SendRequest<Body>),
}

/// A request that can be built again.
pub(crate) struct Ask<'a> {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) target: &'a str,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
    pub(crate) wait: Wait,
}

/// How much of an answer has to be here before it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The head; the body comes as it is made.
    Head,
    /// All, unless it is a stream of events.
    AllButEvents,
    /// All, so that an answer that is cut off counts as none.
    All,
}

/// How hard an answer is tried to be had.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Insistence {
    pub(crate) retry_for: Duration,
    /// Whether the request may be sent a second time when its answer is lost.
    pub(crate) is_repeatable: bool,
    /// Whether somebody who cannot be reached now is tried again.
    pub(crate) outlasts_absence: bool,
}

/// An answer.
pub(crate) enum Answered {
    /// All of it.
    Whole(Response<Bytes>),
    /// Its head; the rest comes as it happens.
    Stream(Response<Body>),
}

/// What went wrong on the way.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The connection is gone; nobody knows whether the request was done.
    Connection(String),
    /// It was not done.
    Failed(Failure),
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Failed(failure) => failure,
            Broken::Connection(why) => Self::failed(format!("the connection was lost: {why}")),
        }
    }
}

impl Way {
    pub(crate) fn new(origin: Origin, upkeep: Upkeep) -> Arc<Self> {
        let (standing, reaching, releasing) = Default::default();
        Arc::new(Self { origin, upkeep, standing, reaching, releasing })
    }

    /// Reaches the memories, or says why they cannot be reached.
    pub(crate) async fn begin(self: &Arc<Self>) -> Result<(), Failure> {
        if let Path::Wire(sender) = self.path().await? {
            self.put_back(sender);
        }
        Ok(())
    }

    /// Sends a request until it is answered, reaching for the next holder when one is lost.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        ask: &Ask<'_>,
        insistence: Insistence,
    ) -> Result<Answered, Broken> {
        let deadline = Instant::now() + insistence.retry_for;
        loop {
            let request = self.request(ask)?;
            let (broken, may_pass) = match self.path().await {
                Err(failure) => (Broken::Failed(failure), insistence.outlasts_absence),
                Ok(path) => {
                    // Where this process answers, there is no other to turn to.
                    let is_wire = matches!(path, Path::Wire(_));
                    match self.send(path, request, ask.wait).await {
                        Ok(answered) => return Ok(answered),
                        Err(broken) => (broken, is_wire && insistence.is_repeatable),
                    }
                }
            };
            if !may_pass || Instant::now() >= deadline {
                return Err(broken);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Sends a request whose body can be sent once only.
    pub(crate) async fn ask_once(
        self: &Arc<Self>,
        ask: &Ask<'_>,
        body: Body,
    ) -> Result<Answered, Broken> {
        let mut request = self.request(ask)?;
        *request.body_mut() = body;
        let path = self.path().await.map_err(Broken::Failed)?;
        self.send(path, request, ask.wait).await
    }

    /// Gives back what this process holds; others may be asking it for something still.
    pub(crate) async fn close(&self) {
        let _turn = self.releasing.lock().await;
        let here = self.standing().here.take();
        if let Some(Here { answering, working, .. }) = here {
            release(answering, working).await;
        }
    }

    /// Gives a server what this process holds.
    async fn hand_over(&self) {
        let _turn = self.releasing.lock().await;
        let here = self.standing().here.take();
        if let Some(Here { answering, working, busy, mut idle }) = here {
            drop(busy);
            // The socket answers until then, so that the server knows that it is waited for.
            while idle.recv().await.is_some() {}
            release(answering, working).await;
        }
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way as it is now.
    async fn path(self: &Arc<Self>) -> Result<Path, Failure> {
        if let Some(path) = self.known() {
            return Ok(path);
        }
        let way = Arc::clone(self);
        let reached = tokio::spawn(async move { way.reach().await }).await;
        reached
            .map_err(|error| Failure::failed(format!("reaching the memories failed: {error}")))?
    }

    fn known(&self) -> Option<Path> {
        let mut standing = self.standing();
        if let Some(here) = &standing.here {
            return Some(here.path());
        }
        while let Some(sender) = standing.idle.pop() {
            if !sender.is_closed() {
                return Some(Path::Wire(sender));
            }
        }
        None
    }

    async fn reach(self: Arc<Self>) -> Result<Path, Failure> {
        let _turn = match self.origin {
            // Connections to a server are opened side by side.
            Origin::Server { .. } => None,
            Origin::Place { .. } => Some(self.reaching.lock().await),
        };
        // What this process is giving back is not to be reached any more.
        drop(self.releasing.lock().await);
        if let Some(path) = self.known() {
            return Ok(path);
        }
        match self.origin.reach().await? {
            Lane::Wire(sender) => Ok(Path::Wire(sender)),
            Lane::Here(answering) => {
                let engine = || answering.engine().clone();
                let working = match self.upkeep {
                    Upkeep::None => Vec::new(),
                    Upkeep::Standing => vec![
                        tokio::spawn(background::sweep(engine(), answering.stopping())),
                        tokio::spawn(background::compact(engine(), answering.stopping())),
                    ],
                };
                let (busy, idle) = mpsc::channel(1);
                tokio::spawn(heed(Arc::downgrade(&self), answering.asked_for()));
                let here = Here { answering, working, busy, idle };
                let path = here.path();
                self.standing().here = Some(here);
                Ok(path)
            }
        }
    }

    fn put_back(&self, sender: SendRequest<Body>) {
        let mut standing = self.standing();
        if standing.idle.len() < IDLE_MAX {
            standing.idle.push(sender);
        }
    }

    async fn send(
        &self,
        path: Path,
        mut request: Request<Body>,
        wait: Wait,
    ) -> Result<Answered, Broken> {
        let (response, sender) = match path {
            Path::Here(router, operator, busy) => {
                request.extensions_mut().insert(operator);
                // What only reads and is no download ends soon, or when this process is told to stop.
                let busy = (request.method() != Method::GET || wait == Wait::Head).then_some(busy);
                match router.oneshot(request).await {
                    Ok(response) if is_events(&response) => (response, None),
                    Ok(response) => (response.map(|body| with(body, busy)), None),
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
        let is_stream = match wait {
            Wait::Head => true,
            Wait::AllButEvents => is_events(&response),
            Wait::All => false,
        };
        if is_stream {
            // The connection is busy until the stream ends.
            if let Some(sender) = sender {
                tokio::spawn(keep(sender));
            }
            return Ok(Answered::Stream(response));
        }
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| Broken::Connection(error.to_string()))?;
        if let Some(sender) = sender {
            self.put_back(sender);
        }
        Ok(Answered::Whole(Response::from_parts(parts, body.to_bytes())))
    }

    fn request(&self, ask: &Ask<'_>) -> Result<Request<Body>, Broken> {
        let body = ask.body.clone().map_or_else(Body::empty, Body::from);
        let request = Request::builder()
            .method(&ask.method)
            .uri(self.origin.target(ask.target))
            .header(HOST, self.origin.host())
            .body(body);
        let mut request = request
            .map_err(|error| Broken::Failed(Failure::usage(format!("not a request: {error}"))))?;
        request.headers_mut().extend(ask.headers.clone());
        Ok(request)
    }
}

impl Here {
    fn path(&self) -> Path {
        let Self { answering, busy, .. } = self;
        Path::Here(answering.router(), answering.operator(), busy.clone())
    }
}

async fn release(answering: Box<Answering>, working: Vec<JoinHandle<()>>) {
    answering.stop();
    for work in working {
        work.abort();
        let _ = work.await;
    }
    answering.release().await;
}

/// Waits for a server that asks for the place, and gives it what this process holds.
async fn heed(way: Weak<Way>, mut asked_for: watch::Receiver<bool>) {
    let is_asked = asked_for.wait_for(|is_asked| *is_asked).await.is_ok();
    if let (true, Some(way)) = (is_asked, way.upgrade()) {
        way.hand_over().await;
    }
}

/// A body that keeps something until it has been read or dropped.
fn with<T: Send + 'static>(body: Body, kept: T) -> Body {
    Body::new(body.map_frame(move |frame| {
        let _ = &kept;
        frame
    }))
}

fn is_events(response: &Response<Body>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Keeps a connection open while its stream is read: dropping the sender would end it.
async fn keep(mut sender: SendRequest<Body>) {
    let _ = sender.ready().await;
}

/// A new idempotency key.
pub(crate) fn fresh_key(prefix: &str) -> String {
    let mut random = [0u8; 16];
    Seams::real().fill(&mut random);
    format!("{prefix}-{}", hex::encode(random))
}
