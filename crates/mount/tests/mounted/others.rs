//! Others write too: what they write is seen soon, and who loses a race loses nothing.

use crate::begun::{Begun, Now, PATIENCE, code, within};
use loci_model::{Access, AttributesPatch, Expect, MemoryPath, Patch, Timestamp};
use loci_mount::port::{Act, At, Edit, Refusal};
use loci_mount_memory::MemoryPort;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::time::Duration;

const BUSY: i32 = 16;
const STALE: i32 = 116;
const MOMENT: Duration = Duration::from_millis(200);
const SOON: Duration = Duration::from_secs(3);

fn edit(begun: &Begun, path: &str, act: Act) {
    let at = At::Path(MemoryPath::parse(path).unwrap());
    let edit = Edit { at, expect: Expect::Present, act };
    begun.port.apply(begun.port.store(0), &[edit]).unwrap();
}

fn appending(text: &str) -> Act {
    Act::Append { text: text.into(), is_own_line: false }
}

fn described(attributes: AttributesPatch) -> Act {
    Act::Put { text: None, to: None, attributes: Box::new(attributes) }
}

#[test]
fn what_others_write_is_seen_within_a_moment() {
    let begun = Begun::new();
    begun.port.write(0, "/d/new", "one").unwrap();
    within(MOMENT, "a new memory", || fs::read(begun.at("d/new")).is_ok_and(|it| it == b"one"));
    let mut open = File::open(begun.at("d/new")).unwrap();
    for text in ["second", "3", "the fourth one is long"] {
        begun.port.write(0, "/d/new", text).unwrap();
        within(MOMENT, text, || fs::read_to_string(begun.at("d/new")).unwrap() == text);
        let mut seen = String::new();
        open.seek(SeekFrom::Start(0)).unwrap();
        open.read_to_string(&mut seen).unwrap();
        assert_eq!(seen, text, "through a handle that was open");
        assert_eq!(fs::metadata(begun.at("d/new")).unwrap().len(), text.len() as u64);
    }
    let to = Some(MemoryPath::parse("/e/moved").unwrap());
    edit(&begun, "/d/new", Act::Put { text: None, to, attributes: Box::default() });
    within(MOMENT, "a move", || begun.at("e/moved").exists() && !begun.at("d").exists());
    edit(&begun, "/e/moved", Act::Remove);
    within(MOMENT, "a removal", || fs::read_dir(begun.at("")).unwrap().count() == 0);
}

#[test]
fn a_thousand_new_memories_are_seen_soon() {
    let begun = Begun::new();
    for n in 0..1000 {
        begun.port.write(0, &format!("/many/{n}"), "x").unwrap();
    }
    within(SOON, "a thousand", || {
        fs::read_dir(begun.at("many")).map_or(0, Iterator::count) == 1000
    });
}

#[test]
fn the_feed_may_be_faster_than_the_answer() {
    let begun = Begun::new();
    begun.port.tell_feed_first();
    std::thread::scope(|scope| {
        for n in 0..20 {
            let at = begun.at(&format!("mine-{n}"));
            scope.spawn(move || fs::write(at, "x").unwrap());
        }
    });
    begun.port.write(0, "/theirs", "y").unwrap();
    within(SOON, "theirs", || begun.at("theirs").exists());
    assert_eq!(begun.port.entries_asked_for(), 1, "only theirs was news");
    assert_eq!(begun.port.versions_written(0), 21);
    assert_eq!(fs::read_dir(begun.at("")).unwrap().count(), 21);
}

#[test]
fn who_is_late_with_a_new_name_hears_it_and_keeps_both() {
    let begun = Begun::new();
    begun.port.hold();
    let at = begun.at("note");
    let mine = std::thread::spawn(move || {
        let mut file = File::create(at).unwrap();
        file.write_all(b"mine").unwrap();
        code(rustix::fs::fsync(&file).map_err(Into::into))
    });
    within(PATIENCE, "the save", || begun.port.held() == 1);
    begun.port.write(0, "/note", "theirs").unwrap();
    begun.hear();
    begun.port.release();
    assert_eq!(mine.join().unwrap(), STALE);
    let read = |name: &str| fs::read_to_string(begun.at(name)).unwrap_or_default();
    within(SOON, "both", || read("note") == "theirs" && read("note.conflict") == "mine");
}

#[test]
fn what_could_not_be_asked_for_is_asked_for_again() {
    let begun = Begun::new();
    begun.port.hold();
    let at = begun.at("note");
    let mine = std::thread::spawn(move || {
        let mut file = File::create(at).unwrap();
        file.write_all(b"mine").unwrap();
        rustix::fs::fsync(&file).is_err()
    });
    within(PATIENCE, "the save", || begun.port.held() == 1);
    // Heard of while the file is being saved; then nobody answers, neither that nor whose it is.
    begun.port.write(0, "/note", "theirs").unwrap();
    begun.hear();
    begun.port.fail(Some(Refusal::Unreachable("gone".into())));
    begun.port.release();
    assert!(mine.join().unwrap(), "the save fails");
    within(PATIENCE, "the save and the feed ask", || begun.port.entries_refused() >= 2);
    assert_eq!(begun.port.entries_asked_for(), 0);
    begun.port.fail(None);
    within(SOON, "asked again", || begun.port.entries_asked_for() > 0);
}

#[test]
fn what_expires_goes_on_time() {
    let begun = Begun::new();
    begun.port.write(0, "/brief", "x").unwrap();
    begun.port.write(0, "/kept", "x").unwrap();
    within(SOON, "both", || begun.at("brief").exists());
    let now = loci_model::time::Clock::now(&Now);
    let at = Timestamp::from_micros(now.as_micros() + 400_000);
    let expires_at = Patch::Set(Some(at));
    edit(&begun, "/brief", described(AttributesPatch { expires_at, ..AttributesPatch::default() }));
    within(SOON, "the end", || !begun.at("brief").exists());
    assert!(begun.at("kept").exists());
}

