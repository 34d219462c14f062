//! Refusals in this door's words: one table from engine errors to statuses and error types, and the
//! envelope they are shown in. What is our own fault goes to the log and not to the caller.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use loci_engine::Error;
use loci_model::{Invalid, MemoryId, MemoryPath, RequestId};
use serde::Serialize;
use std::borrow::Cow;
use utoipa::ToSchema;

use super::render::Shown;

const SHOULD_RETRY: &str = "x-should-retry";

/// A refused request. Boxed, because almost every function here may return one and few do.
#[derive(Debug)]
pub(super) struct Problem(Box<Refused>);

#[derive(Debug)]
struct Refused {
    status: StatusCode,
    kind: &'static str,
    message: Cow<'static, str>,
    blocker: Option<(Option<MemoryId>, MemoryPath)>,
    advice: Advice,
    /// For the log only.
    hidden: Option<String>,
}

/// What the client libraries should do next. They repeat every 409 and every 5xx unless told not to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Advice {
    Nothing,
    DoNotRetry,
    RetryAfter(u32),
}

/// The error envelope.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
pub(super) struct Envelope<'a> {
    /// Always `error`.
    #[schema(example = "error")]
    r#type: &'static str,
    error: Inner<'a>,
    /// The request, as in the `request-id` header.
    #[schema(value_type = Option<String>)]
    request_id: Option<Shown<RequestId>>,
}

/// What went wrong.
#[derive(Serialize, ToSchema)]
#[schema(as = ErrorDetail)]
struct Inner<'a> {
    /// For programs.
    #[schema(example = "invalid_request_error")]
    r#type: &'static str,
    /// For people.
    message: &'a str,
    /// The memory in the way, empty if the caller may not see it; only with
    /// `memory_path_conflict_error`, and where a store refuses repeated content.
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicting_memory_id: Option<String>,
    /// Its path; only together with the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicting_path: Option<&'a str>,
}

impl Problem {
    /// The body cannot be read, or is larger than this server takes.
    pub(super) fn too_large() -> Self {
        Self(Box::new(Refused {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            kind: "request_too_large",
            message: "request body could not be read whole or is too large".into(),
            blocker: None,
            advice: Advice::Nothing,
            hidden: None,
        }))
    }

