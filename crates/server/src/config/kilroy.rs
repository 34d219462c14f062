//! `[kilroy]`: the token that a Kilroy platform puts into the URLs of its hooks. It is a key like any
//! other, made at every start for a service of its own, so nothing else has to know of it.

use super::{KeyEntry, PowerName, env};
use serde::Deserialize;
use std::path::PathBuf;

/// Where the token is when the file does not say.
const TOKEN_ENV: &str = "LOCI_KILROY_TOKEN";
/// What the token's key is called, and so what no other may be.
pub(super) const KEY_NAME: &str = "kilroy (token)";

/// `[kilroy]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct KilroySection {
    principal: Option<String>,
    token_env: Option<String>,
    token_file: Option<PathBuf>,
    token_sha256: Option<String>,
}

impl KilroySection {
    pub(super) fn check(&self) -> Result<(), String> {
        let sources =
            [self.token_env.is_some(), self.token_file.is_some(), self.token_sha256.is_some()];
        if sources.iter().filter(|is_given| **is_given).count() > 1 {
            return Err("kilroy takes one of token_env, token_file and token_sha256".into());
        }
        if self.principal.as_ref().is_some_and(String::is_empty) {
            return Err("kilroy.principal must not be empty".into());
        }
        Ok(())
    }

    /// The key to declare, if there is a token.
    pub(crate) fn key(&self) -> Option<KeyEntry> {
        let is_told = self.token_file.is_some() || self.token_sha256.is_some();
        let secret_env = match &self.token_env {
            Some(name) => Some(name.clone()),
            None => env(TOKEN_ENV).filter(|_| !is_told).map(|_| TOKEN_ENV.to_owned()),
        };
        if secret_env.is_none() && !is_told {
            return None;
        }
        Some(KeyEntry {
            name: KEY_NAME.to_owned(),
            principal: Some(self.principal.clone().unwrap_or_else(|| "kilroy".to_owned())),
            level: PowerName::Readwrite,
            stores: None,
            acts_for_agents: true,
            secret_env,
            secret_file: self.token_file.clone(),
            secret_sha256: self.token_sha256.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[test]
    fn a_token_is_a_key_that_acts_for_agents() {
        assert!(Config::parse("").unwrap().kilroy.key().is_none());
        assert!(Config::parse("[kilroy]\nprincipal = 'p'\n").unwrap().kilroy.key().is_none());
        let text = format!("[kilroy]\ntoken_sha256 = '{}'\n", "0f".repeat(32));
        let key = Config::parse(&text).unwrap().kilroy.key().unwrap();
        assert_eq!(key.principal.as_deref(), Some("kilroy"));
        assert_eq!(key.secret_hash().unwrap(), [0x0f; 32]);
        assert!(key.acts_for_agents);
    }

    #[test]
    fn mistakes_are_named_and_never_quoted() {
        let why = |text: &str| Config::parse(text).expect_err(text);
        let said = why("[kilroy]\ntoken = 'hunter2-hunter2-hunter2'\n");
        assert!(said.contains("token") && !said.contains("hunter2"), "{said}");
        assert!(why("[kilroy]\ntoken_env = 'A'\ntoken_file = 'b'\n").contains("one of"));
        assert!(why("[kilroy]\nprincipal = ''\n").contains("kilroy.principal"));
        let taken = "[[key]]\nname = 'kilroy (token)'\nsecret_env = 'X'\n";
        assert!(why(taken).contains("taken by the server"));
    }
}
