//! Names and kinds: what can be called how, and what cannot be made here.

use crate::begun::{Begun, code};
use loci_model::Access;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

const PERM: i32 = 1;
const EXIST: i32 = 17;
const INVAL: i32 = 22;
const NAMETOOLONG: i32 = 36;
const NOTEMPTY: i32 = 39;
const ILSEQ: i32 = 84;

#[test]
fn names_that_no_memory_can_have() {
    let begun = Begun::new();
    let at = |name: &[u8]| begun.at("").join(OsStr::from_bytes(name));
    assert_eq!(code(File::create(at(b"a\xff"))), ILSEQ);
    assert_eq!(code(File::create(at(b"a\nb"))), INVAL);
    assert_eq!(code(fs::create_dir(at("e\u{301}".as_bytes()))), INVAL);
    assert_eq!(code(File::create(at(&[b'x'; 256]))), NAMETOOLONG);
    fs::write(at(&[b'x'; 255]), "long").unwrap();
    fs::write(begun.at("日本語 und Leerzeichen.md"), "x").unwrap();
    assert!(begun.port.text_at(0, "/日本語 und Leerzeichen.md").is_some());
}

#[test]
fn a_segment_too_long_for_a_file_name_is_shown_short() {
    let begun = Begun::new();
    let (directory, file) = ("d".repeat(300), "f".repeat(400));
    begun.port.write(0, &format!("/{directory}/{file}"), "one").unwrap();
    crate::begun::within(std::time::Duration::from_secs(1), "it", || {
        fs::read_dir(begun.at("")).unwrap().count() == 1
    });
    let directory_shown = fs::read_dir(begun.at("")).unwrap().next().unwrap().unwrap().path();
    let shown = fs::read_dir(directory_shown).unwrap().next().unwrap().unwrap();
    assert!(shown.file_name().len() <= 255);
    assert_eq!(fs::read_to_string(shown.path()).unwrap(), "one");
    fs::write(shown.path(), "two").unwrap();
    assert_eq!(begun.port.text_at(0, &format!("/{directory}/{file}")).unwrap(), "two");
    fs::rename(shown.path(), begun.at("short")).unwrap();
    assert_eq!(begun.port.paths(0), ["/short"]);
}

#[test]
fn directories_live_with_the_mount() {
    let mut begun = Begun::new();
    fs::create_dir(begun.at("d")).unwrap();
    assert_eq!(code(fs::create_dir(begun.at("d"))), EXIST);
    fs::write(begun.at("d/f"), "x").unwrap();
    fs::create_dir(begun.at("d/e")).unwrap();
    assert_eq!(fs::metadata(begun.at("d")).unwrap().nlink(), 3);
    assert_eq!(code(fs::remove_dir(begun.at("d"))), NOTEMPTY);
    fs::remove_file(begun.at("d/f")).unwrap();
    fs::remove_dir(begun.at("d/e")).unwrap();
    assert!(begun.at("d").is_dir());
    fs::create_dir(begun.at("kept")).unwrap();
    fs::write(begun.at("kept/f"), "x").unwrap();
    begun.again();
    assert!(!begun.at("d").exists() && begun.at("kept").is_dir());
    fs::remove_dir_all(begun.at("kept")).unwrap();
    assert!(begun.port.paths(0).is_empty());
}

#[test]
fn links_and_special_files_cannot_be_made() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "x").unwrap();
    assert_eq!(code(std::os::unix::fs::symlink("f", begun.at("l"))), PERM);
    assert_eq!(code(fs::hard_link(begun.at("f"), begun.at("l"))), PERM);
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    let fifo = rustix::fs::mknodat(rustix::fs::CWD, begun.at("p"), kind, mode, 0);
    assert_eq!(fifo.unwrap_err().raw_os_error(), PERM);
}

#[test]
fn modes_owners_and_times_are_kept_by_the_mount() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "x").unwrap();
    fs::set_permissions(begun.at("f"), PermissionsExt::from_mode(0o640)).unwrap();
    std::os::unix::fs::chown(begun.at("f"), Some(1000), Some(1001)).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    let file = File::options().write(true).open(begun.at("f")).unwrap();
    file.set_modified(long_ago).unwrap();
    drop(file);
    let look = || fs::metadata(begun.at("f")).unwrap();
    assert_eq!((look().mode() & 0o7777, look().uid(), look().gid()), (0o640, 1000, 1001));
    assert_eq!(look().mtime(), 1_000_000);
    fs::write(begun.at("f"), "yy").unwrap();
    assert!(look().mtime() > 1_000_000);
    assert_eq!(look().mode() & 0o7777, 0o640);
    // Set before the file is closed, a time outlives the save.
    let file = File::create(begun.at("g")).unwrap();
    std::os::unix::fs::FileExt::write_at(&file, b"x", 0).unwrap();
    file.set_modified(long_ago).unwrap();
    drop(file);
    assert_eq!(fs::metadata(begun.at("g")).unwrap().mtime(), 1_000_000);
}

#[test]
fn a_single_store_can_be_the_mount_point() {
    let begun = Begun::with(&[("notes", Access::ReadWrite)], |options| options.is_flat = true);
    fs::write(begun.root().join("f"), "x").unwrap();
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "x");
}
