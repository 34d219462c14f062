//! rename(2) to a name that is taken: what is replaced, and what may not be.

use std::fs;

use rustix::fs::{CWD, RenameFlags, fstat, rename, renameat_with};
use rustix::io::Errno;

use super::bed::{
    allowed, both, give, gone, holds, marks, refused, refused_as, rest, same, spares, stat,
};
use super::{Case, case};
use crate::Person;

pub(super) const CASES: [Case; 16] = [
    case("a file replaces a file", |bed| {
        let (from, to) = (bed.file("from", "new")?, bed.file("to", "old text")?);
        rename(&from, &to)?;
        gone(&from)?;
        holds(&to, "new")?;
        same("the size", &stat(&to)?.st_size, &3)
    }),
    case("a file replaces a file of another directory", |bed| {
        bed.folder("folder")?;
        let (from, to) = (bed.file("from", "new")?, bed.file("folder/to", "old")?);
        rename(&from, &to)?;
        gone(&from)?;
        holds(&to, "new")
    }),
    case("replacing marks the directory as changed", |bed| {
        let (from, to) = (bed.file("from", "new")?, bed.file("to", "old")?);
        marks(bed.root(), || allowed(rename(&from, &to)))
    }),
    case("a replaced file that is open can still be read", |bed| {
        let (from, to) = (bed.file("from", "new")?, bed.file("to", "old")?);
        let old = both(&to)?;
        rename(&from, &to)?;
        same("the links", &fstat(&old)?.st_nlink, &0)?;
        same("what is read", &rest(old)?, &b"old".to_vec())?;
        holds(&to, "new")
    }),
    case("a replaced file that is written afterwards is not what is found", |bed| {
        let (from, to) = (bed.file("from", "new")?, bed.file("to", "old")?);
        let old = both(&to)?;
        rename(&from, &to)?;
        rustix::io::pwrite(&old, b"late", 0)?;
        drop(old);
        holds(&to, "new")
    }),
    case("one name on itself changes nothing", |bed| {
        let path = bed.file("file", "text")?;
        spares(bed.root(), || allowed(rename(&path, &path)))?;
        holds(&path, "text")
    }),
    case("a file over a directory gives EISDIR", |bed| {
        let (from, to) = (bed.file("from", "text")?, bed.folder("to")?);
        refused(rename(&from, &to), Errno::ISDIR)?;
        holds(&from, "text")
    }),
    case("a directory over a file gives ENOTDIR", |bed| {
        let (from, to) = (bed.folder("from")?, bed.file("to", "text")?);
        refused(rename(&from, &to), Errno::NOTDIR)?;
        holds(&to, "text")
    }),
    case("a directory replaces an empty directory", |bed| {
        let (from, to) = (bed.folder("from")?, bed.folder("to")?);
        bed.file("from/file", "text")?;
        let number = stat(&from)?.st_ino;
        rename(&from, &to)?;
        gone(&from)?;
        same("the number", &stat(&to)?.st_ino, &number)?;
        holds(&to.join("file"), "text")
    }),
    case("a directory over one with a file gives ENOTEMPTY and changes nothing", |bed| {
        let (from, to) = (bed.folder("from")?, bed.folder("to")?);
        let kept = bed.file("to/file", "text")?;
        let refuse = || refused_as(rename(&from, &to), &[Errno::NOTEMPTY, Errno::EXIST]);
        spares(bed.root(), refuse)?;
        holds(&kept, "text")?;
        stat(&from).map(drop)
    }),
    case("a directory over one with a directory gives ENOTEMPTY", |bed| {
        let (from, to) = (bed.folder("from")?, bed.folder("to")?);
        bed.folder("to/below")?;
        refused_as(rename(&from, &to), &[Errno::NOTEMPTY, Errno::EXIST])
    }),
    case("a file over the directory it is in gives EISDIR or ENOTEMPTY", |bed| {
        let to = bed.folder("to")?;
        let from = bed.file("to/file", "text")?;
        refused_as(rename(&from, &to), &[Errno::ISDIR, Errno::NOTEMPTY, Errno::EXIST])?;
        holds(&from, "text")
    }),
    case("in a sticky directory only the owner's file is replaced", |bed| {
        let folder = bed.folder("folder")?;
        let (from, to) = (bed.file("from", "new")?, bed.file("folder/to", "old")?);
        give(&from, Person::STRANGER, 0o644)?;
        give(&to, Person::OWNER, 0o666)?;
        give(&folder, Person::ROOT, 0o1777)?;
        let wanted = [Errno::PERM, Errno::ACCESS];
        Person::STRANGER.does(|| refused_as(rename(&from, &to), &wanted))?;
        holds(&to, "old")
    }),
    case("needs no permission on the file that is replaced", |bed| {
        let (from, to) = (bed.file("from", "new")?, bed.file("to", "old")?);
        give(&from, Person::STRANGER, 0o644)?;
        give(&to, Person::OWNER, 0)?;
        Person::STRANGER.does(|| allowed(rename(&from, &to)))?;
        holds(&to, "new")
    }),
    case("with RENAME_NOREPLACE a taken name gives EEXIST", |bed| {
        let (from, to) = (bed.file("from", "new")?, bed.file("to", "old")?);
        let flags = RenameFlags::NOREPLACE;
        refused(renameat_with(CWD, &from, CWD, &to, flags), Errno::EXIST)?;
        holds(&from, "new")?;
        holds(&to, "old")
    }),
    case("replacing over and over shows the last and nothing else", |bed| {
        let to = bed.at("to");
        for turn in 0..30 {
            let from = bed.file("from", &format!("turn {turn}"))?;
            rename(&from, &to)?;
            holds(&to, &format!("turn {turn}"))?;
        }
        same("the entries", &fs::read_dir(bed.root())?.count(), &1)
    }),
];
