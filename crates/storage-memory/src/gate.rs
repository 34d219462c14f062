//! A write that waits until its test lets it go, so that what happens between two steps of a request can
//! be put in an order of the test's choosing.

use super::UNPOISONED;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// Where one write waits.
#[derive(Clone, Default)]
pub struct Gate(Arc<Mutex<Place>>);

#[derive(Default)]
struct Place {
    is_reached: bool,
    is_open: bool,
    waiting: Option<Waker>,
}

impl Gate {
    /// Whether the write has come here.
    pub fn is_reached(&self) -> bool {
        self.0.lock().expect(UNPOISONED).is_reached
    }

    /// Lets the write go on.
    pub fn open(&self) {
        let mut place = self.0.lock().expect(UNPOISONED);
        place.is_open = true;
        if let Some(waiting) = place.waiting.take() {
            waiting.wake();
        }
    }

    pub(super) async fn pass(&self) {
        poll_fn(|context| {
            let mut place = self.0.lock().expect(UNPOISONED);
            place.is_reached = true;
            if place.is_open {
                return Poll::Ready(());
            }
            place.waiting = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
