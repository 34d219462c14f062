//! The single writer. Takes what has queued up, applies it in one transaction, syncs once, answers
//! everybody. Holds the only write connection: if two tasks could write, feed numbers and paths
//! would need locks.
//!
//! Nothing is answered before it is durable, and nothing that scrubs is answered before the old
//! bytes are gone from every file. A scrub that something holds up is tried again between other writes
//! ([`crate::waiting`]): a copy that takes long to send delays nobody else. When the disk fails under a
//! commit, writing stops for good until a restart, because a second sync could claim what the first one
//! lost.

use crate::apply::Core;
use crate::ballast::Ballast;
use crate::ends::{Moves, starts_over};
use crate::fault::{Fault, is_disk_failure, is_full};
use crate::gate::Gate;
use crate::kinds::{is_scrub, may_use_ballast, purged, size_of};
use crate::known::Known;
use crate::open::BUSY_WAIT;
use crate::unscrubbed::Unscrubbed;
use crate::waiting::{Held, Waiting};
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
/// How long until an unfinished scrub is tried again while callers wait for it, and when none does.
const SCRUB_POLL: Duration = Duration::from_millis(5);
const SCRUB_RETRY: Duration = Duration::from_millis(500);
/// How long one try waits for readers.
const SCRUB_READERS_WAIT: Duration = Duration::from_millis(25);
/// Tries take at most one part in so many of the writer's time: other writes wait for them.
const SCRUB_SHARE: u32 = 5;

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
    pub(crate) unscrubbed: Arc<Unscrubbed>,
    /// Whether the log of an earlier process could not be emptied at the start.
    pub(crate) owes_scrub: bool,
    /// How long a caller waits for old pages to go.
    pub(crate) scrub_wait: Duration,
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
        let Tools { mut core, ballast, gate, known, wal, unscrubbed, owes_scrub, scrub_wait } =
            tools;
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
            unscrubbed,
            scrub_wait,
            waiting: Waiting::default(),
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
    unscrubbed: Arc<Unscrubbed>,
    scrub_wait: Duration,
    stopped: Arc<OnceLock<String>>,
    full: Arc<AtomicBool>,
    /// Pages in the log after the last commit.
    log_pages: Arc<AtomicI32>,
    /// Pages in the log at the last checkpoint.
    checkpointed_pages: i32,
    /// The scrub that is not finished.
    owed: Option<Owed>,
    /// Whose answers wait for it.
    waiting: Waiting,
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
                self.settle(answer);
            }
        }
    }

    /// Waits for an order, and meanwhile finishes what is left of a scrub; `None` at the end.
    fn next_order(&mut self, orders: &Receiver<Order>) -> Option<Order> {
        loop {
            if self.stopped.get().is_some() {
                self.waiting.answer_all(false);
                return orders.recv().ok();
            }
            let Some(owed) = self.owed else { return orders.recv().ok() };
            // Looked at first, or steady traffic would put the scrub off for ever.
            if Instant::now() >= owed.due {
                self.scrub(owed);
                self.waiting.give_up(Instant::now());
                continue;
            }
            let until = self.waiting.deadline().map_or(owed.due, |first| first.min(owed.due));
            match orders.recv_deadline(until) {
                Ok(order) => return Some(order),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.waiting.give_up(Instant::now()),
            }
        }
    }

    /// Answers once a scrub that was begun earlier is finished; at once if none is unfinished.
    fn settle(&mut self, answer: oneshot::Sender<loci_storage::Result<()>>) {
        if let Some(why) = self.stopped.get() {
            // A caller that went away wants no answer.
            let _ = answer.send(match self.owed {
                None => Ok(()),
                Some(_) => Err(StorageError::Stopped(why.clone())),
            });
        } else if let Some(owed) = self.owed {
            self.owed = Some(Owed { due: self.due(), ..owed });
            self.waiting.push(Instant::now() + self.scrub_wait, Held::Settle(answer));
        } else {
            let _ = answer.send(Ok(()));
        }
    }

    /// When a scrub is tried that somebody begins to wait for: at once, unless others wait already and
    /// have it tried often enough.
    fn due(&self) -> Instant {
        let tried = self.owed.filter(|_| !self.waiting.is_empty());
        tried.map_or_else(Instant::now, |owed| owed.due)
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
        // Before the commit, or a store would be known to nobody for a moment.
        let purges = group.iter().zip(&answers).filter(|(_, answer)| answer.is_ok());
        self.unscrubbed.add(purges.filter_map(|(job, _)| purged(&job.mutation)));
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
        let deadline = Instant::now() + self.scrub_wait;
        let due = self.due();
        let mut is_scrub_owed = false;
        for (job, answer) in group.into_iter().zip(answers) {
            match answer {
                Ok(applied) if is_scrub(&job.mutation) => {
                    is_scrub_owed = true;
                    self.waiting.push(deadline, Held::Write(job.answer, Box::new(applied)));
                }
                // A caller that went away wants no answer.
                answer => drop(job.answer.send(answer)),
            }
        }
        if is_scrub_owed {
            // Copies from now on are made from what is left.
            self.owed = Some(Owed { due, copies_before: self.gate.next() });
        } else {
            self.checkpoint_if_long();
            self.ballast.refill();
        }
    }

    /// Tries to empty the log, unless copies are there that were begun before, and answers those who
    /// wait for it. If it fails, it is tried again later: whoever was told to ask again may not do so.
    fn scrub(&mut self, owed: Owed) {
        let began = Instant::now();
        if self.gate.has_before(owed.copies_before) {
            self.checkpoint_if_long();
        } else if self.empty_log_with_room() == Folded::Whole {
            self.owed = None;
            self.unscrubbed.clear();
            self.waiting.answer_all(true);
            return;
        }
        let pause = match self.waiting.is_empty() {
            true => SCRUB_RETRY,
            false => SCRUB_POLL.max(began.elapsed() * (SCRUB_SHARE - 1)),
        };
        self.owed = Some(Owed { due: Instant::now() + pause, ..owed });
    }

    /// Empties the log; with the room of the ballast where that takes some.
    fn empty_log_with_room(&mut self) -> Folded {
        // Should it fail, readers are waited for a little longer.
        let _ = self.core.conn.busy_timeout(SCRUB_READERS_WAIT);
        let mut folded = self.empty_log();
        if folded == Folded::NoRoom {
            // The commit still had room in the log, folding it in has none.
            self.ballast.release();
            folded = self.empty_log();
        }
        let _ = self.core.conn.busy_timeout(BUSY_WAIT);
        match folded {
            Folded::Whole => self.ballast.fill(),
            // The next try may need the room.
            Folded::InPart | Folded::NoRoom => self.ballast.refill(),
        }
        folded
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
