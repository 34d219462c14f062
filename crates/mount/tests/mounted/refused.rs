//! What the server does not take: the error number, the bytes that stay, and a server that is gone.

use crate::begun::{Begun, Now, PATIENCE, attribute, code, within};
use loci_model::time::Clock;
use loci_model::{Access, AttributesPatch, Expect, MemoryPath, Patch, Timestamp};
use loci_mount::port::{Act, At, Edit, Refusal};
use loci_mount_memory::MemoryPort;
use loci_test_kit::budget;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const IO: i32 = 5;
const ACCES: i32 = 13;
const INVAL: i32 = 22;
const FBIG: i32 = 27;
const NOSPC: i32 = 28;
const ROFS: i32 = 30;
const ILSEQ: i32 = 84;

fn synced(path: &Path, bytes: &[u8]) -> i32 {
    let mut file = File::create(path).unwrap();
    file.write_all(bytes).unwrap();
    code(file.sync_all())
}

#[test]
fn what_cannot_be_saved_stays_and_says_why() {
    let mut begun = Begun::new();
    let large = vec![b'x'; 200_000];
    assert_eq!(synced(&begun.at("large"), &large), FBIG);
    assert_eq!(synced(&begun.at("bytes"), b"\xff\xfe"), ILSEQ);
    assert_eq!(fs::read(begun.at("large")).unwrap(), large);
    assert_eq!(fs::read(begun.at("bytes")).unwrap(), b"\xff\xfe");
    assert!(attribute(&begun.at("bytes"), "user.loci.unsaved").unwrap().contains("UTF-8"));
    assert!(attribute(&begun.at("large"), "user.loci.unsaved").unwrap().contains("200000"));
    assert!(begun.port.paths(0).is_empty());

    fs::write(begun.at("bytes"), "text").unwrap();
    assert_eq!(attribute(&begun.at("bytes"), "user.loci.unsaved"), None);
    assert_eq!(begun.port.text_at(0, "/bytes").unwrap(), "text");
    // A good version stays while a bad one is here.
    assert_eq!(synced(&begun.at("bytes"), b"\xff"), ILSEQ);
    assert_eq!(begun.port.text_at(0, "/bytes").unwrap(), "text");
    assert_eq!(fs::read(begun.at("bytes")).unwrap(), b"\xff");
    let unsaved = begun.again();
    let paths: Vec<&str> = unsaved.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["notes/bytes", "notes/large"]);
    assert_eq!(fs::read_to_string(begun.at("bytes")).unwrap(), "text");
    assert!(!begun.at("large").exists());
}

#[test]
fn each_refusal_has_its_number() {
    let begun = Begun::new();
    for (refusal, number) in [
        (Refusal::ReadOnly, ROFS),
        (Refusal::Denied, ACCES),
        (Refusal::Full, NOSPC),
        (Refusal::TooLarge, FBIG),
        (Refusal::Invalid("no".into()), INVAL),
        (Refusal::Unreachable("away".into()), IO),
    ] {
        begun.port.fail(Some(refusal.clone()));
        let path = begun.at(&format!("f{number}"));
        assert_eq!(synced(&path, b"text"), number, "{refusal:?}");
        begun.port.fail(None);
        // The same bytes are taken later.
        OpenOptions::new().write(true).open(&path).unwrap().sync_all().unwrap();
        assert_eq!(begun.port.text_at(0, &format!("/f{number}")).unwrap(), "text");
    }
}

#[test]
fn a_file_grows_to_a_bound() {
    let begun = Begun::new();
    let file = File::create(begun.at("f")).unwrap();
    assert_eq!(code(file.set_len(17 * 1024 * 1024)), FBIG);
    file.set_len(16 * 1024 * 1024).unwrap();
    file.set_len(3).unwrap();
    drop(file);
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "\0\0\0");
}

