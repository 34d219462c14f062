//! Which hosts requests may be for: this machine's names, the address listened on, and what the operator
//! calls the server, in the file (`server.allowed_hosts`, `mcp.public_url`) or in `LOCI_ALLOWED_HOSTS`.

use super::{Config, env};
use crate::exit::Failure;
use loci_http::Hosts;
use std::net::IpAddr;

const VARIABLE: &str = "LOCI_ALLOWED_HOSTS";

/// Checks a list of hosts in the file.
pub(super) fn check(name: &str, hosts: &[String]) -> Result<(), String> {
    match hosts.iter().all(|host| Hosts::default().and(host).is_some()) {
        true => Ok(()),
        false => Err(format!("{name} takes hosts, with or without a port")),
    }
}

impl Config {
    /// The hosts of a server that was told to listen there, and listens at that address.
    pub(crate) fn hosts(&self, told: &str, listening: IpAddr) -> Result<Hosts, Failure> {
        let variable = env(VARIABLE).unwrap_or_default();
        self.hosts_with(told, listening, &variable)
    }

    fn hosts_with(&self, told: &str, listening: IpAddr, variable: &str) -> Result<Hosts, Failure> {
        let moved = self.mcp.moved_hosts();
        if !moved.is_empty() {
            tracing::warn!("mcp.allowed_hosts counts for every route now: write it in [server]");
        }
        let listened = told.rsplit_once(':').map(|(host, _)| host.to_owned());
        let public = self.mcp.public_host();
        let named = variable.split(',').map(str::trim).filter(|host| !host.is_empty());
        let in_file = self.server.allowed_hosts.iter().chain(moved).map(String::as_str);
        let own = listened.iter().chain(&public).map(String::as_str);
        let mut hosts = Hosts::listening_at(listening);
        for host in own.chain(in_file).chain(named) {
            hosts = hosts.and(host).ok_or_else(|| {
                Failure::failed(format!("{host:?} is no host, with or without a port"))
            })?;
        }
        Ok(hosts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str, told: &str, variable: &str) -> Result<Hosts, String> {
        let config = Config::parse(text)?;
        let listening =
            told.parse().map_or([127, 0, 0, 1].into(), |found: std::net::SocketAddr| found.ip());
        config.hosts_with(told, listening, variable).map_err(|failure| failure.message)
    }

    #[test]
    fn a_server_has_the_names_that_it_was_given() {
        let names = |text: &str, told: &str, variable: &str| {
            let shown = format!("{:?}", hosts(text, told, variable).unwrap());
            ["m.example", "n.example", "v.example", "memory.lan"].map(|name| shown.contains(name))
        };
        let nothing = [false; 4];
        assert_eq!(names("", "127.0.0.1:8700", ""), nothing);
        assert_eq!(names("", "memory.lan:8700", ""), [false, false, false, true]);
        let public = "[mcp]\npublic_url = 'https://m.example:8443/loci'\n";
        assert_eq!(names(public, "0.0.0.0:80", ""), [true, false, false, false]);
        let listed = "[server]\nallowed_hosts = ['m.example:80', 'n.example']\n";
        assert_eq!(names(listed, "[::1]:80", ""), [true, true, false, false]);
        // Where it was before.
        let moved = "[mcp]\nallowed_hosts = ['n.example']\n";
        assert_eq!(names(moved, "127.0.0.1:1", ""), [false, true, false, false]);
        assert_eq!(
            names("", "127.0.0.1:1", " v.example , m.example:1,"),
            [true, false, true, false]
        );
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for bad in ["https://m.example", "m.example/x", "", "a b"] {
            for section in ["server", "mcp"] {
                let text = format!("[{section}]\nallowed_hosts = ['{bad}']\n");
                let said = hosts(&text, "127.0.0.1:1", "").unwrap_err();
                assert!(said.contains(&format!("{section}.allowed_hosts")), "{said}");
            }
        }
        assert!(hosts("", "127.0.0.1:1", "a/b").unwrap_err().contains("a/b"));
    }
}
