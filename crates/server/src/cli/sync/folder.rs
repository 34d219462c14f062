//! The directory on this machine. Every path is walked from the directory's own handle, one segment at
//! a time and through no symbolic link, so that nothing outside of it is ever read or written.
//!
//! Files are replaced whole: written beside, synced, and swapped with what is there; what came out of
//! the swap is looked at, so that a change made in the last moment goes beside instead of being lost.

use loci_model::MemoryPath;
use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, RenameFlags, flock, fstat, fsync, mkdirat, open, openat,
    renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// What our own files in the directory begin with; they are no memories.
pub(super) const OWN_PREFIX: &str = ".loci-sync";
/// Files that are being written.
pub(super) const PART: &str = ".loci-sync-part";
const FOLDER: OFlags =
    OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::RDONLY);
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
const NEW: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::CLOEXEC);
/// How often a name beside is looked for.
const BESIDE_MAX: usize = 1000;

/// How a file looks without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) mtime_ns: i64,
    pub(super) size: u64,
}

/// What became of a write.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It is there, and looks like this.
    Done(Stamp),
    /// What was there had changed in the last moment and is now beside, under this name.
    Beside(Stamp, String),
    /// Something is in the way; look again.
    Changed,
}

/// A text that is to be put at a path.
pub(super) struct Placing<'a> {
    /// How what is there now looks; none if nothing is.
    pub(super) expected: Option<Stamp>,
    pub(super) text: &'a [u8],
    /// The time that the file gets.
    pub(super) mtime_micros: i64,
    /// Names beside that are taken elsewhere.
    pub(super) is_taken: &'a dyn Fn(&str) -> bool,
    /// Told how the file will look, before it is there.
    pub(super) note: &'a dyn Fn(Stamp) -> io::Result<()>,
}

/// An open directory, which no other sync has.
pub(super) struct Folder {
    root: OwnedFd,
}

impl Folder {
    /// Opens a directory, making it if need be, and takes it for this process.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let root = open(path, flags, Mode::empty())?;
        flock(&root, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { root })
    }

    pub(super) fn root(&self) -> &OwnedFd {
        &self.root
    }

    /// The directory that a path is in, and its last segment.
    fn parent<'p>(&self, path: &'p str, is_made: bool) -> io::Result<(OwnedFd, &'p str)> {
        let mut at = openat(&self.root, ".", FOLDER, Mode::empty())?;
        let mut segments = path.trim_start_matches('/').split('/').peekable();
        while let Some(segment) = segments.next() {
            if segments.peek().is_none() {
                return Ok((at, segment));
            }
            if is_made {
                match mkdirat(&at, segment, Mode::from_raw_mode(0o777)) {
                    Err(error) if error != Errno::EXIST => return Err(error.into()),
                    _ => {}
                }
            }
            at = openat(&at, segment, FOLDER, Mode::empty())?;
        }
        Err(io::Error::other("a path has at least one segment"))
    }

    /// How a file looks; none if there is none.
    pub(super) fn stamp(&self, path: &MemoryPath) -> io::Result<Option<Stamp>> {
        match self.parent(path.as_str(), false) {
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
            Ok((parent, name)) => stamp_at(&parent, name),
        }
    }

    /// The bytes of a file and how it looked, before and after they were read; none if it is gone,
    /// changes right now, or is no plain file.
    pub(super) fn read(
        &self,
        path: &MemoryPath,
        bytes_max: usize,
    ) -> io::Result<Option<(Vec<u8>, Stamp)>> {
        let opened = self.parent(path.as_str(), false).and_then(|(parent, name)| {
            Ok(openat(&parent, name, FILE | OFlags::RDONLY, Mode::empty())?)
        });
        let file = match opened {
            Err(error) if is_missing(&error) => return Ok(None),
            other => File::from(other?),
        };
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let before = stamp_of(&fstat(&file)?);
        let mut bytes = Vec::new();
        (&file).take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
        let after = stamp_of(&fstat(&file)?);
        let is_steady =
            before == after && (bytes.len() as u64 == after.size || bytes.len() > bytes_max);
        Ok(is_steady.then_some((bytes, after)))
    }

    /// Puts a text at a path.
    pub(super) fn write(&self, path: &MemoryPath, placing: &Placing<'_>) -> io::Result<Written> {
        let (parent, name) = self.parent(path.as_str(), true)?;
        let part = Part::write(&parent, placing.text, Some(placing.mtime_micros), 0o666)?;
        let stamp = stamp_at(&parent, &part.name)?.ok_or(io::ErrorKind::NotFound)?;
        (placing.note)(stamp)?;
        let Some(expected) = placing.expected else {
            return match renameat_with(&parent, &*part.name, &parent, name, RenameFlags::NOREPLACE)
            {
                Ok(()) => part.settled(Written::Done(stamp)),
                Err(Errno::EXIST) => Ok(Written::Changed),
                Err(Errno::INVAL | Errno::NOSYS) if stamp_at(&parent, name)?.is_none() => {
                    renameat(&parent, &*part.name, &parent, name)?;
                    part.settled(Written::Done(stamp))
                }
                Err(error) => Err(error.into()),
            };
        };
        match renameat_with(&parent, &*part.name, &parent, name, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Written::Changed),
            // A file system that cannot swap gets a look before instead of one after.
            Err(Errno::INVAL | Errno::NOSYS) => {
                if stamp_at(&parent, name)? != Some(expected) {
                    return Ok(Written::Changed);
                }
                renameat(&parent, &*part.name, &parent, name)?;
                return part.settled(Written::Done(stamp));
            }
            Err(error) => return Err(error.into()),
        }
        fsync(&parent)?;
        if stamp_at(&parent, &part.name)? == Some(expected) {
            return Ok(Written::Done(stamp));
        }
        let beside = set_beside(&parent, &part.name, name, placing.is_taken)?;
        part.settled(Written::Beside(stamp, beside))
    }

    /// Takes a file away that looks like this; false if it looks otherwise. Directories that are empty
    /// then go with it.
    pub(super) fn remove(&self, path: &MemoryPath, expected: Stamp) -> io::Result<bool> {
        let (parent, name) = self.parent(path.as_str(), false)?;
        if stamp_at(&parent, name)? != Some(expected) {
            return Ok(false);
        }
        unlinkat(&parent, name, AtFlags::empty())?;
        fsync(&parent)?;
        let mut folder = path.as_str();
        while let Some((above, _)) = folder.rsplit_once('/').filter(|(above, _)| !above.is_empty())
        {
            let (parent, name) = self.parent(above, false)?;
            // One that holds something, or is somebody's working directory on some systems, stays.
            if unlinkat(&parent, name, AtFlags::REMOVEDIR).is_err() {
                break;
            }
            folder = above;
        }
        Ok(true)
    }

    /// Moves a file beside its name, and says where.
    pub(super) fn set_aside(
        &self,
        path: &MemoryPath,
        is_taken: &dyn Fn(&str) -> bool,
    ) -> io::Result<String> {
        let (parent, name) = self.parent(path.as_str(), false)?;
        let beside = set_beside(&parent, name, name, is_taken)?;
        fsync(&parent)?;
        Ok(beside)
    }

    /// One of our own files; none if it is not there.
    pub(super) fn read_own(&self, name: &str, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
        let file = match openat(&self.root, name, FILE | OFlags::RDONLY, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut bytes = Vec::new();
        file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
        match bytes.len() > bytes_max {
            true => Err(io::Error::other(format!("it is over {bytes_max} bytes"))),
            false => Ok(Some(bytes)),
        }
    }

    /// Adds to one of our own files.
    pub(super) fn append_own(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let flags = FILE | OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        let file = File::from(openat(&self.root, name, flags, Mode::from_raw_mode(0o600))?);
        (&file).write_all(bytes)
    }

    /// Takes away one of our own files.
    pub(super) fn remove_own(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.root, name, AtFlags::empty()) {
            Err(error) if error != Errno::NOENT => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Replaces one of our own files.
    pub(super) fn write_own(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let part = Part::write(&self.root, bytes, None, 0o600)?;
        renameat(&self.root, &*part.name, &self.root, name)?;
        part.settled(())
    }
}

/// A file that is being written; what is left of it goes with this.
struct Part<'f> {
    parent: &'f OwnedFd,
    name: String,
}

