//! Reads an event stream: what stands behind `data:`, event by event. Bounded, because the other side
//! is not necessarily ours.

use axum::body::Body;
use http_body_util::BodyExt;
use std::collections::VecDeque;

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A stream of events.
pub(super) struct Events {
    body: Body,
    unread: Vec<u8>,
    ready: VecDeque<String>,
    data: String,
}

impl Events {
    pub(super) fn new(body: Body) -> Self {
        Self { body, unread: Vec::new(), ready: VecDeque::new(), data: String::new() }
    }

    /// The next event; none at the end, however the stream ended.
    pub(super) async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let frame = self.body.frame().await?.ok()?;
            if let Some(bytes) = frame.data_ref() {
                self.unread.extend_from_slice(bytes);
            }
            self.take_lines();
            if self.unread.len() + self.data.len() > EVENT_BYTES_MAX {
                return None;
            }
        }
    }

    fn take_lines(&mut self) {
        let mut start = 0;
        while let Some(length) = self.unread[start..].iter().position(|byte| *byte == b'\n') {
            let line = &self.unread[start..start + length];
            let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
            if line.is_empty() && !self.data.is_empty() {
                self.ready.push_back(std::mem::take(&mut self.data));
            } else if let Some(data) = line.strip_prefix("data:") {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            }
            start += length + 1;
        }
        self.unread.drain(..start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use std::convert::Infallible;

    #[tokio::test]
    async fn events_are_put_together_from_pieces() {
        let pieces =
            ["da", "ta: {\"a\":1}\r\n", "\r\n: still here\n\ndata:x\ndata: y\n", "\ndata: lost"];
        let pieces = pieces.map(Ok::<_, Infallible>);
        let mut events = Events::new(Body::from_stream(stream::iter(pieces)));
        assert_eq!(events.next().await.as_deref(), Some("{\"a\":1}"));
        assert_eq!(events.next().await.as_deref(), Some("x\ny"));
        assert_eq!(events.next().await, None);
    }

    #[tokio::test]
    async fn an_endless_event_is_given_up() {
        let pieces = (0..10).map(|_| Ok::<_, Infallible>("x".repeat(1024 * 1024)));
        let mut events = Events::new(Body::from_stream(stream::iter(pieces)));
        assert_eq!(events.next().await, None);
    }
}
