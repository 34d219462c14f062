//! `[mcp]`: which tools models get, how clients reach the server, and whose pages may ask.

use super::hosts;
use crate::mcp::{McpOptions, Profile, Profiles};
use axum::http::Uri;
use axum::http::uri::Authority;
use serde::Deserialize;

/// `[mcp]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct McpSection {
    profiles: Option<Vec<Profile>>,
    /// Where it stood before it counted for every route; `[server]` has it now.
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
    public_url: Option<String>,
}

impl McpSection {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.profiles.as_ref().is_some_and(Vec::is_empty) {
            return Err("mcp.profiles must name at least one profile".into());
        }
        hosts::check("mcp.allowed_hosts", &self.allowed_hosts)?;
        let is_origin = |text: &String| {
            let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            host.is_some_and(|host| !host.is_empty() && !host.contains('/'))
        };
        if !self.allowed_origins.iter().all(is_origin) {
            return Err("mcp.allowed_origins takes origins such as https://app.example.org".into());
        }
        match self.public_url.as_deref().map(authority) {
            Some(None) => {
                Err("mcp.public_url must be a URL such as https://memory.example.org".into())
            }
            _ => Ok(()),
        }
    }

    /// What it means, for a server that takes tokens of this issuer. Its own pages may ask.
    pub(crate) fn options(&self, issuer: Option<String>) -> McpOptions {
        let public_url = self.public_url.as_ref().map(|url| url.trim_end_matches('/').to_owned());
        let mut allowed_origins: Vec<String> = self.allowed_origins.iter().map(with_port).collect();
        if let Some((scheme, host)) = public_url.as_deref().and_then(authority) {
            allowed_origins.push(with_port(&format!("{scheme}://{host}")));
        }
        let profiles = self.profiles.as_deref().map(Profiles::of).unwrap_or_default();
        McpOptions { profiles, allowed_origins, public_url, issuer }
    }

    /// What the server is called here, beside what `[server]` says.
    pub(super) fn moved_hosts(&self) -> &[String] {
        &self.allowed_hosts
    }

    /// The host that clients reach the server by.
    pub(super) fn public_host(&self) -> Option<String> {
        let (_, host) = authority(self.public_url.as_deref()?)?;
        Some(host.host().to_owned())
    }
}

/// Scheme and host of a URL that has nothing else to say but a path.
fn authority(url: &str) -> Option<(String, Authority)> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let authority = uri.authority().filter(|host| !host.as_str().contains('@'))?;
    uri.query().is_none().then(|| (scheme.to_owned(), authority.clone()))
}

/// An origin without a port is one at the usual port, and no other.
fn with_port(origin: &String) -> String {
    let has_port = origin.rsplit_once(':').is_some_and(|(_, port)| {
        port == "*" || (!port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
    });
    match (has_port, origin.starts_with("https:")) {
        (true, _) => origin.clone(),
        (false, true) => format!("{origin}:443"),
        (false, false) => format!("{origin}:80"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn options(text: &str) -> Result<McpOptions, String> {
        let config = Config::parse(&format!("[mcp]\n{text}\n"))?;
        Ok(config.mcp.options(None))
    }

    #[test]
    fn a_servers_own_pages_may_ask() {
        let found = options("public_url = 'https://m.example.org/'").unwrap();
        assert_eq!(found.allowed_origins, ["https://m.example.org:443"]);
        assert_eq!(found.public_url.as_deref(), Some("https://m.example.org"));
        let found = options("profiles = ['default', 'memory-tool']").unwrap();
        assert_eq!(found.profiles.spelled(), "default,memory-tool");
        assert!(found.allowed_origins.is_empty());
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [
            "profiles = []",
            "profiles = ['everything']",
            "allowed_hosts = ['https://a']",
            "allowed_origins = ['a.example.org']",
            "allowed_origins = ['https://a/b']",
            "public_url = 'memory.example.org'",
            "public_url = 'https://u:p@memory.example.org'",
            "hosts = []",
        ] {
            assert!(options(bad).is_err(), "{bad}");
        }
    }
}
