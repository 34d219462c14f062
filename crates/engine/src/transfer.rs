//! Everything of one storage engine moved to another: workspaces, principals, groups, keys, stores,
//! grants, sessions, whole histories, vectors, readings, the audit log, and what is remembered of earlier
//! requests. The source is
//! only read. Ids, numbers and times stay, so whoever asked the old engine can ask the new one.
//!
//! All state of a move is the destination itself. What is there already is passed over, so a move
//! that was cut off at any moment is finished by running it again; and a destination that holds
//! anything else is refused before the first write. Keys go last: until all is there, nobody gets
//! in. At the end both sides are read whole and compared.

mod copy;
mod fold;
mod ground;
mod readings;
mod salvage;
mod side;
mod verify;
mod walk;

use loci_storage::{Storage, StorageError};
pub use salvage::{Loss, Salvage, SalvageReport};
use side::Side;
use std::sync::Arc;

/// How many differences a failed comparison names.
const DIFFERENCES_MAX: usize = 20;
/// Entries of a history that are written at once, unless they are large.
const ENTRIES_PAGE: usize = 1000;

/// A move from one engine to another.
pub struct Transfer {
    from: Side,
    to: Side,
}

/// Why a move did not happen, or not wholly.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// One of the engines failed.
    #[error("{side}: {error}")]
    Storage {
        /// Which.
        side: &'static str,
        /// How.
        error: StorageError,
    },
    /// The source was never used.
    #[error("the source holds nothing that could be moved")]
    Nothing,
    /// The destination holds what did not come from the source. Nothing was written.
    #[error("the destination holds {0} that is not the source's; nothing was written to it")]
    Foreign(String),
    /// Both sides were compared and are not equal.
    #[error("the two sides are not equal: {}", .0.join("; "))]
    Different(Vec<String>),
}

impl TransferError {
    /// Whether going on later may succeed: a database was away or busy. What was moved stays moved.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Storage { error: StorageError::Busy | StorageError::Unreachable(_), .. }
        )
    }
}

/// Shorthand for what a move's steps return.
type Result<T> = std::result::Result<T, TransferError>;

/// What a move is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Bringing histories over.
    Moving,
    /// Reading both sides and comparing them.
    Verifying,
}

/// How far a move has come, in entries of all feeds together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// In which step.
    pub step: Step,
    /// Entries behind us.
    pub done: u64,
    /// Entries in all.
    pub total: u64,
}

/// Told of every bit of progress.
pub type Watch<'a> = &'a (dyn Fn(Progress) + Sync);

/// What was compared and found equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Workspaces.
    pub workspaces: u64,
    /// Principals.
    pub principals: u64,
    /// API keys, revoked ones included.
    pub keys: u64,
    /// Sessions.
    pub sessions: u64,
    /// Principals in groups.
    pub memberships: u64,
    /// Entries of the audit log.
    pub events: u64,
    /// Requests that can still be repeated.
    pub requests: u64,
    /// Stores.
    pub stores: u64,
    /// Grants.
    pub grants: u64,
    /// Live memories.
    pub memories: u64,
    /// Versions and redactions.
    pub entries: u64,
    /// Versions with vectors, counted in each generation.
    pub vectors: u64,
    /// What readers found, in memories that still say so.
    pub readings: u64,
    /// Removed stores that were left behind.
    pub left_behind: u64,
}

impl Transfer {
    /// A move that has not begun.
    pub fn new(from: Arc<dyn Storage>, to: Arc<dyn Storage>) -> Self {
        let side = |storage, name| Side { storage, name, entries_page: ENTRIES_PAGE };
        Self { from: side(from, "the source"), to: side(to, "the destination") }
    }

    /// The same with other pages; smaller ones make more writes of a move.
    #[must_use]
    pub fn in_pages_of(mut self, entries: usize) -> Self {
        self.from.entries_page = entries.max(1);
        self.to.entries_page = entries.max(1);
        self
    }

    /// Moves everything that is not there yet, then compares both sides.
    pub async fn run(&self, watch: Watch<'_>) -> Result<Tally> {
        let total = self.total().await?;
        ground::refuse_foreign(&self.from, &self.to).await?;
        copy::everything(&self.from, &self.to, &Course::new(Step::Moving, total, watch)).await?;
        self.compare(total, watch).await
    }

    /// Compares both sides and changes nothing.
    pub async fn verify(&self, watch: Watch<'_>) -> Result<Tally> {
        let total = self.total().await?;
        self.compare(total, watch).await
    }

    async fn compare(&self, total: u64, watch: Watch<'_>) -> Result<Tally> {
        let course = Course::new(Step::Verifying, total, watch);
        let (tally, mut differences) = verify::everything(&self.from, &self.to, &course).await?;
        if differences.is_empty() {
            return Ok(tally);
        }
        if differences.len() > DIFFERENCES_MAX {
            let more = differences.len() - DIFFERENCES_MAX;
            differences.truncate(DIFFERENCES_MAX);
            differences.push(format!("and {more} more"));
        }
        Err(TransferError::Different(differences))
    }

    /// How many entries there are to move.
    async fn total(&self) -> Result<u64> {
        let workspaces = self.from.workspaces().await?;
        if workspaces.is_empty() {
            return Err(TransferError::Nothing);
        }
        let mut total = 0;
        for (workspace, _) in workspaces {
            let mut stores = self.from.stores(workspace);
            while let Some(store) = stores.next().await? {
                total += self.from.stats(&store).await?.last_seq;
            }
        }
        Ok(total)
    }
}

/// Counts what a step has done and tells whoever watches.
struct Course<'a> {
    step: Step,
    total: u64,
    watch: Watch<'a>,
    done: std::sync::atomic::AtomicU64,
}

impl<'a> Course<'a> {
    fn new(step: Step, total: u64, watch: Watch<'a>) -> Self {
        watch(Progress { step, done: 0, total });
        Self { step, total, watch, done: 0.into() }
    }

    fn advance(&self, entries: u64) {
        let before = self.done.fetch_add(entries, std::sync::atomic::Ordering::Relaxed);
        (self.watch)(Progress { step: self.step, done: before + entries, total: self.total });
    }
}
