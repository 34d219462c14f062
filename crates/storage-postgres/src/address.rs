//! What a database URL says: where the server is, who we are there, and how the way to it is kept
//! private. A URL that says nothing about that gets verified TLS, unless the way never leaves this
//! machine.
//!
//! The URL holds a password, so no error repeats any part of it.

use crate::open::OpenError;
use percent_encoding::percent_decode_str;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

const URL_BYTES_MAX: usize = 8 * 1024;
/// After this long without a word from a silent peer the kernel asks whether it is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;
/// How long what was sent may stay unconfirmed before the connection counts as dead.
const UNCONFIRMED_MAX: Duration = Duration::from_secs(15);

/// Whom to believe that they are the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nobody is asked: the connection is in the clear.
    Anyone,
    /// Certificates the operating system trusts.
    System,
    /// Certificates signed by those in a file.
    File(PathBuf),
}

/// A database URL, understood.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) config: Config,
    pub(crate) trust: Trust,
}

impl Address {
    pub(crate) fn parse(url: &str, patience: Duration) -> Result<Self, OpenError> {
        if url.len() > URL_BYTES_MAX {
            return Err(refuse(format!("it is longer than {URL_BYTES_MAX} bytes")));
        }
        if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
            return Err(refuse("it does not begin with postgres://"));
        }
        let (plain, query) = split_query(url);
        let mut sslmode = None;
        let mut sslrootcert = None;
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => sslmode = Some(value),
                Some(("sslrootcert", value)) => sslrootcert = Some(value),
                _ => rest.push(pair),
            }
        }
        let mut config: Config = format!("{plain}?{}", rest.join("&")).parse().map_err(|_| {
            refuse(
                "expected postgres://user:password@host:port/database, with @ : / ? # % in names \
                 and passwords written as %40 %3A %2F %3F %23 %25, and no options but those of \
                 tokio-postgres, sslmode and sslrootcert",
            )
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(refuse("it names no host"));
        }
        if config.get_user().is_none_or(str::is_empty) {
            return Err(refuse("it names no user"));
        }
        let trust = trust(&config, sslmode, sslrootcert)?;
        config.ssl_mode(match trust {
            Trust::Anyone => SslMode::Disable,
            Trust::System | Trust::File(_) => SslMode::Require,
        });
        set_limits(&mut config, patience);
        Ok(Self { config, trust })
    }
}

fn refuse(why: impl Into<String>) -> OpenError {
    OpenError::Url(why.into())
}

/// Splits off what follows the first question mark behind user and password.
fn split_query(url: &str) -> (&str, &str) {
    let names_end = url.find('@').unwrap_or(0);
    match url[names_end..].find('?') {
        Some(at) => (&url[..names_end + at], &url[names_end + at + 1..]),
        None => (url, ""),
    }
}

fn trust(
    config: &Config,
    sslmode: Option<&str>,
    sslrootcert: Option<&str>,
) -> Result<Trust, OpenError> {
    let is_socket = config.get_hosts().iter().any(|host| matches!(host, Host::Unix(_)));
    let is_private = match sslmode {
        Some("disable") => true,
        // A file of certificates is a wish to have them checked.
        None | Some("prefer") => sslrootcert.is_none() && stays_here(config),
        Some("require" | "verify-full") => false,
        Some(_) => {
            return Err(refuse(
                "sslmode is disable, prefer, require or verify-full here; the last two both check \
                 the server's certificate and name",
            ));
        }
    };
    if is_private {
        return Ok(Trust::Anyone);
    }
    if is_socket {
        return Err(refuse("there is no TLS on a Unix socket"));
    }
    match sslrootcert {
        None | Some("system") => Ok(Trust::System),
        Some(path) => {
            let path = percent_decode_str(path).decode_utf8();
            let path = path.map_err(|_| refuse("sslrootcert is not UTF-8"))?;
            Ok(Trust::File(PathBuf::from(path.as_ref())))
        }
    }
}

/// Whether every host is this machine.
fn stays_here(config: &Config) -> bool {
    let addresses = config.get_hostaddrs();
    if !addresses.is_empty() {
        return addresses.iter().all(IpAddr::is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        }
    })
}

/// What keeps a connection from hanging, where the URL does not say it.
fn set_limits(config: &mut Config, patience: Duration) {
    if config.get_application_name().is_none() {
        config.application_name("loci");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(patience);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(UNCONFIRMED_MAX);
    }
    config.keepalives(true);
    config.keepalives_idle(KEEPALIVE_IDLE);
    config.keepalives_interval(KEEPALIVE_INTERVAL);
    config.keepalives_retries(KEEPALIVE_RETRIES);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address, OpenError> {
        Address::parse(url, Duration::from_secs(1))
    }

    #[test]
    fn only_the_way_off_this_machine_is_encrypted_by_itself() {
        for url in [
            "postgres://u:p@127.0.0.1:5432/db",
            "postgres://u@localhost/db",
            "postgresql://u@[::1]/db?sslmode=prefer",
            "postgres://u@%2Fvar%2Frun%2Fpostgresql/db",
            "postgres://u@db.example/db?sslmode=disable",
        ] {
            assert_eq!(parse(url).unwrap().trust, Trust::Anyone, "{url}");
        }
        for url in [
            "postgres://u@db.example/db",
            "postgres://u@10.0.0.1,127.0.0.1/db",
            "postgres://u@localhost/db?hostaddr=10.0.0.1",
            "postgres://u@localhost/db?sslmode=require&connect_timeout=3",
            "postgres://u@db.example/db?sslmode=verify-full&sslrootcert=system",
        ] {
            let address = parse(url).unwrap();
            assert_eq!(address.trust, Trust::System, "{url}");
            assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
        }
        let address = parse("postgres://u@localhost/db?sslrootcert=%2Fetc%2Fca.pem").unwrap();
        assert_eq!(address.trust, Trust::File("/etc/ca.pem".into()));
    }

    #[test]
    fn a_refused_url_is_not_repeated() {
        for url in [
            "mysql://u:hunter2@h/db",
            "host=h user=u password=hunter2",
            "postgres://u:hunter2",
            "postgres://u:hunter2@h/db?hunter2=1",
            "postgres://u:hunter2@h:hunter2/db",
            "postgres://u:hunter2@h/db?sslmode=verify-ca",
            "postgres://u:hunter2@h/db?sslmode=hunter2",
            "postgres://:hunter2@h/db",
            "postgres://u:hunter2@/db",
            "postgres://u:hunter2@%2Frun/db?sslmode=require",
        ] {
            let error = parse(url).unwrap_err();
            assert!(matches!(error, OpenError::Url(_)), "{url}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{url}");
        }
    }

    #[test]
    fn a_password_may_hold_a_question_mark() {
        let address = parse("postgres://u:a?b%40c@127.0.0.1/db?sslmode=disable").unwrap();
        assert_eq!(address.config.get_password(), Some(&b"a?b@c"[..]));
        assert_eq!(address.config.get_dbname(), Some("db"));
    }
}
