//! `[mcp]`: which tools models get, and who may ask from where.

use crate::mcp::{McpOptions, Profile, Profiles};
use axum::http::Uri;
use serde::Deserialize;

/// `[mcp]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct McpSection {
    profiles: Option<Vec<Profile>>,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
    public_url: Option<String>,
}

impl McpSection {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.profiles.as_ref().is_some_and(Vec::is_empty) {
            return Err("mcp.profiles must name at least one profile".into());
        }
        if self.allowed_hosts.iter().any(|host| host.is_empty() || host.contains('/')) {
            return Err("mcp.allowed_hosts takes hosts, with or without a port".into());
        }
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

    /// What it means, for a server that listens there and takes tokens of this issuer. Requests for
    /// the name that the operator gave the server are for it, and its own pages may ask.
    pub(crate) fn options(&self, listen: Option<&str>, issuer: Option<String>) -> McpOptions {
        let public_url = self.public_url.as_ref().map(|url| url.trim_end_matches('/').to_owned());
        let mut allowed_hosts = self.allowed_hosts.clone();
        let mut allowed_origins: Vec<String> = self.allowed_origins.iter().map(with_port).collect();
        if let Some((scheme, host)) = public_url.as_deref().and_then(authority) {
            allowed_hosts.push(host.clone());
            allowed_origins.push(with_port(&format!("{scheme}://{host}")));
        }
        allowed_hosts.extend(listen.filter(|listen| !is_anywhere(listen)).map(str::to_owned));
        let profiles = self.profiles.as_deref().map(Profiles::of).unwrap_or_default();
        McpOptions { profiles, allowed_hosts, allowed_origins, public_url, issuer }
    }
}

/// Scheme and host of a URL that has nothing else to say but a path.
fn authority(url: &str) -> Option<(String, String)> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let authority = uri.authority().filter(|host| !host.as_str().contains('@'))?;
    uri.query().is_none().then(|| (scheme.to_owned(), authority.to_string()))
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

/// Whether a server listens on every address, which is no name of its own.
fn is_anywhere(listen: &str) -> bool {
    listen.starts_with("0.0.0.0:") || listen.starts_with("[::]:")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn options(text: &str, listen: &str) -> Result<McpOptions, String> {
        let config = Config::parse(&format!("[mcp]\n{text}\n"))?;
        Ok(config.mcp.options(Some(listen), None))
    }

    #[test]
    fn a_server_answers_to_the_names_it_was_given() {
        let found = options("public_url = 'https://m.example.org/'", "0.0.0.0:80").unwrap();
        assert_eq!(found.allowed_hosts, ["m.example.org"]);
        assert_eq!(found.allowed_origins, ["https://m.example.org:443"]);
        assert_eq!(found.public_url.as_deref(), Some("https://m.example.org"));
        let found = options("allowed_hosts = ['a:1']", "10.0.0.1:8700").unwrap();
        assert_eq!(found.allowed_hosts, ["a:1", "10.0.0.1:8700"]);
        let found = options("profiles = ['default', 'memory-tool']", "[::]:1").unwrap();
        assert_eq!(found.profiles.spelled(), "default,memory-tool");
        assert!(found.allowed_hosts.is_empty());
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
            assert!(options(bad, "127.0.0.1:1").is_err(), "{bad}");
        }
    }
}
