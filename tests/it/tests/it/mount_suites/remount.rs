//! Promise: inode numbers, sizes and times are the same after a remount.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::scene::Scene;

/// Number, size and time of everything below a directory.
fn seen(at: &Path) -> BTreeMap<String, (u64, u64, i64, i64)> {
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
            let time = (found.mtime(), found.mtime_nsec());
            seen.insert(name, (found.ino(), found.size(), time.0, time.1));
        }
    }
    seen
}

/// The times of a directory that was not mounted yet are those of what is in it.
fn numbers_of(seen: &BTreeMap<String, (u64, u64, i64, i64)>) -> BTreeMap<&str, u64> {
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
    let before = seen(scene.mount.at());
    let numbers: BTreeSet<u64> = before.values().map(|one| one.0).collect();
    assert_eq!(numbers.len(), before.len(), "two have one number");
    let Scene { mount, server, setup, .. } = scene;
    mount.stop();
    let loci = loci_it::Loci::on_url(&server.url(), loci_it::ADMIN_KEY);
    let again = loci_it::Mounted::start(&loci, &setup.scratch().join("mount"), &options);
    assert_eq!(seen(again.at()), before);
    again.stop();
}
