//! truncate(2): lengths by path.

use rustix::io::Errno;

use super::bed::{
    allowed, give, holds, long, marks, open, refused, refused_as, same, spares, stat, truncate,
};
use super::{Case, case};
use crate::Person;

pub(super) const CASES: [Case; 18] = [
    case("a shorter length keeps the beginning", |bed| {
        let path = bed.file("file", "some text")?;
        truncate(&path, 4)?;
        same("the size", &stat(&path)?.st_size, &4)?;
        holds(&path, "some")
    }),
    case("a longer length adds zeros", |bed| {
        let path = bed.file("file", "ab")?;
        truncate(&path, 5)?;
        same("the size", &stat(&path)?.st_size, &5)?;
        holds(&path, "ab\0\0\0")
    }),
    case("a length of zero empties the file", |bed| {
        let path = bed.file("file", "text")?;
        truncate(&path, 0)?;
        holds(&path, "")
    }),
    case("the length it has keeps the content", |bed| {
        let path = bed.file("file", "text")?;
        truncate(&path, 4)?;
        holds(&path, "text")
    }),
    case("what was cut off does not come back", |bed| {
        let path = bed.file("file", "some text")?;
        truncate(&path, 4)?;
        truncate(&path, 9)?;
        holds(&path, "some\0\0\0\0\0")
    }),
    case("an open descriptor sees the new length", |bed| {
        let path = bed.file("file", "some text")?;
        let file = super::bed::both(&path)?;
        truncate(&path, 4)?;
        same("the size", &rustix::fs::fstat(&file)?.st_size, &4)?;
        same("what is read", &super::bed::rest(file)?, &b"some".to_vec())
    }),
    case("marks the file as changed", |bed| {
        let path = bed.file("file", "text")?;
        marks(&path, || allowed(truncate(&path, 2)))
    }),
    case("leaves the directory alone", |bed| {
        let path = bed.file("file", "text")?;
        spares(bed.root(), || allowed(truncate(&path, 2)))
    }),
    case("what is not there gives ENOENT", |bed| {
        refused(truncate(&bed.at("missing"), 0), Errno::NOENT)
    }),
    case("through a file gives ENOTDIR", |bed| {
        bed.file("file", "text")?;
        refused(truncate(&bed.at("file/below"), 0), Errno::NOTDIR)
    }),
    case("a directory gives EISDIR", |bed| {
        refused(truncate(&bed.folder("folder")?, 0), Errno::ISDIR)
    }),
    case("a negative length gives EINVAL", |bed| {
        let path = bed.file("file", "text")?;
        spares(&path, || refused(truncate(&path, -1), Errno::INVAL))?;
        holds(&path, "text")
    }),
    case("a length beyond every limit gives EFBIG or EINVAL", |bed| {
        let path = bed.file("file", "text")?;
        refused_as(truncate(&path, i64::MAX), &[Errno::FBIG, Errno::INVAL])?;
        holds(&path, "text")
    }),
    case("without write permission gives EACCES and changes nothing", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o644)?;
        let refuse = || Person::STRANGER.does(|| refused(truncate(&path, 0), Errno::ACCESS));
        spares(&path, refuse)?;
        holds(&path, "text")
    }),
    case("refused leaves the times of a file alone that was only made", |bed| {
        let path = bed.at("file");
        let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
        drop(open(&path, flags, 0o644)?);
        let refuse = || Person::STRANGER.does(|| refused(truncate(&path, 0), Errno::ACCESS));
        spares(&path, refuse)
    }),
    case("in a directory without search permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        let path = bed.file("folder/file", "text")?;
        give(&folder, Person::OWNER, 0o666)?;
        Person::OWNER.does(|| refused(truncate(&path, 0), Errno::ACCESS))
    }),
    case("names of 255 bytes are taken, of 256 bytes give ENAMETOOLONG", |bed| {
        let path = bed.file(&long(255), "text")?;
        truncate(&path, 2)?;
        holds(&path, "te")?;
        refused(truncate(&bed.at(&long(256)), 0), Errno::NAMETOOLONG)?;
        refused(truncate(&bed.endless(), 0), Errno::NAMETOOLONG)
    }),
    case("a file that is open for reading can be cut", |bed| {
        let path = bed.file("file", "text")?;
        let reader = open(&path, rustix::fs::OFlags::RDONLY, 0)?;
        truncate(&path, 1)?;
        same("what is read", &super::bed::rest(reader)?, &b"t".to_vec())
    }),
];
