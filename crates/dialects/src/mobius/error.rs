//! Refusals in this door's words: a status and `{"error": {"code", "message"}}`. One table from
//! engine errors to statuses and codes; what is our own fault goes to the log and not to the caller.
//!
//! Clients repeat every 429 and most 5xx by themselves, for seconds: what cannot succeed is a 4xx.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use loci_engine::Error;
use loci_model::{Invalid, RequestId};
use serde::Serialize;
use std::borrow::Cow;
use utoipa::ToSchema;

/// A refused request. Boxed, because almost every function here may return one and few do.
#[derive(Debug)]
pub(super) struct Problem(Box<Refused>);

#[derive(Debug)]
struct Refused {
    status: StatusCode,
    code: &'static str,
    message: Cow<'static, str>,
    retry_after_secs: Option<u64>,
    /// For the log only.
    hidden: Option<String>,
}

/// A refusal.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusError)]
pub(super) struct ErrorBody<'a> {
    error: Refusal<'a>,
}

/// What is wrong.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusRefusal)]
struct Refusal<'a> {
    /// For programs.
    code: &'a str,
    /// For people.
    message: &'a str,
}

impl Problem {
    /// Whether it says that nothing can be written now.
    pub(super) fn is_no_write(&self) -> bool {
        matches!(self.0.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::INSUFFICIENT_STORAGE)
    }

    /// A request that breaks a rule of this door.
    pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(400, "bad_request", message)
    }

    /// Something that is not for the caller.
    pub(super) fn denied(message: &'static str) -> Self {
        Self::new(403, "permission_denied", message)
    }

    /// The whole memory is more than a turn has room for.
    pub(super) fn context_overflow(message: String) -> Self {
        Self::new(409, "memory_context_overflow", message)
    }

    /// Something else stands where this should go.
    pub(super) fn conflict(message: &'static str) -> Self {
        Self::new(409, "conflict", message)
    }

    /// It is there already.
    pub(super) fn already_exists(message: &'static str) -> Self {
        Self::new(409, "already_exists", message)
    }

    /// The reference belongs to another agent, or the agent has another reference.
    pub(super) fn other_identity(message: &'static str) -> Self {
        Self::new(409, "external_identity_conflict", message)
    }

    /// The feed that a cursor is of is not there any more.
    pub(super) fn cursor_expired() -> Self {
        let message = "the cursor is of a history that is gone; read the feed from its beginning";
        Self::new(410, "memory_cursor_expired", message)
    }

    /// Nobody can compare by meaning now. At once again: whoever waits gains nothing.
    pub(super) fn no_meaning() -> Self {
        let message = "search by meaning is not available; search by keyword";
        let mut problem = Self::new(503, "memory_semantic_search_unavailable", message);
        problem.0.retry_after_secs = Some(0);
        problem
    }

    /// A method that a route does not have.
    pub(super) fn wrong_method() -> Self {
        Self::new(405, "method_not_allowed", "this route does not take that method")
    }

    /// The body cannot be read, or is larger than this server takes.
    pub(super) fn unreadable() -> Self {
        Self::new(413, "request_too_large", "request body could not be read whole or is too large")
    }

    fn new(status: u16, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        let status = StatusCode::from_u16(status).expect("the table holds valid statuses");
        let message = message.into();
        Self(Box::new(Refused { status, code, message, retry_after_secs: None, hidden: None }))
    }

    /// What is wrong, for a model that can do better, unless only somebody else can.
    pub(super) fn for_model(self) -> Result<String, Self> {
        match self.0.status.as_u16() {
            400 | 409 => Ok(self.0.message.into_owned()),
            _ => Err(self),
        }
    }

    /// The answer.
    pub(super) fn render(&self, request: Option<RequestId>) -> Response<Body> {
        let refused = &*self.0;
        if let Some(why) = &refused.hidden {
            let request = request.map(|id| id.to_string());
            tracing::error!(request, why, "internal error");
        }
        let error = Refusal { code: refused.code, message: &refused.message };
        let mut response = super::render::json(refused.status, &ErrorBody { error });
        if let Some(secs) = refused.retry_after_secs {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(secs));
        }
        response
    }
}

