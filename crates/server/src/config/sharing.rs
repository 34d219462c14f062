//! What agents share, and how they prove who they are: `[jwt]`, `[homes]`, `[tools]`, `[[chat]]`, and
//! the switches of a `[[principal]]`.

use super::{KindName, env};
use crate::exit::Failure;
use loci_dialects::tool::ToolOptions;
use loci_engine::HomeLimits;
use loci_http::{TokenOptions, Tokens};
use loci_model::{MemorySwitches, limit};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// `[jwt]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JwtSection {
    secret_env: Option<String>,
    secret_file: Option<PathBuf>,
    jwks_file: Option<PathBuf>,
    issuer: Option<String>,
    audience: Option<String>,
    agent_claim: Option<String>,
    new_agents_per_day: Option<u32>,
    token_seconds: Option<u32>,
}

impl JwtSection {
    /// How many agents that nobody has heard of tokens may name on one day.
    pub(super) fn new_agents_per_day(&self) -> u32 {
        self.new_agents_per_day.unwrap_or(limit::NEW_AGENTS_PER_DAY)
    }

    pub(super) fn issuer(&self) -> Option<String> {
        self.issuer.clone()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        match (&self.secret_env, &self.secret_file, &self.jwks_file) {
            (Some(_), Some(_), _) => {
                return Err("jwt takes only one of secret_env and secret_file".into());
            }
            (None, None, None) => {
                return Err("jwt needs secret_env, secret_file or jwks_file".into());
            }
            _ => {}
        }
        if self.token_seconds == Some(0) {
            return Err("jwt.token_seconds must be at least 1".into());
        }
        for (name, value) in [
            ("issuer", &self.issuer),
            ("audience", &self.audience),
            ("agent_claim", &self.agent_claim),
        ] {
            if value.as_ref().is_some_and(String::is_empty) {
                return Err(format!("jwt.{name} must not be empty"));
            }
        }
        Ok(())
    }

    /// What verifies tokens, with the secret and the keys from wherever the file says they are.
    pub(crate) fn resolve(&self) -> Result<Arc<Tokens>, Failure> {
        let fail = |why: String| Failure::failed(format!("jwt: {why}"));
        let secret = match (&self.secret_env, &self.secret_file) {
            (Some(name), _) => {
                let unset = || fail(format!("{name} is not set in the environment"));
                Some(env(name).ok_or_else(unset)?.into_bytes())
            }
            (None, Some(path)) => {
                let mut secret = fs::read(path)
                    .map_err(|error| fail(format!("cannot read {}: {error}", path.display())))?;
                let kept = secret.iter().rposition(|byte| !b"\r\n".contains(byte));
                secret.truncate(kept.map_or(0, |last| last + 1));
                Some(secret)
            }
            (None, None) => None,
        };
        let tokens = Tokens::new(TokenOptions {
            secret,
            jwks_file: self.jwks_file.clone(),
            issuer: self.issuer.clone(),
            audience: self.audience.clone(),
            agent_claim: self.agent_claim.clone(),
            lifetime_max: self.token_seconds,
        });
        tokens.map(Arc::new).map_err(fail)
    }
}

/// `[homes]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HomesSection {
    content_bytes: Option<u64>,
    memories: Option<u64>,
}

impl HomesSection {
    pub(super) fn check(&self) -> Result<(), String> {
        for (name, value, max) in [
            ("content_bytes", self.content_bytes, limit::CONTENT_BYTES_MAX as u64),
            ("memories", self.memories, limit::MEMORIES_PER_STORE_DEFAULT),
        ] {
            if value.is_some_and(|value| !(1..=max).contains(&value)) {
                return Err(format!("homes.{name} takes 1 to {max}"));
            }
        }
        Ok(())
    }

    /// The limits, over the defaults.
    pub(crate) fn limits(&self) -> HomeLimits {
        let HomeLimits { content_bytes_max, memories_max } = HomeLimits::default();
        HomeLimits {
            content_bytes_max: self.content_bytes.unwrap_or(content_bytes_max),
            memories_max: self.memories.unwrap_or(memories_max),
        }
    }
}

/// `[tools]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ToolsSection {
    hide_sharing: bool,
}

impl ToolsSection {
    pub(crate) fn options(&self) -> ToolOptions {
        ToolOptions { hide_sharing: self.hide_sharing, ..ToolOptions::default() }
    }
}

/// The switches of a `[[principal]]`; those not given stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Switches {
    pub(crate) memory: Option<bool>,
    pub(crate) self_store: Option<bool>,
    pub(crate) chat_store: Option<bool>,
    pub(crate) user_store: Option<bool>,
}

impl Switches {
    pub(crate) fn over(self, standing: MemorySwitches) -> MemorySwitches {
        MemorySwitches {
            is_on: self.memory.unwrap_or(standing.is_on),
            own: self.self_store.unwrap_or(standing.own),
            groups: self.chat_store.unwrap_or(standing.groups),
            users: self.user_store.unwrap_or(standing.users),
        }
    }
}

/// `[[chat]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChatEntry {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) members: Vec<MemberEntry>,
}

