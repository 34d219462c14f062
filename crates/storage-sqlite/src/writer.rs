//! The single writer. Takes what has queued up, applies it in one transaction, syncs once, answers
//! everybody. Holds the only write connection: if two tasks could write, feed numbers and paths
//! would need locks.
//!
//! Nothing is answered before it is durable, and nothing that scrubs is answered before the old
//! bytes are gone from every file. When the disk fails under a commit, writing stops for good until
//! a restart, because a second sync could claim what the first one lost.

use crate::apply::Core;
use crate::ballast::Ballast;
use crate::ends::{Moves, starts_over};
use crate::fault::{Fault, is_disk_failure, is_full};
use crate::gate::Gate;
use crate::kinds::{is_scrub, may_use_ballast, size_of};
use crate::known::Known;
use crate::wal::Wal;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use loci_storage::known::is_about_access;
use loci_storage::{Applied, Idempotency, Mutation, StorageError};
use rusqlite::config::DbConfig;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

const QUEUE_MAX: usize = 4096;
const GROUP_JOBS_MAX: usize = 512;
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How long a group waits for those who came with the last one: less than a sync takes.
const GATHER_WAIT_MAX: Duration = Duration::from_micros(500);
/// Pages of log after which it is folded into the database.
const CHECKPOINT_PAGES: i32 = 1000;
/// Pages of log after which readers are waited for, so that it can start over.
const LOG_PAGES_MAX: i32 = 12_000;
/// Folds what no reader needs into the database.
const FOLD_LOG: &str = "pragma wal_checkpoint(passive)";
/// How long a caller waits for old pages to go.
const SCRUB_WAIT: Duration = Duration::from_secs(5);
/// How long until an unfinished scrub is tried again.
const SCRUB_RETRY: Duration = Duration::from_millis(500);

type Answer = loci_storage::Result<Applied>;

struct Job {
    mutation: Mutation,
    idempotency: Option<Idempotency>,
    answer: oneshot::Sender<Answer>,
}

/// What is asked of the writer.
#[allow(clippy::large_enum_variant, reason = "nearly every order is a write; a box costs each")]
enum Order {
    /// A mutation.
    Write(Job),
    /// An answer once no scrub is unfinished.
    Settle(oneshot::Sender<loci_storage::Result<()>>),
}

/// What the writer works with.
pub(crate) struct Tools {
    pub(crate) core: Core,
    pub(crate) ballast: Ballast,
    pub(crate) gate: Arc<Gate>,
    pub(crate) known: Arc<Known>,
    pub(crate) wal: Wal,
    /// Whether the log of an earlier process could not be emptied at the start.
    pub(crate) owes_scrub: bool,
}

/// The way to the writer.
pub(crate) struct Writer {
    queue: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
    stopped: Arc<OnceLock<String>>,
    full: Arc<AtomicBool>,
}

impl Writer {
    pub(crate) fn start(tools: Tools) -> std::io::Result<Self> {
        let Tools { mut core, ballast, gate, known, wal, owes_scrub } = tools;
        let (queue, orders) = bounded(QUEUE_MAX);
        let stopped = Arc::new(OnceLock::new());
        let full = Arc::new(AtomicBool::new(false));
        let log_pages = Arc::new(AtomicI32::new(0));
        let seen = Arc::clone(&log_pages);
        core.conn
            .wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
                seen.store(pages, Ordering::Relaxed);
                Ok(())
            }))
            .map_err(std::io::Error::other)?;
        let mut group = Group {
            core,
            ballast,
            gate,
            known,
            wal,
            stopped: Arc::clone(&stopped),
            full: Arc::clone(&full),
            log_pages,
            checkpointed_pages: 0,
            owed: owes_scrub.then(|| Owed { due: Instant::now(), copies_before: 0 }),
        };
        let thread = std::thread::Builder::new().name("loci-writer".into()).spawn(move || {
            let _abort = AbortOnPanic;
            group.serve(&orders);
            group.close();
        })?;
        Ok(Self { queue: Some(queue), thread: Some(thread), stopped, full })
    }

    pub(crate) async fn write(
        &self,
        mutation: Mutation,
        idempotency: Option<Idempotency>,
    ) -> Answer {
        self.ready()?;
        let (answer, answered) = oneshot::channel();
        self.order(Order::Write(Job { mutation, idempotency, answer }))?;
        answered.await.map_err(|_| ended())?
    }

    /// Returns when no scrub is unfinished.
    pub(crate) async fn settle(&self) -> loci_storage::Result<()> {
        let (answer, answered) = oneshot::channel();
        self.order(Order::Settle(answer))?;
        answered.await.map_err(|_| ended())?
    }

    fn order(&self, order: Order) -> loci_storage::Result<()> {
        let queue = self.queue.as_ref().expect("open until dropped");
        queue.try_send(order).map_err(|refused| match refused {
            TrySendError::Full(_) => StorageError::Busy,
            TrySendError::Disconnected(_) => ended(),
        })
    }

    /// Whether the disk had no room for the last write that needed any.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    pub(crate) fn ready(&self) -> loci_storage::Result<()> {
        match self.stopped.get() {
            None => Ok(()),
            Some(why) => Err(StorageError::Stopped(why.clone())),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panicking writer has aborted the process already.
            let _ = thread.join();
        }
    }
}

