//! Looking around: names, attributes, listings, and how much room there is. A listing is a snapshot
//! taken when it begins, so that nothing is shown twice or skipped while others write.

use crate::access::State;
use crate::history::{self, Line, is_history};
use crate::names;
use crate::node::{BLOCK_BYTES, Body, Ino, Looks, ROOT};
use crate::volume::Volume;
use fuser::{Errno, FileAttr, FileType, Generation, INodeNo, ReplyDirectoryPlus};
use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::PoisonError;
use std::time::Duration;

/// How much room `df` shows behind what is used, at most: a store has no size of its own.
const FREE_BYTES_MAX: u64 = 1 << 40;

/// How full the stores are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) files: u64,
    pub(crate) files_free: u64,
    pub(crate) blocks_used: u64,
    pub(crate) blocks_free: u64,
}

impl Volume {
    /// Whether this is the name of a store's history.
    pub(crate) fn is_history_name(&self, parent: Ino, name: &OsStr) -> bool {
        if name != history::NAME || is_history(parent) {
            return false;
        }
        self.tree().places.iter().any(|place| place.root == parent)
    }

    /// Whether a name may be in a directory although it is not known: the directory is to be listed.
    pub(crate) fn is_unsure(&self, parent: Ino, name: &OsStr) -> bool {
        let tree = self.tree();
        let known = name.to_str().map(|name| tree.child(parent, name));
        matches!(known, Some(Ok(None))) && !tree.is_listed(parent)
    }

    pub(crate) fn lookup(&self, parent: Ino, name: &OsStr) -> Result<(FileAttr, Duration), Errno> {
        if name.len() > names::NAME_BYTES_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        let mut tree = self.tree();
        tree.check_open(parent)?;
        let name = name.to_str().ok_or(Errno::ENOENT)?;
        let ino = tree.child(parent, name)?.ok_or(Errno::ENOENT)?;
        let ttl = tree.ttl(ino);
        let node = tree.get_mut(ino)?;
        node.lookups += 1;
        Ok((node.attr(), ttl))
    }

    pub(crate) async fn history_entry(
        self: &Arc<Self>,
        parent: Ino,
        name: &OsStr,
    ) -> Result<FileAttr, Errno> {
        let ino = if is_history(parent) {
            self.history_lookup(parent, name.to_str().ok_or(Errno::ENOENT)?).await?
        } else {
            self.tree().check_open(parent)?;
            self.history.root(parent)
        };
        self.history.attr(ino)
    }

    pub(crate) fn attributes(&self, ino: Ino) -> Result<(FileAttr, Duration), Errno> {
        if is_history(ino) {
            self.check_history(ino)?;
            return Ok((self.history.attr(ino)?, Duration::from_secs(1)));
        }
        let tree = self.tree();
        if !tree.is_place(ino) {
            tree.check_open(ino)?;
        }
        Ok((tree.get(ino)?.attr(), tree.ttl(ino)))
    }

    /// Makes a file or directory that the kernel will know.
    pub(crate) fn make(
        &self,
        parent: Ino,
        name: &OsStr,
        looks: Looks,
        is_directory: bool,
    ) -> Result<(Ino, FileAttr), Errno> {
        if is_history(parent) {
            return Err(Errno::EROFS);
        }
        let now = self.now();
        let mut tree = self.tree();
        let ino = tree.make(parent, name, looks, is_directory, now)?;
        let node = tree.get_mut(ino)?;
        node.lookups += 1;
        Ok((ino, node.attr()))
    }

    /// Why something that is neither file nor directory cannot be made here.
    pub(crate) fn refuse_kind(&self, parent: Ino) -> Errno {
        if is_history(parent) {
            return Errno::EROFS;
        }
        self.tree().check_writable(parent).err().unwrap_or(Errno::EPERM)
    }

    pub(crate) fn open_directory(&self, ino: Ino) -> Result<u64, Errno> {
        if is_history(ino) {
            self.check_history(ino)?;
        } else {
            let tree = self.tree();
            tree.check_open(ino)?;
            tree.get(ino)?.directory()?;
        }
        let mut open = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        open.last += 1;
        let handle = open.last;
        open.lines.insert(handle, Arc::default());
        Ok(handle)
    }

    pub(crate) fn close_directory(&self, handle: u64) {
        self.listings.lock().unwrap_or_else(PoisonError::into_inner).lines.remove(&handle);
    }

    /// The lines of a listing that was begun.
    pub(crate) fn lines(&self, handle: u64) -> Result<Arc<Vec<Line>>, Errno> {
        let open = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        open.lines.get(&handle).cloned().ok_or(Errno::EBADF)
    }

