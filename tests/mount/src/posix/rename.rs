//! rename(2) to a name that is free: what moves, what is refused, who may.

use std::fs;

use rustix::fs::{CWD, RenameFlags, rename, renameat_with};
use rustix::io::Errno;

use super::bed::{
    allowed, both, give, gone, holds, long, marks, moments, refused, refused_as, same, spares, stat,
};
use super::{Case, case};
use crate::Person;

pub(super) const CASES: [Case; 28] = [
    case("a file moves with content, mode, owner, inode number and mtime", |bed| {
        let (from, to) = (bed.file("from", "text")?, bed.at("to"));
        give(&from, Person::OWNER, 0o640)?;
        let (before, at) = (stat(&from)?, moments(&from)?[0]);
        super::bed::nap();
        rename(&from, &to)?;
        let after = stat(&to)?;
        gone(&from)?;
        holds(&to, "text")?;
        same("the number", &after.st_ino, &before.st_ino)?;
        same("the mode", &after.st_mode, &before.st_mode)?;
        same("the owner", &(after.st_uid, after.st_gid), &(before.st_uid, before.st_gid))?;
        same("the mtime", &moments(&to)?[0], &at)
    }),
    case("a file moves to another directory", |bed| {
        let from = bed.file("from", "text")?;
        let to = bed.folder("folder")?.join("to");
        rename(&from, &to)?;
        gone(&from)?;
        holds(&to, "text")
    }),
    case("the directory of a file is marked as changed", |bed| {
        let from = bed.file("from", "text")?;
        marks(bed.root(), || allowed(rename(&from, bed.at("to"))))
    }),
    case("both directories are marked as changed", |bed| {
        let (one, two) = (bed.folder("one")?, bed.folder("two")?);
        let from = bed.file("one/file", "text")?;
        marks(&one, || marks(&two, || allowed(rename(&from, two.join("file")))))
    }),
    case("a chain of names ends at the last", |bed| {
        let names: Vec<_> = (0..6).map(|n| bed.at(&format!("name{n}"))).collect();
        fs::write(&names[0], "text")?;
        for pair in names.windows(2) {
            rename(&pair[0], &pair[1])?;
        }
        holds(&names[5], "text")?;
        same("the entries", &fs::read_dir(bed.root())?.count(), &1)
    }),
    case("two files change places by a third name", |bed| {
        let (one, two, third) = (bed.file("one", "1")?, bed.file("two", "2")?, bed.at("third"));
        rename(&one, &third)?;
        rename(&two, &one)?;
        rename(&third, &two)?;
        holds(&one, "2")?;
        holds(&two, "1")
    }),
    case("a descriptor follows its file to the new name", |bed| {
        let (from, to) = (bed.file("from", "text")?, bed.at("to"));
        let file = both(&from)?;
        rename(&from, &to)?;
        rustix::io::pwrite(&file, b"next text", 0)?;
        drop(file);
        gone(&from)?;
        holds(&to, "next text")
    }),
    case("what was written and not yet closed moves along", |bed| {
        let (from, to) = (bed.file("from", "")?, bed.at("to"));
        let file = both(&from)?;
        rustix::io::write(&file, b"text")?;
        rename(&from, &to)?;
        holds(&to, "text")?;
        drop(file);
        holds(&to, "text")
    }),
    case("the old name can be taken again", |bed| {
        let (from, to) = (bed.file("from", "old")?, bed.at("to"));
        rename(&from, &to)?;
        bed.file("from", "new")?;
        holds(&from, "new")?;
        holds(&to, "old")
    }),
    case("a directory moves with all below it", |bed| {
        let (from, to) = (bed.folder("from")?, bed.at("to"));
        bed.folder("from/below")?;
        bed.file("from/below/file", "text")?;
        let number = stat(&from)?.st_ino;
        rename(&from, &to)?;
        gone(&from)?;
        same("the number", &stat(&to)?.st_ino, &number)?;
        holds(&to.join("below/file"), "text")
    }),
    case("an empty directory moves", |bed| {
        let (from, to) = (bed.folder("from")?, bed.at("to"));
        rename(&from, &to)?;
        gone(&from)?;
        same("the entries", &fs::read_dir(&to)?.count(), &0)
    }),
    case("a directory moves below another, which gets its link", |bed| {
        let (one, two) = (bed.folder("one")?, bed.folder("two")?);
        bed.folder("one/moved")?;
        rename(one.join("moved"), two.join("moved"))?;
        same("the links left", &stat(&one)?.st_nlink, &2)?;
        same("the links got", &stat(&two)?.st_nlink, &3)?;
        same("the dots", &stat(&two.join("moved/.."))?.st_ino, &stat(&two)?.st_ino)
    }),
    case("a directory with slashes behind the names moves", |bed| {
        bed.folder("from")?;
        rename(bed.at("from/"), bed.at("to/"))?;
        stat(&bed.at("to")).map(drop)
    }),
    case("a directory into itself gives EINVAL", |bed| {
        let path = bed.folder("folder")?;
        refused(rename(&path, path.join("below")), Errno::INVAL)?;
        stat(&path).map(drop)
    }),
    case("a directory below itself gives EINVAL", |bed| {
        let path = bed.folder("folder")?;
        bed.folder("folder/a")?;
        bed.folder("folder/a/b")?;
        refused(rename(&path, path.join("a/b/c")), Errno::INVAL)
    }),
    case("the dots give EBUSY or EINVAL", |bed| {
        let path = bed.folder("folder")?;
        let wanted = [Errno::BUSY, Errno::INVAL];
        refused_as(rename(path.join("."), bed.at("to")), &wanted)?;
        refused_as(rename(path.join(".."), bed.at("to")), &wanted)
    }),
    case("what is not there gives ENOENT and leaves the directory alone", |bed| {
        spares(bed.root(), || refused(rename(bed.at("missing"), bed.at("to")), Errno::NOENT))
    }),
    case("to a directory that is not there gives ENOENT", |bed| {
        let from = bed.file("from", "text")?;
        refused(rename(&from, bed.at("missing/to")), Errno::NOENT)?;
        holds(&from, "text")
    }),
    case("through a file gives ENOTDIR", |bed| {
        let (file, other) = (bed.file("file", "text")?, bed.file("other", "text")?);
        refused(rename(file.join("below"), bed.at("to")), Errno::NOTDIR)?;
        refused(rename(&other, file.join("below")), Errno::NOTDIR)
    }),
    case("a file to a name with a slash gives ENOTDIR", |bed| {
        let from = bed.file("from", "text")?;
        refused(rename(&from, bed.at("to/")), Errno::NOTDIR)?;
        holds(&from, "text")
    }),
    case("names of 255 bytes can be moved, of 256 bytes give ENAMETOOLONG", |bed| {
        let from = bed.file("from", "text")?;
        refused(rename(&from, bed.at(&long(256))), Errno::NAMETOOLONG)?;
        refused(rename(bed.at(&long(256)), &from), Errno::NAMETOOLONG)?;
        rename(&from, bed.at(&long(255)))?;
        rename(bed.at(&long(255)), &from)?;
        holds(&from, "text")
    }),
    case("a path of more than 4095 bytes gives ENAMETOOLONG", |bed| {
        let from = bed.file("from", "text")?;
        refused(rename(&from, bed.endless()), Errno::NAMETOOLONG)?;
        refused(rename(bed.endless(), &from), Errno::NAMETOOLONG)
    }),
    case("from a directory without write permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        let from = bed.file("folder/file", "text")?;
        give(&from, Person::STRANGER, 0o644)?;
        give(&folder, Person::OWNER, 0o755)?;
        Person::STRANGER.does(|| refused(rename(&from, bed.at("to")), Errno::ACCESS))
    }),
    case("to a directory without write permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        let from = bed.file("from", "text")?;
        give(&from, Person::STRANGER, 0o644)?;
        give(&folder, Person::OWNER, 0o755)?;
        Person::STRANGER.does(|| refused(rename(&from, folder.join("to")), Errno::ACCESS))
    }),
    case("in a directory without search permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        let from = bed.file("folder/file", "text")?;
        give(&folder, Person::OWNER, 0o666)?;
        Person::OWNER.does(|| refused(rename(&from, bed.at("to")), Errno::ACCESS))
    }),
    case("from a sticky directory is for the owner of the file", |bed| {
        let folder = bed.folder("folder")?;
        let from = bed.file("folder/file", "text")?;
        give(&from, Person::OWNER, 0o666)?;
        give(&folder, Person::ROOT, 0o1777)?;
        let wanted = [Errno::PERM, Errno::ACCESS];
        Person::STRANGER.does(|| refused_as(rename(&from, bed.at("to")), &wanted))?;
        Person::OWNER.does(|| allowed(rename(&from, bed.at("to"))))
    }),
    case("with RENAME_NOREPLACE moves to a free name", |bed| {
        let (from, to) = (bed.file("from", "text")?, bed.at("to"));
        renameat_with(CWD, &from, CWD, &to, RenameFlags::NOREPLACE)?;
        gone(&from)?;
        holds(&to, "text")
    }),
    case("refused leaves the times of a file alone that was only made", |bed| {
        let path = bed.at("file");
        let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
        drop(super::bed::open(&path, flags, 0o644)?);
        rustix::fs::chmod(bed.root(), super::bed::mode(0o755))?;
        let to = bed.at("to");
        let refuse = || Person::STRANGER.does(|| refused(rename(&path, &to), Errno::ACCESS));
        spares(&path, refuse)
    }),
];