fn ended() -> StorageError {
    StorageError::Stopped("the writer has ended".into())
}

/// A panic in the writer is a broken invariant: better no process than one that goes on from there.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// The writer's own side.
struct Group {
    core: Core,
    ballast: Ballast,
    gate: Arc<Gate>,
    known: Arc<Known>,
    wal: Wal,
    stopped: Arc<OnceLock<String>>,
    full: Arc<AtomicBool>,
    /// Pages in the log after the last commit.
    log_pages: Arc<AtomicI32>,
    /// Pages in the log at the last checkpoint.
    checkpointed_pages: i32,
    /// The scrub that is not finished.
    owed: Option<Owed>,
}

/// Old bytes that may still be in some file.
#[derive(Debug, Clone, Copy)]
struct Owed {
    /// When to try again.
    due: Instant,
    /// Copies with smaller numbers may hold them.
    copies_before: u64,
}

/// How much of the log a checkpoint folded into the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Folded {
    /// All of it.
    Whole,
    /// Not all: readers need some of it, or the disk failed.
    InPart,
    /// Not all: the database cannot grow.
    NoRoom,
}

/// Why a group was not committed.
struct Failure {
    /// Which job failed, when it was one.
    job: Option<usize>,
    error: rusqlite::Error,
}

impl Group {
    fn serve(&mut self, orders: &Receiver<Order>) {
        let mut company = 0;
        while let Some(first) = self.next_order(orders) {
            let settled = match first {
                Order::Settle(answer) => Some(answer),
                Order::Write(job) => {
                    let (group, settled) = gather(job, orders, company);
                    company = group.len();
                    self.commit(group, true);
                    settled
                }
            };
            if let Some(answer) = settled {
                // A caller that went away wants no answer.
                let _ = answer.send(self.settle());
            }
        }
    }

