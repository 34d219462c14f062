//! open(2): modes, owners, and who is kept out.

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::bed::{allowed, bits, give, holds, open, refused, same, stat};
use super::{Case, case};
use crate::Person;

const NEW: OFlags = OFlags::CREATE.union(OFlags::RDWR);

pub(super) const CASES: [Case; 17] = [
    case("the mode of a new file is what was asked without the umask", |bed| {
        Person::ROOT.with_umask(0o027).does(|| {
            drop(open(&bed.at("new"), NEW, 0o777)?);
            same("the mode", &bits(&bed.at("new"))?, &0o750)
        })
    }),
    case("a umask of zero leaves the mode as asked", |bed| {
        Person::ROOT.with_umask(0).does(|| {
            drop(open(&bed.at("new"), NEW, 0o666)?);
            same("the mode", &bits(&bed.at("new"))?, &0o666)
        })
    }),
    case("a new file belongs to whoever made it", |bed| {
        Person::OWNER.does(|| allowed(open(&bed.at("new"), NEW, 0o644)))?;
        let found = stat(&bed.at("new"))?;
        same("the owner", &(found.st_uid, found.st_gid), &(Person::OWNER.uid, Person::OWNER.gid))
    }),
    case("a file made with a mode that forbids writing can be written by its maker", |bed| {
        Person::OWNER.does(|| {
            let file = open(&bed.at("new"), NEW, 0o444)?;
            rustix::io::write(&file, b"text")?;
            Ok(())
        })?;
        holds(&bed.at("new"), "text")
    }),
    case("reading without permission gives EACCES", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o600)?;
        Person::STRANGER.does(|| refused(open(&path, OFlags::RDONLY, 0), Errno::ACCESS))
    }),
    case("writing without permission gives EACCES", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o644)?;
        Person::STRANGER.does(|| {
            refused(open(&path, OFlags::WRONLY, 0), Errno::ACCESS)?;
            refused(open(&path, OFlags::RDWR, 0), Errno::ACCESS)
        })
    }),
    case("O_TRUNC without permission gives EACCES and takes nothing", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o644)?;
        Person::STRANGER
            .does(|| refused(open(&path, OFlags::WRONLY | OFlags::TRUNC, 0), Errno::ACCESS))?;
        holds(&path, "text")
    }),
    case("the owner's bits count for the owner, even when others may", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o077)?;
        Person::OWNER.does(|| refused(open(&path, OFlags::RDONLY, 0), Errno::ACCESS))
    }),
    case("the group's bits count for the group, even when others may", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o707)?;
        Person::MEMBER.does(|| refused(open(&path, OFlags::RDONLY, 0), Errno::ACCESS))
    }),
    case("the group may what its bits say", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o060)?;
        Person::MEMBER.does(|| allowed(open(&path, OFlags::RDWR, 0)))
    }),
    case("others may what their bits say", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o006)?;
        Person::STRANGER.does(|| allowed(open(&path, OFlags::RDWR, 0)))
    }),
    case("root may read and write whatever the mode", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0)?;
        drop(open(&path, OFlags::RDWR, 0)?);
        Ok(())
    }),
    case("a directory without search permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        let path = bed.file("folder/file", "text")?;
        give(&folder, Person::OWNER, 0o666)?;
        Person::STRANGER.does(|| refused(open(&path, OFlags::RDONLY, 0), Errno::ACCESS))?;
        Person::OWNER.does(|| refused(open(&path, OFlags::RDONLY, 0), Errno::ACCESS))
    }),
    case("O_CREAT in a directory without write permission gives EACCES", |bed| {
        let folder = bed.folder("folder")?;
        give(&folder, Person::OWNER, 0o755)?;
        Person::STRANGER.does(|| refused(open(&folder.join("new"), NEW, 0o644), Errno::ACCESS))
    }),
    case("O_CREAT of what is there needs no permission to write the directory", |bed| {
        bed.folder("folder")?;
        let path = bed.file("folder/file", "text")?;
        give(&path, Person::STRANGER, 0o644)?;
        Person::STRANGER.does(|| allowed(open(&path, NEW, 0o644)))
    }),
    case("a directory that may not be read cannot be opened", |bed| {
        let folder = bed.folder("folder")?;
        give(&folder, Person::OWNER, 0o333)?;
        Person::STRANGER.does(|| refused(open(&folder, OFlags::RDONLY, 0), Errno::ACCESS))
    }),
    case("a descriptor keeps its rights when the mode changes", |bed| {
        let path = bed.file("file", "text")?;
        give(&path, Person::OWNER, 0o644)?;
        Person::OWNER.does(|| {
            let file = open(&path, OFlags::RDWR, 0)?;
            rustix::fs::chmod(&path, super::bed::mode(0))?;
            rustix::io::pwrite(&file, b"next", 0)?;
            Ok(())
        })?;
        holds(&path, "next")
    }),
];
