//! The connections of one listener, and which of them end because nothing happens on them.
//!
//! Nothing is armed for a request: the registry looks at all connections now and then, notes which
//! of them did anything since, and tells those to end that have waited too long between requests.
//! When all places are taken, the connections that did nothing for longest give theirs to
//! newcomers, a few at a time, so that a crowd of newcomers does not cost a look at all connections
//! each. A connection ends in its own task, and only if nothing has happened since the look. Who is
//! taking an answer is busy, however slowly it is taken; but only those who showed a credential keep
//! their place by that while others want it.

use crate::HttpOptions;
use crate::phase::{FRESH, HEADERS, Order, Phase, WAITING};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Looks in one idle timeout.
const LOOKS: u32 = 16;
/// The shortest and the longest pause between two looks.
const PAUSES: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];
/// For how long a connection without a whole request keeps its place while others want it.
const BEGIN_GRACE: Duration = Duration::from_secs(1);
/// For how long a stranger who is taking one answer keeps its place while others want it. What is
/// there without a credential is some hundred kilobytes at most.
const STRANGER_GRACE: Duration = Duration::from_secs(10);
/// Between two looks for places to give away.
const ROOM_PAUSE: Duration = Duration::from_millis(50);
/// Connections that give their place away after one look: the share of all, and the most.
const MADE_ROOM_SHARE: usize = 64;
const MADE_ROOM_MAX: usize = 32;

/// Whether a connection is served or only told to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    Served,
    Crowded,
}

/// All connections of a listener.
pub(crate) struct Registry {
    idle_max: Duration,
    /// For connections without a whole request whose own timer did not end them.
    begin_max: Duration,
    made_room_max: usize,
    seats: Mutex<Seats>,
    left: Notify,
}

#[derive(Default)]
struct Seats {
    entries: HashMap<u64, Entry>,
    next: u64,
    /// Connections that were told to retire and have not left.
    retiring: usize,
    /// Newcomers that wait for a place.
    awaiting: usize,
    searched: Option<Instant>,
}

struct Entry {
    phase: Phase,
    room: Room,
    /// The stamp of the phase at the last look.
    stamp: u32,
    /// When that stamp was seen first.
    since: Instant,
    /// The answer that a stranger was taking at the last look, and when it was seen first.
    answer: Option<(u32, Instant)>,
    is_retiring: bool,
}

