//! Open files: what opening, writing, closing and resizing one mean. A handle that wrote saves when
//! it is closed; one that only made or emptied the file when its opener closes the last descriptor of
//! it, because a shell closes a copy before the program has written anything.

use crate::content::Change;
use crate::errno;
use crate::history::is_history;
use crate::names::{self, Lasting};
use crate::node::{Ino, Looks, Turn};
use crate::processes::{has_open, is_one_process};
use crate::save::Occasion;
use crate::tree::{Handle, Tree};
use crate::volume::Volume;
use fuser::{Errno, FileAttr, TimeOrNow};
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Duration;

/// How a file is opened, and by which thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) is_reader: bool,
    pub(crate) is_writer: bool,
    pub(crate) is_emptied: bool,
    pub(crate) thread: u32,
}

/// By which handle something is done, 0 if by none, and by which thread; 0 is the kernel itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Through {
    pub(crate) handle: u64,
    pub(crate) thread: u32,
}

impl Tree {
    /// This thread wrote through this handle.
    pub(crate) fn note_write(&mut self, through: Through) {
        if let Some(handle) = self.handles.get_mut(&through.handle) {
            handle.has_written = true;
            handle.writer = through.thread;
        }
    }
}

impl Volume {
    /// Opens a file; says whether what the kernel has cached of it still holds.
    pub(crate) fn open(&self, ino: Ino, opening: Opening) -> Result<(u64, bool), Errno> {
        if is_history(ino) {
            let refused = opening.is_writer || opening.is_emptied;
            return if refused { Err(Errno::EROFS) } else { Ok((0, true)) };
        }
        let mut tree = self.tree();
        tree.check_open(ino)?;
        if !tree.get(ino)?.is_linked {
            // Somebody else removed it, and the kernel has not heard: it will look again.
            return Err(Errno::ESTALE);
        }
        if opening.is_writer || opening.is_emptied {
            tree.check_writable(ino)?;
        }
        self.open_in(&mut tree, ino, opening)
    }

    fn open_in(&self, tree: &mut Tree, ino: Ino, opening: Opening) -> Result<(u64, bool), Errno> {
        if opening.is_emptied && tree.file(ino)?.size > 0 {
            let through = Through { handle: 0, thread: opening.thread };
            self.change_at_hand(tree, ino, &Change::Resize(0), through)?;
        } else if opening.is_reader {
            tree.note_read(ino, opening.thread);
        }
        let file = tree.file_mut(ino)?;
        let keeps_pages = file.epoch == file.epoch_opened;
        file.epoch_opened = file.epoch;
        let handle = tree.open(ino, opening.is_emptied, opening.thread)?;
        Ok((handle, keeps_pages))
    }

    /// Opens a new file, or the one that is there.
    pub(crate) fn create(
        &self,
        parent: Ino,
        name: &OsStr,
        looks: Looks,
        opening: Opening,
        is_new: bool,
    ) -> Result<(FileAttr, Duration, u64), Errno> {
        if is_history(parent) {
            return Err(Errno::EROFS);
        }
        let now = self.now();
        let mut tree = self.tree();
        tree.check_open(parent)?;
        let there = tree.child(parent, names::check(name)?)?;
        let (ino, opening) = match there {
            Some(_) if is_new => return Err(Errno::EEXIST),
            Some(ino) => (ino, opening),
            None => {
                let ino = tree.make(parent, name, looks, false, now)?;
                let file = tree.file_mut(ino)?;
                file.is_exclusive = is_new;
                file.writer = opening.thread;
                (ino, Opening { is_emptied: true, ..opening })
            }
        };
        tree.check_writable(ino)?;
        let (handle, _) = self.open_in(&mut tree, ino, opening)?;
        let node = tree.get_mut(ino)?;
        node.lookups += 1;
        Ok((node.attr(), node.ttl(), handle))
    }

    /// Writes if the bytes are at hand.
    pub(crate) fn write_at_hand(
        &self,
        ino: Ino,
        through: Through,
        offset: u64,
        data: &[u8],
        is_appending: bool,
    ) -> Result<bool, Errno> {
        let change = placed(offset, data, is_appending);
        self.change_at_hand(&mut self.tree(), ino, &change, through)
    }

    /// Writes.
    pub(crate) async fn write(
        self: &Arc<Self>,
        ino: Ino,
        through: Through,
        offset: u64,
        data: &[u8],
        is_appending: bool,
    ) -> Result<(), Errno> {
        self.change(ino, placed(offset, data, is_appending), through).await
    }

    /// What closing a descriptor comes to; `None` if the file is to be saved.
    ///
    /// Every program that is started closes what it inherited: that is no end of somebody else's
    /// writing. Whoever wrote closes too, and the last descriptor at the latest saves.
    pub(crate) fn flush_at_hand(&self, ino: Ino, through: Through) -> Option<Result<(), Errno>> {
        let handle = self.tree().handles.get(&through.handle).copied()?;
        // Looked up without the lock: it reads files of the machine.
        let ends = match handle.has_written {
            true => is_one_process(handle.writer, through.thread) != Some(false),
            false => handle.has_touched && self.is_last_of_opener(ino, &handle, through.thread),
        };
        let mut tree = self.tree();
        if handle.has_written && !ends {
            return Some(Ok(()));
        }
        let is_pending = tree.file(ino).is_ok_and(|file| file.is_dirty);
        if handle.has_written || ends && is_pending {
            let handle = tree.handles.get_mut(&through.handle)?;
            handle.has_written = false;
            handle.has_touched = false;
            // If it waits to be settled, it waits from now on.
            if let Ok(file) = tree.file_mut(ino) {
                file.settle_at = file.settle_at.filter(|_| file.is_parked || file.is_owed);
            }
            return None;
        }
        // A copy of the descriptor hears of the same failure.
        let is_refused = tree.file(ino).is_ok_and(|file| file.refusal().is_some());
        Some(handle.error.filter(|_| is_refused).map_or(Ok(()), Err))
    }

