//! Several messages in one request, as the protocol had it up to 2025-03-26. The library knows none of
//! it: a batch is taken apart here, each message is answered as if it had come alone, one after the
//! other, and the answers go back together.

use super::Answer;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use loci_engine::Error;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// Messages of one batch.
const MESSAGES_MAX: usize = 32;
/// How long a batch may take before what is left of it is not done.
const BATCH_TIMEOUT: Duration = Duration::from_secs(55);
/// The versions that have batches; the later one is meant by a client that names none.
const VERSIONS: [&str; 2] = ["2024-11-05", "2025-03-26"];

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const INTERNAL_ERROR: i64 = -32603;
const NOT_ANSWERED: i64 = -32000;

/// Methods that make no sense beside others: a handshake comes first, and a stream has no end.
const ALONE: [&str; 2] = ["initialize", "subscriptions/listen"];

/// Whether a body holds several messages.
pub(super) fn is_batch(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'[')
}

/// Answers a batch; `one` answers a single message.
pub(super) async fn answer<F>(
    parts: Parts,
    body: Bytes,
    one: impl Fn(Request<Full<Bytes>>) -> F,
) -> Answers
where
    F: Future<Output = Answer> + Send,
{
    let messages = match taken_apart(&parts, &body) {
        Ok(messages) => messages,
        Err((code, why)) => {
            let body = refusal(&Value::Null, code, &why);
            return Answers::Instead(rendered(StatusCode::BAD_REQUEST, &body));
        }
    };
    let end = Instant::now() + BATCH_TIMEOUT;
    let mut answers = Vec::new();
    for message in &messages {
        // An answer of the client's: nothing here asks clients anything, so nobody waits for it.
        let is_answer = message.get("result").or(message.get("error")).is_some();
        if is_answer && message.get("method").is_none() {
            continue;
        }
        let id = message.get("id").cloned().unwrap_or(Value::Null);
        if let Err(why) = may_come(message) {
            answers.push(Said::Here(refusal(&id, INVALID_REQUEST, why)));
            continue;
        }
        if Instant::now() >= end {
            if !id.is_null() {
                let why = "the batch took too long; this message was not looked at";
                answers.push(Said::Here(refusal(&id, NOT_ANSWERED, why)));
            }
            continue;
        }
        let answer = one(alone(&parts, message)).await;
        if is_about_the_request(answer.status()) {
            return Answers::Instead(answer);
        }
        answers.extend(said(answer, id).await);
    }
    Answers::Each(answers)
}

/// What a batch is answered.
pub(super) enum Answers {
    /// One answer instead of one for each message.
    Instead(Answer),
    /// One for each message that wants one.
    Each(Vec<Said>),
}

/// What one message is answered.
pub(super) enum Said {
    Here(Value),
    /// By what answers single messages: to the message of this id, this body.
    There(Value, Bytes),
}

impl Answers {
    /// Of how many bytes they are, about.
    pub(super) fn bytes(&self) -> usize {
        let each = match self {
            Self::Instead(_) => return 0,
            Self::Each(each) => each,
        };
        let bytes = each.iter().map(|said| match said {
            Said::Here(_) => 0,
            Said::There(_, body) => body.len(),
        });
        bytes.sum()
    }

    /// All in one answer.
    pub(super) fn together(self) -> Answer {
        let each = match self {
            Self::Instead(answer) => return answer,
            Self::Each(each) if each.is_empty() => return empty(StatusCode::ACCEPTED),
            Self::Each(each) => each,
        };
        let each = each.into_iter().map(|said| match said {
            Said::Here(answer) => answer,
            Said::There(id, body) => read(&id, &body),
        });
        rendered(StatusCode::OK, &each.collect())
    }
}

/// The messages, or why there can be none.
fn taken_apart(parts: &Parts, body: &Bytes) -> Result<Vec<Value>, (i64, String)> {
    let version = parts.headers.get(VERSION).map(|version| version.to_str().unwrap_or("?"));
    if let Some(version) = version.filter(|version| !VERSIONS.contains(version)) {
        let shown: String = version.chars().take(32).collect();
        let why = format!("version {shown} of the protocol has no batches; send one message");
        return Err((INVALID_REQUEST, why));
    }
    if parts.headers.contains_key(IDEMPOTENCY_KEY) {
        let why = "an idempotency key is for one message and not for a batch".to_owned();
        return Err((INVALID_REQUEST, why));
    }
    let messages: Vec<Value> = serde_json::from_slice(body)
        .map_err(|error| (PARSE_ERROR, format!("not JSON: {error}")))?;
    if messages.is_empty() || messages.len() > MESSAGES_MAX {
        return Err((INVALID_REQUEST, format!("a batch holds 1 to {MESSAGES_MAX} messages")));
    }
    Ok(messages)
}

fn may_come(message: &Value) -> Result<(), &'static str> {
    let method = message.get("method").and_then(Value::as_str);
    let is_answer = message.get("result").or(message.get("error")).is_some();
    if message["jsonrpc"] != "2.0" || method.is_none() && !is_answer {
        return Err("not a message of JSON-RPC 2.0");
    }
    match method.is_some_and(|method| ALONE.contains(&method)) {
        true => Err("this cannot be part of a batch"),
        false => Ok(()),
    }
}

