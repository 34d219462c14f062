//! A large store is mounted before all of its paths are known, and is whole to whoever looks into it.

use crate::begun::{Begun, Now, PATIENCE, code, within};
use loci_model::Access;
use loci_mount::port::Refusal;
use loci_mount_memory::MemoryPort;
use loci_test_kit::budget;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;
use std::time::{Duration, Instant};

const IO: i32 = 5;
const EXIST: i32 = 17;
const NOTEMPTY: i32 = 39;
const MOUNTED: Duration = Duration::from_secs(2);
const DIRECTORIES: usize = 1000;

/// A store with so many files in each of a thousand directories.
fn filled(files: usize) -> Arc<MemoryPort> {
    let port = MemoryPort::new(Arc::new(Now), &[("notes", Access::ReadWrite)]);
    for directory in 0..DIRECTORIES {
        for file in 0..files {
            port.write(0, &format!("/d{directory:04}/in/f{file:03}.md"), "text").unwrap();
        }
    }
    Arc::new(port)
}

fn count(begun: &Begun, path: &str) -> usize {
    fs::read_dir(begun.at(path)).unwrap().count()
}

#[test]
fn a_hundred_thousand_memories_are_mounted_at_once_and_visited_before_they_are_loaded() {
    let port = filled(100);
    port.hold_loads();
    let began = Instant::now();
    let begun = Begun::over(port, |_| ());
    assert!(began.elapsed() < budget(MOUNTED), "{:?}", began.elapsed());
    within(PATIENCE, "the rest", || begun.port.loads_held() == 1);

    // What is not loaded is there for whoever asks.
    assert_eq!(fs::read_to_string(begun.at("d0900/in/f050.md")).unwrap(), "text");
    assert_eq!(count(&begun, ""), DIRECTORIES);
    assert_eq!((count(&begun, "d0500"), count(&begun, "d0500/in")), (1, 100));
    assert_eq!(count(&begun, ".history/d0501/in"), 100);
    assert!(fs::metadata(begun.at("d0502/in/nothing")).is_err());

    // Nothing is taken for free or empty because it is not known.
    let exclusive =
        OpenOptions::new().write(true).create_new(true).open(begun.at("d0503/in/f000.md"));
    assert_eq!(code(exclusive), EXIST);
    assert_eq!(code(fs::create_dir(begun.at("d0504/in"))), EXIST);
    assert_eq!(code(fs::remove_dir(begun.at("d0505"))), NOTEMPTY);
    assert_eq!(code(fs::remove_dir(begun.at("d0505/in"))), NOTEMPTY);
    let mut added = OpenOptions::new().append(true).open(begun.at("d0506/in/f000.md")).unwrap();
    added.write_all(b" and more").unwrap();
    drop(added);
    assert_eq!(begun.port.text_at(0, "/d0506/in/f000.md").unwrap(), "text and more");
    fs::write(begun.at("d0507/in/f000.md"), "other").unwrap();
    fs::rename(begun.at("d0507/in/f000.md"), begun.at("d0508/in/f000.md")).unwrap();
    assert_eq!(begun.port.history(0, "/d0508/in/f000.md"), "created modified");
    for file in 0..100 {
        fs::remove_file(begun.at(&format!("d0509/in/f{file:03}.md"))).unwrap();
    }
    fs::remove_dir(begun.at("d0509/in")).unwrap();
    fs::create_dir(begun.at("mine")).unwrap();
    File::create(begun.at("mine/new.md")).unwrap().write_all(b"new").unwrap();
    begun.port.write(0, "/d0510/in/theirs.md", "news").unwrap();
    within(PATIENCE, "the feed", || begun.at("d0510/in/theirs.md").exists());
    assert_eq!(count(&begun, "d0510/in"), 101);

    // A server that is gone keeps nobody waiting.
    begun.port.fail(Some(Refusal::Unreachable("gone".into())));
    assert_eq!(code(fs::read_dir(begun.at("d0700/in"))), IO);
    begun.port.fail(None);
    assert_eq!(count(&begun, "d0700/in"), 100);

    // What needs all of the store waits for it.
    let whole = std::thread::scope(|scope| {
        let renamed = scope.spawn(|| fs::rename(begun.at("d0998"), begun.at("renamed")));
        let counted = scope.spawn(|| rustix::fs::statvfs(begun.at("")).unwrap());
        std::thread::sleep(Duration::from_millis(300));
        assert!(!renamed.is_finished() && !counted.is_finished());
        begun.port.release();
        renamed.join().unwrap().unwrap();
        counted.join().unwrap()
    });
    // A hundred were removed, one was replaced, and two came.
    assert_eq!(whole.f_files - whole.f_ffree, 100_000 - 100 - 1 + 2);
    assert_eq!(count(&begun, "renamed/in"), 100);
    assert_eq!(begun.port.text_at(0, "/renamed/in/f000.md").unwrap(), "text");
    assert_eq!((count(&begun, "d0507/in"), count(&begun, "d0508/in")), (99, 100));
    assert_eq!(fs::read_to_string(begun.at("mine/new.md")).unwrap(), "new");
    assert_eq!(begun.port.paths(0).len(), 100_000 - 100 - 1 + 2);
}

#[test]
fn what_is_remembered_of_files_comes_with_them_and_is_not_forgotten_before() {
    let mut begun = Begun::over(filled(2), |_| ());
    let early = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let (file, directory) = (begun.at("d0900/in/f001.md"), begun.at("d0901"));
    // Only when the store is loaded are directories what they stay.
    rustix::fs::statvfs(begun.root()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    File::options().write(true).open(&file).unwrap().set_modified(early).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o711)).unwrap();
    File::open(&directory).unwrap().set_modified(early).unwrap();
    let seen = |begun: &Begun, path: &str| {
        let there = fs::metadata(begun.at(path)).unwrap();
        (there.mode() & 0o777, there.mtime(), there.ino())
    };
    let before = (seen(&begun, "d0900/in/f001.md"), seen(&begun, "d0901"));
    assert_eq!((before.0.0, before.0.1), (0o640, 1_000_000_000));

    // Mounted for a moment in which nothing is loaded.
    begun.port.hold_loads();
    begun.again();
    assert_eq!(seen(&begun, "d0900/in/f001.md"), before.0, "before it is loaded");
    assert_eq!(seen(&begun, "d0901").0, 0o711);
    fs::create_dir(begun.at("d0902/mine")).unwrap();
    begun.again();
    begun.port.release();
    rustix::fs::statvfs(begun.root()).unwrap();
    assert_eq!((seen(&begun, "d0900/in/f001.md"), seen(&begun, "d0901")), before);
}
