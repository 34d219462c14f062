//! A model elsewhere: any endpoint that speaks the chat request of OpenAI or the messages request of
//! Anthropic. Who writes summaries and who reads facts ask through here.
//!
//! The other side is not trusted to answer well. Errors are built from fixed words and status codes
//! only, never from the endpoint's text or address; answers have a size; redirects are not followed,
//! for the endpoint is the one that was configured. A failure that may pass is tried again, later
//! each time, or when the endpoint says, but never longer than the budget of requests allows.

use crate::config::{Api, EndpointConfig};
use crate::exit::Failure;
use serde_json::{Value, json};
use std::time::Duration;
use ureq::Agent;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Uri};

const ANSWER_BYTES_MAX: u64 = 1 << 20;
const BACKOFF_FIRST: Duration = Duration::from_millis(500);
const BACKOFF_MAX: Duration = Duration::from_secs(8);
/// An endpoint that wants to be left alone for longer is asked another time.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);
/// What a schema's tool is called.
const TOOL: &str = "record";

/// What a model is asked.
pub(crate) struct Prompt<'a> {
    pub(crate) instruction: &'a str,
    pub(crate) text: &'a str,
    /// Of the answer.
    pub(crate) tokens_max: u32,
    /// The shape of the answer, if it has one; then it is asked for without chance.
    pub(crate) schema: Option<&'a Value>,
}

/// What a model said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// Text, or what fills the shape.
    pub(crate) said: Value,
    /// Tokens of question and answer, if it told.
    pub(crate) tokens: Option<u64>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failed {
    /// It may pass; it may have been told when.
    Passing(String, Option<Duration>),
    /// Asking again is of no use, for this or for anything.
    Refused(String),
    /// It answered, and what it said cannot be read.
    Unreadable(String),
    /// There was no request left.
    Spent,
}

impl Failed {
    pub(crate) fn why(&self) -> &str {
        match self {
            Self::Passing(why, _) | Self::Refused(why) | Self::Unreadable(why) => why,
            Self::Spent => "the budget is spent",
        }
    }
}

/// An endpoint.
pub(crate) struct ModelEndpoint {
    config: EndpointConfig,
    endpoint: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    agent: Agent,
}

impl ModelEndpoint {
    /// Checks the configuration of a section; asks nothing yet.
    pub(crate) fn new(section: &str, config: EndpointConfig) -> Result<Self, Failure> {
        let refuse = |why: &str| Failure::failed(format!("{section}: {why}"));
        let path = match config.api {
            Api::OpenAi => "/chat/completions",
            Api::Anthropic => "/messages",
        };
        let base = config.url.trim_end_matches('/');
        let url = if base.ends_with(path) { base.to_owned() } else { format!("{base}{path}") };
        let endpoint = url.parse().map_err(|_| refuse("its url cannot be read"))?;
        let mut headers = Vec::new();
        if let Some(key) = &config.api_key {
            let (name, value) = match config.api {
                Api::OpenAi => ("authorization", format!("Bearer {}", key.reveal())),
                Api::Anthropic => ("x-api-key", key.reveal().to_owned()),
            };
            let value = HeaderValue::try_from(value);
            let mut value = value.map_err(|_| refuse("its key cannot be sent"))?;
            value.set_sensitive(true);
            headers.push((HeaderName::from_static(name), value));
        }
        if config.api == Api::Anthropic {
            let version = HeaderName::from_static("anthropic-version");
            headers.push((version, HeaderValue::from_static("2023-06-01")));
        }
        // The endpoint is the one that was configured: a redirect is an answer, not an order.
        let agent = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_global(Some(config.timeout))
            .build();
        Ok(Self { config, endpoint, headers, agent: agent.into() })
    }

    pub(crate) fn config(&self) -> &EndpointConfig {
        &self.config
    }

    /// How long [`Self::ask`] takes at most.
    pub(crate) fn patience(&self) -> Duration {
        (self.config.timeout + RETRY_AFTER_MAX) * (self.config.retries + 1)
    }

