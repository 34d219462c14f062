//! A list that only grows: what is in it stays where it is, so that tasks refer to it without a lock
//! while stores come.

use std::ops::Index;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Chunks, each twice as long as the one before it: more than any process can fill.
const CHUNKS: usize = 32;

/// The list.
pub(crate) struct Lanes<T> {
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS],
    length: Mutex<usize>,
}

/// The chunk of a place, and where in it.
fn chunk(at: usize) -> (usize, usize) {
    let chunk = (at + 1).ilog2() as usize;
    (chunk, at + 1 - (1 << chunk))
}

impl<T> Lanes<T> {
    /// Adds something at the end; says where that is.
    pub(crate) fn push(&self, value: T) -> usize {
        let mut length = self.length.lock().unwrap_or_else(PoisonError::into_inner);
        let (chunk, within) = chunk(*length);
        let slots = self.chunks[chunk]
            .get_or_init(|| (0..1_usize << chunk).map(|_| OnceLock::new()).collect());
        // The slot is empty: under the lock, no other has this place.
        slots[within].get_or_init(|| value);
        *length += 1;
        *length - 1
    }
}

impl<T> FromIterator<T> for Lanes<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let lanes = Self { chunks: Default::default(), length: Mutex::new(0) };
        for value in values {
            lanes.push(value);
        }
        lanes
    }
}

impl<T> Index<usize> for Lanes<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        let (chunk, within) = chunk(at);
        let there = self.chunks[chunk].get().and_then(|slots| slots[within].get());
        there.expect("a place that push gave")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_stays_where_it_is() {
        let lanes: Lanes<usize> = (0..5).collect();
        let first = &lanes[0];
        for n in 5..1000 {
            assert_eq!(lanes.push(n), n);
        }
        assert_eq!(*first, 0);
        assert!((0..1000).all(|n| lanes[n] == n));
    }

    #[test]
    fn several_add_at_once() {
        let lanes: Lanes<usize> = Lanes::from_iter([]);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| assert!(lanes[lanes.push(7)] == 7)));
            }
        });
        assert_eq!(lanes.push(8), 2000);
    }
}
