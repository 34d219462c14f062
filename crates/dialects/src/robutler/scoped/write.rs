//! Writing notes: put, forget, and the push of a device.
//!
//! Every note is read first and written under the condition that it is still as it was read, its
//! tombstone included; when somebody else was faster it is read and decided again. So each change is
//! decided on what it really replaces, whoever writes at the same time, and a note and its tombstone
//! are never both there by this door's doing.

use super::answer::{AnswerBody, EntryBody};
use super::moment::Moment;
use super::name::{Key, Namespace};
use super::note::{self, Note, TOMBSTONE_KIND, Written};
use super::shelf::{Rows, Shelf};
use loci_engine::{Error, Purpose};
use loci_model::{
    At, Content, Edit, EditOp, Expect, Memory, MemoryPath, OnSame, Operation, Outcome, PathPrefix,
    StoreId, View,
};

/// What the feed shows as the reason of writes through this door.
const REASON: &str = "api";
/// The oldest tombstones that make room in a full store at once.
const ROOM_MADE: usize = 100;

/// What is at the two places of a note.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) note: Option<Memory>,
    pub(super) tombstone: Option<Memory>,
}

impl Held {
    /// The note, if clients see it.
    pub(super) fn shown(&self) -> Option<&Memory> {
        self.note.as_ref().filter(|memory| note::is_shown(memory))
    }
}

