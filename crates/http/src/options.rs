//! What the operator can set. Every wait and every size has a bound here.

use crate::layers::host::Hosts;
use crate::layers::token::Tokens;
use crate::layers::ucan::Ucans;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Limits and timeouts of the HTTP server.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Bytes of one request body, streamed imports excepted. The largest content fits even when
    /// every byte of it is written as a `\u` escape.
    pub body_bytes_max: usize,
    /// Nesting of JSON bodies.
    pub json_depth_max: usize,
    /// From the first byte of a request, or the opening of a connection, to the end of the headers.
    pub header_timeout: Duration,
    /// How long a body may fail to make progress, and how long a write may.
    pub body_idle_timeout: Duration,
    /// For a whole request, streams excepted.
    pub request_timeout: Duration,
    /// How long a connection may wait between requests.
    pub idle_timeout: Duration,
    /// Connections served at once; more are told to come back later.
    pub connections_max: usize,
    /// Which hosts requests from the network may be for.
    pub hosts: Arc<Hosts>,
    /// Requests a second for each key; a second's worth may come at once.
    pub requests_per_second: Option<u32>,
    /// Verifies signed tokens; none are taken without it.
    pub tokens: Option<Arc<Tokens>>,
    /// Verifies the tokens of visitors; none are taken without it.
    pub ucans: Option<Arc<Ucans>>,
    /// How long a stop waits for requests under way.
    pub drain_timeout: Duration,
    /// Where a backup is made before it is sent: a directory with room for a copy of the data.
    pub scratch_dir: PathBuf,
    /// Where browsers find the console, for links to it.
    pub console_url: Option<String>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            body_bytes_max: 1024 * 1024,
            json_depth_max: 64,
            header_timeout: Duration::from_secs(10),
            body_idle_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(75),
            connections_max: 10_000,
            hosts: Arc::default(),
            requests_per_second: None,
            tokens: None,
            ucans: None,
            drain_timeout: Duration::from_secs(5),
            scratch_dir: std::env::temp_dir(),
            console_url: None,
        }
    }
}
