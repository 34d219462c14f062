//! One message of the protocol, as the relay needs to know it: what it is, and what of it HTTP wants
//! to see in headers. Everything else passes through untouched.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// In the `_meta` of requests that need no handshake.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The first version without a handshake.
pub(super) const STATELESS: &str = "2026-07-28";
/// The last version that had batches.
const BATCHES_UNTIL: &str = "2025-03-26";
/// Messages of one batch.
const BATCH_MAX: usize = 32;

/// Says that a subscription begins.
pub(super) const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Codes of JSON-RPC.
pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
/// Ours: there was no answer.
pub(super) const NO_ANSWER: i64 = -32000;

/// What a line of standard input is.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// Wants an answer.
    Request(Request),
    /// Tells something.
    Notification { method: String, params: Value },
    /// Answers something that nobody asked.
    Answer,
    /// Several at once, each read by itself.
    Batch(Vec<Result<Self, Value>>),
}

/// A request and its id.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) whole: Value,
}

impl Message {
    /// Reads a line, or says what to answer instead.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Value> {
        let whole: Value = serde_json::from_slice(line)
            .map_err(|error| refusal(&Value::Null, PARSE_ERROR, &format!("not JSON: {error}")))?;
        match whole {
            Value::Array(all) if all.is_empty() || all.len() > BATCH_MAX => {
                let why = format!("a batch holds 1 to {BATCH_MAX} messages");
                Err(refusal(&Value::Null, INVALID_REQUEST, &why))
            }
            Value::Array(all) => Ok(Self::Batch(all.into_iter().map(Self::of).collect())),
            one => Self::of(one),
        }
    }

    /// One message by itself.
    fn of(whole: Value) -> Result<Self, Value> {
        let id = whole.get("id").cloned();
        let method = whole.get("method").and_then(Value::as_str).map(str::to_owned);
        match (id, method) {
            (Some(id @ (Value::String(_) | Value::Number(_))), Some(method)) => {
                Ok(Self::Request(Request { id, method, whole }))
            }
            (None, Some(method)) => {
                Ok(Self::Notification { method, params: whole["params"].clone() })
            }
            (Some(_), None) if whole.get("result").or(whole.get("error")).is_some() => {
                Ok(Self::Answer)
            }
            _ => Err(refusal(&Value::Null, INVALID_REQUEST, "not a request of JSON-RPC 2.0")),
        }
    }
}

impl Request {
    /// A subscription on behalf of a client that knows none of this kind.
    pub(super) fn listen(id: &str, uris: &[String]) -> Self {
        let whole = json!({
            "jsonrpc": "2.0",
            "id": id,
            "method": "subscriptions/listen",
            "params": {
                "notifications": { "resourcesListChanged": true, "resourceSubscriptions": uris },
                "_meta": { VERSION: STATELESS, CAPABILITIES: {} },
            },
        });
        Self { id: json!(id), method: "subscriptions/listen".to_owned(), whole }
    }

    fn params(&self) -> &Value {
        &self.whole["params"]
    }

    /// The version that the request itself names.
    pub(super) fn version(&self) -> Option<&str> {
        self.params()["_meta"][VERSION].as_str()
    }

    /// What the headers call it: the tool, the prompt or the resource.
    pub(super) fn name(&self) -> Option<String> {
        let name = match self.method.as_str() {
            "tools/call" | "prompts/get" => &self.params()["name"],
            "resources/read" => &self.params()["uri"],
            _ => return None,
        };
        name.as_str().map(in_header)
    }

    /// The resource that is meant.
    pub(super) fn uri(&self) -> Option<&str> {
        self.params()["uri"].as_str()
    }

    /// Whether it can be sent again when its answer was lost. What writes carries an idempotency key,
    /// which the commands of the memory tool do not know.
    pub(super) fn is_repeatable(&self) -> bool {
        let is_tool = self.method == "tools/call" && self.params()["name"] == "memory";
        !is_tool || self.params()["arguments"]["command"] == "view"
    }

    /// Whether it cannot stand beside others: a handshake comes first, and a stream has no end.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.method.as_str(), "initialize" | "subscriptions/listen")
    }

    /// Whether it writes, or may.
    pub(super) fn is_call(&self) -> bool {
        self.method == "tools/call"
    }

    /// The answer of whoever has nothing to say.
    pub(super) fn done(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "result": {} })
    }

    /// An answer that there is none.
    pub(super) fn refused(&self, code: i64, why: &str) -> Value {
        refusal(&self.id, code, why)
    }
}

/// Whether a client that agreed on a version may send several messages at once.
pub(super) fn has_batches(agreed: Option<&str>) -> bool {
    agreed.is_none_or(|version| version <= BATCHES_UNTIL)
}

/// An error of JSON-RPC.
pub(super) fn refusal(id: &Value, code: i64, why: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } })
}

/// A text as a header can carry it.
fn in_header(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
    let is_plain = is_plain && text.trim() == text && !text.starts_with("=?");
    match is_plain {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Request {
        match Message::parse(text.as_bytes()) {
            Ok(Message::Request(request)) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_are_told_apart() {
        let call =
            request(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é"}}"#);
        assert_eq!(call.name().as_deref(), Some("=?base64?w6k=?="));
        assert!(call.is_call() && call.is_repeatable() && call.version().is_none());
        let told = Message::parse(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert!(matches!(told, Ok(Message::Notification { .. })));
        assert_eq!(Message::parse(br#"{"id":1,"result":{}}"#), Ok(Message::Answer));
        for (line, code) in [
            ("{", PARSE_ERROR),
            ("[]", INVALID_REQUEST),
            ("7", INVALID_REQUEST),
            (r#"{"id":null,"method":"ping"}"#, INVALID_REQUEST),
            (r#"{"id":1}"#, INVALID_REQUEST),
            (&format!("[{}]", ["7"; BATCH_MAX + 1].join(",")), INVALID_REQUEST),
        ] {
            let refused = Message::parse(line.as_bytes()).unwrap_err();
            assert_eq!(refused["error"]["code"], code, "{line}");
        }
    }

    #[test]
    fn several_are_told_apart() {
        let read = Message::parse(br#"[{"id":1,"method":"ping"},{"method":"told"},7]"#);
        let Ok(Message::Batch(all)) = read else { panic!("{read:?}") };
        assert!(matches!(&all[0], Ok(Message::Request(one)) if one.id == 1));
        assert!(matches!(&all[1], Ok(Message::Notification { .. })));
        assert!(all[2].is_err() && all.len() == 3);
        // No batch within a batch.
        let nested = Message::parse(b"[[]]");
        assert!(matches!(nested, Ok(Message::Batch(all)) if all[0].is_err()));
        assert!(has_batches(None) && has_batches(Some("2024-11-05")));
        assert!(has_batches(Some("2025-03-26")) && !has_batches(Some("2025-06-18")));
    }

    #[test]
    fn only_the_memory_tool_cannot_be_asked_twice() {
        let call = |name: &str, command: &str| {
            let params = json!({ "name": name, "arguments": { "command": command } });
            request(&json!({ "id": 1, "method": "tools/call", "params": params }).to_string())
        };
        assert!(call("memory", "view").is_repeatable());
        assert!(!call("memory", "create").is_repeatable());
        assert!(call("memory_write", "create").is_repeatable());
    }

    #[test]
    fn a_subscription_names_its_version() {
        let listen = Request::listen("x", &["loci://home/a".to_owned()]);
        assert_eq!(listen.version(), Some(STATELESS));
        assert_eq!(
            listen.whole["params"]["notifications"]["resourceSubscriptions"][0],
            "loci://home/a"
        );
    }
}
