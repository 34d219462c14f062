//! What every request passes, in one step: request id, host, authentication, rate, body, timeout,
//! panic, envelope, metrics, log line.
//!
//! One service instead of a stack of them: each boxed layer would cost an allocation and a clone on
//! every request, and the order, which matters, would be spread over many files. The gate never
//! refuses for lack of a key; it leaves [`loci_engine::Identified`] for the doors, so that each can
//! refuse in its own words.

pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod cookie;
pub(crate) mod host;
mod rate;
mod slow;
pub(crate) mod token;
pub(crate) mod ucan;
pub(crate) mod view;

use crate::HttpOptions;
use crate::error::{Failure, Shape};
use crate::listen::{Peer, Stranger};
use crate::metrics::{Metrics, RouteMetrics};
use crate::routes::{self, Openness, Timing};
use auth::{Found, Shown};
use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use body::BodyLimits;
use bytes::Bytes;
use futures_util::FutureExt;
use host::Hosts;
use http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use loci_engine::{Context, Engine, Error, Identified, as_one_request, damaged};
use loci_model::{Audience, Caller, PrincipalId, RequestId};
use rate::RateLimit;
use slow::{SlowDown, Slowed};
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;
use token::Tokens;
use tokio::time::Instant;
use tower::{Layer, Service};
use ucan::Ucans;

/// What a replica knows may be old; these say so, and how old as far as is known.
const STALE: HeaderName = HeaderName::from_static("loci-stale");
const LAG: HeaderName = HeaderName::from_static("loci-replica-lag-ms");
/// How many memories an answer leaves out because their contents are damaged, at every door.
const DAMAGED: HeaderName = HeaderName::from_static("loci-damaged");
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// What requests that no route matches are counted and logged under.
const NO_ROUTE: &str = "none";
const TOO_MANY_FAILURES: &str =
    "too many credentials from this address open nothing; look at them, and try again later";

/// What all requests share.
struct Shared {
    engine: Engine,
    metrics: Arc<Metrics>,
    hosts: Arc<Hosts>,
    rate: Option<RateLimit>,
    slow: SlowDown,
    tokens: Option<Arc<Tokens>>,
    ucans: Option<Arc<Ucans>>,
    body: BodyLimits,
    request_timeout: Duration,
    is_replica: bool,
    /// What a request without any credential is left with.
    nobody: Identified,
}

/// Puts the gate before routes.
#[derive(Clone)]
pub(crate) struct GateLayer(Arc<Shared>);

impl GateLayer {
    pub(crate) fn new(engine: Engine, metrics: Arc<Metrics>, options: &HttpOptions) -> Self {
        Self(Arc::new(Shared {
            is_replica: engine.is_replica(),
            engine,
            metrics,
            hosts: Arc::clone(&options.hosts),
            slow: SlowDown::default(),
            rate: options.requests_per_second.map(RateLimit::new),
            tokens: options.tokens.clone(),
            ucans: options.ucans.clone(),
            body: BodyLimits::new(options),
            request_timeout: options.request_timeout,
            nobody: Identified(Arc::new(Err(Error::Unauthenticated(
                "an API key is needed: send it as Authorization: Bearer KEY or X-Api-Key: KEY",
            )))),
        }))
    }
}

impl<S> Layer<S> for GateLayer {
    type Service = Gate<S>;

    fn layer(&self, inner: S) -> Gate<S> {
        Gate { inner, shared: Arc::clone(&self.0) }
    }
}

/// The step before a route.
#[derive(Clone)]
pub(crate) struct Gate<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S> Service<Request> for Gate<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        // The clone that was polled ready goes with the request; the fresh one stays.
        let fresh = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, fresh);
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { Ok(shared.pass(request, inner).await) })
    }
}

/// What the log line says beside the answer.
struct Seen {
    id: RequestId,
    method: Method,
    route: Arc<RouteMetrics>,
    principal: Option<PrincipalId>,
    /// Whether no credential was shown that somebody else gave.
    is_stranger: bool,
    /// Whether a credential was shown that opens nothing.
    is_failure: bool,
    started: Instant,
}

