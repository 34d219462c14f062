//! `[summaries]`: a model elsewhere that writes the summaries of compaction. Without the section they
//! are quoted from what they summarise.
//!
//! The model's key is named, never written.

use super::env;
use crate::exit::Failure;
use loci_engine::Secret;
use loci_model::limit;
use serde::Deserialize;
use std::time::Duration;

const TIMEOUT_SECS_DEFAULT: u64 = 60;
const TIMEOUT_SECS_MAX: u64 = 600;
const RETRIES_DEFAULT: u32 = 2;
const RETRIES_MAX: u32 = 10;
const PER_HOUR_DEFAULT: u32 = 60;

/// Whose request an endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Api {
    /// `/chat/completions`
    OpenAi,
    /// `/messages`
    Anthropic,
}

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
    pub(crate) api: Api,
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) api_key: Option<Secret>,
    /// For one request.
    pub(crate) timeout: Duration,
    /// After a failure that may pass.
    pub(crate) retries: u32,
    /// What is beyond it is quoted.
    pub(crate) requests_per_hour: u32,
}

impl SummariesSection {
    pub(super) fn check(&self) -> Result<(), String> {
        let rest = self.url.strip_prefix("http://").or_else(|| self.url.strip_prefix("https://"));
        let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or(""));
        if host.is_none_or(|host| host.is_empty() || host.contains('@')) {
            // Not shown: somebody may have put a password there.
            return Err("summaries.url must be http:// or https://, a host and a path, without a \
                        password"
                .into());
        }
        if self.model.is_empty() || self.model.chars().count() > limit::NAME_CHARS_MAX {
            let max = limit::NAME_CHARS_MAX;
            return Err(format!("summaries.model takes 1 to {max} characters"));
        }
        if !(1..=TIMEOUT_SECS_MAX).contains(&self.timeout_seconds.unwrap_or(1)) {
            return Err(format!("summaries.timeout_seconds takes 1 to {TIMEOUT_SECS_MAX}"));
        }
        if self.retries.is_some_and(|retries| retries > RETRIES_MAX) {
            return Err(format!("summaries.retries takes 0 to {RETRIES_MAX}"));
        }
        Ok(())
    }

    /// The section with its defaults, and the key it names.
    pub(crate) fn resolve(&self) -> Result<SummariesConfig, Failure> {
        let api_key = match &self.api_key_env {
            None => None,
            Some(name) => {
                let unset =
                    || Failure::failed(format!("summaries: {name} is not set in the environment"));
                let key = env(name).ok_or_else(unset)?;
                super::check_presentable(&key)
                    .map_err(|why| Failure::failed(format!("summaries: {name} {why}")))?;
                Some(Secret::given(key))
            }
        };
        Ok(SummariesConfig {
            api: self.api,
            url: self.url.clone(),
            model: self.model.clone(),
            api_key,
            timeout: Duration::from_secs(self.timeout_seconds.unwrap_or(TIMEOUT_SECS_DEFAULT)),
            retries: self.retries.unwrap_or(RETRIES_DEFAULT),
            requests_per_hour: self.requests_per_hour.unwrap_or(PER_HOUR_DEFAULT),
        })
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
        assert_eq!((found.api, found.retries, found.requests_per_hour), (Api::OpenAi, 2, 60));
        assert_eq!(found.timeout, Duration::from_secs(60));
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
