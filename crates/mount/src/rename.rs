//! `rename`: a memory keeps its identity and history. Over an existing file, the content becomes the
//! next version of the memory that is there; what editors do with temporary and backup names ends in
//! exactly one version of the right memory. Directories are in `rename_directory`.

use crate::errno;
use crate::names::{self, Lasting};
use crate::node::{Base, Ino};
use crate::port::{At, Done, Edit, Entry, Refusal};
use crate::remove::removal;
use crate::save::{Next, SEALED, put, repeated};
use crate::tree::Tree;
use crate::volume::{Outdated, Volume};
use fuser::Errno;
use loci_model::{Expect, MemoryPath};
use std::sync::Arc;

/// How often a rename that found the server otherwise than it looked here is planned again.
const ATTEMPTS_MAX: u32 = 4;

/// A rename that was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Renaming {
    pub(crate) parent: Ino,
    pub(crate) name: String,
    pub(crate) to_parent: Ino,
    pub(crate) to_name: String,
    pub(crate) may_replace: bool,
    /// The thread that asked.
    pub(crate) thread: u32,
}

/// What the file that moves is afterwards.
enum Identity {
    /// What it was; if it is a memory and the edits say so, at its new path.
    Kept,
    /// The memory that the last edit wrote, which was somebody else's.
    Written,
    /// This memory as soon as it is saved: its bytes are still being written.
    Awaited(Arc<Entry>),
    /// The memory it was, which the server still has at the old path.
    Parked,
}

/// How it looks here before.
struct Seen {
    mine: Option<Arc<Entry>>,
    is_parked: bool,
    is_being_written: bool,
    is_refused: bool,
    is_dirty: bool,
    theirs: Option<Arc<Entry>>,
    is_over_parked: bool,
    /// Who has taken the place of a parked memory that is replaced.
    heir: Option<Ino>,
    /// Whose memory the server has at the new path.
    parked: Option<Ino>,
    path: Result<MemoryPath, Errno>,
}

struct Plan {
    store: usize,
    from: Ino,
    over: Option<Ino>,
    edits: Vec<Edit>,
    identity: Identity,
    /// The file under a scratch name whose memory goes to the moving one.
    heir_of: Option<Ino>,
    /// Whether the moving file still has to be saved at its new place.
    is_to_save: bool,
    /// Where the edit makes a new memory.
    makes: Option<MemoryPath>,
    /// What the content that is replaced is expected to be.
    base: Option<Base>,
}

impl Plan {
    /// The next version of the memory that is replaced.
    fn writing(&self, target: &Entry, text: String) -> Edit {
        let expect = Expect::Digest(self.base.map_or(target.digest, |base| base.digest));
        Edit { at: At::Memory(target.memory), expect, act: put(Some(text), None) }
    }

    /// Whether this is not where a new memory was to be: a store that keeps each text once has it.
    fn is_elsewhere(&self, entry: &Entry) -> bool {
        self.makes.as_ref().is_some_and(|path| *path != entry.path)
    }
}

impl Volume {
    pub(crate) async fn rename(self: &Arc<Self>, asked: &Renaming) -> Result<(), Errno> {
        let mut unseen = None;
        self.ensure_listed(asked.to_parent).await?;
        for _ in 0..ATTEMPTS_MAX {
            let (from, over, store) = {
                let tree = self.tree();
                let (from, over) = resolve(&tree, asked)?;
                if over == Some(from) {
                    return Ok(());
                }
                let store = tree.check_writable(asked.parent)?;
                if tree.check_writable(asked.to_parent)? != store {
                    return Err(Errno::EXDEV);
                }
                check_kinds(&tree, asked, from, over)?;
                (from, over, store)
            };
            let is_directory = self.tree().get(from)?.is_directory();
            if is_directory && self.tree().is_loading(store) {
                self.wait_for_all_of(store).await?;
                continue;
            }
            if is_directory {
                return self.rename_directory(asked, from, over, store).await;
            }
            let mut turns: Vec<(Ino, _)> = Vec::with_capacity(2);
            for ino in [Some(from), over].into_iter().flatten() {
                turns.push((ino, Arc::clone(&self.tree().file(ino)?.turn)));
            }
            turns.sort_by_key(|(ino, _)| *ino);
            let mut held = Vec::with_capacity(2);
            for (_, turn) in &turns {
                held.push(turn.lock().await);
            }
            let _gate = self.gates[store].read().await;
            if resolve(&self.tree(), asked)? != (from, over) {
                continue;
            }
            match self.rename_file(asked, store, from, over).await? {
                Next::Saved => return Ok(()),
                Next::Again => {}
                Next::Unseen(memory) if unseen == Some(memory) => {
                    let (from, to) = (&asked.name, &asked.to_name);
                    tracing::warn!(from, to, why = SEALED, "not renamed");
                    return Err(Errno::EACCES);
                }
                Next::Unseen(memory) => unseen = Some(memory),
            }
        }
        Err(Errno::EBUSY)
    }

