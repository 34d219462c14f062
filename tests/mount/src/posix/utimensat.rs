//! utimensat(2) and futimens(3): times of files and directories.

use std::path::Path;

use anyhow::Result;
use rustix::fs::{
    AtFlags, CWD, OFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, futimens, utimensat,
};
use rustix::io::Errno;

use super::bed::{
    allowed, both, give, holds, long, moments, nap, refused, refused_as, same, spares, stat,
};
use super::{Case, case};
use crate::Person;

/// Moments of the last century and of the next.
const PAST: Timespec = Timespec { tv_sec: 915_148_800, tv_nsec: 123_456_789 };
const FUTURE: Timespec = Timespec { tv_sec: 4_102_444_800, tv_nsec: 987_654_321 };
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW as _ };
const OMIT: Timespec = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ };

fn set(path: &Path, access: Timespec, modification: Timespec) -> Result<(), Errno> {
    let times = Timestamps { last_access: access, last_modification: modification };
    utimensat(CWD, path, &times, AtFlags::empty())
}

/// Access and modification as they are now.
fn of(path: &Path) -> Result<[(i64, i64); 2]> {
    let found = stat(path)?;
    let nanos = i64::try_from(found.st_atime_nsec)?;
    Ok([(found.st_atime, nanos), moments(path)?[0]])
}

fn pair(time: Timespec) -> (i64, i64) {
    (time.tv_sec, time.tv_nsec)
}

pub(super) const CASES: [Case; 19] = [
    case("sets both times of a file to the nanosecond", |bed| {
        let path = bed.file("file", "text")?;
        set(&path, FUTURE, PAST)?;
        same("the times", &of(&path)?, &[pair(FUTURE), pair(PAST)])
    }),
    case("sets both times of a directory to the nanosecond", |bed| {
        let path = bed.folder("folder")?;
        set(&path, FUTURE, PAST)?;
        same("the times", &of(&path)?, &[pair(FUTURE), pair(PAST)])
    }),
    case("sets times by descriptor", |bed| {
        let path = bed.file("file", "text")?;
        let times = Timestamps { last_access: PAST, last_modification: FUTURE };
        futimens(both(&path)?, &times)?;
        same("the times", &of(&path)?, &[pair(PAST), pair(FUTURE)])
    }),
    case("leaves content and size alone", |bed| {
        let path = bed.file("file", "text")?;
        set(&path, PAST, PAST)?;
        same("the size", &stat(&path)?.st_size, &4)?;
        holds(&path, "text")
    }),
    case("times that were set stay after reading", |bed| {
        let path = bed.file("file", "text")?;
        set(&path, FUTURE, PAST)?;
        holds(&path, "text")?;
        same("the mtime", &of(&path)?[1], &pair(PAST))
    }),
    case("times that were set go when the file is written", |bed| {
        let path = bed.file("file", "text")?;
        set(&path, PAST, PAST)?;
        rustix::io::pwrite(both(&path)?, b"next", 0)?;
        let found = of(&path)?[1];
        anyhow::ensure!(found > pair(PAST), "the mtime is still {found:?}");
        Ok(())
    }),
    case("moves the ctime to now", |bed| {
        let path = bed.file("file", "text")?;
        let before = moments(&path)?[1];
        nap();
        set(&path, PAST, PAST)?;
        let after = moments(&path)?[1];
        anyhow::ensure!(after > before, "the ctime stays {before:?}");
        Ok(())
    }),
    case("UTIME_NOW takes the time of the call", |bed| {
        let (path, clock) = (bed.file("file", "text")?, bed.at("clock"));
        set(&path, PAST, PAST)?;
        bed.file("clock", "")?;
        let before = of(&clock)?[1];
        nap();
        set(&path, NOW, NOW)?;
        let [access, modification] = of(&path)?;
        anyhow::ensure!(access >= before && modification >= before, "not now");
        anyhow::ensure!(modification.0 < before.0 + 60, "long after now");
        Ok(())
    }),
    case("UTIME_OMIT keeps the atime", |bed| {
        let path = bed.file("file", "text")?;
        set(&path, FUTURE, FUTURE)?;
        set(&path, OMIT, PAST)?;
        same("the times", &of(&path)?, &[pair(FUTURE), pair(PAST)])
    }),
    case("UTIME_OMIT keeps the mtime", |bed| {
        let path = bed.file("file", "text")?;
        set(&path, FUTURE, FUTURE)?;
        set(&path, PAST, OMIT)?;
        same("the times", &of(&path)?, &[pair(PAST), pair(FUTURE)])
    }),
    case("UTIME_OMIT keeps the other time of a file that was only made", |bed| {
        let path = bed.at("file");
        drop(super::bed::open(&path, OFlags::CREATE | OFlags::WRONLY, 0o644)?);
        let made = of(&path)?;
        nap();
        set(&path, OMIT, PAST)?;
        same("the times", &of(&path)?, &[made[0], pair(PAST)])?;
        set(&path, FUTURE, OMIT)?;
        nap();
        same("the times", &of(&path)?, &[pair(FUTURE), pair(PAST)])
    }),
    case("UTIME_OMIT for both changes nothing at all", |bed| {
        let path = bed.file("file", "text")?;
        spares(&path, || allowed(set(&path, OMIT, OMIT)))
    }),
    case("nanoseconds of a second or more give EINVAL", |bed| {
        let path = bed.file("file", "text")?;
        let wrong = Timespec { tv_sec: 1, tv_nsec: 1_000_000_000 };
        spares(&path, || refused(set(&path, wrong, wrong), Errno::INVAL))
    }),
    case("what is not there gives ENOENT", |bed| {
        refused(set(&bed.at("missing"), PAST, PAST), Errno::NOENT)
    }),
    case("through a file gives ENOTDIR", |bed| {
        bed.file("file", "text")?;
        refused(set(&bed.at("file/below"), PAST, PAST), Errno::NOTDIR)
    }),
    case("a name of 256 bytes gives ENAMETOOLONG", |bed| {
        refused(set(&bed.at(&long(256)), PAST, PAST), Errno::NAMETOOLONG)
    }),
    case("the owner may set times without permission to write", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o444)?;
        Person::OWNER.does(|| allowed(set(&path, PAST, PAST)))?;
        same("the times", &of(&path)?, &[pair(PAST), pair(PAST)])
    }),
    case("whoever may write may set the time of the call, and no other", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o666)?;
        Person::STRANGER.does(|| {
            set(&path, NOW, NOW)?;
            refused(set(&path, PAST, PAST), Errno::PERM)
        })
    }),
    case("whoever may not write gives EACCES for the time of the call", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o644)?;
        Person::STRANGER.does(|| {
            refused(set(&path, NOW, NOW), Errno::ACCESS)?;
            refused_as(set(&path, PAST, PAST), &[Errno::PERM, Errno::ACCESS])
        })
    }),
];
