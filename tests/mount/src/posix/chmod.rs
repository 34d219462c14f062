//! chmod(2): the permission bits of files and directories.

use rustix::fs::chmod;
use rustix::io::Errno;

use super::bed::{allowed, bits, give, mode, moments, nap, open, refused, same, spares};
use super::{Case, case};
use crate::Person;

pub(super) const CASES: [Case; 6] = [
    case("sets the bits of a file and of a directory", |bed| {
        for path in [bed.file("file", "text")?, bed.folder("folder")?] {
            chmod(&path, mode(0o1751))?;
            same("the mode", &bits(&path)?, &0o1751)?;
        }
        Ok(())
    }),
    case("moves the ctime and nothing else", |bed| {
        let path = bed.file("file", "text")?;
        let before = moments(&path)?;
        nap();
        chmod(&path, mode(0o600))?;
        let after = moments(&path)?;
        same("the mtime", &after[0], &before[0])?;
        anyhow::ensure!(after[1] > before[1], "the ctime stays {:?}", before[1]);
        Ok(())
    }),
    case("by someone else gives EPERM and leaves the times of a new file alone", |bed| {
        let path = bed.at("file");
        drop(open(&path, rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY, 0o644)?);
        spares(&path, || {
            Person::STRANGER.does(|| refused(chmod(&path, mode(0o777)), Errno::PERM))
        })?;
        same("the mode", &bits(&path)?, &0o644)
    }),
    case("by the owner is allowed", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o644)?;
        Person::OWNER.does(|| allowed(chmod(&path, mode(0o600))))?;
        same("the mode", &bits(&path)?, &0o600)
    }),
    case("what is not there gives ENOENT", |bed| {
        refused(chmod(bed.at("missing"), mode(0o600)), Errno::NOENT)
    }),
    case("through a file gives ENOTDIR", |bed| {
        bed.file("file", "text")?;
        refused(chmod(bed.at("file/below"), mode(0o600)), Errno::NOTDIR)
    }),
];
