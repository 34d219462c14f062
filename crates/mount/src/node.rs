//! One inode: a directory or a file, what the mount itself remembers about it (mode, owner, times),
//! and for a file what the server has of it and what is not saved yet.
//!
//! A file is *dirty* while its bytes are here and not there. What a dirty file started from (`base`)
//! is what its save will expect to find.

use crate::port::Entry;
use crate::save::Sent;
use fuser::{Errno, FileAttr, FileType, INodeNo};
use loci_model::{Digest, MemoryId, Timestamp, VersionId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The number of an inode.
pub(crate) type Ino = u64;
/// Held by whoever saves, renames or removes a file; it is that file's alone, as its number is not.
pub(crate) type Turn = Arc<tokio::sync::Mutex<()>>;
/// The root of the mount.
pub(crate) const ROOT: Ino = 1;
/// The generation of a file that was made and not written.
pub(crate) const NEW: u64 = 1;
/// What `st_blksize` says.
pub(crate) const BLOCK_BYTES: u32 = 4096;

/// Who may do what with an inode, as `chmod` and `chown` left it. Known to this machine only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Looks {
    pub(crate) mode: u16,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Looks {
    /// Those of a directory where a file has these: whoever may read may enter.
    pub(crate) fn of_directory(self) -> Self {
        Self { mode: self.mode | (self.mode & 0o444) >> 2, ..self }
    }

    /// The same where nothing can be changed.
    pub(crate) fn of_past(self) -> Self {
        Self { mode: self.mode & 0o555, ..self }
    }
}

/// The times of an inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) read: SystemTime,
    pub(crate) written: SystemTime,
    pub(crate) changed: SystemTime,
    /// Whether the time of writing was set by a program, which then outlives a save.
    pub(crate) is_written_set: bool,
    /// The same of the time of reading.
    pub(crate) is_read_set: bool,
}

impl Times {
    pub(crate) fn all(at: SystemTime) -> Self {
        Self { read: at, written: at, changed: at, is_written_set: false, is_read_set: false }
    }
}

/// An inode.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) ino: Ino,
    /// Which of the mount's stores; none for the root above several.
    pub(crate) store: usize,
    pub(crate) parent: Ino,
    /// The name in its directory.
    pub(crate) name: Arc<str>,
    /// The segment of the path, where it is too long to be the name.
    pub(crate) segment: Option<Arc<str>>,
    /// Whether it is in its directory; a removed file lives on while it is open.
    pub(crate) is_linked: bool,
    /// How often the kernel was told of it and did not forget it.
    pub(crate) lookups: u64,
    pub(crate) looks: Looks,
    pub(crate) times: Times,
    pub(crate) body: Body,
}

/// What an inode is.
#[derive(Debug)]
pub(crate) enum Body {
    Directory(Directory),
    File(Box<File>),
}

/// A directory. Memories make directories by their paths; others live with the mount.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    pub(crate) children: BTreeMap<Arc<str>, Ino>,
    /// How many of them are directories.
    pub(crate) directories: u32,
    /// Whether it stays when nothing is in it: somebody here made it, or took things out of it.
    pub(crate) is_kept: bool,
}

/// What a dirty file started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) digest: Digest,
    pub(crate) size_bytes: u64,
}

/// Why a file could not be saved.
#[derive(Debug, Clone)]
pub(crate) struct Refused {
    pub(crate) errno: Errno,
    pub(crate) why: String,
    /// What was refused; later writes are another matter.
    pub(crate) generation: u64,
    /// When it is tried again without another write; never if nothing but a write can help.
    pub(crate) retry_at: Option<Instant>,
    /// How long it waits for that.
    pub(crate) pause: Duration,
}

