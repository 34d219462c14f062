//! How answers are put into the kernel's form, where that takes more than a line.

use crate::glue::Glue;
use crate::history::is_history;
use crate::node::Looks;
use crate::volume::Volume;
use fuser::{Errno, INodeNo, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyXattr, Request};
use std::ffi::OsStr;
use std::sync::Arc;

const SEEK_DATA: i32 = 3;
const SEEK_HOLE: i32 = 4;

pub(crate) fn looks(request: &Request, mode: u32) -> Looks {
    // The kernel has applied the caller's umask.
    let mode = u16::try_from(mode & 0o7777).unwrap_or(0);
    Looks { mode, uid: request.uid(), gid: request.gid() }
}

pub(crate) fn send(reply: ReplyEmpty, result: Result<(), Errno>) {
    match result {
        Ok(()) => reply.ok(),
        Err(errno) => reply.error(errno),
    }
}

pub(crate) fn send_xattr(reply: ReplyXattr, size: u32, value: &[u8]) {
    match u32::try_from(value.len()) {
        Ok(length) if size == 0 => reply.size(length),
        Ok(length) if length <= size => reply.data(value),
        _ => reply.error(Errno::ERANGE),
    }
}

/// Where the next data or hole is: all of a file is data.
pub(crate) fn seek(size: u64, offset: i64, whence: i32) -> Result<u64, Errno> {
    let offset = u64::try_from(offset).map_err(|_| Errno::ENXIO)?;
    match whence {
        _ if offset >= size => Err(Errno::ENXIO),
        SEEK_DATA => Ok(offset),
        SEEK_HOLE => Ok(size),
        _ => Err(Errno::EINVAL),
    }
}

/// One page of a listing, with attributes or without.
pub(crate) enum Page {
    Plain(ReplyDirectory),
    Plus(ReplyDirectoryPlus),
}

impl Page {
    fn fill(self, volume: &Volume, handle: u64, offset: u64, listed: Result<(), Errno>) {
        let lines = listed.and_then(|()| volume.lines(handle));
        match (self, lines) {
            (Self::Plain(reply), Err(errno)) => reply.error(errno),
            (Self::Plus(reply), Err(errno)) => reply.error(errno),
            (Self::Plain(mut reply), Ok(lines)) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                for (at, line) in lines.iter().enumerate().skip(from) {
                    let (ino, next) = (INodeNo(line.ino), at as u64 + 1);
                    if reply.add(ino, next, line.kind, OsStr::new(&*line.name)) {
                        break;
                    }
                }
                reply.ok();
            }
            (Self::Plus(mut reply), Ok(lines)) => {
                volume.fill_plus(&lines, offset, &mut reply);
                reply.ok();
            }
        }
    }
}

impl Glue {
    /// Goes on with a listing.
    pub(crate) fn list(&self, ino: u64, handle: u64, offset: u64, page: Page) {
        let volume = Arc::clone(&self.0);
        if is_history(ino) {
            return self.later(async move {
                let listed = volume.list_history(ino, handle, offset).await;
                page.fill(&volume, handle, offset, listed);
            });
        }
        let is_listed = volume.tree().is_listed(ino);
        if offset > 0 || is_listed {
            let listed = volume.list(ino, handle, offset);
            return page.fill(&volume, handle, offset, listed);
        }
        self.later(async move {
            let listed = volume.ensure_listed(ino).await;
            let listed = listed.and_then(|()| volume.list(ino, handle, offset));
            page.fill(&volume, handle, offset, listed);
        });
    }
}

impl Glue {
    pub(crate) fn change_xattr(
        &self,
        ino: u64,
        name: &OsStr,
        value: Option<&[u8]>,
        flags: i32,
        reply: ReplyEmpty,
    ) {
        if is_history(ino) {
            return reply.error(Errno::EROFS);
        }
        // Before its value is looked at: lists of access rights are no text.
        let ours = name.to_str().filter(|name| name.starts_with(crate::xattr::PREFIX));
        let Some(name) = ours.map(str::to_owned) else {
            return reply.error(Errno::EOPNOTSUPP);
        };
        let Ok(value) = value.map(|it| String::from_utf8(it.to_vec())).transpose() else {
            return reply.error(Errno::EILSEQ);
        };
        let volume = Arc::clone(&self.0);
        self.later(async move {
            let done = volume.set_xattr(ino, &name, value.as_deref(), flags).await;
            send(reply, done);
        });
    }
}