    /// The answer.
    pub(super) fn render(&self, request: Option<RequestId>) -> Response<Body> {
        let refused = &*self.0;
        if let Some(why) = &refused.hidden {
            let request = request.map(|id| id.to_string());
            tracing::error!(request, why, "internal error");
        }
        let envelope = Envelope {
            r#type: "error",
            error: Inner {
                r#type: refused.kind,
                message: &refused.message,
                conflicting_memory_id: refused
                    .blocker
                    .as_ref()
                    .map(|(memory, _)| memory.map_or_else(String::new, |id| id.to_string())),
                conflicting_path: refused.blocker.as_ref().map(|(_, path)| path.as_str()),
            },
            request_id: request.map(Shown),
        };
        let mut response = super::render::json_with_capacity(&envelope, 512);
        *response.status_mut() = refused.status;
        let headers = response.headers_mut();
        match refused.advice {
            Advice::Nothing => {}
            Advice::DoNotRetry => {
                headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
            }
            Advice::RetryAfter(secs) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(secs));
            }
        }
        response
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        use Advice::{DoNotRetry, Nothing, RetryAfter};
        const INVALID: &str = "invalid_request_error";
        let (status, kind, advice) = match error {
            Error::Invalid(_)
            | Error::Archived
            | Error::Sealed
            | Error::TextMatches { .. }
            | Error::TooLarge { .. }
            | Error::OverQuota(_)
            | Error::IsHead
            | Error::KeyReused => (400, INVALID, Nothing),
            Error::Unauthenticated(_) => (401, "authentication_error", Nothing),
            Error::Denied(_) => (403, "permission_error", Nothing),
            Error::NotFound(_) => (404, "not_found_error", Nothing),
            Error::PathTaken { .. } => (409, "memory_path_conflict_error", DoNotRetry),
            Error::ExpectFailed => (409, "memory_precondition_failed_error", DoNotRetry),
            Error::Taken(_) | Error::Repeat { .. } => (409, "conflict_error", DoNotRetry),
            Error::Damaged { .. } => (410, INVALID, DoNotRetry),
            Error::TooMany { after_secs, .. } => (429, "rate_limit_error", RetryAfter(*after_secs)),
            Error::Replica => (421, INVALID, DoNotRetry),
            Error::Internal(_) => (500, "api_error", Nothing),
            Error::Unavailable(_) => (503, "api_error", RetryAfter(1)),
            Error::Full => (507, "api_error", DoNotRetry),
        };
        Self(Box::new(Refused {
            status: StatusCode::from_u16(status).expect("the table holds valid statuses"),
            kind,
            message: error.to_string().into(),
            blocker: match error {
                Error::PathTaken { memory, path } => Some((*memory, path.clone())),
                Error::Repeat { memory, path } => Some((Some(*memory), path.clone())),
                _ => None,
            },
            advice,
            hidden: match error {
                Error::Internal(why) => Some(why.clone()),
                _ => None,
            },
        }))
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

    #[test]
    fn every_error_has_its_status_type_and_advice() {
        let check = |error: Error, status: u16, kind: &str, advice: Advice| {
            let problem = Problem::from(&error);
            assert_eq!(
                (problem.0.status.as_u16(), problem.0.kind, problem.0.advice),
                (status, kind, advice),
                "{error}"
            );
            let code = loci_engine::codes::code(&error);
            assert_eq!(code.status, status, "both tables agree on {}", code.name);
        };
        let invalid = "invalid_request_error";
        let taken = Error::PathTaken {
            memory: Some(MemoryId::from_u128(1)),
            path: MemoryPath::parse("/a").unwrap(),
        };
        check(Invalid::new("path", "is bad").into(), 400, invalid, Advice::Nothing);
        check(Error::Archived, 400, invalid, Advice::Nothing);
        check(Error::Sealed, 400, invalid, Advice::Nothing);
        check(Error::TextMatches { count: 2 }, 400, invalid, Advice::Nothing);
        check(Error::TooLarge { bytes: 2, limit: 1 }, 400, invalid, Advice::Nothing);
        check(Error::OverQuota("full".into()), 400, invalid, Advice::Nothing);
        check(Error::IsHead, 400, invalid, Advice::Nothing);
        check(Error::KeyReused, 400, invalid, Advice::Nothing);
        check(Error::Unauthenticated("no"), 401, "authentication_error", Advice::Nothing);
        check(Error::Denied("no"), 403, "permission_error", Advice::Nothing);
        check(Error::NotFound("memory"), 404, "not_found_error", Advice::Nothing);
        check(taken, 409, "memory_path_conflict_error", Advice::DoNotRetry);
        let repeat = Error::Repeat {
            memory: MemoryId::from_u128(1),
            path: MemoryPath::parse("/a").unwrap(),
        };
        check(repeat, 409, "conflict_error", Advice::DoNotRetry);
        check(Error::ExpectFailed, 409, "memory_precondition_failed_error", Advice::DoNotRetry);
        check(Error::Taken("name"), 409, "conflict_error", Advice::DoNotRetry);
        let damaged = Error::Damaged { version: loci_model::VersionId::from_u128(1) };
        check(damaged, 410, invalid, Advice::DoNotRetry);
        check(Error::Replica, 421, invalid, Advice::DoNotRetry);
        check(Error::Internal("why".into()), 500, "api_error", Advice::Nothing);
        check(Error::Unavailable("busy"), 503, "api_error", Advice::RetryAfter(1));
        check(Error::Full, 507, "api_error", Advice::DoNotRetry);
    }

    #[test]
    fn what_is_our_fault_is_not_shown() {
        let problem = Problem::from(Error::Internal("page 7 of the file is torn".into()));
        assert_eq!(problem.0.message, "internal error");
        let response = problem.render(None);
        assert_eq!(response.status(), 500);
    }

    #[test]
    fn advice_becomes_headers() {
        let header = |error: Error, name: &str| {
            let response = Problem::from(error).render(Some(RequestId::from_u128(7)));
            let value = response.headers().get(name);
            value.map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(header(Error::Unavailable("busy"), "retry-after").as_deref(), Some("1"));
        assert_eq!(header(Error::Full, SHOULD_RETRY).as_deref(), Some("false"));
        assert_eq!(header(Error::ExpectFailed, SHOULD_RETRY).as_deref(), Some("false"));
        assert_eq!(header(Error::Archived, SHOULD_RETRY), None);
    }
}
