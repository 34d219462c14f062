//! Access that changes while the mount runs: what was taken back cannot be read any more, not from a
//! cache nor through what is open; what was lowered cannot be written; and stores come and go.

use crate::begun::{Begun, Now, PATIENCE, attribute, code, try_shell, within};
use loci_model::Access;
use loci_mount_memory::MemoryPort;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::Duration;

const ACCES: i32 = 13;
const ROFS: i32 = 30;
const SIGBUS: i32 = 7;
/// Everything here is known within moments; a closed store is asked for again every two seconds.
const SOON: Duration = Duration::from_secs(6);

fn reads(file: &mut File) -> std::io::Result<String> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

fn is_refused<T>(result: std::io::Result<T>, number: i32) -> bool {
    result.is_err_and(|error| error.raw_os_error() == Some(number))
}

#[test]
fn what_was_taken_back_cannot_be_read_and_comes_back_whole() {
    let begun = Begun::new();
    fs::create_dir(begun.at("d")).unwrap();
    for text in ["one", "two"] {
        fs::write(begun.at("d/f"), text).unwrap();
    }
    let mut open = File::open(begun.at("d/f")).unwrap();
    let past = begun.at(".history/d/f/0001.created");
    let mut open_past = File::open(&past).unwrap();
    assert_eq!(
        (reads(&mut open).unwrap(), reads(&mut open_past).unwrap()),
        ("two".into(), "one".into())
    );

    begun.port.revoke(true);
    within(SOON, "an end", || is_refused(fs::read(begun.at("d/f")), ACCES));
    within(SOON, "an end of caches", || is_refused(reads(&mut open.try_clone().unwrap()), ACCES));
    within(SOON, "an end of history", || {
        is_refused(reads(&mut open_past.try_clone().unwrap()), ACCES)
    });
    let listed = |path: &str| fs::read_dir(begun.at(path)).map(|it| it.map(Result::unwrap).count());
    assert_eq!(code(listed("")), ACCES);
    // The kernel believes in what is no content for a second.
    within(SOON, "names", || {
        is_refused(listed("d"), ACCES) && is_refused(listed(".history"), ACCES)
    });
    within(SOON, "attributes", || {
        is_refused(fs::metadata(begun.at("d/f")), ACCES) && is_refused(open.metadata(), ACCES)
    });
    assert!(is_refused(File::open(&past), ACCES));
    assert_eq!(attribute(&begun.at("d/f"), "user.loci.id"), None);
    assert!(is_refused(fs::write(begun.at("new"), "x"), ACCES));
    assert!(is_refused(fs::remove_file(begun.at("d/f")), ACCES));
    assert!(fs::metadata(begun.at("")).is_ok(), "the directory itself stays");
    assert_eq!(fs::read_dir(begun.root()).unwrap().count(), 2);

    // What happens meanwhile is not missed.
    begun.port.write(0, "/d/f", "three").unwrap();
    begun.port.write(0, "/d/g", "new").unwrap();
    begun.port.revoke(false);
    within(SOON, "a return", || fs::read_to_string(begun.at("d/f")).is_ok_and(|it| it == "three"));
    within(SOON, "news", || fs::read_to_string(begun.at("d/g")).is_ok_and(|it| it == "new"));
    assert_eq!(reads(&mut open).unwrap(), "three");
    assert_eq!(fs::read_to_string(&past).unwrap(), "one");
    fs::write(begun.at("d/f"), "four").unwrap();
    assert_eq!(begun.port.text_at(0, "/d/f").unwrap(), "four");
}

#[test]
fn mapped_pages_end_with_access() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "mapped text").unwrap();
    let script = "exec python3 -c '
import mmap, sys
file = open(\"f\")
pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
print(pages[:].decode(), flush=True)
sys.stdin.readline()
print(pages[:].decode(), flush=True)'";
    let mut child = try_shell(&begun, script);
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "mapped text\n");
    begun.port.revoke(true);
    within(SOON, "an end", || is_refused(fs::read(begun.at("f")), ACCES));
    // The kernel is told a moment after that.
    std::thread::sleep(Duration::from_millis(500));
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let ended = child.wait().unwrap();
    line.clear();
    said.read_to_string(&mut line).unwrap();
    assert_eq!((line.as_str(), ended.signal()), ("", Some(SIGBUS)));
}

