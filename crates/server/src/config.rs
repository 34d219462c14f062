//! The configuration file and the environment: what an operator may say, and what it means.
//!
//! Flags beat the file, the file beats the defaults. An unknown name is an error, not a wish. The
//! file never holds a secret, only where to find one or its hash, so it can be kept in a repository;
//! and no message here repeats a line of it, in case somebody wrote one there all the same.

mod endpoint;
mod extraction;
mod hosts;
mod kilroy;
mod mcp;
mod qiforge;
mod search;
mod server;
mod sharing;
mod summaries;

pub(crate) use endpoint::{Api, EndpointConfig};
pub(crate) use extraction::ExtractionConfig;
pub(crate) use qiforge::{Qiforge, QiforgeSection};
pub(crate) use search::{EmbedderConfig, HttpEmbedderConfig, SearchConfig};
pub(crate) use sharing::{ChatEntry, MemberEntry, Switches};
pub(crate) use summaries::SummariesConfig;

use crate::exit::Failure;
use extraction::ExtractionSection;
use kilroy::KilroySection;
use loci_engine::Secret;
use loci_http::{HttpOptions, Tokens};
use loci_model::{Level, Power, PrincipalKind, limit};
use mcp::McpSection;
use search::SearchSection;
use serde::Deserialize;
use server::ServerSection;
use sharing::{HomesSection, JwtSection, ToolsSection};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use summaries::SummariesSection;

/// Where the server listens when nobody says.
pub(crate) const LISTEN_DEFAULT: &str = "127.0.0.1:8700";
/// An orchestrator's probe or a caller's own retry comes soon after.
const DATABASE_TIMEOUT: Duration = Duration::from_millis(1500);
/// Keys shorter than this can be guessed.
pub(crate) const SECRET_CHARS_MIN: usize = 16;

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) server: ServerSection,
    pub(crate) limits: LimitsSection,
    pub(crate) search: SearchSection,
    /// Who writes the summaries of compaction.
    pub(crate) summaries: Option<SummariesSection>,
    /// Who reads facts out of memories, beside the rules.
    pub(crate) extraction: Option<ExtractionSection>,
    jwt: Option<JwtSection>,
    pub(crate) homes: HomesSection,
    pub(crate) tools: ToolsSection,
    pub(crate) mcp: McpSection,
    pub(crate) kilroy: KilroySection,
    /// The door of QiForge's oracles.
    pub(crate) qiforge: Option<QiforgeSection>,
    #[serde(rename = "principal")]
    pub(crate) principals: Vec<PrincipalEntry>,
    #[serde(rename = "chat")]
    pub(crate) chats: Vec<ChatEntry>,
    #[serde(rename = "store")]
    pub(crate) stores: Vec<StoreEntry>,
    #[serde(rename = "grant")]
    pub(crate) grants: Vec<GrantEntry>,
    #[serde(rename = "key")]
    pub(crate) keys: Vec<KeyEntry>,
}

/// `[limits]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LimitsSection {
    requests_per_second: Option<u32>,
    search_only_per_minute: Option<u32>,
    search_only_memories_per_day: Option<u32>,
    connections: Option<usize>,
    body_bytes: Option<usize>,
    json_depth: Option<usize>,
    header_timeout_seconds: Option<u64>,
    body_idle_timeout_seconds: Option<u64>,
    request_timeout_seconds: Option<u64>,
    idle_timeout_seconds: Option<u64>,
}

/// `[[principal]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrincipalEntry {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) kind: KindName,
    #[serde(default)]
    pub(crate) admin: bool,
    memory: Option<bool>,
    self_store: Option<bool>,
    chat_store: Option<bool>,
    user_store: Option<bool>,
}

impl PrincipalEntry {
    pub(crate) fn switches(&self) -> Switches {
        let Self { memory, self_store, chat_store, user_store, .. } = *self;
        Switches { memory, self_store, chat_store, user_store }
    }
}

/// `[[store]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreEntry {
    pub(crate) name: String,
    pub(crate) owner: Option<String>,
    #[serde(default)]
    pub(crate) description: String,
}

/// `[[grant]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrantEntry {
    pub(crate) store: String,
    pub(crate) grantee: String,
    pub(crate) level: LevelName,
}

/// `[[key]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyEntry {
    pub(crate) name: String,
    pub(crate) principal: Option<String>,
    #[serde(default)]
    pub(crate) level: PowerName,
    pub(crate) stores: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) acts_for_agents: bool,
    secret_env: Option<String>,
    secret_file: Option<PathBuf>,
    secret_sha256: Option<String>,
}

/// A sort of principal, as written in the file.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KindName {
    User,
    #[default]
    Agent,
    Service,
}

/// A level of a grant, as written in the file.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LevelName {
    Search,
    Read,
    Readwrite,
}