impl Shared {
    async fn pass<S>(&self, mut request: Request, inner: S) -> Response
    where
        S: Service<Request, Response = Response, Error = Infallible>,
    {
        let matched = request.extensions().get::<MatchedPath>();
        let route = matched.map_or(NO_ROUTE, MatchedPath::as_str);
        let timing = routes::timing(route);
        let shape = Shape::of(request.uri().path());
        let openness = routes::openness(route);
        let id = self.engine.seams().request_id(self.engine.seams().now());
        let mut seen = Seen {
            id,
            method: request.method().clone(),
            route: self.metrics.route(route),
            principal: None,
            is_stranger: true,
            is_failure: false,
            started: Instant::now(),
        };
        let strange = self.hosts.check(&request, route).err();
        let peer = request.extensions().get::<Peer>().copied();
        request.extensions_mut().insert(id);
        let work = async {
            if let Some(strange) = strange {
                body::discard(&mut request, timing, &self.body).await?;
                return Err(strange);
            }
            let mut answered = match openness {
                Openness::Anybody => self.answer_anybody(request, inner, timing).await,
                Openness::Newcomers => self.greet(request, inner, timing).await,
                Openness::Known => self.work(request, inner, timing, &mut seen).await,
            };
            if let Ok(response) = &mut answered {
                mark_damaged(response);
            }
            answered
        };
        let outcome = AssertUnwindSafe(work).catch_unwind();
        let outcome = match timing {
            Timing::Bounded | Timing::Brief | Timing::Batched => {
                tokio::time::timeout(self.request_timeout, as_one_request(outcome)).await
            }
            Timing::Streamed | Timing::Uploaded => Ok(outcome.await),
        };
        let mut response = match outcome {
            Ok(Ok(Ok(response))) => response,
            Ok(Ok(Err(failure))) => failure.render(id, shape),
            Ok(Err(_panic)) => Failure::internal("a panic; see standard error").render(id, shape),
            Err(_elapsed) => Failure::timeout("the request took too long").render(id, shape),
        };
        if let Some(failure) = response.extensions_mut().remove::<Failure>() {
            let allow = response.headers_mut().remove(http::header::ALLOW);
            response = failure.render(id, shape);
            if let Some(allow) = allow {
                response.headers_mut().insert(http::header::ALLOW, allow);
            }
        }
        let is_newcomer = openness == Openness::Newcomers;
        seen.is_failure |= is_newcomer && response.status() == StatusCode::UNAUTHORIZED;
        let slowed = match peer {
            Some(Peer(from)) if seen.is_failure => self.slow.after_failure(from, Instant::now()),
            _ => Slowed::default(),
        };
        if slowed.is_too_much {
            let refused = Failure::new(StatusCode::TOO_MANY_REQUESTS, TOO_MANY_FAILURES);
            response = refused.retry_after(slowed.wait.as_secs()).render(id, shape);
        }
        let shown = HeaderValue::from_maybe_shared(Bytes::from(id.to_string()));
        let shown = shown.expect("ids are plain ASCII");
        if shape == Shape::Coded {
            response.headers_mut().insert(X_REQUEST_ID, shown.clone());
        }
        response.headers_mut().insert(REQUEST_ID, shown);
        keep_private(&mut response);
        if self.is_replica {
            self.mark_stale(&mut response, openness != Openness::Anybody).await;
        }
        self.note(&seen, &response);
        if seen.is_stranger {
            response.extensions_mut().insert(Stranger);
        }
        if !slowed.wait.is_zero() {
            tokio::time::sleep(slowed.wait).await;
        }
        response
    }