impl Registry {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        Self {
            idle_max: options.idle_timeout,
            begin_max: options.header_timeout + options.body_idle_timeout,
            made_room_max: (options.connections_max / MADE_ROOM_SHARE).clamp(1, MADE_ROOM_MAX),
            seats: Mutex::default(),
            left: Notify::new(),
        }
    }

    /// The pause between two looks.
    pub(crate) fn pause(&self) -> Duration {
        let [shortest, longest] = PAUSES;
        (self.idle_max / LOOKS).clamp(shortest, longest)
    }

    /// Takes a connection in.
    pub(crate) fn seat(self: &Arc<Self>, phase: &Phase, room: Room, now: Instant) -> Seat {
        let mut seats = self.lock();
        let number = seats.next;
        seats.next += 1;
        let (phase, stamp) = (phase.clone(), phase.stamp());
        let entry = Entry { phase, room, stamp, since: now, answer: None, is_retiring: false };
        seats.entries.insert(number, entry);
        Seat { registry: Arc::clone(self), number }
    }

    /// Tells those connections to end that have done nothing for too long.
    pub(crate) fn look(&self, now: Instant) {
        let Seats { entries, retiring, .. } = &mut *self.lock();
        for entry in entries.values_mut() {
            let quiet = entry.quiet_at(now);
            match entry.phase.get() {
                WAITING if quiet >= self.idle_max => entry.retire(retiring),
                FRESH | HEADERS if quiet >= self.begin_max => entry.phase.tell(Order::Now),
                _ => {}
            }
        }
    }

    /// Finds a place for a newcomer when all are taken: the newcomer may wait for one while it
    /// holds what this gives back. `None` when all connections are busy.
    pub(crate) fn make_room(self: &Arc<Self>, now: Instant) -> Option<Awaiting> {
        let seats = &mut *self.lock();
        let is_due = seats.searched.is_none_or(|at| now.duration_since(at) >= ROOM_PAUSE);
        if seats.retiring <= seats.awaiting && is_due {
            seats.searched = Some(now);
            seats.retire_some(now, self.made_room_max);
        }
        (seats.retiring > seats.awaiting).then(|| {
            seats.awaiting += 1;
            Awaiting(Arc::clone(self))
        })
    }

    /// Tells all connections the same.
    pub(crate) fn tell_all(&self, order: Order) {
        self.lock().entries.values().for_each(|entry| entry.phase.tell(order));
    }

    /// Resolves when no connection is left.
    pub(crate) async fn all_left(&self) {
        loop {
            let left = self.left.notified();
            if self.lock().entries.is_empty() {
                return;
            }
            left.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seats {
    /// Tells the connections to retire that can best be missed.
    fn retire_some(&mut self, now: Instant, count: usize) {
        let Self { entries, retiring, .. } = self;
        let mut missed: Vec<(u8, Instant, u64)> = Vec::new();
        for (number, entry) in &mut *entries {
            let quiet = entry.quiet_at(now);
            if let Some(rank) = entry.rank(quiet, now) {
                missed.push((rank, entry.since, *number));
            }
        }
        if missed.len() > count {
            missed.select_nth_unstable(count);
            missed.truncate(count);
        }
        for (_, _, number) in missed {
            match entries.get_mut(&number) {
                Some(entry) if entry.phase.is_writing() => entry.cut(retiring),
                Some(entry) => entry.retire(retiring),
                None => {}
            }
        }
    }
}

impl Entry {
    /// For how long nothing has happened, as far as looks can tell.
    fn quiet_at(&mut self, now: Instant) -> Duration {
        let stamp = self.phase.stamp();
        if stamp != self.stamp || self.phase.is_writing() {
            (self.stamp, self.since) = (stamp, now);
        }
        let seen = self.answer;
        self.answer = self.phase.strangers_answer().map(|answer| match seen {
            Some((same, since)) if same == answer => (same, since),
            _ => (answer, now),
        });
        now.duration_since(self.since)
    }

    /// How well the connection can be missed, 0 best; `None` when it is busy or about to end. Who
    /// waits between requests for long goes first, then who opened a connection and asks nothing,
    /// then who has just been answered, then the stranger who does not come to an end of an answer.
    fn rank(&self, quiet: Duration, now: Instant) -> Option<u8> {
        let is_begun = quiet >= BEGIN_GRACE;
        let is_ending = self.is_retiring || self.room == Room::Crowded || self.phase.is_unread();
        let taking = self.answer.map(|(_, since)| now.duration_since(since));
        match self.phase.get() {
            _ if is_ending => None,
            _ if taking.is_some_and(|taking| taking >= STRANGER_GRACE) => Some(4),
            _ if self.phase.is_writing() => None,
            WAITING if is_begun => Some(0),
            FRESH if is_begun => Some(1),
            HEADERS if is_begun => Some(2),
            WAITING => Some(3),
            _ => None,
        }
    }

    fn retire(&mut self, retiring: &mut usize) {
        self.leave(retiring);
        self.phase.retire(self.stamp);
    }

    /// Ends an answer that is under way.
    fn cut(&mut self, retiring: &mut usize) {
        self.leave(retiring);
        self.phase.tell(Order::Now);
    }

    fn leave(&mut self, retiring: &mut usize) {
        if !self.is_retiring {
            self.is_retiring = true;
            *retiring += usize::from(self.room == Room::Served);
        }
    }
}

/// The entry of a connection; the connection leaves when it is dropped.
pub(crate) struct Seat {
    registry: Arc<Registry>,
    number: u64,
}

impl Seat {
    /// The connection is served from now on.
    pub(crate) fn serve(&self) {
        if let Some(entry) = self.registry.lock().entries.get_mut(&self.number) {
            entry.room = Room::Served;
        }
    }

    /// The connection does not retire: something has happened.
    pub(crate) fn spare(&self) {
        let Seats { entries, retiring, .. } = &mut *self.registry.lock();
        if let Some(entry) = entries.get_mut(&self.number) {
            entry.phase.spare();
            if std::mem::take(&mut entry.is_retiring) {
                *retiring -= usize::from(entry.room == Room::Served);
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Seats { entries, retiring, .. } = &mut *self.registry.lock();
        if let Some(entry) = entries.remove(&self.number) {
            *retiring -= usize::from(entry.is_retiring && entry.room == Room::Served);
        }
        if entries.is_empty() {
            self.registry.left.notify_waiters();
        }
    }
}

/// A newcomer that waits for the place of a connection that retires.
pub(crate) struct Awaiting(Arc<Registry>);

impl Drop for Awaiting {
    fn drop(&mut self) {
        self.0.lock().awaiting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    fn registry(connections_max: usize) -> Arc<Registry> {
        let options = HttpOptions { connections_max, ..HttpOptions::default() };
        Arc::new(Registry::new(&options))
    }

    fn seated(registry: &Arc<Registry>, now: Instant) -> (Phase, Seat) {
        let phase = Phase::fresh();
        let seat = registry.seat(&phase, Room::Served, now);
        (phase, seat)
    }

    async fn is_told(phase: &Phase, order: Order) -> bool {
        let told = tokio::time::timeout(Duration::ZERO, phase.told_more_than(Order::Stay));
        told.await.unwrap_or(Order::Stay) == order
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_longer_than_the_idle_timeout_retires() {
        let (registry, began) = (registry(10), Instant::now());
        let (waiting, _seat) = seated(&registry, began);
        let (busy, _other) = seated(&registry, began);
        let (writing, _third) = seated(&registry, began);
        for phase in [&waiting, &busy, &writing] {
            phase.serve();
        }
        waiting.wait();
        writing.wait();
        writing.set_writing(true);
        for second in 1..=75 {
            registry.look(began + secs(second));
        }
        assert!(is_told(&waiting, Order::Stay).await, "first seen a second after it began");
        registry.look(began + secs(76));
        assert!(is_told(&waiting, Order::Retire).await && waiting.may_retire());
        assert!(is_told(&busy, Order::Stay).await && is_told(&writing, Order::Stay).await);
        writing.set_writing(false);
        for second in 77..=152 {
            registry.look(began + secs(second));
        }
        assert!(is_told(&writing, Order::Retire).await, "the answer is taken, then it waits, too");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_came_after_the_look_is_answered() {
        let (registry, began) = (registry(10), Instant::now());
        let (phase, seat) = seated(&registry, began);
        phase.wait();
        registry.look(began);
        registry.look(began + secs(75));
        assert!(is_told(&phase, Order::Retire).await);
        phase.serve();
        assert!(!phase.may_retire());
        seat.spare();
        assert!(is_told(&phase, Order::Stay).await);
        assert_eq!(registry.lock().retiring, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn headers_that_nobody_times_end_all_the_same() {
        let (registry, began) = (registry(10), Instant::now());
        let (fresh, _seat) = seated(&registry, began);
        let (slow, _other) = seated(&registry, began);
        slow.set(HEADERS);
        registry.look(began);
        registry.look(began + secs(19));
        assert!(is_told(&fresh, Order::Stay).await && is_told(&slow, Order::Stay).await);
        registry.look(began + secs(20));
        assert!(is_told(&fresh, Order::Now).await && is_told(&slow, Order::Now).await);
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_give_their_places_away() {
        let (registry, began) = (registry(64), Instant::now());
        let (fresh, _seat) = seated(&registry, began);
        let (idle, idle_seat) = seated(&registry, began);
        let (idler, idler_seat) = seated(&registry, began);
        let (busy, _other) = seated(&registry, began);
        busy.serve();
        idler.wait();
        registry.look(began);
        idle.wait();
        registry.look(began + secs(1));
        let now = began + secs(3);
        let first = registry.make_room(now).unwrap();
        assert!(is_told(&idler, Order::Retire).await && is_told(&idle, Order::Stay).await);
        assert!(registry.make_room(now).is_none(), "one look makes room for one, of 64 places");
        drop((first, idler_seat));
        let later = now + ROOM_PAUSE;
        let second = registry.make_room(later).unwrap();
        assert!(is_told(&idle, Order::Retire).await && is_told(&fresh, Order::Stay).await);
        let third = registry.make_room(later + ROOM_PAUSE).unwrap();
        assert!(is_told(&fresh, Order::Retire).await);
        assert!(registry.make_room(later + 2 * ROOM_PAUSE).is_none(), "the last one is busy");
        assert!(is_told(&busy, Order::Stay).await);
        drop((second, third, idle_seat));
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_newcomers_costs_few_looks() {
        let (registry, began) = (registry(10_000), Instant::now());
        let seated: Vec<_> = (0..100).map(|_| seated(&registry, began)).collect();
        seated.iter().for_each(|(phase, _)| phase.wait());
        registry.look(began);
        let now = began + secs(10);
        let awaiting: Vec<_> = (0..100).filter_map(|_| registry.make_room(now)).collect();
        assert_eq!(awaiting.len(), MADE_ROOM_MAX);
        assert_eq!(registry.lock().retiring, MADE_ROOM_MAX);
        drop(awaiting);
        let again: Vec<_> = (0..100).filter_map(|_| registry.make_room(now)).collect();
        assert_eq!(again.len(), MADE_ROOM_MAX, "those who retire make room once");
    }

    #[tokio::test(start_paused = true)]
    async fn all_left_waits_for_the_last() {
        let registry = registry(10);
        let (_, seat) = seated(&registry, Instant::now());
        assert!(tokio::time::timeout(secs(1), registry.all_left()).await.is_err());
        let waiting = registry.all_left();
        drop(seat);
        waiting.await;
    }
}