/// A level of a key, as written in the file.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PowerName {
    Search,
    Read,
    #[default]
    Readwrite,
    Full,
}

impl From<KindName> for PrincipalKind {
    fn from(kind: KindName) -> Self {
        match kind {
            KindName::User => Self::User,
            KindName::Agent => Self::Agent,
            KindName::Service => Self::Service,
        }
    }
}

impl From<LevelName> for Level {
    fn from(level: LevelName) -> Self {
        match level {
            LevelName::Search => Self::Search,
            LevelName::Read => Self::Read,
            LevelName::Readwrite => Self::ReadWrite,
        }
    }
}

impl From<PowerName> for Power {
    fn from(level: PowerName) -> Self {
        match level {
            PowerName::Search => Self::UpTo(Level::Search),
            PowerName::Read => Self::UpTo(Level::Read),
            PowerName::Readwrite => Self::UpTo(Level::ReadWrite),
            PowerName::Full => Self::Full,
        }
    }
}

impl Config {
    /// Reads and checks a file.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::io(format_args!("cannot read {}", path.display()), &error))?;
        Self::parse(&text).map_err(|why| Failure::failed(format!("{}: {why}", path.display())))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let config: Self = toml::from_str(text).map_err(|error| {
            let line = error
                .span()
                .map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            format!("line {line}: {}", error.message().replace('\n', " "))
        })?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        let names = |kind: &str, names: Vec<&str>| {
            let mut seen = BTreeSet::new();
            match names.iter().find(|name| !seen.insert(**name)) {
                Some(name) => Err(format!("{kind} {name:?} is declared twice")),
                None => Ok(()),
            }
        };
        let principals = self.principals.iter().map(|entry| entry.name.as_str());
        names("principal", principals.collect())?;
        names("chat", self.chats.iter().map(|chat| chat.name.as_str()).collect())?;
        self.chats.iter().try_for_each(ChatEntry::check)?;
        names("key", self.keys.iter().map(|key| key.name.as_str()).collect())?;
        for key in &self.keys {
            // The server declares its own keys under these names and would retire this one.
            let is_ours = key.name == "admin" || key.name.starts_with("admin (");
            if is_ours || key.name == kilroy::KEY_NAME {
                return Err(format!("key {:?}: the name is taken by the server", key.name));
            }
            let sources =
                [key.secret_env.is_some(), key.secret_file.is_some(), key.secret_sha256.is_some()];
            if sources.iter().filter(|is_given| **is_given).count() != 1 {
                return Err(format!(
                    "key {:?} needs exactly one of secret_env, secret_file and secret_sha256",
                    key.name
                ));
            }
        }
        self.server.check()?;
        self.search.check()?;
        self.summaries.as_ref().map_or(Ok(()), SummariesSection::check)?;
        self.extraction.as_ref().map_or(Ok(()), ExtractionSection::check)?;
        self.jwt.as_ref().map_or(Ok(()), JwtSection::check)?;
        self.homes.check()?;
        self.kilroy.check()?;
        self.mcp.check()?;
        self.qiforge.as_ref().map_or(Ok(()), QiforgeSection::check)?;
        self.limits.check()
    }

    /// What verifies signed tokens, if any are taken.
    pub(crate) fn tokens(&self) -> Result<Option<Arc<Tokens>>, Failure> {
        self.jwt.as_ref().map(JwtSection::resolve).transpose()
    }

    /// How many agents that nobody has heard of tokens may name on one day, if any are taken.
    pub(crate) fn new_agents_per_day(&self) -> Option<u32> {
        self.jwt.as_ref().map(JwtSection::new_agents_per_day)
    }

    /// Who issues the tokens that are taken.
    pub(crate) fn issuer(&self) -> Option<String> {
        self.jwt.as_ref().and_then(JwtSection::issuer)
    }

    /// The limits, over the defaults.
    pub(crate) fn http_options(&self, scratch_dir: PathBuf) -> HttpOptions {
        let limits = &self.limits;
        let mut options = HttpOptions { scratch_dir, ..HttpOptions::default() };
        let seconds = |from: Option<u64>, to: &mut Duration| {
            if let Some(seconds) = from {
                *to = Duration::from_secs(seconds);
            }
        };
        seconds(limits.header_timeout_seconds, &mut options.header_timeout);
        seconds(limits.body_idle_timeout_seconds, &mut options.body_idle_timeout);
        seconds(limits.request_timeout_seconds, &mut options.request_timeout);
        seconds(limits.idle_timeout_seconds, &mut options.idle_timeout);
        options.requests_per_second = limits.requests_per_second;
        options.connections_max = limits.connections.unwrap_or(options.connections_max);
        options.body_bytes_max = limits.body_bytes.unwrap_or(options.body_bytes_max);
        options.json_depth_max = limits.json_depth.unwrap_or(options.json_depth_max);
        options
    }
}

