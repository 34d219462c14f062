//! A connection that slow clients cannot hold. Wraps the socket and gives up on a client that stays
//! silent, dawdles over its headers, or does not take what we send.
//!
//! Hyper has one timer for headers, which also runs while a connection waits between requests; we
//! want seconds for the one and minutes for the other. Bodies are timed where they are read (the
//! gate), so while a request is being served nothing is timed here but writing. Timers are armed
//! only when the socket makes us wait, and moved only when they would fire too late: a busy
//! connection never touches them.

use crate::HttpOptions;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Where a connection stands. Set by the socket (first byte) and by the service (request, end of
/// answer), which run in the same task.
#[derive(Clone)]
pub(crate) struct Phase(Arc<AtomicU8>);

/// Opened, and not one whole request yet.
const FRESH: u8 = 0;
/// Between requests.
const WAITING: u8 = 1;
/// In the headers of a request.
const HEADERS: u8 = 2;
/// From the end of the headers to the end of the answer.
const SERVING: u8 = 3;

impl Phase {
    pub(crate) fn fresh() -> Self {
        Self(Arc::new(AtomicU8::new(FRESH)))
    }

    /// A request's headers are complete.
    pub(crate) fn serve(&self) {
        self.set(SERVING);
    }

    /// The answer is out of our hands.
    pub(crate) fn wait(&self) {
        self.set(WAITING);
    }

    /// Whether a request is under way, or may be on its way to us.
    pub(crate) fn is_fresh(&self) -> bool {
        self.get() == FRESH
    }

    fn get(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, phase: u8) {
        self.0.store(phase, Ordering::Relaxed);
    }
}

/// How long each wait may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    headers: Duration,
    waiting: Duration,
    writing: Duration,
}

impl Patience {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        Self {
            headers: options.header_timeout,
            waiting: options.idle_timeout,
            writing: options.body_idle_timeout,
        }
    }
}

/// The socket with its timers.
pub(crate) struct TimedIo<I> {
    inner: I,
    phase: Phase,
    patience: Patience,
    /// The phase that `read_by` belongs to.
    timed_phase: u8,
    read_by: Option<Instant>,
    write_by: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl<I> TimedIo<I> {
    pub(crate) fn new(inner: I, phase: Phase, patience: Patience) -> Self {
        Self {
            inner,
            phase,
            patience,
            timed_phase: SERVING,
            read_by: None,
            write_by: None,
            alarm: None,
        }
    }

    /// Notes the first byte of a request.
    fn begin_headers(&mut self, phase: u8) {
        // The headers of a first request are timed from the opening of the connection.
        if phase != FRESH || self.timed_phase != FRESH {
            self.read_by = Some(Instant::now() + self.patience.headers);
        }
        self.timed_phase = HEADERS;
        self.phase.set(HEADERS);
    }

    /// Brings `read_by` up to date with the phase.
    fn time_reading(&mut self) {
        let phase = self.phase.get();
        if phase == self.timed_phase {
            return;
        }
        self.read_by = match phase {
            FRESH | HEADERS => Some(Instant::now() + self.patience.headers),
            WAITING => Some(Instant::now() + self.patience.waiting),
            _ => None,
        };
        self.timed_phase = phase;
    }

    /// Resolves when the client has used up our patience.
    fn poll_impatience(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let due = match (self.read_by, self.write_by) {
            (Some(read), Some(write)) => read.min(write),
            (Some(due), None) | (None, Some(due)) => due,
            (None, None) => return Poll::Pending,
        };
        loop {
            let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
            if alarm.deadline() > due {
                alarm.as_mut().reset(due);
            }
            ready!(alarm.as_mut().poll(cx));
            if due <= Instant::now() {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
            alarm.as_mut().reset(due);
        }
    }

    /// Times a write that has to wait, and forgets the time of one that went on.
    fn time_writing<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_by = None;
            return written;
        }
        let patience = self.patience.writing;
        self.write_by.get_or_insert_with(|| Instant::now() + patience);
        self.poll_impatience(cx).map(Err)
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for TimedIo<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        let phase = self.phase.get();
        if buffer.filled().len() > before && matches!(phase, FRESH | WAITING) {
            self.begin_headers(phase);
        }
        if read.is_ready() {
            return read;
        }
        self.time_reading();
        self.poll_impatience(cx).map(Err)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for TimedIo<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.time_writing(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.time_writing(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.time_writing(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.time_writing(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::sleep;

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    fn pair() -> (TimedIo<DuplexStream>, DuplexStream, Phase) {
        let (ours, theirs) = duplex(64);
        let phase = Phase::fresh();
        let patience = Patience::new(&HttpOptions::default());
        (TimedIo::new(ours, phase.clone(), patience), theirs, phase)
    }

    /// Reads until the wrapper gives up; how long that took.
    async fn cut_after(io: &mut TimedIo<DuplexStream>) -> Duration {
        let started = Instant::now();
        let error = loop {
            if let Err(error) = io.read_u8().await {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        started.elapsed()
    }

    fn assert_about(took: Duration, expected: Duration) {
        let slack = Duration::from_millis(50);
        assert!(took >= expected && took < expected + slack, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_is_cut_like_slow_headers() {
        let (mut io, _theirs, _) = pair();
        assert_about(cut_after(&mut io).await, secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn dripping_headers_are_cut_on_time() {
        let (mut io, mut theirs, _) = pair();
        let drip = tokio::spawn(async move {
            while theirs.write_all(b"x").await.is_ok() {
                sleep(secs(1)).await;
            }
        });
        assert_about(cut_after(&mut io).await, secs(10));
        drop(io);
        drip.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn between_requests_there_is_more_time_but_headers_stay_quick() {
        let (mut io, mut theirs, phase) = pair();
        phase.serve();
        phase.wait();
        let late = tokio::spawn(async move {
            sleep(secs(70)).await;
            theirs.write_all(b"G").await.unwrap();
            sleep(secs(100)).await;
        });
        assert_about(cut_after(&mut io).await, secs(80));
        late.abort();

        let (mut io, _theirs, phase) = pair();
        phase.serve();
        phase.wait();
        assert_about(cut_after(&mut io).await, secs(75));
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_timed_while_a_request_is_served() {
        let (mut io, mut theirs, phase) = pair();
        theirs.write_all(b"GET").await.unwrap();
        for _ in 0..3 {
            io.read_u8().await.unwrap();
        }
        phase.serve();
        let read = tokio::time::timeout(secs(3600), io.read_u8()).await;
        assert!(read.is_err(), "still waiting after an hour");
        phase.wait();
        assert_about(cut_after(&mut io).await, secs(75));
    }

    #[tokio::test(start_paused = true)]
    async fn requests_without_pause_never_hit_an_old_deadline() {
        let (mut io, mut theirs, phase) = pair();
        for _ in 0..30 {
            theirs.write_all(b"x").await.unwrap();
            io.read_u8().await.unwrap();
            phase.serve();
            sleep(secs(1)).await;
            phase.wait();
        }
        theirs.write_all(b"x").await.unwrap();
        assert_about(cut_after(&mut io).await, secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_cut() {
        let (mut io, mut theirs, phase) = pair();
        phase.serve();
        let reader = tokio::spawn(async move {
            // Takes a little, which is progress, and then nothing more.
            sleep(secs(8)).await;
            theirs.read_u8().await.unwrap();
            sleep(secs(100)).await;
        });
        let started = Instant::now();
        let error = io.write_all(&[0; 1000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_about(started.elapsed(), secs(18));
        reader.abort();
    }
}
