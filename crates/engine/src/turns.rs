//! Turns: whoever changes something by reading it, deciding, and writing on condition that nobody
//! was faster waits here for the others who do, instead of being outrun by them.
//!
//! A turn is a courtesy within this process. That nothing is lost rests on the conditions alone;
//! writers of other servers, and those who write without reading, are met with pauses that grow and
//! differ. How long somebody goes on is bounded by time, because a count of tries says nothing
//! about how many others there are.

use crate::seam::Seams;
use crate::{Engine, Error, Place, Result};
use loci_model::StoreId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep, timeout_at};

/// How long somebody waits and tries altogether.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest pause before the second try, in microseconds; it doubles with each.
const PAUSE_MICROS: u64 = 1000;
/// The longest pause of all.
const PAUSE_MICROS_MAX: u64 = 200_000;
const TOO_BUSY: Error = Error::Unavailable("others change this all the time; try again");

/// A thing of a store, or an address.
type Key = (Option<StoreId>, String);
type Lock = Arc<tokio::sync::Mutex<()>>;

/// Who waits for what. What nobody waits for is not kept.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<Key, Lock>>);

/// Somebody's turn, until it is dropped.
pub struct Turn {
    /// Held for its end: the queue moves on when this goes.
    _queued: Queued,
    deadline: Instant,
    tries: u32,
    seams: Seams,
}

/// A place in a queue, the first of which holds the lock.
struct Queued {
    turns: Arc<Turns>,
    key: Key,
    lock: Option<Lock>,
    held: Option<OwnedMutexGuard<()>>,
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.held = None;
        self.lock = None;
        let mut locks = self.turns.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever comes takes its part under this lock, so a count of one stays one.
        if locks.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.key);
        }
    }
}

impl Engine {
    /// Waits until nobody else in this process is changing the same thing of a store in turn.
    pub async fn turn(&self, store: StoreId, what: &str) -> Result<Turn> {
        self.turn_of((Some(store), what.to_owned())).await
    }

    /// The same for a place of the caller's own, whose store may not have been made yet.
    pub async fn turn_at(&self, place: &Place) -> Result<Turn> {
        self.turn_of((None, place.own.as_str().to_owned())).await
    }

    async fn turn_of(&self, key: Key) -> Result<Turn> {
        let deadline = Instant::now() + PATIENCE;
        let lock = {
            let mut locks = self.turns.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(key.clone()).or_default())
        };
        let waiting = Arc::clone(&lock).lock_owned();
        let turns = Arc::clone(&self.turns);
        let mut queued = Queued { turns, key, lock: Some(lock), held: None };
        queued.held = Some(timeout_at(deadline, waiting).await.map_err(|_| TOO_BUSY)?);
        Ok(Turn { _queued: queued, deadline, tries: 0, seams: self.seams.clone() })
    }
}

impl Turn {
    /// How often it was tried in vain.
    pub fn tries(&self) -> u32 {
        self.tries
    }

    /// Pauses before another try, because somebody was faster all the same; refuses when that went
    /// on for too long.
    pub async fn again(&mut self) -> Result<()> {
        if Instant::now() >= self.deadline {
            return Err(TOO_BUSY);
        }
        let longest = PAUSE_MICROS.saturating_mul(1 << self.tries.min(20)).min(PAUSE_MICROS_MAX);
        let mut random = [0; 8];
        self.seams.fill(&mut random);
        sleep(Duration::from_micros(u64::from_le_bytes(random) % longest)).await;
        self.tries += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_storage_memory::MemStorage;

    fn engine() -> Engine {
        Engine::new(Arc::new(MemStorage::new()), Seams::real())
    }

    #[tokio::test]
    async fn one_at_a_time_and_nothing_is_kept() {
        let engine = engine();
        let (store, other) = (StoreId::from_u128(1), StoreId::from_u128(2));
        let first = engine.turn(store, "/a").await.unwrap();
        let beside = engine.turn(store, "/b").await.unwrap();
        let elsewhere = engine.turn(other, "/a").await.unwrap();
        let mut second = Box::pin(engine.turn(store, "/a"));
        let waited = tokio::time::timeout(Duration::from_millis(20), &mut second).await;
        assert!(waited.is_err(), "not while the first one is at it");
        let third = Box::pin(engine.turn(store, "/a"));
        assert!(tokio::time::timeout(Duration::from_millis(1), third).await.is_err(), "gave up");
        drop((first, beside, elsewhere));
        drop(second.await.unwrap());
        assert!(engine.turns.0.lock().unwrap().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends() {
        let engine = engine();
        let store = StoreId::from_u128(1);
        let mut turn = engine.turn(store, "/a").await.unwrap();
        assert!(matches!(engine.turn(store, "/a").await, Err(Error::Unavailable(_))));
        assert!(matches!(turn.again().await, Err(Error::Unavailable(_))));
        drop(turn);
        let mut turn = engine.turn(store, "/a").await.unwrap();
        let began = Instant::now();
        while turn.again().await.is_ok() {}
        let took = began.elapsed();
        assert!(took >= PATIENCE && took < 2 * PATIENCE && turn.tries() > 20, "{took:?}");
        drop(turn);
        assert!(engine.turns.0.lock().unwrap().is_empty());
    }
}
