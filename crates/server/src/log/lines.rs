//! Log lines on their way to standard error, a few at a time. One system call for each request's
//! line would cost a tenth of the server's time; so lines wait for company, but never long, and a
//! warning or an error goes out at once with everything before it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

const LINES_BYTES_MAX: usize = 32 * 1024;
const WAIT_MAX: Duration = Duration::from_millis(100);

/// Lines that wait.
#[derive(Clone, Default)]
pub(super) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// Lines that go out by themselves from time to time.
    pub(super) fn start() -> io::Result<Self> {
        let lines = Self::default();
        let waiting = lines.clone();
        std::thread::Builder::new().name("loci-log".into()).spawn(move || {
            loop {
                std::thread::sleep(WAIT_MAX);
                waiting.send();
            }
        })?;
        Ok(lines)
    }

    /// Sends what waits.
    pub(super) fn send(&self) {
        send(&mut self.waiting());
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn send(waiting: &mut Vec<u8>) {
    if !waiting.is_empty() {
        // There is nowhere left to report a standard error that is closed.
        let _ = io::stderr().write_all(waiting);
        waiting.clear();
    }
}

/// One line being written.
pub(super) struct Line<'a> {
    waiting: MutexGuard<'a, Vec<u8>>,
    is_urgent: bool,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if self.is_urgent || self.waiting.len() >= LINES_BYTES_MAX {
            send(&mut self.waiting);
        }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { waiting: self.waiting(), is_urgent: false }
    }

    fn make_writer_for(&'a self, about: &Metadata<'_>) -> Line<'a> {
        Line { waiting: self.waiting(), is_urgent: *about.level() <= Level::WARN }
    }
}
