//! A tiny endpoint that speaks the usual embeddings request, for tests of a model elsewhere.
//!
//! Its vectors are unmistakable: a text points along the axis of its first letter, so two texts are
//! entirely alike or not at all. A similarity in between can only come from another model.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;

/// A running endpoint; it stops answering when dropped.
#[derive(Debug)]
pub struct Endpoint {
    addr: SocketAddr,
    dims: usize,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    is_over: AtomicBool,
    fails: AtomicBool,
    texts: AtomicUsize,
    unauthorized: AtomicUsize,
}

impl Endpoint {
    /// Starts one that makes vectors of so many numbers and wants this key.
    pub fn start(dims: usize, key: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on loopback");
        let addr = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared::default());
        let (theirs, expected) = (Arc::clone(&shared), format!("Bearer {key}"));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if theirs.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let (shared, expected) = (Arc::clone(&theirs), expected.clone());
                thread::spawn(move || serve(stream, &shared, &expected, dims));
            }
        });
        Self { addr, dims, shared }
    }

    /// The `[search]` section that uses it; the key is read from this environment variable.
    pub fn config(&self, key_env: &str) -> String {
        format!(
            "[search]\nembedder = \"http\"\n[search.http]\nurl = \"http://{}/v1\"\n\
             model = \"by-letter\"\ndims = {}\napi_key_env = \"{key_env}\"\ntimeout_seconds = 3\n",
            self.addr, self.dims,
        )
    }

    /// From now on every request fails, or no longer does.
    pub fn fail(&self, fails: bool) {
        self.shared.fails.store(fails, Ordering::SeqCst);
    }

    /// How many texts were embedded.
    pub fn texts(&self) -> usize {
        self.shared.texts.load(Ordering::SeqCst)
    }

    /// How many requests came without the key.
    pub fn unauthorized(&self) -> usize {
        self.shared.unauthorized.load(Ordering::SeqCst)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it sees that it is over and lets go of the port.
        let _ = TcpStream::connect(self.addr);
    }
}

/// Answers requests on one connection until it closes.
fn serve(stream: TcpStream, shared: &Shared, expected: &str, dims: usize) {
    let mut stream = BufReader::new(stream);
    while let Some((is_known, body)) = read(&mut stream, expected) {
        let (status, answer) = if shared.is_over.load(Ordering::SeqCst) {
            return;
        } else if !is_known {
            shared.unauthorized.fetch_add(1, Ordering::SeqCst);
            ("401 Unauthorized", r#"{"error":"no key"}"#.to_owned())
        } else if shared.fails.load(Ordering::SeqCst) {
            ("500 Internal Server Error", r#"{"error":"not now"}"#.to_owned())
        } else {
            let texts = body["input"].as_array().expect("a list of texts").clone();
            shared.texts.fetch_add(texts.len(), Ordering::SeqCst);
            // Written by hand: a test of twenty thousand vectors spends its time elsewhere.
            let one = |(index, text): (usize, &Value)| {
                let vector = vector(text.as_str().expect("texts are strings"), dims);
                format!(r#"{{"object":"embedding","index":{index},"embedding":{vector}}}"#)
            };
            let data: Vec<String> = texts.iter().enumerate().map(one).collect();
            ("200 OK", format!(r#"{{"object":"list","data":[{}]}}"#, data.join(",")))
        };
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len(),
        );
        if stream.get_mut().write_all((head + &answer).as_bytes()).is_err() {
            return;
        }
    }
}

/// One request: whether it has the key, and its body.
fn read(stream: &mut BufReader<TcpStream>, expected: &str) -> Option<(bool, Value)> {
    let (mut is_known, mut length) = (false, 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            match name.to_ascii_lowercase().as_str() {
                "authorization" => is_known = value.trim() == expected,
                "content-length" => length = value.trim().parse().ok()?,
                _ => {}
            }
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((is_known, serde_json::from_slice(&body).ok()?))
}

/// The axis of the first letter, as JSON.
fn vector(text: &str, dims: usize) -> String {
    let letter = text.bytes().find(u8::is_ascii_alphabetic).unwrap_or(b'z').to_ascii_lowercase();
    let axis = usize::from(letter) % dims;
    format!("[{}1{}]", "0,".repeat(axis), ",0".repeat(dims - axis - 1))
}