#[test]
fn what_was_lowered_cannot_be_written_by_whoever_has_it_open() {
    let begun = Begun::new();
    fs::create_dir(begun.at("d")).unwrap();
    fs::write(begun.at("d/f"), "text").unwrap();
    fs::write(begun.at("cold"), "text").unwrap();
    let mut open = OpenOptions::new().read(true).write(true).open(begun.at("d/f")).unwrap();
    let mut added = OpenOptions::new().append(true).open(begun.at("cold")).unwrap();
    begun.port.set_access(0, Some(Access::ReadOnly));
    within(SOON, "an end", || is_refused(File::create(begun.at("new")), ROFS));
    assert!(is_refused(open.write_all(b"x"), ROFS) && is_refused(added.write_all(b"x"), ROFS));
    assert!(is_refused(open.set_len(0), ROFS));
    let room = rustix::fs::fallocate(&open, rustix::fs::FallocateFlags::empty(), 0, 100);
    assert_eq!(room, Err(rustix::io::Errno::ROFS));
    assert!(is_refused(OpenOptions::new().append(true).open(begun.at("d/f")), ROFS));
    assert!(is_refused(fs::remove_file(begun.at("d/f")), ROFS));
    assert!(is_refused(fs::rename(begun.at("d/f"), begun.at("g")), ROFS));
    assert!(is_refused(fs::rename(begun.at("d"), begun.at("e")), ROFS));
    assert!(is_refused(fs::create_dir(begun.at("e")), ROFS));
    assert!(is_refused(open.set_modified(std::time::SystemTime::UNIX_EPOCH), ROFS));
    assert_eq!(reads(&mut open).unwrap(), "text");
    assert_eq!(begun.port.text_at(0, "/d/f").unwrap(), "text");

    begun.port.set_access(0, Some(Access::ReadWrite));
    within(SOON, "a return", || File::create(begun.at("new")).is_ok());
    open.seek(SeekFrom::End(0)).unwrap();
    open.write_all(b" and more").unwrap();
    drop(open);
    assert_eq!(begun.port.text_at(0, "/d/f").unwrap(), "text and more");
}

#[test]
fn what_is_not_saved_waits_for_access() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "base").unwrap();
    let mut open = OpenOptions::new().write(true).truncate(true).open(begun.at("f")).unwrap();
    open.write_all(b"mine").unwrap();
    begun.port.revoke(true);
    within(SOON, "an end", || is_refused(fs::read_dir(begun.at("")), ACCES));
    assert_eq!(code(open.sync_all()), ACCES);
    let unsaved = begun.unsaved();
    assert_eq!((unsaved.len(), unsaved[0].path.as_str()), (1, "notes/f"));
    begun.port.revoke(false);
    within(SOON, "a return", || fs::read(begun.at("f")).is_ok());
    open.sync_all().unwrap();
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "mine");
    assert_eq!(begun.port.history(0, "/f"), "created modified");
    assert!(begun.unsaved().is_empty());
}

#[test]
fn a_directory_that_was_asked_for_by_name_stays() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "text").unwrap();
    begun.port.set_access(0, None);
    within(SOON, "an end", || is_refused(fs::read(begun.at("f")), ACCES));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(fs::read_dir(begun.root()).unwrap().count(), 2);
    assert!(fs::metadata(begun.root().join("fixed")).is_ok());
}

#[test]
fn stores_come_and_go() {
    let begun = Begun::with(&[("notes", Access::ReadWrite)], |options| {
        options.has_all_stores = true;
    });
    let names = || {
        let lines = fs::read_dir(begun.root()).unwrap();
        let mut names: Vec<_> =
            lines.map(|line| line.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let added = begun.port.add_store("more", Access::ReadWrite);
    begun.port.write(added, "/d/theirs", "text").unwrap();
    within(SOON, "a new store", || names() == ["more", "notes"]);
    let at = |path: &str| begun.root().join("more").join(path);
    assert_eq!(fs::read_to_string(at("d/theirs")).unwrap(), "text");
    fs::write(at("mine"), "x").unwrap();
    assert_eq!(begun.port.text_at(added, "/mine").unwrap(), "x");
    begun.port.write(added, "/later", "y").unwrap();
    within(SOON, "its feed", || at("later").exists());

    // One of a name that is shown already leaves that alone.
    let twin = begun.port.add_store("notes", Access::ReadOnly);
    let twin_name = format!("notes-{}", begun.port.store(twin));
    within(SOON, "a twin", || names() == ["more", "notes", twin_name.as_str()]);
    assert!(is_refused(fs::write(begun.root().join(&twin_name).join("x"), "x"), ROFS));
    fs::write(begun.at("f"), "in the first").unwrap();
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "in the first");

    let mut open = File::open(at("mine")).unwrap();
    begun.port.set_access(added, None);
    within(SOON, "a store that goes", || names() == ["notes", twin_name.as_str()]);
    within(SOON, "an end of caches", || is_refused(reads(&mut open.try_clone().unwrap()), ACCES));
    assert!(fs::metadata(at("")).is_err());

    begun.port.write(added, "/meanwhile", "z").unwrap();
    begun.port.set_access(added, Some(Access::ReadWrite));
    within(SOON, "a return", || names() == ["more", "notes", twin_name.as_str()]);
    assert_eq!(fs::read_to_string(at("meanwhile")).unwrap(), "z");
    assert_eq!(fs::read_to_string(at("mine")).unwrap(), "x");
    fs::write(at("mine"), "again").unwrap();
    assert_eq!(begun.port.text_at(added, "/mine").unwrap(), "again");
    drop(reads(&mut open));
}

#[test]
fn a_key_that_ended_takes_no_directory_away() {
    let port = Arc::new(MemoryPort::new(Arc::new(Now), &[("notes", Access::ReadWrite)]));
    port.write(0, "/f", "text").unwrap();
    let begun = Begun::over(port, |options| options.has_all_stores = true);
    begun.port.revoke(true);
    within(SOON, "an end", || is_refused(fs::read(begun.at("f")), ACCES));
    std::thread::sleep(Duration::from_secs(3));
    assert!(fs::metadata(begun.at("")).is_ok());
    begun.port.revoke(false);
    within(PATIENCE, "a return", || fs::read(begun.at("f")).is_ok());
}
