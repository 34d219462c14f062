//! The signals that mean stop: of a service manager, and of a person at a terminal.

use crate::exit::Failure;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that mean stop, caught from now on.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(crate) fn catch() -> Result<Self, Failure> {
        let catch =
            |kind| signal(kind).map_err(|error| Failure::io("cannot catch signals", &error));
        Ok(Self {
            terminate: catch(SignalKind::terminate())?,
            interrupt: catch(SignalKind::interrupt())?,
        })
    }

    /// Waits for one, and names it.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
