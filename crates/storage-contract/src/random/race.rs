//! Many callers at once, on one server or on several that share a database: edits of the same few
//! memories with and without preconditions, batches, moves, removals, redactions, erasures and reads,
//! some of them asked twice under one idempotency key, of two servers. Other stores are filled at the
//! same time.
//!
//! Afterwards everything must have been answered as if it had happened one after the other, in the
//! order of the feed.

use super::dump;
use super::order::{Asked, What, assert_some_order};
use super::pair::{OWNER, WORKSPACE, caller};
use super::plan::{self, EditPlan, PATHS, Who};
use super::side::Side;
use super::stamp::{Stamps, path, pick};
use loci_model::policy::{self, Facts, System};
use loci_model::store::Repeats;
use loci_model::{
    At, Cause, MemoryId, Principal, PrincipalKind, Store, StoreId, StorePolicy, Timestamp,
    VersionId, View,
};
use loci_storage::log::LogEntry;
use loci_storage::{Applied, Batch, Idempotency, Mutation, Receipt, Result, Storage, StorageError};
use loci_storage_memory::MemStorage;
use loci_test_kit::{amount, named_seed};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::task::JoinSet;

const START: i64 = 1_800_000_000_000_000;
/// How far apart two calls are on the clock that they carry, in microseconds.
const TICK: i64 = 150_000;
const CALLERS: usize = 10;
const CALLS_MAX: usize = 14;
/// How often a caller goes on after having removed an expired memory that was in its way.
const TRIES_MAX: usize = 4;
const UNPOISONED: &str = "a panic while holding the lock has failed the test already";

/// The seeds of the races to run: as many as the table of amounts says of `races`, or `LOCI_SEED`
/// alone.
pub fn seeds(races: &str) -> std::ops::Range<u64> {
    named_seed().map_or(0..amount(races), |seed| seed..seed + 1)
}

/// What one caller does next.
#[derive(Debug, Clone)]
struct Call {
    server: usize,
    is_model: bool,
    what: Ask,
    again: Again,
}

#[derive(Debug, Clone)]
enum Ask {
    Edit(EditPlan),
    Batch(Vec<EditPlan>),
    Swap((usize, usize), (usize, usize)),
    Redact(usize),
    Erase(usize),
    GetPath(usize),
    GetMemory(usize),
}

/// Whether a request is asked a second time under the same key, of the next server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    No,
    AtOnce,
    Afterwards,
    /// Not the same request, as it turns out.
    Other,
}

fn call() -> impl Strategy<Value = Call> {
    let place = || (plan::which(), 0..PATHS.len());
    let what = prop_oneof![
        20 => plan::edit().prop_map(Ask::Edit),
        2 => prop::collection::vec(plan::edit(), 2..=4).prop_map(Ask::Batch),
        1 => (place(), place()).prop_map(|(one, other)| Ask::Swap(one, other)),
        2 => plan::which().prop_map(Ask::Redact),
        1 => plan::which().prop_map(Ask::Erase),
        3 => (0..PATHS.len()).prop_map(Ask::GetPath),
        2 => plan::which().prop_map(Ask::GetMemory),
    ];
    let again = prop_oneof![
        6 => Just(Again::No),
        2 => Just(Again::AtOnce),
        2 => Just(Again::Afterwards),
        1 => Just(Again::Other),
    ];
    (0usize..64, prop::bool::weighted(0.1), what, again)
        .prop_map(|(server, is_model, what, again)| Call { server, is_model, what, again })
}

/// What all callers of a race share.
struct Course {
    servers: Vec<Arc<dyn Storage>>,
    facts: Facts,
    clock: AtomicI64,
    ids: Arc<AtomicU64>,
    /// Questions and answers, numbered as they happen.
    events: AtomicU64,
    made: Mutex<Made>,
    asked: Mutex<Vec<Asked>>,
}

/// What calls can be about.
#[derive(Default)]
struct Made {
    memories: Vec<MemoryId>,
    /// Those that nobody was asked to redact yet.
    versions: Vec<VersionId>,
    /// Those that somebody was or could be asked to redact.
    offered: BTreeSet<VersionId>,
    erased: BTreeSet<MemoryId>,
}

