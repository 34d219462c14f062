//! Which hosts a request from the network may be for.
//!
//! A page that points its own name at this machine (DNS rebinding) makes browsers send requests here,
//! and they name that host. So a name counts only if the operator gave it to this server. An IP address
//! is no name that somebody could point elsewhere: loopback addresses always count, others where the
//! server listens to others. What comes over the socket of the data directory, or from this process, is
//! no browser's and is not asked.

use crate::error::Failure;
use crate::listen::Peer;
use axum::extract::Request;
use http::header::HOST;
use http::{StatusCode, Version};
use std::net::{IpAddr, Ipv6Addr};

/// The hosts of requests that are taken, besides this machine's own names.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    named: Vec<Named>,
    /// Whether any IP address is taken.
    takes_addresses: bool,
}

#[derive(Debug, Clone)]
struct Named {
    /// Compared without case; an IPv6 address in its brackets.
    host: Box<str>,
    /// This port and no other.
    port: Option<u16>,
}

impl Hosts {
    /// For a server that listens at an address.
    pub fn listening_at(address: IpAddr) -> Self {
        Self { named: Vec::new(), takes_addresses: !address.to_canonical().is_loopback() }
    }

    /// Takes one more: a name or an address, with a port or for every port. Gives back nothing if it is
    /// no host.
    #[must_use]
    pub fn and(mut self, host: &str) -> Option<Self> {
        let (host, port) = split(host)?;
        self.named.push(Named { host: host.into(), port });
        Some(self)
    }

    /// Whether names count, beside addresses and this machine's own.
    pub fn has_names(&self) -> bool {
        let is_name =
            |host: &str| address(host).is_none() && !host.eq_ignore_ascii_case("localhost");
        self.named.iter().any(|named| is_name(&named.host))
    }

    fn takes(&self, host: &str, port: Option<u16>) -> bool {
        if host.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let is_taken = |ip: IpAddr| self.takes_addresses || ip.to_canonical().is_loopback();
        address(host).is_some_and(is_taken)
            || self.named.iter().any(|named| {
                named.host.eq_ignore_ascii_case(host)
                    && named.port.is_none_or(|own| Some(own) == port)
            })
    }

    /// Refuses a request that is for another host. Probes are for whatever stands at the address.
    pub(super) fn check(&self, request: &Request, route: &str) -> Result<(), Failure> {
        let is_probe = matches!(route, "/healthz" | "/readyz");
        if is_probe || request.extensions().get::<Peer>().is_none() {
            return Ok(());
        }
        let mut given = request.headers().get_all(HOST).iter();
        match (given.next(), given.next()) {
            (Some(host), None) => self.check_one(host.to_str().ok())?,
            // Clients of the first version have no such header, and browsers are none of them.
            (None, _) if request.version() < Version::HTTP_11 => {}
            (None, _) => return Err(Failure::invalid("host: this header is needed")),
            (Some(_), Some(_)) => return Err(Failure::invalid("host: expected one, not several")),
        }
        // A request line with a whole URL says it once more.
        request.uri().authority().map_or(Ok(()), |whole| self.check_one(Some(whole.as_str())))
    }

    fn check_one(&self, text: Option<&str>) -> Result<(), Failure> {
        const BAD: &str = "host: expected a host, with or without a port";
        let (host, port) = text.and_then(split).ok_or_else(|| Failure::invalid(BAD))?;
        if self.takes(host, port) {
            return Ok(());
        }
        let why = format!(
            "requests for the host {host} are not taken here; if it is this server's, name it in \
             allowed_hosts of [server] or in LOCI_ALLOWED_HOSTS"
        );
        Err(Failure::new(StatusCode::FORBIDDEN, why))
    }
}

/// The IP address that a host is.
fn address(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse().map(IpAddr::V6).ok(),
        None => host.parse().map(IpAddr::V4).ok(),
    }
}

