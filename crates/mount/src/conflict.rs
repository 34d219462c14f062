//! A save that lost a race, or whose answer was lost. What was added at the end is added to what is there now; any other
//! content goes to a file beside (`name.conflict`), and the loser hears `ESTALE`. Nothing is lost.

use crate::errno;
use crate::names;
use crate::node::Base;
use crate::port::{Act, At, Done, Edit, Entry, Refusal};
use crate::save::{Draft, Next, Sent, digest, put, tail};
use crate::volume::{Outdated, Volume};
use fuser::Errno;
use loci_model::{Expect, MemoryPath};
use std::sync::Arc;

impl Volume {
    /// Finds out who won, and what that means for this file.
    pub(crate) async fn reconcile(
        self: &Arc<Self>,
        draft: &Arc<Draft>,
        refusal: Refusal,
    ) -> Result<Next, Errno> {
        let winner = match (&draft.memory, &refusal) {
            (Some(entry), Refusal::ExpectFailed) if let Some(added) = draft.added() => {
                return self.append(draft, entry.memory, added.to_owned()).await;
            }
            (Some(entry), _) => entry.memory,
            (None, Refusal::Taken { memory: Some(memory), .. }) => *memory,
            (None, _) => {
                let (number, why) = (errno::of(&refusal), errno::reason(&refusal));
                return self
                    .refuse(draft.ino, draft.generation, number, &why)
                    .map(|()| Next::Saved);
            }
        };
        let heard = self.ask(self.port.entry(self.stores[draft.store], winner)).await;
        let theirs = match heard {
            Ok(entry) => entry,
            Err(Refusal::NotFound) => {
                // Removed while it was being written: it is made anew. Its history stays.
                let outdated = self.tree().hear_gone(draft.store, winner);
                self.outdate(outdated);
                let is_known = draft.memory.is_some();
                return Ok(if is_known { Next::Again } else { Next::Unseen(winner) });
            }
            Err(refusal) => {
                let (number, why) = (errno::of(&refusal), errno::reason(&refusal));
                return self
                    .refuse(draft.ino, draft.generation, number, &why)
                    .map(|()| Next::Saved);
            }
        };
        if draft.memory.is_none() && theirs.path != draft.path {
            let is_above = theirs.path.as_str().len() < draft.path.as_str().len();
            let number = if is_above { Errno::ENOTDIR } else { Errno::EISDIR };
            let why = format!("{} is in the way", theirs.path);
            return self.refuse(draft.ino, draft.generation, number, &why).map(|()| Next::Saved);
        }
        let is_same = theirs.digest == draft.digest;
        let is_new = draft.memory.is_none();
        if is_new && draft.is_exclusive && !draft.is_uncertain() {
            // Somebody else has made it, and that is what the maker has to hear.
            self.yield_to(draft, theirs);
            return Err(Errno::EEXIST);
        }
        if is_same && draft.added().is_none() {
            self.conclude(draft, &theirs);
            return Ok(Next::Saved);
        }
        if is_new && draft.is_empty() && draft.is_appended {
            // It was only made, not written: what is there now is what was asked for.
            self.yield_to(draft, theirs);
            return Ok(Next::Saved);
        }
        let begun = match self.begun(draft, &theirs).await {
            Ok(begun) => begun,
            Err(refusal) => {
                let (number, why) = (errno::of(&refusal), errno::reason(&refusal));
                return self
                    .refuse(draft.ino, draft.generation, number, &why)
                    .map(|()| Next::Saved);
            }
        };
        if let Some(begun) = begun {
            // What others added came behind what was saved here without an answer.
            if begun.digest == draft.digest {
                self.yield_to(draft, theirs);
                return Ok(Next::Saved);
            }
            self.rebase(draft, theirs, begun);
            return Ok(Next::Again);
        }
        let base = draft.base.filter(|_| !is_new && !draft.is_uncertain());
        match draft.added().or_else(|| base.and_then(|base| tail(&draft.bytes, base))) {
            Some(added) => self.append(draft, winner, added.to_owned()).await,
            None => {
                let (store, bytes) = (draft.store, &draft.bytes);
                match self.put_aside(store, &draft.path, &draft.name, bytes).await {
                    Ok(()) => {
                        // It has been told what is there now: its next save replaces that.
                        let (memory, base) = (theirs.memory, Base::of(&theirs));
                        self.tree().readers.note(memory, draft.writer, Some(base));
                        self.yield_to(draft, theirs);
                        Err(Errno::ESTALE)
                    }
                    Err(errno) => {
                        let why = "somebody else changed the memory, and nothing fits beside it";
                        self.refuse(draft.ino, draft.generation, errno, why).map(|()| Next::Saved)
                    }
                }
            }
        }
    }

