//! The accept loop: HTTP/1.1 on TCP or on a Unix socket, a cap on connections, an orderly stop.
//!
//! Only HTTP/1: the clients speak it, and HTTP/2's multiplexing would bring a class of attacks on
//! memory and processor that a single binary has no reason to face; a proxy in front can speak it.
//! When all places are taken, a newcomer gets that of the connection that did nothing for longest.
//! While all of them are busy it is still accepted, told to come back later and closed; health
//! probes are answered even then, so that a crowded server is not taken for a dead one. When the system
//! has no descriptors left before all places are taken, idle connections end in the same way.

use crate::HttpOptions;
use crate::bodies::{Received, Sent};
use crate::error::{Failure, Shape};
use crate::layers::auth::LocalOperator;
use crate::metrics::CONNECTIONS;
use crate::phase::{FRESH, HEADERS, Order, Phase};
use crate::registry::{Registry, Room, Seat};
use crate::timed_io::{Patience, TimedIo};
use axum::Router;
use axum::body::Body;
use futures_util::future::BoxFuture;
use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use loci_model::RequestId;
use rustix::io::Errno;
use socket2::{SockRef, TcpKeepalive};
use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tower::Service;

/// Headers of one request; more are answered with 431.
const HEADERS_MAX: usize = 100;
/// Bytes of a request's headers; more are answered with 431. Hyper looks after each read, so what it
/// takes can be up to twice this.
const HEADER_BYTES_MAX: usize = 64 * 1024;
/// Connections over the cap that are told so at the same time; beyond, they are just closed.
const CROWD_MAX: usize = 256;
/// How long a connection over the cap may take to say what it wants.
const CROWD_PATIENCE: Duration = Duration::from_secs(2);
/// How long a newcomer waits for the place of a connection that ends.
const PLACE_PATIENCE: Duration = Duration::from_secs(2);
/// The pause after a failed accept: no descriptors are left, and spinning frees none.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Failures to accept that follow each other in less than this are one episode, told once.
const EPISODE: Duration = Duration::from_secs(60);
/// How long a stop waits for the first request of a connection that was just opened.
const FRESH_GRACE: Duration = Duration::from_millis(200);
/// When the system asks a silent peer whether it is still there, how often, and how many times in
/// vain.
const PROBE_AFTER: Duration = Duration::from_secs(60);
const PROBE_EVERY: Duration = Duration::from_secs(15);
const PROBES_MAX: u32 = 4;
/// Bytes that the system takes from us beyond what it has sent. It says that a socket can be written
/// to again when a third of its buffer is free, which is megabytes: without this bound a client that
/// reads slowly but steadily would look like one that has stopped.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSENT_BYTES_MAX: u32 = 128 * 1024;

/// Where requests come from.
pub enum Listener {
    /// The network; callers need keys.
    Tcp(TcpListener),
    /// A socket that only the operator can open; whoever comes without a key is the operator.
    Unix(UnixListener, LocalOperator),
}

/// What a connection's requests carry beside themselves.
#[derive(Clone)]
enum Origin {
    Network(Peer),
    Socket(LocalOperator),
}

/// Where a request came from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Left on answers to requests that showed no credential that opens anything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stranger;

/// What all connections of a listener share.
struct Shared {
    router: Router,
    patience: Patience,
    crowd_patience: Patience,
    served: Arc<Semaphore>,
    crowd: Arc<Semaphore>,
    registry: Arc<Registry>,
}

/// Serves until `shutdown` resolves, then lets requests under way finish, for at most the drain
/// timeout. Both futures are boxed, so that the code of every connection is compiled and optimised
/// with this crate and not with the binary.
pub fn serve<'a>(
    listener: Listener,
    router: Router,
    options: &'a HttpOptions,
    shutdown: BoxFuture<'a, ()>,
) -> BoxFuture<'a, ()> {
    Box::pin(accept_until(listener, router, options, shutdown))
}

