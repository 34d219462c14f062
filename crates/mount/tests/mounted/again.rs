//! Mounting again: numbers, sizes, times and modes of everything are as they were, whatever was done
//! to it; what others did meanwhile shows.

use crate::begun::{Begun, within};
use loci_model::{Expect, MemoryPath};
use loci_mount::port::{Act, At, Edit};
use std::collections::BTreeMap;
use std::fs::{self, FileTimes, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Number, size, mode and the three times, to the nanosecond.
type Looks = (u64, u64, u32, [(i64, i64); 3]);

fn look(at: &Path) -> Looks {
    let seen = fs::symlink_metadata(at).unwrap();
    let times = [
        (seen.atime(), seen.atime_nsec()),
        (seen.mtime(), seen.mtime_nsec()),
        (seen.ctime(), seen.ctime_nsec()),
    ];
    (seen.ino(), seen.size(), seen.mode(), times)
}

/// Everything at and below a directory.
fn look_at_all(root: &Path) -> BTreeMap<String, Looks> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(at) = waiting.pop() {
        if at.is_dir() {
            waiting.extend(fs::read_dir(&at).unwrap().map(|line| line.unwrap().path()));
        }
        found.insert(at.strip_prefix(root).unwrap().display().to_string(), look(&at));
    }
    found
}

/// What differs between two looks, for people.
fn check_same(before: &BTreeMap<String, Looks>, after: &BTreeMap<String, Looks>) {
    for (path, looks) in before {
        assert_eq!(after.get(path), Some(looks), "{path:?}");
    }
    assert_eq!(before.len(), after.len(), "{:?}", after.keys());
}

#[test]
fn everything_looks_as_it_did() {
    let mut begun = Begun::new();
    for directory in ["d", "d/e", "old"] {
        fs::create_dir(begun.at(directory)).unwrap();
    }
    for name in ["plain", "renamed", "over", "timed", "script", "d/one", "d/e/two", "old/three"] {
        fs::write(begun.at(name), format!("the text of {name}\n")).unwrap();
    }
    fs::rename(begun.at("renamed"), begun.at("d/e/elsewhere")).unwrap();
    // Another one where it was: it has a number of its own.
    fs::write(begun.at("renamed"), "a new one\n").unwrap();
    fs::write(begun.at("over.tmp"), "what comes next\n").unwrap();
    fs::rename(begun.at("over.tmp"), begun.at("over")).unwrap();
    fs::rename(begun.at("old"), begun.at("new")).unwrap();
    fs::remove_file(begun.at("d/one")).unwrap();
    let timed = OpenOptions::new().append(true).open(begun.at("timed")).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    timed.set_times(FileTimes::new().set_modified(long_ago).set_accessed(long_ago)).unwrap();
    drop(timed);
    fs::set_permissions(begun.at("script"), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(begun.at("d"), Permissions::from_mode(0o700)).unwrap();
    let before = look_at_all(begun.root());
    assert!(begun.again().is_empty());
    check_same(&before, &look_at_all(begun.root()));
    // Nothing was done here, and it is so the time after as well.
    assert!(begun.again().is_empty());
    check_same(&before, &look_at_all(begun.root()));
    fs::write(begun.at("plain"), "changed\n").unwrap();
    let before = look_at_all(begun.root());
    assert!(begun.again().is_empty());
    check_same(&before, &look_at_all(begun.root()));
}

#[test]
fn what_others_did_meanwhile_shows() {
    let mut begun = Begun::new();
    fs::create_dir(begun.at("d")).unwrap();
    fs::write(begun.at("d/f"), "mine").unwrap();
    let file = OpenOptions::new().append(true).open(begun.at("d/f")).unwrap();
    file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH)).unwrap();
    drop(file);
    fs::rename(begun.at("d/f"), begun.at("d/g")).unwrap();
    let (number, looks) = (look(&begun.at("d/g")).0, look(&begun.at("d")));
    begun.end();
    let path = MemoryPath::parse("/d/g").unwrap();
    let act = Act::Put { text: Some("theirs".into()), to: None, attributes: Box::default() };
    let edit = Edit { at: At::Path(path), expect: Expect::Present, act };
    begun.port.apply(begun.port.store(0), &[edit]).unwrap();
    begun.again();
    assert_eq!(fs::read_to_string(begun.at("d/g")).unwrap(), "theirs");
    let after = look(&begun.at("d/g"));
    assert_eq!(after.0, number);
    assert!(after.3[1].0 > 0, "the time of what somebody else wrote is theirs");
    assert!(look(&begun.at("d")).3[1] > looks.3[1], "and the directory is as new");
}

#[test]
fn a_second_mount_forgets_nothing_of_the_first() {
    let one = Begun::new();
    let marks = tempfile::tempdir().unwrap();
    let shared = || {
        let directory = marks.path().to_owned();
        Begun::over(one.port.clone(), move |options| options.marks = Some(directory.clone()))
    };
    let (mut two, mut three) = (shared(), shared());
    fs::write(two.at("f"), "text").unwrap();
    within(Duration::from_secs(5), "both see it", || three.at("f").exists());
    let mut file = OpenOptions::new().append(true).open(two.at("f")).unwrap();
    file.flush().unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(77);
    file.set_times(FileTimes::new().set_modified(long_ago)).unwrap();
    drop(file);
    two.end();
    fs::write(three.at("g"), "text").unwrap();
    three.end();
    let four = shared();
    assert_eq!(look(&four.at("f")).3[1], (77, 0));
}
