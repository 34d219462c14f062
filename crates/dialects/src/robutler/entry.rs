//! Entries of a store: found by name, written, removed.
//!
//! Several writers may have a memory of one name, each in its own partition, and another door may
//! have written one at a path of its own. What changed last is what everybody reads; what a writer
//! writes or removes is its own. Hidden entries are there for their writer and for whose store it is,
//! and for nobody else: they keep what a program put aside for itself.

use super::error::Problem;
use super::fields::Lifetime;
use super::value::Kept;
use crate::key::Name;
use loci_engine::{Context, Engine, Error};
use loci_model::{
    At, AttributesPatch, Audience, Edit, EditOp, Expect, Memory, MemoryPath, OnSame, Patch,
    StoreId, View, Visibility,
};

/// What the feed shows as the reason of writes through this door.
const REASON: &str = "robutler";
/// How often a write is decided again because somebody else was faster. Then it no longer asks:
/// whoever writes last is right in the end, and everything that must stay does.
const ASKED_MAX: u32 = 3;

/// A store, and who works in it.
#[derive(Clone, Copy)]
pub(in crate::robutler) struct Desk<'a> {
    pub(in crate::robutler) engine: &'a Engine,
    pub(in crate::robutler) context: &'a Context,
    pub(in crate::robutler) store: StoreId,
    /// Whether the caller is shown what others hide.
    sees_all: bool,
}

/// What to write.
pub(in crate::robutler) struct Write {
    pub(in crate::robutler) value: Kept,
    /// What is not said stays as it was.
    pub(in crate::robutler) lifetime: Option<Lifetime>,
    pub(in crate::robutler) in_context: Option<bool>,
    pub(in crate::robutler) encrypted: Option<bool>,
}

/// Those of one name, without content.
#[derive(Default)]
struct Found {
    /// The one that changed last, whoever wrote it.
    newest: Option<Memory>,
    /// The caller's own, the one that changed last first.
    own: Vec<Memory>,
    /// A path that another's hidden entry has, where paths are everybody's.
    blocked: Option<MemoryPath>,
}

impl<'a> Desk<'a> {
    /// Somebody's desk at a store.
    pub(in crate::robutler) async fn at(
        engine: &'a Engine,
        context: &'a Context,
        store: StoreId,
    ) -> Result<Self, Error> {
        let sees_all = engine.keeps_store(context, store).await?;
        Ok(Self { engine, context, store, sees_all })
    }

    /// Whether a memory is there for the caller.
    pub(in crate::robutler) fn shows(&self, memory: &Memory) -> bool {
        let is_hidden = memory.attributes.visibility != Visibility::Context;
        !is_hidden || self.sees_all || memory.owner == self.context.caller.principal
    }

    /// The entry of a name that changed last, with its content.
    pub(in crate::robutler) async fn read(&self, name: &Name) -> Result<Memory, Error> {
        let mut newest: Option<Memory> = None;
        for path in name.paths()? {
            let found = self.newest_at(&path, View::Full).await?;
            newest = newest.into_iter().chain(found.ok()).max_by_key(age);
        }
        newest.ok_or(Error::NotFound("memory"))
    }

    /// Writes the caller's own entry of a name.
    pub(in crate::robutler) async fn write(&self, name: &Name, new: &Write) -> Result<(), Error> {
        let path = name.path()?;
        let mut turn = self.engine.turn(self.store, path.as_str()).await?;
        loop {
            let found = self.find(name).await?;
            if let (Some(blocked), true) = (&found.blocked, found.own.is_empty()) {
                return Err(Error::PathTaken { memory: None, path: blocked.clone() });
            }
            // Nobody insists on a path at which there may be something that they cannot see.
            let is_sure = self.sees_all || !found.own.is_empty();
            let insists = is_sure && turn.tries() >= ASKED_MAX;
            let edit = self.edit(name, &path, &found, new, insists);
            match self.engine.commit_one(self.context, self.store, edit, REASON).await {
                Ok(_) => return Ok(()),
                // Somebody made, changed or removed it since it was looked for. What is there and
                // cannot be seen was not looked for in vain.
                Err(Error::ExpectFailed | Error::NotFound("memory")) => {}
                Err(Error::PathTaken { memory: Some(_), path: taken })
                    if taken == path && !insists => {}
                Err(error) => return Err(error),
            }
            turn.again().await?;
        }
    }