/// A file.
#[derive(Debug, Default)]
pub(crate) struct File {
    /// The memory, as last heard of; none if the server has none.
    pub(crate) saved: Option<Arc<Entry>>,
    /// Whether the server has the memory elsewhere than it is shown: renamed to a scratch name or to
    /// that of a backup, and maybe about to be replaced.
    pub(crate) is_parked: bool,
    /// The file that is just becoming the next version of a parked memory.
    pub(crate) successor: Option<Ino>,
    /// The bytes, while the server does not have them.
    pub(crate) held: Option<Arc<Vec<u8>>>,
    /// Where the bytes can be read otherwise.
    pub(crate) source: Option<(MemoryId, VersionId)>,
    pub(crate) size: u64,
    pub(crate) is_dirty: bool,
    /// Counts changes of the bytes made here.
    pub(crate) generation: u64,
    pub(crate) base: Option<Base>,
    /// Whether every change since `base` added bytes at the end, through `O_APPEND`.
    pub(crate) is_appended: bool,
    /// The thread that made the first change since `base`; 0 if the kernel did.
    pub(crate) writer: u32,
    /// Whether `O_EXCL` made the file, which is no memory yet: then nothing else may be there.
    pub(crate) is_exclusive: bool,
    /// A save under a key that got no answer. It is sent again before anything else is.
    pub(crate) unanswered: Option<Arc<Sent>>,
    /// Contents whose saves got no answer and cannot be sent again: the server may have had them.
    pub(crate) doubtful: Vec<Base>,
    /// Whether the bytes are to become a memory of their own: this was the backup of a memory that
    /// stayed with the file that took its place.
    pub(crate) is_owed: bool,
    pub(crate) refused: Option<Refused>,
    /// Open handles.
    pub(crate) opens: u32,
    /// Whose turn it is.
    pub(crate) turn: Turn,
    /// Whether a save is under way, so that its own change is not taken for somebody else's.
    pub(crate) is_saving: bool,
    /// Counts changes of the bytes that the kernel did not make itself.
    pub(crate) epoch: u64,
    /// The epoch that the kernel's cached pages are of.
    pub(crate) epoch_opened: u64,
    /// When a passing or parked file is to be settled.
    pub(crate) settle_at: Option<Instant>,
}

impl Base {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self { digest: entry.digest, size_bytes: entry.size_bytes }
    }
}

impl File {
    /// The file of a memory.
    pub(crate) fn of(entry: Entry) -> Self {
        let mut file = Self::default();
        file.take_up(Arc::new(entry));
        file
    }

    /// A new file that is nowhere yet.
    pub(crate) fn new() -> Self {
        let held = Some(Arc::default());
        Self { held, is_dirty: true, is_appended: true, generation: NEW, ..Self::default() }
    }

    /// Is what the server has, with nothing of its own.
    pub(crate) fn take_up(&mut self, entry: Arc<Entry>) {
        self.size = entry.size_bytes;
        self.source = Some((entry.memory, entry.version));
        self.saved = Some(entry);
        self.held = None;
        self.is_dirty = false;
        self.base = None;
        self.refused = None;
        self.be_certain();
        self.is_owed = false;
    }

    /// Has these bytes, which the server does not have. The first time, they started from `base`.
    pub(crate) fn soil(&mut self, bytes: Arc<Vec<u8>>, base: Option<Base>) {
        if !self.is_dirty {
            self.base = base;
            self.is_appended = base.is_some();
            self.is_dirty = true;
        }
        self.size = bytes.len() as u64;
        self.held = Some(bytes);
    }

    /// Forgets what the server had: it is gone there.
    pub(crate) fn lose(&mut self) {
        self.saved = None;
        self.is_parked = false;
        self.base = None;
        self.is_appended = false;
    }

    /// Whether the server may have made a memory of this file without answering.
    pub(crate) fn may_be_there(&self) -> bool {
        let is_uncertain = self.unanswered.is_some() || !self.doubtful.is_empty();
        self.is_dirty && self.saved.is_none() && is_uncertain
    }

    /// The server has answered: what it has of this file is known.
    pub(crate) fn be_certain(&mut self) {
        self.is_exclusive = false;
        self.unanswered = None;
        self.doubtful.clear();
    }

