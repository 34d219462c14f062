//! Standard input to `/mcp`, and its answers to standard output. Messages are worked on side by side;
//! what comes out is whole lines. Nothing else is ever written to standard output.

use super::super::way::Answered;
use super::door::Door;
use super::events::Events;
use super::listen::Listening;
use super::message::{
    ACKNOWLEDGED, INVALID_REQUEST, Message, NO_ANSWER, Request, STATELESS, has_batches, refusal,
};
use crate::exit::Failure;
use axum::body::Body;
use bytes::Bytes;
use hyper::Response;
use serde_json::Value;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet};

/// Bytes of one message.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Messages that are worked on at a time.
const AT_ONCE_MAX: usize = 64;
/// Lines that wait to be written.
const LINES_MAX: usize = 1024;
/// How long the end of input waits for what is under way.
const FINISH: Duration = Duration::from_secs(20);

/// The relay.
pub(super) struct Relay {
    door: Arc<Door>,
}

/// What the messages of one client share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) door: Arc<Door>,
    pub(super) out: mpsc::Sender<String>,
    under_way: Arc<Mutex<HashMap<String, AbortHandle>>>,
    /// What the client agreed on, if it agreed on anything.
    version: Arc<Mutex<Option<String>>>,
    listening: Arc<Listening>,
}

impl Relay {
    pub(super) fn new(door: Door) -> Self {
        Self { door: Arc::new(door) }
    }

    /// Relays until standard input ends.
    pub(super) async fn run(self) -> Result<(), Failure> {
        let (out, lines) = mpsc::channel(LINES_MAX);
        let writing = tokio::spawn(write(lines));
        let shared = Shared {
            door: Arc::clone(&self.door),
            out,
            under_way: Arc::default(),
            version: Arc::default(),
            listening: Arc::default(),
        };
        let read = self.read(&shared).await;
        shared.listening.stop();
        drop(shared);
        let written = writing.await;
        self.door.close().await;
        read?;
        match written {
            Ok(Ok(())) => Ok(()),
            // Whoever started us is gone, which is one way to end.
            Ok(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Ok(Err(error)) => Err(Failure::io("cannot write to standard output", &error)),
            Err(error) => Err(Failure::failed(format!("writing failed: {error}"))),
        }
    }

    async fn read(&self, shared: &Shared) -> Result<(), Failure> {
        let mut input = BufReader::new(tokio::io::stdin());
        let room = Arc::new(Semaphore::new(AT_ONCE_MAX));
        let mut tasks = JoinSet::new();
        while !shared.out.is_closed() {
            let line = tokio::select! {
                line = line(&mut input) => line,
                () = shared.out.closed() => break,
            };
            let line = line.map_err(|error| Failure::io("cannot read standard input", &error))?;
            while tasks.try_join_next().is_some() {}
            let Some(line) = line else { break };
            let message = match line {
                Line::TooLong => {
                    let why = format!("a message takes up to {LINE_BYTES_MAX} bytes");
                    Err(refusal(&Value::Null, INVALID_REQUEST, &why))
                }
                Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => continue,
                Line::Whole(line) => Message::parse(&line),
            };
            match message {
                Err(refused) => shared.say(refused.to_string()).await,
                Ok(Message::Answer) => {}
                Ok(Message::Notification { method, params }) => shared.note(&method, &params),
                Ok(Message::Request(request)) => {
                    let Ok(place) = Arc::clone(&room).acquire_owned().await else { break };
                    let (own, id) = (shared.clone(), request.id.to_string());
                    let mut under_way = lock(&shared.under_way);
                    let task = tasks.spawn(async move {
                        own.answer(&request).await;
                        lock(&own.under_way).remove(&request.id.to_string());
                        drop(place);
                    });
                    under_way.insert(id, task);
                }
                Ok(Message::Batch(all)) => {
                    let Ok(place) = Arc::clone(&room).acquire_owned().await else { break };
                    let own = shared.clone();
                    tasks.spawn(async move {
                        own.answer_all(all).await;
                        drop(place);
                    });
                }
            }
        }
        let finish = async { while tasks.join_next().await.is_some() {} };
        // Streams have no end of their own.
        let _ = tokio::time::timeout(FINISH, async {
            shared.end_streams();
            finish.await;
        })
        .await;
        Ok(())
    }
}

impl Shared {
    /// Writes a line.
    pub(super) async fn say(&self, line: String) {
        // When nobody reads any more, the relay ends by itself.
        let _ = self.out.send(line).await;
    }

    fn note(&self, method: &str, params: &Value) {
        match method {
            "notifications/cancelled" => {
                let task = lock(&self.under_way).remove(&params["requestId"].to_string());
                if let Some(task) = task {
                    task.abort();
                }
            }
            "notifications/initialized" => self.listening.start(self),
            _ => {}
        }
    }

    fn end_streams(&self) {
        for (id, task) in lock(&self.under_way).iter() {
            if self.listening.is_stream(id) {
                task.abort();
            }
        }
    }

    async fn answer(&self, request: &Request) {
        if let Some(answer) = self.answered(request).await {
            self.say(answer).await;
        }
    }

    /// Answers several messages, one after the other and in one line. Each is sent by itself, under
    /// an idempotency key of its own.
    async fn answer_all(&self, all: Vec<Result<Message, Value>>) {
        let agreed = lock(&self.version).clone();
        if !has_batches(agreed.as_deref()) {
            let version = agreed.unwrap_or_default();
            let why = format!("version {version} of the protocol has no batches; send one message");
            return self.say(refusal(&Value::Null, INVALID_REQUEST, &why).to_string()).await;
        }
        let mut answers = Vec::new();
        for message in all {
            match message {
                Err(refused) => answers.push(refused.to_string()),
                Ok(Message::Notification { method, params }) => self.note(&method, &params),
                Ok(Message::Request(request)) if request.is_alone() => {
                    let why = "this cannot be part of a batch";
                    answers.push(request.refused(INVALID_REQUEST, why).to_string());
                }
                Ok(Message::Request(request)) => answers.extend(self.answered(&request).await),
                Ok(Message::Answer | Message::Batch(_)) => {}
            }
        }
        if !answers.is_empty() {
            self.say(format!("[{}]", answers.join(","))).await;
        }
    }