    /// Waits for an order, and meanwhile for whoever holds up a scrub; `None` at the end.
    fn next_order(&mut self, orders: &Receiver<Order>) -> Option<Order> {
        while let Some(owed) = self.owed.filter(|_| self.stopped.get().is_none()) {
            // Looked at first, or steady traffic would put the scrub off for ever.
            if Instant::now() < owed.due {
                match orders.recv_deadline(owed.due) {
                    Ok(order) => return Some(order),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
            if self.scrub(Instant::now()) {
                self.ballast.fill();
            }
        }
        orders.recv().ok()
    }

    /// Finishes a scrub that was begun earlier, if one is unfinished.
    fn settle(&mut self) -> loci_storage::Result<()> {
        if self.owed.is_none() {
            return Ok(());
        }
        if let Some(why) = self.stopped.get() {
            return Err(StorageError::Stopped(why.clone()));
        }
        let is_scrubbed = self.scrub(Instant::now() + SCRUB_WAIT);
        self.ballast.fill();
        if is_scrubbed { Ok(()) } else { Err(StorageError::ScrubPending) }
    }

    /// Commits a group and answers every job of it.
    fn commit(&mut self, mut group: Vec<Job>, may_reclaim: bool) {
        let mut may_shorten_log = true;
        while !group.is_empty() {
            if let Some(why) = self.stopped.get() {
                answer_all(group, || StorageError::Stopped(why.clone()));
                return;
            }
            let failure = match self.attempt(&group) {
                Ok(answers) => {
                    self.finish(group, answers);
                    return;
                }
                Err(failure) => failure,
            };
            self.roll_back();
            if is_full(&failure.error) {
                // The database may have room inside while the log beside it has none.
                if may_shorten_log && self.checkpoint(Wal::EMPTY) == Folded::Whole {
                    may_shorten_log = false;
                    continue;
                }
                self.reclaim(group, may_reclaim);
                return;
            }
            if is_disk_failure(&failure.error) {
                self.stop(&failure.error);
                continue;
            }
            match failure.job {
                // One job's own trouble; the others start over without it.
                Some(index) => {
                    let job = group.remove(index);
                    let _ = job.answer.send(Err(Fault::Sql(failure.error).into()));
                }
                None => {
                    let why = failure.error.to_string();
                    answer_all(group, || StorageError::Io(why.clone()));
                    return;
                }
            }
        }
    }

    /// One transaction; an error means that nothing of it holds.
    fn attempt(&mut self, group: &[Job]) -> Result<Vec<Answer>, Failure> {
        let whole = |fault| match fault {
            Fault::Sql(error) => Failure { job: None, error },
            Fault::Refused(refusal) => unreachable!("bookkeeping was refused: {refusal}"),
        };
        self.core.run("begin immediate").map_err(whole)?;
        let mut answers = Vec::with_capacity(group.len());
        for (index, job) in group.iter().enumerate() {
            match self.core.apply(&job.mutation, job.idempotency.as_ref()) {
                Ok(applied) => answers.push(Ok(applied)),
                Err(Fault::Refused(refusal)) => answers.push(Err(refusal)),
                Err(Fault::Sql(error)) => {
                    return Err(Failure { job: Some(index), error });
                }
            }
        }
        self.core.write_counters().map_err(whole)?;
        self.core.run("commit").map_err(whole)?;
        Ok(answers)
    }

    fn roll_back(&mut self) {
        self.core.forget_stores();
        self.core.moves = Moves::default();
        // SQLite rolls back by itself on some errors.
        if !self.core.conn.is_autocommit()
            && let Err(Fault::Sql(error)) = self.core.run("rollback")
        {
            self.stop(&error);
        }
    }

    /// Answers what is durable; what scrubs, after the bytes are gone.
    fn finish(&mut self, group: Vec<Job>, answers: Vec<Answer>) {
        if group.iter().any(|job| !may_use_ballast(&job.mutation)) {
            self.full.store(false, Ordering::Relaxed);
        }
        if group.iter().any(|job| is_about_access(&job.mutation)) {
            self.known.turn();
        }
        let moves = std::mem::take(&mut self.core.moves);
        self.known.ends.report(moves, group.iter().any(|job| starts_over(&job.mutation)));
        let mut scrubs = Vec::new();
        for (job, answer) in group.into_iter().zip(answers) {
            if answer.is_ok() && is_scrub(&job.mutation) {
                scrubs.push((job, answer));
            } else {
                // A caller that went away wants no answer.
                let _ = job.answer.send(answer);
            }
        }
        if scrubs.is_empty() {
            self.checkpoint_if_long();
            self.ballast.refill();
            return;
        }
        // Copies from now on are made from what is left.
        self.owed = Some(Owed { due: Instant::now(), copies_before: self.gate.next() });
        let is_scrubbed = self.scrub(Instant::now() + SCRUB_WAIT);
        self.ballast.fill();
        for (job, answer) in scrubs {
            let answer = if is_scrubbed { answer } else { Err(StorageError::ScrubPending) };
            let _ = job.answer.send(answer);
        }
    }

    /// Empties the log, waiting until `deadline` for readers and for copies that were begun before;
    /// tells whether that worked. If not, it is tried again later: whoever was told to ask again may
    /// not do so.
    fn scrub(&mut self, deadline: Instant) -> bool {
        while let Some(owed) = self.owed {
            if !self.gate.has_before(owed.copies_before) {
                match self.empty_log() {
                    Folded::Whole => {
                        self.owed = None;
                        break;
                    }
                    // The commit still had room in the log, folding it in has none.
                    Folded::NoRoom => self.ballast.release(),
                    Folded::InPart => {}
                }
            }
            if self.stopped.get().is_some() {
                return false;
            }
            if Instant::now() >= deadline {
                self.owed = Some(Owed { due: Instant::now() + SCRUB_RETRY, ..owed });
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }

    /// Empties the log for good: without a sync, a power loss could bring its old length back, and
    /// what was in it.
    fn empty_log(&mut self) -> Folded {
        let folded = self.checkpoint(Wal::EMPTY);
        if folded == Folded::Whole
            && let Err(error) = self.wal.sync()
        {
            self.stop(&error);
            return Folded::InPart;
        }
        folded
    }

    fn checkpoint_if_long(&mut self) {
        let pages = self.log_pages.load(Ordering::Relaxed);
        if pages < self.checkpointed_pages {
            // The log has started over.
            self.checkpointed_pages = 0;
        }
        if pages >= LOG_PAGES_MAX {
            self.checkpoint(Wal::EMPTY);
        } else if pages - self.checkpointed_pages >= CHECKPOINT_PAGES {
            self.checkpoint(FOLD_LOG);
        }
    }

    /// Folds the log into the database.
    fn checkpoint(&mut self, pragma: &str) -> Folded {
        self.checkpointed_pages = self.log_pages.load(Ordering::Relaxed);
        let result = self.core.conn.query_row(pragma, [], |row| row.get::<_, bool>(0));
        match result {
            Ok(false) => Folded::Whole,
            Ok(true) => Folded::InPart,
            // A full disk only means that the log stays.
            Err(error) if is_full(&error) => Folded::NoRoom,
            Err(error) => {
                // A failed sync means that we no longer know what the disk holds.
                if is_disk_failure(&error) {
                    self.stop(&error);
                }
                Folded::InPart
            }
        }
    }

    /// The disk is full: whatever makes room or takes access away gets the ballast's room and another
    /// try, alone.
    fn reclaim(&mut self, group: Vec<Job>, may_reclaim: bool) {
        self.full.store(true, Ordering::Relaxed);
        let is_hopeful = |job: &Job| may_reclaim && may_use_ballast(&job.mutation);
        let (hopeful, rest): (Vec<_>, Vec<_>) = group.into_iter().partition(is_hopeful);
        answer_all(rest, || StorageError::Full);
        if hopeful.is_empty() {
            return;
        }
        for job in hopeful {
            self.ballast.release();
            self.commit(vec![job], false);
        }
        // Taken back at once, or the next write would take it and the next erasure find none.
        self.checkpoint(Wal::EMPTY);
        self.ballast.fill();
    }

    fn stop(&mut self, error: &dyn std::error::Error) {
        // The first reason is the one to report.
        let _ = self.stopped.set(error.to_string());
    }

    fn close(&mut self) {
        if self.stopped.get().is_none() {
            self.empty_log();
        }
        if self.stopped.get().is_some() {
            // What the log holds is for the restart to judge.
            let off = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            let _ = self.core.conn.set_db_config(off, true);
        }
    }
}

/// A job and what has queued behind it, up to a request to settle. Those who were just answered together tend to come back
/// together, a moment later; without that moment, a small group would go ahead and all the others
/// wait for its sync. A lone writer never waits.
fn gather(
    first: Job,
    orders: &Receiver<Order>,
    company: usize,
) -> (Vec<Job>, Option<oneshot::Sender<loci_storage::Result<()>>>) {
    let deadline = Instant::now() + GATHER_WAIT_MAX;
    let enough = company * 3 / 4;
    let mut bytes = size_of(&first.mutation);
    let mut group = vec![first];
    while group.len() < GROUP_JOBS_MAX && bytes < GROUP_BYTES_MAX {
        let order = match orders.try_recv() {
            Ok(order) => order,
            Err(_) if group.len() >= enough => break,
            Err(_) => match orders.recv_deadline(deadline) {
                Ok(order) => order,
                Err(_) => break,
            },
        };
        match order {
            Order::Write(job) => {
                bytes += size_of(&job.mutation);
                group.push(job);
            }
            Order::Settle(answer) => return (group, Some(answer)),
        }
    }
    (group, None)
}

fn answer_all(group: Vec<Job>, error: impl Fn() -> StorageError) {
    for job in group {
        let _ = job.answer.send(Err(error()));
    }
}