impl LimitsSection {
    /// How often a minute a store may be searched by somebody who may only search it.
    pub(crate) fn search_only_per_minute(&self) -> u32 {
        self.search_only_per_minute.unwrap_or(limit::GUARDED_SEARCHES_PER_MINUTE)
    }

    /// How many different memories of a store somebody gets on one day who may only search it.
    pub(crate) fn search_only_memories_per_day(&self) -> u32 {
        self.search_only_memories_per_day.unwrap_or(limit::GUARDED_MEMORIES_PER_DAY)
    }

    fn check(&self) -> Result<(), String> {
        let is_zero = [
            ("requests_per_second", self.requests_per_second == Some(0)),
            ("search_only_per_minute", self.search_only_per_minute == Some(0)),
            ("search_only_memories_per_day", self.search_only_memories_per_day == Some(0)),
            ("connections", self.connections == Some(0)),
            ("body_bytes", self.body_bytes == Some(0)),
            ("json_depth", self.json_depth == Some(0)),
            ("header_timeout_seconds", self.header_timeout_seconds == Some(0)),
            ("body_idle_timeout_seconds", self.body_idle_timeout_seconds == Some(0)),
            ("request_timeout_seconds", self.request_timeout_seconds == Some(0)),
            ("idle_timeout_seconds", self.idle_timeout_seconds == Some(0)),
        ];
        match is_zero.iter().find(|(_, is_zero)| *is_zero) {
            Some((name, _)) => Err(format!("limits.{name} must be at least 1")),
            None => Ok(()),
        }
    }
}

impl KeyEntry {
    /// SHA-256 of the key's secret, from wherever the file says it is.
    pub(crate) fn secret_hash(&self) -> Result<[u8; 32], Failure> {
        let fail = |why: &str| Failure::failed(format!("key {:?}: {why}", self.name));
        if let Some(text) = &self.secret_sha256 {
            let mut hash = [0u8; 32];
            hex::decode_to_slice(text, &mut hash)
                .map_err(|_| fail("secret_sha256 must be 64 hexadecimal digits"))?;
            return Ok(hash);
        }
        let secret = match (&self.secret_env, &self.secret_file) {
            (Some(name), _) => {
                env(name).ok_or_else(|| fail(&format!("{name} is not set in the environment")))?
            }
            (None, Some(path)) => {
                let text = fs::read_to_string(path)
                    .map_err(|error| fail(&format!("cannot read {}: {error}", path.display())))?;
                text.trim_end_matches(['\r', '\n']).to_owned()
            }
            (None, None) => return Err(fail("has no secret")),
        };
        if secret.chars().count() < SECRET_CHARS_MIN {
            return Err(fail(&format!(
                "the secret must have at least {SECRET_CHARS_MIN} characters"
            )));
        }
        check_presentable(&secret).map_err(|why| fail(&format!("the secret {why}")))?;
        Ok(Secret::given(secret).hash())
    }
}

/// Whether a secret can be sent in a header at all.
pub(crate) fn check_presentable(secret: &str) -> Result<(), &'static str> {
    if secret.trim() != secret || secret.chars().any(char::is_control) {
        return Err("has white space at an end or a control character; no client could send it");
    }
    Ok(())
}

/// An environment variable; an empty one counts as not set.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub(crate) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// How long a request waits for PostgreSQL before it is told that the database does not answer.
pub(crate) fn database_timeout() -> Result<Duration, Failure> {
    match env("LOCI_DATABASE_TIMEOUT_MS") {
        None => Ok(DATABASE_TIMEOUT),
        Some(text) => parse_database_timeout(&text).ok_or_else(|| {
            Failure::usage("LOCI_DATABASE_TIMEOUT_MS is a number of milliseconds, 100 to 120000")
        }),
    }
}

fn parse_database_timeout(text: &str) -> Option<Duration> {
    let millis = text.parse().ok().filter(|millis| (100..=120_000).contains(millis))?;
    Some(Duration::from_millis(millis))
}

/// Whether the clock is right, although what was written has a later time.
pub(crate) fn trusts_clock() -> Result<bool, Failure> {
    match env("LOCI_TRUST_CLOCK").as_deref() {
        None | Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(_) => Err(Failure::usage("LOCI_TRUST_CLOCK is 1 or 0")),
    }
}

/// Where data is kept when nobody says.
pub(crate) fn default_data_dir() -> PathBuf {
    if let Some(home) = env("XDG_DATA_HOME").filter(|home| Path::new(home).is_absolute()) {
        return Path::new(&home).join("loci");
    }
    match env("HOME") {
        Some(home) => Path::new(&home).join(".local/share/loci"),
        None => PathBuf::from("loci-data"),
    }
}