    /// When what was refused is tried again.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        self.refused.as_ref()?.retry_at
    }

    /// Whether these bytes were refused already, just as they are.
    pub(crate) fn refusal(&self) -> Option<&Refused> {
        self.refused.as_ref().filter(|it| it.generation == self.generation && self.is_dirty)
    }
}

impl Node {
    pub(crate) fn file(&self) -> Result<&File, Errno> {
        match &self.body {
            Body::File(file) => Ok(file),
            Body::Directory(_) => Err(Errno::EISDIR),
        }
    }

    pub(crate) fn file_mut(&mut self) -> Result<&mut File, Errno> {
        match &mut self.body {
            Body::File(file) => Ok(file),
            Body::Directory(_) => Err(Errno::EISDIR),
        }
    }

    pub(crate) fn directory(&self) -> Result<&Directory, Errno> {
        match &self.body {
            Body::Directory(directory) => Ok(directory),
            Body::File(_) => Err(Errno::ENOTDIR),
        }
    }

    pub(crate) fn directory_mut(&mut self) -> Result<&mut Directory, Errno> {
        match &mut self.body {
            Body::Directory(directory) => Ok(directory),
            Body::File(_) => Err(Errno::ENOTDIR),
        }
    }

    pub(crate) fn is_directory(&self) -> bool {
        matches!(self.body, Body::Directory(_))
    }

    pub(crate) fn kind(&self) -> FileType {
        if self.is_directory() { FileType::Directory } else { FileType::RegularFile }
    }

    /// The segment of the path that this inode is.
    pub(crate) fn segment(&self) -> &Arc<str> {
        self.segment.as_ref().unwrap_or(&self.name)
    }

    /// How long the kernel may believe in these attributes: those of a file that was written change
    /// once more when it is saved.
    pub(crate) fn ttl(&self) -> Duration {
        match &self.body {
            Body::File(file) if file.is_dirty && file.generation > NEW => Duration::ZERO,
            Body::File(_) | Body::Directory(_) => Duration::from_secs(1),
        }
    }

    pub(crate) fn attr(&self) -> FileAttr {
        let (size, nlink) = match &self.body {
            Body::Directory(directory) => (u64::from(BLOCK_BYTES), 2 + directory.directories),
            Body::File(file) => (file.size, u32::from(self.is_linked)),
        };
        attr(self.ino, self.kind(), size, nlink, self.looks, &self.times)
    }

    /// Bytes or directory entries were changed here and now.
    pub(crate) fn touch(&mut self, now: SystemTime) {
        self.times.written = now;
        self.times.changed = now;
        self.times.is_written_set = false;
    }

    /// What a save or somebody else's change leaves of the times.
    pub(crate) fn stamp(&mut self, at: Timestamp) {
        let at = moment(at);
        if !self.times.is_written_set {
            self.times.written = at;
            // Nobody keeps track of reading: it is read when it is written, as after mounting again.
            if !self.times.is_read_set {
                self.times.read = at;
            }
        }
        self.times.changed = at;
    }
}

/// The attributes of something with these.
pub(crate) fn attr(
    ino: Ino,
    kind: FileType,
    size: u64,
    nlink: u32,
    looks: Looks,
    times: &Times,
) -> FileAttr {
    FileAttr {
        ino: INodeNo(ino),
        size,
        // What is not empty takes whole blocks, as du expects.
        blocks: size.div_ceil(u64::from(BLOCK_BYTES)) * u64::from(BLOCK_BYTES / 512),
        atime: times.read,
        mtime: times.written,
        ctime: times.changed,
        crtime: times.written,
        kind,
        perm: looks.mode,
        nlink,
        uid: looks.uid,
        gid: looks.gid,
        rdev: 0,
        blksize: BLOCK_BYTES,
        flags: 0,
    }
}

/// A moment as the kernel wants it.
pub(crate) fn moment(at: Timestamp) -> SystemTime {
    let micros = u64::try_from(at.as_micros()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_micros(micros)
}
