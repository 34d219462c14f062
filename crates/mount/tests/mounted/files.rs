//! Reading and writing: one close, one version.

use crate::begun::{Begun, PATIENCE, within};
use rustix::fs::{FallocateFlags, fallocate};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(3);

#[test]
fn a_close_after_writing_is_one_version() {
    let begun = Begun::new();
    let path = begun.at("a/b/one.md");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = File::create(&path).unwrap();
    for _ in 0..10 {
        file.write_all(b"line\n").unwrap();
    }
    drop(file);
    assert_eq!(begun.port.text_at(0, "/a/b/one.md").unwrap(), "line\n".repeat(10));
    assert_eq!(begun.port.history(0, "/a/b/one.md"), "created");
    assert_eq!(fs::read_to_string(&path).unwrap(), "line\n".repeat(10));

    fs::write(&path, "other").unwrap();
    assert_eq!(begun.port.history(0, "/a/b/one.md"), "created modified");
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b" more").unwrap();
    assert_eq!(begun.port.text_at(0, "/a/b/one.md").unwrap(), "other more");
    assert_eq!(begun.port.history(0, "/a/b/one.md"), "created modified modified");
    assert_eq!(begun.port.paths(0), ["/a/b/one.md"]);
}

#[test]
fn what_changes_nothing_is_no_version() {
    let begun = Begun::new();
    fs::write(begun.at("same"), "text").unwrap();
    fs::write(begun.at("same"), "text").unwrap();
    drop(OpenOptions::new().write(true).open(begun.at("same")).unwrap());
    fs::read(begun.at("same")).unwrap();
    assert_eq!(begun.port.versions_written(0), 1);
}

#[test]
fn a_new_file_that_nobody_wrote_is_an_empty_memory() {
    let begun = Begun::new();
    drop(File::create(begun.at("empty")).unwrap());
    within(SOON, "the empty memory", || begun.port.text_at(0, "/empty").is_some());
    assert_eq!(begun.port.history(0, "/empty"), "created");
    fs::write(begun.at("full"), "x").unwrap();
    drop(File::create(begun.at("full")).unwrap());
    within(SOON, "the emptied memory", || begun.port.text_at(0, "/full").unwrap().is_empty());
}

#[test]
fn copies_of_a_descriptor_make_no_versions_of_their_own() {
    let begun = Begun::new();
    let mut file = File::create(begun.at("f")).unwrap();
    drop(file.try_clone().unwrap());
    file.write_all(b"x").unwrap();
    drop(file.try_clone().unwrap());
    drop(file.try_clone().unwrap());
    drop(file);
    assert_eq!(begun.port.history(0, "/f"), "created");
}

#[test]
fn a_program_that_is_started_meanwhile_makes_no_version() {
    let begun = Begun::new();
    let mut file = File::create(begun.at("f")).unwrap();
    file.write_all(b"half").unwrap();
    // It closes what it inherits.
    assert!(Command::new("true").status().unwrap().success());
    assert!(begun.port.paths(0).is_empty());
    file.write_all(b" and half").unwrap();
    drop(file);
    assert_eq!(begun.port.history(0, "/f"), "created");
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "half and half");
}

#[test]
fn fsync_saves_and_so_does_truncate_without_a_handle() {
    let begun = Begun::new();
    let mut file = File::create(begun.at("f")).unwrap();
    file.write_all(b"one").unwrap();
    file.sync_all().unwrap();
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "one");
    file.write_all(b" two").unwrap();
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "one");
    drop(file);
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "one two");
    let cut = "import os, sys; os.truncate(sys.argv[1], 3)";
    let python = Command::new("python3").args(["-c", cut]).arg(begun.at("f")).status().unwrap();
    assert!(python.success());
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "one");
    assert_eq!(begun.port.history(0, "/f"), "created modified modified");
}