#[test]
fn nothing_is_written_to_a_read_only_store() {
    let stores = [("notes", Access::ReadWrite), ("fixed", Access::ReadOnly)];
    let port = Arc::new(MemoryPort::new(Arc::new(Now), &stores));
    port.write(1, "/d/f", "text").unwrap();
    let begun = Begun::over(port, |_| ());
    let at = |path: &str| begun.root().join("fixed").join(path);
    assert_eq!(fs::read_to_string(at("d/f")).unwrap(), "text");
    assert_eq!(code(File::create(at("new"))), ROFS);
    assert_eq!(code(File::create(at("d/f"))), ROFS);
    assert_eq!(code(OpenOptions::new().append(true).open(at("d/f"))), ROFS);
    assert_eq!(code(fs::remove_file(at("d/f"))), ROFS);
    assert_eq!(code(fs::rename(at("d/f"), at("d/g"))), ROFS);
    assert_eq!(code(fs::rename(at("d"), at("e"))), ROFS);
    assert_eq!(code(fs::create_dir(at("new"))), ROFS);
    assert_eq!(code(fs::remove_dir(at("d"))), ROFS);
    assert_eq!(code(std::os::unix::fs::symlink("x", at("link"))), ROFS);
    assert_eq!(code(fs::hard_link(at("d/f"), at("link"))), ROFS);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    assert_eq!(code(fs::set_permissions(at("d/f"), mode)), ROFS);
    let kind =
        rustix::fs::setxattr(at("d/f"), "user.loci.kind", b"fact", rustix::fs::XattrFlags::empty());
    assert_eq!(kind.unwrap_err().raw_os_error(), ROFS);
    assert_eq!(code(File::create(begun.root().join("stray"))), ROFS);
    assert_eq!(code(fs::create_dir(begun.root().join("stray"))), ROFS);
    assert_eq!(code(fs::rename(begun.root().join("notes"), begun.root().join("other"))), ROFS);
    assert_eq!(begun.port.versions_written(1), 1);
}

#[test]
fn what_may_pass_is_tried_again_until_it_has() {
    for (refusal, number) in [
        (Refusal::Unreachable("away".into()), IO),
        (Refusal::Full, NOSPC),
        (Refusal::Denied, ACCES),
        (Refusal::ReadOnly, ROFS),
    ] {
        let begun = Begun::new();
        begun.port.fail(Some(refusal.clone()));
        assert_eq!(synced(&begun.at("f"), b"text"), number, "{refusal:?}");
        assert!(attribute(&begun.at("f"), "user.loci.unsaved").is_some());
        begun.port.fail(None);
        let is_saved = || begun.port.text_at(0, "/f").as_deref() == Some("text");
        within(PATIENCE, "what was refused", is_saved);
        within(PATIENCE, "the mark to go", || begun.unsaved().is_empty());
        assert_eq!(begun.port.history(0, "/f"), "created");
    }
}

#[test]
fn what_cannot_pass_is_not_tried_again() {
    let begun = Begun::new();
    begun.port.fail(Some(Refusal::TooLarge));
    assert_eq!(synced(&begun.at("large"), b"text"), FBIG);
    begun.port.fail(Some(Refusal::Unreachable("away".into())));
    assert_eq!(synced(&begun.at("later"), b"text"), IO);
    begun.port.fail(None);
    within(PATIENCE, "the other", || begun.port.text_at(0, "/later").is_some());
    assert_eq!(begun.port.paths(0), ["/later"]);
}

#[test]
fn what_is_being_written_is_not_tried_again_before_it_is_closed() {
    let begun = Begun::new();
    let mut half = File::create(begun.at("half")).unwrap();
    half.write_all(b"half").unwrap();
    begun.port.fail(Some(Refusal::Unreachable("away".into())));
    assert_eq!(code(half.sync_all()), IO);
    half.write_all(b" and").unwrap();
    assert_eq!(synced(&begun.at("whole"), b"text"), IO);
    begun.port.fail(None);
    // Refused later, so tried again later.
    within(PATIENCE, "the other", || begun.port.text_at(0, "/whole").is_some());
    assert_eq!(begun.port.text_at(0, "/half"), None);
    half.write_all(b" half").unwrap();
    drop(half);
    assert_eq!(begun.port.text_at(0, "/half").unwrap(), "half and half");
    assert_eq!(begun.port.history(0, "/half"), "created");
}

#[test]
fn what_expires_goes_on_time_while_nobody_answers() {
    let begun = Begun::new();
    begun.port.write(0, "/brief", "x").unwrap();
    within(PATIENCE, "the memory", || begun.at("brief").exists());
    let now = Clock::now(&Now);
    // The first refusal comes after four seconds; a second later the save waits once more.
    let at = Timestamp::from_micros(now.as_micros() + 6_000_000);
    let attributes = AttributesPatch { expires_at: Patch::Set(Some(at)), ..Default::default() };
    let act = Act::Put { text: None, to: None, attributes: Box::new(attributes) };
    let at = At::Path(MemoryPath::parse("/brief").unwrap());
    let edit = Edit { at, expect: Expect::Present, act };
    begun.port.apply(begun.port.store(0), &[edit]).unwrap();
    begun.hear();
    begun.port.hold();
    assert_eq!(synced(&begun.at("f"), b"text"), IO);
    within(PATIENCE, "another try", || begun.port.held() > 0);
    within(PATIENCE, "the end", || !begun.at("brief").exists());
    assert!(begun.port.held() > 0, "the try waited for no answer, and the end not for the try");
    begun.port.release();
    within(PATIENCE, "the save", || begun.port.text_at(0, "/f").is_some());
}

