//! The history of one store on its way: each entry as the destination can take it, with the next
//! number and a time behind the last one's, and a note of what is lost.

use super::lives::Lives;
use super::{Loss, Salvage, SalvageReport, unless_refused};
use crate::dump::without_content;
use crate::transfer::Result;
use loci_model::{MemoryId, Operation, Store, Timestamp, Version, VersionId};
use loci_storage::log::{ImportItem, LogEntry};
use std::collections::HashSet;

/// One store on its way.
pub(super) struct Copying<'a> {
    pub(super) salvage: &'a Salvage,
    pub(super) store: &'a Store,
    pub(super) lives: Lives,
    /// The last number at the destination.
    pub(super) through: u64,
    /// Its time.
    pub(super) at: Option<Timestamp>,
    pub(super) report: &'a mut SalvageReport,
}

impl Copying<'_> {
    pub(super) async fn run(&mut self) -> Result<()> {
        let mut after = 0;
        let (mut lost, mut refused) = (HashSet::new(), HashSet::new());
        while let Some(page) = self.salvage.history(self.store, &mut after).await? {
            let times: Vec<Timestamp> = page.iter().map(LogEntry::at).collect();
            let mut batch = Vec::with_capacity(page.len());
            for (nth, entry) in page.into_iter().enumerate() {
                let memory = entry.memory();
                if refused.contains(&memory) {
                    continue;
                }
                let behind = times[nth + 1..].iter().take(2);
                let is_late = behind.len() == 2 && behind.into_iter().all(|at| *at < times[nth]);
                batch.extend(self.fitting(entry, &mut lost).map(|entry| (entry, is_late)));
            }
            self.write(batch, &mut refused).await?;
        }
        Ok(())
    }

    /// An entry as the destination can take it, if it can; what is lost of it is noted.
    fn fitting(&mut self, entry: LogEntry, lost: &mut HashSet<MemoryId>) -> Option<LogEntry> {
        let memory = entry.memory();
        let is_whole = self.lives.is_whole(memory);
        let (version, partition, owner) = match entry {
            LogEntry::Redaction { .. } => return is_whole.then_some(entry),
            LogEntry::Version { version, partition, owner } if is_whole => {
                return Some(LogEntry::Version { version, partition, owner });
            }
            LogEntry::Version { version, partition, owner } => {
                let is_head = self.lives.is_head(&version);
                if lost.insert(memory) || is_head {
                    let what = match is_head {
                        true => "its history; the newest version is there",
                        false => "its history",
                    };
                    self.lose(&version, None, what);
                }
                if !is_head {
                    return None;
                }
                let version = Version { operation: Operation::Created, revision: 1, ..*version };
                return Some(LogEntry::Version { version: Box::new(version), partition, owner });
            }
            LogEntry::Damaged { version, partition, owner } => (version, partition, owner),
        };
        let is_head = self.lives.is_head(&version);
        let what = if is_head { "its content" } else { "the content of an older version" };
        self.lose(&version, Some(version.id), what);
        if !is_whole {
            return None;
        }
        let version = Box::new(without_content(&version, is_head));
        Some(LogEntry::Version { version, partition, owner })
    }

    fn lose(&mut self, version: &Version, id: Option<VersionId>, what: &'static str) {
        self.report.lose(Loss {
            store: version.store,
            memory: version.memory,
            version: id,
            path: version.path.as_ref().map(|path| path.to_string()),
            what,
        });
    }

    /// Writes entries, all at once or, if that is refused, one by one. Of a memory that is refused
    /// something, nothing behind that is written.
    async fn write(
        &mut self,
        batch: Vec<(LogEntry, bool)>,
        refused: &mut HashSet<MemoryId>,
    ) -> Result<()> {
        let before = (self.through, self.at);
        let all: Vec<_> =
            batch.iter().map(|(entry, is_late)| self.numbered(entry.clone(), *is_late)).collect();
        let count = all.len() as u64;
        let (workspace, id) = (self.store.workspace, self.store.id);
        let to = &self.salvage.to;
        let items = all.into_iter().map(|entry| ImportItem::Entry(id, entry)).collect();
        if unless_refused(to.import(workspace, items).await)?.is_some() {
            self.report.take("entries", count);
            return Ok(());
        }
        (self.through, self.at) = before;
        for (entry, is_late) in batch {
            let memory = entry.memory();
            if refused.contains(&memory) {
                continue;
            }
            let before = (self.through, self.at);
            let entry = self.numbered(entry, is_late);
            let item = ImportItem::Entry(id, entry.clone());
            if unless_refused(to.import(workspace, vec![item]).await)?.is_some() {
                self.report.take("entries", 1);
                continue;
            }
            (self.through, self.at) = before;
            refused.insert(memory);
            match &entry {
                LogEntry::Version { version, .. } | LogEntry::Damaged { version, .. } => {
                    self.lose(version, Some(version.id), "what it was from this version on");
                }
                LogEntry::Redaction { .. } => self.report.leave("redactions"),
            }
        }
        Ok(())
    }

    /// The entry with the next number, and a time after the last one; `is_late` says that its own
    /// time cannot be right.
    fn numbered(&mut self, entry: LogEntry, is_late: bool) -> LogEntry {
        self.through += 1;
        let after = self.at.map_or(i64::MIN, |at| at.as_micros().saturating_add(1));
        let own = entry.at().as_micros();
        let moment = if is_late && self.at.is_some() { after } else { own.max(after) };
        let (seq, at) = (self.through, Timestamp::from_micros(moment));
        self.at = Some(at);
        match entry {
            LogEntry::Version { mut version, partition, owner } => {
                (version.seq, version.created_at) = (seq, at);
                LogEntry::Version { version, partition, owner }
            }
            LogEntry::Redaction { memory, version, actor, reason, .. } => {
                LogEntry::Redaction { seq, memory, version, actor, at, reason }
            }
            damaged @ LogEntry::Damaged { .. } => damaged,
        }
    }
}
