//! The least a FUSE file system can do: files in memory, nothing durable, nothing shared. What it
//! takes is what FUSE itself takes, so it is the ceiling for every mount on the same machine.
//!
//! It runs as a process of its own, as `loci mount` does, with the same number of threads.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyCreate, ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyWrite, Request, TimeOrNow, WriteFlags,
};

const TTL: Duration = Duration::from_secs(1);
const THREADS: usize = 2;
const ONLY: Generation = Generation(0);

/// Says that the file system is mounted.
pub(super) const READY: &str = "mounted";

enum Node {
    File(Vec<u8>),
    Folder { names: HashMap<OsString, u64>, order: Vec<(OsString, u64)> },
}

impl Node {
    fn folder() -> Self {
        Self::Folder { names: HashMap::new(), order: Vec::new() }
    }
}

/// Every node by its number less one.
struct Memory {
    nodes: RwLock<Vec<Node>>,
}

/// Serves it at a directory until standard input ends.
pub(crate) fn serve(at: &Path) -> anyhow::Result<()> {
    let memory = Memory { nodes: RwLock::new(vec![Node::folder()]) };
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("loci-bench".to_owned()),
        MountOption::DefaultPermissions,
        MountOption::NoAtime,
    ];
    config.n_threads = Some(THREADS);
    config.clone_fd = true;
    let session = fuser::spawn_mount(memory, at, &config)?;
    println!("{READY}");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    session.umount_and_join()?;
    Ok(())
}

impl Memory {
    fn read(&self) -> RwLockReadGuard<'_, Vec<Node>> {
        self.nodes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<Node>> {
        self.nodes.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, parent: INodeNo, name: &OsStr, node: Node) -> Option<FileAttr> {
        let mut nodes = self.write();
        let number = nodes.len() as u64 + 1;
        let found = attr(number, &node);
        let Some(Node::Folder { names, order }) = nodes.get_mut(place(parent)) else {
            return None;
        };
        names.insert(name.to_owned(), number);
        order.push((name.to_owned(), number));
        nodes.push(node);
        Some(found)
    }
}

fn place(ino: INodeNo) -> usize {
    usize::try_from(ino.0).map_or(usize::MAX, |number| number.wrapping_sub(1))
}

fn attr(number: u64, node: &Node) -> FileAttr {
    let (kind, perm, size) = match node {
        Node::File(bytes) => (FileType::RegularFile, 0o644, bytes.len() as u64),
        Node::Folder { .. } => (FileType::Directory, 0o755, 0),
    };
    FileAttr {
        ino: INodeNo(number),
        size,
        blocks: size.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        flags: 0,
        blksize: 4096,
    }
}

impl Filesystem for Memory {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // Without them a list costs a look-up for each name, as it does where they are unknown.
        let _ = config.add_capabilities(InitFlags::FUSE_DO_READDIRPLUS);
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let nodes = self.read();
        let found = match nodes.get(place(parent)) {
            Some(Node::Folder { names, .. }) => names.get(name).copied(),
            _ => None,
        };
        match found {
            Some(number) => {
                let found = attr(number, &nodes[place(INodeNo(number))]);
                reply.entry(&TTL, &found, ONLY);
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.read().get(place(ino)) {
            Some(node) => reply.attr(&TTL, &attr(ino.0, node)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _req: &Request,
        ino: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<std::time::SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<std::time::SystemTime>,
        _chgtime: Option<std::time::SystemTime>,
        _bkuptime: Option<std::time::SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match self.write().get_mut(place(ino)) {
            Some(node) => {
                if let (Node::File(bytes), Some(size)) = (&mut *node, size) {
                    bytes.resize(usize::try_from(size).unwrap_or(0), 0);
                }
                reply.attr(&TTL, &attr(ino.0, node));
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn mkdir(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        _mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        match self.add(parent, name, Node::folder()) {
            Some(found) => reply.entry(&TTL, &found, ONLY),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn create(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        _mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        match self.add(parent, name, Node::File(Vec::new())) {
            Some(found) => {
                reply.created(&TTL, &found, ONLY, FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _req: &Request, _ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn read(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.read().get(place(ino)) {
            Some(Node::File(bytes)) => {
                let begin = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let end = bytes.len().min(begin + size as usize);
                reply.data(&bytes[begin..end]);
            }
            _ => reply.error(Errno::EISDIR),
        }
    }

    fn write(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match (self.write().get_mut(place(ino)), usize::try_from(offset)) {
            (Some(Node::File(bytes)), Ok(begin)) => {
                let end = begin + data.len();
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[begin..end].copy_from_slice(data);
                reply.written(u32::try_from(data.len()).unwrap_or(u32::MAX));
            }
            _ => reply.error(Errno::EISDIR),
        }
    }

    fn flush(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn readdir(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let nodes = self.read();
        if let Some(Node::Folder { order, .. }) = nodes.get(place(ino)) {
            let begin = usize::try_from(offset).unwrap_or(usize::MAX).min(order.len());
            for (at, (name, number)) in order.iter().enumerate().skip(begin) {
                let kind = attr(*number, &nodes[place(INodeNo(*number))]).kind;
                if reply.add(INodeNo(*number), at as u64 + 1, kind, name) {
                    break;
                }
            }
        }
        reply.ok();
    }

    fn readdirplus(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let nodes = self.read();
        if let Some(Node::Folder { order, .. }) = nodes.get(place(ino)) {
            let begin = usize::try_from(offset).unwrap_or(usize::MAX).min(order.len());
            for (at, (name, number)) in order.iter().enumerate().skip(begin) {
                let found = attr(*number, &nodes[place(INodeNo(*number))]);
                if reply.add(INodeNo(*number), at as u64 + 1, name, &TTL, &found, ONLY) {
                    break;
                }
            }
        }
        reply.ok();
    }
}
