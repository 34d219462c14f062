//! A clock that is set back: what has expired stays expired, and what time opens again opens.

use crate::stage::{Stage, asking, full_key};
use loci_engine::seam::Seams;
use loci_engine::search::Wanted;
use loci_engine::{ClockBehind, Engine, Error, NewGrant, NewKey};
use loci_model::time::Clock;
use loci_model::{Grantee, Level, Timestamp, limit};
use loci_storage::Storage;
use loci_storage_memory::MemStorage;
use loci_test_kit::{HandClock, counting_bytes};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

const HOUR: i64 = 3600;
const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

/// A clock that a test sets, and that runs beside that.
#[derive(Default)]
struct SetClock {
    off_secs: AtomicI64,
    ran_secs: AtomicI64,
}

impl SetClock {
    fn set_back(&self, secs: i64) {
        self.off_secs.fetch_sub(secs, Ordering::SeqCst);
    }

    fn pass(&self, secs: i64) {
        self.ran_secs.fetch_add(secs, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        let ran = self.ran_secs.load(Ordering::SeqCst);
        START.plus_secs(ran + self.off_secs.load(Ordering::SeqCst))
    }

    fn ran(&self) -> Duration {
        Duration::from_secs(self.ran_secs.load(Ordering::SeqCst).unsigned_abs())
    }
}

fn is_shut_out<T>(answer: &Result<T, Error>) -> bool {
    matches!(answer, Err(Error::Unauthenticated(_)))
}

#[tokio::test]
async fn an_expired_key_stays_expired_when_the_clock_goes_back() {
    let stage = Stage::new().await;
    let until = stage.engine.seams().now().plus_secs(60);
    let brief = NewKey { expires_at: Some(until), ..full_key("brief") };
    let (_, secret) = stage.key(brief).await;
    stage.pass_secs(60);
    assert!(is_shut_out(&stage.engine.authenticate(secret.reveal()).await));
    stage.pass_secs(-HOUR);
    assert!(is_shut_out(&stage.engine.authenticate(secret.reveal()).await));
}

#[tokio::test]
async fn a_minute_of_searches_ends_while_the_clock_is_behind() {
    let (storage, clock) = (Arc::new(MemStorage::new()), Arc::new(SetClock::default()));
    let seams = Seams::new(clock.clone(), Arc::new(counting_bytes(1)));
    let engine = Engine::new(storage, seams);
    let start = engine.bootstrap(None).await.unwrap();
    let request = engine.seams().request_id(START);
    let admin =
        loci_engine::Context { caller: engine.local_operator(&start), request, idempotency: None };
    let stage = Stage { engine, clock: Arc::new(HandClock::new(START)), start, admin };
    let store = stage.store("s").await.id;
    stage.put(store, "/1", "tea").await;
    let agent = stage.somebody("agent").await;
    let grantee = Grantee::Principal(agent.caller.principal);
    let grant = NewGrant { grantee, level: Level::Search, expires_at: None };
    stage.engine.share(&stage.admin, store, grant).await.unwrap();
    let request = asking(store, Wanted::new("tea", 1));
    for _ in 0..limit::GUARDED_SEARCHES_PER_MINUTE {
        stage.engine.search(&agent, &request).await.unwrap();
    }
    clock.set_back(HOUR);
    let refused = stage.engine.search(&agent, &request).await.err();
    assert!(matches!(refused, Some(Error::TooMany { after_secs: 60, .. })), "{refused:?}");
    clock.pass(119);
    assert!(stage.engine.search(&agent, &request).await.is_err(), "half speed");
    clock.pass(1);
    stage.engine.search(&agent, &request).await.unwrap();
}

#[tokio::test]
async fn a_restart_goes_on_from_what_was_written_up_to_a_day() {
    let storage: Arc<dyn Storage> = Arc::new(MemStorage::new());
    let clock = Arc::new(HandClock::new(START));
    let engine = || {
        let seams = Seams::new(clock.clone(), Arc::new(counting_bytes(1)));
        Engine::new(Arc::clone(&storage), seams)
    };
    assert_eq!(engine().resume_time().await.unwrap(), None, "nothing is there yet");
    engine().bootstrap(None).await.unwrap();
    let written = storage.default_workspace().await.unwrap().unwrap();
    let written = storage.newest_time(written).await.unwrap();
    assert_eq!(written, Some(START), "keys are in the audit log");
    clock.advance_secs(-24 * HOUR);
    let resumed = engine();
    assert_eq!(resumed.resume_time().await.unwrap(), None);
    assert_eq!(resumed.seams().now(), START);
    clock.advance_secs(-1);
    let (far, clock) = (engine(), clock.now());
    let told = far.resume_time().await.unwrap();
    assert_eq!(told, Some(ClockBehind { clock, written: START }));
    assert_eq!(far.seams().now(), clock, "what to believe is for people to say");
}
