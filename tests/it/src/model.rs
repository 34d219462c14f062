//! A tiny model elsewhere, for tests of what asks one: it speaks the chat request of OpenAI and the
//! messages request of Anthropic, says what it was told to say, in order, and remembers what it was
//! asked. On loopback only; it stops answering when dropped.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// One answer.
#[derive(Debug, Clone)]
pub enum Say {
    /// Facts, in the shape that was asked for.
    Facts(Value),
    /// A status, more header lines, and a body.
    Raw(&'static str, &'static str, String),
    /// Facts after a while.
    Slowly(Duration, Value),
    /// So many bytes.
    Huge(usize),
}

/// One request.
#[derive(Debug, Clone)]
pub struct Heard {
    /// The path it was sent to.
    pub path: String,
    /// Its header lines, in lower case.
    pub headers: String,
    /// Its body.
    pub body: Value,
}

impl Heard {
    /// What was to be read: the message, wherever the request has it.
    pub fn message(&self) -> String {
        let messages = self.body["messages"].as_array().expect("a request has messages");
        let text = messages.last().and_then(|last| last["content"].as_str());
        let prompt: Value = serde_json::from_str(text.expect("a message has text")).expect("JSON");
        prompt["message"].as_str().expect("a prompt has a message").to_owned()
    }
}

#[derive(Debug, Default)]
struct Shared {
    is_over: AtomicBool,
    script: Mutex<VecDeque<Say>>,
    heard: Mutex<Vec<Heard>>,
}

/// A running model.
#[derive(Debug)]
pub struct Model {
    addr: SocketAddr,
    shared: Arc<Shared>,
}

impl Model {
    /// Starts one. Beyond its script it finds nothing.
    pub fn start(script: Vec<Say>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on loopback");
        let addr = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared { script: Mutex::new(script.into()), ..Shared::default() });
        let theirs = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if theirs.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&theirs);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { addr, shared }
    }

    /// The `[extraction]` section that uses it for all stores.
    pub fn config(&self, api: &str, more: &str) -> String {
        format!(
            "[extraction]\napi = \"{api}\"\nurl = \"http://{}/v1\"\nmodel = \"m-1\"\n\
             api_key_env = \"EXTRACTION_KEY\"\nstores = \"all\"\n{more}\n",
            self.addr,
        )
    }

    /// Adds to what it says.
    pub fn say(&self, say: Say) {
        self.shared.script.lock().unwrap_or_else(PoisonError::into_inner).push_back(say);
    }

    /// What it was asked so far.
    pub fn heard(&self) -> Vec<Heard> {
        self.shared.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it sees that it is over and lets go of the port.
        let _ = TcpStream::connect(self.addr);
    }
}

fn serve(stream: TcpStream, shared: &Shared) {
    let mut stream = BufReader::new(stream);
    let Some(heard) = read(&mut stream) else { return };
    let is_anthropic = heard.path.ends_with("/messages");
    shared.heard.lock().unwrap_or_else(PoisonError::into_inner).push(heard);
    let next = shared.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let (status, headers, body) = match next.unwrap_or(Say::Facts(json!([]))) {
        Say::Facts(facts) => ("200 OK", "", wrap(is_anthropic, &facts)),
        Say::Raw(status, headers, body) => (status, headers, body),
        Say::Slowly(pause, facts) => {
            thread::sleep(pause);
            ("200 OK", "", wrap(is_anthropic, &facts))
        }
        Say::Huge(bytes) => ("200 OK", "", "x".repeat(bytes)),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\
         {headers}content-length: {}\r\n\r\n",
        body.len(),
    );
    let _ = stream.get_mut().write_all((head + &body).as_bytes());
}

/// Facts as an answer of either kind.
fn wrap(is_anthropic: bool, facts: &Value) -> String {
    let facts = json!({"facts": facts});
    let answer = match is_anthropic {
        true => json!({
            "content": [{"type": "tool_use", "id": "t", "name": "record", "input": facts}],
            "usage": {"input_tokens": 60, "output_tokens": 40},
        }),
        false => json!({
            "choices": [{"message": {"role": "assistant", "content": facts.to_string()}}],
            "usage": {"prompt_tokens": 60, "completion_tokens": 40},
        }),
    };
    answer.to_string()
}

fn read(stream: &mut BufReader<TcpStream>) -> Option<Heard> {
    let (mut headers, mut length, mut path) = (String::new(), 0, None);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if path.is_none() {
            path = line.split(' ').nth(1).map(str::to_owned);
        }
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        headers.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).ok()?;
    Some(Heard { path: path?, headers, body })
}
