//! The body of a hook's call, `webhook_args` in Kilroy's words. Only what is not JSON at all is
//! refused here; a block says itself what it misses.

use super::error::{Outcome, Problem, says};
use super::targs::Targs;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What a hook is sent, for the document; it is read by hand, because clients leave out and add what
/// they like.
#[derive(Deserialize, ToSchema)]
#[schema(as = KilroyCall)]
#[expect(dead_code, reason = "describes the body and never holds one")]
pub(super) struct CallBody {
    /// The sending agent; `from` of the answer, and the source of what is written.
    tagentname: Option<String>,
    /// Comes back as `username`.
    tusername: Option<String>,
    /// Comes back as `id`.
    tid: Option<String>,
    /// Whether the result is to be published: `true`, `"true"` or `"TRUE"`.
    tpublish: Option<bool>,
    /// The block's configuration: an object, or its JSON as a string.
    #[schema(value_type = Object)]
    targs: Option<Value>,
    /// The incoming message; the first one counts.
    args: Option<Vec<MessageBody>>,
    /// Where the message came from.
    from: Option<String>,
    /// What `${pipeline_uid}` stands for in `targs`.
    pipeline_uid: Option<String>,
    /// At the first URL: answer with the result.
    sync: Option<bool>,
}

/// One message.
#[derive(Deserialize, ToSchema)]
#[schema(as = KilroyMessage)]
#[expect(dead_code, reason = "describes the body and never holds one")]
pub(super) struct MessageBody {
    text: Option<String>,
    r#type: Option<String>,
    timestamp: Option<u64>,
    username: Option<String>,
}

/// A body that was read.
pub(super) struct Message {
    fields: Map<String, Value>,
    /// Whether the result shall be published.
    pub(super) is_published: bool,
    /// Whether the caller waits for the result.
    pub(super) is_sync: bool,
}

impl Message {
    pub(super) fn read(body: &[u8]) -> Result<Self, Problem> {
        let parsed: Value = serde_json::from_slice(body)
            .map_err(|error| Problem::invalid(format!("the body is not JSON: {error}")))?;
        let Value::Object(fields) = parsed else {
            return Err(Problem::invalid("the body must be a JSON object"));
        };
        let is = |name| fields.get(name).is_some_and(is_true);
        Ok(Self { is_published: is("tpublish"), is_sync: is("sync"), fields })
    }

    /// The text of the message; `None` is as good as empty.
    pub(super) fn text(&self) -> Option<&str> {
        let text = self.fields.get("args")?.get(0)?.get("text")?.as_str()?;
        Some(text).filter(|text| !text.is_empty())
    }

    /// A field that goes back as it came.
    pub(super) fn echo(&self, name: &str) -> Value {
        match self.fields.get(name) {
            None | Some(Value::Null) => Value::String(String::new()),
            Some(given) => given.clone(),
        }
    }

    /// Whose name stands on what is written when the configuration names nobody.
    pub(super) fn sender(&self) -> Option<&str> {
        self.word("tagentname").or_else(|| self.word("from"))
    }

    /// The block's configuration.
    pub(super) fn targs(&self) -> Outcome<Targs> {
        let fields = match self.fields.get("targs") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(fields)) => fields.clone(),
            Some(Value::String(text)) if text.is_empty() => Map::new(),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Object(fields)) => fields,
                Ok(_) => return says("targs must be a JSON object"),
                Err(error) => return says(format!("targs is not JSON: {error}")),
            },
            Some(_) => return says("targs must be an object, or its JSON as a string"),
        };
        Targs::new(fields, self.word("pipeline_uid"))
    }

    fn word(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str().filter(|word| !word.is_empty())
    }
}

/// What Kilroy takes for true.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(is_true) => *is_true,
        Value::String(text) => text == "true" || text == "TRUE",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(body: &Value) -> Message {
        Message::read(body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_message_without_a_usable_text_is_empty() {
        for args in [
            json!(null),
            json!([]),
            json!({}),
            json!("text"),
            json!([null]),
            json!(["hello"]),
            json!([{}]),
            json!([{"text": ""}]),
            json!([{"text": 5}]),
            json!([{"text": null}, {"text": "second"}]),
        ] {
            assert_eq!(message(&json!({ "args": args })).text(), None, "{args}");
        }
        assert_eq!(message(&json!({})).text(), None);
        assert_eq!(message(&json!({"args": [{"text": " "}]})).text(), Some(" "));
    }

    #[test]
    fn published_is_what_kilroy_takes_for_true() {
        for (value, expected) in [
            (json!(true), true),
            (json!("true"), true),
            (json!("TRUE"), true),
            (json!("True"), false),
            (json!("1"), false),
            (json!(1), false),
            (json!(null), false),
            (json!(false), false),
        ] {
            assert_eq!(message(&json!({ "tpublish": value })).is_published, expected, "{value}");
            assert_eq!(message(&json!({ "sync": value })).is_sync, expected, "{value}");
        }
        assert!(!message(&json!({})).is_published);
    }

    #[test]
    fn bodies_that_are_no_objects_are_refused() {
        for body in ["", "{", "[]", "null", "\"x\"", "5", "{\"a\":}", "\u{feff}{}"] {
            assert!(Message::read(body.as_bytes()).is_err(), "{body}");
        }
        assert!(Message::read(b"{\"a\": \"\xff\"}").is_err());
    }
}
