//! fallocate(2) without flags: room that reads as zeros.

use rustix::fs::{FallocateFlags, OFlags, fallocate, fstat, unlink};
use rustix::io::Errno;

use super::bed::{allowed, both, holds, marks, open, refused, refused_as, same, stat};
use super::{Case, case};

const PLAIN: FallocateFlags = FallocateFlags::empty();

pub(super) const CASES: [Case; 12] = [
    case("beyond the end makes the file longer, with zeros", |bed| {
        let path = bed.file("file", "ab")?;
        fallocate(both(&path)?, PLAIN, 0, 5)?;
        same("the size", &stat(&path)?.st_size, &5)?;
        holds(&path, "ab\0\0\0")
    }),
    case("with a gap makes the gap zeros too", |bed| {
        let path = bed.file("file", "ab")?;
        fallocate(both(&path)?, PLAIN, 4, 2)?;
        holds(&path, "ab\0\0\0\0")
    }),
    case("across the end keeps what is there", |bed| {
        let path = bed.file("file", "text")?;
        fallocate(both(&path)?, PLAIN, 2, 4)?;
        holds(&path, "text\0\0")
    }),
    case("inside the file changes nothing of it", |bed| {
        let path = bed.file("file", "text")?;
        fallocate(both(&path)?, PLAIN, 1, 2)?;
        same("the size", &stat(&path)?.st_size, &4)?;
        holds(&path, "text")
    }),
    case("of an empty file makes zeros", |bed| {
        let path = bed.file("file", "")?;
        fallocate(both(&path)?, PLAIN, 0, 3)?;
        holds(&path, "\0\0\0")
    }),
    case("the room can be written", |bed| {
        let path = bed.file("file", "")?;
        let file = both(&path)?;
        fallocate(&file, PLAIN, 0, 6)?;
        rustix::io::pwrite(&file, b"text", 1)?;
        drop(file);
        holds(&path, "\0text\0")
    }),
    case("marks a file that grows as changed", |bed| {
        let path = bed.file("file", "text")?;
        let file = both(&path)?;
        marks(&path, || allowed(fallocate(&file, PLAIN, 0, 10)))
    }),
    case("a descriptor for reading gives EBADF", |bed| {
        let file = open(&bed.file("file", "text")?, OFlags::RDONLY, 0)?;
        refused(fallocate(&file, PLAIN, 0, 10), Errno::BADF)
    }),
    case("a directory gives EBADF", |bed| {
        let file = open(&bed.folder("folder")?, OFlags::RDONLY, 0)?;
        refused_as(fallocate(&file, PLAIN, 0, 10), &[Errno::BADF, Errno::ISDIR])
    }),
    case("no length gives EINVAL", |bed| {
        let path = bed.file("file", "text")?;
        refused(fallocate(both(&path)?, PLAIN, 0, 0), Errno::INVAL)?;
        holds(&path, "text")
    }),
    case("beyond every limit gives EFBIG", |bed| {
        let path = bed.file("file", "text")?;
        let most = u64::try_from(i64::MAX)?;
        refused_as(fallocate(both(&path)?, PLAIN, most - 1, 10), &[Errno::FBIG, Errno::INVAL])?;
        holds(&path, "text")
    }),
    case("of a file without a name makes it longer as any other", |bed| {
        let path = bed.file("file", "text")?;
        let file = both(&path)?;
        unlink(&path)?;
        fallocate(&file, PLAIN, 0, 8)?;
        same("the size", &fstat(&file)?.st_size, &8)
    }),
];
