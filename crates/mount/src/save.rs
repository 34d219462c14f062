//! Saving: the bytes of a dirty file become a version. One save at a time for a file; what equals
//! what the server has makes no version; what is refused stays here, visible and marked.

use crate::errno;
use crate::names::{self, Lasting};
use crate::node::{Base, Ino, NEW, Refused, Turn};
use crate::port::{Act, At, Done, Edit, Entry, Refusal};
use crate::volume::{Outdated, Volume};
use fuser::Errno;
use loci_model::{AttributesPatch, Digest, Expect, MemoryId, MemoryPath, limit};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a save that lost a race is tried again.
const ATTEMPTS_MAX: u32 = 6;

/// What may pass by itself: an outage, a full disk, access that was taken back. It is tried again.
const PASSING: [Errno; 4] = [Errno::EIO, Errno::ENOSPC, Errno::EACCES, Errno::EROFS];
/// How long after the first refusal; twice as long after each further one.
pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(1);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);

/// Contents of one file that are remembered as sent without an answer.
const DOUBTFUL_MAX: usize = 64;

/// What is in the way where a memory is that no model may see.
pub(crate) const SEALED: &str = "a sealed memory is there";

/// Why something is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// A descriptor is being closed or synced: files that will be renamed in a moment can wait,
    /// because until then the file that they replace is whole.
    Close,
    /// The last descriptor was closed before, and has been answered: the times are known.
    Release,
    /// It is stored now, whatever its name. Its times are known, too.
    Demand,
}

/// A save that got no answer, and how it is sent again without happening twice.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) key: String,
    pub(crate) edit: Edit,
    pub(crate) draft: Arc<Draft>,
}

/// What is to be saved, as it was at one moment.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) store: usize,
    pub(crate) ino: Ino,
    pub(crate) name: Arc<str>,
    pub(crate) path: MemoryPath,
    pub(crate) bytes: Arc<Vec<u8>>,
    pub(crate) digest: Digest,
    pub(crate) generation: u64,
    pub(crate) base: Option<Base>,
    /// Whether everything since `base`, or since nothing, was added at the end.
    pub(crate) is_appended: bool,
    /// The save before, if it got no answer and can be sent again.
    pub(crate) unanswered: Option<Arc<Sent>>,
    /// Contents that the server may have had without answering.
    pub(crate) doubtful: Vec<Base>,
    /// Whether nothing else may be there.
    pub(crate) is_exclusive: bool,
    /// The thread that began to change the file.
    pub(crate) writer: u32,
    /// Whether programs know the times of the file already, which then stay.
    pub(crate) keeps_times: bool,
    /// The memory to write to; none makes one.
    pub(crate) memory: Option<Arc<Entry>>,
    /// The file under a scratch name that has been this memory until now.
    pub(crate) heir_of: Option<Ino>,
}

impl Draft {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether the server may have had some of these bytes without answering.
    pub(crate) fn is_uncertain(&self) -> bool {
        self.unanswered.is_some() || !self.doubtful.is_empty()
    }

    /// What was added at the end, if the file was changed in no other way: it can be added to
    /// whatever is there by now. Bytes that the server may have already are not added again.
    pub(crate) fn added(&self) -> Option<&str> {
        let from = usize::try_from(self.base.map_or(0, |base| base.size_bytes)).ok()?;
        let is_addition = self.is_appended && !self.is_uncertain() && !self.is_exclusive;
        let added = self.bytes.get(from..).filter(|added| is_addition && !added.is_empty())?;
        std::str::from_utf8(added).ok()
    }

    /// Whether what becomes of a save cannot be told by what is there afterwards: an addition may be
    /// there already, and what nobody else may have made looks alike whoever made it.
    fn is_told_by_its_answer_only(&self) -> bool {
        self.added().is_some() || self.is_exclusive
    }

    /// Whether a save that got no answer was about the same memory.
    fn is_about_the_same(&self, sent: &Self) -> bool {
        let memory = |draft: &Self| draft.memory.as_ref().map(|it| it.memory);
        let is_here = self.path == sent.path && self.heir_of == sent.heir_of;
        let is_known = self.memory.is_some() && self.heir_of.or(sent.heir_of).is_none();
        memory(self) == memory(sent) && (is_here || is_known)
    }

    fn content(&self) -> Base {
        Base { digest: self.digest, size_bytes: self.bytes.len() as u64 }
    }
}

/// What comes after an attempt.
pub(crate) enum Next {
    Saved,
    Again,
    /// This memory was in the way, and is not there for those who may see what models may see.
    Unseen(MemoryId),
}

/// A whole content.
pub(crate) fn put(text: Option<String>, to: Option<MemoryPath>) -> Act {
    Act::Put { text, to, attributes: Box::new(AttributesPatch::default()) }
}

