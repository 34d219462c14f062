//! The way into the database. Edits of single memories queue in a few lanes, by store; each lane
//! takes what has queued up, applies it in one transaction, and answers everybody once PostgreSQL
//! says that it is durable. Everything else has a transaction of its own. All of them, of this
//! server and of others, meet at the row of the store and nowhere else.
//!
//! Nothing is answered before it is durable. A caller is not kept waiting longer than its patience;
//! what it is told then is that the outcome is unknown, and asking again with the same idempotency
//! key finds out.

use crate::apply::{alone, is_long, tenant};
use crate::client::{Clients, Tenant};
use crate::group::{sharable, together};
use crate::notify::Announcer;
use crate::planner::Planner;
use loci_model::{EditOp, StoreId};
use loci_storage::request::{left_of, took};
use loci_storage::{Applied, Idempotency, Mutation, Result, StorageError};
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Instant, timeout};

/// Lanes are transactions at the same time: enough to have one being synced while another is being
/// decided, and on larger machines others that wait for stores that other servers hold. More of them
/// would only make groups smaller.
const LANES_MIN: usize = 2;
const LANES_MAX: usize = 4;
/// Transactions of their own at the same time, short ones and long ones: they must leave
/// connections for those who read.
const ALONE_MAX: usize = 4;
const LONG_MAX: usize = 2;
/// What may wait for a transaction of its own, and in all lanes together.
const LINE_MAX: usize = 1024;
const QUEUE_MAX: usize = 4096;
const GROUP_JOBS_MAX: usize = 256;
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Turns that a group waits for those who came with the last one.
const GATHER_TURNS_MAX: usize = 16;
/// On top of the database's own patience: for the way through the queue.
const QUEUE_PATIENCE: Duration = Duration::from_millis(300);

pub(crate) struct Job {
    pub(crate) mutation: Mutation,
    pub(crate) idempotency: Option<Idempotency>,
    answer: oneshot::Sender<Result<Applied>>,
}

/// The way to the lanes.
pub(crate) struct Writer {
    lanes: Vec<mpsc::Sender<Job>>,
    tasks: Vec<JoinHandle<()>>,
    hasher: RandomState,
    told: Told,
    short: Arc<Semaphore>,
    long: Arc<Semaphore>,
    line: Arc<Semaphore>,
}

impl Writer {
    pub(crate) fn start(clients: &Clients, announcer: &Announcer) -> Self {
        let processors = std::thread::available_parallelism().map_or(LANES_MIN, NonZero::get);
        let count = processors.clamp(LANES_MIN, LANES_MAX);
        let (mut lanes, mut tasks) = (Vec::new(), Vec::new());
        let told = Told {
            clients: clients.clone(),
            announcer: announcer.clone(),
            planner: Arc::new(Planner::default()),
        };
        for _ in 0..count {
            let (queue, jobs) = mpsc::channel(QUEUE_MAX / count);
            let lane = Lane { told: told.clone(), held: VecDeque::new() };
            lanes.push(queue);
            tasks.push(tokio::spawn(lane.serve(jobs)));
        }
        Self {
            lanes,
            tasks,
            hasher: RandomState::new(),
            told,
            short: Arc::new(Semaphore::new(ALONE_MAX)),
            long: Arc::new(Semaphore::new(LONG_MAX)),
            line: Arc::new(Semaphore::new(LINE_MAX)),
        }
    }

    pub(crate) async fn write(
        &self,
        mutation: Mutation,
        idempotency: Option<Idempotency>,
    ) -> Result<Applied> {
        let is_long = is_long(&mutation);
        let (answer, answered) = oneshot::channel();
        let job = Job { mutation, idempotency, answer };
        match sharable(&job.mutation).map(|(pass, _)| pass.store()) {
            Some(store) => self.queue(store, job)?,
            None => self.start_alone(job, is_long)?,
        }
        if is_long {
            return answered.await.map_err(|_| ended())?;
        }
        let asked = Instant::now();
        let answer = timeout(left_of(self.told.clients.patience) + QUEUE_PATIENCE, answered).await;
        took(asked.elapsed());
        match answer {
            Ok(answer) => answer.map_err(|_| ended())?,
            Err(_) => Err(StorageError::Unreachable("a write was not answered in time".into())),
        }
    }

    /// Writes to one store go one way, so that those of this server do not wait for each other at
    /// its row.
    fn queue(&self, store: StoreId, job: Job) -> Result<()> {
        let lanes = self.lanes.len() as u64;
        let lane = self.hasher.hash_one((tenant(&job.mutation), store)) % lanes;
        let lane = usize::try_from(lane).expect("less than the number of lanes");
        self.lanes[lane].try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StorageError::Busy,
            mpsc::error::TrySendError::Closed(_) => ended(),
        })
    }

    /// Applies a job in a transaction of its own. A task of its own, too: whoever asked may go away,
    /// and the transaction is better ended than broken off.
    fn start_alone(&self, job: Job, is_long: bool) -> Result<()> {
        let told = self.told.clone();
        let place = Arc::clone(&self.line).try_acquire_owned().map_err(|_| StorageError::Busy)?;
        let turns = Arc::clone(if is_long { &self.long } else { &self.short });
        tokio::spawn(async move {
            let _place = place;
            let _turn = turns.acquire().await;
            if job.answer.is_closed() {
                return;
            }
            let done = alone(&told.clients, &job.mutation, job.idempotency.as_ref()).await;
            told.tell(job, done);
        });
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // What was not answered is not promised.
        for task in &self.tasks {
            task.abort();
        }
    }
}