    /// Whether a file that was only made or emptied is done with: whoever opened it closes its last
    /// descriptor. A shell closes a copy before the program has written anything; so where nothing
    /// can be known of descriptors, only what `O_EXCL` made is done with, which others wait for.
    fn is_last_of_opener(&self, ino: Ino, handle: &Handle, thread: u32) -> bool {
        let is_exclusive = self.tree().file(ino).is_ok_and(|file| file.is_exclusive);
        match is_one_process(handle.opener, thread) {
            Some(false) => false,
            Some(true) => has_open(thread, ino).map_or(is_exclusive, |is_open| !is_open),
            None => is_exclusive && has_open(thread, ino) != Some(true),
        }
    }

    /// Remembers what a handle's save came to.
    pub(crate) fn note_error(&self, handle: u64, saved: Result<(), Errno>) {
        if let Some(handle) = self.tree().handles.get_mut(&handle) {
            handle.error = saved.err();
        }
    }

    /// Makes a file durable. One that waits to be renamed is that by its rename: until then the file
    /// that it replaces is whole.
    pub(crate) async fn sync(self: &Arc<Self>, ino: Ino) -> Result<(), Errno> {
        let is_parked = self.tree().file(ino).is_ok_and(|file| file.is_parked);
        if is_parked {
            self.settle(ino).await?;
        }
        self.save(ino, Occasion::Close).await
    }

    /// Ends a handle; gives the file's turn if it is still to be saved.
    pub(crate) fn release(&self, ino: Ino, handle: u64) -> Option<Turn> {
        let mut tree = self.tree();
        let handle = tree.handles.remove(&handle)?;
        let node = tree.get(ino).ok()?;
        let is_passing = tree.lasting(node.parent, &node.name) == Lasting::Passing;
        let node = tree.get_mut(ino).ok()?;
        let is_linked = node.is_linked;
        let file = node.file_mut().ok()?;
        file.opens = file.opens.saturating_sub(1);
        let is_last = file.opens == 0;
        let is_pending = is_linked && file.is_dirty && file.refusal().is_none();
        let turn = Arc::clone(&file.turn);
        // Who only reads it does not make it wait longer.
        let is_to_wait = is_last && is_passing && file.saved.is_none() && file.settle_at.is_none();
        if is_to_wait {
            tree.wait(ino);
        }
        tree.forget(ino, 0);
        let is_due = is_pending && (is_last || handle.has_written || handle.has_touched);
        is_due.then_some(turn)
    }

    /// `truncate` and `ftruncate`. Without a handle there is no close to wait for: it is saved at once.
    pub(crate) async fn resize(
        self: &Arc<Self>,
        ino: Ino,
        through: Through,
        size: u64,
    ) -> Result<(), Errno> {
        let is_by_path = through.handle == 0;
        if is_history(ino) {
            return Err(Errno::EROFS);
        }
        {
            let tree = self.tree();
            tree.check_writable(ino)?;
            if is_by_path && !tree.get(ino)?.is_linked {
                return Err(Errno::ESTALE);
            }
        }
        let before = self.tree().file(ino)?.size;
        if before == size && is_by_path {
            let now = self.now();
            self.tree().get_mut(ino)?.touch(now);
            return Ok(());
        }
        self.change(ino, Change::Resize(size), through).await?;
        if !is_by_path {
            return Ok(());
        }
        match self.save(ino, Occasion::Close).await {
            // Too large or not text now; the next write may change that, so it stays as it is here.
            Ok(()) | Err(Errno::EFBIG | Errno::EILSEQ | Errno::ENAMETOOLONG) => Ok(()),
            Err(errno) => Err(errno::of_path_call(errno)),
        }
    }

    /// `chmod`, `chown` and `utimensat`: kept by the mount.
    pub(crate) fn set_attributes(
        &self,
        ino: Ino,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        read: Option<TimeOrNow>,
        written: Option<TimeOrNow>,
    ) -> Result<(), Errno> {
        if is_history(ino) {
            return Err(Errno::EROFS);
        }
        let now = self.now();
        let at = |time: TimeOrNow| match time {
            TimeOrNow::SpecificTime(time) => time,
            TimeOrNow::Now => now,
        };
        let is_any = mode.is_some() || uid.is_some() || gid.is_some();
        let mut tree = self.tree();
        if is_any || read.is_some() || written.is_some() {
            tree.check_writable(ino)?;
            tree.changes += 1;
            tree.get_mut(ino)?.times.changed = now;
        }
        let node = tree.get_mut(ino)?;
        node.looks.mode = mode.map_or(node.looks.mode, |mode| (mode & 0o7777) as u16);
        node.looks.uid = uid.unwrap_or(node.looks.uid);
        node.looks.gid = gid.unwrap_or(node.looks.gid);
        if let Some(read) = read {
            node.times.read = at(read);
            node.times.is_read_set = true;
        }
        if let Some(written) = written {
            node.times.written = at(written);
            node.times.is_written_set = true;
        }
        Ok(())
    }
}

/// What a write changes: who appends writes at the end as it will be then, which the kernel may not
/// know.
fn placed(offset: u64, data: &[u8], is_appending: bool) -> Change<'_> {
    if is_appending { Change::Append(offset, data) } else { Change::Write(offset, data) }
}
