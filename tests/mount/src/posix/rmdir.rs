//! rmdir(2).

use rustix::fs::{rmdir, unlink};
use rustix::io::Errno;

use super::bed::{
    allowed, give, gone, holds, long, marks, refused, refused_as, same, spares, stat,
};
use super::{Case, case};
use crate::Person;

/// Either may be given for a directory that is not empty.
const FULL: [Errno; 2] = [Errno::NOTEMPTY, Errno::EXIST];

pub(super) const CASES: [Case; 17] = [
    case("removes an empty directory", |bed| {
        let path = bed.folder("folder")?;
        rmdir(&path)?;
        gone(&path)
    }),
    case("takes a link from the directory above", |bed| {
        let before = stat(bed.root())?.st_nlink;
        rmdir(bed.folder("folder")?)?;
        same("the links", &stat(bed.root())?.st_nlink, &before)
    }),
    case("marks the directory above as changed", |bed| {
        let path = bed.folder("folder")?;
        marks(bed.root(), || allowed(rmdir(&path)))
    }),
    case("a slash behind the name is allowed", |bed| {
        let path = bed.folder("folder")?;
        rmdir(bed.at("folder/"))?;
        gone(&path)
    }),
    case("a directory with a file gives ENOTEMPTY and changes nothing", |bed| {
        let path = bed.folder("folder")?;
        let file = bed.file("folder/file", "text")?;
        spares(bed.root(), || refused_as(rmdir(&path), &FULL))?;
        holds(&file, "text")
    }),
    case("a directory with a directory gives ENOTEMPTY", |bed| {
        let path = bed.folder("folder")?;
        bed.folder("folder/below")?;
        refused_as(rmdir(&path), &FULL)
    }),
    case("a directory whose files are gone can be removed", |bed| {
        let path = bed.folder("folder")?;
        unlink(bed.file("folder/file", "text")?)?;
        rmdir(&path)?;
        gone(&path)
    }),
    case("the name is free afterwards", |bed| {
        rmdir(bed.folder("name")?)?;
        holds(&bed.file("name", "text")?, "text")
    }),
    case("what is not there gives ENOENT", |bed| {
        spares(bed.root(), || refused(rmdir(bed.at("missing")), Errno::NOENT))
    }),
    case("a file gives ENOTDIR", |bed| {
        let path = bed.file("file", "text")?;
        refused(rmdir(&path), Errno::NOTDIR)?;
        holds(&path, "text")
    }),
    case("through a file gives ENOTDIR", |bed| {
        bed.file("file", "text")?;
        refused(rmdir(bed.at("file/below")), Errno::NOTDIR)
    }),
    case("a dot gives EINVAL, two dots ENOTEMPTY", |bed| {
        let path = bed.folder("folder")?;
        refused(rmdir(path.join(".")), Errno::INVAL)?;
        refused_as(rmdir(path.join("..")), &[Errno::NOTEMPTY, Errno::EXIST, Errno::INVAL])
    }),
    case("a name of 256 bytes gives ENAMETOOLONG", |bed| {
        refused(rmdir(bed.at(&long(256))), Errno::NAMETOOLONG)
    }),
    case("a path of more than 4095 bytes gives ENAMETOOLONG", |bed| {
        refused(rmdir(bed.endless()), Errno::NAMETOOLONG)
    }),
    case("in a directory without write permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        let below = bed.folder("folder/below")?;
        give(&below, Person::STRANGER, 0o755)?;
        give(&folder, Person::OWNER, 0o755)?;
        Person::STRANGER.does(|| refused(rmdir(&below), Errno::ACCESS))
    }),
    case("in a directory without search permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        let below = bed.folder("folder/below")?;
        give(&folder, Person::OWNER, 0o666)?;
        Person::OWNER.does(|| refused(rmdir(&below), Errno::ACCESS))
    }),
    case("in a sticky directory is for its owner", |bed| {
        let folder = bed.folder("folder")?;
        let below = bed.folder("folder/below")?;
        give(&below, Person::OWNER, 0o777)?;
        give(&folder, Person::ROOT, 0o1777)?;
        Person::STRANGER.does(|| refused_as(rmdir(&below), &[Errno::PERM, Errno::ACCESS]))?;
        Person::OWNER.does(|| allowed(rmdir(&below)))
    }),
];
