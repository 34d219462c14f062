//! Answers in Kilroy's envelope. What a block found is a text, JSON inside JSON: that is what its
//! messages carry.

use super::request::Message;
use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use loci_model::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What a block answers.
pub(super) struct Payload {
    text: String,
    media_type: &'static str,
}

impl Payload {
    pub(super) fn json(value: &impl Serialize) -> Self {
        let text = serde_json::to_string(value).expect("strings and numbers become JSON");
        Self::ready_json(text)
    }

    /// JSON that is written already.
    pub(super) fn ready_json(text: String) -> Self {
        Self { text, media_type: "application/json" }
    }

    /// How long it is.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// What a template made.
    pub(super) fn plain(text: String) -> Self {
        Self { text, media_type: "text/plain" }
    }
}

/// An answer; without a result `args` is empty.
#[derive(Serialize, ToSchema)]
#[schema(as = KilroyAnswer)]
pub(super) struct AnswerBody<'a> {
    success: bool,
    args: ArgsBody<'a>,
}

#[derive(Serialize, Default, ToSchema)]
#[schema(as = KilroyAnswerArgs)]
pub(super) struct ArgsBody<'a> {
    /// The answer message.
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<&'a ResultBody<'a>>,
    /// The same once more, where other clients look for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<&'a ResultBody<'a>>,
    /// Whether it is to be published.
    #[serde(skip_serializing_if = "Option::is_none")]
    tpublish: Option<bool>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = KilroyResult)]
pub(super) struct ResultBody<'a> {
    /// The `tagentname` of the call.
    #[schema(value_type = String)]
    from: Value,
    /// The `tid` of the call.
    #[schema(value_type = String)]
    id: Value,
    args: [TextBody<'a>; 1],
}

#[derive(Serialize, ToSchema)]
#[schema(as = KilroyResultText)]
pub(super) struct TextBody<'a> {
    /// The `tusername` of the call.
    #[schema(value_type = String)]
    username: Value,
    /// What the block answers: JSON, or what `output_template` made.
    text: &'a str,
    /// Milliseconds since 1970.
    timestamp: u64,
    /// `application/json` or `text/plain`.
    r#type: &'a str,
}

/// A refusal.
#[derive(Serialize, ToSchema)]
#[schema(as = KilroyRefusal)]
pub(super) struct RefusalBody<'a> {
    /// Never true.
    success: bool,
    args: RefusalArgs<'a>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = KilroyRefusalArgs)]
pub(super) struct RefusalArgs<'a> {
    /// What is wrong, for people.
    error: &'a str,
}

/// The answer to a call that waits for the result.
pub(super) fn answer(message: &Message, payload: &Payload, now: Timestamp) -> Response<Body> {
    let text = TextBody {
        username: message.echo("tusername"),
        text: &payload.text,
        timestamp: now.as_millis(),
        r#type: payload.media_type,
    };
    let result =
        ResultBody { from: message.echo("tagentname"), id: message.echo("tid"), args: [text] };
    let args =
        ArgsBody { x: Some(&result), results: Some(&result), tpublish: Some(message.is_published) };
    json(&AnswerBody { success: true, args })
}

/// The answer to a call that does not.
pub(super) fn acknowledgement() -> Response<Body> {
    json(&AnswerBody { success: true, args: ArgsBody::default() })
}

/// The answer to a call that reached no block; the status is the caller's to set.
pub(super) fn refusal(message: &str) -> Response<Body> {
    json(&RefusalBody { success: false, args: RefusalArgs { error: message } })
}

fn json(body: &impl Serialize) -> Response<Body> {
    let bytes = serde_json::to_vec(body).expect("strings and numbers become JSON");
    let mut response = Response::new(Body::from(bytes));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
