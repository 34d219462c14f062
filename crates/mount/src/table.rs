//! The kernel's table of mounts: finding ours, and clearing away dead ones. A process that was killed
//! leaves its mount behind, and everything there then answers "not connected".

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// What our mounts call themselves.
pub(crate) const SOURCE: &str = "loci";

/// The name of a mount of this process. The kernel keeps it and drops it with the mount, so who serves
/// a mount is always known, and no file can say something outdated about it.
pub(crate) fn own_source() -> String {
    format!("{SOURCE}:{}", std::process::id())
}

/// A mount of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounted {
    /// Where.
    pub directory: PathBuf,
    /// The process that serves it, as far as it was said.
    pub pid: Option<i32>,
}
const TABLE: &str = "/proc/self/mountinfo";

/// The mount point in full, with a dead mount of ours cleared away.
pub(crate) fn prepare(directory: &Path) -> io::Result<PathBuf> {
    // Attributes of a dead mount are believed for a second; its entries are not.
    let looked = std::fs::metadata(directory).and_then(|there| match there.is_dir() {
        true => std::fs::read_dir(directory),
        false => Err(io::Error::from(io::ErrorKind::NotADirectory)),
    });
    match looked {
        Ok(_) => directory.canonicalize(),
        Err(error) if error.raw_os_error() == Some(Errno::NOTCONN.raw_os_error()) => {
            let full = full(directory)?;
            if !mounted()?.iter().any(|one| one.directory == full) {
                return Err(error);
            }
            detach(&full)?;
            full.canonicalize()
        }
        Err(error) => Err(error),
    }
}

/// A path in full whose last part may be dead.
pub fn full(directory: &Path) -> io::Result<PathBuf> {
    match directory.canonicalize() {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {}
        found => return found,
    }
    let directory = std::path::absolute(directory)?;
    match (directory.parent(), directory.file_name()) {
        (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
        _ => Ok(directory),
    }
}

/// Where Loci is mounted on this machine, as far as this process sees. Of two mounts at one place the
/// later one is on top.
pub fn mounted() -> io::Result<Vec<Mounted>> {
    Ok(std::fs::read_to_string(TABLE)?.lines().filter_map(ours).collect())
}

/// Unmounts: orderly if nobody uses it, else as soon as nobody does.
pub fn detach(directory: &Path) -> io::Result<()> {
    let directory = full(directory)?;
    match unmount(&directory, UnmountFlags::empty()) {
        Ok(()) => Ok(()),
        Err(Errno::BUSY) => Ok(unmount(&directory, UnmountFlags::DETACH)?),
        Err(Errno::PERM) => by_fusermount(&directory),
        Err(error) => Err(error.into()),
    }
}

/// Only root may unmount by itself; others have a program for it.
fn by_fusermount(directory: &Path) -> io::Result<()> {
    let mut command = std::process::Command::new("fusermount3");
    let status = command.args(["-u", "-z", "--"]).arg(directory).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("fusermount3 ended with {status}")))
    }
}

/// The mount of a line that is about one of ours.
fn ours(line: &str) -> Option<Mounted> {
    let (place, kind) = line.split_once(" - ")?;
    let mut kind = kind.split(' ');
    let is_fuse = kind.next()?.starts_with("fuse");
    let pid = match kind.next()?.split_once(':') {
        Some((SOURCE, pid)) => pid.parse().ok(),
        _ => return None,
    };
    let directory = PathBuf::from(unescaped(place.split(' ').nth(4)?));
    is_fuse.then_some(Mounted { directory, pid })
}

/// Spaces and the like are written as three octal digits.
fn unescaped(text: &str) -> OsString {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|it| std::str::from_utf8(it).ok());
        let octal = digits.and_then(|it| u8::from_str_radix(it, 8).ok());
        if let (b'\\', Some(byte)) = (first, octal) {
            bytes.push(byte);
            rest = &after[3..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_lines_are_told_from_others() {
        let line = |point: &str, kind: &str, source: &str| {
            format!("85 29 0:50 / {point} rw,nosuid - {kind} {source} rw,user_id=0")
        };
        let found = |directory: &str, pid| Some(Mounted { directory: directory.into(), pid });
        assert_eq!(ours(&line("/mnt/a", "fuse.loci", "loci:12")), found("/mnt/a", Some(12)));
        assert_eq!(ours(&line("/mnt/a", "fuse", "loci:x")), found("/mnt/a", None));
        assert_eq!(ours(&line("/mnt/a\\040b", "fuse", "loci:1")), found("/mnt/a b", Some(1)));
        assert_eq!(ours(&line("/mnt/a", "ext4", "loci:1")), None);
        assert_eq!(ours(&line("/mnt/a", "fuse", "loci")), None);
        assert_eq!(ours(&line("/mnt/a", "fuse", "sshfs")), None);
        assert_eq!(ours("nonsense"), None);
    }
}
