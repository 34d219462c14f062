//! `[extraction]`: a model elsewhere that reads facts out of memories, after the rules. Without the
//! section rules alone read, and nothing leaves this server.
//!
//! The model's key is named, never written, and no store is read unless it is named or all are.

use super::endpoint::{self, Api, EndpointConfig};
use crate::exit::Failure;
use loci_model::{StoreId, limit};
use serde::Deserialize;
use std::time::Duration;

const TIMEOUT_SECS_DEFAULT: u64 = 60;
const RETRIES_DEFAULT: u32 = 2;
const REQUESTS_DEFAULT: u64 = 1000;
const TOKENS_DEFAULT: u64 = 1_000_000;
/// Beyond any budget that somebody means.
const BUDGET_MAX: u64 = 1_000_000_000_000;
const STORES_MAX: usize = 10_000;

/// `[extraction]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtractionSection {
    api: Api,
    url: String,
    model: String,
    api_key_env: Option<String>,
    timeout_seconds: Option<u64>,
    retries: Option<u32>,
    requests_per_day: Option<u64>,
    tokens_per_day: Option<u64>,
    stores: Option<Stores>,
}

/// `"all"`, or ids.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Stores {
    Word(String),
    List(Vec<String>),
}

/// How a model is asked to read.
#[derive(Debug, Clone)]
pub(crate) struct ExtractionConfig {
    pub(crate) endpoint: EndpointConfig,
    pub(crate) requests_per_day: u64,
    pub(crate) tokens_per_day: u64,
    /// Which stores; `None` is all.
    pub(crate) stores: Option<Vec<StoreId>>,
}

impl ExtractionSection {
    pub(super) fn check(&self) -> Result<(), String> {
        endpoint::check("extraction", &self.url, &self.model, self.timeout_seconds, self.retries)?;
        let name = self.api.name().len() + 1 + self.model.chars().count();
        if name > limit::READER_CHARS_MAX || self.model.contains(char::is_control) {
            let max = limit::READER_CHARS_MAX - self.api.name().len() - 1;
            return Err(format!("extraction.model takes up to {max} printable characters"));
        }
        for (field, budget) in
            [("requests_per_day", self.requests_per_day), ("tokens_per_day", self.tokens_per_day)]
        {
            if budget.is_some_and(|budget| budget > BUDGET_MAX) {
                return Err(format!("extraction.{field} takes up to {BUDGET_MAX}"));
            }
        }
        self.stores().map(|_| ())
    }

    fn stores(&self) -> Result<Option<Vec<StoreId>>, String> {
        match &self.stores {
            None => Ok(Some(Vec::new())),
            Some(Stores::Word(word)) if word == "all" => Ok(None),
            Some(Stores::Word(_)) => {
                Err("extraction.stores takes \"all\" or a list of ids".to_owned())
            }
            Some(Stores::List(ids)) if ids.len() > STORES_MAX => {
                Err(format!("extraction.stores takes up to {STORES_MAX} ids"))
            }
            Some(Stores::List(ids)) => {
                let read = |id: &String| {
                    id.parse().map_err(|_| format!("extraction.stores: {id:?} is no store's id"))
                };
                ids.iter().map(read).collect::<Result<_, _>>().map(Some)
            }
        }
    }

    /// The section with its defaults, and the key it names.
    pub(crate) fn resolve(&self) -> Result<ExtractionConfig, Failure> {
        let endpoint = EndpointConfig {
            api: self.api,
            url: self.url.clone(),
            model: self.model.clone(),
            api_key: endpoint::key("extraction", self.api_key_env.as_deref())?,
            timeout: Duration::from_secs(self.timeout_seconds.unwrap_or(TIMEOUT_SECS_DEFAULT)),
            retries: self.retries.unwrap_or(RETRIES_DEFAULT),
        };
        Ok(ExtractionConfig {
            endpoint,
            requests_per_day: self.requests_per_day.unwrap_or(REQUESTS_DEFAULT),
            tokens_per_day: self.tokens_per_day.unwrap_or(TOKENS_DEFAULT),
            stores: self.stores().map_err(Failure::failed)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn parse(text: &str) -> Result<Option<ExtractionConfig>, String> {
        let config = Config::parse(text)?;
        let found = config.extraction.as_ref().map(ExtractionSection::resolve).transpose();
        found.map_err(|failure| failure.message)
    }

    fn with(line: &str) -> String {
        format!(
            "[extraction]\napi = 'anthropic'\nurl = 'http://127.0.0.1:9'\nmodel = 'm'\n{line}\n"
        )
    }

    #[test]
    fn nothing_is_read_unless_stores_are_named() {
        assert!(parse("").unwrap().is_none());
        let found = parse(&with("")).unwrap().unwrap();
        assert_eq!(found.stores, Some(Vec::new()), "none");
        assert_eq!((found.requests_per_day, found.tokens_per_day), (1000, 1_000_000));
        assert_eq!(found.endpoint.timeout, Duration::from_secs(60));
        assert_eq!(parse(&with("stores = 'all'")).unwrap().unwrap().stores, None);
        let store = StoreId::from_u128(7);
        let found = parse(&with(&format!("stores = ['{store}']"))).unwrap().unwrap();
        assert_eq!(found.stores, Some(vec![store]));
    }

    #[test]
    fn mistakes_are_named_and_secrets_are_not() {
        let why = |line: &str| parse(&with(line)).expect_err(line);
        assert!(why("stores = 'some'").contains("extraction.stores"));
        assert!(why("stores = ['x']").contains("extraction.stores"));
        assert!(why("timeout_seconds = 0").contains("timeout_seconds"));
        assert!(why("retries = 11").contains("retries"));
        assert!(why("tokens_per_day = 9000000000000").contains("tokens_per_day"));
        assert!(why("api_key = 'hunter2'").contains("api_key"));
        assert!(why("api_key_env = 'LOCI_TEST_KEY_THAT_NOBODY_SETS'").contains("not set"));
        let text = with("").replace("http://127.0.0.1:9", "http://u:hunter2@x/");
        let said = parse(&text).expect_err("a password");
        assert!(said.contains("extraction.url") && !said.contains("hunter2"), "{said}");
    }
}