impl Volume {
    /// Saves a file, if there is something to save. The error is for whoever closes it.
    pub(crate) async fn save(self: &Arc<Self>, ino: Ino, occasion: Occasion) -> Result<(), Errno> {
        let turn = Arc::clone(&self.tree().file(ino)?.turn);
        self.save_this(ino, turn, occasion).await
    }

    /// The same for the file that has this turn. Whoever comes after the last descriptor was closed
    /// may find another file under its number, which is no business of theirs.
    pub(crate) async fn save_this(
        self: &Arc<Self>,
        ino: Ino,
        turn: Turn,
        occasion: Occasion,
    ) -> Result<(), Errno> {
        let _turn = turn.lock().await;
        let store = self.tree().get(ino)?.store;
        let _gate = self.gates[store].read().await;
        if !self.tree().file(ino).is_ok_and(|file| Arc::ptr_eq(&file.turn, &turn)) {
            return Ok(());
        }
        self.save_in_turn(ino, occasion).await
    }

    /// The same for whoever has the file's turn already.
    pub(crate) async fn save_in_turn(
        self: &Arc<Self>,
        ino: Ino,
        occasion: Occasion,
    ) -> Result<(), Errno> {
        if self.is_kept_backup(ino)? {
            self.settle_in_turn(ino, true).await?;
        }
        let mut unseen = None;
        for _ in 0..ATTEMPTS_MAX {
            let Some(draft) = self.draft(ino, occasion)? else { return Ok(()) };
            let (generation, heir_of) = (draft.generation, draft.heir_of);
            let next = self.attempt(draft).await;
            let mut tree = self.tree();
            if let Ok(file) = tree.file_mut(ino) {
                file.is_saving = false;
            }
            tree.set_successor(heir_of, None);
            tree.forget(ino, 0);
            drop(tree);
            match next? {
                Next::Saved => return Ok(()),
                Next::Again => {}
                // One that was just removed would be gone now.
                Next::Unseen(memory) if unseen == Some(memory) => {
                    return self.refuse(ino, generation, Errno::EACCES, SEALED);
                }
                Next::Unseen(memory) => unseen = Some(memory),
            }
        }
        let generation = self.tree().file(ino)?.generation;
        self.refuse(ino, generation, Errno::ESTALE, "others change it faster than it can be saved")
    }

    fn draft(&self, ino: Ino, occasion: Occasion) -> Result<Option<Arc<Draft>>, Errno> {
        let mut tree = self.tree();
        let node = tree.get(ino)?;
        let (file, store, name) = (node.file()?, node.store, Arc::clone(&node.name));
        let Some(bytes) = file.held.clone().filter(|_| file.is_dirty && node.is_linked) else {
            return Ok(None);
        };
        // A parked memory is settled before it is written to.
        let is_parked = file.is_parked;
        match tree.lasting(node.parent, &name) {
            _ if is_parked => return Ok(None),
            _ if file.saved.is_some() => {}
            Lasting::Scratch => return Ok(None),
            Lasting::Passing if occasion != Occasion::Demand => {
                if file.settle_at.is_none() {
                    tree.wait(ino);
                }
                return Ok(None);
            }
            Lasting::Passing | Lasting::Kept => {}
        }
        let (generation, base, memory) = (file.generation, file.base, file.saved.clone());
        let (unanswered, doubtful) = (file.unanswered.clone(), file.doubtful.clone());
        let is_exclusive = file.is_exclusive;
        let (writer, is_made) = (file.writer, generation == NEW);
        let path = match names::path(&tree.path(ino)) {
            Ok(path) => path,
            Err(errno) => {
                drop(tree);
                return self.refuse(ino, generation, errno, "the path is too long").map(|()| None);
            }
        };
        let parked = tree.parked.get(&(store, path.clone())).copied().filter(|_| memory.is_none());
        let inherited = parked.and_then(|ino| tree.file(ino).ok()?.saved.clone());
        // What takes the place of a memory adds nothing to it.
        let is_appended = tree.file(ino)?.is_appended && inherited.is_none();
        let read = parked.and_then(|ino| tree.expected_by(ino, writer));
        let base = base.or(read).or_else(|| inherited.as_deref().map(Base::of));
        tree.file_mut(ino)?.is_saving = true;
        tree.set_successor(parked, Some(ino));
        drop(tree);
        let digest = digest(&bytes);
        let memory = memory.or(inherited);
        let heir_of = parked;
        let mut draft = Draft {
            store,
            ino,
            name,
            path,
            bytes,
            digest,
            generation,
            base,
            is_appended,
            unanswered,
            doubtful,
            is_exclusive,
            writer,
            keeps_times: is_made || occasion != Occasion::Close,
            memory,
            heir_of,
        };
        if let Some(sent) = draft.unanswered.take() {
            match draft.is_about_the_same(&sent.draft) {
                true => draft.unanswered = Some(sent),
                false => draft.doubtful.push(sent.draft.content()),
            }
        }
        Ok(Some(Arc::new(draft)))
    }

