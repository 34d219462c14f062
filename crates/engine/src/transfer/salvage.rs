//! Whatever can still be read of a damaged engine, brought to one that holds nothing. Where a move
//! ends at the first thing that cannot be read, this passes over it, counts it and, where it is a
//! memory, names it.
//!
//! What comes over is a history that no engine would refuse. A version whose content is damaged is
//! taken without it, as an export does. Of a memory whose history has gaps, the newest version is
//! taken, as if it were the first; if that is lost, none. Where entries are lost, those behind them
//! move up, because numbers have no gaps. The audit log comes over up to its first gap. Vectors are
//! made again.

mod lives;
mod store;

use super::side::{ROWS_PAGE, Side};
use super::walk::{Pages, Walk};
use super::{ENTRIES_PAGE, Result, TransferError, readings};
use lives::Lives;
use loci_model::{MemoryId, Store, StoreId, VersionId, WorkspaceId};
use loci_storage::log::{ImportItem, LogEntry};
use loci_storage::{Mutation, Storage, StorageError};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Copying;

/// Losses that are named one by one; more are counted.
const LOSSES_MAX: usize = 10_000;

/// A salvage from one engine to another.
pub struct Salvage {
    from: Side,
    to: Side,
}

/// Something of a memory that did not come over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// In which store.
    pub store: StoreId,
    /// Of which memory.
    pub memory: MemoryId,
    /// Which version, where it is one.
    pub version: Option<VersionId>,
    /// Where it was, as far as that is known.
    pub path: Option<String>,
    /// What is lost.
    pub what: &'static str,
}

/// What came over, and what did not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SalvageReport {
    /// Things that came over, by what they are.
    pub taken: BTreeMap<&'static str, u64>,
    /// Things that did not, by what they are; at least so many.
    pub left: BTreeMap<&'static str, u64>,
    /// What is lost of memories.
    pub losses: Vec<Loss>,
    /// Losses beyond those that are named.
    pub more_losses: u64,
}

impl SalvageReport {
    /// Whether everything came over.
    pub fn is_whole(&self) -> bool {
        self.left.is_empty() && self.losses.is_empty()
    }

    fn take(&mut self, what: &'static str, count: u64) {
        *self.taken.entry(what).or_default() += count;
    }

    fn leave(&mut self, what: &'static str) {
        *self.left.entry(what).or_default() += 1;
    }

    fn lose(&mut self, loss: Loss) {
        match self.losses.len() < LOSSES_MAX {
            true => self.losses.push(loss),
            false => self.more_losses += 1,
        }
    }
}

impl Salvage {
    /// A salvage that has not begun.
    pub fn new(from: Arc<dyn Storage>, to: Arc<dyn Storage>) -> Self {
        let side = |storage, name| Side { storage, name, entries_page: ENTRIES_PAGE };
        Self { from: side(from, "the source"), to: side(to, "the destination") }
    }

