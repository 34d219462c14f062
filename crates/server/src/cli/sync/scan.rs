//! What is in the directory: plain files whose names can be paths of memories. Everything else is
//! named once and left alone: links, devices, names that are not UTF-8 or break the rules of paths.

use super::folder::{Folder, OWN_PREFIX, PART, Stamp, stamp_at};
use super::local::settled;
use loci_model::{MemoryPath, limit};
use loci_mount::{Lasting, lasting};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::io;

/// Files in one directory tree.
const FILES_MAX: usize = 500_000;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) files: BTreeMap<MemoryPath, Stamp>,
    /// What was left alone, and why.
    pub(super) ignored: BTreeMap<String, &'static str>,
}

/// Looks at everything.
pub(super) fn scan(folder: &Folder) -> io::Result<Scan> {
    let mut scan = Scan::default();
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    let root = openat(folder.root(), ".", flags, Mode::empty())?;
    walk(&root, "", 0, &mut scan)?;
    Ok(scan)
}

/// Takes away what an interrupted sync was writing.
pub(super) fn clean(folder: &Folder) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    sweep(&openat(folder.root(), ".", flags, Mode::empty())?, 0)
}

fn walk(at: &OwnedFd, path: &str, depth: usize, scan: &mut Scan) -> io::Result<()> {
    for entry in Dir::read_from(at)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else {
            let shown = format!("{path}/{}", entry.file_name().to_string_lossy());
            scan.ignored.insert(shown, "its name is not UTF-8");
            continue;
        };
        if name == "." || name == ".." || name.starts_with(OWN_PREFIX) {
            continue;
        }
        let below = format!("{path}/{name}");
        let kind = match entry.file_type() {
            FileType::Unknown => match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(_) => continue,
            },
            known => known,
        };
        match kind {
            FileType::Directory if depth + 1 >= limit::PATH_SEGMENTS_MAX => {
                scan.ignored.insert(below, "it lies too deep");
            }
            FileType::Directory => {
                let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
                match openat(at, name, flags, Mode::empty()) {
                    Ok(folder) => walk(&folder, &below, depth + 1, scan)?,
                    // It went or changed while we looked.
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            // An editor's own, or about to be renamed; what is still there after a while is kept.
            FileType::RegularFile if lasting(name) == Lasting::Scratch => {}
            FileType::RegularFile if lasting(name) == Lasting::Passing && is_new(at, name)? => {}
            FileType::RegularFile => match MemoryPath::parse(&below) {
                Err(_) => {
                    scan.ignored.insert(below, "its name cannot be the path of a memory");
                }
                Ok(path) => {
                    if let Some(stamp) = stamp_at(at, name)? {
                        scan.files.insert(path, stamp);
                    }
                    if scan.files.len() > FILES_MAX {
                        return Err(io::Error::other(format!("there are over {FILES_MAX} files")));
                    }
                }
            },
            FileType::Symlink => {
                scan.ignored.insert(below, "links are not followed");
            }
            _ => {
                scan.ignored.insert(below, "it is no plain file");
            }
        }
    }
    Ok(())
}

/// Whether a file was written within the last moments.
fn is_new(at: &OwnedFd, name: &str) -> io::Result<bool> {
    Ok(stamp_at(at, name)?.is_none_or(|stamp| settled(stamp).is_none()))
}

fn sweep(at: &OwnedFd, depth: usize) -> io::Result<()> {
    if depth > limit::PATH_SEGMENTS_MAX {
        return Ok(());
    }
    for entry in Dir::read_from(at)? {
        let entry = entry?;
        let name = entry.file_name();
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        if name.to_bytes().starts_with(PART.as_bytes()) {
            // What cannot be removed is tried again by the next start.
            let _ = unlinkat(at, name, AtFlags::empty());
        } else if matches!(entry.file_type(), FileType::Directory | FileType::Unknown)
            && !matches!(name.to_bytes(), b"." | b"..")
            && let Ok(folder) = openat(at, name, flags, Mode::empty())
        {
            sweep(&folder, depth + 1)?;
        }
    }
    Ok(())
}