/// Where this machine remembers what is nobody's data; nowhere if this user has no home.
pub(crate) fn state_dir() -> Option<PathBuf> {
    let is_absolute = |home: &PathBuf| home.is_absolute();
    let given = env("XDG_STATE_HOME").map(PathBuf::from).filter(is_absolute);
    let usual = || env("HOME").map(PathBuf::from).filter(is_absolute);
    let home = given.or_else(|| usual().map(|home| home.join(".local/state")))?;
    Some(home.join("loci"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the reference page is the one this test reads, so it cannot go stale.
    const REFERENCE: &str = include_str!("../../../docs/reference/config.md");

    fn why(text: &str) -> String {
        Config::parse(text).expect_err(text)
    }

    #[test]
    fn the_wait_for_a_database_is_bounded() {
        assert_eq!(parse_database_timeout("100"), Some(Duration::from_millis(100)));
        assert_eq!(parse_database_timeout("120000"), Some(Duration::from_secs(120)));
        for text in ["99", "120001", "-1", "1.5", "2s", ""] {
            assert_eq!(parse_database_timeout(text), None, "{text}");
        }
    }

    #[test]
    fn an_empty_file_means_the_defaults() {
        let config = Config::parse("").unwrap();
        let options = config.http_options(PathBuf::from("/x"));
        assert_eq!(options.connections_max, HttpOptions::default().connections_max);
        assert_eq!(options.requests_per_second, None);
        assert!(config.keys.is_empty() && config.server.listen.is_none());
    }

    #[test]
    fn limits_reach_the_options() {
        let text =
            "[limits]\nrequests_per_second = 5\nconnections = 20\nidle_timeout_seconds = 3\n";
        let options = Config::parse(text).unwrap().http_options(PathBuf::new());
        assert_eq!(options.requests_per_second, Some(5));
        assert_eq!(options.connections_max, 20);
        assert_eq!(options.idle_timeout, Duration::from_secs(3));
    }

    #[test]
    fn mistakes_are_named_with_their_line_and_never_quoted() {
        let said = why("[[key]]\nname = 'a'\nsecret = 'hunter2-hunter2-hunter2'\n");
        assert!(said.contains("secret") && !said.contains("hunter2"), "{said}");
        assert!(why("\n[limits]\nconections = 1\n").starts_with("line 3"));
        assert!(why("[limits]\nconnections = 0\n").contains("at least 1"));
        assert!(why("[[key]]\nname = 'a'\n").contains("exactly one"));
        let reserved = "[[key]]\nname = 'admin'\nsecret_env = 'X'\n";
        assert!(why(reserved).contains("taken by the server"));
        let twice = "[[principal]]\nname = 'a'\n[[principal]]\nname = 'a'\n";
        assert!(why(twice).contains("twice"));
        assert!(why("[[grant]]\nstore = 's'\ngrantee = 'g'\nlevel = 'full'\n").contains("full"));
    }

    #[test]
    fn hashes_are_taken_as_they_are() {
        let text = format!("[[key]]\nname = 'a'\nsecret_sha256 = '{}'\n", "0f".repeat(32));
        let config = Config::parse(&text).unwrap();
        assert_eq!(config.keys[0].secret_hash().unwrap(), [0x0f; 32]);
    }

    #[test]
    fn the_reference_example_is_a_configuration() {
        let example = REFERENCE
            .split("```toml\n")
            .nth(1)
            .and_then(|rest| rest.split("```").next())
            .expect("the page has an example");
        let config = Config::parse(example).unwrap();
        assert!(!config.keys.is_empty() && !config.grants.is_empty());
        assert!(!config.chats.is_empty() && config.jwt.is_some());
        for name in [
            "listen",
            "data",
            "database",
            "database_env",
            "database_file",
            "requests_per_second",
            "search_only_per_minute",
            "search_only_memories_per_day",
            "connections",
            "body_bytes",
            "json_depth",
            "header_timeout_seconds",
            "body_idle_timeout_seconds",
            "request_timeout_seconds",
            "idle_timeout_seconds",
            "secret_env",
            "secret_file",
            "secret_sha256",
            "embedder",
            "memory_mb",
            "index_memories_max",
            "url",
            "model",
            "api_key_env",
            "dims",
            "timeout_seconds",
            "batch_max",
            "jwks_file",
            "issuer",
            "audience",
            "agent_claim",
            "content_bytes",
            "memories",
            "hide_sharing",
            "memory",
            "self_store",
            "chat_store",
            "user_store",
            "members",
            "acts_for_agents",
            "allowed_hosts",
            "new_agents_per_day",
            "web_private",
            "token_seconds",
            "visitor_memories",
            "visitor_mb",
            "visitors_memories",
            "visitors_mb",
        ] {
            assert!(REFERENCE.contains(&format!("`{name}`")), "{name} is not described");
        }
    }
}
