//! A small blocking HTTP/1.1 client over one keep-alive connection.
//!
//! Hand-written so that a test sees exactly what went over the wire: whether bytes arrived before
//! the connection died decides whether a request counts as answered.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

const TIMEOUT: Duration = Duration::from_secs(90);
const BETA: &str = "agent-memory-2026-07-22";

/// One answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    /// The first header of that name; names are compared without case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text, for messages.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; the test ends if it is not.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: not JSON ({error}): {}", self.status, self.text()))
    }

    /// The JSON body of an answer that must be a 200.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "expected 200, got {}: {}", self.status, self.text());
        self.json()
    }
}

/// A client with one connection, opened when first needed.
#[derive(Debug)]
pub struct Client {
    addr: SocketAddr,
    key: Option<String>,
    headers: Vec<(String, String)>,
    connection: Option<BufReader<TcpStream>>,
}

impl Client {
    /// A client that sends this key with each request, if any.
    pub fn new(addr: SocketAddr, key: Option<&str>) -> Self {
        let headers = vec![("anthropic-beta".to_owned(), BETA.to_owned())];
        Self { addr, key: key.map(str::to_owned), headers, connection: None }
    }

    /// The same client without the beta header, which most routes do not need.
    #[must_use]
    pub fn without_beta(mut self) -> Self {
        self.headers.clear();
        self
    }

    /// Asks without the beta header: as a client of another door, where two share a path.
    pub fn as_another<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let headers = std::mem::take(&mut self.headers);
        let answer = ask(self);
        self.headers = headers;
        answer
    }

    /// The same client towards another address, such as that of a server that was started again.
    #[must_use]
    pub fn at(&self, addr: SocketAddr) -> Self {
        let (key, headers) = (self.key.clone(), self.headers.clone());
        Self { addr, key, headers, connection: None }
    }

    /// Opens the connection now, so that a later request does not pay for it.
    pub fn connect(&mut self) -> io::Result<()> {
        if self.connection.is_none() {
            let stream = TcpStream::connect_timeout(&self.addr, TIMEOUT)?;
            stream.set_read_timeout(Some(TIMEOUT))?;
            stream.set_write_timeout(Some(TIMEOUT))?;
            stream.set_nodelay(true)?;
            self.connection = Some(BufReader::new(stream));
        }
        Ok(())
    }

    /// Sends a request and reads the answer; on any error the connection is gone.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
        headers: &[(&str, &str)],
    ) -> io::Result<Reply> {
        self.connect()?;
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.addr);
        if let Some(key) = &self.key {
            head.push_str(&format!("authorization: Bearer {key}\r\n"));
        }
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.chain(headers.iter().copied()) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = body {
            head.push_str("content-type: application/json\r\n");
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let message = [head.as_bytes(), body.unwrap_or_default()].concat();
        let answer = self.exchange(&message, method == "HEAD");
        let closes = answer.as_ref().is_ok_and(|reply| {
            reply.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
        });
        if answer.is_err() || closes {
            self.connection = None;
        }
        answer
    }

    /// Sends raw bytes and reads one answer.
    pub fn exchange(&mut self, message: &[u8], is_head: bool) -> io::Result<Reply> {
        self.connect()?;
        let connection = self.connection.as_mut().expect("just connected");
        // A server may refuse early and close while we still write; its answer is what counts.
        let written = connection.get_mut().write_all(message);
        match read_reply(connection, is_head) {
            Ok(reply) => Ok(reply),
            Err(error) => written.and(Err(error)),
        }
    }

    /// A JSON request that must be answered. A kept connection that the server closed while it was
    /// idle is opened again once.
    #[track_caller]
    pub fn call(&mut self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        self.call_with(method, path, body, &[])
    }

    /// The same with more headers.
    #[track_caller]
    pub fn call_with(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> Reply {
        let body = body.map(Value::to_string);
        let bytes = body.as_ref().map(String::as_bytes);
        let was_open = self.connection.is_some();
        let mut answer = self.send(method, path, bytes, headers);
        if was_open && answer.is_err() {
            answer = self.send(method, path, bytes, headers);
        }
        answer.unwrap_or_else(|error| panic!("{method} {path}: no answer: {error}"))
    }

    #[track_caller]
    pub fn get(&mut self, path: &str) -> Reply {
        self.call("GET", path, None)
    }

    #[track_caller]
    pub fn post(&mut self, path: &str, body: &Value) -> Reply {
        self.call("POST", path, Some(body))
    }

    #[track_caller]
    pub fn delete(&mut self, path: &str) -> Reply {
        self.call("DELETE", path, None)
    }
}

fn read_reply(connection: &mut BufReader<TcpStream>, is_head: bool) -> io::Result<Reply> {
    loop {
        let reply = read_one(connection, is_head)?;
        // 100 Continue and its kind announce the real answer.
        if reply.status >= 200 {
            return Ok(reply);
        }
    }
}

fn read_one(connection: &mut BufReader<TcpStream>, is_head: bool) -> io::Result<Reply> {
    let status_line = read_line(connection)?;
    let status = status_line.split(' ').nth(1).and_then(|text| text.parse().ok());
    let status: u16 = status.ok_or_else(|| broken(&format!("status line {status_line:?}")))?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(connection)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| broken("header without a colon"))?;
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    let mut reply = Reply { status, headers, body: Vec::new() };
    if is_head || status < 200 || status == 204 || status == 304 {
        return Ok(reply);
    }
    if reply.header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
        reply.body = read_chunks(connection)?;
    } else if let Some(length) = reply.header("content-length") {
        let length = length.parse().map_err(|_| broken("content-length is not a number"))?;
        reply.body = vec![0; length];
        connection.read_exact(&mut reply.body)?;
    } else {
        connection.read_to_end(&mut reply.body)?;
    }
    Ok(reply)
}

fn read_chunks(connection: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let began = Instant::now();
    loop {
        if began.elapsed() > TIMEOUT {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the answer does not end"));
        }
        let line = read_line(connection)?;
        let size = line.split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size.trim(), 16).map_err(|_| broken("chunk size"))?;
        let start = body.len();
        body.resize(start + size, 0);
        connection.read_exact(&mut body[start..])?;
        read_line(connection)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn read_line(connection: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = Vec::new();
    connection.read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed"));
    }
    let text = String::from_utf8(line).map_err(|_| broken("a header is not UTF-8"))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("malformed answer: {what}"))
}
