//! `[search]`: which model makes vectors, and how much memory indexes may take.
//!
//! A model elsewhere is an HTTP endpoint. Its key is named, never written; what is checked here is
//! everything that can be wrong without asking it.

use super::env;
use crate::exit::Failure;
use loci_engine::Secret;
use loci_model::limit;
use serde::Deserialize;
use std::time::Duration;

const MEMORY_MB_DEFAULT: u64 = 2048;
/// Less than this does not hold one store of a useful size.
const MEMORY_MB_MIN: u64 = 16;
const INDEX_MEMORIES_DEFAULT: u64 = 100_000;
const TIMEOUT_SECS_DEFAULT: u64 = 30;
const TIMEOUT_SECS_MAX: u64 = 600;
const BATCH_DEFAULT: usize = 64;
const BATCH_MAX: usize = 2048;

/// `[search]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SearchSection {
    embedder: EmbedderName,
    memory_mb: Option<u64>,
    index_memories_max: Option<u64>,
    http: Option<HttpSection>,
}

/// `[search.http]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpSection {
    url: String,
    model: String,
    api_key_env: Option<String>,
    dims: usize,
    timeout_seconds: Option<u64>,
    batch_max: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EmbedderName {
    #[default]
    Builtin,
    None,
    Http,
}

/// How memories are searched.
#[derive(Debug, Clone)]
pub(crate) struct SearchConfig {
    pub(crate) embedder: EmbedderConfig,
    /// What all indexes together may take.
    pub(crate) memory_bytes: usize,
    /// Memories of the largest store that gets one.
    pub(crate) index_memories_max: u64,
}

/// What makes vectors.
#[derive(Debug, Clone)]
pub(crate) enum EmbedderConfig {
    /// The model inside the binary.
    Builtin,
    /// Nothing: search is by word only.
    None,
    /// A model elsewhere.
    Http(HttpEmbedderConfig),
}

/// An endpoint that speaks the usual embeddings API.
#[derive(Debug, Clone)]
pub(crate) struct HttpEmbedderConfig {
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) api_key: Option<Secret>,
    /// Numbers in its vectors.
    pub(crate) dims: usize,
    /// For one request.
    pub(crate) timeout: Duration,
    /// Texts in one request.
    pub(crate) batch_max: usize,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            embedder: EmbedderConfig::Builtin,
            memory_bytes: bytes(MEMORY_MB_DEFAULT),
            index_memories_max: INDEX_MEMORIES_DEFAULT,
        }
    }
}

impl SearchSection {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.memory_mb.is_some_and(|mb| mb < MEMORY_MB_MIN) {
            return Err(format!("search.memory_mb must be at least {MEMORY_MB_MIN}"));
        }
        match (self.embedder, &self.http) {
            (EmbedderName::Http, None) => Err("search.embedder http needs [search.http]".into()),
            (EmbedderName::Http, Some(http)) => http.check(),
            // A section that does nothing is a mistake somebody would look for elsewhere.
            (_, Some(_)) => Err("[search.http] goes with search.embedder http only".into()),
            (_, None) => Ok(()),
        }
    }

    /// The section with its defaults, and the key it names.
    pub(crate) fn resolve(&self) -> Result<SearchConfig, Failure> {
        let memory_bytes = bytes(self.memory_mb.unwrap_or(MEMORY_MB_DEFAULT));
        let embedder = match (self.embedder, &self.http) {
            (EmbedderName::Http, Some(http)) => EmbedderConfig::Http(http.resolve()?),
            (EmbedderName::None, _) => EmbedderConfig::None,
            (EmbedderName::Builtin | EmbedderName::Http, _) => EmbedderConfig::Builtin,
        };
        let index_memories_max = self.index_memories_max.unwrap_or(INDEX_MEMORIES_DEFAULT);
        Ok(SearchConfig { embedder, memory_bytes, index_memories_max })
    }
}

