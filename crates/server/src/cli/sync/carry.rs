//! Carries out what a pass decided: first what comes down, then what goes up. Every write to the store
//! expects what both sides last had, so a race is lost and never won by accident: the next pass sees
//! what the other one wrote, and sets the file aside.

use super::super::output::{plain, say};
use super::folder::{Placing, Stamp, Written};
use super::journal::{self, Note, Went};
use super::local::settled;
use super::pass::{Pair, Task};
use super::plan::Step;
use super::report::Report;
use super::state::Base;
use crate::exit::{Exit, Failure};
use futures_util::StreamExt;
use futures_util::stream;
use loci_model::{AttributesPatch, Content, Digest, Expect, MemoryId};
use loci_mount::port::{Act, At, Done, Edit, Entry, Refusal};
use std::collections::BTreeSet;
use std::time::Duration;

/// Requests under way at once.
const AT_ONCE: usize = 16;
/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Carries out the tasks of one pass.
pub(super) struct Carrier<'p> {
    pair: &'p mut Pair,
    /// Every path that the store has: a file that is set aside gets another name.
    taken: BTreeSet<String>,
}

/// A write that is ready to be sent.
struct Outgoing {
    task: Task,
    /// How the file looked when its text was read.
    stamp: Option<Stamp>,
    edit: Edit,
}

impl<'p> Carrier<'p> {
    pub(super) fn new(pair: &'p mut Pair) -> Self {
        let taken = pair.remote.by_path().into_keys().collect();
        Self { pair, taken }
    }

    pub(super) async fn carry(
        mut self,
        tasks: Vec<Task>,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let (mut coming, mut going) = (Vec::new(), Vec::new());
        for task in tasks {
            match task.step {
                Step::Nothing => {}
                Step::Agree => self.agree(&task),
                Step::Forget => self.forget(&task),
                Step::Drop => self.drop_file(&task, report)?,
                Step::Fetch | Step::SetAside => coming.push(task),
                Step::Create | Step::Update(_) | Step::Remove(_) => going.push(task),
            }
        }
        self.fetch(coming, report).await?;
        self.send(going, report).await
    }

    fn agree(&mut self, task: &Task) {
        if let (Some(entry), Some(stamp)) = (&task.entry, task.stamp) {
            self.remember(task.path.as_str(), entry.memory, entry.digest, stamp);
        }
    }

    fn forget(&mut self, task: &Task) {
        self.pair.state.bases.remove(task.path.as_str());
    }

    fn remember(&mut self, path: &str, memory: MemoryId, digest: Digest, stamp: Stamp) {
        let base = Base { memory, digest, stamp: settled(stamp) };
        self.pair.state.bases.insert(path.to_owned(), base);
    }

    fn drop_file(&mut self, task: &Task, report: &mut Report) -> Result<(), Failure> {
        let Some(stamp) = task.stamp else { return Ok(()) };
        match self.pair.folder.remove(&task.path, stamp) {
            Ok(true) => {
                self.forget(task);
                report.dropped += 1;
                report.tell("gone", task.path.as_str())
            }
            Ok(false) => {
                report.is_unfinished = true;
                Ok(())
            }
            Err(error) => {
                report.warn(task.path.as_str(), &error.to_string());
                Ok(())
            }
        }
    }

    /// Brings memories to the directory.
    async fn fetch(&mut self, tasks: Vec<Task>, report: &mut Report) -> Result<(), Failure> {
        let (port, store) = (self.pair.port.clone(), self.pair.store);
        let asked = tasks.into_iter().filter_map(|task| {
            let entry = task.entry.clone()?;
            let port = port.clone();
            Some(async move {
                let text = port.text(store, entry.memory, entry.version);
                (task, patiently(text).await)
            })
        });
        let mut came = stream::iter(asked).buffer_unordered(AT_ONCE);
        while let Some((task, text)) = came.next().await {
            match text {
                Ok(text) => self.put(&task, &text, report)?,
                // It has changed since: the next pass will see.
                Err(Refusal::NotFound) => report.is_unfinished = true,
                Err(refusal) => return Err(failure(&refusal)),
            }
        }
        Ok(())
    }

