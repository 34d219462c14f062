//! Where a connection stands between two requests or inside one, and what its listener tells it to
//! do.
//!
//! The task of the connection writes where it stands; the registry of the listener reads it now and
//! then ([`crate::registry`]). So a request costs a few stores into memory of its own connection,
//! and no timer and no clock.

use futures_util::task::AtomicWaker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::task::{Context, Poll};

/// Where a connection stands. Set by the socket (first byte) and by the service (request, end of
/// answer), which run in the same task.
#[derive(Clone)]
pub(crate) struct Phase(Arc<Standing>);

struct Standing {
    /// The phase in the lowest bits; the bits above count how often something happened.
    stamp: AtomicU32,
    /// Whether the body of the newest request was given up before its end.
    is_unread: AtomicBool,
    /// Whether something is written that the client does not take yet.
    is_writing: AtomicBool,
    /// Counts answers in the upper bits; the lowest says whether the newest is a stranger's.
    answer: AtomicU32,
    order: AtomicU8,
    /// The stamp of the moment for which the connection was told to retire.
    retired_at: AtomicU32,
    waker: AtomicWaker,
}

/// Opened, and not one whole request yet.
pub(crate) const FRESH: u8 = 0;
/// Between requests.
pub(crate) const WAITING: u8 = 1;
/// In the headers of a request.
pub(crate) const HEADERS: u8 = 2;
/// From the end of the headers to the end of the answer.
pub(crate) const SERVING: u8 = 3;

const PHASE_BITS: u32 = 2;

/// What a connection is told to do; a later one goes before an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    /// Go on.
    Stay,
    /// End, if nothing has happened since the listener looked.
    Retire,
    /// End as soon as the request under way is answered.
    Drain,
    /// End.
    Now,
}

impl Order {
    fn of(number: u8) -> Self {
        [Self::Stay, Self::Retire, Self::Drain, Self::Now][usize::from(number.min(3))]
    }
}

impl Phase {
    pub(crate) fn fresh() -> Self {
        Self(Arc::new(Standing {
            stamp: AtomicU32::new(u32::from(FRESH)),
            is_unread: AtomicBool::new(false),
            is_writing: AtomicBool::new(false),
            answer: AtomicU32::new(0),
            order: AtomicU8::new(Order::Stay as u8),
            retired_at: AtomicU32::new(0),
            waker: AtomicWaker::new(),
        }))
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
        let low = self.stamp() & ((1 << PHASE_BITS) - 1);
        u8::try_from(low).expect("two bits are a byte")
    }

    pub(crate) fn set(&self, phase: u8) {
        let count = (self.stamp() >> PHASE_BITS).wrapping_add(1) << PHASE_BITS;
        self.0.stamp.store(count | u32::from(phase), Ordering::Relaxed);
    }

    /// Changes whenever something happens.
    pub(crate) fn stamp(&self) -> u32 {
        self.0.stamp.load(Ordering::Relaxed)
    }

    /// A write has to wait for the client, or has gone on.
    pub(crate) fn set_writing(&self, is_writing: bool) {
        self.0.is_writing.store(is_writing, Ordering::Relaxed);
        self.set(self.get());
    }

    /// Whether a write waits for the client: the answer is on its way, whatever the phase says.
    pub(crate) fn is_writing(&self) -> bool {
        self.0.is_writing.load(Ordering::Relaxed)
    }

    /// An answer begins, to somebody who showed a credential or to a stranger.
    pub(crate) fn answer(&self, is_stranger: bool) {
        let count = (self.0.answer.load(Ordering::Relaxed) | 1).wrapping_add(1);
        self.0.answer.store(count | u32::from(is_stranger), Ordering::Relaxed);
    }

    /// The answer to a stranger that the client does not take yet, if there is one.
    pub(crate) fn strangers_answer(&self) -> Option<u32> {
        let answer = self.0.answer.load(Ordering::Relaxed);
        (answer & 1 == 1 && self.is_writing()).then_some(answer)
    }

    /// Tells the connection what to do.
    pub(crate) fn tell(&self, order: Order) {
        self.0.order.fetch_max(order as u8, Ordering::Release);
        self.0.waker.wake();
    }

    /// Tells the connection to end if nothing has happened since it had this stamp.
    pub(crate) fn retire(&self, stamp: u32) {
        self.0.retired_at.store(stamp, Ordering::Relaxed);
        self.tell(Order::Retire);
    }

    /// Whether nothing has happened since the connection was told to retire.
    pub(crate) fn may_retire(&self) -> bool {
        self.stamp() == self.0.retired_at.load(Ordering::Relaxed) && !self.is_writing()
    }

    /// Takes the order to retire back.
    pub(crate) fn spare(&self) {
        let (retire, stay) = (Order::Retire as u8, Order::Stay as u8);
        // Another order has come meanwhile, and stands.
        let _ = self.0.order.compare_exchange(retire, stay, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Resolves when the connection is told more than this. To be asked by its own task only.
    pub(crate) async fn told_more_than(&self, heeded: Order) -> Order {
        std::future::poll_fn(|cx| self.poll_order(cx, heeded)).await
    }

    fn poll_order(&self, cx: &Context<'_>, heeded: Order) -> Poll<Order> {
        self.0.waker.register(cx.waker());
        match Order::of(self.0.order.load(Ordering::Acquire)) {
            order if order > heeded => Poll::Ready(order),
            _ => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_changes_with_everything_that_happens() {
        let phase = Phase::fresh();
        let mut stamps = vec![phase.stamp()];
        for step in [Phase::serve, Phase::wait, Phase::wait] {
            step(&phase);
            stamps.push(phase.stamp());
        }
        phase.set_writing(true);
        stamps.push(phase.stamp());
        phase.set_writing(false);
        stamps.push(phase.stamp());
        assert_eq!(phase.get(), WAITING);
        let count = stamps.len();
        stamps.sort_unstable();
        stamps.dedup();
        assert_eq!(stamps.len(), count);
    }

    #[test]
    fn answers_to_strangers_are_told_apart() {
        let phase = Phase::fresh();
        phase.answer(true);
        assert_eq!(phase.strangers_answer(), None, "nothing waits for the client");
        phase.set_writing(true);
        let first = phase.strangers_answer();
        assert!(first.is_some() && first == phase.strangers_answer());
        phase.answer(true);
        assert_ne!(phase.strangers_answer(), first);
        phase.answer(false);
        assert_eq!(phase.strangers_answer(), None);
        phase.0.answer.store(u32::MAX, Ordering::Relaxed);
        phase.answer(true);
        assert_eq!(phase.strangers_answer(), Some(1));
    }

    #[test]
    fn the_count_may_run_over() {
        let phase = Phase::fresh();
        phase.0.stamp.store(u32::MAX, Ordering::Relaxed);
        phase.wait();
        assert_eq!(phase.get(), WAITING);
    }

    #[tokio::test]
    async fn later_orders_go_before_earlier_ones_and_only_retiring_is_taken_back() {
        let phase = Phase::fresh();
        phase.retire(phase.stamp());
        assert!(phase.may_retire());
        phase.serve();
        assert!(!phase.may_retire(), "something happened");
        phase.spare();
        phase.tell(Order::Now);
        phase.tell(Order::Drain);
        phase.spare();
        assert_eq!(phase.told_more_than(Order::Stay).await, Order::Now);
    }
}