    /// Once more if the server has it otherwise, and the tree knows that now.
    async fn rename_file(
        self: &Arc<Self>,
        asked: &Renaming,
        store: usize,
        from: Ino,
        over: Option<Ino>,
    ) -> Result<Next, Errno> {
        if self.tree().file(from)?.may_be_there() {
            // It would stay where it is, beside the one at the new place. If this is refused again,
            // that is marked, and the file is moved here.
            let _ = self.save_in_turn(from, crate::save::Occasion::Demand).await;
        }
        let mut plan = self.plan(asked, store, from, over).await?;
        let edits = std::mem::take(&mut plan.edits);
        let both = [Some(from), over];
        self.tree().set_saving(both, true);
        self.tree().set_successor(plan.heir_of, Some(from));
        let done = self.carry_out(store, edits).await;
        let adopted = match done {
            Ok(Some(Done { entry, operation: None })) if plan.is_elsewhere(&entry) => {
                let (to, why) = (&asked.to_name, repeated(&entry));
                tracing::warn!(to, why, "not renamed");
                Err(Errno::EEXIST)
            }
            Ok(done) => self.adopt(asked, &plan, done.map(|done| done.entry)).map(|()| None),
            Err(refusal) => Ok(Some(refusal)),
        };
        self.tree().set_saving(both, false);
        self.tree().set_successor(plan.heir_of, None);
        let refused = adopted?;
        match refused {
            None if plan.is_to_save => {
                // It is at its new place whatever comes of it, and what is refused is marked.
                let _ = self.save_in_turn(from, crate::save::Occasion::Close).await;
                Ok(Next::Saved)
            }
            None => Ok(Next::Saved),
            Some(refusal) => self.recover(asked, &plan, refusal).await,
        }
    }

    /// What the last edit left, if there was one.
    async fn carry_out(
        self: &Arc<Self>,
        store: usize,
        mut edits: Vec<Edit>,
    ) -> Result<Option<Done>, Refusal> {
        let done = match edits.len() {
            0 => None,
            1 => Some(self.edit(store, edits.remove(0)).await?),
            _ => self.edit_all(store, edits).await?.pop(),
        };
        Ok(done)
    }

