//! `[summaries]`: a model elsewhere that writes the summaries of compaction. Without the section they
//! are quoted from what they summarise.
//!
//! The model's key is named, never written.

use super::endpoint::{self, Api, EndpointConfig};
use crate::exit::Failure;
use serde::Deserialize;
use std::time::Duration;

const TIMEOUT_SECS_DEFAULT: u64 = 60;
const RETRIES_DEFAULT: u32 = 2;
const PER_HOUR_DEFAULT: u32 = 60;

/// `[summaries]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SummariesSection {
    api: Api,
    url: String,
    model: String,
    api_key_env: Option<String>,
    timeout_seconds: Option<u64>,
    retries: Option<u32>,
    requests_per_hour: Option<u32>,
}

/// How a model is asked for a summary.
#[derive(Debug, Clone)]
pub(crate) struct SummariesConfig {
    pub(crate) endpoint: EndpointConfig,
    /// What is beyond it is quoted.
    pub(crate) requests_per_hour: u32,
}

impl SummariesSection {
    pub(super) fn check(&self) -> Result<(), String> {
        endpoint::check("summaries", &self.url, &self.model, self.timeout_seconds, self.retries)
    }

    /// The section with its defaults, and the key it names.
    pub(crate) fn resolve(&self) -> Result<SummariesConfig, Failure> {
        let endpoint = EndpointConfig {
            api: self.api,
            url: self.url.clone(),
            model: self.model.clone(),
            api_key: endpoint::key("summaries", self.api_key_env.as_deref())?,
            timeout: Duration::from_secs(self.timeout_seconds.unwrap_or(TIMEOUT_SECS_DEFAULT)),
            retries: self.retries.unwrap_or(RETRIES_DEFAULT),
        };
        let requests_per_hour = self.requests_per_hour.unwrap_or(PER_HOUR_DEFAULT);
        Ok(SummariesConfig { endpoint, requests_per_hour })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn parse(text: &str) -> Result<Option<SummariesConfig>, String> {
        let config = Config::parse(text)?;
        let found = config.summaries.as_ref().map(SummariesSection::resolve).transpose();
        found.map_err(|failure| failure.message)
    }

    #[test]
    fn a_model_is_taken_with_its_defaults() {
        assert!(parse("").unwrap().is_none());
        let text = "[summaries]\napi = 'openai'\nurl = 'http://127.0.0.1:9/v1'\nmodel = 'm'\n";
        let found = parse(text).unwrap().unwrap();
        let endpoint = found.endpoint;
        assert_eq!((endpoint.api, endpoint.retries), (Api::OpenAi, 2));
        assert_eq!((endpoint.timeout, found.requests_per_hour), (Duration::from_secs(60), 60));
    }

    #[test]
    fn mistakes_are_named_and_secrets_are_not() {
        let with = |line: &str| format!("[summaries]\napi = 'anthropic'\nmodel = 'm'\n{line}\n");
        let why = |line: &str| parse(&with(line)).expect_err(line);
        for url in ["x", "ftp://x", "http://u:hunter2@x/"] {
            let said = why(&format!("url = '{url}'"));
            assert!(said.contains("summaries.url") && !said.contains("hunter2"), "{said}");
        }
        assert!(why("url = 'http://x'\ntimeout_seconds = 0").contains("timeout_seconds"));
        assert!(why("url = 'http://x'\nretries = 11").contains("retries"));
        assert!(why("url = 'http://x'\napi_key = 'hunter2'").contains("api_key"));
        let unset = "url = 'http://x'\napi_key_env = 'LOCI_TEST_KEY_THAT_NOBODY_SETS'";
        assert!(why(unset).contains("not set"));
    }
}