    async fn attempt(self: &Arc<Self>, draft: Arc<Draft>) -> Result<Next, Errno> {
        if let Some(sent) = &draft.unanswered {
            return self.send_again(&draft, sent).await;
        }
        let limit = self.tree().places[draft.store].seen.content_bytes_max;
        if draft.bytes.len() as u64 > limit.min(limit::CONTENT_BYTES_MAX as u64) {
            let why = format!("is {} bytes, limit {limit}", draft.bytes.len());
            return self
                .refuse(draft.ino, draft.generation, Errno::EFBIG, &why)
                .map(|()| Next::Saved);
        }
        let Ok(text) = std::str::from_utf8(&draft.bytes) else {
            let refused =
                self.refuse(draft.ino, draft.generation, Errno::EILSEQ, "is not UTF-8 text");
            return refused.map(|()| Next::Saved);
        };
        // The same line that others have added is another line.
        let is_there = |it: &&Arc<Entry>| it.digest == draft.digest && draft.added().is_none();
        if let Some(memory) = draft.memory.as_ref().filter(is_there) {
            self.conclude(&draft, memory);
            return Ok(Next::Saved);
        }
        let edit = match (&draft.memory, draft.base) {
            (Some(memory), Some(base)) if let Some(added) = draft.added() => Edit {
                at: At::Memory(memory.memory),
                expect: Expect::Digest(base.digest),
                act: Act::Append { text: added.to_owned(), is_own_line: false },
            },
            (Some(memory), Some(base)) => Edit {
                at: At::Memory(memory.memory),
                expect: Expect::Digest(base.digest),
                act: put(Some(text.to_owned()), None),
            },
            (Some(memory), None) => Edit {
                at: At::Memory(memory.memory),
                expect: Expect::Digest(memory.digest),
                act: put(Some(text.to_owned()), None),
            },
            (None, _) => Edit {
                at: At::Path(draft.path.clone()),
                expect: Expect::Absent,
                act: put(Some(text.to_owned()), None),
            },
        };
        match self.edit_of(&draft, edit).await {
            // A store that keeps each text once has it elsewhere.
            Ok(Done { entry, operation: None })
                if draft.memory.is_none() && entry.path != draft.path =>
            {
                let why = repeated(&entry);
                self.refuse(draft.ino, draft.generation, Errno::EEXIST, &why).map(|()| Next::Saved)
            }
            Ok(done) => {
                self.conclude(&draft, &done.entry);
                Ok(Next::Saved)
            }
            Err(refusal @ (Refusal::ExpectFailed | Refusal::Taken { .. } | Refusal::NotFound)) => {
                self.reconcile(&draft, refusal).await
            }
            Err(refusal) => {
                let (number, why) = (errno::of(&refusal), errno::reason(&refusal));
                self.refuse(draft.ino, draft.generation, number, &why).map(|()| Next::Saved)
            }
        }
    }

    /// Sends the edit of a draft, and remembers that it was sent if it gets no answer.
    pub(crate) async fn edit_of(
        self: &Arc<Self>,
        draft: &Arc<Draft>,
        edit: Edit,
    ) -> Result<Done, Refusal> {
        if !draft.is_told_by_its_answer_only() {
            let done = self.edit(draft.store, edit).await;
            if matches!(done, Err(Refusal::Unreachable(_)))
                && let Ok(file) = self.tree().file_mut(draft.ino)
                && !file.doubtful.contains(&draft.content())
            {
                if file.doubtful.len() >= DOUBTFUL_MAX {
                    file.doubtful.remove(0);
                }
                file.doubtful.push(draft.content());
            }
            return done;
        }
        let key = self.port.fresh_key();
        let done = self.edit_once(draft.store, edit.clone(), &key).await;
        if matches!(done, Err(Refusal::Unreachable(_)))
            && let Ok(file) = self.tree().file_mut(draft.ino)
        {
            file.unanswered = Some(Arc::new(Sent { key, edit, draft: Arc::clone(draft) }));
        }
        done
    }