#[test]
fn handles_share_the_bytes() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "0123456789").unwrap();
    let one = OpenOptions::new().read(true).write(true).open(begun.at("f")).unwrap();
    let two = OpenOptions::new().read(true).write(true).open(begun.at("f")).unwrap();
    one.write_at(b"AB", 2).unwrap();
    let mut seen = [0; 10];
    two.read_exact_at(&mut seen, 0).unwrap();
    assert_eq!(&seen, b"01AB456789");
    two.set_len(5).unwrap();
    assert_eq!(one.metadata().unwrap().len(), 5);
    fallocate(&one, FallocateFlags::empty(), 4, 4).unwrap();
    let mut all = Vec::new();
    let mut reader = File::open(begun.at("f")).unwrap();
    reader.seek(SeekFrom::Start(0)).unwrap();
    reader.read_to_end(&mut all).unwrap();
    assert_eq!(all, b"01AB4\0\0\0");
}

#[test]
fn a_removed_file_lives_on_while_it_is_open() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "text").unwrap();
    let mut file = OpenOptions::new().read(true).write(true).open(begun.at("f")).unwrap();
    fs::remove_file(begun.at("f")).unwrap();
    assert!(begun.port.paths(0).is_empty());
    assert!(!begun.at("f").exists());
    file.write_all(b"T").unwrap();
    let mut all = String::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_string(&mut all).unwrap();
    assert_eq!(all, "Text");
    assert_eq!(file.metadata().unwrap().nlink(), 0);
    drop(file);
    fs::write(begun.at("f"), "new").unwrap();
    assert_eq!(begun.port.paths(0), ["/f"]);
    assert_eq!(begun.port.history(0, "/f"), "created");
}

#[test]
fn who_closes_a_removed_file_late_saves_nothing_of_the_next_one() {
    let begun = Begun::new();
    for round in 0..100 {
        fs::write(begun.at("f"), "text").unwrap();
        let mut file = OpenOptions::new().read(true).write(true).open(begun.at("f")).unwrap();
        fs::remove_file(begun.at("f")).unwrap();
        file.write_all(b"T").unwrap();
        // The kernel ends the handle when it likes, and the next file has the number of this one.
        drop(file);
        fs::write(begun.at("f"), "new").unwrap();
        assert_eq!(begun.port.history(0, "/f"), "created", "round {round}");
        fs::remove_file(begun.at("f")).unwrap();
    }
}

#[test]
fn two_hundred_writers_make_two_hundred_versions() {
    let begun = Begun::new();
    begun.port.hold();
    let written = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for n in 0..200 {
            let (path, written) = (begun.at(&format!("w{n}")), &written);
            scope.spawn(move || {
                let mut file = File::create(path).unwrap();
                file.write_all(format!("text {n}").as_bytes()).unwrap();
                written.fetch_add(1, Ordering::Relaxed);
            });
        }
        // Two requests are under way, and what the others save gathers behind them.
        let gathers = || begun.port.held() == 2 && written.load(Ordering::Relaxed) > 100;
        within(PATIENCE, "a crowd", gathers);
        begun.port.release();
    });
    assert_eq!(begun.port.paths(0).len(), 200);
    assert_eq!(begun.port.versions_written(0), 200);
    assert!(
        (0..200).all(|n| begun.port.text_at(0, &format!("/w{n}")).unwrap() == format!("text {n}"))
    );
}

#[test]
fn everything_is_the_same_after_mounting_again() {
    let mut begun = Begun::new();
    fs::create_dir_all(begun.at("d/e")).unwrap();
    for (path, text) in [("a", "one"), ("d/b", "two"), ("d/e/c", "three")] {
        fs::write(begun.at(path), text).unwrap();
    }
    let look = |begun: &Begun| {
        ["a", "d", "d/b", "d/e", "d/e/c", ""].map(|path| {
            let it = fs::metadata(begun.at(path)).unwrap();
            let times = if it.is_file() { (it.mtime(), it.mtime_nsec()) } else { (0, 0) };
            (it.ino(), it.len(), times, it.nlink(), it.mode())
        })
    };
    let before = look(&begun);
    assert!(begun.again().is_empty());
    assert_eq!(look(&begun), before);
    assert_eq!(fs::read_to_string(begun.at("d/e/c")).unwrap(), "three");
}
