//! Refusals in this door's words: a status and `{"error": "…"}`. One table from engine errors to
//! statuses; what is our own fault goes to the log and not to the caller.
//!
//! A store that is not there and one that is closed look the same here, and both are 403: its
//! clients say "access denied" to that, and nobody learns which ids are taken.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use loci_engine::{Error, codes};
use loci_model::{Invalid, RequestId};
use serde::Serialize;
use std::borrow::Cow;
use utoipa::ToSchema;

/// A refused request. Boxed, because almost every function here may return one and few do.
#[derive(Debug)]
pub(in crate::robutler) struct Problem(Box<Refused>);

#[derive(Debug)]
struct Refused {
    status: StatusCode,
    message: Cow<'static, str>,
    /// When it can be asked again, for what passes.
    after_secs: Option<u32>,
    /// For the log only.
    hidden: Option<String>,
}

/// A refusal.
#[derive(Serialize, ToSchema)]
#[schema(as = RobutlerError)]
pub(in crate::robutler) struct ErrorBody<'a> {
    /// What is wrong, for people.
    error: &'a str,
    /// The same once more where the first key-value clients look for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

impl Problem {
    /// A request that breaks a rule of this door.
    pub(in crate::robutler) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Something that is there and not for the caller.
    pub(in crate::robutler) fn denied(message: &'static str) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// A method that a route does not have.
    pub(in crate::robutler) fn wrong_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "this route does not take that method")
    }

    /// The body cannot be read, or is larger than this server takes.
    pub(in crate::robutler) fn too_large() -> Self {
        let message = "request body could not be read whole or is too large";
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        Self(Box::new(Refused { status, message, after_secs: None, hidden: None }))
    }

    /// The answer; `has_message` repeats what is wrong as `message`.
    pub(in crate::robutler) fn render(
        &self,
        request: Option<RequestId>,
        has_message: bool,
    ) -> Response<Body> {
        let refused = &*self.0;
        if let Some(why) = &refused.hidden {
            let request = request.map(|id| id.to_string());
            tracing::error!(request, why, "internal error");
        }
        let message = has_message.then_some(&*refused.message);
        let mut response = super::render::json(&ErrorBody { error: &refused.message, message });
        *response.status_mut() = refused.status;
        if let Some(secs) = refused.after_secs {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(secs));
        }
        response
    }
}

/// The status of an engine error, which the tool's sentences name too.
pub(crate) fn status(error: &Error) -> u16 {
    match error {
        Error::Invalid(_)
        | Error::Sealed
        | Error::TextMatches { .. }
        | Error::IsHead
        | Error::KeyReused => 400,
        Error::Unauthenticated(_) => 401,
        Error::Denied(_) | Error::Archived | Error::NotFound("memory store") => 403,
        Error::NotFound(_) => 404,
        Error::PathTaken { .. } | Error::Repeat { .. } | Error::ExpectFailed | Error::Taken(_) => {
            409
        }
        Error::Damaged { .. } => 410,
        Error::TooLarge { .. } => 413,
        Error::Replica => 421,
        Error::OverQuota(_) | Error::TooMany { .. } => 429,
        Error::Internal(_) => 500,
        Error::Unavailable(_) => 503,
        Error::Full => 507,
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        Self(Box::new(Refused {
            status: StatusCode::from_u16(status(error)).expect("the table holds valid statuses"),
            message: match error {
                Error::NotFound("memory store") => "access to this store is denied".into(),
                error => error.to_string().into(),
            },
            after_secs: codes::retry_after_secs(error),
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
    use loci_model::{MemoryId, MemoryPath, VersionId};

    #[test]
    fn every_error_has_its_status() {
        let path = MemoryPath::parse("/a").unwrap();
        let memory = MemoryId::from_u128(1);
        for (error, expected) in [
            (Invalid::new("key", "is bad").into(), 400),
            (Error::Sealed, 400),
            (Error::TextMatches { count: 2 }, 400),
            (Error::IsHead, 400),
            (Error::KeyReused, 400),
            (Error::Unauthenticated("no"), 401),
            (Error::Denied("no"), 403),
            (Error::Archived, 403),
            (Error::NotFound("memory store"), 403),
            (Error::NotFound("memory"), 404),
            (Error::PathTaken { memory: None, path: path.clone() }, 409),
            (Error::Repeat { memory, path }, 409),
            (Error::ExpectFailed, 409),
            (Error::Taken("name"), 409),
            (Error::Damaged { version: VersionId::from_u128(1) }, 410),
            (Error::TooLarge { bytes: 2, limit: 1 }, 413),
            (Error::Replica, 421),
            (Error::OverQuota("full".into()), 429),
            (Error::TooMany { why: "slower", after_secs: 9 }, 429),
            (Error::Internal("why".into()), 500),
            (Error::Unavailable("busy"), 503),
            (Error::Full, 507),
        ] {
            let response = Problem::from(&error).render(None, false);
            assert_eq!(response.status().as_u16(), expected, "{error}");
            let is_later = response.headers().contains_key("retry-after");
            assert_eq!(is_later, codes::code(&error).is_retryable, "{error}");
        }
    }

    #[test]
    fn neither_our_faults_nor_the_existence_of_stores_are_shown() {
        let said = |error: Error| Problem::from(error).0.message.into_owned();
        assert_eq!(said(Error::Internal("page 7 of the file is torn".into())), "internal error");
        assert_eq!(said(Error::NotFound("memory store")), "access to this store is denied");
    }
}