/// Runs one race on an empty engine, through all of these servers.
pub async fn run(servers: &[Arc<dyn Storage>], seed: u64) {
    // Shown when it fails, so that it can be run again.
    eprintln!("race: LOCI_SEED={seed}");
    let scripts = scripts(seed);
    let oracle = MemStorage::new();
    let ids = Arc::new(AtomicU64::new(1000));
    let store = set_up(&servers[0], &oracle, seed, &ids).await;
    let facts = servers[0].facts(WORKSPACE, store, OWNER, None).await.unwrap().unwrap();
    let course = Arc::new(Course {
        servers: servers.to_vec(),
        facts,
        clock: AtomicI64::new(START),
        ids: ids.clone(),
        events: AtomicU64::new(0),
        made: Mutex::default(),
        asked: Mutex::default(),
    });
    let mut sides = JoinSet::new();
    for side in [Side::imports(seed, &ids).await, Side::batches(seed, &ids)] {
        let server = servers[side.number() % servers.len()].clone();
        sides.spawn(side.run(server));
    }
    let mut callers = JoinSet::new();
    for script in scripts {
        let course = course.clone();
        callers.spawn(async move {
            for (number, call) in script.into_iter().enumerate() {
                course.make(number, &call).await;
            }
        });
    }
    callers.join_all().await;
    let sides = sides.join_all().await;
    let asked = std::mem::take(&mut *course.asked.lock().expect(UNPOISONED));
    let now = course.now();
    let admin = System::because("races").administer(WORKSPACE, now);
    let log = servers[0].log(&admin, store, 0, 10_000).await.unwrap();
    assert_is_gapless(&log);
    assert!(log.len() > 10, "a race in which little happens shows little");
    assert_some_order(&oracle, &log, &asked).await;
    for side in sides {
        let store = side.assert_as_told(&oracle).await;
        let found = servers[0].log(&admin, store, 0, 10_000).await.unwrap();
        assert_eq!(found, oracle.log(&admin, store, 0, 10_000).await.unwrap());
    }
    for server in &servers[1..] {
        assert_eq!(server.log(&admin, store, 0, 10_000).await.unwrap(), log);
    }
    let system = System::because("races");
    let last = &**servers.last().expect("there is at least one");
    let found = dump::dump(last, system, WORKSPACE, store, now).await;
    let expected = dump::dump(&oracle, system, WORKSPACE, store, now).await;
    dump::assert_same(&without_keys(&found), &without_keys(&expected));
    let report = servers[0].check().await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
}

