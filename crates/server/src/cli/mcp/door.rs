//! A message of the protocol as a request to `/mcp` of whoever has the memories. A call whose answer
//! was lost is sent again under the same idempotency key, so it happens once.

use super::super::client::bearer;
use super::super::way::{Answered, Ask, Broken, Insistence, Wait, Way, fresh_key};
use super::message::Request as Message;
use crate::exit::Failure;
use crate::mcp::{PATH, PROFILES, Profiles};
use bytes::Bytes;
use hyper::Method;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use loci_mcp::RELAYED;
use std::sync::Arc;
use std::time::Duration;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const JSON_OR_EVENTS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
/// How long an answer is tried to be had.
const RETRY_FOR: Duration = Duration::from_secs(30);

/// The door that messages go to.
pub(super) struct Door {
    way: Arc<Way>,
    key: Option<String>,
    profiles: Option<Profiles>,
}

impl Door {
    pub(super) fn new(way: Arc<Way>, key: Option<String>, profiles: Option<Profiles>) -> Self {
        Self { way, key, profiles }
    }

    /// Sends a message until it is answered. `version` is what the client agreed on, for messages that
    /// do not say it themselves.
    pub(super) async fn ask(
        &self,
        message: &Message,
        version: Option<&str>,
    ) -> Result<Answered, Failure> {
        let ask = Ask {
            method: Method::POST,
            target: PATH,
            headers: self.headers(message, version)?,
            body: Some(Bytes::from(message.whole.to_string())),
            wait: Wait::AllButEvents,
        };
        let insistence = Insistence {
            retry_for: RETRY_FOR,
            is_repeatable: message.is_repeatable(),
            outlasts_absence: true,
        };
        let answered = self.way.ask(&ask, insistence).await;
        answered.map_err(|broken| match broken {
            Broken::Connection(_) if !message.is_repeatable() => Failure::failed(
                "the connection was lost, and nobody knows whether this was done; look before you \
                 try it again",
            ),
            other => other.into(),
        })
    }

    /// Gives back what this process holds.
    pub(super) async fn close(&self) {
        self.way.close().await;
    }

    fn headers(&self, message: &Message, version: Option<&str>) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(ACCEPT, JSON_OR_EVENTS);
        headers.insert(RELAYED, HeaderValue::from_static("1"));
        let given = [
            (METHOD, Some(message.method.clone())),
            (VERSION, message.version().or(version).map(str::to_owned)),
            (NAME, message.name()),
            (IDEMPOTENCY_KEY, message.is_call().then(|| fresh_key("mcp"))),
            (PROFILES, self.profiles.map(Profiles::spelled)),
        ];
        for (name, value) in given {
            if let Some(value) = value {
                let value = HeaderValue::try_from(value)
                    .map_err(|error| Failure::failed(format!("this cannot be asked: {error}")))?;
                headers.insert(name, value);
            }
        }
        if let Some(key) = &self.key {
            headers.insert(AUTHORIZATION, bearer(key)?);
        }
        Ok(headers)
    }
}