/// A host and its port; nothing if the text is not that.
fn split(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(inside) => {
            let (inside, _) = inside.split_once(']')?;
            inside.parse::<Ipv6Addr>().ok()?;
            text.split_at(inside.len() + 2)
        }
        None => {
            let (host, rest) = text.split_at(text.find(':').unwrap_or(text.len()));
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            (!host.is_empty() && host.bytes().all(is_name)).then_some((host, rest))?
        }
    };
    match rest.strip_prefix(':') {
        None => rest.is_empty().then_some((host, None)),
        Some("") => Some((host, None)),
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((host, Some(port.parse().ok()?)))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Shape;
    use axum::body::Body;
    use http::HeaderValue;
    use loci_model::RequestId;
    use std::net::Ipv4Addr;

    const PEER: Peer = Peer(IpAddr::V4(Ipv4Addr::LOCALHOST));

    fn hosts(listening: &str, names: &[&str]) -> Hosts {
        let hosts = Hosts::listening_at(listening.parse().unwrap());
        names.iter().fold(hosts, |hosts, name| hosts.and(name).unwrap())
    }

    /// The status of a request with these values of the header.
    fn status(hosts: &Hosts, values: &[&[u8]], route: &str) -> u16 {
        let mut request = Request::get(route).body(Body::empty()).unwrap();
        request.extensions_mut().insert(PEER);
        for value in values {
            request.headers_mut().append(HOST, HeaderValue::from_bytes(value).unwrap());
        }
        match hosts.check(&request, route) {
            Ok(()) => 200,
            Err(failure) => {
                failure.render(RequestId::from_u128(1), Shape::Envelope).status().as_u16()
            }
        }
    }

    #[track_caller]
    fn check(hosts: &Hosts, taken: &[&str], refused: &[&str]) {
        for host in taken {
            assert_eq!(status(hosts, &[host.as_bytes()], "/v1/x"), 200, "{host}");
        }
        for host in refused {
            assert_eq!(status(hosts, &[host.as_bytes()], "/v1/x"), 403, "{host}");
        }
    }

    #[test]
    fn a_server_on_loopback_is_this_machines_names_and_those_it_was_given() {
        let own = [
            "localhost",
            "LocalHost:8700",
            "127.0.0.1",
            "127.0.0.1:1",
            "127.9.8.7:80",
            "[::1]",
            "[::1]:8700",
            "[::ffff:127.0.0.1]:1",
            "localhost:",
        ];
        let strange = [
            "evil.example",
            "evil.example:8700",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.1",
            "0.0.0.0:8700",
            "10.0.0.1",
            "[fe80::1]:8700",
            "[::]",
            "2130706433",
        ];
        check(&Hosts::default(), &own, &strange);
        check(&hosts("127.0.0.1", &[]), &own, &strange);
        let given = hosts("127.0.0.1", &["m.example", "n.example:8443", "10.0.0.1"]);
        let more = ["m.example", "M.Example:80", "n.example:8443", "10.0.0.1:5"];
        check(
            &given,
            &more,
            &["n.example", "n.example:80", "x.m.example", "m.example.", "10.0.0.2"],
        );
        check(&given, &own, &strange[..4]);
        assert!(given.has_names() && !hosts("::", &["10.0.0.1", "localhost"]).has_names());
    }

    #[test]
    fn a_server_that_listens_to_others_takes_addresses_and_no_names() {
        for listening in ["0.0.0.0", "::", "192.0.2.7"] {
            let taken =
                ["192.0.2.7:8700", "10.0.0.1", "[2001:db8::1]:80", "localhost:1", "127.0.0.1"];
            check(&hosts(listening, &[]), &taken, &["loci", "evil.example", "loci:8700"]);
            check(&hosts(listening, &["loci"]), &["loci", "loci:8700"], &["evil.example"]);
        }
    }

    #[test]
    fn a_request_names_one_host_that_is_one() {
        let own = Hosts::default();
        for bad in [
            "",
            ":80",
            "a b",
            "a/b",
            "user@localhost",
            "localhost:x",
            "localhost:99999",
            "localhost:80:80",
            "[::1",
            "[::1]x",
            "[localhost]",
            "::1",
            "a,b",
        ] {
            assert_eq!(status(&own, &[bad.as_bytes()], "/v1/x"), 400, "{bad}");
        }
        assert_eq!(status(&own, &[b"local\xffhost"], "/v1/x"), 400);
        assert_eq!(status(&own, &[b"localhost", b"localhost"], "/v1/x"), 400);
        assert_eq!(status(&own, &[], "/v1/x"), 400);
        for probe in ["/healthz", "/readyz"] {
            assert_eq!(status(&own, &[b"evil.example"], probe), 200);
        }
        assert!(Hosts::default().and("https://m.example").is_none());
    }

    #[test]
    fn a_whole_url_in_the_request_line_is_held_to_the_same() {
        let ask = |url: &str, version: Version, host: Option<&str>| {
            let mut request = Request::get(url).version(version).body(Body::empty()).unwrap();
            request.extensions_mut().insert(PEER);
            if let Some(host) = host {
                request.headers_mut().insert(HOST, host.parse().unwrap());
            }
            Hosts::default().check(&request, "/v1/x").is_ok()
        };
        assert!(ask("http://localhost:8700/v1/x", Version::HTTP_11, Some("localhost")));
        assert!(!ask("http://evil.example/v1/x", Version::HTTP_11, Some("localhost")));
        assert!(ask("/v1/x", Version::HTTP_10, None));
        assert!(!ask("/v1/x", Version::HTTP_10, Some("evil.example")));
    }

    #[test]
    fn what_does_not_come_from_the_network_is_not_asked() {
        let mut request = Request::get("/v1/x").body(Body::empty()).unwrap();
        request.headers_mut().insert(HOST, HeaderValue::from_static("evil.example"));
        assert!(Hosts::default().check(&request, "/v1/x").is_ok());
    }
}
