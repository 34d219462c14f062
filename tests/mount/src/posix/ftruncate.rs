//! ftruncate(2): lengths by descriptor.

use rustix::fs::{OFlags, fstat, unlink};
use rustix::io::Errno;

use super::bed::{
    allowed, both, ftruncate, give, holds, marks, open, refused, refused_as, rest, same, spares,
    stat,
};
use super::{Case, case};
use crate::Person;

pub(super) const CASES: [Case; 14] = [
    case("a shorter length keeps the beginning", |bed| {
        let path = bed.file("file", "some text")?;
        ftruncate(&both(&path)?, 4)?;
        holds(&path, "some")
    }),
    case("a longer length adds zeros", |bed| {
        let path = bed.file("file", "ab")?;
        ftruncate(&both(&path)?, 5)?;
        same("the size", &stat(&path)?.st_size, &5)?;
        holds(&path, "ab\0\0\0")
    }),
    case("a length of zero empties the file", |bed| {
        let path = bed.file("file", "text")?;
        ftruncate(&both(&path)?, 0)?;
        holds(&path, "")
    }),
    case("what was cut off does not come back", |bed| {
        let path = bed.file("file", "some text")?;
        let file = both(&path)?;
        ftruncate(&file, 4)?;
        ftruncate(&file, 6)?;
        drop(file);
        holds(&path, "some\0\0")
    }),
    case("the new length is seen before the file is closed", |bed| {
        let path = bed.file("file", "some text")?;
        let file = both(&path)?;
        ftruncate(&file, 4)?;
        same("the size", &stat(&path)?.st_size, &4)?;
        holds(&path, "some")
    }),
    case("the position stays, and a write there leaves zeros before it", |bed| {
        let path = bed.file("file", "some text")?;
        let file = both(&path)?;
        rustix::io::read(&file, &mut [0; 6])?;
        ftruncate(&file, 4)?;
        rustix::io::write(&file, b"!")?;
        drop(file);
        holds(&path, "some\0\0!")
    }),
    case("O_APPEND writes at the new end", |bed| {
        let path = bed.file("file", "some text")?;
        let file = open(&path, OFlags::RDWR | OFlags::APPEND, 0)?;
        ftruncate(&file, 4)?;
        rustix::io::write(&file, b"thing")?;
        drop(file);
        holds(&path, "something")
    }),
    case("marks the file as changed", |bed| {
        let path = bed.file("file", "text")?;
        let file = both(&path)?;
        marks(&path, || allowed(ftruncate(&file, 2)))
    }),
    case("a descriptor for reading gives EINVAL or EBADF", |bed| {
        let path = bed.file("file", "text")?;
        let file = open(&path, OFlags::RDONLY, 0)?;
        spares(&path, || refused_as(ftruncate(&file, 0), &[Errno::INVAL, Errno::BADF]))?;
        holds(&path, "text")
    }),
    case("a directory gives EINVAL or EBADF", |bed| {
        let file = open(&bed.folder("folder")?, OFlags::RDONLY, 0)?;
        refused_as(ftruncate(&file, 0), &[Errno::INVAL, Errno::BADF])
    }),
    case("a negative length gives EINVAL", |bed| {
        let path = bed.file("file", "text")?;
        refused(ftruncate(&both(&path)?, -1), Errno::INVAL)?;
        holds(&path, "text")
    }),
    case("a length beyond every limit gives EFBIG or EINVAL", |bed| {
        let path = bed.file("file", "text")?;
        refused_as(ftruncate(&both(&path)?, i64::MAX), &[Errno::FBIG, Errno::INVAL])?;
        holds(&path, "text")
    }),
    case("needs the descriptor only, whatever the mode is by now", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o644)?;
        Person::OWNER.does(|| {
            let file = both(&path)?;
            rustix::fs::chmod(&path, super::bed::mode(0))?;
            allowed(ftruncate(&file, 2))
        })?;
        holds(&path, "te")
    }),
    case("a file without a name is cut and grown as any other", |bed| {
        let path = bed.file("file", "some text")?;
        let file = both(&path)?;
        unlink(&path)?;
        ftruncate(&file, 4)?;
        ftruncate(&file, 5)?;
        same("the size", &fstat(&file)?.st_size, &5)?;
        same("what is read", &rest(file)?, &b"some\0".to_vec())
    }),
];
