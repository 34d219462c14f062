//! A small closed-loop HTTP/1.1 client: each connection sends, waits, sends again. One thread, so
//! that the server keeps the other core.

use crate::samples::{Rate, Samples};
use anyhow::{Context, bail, ensure};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One request, ready to send.
pub(crate) fn request(method: &str, target: &str, body: &str) -> Vec<u8> {
    let key = crate::child::KEY;
    format!(
        "{method} {target} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
         anthropic-beta: agent-memory-2026-07-22\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Runs `clients` connections for a while; `make(client, n)` gives each its n-th request. Any answer
/// but 200 ends the run with an error.
pub(crate) fn run(
    address: SocketAddr,
    clients: usize,
    seconds: f64,
    make: impl Fn(usize, u64) -> Vec<u8> + 'static,
) -> anyhow::Result<Rate> {
    spread(&[address], clients, seconds, make)
}

/// The same with the connections spread evenly over servers.
pub(crate) fn spread(
    addresses: &[SocketAddr],
    clients: usize,
    seconds: f64,
    make: impl Fn(usize, u64) -> Vec<u8> + 'static,
) -> anyhow::Result<Rate> {
    ensure!(!addresses.is_empty(), "no server to ask");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let make = Rc::new(make);
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async move {
        let start = Instant::now();
        let end = start + Duration::from_secs_f64(seconds);
        let tasks: Vec<_> = (0..clients)
            .map(|client| {
                let make = make.clone();
                let address = addresses[client % addresses.len()];
                tokio::task::spawn_local(async move {
                    let mut connection = Connection::open(address).await?;
                    let mut samples = Samples::default();
                    for n in 0.. {
                        let sent = Instant::now();
                        if sent >= end {
                            break;
                        }
                        connection.exchange(&make(client, n)).await?;
                        samples.push(sent.elapsed());
                    }
                    anyhow::Ok(samples)
                })
            })
            .collect();
        let mut samples = Samples::default();
        for task in tasks {
            samples.extend(task.await??);
        }
        samples.took(start.elapsed());
        samples.rate()
    })
}

/// Sends one request on a connection of its own and gives back the body.
pub(crate) fn once(address: SocketAddr, request: &[u8]) -> anyhow::Result<String> {
    Client::open(address)?.exchange(request)
}

/// A connection for whoever waits for each answer before doing something else.
pub(crate) struct Client {
    runtime: tokio::runtime::Runtime,
    connection: Connection,
}

impl Client {
    pub(crate) fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let connection = runtime.block_on(Connection::open(address))?;
        Ok(Self { runtime, connection })
    }

    /// Sends a request and gives back the body of its answer, which must be a 200.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> anyhow::Result<String> {
        let answer = self.runtime.block_on(self.connection.exchange(request))?;
        Ok(answer.to_owned())
    }
}

/// One connection that is kept open.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    body_start: usize,
}

impl Connection {
    async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(8192), body_start: 0 })
    }

    async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<&str> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                bail!("connection closed");
            }
            let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") else {
                continue;
            };
            let head = std::str::from_utf8(&self.buffer[..end])?;
            let length = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .context("answer without content-length")?;
            let length: usize = length.1.trim().parse()?;
            let is_ok = head.starts_with("HTTP/1.1 200");
            self.body_start = end + 4;
            while self.buffer.len() < self.body_start + length {
                if self.stream.read_buf(&mut self.buffer).await? == 0 {
                    bail!("connection closed within an answer");
                }
            }
            ensure!(is_ok, "answer is not 200: {}", String::from_utf8_lossy(&self.buffer));
            return Ok(std::str::from_utf8(&self.buffer[self.body_start..])?);
        }
    }
}