    /// Brings over what can be read. A destination that holds anything is refused.
    pub async fn run(&self) -> Result<SalvageReport> {
        if let Some((workspace, _)) = self.to.workspaces().await?.first() {
            return Err(TransferError::Foreign(format!("workspace {workspace}")));
        }
        let workspaces = self.from.workspaces().await?;
        if workspaces.is_empty() {
            return Err(TransferError::Nothing);
        }
        let mut report = SalvageReport::default();
        for (workspace, at) in &workspaces {
            self.to.write(Mutation::CreateWorkspace(*workspace, *at)).await?;
            let principals = self.from.principals(*workspace).await;
            let principals = unless_damaged(principals, "principals", &mut report)?;
            let principals = principals.unwrap_or_default().into_iter();
            let principals = principals.map(ImportItem::Principal).collect();
            self.import(*workspace, "principals", principals, &mut report).await?;
            let mut pages = self.from.membership_pages(*workspace);
            let item = ImportItem::Membership;
            self.pages(*workspace, "memberships", &mut pages, item, &mut report).await?;
            let mut pages = self.from.session_pages(*workspace);
            let item = |one| ImportItem::Session(Box::new(one));
            self.pages(*workspace, "sessions", &mut pages, item, &mut report).await?;
            let mut stores = self.from.stores(*workspace);
            while let Some(store) = next(&mut stores, "stores", &mut report).await? {
                self.store(&store, &mut report).await?;
            }
        }
        for (workspace, _) in &workspaces {
            let keys = unless_damaged(self.from.keys(*workspace).await, "keys", &mut report)?;
            let keys = keys.unwrap_or_default().into_iter();
            let keys = keys.map(|key| ImportItem::Key(Box::new(key))).collect();
            self.import(*workspace, "keys", keys, &mut report).await?;
            self.events(*workspace, &mut report).await?;
            let mut pages = self.from.request_pages(*workspace);
            let item = |one| ImportItem::Remembered(Box::new(one));
            self.pages(*workspace, "requests", &mut pages, item, &mut report).await?;
        }
        Ok(report)
    }

    /// Imports what a list has, as far as it can be read.
    async fn pages<P: Pages>(
        &self,
        workspace: WorkspaceId,
        what: &'static str,
        pages: &mut P,
        item: impl Fn(P::Item) -> ImportItem,
        report: &mut SalvageReport,
    ) -> Result<()> {
        while let Some(Some(page)) = unless_damaged(pages.next_page().await, what, report)? {
            let items = page.into_iter().map(&item).collect();
            self.import(workspace, what, items, report).await?;
        }
        Ok(())
    }

    /// Imports things that do not depend on each other; those that are refused are counted.
    async fn import(
        &self,
        workspace: WorkspaceId,
        what: &'static str,
        items: Vec<ImportItem>,
        report: &mut SalvageReport,
    ) -> Result<()> {
        for page in items.chunks(ROWS_PAGE) {
            if unless_refused(self.to.import(workspace, page.to_vec()).await)?.is_some() {
                report.take(what, page.len() as u64);
                continue;
            }
            for item in page {
                match unless_refused(self.to.import(workspace, vec![item.clone()]).await)? {
                    Some(()) => report.take(what, 1),
                    None => report.leave(what),
                }
            }
        }
        Ok(())
    }

    /// The audit log up to its first gap: each event vouches for the one before it.
    async fn events(&self, workspace: WorkspaceId, report: &mut SalvageReport) -> Result<()> {
        let mut events = self.from.events(workspace);
        let mut is_broken = false;
        while let Some(event) = next(&mut events, "audit events", report).await? {
            if !is_broken {
                let item = ImportItem::Event(Box::new(event));
                let taken = unless_refused(self.to.import(workspace, vec![item]).await)?;
                is_broken = taken.is_none();
            }
            match is_broken {
                true => report.leave("audit events"),
                false => report.take("audit events", 1),
            }
        }
        Ok(())
    }

    async fn store(&self, store: &Store, report: &mut SalvageReport) -> Result<()> {
        let item = ImportItem::Store(Box::new(store.clone()));
        let before = report.left.get("stores").copied();
        self.import(store.workspace, "stores", vec![item], report).await?;
        if report.left.get("stores").copied() != before {
            return Ok(());
        }
        let grants = unless_damaged(self.from.grants(store).await, "grants", report)?;
        let grants = grants.unwrap_or_default().into_iter().map(ImportItem::Grant).collect();
        self.import(store.workspace, "grants", grants, report).await?;
        let lost = (report.left.clone(), report.losses.len());
        let lives = self.lives(store, report).await?;
        let mut copying = Copying { salvage: self, store, lives, through: 0, at: None, report };
        copying.run().await?;
        let memories = self.to.stats(store).await?.memories;
        report.take("memories", memories);
        if (&report.left, report.losses.len()) == (&lost.0, lost.1) {
            unless_damaged(readings::copy(&self.from, &self.to, store).await, "readings", report)?;
        }
        Ok(())
    }

