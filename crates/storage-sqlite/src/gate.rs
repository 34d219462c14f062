//! Which copies of the database are being made or sent. A copy that was begun before a redaction may
//! hold what was redacted, so the redaction is not answered while it is there; one that was begun
//! later holds nothing of it and delays nobody.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts copies and knows those that are still there.
#[derive(Default)]
pub(crate) struct Gate {
    copies: Mutex<Copies>,
}

#[derive(Default)]
struct Copies {
    next: u64,
    open: BTreeSet<u64>,
}

impl Gate {
    /// Notes that a copy is begun; it is there until the guard is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> OpenCopy {
        let mut copies = self.lock();
        let number = copies.next;
        copies.next += 1;
        copies.open.insert(number);
        drop(copies);
        OpenCopy { gate: Arc::clone(self), number }
    }

    /// The number of the next copy: those begun before now have smaller ones.
    pub(crate) fn next(&self) -> u64 {
        self.lock().next
    }

    /// Whether a copy with a smaller number is still there.
    pub(crate) fn has_before(&self, number: u64) -> bool {
        self.lock().open.first().is_some_and(|first| *first < number)
    }

    fn lock(&self) -> MutexGuard<'_, Copies> {
        // Every change of the numbers is one step, so a panic elsewhere left nothing half done.
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A copy that is being made or sent.
pub(crate) struct OpenCopy {
    gate: Arc<Gate>,
    number: u64,
}

impl Drop for OpenCopy {
    fn drop(&mut self) {
        self.gate.lock().open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_copies_begun_before_are_waited_for() {
        let gate = Arc::new(Gate::default());
        let first = gate.begin();
        let mark = gate.next();
        let later = gate.begin();
        assert!(gate.has_before(mark));
        drop(first);
        assert!(!gate.has_before(mark), "the later copy holds nothing of it");
        assert!(gate.has_before(gate.next()));
        drop(later);
        assert!(!gate.has_before(gate.next()));
    }
}