    fn begin(&self, handle: u64, lines: Vec<Line>) {
        let mut open = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        open.lines.insert(handle, Arc::new(lines));
    }

    /// Takes the snapshot, at the beginning of a listing.
    pub(crate) fn list(&self, ino: Ino, handle: u64, offset: u64) -> Result<(), Errno> {
        self.tree().check_open(ino)?;
        if offset > 0 {
            return Ok(());
        }
        let lines = {
            let tree = self.tree();
            let node = tree.get(ino)?;
            let children = &node.directory()?.children;
            let mut lines = dots(ino, node.parent, children.len());
            lines.extend(children.iter().filter_map(|(name, child)| {
                let kind = tree.nodes.get(child)?.kind();
                Some(Line { ino: *child, kind, name: Arc::clone(name) })
            }));
            lines
        };
        self.ahead.listed(ino);
        self.begin(handle, lines);
        Ok(())
    }

    pub(crate) async fn list_history(
        self: &Arc<Self>,
        ino: Ino,
        handle: u64,
        offset: u64,
    ) -> Result<(), Errno> {
        self.check_history(ino)?;
        if offset == 0 {
            let inside = self.history_lines(ino).await?;
            let mut lines = dots(ino, ino, inside.len());
            lines.extend(inside);
            self.begin(handle, lines);
        }
        Ok(())
    }

    /// A page of a listing with attributes. The kernel then knows what it was shown.
    pub(crate) fn fill_plus(&self, lines: &[Line], offset: u64, reply: &mut ReplyDirectoryPlus) {
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let mut tree = self.tree();
        for (at, line) in lines.iter().enumerate().skip(from) {
            let (attr, ttl) = if is_history(line.ino) {
                match self.history.attr(line.ino) {
                    Ok(attr) => (attr, Duration::from_secs(1)),
                    Err(_) => continue,
                }
            } else {
                match tree.nodes.get(&line.ino) {
                    // Gone since; the name may be somebody else's by now.
                    Some(node) if node.is_linked => (node.attr(), tree.ttl(line.ino)),
                    _ => continue,
                }
            };
            let (ino, next) = (INodeNo(line.ino), at as u64 + 1);
            if reply.add(ino, next, OsStr::new(&*line.name), &ttl, &attr, Generation(0)) {
                break;
            }
            if at >= 2
                && let Some(node) = tree.nodes.get_mut(&line.ino)
            {
                node.lookups += 1;
            }
        }
    }

    /// Waits until all is known that the room in a store, or in all of them, is counted from.
    pub(crate) async fn wait_for_room(&self, ino: Ino) {
        let stores: Vec<usize> = {
            let tree = self.tree();
            let is_all = tree.is_above_stores(ino) || ino == ROOT;
            let own = tree.get(ino).map_or(0, |node| node.store);
            (0..tree.places.len()).filter(|at| is_all || *at == own).collect()
        };
        for store in stores {
            // What is known is better than nothing.
            let _ = self.wait_for_all_of(store).await;
        }
    }

    /// The room in a store, or in all of them together.
    pub(crate) fn room(&self, ino: Ino) -> Room {
        let tree = self.tree();
        let store = tree.get(ino).map_or(0, |node| node.store);
        let is_all = tree.is_above_stores(ino) || ino == ROOT;
        let (mut room, mut most) = (Room::default(), 0u64);
        let places = tree.places.iter().enumerate();
        let counted = places.filter(|(at, _)| is_all || *at == store);
        for (_, place) in counted.filter(|(_, place)| place.state != State::Gone) {
            let seen = &place.seen;
            room.files_free = room.files_free.saturating_add(seen.memories_max);
            most = most.saturating_add(seen.memories_max.saturating_mul(seen.content_bytes_max));
        }
        for node in tree.nodes.values().filter(|node| is_all || node.store == store) {
            if let Body::File(file) = &node.body {
                room.files += 1;
                room.blocks_used += file.size.div_ceil(u64::from(BLOCK_BYTES));
            }
        }
        room.files_free = room.files_free.saturating_sub(room.files);
        room.blocks_free = most.min(FREE_BYTES_MAX) / u64::from(BLOCK_BYTES);
        room
    }
}

fn dots(ino: Ino, parent: Ino, more: usize) -> Vec<Line> {
    let mut lines = Vec::with_capacity(more + 2);
    let kind = FileType::Directory;
    lines.push(Line { ino, kind, name: ".".into() });
    lines.push(Line { ino: parent, kind, name: "..".into() });
    lines
}
