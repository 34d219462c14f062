//! What the sections about models elsewhere have in common: whose request they take, what can be
//! wrong with them without asking, and where their key is.
//!
//! A key is named, never written, and what may hold a password is not shown.

use super::env;
use crate::exit::Failure;
use loci_engine::Secret;
use loci_model::limit;
use serde::Deserialize;
use std::time::Duration;

const TIMEOUT_SECS_MAX: u64 = 600;
const RETRIES_MAX: u32 = 10;

/// Whose request an endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Api {
    /// `/chat/completions`
    OpenAi,
    /// `/messages`
    Anthropic,
}

impl Api {
    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }
}

/// A model elsewhere, and how patiently it is asked.
#[derive(Debug, Clone)]
pub(crate) struct EndpointConfig {
    pub(crate) api: Api,
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) api_key: Option<Secret>,
    /// For one request.
    pub(crate) timeout: Duration,
    /// After a failure that may pass.
    pub(crate) retries: u32,
}

/// Checks what a section says about its endpoint.
pub(super) fn check(
    section: &str,
    url: &str,
    model: &str,
    timeout_seconds: Option<u64>,
    retries: Option<u32>,
) -> Result<(), String> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or(""));
    if host.is_none_or(|host| host.is_empty() || host.contains('@')) {
        // Not shown: somebody may have put a password there.
        return Err(format!(
            "{section}.url must be http:// or https://, a host and a path, without a password"
        ));
    }
    if model.is_empty() || model.chars().count() > limit::NAME_CHARS_MAX {
        let max = limit::NAME_CHARS_MAX;
        return Err(format!("{section}.model takes 1 to {max} characters"));
    }
    if !(1..=TIMEOUT_SECS_MAX).contains(&timeout_seconds.unwrap_or(1)) {
        return Err(format!("{section}.timeout_seconds takes 1 to {TIMEOUT_SECS_MAX}"));
    }
    if retries.is_some_and(|retries| retries > RETRIES_MAX) {
        return Err(format!("{section}.retries takes 0 to {RETRIES_MAX}"));
    }
    Ok(())
}

/// The key that a section names.
pub(super) fn key(section: &str, name: Option<&str>) -> Result<Option<Secret>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let unset = || Failure::failed(format!("{section}: {name} is not set in the environment"));
    let key = env(name).ok_or_else(unset)?;
    super::check_presentable(&key)
        .map_err(|why| Failure::failed(format!("{section}: {name} {why}")))?;
    Ok(Some(Secret::given(key)))
}
