//! Promise: inode numbers, sizes and times are the same after a remount, also times that were set.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::scene::Scene;

/// Number, size, and the times of reading and writing.
type Look = (u64, u64, [(i64, i64); 2]);

/// What everything below a directory looks like.
fn seen(at: &Path) -> BTreeMap<String, Look> {
    let mut seen = BTreeMap::new();
    let mut folders = vec![at.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let found = entry.metadata().unwrap();
            let name = entry.path().strip_prefix(at).unwrap().display().to_string();
            assert_eq!(entry.path().metadata().unwrap().ino(), found.ino());
            if found.is_dir() {
                folders.push(entry.path());
            }
            let read = (found.atime(), found.atime_nsec());
            let written = (found.mtime(), found.mtime_nsec());
            seen.insert(name, (found.ino(), found.size(), [read, written]));
        }
    }
    seen
}

/// The times of a directory that was not mounted yet are those of what is in it.
fn numbers_of(seen: &BTreeMap<String, Look>) -> BTreeMap<&str, u64> {
    seen.iter().map(|(name, found)| (name.as_str(), found.0)).collect()
}

#[test]
fn files_are_the_same_after_a_remount() {
    let scene = Scene::new();
    for folder in ["a", "a/b", "c"] {
        fs::create_dir(scene.at(folder)).unwrap();
    }
    for n in 0..60 {
        let folder = ["a", "a/b", "c"][n % 3];
        fs::write(scene.at(&format!("{folder}/{n}.md")), format!("{n} ").repeat(n)).unwrap();
    }
    fs::write(scene.at("c/2.md"), "written again").unwrap();
    let options = ["--flat", "--store", &scene.api.store];
    let before = seen(scene.mount.at());
    let beside = scene.mount_again("beside", &options);
    assert_eq!(numbers_of(&seen(beside.at())), numbers_of(&before), "another mount");
    beside.stop();
    fs::rename(scene.at("c/5.md"), scene.at("a/renamed.md")).unwrap();
    fs::write(scene.at("c/5.md"), "another where it was").unwrap();
    fs::write(scene.at("a/next.tmp"), "saved by renaming").unwrap();
    fs::rename(scene.at("a/next.tmp"), scene.at("a/0.md")).unwrap();
    fs::rename(scene.at("a/b"), scene.at("moved")).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::new(77, 88);
    let read = FileTimes::new().set_accessed(long_ago);
    for (name, times) in [("c/8.md", read), ("a/renamed.md", read.set_modified(long_ago))] {
        File::options().write(true).open(scene.at(name)).unwrap().set_times(times).unwrap();
    }
    let before = seen(scene.mount.at());
    assert_eq!(before["c/8.md"].2[0], (77, 88));
    assert_eq!(before["a/renamed.md"].2, [(77, 88); 2]);
    let numbers: BTreeSet<u64> = before.values().map(|one| one.0).collect();
    assert_eq!(numbers.len(), before.len(), "two have one number");
    let Scene { mount, server, setup, .. } = scene;
    mount.stop();
    let loci = loci_it::Loci::on_url(&server.url(), loci_it::ADMIN_KEY);
    let again = loci_it::Mounted::start(&loci, &setup.scratch().join("mount"), &options);
    assert_eq!(seen(again.at()), before);
    again.stop();
}