/// What a note becomes.
#[derive(Debug)]
pub(super) enum Next<'w> {
    /// This; one that begins anew does not go on from what is there.
    Written { written: &'w Written, is_new: bool },
    /// Forgotten, at a moment if the writer says so. There must be a note.
    Forgotten(Option<&'w Moment>),
}

/// What came of an attempt to write.
pub(super) enum Attempt {
    Done(Vec<Outcome>),
    /// Somebody else was faster.
    Late,
}

impl Shelf<'_> {
    pub(super) async fn put(
        &self,
        namespace: &Namespace,
        key: &Key,
        written: &Written,
    ) -> Result<AnswerBody, Error> {
        let store = self.store_to_write().await?;
        let path = namespace.path(key);
        let mut turn = self.engine.turn(store, path.as_str()).await?;
        loop {
            let held = self.held(store, namespace, key).await?;
            let is_new = held.shown().is_none();
            let at = written.at.clone().or_else(|| self.ahead(&held));
            let written = &Written { at, ..written.clone() };
            let edits = self.edits(namespace, key, &held, &Next::Written { written, is_new });
            if let Attempt::Done(outcomes) = self.attempt(store, edits).await? {
                let is_note = |outcome: &&Outcome| {
                    outcome.memory.path == path && outcome.operation != Some(Operation::Deleted)
                };
                let outcome = outcomes.iter().find(is_note);
                let note = outcome.and_then(|one| Note::with(&one.memory, written.content.clone()));
                let note = note.ok_or_else(|| Error::Internal("a put without its note".into()))?;
                return Ok(AnswerBody::Entry { entry: Some(EntryBody::new(&self.agent, note)) });
            }
            turn.again().await?;
        }
    }

    pub(super) async fn forget(
        &self,
        namespace: &Namespace,
        key: &Key,
    ) -> Result<AnswerBody, Error> {
        let Some(store) = self.store(Purpose::Change).await? else {
            return Ok(AnswerBody::Forgotten { forgotten: 0 });
        };
        self.engine.require_write(&self.keeper, store).await?;
        let mut turn = self.engine.turn(store, namespace.path(key).as_str()).await?;
        loop {
            let held = self.held(store, namespace, key).await?;
            if held.shown().is_none() {
                return Ok(AnswerBody::Forgotten { forgotten: 0 });
            }
            let at = self.ahead(&held);
            let edits = self.edits(namespace, key, &held, &Next::Forgotten(at.as_ref()));
            if let Attempt::Done(_) = self.attempt(store, edits).await? {
                return Ok(AnswerBody::Forgotten { forgotten: 1 });
            }
            turn.again().await?;
        }
    }

    /// When a change happens whose writer does not say: now, which needs no saying, unless what it
    /// changes was dated by a device whose clock is ahead. Dated before that, it would be undone
    /// when the device pushes again.
    fn ahead(&self, held: &Held) -> Option<Moment> {
        let known = [held.shown(), held.tombstone.as_ref()];
        let known = known.into_iter().flatten().map(note::updated_at).max()?;
        (known >= Moment::from(self.engine.seams().now())).then(|| known.just_after())
    }

    pub(super) async fn store_to_write(&self) -> Result<StoreId, Error> {
        let store = self.engine.callers_store(&self.keeper, Purpose::Write).await?;
        store.ok_or_else(|| Error::Internal("a store for writing was not made".into()))
    }

    pub(super) async fn held(
        &self,
        store: StoreId,
        namespace: &Namespace,
        key: &Key,
    ) -> Result<Held, Error> {
        let look = async |path| self.memory(&self.keeper, store, path, View::Basic).await;
        Ok(Held {
            note: look(namespace.path(key)).await?,
            tombstone: look(namespace.tombstone(key)).await?,
        })
    }

    /// The edits that make a note what it is to become, if it is still what it was.
    pub(super) fn edits(
        &self,
        namespace: &Namespace,
        key: &Key,
        held: &Held,
        next: &Next<'_>,
    ) -> Vec<Edit> {
        let (path, grave) = (namespace.path(key), namespace.tombstone(key));
        let (live, dead) = (held.note.as_ref(), held.tombstone.as_ref());
        match next {
            Next::Written { written, is_new } => {
                let content = Content::Text(written.content.clone());
                let attributes = note::attributes(namespace, written, live, *is_new);
                let put = |at: &MemoryPath, to: Option<MemoryPath>| {
                    let op = EditOp::Put { content: Some(content), to, attributes };
                    edit(at, expectation(live), op)
                };
                match (live, dead) {
                    // Made where nothing is, if nothing is where its tombstone would be either.
                    (None, None) => vec![put(&grave, Some(path))],
                    (_, Some(dead)) => vec![remove(&grave, dead), put(&path, None)],
                    (Some(_), None) => vec![put(&path, None)],
                }
            }
            Next::Forgotten(at) => {
                let attributes = note::tombstone(namespace, *at, dead, self.engine.seams().now());
                let content = Some(Content::Text(String::new()));
                let bury = EditOp::Put { content, to: None, attributes };
                let removal = live.map(|live| remove(&path, live));
                removal.into_iter().chain([edit(&grave, expectation(dead), bury)]).collect()
            }
        }
    }

    /// Commits edits that were decided on what was read. A store that is full of tombstones loses
    /// its oldest ones: a device that was away for long may then bring a forgotten note back, which
    /// is better than to take no note at all.
    pub(super) async fn attempt(&self, store: StoreId, edits: Vec<Edit>) -> Result<Attempt, Error> {
        let paths: Vec<MemoryPath> = edits.iter().flat_map(paths_of).cloned().collect();
        match self.engine.commit_tree(&self.keeper, store, edits, REASON).await {
            Ok(outcomes) => Ok(Attempt::Done(outcomes)),
            Err(Error::ExpectFailed | Error::NotFound("memory")) => Ok(Attempt::Late),
            Err(Error::PathTaken { path, .. }) if paths.contains(&path) => Ok(Attempt::Late),
            Err(Error::OverQuota(why)) => match self.make_room(store).await? {
                true => Ok(Attempt::Late),
                false => Err(Error::OverQuota(why)),
            },
            Err(error) => Err(error),
        }
    }

    /// Takes the oldest tombstones away; false when there are none.
    async fn make_room(&self, store: StoreId) -> Result<bool, Error> {
        let mut rows = Rows::below(PathPrefix::root(), View::Basic).of_kind(TOMBSTONE_KIND);
        let oldest = rows.next(self, &self.keeper, store, ROOM_MADE).await?.unwrap_or_default();
        let gone: Vec<Edit> =
            oldest.iter().map(|memory| Edit::remove(At::Id(memory.id), Expect::Present)).collect();
        if gone.is_empty() {
            return Ok(false);
        }
        match self.engine.commit_tree(&self.keeper, store, gone, REASON).await {
            // Somebody else is making room.
            Ok(_) | Err(Error::NotFound("memory")) => Ok(true),
            Err(error) => Err(error),
        }
    }
}

fn expectation(memory: Option<&Memory>) -> Expect {
    memory.map_or(Expect::Absent, |memory| Expect::Revision(memory.revision))
}

fn edit(at: &MemoryPath, expect: Expect, op: EditOp) -> Edit {
    // Writing the same again is a change: its time is another.
    Edit { at: At::Path(None, at.clone()), expect, on_same: OnSame::Record, op }
}

fn remove(at: &MemoryPath, memory: &Memory) -> Edit {
    edit(at, Expect::Revision(memory.revision), EditOp::Remove)
}

/// Every path that an edit looks at.
fn paths_of(edit: &Edit) -> impl Iterator<Item = &MemoryPath> {
    let at = match &edit.at {
        At::Path(_, path) => Some(path),
        At::Id(_) | At::First(_) => None,
    };
    let to = match &edit.op {
        EditOp::Put { to, .. } => to.as_ref(),
        _ => None,
    };
    at.into_iter().chain(to)
}
