//! A world that can be built again: every step that made it is kept with its time and ids, so that
//! the same world without some of its memories and stores is the same steps without those. What is
//! left has the same ids, times, revisions and vectors in both.

use crate::embedder::WordSum;
use loci_engine::seam::Seams;
use loci_engine::search::SearchOptions;
use loci_engine::{Context, Engine};
use loci_model::policy::System;
use loci_model::{
    Caller, Cause, Grant, GrantId, Grantee, MemoryId, PrincipalId, RequestId, Session, Store,
    StoreId, Timestamp, VersionId, WorkspaceId,
};
use loci_storage::{Batch, Mutation, StampedEdit, Storage};
use loci_storage_memory::MemStorage;
use loci_test_kit::HandClock;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// One thing that happened.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    CreateStore(Store),
    RemoveStore(StoreId),
    Share(Grant),
    Revoke(StoreId, Grantee, GrantId),
    OpenSession(Session),
    /// An edit of one memory, by its store and id.
    Edit(StoreId, MemoryId, PrincipalId, Box<StampedEdit>),
    Erase(StoreId, MemoryId, VersionId),
    /// The sweeper removes what has expired.
    Expire(StoreId, MemoryId, VersionId),
    /// The background work makes all vectors that are missing.
    Follow,
}

/// A step and when it was taken.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) at: Timestamp,
    pub(crate) step: Step,
}

pub(crate) struct World {
    storage: Arc<MemStorage>,
    pub(crate) engine: Engine,
    clock: Arc<HandClock>,
    /// Which workspace each store was made in.
    homes: Mutex<BTreeMap<StoreId, WorkspaceId>>,
}

impl World {
    pub(crate) fn new(index_bytes_max: usize) -> Self {
        let storage = Arc::new(MemStorage::new());
        let clock = Arc::new(HandClock::new(Timestamp::from_micros(0)));
        let seams = Seams::new(clock.clone(), Arc::new(|buffer: &mut [u8]| buffer.fill(7)));
        let options = SearchOptions {
            embedders: vec![Arc::new(WordSum::new("words", 16))],
            index_bytes_max,
            ..SearchOptions::default()
        };
        let engine = Engine::new(storage.clone(), seams).with_search(options);
        // How often somebody asked is not what a world is compared by.
        let engine = engine.with_guarded_searches(u32::MAX, u32::MAX);
        Self { storage, engine, clock, homes: Mutex::default() }
    }

    /// Takes the steps again, or what is to be kept of them.
    pub(crate) async fn replay(
        log: &[Entry],
        now: Timestamp,
        keep: impl Fn(&Step) -> Option<Step>,
    ) -> Self {
        let world = Self::new(usize::MAX);
        for entry in log {
            if let Some(step) = keep(&entry.step) {
                world.take(&Entry { at: entry.at, step }).await;
            }
        }
        world.set_clock(now);
        world
    }

    pub(crate) fn set_clock(&self, now: Timestamp) {
        self.clock.set(now);
    }

    pub(crate) async fn take(&self, entry: &Entry) {
        let now = entry.at;
        self.set_clock(now);
        let system = System::because("the test makes its world");
        let home = |store: StoreId| self.homes.lock().unwrap()[&store];
        let mutation = match entry.step.clone() {
            Step::CreateStore(store) => {
                self.homes.lock().unwrap().insert(store.id, store.workspace);
                Mutation::CreateStore(store)
            }
            Step::RemoveStore(store) => {
                Mutation::RemoveStore(system.manage(home(store), store, now))
            }
            Step::Share(grant) => {
                let workspace = home(grant.store);
                Mutation::Share(system.share(workspace, grant.store, grant.given_by, now), grant)
            }
            Step::Revoke(store, _, grant) => {
                let nobody = PrincipalId::from_u128(0);
                Mutation::Revoke(system.share(home(store), store, nobody, now), grant)
            }
            Step::OpenSession(session) => Mutation::CreateSession(session),
            Step::Edit(store, _, writer, edit) => {
                let batch = Batch { edits: vec![*edit], cause: Cause::new(None, "test") };
                Mutation::Commit(system.write(home(store), store, writer, now), batch)
            }
            Step::Erase(store, memory, version) => {
                Mutation::Erase { pass: system.manage(home(store), store, now), memory, version }
            }
            Step::Expire(store, memory, version) => {
                let pass = system.write(home(store), store, PrincipalId::from_u128(0), now);
                Mutation::Expire { pass, memory, version }
            }
            Step::Follow => {
                while self.engine.follow_once().await.unwrap() {}
                return;
            }
        };
        self.storage.write(mutation, None).await.unwrap();
    }

    pub(crate) fn context(&self, caller: &Caller) -> Context {
        Context { caller: caller.clone(), request: RequestId::from_u128(1), idempotency: None }
    }
}