impl<'f> Part<'f> {
    fn write(
        parent: &'f OwnedFd,
        bytes: &[u8],
        mtime_micros: Option<i64>,
        mode: u32,
    ) -> io::Result<Self> {
        let name = format!("{PART}-{}", super::super::way::fresh_key("w"));
        let file = File::from(openat(parent, &*name, NEW, Mode::from_raw_mode(mode))?);
        let part = Self { parent, name };
        (&file).write_all(bytes)?;
        if let Some(micros) = mtime_micros.and_then(|micros| u64::try_from(micros).ok()) {
            file.set_modified(UNIX_EPOCH + Duration::from_micros(micros))?;
        }
        file.sync_all()?;
        Ok(part)
    }

    /// It has its name now, durably.
    fn settled<T>(self, with: T) -> io::Result<T> {
        fsync(self.parent)?;
        Ok(with)
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        // Mostly it has another name by now.
        let _ = unlinkat(self.parent, &*self.name, AtFlags::empty());
    }
}

/// Gives a file the first free name of those beside `name`.
fn set_beside(
    parent: &OwnedFd,
    from: &str,
    name: &str,
    is_taken: &dyn Fn(&str) -> bool,
) -> io::Result<String> {
    for count in 1..=BESIDE_MAX {
        let beside = match count {
            1 => format!("{name}.conflict"),
            more => format!("{name}.conflict-{more}"),
        };
        if is_taken(&beside) {
            continue;
        }
        match renameat_with(parent, from, parent, &*beside, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(beside),
            Err(Errno::EXIST) => {}
            Err(Errno::INVAL | Errno::NOSYS) => {
                if stamp_at(parent, &beside)?.is_none() {
                    renameat(parent, from, parent, &*beside)?;
                    return Ok(beside);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other(format!("{name} has {BESIDE_MAX} conflicts beside it")))
}

fn stamp_of(stat: &rustix::fs::Stat) -> Stamp {
    let nanos = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    let mtime_ns = stat.st_mtime.saturating_mul(1_000_000_000).saturating_add(nanos);
    Stamp { mtime_ns, size: u64::try_from(stat.st_size).unwrap_or(0) }
}

pub(super) fn stamp_at(parent: &OwnedFd, name: &str) -> io::Result<Option<Stamp>> {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stamp_of(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a file cannot be there: it, or a directory above it, is missing or something else.
fn is_missing(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(code, Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}