/// Somebody in a `[[chat]]`: a name, or a name with what it is made as.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a member is a name, or { name, kind }")]
pub(crate) enum MemberEntry {
    Name(String),
    Whole(WholeMember),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WholeMember {
    name: String,
    kind: Option<KindName>,
}

impl MemberEntry {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::Whole(WholeMember { name, .. }) => name,
        }
    }

    pub(crate) fn kind(&self) -> Option<KindName> {
        match self {
            Self::Name(_) => None,
            Self::Whole(whole) => whole.kind,
        }
    }
}

impl ChatEntry {
    pub(super) fn check(&self) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        match self.members.iter().find(|member| !seen.insert(member.name())) {
            Some(twice) => Err(format!("chat {:?} has {:?} twice", self.name, twice.name())),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use loci_model::PrincipalKind;

    fn why(text: &str) -> String {
        Config::parse(text).expect_err(text)
    }

    fn tokens(text: &str) -> Result<(), String> {
        let config = Config::parse(&format!("[jwt]\n{text}\n"))?;
        config.tokens().map(drop).map_err(|failure| failure.message)
    }

    #[test]
    fn no_section_means_no_tokens_and_the_defaults() {
        let config = Config::parse("").unwrap();
        assert!(config.tokens().unwrap().is_none());
        assert_eq!(config.homes.limits(), HomeLimits::default());
        assert!(!config.tools.options().hide_sharing);
    }

    #[test]
    fn a_secret_lies_elsewhere_and_is_long() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let named = format!("secret_file = '{}'", file.display());
        fs::write(&file, format!("{}\r\n", "s".repeat(32))).unwrap();
        tokens(&named).unwrap();
        fs::write(&file, format!("{}\n\n", "hunter2-".repeat(3))).unwrap();
        let said = tokens(&named).unwrap_err();
        assert!(said.contains("at least 32 bytes") && !said.contains("hunter2"), "{said}");
        fs::write(&file, "\n").unwrap();
        assert!(tokens(&named).unwrap_err().contains("at least 32 bytes"));
        assert!(tokens("secret_file = '/nowhere/s'").unwrap_err().contains("cannot read"));
        assert!(tokens("secret_env = 'LOCI_TEST_NOT_SET'").unwrap_err().contains("not set"));
        assert!(tokens("jwks_file = '/nowhere/k'").unwrap_err().contains("cannot be read"));
        assert!(tokens("issuer = 'x'").unwrap_err().contains("jwt needs"));
        assert!(tokens("secret_env = 'A'\nsecret_file = 'b'").unwrap_err().contains("only one"));
        let never = tokens("secret_env = 'A'\ntoken_seconds = 0").unwrap_err();
        assert!(never.contains("jwt.token_seconds"), "{never}");
        assert!(tokens("secret_env = 'A'\naudience = ''").unwrap_err().contains("jwt.audience"));
        let said = tokens("secret = 'hunter2'").unwrap_err();
        assert!(said.contains("secret") && !said.contains("hunter2"), "{said}");
    }

    #[test]
    fn homes_and_tools_are_as_said() {
        let text = "[homes]\ncontent_bytes = 1000\nmemories = 5\n[tools]\nhide_sharing = true\n";
        let config = Config::parse(text).unwrap();
        let expected = HomeLimits { content_bytes_max: 1000, memories_max: 5 };
        assert_eq!(config.homes.limits(), expected);
        assert!(config.tools.options().hide_sharing);
        assert!(why("[homes]\nmemories = 0\n").contains("homes.memories takes 1 to"));
        assert!(why("[homes]\ncontent_bytes = 9999999\n").contains("homes.content_bytes"));
        assert!(why("[tools]\nhide = true\n").contains("hide"));
    }

    #[test]
    fn switches_that_are_not_given_stay() {
        let text = "[[principal]]\nname = 'a'\nmemory = false\nuser_store = true\n";
        let switches = Config::parse(text).unwrap().principals[0].switches();
        let standing = MemorySwitches { own: false, users: false, ..MemorySwitches::default() };
        let expected = MemorySwitches { is_on: false, own: false, groups: true, users: true };
        assert_eq!(switches.over(standing), expected);
    }

    #[test]
    fn chats_have_members_of_both_forms() {
        let text = "[[chat]]\nname = 'room'\nmembers = ['bot', {name = 'ana', kind = 'user'}]\n";
        let config = Config::parse(text).unwrap();
        let members = config.chats[0].members.iter();
        let found: Vec<_> =
            members.map(|one| (one.name(), one.kind().map(PrincipalKind::from))).collect();
        assert_eq!(found, [("bot", None), ("ana", Some(PrincipalKind::User))]);
        let twice = "[[chat]]\nname = 'room'\nmembers = ['bot', {name = 'bot'}]\n";
        assert!(why(twice).contains("has \"bot\" twice"));
        let twice = "[[chat]]\nname = 'room'\n[[chat]]\nname = 'room'\n";
        assert!(why(twice).contains("declared twice"));
        let wrong = "[[chat]]\nname = 'room'\nmembers = [{name = 'x', sort = 'user'}]\n";
        assert!(why(wrong).contains("a member is a name"), "{}", why(wrong));
    }
}