    /// Which of the contents that were sent without an answer a memory begins with: the server has
    /// had that one.
    async fn begun(&self, draft: &Draft, theirs: &Entry) -> Result<Option<Base>, Refusal> {
        let is_longer = |sent: &&Base| sent.size_bytes <= theirs.size_bytes && sent.size_bytes > 0;
        let sent: Vec<Base> = draft.doubtful.iter().filter(is_longer).copied().collect();
        if let Some(same) = sent.iter().find(|sent| sent.digest == theirs.digest) {
            return Ok(Some(*same));
        }
        if sent.is_empty() {
            return Ok(None);
        }
        let text = match self.text(draft.store, theirs.memory, theirs.version).await {
            Ok(text) => text,
            // Redacted: it shows nothing.
            Err(Refusal::NotFound) => return Ok(None),
            Err(refusal) => return Err(refusal),
        };
        let is_begun = |sent: &&Base| {
            let size = usize::try_from(sent.size_bytes).unwrap_or(usize::MAX);
            text.as_bytes().get(..size).is_some_and(|begun| digest(begun) == sent.digest)
        };
        Ok(sent.iter().rev().find(is_begun).copied())
    }

    /// A save under a key got no answer: the same request again tells whether it was carried out, and
    /// carries it out if not.
    pub(crate) async fn send_again(
        self: &Arc<Self>,
        draft: &Draft,
        sent: &Sent,
    ) -> Result<Next, Errno> {
        match self.edit_once(draft.store, sent.edit.clone(), &sent.key).await {
            Ok(Done { entry, .. }) if draft.memory.is_some() || entry.path == draft.path => {
                if entry.digest == sent.draft.digest {
                    self.conclude(&sent.draft, &entry);
                } else {
                    self.yield_to(&sent.draft, entry);
                }
                let is_all = sent.draft.generation == draft.generation;
                Ok(if is_all { Next::Saved } else { Next::Again })
            }
            Err(refusal @ (Refusal::Unreachable(_) | Refusal::Denied | Refusal::ReadOnly)) => {
                let (number, why) = (errno::of(&refusal), errno::reason(&refusal));
                self.refuse(draft.ino, draft.generation, number, &why).map(|()| Next::Saved)
            }
            // It was not carried out.
            Ok(_) | Err(_) => {
                if let Ok(file) = self.tree().file_mut(draft.ino) {
                    file.unanswered = None;
                }
                Ok(Next::Again)
            }
        }
    }

    async fn append(
        self: &Arc<Self>,
        draft: &Arc<Draft>,
        memory: loci_model::MemoryId,
        added: String,
    ) -> Result<Next, Errno> {
        let at = At::Memory(memory);
        let act = Act::Append { text: added, is_own_line: true };
        let edit = Edit { at, expect: Expect::Present, act };
        let entry = match self.edit_of(draft, edit).await {
            Ok(done) => done.entry,
            Err(Refusal::NotFound) => return Ok(Next::Again),
            Err(refusal) => {
                let (number, why) = (errno::of(&refusal), errno::reason(&refusal));
                return self
                    .refuse(draft.ino, draft.generation, number, &why)
                    .map(|()| Next::Saved);
            }
        };
        self.yield_to(draft, entry);
        Ok(Next::Saved)
    }

