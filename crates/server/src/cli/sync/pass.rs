//! One pass: looks at both sides, decides about every path, carries it out, and remembers what both
//! sides have now. A pass can be cut off at any point; the next one finds what was done.

use super::carry::Carrier;
use super::folder::{Folder, Stamp};
use super::journal;
use super::local::{Locals, settled};
use super::plan::{Direction, Local, Step, decide, is_bulk};
use super::remote::Remote;
use super::report::Report;
use super::scan::{Scan, scan};
use super::state::{Base, State};
use crate::exit::Failure;
use loci_model::{Digest, MemoryPath, StoreId};
use loci_mount::Port;
use loci_mount::port::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A directory and a store that are kept alike.
pub(super) struct Pair {
    pub(super) folder: Folder,
    pub(super) store: StoreId,
    pub(super) port: Arc<dyn Port>,
    pub(super) direction: Direction,
    /// Whether many removals at once are meant.
    pub(super) allows_deletes: bool,
    /// Whether a file has to be missing twice before its memory is removed: an editor may be about to
    /// write it anew.
    pub(super) looks_twice: bool,
    pub(super) state: State,
    pub(super) remote: Remote,
    pub(super) locals: Locals,
    /// What was missing in the pass before.
    pub(super) missing: BTreeSet<String>,
}

/// What to do about one path, and what is known of it.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) path: MemoryPath,
    pub(super) step: Step,
    pub(super) stamp: Option<Stamp>,
    pub(super) base: Option<Base>,
    pub(super) entry: Option<Entry>,
    /// The path that the memory had, if the file was only renamed.
    pub(super) moved_from: Option<String>,
}

impl Pair {
    /// Makes both sides alike, as far as that goes now.
    pub(super) async fn pass(&mut self, report: &mut Report) -> Result<(), Failure> {
        let found =
            scan(&self.folder).map_err(|error| Failure::io("cannot read the directory", &error))?;
        for (path, why) in &found.ignored {
            report.ignore(path, why);
        }
        let tasks = self.plan(&found, report);
        let mut tasks = tasks.into_iter().filter(|task| task.step != Step::Nothing).peekable();
        if tasks.peek().is_some() {
            let done = Carrier::new(self).carry(tasks.collect(), report).await;
            self.state.save(&self.folder, self.store)?;
            journal::clear(&self.folder)
                .map_err(|error| Failure::io("cannot clear the journal of the sync", &error))?;
            done?;
        }
        Ok(())
    }

    fn plan(&mut self, found: &Scan, report: &mut Report) -> Vec<Task> {
        let mut remote = self.remote.by_path();
        let mut paths: BTreeSet<String> = self.state.bases.keys().cloned().collect();
        paths.extend(found.files.keys().map(|path| path.as_str().to_owned()));
        paths.extend(remote.keys().cloned());
        let mut tasks = Vec::new();
        for path in paths {
            // Only our own state file could say otherwise.
            let Ok(path) = MemoryPath::parse(&path) else { continue };
            if super::is_own(&path) {
                report.ignore(path.as_str(), "this name is kept for the state of the sync");
                continue;
            }
            let stamp = found.files.get(&path).copied();
            let base = self.state.bases.get(path.as_str()).copied();
            let entry = remote.remove(path.as_str());
            let local = match stamp {
                None => Local::Absent,
                Some(stamp) => self.locals.look(&self.folder, &path, stamp, base, report),
            };
            let known = base.map(|base| base.digest);
            let there = entry.as_ref().map(|entry| entry.digest);
            let step = decide(known, local, there, self.direction);
            if let (Some(stamp), Local::Text(here)) = (stamp, local)
                && step == Step::Nothing
                && known == Some(here)
                && let Some(base) = self.state.bases.get_mut(path.as_str())
            {
                // It was read to be sure; the next pass need not.
                base.stamp = settled(stamp);
            }
            tasks.push(Task { path, step, stamp, base, entry, moved_from: None });
        }
        self.find_moves(&mut tasks);
        self.hold_back(&mut tasks, found.files.is_empty(), report);
        tasks
    }

    /// A file that is gone and one that is new with the same text are one that was renamed: its
    /// memory keeps its history.
    fn find_moves(&self, tasks: &mut [Task]) {
        let mut gone: BTreeMap<Digest, Vec<usize>> = BTreeMap::new();
        for (index, task) in tasks.iter().enumerate() {
            if let Step::Remove(digest) = task.step
                && task.entry.as_ref().is_some_and(|entry| entry.size_bytes > 0)
            {
                gone.entry(digest).or_default().push(index);
            }
        }
        for index in 0..tasks.len() {
            let digest = match (&tasks[index].step, self.locals.digest(&tasks[index].path)) {
                (Step::Create, Some(digest)) if tasks[index].base.is_none() => digest,
                _ => continue,
            };
            let Some(candidates) = gone.get_mut(&digest) else { continue };
            let name = |task: &Task| task.path.as_str().rsplit('/').next().map(str::to_owned);
            let wanted = name(&tasks[index]);
            let best = candidates.iter().position(|from| name(&tasks[*from]) == wanted);
            if candidates.is_empty() {
                continue;
            }
            let from = candidates.remove(best.unwrap_or(0));
            let source = &mut tasks[from];
            source.step = Step::Nothing;
            let moved = (source.path.as_str().to_owned(), source.base, source.entry.clone());
            let (from, base, entry) = moved;
            let task = &mut tasks[index];
            (task.moved_from, task.base, task.entry) = (Some(from), base, entry);
        }
    }

    /// Removes only what is really gone, and not very much at once unless that is meant.
    fn hold_back(&mut self, tasks: &mut [Task], is_empty: bool, report: &mut Report) {
        let is_removal = |task: &&mut Task| matches!(task.step, Step::Remove(_));
        let removals = tasks.iter_mut().filter(is_removal).count();
        let is_bulk = is_bulk(removals, self.state.bases.len(), is_empty);
        if is_bulk && !self.allows_deletes {
            report.hold_back(removals);
            tasks.iter_mut().filter(is_removal).for_each(|task| task.step = Step::Nothing);
            return;
        }
        let mut missing = BTreeSet::new();
        for task in tasks.iter_mut().filter(is_removal) {
            let path = task.path.as_str().to_owned();
            if self.looks_twice && !self.missing.contains(&path) {
                task.step = Step::Nothing;
                missing.insert(path);
            }
        }
        self.missing = missing;
    }
}