    /// Each page of the history of a store that can be read, in order. Where one cannot, its entries
    /// are asked for one by one.
    async fn history(&self, store: &Store, after: &mut u64) -> Result<Option<Vec<LogEntry>>> {
        if *after == u64::MAX {
            return Ok(None);
        }
        // Where it ends for sure, if that can be read.
        let end = match self.from.stats(store).await {
            Err(error) if is_damage(&error) => 0,
            stats => stats?.last_seq,
        };
        loop {
            match self.from.history(store, *after, self.from.entries_page).await {
                Err(error) if is_damage(&error) => {}
                page => {
                    let page = page?;
                    let Some(last) = page.last() else { return Ok(None) };
                    *after = last.seq();
                    return Ok(Some(page));
                }
            }
            match self.from.history(store, *after, 1).await {
                Err(error) if is_damage(&error) => {
                    *after += 1;
                    if *after > end {
                        *after = u64::MAX;
                        return Ok(None);
                    }
                }
                page => {
                    let page = page?;
                    let Some(last) = page.last() else { return Ok(None) };
                    *after = last.seq();
                    return Ok(Some(page));
                }
            }
        }
    }

    /// What there is of each memory.
    async fn lives(&self, store: &Store, report: &mut SalvageReport) -> Result<Lives> {
        let mut lives = Lives::default();
        let mut after = 0;
        // Numbers have no gaps, so each that is missing is an entry that is lost.
        let (mut expected, mut lost) = (1, 0);
        while let Some(page) = self.history(store, &mut after).await? {
            for entry in &page {
                lost += entry.seq().saturating_sub(expected);
                expected = entry.seq() + 1;
                lives.add(entry);
            }
        }
        let stats = unless_damaged(self.from.stats(store).await, "counters", report)?;
        lost += stats.map_or(0, |stats| (stats.last_seq + 1).saturating_sub(expected));
        if lost > 0 {
            *report.left.entry("entries").or_default() += lost;
        }
        let mut memories = self.from.memories(store);
        let before = report.left.get("memories").copied();
        while let Some(memory) = next(&mut memories, "memories", report).await? {
            lives.heads.insert(memory.id, memory.head);
        }
        lives.knows_heads = report.left.get("memories").copied() == before;
        Ok(lives)
    }
}

async fn next<P: Pages>(
    walk: &mut Walk<P>,
    what: &'static str,
    report: &mut SalvageReport,
) -> Result<Option<P::Item>> {
    Ok(unless_damaged(walk.next().await, what, report)?.flatten())
}

/// What was read, if it could be; damage is counted and ends only this.
fn unless_damaged<T>(
    read: Result<T>,
    what: &'static str,
    report: &mut SalvageReport,
) -> Result<Option<T>> {
    match read {
        Err(error) if is_damage(&error) => {
            tracing::warn!(%error, what, "cannot be read");
            report.leave(what);
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// What was written, if the destination took it.
fn unless_refused<T>(written: Result<T>) -> Result<Option<T>> {
    match written {
        Err(TransferError::Storage { error, .. }) if is_refusal(&error) => {
            tracing::warn!(%error, "does not fit");
            Ok(None)
        }
        written => written.map(Some),
    }
}

fn is_damage(error: &TransferError) -> bool {
    matches!(error, TransferError::Storage { error: StorageError::Corrupt(_), .. })
}

/// Whether an engine says no to what it was given, and not that it failed.
fn is_refusal(error: &StorageError) -> bool {
    !matches!(
        error,
        StorageError::ScrubPending
            | StorageError::Busy
            | StorageError::Unreachable(_)
            | StorageError::Replica
            | StorageError::Full
            | StorageError::Stopped(_)
            | StorageError::Corrupt(_)
            | StorageError::Io(_)
    )
}