    async fn plan(
        self: &Arc<Self>,
        asked: &Renaming,
        store: usize,
        from: Ino,
        over: Option<Ino>,
    ) -> Result<Plan, Errno> {
        let seen = {
            let tree = self.tree();
            let path = names::path(&tree.path_below(asked.to_parent, &asked.to_name));
            let file = tree.file(from)?;
            let there = over.map(|ino| tree.file(ino)).transpose()?;
            let is_over_parked = there.is_some_and(|it| it.is_parked);
            let theirs = there.and_then(|it| it.saved.clone());
            let parked = path.as_ref().ok().and_then(|path| {
                tree.parked.get(&(store, path.clone())).copied().filter(|ino| *ino != from)
            });
            let heir = theirs.as_ref().filter(|_| is_over_parked);
            let heir = heir.and_then(|entry| tree.heir(store, entry)).filter(|ino| *ino != from);
            let is_being_written =
                file.is_dirty && tree.handles.values().any(|it| it.ino == from && it.has_written);
            Seen {
                mine: file.saved.clone(),
                is_parked: file.is_parked,
                is_being_written,
                is_refused: file.refused.is_some(),
                is_dirty: file.is_dirty,
                theirs,
                is_over_parked,
                heir,
                parked,
                path,
            }
        };
        let Seen { mine, is_parked, is_being_written, is_refused, is_dirty, theirs, .. } = seen;
        let (is_over_parked, heir, heir_of, path) =
            (seen.is_over_parked, seen.heir, seen.parked, seen.path);
        let inherited = match heir_of {
            Some(ino) => self.tree().file(ino)?.saved.clone(),
            None => None,
        };
        let mut plan = Plan {
            store,
            from,
            over,
            edits: Vec::new(),
            identity: Identity::Kept,
            heir_of: heir_of.filter(|_| theirs.is_none()),
            is_to_save: false,
            makes: None,
            base: None,
        };
        let lasting = self.tree().lasting(asked.to_parent, &asked.to_name);
        let is_replaced = theirs.is_some() && !is_over_parked;
        let is_backup = asked.parent == asked.to_parent
            && !is_dirty
            && if is_replaced { names::is_called_backup } else { names::is_backup }(
                &asked.name,
                &asked.to_name,
            );
        if is_over_parked {
            // What it replaces was parked: that memory is its heir's, or goes.
            match (&theirs, heir) {
                (Some(entry), Some(heir)) => self.tree().bequeath(entry, heir),
                (Some(entry), None) => plan.edits.push(removal(entry.memory)),
                (None, _) => {}
            }
        }
        let target = theirs.filter(|_| !is_over_parked).or(inherited);
        plan.base = target.as_deref().map(|target| {
            let read = self.tree().readers.outdated(target.memory, asked.thread, target.digest);
            read.unwrap_or_else(|| Base::of(target))
        });
        match (mine, target) {
            (Some(_), target) if is_backup || lasting == Lasting::Scratch => {
                plan.edits.extend(target.map(|it| removal(it.memory)));
                plan.identity = Identity::Parked;
            }
            (Some(mine), None) => {
                let path = path?;
                if !(is_parked && mine.path == path) {
                    plan.edits.push(moving(&mine, path));
                }
            }
            (Some(mine), Some(target)) => {
                let text = self.text_of(from).await?;
                plan.edits.push(removal(mine.memory));
                plan.edits.push(plan.writing(&target, text));
                plan.identity = Identity::Written;
            }
            (None, Some(target)) if is_being_written => plan.identity = Identity::Awaited(target),
            (None, Some(target)) => {
                let text = self.text_of(from).await?;
                plan.edits.push(plan.writing(&target, text));
                plan.identity = Identity::Written;
            }
            (None, None) if is_being_written || lasting != Lasting::Kept => {}
            // What could not be saved under its old name may be savable under the new one.
            (None, None) if is_refused => plan.is_to_save = true,
            (None, None) => {
                let act = put(Some(self.text_of(from).await?), None);
                let path = path?;
                plan.makes = Some(path.clone());
                plan.edits.push(Edit { at: At::Path(path), expect: Expect::Absent, act });
                plan.identity = Identity::Written;
            }
        }
        Ok(plan)
    }

    async fn text_of(self: &Arc<Self>, ino: Ino) -> Result<String, Errno> {
        let bytes = self.bytes(ino).await?;
        String::from_utf8(bytes.as_ref().clone()).map_err(|_| Errno::EILSEQ)
    }