    async fn work<S>(
        &self,
        mut request: Request,
        mut inner: S,
        timing: Timing,
        seen: &mut Seen,
    ) -> Result<Response, Failure>
    where
        S: Service<Request, Response = Response, Error = Infallible>,
    {
        // The body cannot be shared between threads, so only the parts are borrowed.
        let (headers, operator) = (request.headers(), request.extensions().get());
        let (method, matched) = (request.method(), request.extensions().get::<MatchedPath>());
        let path = request.uri().path();
        let eyes = view::wanted(method, matched.map_or(NO_ROUTE, MatchedPath::as_str), headers);
        let in_path = matched.and_then(|matched| auth::in_path(matched.as_str(), path));
        let (tokens, in_path) = (self.tokens.as_deref(), in_path.as_deref());
        let found = match (routes::is_for_visitors(path), self.ucans.as_deref()) {
            (false, _) => {
                auth::find_caller(&self.engine, tokens, method, headers, in_path, operator).await
            }
            (true, Some(ucans)) => {
                let from = request.extensions().get::<Peer>().map(|Peer(from)| *from);
                ucan::find_visitor(&self.engine, ucans, headers, from).await
            }
            (true, None) => {
                body::discard(&mut request, timing, &self.body).await?;
                return Err(Failure::new(StatusCode::NOT_FOUND, ucan::CLOSED));
            }
        };
        seen.is_failure = matches!(found, Found::Refused(Error::Unauthenticated(_)));
        seen.is_stranger = !matches!(found, Found::Known(..) | Found::Operator(_));
        let (found, viewer) = match eyes {
            Ok(None) => (found, None),
            Ok(Some(whose)) => view::borrow(&self.engine, found, &whose).await,
            Err(_) if matches!(found, Found::Nobody | Found::Refused(_)) => (found, None),
            Err(refused) => (Found::Refused(refused), None),
        };
        if let Some(viewer) = viewer {
            request.extensions_mut().insert(viewer);
        }
        if let (Some(rate), Some(fingerprint)) = (&self.rate, found.fingerprint())
            && let Err(refused) = rate.take(fingerprint, Instant::now())
        {
            body::discard(&mut request, timing, &self.body).await?;
            return Err(refused.limited_to(rate.per_second(), self.engine.seams().now()));
        }
        let is_model = auth::asks_as_model(request.headers())?;
        let narrowed = |mut caller: Caller| {
            if is_model {
                caller.audience = Audience::Model;
            }
            caller
        };
        let identified = match found {
            Found::Nobody => {
                body::discard(&mut request, timing, &self.body).await?;
                self.nobody.clone()
            }
            Found::Refused(error) => {
                body::discard(&mut request, timing, &self.body).await?;
                Identified(Arc::new(Err(error)))
            }
            Found::Known(caller, fingerprint, appended) => {
                if let Some(appended) = appended {
                    request.extensions_mut().insert(appended);
                }
                request.extensions_mut().insert(Shown(fingerprint));
                seen.principal = Some(caller.principal);
                let idempotency = body::take(&mut request, timing, &self.body).await?;
                let caller = narrowed(caller);
                Identified(Arc::new(Ok(Context { caller, request: seen.id, idempotency })))
            }
            Found::Visitor(caller, _, visit) => {
                request.extensions_mut().insert(visit);
                seen.principal = Some(caller.principal);
                let idempotency = body::take(&mut request, timing, &self.body).await?;
                let caller = narrowed(caller);
                Identified(Arc::new(Ok(Context { caller, request: seen.id, idempotency })))
            }
            Found::Operator(caller) => {
                seen.principal = Some(caller.principal);
                let idempotency = body::take(&mut request, timing, &self.body).await?;
                let caller = narrowed(caller);
                Identified(Arc::new(Ok(Context { caller, request: seen.id, idempotency })))
            }
        };
        request.extensions_mut().insert(identified);
        let Ok(response) = inner.call(request).await;
        Ok(response)
    }

    /// Whoever it is, and whatever key they bring.
    async fn answer_anybody<S>(
        &self,
        mut request: Request,
        mut inner: S,
        timing: Timing,
    ) -> Result<Response, Failure>
    where
        S: Service<Request, Response = Response, Error = Infallible>,
    {
        body::discard(&mut request, timing, &self.body).await?;
        request.extensions_mut().insert(self.nobody.clone());
        let Ok(response) = inner.call(request).await;
        Ok(response)
    }

    /// Whoever wants to sign in: the route looks at what they bring.
    async fn greet<S>(
        &self,
        mut request: Request,
        mut inner: S,
        timing: Timing,
    ) -> Result<Response, Failure>
    where
        S: Service<Request, Response = Response, Error = Infallible>,
    {
        body::take(&mut request, timing, &self.body).await?;
        request.extensions_mut().insert(self.nobody.clone());
        let Ok(response) = inner.call(request).await;
        Ok(response)
    }

