//! What a case works with: a directory of its own, the calls it tries, and what it may insist on.
//!
//! Calls go straight to the kernel, so that a case sees the error number the file system gave.

use std::fmt::Debug;
use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};

use crate::Person;

/// Longer than a tick of any kernel's clock, so that two moments are two times.
const NAP: Duration = Duration::from_millis(20);

/// A directory for one case: empty, mode 0777, root's.
#[derive(Debug)]
pub struct Bed {
    root: PathBuf,
}

impl Bed {
    pub(super) fn make(root: PathBuf) -> Result<Self> {
        fs::create_dir(&root).with_context(|| format!("cannot make {}", root.display()))?;
        rustix::fs::chmod(&root, mode(0o777))?;
        Ok(Self { root })
    }

    pub(super) fn clear(self) -> Result<()> {
        let cleared = fs::remove_dir_all(&self.root);
        cleared.with_context(|| format!("cannot remove {}", self.root.display()))
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A file with this text, mode 0644, root's.
    pub(super) fn file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.at(name);
        fs::write(&path, text).with_context(|| format!("cannot write {name}"))?;
        Ok(path)
    }

    /// An empty directory, mode 0755, root's.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.at(name);
        fs::create_dir(&path).with_context(|| format!("cannot make {name}"))?;
        Ok(path)
    }

    /// A path under this bed that is too long for any call.
    pub(super) fn endless(&self) -> PathBuf {
        self.at(&"a/".repeat(2100))
    }
}

pub(super) fn mode(bits: u32) -> Mode {
    Mode::from_raw_mode(bits)
}

pub(super) fn give(path: &Path, to: Person, bits: u32) -> Result<()> {
    rustix::fs::chown(path, Some(Uid::from_raw(to.uid)), Some(Gid::from_raw(to.gid)))?;
    rustix::fs::chmod(path, mode(bits))?;
    Ok(())
}

/// A name of so many bytes.
pub(super) fn long(bytes: usize) -> String {
    "n".repeat(bytes)
}

pub(super) fn nap() {
    thread::sleep(NAP);
}

pub(super) fn open(path: &Path, flags: OFlags, bits: u32) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, flags | OFlags::CLOEXEC, mode(bits))
}

/// A descriptor for reading and writing what is there.
pub(super) fn both(path: &Path) -> Result<OwnedFd> {
    open(path, OFlags::RDWR, 0).with_context(|| format!("cannot open {}", path.display()))
}

/// truncate(2), which takes a path.
pub(super) fn truncate(path: &Path, length: i64) -> Result<(), Errno> {
    nix::unistd::truncate(path, length).map_err(|error| Errno::from_raw_os_error(error as i32))
}

/// ftruncate(2) with a length that may be nonsense.
pub(super) fn ftruncate(file: &OwnedFd, length: i64) -> Result<(), Errno> {
    nix::unistd::ftruncate(file, length).map_err(|error| Errno::from_raw_os_error(error as i32))
}

pub(super) fn stat(path: &Path) -> Result<Stat> {
    rustix::fs::stat(path).with_context(|| format!("cannot stat {}", path.display()))
}

pub(super) fn text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    String::from_utf8(bytes).context("not what was written")
}

/// What is left to read from a descriptor.
pub(super) fn rest(file: OwnedFd) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::from(file).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn holds(path: &Path, wanted: &str) -> Result<()> {
    let found = text(path)?;
    ensure!(found == wanted, "{} holds {found:?}, not {wanted:?}", path.display());
    Ok(())
}

pub(super) fn same<T: PartialEq + Debug>(what: &str, found: &T, wanted: &T) -> Result<()> {
    ensure!(found == wanted, "{what} is {found:?}, not {wanted:?}");
    Ok(())
}

pub(super) fn gone(path: &Path) -> Result<()> {
    refused(rustix::fs::stat(path), Errno::NOENT)
}

/// The permission bits of what is there.
pub(super) fn bits(path: &Path) -> Result<u32> {
    Ok(stat(path)?.st_mode & 0o7777)
}

pub(super) fn allowed<T>(result: Result<T, Errno>) -> Result<()> {
    result.map(drop).map_err(|error| anyhow!("refused with {error:?}"))
}

pub(super) fn refused<T>(result: Result<T, Errno>, wanted: Errno) -> Result<()> {
    refused_as(result, &[wanted])
}

/// Where the text leaves the system a choice.
#[expect(clippy::needless_pass_by_value, reason = "what was opened is closed here")]
pub(super) fn refused_as<T>(result: Result<T, Errno>, wanted: &[Errno]) -> Result<()> {
    match result {
        Ok(_) => bail!("was allowed, not refused with {wanted:?}"),
        Err(found) if wanted.contains(&found) => Ok(()),
        Err(found) => Err(anyhow!("refused with {found:?}, not {wanted:?}")),
    }
}

/// When the content, and when anything of it, changed last.
pub(super) fn moments(path: &Path) -> Result<[(i64, i64); 2]> {
    let stat = stat(path)?;
    let of = |seconds: i64, nanos| (seconds, i64::try_from(nanos).unwrap_or(i64::MAX));
    Ok([of(stat.st_mtime, stat.st_mtime_nsec), of(stat.st_ctime, stat.st_ctime_nsec)])
}

/// The work marks the path as modified and changed.
pub(super) fn marks(path: &Path, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let before = moments(path)?;
    nap();
    work()?;
    let after = moments(path)?;
    ensure!(after[0] > before[0], "mtime of {} stays {:?}", path.display(), before[0]);
    ensure!(after[1] > before[1], "ctime of {} stays {:?}", path.display(), before[1]);
    Ok(())
}

/// The work leaves no mark on the path.
pub(super) fn spares(path: &Path, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let before = moments(path)?;
    nap();
    work()?;
    let after = moments(path)?;
    ensure!(after == before, "times of {} go from {before:?} to {after:?}", path.display());
    Ok(())
}
