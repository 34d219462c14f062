//! Where a connection stands between two requests or inside one: what its timers go by.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Where a connection stands. Set by the socket (first byte) and by the service (request, end of
/// answer), which run in the same task.
#[derive(Clone)]
pub(crate) struct Phase(Arc<Standing>);

struct Standing {
    phase: AtomicU8,
    /// Whether the body of the newest request was given up before its end.
    is_unread: AtomicBool,
}

/// Opened, and not one whole request yet.
pub(crate) const FRESH: u8 = 0;
/// Between requests.
pub(crate) const WAITING: u8 = 1;
/// In the headers of a request.
pub(crate) const HEADERS: u8 = 2;
/// From the end of the headers to the end of the answer.
pub(crate) const SERVING: u8 = 3;

impl Phase {
    pub(crate) fn fresh() -> Self {
        let (phase, is_unread) = (AtomicU8::new(FRESH), AtomicBool::new(false));
        Self(Arc::new(Standing { phase, is_unread }))
    }

    /// A request's headers are complete.
    pub(crate) fn serve(&self) {
        self.0.is_unread.store(false, Ordering::Relaxed);
        self.set(SERVING);
    }

    /// The rest of the request's body is not going to be read.
    pub(crate) fn leave_unread(&self) {
        self.0.is_unread.store(true, Ordering::Relaxed);
    }

    /// Whether the client may still be sending what nobody will read.
    pub(crate) fn is_unread(&self) -> bool {
        self.0.is_unread.load(Ordering::Relaxed)
    }

    /// The answer is out of our hands.
    pub(crate) fn wait(&self) {
        self.set(WAITING);
    }

    /// Whether a request is under way, or may be on its way to us.
    pub(crate) fn is_fresh(&self) -> bool {
        self.get() == FRESH
    }

    pub(crate) fn get(&self) -> u8 {
        self.0.phase.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, phase: u8) {
        self.0.phase.store(phase, Ordering::Relaxed);
    }
}
