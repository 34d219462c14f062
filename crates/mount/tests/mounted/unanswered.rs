//! Saves whose answer is lost: the server has them or not, and the next attempt finds out without
//! writing anything twice.

use crate::begun::{Begun, PATIENCE, code, within};
use loci_model::{Expect, MemoryPath};
use loci_mount::port::{Act, At, Edit, Refusal};
use std::fs::{self, File, OpenOptions};
use std::io::Write;

const IO: i32 = 5;
const EXIST: i32 = 17;

fn append_by_api(begun: &Begun, path: &str, line: &str) {
    let at = At::Path(MemoryPath::parse(path).unwrap());
    let act = Act::Append { text: line.to_owned(), is_own_line: true };
    let edit = Edit { at, expect: Expect::Present, act };
    begun.port.apply(begun.port.store(0), &[edit]).unwrap();
}

fn appending(begun: &Begun, name: &str) -> File {
    OpenOptions::new().append(true).create(true).open(begun.at(name)).unwrap()
}

/// Saves what the server carries out and does not answer.
fn save_in_vain(begun: &Begun, file: &File) {
    begun.port.lose_answers(true);
    assert_eq!(code(file.sync_all()), IO);
    begun.port.lose_answers(false);
}

fn check(begun: &Begun, name: &str, all: &str) {
    assert_eq!(begun.port.text_at(0, &format!("/{name}")).unwrap(), all);
    begun.hear();
    within(PATIENCE, all, || fs::read_to_string(begun.at(name)).is_ok_and(|it| it == all));
    assert_eq!(begun.port.paths(0), [format!("/{name}")], "nothing is beside");
}

#[test]
fn a_line_whose_answer_was_lost_is_there_once() {
    for is_new in [true, false] {
        let begun = Begun::new();
        if !is_new {
            fs::write(begun.at("log"), "start\n").unwrap();
        }
        let mut log = appending(&begun, "log");
        log.write_all(b"mine\n").unwrap();
        save_in_vain(&begun, &log);
        append_by_api(&begun, "/log", "theirs\n");
        log.sync_all().unwrap();
        let start = if is_new { "" } else { "start\n" };
        check(&begun, "log", &format!("{start}mine\ntheirs\n"));
        log.write_all(b"more\n").unwrap();
        drop(log);
        check(&begun, "log", &format!("{start}mine\ntheirs\nmore\n"));
    }
}

#[test]
fn lines_that_come_after_one_whose_answer_was_lost_are_there_once() {
    for is_heard in [true, false] {
        let begun = Begun::new();
        fs::write(begun.at("log"), "start\n").unwrap();
        let mut log = appending(&begun, "log");
        log.write_all(b"one\n").unwrap();
        save_in_vain(&begun, &log);
        append_by_api(&begun, "/log", "theirs\n");
        if is_heard {
            begun.hear();
        }
        log.write_all(b"two\n").unwrap();
        log.sync_all().unwrap();
        check(&begun, "log", "start\none\ntheirs\ntwo\n");
    }
}

#[test]
fn a_line_that_was_merged_without_an_answer_is_there_once() {
    let begun = Begun::new();
    fs::write(begun.at("log"), "start\n").unwrap();
    let mut log = appending(&begun, "log");
    log.write_all(b"mine\n").unwrap();
    append_by_api(&begun, "/log", "theirs\n");
    save_in_vain(&begun, &log);
    append_by_api(&begun, "/log", "theirs too\n");
    log.sync_all().unwrap();
    check(&begun, "log", "start\ntheirs\nmine\ntheirs too\n");
}

#[test]
fn a_line_that_was_never_carried_out_is_there_once() {
    let begun = Begun::new();
    fs::write(begun.at("log"), "start\n").unwrap();
    let mut log = appending(&begun, "log");
    log.write_all(b"mine\n").unwrap();
    begun.port.fail(Some(Refusal::Unreachable("away".into())));
    assert_eq!(code(log.sync_all()), IO);
    assert_eq!(code(log.sync_all()), IO);
    begun.port.fail(None);
    append_by_api(&begun, "/log", "theirs\n");
    log.sync_all().unwrap();
    check(&begun, "log", "start\ntheirs\nmine\n");
}

#[test]
fn a_log_that_was_renamed_before_the_answer_is_one_log() {
    let begun = Begun::new();
    fs::write(begun.at("log"), "start\n").unwrap();
    let mut log = appending(&begun, "log");
    log.write_all(b"mine\n").unwrap();
    save_in_vain(&begun, &log);
    fs::rename(begun.at("log"), begun.at("kept")).unwrap();
    append_by_api(&begun, "/kept", "theirs\n");
    log.sync_all().unwrap();
    check(&begun, "kept", "start\nmine\ntheirs\n");
}

#[test]
fn a_new_file_that_was_renamed_before_the_answer_is_one_file() {
    for is_log in [true, false] {
        let begun = Begun::new();
        let mut file = match is_log {
            true => appending(&begun, "first"),
            false => File::create(begun.at("first")).unwrap(),
        };
        file.write_all(b"mine\n").unwrap();
        save_in_vain(&begun, &file);
        drop(file);
        fs::rename(begun.at("first"), begun.at("second")).unwrap();
        check(&begun, "second", "mine\n");
        assert_eq!(begun.port.history(0, "/second"), "created modified");
    }
}

#[test]
fn a_whole_text_whose_answer_was_lost_is_there_once() {
    for more in ["", "more\n"] {
        let begun = Begun::new();
        fs::write(begun.at("f"), "base\n").unwrap();
        let mut file = File::create(begun.at("f")).unwrap();
        file.write_all(b"base\nmine\n").unwrap();
        save_in_vain(&begun, &file);
        append_by_api(&begun, "/f", "theirs\n");
        file.write_all(more.as_bytes()).unwrap();
        file.sync_all().unwrap();
        check(&begun, "f", &format!("base\nmine\ntheirs\n{more}"));
    }
}

#[test]
fn who_made_a_lock_without_hearing_it_has_made_it() {
    for text in ["", "pid 7"] {
        let begun = Begun::new();
        let mut lock = File::create_new(begun.at("lock")).unwrap();
        lock.write_all(text.as_bytes()).unwrap();
        save_in_vain(&begun, &lock);
        lock.sync_all().unwrap();
        check(&begun, "lock", text);
        assert_eq!(begun.port.history(0, "/lock"), "created");
    }
}

#[test]
fn who_could_not_make_a_lock_hears_who_did() {
    for (text, theirs) in [("", ""), ("pid 7", "pid 7"), ("pid 7", "pid 8")] {
        let begun = Begun::new();
        let mut lock = File::create_new(begun.at("lock")).unwrap();
        lock.write_all(text.as_bytes()).unwrap();
        begun.port.fail(Some(Refusal::Unreachable("away".into())));
        assert_eq!(code(lock.sync_all()), IO);
        begun.port.fail(None);
        begun.port.write(0, "/lock", theirs).unwrap();
        assert_eq!(code(lock.sync_all()), EXIST, "{text:?} {theirs:?}");
        check(&begun, "lock", theirs);
    }
}