    /// Asks, and asks again after a failure that may pass; before each request `may_ask` tells
    /// whether it is within the budget.
    pub(crate) fn ask(
        &self,
        prompt: &Prompt<'_>,
        mut may_ask: impl FnMut() -> bool,
    ) -> Result<Answer, Failed> {
        let body = self.body(prompt).to_string();
        let mut backoff = BACKOFF_FIRST;
        let mut retries = self.config.retries;
        loop {
            if !may_ask() {
                return Err(Failed::Spent);
            }
            let (why, wait) = match self.ask_once(&body, prompt.schema.is_some()) {
                Err(Failed::Passing(why, wait)) => (why, wait),
                other => return other,
            };
            let pause = backoff.max(wait.unwrap_or_default());
            if retries == 0 || pause > RETRY_AFTER_MAX {
                return Err(Failed::Passing(why, wait));
            }
            std::thread::sleep(pause);
            retries -= 1;
            backoff = (backoff * 2).min(BACKOFF_MAX);
        }
    }

    fn body(&self, prompt: &Prompt<'_>) -> Value {
        let (model, tokens_max) = (&self.config.model, prompt.tokens_max);
        let mut body = match self.config.api {
            Api::OpenAi => json!({
                "model": model,
                "max_tokens": tokens_max,
                "messages": [
                    {"role": "system", "content": prompt.instruction},
                    {"role": "user", "content": prompt.text},
                ],
            }),
            Api::Anthropic => json!({
                "model": model,
                "max_tokens": tokens_max,
                "system": prompt.instruction,
                "messages": [{"role": "user", "content": prompt.text}],
            }),
        };
        let Some(schema) = prompt.schema else { return body };
        body["temperature"] = json!(0);
        match self.config.api {
            Api::OpenAi => {
                let shape = json!({"name": TOOL, "strict": true, "schema": schema});
                body["response_format"] = json!({"type": "json_schema", "json_schema": shape});
            }
            Api::Anthropic => {
                let about = "Writes down what was found.";
                body["tools"] =
                    json!([{"name": TOOL, "description": about, "input_schema": schema}]);
                body["tool_choice"] = json!({"type": "tool", "name": TOOL});
            }
        }
        body
    }

    fn ask_once(&self, body: &str, has_shape: bool) -> Result<Answer, Failed> {
        let mut request = self.agent.post(self.endpoint.clone()).content_type("application/json");
        for (name, value) in &self.headers {
            request = request.header(name.clone(), value.clone());
        }
        // The client's own words may hold the address, so they are not used.
        let passing = |why: &str| Failed::Passing(why.to_owned(), None);
        let mut answer = request.send(body).map_err(|_| passing("no answer"))?;
        let status = answer.status();
        if !status.is_success() {
            let why = format!("status {}", status.as_u16());
            let may_pass = status.is_server_error() || matches!(status.as_u16(), 408 | 429);
            return Err(match may_pass {
                true => Failed::Passing(why, retry_after(answer.headers())),
                false => Failed::Refused(why),
            });
        }
        let bytes = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let bytes = bytes.map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => Failed::Unreadable("too long an answer".to_owned()),
            _ => passing("an answer that breaks off"),
        })?;
        self.read(&bytes, has_shape)
    }

    fn read(&self, bytes: &[u8], has_shape: bool) -> Result<Answer, Failed> {
        let bad = || Failed::Unreadable("an answer without text".to_owned());
        let answer: Value = serde_json::from_slice(bytes).map_err(|_| bad())?;
        let usage = |names: &[&str]| {
            let counts = names.iter().filter_map(|name| answer["usage"][*name].as_u64());
            let sum = counts.fold(0u64, u64::saturating_add);
            (sum > 0).then_some(sum)
        };
        let parts = || answer["content"].as_array().into_iter().flatten();
        let (said, tokens) = match self.config.api {
            Api::OpenAi => {
                let text = answer["choices"][0]["message"]["content"].as_str();
                let said = match text {
                    Some(text) if has_shape => serde_json::from_str(text).ok(),
                    text => text.map(Value::from),
                };
                (said, usage(&["prompt_tokens", "completion_tokens"]))
            }
            Api::Anthropic => {
                let said = match has_shape {
                    true => parts()
                        .find(|part| part["type"] == "tool_use" && part["name"] == TOOL)
                        .map(|part| part["input"].clone()),
                    false => parts().find_map(|part| part["text"].as_str()).map(Value::from),
                };
                let input = ["cache_creation_input_tokens", "cache_read_input_tokens"];
                (said, usage(&[&["input_tokens", "output_tokens"][..], &input].concat()))
            }
        };
        said.map(|said| Answer { said, tokens }).ok_or_else(bad)
    }
}

/// How long an endpoint wants to be left alone, in seconds; dates are not read.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("retry-after")?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}