    /// The file becomes what the server has. Bytes written since the draft stay, and what they
    /// started from is then the draft.
    pub(crate) fn yield_to(&self, draft: &Draft, entry: Entry) {
        let mut outdated = vec![Outdated::Node(draft.ino)];
        let mut tree = self.tree();
        if let Some(parked) = draft.heir_of {
            tree.unpark(parked);
        }
        let entry = Arc::new(tree.newest(draft.store, entry));
        tree.enter(draft.ino, &entry);
        if let Ok(node) = tree.get_mut(draft.ino)
            && let Ok(file) = node.file_mut()
        {
            file.epoch += 1;
            if file.generation == draft.generation {
                file.take_up(Arc::clone(&entry));
                node.times.is_written_set = false;
                node.times.is_read_set = false;
                node.stamp(entry.updated_at);
            } else {
                let size_bytes = draft.bytes.len() as u64;
                file.base = Some(Base { digest: draft.digest, size_bytes });
                file.be_certain();
                file.saved = Some(Arc::clone(&entry));
            }
        }
        tree.put_in_place(draft.ino, &entry, &mut outdated);
        outdated.extend(tree.verify(draft.store, entry.memory));
        drop(tree);
        self.outdate(outdated);
    }

    /// The bytes started from these, which the server has had; others may have added to them since.
    fn rebase(&self, draft: &Draft, theirs: Entry, begun: Base) {
        let mut tree = self.tree();
        let entry = Arc::new(tree.newest(draft.store, theirs));
        tree.enter(draft.ino, &entry);
        if let Ok(file) = tree.file_mut(draft.ino) {
            file.be_certain();
            file.base = Some(begun);
            file.saved = Some(entry);
        }
    }

    /// Saves bytes beside a path.
    pub(crate) async fn put_aside(
        self: &Arc<Self>,
        store: usize,
        path: &MemoryPath,
        name: &str,
        bytes: &[u8],
    ) -> Result<(), Errno> {
        let text = std::str::from_utf8(bytes).map_err(|_| Errno::EILSEQ)?;
        let parent = path.parent().unwrap_or_default();
        let digest = digest(bytes);
        for attempt in 1..=names::ASIDE_MAX {
            let aside = names::aside(name, attempt, digest);
            let aside = names::path(&format!("{parent}/{aside}"))?;
            let (at, expect) = (At::Path(aside), Expect::Absent);
            let edit = Edit { at, expect, act: put(Some(text.to_owned()), None) };
            match self.edit(store, edit).await {
                Ok(done) => {
                    let entry = done.entry;
                    tracing::warn!(%path, aside = %entry.path, "somebody else wrote it first");
                    let outdated = self.tree().hear(store, entry);
                    self.outdate(outdated);
                    return Ok(());
                }
                Err(Refusal::Taken { .. } | Refusal::ExpectFailed) => {}
                Err(refusal) => return Err(errno::of(&refusal)),
            }
        }
        // The last name is the content's own: it is there already.
        Ok(())
    }
}

impl crate::tree::Tree {
    /// A file under the name of a backup is no memory any more: its successor is. What it shows stays
    /// readable as the version it was, and becomes a memory of its own if its name is one that lasts.
    pub(crate) fn unpark(&mut self, ino: crate::node::Ino) {
        self.parked.retain(|_, parked| *parked != ino);
        self.unsettled.remove(&ino);
        let Ok(node) = self.get_mut(ino) else { return };
        let is_lasting = names::lasting(&node.name) != names::Lasting::Scratch;
        let Ok(file) = node.file_mut() else { return };
        let is_owed = is_lasting && file.is_parked && file.saved.is_some();
        file.lose();
        file.settle_at = None;
        if is_owed {
            file.is_owed = true;
            self.wait(ino);
        }
    }
}
