//! `rename`: identity and history stay with the right memory.

use crate::begun::{Begun, code, within};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

const EXIST: i32 = 17;
const XDEV: i32 = 18;
const NOTDIR: i32 = 20;
const ISDIR: i32 = 21;
const INVAL: i32 = 22;
const NOTEMPTY: i32 = 39;
const SOON: Duration = Duration::from_secs(5);

#[test]
fn a_renamed_file_is_the_same_memory() {
    let begun = Begun::new();
    fs::write(begun.at("a"), "text").unwrap();
    let before = begun.port.entry_at(0, "/a").unwrap();
    let ino = fs::metadata(begun.at("a")).unwrap().ino();
    fs::create_dir(begun.at("d")).unwrap();
    fs::rename(begun.at("a"), begun.at("d/b")).unwrap();
    let after = begun.port.entry_at(0, "/d/b").unwrap();
    assert_eq!(after.memory, before.memory);
    assert_eq!(begun.port.history(0, "/d/b"), "created modified");
    assert_eq!(begun.port.paths(0), ["/d/b"]);
    assert_eq!(fs::metadata(begun.at("d/b")).unwrap().ino(), ino);
    assert_eq!(fs::read_to_string(begun.at("d/b")).unwrap(), "text");
    assert!(!begun.at("a").exists());
}

#[test]
fn a_file_renamed_over_another_is_its_next_version() {
    let begun = Begun::new();
    fs::write(begun.at("a"), "new").unwrap();
    fs::write(begun.at("b"), "old").unwrap();
    let target = begun.port.entry_at(0, "/b").unwrap().memory;
    fs::rename(begun.at("a"), begun.at("b")).unwrap();
    assert_eq!(begun.port.entry_at(0, "/b").unwrap().memory, target);
    assert_eq!(begun.port.text_at(0, "/b").unwrap(), "new");
    assert_eq!(begun.port.history(0, "/b"), "created modified");
    assert_eq!(begun.port.paths(0), ["/b"]);
    assert_eq!(fs::read_to_string(begun.at("b")).unwrap(), "new");
    fs::write(begun.at("b"), "newer").unwrap();
    assert_eq!(begun.port.history(0, "/b"), "created modified modified");
}

#[test]
fn a_temporary_file_renamed_over_a_memory_is_exactly_one_version() {
    let begun = Begun::new();
    fs::write(begun.at("notes.md"), "old").unwrap();
    let memory = begun.port.entry_at(0, "/notes.md").unwrap().memory;
    for (n, name) in
        ["sedAb12Cd", ".notes.md.Xy12Zz", "notes.md.tmp", "tmpabcd1234"].into_iter().enumerate()
    {
        fs::write(begun.at(name), format!("new {n}")).unwrap();
        fs::rename(begun.at(name), begun.at("notes.md")).unwrap();
        assert_eq!(begun.port.text_at(0, "/notes.md").unwrap(), format!("new {n}"));
        assert_eq!(begun.port.versions_written(0), n + 2, "{name}");
    }
    assert_eq!(begun.port.entry_at(0, "/notes.md").unwrap().memory, memory);
    // The same while it is still open: saved when it is closed.
    let mut file = File::create(begun.at("x.tmp")).unwrap();
    file.write_all(b"still").unwrap();
    fs::rename(begun.at("x.tmp"), begun.at("notes.md")).unwrap();
    file.write_all(b" open").unwrap();
    drop(file);
    assert_eq!(begun.port.text_at(0, "/notes.md").unwrap(), "still open");
    assert_eq!(begun.port.versions_written(0), 6);
    assert_eq!(begun.port.paths(0), ["/notes.md"]);
    // And to a name that is new.
    fs::write(begun.at("y.tmp"), "fresh").unwrap();
    fs::rename(begun.at("y.tmp"), begun.at("fresh.md")).unwrap();
    assert_eq!(begun.port.history(0, "/fresh.md"), "created");
}

#[test]
fn a_backup_made_by_renaming_leaves_one_version_of_the_original() {
    let begun = Begun::new();
    fs::write(begun.at("notes.md"), "old").unwrap();
    let memory = begun.port.entry_at(0, "/notes.md").unwrap().memory;
    fs::rename(begun.at("notes.md"), begun.at("notes.md~")).unwrap();
    assert_eq!(fs::read_to_string(begun.at("notes.md~")).unwrap(), "old");
    assert!(!begun.at("notes.md").exists());
    fs::write(begun.at("notes.md"), "new").unwrap();
    assert_eq!(fs::read_to_string(begun.at("notes.md~")).unwrap(), "old");
    fs::remove_file(begun.at("notes.md~")).unwrap();
    assert_eq!(begun.port.entry_at(0, "/notes.md").unwrap().memory, memory);
    assert_eq!(begun.port.history(0, "/notes.md"), "created modified");
    assert_eq!(begun.port.text_at(0, "/notes.md").unwrap(), "new");
    assert_eq!(begun.port.paths(0), ["/notes.md"]);

    // Put back, nothing has happened.
    fs::rename(begun.at("notes.md"), begun.at("notes.md~")).unwrap();
    fs::rename(begun.at("notes.md~"), begun.at("notes.md")).unwrap();
    assert_eq!(begun.port.versions_written(0), 2);
    // Removed instead, the memory is.
    fs::rename(begun.at("notes.md"), begun.at("notes.md~")).unwrap();
    fs::remove_file(begun.at("notes.md~")).unwrap();
    assert!(begun.port.paths(0).is_empty());
}