fn ended() -> StorageError {
    StorageError::Stopped("the writer has ended".into())
}

struct Lane {
    told: Told,
    /// Jobs that could not go with the group they came with.
    held: VecDeque<Job>,
}

impl Lane {
    async fn serve(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut company = 0;
        loop {
            let first = match self.held.pop_front() {
                Some(job) => job,
                None => match jobs.recv().await {
                    Some(job) => job,
                    None => return,
                },
            };
            // Nobody waits for it any more: whoever asked was told that the outcome is unknown, and
            // may have asked again.
            if first.answer.is_closed() {
                continue;
            }
            let group = self.gather(first, &mut jobs, company).await;
            company = group.len();
            Box::pin(self.commit(group)).await;
        }
    }

    /// A job and those behind it that may share its transaction. Those who were just answered
    /// together tend to come back together, a moment later; without that moment, a small group
    /// would go ahead and all the others wait for its sync. A lone writer never waits.
    async fn gather(
        &mut self,
        first: Job,
        jobs: &mut mpsc::Receiver<Job>,
        company: usize,
    ) -> Vec<Job> {
        let mut group = Group::of(first);
        let waiting = std::mem::take(&mut self.held);
        for job in waiting {
            self.held.extend(group.add(job));
        }
        let mut turns = 0;
        while !group.is_full() {
            match jobs.try_recv() {
                Ok(job) => self.held.extend(group.add(job)),
                Err(_) if group.jobs.len() < company && turns < GATHER_TURNS_MAX => {
                    turns += 1;
                    yield_now().await;
                }
                Err(_) => break,
            }
        }
        group.jobs
    }

    async fn commit(&mut self, group: Vec<Job>) {
        let fault = match together(&self.told.clients, &group).await {
            Ok(answers) => {
                for (job, done) in group.into_iter().zip(answers) {
                    self.told.tell(job, done);
                }
                return;
            }
            Err(fault) => fault,
        };
        // One that spoils it for all, or two servers in each other's way: each by itself, then.
        let is_own_fault = fault.is_worth_retrying() || fault.broken_constraint().is_some();
        if is_own_fault && group.len() > 1 || fault.broken_constraint() == Some("idempotency_pk") {
            for job in group {
                let clients = &self.told.clients;
                let done = alone(clients, &job.mutation, job.idempotency.as_ref()).await;
                self.told.tell(job, done);
            }
            return;
        }
        self.told.clients.had_fault(&fault);
        let error = fault.for_all();
        for job in group {
            let _ = job.answer.send(Err(error()));
        }
    }
}

/// The database, and who is told of a write beside the one who asked for it.
#[derive(Clone)]
struct Told {
    clients: Clients,
    announcer: Announcer,
    planner: Arc<Planner>,
}

impl Told {
    fn tell(&self, job: Job, applied: Result<Applied>) {
        if applied.is_ok() {
            self.clients.had_room();
            self.announcer.announce();
            let writes = match &job.mutation {
                Mutation::Import(_, items) => items.len(),
                Mutation::Commit(_, batch) => batch.edits.len(),
                _ => 1,
            };
            self.planner.note(&self.clients, writes as u64);
        }
        // A caller that went away wants no answer.
        let _ = job.answer.send(applied);
    }
}

/// Jobs that go together.
struct Group {
    jobs: Vec<Job>,
    tenant: Tenant,
    keys: HashSet<(u128, String)>,
    bytes: usize,
}

impl Group {
    fn of(first: Job) -> Self {
        let tenant = tenant(&first.mutation);
        let mut group = Self { jobs: Vec::new(), tenant, keys: HashSet::new(), bytes: 0 };
        let refused = group.add(first);
        debug_assert!(refused.is_none(), "the first always fits");
        group
    }

    fn is_full(&self) -> bool {
        self.jobs.len() >= GROUP_JOBS_MAX || self.bytes >= GROUP_BYTES_MAX
    }

    /// Takes a job in, or gives it back: when it cannot share, is another tenant's, or repeats a
    /// request that is in the group already.
    fn add(&mut self, job: Job) -> Option<Job> {
        let Some((_, batch)) = sharable(&job.mutation) else { return Some(job) };
        if self.is_full() || tenant(&job.mutation) != self.tenant || job.answer.is_closed() {
            return (!job.answer.is_closed()).then_some(job);
        }
        if let Some(key) = &job.idempotency
            && !self.keys.insert((key.scope, key.key.clone()))
        {
            return Some(job);
        }
        self.bytes += batch.edits.iter().map(|edit| bytes_of(&edit.edit.op)).sum::<usize>();
        self.jobs.push(job);
        None
    }
}

fn bytes_of(op: &EditOp) -> usize {
    const ROW: usize = 512;
    match op {
        EditOp::Put { content, .. } => {
            ROW + content.as_ref().map_or(0, |content| content.bytes().len())
        }
        EditOp::Append { text, .. } => ROW + text.len(),
        EditOp::Replace { .. } | EditOp::Remove => ROW,
    }
}
