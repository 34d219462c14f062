//! Two ways in which a request does not work out. A block that cannot do what it was asked [`Stop`]s
//! with words for whoever built the pipeline; a request that reached no block, or met a fault of
//! ours, is a [`Problem`] with an HTTP status, so that a caller who looks at nothing else learns it.

use super::render;
use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use loci_engine::{Error, codes};
use loci_model::{Invalid, RequestId};
use std::borrow::Cow;

/// A request that no block answered. Boxed, because almost every function here may return one.
#[derive(Debug)]
pub(super) struct Problem(Box<Refused>);

#[derive(Debug)]
struct Refused {
    status: StatusCode,
    message: Cow<'static, str>,
    is_worth_repeating: bool,
    /// For the log only.
    hidden: Option<String>,
}

/// Why a block did nothing.
#[derive(Debug)]
pub(super) enum Stop {
    /// It says so in its answer.
    Says(Cow<'static, str>),
    /// It could not even be asked.
    Fails(Problem),
}

/// What blocks return.
pub(super) type Outcome<T> = Result<T, Stop>;

/// A stop with these words.
pub(super) fn says<T>(words: impl Into<Cow<'static, str>>) -> Outcome<T> {
    Err(Stop::Says(words.into()))
}

impl Problem {
    /// A body that is not what hooks are sent.
    pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// A hook that is not there.
    pub(super) fn not_found(message: &'static str) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// A method that hooks are not called by.
    pub(super) fn wrong_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "hooks are called by POST")
    }

    /// The body cannot be read, or is larger than this server takes.
    pub(super) fn too_large() -> Self {
        let message = "request body could not be read whole or is too large";
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        Self(Box::new(Refused { status, message, is_worth_repeating: false, hidden: None }))
    }

    /// The answer.
    pub(super) fn render(&self, request: Option<RequestId>) -> Response<Body> {
        let refused = &*self.0;
        if let Some(why) = &refused.hidden {
            let request = request.map(|id| id.to_string());
            tracing::error!(request, why, "internal error");
        }
        let mut response = render::refusal(&refused.message);
        *response.status_mut() = refused.status;
        let headers = response.headers_mut();
        if refused.is_worth_repeating {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if refused.status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
        }
        response
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let code = codes::code(error);
        Self(Box::new(Refused {
            status: StatusCode::from_u16(code.status).expect("the table holds valid statuses"),
            message: error.to_string().into(),
            is_worth_repeating: code.is_retryable,
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

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(_)
            | Error::NotFound(_)
            | Error::Denied(_)
            | Error::PathTaken { .. }
            | Error::Repeat { .. }
            | Error::ExpectFailed
            | Error::Archived
            | Error::Sealed
            | Error::TextMatches { .. }
            | Error::TooLarge { .. }
            | Error::OverQuota(_)
            | Error::IsHead
            | Error::Taken(_)
            | Error::Damaged { .. }
            | Error::KeyReused => Self::Says(error.to_string().into()),
            // Nothing is wrong with what was asked; the same may work later or elsewhere.
            Error::Unauthenticated(_)
            | Error::TooMany { .. }
            | Error::Replica
            | Error::Full
            | Error::Unavailable(_)
            | Error::Internal(_) => Self::Fails(error.into()),
        }
    }
}

impl From<Invalid> for Stop {
    fn from(invalid: Invalid) -> Self {
        Error::Invalid(invalid).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_wrongly_is_said_and_what_failed_has_a_status() {
        let says = |error: Error| matches!(Stop::from(error), Stop::Says(_));
        assert!(says(Invalid::new("kind", "is bad").into()));
        assert!(says(Error::Denied("no")) && says(Error::Archived) && says(Error::Sealed));
        assert!(says(Error::TooLarge { bytes: 2, limit: 1 }));
        assert!(says(Error::Damaged { version: loci_model::VersionId::from_u128(1) }));
        for (error, status) in [
            (Error::TooMany { why: "slower", after_secs: 1 }, 429),
            (Error::Replica, 421),
            (Error::Unavailable("busy"), 503),
            (Error::Full, 507),
            (Error::Internal("page 7 is torn".into()), 500),
        ] {
            let is_later = codes::code(&error).is_retryable;
            let Stop::Fails(problem) = Stop::from(error) else { panic!("{status} was said") };
            assert!(!problem.0.message.contains("page 7"));
            let response = problem.render(None);
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.headers().contains_key("retry-after"), is_later);
        }
    }
}