    async fn mark_stale(&self, response: &mut Response, says_how: bool) {
        let headers = response.headers_mut();
        headers.insert(STALE, HeaderValue::from_static("true"));
        let lag = if says_how { self.engine.lag().await } else { None };
        if let Some(lag) = lag {
            let millis = u64::try_from(lag.as_millis()).unwrap_or(u64::MAX);
            headers.insert(LAG, HeaderValue::from(millis));
        }
    }

    /// Counts the request and writes its line: the route's pattern, never the path or the query,
    /// which hold ids and words of the caller's.
    fn note(&self, seen: &Seen, response: &Response) {
        let took = seen.started.elapsed();
        let status = response.status();
        seen.route.count(&seen.method, status, took);
        let now = self.engine.seams().now().as_micros();
        self.metrics.ring.count(now, status.is_server_error(), took);
        tracing::info!(
            target: "loci_http::request",
            method = %seen.method,
            route = seen.route.name(),
            status = status.as_u16(),
            micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            request_id = %seen.id,
            principal = seen.principal.map(tracing::field::display),
        );
    }
}

/// Says how much of an answer is missing because it is damaged; nothing when nothing is.
fn mark_damaged(response: &mut Response) {
    let count = damaged().len();
    if count > 0 {
        response.headers_mut().insert(DAMAGED, HeaderValue::from(count));
    }
}

/// Answers are what they say they are, and nobody on the way keeps them; a route that knows better has
/// said so itself.
fn keep_private(response: &mut Response) {
    const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
    const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
    let headers = response.headers_mut();
    headers.entry(X_CONTENT_TYPE_OPTIONS).or_insert(NO_SNIFF);
    headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::body::Body;
    use axum::routing::any;
    use loci_engine::Secret;
    use loci_engine::seam::Seams;
    use loci_storage_memory::MemStorage;
    use tower::ServiceExt;

    #[tokio::test(start_paused = true)]
    async fn only_what_takes_as_long_as_the_data_is_large_may_outlast_the_timeout() {
        let options = HttpOptions::default();
        let engine = Engine::new(Arc::new(MemStorage::new()), Seams::real());
        let gate = GateLayer::new(engine, Arc::new(Metrics::new()), &options);
        let slow = any(async || tokio::time::sleep(Duration::from_secs(3600)).await);
        for (route, status) in [
            ("/v1/check", 200),
            ("/v1/backup", 200),
            ("/v1/export", 200),
            ("/v1/import", 200),
            ("/v1/stats", 408),
            ("/v1/memory_stores", 408),
        ] {
            let router = Router::new().route(route, slow.clone()).layer(gate.clone());
            let request = Request::post(route).body(Body::empty()).unwrap();
            let response = router.oneshot(request).await.unwrap();
            assert_eq!(response.status(), status, "{route}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_credentials_that_open_nothing_are_answered_later_and_later() {
        const GOOD: &str = "a-key-of-somebody-here";
        let options = HttpOptions::default();
        let engine = Engine::new(Arc::new(MemStorage::new()), Seams::real());
        engine.bootstrap(Some(&Secret::given(GOOD))).await.unwrap();
        let gate = GateLayer::new(engine, Arc::new(Metrics::new()), &options);
        let router = Router::new().route("/v1/whoami", any(async || ())).layer(gate);
        let ask = async |key: &str, from: [u8; 4]| {
            let request = Request::get("/v1/whoami").header("host", "localhost");
            let mut request = request.header("x-api-key", key).body(Body::empty()).unwrap();
            request.extensions_mut().insert(Peer(from.into()));
            let began = Instant::now();
            router.clone().oneshot(request).await.unwrap();
            began.elapsed()
        };
        let (guesser, other) = ([192, 0, 2, 1], [192, 0, 2, 2]);
        for _ in 0..300 {
            assert_eq!(ask("a-guess", guesser).await, Duration::ZERO);
        }
        let waits = [ask("a-guess", guesser).await, ask("a-guess", guesser).await];
        assert!(waits.iter().all(|wait| *wait >= Duration::from_millis(50)), "{waits:?}");
        assert!(waits.iter().all(|wait| *wait <= Duration::from_secs(1)), "{waits:?}");
        assert_eq!(ask(GOOD, guesser).await, Duration::ZERO, "a valid key is never held up");
        assert_eq!(ask("", guesser).await, Duration::ZERO, "nothing was shown");
        assert_eq!(ask("a-guess", other).await, Duration::ZERO);
    }
}
