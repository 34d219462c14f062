//! Where the memories are and how to get there.
//!
//! Without a URL of a server, a database is opened here like any server opens it. Of a directory,
//! whoever gets the lock answers: this process if it is free, otherwise
//! the holder over its socket. A holder that is just starting or stopping has the lock but no
//! socket; it is waited for. While a server waits for the directory, the lock is left to it
//! ([`crate::hand_over`]). Nobody has to know which process is which.

use crate::config::{Config, SearchConfig};
use crate::exit::Failure;
use crate::hand_over;
use crate::held::{self, Refusal};
use crate::holder::{self, Kind};
use crate::open_files;
use crate::place::{DatabaseUrl, Place};
use crate::socket;
use crate::wire::{Answering, Holding};
use axum::body::Body;
use hyper::Uri;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// Between two looks at a directory that is changing hands.
pub(super) const POLL: Duration = Duration::from_millis(20);
const CHANGING_HANDS: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Most commands are over before it is worth to load a model.
const FOLLOW_AFTER: Duration = Duration::from_secs(1);
/// How long a command that is done goes on answering others.
const COURTESY: Duration = Duration::from_secs(60);

/// Where the memories are.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// At a server.
    Server {
        /// Host and port.
        authority: String,
        /// What stands before every path, without a slash at its end.
        base: String,
    },
    /// In a directory or a database.
    Place {
        place: Place,
        /// Whether to begin where there is nothing yet.
        may_create: bool,
    },
}

/// A way to get there.
pub(super) enum Lane {
    /// Over a connection.
    Wire(SendRequest<Body>),
    /// Nowhere: this process has the place open.
    Here(Box<Answering>),
}

impl Origin {
    /// A server by its URL.
    pub(crate) fn server(url: &str) -> Result<Self, Failure> {
        let wrong =
            || Failure::usage(format!("{url:?} is not a URL such as http://127.0.0.1:8700"));
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err(Failure::usage(
                    "https is not spoken by this command; reach the server through a tunnel or a \
                     proxy on this machine and give its http:// address",
                ));
            }
            _ => return Err(wrong()),
        }
        let authority = uri.authority().ok_or_else(wrong)?;
        // A password in a URL would be sent nowhere and shown in messages.
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(wrong());
        }
        let port = authority.port_u16().unwrap_or(80);
        Ok(Self::Server {
            authority: format!("{}:{port}", authority.host()),
            base: uri.path().trim_end_matches('/').to_owned(),
        })
    }

    pub(super) fn target(&self, path: &str) -> String {
        match self {
            Self::Server { base, .. } => format!("{base}{path}"),
            Self::Place { .. } => path.to_owned(),
        }
    }

    pub(super) fn host(&self) -> &str {
        match self {
            Self::Server { authority, .. } => authority,
            Self::Place { .. } => "localhost",
        }
    }

    pub(super) async fn reach(&self) -> Result<Lane, Failure> {
        match self {
            Self::Server { authority, .. } => {
                let connected = timeout(CONNECT_TIMEOUT, TcpStream::connect(authority)).await;
                let cannot =
                    |why: &str| Failure::failed(format!("cannot reach {authority}: {why}"));
                let stream = connected
                    .map_err(|_| cannot("no answer"))?
                    .map_err(|error| cannot(&error.to_string()))?;
                // Requests are small and each waits for its answer.
                stream.set_nodelay(true).map_err(|error| cannot(&error.to_string()))?;
                wire(stream).await.map_err(|error| cannot(&error.to_string()))
            }
            Self::Place { place: Place::Directory(path), may_create } => {
                directory(path, *may_create).await
            }
            Self::Place { place: Place::Database(url), may_create } => {
                database(url, *may_create).await
            }
        }
    }
}

async fn directory(path: &Path, may_create: bool) -> Result<Lane, Failure> {
    if !may_create && !path.join("loci.lock").exists() && !path.join("loci.db").exists() {
        return Err(Failure::failed(format!(
            "{} is no data directory yet; `loci serve` or `loci store create` makes one",
            path.display()
        )));
    }
    let mut deadline = Instant::now() + CHANGING_HANDS;
    let place = Place::Directory(path.to_owned());
    loop {
        if hand_over::is_awaited(path) {
            // It waits as long as the present owner has something to finish, and so do we.
            deadline = Instant::now() + CHANGING_HANDS;
        } else {
            match Holding::take(&place, Kind::Command, &SearchConfig::default()).await {
                Ok(holding) => return answer(holding),
                Err(Refusal::Held) => {}
                Err(refusal) => return Err(refusal.failure(&place)),
            }
        }
        if let Ok(stream) = socket::connect(path).await
            && let Ok(lane) = wire(stream).await
        {
            return Ok(lane);
        }
        if Instant::now() >= deadline {
            let by = holder::read(path)
                .map_or(String::new(), |holder| format!(" (process {})", holder.pid));
            return Err(Failure::failed(format!(
                "{} is in use by another loci{by} that does not answer on its socket",
                path.display()
            )));
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn database(url: &DatabaseUrl, may_create: bool) -> Result<Lane, Failure> {
    if !may_create && held::look(url).await?.format.is_none() {
        return Err(Failure::failed(format!(
            "{url} holds no memories yet; `loci serve` or `loci store create` begins"
        )));
    }
    let place = Place::Database(url.clone());
    let taken = Holding::take(&place, Kind::Command, &SearchConfig::default()).await;
    answer(taken.map_err(|refusal| refusal.failure(url))?)
}

/// Answers the command's requests, and those of others who ask meanwhile.
fn answer(mut holding: Holding) -> Result<Lane, Failure> {
    let mut options = Config::default().http_options(holding.scratch_dir());
    options.connections_max = open_files::connections(options.connections_max);
    options.drain_timeout = COURTESY;
    holding.help_follow(FOLLOW_AFTER);
    Ok(Lane::Here(Box::new(holding.answer(&options)?)))
}

async fn wire<S>(stream: S) -> hyper::Result<Lane>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // How it ends shows in the requests that are under way.
    tokio::spawn(async move { drop(connection.await) });
    Ok(Lane::Wire(sender))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let check = |url: &str, expect: (&str, &str)| match Origin::server(url).unwrap() {
            Origin::Server { authority, base } => {
                assert_eq!((authority.as_str(), base.as_str()), expect, "{url}");
            }
            Origin::Place { .. } => panic!("{url} is no directory"),
        };
        check("http://127.0.0.1:8700", ("127.0.0.1:8700", ""));
        check("http://localhost/", ("localhost:80", ""));
        check("http://[::1]:9/base/", ("[::1]:9", "/base"));
        for bad in ["", "127.0.0.1:8700", "ftp://x", "http://", "http://u:secret@x/"] {
            assert!(Origin::server(bad).is_err(), "{bad}");
        }
        let failure = Origin::server("https://example.org").unwrap_err();
        assert!(failure.message.contains("https"), "{}", failure.message);
    }
}