fn line(error: &Error) -> (u16, &'static str) {
    match error {
        Error::Invalid(_)
        | Error::TextMatches { .. }
        | Error::IsHead
        | Error::KeyReused
        | Error::TooLarge { .. } => (400, "bad_request"),
        Error::OverQuota(_) => (400, "memory_limit_reached"),
        Error::Unauthenticated(_) => (401, "unauthorized"),
        Error::Denied(_) => (403, "permission_denied"),
        Error::NotFound(_) => (404, "not_found"),
        Error::Taken(_) => (409, "already_exists"),
        Error::Archived
        | Error::Sealed
        | Error::PathTaken { .. }
        | Error::Repeat { .. }
        | Error::ExpectFailed => (409, "conflict"),
        Error::Damaged { .. } => (410, "content_damaged"),
        Error::Replica => (421, "read_only_replica"),
        Error::TooMany { .. } => (429, "rate_limit_exceeded"),
        Error::Internal(_) => (500, "internal_error"),
        Error::Unavailable(_) => (503, "service_unavailable"),
        Error::Full => (507, "insufficient_storage"),
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let (status, code) = line(error);
        let message: Cow<'static, str> = match error {
            // Whoever may not know of an agent's memory may not know of the agent.
            Error::NotFound("memory store" | "principal") => "agent not found".into(),
            Error::NotFound("memory") => "memory entry not found".into(),
            error => error.to_string().into(),
        };
        let mut problem = Self::new(status, code, message);
        problem.0.retry_after_secs = match error {
            Error::TooMany { after_secs, .. } => Some(u64::from(*after_secs)),
            Error::Unavailable(_) => Some(1),
            _ => None,
        };
        if let Error::Internal(why) = error {
            problem.0.hidden = Some(why.clone());
        }
        problem
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl From<Invalid> for Problem {
    fn from(invalid: Invalid) -> Self {
        Error::Invalid(invalid).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::{MemoryId, MemoryPath, VersionId};

    #[test]
    fn every_error_has_its_line() {
        let path = MemoryPath::parse("/a").unwrap();
        let memory = MemoryId::from_u128(1);
        for (error, expected) in [
            (Invalid::new("key", "is bad").into(), (400, "bad_request")),
            (Error::TextMatches { count: 2 }, (400, "bad_request")),
            (Error::IsHead, (400, "bad_request")),
            (Error::KeyReused, (400, "bad_request")),
            (Error::TooLarge { bytes: 2, limit: 1 }, (400, "bad_request")),
            (Error::OverQuota("full".into()), (400, "memory_limit_reached")),
            (Error::Unauthenticated("no"), (401, "unauthorized")),
            (Error::Denied("no"), (403, "permission_denied")),
            (Error::NotFound("memory"), (404, "not_found")),
            (Error::Taken("name"), (409, "already_exists")),
            (Error::Archived, (409, "conflict")),
            (Error::Sealed, (409, "conflict")),
            (Error::PathTaken { memory: None, path: path.clone() }, (409, "conflict")),
            (Error::Repeat { memory, path }, (409, "conflict")),
            (Error::ExpectFailed, (409, "conflict")),
            (Error::Damaged { version: VersionId::from_u128(1) }, (410, "content_damaged")),
            (Error::Replica, (421, "read_only_replica")),
            (Error::TooMany { why: "slower", after_secs: 1 }, (429, "rate_limit_exceeded")),
            (Error::Internal("why".into()), (500, "internal_error")),
            (Error::Unavailable("busy"), (503, "service_unavailable")),
            (Error::Full, (507, "insufficient_storage")),
        ] {
            let problem = Problem::from(&error);
            assert_eq!((problem.0.status.as_u16(), problem.0.code), expected, "{error}");
            let is_later = problem.render(None).headers().contains_key("retry-after");
            assert_eq!(is_later, loci_engine::codes::code(&error).is_retryable, "{error}");
        }
    }

    #[test]
    fn neither_our_faults_nor_the_existence_of_agents_are_shown() {
        let said = |error: Error| Problem::from(error).0.message.into_owned();
        assert_eq!(said(Error::Internal("page 7 of the file is torn".into())), "internal error");
        assert_eq!(said(Error::NotFound("memory store")), said(Error::NotFound("agent")));
    }
}