    /// The server has what was drafted, or something newer by now.
    pub(crate) fn conclude(&self, draft: &Draft, entry: &Entry) {
        self.cache().put(entry.version, Arc::clone(&draft.bytes));
        let newest = self.tree().newest(draft.store, entry.clone());
        if newest.digest != draft.digest {
            return self.yield_to(draft, newest);
        }
        let mut outdated = Vec::new();
        let mut tree = self.tree();
        if let Some(parked) = draft.heir_of {
            tree.unpark(parked);
        }
        let entry = Arc::new(newest);
        tree.changes += 1;
        if let Some(before) = draft.base {
            tree.readers.carry(entry.memory, before.digest, Base::of(&entry));
        }
        tree.enter(draft.ino, &entry);
        if let Ok(node) = tree.get_mut(draft.ino)
            && let Ok(file) = node.file_mut()
        {
            if file.generation == draft.generation {
                file.take_up(Arc::clone(&entry));
                if !draft.keeps_times {
                    node.stamp(entry.updated_at);
                }
            } else {
                file.be_certain();
                file.base = Some(Base::of(&entry));
                file.source = Some((entry.memory, entry.version));
                file.saved = Some(Arc::clone(&entry));
            }
        }
        tree.put_in_place(draft.ino, &entry, &mut outdated);
        outdated.extend(tree.verify(draft.store, entry.memory));
        drop(tree);
        self.outdate(outdated);
    }

    /// The bytes stay here, and whoever closed the file hears why.
    pub(crate) fn refuse(
        &self,
        ino: Ino,
        generation: u64,
        errno: Errno,
        why: &str,
    ) -> Result<(), Errno> {
        let mut tree = self.tree();
        let path = tree.path(ino);
        let file = tree.file_mut(ino)?;
        let before = file.refused.take();
        // An outage that goes on is no news, however it is put.
        let is_known =
            |it: &Refused| it.errno == errno && (it.why == why || it.generation == generation);
        if !before.as_ref().is_some_and(is_known) {
            tracing::warn!(%path, why, "not saved; it is kept while this is mounted");
        }
        let again = before.filter(|it| it.generation == generation);
        let pause = again.map_or(RETRY_AFTER, |it| (it.pause * 2).min(RETRY_AFTER_MAX));
        let is_passing = PASSING.contains(&errno) && why != SEALED;
        let retry_at = is_passing.then(|| Instant::now() + pause);
        file.refused = Some(Refused { errno, why: why.to_owned(), generation, retry_at, pause });
        if is_passing {
            tree.unsettled.insert(ino);
        }
        let is_hopeless = [Errno::EFBIG, Errno::EILSEQ, Errno::ENAMETOOLONG].contains(&errno);
        if is_hopeless && self.keeps_refused { Ok(()) } else { Err(errno) }
    }

    /// Asks how a memory is now and brings that into the tree.
    pub(crate) async fn refresh(
        &self,
        store: usize,
        memory: MemoryId,
    ) -> Result<Option<Entry>, Errno> {
        let heard = self.ask(self.port.entry(self.stores[store], memory)).await;
        let (outdated, entry): (Vec<Outdated>, _) = match heard {
            Ok(entry) => (self.tree().hear(store, entry.clone()), Some(entry)),
            Err(Refusal::NotFound) => (self.tree().hear_gone(store, memory), None),
            Err(refusal) => return Err(errno::of(&refusal)),
        };
        self.outdate(outdated);
        Ok(entry)
    }
}

/// Why a new file is not stored in a store that keeps each text once.
pub(crate) fn repeated(entry: &Entry) -> String {
    format!("the store keeps each text once, and has this one at {}", entry.path)
}

/// The digest of bytes, which need not be text.
pub(crate) fn digest(bytes: &[u8]) -> Digest {
    let mut hash = loci_model::Hash::default();
    hash.add(bytes);
    hash.digest()
}

/// Whether the bytes begin with what they started from: then what was added can be added to whatever
/// has become of that.
pub(crate) fn tail(bytes: &[u8], base: Base) -> Option<&str> {
    let cut = usize::try_from(base.size_bytes).ok()?;
    let (begun, added) = bytes.split_at_checked(cut)?;
    let is_appended = !added.is_empty() && digest(begun) == base.digest;
    std::str::from_utf8(added).ok().filter(|_| is_appended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::Content;

    #[test]
    fn only_what_was_added_at_the_end_is_a_tail() {
        let base = |text: &str| Base {
            digest: Content::Text(text.into()).digest(),
            size_bytes: text.len() as u64,
        };
        assert_eq!(tail(b"one two", base("one")), Some(" two"));
        assert_eq!(tail(b"one", base("one")), None);
        assert_eq!(tail(b"One two", base("one")), None);
        assert_eq!(tail(b"o", base("one")), None);
        assert_eq!(tail(b"all", base("")), Some("all"));
        assert_eq!(tail("é".as_bytes(), Base { size_bytes: 1, ..base("") }), None);
    }
}
