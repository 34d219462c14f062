//! Reads request bodies: whole, bounded in size, time and nesting, and fingerprinted when the caller
//! sent an idempotency key. Routes get bytes that are all there.
//!
//! A body must keep a minimal pace, so that a client that drips one byte a second is cut like one
//! that is silent. Bodies of strangers are read but not kept: an answer sent while a client is still
//! writing is often lost, and keeping them would let strangers fill the memory.

use crate::HttpOptions;
use crate::error::{Failure, Result};
use crate::routes::Timing;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, EXPECT};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::BodyExt;
use loci_engine::IdempotencyKey;
use loci_model::limit;
use sha2::{Digest, Sha256};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// Each received byte buys a body this much time on top of the idle timeout: 4 KiB a second.
const NANOS_PER_BYTE: u64 = 1_000_000_000 / (4 * 1024);
/// A body nobody wants is read and dropped up to here, so that clients that listen only when they
/// have sent everything hear the answer. The listener does a little more for larger ones.
const DISCARD_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// For how long.
const DISCARD_TIME: Duration = Duration::from_secs(10);
/// How long the next piece of such a body is waited for.
const DISCARD_PAUSE: Duration = Duration::from_millis(250);

/// Bytes of a body that holds many things at once, unless every body may be larger.
const BATCH_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Bytes of a body that anybody may send and that is kept: a key and a little.
const BRIEF_BYTES_MAX: usize = 4 * 1024;

/// The bounds of a body.
#[derive(Clone, Copy)]
pub(super) struct BodyLimits {
    bytes_max: usize,
    depth_max: usize,
    idle: Duration,
}

impl BodyLimits {
    pub(super) fn new(options: &HttpOptions) -> Self {
        Self {
            bytes_max: options.body_bytes_max,
            depth_max: options.json_depth_max,
            idle: options.body_idle_timeout,
        }
    }

    /// Those of a route.
    fn of(self, timing: Timing) -> Self {
        match timing {
            Timing::Brief => Self { bytes_max: self.bytes_max.min(BRIEF_BYTES_MAX), ..self },
            Timing::Batched => Self { bytes_max: self.bytes_max.max(BATCH_BYTES_MAX), ..self },
            Timing::Bounded | Timing::Streamed | Timing::Uploaded => self,
        }
    }
}

/// Reads and checks the body of a request and puts the bytes in its place. Gives the idempotency
/// key of a write.
pub(super) async fn take(
    request: &mut Request,
    timing: Timing,
    limits: &BodyLimits,
) -> Result<Option<IdempotencyKey>> {
    if is_left_alone(request, timing) {
        return Ok(None);
    }
    let key = idempotency_key(request.headers())?;
    let bytes = collect(request, &limits.of(timing)).await?;
    if is_deeper_than(&bytes, limits.depth_max) {
        let max = limits.depth_max;
        return Err(Failure::invalid(format!("body nests deeper than {max} levels")));
    }
    let key = key.map(|key| IdempotencyKey { key, fingerprint: fingerprint(request, &bytes) });
    if !bytes.is_empty() {
        *request.body_mut() = Body::from(bytes);
    }
    Ok(key)
}

/// Reads the body of a stranger's request and drops it.
pub(super) async fn discard(
    request: &mut Request,
    timing: Timing,
    limits: &BodyLimits,
) -> Result<()> {
    if timing == Timing::Uploaded {
        skip_rest(request.body_mut()).await;
        return Ok(());
    }
    if is_left_alone(request, timing) {
        return Ok(());
    }
    refuse_announced(request, limits).await?;
    let body = std::mem::take(request.body_mut());
    let mut reading = Reading::new(body, limits);
    while reading.next().await?.is_some() {}
    Ok(())
}

/// Reads have no body worth reading, and an import is read by its route.
fn is_left_alone(request: &Request, timing: Timing) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD) || timing == Timing::Uploaded
}

async fn collect(request: &mut Request, limits: &BodyLimits) -> Result<Bytes> {
    if request.body().is_end_stream() {
        return Ok(Bytes::new());
    }
    refuse_announced(request, limits).await?;
    let body = std::mem::take(request.body_mut());
    let mut reading = Reading::new(body, limits);
    let Some(first) = reading.next().await? else {
        return Ok(Bytes::new());
    };
    // Small bodies come in one piece and need no copy.
    let Some(second) = reading.next().await? else {
        return Ok(first);
    };
    let mut whole = BytesMut::with_capacity(2 * (first.len() + second.len()));
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&second);
    while let Some(piece) = reading.next().await? {
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

/// A body being read.
struct Reading<'a> {
    body: Body,
    limits: &'a BodyLimits,
    deadline: Instant,
    received: usize,
}

impl<'a> Reading<'a> {
    fn new(body: Body, limits: &'a BodyLimits) -> Self {
        Self { body, limits, deadline: Instant::now() + limits.idle, received: 0 }
    }

    /// The next piece, within the limits.
    async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            let slow = |_| Failure::timeout("the request body came too slowly").closing();
            let frame = timeout_at(self.deadline, self.body.frame()).await.map_err(slow)?;
            let Some(frame) = frame else { return Ok(None) };
            let broken = |_| Failure::invalid("the request body is broken off").closing();
            // Trailers carry nothing we know.
            let Ok(piece) = frame.map_err(broken)?.into_data() else {
                continue;
            };
            self.received += piece.len();
            if self.received > self.limits.bytes_max {
                skip_rest(&mut self.body).await;
                return Err(too_large(self.limits.bytes_max).closing());
            }
            self.deadline += Duration::from_nanos(NANOS_PER_BYTE * piece.len() as u64);
            return Ok(Some(piece));
        }
    }
}

