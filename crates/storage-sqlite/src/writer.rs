//! The single writer. Takes what has queued up, applies it in one transaction, syncs once, answers
//! everybody. Holds the only write connection: if two tasks could write, feed numbers and paths
//! would need locks.
//!
//! Nothing is answered before it is durable, and nothing that scrubs is answered before the old
//! bytes are gone from every file. When the disk fails under a commit, writing stops for good until
//! a restart, because a second sync could claim what the first one lost.

use crate::apply::Core;
use crate::backup::Gate;
use crate::ballast::Ballast;
use crate::ends::{Moves, starts_over};
use crate::fault::{Fault, code_of};
use crate::known::Known;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use loci_model::{Content, EditOp};
use loci_storage::known::is_about_access;
use loci_storage::log::{ImportItem, LogEntry};
use loci_storage::{Applied, Idempotency, Mutation, StorageError, VectorSource};
use rusqlite::config::DbConfig;
use rusqlite::{ErrorCode, ffi};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock, TryLockError};
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
/// Folds everything, waiting for readers, and cuts the file to nothing.
const EMPTY_LOG: &str = "pragma wal_checkpoint(truncate)";
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

/// The way to the writer.
pub(crate) struct Writer {
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    stopped: Arc<OnceLock<String>>,
}

impl Writer {
    pub(crate) fn start(
        mut core: Core,
        ballast: Ballast,
        gate: Arc<Gate>,
        known: Arc<Known>,
    ) -> std::io::Result<Self> {
        let (queue, jobs) = bounded(QUEUE_MAX);
        let stopped = Arc::new(OnceLock::new());
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
            stopped: Arc::clone(&stopped),
            log_pages,
            checkpointed_pages: 0,
            scrub_due: None,
        };
        let thread = std::thread::Builder::new().name("loci-writer".into()).spawn(move || {
            let _abort = AbortOnPanic;
            group.serve(&jobs);
            group.close();
        })?;
        Ok(Self { queue: Some(queue), thread: Some(thread), stopped })
    }

    pub(crate) async fn write(
        &self,
        mutation: Mutation,
        idempotency: Option<Idempotency>,
    ) -> Answer {
        self.ready()?;
        let (answer, answered) = oneshot::channel();
        let job = Job { mutation, idempotency, answer };
        let queue = self.queue.as_ref().expect("open until dropped");
        match queue.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(StorageError::Busy),
            Err(TrySendError::Disconnected(_)) => return Err(ended()),
        }
        answered.await.map_err(|_| ended())?
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
    stopped: Arc<OnceLock<String>>,
    /// Pages in the log after the last commit.
    log_pages: Arc<AtomicI32>,
    /// Pages in the log at the last checkpoint.
    checkpointed_pages: i32,
    /// When to try again a scrub that could not be finished in time.
    scrub_due: Option<Instant>,
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
    fn serve(&mut self, jobs: &Receiver<Job>) {
        let mut company = 0;
        while let Some(first) = self.next_job(jobs) {
            let group = gather(first, jobs, company);
            company = group.len();
            self.commit(group, true);
        }
    }

    /// Waits for a job, and meanwhile for whoever holds up a scrub; `None` at the end.
    fn next_job(&mut self, jobs: &Receiver<Job>) -> Option<Job> {
        while let Some(due) = self.scrub_due {
            // Looked at first, or steady traffic would put the scrub off for ever.
            if Instant::now() < due {
                match jobs.recv_deadline(due) {
                    Ok(job) => return Some(job),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
            self.scrub(Instant::now());
        }
        jobs.recv().ok()
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
                if may_shorten_log && self.checkpoint(EMPTY_LOG) == Folded::Whole {
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
        let is_scrubbed = self.scrub(Instant::now() + SCRUB_WAIT);
        self.ballast.fill();
        for (job, answer) in scrubs {
            let answer = if is_scrubbed { answer } else { Err(StorageError::ScrubPending) };
            let _ = job.answer.send(answer);
        }
    }

    /// Empties the log, waiting until `deadline` for readers and a running backup; tells whether
    /// that worked. If not, it is tried again later: whoever was told to ask again may not do so.
    fn scrub(&mut self, deadline: Instant) -> bool {
        let gate = Arc::clone(&self.gate);
        self.scrub_due = None;
        loop {
            let held = match gate.try_lock() {
                Ok(held) => Some(held),
                Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            if held.is_some() {
                match self.checkpoint(EMPTY_LOG) {
                    Folded::Whole => return true,
                    // The commit still had room in the log, folding it in has none.
                    Folded::NoRoom => self.ballast.release(),
                    Folded::InPart => {}
                }
            }
            drop(held);
            if self.stopped.get().is_some() {
                return false;
            }
            if Instant::now() >= deadline {
                self.scrub_due = Some(Instant::now() + SCRUB_RETRY);
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn checkpoint_if_long(&mut self) {
        let pages = self.log_pages.load(Ordering::Relaxed);
        if pages < self.checkpointed_pages {
            // The log has started over.
            self.checkpointed_pages = 0;
        }
        if pages >= LOG_PAGES_MAX {
            self.checkpoint(EMPTY_LOG);
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

    /// The disk is full: whatever makes room gets the ballast's room and another try, alone.
    fn reclaim(&mut self, group: Vec<Job>, may_reclaim: bool) {
        let is_hopeful = |job: &Job| may_reclaim && is_reclaiming(&job.mutation);
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
        self.checkpoint(EMPTY_LOG);
        self.ballast.fill();
    }

    fn stop(&mut self, error: &rusqlite::Error) {
        // The first reason is the one to report.
        let _ = self.stopped.set(error.to_string());
    }

    fn close(&mut self) {
        if self.stopped.get().is_none() {
            self.checkpoint(EMPTY_LOG);
        }
        if self.stopped.get().is_some() {
            // What the log holds is for the restart to judge.
            let off = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            let _ = self.core.conn.set_db_config(off, true);
        }
    }
}

/// A job and what has queued behind it. Those who were just answered together tend to come back
/// together, a moment later; without that moment, a small group would go ahead and all the others
/// wait for its sync. A lone writer never waits.
fn gather(first: Job, jobs: &Receiver<Job>, company: usize) -> Vec<Job> {
    let deadline = Instant::now() + GATHER_WAIT_MAX;
    let enough = company * 3 / 4;
    let mut bytes = size_of(&first.mutation);
    let mut group = vec![first];
    while group.len() < GROUP_JOBS_MAX && bytes < GROUP_BYTES_MAX {
        let job = match jobs.try_recv() {
            Ok(job) => job,
            Err(_) if group.len() >= enough => break,
            Err(_) => match jobs.recv_deadline(deadline) {
                Ok(job) => job,
                Err(_) => break,
            },
        };
        bytes += size_of(&job.mutation);
        group.push(job);
    }
    group
}

fn answer_all(group: Vec<Job>, error: impl Fn() -> StorageError) {
    for job in group {
        let _ = job.answer.send(Err(error()));
    }
}

fn extended_code(error: &rusqlite::Error) -> i32 {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => failure.extended_code,
        _ => 0,
    }
}

/// Growing the shared index of the log fails with a code of its own when there is no room.
fn is_full(error: &rusqlite::Error) -> bool {
    code_of(error) == Some(ErrorCode::DiskFull) || extended_code(error) == ffi::SQLITE_IOERR_SHMSIZE
}

/// Whether the disk failed to take what it was given. A failed read is not one of these.
fn is_disk_failure(error: &rusqlite::Error) -> bool {
    let is_read = matches!(
        extended_code(error),
        ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS
    );
    code_of(error) == Some(ErrorCode::SystemIoFailure) && !is_read
}

/// Whether the caller was promised that old bytes are gone.
fn is_scrub(mutation: &Mutation) -> bool {
    match mutation {
        Mutation::Redact(..) | Mutation::Erase { .. } | Mutation::PurgeStore { .. } => true,
        Mutation::Audited(mutation, _) => is_scrub(mutation),
        _ => false,
    }
}

/// Whether the mutation makes room.
fn is_reclaiming(mutation: &Mutation) -> bool {
    match mutation {
        Mutation::Commit(_, batch) => {
            batch.edits.iter().all(|stamped| stamped.edit.op == EditOp::Remove)
        }
        Mutation::RemoveStore(_)
        | Mutation::Expire { .. }
        | Mutation::RemoveSession(..)
        | Mutation::DropGeneration { .. }
        | Mutation::ForgetReadings { .. }
        | Mutation::ForgetKeys { .. } => true,
        Mutation::Audited(mutation, _) => is_reclaiming(mutation),
        other => is_scrub(other),
    }
}

fn size_of(mutation: &Mutation) -> usize {
    const ROW: usize = 512;
    match mutation {
        Mutation::Audited(mutation, _) => ROW + size_of(mutation),
        Mutation::Commit(_, batch) => batch
            .edits
            .iter()
            .map(|stamped| match &stamped.edit.op {
                EditOp::Put { content, .. } => {
                    ROW + content.as_ref().map_or(0, |content| content.bytes().len())
                }
                EditOp::Append { text, .. } => ROW + text.len(),
                EditOp::Replace { .. } | EditOp::Remove => ROW,
            })
            .sum(),
        Mutation::Import(_, items) => items
            .iter()
            .map(|item| match item {
                ImportItem::Entry(_, LogEntry::Version { version, .. }) => {
                    let content = version.content.as_ref();
                    ROW + content.map_or(0, |content: &Content| content.bytes().len())
                }
                _ => ROW,
            })
            .sum(),
        Mutation::PutVectors(batch) => batch
            .vectors
            .iter()
            .map(|(_, source)| match source {
                VectorSource::Made(bytes) => ROW + bytes.len(),
                VectorSource::SameAs(_) => ROW,
            })
            .sum(),
        Mutation::PutReadings(batch) => {
            batch.readings.iter().map(|reading| ROW + reading.claims.len()).sum()
        }
        _ => ROW,
    }
}
