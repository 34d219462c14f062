//! The bytes of files: read from the server when first needed, changed here, shared by all handles
//! of a file as POSIX wants it. What is changed is here until it is saved.

use crate::files::Through;
use crate::node::{Base, Ino};
use crate::port::Refusal;
use crate::tree::Tree;
use crate::volume::{BUFFER_BYTES_MAX, Outdated, Volume};
use fuser::Errno;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A change of bytes.
pub(crate) enum Change<'d> {
    /// These bytes at this place.
    Write(u64, &'d [u8]),
    /// These bytes at the end, wherever that is by then; the kernel takes it to be at this place.
    Append(u64, &'d [u8]),
    /// So many bytes: the rest cut off, or zeros behind.
    Resize(u64),
    /// At least so many bytes.
    Reserve(u64),
}

impl Change<'_> {
    /// The size of a file of this size after the change.
    fn size_after(&self, size: u64) -> u64 {
        match self {
            Self::Write(at, data) => size.max(at.saturating_add(data.len() as u64)),
            Self::Append(_, data) => size.saturating_add(data.len() as u64),
            Self::Resize(size) => *size,
            Self::Reserve(least) => size.max(*least),
        }
    }

    fn apply(&self, bytes: &mut Vec<u8>) {
        let before = bytes.len() as u64;
        let size = usize::try_from(self.size_after(before)).unwrap_or(usize::MAX);
        let (at, data) = match self {
            Self::Write(at, data) => (usize::try_from(*at).unwrap_or(usize::MAX), *data),
            Self::Append(_, data) => (bytes.len(), *data),
            Self::Resize(_) | Self::Reserve(_) => (size, &[][..]),
        };
        if at == bytes.len() {
            bytes.extend_from_slice(data);
        }
        bytes.resize(size, 0);
        if let Some(slot) = bytes.get_mut(at..at + data.len()) {
            slot.copy_from_slice(data);
        }
    }
}

impl Volume {
    /// The bytes of a file if they are at hand.
    pub(crate) fn bytes_at_hand(
        &self,
        tree: &Tree,
        ino: Ino,
    ) -> Result<Option<Arc<Vec<u8>>>, Errno> {
        tree.check_open(ino)?;
        let file = tree.file(ino)?;
        Ok(match (&file.held, file.source) {
            (Some(bytes), _) => Some(Arc::clone(bytes)),
            (None, None) => Some(Arc::default()),
            (None, Some(_)) if file.size == 0 => Some(Arc::default()),
            (None, Some((_, version))) => self.cache().get(version),
        })
    }

    /// The bytes of a file.
    pub(crate) async fn bytes(self: &Arc<Self>, ino: Ino) -> Result<Arc<Vec<u8>>, Errno> {
        self.bytes_of_version(ino).await.map(|(bytes, _)| bytes)
    }

    /// The bytes of a file for a thread that reads it. By the time they have come, the memory may have
    /// another content: the thread has seen what they are of.
    pub(crate) async fn bytes_read(
        self: &Arc<Self>,
        ino: Ino,
        thread: u32,
    ) -> Result<Arc<Vec<u8>>, Errno> {
        let (bytes, base) = self.bytes_of_version(ino).await?;
        let mut tree = self.tree();
        let saved = tree.file(ino).ok().and_then(|file| file.saved.as_ref());
        if let (Some(base), Some(memory)) = (base, saved.map(|entry| entry.memory)) {
            tree.readers.note(memory, thread, Some(base));
        }
        Ok(bytes)
    }

    /// The bytes of a file, and of which memory's content they are: by the time they have come from
    /// the server, the file may be another version.
    async fn bytes_of_version(
        self: &Arc<Self>,
        ino: Ino,
    ) -> Result<(Arc<Vec<u8>>, Option<Base>), Errno> {
        let mut has_read_ahead = false;
        // Whoever reads while others write may find that what it asked for is gone; not for ever.
        for _ in 0..8 {
            let (store, source, base) = {
                let tree = self.tree();
                let node = tree.get(ino)?;
                let file = node.file()?;
                let base = file.saved.as_deref().map(Base::of);
                if let Some(bytes) = self.bytes_at_hand(&tree, ino)? {
                    return Ok((bytes, base));
                }
                (node.store, file.source, base)
            };
            let Some((memory, version)) = source else { return Ok((Arc::default(), base)) };
            if !has_read_ahead {
                has_read_ahead = true;
                self.read_ahead(ino).await;
                continue;
            }
            match self.text(store, memory, version).await {
                Ok(text) => {
                    let bytes = Arc::new(text.into_bytes());
                    self.cache().put(version, Arc::clone(&bytes));
                    return Ok((bytes, base));
                }
                // Redacted, or the head has moved on.
                Err(Refusal::NotFound) => {
                    self.refresh(store, memory).await?;
                    if self.tree().file(ino)?.source == source {
                        return Err(Errno::EIO);
                    }
                }
                Err(refusal) => return Err(crate::errno::of(&refusal)),
            }
        }
        Err(Errno::EIO)
    }

