//! Bodies as a connection sees them: each tells the socket's timers how far its request has come,
//! because only the body knows when it was read to its end, given up, or handed over.

use crate::phase::Phase;
use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A request's body; tells the socket when it is given up before its end.
pub(crate) struct Received {
    body: Incoming,
    is_ended: bool,
    phase: Phase,
}

impl Received {
    pub(crate) fn new(body: Incoming, phase: Phase) -> Self {
        Self { body, is_ended: false, phase }
    }
}

impl HttpBody for Received {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.is_ended = frame.is_none();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        if !self.is_ended && !self.body.is_end_stream() {
            self.phase.leave_unread();
        }
    }
}

/// An answer's body; tells the socket when it has been handed over.
pub(crate) struct Sent {
    body: Body,
    phase: Phase,
}

impl Sent {
    pub(crate) fn new(body: Body, phase: Phase) -> Self {
        Self { body, phase }
    }
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.phase.wait();
    }
}