#[test]
fn what_is_open_at_the_end_is_saved_and_takes_no_more() {
    let mut begun = Begun::new();
    let mut open = File::create(begun.at("open")).unwrap();
    open.write_all(b"not closed").unwrap();
    let mut bytes = File::create(begun.at("bytes")).unwrap();
    bytes.write_all(b"\xff").unwrap();
    let unsaved = begun.end();
    assert_eq!(begun.port.text_at(0, "/open").unwrap(), "not closed");
    let unsaved: Vec<_> = unsaved.iter().map(|it| (it.path.as_str(), it.why.as_str())).collect();
    assert_eq!(unsaved, [("notes/bytes", "is not UTF-8 text")]);
    assert_eq!(code(open.write_all(b" and more")), IO);
    assert_eq!(begun.port.text_at(0, "/open").unwrap(), "not closed");
}

#[test]
fn a_dead_server_is_an_error_and_not_a_wait() {
    let mut begun = Begun::new();
    fs::write(begun.at("f"), "text").unwrap();
    begun.port.hold();
    let asked = Instant::now();
    assert_eq!(synced(&begun.at("g"), b"text"), IO);
    assert!(asked.elapsed() < budget(Duration::from_secs(5)), "{:?}", asked.elapsed());
    begun.port.fail(Some(Refusal::Unreachable("away".into())));
    begun.port.release();
    assert_eq!(code(fs::remove_file(begun.at("f"))), IO);
    assert_eq!(code(fs::rename(begun.at("f"), begun.at("h"))), IO);
    assert_eq!(fs::read_to_string(begun.at("f")).unwrap(), "text");
    let unsaved = begun.end();
    assert_eq!(unsaved.len(), 1);
    assert_eq!(unsaved[0].path, "notes/g");
}

#[test]
fn what_is_not_at_hand_cannot_be_read_from_a_dead_server() {
    let port = Arc::new(MemoryPort::new(Arc::new(Now), &[("notes", Access::ReadWrite)]));
    for n in 0..8 {
        port.write(0, &format!("/d/{n}"), "text").unwrap();
    }
    let begun = Begun::over(port, |_| ());
    begun.port.hold();
    // Listed before, so that it would be read ahead.
    assert_eq!(fs::read_dir(begun.at("d")).unwrap().count(), 8);
    let asked = Instant::now();
    assert_eq!(code(fs::read(begun.at("d/0"))), IO);
    let mut file = OpenOptions::new().write(true).open(begun.at("d/1")).unwrap();
    let read = asked.elapsed();
    assert_eq!(code(file.write_all(b"x")), IO);
    let limit = budget(Duration::from_secs(5));
    assert!(read < limit, "{read:?}");
    assert!(asked.elapsed() - read < limit, "{:?}", asked.elapsed());
}

#[test]
fn what_is_refused_can_be_kept_without_an_error() {
    let begun = Begun::with(&[("notes", Access::ReadWrite)], |options| {
        options.keeps_refused = true;
    });
    let mut file = File::create(begun.at("bytes")).unwrap();
    file.write_all(b"\xff").unwrap();
    file.sync_all().unwrap();
    drop(file);
    assert_eq!(fs::read(begun.at("bytes")).unwrap(), b"\xff");
    assert!(attribute(&begun.at("bytes"), "user.loci.unsaved").is_some());
}

#[test]
fn one_that_is_refused_does_not_refuse_the_others() {
    let begun = Begun::new();
    // While answers are held back, what is saved gathers; and what others write is not heard of.
    begun.port.hold();
    begun.port.write(0, "/taken", "theirs").unwrap();
    let written = AtomicUsize::new(0);
    let results: Vec<bool> = std::thread::scope(|scope| {
        let writers = (0..12).map(|n| if n == 6 { "taken".to_owned() } else { format!("f{n}") });
        let writers: Vec<_> = writers
            .map(|name| {
                let (path, written) = (begun.at(&name), &written);
                scope.spawn(move || {
                    let mut file = File::create(path).unwrap();
                    file.write_all(name.as_bytes()).unwrap();
                    written.fetch_add(1, Ordering::Relaxed);
                    file.sync_all().is_ok()
                })
            })
            .collect();
        // One asks for the memory that is taken, two save.
        let gathers = || begun.port.held() == 3 && written.load(Ordering::Relaxed) == 12;
        within(PATIENCE, "all to be written", gathers);
        begun.port.release();
        writers.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|is_saved| !**is_saved).count(), 1, "{results:?}");
    for n in (0..12).filter(|n| *n != 6) {
        assert_eq!(begun.port.text_at(0, &format!("/f{n}")), Some(format!("f{n}")));
    }
    assert_eq!(begun.port.text_at(0, "/taken").unwrap(), "theirs");
    assert_eq!(begun.port.text_at(0, "/taken.conflict").unwrap(), "taken");
    assert_eq!(begun.port.versions_written(0), 13);
}