    /// Brings a rename that happened into the tree.
    fn adopt(&self, asked: &Renaming, plan: &Plan, entry: Option<Entry>) -> Result<(), Errno> {
        let now = self.now();
        let mut tree = self.tree();
        let mut outdated = Vec::new();
        if let Some(over) = plan.over {
            if let Some(theirs) = tree.file(over)?.saved.clone()
                && tree.by_memory.get(&theirs.memory) == Some(&over)
            {
                tree.by_memory.remove(&theirs.memory);
            }
            tree.unpark(over);
            tree.take_out(over, now);
        }
        if let Some(parked) = plan.heir_of {
            tree.unpark(parked);
        }
        let (old_parent, before) = (tree.get(plan.from)?.parent, tree.path(plan.from));
        tree.relocate(plan.from, asked.to_parent, &asked.to_name);
        tree.keep(old_parent, now);
        tree.keep(asked.to_parent, now);
        tree.get_mut(plan.from)?.times.changed = now;
        let mine = tree.file(plan.from)?.saved.clone();
        match (&plan.identity, entry) {
            (Identity::Parked, _) => tree.park(plan.store, plan.from)?,
            (Identity::Awaited(target), _) => {
                tree.bequeath(target, plan.from);
                let file = tree.file_mut(plan.from)?;
                file.base = plan.base;
                file.writer = asked.thread;
            }
            (Identity::Written, Some(entry)) => {
                if let Some(mine) = mine {
                    tree.by_memory.remove(&mine.memory);
                }
                tree.release(plan.from);
                if let Some(before) = plan.base {
                    tree.readers.carry(entry.memory, before.digest, Base::of(&entry));
                }
                outdated.extend(tree.written(plan.store, plan.from, &entry));
            }
            (Identity::Kept, entry) => {
                if mine.is_some() {
                    tree.release(plan.from);
                }
                let is_mine = |it: &Entry| mine.as_ref().is_some_and(|me| me.memory == it.memory);
                if let Some(entry) = entry.filter(is_mine) {
                    outdated.extend(tree.moved(plan.store, plan.from, entry));
                }
            }
            (Identity::Written, None) => {}
        }
        tree.resettle(plan.from);
        if !matches!(plan.identity, Identity::Parked) {
            tree.reveal(plan.store, &before, &mut outdated);
        }
        drop(tree);
        self.outdate(outdated);
        Ok(())
    }

    /// After a refusal: the tree hears how it is, and if that was all, the rename can be planned anew.
    async fn recover(
        self: &Arc<Self>,
        asked: &Renaming,
        plan: &Plan,
        refusal: Refusal,
    ) -> Result<Next, Errno> {
        let (mine, theirs) = {
            let tree = self.tree();
            let saved = |ino: Ino| tree.file(ino).ok().and_then(|file| file.saved.clone());
            (saved(plan.from), plan.over.or(plan.heir_of).and_then(saved))
        };
        match &refusal {
            Refusal::NotFound => {
                for entry in [mine, theirs].into_iter().flatten() {
                    self.refresh(plan.store, entry.memory).await?;
                }
                Ok(Next::Again)
            }
            Refusal::Taken { memory: Some(memory), .. } => {
                let found = self.refresh(plan.store, *memory).await?;
                Ok(if found.is_some() { Next::Again } else { Next::Unseen(*memory) })
            }
            Refusal::ExpectFailed => {
                let Some(theirs) = theirs else { return Err(Errno::EBUSY) };
                let bytes = self.bytes(plan.from).await?;
                let found = self.refresh(plan.store, theirs.memory).await?;
                if let Some(found) = found.filter(|it| it.digest != crate::save::digest(&bytes)) {
                    let name = theirs.path.as_str().rsplit('/').next().unwrap_or_default();
                    self.put_aside(plan.store, &theirs.path, name, &bytes).await?;
                    // It has been told what is there now: its next rename replaces that.
                    let (memory, base) = (found.memory, Base::of(&found));
                    self.tree().readers.note(memory, asked.thread, Some(base));
                    return Err(Errno::EBUSY);
                }
                Ok(Next::Again)
            }
            _ => Err(errno::of_path_call(errno::of(&refusal))),
        }
    }
}

fn moving(entry: &Entry, to: MemoryPath) -> Edit {
    Edit { at: At::Memory(entry.memory), expect: Expect::Present, act: put(None, Some(to)) }
}

fn resolve(tree: &Tree, asked: &Renaming) -> Result<(Ino, Option<Ino>), Errno> {
    if !tree.get(asked.to_parent)?.is_linked {
        return Err(Errno::ENOENT);
    }
    let from = tree.child(asked.parent, &asked.name)?.ok_or(Errno::ENOENT)?;
    let over = tree.child(asked.to_parent, &asked.to_name)?;
    if over.is_some() && !asked.may_replace {
        return Err(Errno::EEXIST);
    }
    Ok((from, over))
}