impl Shared {
    fn new(router: Router, options: &HttpOptions) -> Self {
        let impatient = HttpOptions {
            header_timeout: CROWD_PATIENCE.min(options.header_timeout),
            body_idle_timeout: CROWD_PATIENCE.min(options.body_idle_timeout),
            ..options.clone()
        };
        Self {
            router,
            patience: Patience::new(options),
            crowd_patience: Patience::new(&impatient),
            served: Arc::new(Semaphore::new(options.connections_max.min(Semaphore::MAX_PERMITS))),
            crowd: Arc::new(Semaphore::new(CROWD_MAX)),
            registry: Arc::new(Registry::new(options)),
        }
    }
}

async fn accept_until(
    listener: Listener,
    router: Router,
    options: &HttpOptions,
    mut shutdown: BoxFuture<'_, ()>,
) {
    let shared = Arc::new(Shared::new(router, options));
    let registry = Arc::clone(&shared.registry);
    let mut looks = interval(registry.pause());
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failed_at: Option<Instant> = None;
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            now = looks.tick() => registry.look(now),
            accepted = accept(&listener) => match accepted {
                Ok(Accepted::Tcp(stream, origin)) => admit(&shared, stream, origin),
                Ok(Accepted::Unix(stream, origin)) => admit(&shared, stream, origin),
                Err(error) if is_clients_fault(&error) => {}
                Err(error) => {
                    let now = Instant::now();
                    if failed_at.is_none_or(|at| now.duration_since(at) >= EPISODE) {
                        tracing::warn!(%error, "cannot accept connections");
                    }
                    failed_at = Some(now);
                    if is_out_of_files(&error) {
                        // The newcomer waits in the system's queue until a descriptor is free.
                        drop(registry.make_room(now));
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    registry.tell_all(Order::Drain);
    if timeout(options.drain_timeout, registry.all_left()).await.is_err() {
        tracing::warn!("some requests did not finish in time and were cut off");
        registry.tell_all(Order::Now);
        registry.all_left().await;
    }
}

enum Accepted {
    Tcp(TcpStream, Origin),
    Unix(UnixStream, Origin),
}

async fn accept(listener: &Listener) -> io::Result<Accepted> {
    match listener {
        Listener::Tcp(tcp) => {
            let (stream, peer) = tcp.accept().await?;
            set_up(&stream);
            Ok(Accepted::Tcp(stream, Origin::Network(Peer(peer.ip()))))
        }
        Listener::Unix(socket, operator) => {
            let (stream, _) = socket.accept().await?;
            Ok(Accepted::Unix(stream, Origin::Socket(operator.clone())))
        }
    }
}

/// Asks the system for what we want of a connection. One that cannot be had is no reason to refuse
/// the client.
fn set_up(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    // Answers are small and written whole; waiting to fill a packet only adds delay.
    let _ = socket.set_tcp_nodelay(true);
    let keepalive = TcpKeepalive::new();
    let keepalive = keepalive.with_time(PROBE_AFTER).with_interval(PROBE_EVERY);
    let _ = socket.set_tcp_keepalive(&keepalive.with_retries(PROBES_MAX));
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = socket.set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
}

/// Whether the connection was gone before we took it, which says nothing about us.
fn is_clients_fault(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

fn is_out_of_files(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Starts a task for a connection: served if there is a place for it, told to come back if not.
fn admit<I>(shared: &Arc<Shared>, stream: I, origin: Origin)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shared = Arc::clone(shared);
    let (phase, now) = (Phase::fresh(), Instant::now());
    if let Ok(place) = Arc::clone(&shared.served).try_acquire_owned() {
        let seat = shared.registry.seat(&phase, Room::Served, now);
        tokio::spawn(async move {
            let counted = Counted::new();
            hold(&shared, stream, origin, Room::Served, phase, seat).await;
            drop((place, counted));
        });
    } else if let Ok(permit) = Arc::clone(&shared.crowd).try_acquire_owned() {
        let awaiting = shared.registry.make_room(now);
        let seat = shared.registry.seat(&phase, Room::Crowded, now);
        tokio::spawn(async move {
            let place = match awaiting {
                Some(awaiting) => {
                    let place = place(&shared).await;
                    drop(awaiting);
                    place
                }
                None => None,
            };
            let Some(place) = place else {
                hold(&shared, stream, origin, Room::Crowded, phase, seat).await;
                drop(permit);
                return;
            };
            drop(permit);
            seat.serve();
            let counted = Counted::new();
            hold(&shared, stream, origin, Room::Served, phase, seat).await;
            drop((place, counted));
        });
    }
}

/// The place of a connection that ends, if one does in time.
async fn place(shared: &Shared) -> Option<OwnedSemaphorePermit> {
    timeout(PLACE_PATIENCE, Arc::clone(&shared.served).acquire_owned()).await.ok()?.ok()
}

/// One connection, from its first request to its last.
async fn hold<I>(shared: &Shared, stream: I, origin: Origin, room: Room, phase: Phase, seat: Seat)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let patience = match room {
        Room::Served => shared.patience,
        Room::Crowded => shared.crowd_patience,
    };
    let io = TokioIo::new(TimedIo::new(stream, phase.clone(), patience));
    let serving = phase.clone();
    let answer = service_fn(|request: Request<Incoming>| {
        serving.serve();
        let phase = serving.clone();
        let request = request.map(|body| Received::new(body, phase.clone()));
        let answered = answer(shared, request, &origin, room);
        async move {
            let mut response = answered.await;
            phase.answer(response.extensions().get::<Stranger>().is_some());
            if phase.is_unread() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response.map(|body| Sent::new(body, phase)))
        }
    });
    let connection = http1::Builder::new()
        .keep_alive(room == Room::Served)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEADER_BYTES_MAX)
        // The socket wrapper times headers; see there.
        .header_read_timeout(None)
        .serve_connection(io, answer);
    let mut connection = pin!(connection);
    let mut heeded = Order::Stay;
    loop {
        let order = tokio::select! {
            // What has arrived goes before what the listener wants: it is answered.
            biased;
            // A broken connection is the client's business.
            _ = connection.as_mut() => return,
            order = phase.told_more_than(heeded) => order,
            // Hyper waits for the first request of a connection that has never had one.
            () = stayed_fresh(&phase), if heeded == Order::Drain => return,
        };
        match order {
            Order::Retire if !phase.may_retire() => {
                seat.spare();
                continue;
            }
            // There is nothing to answer yet, and hyper would wait for it.
            Order::Retire if matches!(phase.get(), FRESH | HEADERS) => return,
            Order::Now => return,
            Order::Stay | Order::Retire | Order::Drain => {
                connection.as_mut().graceful_shutdown();
            }
        }
        heeded = order;
    }
}

/// Resolves when a connection that is to end has had no request, nor gets one in time.
async fn stayed_fresh(phase: &Phase) {
    if phase.is_fresh() {
        tokio::time::sleep(FRESH_GRACE).await;
    }
    if !phase.is_fresh() {
        std::future::pending().await
    }
}

/// One request, to the router; or, in a crowd, only probes.
fn answer(
    shared: &Shared,
    request: Request<Received>,
    origin: &Origin,
    room: Room,
) -> impl Future<Output = Response<Body>> + Send + 'static {
    let is_probe = matches!(request.uri().path(), "/healthz" | "/readyz");
    let routed = (room == Room::Served || is_probe).then(|| {
        let mut request = request.map(Body::new);
        match origin {
            Origin::Network(peer) => drop(request.extensions_mut().insert(*peer)),
            Origin::Socket(operator) => drop(request.extensions_mut().insert(operator.clone())),
        }
        shared.router.clone().call(request)
    });
    async move {
        let Some(routed) = routed else {
            return crowded();
        };
        match routed.await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// Never reached the routes, so it has no number of its own.
fn crowded() -> Response<Body> {
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, "too many connections; come back later")
        .retry_after(1)
        .closing()
        .render(RequestId::from_u128(0), Shape::Envelope)
}

/// Counts a connection while it lives.
struct Counted;

impl Counted {
    fn new() -> Self {
        CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        CONNECTIONS.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
