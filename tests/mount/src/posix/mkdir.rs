//! mkdir(2).

use std::fs;

use rustix::fs::mkdir;
use rustix::io::Errno;

use super::bed::{allowed, bits, give, holds, long, marks, mode, refused, same, spares, stat};
use super::{Case, case};
use crate::Person;

pub(super) const CASES: [Case; 17] = [
    case("makes an empty directory with two links", |bed| {
        let path = bed.at("new");
        mkdir(&path, mode(0o755))?;
        let found = stat(&path)?;
        same("the type", &(found.st_mode & 0o170_000), &0o040_000)?;
        same("the links", &found.st_nlink, &2)?;
        same("the entries", &fs::read_dir(&path)?.count(), &0)
    }),
    case("adds a link to the directory above", |bed| {
        let before = stat(bed.root())?.st_nlink;
        mkdir(bed.at("new"), mode(0o755))?;
        same("the links", &stat(bed.root())?.st_nlink, &(before + 1))
    }),
    case("marks the directory above as changed", |bed| {
        marks(bed.root(), || allowed(mkdir(bed.at("new"), mode(0o755))))
    }),
    case("the mode is what was asked without the umask", |bed| {
        Person::ROOT.with_umask(0o077).does(|| {
            mkdir(bed.at("new"), mode(0o777))?;
            same("the mode", &bits(&bed.at("new"))?, &0o700)
        })
    }),
    case("a new directory belongs to whoever made it", |bed| {
        Person::OWNER.does(|| allowed(mkdir(bed.at("new"), mode(0o755))))?;
        let found = stat(&bed.at("new"))?;
        same("the owner", &(found.st_uid, found.st_gid), &(Person::OWNER.uid, Person::OWNER.gid))
    }),
    case("a slash behind the name is allowed", |bed| {
        mkdir(bed.at("new/"), mode(0o755))?;
        stat(&bed.at("new")).map(drop)
    }),
    case("the dots lead to the directory itself and above", |bed| {
        let path = bed.folder("new")?;
        same("the dot", &stat(&path.join("."))?.st_ino, &stat(&path)?.st_ino)?;
        same("the dots", &stat(&path.join(".."))?.st_ino, &stat(bed.root())?.st_ino)
    }),
    case("files can be made in it", |bed| {
        bed.folder("new")?;
        bed.folder("new/below")?;
        holds(&bed.file("new/below/file", "text")?, "text")
    }),
    case("a directory that is there gives EEXIST and leaves the one above alone", |bed| {
        let path = bed.folder("folder")?;
        spares(bed.root(), || refused(mkdir(&path, mode(0o755)), Errno::EXIST))
    }),
    case("a file that is there gives EEXIST", |bed| {
        let path = bed.file("file", "text")?;
        refused(mkdir(&path, mode(0o755)), Errno::EXIST)?;
        holds(&path, "text")
    }),
    case("in a directory that is not there gives ENOENT", |bed| {
        refused(mkdir(bed.at("missing/new"), mode(0o755)), Errno::NOENT)
    }),
    case("through a file gives ENOTDIR", |bed| {
        bed.file("file", "text")?;
        refused(mkdir(bed.at("file/new"), mode(0o755)), Errno::NOTDIR)
    }),
    case("a name of 255 bytes can be made", |bed| stat(&bed.folder(&long(255))?).map(drop)),
    case("a name of 256 bytes gives ENAMETOOLONG", |bed| {
        refused(mkdir(bed.at(&long(256)), mode(0o755)), Errno::NAMETOOLONG)
    }),
    case("a path of more than 4095 bytes gives ENAMETOOLONG", |bed| {
        refused(mkdir(bed.endless(), mode(0o755)), Errno::NAMETOOLONG)
    }),
    case("in a directory without write permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        give(&folder, Person::OWNER, 0o755)?;
        Person::STRANGER.does(|| refused(mkdir(folder.join("new"), mode(0o755)), Errno::ACCESS))
    }),
    case("in a directory without search permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        give(&folder, Person::OWNER, 0o666)?;
        Person::OWNER.does(|| refused(mkdir(folder.join("new"), mode(0o755)), Errno::ACCESS))
    }),
];