    fn put(&mut self, task: &Task, text: &str, report: &mut Report) -> Result<(), Failure> {
        let Some(entry) = &task.entry else { return Ok(()) };
        let path = task.path.as_str();
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        let is_taken = |beside: &str| self.taken.contains(&format!("{above}/{beside}"));
        let folder = &self.pair.folder;
        let mut expected = task.stamp;
        if task.step == Step::SetAside {
            match folder.set_aside(&task.path, &is_taken) {
                Ok(beside) => self.note_conflict(path, &beside, report)?,
                Err(error) => {
                    report.warn(path, &error.to_string());
                    return Ok(());
                }
            }
            expected = None;
        }
        let (memory, digest) = (Some(entry.memory), entry.digest);
        let note =
            |stamp| journal::note(folder, &Note { went: Went::Down, path, memory, digest, stamp });
        let placing = Placing {
            expected,
            text: text.as_bytes(),
            mtime_micros: entry.updated_at.as_micros(),
            is_taken: &is_taken,
            note: &note,
        };
        match folder.write(&task.path, &placing) {
            Ok(Written::Changed) => {
                report.is_unfinished = true;
                return Ok(());
            }
            Ok(Written::Done(stamp)) => self.remember(path, entry.memory, entry.digest, stamp),
            Ok(Written::Beside(stamp, beside)) => {
                self.remember(path, entry.memory, entry.digest, stamp);
                self.note_conflict(path, &beside, report)?;
            }
            Err(error) => {
                report.warn(path, &format!("it cannot be written here: {error}"));
                return Ok(());
            }
        }
        report.fetched += 1;
        report.tell("down", path)
    }