/// Refuses a body that says it is too large; one that is far too large, or that the client has not
/// begun to send, without waiting for it.
async fn refuse_announced(request: &mut Request, limits: &BodyLimits) -> Result<()> {
    let headers = request.headers();
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let announced: Option<u64> = announced.and_then(|value| value.parse().ok());
    let Some(bytes) = announced.filter(|bytes| *bytes > limits.bytes_max as u64) else {
        return Ok(());
    };
    // Reading would tell the client to go on.
    let is_asking_first = headers.contains_key(EXPECT);
    if bytes <= DISCARD_BYTES_MAX && !is_asking_first {
        skip_rest(request.body_mut()).await;
    }
    Err(too_large(limits.bytes_max).closing())
}

/// Lets a client finish what it is sending, if it does so soon.
pub(crate) async fn skip_rest(body: &mut Body) {
    let mut skipped = 0u64;
    let deadline = Instant::now() + DISCARD_TIME;
    while skipped < DISCARD_BYTES_MAX
        && Instant::now() < deadline
        && let Ok(Some(Ok(frame))) = timeout(DISCARD_PAUSE, body.frame()).await
    {
        skipped += frame.data_ref().map_or(0, |piece| piece.len() as u64);
    }
}

fn too_large(bytes_max: usize) -> Failure {
    let message = format!("request body is over the limit of {bytes_max} bytes");
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, message)
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let max = limit::IDEMPOTENCY_KEY_BYTES_MAX;
    let key = value.to_str().ok();
    match key.filter(|key| !key.is_empty() && key.len() <= max) {
        Some(key) => Ok(Some(key.to_owned())),
        None => Err(Failure::invalid(format!(
            "idempotency-key: expected 1 to {max} visible ASCII characters"
        ))),
    }
}

/// Tells apart requests that must not share an idempotency key. Lengths stand before the parts, so
/// that no two requests give the same bytes.
fn fingerprint(request: &Request, body: &[u8]) -> [u8; 32] {
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    let mut hasher = Sha256::new();
    for part in [request.method().as_str(), target] {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.update(body);
    hasher.finalize().into()
}

/// Whether JSON text nests deeper than `max`. Looks at bytes only: what is not JSON at all is for
/// the parser to refuse.
fn is_deeper_than(json: &[u8], max: usize) -> bool {
    let mut depth = 0usize;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                if depth > max {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(inside) = bytes.next() {
                    match inside {
                        b'"' => break,
                        b'\\' => drop(bytes.next()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert!(!is_deeper_than(b"[[1]]", 2));
        assert!(is_deeper_than(b"[[[1]]]", 2));
        assert!(is_deeper_than(b"{\"a\":{\"b\":[1]}}", 2));
        assert!(!is_deeper_than(b"[\"[[[[\\\"[[[\"]", 1));
        assert!(!is_deeper_than(b"[],[],[],{}", 1));
        assert!(!is_deeper_than(b"]]]][", 1));
        assert!(!is_deeper_than(b"\"\\", 1));
    }

    #[test]
    fn fingerprints_tell_method_target_and_body_apart() {
        let make = |method: &str, target: &str, body: &[u8]| {
            let request = Request::builder().method(method).uri(target);
            fingerprint(&request.body(Body::empty()).unwrap(), body)
        };
        let base = make("POST", "/v1/a?x=1", b"{}");
        assert_eq!(base, make("POST", "/v1/a?x=1", b"{}"));
        assert_ne!(base, make("PATCH", "/v1/a?x=1", b"{}"));
        assert_ne!(base, make("POST", "/v1/a?x=2", b"{}"));
        assert_ne!(base, make("POST", "/v1/a?x=1", b"[]"));
        assert_ne!(make("POST", "/v1/a", b"bc"), make("POST", "/v1/ab", b"c"));
    }

    #[test]
    fn idempotency_keys_are_bounded() {
        let with = |key: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("idempotency-key", key.parse().unwrap());
            idempotency_key(&headers)
        };
        assert_eq!(with("k").unwrap().as_deref(), Some("k"));
        assert!(with(&"k".repeat(255)).is_ok());
        assert!(with(&"k".repeat(256)).is_err());
        assert!(with("").is_err());
    }

    #[tokio::test]
    async fn a_body_of_many_things_may_be_larger() {
        let limits =
            BodyLimits::new(&HttpOptions { body_bytes_max: 1000, ..HttpOptions::default() });
        for (timing, bytes, is_taken) in [
            (Timing::Bounded, 1000, true),
            (Timing::Bounded, 1001, false),
            (Timing::Batched, 1001, true),
            (Timing::Batched, BATCH_BYTES_MAX, true),
            (Timing::Batched, BATCH_BYTES_MAX + 1, false),
        ] {
            let mut request = Request::post("/").body(Body::from(vec![b' '; bytes])).unwrap();
            let taken = take(&mut request, timing, &limits).await;
            assert_eq!(taken.is_ok(), is_taken, "{timing:?} {bytes}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_dripping_body_is_cut() {
        let options = HttpOptions::default();
        let drip = futures_util::stream::unfold(0, |number| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(b"x")), number + 1))
        });
        let mut request = Request::post("/").body(Body::from_stream(drip)).unwrap();
        let started = Instant::now();
        let limits = BodyLimits::new(&options);
        let refused = take(&mut request, Timing::Bounded, &limits).await;
        assert!(refused.is_err());
        assert!(started.elapsed() < Duration::from_secs(12));
    }
}
