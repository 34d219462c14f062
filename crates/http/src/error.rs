//! Failures as answers: status, stable type, message, and whether trying again makes sense.
//!
//! A [`Failure`] does not know the request id. It rides in the answer's extensions until the gate,
//! which does know it, writes the envelope; so no route has to carry the id around.

use crate::wire::{ErrorBody, ErrorEnvelope};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue, StatusCode};
use loci_engine::codes;
use loci_model::{Invalid, MemoryId, MemoryPath, RequestId, Timestamp};
use std::borrow::Cow;

/// Shorthand for what routes return.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Tells official clients not to repeat what cannot succeed: they repeat every 409 and 5xx else.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
const FULL_DISK: StatusCode = StatusCode::INSUFFICIENT_STORAGE;

/// What refusals look like: as in the door that a path belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `{"type": "error", "error": {…}, "request_id": "…"}`.
    Envelope,
    /// `{"error": "…"}`: clients of the Robutler door read a text there.
    Text,
    /// `{"success": false, "args": {"error": "…"}}`: what callers of Kilroy's hooks read.
    Hook,
    /// `{"error": {"code": "…", "message": "…"}}`, for clients of the Mobius door.
    Coded,
    /// `{"detail": "404 …"}`: clients of the QiForge door see the text and not the status.
    Numbered,
}

impl Shape {
    /// The shape for whoever asks for a path, whether there is a route or not.
    pub(crate) fn of(path: &str) -> Self {
        let is_below = |root: &str| {
            path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if path.starts_with("/api/v1/pd/") {
            Self::Hook
        } else if path.starts_with("/api/") {
            Self::Text
        } else if path.starts_with("/qiforge/") {
            Self::Numbered
        } else if is_below("/v1/agents") || is_below("/v1/projects") {
            Self::Coded
        } else {
            Self::Envelope
        }
    }
}

/// A request that did not work out.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    status: StatusCode,
    kind: &'static str,
    message: Cow<'static, str>,
    retry_after_secs: Option<u64>,
    /// How many requests a second the caller has, and when there are some again, in seconds of the
    /// epoch.
    limited: Option<Box<(u32, i64)>>,
    /// Whether the rest of the request is unread, so that the connection cannot go on.
    closes: bool,
    /// What happened, for the log only.
    internal: Option<String>,
    /// The engine's own name for it.
    code: Option<&'static str>,
    /// What is in the way.
    blocker: Option<Box<(Option<MemoryId>, MemoryPath)>>,
}

