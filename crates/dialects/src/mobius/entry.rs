//! Entries of an agent's memory: found by key, saved, forgotten.
//!
//! Several writers may have a memory of one name in a home, each in its own partition. What changed
//! last is the entry. A save is one edit that creates or replaces, so that any number of them at
//! once give as many versions; who has a memory of that name writes that, otherwise the one that is
//! there is edited, whoever wrote it.

use super::call::Revision;
use super::error::Problem;
use super::partition::Label;
use super::save::Save;
use loci_engine::{Context, Engine, Error};
use loci_model::{At, Edit, EditOp, Expect, Memory, MemoryPath, OnSame, Outcome, StoreId, View};

/// How often a write is tried again when somebody else was faster.
const ATTEMPTS_MAX: usize = 8;

/// An agent's memory, and who works in it.
#[derive(Clone, Copy)]
pub(super) struct Desk<'a> {
    pub(super) engine: &'a Engine,
    pub(super) context: &'a Context,
    pub(super) store: StoreId,
    pub(super) revision: Revision,
    /// Whether the entries of users are among them.
    pub(super) has_private: bool,
}

/// Those of one name, without content.
#[derive(Default)]
struct Found {
    /// The one that changed last, whoever wrote it.
    newest: Option<Memory>,
    /// The caller's own.
    own: Option<Memory>,
}

impl Desk<'_> {
    /// The same without the entries of users.
    pub(super) fn shared(self) -> Self {
        Self { has_private: false, ..self }
    }

    /// The entry of a name, with its content; sealed ones are no entries.
    pub(super) async fn read(&self, label: &Label) -> Result<Option<Memory>, Problem> {
        let newest = self.newest(label, View::Full).await?;
        Ok(newest.filter(|memory| !memory.is_sealed))
    }

    /// Writes an entry; the memory comes back with its content, and whether it is new.
    pub(super) async fn save(
        &self,
        label: &Label,
        new: &Save,
        reason: &str,
    ) -> Result<(Memory, bool), Problem> {
        self.write(label, new, reason, true).await
    }

    /// Writes an entry where none may be.
    pub(super) async fn create(
        &self,
        label: &Label,
        new: &Save,
        reason: &str,
    ) -> Result<(Memory, bool), Problem> {
        self.write(label, new, reason, false).await
    }

    async fn write(
        &self,
        label: &Label,
        new: &Save,
        reason: &str,
        may_replace: bool,
    ) -> Result<(Memory, bool), Problem> {
        let path = label.name().path()?;
        for _ in 0..ATTEMPTS_MAX {
            let found = self.find(label).await?;
            if found.newest.is_some() && !may_replace {
                return Err(Problem::conflict("the key has a shared entry already"));
            }
            if [&found.newest, &found.own].into_iter().flatten().any(|memory| memory.is_sealed) {
                return Err(Problem::conflict("the key has a sealed memory of another door"));
            }
            let edit = edit(&path, &found, new);
            match self.engine.commit_one(self.context, self.store, edit, reason).await {
                Ok(outcome) => return Ok(with_content(outcome, new)),
                // Somebody made or removed it since it was looked for.
                Err(Error::ExpectFailed | Error::NotFound("memory")) => {}
                Err(Error::PathTaken { path: taken, .. }) if taken == path => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Problem::conflict("something that is not an entry has this key"))
    }

    /// Removes an entry, every writer's; whether there was one.
    pub(super) async fn remove(&self, label: &Label, reason: &str) -> Result<bool, Problem> {
        // Whether it may is said even where there is nothing to remove.
        self.engine.require_write(self.context, self.store).await?;
        let mut is_removed = false;
        while let Some(memory) = self.newest(label, View::Basic).await? {
            if memory.is_sealed {
                break;
            }
            let edit = Edit::remove(At::Id(memory.id), Expect::Anything);
            match self.engine.commit_one(self.context, self.store, edit, reason).await {
                Ok(_) => is_removed = true,
                Err(Error::NotFound("memory")) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(is_removed)
    }

    /// Whether a memory is an entry: the newest of its path, and of a sort that is shown.
    pub(super) async fn is_entry(&self, memory: &Memory) -> Result<bool, Problem> {
        if memory.is_sealed || !self.shows(&Label::of(&memory.path)) {
            return Ok(false);
        }
        let newest = self.get(&At::Path(None, memory.path.clone()), View::Basic).await?;
        Ok(newest.is_some_and(|newest| newest.id == memory.id))
    }

    /// Whether an entry of this name is among them.
    pub(super) fn shows(&self, label: &Label) -> bool {
        self.has_private || label.is_shared()
    }

    async fn newest(&self, label: &Label, view: View) -> Result<Option<Memory>, Problem> {
        let mut newest: Option<Memory> = None;
        for path in label.name().paths()? {
            let found = self.get(&At::Path(None, path), view).await?;
            newest = [newest, found].into_iter().flatten().max_by_key(|memory| memory.updated_at);
        }
        Ok(newest)
    }

    async fn find(&self, label: &Label) -> Result<Found, Problem> {
        let me = self.context.caller.principal;
        let newest = self.newest(label, View::Basic).await?;
        let own = match &newest {
            Some(memory) if memory.partition.is_some_and(|writer| writer != me) => {
                self.get(&At::Path(Some(me), memory.path.clone()), View::Basic).await?
            }
            // One's own, or where paths are everybody's.
            newest => newest.clone(),
        };
        Ok(Found { newest, own })
    }

    async fn get(&self, at: &At, view: View) -> Result<Option<Memory>, Problem> {
        match self.engine.get(self.context, self.store, at, view).await {
            Ok(memory) => Ok(Some(memory)),
            Err(Error::NotFound("memory")) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn edit(path: &MemoryPath, found: &Found, new: &Save) -> Edit {
    let (at, expect, attributes) = match (&found.newest, &found.own) {
        (None, _) => (At::Path(None, path.clone()), Expect::Absent, new.new_attributes()),
        (Some(newest), None) => {
            (At::Id(newest.id), Expect::Anything, new.changed_attributes(newest))
        }
        (Some(newest), Some(own)) => {
            let attributes = match newest.id == own.id {
                true => new.changed_attributes(own),
                false => new.taken_over(newest),
            };
            (At::Path(None, own.path.clone()), Expect::Anything, attributes)
        }
    };
    Edit {
        at,
        expect,
        on_same: OnSame::Record,
        op: EditOp::Put { content: Some(new.content()), to: None, attributes },
    }
}

fn with_content(outcome: Outcome, new: &Save) -> (Memory, bool) {
    let is_new = outcome.is_created();
    (Memory { content: Some(new.content()), ..outcome.memory }, is_new)
}