#[test]
fn a_memory_left_under_a_scratch_name_moves_there() {
    let mut begun = Begun::new();
    fs::write(begun.at("a"), "text").unwrap();
    let memory = begun.port.entry_at(0, "/a").unwrap().memory;
    fs::rename(begun.at("a"), begun.at("a~")).unwrap();
    assert_eq!(begun.port.paths(0), ["/a"]);
    within(SOON, "the move", || begun.port.paths(0) == ["/a~"]);
    assert_eq!(begun.port.entry_at(0, "/a~").unwrap().memory, memory);
    assert_eq!(fs::read_to_string(begun.at("a~")).unwrap(), "text");
    // At the end of a mount nothing waits.
    fs::rename(begun.at("a~"), begun.at("b")).unwrap();
    fs::rename(begun.at("b"), begun.at("b~")).unwrap();
    assert!(begun.again().is_empty());
    assert_eq!(begun.port.paths(0), ["/b~"]);
}

#[test]
fn scratch_files_are_never_stored_and_passing_ones_after_a_while() {
    let mut begun = Begun::new();
    for name in [".notes.swp", "#notes#", "4913", "x~"] {
        fs::write(begun.at(name), "scratch").unwrap();
        assert_eq!(fs::read_to_string(begun.at(name)).unwrap(), "scratch");
    }
    fs::write(begun.at("left.tmp"), "here").unwrap();
    fs::write(begun.at("gone.tmp"), "not").unwrap();
    fs::remove_file(begun.at("gone.tmp")).unwrap();
    assert_eq!(begun.port.versions_written(0), 0);
    within(SOON, "storing what is left", || begun.port.paths(0) == ["/left.tmp"]);
    // Asking for it makes no difference: its rename will be durable.
    let mut file = File::create(begun.at("asked.tmp")).unwrap();
    file.write_all(b"asked").unwrap();
    file.sync_all().unwrap();
    drop(file);
    assert_eq!(begun.port.paths(0), ["/left.tmp"]);
    fs::write(begun.at("last.tmp"), "end").unwrap();
    assert!(begun.again().is_empty());
    assert_eq!(begun.port.paths(0), ["/asked.tmp", "/last.tmp", "/left.tmp"]);
    assert!(!begun.at("x~").exists());
}

#[test]
fn a_directory_moves_in_one_batch() {
    let begun = Begun::new();
    fs::create_dir_all(begun.at("d/e/empty")).unwrap();
    for path in ["d/1", "d/2", "d/e/3"] {
        fs::write(begun.at(path), path).unwrap();
    }
    let memory = begun.port.entry_at(0, "/d/e/3").unwrap().memory;
    fs::create_dir(begun.at("to")).unwrap();
    fs::rename(begun.at("d"), begun.at("to")).unwrap();
    assert_eq!(begun.port.paths(0), ["/to/1", "/to/2", "/to/e/3"]);
    assert_eq!(begun.port.entry_at(0, "/to/e/3").unwrap().memory, memory);
    assert_eq!(begun.port.versions_written(0), 6);
    assert_eq!(fs::read_to_string(begun.at("to/e/3")).unwrap(), "d/e/3");
    assert!(begun.at("to/e/empty").is_dir() && !begun.at("d").exists());
    fs::write(begun.at("to/e/3"), "next").unwrap();
    assert_eq!(begun.port.text_at(0, "/to/e/3").unwrap(), "next");
}

#[test]
fn what_rename_refuses() {
    let begun = Begun::new();
    fs::create_dir_all(begun.at("d/in")).unwrap();
    fs::create_dir(begun.at("empty")).unwrap();
    fs::write(begun.at("f"), "f").unwrap();
    fs::write(begun.at("g"), "g").unwrap();
    let at = |path: &str| begun.at(path);
    assert_eq!(code(fs::rename(at("f"), at("d"))), ISDIR);
    assert_eq!(code(fs::rename(at("d"), at("f"))), NOTDIR);
    assert_eq!(code(fs::rename(at("empty"), at("d"))), NOTEMPTY);
    assert_eq!(code(fs::rename(at("d"), at("d/in/x"))), INVAL);
    assert_eq!(code(fs::rename(at("f"), begun.root().join("fixed/f"))), 30);
    let flagged = |from, to, flags| renameat_with(CWD, at(from), CWD, at(to), flags);
    let kept = flagged("f", "g", RenameFlags::NOREPLACE).unwrap_err();
    assert_eq!(kept.raw_os_error(), EXIST);
    let swapped = flagged("f", "g", RenameFlags::EXCHANGE).unwrap_err();
    assert_eq!(swapped.raw_os_error(), INVAL);
    fs::rename(at("f"), at("f")).unwrap();
    flagged("f", "h", RenameFlags::NOREPLACE).unwrap();
    assert_eq!(begun.port.paths(0), ["/g", "/h"]);
    let two = Begun::with(
        &[("notes", loci_model::Access::ReadWrite), ("more", loci_model::Access::ReadWrite)],
        |_| (),
    );
    fs::write(two.at("f"), "f").unwrap();
    assert_eq!(code(fs::rename(two.at("f"), two.root().join("more/f"))), XDEV);
}

#[test]
fn a_file_replaced_while_open_keeps_what_it_was() {
    let begun = Begun::new();
    fs::write(begun.at("a"), "old").unwrap();
    fs::write(begun.at("b"), "new").unwrap();
    let open = OpenOptions::new().read(true).open(begun.at("a")).unwrap();
    fs::rename(begun.at("b"), begun.at("a")).unwrap();
    assert_eq!(std::io::read_to_string(open).unwrap(), "old");
    assert_eq!(fs::read_to_string(begun.at("a")).unwrap(), "new");
}
