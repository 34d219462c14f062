//! What a command comes to. The tool answers in sentences, also when it refuses: a model reads
//! them. Only what no sentence can mend (no credential, a full disk, our own fault) is an HTTP
//! error, so the two ways to stop are kept apart in the type.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use loci_engine::{Error, codes};
use loci_model::RequestId;
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use utoipa::ToSchema;

pub(super) use loci_engine::{NOT_THE_GIVER, NOT_THE_WRITER, SWITCHED_OFF};

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub(super) enum Stop {
    /// The tool says no; a sentence for the model.
    Says(String),
    /// The engine says no; put into words by the shape that asked.
    Fails(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Fails(error)
    }
}

/// A refusal in the tool's own words.
pub(super) fn says<T>(words: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Says(words.into()))
}

/// What the tool answers, always with HTTP 200.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MemoryToolAnswer)]
pub(super) struct Answer {
    /// Exactly what the tool's clients expect: text, JSON, null, or an object with `error`.
    #[schema(value_type = serde_json::Value)]
    pub(super) result: Json,
    /// The same as text, ready to be a tool result's content.
    pub(super) content: String,
    /// Whether the tool result is an error.
    pub(super) is_error: bool,
}

/// JSON as it will be sent, in which values are as they were written.
pub(super) type Json = Box<RawValue>;

/// Something as JSON.
pub(super) fn json_of(value: &(impl Serialize + ?Sized)) -> Json {
    to_raw_value(value).expect("our answers have string keys")
}

impl Answer {
    /// It worked.
    pub(super) fn done(result: Json) -> Self {
        let text = serde_json::from_str(result.get());
        let content = text.unwrap_or_else(|_| result.get().to_owned());
        Self { result, content, is_error: false }
    }

    /// About how long it becomes.
    pub(super) fn bytes(&self) -> usize {
        self.result.get().len() + self.content.len()
    }

    /// A refusal as plain text.
    pub(super) fn refused(words: String) -> Self {
        Self { result: json_of(&words), content: words, is_error: true }
    }

    /// A refusal as an object.
    pub(super) fn refused_object(words: String) -> Self {
        Self { result: json_of(&json!({ "error": words })), content: words, is_error: true }
    }
}

/// Whether an engine error is not the tool's to explain: no other arguments would help.
pub(super) fn is_beyond_words(error: &Error) -> bool {
    matches!(
        error,
        Error::Unauthenticated(_)
            | Error::Internal(_)
            | Error::Unavailable(_)
            | Error::Full
            | Error::Replica
    )
}

/// A refused request: an engine error or a body that cannot be read.
#[derive(Serialize, ToSchema)]
#[schema(as = MemoryToolError)]
pub(super) struct Envelope {
    /// Always `error`.
    r#type: &'static str,
    error: Inner,
    /// The request, as in the `request-id` header.
    request_id: Option<String>,
}

/// What went wrong.
#[derive(Serialize, ToSchema)]
#[schema(as = MemoryToolErrorDetail)]
pub(super) struct Inner {
    /// For programs.
    r#type: &'static str,
    /// For people.
    message: String,
}

/// An engine error as an answer. What is our own fault goes to the log only.
pub(super) fn refusal(error: &Error, request: Option<RequestId>) -> Response<Body> {
    if let Error::Internal(why) = error {
        let request = request.map(|id| id.to_string());
        tracing::error!(request, why, "internal error");
    }
    let code = codes::code(error);
    let kind = match code.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let envelope = Envelope {
        r#type: "error",
        error: Inner { r#type: kind, message: error.to_string() },
        request_id: request.map(|id| id.to_string()),
    };
    let mut response = json_response(&envelope);
    *response.status_mut() =
        StatusCode::from_u16(code.status).expect("the table holds valid statuses");
    let headers = response.headers_mut();
    if let Some(secs) = codes::retry_after_secs(error) {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(secs));
    } else if matches!(code.status, 409 | 507) {
        headers.insert("x-should-retry", HeaderValue::from_static("false"));
    }
    response
}

/// A 200 with a JSON body.
pub(super) fn json_response(body: &impl Serialize) -> Response<Body> {
    let bytes = serde_json::to_vec(body).expect("our bodies have string keys");
    let mut response = Response::new(Body::from(bytes));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
