//! Callers whose answer waits for a scrub. The writer goes on meanwhile: each of them is answered once
//! the old bytes are gone, or at its own deadline told to ask again.
//!
//! All wait equally long, so the first in the queue is the first whose deadline comes.

use loci_storage::{Applied, StorageError};
use std::collections::VecDeque;
use std::time::Instant;
use tokio::sync::oneshot;

/// More callers than this are not kept waiting, but told to ask again at once.
const CALLERS_MAX: usize = 4096;

/// An answer that is held back.
pub(crate) enum Held {
    /// Of a mutation that scrubs, and is durable.
    Write(oneshot::Sender<loci_storage::Result<Applied>>, Box<Applied>),
    /// Of a request to settle.
    Settle(oneshot::Sender<loci_storage::Result<()>>),
}

impl Held {
    /// Answers; a caller that went away wants no answer.
    pub(crate) fn send(self, is_scrubbed: bool) {
        match self {
            Self::Write(answer, applied) => {
                let _ = answer.send(said(is_scrubbed, *applied));
            }
            Self::Settle(answer) => {
                let _ = answer.send(said(is_scrubbed, ()));
            }
        }
    }
}

fn said<T>(is_scrubbed: bool, value: T) -> loci_storage::Result<T> {
    if is_scrubbed { Ok(value) } else { Err(StorageError::ScrubPending) }
}

/// The callers, in the order of their deadlines.
#[derive(Default)]
pub(crate) struct Waiting(VecDeque<(Instant, Held)>);

impl Waiting {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When the first of them has waited long enough.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.0.front().map(|(deadline, _)| *deadline)
    }

    /// Lets a caller wait until `deadline`, which is no earlier than any before.
    pub(crate) fn push(&mut self, deadline: Instant, held: Held) {
        if self.0.len() < CALLERS_MAX {
            self.0.push_back((deadline, held));
        } else {
            held.send(false);
        }
    }

    /// Answers those whose deadline has come.
    pub(crate) fn give_up(&mut self, now: Instant) {
        while self.deadline().is_some_and(|deadline| deadline <= now) {
            if let Some((_, held)) = self.0.pop_front() {
                held.send(false);
            }
        }
    }

    /// Answers all of them.
    pub(crate) fn answer_all(&mut self, is_scrubbed: bool) {
        for (_, held) in self.0.drain(..) {
            held.send(is_scrubbed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn each_is_answered_at_its_own_deadline() {
        let mut waiting = Waiting::default();
        let start = Instant::now();
        let at = |secs| start + Duration::from_secs(secs);
        let (first, mut answered_first) = oneshot::channel();
        let (second, mut answered_second) = oneshot::channel();
        waiting.push(at(1), Held::Settle(first));
        waiting.push(at(2), Held::Settle(second));
        waiting.give_up(start);
        assert!(answered_first.try_recv().is_err(), "its time has not come");
        waiting.give_up(at(1));
        assert!(matches!(answered_first.try_recv(), Ok(Err(StorageError::ScrubPending))));
        assert_eq!(waiting.deadline(), Some(at(2)));
        waiting.answer_all(true);
        assert!(matches!(answered_second.try_recv(), Ok(Ok(()))));
        assert!(waiting.is_empty());
    }

    #[tokio::test]
    async fn no_more_than_so_many_wait() {
        let mut waiting = Waiting::default();
        let deadline = Instant::now() + Duration::from_secs(3600);
        for _ in 0..CALLERS_MAX {
            waiting.push(deadline, Held::Settle(oneshot::channel().0));
        }
        let (answer, mut answered) = oneshot::channel();
        waiting.push(deadline, Held::Settle(answer));
        assert!(matches!(answered.try_recv(), Ok(Err(StorageError::ScrubPending))));
    }
}
