//! A connection that slow clients cannot hold. Wraps the socket and gives up on a client that stays
//! silent, dawdles over its headers, or does not take what we send.
//!
//! Hyper has one timer for headers, which also runs while a connection waits between requests; we
//! want seconds for the one and minutes for the other, and between requests hyper may have no reason
//! to ask for more, so the registry of the listener looks after connections that wait
//! ([`crate::registry`]). Bodies are timed where they are read (the gate), so while a request is
//! being served nothing is timed here but writing. Timers are armed only when the socket makes us
//! wait, and moved only when they would fire too late: a busy connection never touches them.
//!
//! When the server ends a connection while the client is still sending a body nobody wants, closing
//! at once would make the system answer those bytes with a reset, and the client would see that
//! instead of our answer. So the shutdown sends its end and goes on reading for a while.

use crate::HttpOptions;
use crate::phase::{FRESH, HEADERS, Phase, SERVING, WAITING};
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// How long a client may take to notice that we have answered and closed.
const LINGER: Duration = Duration::from_secs(5);
/// How much it may send meanwhile.
const LINGER_BYTES_MAX: usize = 256 * 1024 * 1024;
const LINGER_CHUNK_BYTES: usize = 16 * 1024;

/// How long each wait may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    headers: Duration,
    writing: Duration,
}

impl Patience {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        Self { headers: options.header_timeout, writing: options.body_idle_timeout }
    }
}

/// What is left for a client that has been answered before it had sent everything.
#[derive(Clone, Copy)]
struct Lingering {
    until: Instant,
    bytes_left: usize,
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
    /// Set when our end is sent and only the client's is waited for.
    lingering: Option<Lingering>,
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
            lingering: None,
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
            if self.write_by.take().is_some() {
                self.phase.set_writing(false);
            }
            return written;
        }
        if self.write_by.is_none() {
            self.write_by = Some(Instant::now() + self.patience.writing);
            self.phase.set_writing(true);
        }
        self.poll_impatience(cx).map(Err)
    }
}

impl<I: AsyncRead + Unpin> TimedIo<I> {
    /// Reads and drops until the client ends, or has been waited for long enough.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let patience = LINGER.min(self.patience.writing);
        let mut lingering = *self.lingering.get_or_insert_with(|| Lingering {
            until: Instant::now() + patience,
            bytes_left: LINGER_BYTES_MAX,
        });
        (self.read_by, self.write_by) = (Some(lingering.until), None);
        let mut chunk = [MaybeUninit::uninit(); LINGER_CHUNK_BYTES];
        while lingering.bytes_left > 0 && Instant::now() < lingering.until {
            let mut buffer = ReadBuf::uninit(&mut chunk);
            match Pin::new(&mut self.inner).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    lingering.bytes_left =
                        lingering.bytes_left.saturating_sub(buffer.filled().len());
                    self.lingering = Some(lingering);
                }
                // The end, or a connection that is broken anyway.
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return self.poll_impatience(cx).map(drop),
            }
        }
        Poll::Ready(())
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

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimedIo<I> {
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
        if self.lingering.is_none() {
            let shut = Pin::new(&mut self.inner).poll_shutdown(cx);
            ready!(self.time_writing(cx, shut))?;
        }
        match self.phase.is_unread() {
            true => self.poll_linger(cx).map(Ok),
            false => Poll::Ready(Ok(())),
        }
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
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_timed_here_while_a_request_is_served_or_awaited() {
        let (mut io, mut theirs, phase) = pair();
        theirs.write_all(b"GET").await.unwrap();
        for _ in 0..3 {
            io.read_u8().await.unwrap();
        }
        phase.serve();
        let read = tokio::time::timeout(secs(3600), io.read_u8()).await;
        assert!(read.is_err(), "still waiting after an hour");
        phase.wait();
        let read = tokio::time::timeout(secs(3600), io.read_u8()).await;
        assert!(read.is_err(), "the registry looks after it");
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
        assert!(phase.is_writing());
        reader.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_is_still_sending_is_heard_out_for_a_while() {
        let (mut io, mut theirs, phase) = pair();
        phase.serve();
        phase.leave_unread();
        let client = tokio::spawn(async move {
            for _ in 0..100 {
                theirs.write_all(&[0; 1000]).await.unwrap();
            }
            assert_eq!(theirs.read(&mut [0; 8]).await.unwrap(), 0, "our end came");
        });
        io.shutdown().await.unwrap();
        client.await.unwrap();

        let (mut io, _theirs, phase) = pair();
        phase.leave_unread();
        let started = Instant::now();
        io.shutdown().await.unwrap();
        assert_about(started.elapsed(), LINGER);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_has_sent_everything_is_not_waited_for() {
        let (mut io, _theirs, phase) = pair();
        phase.leave_unread();
        phase.serve();
        let started = Instant::now();
        io.shutdown().await.unwrap();
        assert_eq!(started.elapsed(), Duration::ZERO);
    }
}
