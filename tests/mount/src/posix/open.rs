//! open(2): what it makes, what it refuses whoever asks, and what its flags do.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::bed::{
    allowed, both, holds, long, marks, open, refused, refused_as, same, spares, stat,
};
use super::{Case, case};

const NEW: OFlags = OFlags::CREATE.union(OFlags::WRONLY);

pub(super) const CASES: [Case; 36] = [
    case("O_CREAT makes an empty regular file with one link", |bed| {
        let path = bed.at("new");
        drop(open(&path, NEW, 0o644)?);
        let found = stat(&path)?;
        same("the size", &found.st_size, &0)?;
        same("the links", &found.st_nlink, &1)?;
        same("the type", &(found.st_mode & 0o170_000), &0o100_000)
    }),
    case("O_CREAT marks the directory as changed", |bed| {
        marks(bed.root(), || allowed(open(&bed.at("new"), NEW, 0o644)))
    }),
    case("O_CREAT on a file that is there leaves the directory alone", |bed| {
        let path = bed.file("file", "text")?;
        spares(bed.root(), || allowed(open(&path, NEW, 0o644)))
    }),
    case("O_CREAT on a file that is there keeps content and mode", |bed| {
        let path = bed.file("file", "text")?;
        drop(open(&path, NEW, 0o600)?);
        same("the mode", &super::bed::bits(&path)?, &0o644)?;
        holds(&path, "text")
    }),
    case("O_CREAT with O_EXCL on a file that is there gives EEXIST", |bed| {
        let path = bed.file("file", "text")?;
        refused(open(&path, NEW | OFlags::EXCL, 0o644), Errno::EXIST)?;
        holds(&path, "text")
    }),
    case("O_CREAT with O_EXCL on a directory gives EEXIST", |bed| {
        let path = bed.folder("folder")?;
        refused(open(&path, NEW | OFlags::EXCL, 0o644), Errno::EXIST)
    }),
    case("O_CREAT with O_EXCL makes what is not there", |bed| {
        let path = bed.at("new");
        drop(open(&path, NEW | OFlags::EXCL, 0o644)?);
        holds(&path, "")
    }),
    case("O_CREAT on a directory gives EISDIR", |bed| {
        refused(open(&bed.folder("folder")?, NEW, 0o644), Errno::ISDIR)
    }),
    case("O_WRONLY on a directory gives EISDIR", |bed| {
        refused(open(&bed.folder("folder")?, OFlags::WRONLY, 0), Errno::ISDIR)
    }),
    case("O_RDWR on a directory gives EISDIR", |bed| {
        refused(open(&bed.folder("folder")?, OFlags::RDWR, 0), Errno::ISDIR)
    }),
    case("O_TRUNC on a directory gives EISDIR", |bed| {
        refused(open(&bed.folder("folder")?, OFlags::RDWR | OFlags::TRUNC, 0), Errno::ISDIR)
    }),
    case("O_RDONLY opens a directory", |bed| {
        drop(open(&bed.folder("folder")?, OFlags::RDONLY, 0)?);
        Ok(())
    }),
    case("O_DIRECTORY opens a directory", |bed| {
        drop(open(&bed.folder("folder")?, OFlags::RDONLY | OFlags::DIRECTORY, 0)?);
        Ok(())
    }),
    case("O_DIRECTORY on a file gives ENOTDIR", |bed| {
        let path = bed.file("file", "text")?;
        refused(open(&path, OFlags::RDONLY | OFlags::DIRECTORY, 0), Errno::NOTDIR)
    }),
    case("what is not there gives ENOENT without O_CREAT", |bed| {
        refused(open(&bed.at("missing"), OFlags::RDWR, 0), Errno::NOENT)
    }),
    case("O_CREAT in a directory that is not there gives ENOENT", |bed| {
        refused(open(&bed.at("missing/new"), NEW, 0o644), Errno::NOENT)
    }),
    case("a path through a file gives ENOTDIR", |bed| {
        bed.file("file", "text")?;
        refused(open(&bed.at("file/new"), OFlags::RDONLY, 0), Errno::NOTDIR)?;
        refused(open(&bed.at("file/new"), NEW, 0o644), Errno::NOTDIR)
    }),
    case("a file with a slash behind it gives ENOTDIR", |bed| {
        bed.file("file", "text")?;
        refused(open(&bed.at("file/"), OFlags::RDONLY, 0), Errno::NOTDIR)
    }),
    case("O_CREAT with a slash behind the name gives EISDIR", |bed| {
        refused_as(open(&bed.at("new/"), NEW, 0o644), &[Errno::ISDIR, Errno::NOENT])
    }),
    case("a name of 255 bytes can be made and opened", |bed| {
        let path = bed.file(&long(255), "text")?;
        holds(&path, "text")
    }),
    case("a name of 256 bytes gives ENAMETOOLONG", |bed| {
        refused(open(&bed.at(&long(256)), NEW, 0o644), Errno::NAMETOOLONG)?;
        refused(open(&bed.at(&long(256)), OFlags::RDONLY, 0), Errno::NAMETOOLONG)
    }),
    case("a path of more than 4095 bytes gives ENAMETOOLONG", |bed| {
        refused(open(&bed.endless(), OFlags::RDONLY, 0), Errno::NAMETOOLONG)
    }),
    case("O_TRUNC empties the file", |bed| {
        let path = bed.file("file", "text")?;
        drop(open(&path, OFlags::WRONLY | OFlags::TRUNC, 0)?);
        same("the size", &stat(&path)?.st_size, &0)?;
        holds(&path, "")
    }),
    case("O_TRUNC marks the file as changed", |bed| {
        let path = bed.file("file", "text")?;
        marks(&path, || allowed(open(&path, OFlags::WRONLY | OFlags::TRUNC, 0)))
    }),
    case("opening and reading leaves the times of a file alone", |bed| {
        let path = bed.file("file", "text")?;
        spares(&path, || holds(&path, "text"))
    }),
    case("writing marks the file as changed", |bed| {
        let path = bed.file("file", "text")?;
        marks(&path, || {
            rustix::io::write(open(&path, OFlags::WRONLY, 0)?, b"more")?;
            Ok(())
        })
    }),
    case("O_APPEND writes at the end wherever the position is", |bed| {
        let path = bed.file("file", "one ")?;
        let mut file = fs::File::from(open(&path, OFlags::RDWR | OFlags::APPEND, 0)?);
        file.seek(SeekFrom::Start(0))?;
        file.write_all(b"two")?;
        drop(file);
        holds(&path, "one two")
    }),
    case("O_APPEND of two descriptors loses nothing", |bed| {
        let path = bed.file("file", "")?;
        let flags = OFlags::WRONLY | OFlags::APPEND;
        let files = [open(&path, flags, 0)?, open(&path, flags, 0)?];
        for turn in 0..20 {
            rustix::io::write(&files[turn % 2], format!("{turn};").as_bytes())?;
        }
        drop(files);
        holds(&path, &(0..20).map(|turn| format!("{turn};")).collect::<String>())
    }),
    case("writing through O_RDONLY gives EBADF", |bed| {
        let file = open(&bed.file("file", "text")?, OFlags::RDONLY, 0)?;
        refused(rustix::io::write(&file, b"x"), Errno::BADF)
    }),
    case("reading through O_WRONLY gives EBADF", |bed| {
        let file = open(&bed.file("file", "text")?, OFlags::WRONLY, 0)?;
        refused(rustix::io::read(&file, &mut [0; 4]), Errno::BADF)
    }),
    case("two descriptors of one file see each other's writes at once", |bed| {
        let path = bed.file("file", "old")?;
        let (writer, reader) = (both(&path)?, both(&path)?);
        rustix::io::pwrite(&writer, b"new text", 0)?;
        let mut found = [0; 16];
        let count = rustix::io::pread(&reader, &mut found, 0)?;
        same("what the other reads", &found[..count].to_vec(), &b"new text".to_vec())
    }),
    case("a write past the end leaves zeros before it", |bed| {
        let path = bed.file("file", "ab")?;
        rustix::io::pwrite(both(&path)?, b"z", 5)?;
        holds(&path, "ab\0\0\0z")
    }),
    case("a read past the end gets nothing", |bed| {
        let file = both(&bed.file("file", "text")?)?;
        same("what is read", &rustix::io::pread(&file, &mut [0; 4], 4)?, &0)?;
        same("what is read", &rustix::io::pread(&file, &mut [0; 4], 1 << 30)?, &0)
    }),
    case("a file keeps its inode number however often it is opened", |bed| {
        let path = bed.file("file", "text")?;
        let of = || -> Result<u64> {
            let mut file = fs::File::open(&path).context("opening again")?;
            file.read_to_end(&mut Vec::new())?;
            Ok(rustix::fs::fstat(&file)?.st_ino)
        };
        let first = of()?;
        same("the number", &of()?, &first)?;
        same("the number by path", &stat(&path)?.st_ino, &first)
    }),
    case("O_CREAT and closing at once leaves times that stay", |bed| {
        for (name, flags) in [("plain", OFlags::empty()), ("exclusive", OFlags::EXCL)] {
            let path = bed.at(name);
            drop(open(&path, OFlags::CREATE | OFlags::WRONLY | flags, 0o644)?);
            spares(&path, || holds(&path, ""))?;
        }
        Ok(())
    }),
    case("a program that runs gives ETXTBSY for writing", |bed| {
        let path = bed.at("program");
        // By a process of its own: nothing else inherits its descriptor. What it is told when it
        // closes what is no text does not matter.
        Command::new("cp").arg("/bin/sleep").arg(&path).stderr(Stdio::null()).status()?;
        rustix::fs::chmod(&path, super::bed::mode(0o755))?;
        let mut running = Command::new(&path).arg("60").spawn()?;
        let tried = refused(open(&path, OFlags::WRONLY, 0), Errno::TXTBSY);
        running.kill()?;
        running.wait()?;
        tried?;
        allowed(open(&path, OFlags::WRONLY, 0))
    }),
];