impl HttpSection {
    fn check(&self) -> Result<(), String> {
        let rest = self.url.strip_prefix("http://").or_else(|| self.url.strip_prefix("https://"));
        let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or(""));
        if host.is_none_or(|host| host.is_empty() || host.contains('@')) {
            // Not shown: somebody may have put a password there.
            return Err("search.http.url must be http:// or https://, a host and a path, without \
                        a password"
                .into());
        }
        if self.model.is_empty() || self.model.chars().count() > limit::NAME_CHARS_MAX {
            let max = limit::NAME_CHARS_MAX;
            return Err(format!("search.http.model takes 1 to {max} characters"));
        }
        for (name, value, max) in [
            ("dims", self.dims as u64, limit::VECTOR_DIMS_MAX as u64),
            ("timeout_seconds", self.timeout_seconds.unwrap_or(1), TIMEOUT_SECS_MAX),
            ("batch_max", self.batch_max.unwrap_or(1) as u64, BATCH_MAX as u64),
        ] {
            if !(1..=max).contains(&value) {
                return Err(format!("search.http.{name} takes 1 to {max}"));
            }
        }
        Ok(())
    }

    fn resolve(&self) -> Result<HttpEmbedderConfig, Failure> {
        let api_key = match &self.api_key_env {
            None => None,
            Some(name) => {
                let unset = || {
                    Failure::failed(format!("search.http: {name} is not set in the environment"))
                };
                let key = env(name).ok_or_else(unset)?;
                super::check_presentable(&key)
                    .map_err(|why| Failure::failed(format!("search.http: {name} {why}")))?;
                Some(Secret::given(key))
            }
        };
        Ok(HttpEmbedderConfig {
            url: self.url.clone(),
            model: self.model.clone(),
            api_key,
            dims: self.dims,
            timeout: Duration::from_secs(self.timeout_seconds.unwrap_or(TIMEOUT_SECS_DEFAULT)),
            batch_max: self.batch_max.unwrap_or(BATCH_DEFAULT),
        })
    }
}

fn bytes(mb: u64) -> usize {
    usize::try_from(mb.saturating_mul(1 << 20)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn parse(text: &str) -> Result<SearchConfig, String> {
        let config = Config::parse(text)?;
        config.search.resolve().map_err(|failure| failure.message)
    }

    #[test]
    fn nothing_said_means_the_model_inside() {
        for text in ["", "[search]\n", "[search]\nembedder = 'builtin'\n"] {
            let found = parse(text).unwrap();
            assert!(matches!(found.embedder, EmbedderConfig::Builtin), "{text}");
            assert_eq!(found.memory_bytes, 2048 << 20);
        }
        assert_eq!(parse("").unwrap().index_memories_max, 100_000);
        let found = parse("[search]\nindex_memories_max = 0\n").unwrap();
        assert_eq!(found.index_memories_max, 0);
        let found = parse("[search]\nembedder = 'none'\nmemory_mb = 64\n").unwrap();
        assert!(matches!(found.embedder, EmbedderConfig::None));
        assert_eq!(found.memory_bytes, 64 << 20);
        assert_eq!(SearchConfig::default().memory_bytes, parse("").unwrap().memory_bytes);
    }

    const HTTP: &str = "[search]\nembedder = 'http'\n[search.http]\nmodel = 'm'\n";

    #[test]
    fn an_endpoint_is_taken_with_its_defaults() {
        let text = format!("{HTTP}url = 'http://127.0.0.1:9/v1/embeddings'\ndims = 384\n");
        let EmbedderConfig::Http(http) = parse(&text).unwrap().embedder else { panic!("not http") };
        assert_eq!((http.dims, http.batch_max), (384, 64));
        assert_eq!((http.timeout, http.model.as_str()), (Duration::from_secs(30), "m"));
        assert!(http.api_key.is_none() && http.url.ends_with("/embeddings"));
    }

    #[test]
    fn mistakes_are_named_and_secrets_are_not() {
        let why = |text: &str| parse(text).expect_err(text);
        assert!(why("[search]\nembedder = 'http'\n").contains("needs [search.http]"));
        assert!(why("[search]\nmemory_mb = 1\n").contains("at least 16"));
        let unused = "[search.http]\nurl = 'http://x'\nmodel = 'm'\ndims = 3\n";
        assert!(why(unused).contains("goes with"));
        for url in ["x", "ftp://x", "http://", "http://u:hunter2@x/"] {
            let said = why(&format!("{HTTP}url = '{url}'\ndims = 3\n"));
            assert!(said.contains("search.http.url") && !said.contains("hunter2"), "{said}");
        }
        let with = |line: &str| format!("{HTTP}url = 'http://x'\n{line}\n");
        assert!(why(&with("dims = 0")).contains("dims takes 1 to"));
        assert!(why(&with("dims = 3\nbatch_max = 0")).contains("batch_max takes"));
        assert!(why(&with("dims = 3\ntimeout_seconds = 1000")).contains("timeout_seconds takes"));
        assert!(why(&with("dims = 3\napi_key = 'hunter2'")).contains("api_key"));
        let unset = with("dims = 3\napi_key_env = 'LOCI_TEST_KEY_THAT_NOBODY_SETS'");
        assert!(why(&unset).contains("not set"));
    }
}
