//! Every call that would change something, on a directory that may only be read: all give EROFS,
//! whoever asks, and nothing changes.

use std::path::Path;

use anyhow::{Result, anyhow};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, XattrFlags, chmod,
    chown, link, mkdir, mknodat, open, rename, rmdir, setxattr, symlink, unlink, utimensat,
};
use rustix::io::Errno;
use rustix::process::Uid;

/// What the directory must hold, with these contents.
pub const FILE: (&str, &str) = ("file.md", "what is written");
pub const INNER: (&str, &str) = ("folder/inner.md", "what is below");

type Attempt = fn(&Path) -> Result<(), Errno>;

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW as _ };

/// The calls by name.
const ATTEMPTS: [(&str, Attempt); 25] = [
    ("open O_WRONLY", |at| opened(&at.join(FILE.0), OFlags::WRONLY)),
    ("open O_RDWR", |at| opened(&at.join(FILE.0), OFlags::RDWR)),
    ("open O_WRONLY | O_APPEND", |at| opened(&at.join(FILE.0), OFlags::WRONLY | OFlags::APPEND)),
    ("open O_WRONLY | O_TRUNC", |at| opened(&at.join(FILE.0), OFlags::WRONLY | OFlags::TRUNC)),
    ("open O_RDONLY | O_TRUNC", |at| opened(&at.join(FILE.0), OFlags::RDONLY | OFlags::TRUNC)),
    ("open O_CREAT", |at| opened(&at.join("new.md"), OFlags::WRONLY | OFlags::CREATE)),
    ("open O_CREAT below", |at| opened(&at.join("folder/new.md"), OFlags::RDWR | OFlags::CREATE)),
    ("open O_CREAT | O_EXCL", |at| {
        opened(&at.join("new.md"), OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
    }),
    ("truncate", |at| truncated(&at.join(FILE.0), 3)),
    ("truncate to the length it has", |at| truncated(&at.join(FILE.0), 15)),
    ("unlink", |at| unlink(at.join(FILE.0))),
    ("unlink below", |at| unlink(at.join(INNER.0))),
    ("mkdir", |at| mkdir(at.join("new"), Mode::from_raw_mode(0o755))),
    ("rmdir", |at| rmdir(at.join("folder"))),
    ("rename of a file", |at| rename(at.join(FILE.0), at.join("new.md"))),
    ("rename over a file", |at| rename(at.join(FILE.0), at.join(INNER.0))),
    ("rename of a directory", |at| rename(at.join("folder"), at.join("new"))),
    ("chmod of a file", |at| chmod(at.join(FILE.0), Mode::from_raw_mode(0o777))),
    ("chmod of a directory", |at| chmod(at.join("folder"), Mode::from_raw_mode(0o777))),
    ("chown", |at| chown(at.join(FILE.0), Some(Uid::from_raw(65_533)), None)),
    ("utimensat", |at| {
        let times = Timestamps { last_access: NOW, last_modification: NOW };
        utimensat(CWD, at.join(FILE.0), &times, AtFlags::empty())
    }),
    ("setxattr", |at| setxattr(at.join(FILE.0), "user.loci.kind", b"fact", XattrFlags::empty())),
    ("link", |at| link(at.join(FILE.0), at.join("new.md"))),
    ("symlink", |at| symlink("file.md", at.join("new.md"))),
    ("mknod", |at| {
        mknodat(CWD, at.join("new.md"), FileType::RegularFile, Mode::from_raw_mode(0o644), 0)
    }),
];

fn opened(path: &Path, flags: OFlags) -> Result<(), Errno> {
    open(path, flags | OFlags::CLOEXEC, Mode::from_raw_mode(0o644)).map(drop)
}

fn truncated(path: &Path, length: i64) -> Result<(), Errno> {
    nix::unistd::truncate(path, length).map_err(|error| Errno::from_raw_os_error(error as i32))
}

/// What was not refused as it should be, one line each.
pub fn failures(directory: &Path) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, attempt) in ATTEMPTS {
        match attempt(directory) {
            Err(Errno::ROFS) => {}
            // What no store ever has may be refused for that.
            Err(Errno::PERM) if ["link", "symlink", "mknod"].contains(&name) => {}
            Err(other) => failures.push(format!("{name}: refused with {other:?}, not EROFS")),
            Ok(()) => failures.push(format!("{name}: was allowed")),
        }
        failures.extend(changed(directory).err().map(|error| format!("{name}: {error:#}")));
    }
    failures
}

fn changed(directory: &Path) -> Result<()> {
    for (name, content) in [FILE, INNER] {
        let found = std::fs::read_to_string(directory.join(name))?;
        (found == content).then_some(()).ok_or_else(|| anyhow!("{name} holds {found:?}"))?;
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        names.push(entry?.file_name());
    }
    names.sort();
    (names == ["file.md", "folder"]).then_some(()).ok_or_else(|| anyhow!("there is {names:?}"))
}
