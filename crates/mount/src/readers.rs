//! Which content of a memory each process read last, so that a save expects what its writer has seen
//! and not what happened to be there when the first byte was written.
//!
//! What this mount saves is carried forward: on one machine the last writer wins, as on any file
//! system. Only what came from elsewhere in between makes a save too late. The lists are short and
//! bounded; who is not in them expects what is there.

use crate::node::{Base, Ino};
use crate::processes::is_one_process;
use crate::tree::Tree;
use foldhash::HashMap;
use loci_model::{Digest, MemoryId};

/// Threads to remember for one memory.
const READERS_MAX: usize = 8;
/// Memories to remember threads for. When there are more, all are forgotten.
const MEMORIES_MAX: usize = 50_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reader {
    thread: u32,
    /// What it read; none if that was unsaved bytes, which any save may replace.
    seen: Option<Base>,
}

/// Who read what.
#[derive(Debug, Default)]
pub(crate) struct Readers(HashMap<MemoryId, Vec<Reader>>);

impl Readers {
    /// A thread has read this of a memory, or knows it otherwise.
    pub(crate) fn note(&mut self, memory: MemoryId, thread: u32, seen: Option<Base>) {
        if thread == 0 {
            return;
        }
        if self.0.len() >= MEMORIES_MAX && !self.0.contains_key(&memory) {
            self.0.clear();
        }
        let readers = self.0.entry(memory).or_default();
        readers.retain(|reader| reader.thread != thread);
        if readers.len() >= READERS_MAX {
            readers.remove(0);
        }
        readers.push(Reader { thread, seen });
    }

    /// A save of this mount made one content from another: that is news to no process here.
    pub(crate) fn carry(&mut self, memory: MemoryId, from: Digest, to: Base) {
        for reader in self.0.get_mut(&memory).into_iter().flatten() {
            if reader.seen.is_some_and(|seen| seen.digest == from) {
                reader.seen = Some(to);
            }
        }
    }

    /// What the process of a thread read last, if that is not what is there now.
    pub(crate) fn outdated(&self, memory: MemoryId, thread: u32, now: Digest) -> Option<Base> {
        let readers = self.0.get(&memory)?;
        let is_old = |seen: Option<Base>| seen.filter(|seen| seen.digest != now);
        // Mostly nothing has happened, and nobody need be asked who is who.
        readers.iter().find_map(|reader| is_old(reader.seen))?;
        let is_own = |reader: &&Reader| is_one_process(reader.thread, thread) == Some(true);
        is_old(readers.iter().rev().find(is_own)?.seen)
    }
}

impl Tree {
    /// A thread reads a file.
    pub(crate) fn note_read(&mut self, ino: Ino, thread: u32) {
        let Ok(file) = self.file(ino) else { return };
        let Some(entry) = &file.saved else { return };
        let (memory, seen) = (entry.memory, (!file.is_dirty).then(|| Base::of(entry)));
        self.readers.note(memory, thread, seen);
    }

    /// What a save of this file by this thread expects, if it is not what the memory holds now.
    pub(crate) fn expected_by(&self, ino: Ino, thread: u32) -> Option<Base> {
        let entry = self.file(ino).ok()?.saved.as_ref()?;
        self.readers.outdated(entry.memory, thread, entry.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::Content;

    fn base(text: &str) -> Base {
        let digest = Content::Text(text.into()).digest();
        Base { digest, size_bytes: text.len() as u64 }
    }

    #[test]
    fn a_process_expects_what_it_read_last() {
        let (memory, own) = (MemoryId::from_u128(1), std::process::id());
        let mut readers = Readers::default();
        let late = |readers: &Readers, now| readers.outdated(memory, own, base(now).digest);
        assert_eq!(late(&readers, "one"), None, "it has read nothing");
        readers.note(memory, own, Some(base("one")));
        assert_eq!(late(&readers, "one"), None);
        assert_eq!(late(&readers, "two"), Some(base("one")));
        // What another process has read is its own matter.
        readers.note(memory, 1, Some(base("two")));
        assert_eq!(late(&readers, "two"), Some(base("one")));
        readers.carry(memory, base("one").digest, base("two"));
        assert_eq!(late(&readers, "two"), None);
        readers.note(memory, own, None);
        assert_eq!(late(&readers, "three"), None, "what is unsaved may be replaced");
    }

    #[test]
    fn the_lists_are_bounded() {
        let mut readers = Readers::default();
        for thread in 1..100 {
            readers.note(MemoryId::from_u128(1), thread, None);
        }
        assert_eq!(readers.0[&MemoryId::from_u128(1)].len(), READERS_MAX);
        for memory in 0..=MEMORIES_MAX as u128 {
            readers.note(MemoryId::from_u128(memory), 1, None);
        }
        assert!(readers.0.len() <= MEMORIES_MAX);
    }
}
