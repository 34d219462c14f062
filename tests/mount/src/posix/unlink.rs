//! unlink(2): names that go, and files that stay while they are open.

use rustix::fs::{OFlags, fstat, unlink};
use rustix::io::Errno;

use super::bed::{
    allowed, both, give, gone, holds, long, marks, open, refused, refused_as, rest, same, spares,
    stat,
};
use super::{Case, case};
use crate::Person;

pub(super) const CASES: [Case; 20] = [
    case("removes the name", |bed| {
        let path = bed.file("file", "text")?;
        unlink(&path)?;
        gone(&path)?;
        refused(open(&path, OFlags::RDONLY, 0), Errno::NOENT)
    }),
    case("leaves what is beside it", |bed| {
        let (path, other) = (bed.file("file", "text")?, bed.file("file2", "other")?);
        unlink(&path)?;
        holds(&other, "other")
    }),
    case("marks the directory as changed", |bed| {
        let path = bed.file("file", "text")?;
        marks(bed.root(), || allowed(unlink(&path)))
    }),
    case("what is not there gives ENOENT and leaves the directory alone", |bed| {
        spares(bed.root(), || refused(unlink(bed.at("missing")), Errno::NOENT))
    }),
    case("a second time gives ENOENT", |bed| {
        let path = bed.file("file", "text")?;
        unlink(&path)?;
        refused(unlink(&path), Errno::NOENT)
    }),
    case("in a directory that is not there gives ENOENT", |bed| {
        refused(unlink(bed.at("missing/file")), Errno::NOENT)
    }),
    case("through a file gives ENOTDIR", |bed| {
        bed.file("file", "text")?;
        refused(unlink(bed.at("file/other")), Errno::NOTDIR)
    }),
    case("a file with a slash behind it gives ENOTDIR", |bed| {
        let path = bed.file("file", "text")?;
        refused(unlink(bed.at("file/")), Errno::NOTDIR)?;
        holds(&path, "text")
    }),
    case("a directory gives EISDIR or EPERM", |bed| {
        let path = bed.folder("folder")?;
        refused_as(unlink(&path), &[Errno::ISDIR, Errno::PERM])?;
        stat(&path).map(drop)
    }),
    case("a name of 255 bytes can be removed", |bed| {
        let path = bed.file(&long(255), "text")?;
        unlink(&path)?;
        gone(&path)
    }),
    case("a name of 256 bytes gives ENAMETOOLONG", |bed| {
        refused(unlink(bed.at(&long(256))), Errno::NAMETOOLONG)
    }),
    case("a path of more than 4095 bytes gives ENAMETOOLONG", |bed| {
        refused(unlink(bed.endless()), Errno::NAMETOOLONG)
    }),
    case("in a directory without write permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        let path = bed.file("folder/file", "text")?;
        give(&path, Person::STRANGER, 0o644)?;
        give(&folder, Person::OWNER, 0o755)?;
        Person::STRANGER.does(|| refused(unlink(&path), Errno::ACCESS))
    }),
    case("in a directory without search permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        let path = bed.file("folder/file", "text")?;
        give(&folder, Person::OWNER, 0o666)?;
        Person::OWNER.does(|| refused(unlink(&path), Errno::ACCESS))
    }),
    case("needs no permission on the file itself", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0)?;
        Person::STRANGER.does(|| allowed(unlink(&path)))?;
        gone(&path)
    }),
    case("in a sticky directory is for the owner of the file", |bed| {
        let folder = bed.folder("folder")?;
        let path = bed.file("folder/file", "text")?;
        give(&path, Person::OWNER, 0o666)?;
        give(&folder, Person::ROOT, 0o1777)?;
        Person::STRANGER.does(|| refused_as(unlink(&path), &[Errno::PERM, Errno::ACCESS]))?;
        Person::OWNER.does(|| allowed(unlink(&path)))
    }),
    case("in a sticky directory is for the owner of the directory too", |bed| {
        let folder = bed.folder("folder")?;
        let path = bed.file("folder/file", "text")?;
        give(&path, Person::STRANGER, 0o644)?;
        give(&folder, Person::OWNER, 0o1777)?;
        Person::OWNER.does(|| allowed(unlink(&path)))?;
        gone(&path)
    }),
    case("an open file can still be read", |bed| {
        let path = bed.file("file", "text")?;
        let file = both(&path)?;
        unlink(&path)?;
        same("the links", &fstat(&file)?.st_nlink, &0)?;
        same("what is read", &rest(file)?, &b"text".to_vec())
    }),
    case("an open file can still be written, and nobody finds it", |bed| {
        let path = bed.file("file", "text")?;
        let file = both(&path)?;
        unlink(&path)?;
        rustix::io::pwrite(&file, b"next text", 0)?;
        same("the size", &fstat(&file)?.st_size, &9)?;
        gone(&path)?;
        same("what is read", &rest(file)?, &b"next text".to_vec())?;
        gone(&path)
    }),
    case("the name is free while the old file is open", |bed| {
        let path = bed.file("file", "old")?;
        let old = both(&path)?;
        unlink(&path)?;
        bed.file("file", "new")?;
        holds(&path, "new")?;
        same("what the old one reads", &rest(old)?, &b"old".to_vec())?;
        holds(&path, "new")
    }),
];
