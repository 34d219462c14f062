//! Lines that several writers append to one file: none is lost, torn, refused or put aside, wherever
//! the others write, and each begins where a line begins.

use crate::begun::{Begun, PATIENCE, within};
use loci_model::{Expect, MemoryPath};
use loci_mount::port::{Act, At, Edit};
use loci_test_kit::count;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

fn opened(path: &Path) -> File {
    OpenOptions::new().append(true).create(true).open(path).unwrap()
}

/// Opens, writes and saves as a shell's `>>` does; what went wrong is an error.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

fn append_by_api(begun: &Begun, path: &str, line: &str) {
    let at = At::Path(MemoryPath::parse(path).unwrap());
    let act = Act::Append { text: line.to_owned(), is_own_line: true };
    let edit = Edit { at, expect: Expect::Present, act };
    begun.port.apply(begun.port.store(0), &[edit]).unwrap();
}

#[test]
fn where_an_append_goes_is_decided_when_its_bytes_have_come() {
    let begun = Begun::new();
    begun.port.write(0, "/log", "one\n").unwrap();
    begun.hear();
    begun.port.hold_texts();
    let at = begun.at("log");
    let mine = std::thread::spawn(move || append(&at, "mine\n"));
    within(PATIENCE, "the bytes to be asked for", || begun.port.texts_held() == 1);
    append_by_api(&begun, "/log", "theirs\n");
    begun.hear();
    begun.port.release();
    mine.join().unwrap().unwrap();
    assert_eq!(begun.port.text_at(0, "/log").unwrap(), "one\ntheirs\nmine\n");
    assert_eq!(begun.port.paths(0), ["/log"]);
}

#[test]
fn bytes_that_others_have_replaced_are_not_saved_as_theirs() {
    let begun = Begun::new();
    begun.port.write(0, "/f", "abc").unwrap();
    begun.hear();
    begun.port.hold_texts();
    let at = begun.at("f");
    let mine = std::thread::spawn(move || {
        let mut file = OpenOptions::new().write(true).open(at)?;
        file.write_all(b"X")?;
        file.sync_all()
    });
    within(PATIENCE, "the bytes to be asked for", || begun.port.texts_held() == 1);
    // Of the same size, so that only the version tells them apart.
    begun.port.write(0, "/f", "def").unwrap();
    begun.hear();
    begun.port.release();
    mine.join().unwrap().unwrap();
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "Xef");
}

#[test]
fn a_line_that_is_merged_starts_a_line() {
    let begun = Begun::new();
    for (theirs, all) in
        [(" theirs", "no end theirs\nmine\n"), (" theirs\n", "no end theirs\nmine\n")]
    {
        fs::write(begun.at("f"), "no end").unwrap();
        let mut file = opened(&begun.at("f"));
        file.write_all(b"mine\n").unwrap();
        begun.port.write(0, "/f", &format!("no end{theirs}")).unwrap();
        drop(file);
        assert_eq!(begun.port.text_at(0, "/f").unwrap(), all);
    }
    // Where nothing has happened, an append is an append.
    fs::write(begun.at("g"), "no end").unwrap();
    append(&begun.at("g"), " at all").unwrap();
    assert_eq!(begun.port.text_at(0, "/g").unwrap(), "no end at all");
}

#[test]
fn the_same_line_of_two_writers_is_there_twice() {
    let one = Begun::new();
    let two = Begun::over(one.port.clone(), |_| ());
    fs::write(one.at("log"), "start\n").unwrap();
    within(PATIENCE, "both to see it", || fs::read(two.at("log")).is_ok());
    let mut files = [opened(&one.at("log")), opened(&two.at("log"))];
    for file in &mut files {
        file.write_all(b"alike\n").unwrap();
    }
    for file in &files {
        file.sync_all().unwrap();
    }
    assert_eq!(one.port.text_at(0, "/log").unwrap(), "start\nalike\nalike\n");
}

#[test]
fn a_log_that_two_begin_is_one_log() {
    let one = Begun::new();
    let two = Begun::over(one.port.clone(), |_| ());
    let mut files = [opened(&one.at("log")), opened(&two.at("log"))];
    for (file, line) in files.iter_mut().zip(["one\n", "two\n"]) {
        file.write_all(line.as_bytes()).unwrap();
    }
    for file in &files {
        file.sync_all().unwrap();
    }
    assert_eq!(one.port.text_at(0, "/log").unwrap(), "one\ntwo\n");
    assert_eq!(one.port.paths(0), ["/log"]);
}

#[test]
fn two_mounts_and_the_api_lose_and_tear_no_line() {
    let one = Begun::new();
    let two = Begun::over(one.port.clone(), |_| ());
    let files = ["a.md", "d/b.md"];
    fs::create_dir(one.at("d")).unwrap();
    for file in files {
        one.port.write(0, &format!("/{file}"), "").unwrap();
        within(PATIENCE, "the files", || one.at(file).exists() && two.at(file).exists());
    }
    let lines = count("append_lines") / 16;
    std::thread::scope(|scope| {
        for (name, begun) in [("one", &one), ("two", &two)] {
            scope.spawn(move || {
                for n in 0..lines {
                    append(&begun.at(files[n % 2]), &format!("{name} {n}\n")).unwrap();
                }
            });
        }
        scope.spawn(|| {
            for n in 0..lines {
                append_by_api(&one, &format!("/{}", files[n % 2]), &format!("api {n}\n"));
            }
        });
    });
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let text = one.port.text_at(0, &format!("/{file}")).unwrap();
        assert!(text.ends_with('\n'));
        for line in text.lines() {
            *found.entry(line.to_owned()).or_default() += 1;
        }
    }
    for name in ["one", "two", "api"] {
        for n in 0..lines {
            assert_eq!(found.remove(&format!("{name} {n}")), Some(1), "{name} {n}");
        }
    }
    assert!(found.is_empty(), "torn: {found:?}");
    assert_eq!(one.port.paths(0).len(), 2);
}