    /// Changes bytes that are at hand; says false if they are not.
    pub(crate) fn change_at_hand(
        &self,
        tree: &mut Tree,
        ino: Ino,
        change: &Change<'_>,
        through: Through,
    ) -> Result<bool, Errno> {
        let size = tree.file(ino)?.size;
        if change.size_after(size) > BUFFER_BYTES_MAX {
            return Err(Errno::EFBIG);
        }
        let bytes = match change {
            Change::Resize(0) => Some(Arc::default()),
            _ => self.bytes_at_hand(tree, ino)?,
        };
        let Some(bytes) = bytes else { return Ok(false) };
        let base = tree.file(ino)?.saved.as_deref().map(Base::of);
        self.apply(tree, ino, change, through, bytes, base)?;
        Ok(true)
    }

    /// Changes bytes, fetching them first if need be.
    ///
    /// Where an append goes is decided here, under the lock that applies it: the end may have moved
    /// since the kernel looked. Bytes that were fetched keep the base that they are of, also when the
    /// feed has brought another version meanwhile: then the save finds out that it came too late.
    pub(crate) async fn change(
        self: &Arc<Self>,
        ino: Ino,
        change: Change<'_>,
        through: Through,
    ) -> Result<(), Errno> {
        for attempt in 0..8 {
            if self.change_at_hand(&mut self.tree(), ino, &change, through)? {
                return Ok(());
            }
            let (bytes, base) = self.bytes_of_version(ino).await?;
            let mut tree = self.tree();
            let file = tree.file(ino)?;
            let is_clean = !file.is_dirty && file.held.is_none();
            let is_newest = file.saved.as_deref().map(Base::of) == base;
            let is_good = is_newest || matches!(change, Change::Append(..)) || attempt > 4;
            if is_clean && is_good {
                return self.apply(&mut tree, ino, &change, through, bytes, base);
            }
        }
        Err(Errno::EIO)
    }

    /// Changes these bytes, which are the file's or were a moment ago, and keeps them here.
    fn apply(
        &self,
        tree: &mut Tree,
        ino: Ino,
        change: &Change<'_>,
        through: Through,
        mut bytes: Arc<Vec<u8>>,
        base: Option<Base>,
    ) -> Result<(), Errno> {
        // Access may have been taken back since the file was opened.
        tree.check_writable(ino)?;
        let size = bytes.len() as u64;
        if change.size_after(size) > BUFFER_BYTES_MAX {
            return Err(Errno::EFBIG);
        }
        if self.is_ending.load(Ordering::Acquire) {
            return Err(Errno::EIO);
        }
        let now = self.now();
        let is_append = matches!(change, Change::Append(..));
        let is_first = !tree.file(ino)?.is_dirty;
        // Who adds at the end needs to have read nothing.
        let base = match tree.expected_by(ino, through.thread) {
            Some(read) if is_first && !is_append => Some(read),
            _ => base,
        };
        let node = tree.get_mut(ino)?;
        let file = node.file_mut()?;
        // The tree's own reference has to go, or changing in place would be copying.
        file.held = None;
        change.apply(Arc::make_mut(&mut bytes));
        file.soil(bytes, base);
        file.is_appended &= is_append;
        if is_first {
            file.writer = through.thread;
        }
        file.generation += 1;
        node.touch(now);
        if matches!(change, Change::Append(place, _) if *place != size) {
            // The kernel put it where it believed the end to be.
            self.outdate([Outdated::Node(ino)]);
        }
        tree.note_write(through);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, change: &Change<'_>, after: &str) {
        let mut bytes = before.as_bytes().to_vec();
        assert_eq!(change.size_after(bytes.len() as u64), after.len() as u64);
        change.apply(&mut bytes);
        assert_eq!(String::from_utf8(bytes).unwrap(), after);
    }

    #[test]
    fn changes_of_bytes() {
        check("abc", &Change::Write(1, b"X"), "aXc");
        check("abc", &Change::Write(2, b"XY"), "abXY");
        check("abc", &Change::Write(3, b"XY"), "abcXY");
        check("abc", &Change::Write(5, b"X"), "abc\0\0X");
        check("", &Change::Write(0, b"X"), "X");
        check("abc", &Change::Append(7, b"X"), "abcX");
        check("abc", &Change::Resize(1), "a");
        check("abc", &Change::Resize(4), "abc\0");
        check("abc", &Change::Reserve(2), "abc");
        check("abc", &Change::Reserve(4), "abc\0");
    }
}
