//! The kernel's requests, each handed to the part that answers it. What is at hand is answered on
//! the spot; what needs the server is answered from a task, so that requests never queue behind it.

use crate::answers::{self, Page, looks, send, send_xattr};
use crate::content::Change;
use crate::files::{Opening, Through};
use crate::history::is_history;
use crate::node::ROOT;
use crate::rename::Renaming;
use crate::save::Occasion;
use crate::volume::Volume;
use fuser::{
    BsdFileFlags, Errno, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen,
    ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

const ATTRIBUTES_TTL: Duration = Duration::from_secs(1);
const O_TRUNC: i32 = 0o1000;
const O_EXCL: i32 = 0o200;
const O_APPEND: i32 = 0o2000;
const KIND_MASK: u32 = 0o170_000;
const KIND_REGULAR: u32 = 0o100_000;

/// The file system, as the kernel knows it.
pub(crate) struct Glue(pub(crate) Arc<Volume>);

impl Glue {
    /// Answers from a task.
    pub(crate) fn later(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(work);
    }

    /// Answers on the spot if all names in a directory are known, else from a task when they are.
    fn when_listed(
        &self,
        directory: Option<u64>,
        answer: impl FnOnce(&Volume, Result<(), Errno>) + Send + 'static,
    ) {
        let is_listed = |ino: u64| is_history(ino) || self.0.tree().is_listed(ino);
        let Some(directory) = directory.filter(|ino| !is_listed(*ino)) else {
            return answer(&self.0, Ok(()));
        };
        let volume = Arc::clone(&self.0);
        self.later(async move {
            let listed = volume.ensure_listed(directory).await;
            answer(&volume, listed);
        });
    }
}

impl Filesystem for Glue {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        for flag in [
            InitFlags::FUSE_ATOMIC_O_TRUNC,
            InitFlags::FUSE_DO_READDIRPLUS,
            InitFlags::FUSE_READDIRPLUS_AUTO,
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_EXPLICIT_INVAL_DATA,
        ] {
            // An older kernel does without.
            let _ = config.add_capabilities(flag);
        }
        let _ = config.set_max_background(64);
        let _ = config.set_max_write(1024 * 1024);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if is_history(parent.0) || self.0.is_history_name(parent.0, name) {
            let (volume, name) = (Arc::clone(&self.0), name.to_owned());
            return self.later(async move {
                match volume.history_entry(parent.0, &name).await {
                    Ok(attr) => reply.entry(&ATTRIBUTES_TTL, &attr, Generation(0)),
                    Err(errno) => reply.error(errno),
                }
            });
        }
        let is_unsure = self.0.is_unsure(parent.0, name);
        let name = name.to_owned();
        self.when_listed(is_unsure.then_some(parent.0), move |volume, listed| {
            match listed.and_then(|()| volume.lookup(parent.0, &name)) {
                Ok((attr, ttl)) => reply.entry(&ttl, &attr, Generation(0)),
                Err(errno) => reply.error(errno),
            }
        });
    }

    fn forget(&self, _: &Request, ino: INodeNo, times: u64) {
        if !is_history(ino.0) {
            self.0.tree().forget(ino.0, times);
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.0.attributes(ino.0) {
            Ok((attr, ttl)) => reply.attr(&ttl, &attr),
            Err(errno) => reply.error(errno),
        }
    }

    fn setattr(
        &self,
        request: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let volume = Arc::clone(&self.0);
        let answer = move |volume: &Volume, result: Result<(), Errno>| match result
            .and_then(|()| volume.attributes(ino.0))
        {
            Ok((attr, ttl)) => reply.attr(&ttl, &attr),
            Err(errno) => reply.error(errno),
        };
        let Some(size) = size else {
            let set = volume.set_attributes(ino.0, mode, uid, gid, atime, mtime);
            return answer(&volume, set);
        };
        let handle = handle.map_or(0, |handle| handle.0);
        let through = Through { handle, thread: request.pid() };
        self.later(async move {
            let resized = volume.resize(ino.0, through, size).await;
            let set =
                resized.and_then(|()| volume.set_attributes(ino.0, mode, uid, gid, atime, mtime));
            answer(&volume, set);
        });
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        if mode & KIND_MASK != KIND_REGULAR {
            return reply.error(Errno::EPERM);
        }
        let (volume, name) = (Arc::clone(&self.0), name.to_owned());
        let looks = looks(request, mode);
        self.later(async move {
            let listed = volume.ensure_listed(parent.0).await;
            let ino = match listed.and_then(|()| volume.make(parent.0, &name, looks, false)) {
                Ok((ino, _)) => ino,
                Err(errno) => return reply.error(errno),
            };
            // What is refused is marked.
            let _ = volume.save(ino, Occasion::Close).await;
            match volume.attributes(ino) {
                Ok((attr, ttl)) => reply.entry(&ttl, &attr, Generation(0)),
                Err(errno) => reply.error(errno),
            }
        });
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let (name, looks) = (name.to_owned(), looks(request, mode));
        self.when_listed(Some(parent.0), move |volume, listed| {
            match listed.and_then(|()| volume.make(parent.0, &name, looks, true)) {
                Ok((_, attr)) => reply.entry(&ATTRIBUTES_TTL, &attr, Generation(0)),
                Err(errno) => reply.error(errno),
            }
        });
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let (volume, name) = (Arc::clone(&self.0), name.to_owned());
        self.later(async move {
            if is_history(parent.0) {
                return reply.error(Errno::EROFS);
            }
            let done = volume.unlink(parent.0, &name).await;
            send(reply, done);
        });
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        if is_history(parent.0) || self.0.is_history_name(parent.0, name) {
            return reply.error(Errno::EROFS);
        }
        let (name, now) = (name.to_owned(), self.0.now());
        let found = name.to_str().and_then(|name| self.0.tree().child(parent.0, name).ok()?);
        // Whether it is empty is known when it is listed.
        self.when_listed(found, move |volume, listed| {
            let done = match listed {
                // That it is no directory is said below.
                Ok(()) | Err(Errno::ENOTDIR) => volume.tree().rmdir(parent.0, &name, now),
                Err(errno) => Err(errno),
            };
            send(reply, done);
        });
    }

    fn symlink(&self, _: &Request, parent: INodeNo, _: &OsStr, _: &Path, reply: ReplyEntry) {
        reply.error(self.0.refuse_kind(parent.0));
    }

    fn link(&self, _: &Request, _: INodeNo, parent: INodeNo, _: &OsStr, reply: ReplyEntry) {
        reply.error(self.0.refuse_kind(parent.0));
    }

    fn rename(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        to_parent: INodeNo,
        to_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        if is_history(parent.0) || is_history(to_parent.0) {
            return reply.error(Errno::EROFS);
        }
        if !(flags - RenameFlags::RENAME_NOREPLACE).is_empty() {
            return reply.error(Errno::EINVAL);
        }
        let names = crate::names::check(name)
            .and_then(|from| Ok((from.to_owned(), crate::names::check_new(to_name)?.to_owned())));
        let (name, to_name) = match names {
            Ok(names) => names,
            Err(errno) => return reply.error(errno),
        };
        let may_replace = !flags.contains(RenameFlags::RENAME_NOREPLACE);
        let (parent, to_parent, thread) = (parent.0, to_parent.0, request.pid());
        let volume = Arc::clone(&self.0);
        self.later(async move {
            let asked = Renaming { parent, name, to_parent, to_name, may_replace, thread };
            let done = volume.rename(&asked).await;
            send(reply, done);
        });
    }

    fn open(&self, request: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let opening = Opening {
            is_reader: flags.acc_mode() != OpenAccMode::O_WRONLY,
            is_writer: flags.acc_mode() != OpenAccMode::O_RDONLY,
            is_emptied: flags.0 & O_TRUNC != 0,
            thread: request.pid(),
        };
        match self.0.open(ino.0, opening) {
            Ok((handle, keeps_pages)) => {
                let mut flags = FopenFlags::empty();
                flags.set(FopenFlags::FOPEN_KEEP_CACHE, keeps_pages);
                // Who cannot write has nothing to say when closing.
                flags.set(FopenFlags::FOPEN_NOFLUSH, !opening.is_writer && !opening.is_emptied);
                reply.opened(FileHandle(handle), flags);
            }
            Err(errno) => reply.error(errno),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let opening = Opening {
            is_reader: OpenFlags(flags).acc_mode() != OpenAccMode::O_WRONLY,
            is_writer: true,
            is_emptied: flags & O_TRUNC != 0,
            thread: request.pid(),
        };
        let is_new = flags & O_EXCL != 0;
        let (name, looks) = (name.to_owned(), looks(request, mode));
        self.when_listed(Some(parent.0), move |volume, listed| {
            match listed.and_then(|()| volume.create(parent.0, &name, looks, opening, is_new)) {
                Ok((attr, ttl, handle)) => {
                    let (handle, flags) = (FileHandle(handle), FopenFlags::empty());
                    reply.created(&ttl, &attr, Generation(0), handle, flags);
                }
                Err(errno) => reply.error(errno),
            }
        });
    }

    fn read(
        &self,
        request: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let send = move |bytes: &[u8], reply: ReplyData| {
            let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
            let to = from.saturating_add(size as usize).min(bytes.len());
            reply.data(&bytes[from..to]);
        };
        let volume = Arc::clone(&self.0);
        if is_history(ino.0) {
            return self.later(async move {
                match volume.history_bytes(ino.0).await {
                    Ok(bytes) => send(&bytes, reply),
                    Err(errno) => reply.error(errno),
                }
            });
        }
        let thread = request.pid();
        let at_hand = {
            let mut tree = self.0.tree();
            let at_hand = self.0.bytes_at_hand(&tree, ino.0);
            if matches!(at_hand, Ok(Some(_))) {
                tree.note_read(ino.0, thread);
            }
            at_hand
        };
        match at_hand {
            Ok(Some(bytes)) => send(&bytes, reply),
            Ok(None) => self.later(async move {
                match volume.bytes_read(ino.0, thread).await {
                    Ok(bytes) => send(&bytes, reply),
                    Err(errno) => reply.error(errno),
                }
            }),
            Err(errno) => reply.error(errno),
        }
    }

    fn write(
        &self,
        request: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        write_flags: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let is_cached = write_flags.contains(WriteFlags::FUSE_WRITE_CACHE);
        let is_appending = flags.0 & O_APPEND != 0 && !is_cached;
        let thread = if is_cached { 0 } else { request.pid() };
        let through = Through { handle: handle.0, thread };
        match self.0.write_at_hand(ino.0, through, offset, data, is_appending) {
            Ok(true) => reply.written(length),
            Err(errno) => reply.error(errno),
            Ok(false) => {
                let (volume, data) = (Arc::clone(&self.0), data.to_vec());
                self.later(async move {
                    match volume.write(ino.0, through, offset, &data, is_appending).await {
                        Ok(()) => reply.written(length),
                        Err(errno) => reply.error(errno),
                    }
                });
            }
        }
    }

    fn flush(
        &self,
        request: &Request,
        ino: INodeNo,
        handle: FileHandle,
        _: LockOwner,
        reply: ReplyEmpty,
    ) {
        let through = Through { handle: handle.0, thread: request.pid() };
        match self.0.flush_at_hand(ino.0, through) {
            Some(result) => send(reply, result),
            None => {
                let volume = Arc::clone(&self.0);
                self.later(async move {
                    let saved = volume.save(ino.0, Occasion::Close).await;
                    volume.note_error(handle.0, saved);
                    send(reply, saved);
                });
            }
        }
    }

    fn fsync(&self, _: &Request, ino: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        if is_history(ino.0) {
            return reply.ok();
        }
        let volume = Arc::clone(&self.0);
        // What is written from now on is another matter.
        let _ = volume.flush_at_hand(ino.0, Through { handle: handle.0, thread: 0 });
        self.later(async move {
            let saved = volume.sync(ino.0).await;
            volume.note_error(handle.0, saved);
            send(reply, saved);
        });
    }

    fn release(
        &self,
        _: &Request,
        ino: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        if !is_history(ino.0)
            && let Some(turn) = self.0.release(ino.0, handle.0)
        {
            let volume = Arc::clone(&self.0);
            self.later(async move {
                // Nobody hears it; what is refused is marked and said in the log.
                let _ = volume.save_this(ino.0, turn, Occasion::Release).await;
            });
        }
        reply.ok();
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.0.open_directory(ino.0) {
            Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
            Err(errno) => reply.error(errno),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        reply: ReplyDirectory,
    ) {
        self.list(ino.0, handle.0, offset, Page::Plain(reply));
    }

    fn readdirplus(
        &self,
        _: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        reply: ReplyDirectoryPlus,
    ) {
        self.list(ino.0, handle.0, offset, Page::Plus(reply));
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.0.close_directory(handle.0);
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        // Names are durable when they are answered.
        reply.ok();
    }

    fn statfs(&self, _: &Request, ino: INodeNo, reply: ReplyStatfs) {
        let volume = Arc::clone(&self.0);
        let ino = if is_history(ino.0) { ROOT } else { ino.0 };
        self.later(async move {
            volume.wait_for_room(ino).await;
            let room = volume.room(ino);
            let (free, files) = (room.blocks_free, room.files);
            reply.statfs(
                room.blocks_used + free,
                free,
                free,
                files + room.files_free,
                room.files_free,
                crate::node::BLOCK_BYTES,
                u32::try_from(crate::names::NAME_BYTES_MAX).unwrap_or(255),
                crate::node::BLOCK_BYTES,
            );
        });
    }

    fn setxattr(
        &self,
        _: &Request,
        ino: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        self.change_xattr(ino.0, name, Some(value), flags, reply);
    }

    fn removexattr(&self, _: &Request, ino: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.change_xattr(ino.0, name, None, 0, reply);
    }

    fn getxattr(&self, _: &Request, ino: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        let Some(name) = name.to_str().filter(|_| !is_history(ino.0)) else {
            return reply.error(Errno::ENODATA);
        };
        match self.0.xattr_at_hand(ino.0, name) {
            Ok(Some(value)) => send_xattr(reply, size, value.as_bytes()),
            Err(errno) => reply.error(errno),
            Ok(None) => {
                let volume = Arc::clone(&self.0);
                self.later(async move {
                    match volume.actor(ino.0).await {
                        Ok(actor) => send_xattr(reply, size, actor.as_bytes()),
                        Err(errno) => reply.error(errno),
                    }
                });
            }
        }
    }

    fn listxattr(&self, _: &Request, ino: INodeNo, size: u32, reply: ReplyXattr) {
        if is_history(ino.0) {
            return send_xattr(reply, size, &[]);
        }
        match self.0.xattr_names(ino.0) {
            Ok(names) => send_xattr(reply, size, &names),
            Err(errno) => reply.error(errno),
        }
    }

    fn fallocate(
        &self,
        request: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if mode != 0 {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let volume = Arc::clone(&self.0);
        let through = Through { handle: handle.0, thread: request.pid() };
        self.later(async move {
            let least = offset.saturating_add(length);
            let done = volume.change(ino.0, Change::Reserve(least), through).await;
            send(reply, done);
        });
    }

    fn lseek(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        let size = self.0.attributes(ino.0).map(|(attr, _)| attr.size);
        let found = size.and_then(|size| answers::seek(size, offset, whence));
        match found {
            Ok(at) => reply.offset(i64::try_from(at).unwrap_or(i64::MAX)),
            Err(errno) => reply.error(errno),
        }
    }
}