    fn note_conflict(&self, path: &str, beside: &str, report: &mut Report) -> Result<(), Failure> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let beside = format!("{folder}/{beside}");
        let (shown, other) = (plain(path), plain(&beside));
        say(&format!("{shown} was changed on both sides; this side's text is now {other}"));
        report.tell("conflict", &beside)?;
        report.conflicts.push(beside);
        report.is_unfinished = true;
        Ok(())
    }

    /// Writes what changed here to the store.
    async fn send(&mut self, tasks: Vec<Task>, report: &mut Report) -> Result<(), Failure> {
        let mut outgoing = Vec::new();
        for task in tasks {
            outgoing.extend(self.prepare(task, report));
        }
        let (port, store) = (self.pair.port.clone(), self.pair.store);
        let sent = outgoing.into_iter().map(|out| {
            let port = port.clone();
            async move {
                let done = patiently(port.edit(store, vec![out.edit.clone()], None)).await;
                (out, done)
            }
        });
        let mut answers = stream::iter(sent).buffer_unordered(AT_ONCE);
        let mut failed = Ok(());
        while let Some((out, answer)) = answers.next().await {
            match answer {
                Ok(done) => self.sent(&out, done, report)?,
                // What else was sent may be done: that is remembered before anything is given up.
                Err(refusal) => {
                    if let Err(failure) = self.refused(&out, &refusal, report) {
                        failed = Err(failure);
                    }
                }
            }
        }
        failed
    }

    fn prepare(&mut self, task: Task, report: &mut Report) -> Option<Outgoing> {
        if let (Step::Remove(digest), Some(base)) = (task.step, task.base) {
            let (at, expect) = (At::Memory(base.memory), Expect::Digest(digest));
            let edit = Edit { at, expect, act: Act::Remove };
            return Some(Outgoing { task, stamp: None, edit });
        }
        let attributes = Box::<AttributesPatch>::default();
        if let (Some(_), Some(base)) = (&task.moved_from, task.base) {
            let act = Act::Put { text: None, to: Some(task.path.clone()), attributes };
            let expect = Expect::Digest(base.digest);
            let edit = Edit { at: At::Memory(base.memory), expect, act };
            return Some(Outgoing { stamp: task.stamp, task, edit });
        }
        let (text, stamp) = match self.pair.locals.text(&self.pair.folder, &task.path) {
            Ok(Some(read)) => read,
            Ok(None) => {
                report.is_unfinished = true;
                return None;
            }
            Err(why) => {
                report.warn(task.path.as_str(), &why);
                return None;
            }
        };
        let (at, expect) = match (task.step, task.base) {
            (Step::Update(digest), Some(base)) => (At::Memory(base.memory), Expect::Digest(digest)),
            _ => (At::Path(task.path.clone()), Expect::Absent),
        };
        let digest = Content::Text(text.clone()).digest();
        let path = task.path.as_str();
        let up = Note { went: Went::Up, path, memory: None, digest, stamp };
        if let Err(error) = journal::note(&self.pair.folder, &up) {
            report.warn(path, &error.to_string());
            return None;
        }
        let act = Act::Put { text: Some(text), to: None, attributes };
        let edit = Edit { at, expect, act };
        Some(Outgoing { task, stamp: Some(stamp), edit })
    }

    fn sent(
        &mut self,
        out: &Outgoing,
        done: Vec<Done>,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let path = out.task.path.as_str();
        let Some(Done { entry, .. }) = done.into_iter().next() else {
            return Err(Failure::failed("the answer to one edit names none"));
        };
        let Some(stamp) = out.stamp else {
            self.pair.remote.unlearn(entry.memory);
            self.forget(&out.task);
            report.removed += 1;
            return report.tell("removed", path);
        };
        let Entry { memory, digest, .. } = entry;
        self.pair.remote.learn(entry);
        self.remember(path, memory, digest, stamp);
        // Without it nothing is lost but a little time, if this process dies before the state is saved.
        let memory = Some(memory);
        let done = Note { went: Went::Done, path, memory, digest, stamp };
        let _ = journal::note(&self.pair.folder, &done);
        match &out.task.moved_from {
            Some(from) => {
                self.pair.state.bases.remove(from);
                report.moved += 1;
                report.tell("moved", path)
            }
            None => {
                report.uploaded += 1;
                report.tell("up", path)
            }
        }
    }

    fn refused(
        &mut self,
        out: &Outgoing,
        refusal: &Refusal,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let path = &out.task.path;
        let is_same_path = |taken: &Option<loci_model::MemoryPath>| taken.as_ref() == Some(path);
        let why = match refusal {
            // Somebody was faster: the next pass knows what they wrote.
            Refusal::ExpectFailed | Refusal::NotFound => {
                report.is_unfinished = true;
                return Ok(());
            }
            Refusal::Taken { path: taken, .. } if is_same_path(taken) => {
                report.is_unfinished = true;
                return Ok(());
            }
            Refusal::Taken { path: Some(taken), .. } => {
                format!("there is a memory at {taken}, and nothing can be above or below it")
            }
            Refusal::Taken { path: None, .. } => "its path is taken".to_owned(),
            Refusal::TooLarge => "it is larger than the store allows".to_owned(),
            Refusal::Invalid(why) => why.clone(),
            Refusal::ReadOnly | Refusal::Denied | Refusal::Full | Refusal::Unreachable(_) => {
                return Err(failure(refusal));
            }
        };
        if let Some(stamp) = out.stamp {
            self.pair.locals.set_unfit(path, stamp);
        }
        report.warn(path.as_str(), &why);
        Ok(())
    }
}

/// Waits for an answer, but not forever.
async fn patiently<T>(answer: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    let waited = tokio::time::timeout(PATIENCE, answer).await;
    let late = || Refusal::Unreachable(format!("no answer within {} seconds", PATIENCE.as_secs()));
    waited.unwrap_or_else(|_| Err(late()))
}

/// What ends a pass.
pub(super) fn failure(refusal: &Refusal) -> Failure {
    match refusal {
        Refusal::NotFound => Failure::not_found("the memory store is not there any more"),
        Refusal::ReadOnly => {
            Failure::new(Exit::Denied, "the store takes no writes; --read-only only brings it here")
        }
        Refusal::Denied => Failure::new(Exit::Denied, "the key does not allow this"),
        Refusal::Full => Failure::failed("the store or its disk is full"),
        Refusal::Unreachable(why) => Failure { may_pass: true, ..Failure::failed(why.clone()) },
        Refusal::ExpectFailed | Refusal::Taken { .. } => {
            Failure::new(Exit::Conflict, "the store changes all the time")
        }
        Refusal::TooLarge => Failure::failed("this is larger than the store allows"),
        Refusal::Invalid(why) => Failure::failed(why.clone()),
    }
}