fn check_kinds(tree: &Tree, asked: &Renaming, from: Ino, over: Option<Ino>) -> Result<(), Errno> {
    let store = tree.get(asked.to_parent)?.store;
    if asked.to_name == crate::history::NAME && tree.places[store].root == asked.to_parent {
        return Err(Errno::EEXIST);
    }
    let is_directory = tree.get(from)?.is_directory();
    match over.map(|ino| tree.get(ino)).transpose()? {
        Some(there) if !is_directory && there.is_directory() => Err(Errno::EISDIR),
        Some(there) if is_directory && !there.is_directory() => Err(Errno::ENOTDIR),
        Some(there) if is_directory && !there.directory()?.children.is_empty() => {
            Err(Errno::ENOTEMPTY)
        }
        _ => Ok(()),
    }
}

impl Tree {
    /// A memory is shown under a scratch name or as its own backup, and the server is not told yet.
    fn park(&mut self, store: usize, ino: Ino) -> Result<(), Errno> {
        let file = self.file_mut(ino)?;
        file.is_parked = true;
        if let Some(entry) = file.saved.clone() {
            self.parked.insert((store, entry.path.clone()), ino);
            self.wait(ino);
        }
        Ok(())
    }

    /// The server has it where it is shown.
    pub(crate) fn release(&mut self, ino: Ino) {
        self.parked.retain(|_, parked| *parked != ino);
        self.unsettled.remove(&ino);
        if let Ok(file) = self.file_mut(ino) {
            file.is_parked = false;
            file.settle_at = None;
        }
    }

    /// A memory is at another path, and for all we know its bytes are as they were.
    pub(crate) fn moved(&mut self, store: usize, ino: Ino, entry: Entry) -> Vec<Outdated> {
        let entry = Arc::new(self.newest(store, entry));
        self.enter(ino, &entry);
        let Ok(file) = self.file_mut(ino) else { return Vec::new() };
        let is_changed = file.saved.as_ref().is_some_and(|it| it.digest != entry.digest);
        if file.is_dirty {
            file.saved = Some(Arc::clone(&entry));
        } else {
            file.take_up(Arc::clone(&entry));
            file.epoch += u64::from(is_changed);
        }
        let mut outdated = Vec::from_iter(is_changed.then_some(Outdated::Node(ino)));
        self.put_in_place(ino, &entry, &mut outdated);
        outdated.extend(self.verify(store, entry.memory));
        outdated
    }

    /// The file is this memory now, which has just been given its bytes.
    fn written(&mut self, store: usize, ino: Ino, entry: &Entry) -> Vec<Outdated> {
        let newest = Arc::new(self.newest(store, entry.clone()));
        self.enter(ino, &newest);
        let Ok(node) = self.get_mut(ino) else { return Vec::new() };
        if let Ok(file) = node.file_mut() {
            let is_same = file.held.as_ref().is_none_or(|held| {
                held.len() as u64 == entry.size_bytes && crate::save::digest(held) == entry.digest
            });
            if is_same {
                file.take_up(Arc::clone(&newest));
                file.epoch += u64::from(newest.digest != entry.digest);
                node.stamp(newest.updated_at);
            } else {
                file.base = Some(Base::of(entry));
                file.saved = Some(Arc::clone(&newest));
            }
        }
        let mut outdated = Vec::new();
        if newest.digest != entry.digest {
            outdated.push(Outdated::Node(ino));
        }
        self.put_in_place(ino, &newest, &mut outdated);
        outdated.extend(self.verify(store, newest.memory));
        outdated
    }

    /// A file that is no memory yet and was renamed to a passing name waits anew.
    fn resettle(&mut self, ino: Ino) {
        let Ok(node) = self.get(ino) else { return };
        let is_passing = self.lasting(node.parent, &node.name) == Lasting::Passing
            && node.file().is_ok_and(|file| file.saved.is_none() && file.opens == 0);
        if is_passing {
            self.wait(ino);
        }
    }
}