impl Failure {
    /// A failure with this status; its type follows from it.
    pub(crate) fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            message: message.into(),
            retry_after_secs: None,
            limited: None,
            closes: false,
            internal: None,
            code: None,
            blocker: None,
            kind: error_type(status),
        }
    }

    /// The request breaks a rule.
    pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// There is no such thing, or the caller may not know of it.
    pub(crate) fn not_found(noun: &'static str) -> Self {
        (&loci_engine::Error::NotFound(noun)).into()
    }

    /// Our fault; `why` goes to the log only.
    pub(crate) fn internal(why: impl Into<String>) -> Self {
        let mut failure = Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error");
        failure.internal = Some(why.into());
        failure
    }

    /// The client was too slow.
    pub(crate) fn timeout(message: &'static str) -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, message)
    }

    /// Says when to come back.
    pub(crate) fn retry_after(mut self, secs: u64) -> Self {
        self.retry_after_secs = Some(secs);
        self
    }

    /// Says how often the caller may ask.
    pub(crate) fn limited_to(mut self, per_second: u32, now: Timestamp) -> Self {
        let reset = now.as_micros().div_euclid(1_000_000).saturating_add(1);
        self.limited = Some(Box::new((per_second, reset)));
        self
    }

    /// Ends the connection after the answer.
    pub(crate) fn closing(mut self) -> Self {
        self.closes = true;
        self
    }

    /// The answer, with the request it answers.
    pub(crate) fn render(&self, request: RequestId, shape: Shape) -> Response {
        if let Some(why) = &self.internal {
            tracing::error!(request_id = %request, why, "internal error");
        }
        let body = match shape {
            Shape::Envelope => serde_json::to_vec(&ErrorEnvelope {
                kind: "error",
                error: ErrorBody {
                    kind: self.kind,
                    message: &self.message,
                    code: self.code,
                    conflicting_path: self.blocker.as_ref().map(|blocker| blocker.1.as_str()),
                    conflicting_memory_id: self
                        .blocker
                        .as_ref()
                        .and_then(|blocker| blocker.0.map(|id| id.to_string())),
                },
                request_id: request.to_string(),
            }),
            Shape::Coded => {
                let error =
                    serde_json::json!({ "code": code(self.status), "message": self.message });
                serde_json::to_vec(&serde_json::json!({ "error": error }))
            }
            Shape::Numbered => {
                let detail = format!("{} {}", self.status.as_u16(), self.message);
                serde_json::to_vec(&serde_json::json!({ "detail": detail }))
            }
            Shape::Text => serde_json::to_vec(&serde_json::json!({ "error": self.message })),
            Shape::Hook => {
                let args = serde_json::json!({ "error": self.message });
                serde_json::to_vec(&serde_json::json!({ "success": false, "args": args }))
            }
        };
        let body = body.expect("strings always become JSON");
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // The gate does the same, but not every refusal comes through it.
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(secs) = self.retry_after_secs {
            headers.insert(RETRY_AFTER, HeaderValue::from(secs));
        }
        if let Some((per_second, reset)) = self.limited.as_deref().copied() {
            headers.insert("x-ratelimit-limit", HeaderValue::from(per_second));
            headers.insert("x-ratelimit-remaining", HeaderValue::from(0));
            headers.insert("x-ratelimit-reset", HeaderValue::from(reset));
            headers.insert("x-ratelimit-scope", HeaderValue::from_static("key"));
            let policy = HeaderValue::try_from(format!("{per_second};w=1"));
            headers.insert("x-ratelimit-policy", policy.expect("numbers are plain ASCII"));
        }
        if matches!(self.status, StatusCode::CONFLICT | FULL_DISK) {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        if self.closes {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// The stable type of a status. 405 is a mistake of the request like any other 4xx.
fn error_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        408 => "timeout_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

/// The same where clients know codes instead.
fn code(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "unauthorized",
        403 => "permission_denied",
        404 => "not_found",
        405 => "method_not_allowed",
        408 => "request_timeout",
        409 => "conflict",
        413 => "request_too_large",
        429 => "rate_limit_exceeded",
        503 => "service_unavailable",
        500.. => "internal_error",
        _ => "bad_request",
    }
}

impl From<&loci_engine::Error> for Failure {
    fn from(error: &loci_engine::Error) -> Self {
        if let loci_engine::Error::Internal(why) = error {
            return Self::internal(why.clone());
        }
        let code = codes::code(error);
        let status = StatusCode::from_u16(code.status).expect("the table holds real statuses");
        let mut failure = Self::new(status, error.to_string());
        failure.retry_after_secs = codes::retry_after_secs(error).map(u64::from);
        failure.code = Some(code.name);
        if let loci_engine::Error::PathTaken { memory, path } = error {
            failure.blocker = Some(Box::new((*memory, path.clone())));
        }
        if let loci_engine::Error::Repeat { memory, path } = error {
            failure.blocker = Some(Box::new((Some(*memory), path.clone())));
        }
        if let loci_engine::Error::ExpectFailed = error {
            failure.kind = "memory_precondition_failed_error";
        }
        failure
    }
}

impl From<loci_engine::Error> for Failure {
    fn from(error: loci_engine::Error) -> Self {
        (&error).into()
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::invalid(invalid.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status;
        response.extensions_mut().insert(self);
        response
    }
}

/// The refusal of a route that is served outside of this crate; the layers put it into the envelope
/// that every native route has.
pub fn refused(error: &loci_engine::Error) -> Response {
    Failure::from(error).into_response()
}

/// Answers paths that no door has.
pub(crate) async fn unknown_route() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "there is no such route")
}

/// Answers methods that a path does not have.
pub(crate) async fn wrong_method() -> Failure {
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, "this route does not take that method")
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_engine::Error;

    fn check(error: &Error, status: u16, kind: &str) -> Response {
        let failure = Failure::from(error);
        assert_eq!(failure.status.as_u16(), status, "{error}");
        assert_eq!(failure.kind, kind, "{error}");
        failure.render(RequestId::from_u128(1), Shape::Envelope)
    }

    #[test]
    fn engine_errors_have_their_types() {
        check(&Error::NotFound("grant"), 404, "not_found_error");
        check(&Error::Denied("no"), 403, "permission_error");
        check(&Error::Unauthenticated("no"), 401, "authentication_error");
        check(&Error::Archived, 400, "invalid_request_error");
        check(&Error::KeyReused, 400, "invalid_request_error");
        check(&Error::Taken("name"), 409, "conflict_error");
        check(&Error::Replica, 421, "invalid_request_error");
        let damaged = Error::Damaged { version: loci_model::VersionId::from_u128(1) };
        check(&damaged, 410, "invalid_request_error");
        check(&Error::Full, 507, "api_error");
        check(&Error::Unavailable("later"), 503, "api_error");
        check(&Error::Internal("x".into()), 500, "api_error");
    }

    #[test]
    fn conflicts_are_not_to_be_repeated_and_busy_says_when() {
        let conflict = check(&Error::ExpectFailed, 409, "memory_precondition_failed_error");
        assert_eq!(conflict.headers()["x-should-retry"], "false");
        let busy = check(&Error::Unavailable("later"), 503, "api_error");
        assert_eq!(busy.headers()["retry-after"], "1");
        assert!(busy.headers().get("x-should-retry").is_none());
    }

    #[test]
    fn paths_have_the_shape_of_their_door() {
        for (path, shape) in [
            ("/v1/agents", Shape::Coded),
            ("/v1/agents/a/memory", Shape::Coded),
            ("/v1/projects/p/agents", Shape::Coded),
            ("/v1/agentsx", Shape::Envelope),
            ("/v1/memory_stores", Shape::Envelope),
            ("/api/kv", Shape::Text),
            ("/qiforge/messages", Shape::Numbered),
            ("/qiforge/sse", Shape::Numbered),
        ] {
            assert_eq!(Shape::of(path), shape, "{path}");
        }
    }

    #[test]
    fn inner_text_stays_inside() {
        let failure = Failure::from(&Error::Internal("table memory is broken".into()));
        assert_eq!(failure.message, "internal error");
    }
}
