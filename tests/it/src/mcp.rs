//! The Model Context Protocol from the outside: over HTTP with the plain client, and a `loci mcp`
//! process that is spoken to line by line.

use crate::client::{Client, Reply};
use crate::server::{OWN_VARIABLES, binary};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends one message to `/mcp`, with more headers.
pub fn post(client: &mut Client, message: &Value, headers: &[(&str, &str)]) -> Reply {
    let headers: Vec<(&str, &str)> = [ACCEPT].into_iter().chain(headers.iter().copied()).collect();
    client.call_with("POST", "/mcp", Some(message), &headers)
}

/// A request with an id.
pub fn request(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// A call of a tool.
pub fn tool(name: &str, arguments: &Value) -> Value {
    request("tools/call", &json!({"name": name, "arguments": arguments}))
}

/// What a tool said, if it worked.
#[track_caller]
pub fn done(answer: &Value) -> String {
    let text = said(answer);
    assert_ne!(answer["result"]["isError"], true, "{text}");
    text
}

/// What a tool said, if it did not work.
#[track_caller]
pub fn failed(answer: &Value) -> String {
    let text = said(answer);
    assert_eq!(answer["result"]["isError"], true, "{text}");
    text
}

#[track_caller]
fn said(answer: &Value) -> String {
    let content = answer["result"]["content"].as_array();
    let content = content.unwrap_or_else(|| panic!("no answer of a tool: {answer}"));
    assert_eq!(content.len(), 1, "one text: {answer}");
    content[0]["text"].as_str().expect("a text").to_owned()
}

/// The cursor at the end of an answer.
pub fn cursor(text: &str) -> Option<&str> {
    text.rsplit_once("cursor ").map(|(_, cursor)| cursor.trim())
}

/// A `loci mcp` process.
#[derive(Debug)]
pub struct Mcp {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
    /// What came that was no answer.
    pub told: Vec<Value>,
}

impl Mcp {
    /// On a data directory.
    pub fn on_data(data: &Path, more: &[&str]) -> Self {
        let data = data.to_str().expect("temporary folders have plain names");
        Self::start(&[&["--data", data], more].concat())
    }

    /// On a server.
    pub fn on_url(url: &str, key: &str) -> Self {
        Self::start(&["--url", url, "--key", key])
    }

    fn start(options: &[&str]) -> Self {
        let mut command = Command::new(binary());
        for name in OWN_VARIABLES {
            command.env_remove(name);
        }
        command.arg("mcp").args(options);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary can be started");
        let input = child.stdin.take();
        let output = child.stdout.take().expect("stdout is a pipe");
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let parsed = serde_json::from_str(&line);
                let parsed = parsed.unwrap_or_else(|_| panic!("standard output has {line:?}"));
                if send.send(parsed).is_err() {
                    return;
                }
            }
        });
        Self { child, input, lines, next: 1, told: Vec::new() }
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Shakes hands.
    #[track_caller]
    pub fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "it", "version": "1"},
        });
        let answer = self.ask("initialize", &params).expect("the process answers");
        self.tell("notifications/initialized", &json!({}));
        answer["result"].clone()
    }

    /// Asks and waits for the answer; none when the process is gone.
    pub fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        let id = self.next;
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&message.to_string())?;
        self.until(|line| line["id"] == id)
    }

    /// Calls a tool; none when the process is gone.
    pub fn call(&mut self, name: &str, arguments: &Value) -> Option<Value> {
        self.ask("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// Sends a notification.
    pub fn tell(&mut self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let _ = self.write(&message.to_string());
    }

    /// Sends a line.
    pub fn write(&mut self, line: &str) -> Option<()> {
        let input = self.input.as_mut()?;
        input.write_all(format!("{line}\n").as_bytes()).and_then(|()| input.flush()).ok()
    }

    /// Waits for a line; what comes before it is kept in [`Self::told`]. None at the end of output.
    #[track_caller]
    pub fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Option<Value> {
        match self.wait(PATIENCE, is_it) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing came in {PATIENCE:?}"),
        }
    }

    /// The same, for so long; none when nothing came.
    pub fn within(&mut self, limit: Duration, is_it: impl Fn(&Value) -> bool) -> Option<Value> {
        self.wait(limit, is_it).ok()
    }

    fn wait(
        &mut self,
        limit: Duration,
        is_it: impl Fn(&Value) -> bool,
    ) -> Result<Value, RecvTimeoutError> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left)? {
                line if is_it(&line) => return Ok(line),
                line => self.told.push(line),
            }
        }
    }

    /// SIGKILL; returns when it is gone.
    pub fn kill(&mut self) {
        self.child.kill().expect("the child is ours");
        self.child.wait().expect("our own child can be waited for");
    }

    /// Ends the input and waits for the end.
    #[track_caller]
    pub fn finish(mut self) -> ExitStatus {
        self.input = None;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().expect("our own child can be waited for") {
                return status;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("`loci mcp` still runs {PATIENCE:?} after the end of its input");
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        // Fails only when the process is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
