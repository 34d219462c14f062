//! Work that time brings: expired memories are removed, histories that are due are erased, stores
//! whose removal was interrupted are purged, old idempotency keys are forgotten. All of it goes
//! through the same mutations as a caller's writes, so it is versioned and in the feed.

use crate::{Engine, Result};
use loci_model::policy::System;
use loci_model::{Timestamp, limit};
use loci_storage::{Mutation, Receipt};

/// How long sweeping is one server's to do: longer than the pause between two sweeps, and not much
/// longer, because a server that is gone is waited for. Should a sweep take longer, another one may
/// begin beside it; whatever both would do is done by the first.
const LEASE_SECS: u32 = 30;
/// How much one sweep does at most.
const SWEEP_STEP: usize = 500;

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepReport {
    /// Expired memories removed.
    pub expired: u64,
    /// Histories erased.
    pub erased: u64,
    /// Stores purged.
    pub purged: u64,
    /// Idempotency keys forgotten.
    pub forgotten: u64,
}

impl SweepReport {
    /// Whether there may be more to do at once.
    pub fn is_full(&self) -> bool {
        self.expired >= SWEEP_STEP as u64 || self.erased >= SWEEP_STEP as u64
    }
}

impl Engine {
    /// Leaves sweeping to other servers at once.
    pub async fn stop_sweeping(&self) -> Result<()> {
        self.storage.lease("sweep", 0).await?;
        Ok(())
    }

    /// Does what is due, unless another server does. Where one kind of work cannot go on now, because a
    /// backup that is being sent holds up its scrubs, the others go on; what is left is for the next
    /// sweep.
    pub async fn sweep(&self) -> Result<SweepReport> {
        if !self.storage.lease("sweep", LEASE_SECS).await? {
            return Ok(SweepReport::default());
        }
        let now = self.seams.now();
        let mut report = SweepReport::default();
        for (workspace, store, memory) in self.storage.expired(now, SWEEP_STEP).await? {
            self.expire(workspace, store, memory).await?;
            report.expired += 1;
        }
        let erasing = self.erase_due(now, &mut report).await;
        let purging = self.purge_removed(&mut report).await;
        let before = now.plus_secs(-limit::IDEMPOTENCY_SECS);
        if let Receipt::KeysForgotten(count) =
            self.write_unasked(Mutation::ForgetKeys { before }).await?
        {
            report.forgotten = count;
        }
        erasing.and(purging).map(|()| report)
    }

    /// Erases the histories that are due, up to the first whose scrub is held up: it waits for all.
    async fn erase_due(&self, now: Timestamp, report: &mut SweepReport) -> Result<()> {
        let system = System::because("the sweeper does what time brings");
        for (workspace, store, memory) in self.storage.erasable(now, SWEEP_STEP).await? {
            let pass = system.manage(workspace, store, now);
            let version = self.seams.version_id(now);
            self.write_unasked(Mutation::Erase { pass, memory, version }).await?;
            report.erased += 1;
        }
        Ok(())
    }

    /// Purges the stores whose removal was interrupted.
    async fn purge_removed(&self, report: &mut SweepReport) -> Result<()> {
        for (workspace, store) in self.storage.unpurged(SWEEP_STEP).await? {
            self.purge_store(workspace, store).await?;
            report.purged += 1;
        }
        Ok(())
    }
}