#[test]
fn what_is_appended_by_several_is_all_kept() {
    let begun = Begun::new();
    fs::write(begun.at("log"), "start\n").unwrap();
    let mut file = OpenOptions::new().append(true).open(begun.at("log")).unwrap();
    file.write_all(b"mine\n").unwrap();
    edit(&begun, "/log", appending("theirs\n"));
    drop(file);
    assert_eq!(begun.port.text_at(0, "/log").unwrap(), "start\ntheirs\nmine\n");
    within(MOMENT, "all of it", || {
        fs::read_to_string(begun.at("log")).unwrap() == "start\ntheirs\nmine\n"
    });
    // Somebody else's line is there before ours is begun.
    edit(&begun, "/log", appending("more\n"));
    let mut file = OpenOptions::new().append(true).open(begun.at("log")).unwrap();
    file.write_all(b"end\n").unwrap();
    drop(file);
    let all = "start\ntheirs\nmine\nmore\nend\n";
    assert_eq!(begun.port.text_at(0, "/log").unwrap(), all);
    within(MOMENT, "the end", || fs::read_to_string(begun.at("log")).unwrap() == all);
}

#[test]
fn who_loses_a_race_finds_the_work_beside() {
    let begun = Begun::new();
    for n in 1..=2 {
        fs::write(begun.at("f"), format!("base {n}")).unwrap();
        let mut file = OpenOptions::new().write(true).truncate(true).open(begun.at("f")).unwrap();
        file.write_all(format!("mine {n}").as_bytes()).unwrap();
        begun.port.write(0, "/f", &format!("theirs {n}")).unwrap();
        begun.hear();
        assert_eq!(fs::read_to_string(begun.at("f")).unwrap(), format!("mine {n}"));
        assert_eq!(code(rustix::fs::fsync(&file).map_err(Into::into)), STALE);
        drop(file);
        assert_eq!(begun.port.text_at(0, "/f").unwrap(), format!("theirs {n}"));
        within(MOMENT, "theirs", || {
            fs::read_to_string(begun.at("f")).unwrap() == format!("theirs {n}")
        });
    }
    assert_eq!(fs::read_to_string(begun.at("f.conflict")).unwrap(), "mine 1");
    assert_eq!(fs::read_to_string(begun.at("f.conflict-2")).unwrap(), "mine 2");
    assert_eq!(begun.port.text_at(0, "/f.conflict-2").unwrap(), "mine 2");
}

#[test]
fn two_who_make_the_same_file_both_keep_it() {
    let begun = Begun::new();
    let mut file = File::create(begun.at("f")).unwrap();
    file.write_all(b"mine").unwrap();
    begun.port.write(0, "/f", "theirs").unwrap();
    assert_eq!(code(rustix::fs::fsync(&file).map_err(Into::into)), STALE);
    drop(file);
    within(MOMENT, "theirs", || fs::read_to_string(begun.at("f")).unwrap() == "theirs");
    assert_eq!(begun.port.text_at(0, "/f.conflict").unwrap(), "mine");
    let mut same = File::create(begun.at("g")).unwrap();
    same.write_all(b"alike").unwrap();
    begun.port.write(0, "/g", "alike").unwrap();
    rustix::fs::fsync(&same).unwrap();
    drop(same);
    assert_eq!(begun.port.history(0, "/g"), "created");
    fs::write(begun.at("g"), "next").unwrap();
    assert_eq!(begun.port.history(0, "/g"), "created modified");
}

#[test]
fn what_was_removed_meanwhile_is_made_anew() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "base").unwrap();
    let mut file = OpenOptions::new().write(true).open(begun.at("f")).unwrap();
    file.write_all(b"mine").unwrap();
    edit(&begun, "/f", Act::Remove);
    drop(file);
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "mine");
    assert_eq!(begun.port.history(0, "/f"), "created");
}

#[test]
fn a_race_lost_by_renaming_is_found_beside_too() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "base").unwrap();
    fs::write(begun.at("f.tmp"), "mine").unwrap();
    // Written so shortly before that the mount cannot have heard of it.
    begun.port.write(0, "/f", "theirs").unwrap();
    match fs::rename(begun.at("f.tmp"), begun.at("f")) {
        Err(error) => {
            assert_eq!(error.raw_os_error(), Some(BUSY));
            assert_eq!(begun.port.text_at(0, "/f").unwrap(), "theirs");
            assert_eq!(begun.port.text_at(0, "/f.conflict").unwrap(), "mine");
        }
        // It had heard of it: then it replaced what it knew.
        Ok(()) => assert_eq!(begun.port.text_at(0, "/f").unwrap(), "mine"),
    }
}

#[test]
fn contents_are_read_ahead_whoever_walks() {
    for is_listed in [true, false] {
        let port = Arc::new(MemoryPort::new(Arc::new(Now), &[("notes", Access::ReadWrite)]));
        for n in 0..200 {
            port.write(0, &format!("/d/{n:03}"), &format!("text {n}")).unwrap();
        }
        let begun = Begun::over(port, |_| ());
        if is_listed {
            assert_eq!(fs::read_dir(begun.at("d")).unwrap().count(), 200);
        }
        for n in 0..200 {
            let text = fs::read_to_string(begun.at(&format!("d/{n:03}"))).unwrap();
            assert_eq!(text, format!("text {n}"));
        }
        let asked = begun.port.texts_asked_for();
        assert!(asked < 20, "{asked} one by one, listed: {is_listed}");
    }
}