    /// The edit that writes. What it does not name stays as it is when it is made, also where it
    /// `insists` and is made whatever became of the entry meanwhile.
    fn edit(
        &self,
        name: &Name,
        path: &MemoryPath,
        found: &Found,
        new: &Write,
        insists: bool,
    ) -> Edit {
        let own = found.own.first();
        let seen = found.newest.as_ref();
        let is_newest = own.map(|own| own.id) == seen.map(|seen| seen.id);
        // Whoever edits has read what changed last: nothing hidden or sealed may come to light, and
        // nothing that ends become endless, because the writer did not say so again.
        let hidden = [own, seen].into_iter().flatten().map(|memory| memory.attributes.visibility);
        let hidden = hidden.into_iter().find(|visibility| *visibility != Visibility::Context);
        let visibility = match new.in_context {
            Some(true) => Patch::Set(Visibility::Context),
            Some(false) => Patch::Set(Visibility::Internal),
            None => hidden.into(),
        };
        let expires_at = match new.lifetime {
            Some(Lifetime::Endless) => Patch::Set(None),
            Some(Lifetime::Secs(secs)) => {
                Patch::Set(Some(self.engine.seams().now().plus_secs(secs)))
            }
            None if is_newest => Patch::Keep,
            None => seen.map(|seen| seen.attributes.expires_at).into(),
        };
        let was_sealed = [own, seen].into_iter().flatten().any(|memory| memory.is_sealed);
        let media_type = own.and_then(|own| own.attributes.media_type.as_deref());
        let attributes = AttributesPatch {
            visibility,
            expires_at,
            media_type: new.value.mark(media_type),
            metadata: name.told(own),
            ..AttributesPatch::default()
        };
        let (at, expect) = match own {
            _ if insists => {
                let path = own.map_or(path, |own| &own.path);
                (At::Path(None, path.clone()), Expect::Anything)
            }
            Some(own) => (At::Id(own.id), Expect::Revision(own.revision)),
            None => (At::Path(None, path.clone()), Expect::Absent),
        };
        Edit {
            at,
            expect,
            // What is written is the newest, even if the caller wrote the same before others did.
            on_same: if is_newest { OnSame::Skip } else { OnSame::Record },
            op: EditOp::Put {
                content: Some(new.value.content(new.encrypted.unwrap_or(was_sealed))),
                to: None,
                attributes,
            },
        }
    }

    /// Removes the caller's own entries of a name.
    pub(in crate::robutler) async fn remove(&self, name: &Name) -> Result<(), Problem> {
        let mut turn = self.engine.turn(self.store, name.path()?.as_str()).await?;
        loop {
            let found = self.find(name).await?;
            if found.blocked.is_some() && found.own.is_empty() {
                return Err(Error::NotFound("memory").into());
            }
            let own = found.own.iter().map(|own| At::Id(own.id));
            let mut edits: Vec<Edit> = own.map(|at| Edit::remove(at, Expect::Anything)).collect();
            let has_own = !edits.is_empty();
            if !has_own {
                // Nothing to remove; whether it could have been removed is for the engine to say.
                edits.push(Edit::remove(At::Path(None, name.path()?), Expect::Anything));
            }
            match self.engine.commit(self.context, self.store, edits, REASON).await {
                Ok(_) => return Ok(()),
                Err(Error::NotFound("memory")) if has_own => {}
                Err(Error::NotFound("memory")) if found.newest.is_some() => {
                    return Err(Problem::denied("only its writer may delete this entry"));
                }
                Err(error) => return Err(error.into()),
            }
            turn.again().await?;
        }
    }

    async fn find(&self, name: &Name) -> Result<Found, Error> {
        let me = self.context.caller.principal;
        let mut found = Found::default();
        for path in name.paths()? {
            let newest = match self.newest_at(&path, View::Basic).await? {
                Ok(newest) => newest,
                Err(Unseen::Nothing) => continue,
                Err(Unseen::Blocked) => {
                    found.blocked = Some(path);
                    continue;
                }
            };
            match newest.partition {
                Some(writer) if writer != me => {
                    let own = At::Path(Some(me), path);
                    found.own.extend(self.get(&own, View::Basic).await?);
                }
                // One's own, or where paths are everybody's.
                Some(_) | None => found.own.push(newest.clone()),
            }
            found.newest = found.newest.into_iter().chain([newest]).max_by_key(age);
        }
        found.own.sort_by_key(|own| std::cmp::Reverse(age(own)));
        Ok(found)
    }

    /// What changed last at a path, of what the caller is shown.
    async fn newest_at(
        &self,
        path: &MemoryPath,
        view: View,
    ) -> Result<Result<Memory, Unseen>, Error> {
        let anybodys = At::Path(None, path.clone());
        let newest = match self.get(&anybodys, view).await? {
            None => return Ok(Err(Unseen::Nothing)),
            Some(memory) if self.shows(&memory) => return Ok(Ok(memory)),
            Some(hidden) => hidden,
        };
        if newest.partition.is_none() {
            return Ok(Err(Unseen::Blocked));
        }
        let own = At::Path(Some(self.context.caller.principal), path.clone());
        let own = self.get(&own, view).await?;
        let mut as_model = self.context.clone();
        as_model.caller.audience = Audience::Model;
        let open = self.get_as(&as_model, &anybodys, view).await?;
        let shown = own.into_iter().chain(open).max_by_key(age);
        Ok(shown.ok_or(Unseen::Nothing))
    }

    /// A memory, if it is there.
    pub(in crate::robutler) async fn get(
        &self,
        at: &At,
        view: View,
    ) -> Result<Option<Memory>, Error> {
        self.get_as(self.context, at, view).await
    }

    async fn get_as(
        &self,
        context: &Context,
        at: &At,
        view: View,
    ) -> Result<Option<Memory>, Error> {
        match self.engine.get(context, self.store, at, view).await {
            Ok(memory) => Ok(Some(memory)),
            Err(Error::NotFound("memory")) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Why nothing is shown at a path.
enum Unseen {
    /// Nothing is there that the caller may know of; a path of its own is free.
    Nothing,
    /// The one memory that can be there is hidden by another.
    Blocked,
}

fn age(memory: &Memory) -> (loci_model::Timestamp, loci_model::MemoryId) {
    (memory.updated_at, memory.id)
}