/// The oracle was given no idempotency keys.
fn without_keys(dump: &str) -> String {
    let lines = dump.lines().filter(|line| !line.starts_with("remembered"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The same scripts for the same seed.
fn scripts(seed: u64) -> Vec<Vec<Call>> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let script = prop::collection::vec(call(), CALLS_MAX / 2..=CALLS_MAX);
    let scripts = prop::collection::vec(script, CALLERS..=CALLERS);
    scripts.new_tree(&mut runner).unwrap().current()
}

async fn set_up(
    server: &Arc<dyn Storage>,
    oracle: &MemStorage,
    seed: u64,
    ids: &AtomicU64,
) -> StoreId {
    let now = Timestamp::from_micros(START);
    let all = [Repeats::Allow, Repeats::Refuse, Repeats::Merge];
    let repeats = all[usize::from(seed.to_le_bytes()[0]) % all.len()];
    // Few memories, short texts: limits are met, and one edit meets another.
    let policy =
        StorePolicy { repeats, memories_max: 6, content_bytes_max: 40, ..Default::default() };
    let store = Store { policy, ..new_store(ids, now) };
    let id = store.id;
    let first = [
        Mutation::CreateWorkspace(WORKSPACE, now),
        Mutation::CreatePrincipal(owner(now)),
        Mutation::CreateStore(store),
    ];
    for mutation in first {
        server.write(mutation.clone(), None).await.unwrap();
        oracle.write(mutation, None).await.unwrap();
    }
    id
}

pub(super) fn owner(now: Timestamp) -> Principal {
    Principal {
        memory: loci_model::MemorySwitches::default(),
        id: OWNER,
        workspace: WORKSPACE,
        kind: PrincipalKind::User,
        name: "owner".into(),
        is_admin: false,
        created_at: now,
    }
}

pub(super) fn new_store(ids: &AtomicU64, now: Timestamp) -> Store {
    Store {
        address: None,
        id: StoreId::from_u128(ids.fetch_add(1, Ordering::Relaxed).into()),
        workspace: WORKSPACE,
        owner: OWNER,
        name: "store".into(),
        description: String::new(),
        metadata: BTreeMap::new(),
        policy: StorePolicy::default(),
        created_at: now,
        updated_at: now,
        archived_at: None,
    }
}

/// Numbers without gaps, times that only grow, and revisions that follow each other.
fn assert_is_gapless(log: &[LogEntry]) {
    let mut revisions: BTreeMap<MemoryId, u64> = BTreeMap::new();
    for (before, entry) in log.iter().enumerate() {
        assert_eq!(entry.seq(), before as u64 + 1, "a gap in the feed");
        if let Some(last) = before.checked_sub(1) {
            assert!(log[last].at() < entry.at(), "entry {} is not later", entry.seq());
        }
        if let LogEntry::Version { version, .. } = entry {
            let revision = revisions.entry(version.memory).or_default();
            *revision += 1;
            assert_eq!(version.revision, *revision, "a gap in the history of {}", version.memory);
        }
    }
}

impl Course {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.load(Ordering::Relaxed))
    }

    async fn make(&self, number: usize, call: &Call) {
        let server = &self.servers[call.server % self.servers.len()];
        // Clocks of servers differ, backwards too.
        let skew = if call.server.is_multiple_of(2) { 0 } else { -2 };
        self.clock.fetch_add(TICK, Ordering::Relaxed);
        let now = self.now().plus_secs(skew);
        let who = if call.is_model { Who::OwnersModel } else { Who::Owner };
        match &call.what {
            Ask::GetPath(number) => {
                self.get(server, who, At::Path(None, path(*number)), now).await;
            }
            Ask::GetMemory(number) => {
                let at = At::Id(self.memory(*number));
                self.get(server, who, at, now).await;
            }
            what => {
                if let Some(write) = self.plan(who, what, now) {
                    self.write(number, call, server, now, write).await;
                }
            }
        }
    }

    async fn get(&self, server: &Arc<dyn Storage>, who: Who, at: At, now: Timestamp) {
        let pass = policy::read(&caller(who), &self.facts, now).unwrap();
        let from = self.events.fetch_add(1, Ordering::SeqCst);
        let found = server.get(&pass, &at, View::Full).await;
        let to = self.events.fetch_add(1, Ordering::SeqCst);
        self.keep(Asked { what: What::Get(pass, at, found), during: from..=to });
    }

    /// What makes the mutation, with new ids each time.
    fn plan<'a>(
        &'a self,
        who: Who,
        what: &'a Ask,
        now: Timestamp,
    ) -> Option<Box<dyn Fn() -> Mutation + Send + Sync + 'a>> {
        let manage = System::because("races").manage(WORKSPACE, self.facts.store.id, now);
        Some(match what {
            Ask::Redact(number) => {
                let mut made = self.made.lock().expect(UNPOISONED);
                if made.versions.is_empty() {
                    return None;
                }
                let number = number % made.versions.len();
                let version = made.versions.swap_remove(number);
                Box::new(move || Mutation::Redact(manage.clone(), version))
            }
            Ask::Erase(number) => {
                let memory = self.memory(*number);
                if !self.made.lock().expect(UNPOISONED).erased.insert(memory) {
                    return None;
                }
                Box::new(move || {
                    let version = VersionId::from_u128(self.next_id());
                    Mutation::Erase { pass: manage.clone(), memory, version }
                })
            }
            what => {
                let pass = policy::write(&caller(who), &self.facts, now).unwrap();
                Box::new(move || {
                    let memories = self.made.lock().expect(UNPOISONED).memories.clone();
                    let mut next_id = || self.next_id();
                    let mut stamps = Stamps { memories: &memories, now, next_id: &mut next_id };
                    let edits = match what {
                        Ask::Edit(plan) => vec![stamps.edit(plan)],
                        Ask::Batch(plans) => plans.iter().map(|plan| stamps.edit(plan)).collect(),
                        Ask::Swap(one, other) => stamps.swap(*one, *other),
                        other => unreachable!("no edit: {other:?}"),
                    };
                    let batch = Batch { edits, cause: Cause::new(None, "race") };
                    Mutation::Commit(pass.clone(), batch)
                })
            }
        })
    }

    async fn write(
        &self,
        number: usize,
        call: &Call,
        server: &Arc<dyn Storage>,
        now: Timestamp,
        write: Box<dyn Fn() -> Mutation + Send + Sync + '_>,
    ) {
        if call.again == Again::No {
            return self.write_alone(server, now, &write).await;
        }
        let key = Idempotency {
            workspace: WORKSPACE,
            scope: OWNER.as_u128(),
            key: format!("{number} {}", self.next_id()),
            fingerprint: [1; 32],
            now,
        };
        let other = &self.servers[(call.server + 1) % self.servers.len()];
        // The same request may mean another memory by the time it is asked again; a caller's does not.
        let first = write();
        let second = restamped(&first, || self.next_id());
        let (one, two) = match call.again {
            Again::AtOnce => tokio::join!(
                self.ask(server, first, Some(key.clone())),
                self.ask(other, second, Some(key))
            ),
            _ => {
                let one = self.ask(server, first, Some(key.clone())).await;
                let is_other = call.again == Again::Other;
                if is_other && !matches!(one.what, What::Write(_, Ok(_))) {
                    return self.keep(one);
                }
                let fingerprint = [if is_other { 2 } else { 1 }; 32];
                let key = Idempotency { fingerprint, ..key };
                (one, self.ask(other, second, Some(key)).await)
            }
        };
        self.keep_one_effect(call.again, one, two);
    }

    /// One of two requests under the same key has an effect; the other is told of it.
    fn keep_one_effect(&self, again: Again, one: Asked, two: Asked) {
        let told = |asked: &Asked| match &asked.what {
            What::Write(_, Ok(applied)) => Some(applied.clone()),
            _ => None,
        };
        let is_lost = |asked: &Asked| {
            let What::Write(_, Err(error)) = &asked.what else { return false };
            matches!(error, StorageError::NotFound("memory" | "memory version"))
        };
        match (told(&one), told(&two)) {
            (Some(first), Some(second)) => {
                assert_ne!(first.is_replay, second.is_replay, "one effect: {one:?} {two:?}");
                assert_eq!(first.receipt, second.receipt, "one answer: {one:?} {two:?}");
                if again != Again::AtOnce {
                    assert!(second.is_replay, "the first one comes first: {one:?} {two:?}");
                }
                self.keep(if first.is_replay { two } else { one });
            }
            (Some(_), None) if again == Again::Other => {
                let is_reuse = matches!(two.what, What::Write(_, Err(StorageError::KeyReused)));
                assert!(is_reuse, "another request under the same key: {two:?}");
                self.keep(one);
            }
            // What was redacted meanwhile cannot be told again.
            (Some(_), None) if is_lost(&two) => self.keep(one),
            (None, Some(_)) if is_lost(&one) => self.keep(two),
            (first, _) => {
                let is_forgotten = first.is_some() && again == Again::Afterwards;
                assert!(!is_forgotten, "done, and refused when asked again: {one:?} {two:?}");
                self.keep(one);
                self.keep(two);
            }
        }
    }

    async fn write_alone(
        &self,
        server: &Arc<dyn Storage>,
        now: Timestamp,
        write: &(dyn Fn() -> Mutation + Send + Sync + '_),
    ) {
        for _ in 0..TRIES_MAX {
            let asked = self.ask(server, write(), None).await;
            let expired = match &asked.what {
                What::Write(_, Err(StorageError::Expired { memory })) => Some(*memory),
                _ => None,
            };
            self.keep(asked);
            let Some(memory) = expired else { return };
            let pass = System::because("races").write(WORKSPACE, self.facts.store.id, OWNER, now);
            let version = VersionId::from_u128(self.next_id());
            let expire = Mutation::Expire { pass, memory, version };
            self.keep(self.ask(server, expire, None).await);
        }
    }

    async fn ask(
        &self,
        server: &Arc<dyn Storage>,
        mutation: Mutation,
        key: Option<Idempotency>,
    ) -> Asked {
        let from = self.events.fetch_add(1, Ordering::SeqCst);
        let applied: Result<Applied> = server.write(mutation.clone(), key).await;
        let to = self.events.fetch_add(1, Ordering::SeqCst);
        Asked { what: What::Write(mutation, applied), during: from..=to }
    }

    fn keep(&self, asked: Asked) {
        if let What::Write(_, Ok(Applied { receipt: Receipt::Committed(outcomes), .. })) =
            &asked.what
        {
            let mut made = self.made.lock().expect(UNPOISONED);
            for outcome in outcomes.iter().filter(|outcome| outcome.operation.is_some()) {
                if !made.memories.contains(&outcome.memory.id) {
                    made.memories.push(outcome.memory.id);
                }
                if made.offered.insert(outcome.memory.head) {
                    made.versions.push(outcome.memory.head);
                }
            }
        }
        self.asked.lock().expect(UNPOISONED).push(asked);
    }

    fn next_id(&self) -> u128 {
        self.ids.fetch_add(1, Ordering::Relaxed).into()
    }

    fn memory(&self, number: usize) -> MemoryId {
        pick(&self.made.lock().expect(UNPOISONED).memories, number, MemoryId::from_u128(7))
    }
}

/// The same request with ids of its own, as another server would make it.
fn restamped(mutation: &Mutation, next_id: impl Fn() -> u128) -> Mutation {
    let mut again = mutation.clone();
    match &mut again {
        Mutation::Commit(_, batch) => {
            for edit in &mut batch.edits {
                edit.new_memory = MemoryId::from_u128(next_id());
                edit.version = VersionId::from_u128(next_id());
            }
        }
        Mutation::Erase { version, .. } => *version = VersionId::from_u128(next_id()),
        _ => {}
    }
    again
}