/// A message in a request of its own.
fn alone(parts: &Parts, message: &Value) -> Request<Full<Bytes>> {
    let mut parts = parts.clone();
    // They say something about the whole body, or about one message that is not this one.
    for name in [CONTENT_LENGTH, METHOD, NAME] {
        parts.headers.remove(name);
    }
    Request::from_parts(parts, Full::new(Bytes::from(message.to_string())))
}

/// Whether the answer to one message would be the answer to each: the host, the page it came from or
/// what it accepts are not taken.
fn is_about_the_request(status: StatusCode) -> bool {
    !status.is_success() && status != StatusCode::BAD_REQUEST
}

/// What a message was answered, if it wants an answer.
async fn said(answer: Answer, id: Value) -> Option<Said> {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
    if id.is_null() {
        return None;
    }
    if is_stream {
        return Some(Said::Here(refusal(&id, INVALID_REQUEST, "this cannot be part of a batch")));
    }
    let body = match answer.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        Err(never) => match never {},
    };
    Some(Said::There(id, body))
}

fn read(id: &Value, body: &[u8]) -> Value {
    let read: Option<Value> = serde_json::from_slice(body).ok();
    match read {
        Some(read) if read.get("jsonrpc").is_some() && read["id"] == *id => read,
        Some(read) if read["error"].is_object() => {
            json!({ "jsonrpc": "2.0", "id": id, "error": read["error"] })
        }
        _ => {
            let text = String::from_utf8_lossy(body);
            let text: String = text.chars().take(200).collect();
            refusal(id, INVALID_REQUEST, &text)
        }
    }
}

fn refusal(id: &Value, code: i64, why: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } })
}

/// A body that is longer than a message may be.
pub(super) fn too_long(bytes_max: usize) -> Answer {
    let why = format!("a message takes up to {bytes_max} bytes");
    rendered(StatusCode::PAYLOAD_TOO_LARGE, &refusal(&Value::Null, INVALID_REQUEST, &why))
}

/// An answer that could not be written.
pub(super) fn failed(error: &Error) -> Answer {
    tracing::error!(%error, "an answer was not written");
    let body = refusal(&Value::Null, INTERNAL_ERROR, "internal error");
    rendered(StatusCode::INTERNAL_SERVER_ERROR, &body)
}

fn rendered(status: StatusCode, body: &Value) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())).boxed());
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

fn empty(status: StatusCode) -> Answer {
    let mut response = Response::new(Full::default().boxed());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(version: Option<&str>, body: &str) -> (StatusCode, Value) {
        let mut request = Request::post("/mcp");
        if let Some(version) = version {
            request = request.header(VERSION, version);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let one = |request: Request<Full<Bytes>>| async move {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let message: Value = serde_json::from_slice(&body).unwrap();
            match message["method"].as_str() {
                Some("away") => empty(StatusCode::FORBIDDEN),
                Some(method) if message.get("id").is_some() => {
                    let body = json!({"jsonrpc": "2.0", "id": message["id"], "result": method});
                    rendered(StatusCode::OK, &body)
                }
                _ => empty(StatusCode::ACCEPTED),
            }
        };
        let answer = answer(parts, Bytes::from(body.to_owned()), one).await.together();
        let status = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    #[tokio::test]
    async fn each_message_is_answered_in_its_place() {
        let body = r#" [{"jsonrpc":"2.0","id":1,"method":"a"},
            {"jsonrpc":"2.0","method":"told"}, 7,
            {"jsonrpc":"2.0","id":"x","method":"initialize"},
            {"jsonrpc":"2.0","id":"y","method":"b"}]"#;
        assert!(is_batch(body.as_bytes()) && !is_batch(b" {}"));
        for version in [None, Some("2025-03-26"), Some("2024-11-05")] {
            let (status, answers) = ask(version, body).await;
            assert_eq!(status, StatusCode::OK);
            assert_eq!(answers[0], json!({"jsonrpc": "2.0", "id": 1, "result": "a"}));
            assert_eq!(answers[1]["error"]["code"], INVALID_REQUEST);
            assert_eq!((&answers[2]["id"], answers[2]["error"].is_object()), (&json!("x"), true));
            assert_eq!(answers[3]["result"], "b");
            assert_eq!(answers.as_array().unwrap().len(), 4);
        }
    }

    #[tokio::test]
    async fn what_is_no_batch_is_refused() {
        let one = r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#;
        let many = format!("[{}]", vec![one; MESSAGES_MAX + 1].join(","));
        for (version, body, code) in [
            (Some("2025-06-18"), "[]", INVALID_REQUEST),
            (Some("2026-07-28"), "[]", INVALID_REQUEST),
            (None, "[]", INVALID_REQUEST),
            (None, "[", PARSE_ERROR),
            (None, many.as_str(), INVALID_REQUEST),
        ] {
            let (status, answer) = ask(version, body).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
            assert_eq!(answer["error"]["code"], code, "{answer}");
        }
        let told = r#"[{"jsonrpc":"2.0","method":"told"},{"jsonrpc":"2.0","id":1,"result":{}}]"#;
        assert_eq!(ask(None, told).await, (StatusCode::ACCEPTED, Value::Null));
        let away = r#"[{"jsonrpc":"2.0","id":1,"method":"away"}]"#;
        assert_eq!(ask(None, away).await.0, StatusCode::FORBIDDEN);
    }
}