    /// The line that answers a request; none if a stream did.
    async fn answered(&self, request: &Request) -> Option<String> {
        let is_legacy = request.version().is_none_or(|version| version < STATELESS);
        match (request.method.as_str(), request.uri()) {
            ("resources/subscribe", Some(uri)) if is_legacy => {
                Some(match self.listening.add(self, uri) {
                    Ok(()) => request.done().to_string(),
                    Err(why) => request.refused(INVALID_REQUEST, &why).to_string(),
                })
            }
            ("resources/unsubscribe", Some(uri)) if is_legacy => {
                self.listening.remove(self, uri);
                Some(request.done().to_string())
            }
            _ => self.forwarded(request).await,
        }
    }

    async fn forwarded(&self, request: &Request) -> Option<String> {
        let version = lock(&self.version).clone().filter(|_| request.method != "initialize");
        match self.door.ask(request, version.as_deref()).await {
            Err(failure) => Some(request.refused(NO_ANSWER, &failure.message).to_string()),
            Ok(Answered::Whole(response)) => {
                if request.method == "initialize" {
                    self.agree(response.body());
                }
                Some(readable(request, &response))
            }
            Ok(Answered::Stream(response)) => {
                let id = request.id.to_string();
                self.listening.mark_stream(&id);
                self.stream(request, response).await;
                self.listening.unmark_stream(&id);
                None
            }
        }
    }

    /// Passes on a stream. A subscription goes on at the next process when one is gone or has had
    /// enough of it, until it is refused; that it begins is told once.
    async fn stream(&self, request: &Request, response: Response<Body>) {
        let is_subscription = request.method == "subscriptions/listen";
        let mut events = Events::new(response.into_body());
        let mut is_begun = false;
        loop {
            while let Some(event) = events.next().await {
                let parsed: Value = serde_json::from_str(&event).unwrap_or(Value::Null);
                let is_begin = parsed["method"] == ACKNOWLEDGED;
                let is_end = parsed.get("result").is_some() && is_subscription;
                if !(is_end || is_begin && is_begun) {
                    self.say(event).await;
                }
                if parsed.get("error").is_some() {
                    return;
                }
                is_begun |= is_begin;
            }
            if !is_subscription {
                return;
            }
            match self.door.ask(request, None).await {
                Ok(Answered::Stream(response)) => events = Events::new(response.into_body()),
                Ok(Answered::Whole(response)) => {
                    return self.say(readable(request, &response)).await;
                }
                Err(failure) => {
                    let refused = request.refused(NO_ANSWER, &failure.message);
                    return self.say(refused.to_string()).await;
                }
            }
        }
    }

    /// Remembers the version that was agreed on.
    fn agree(&self, answer: &Bytes) {
        let answer: Value = serde_json::from_slice(answer).unwrap_or(Value::Null);
        let agreed = answer["result"]["protocolVersion"].as_str().map(str::to_owned);
        *lock(&self.version) = agreed;
    }
}

/// The line for an answer. What is no answer of the protocol comes from a layer in front of it.
fn readable(request: &Request, response: &Response<Bytes>) -> String {
    let body: Value = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
    if body.get("jsonrpc").is_some() && body["id"] == request.id {
        return body.to_string();
    }
    let message = body["error"]["message"].as_str().map(str::to_owned);
    let message = message.unwrap_or_else(|| {
        let text = String::from_utf8_lossy(response.body());
        let text: String = text.chars().take(200).collect();
        format!("{} {text}", response.status().as_u16())
    });
    request.refused(NO_ANSWER, &message).to_string()
}

/// A line of input.
enum Line {
    Whole(Vec<u8>),
    /// It was skipped.
    TooLong,
}

/// The next line; none at the end.
async fn line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Line>> {
    let mut whole = Vec::new();
    let mut is_too_long = false;
    loop {
        let piece = input.fill_buf().await?;
        if piece.is_empty() {
            // A last line without an end is one that was cut off.
            return Ok((!whole.is_empty() && !is_too_long).then_some(Line::Whole(whole)));
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(piece.len(), |end| end + 1);
        if whole.len() + used > LINE_BYTES_MAX {
            is_too_long = true;
            whole.clear();
        }
        if !is_too_long {
            whole.extend_from_slice(&piece[..end.unwrap_or(used)]);
        }
        input.consume(used);
        if end.is_some() {
            return Ok(Some(if is_too_long { Line::TooLong } else { Line::Whole(whole) }));
        }
    }
}

async fn write(mut lines: mpsc::Receiver<String>) -> io::Result<()> {
    let mut output = tokio::io::stdout();
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_bounded() {
        let long = "x".repeat(LINE_BYTES_MAX + 1);
        let text = format!("{{}}\n{long}\nnext\nrest");
        let mut input = BufReader::new(text.as_bytes());
        let mut next = async || line(&mut input).await.unwrap();
        assert!(matches!(next().await, Some(Line::Whole(line)) if line == b"{}"));
        assert!(matches!(next().await, Some(Line::TooLong)));
        assert!(matches!(next().await, Some(Line::Whole(line)) if line == b"next"));
        assert!(matches!(next().await, Some(Line::Whole(line)) if line == b"rest"));
        assert!(next().await.is_none());
    }
}
