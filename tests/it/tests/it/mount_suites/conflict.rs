//! Promise: when two write one file, the later one is told, and no byte of either is lost.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::thread;

use rustix::io::Errno;
use serde_json::json;

use super::coherence::wait;
use super::scene::Scene;

/// Everything that was ever kept in the store, and everything the mount still shows.
fn kept(scene: &Scene) -> String {
    let mut store = scene.witness();
    let mut all = String::new();
    for version in store.api.pages("/memory_versions", "limit=20&view=full") {
        all.push_str(version["content"].as_str().unwrap_or_default());
        all.push('\n');
    }
    all
}

#[test]
fn the_loser_of_a_race_gets_a_sibling() {
    let scene = Scene::new();
    let mut store = scene.witness();
    let path = scene.at("notes.md");
    fs::write(&path, "before").unwrap();
    let id = store.entry("/notes.md").unwrap()["id"].as_str().unwrap().to_owned();
    for (round, sibling) in ["notes.md.conflict", "notes.md.conflict-2"].iter().enumerate() {
        let mut file = File::create(&path).unwrap();
        write!(file, "by the mount {round}").unwrap();
        store.api.update(&id, &json!({"content": format!("by the API {round}")}));
        let error = file.sync_all().unwrap_err();
        let wanted = Errno::STALE.raw_os_error();
        assert_eq!(error.raw_os_error(), Some(wanted), "{error}");
        drop(file);
        let theirs = format!("by the API {round}");
        assert_eq!(store.text("/notes.md"), Some(theirs.clone()));
        let ours = format!("by the mount {round}");
        assert_eq!(store.text(&format!("/{sibling}")), Some(ours.clone()));
        wait("the sibling", || fs::read_to_string(scene.at(sibling)).is_ok_and(|t| t == ours));
        wait("the winner", || fs::read_to_string(&path).is_ok_and(|t| t == theirs));
    }
    // The file can be written as ever.
    fs::write(&path, "after").unwrap();
    assert_eq!(store.text("/notes.md").as_deref(), Some("after"));
}

#[test]
fn what_is_appended_meets_what_was_appended_meanwhile() {
    let scene = Scene::new();
    let mut store = scene.witness();
    let path = scene.at("log.md");
    fs::write(&path, "one\n").unwrap();
    let id = store.entry("/log.md").unwrap()["id"].as_str().unwrap().to_owned();
    let mut file = File::options().append(true).open(&path).unwrap();
    file.write_all(b"two\n").unwrap();
    store.api.update(&id, &json!({"content": "one\nby the API\n"}));
    file.sync_all().unwrap();
    drop(file);
    assert_eq!(store.text("/log.md").as_deref(), Some("one\nby the API\ntwo\n"));
    wait("both", || fs::read_to_string(&path).is_ok_and(|t| t == "one\nby the API\ntwo\n"));
}

/// One whole save by a file; whether it was told to be kept.
fn save(path: &Path, text: &str) -> bool {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().is_ok()
}

#[test]
fn rivals_in_two_mounts_and_the_api_lose_no_byte() {
    let turns = loci_it::count("conflict_turns");
    let scene = Scene::new();
    let other = scene.mount_again("other", &["--flat", "--store", &scene.api.store]);
    fs::write(scene.at("prize.md"), "begin").unwrap();
    let mut store = scene.witness();
    let id = store.entry("/prize.md").unwrap()["id"].as_str().unwrap().to_owned();
    wait("the prize", || other.at().join("prize.md").exists());
    let told: Vec<(String, bool)> = thread::scope(|scope| {
        let by_mount = |name: &'static str, at: &Path| {
            let path = at.join("prize.md");
            move || -> Vec<_> {
                let texts = (0..turns).map(|turn| format!("{name} {turn};"));
                texts
                    .map(|text| {
                        let saved = save(&path, &text);
                        (text, saved)
                    })
                    .collect()
            }
        };
        let one = scope.spawn(by_mount("one", scene.mount.at()));
        let two = scope.spawn(by_mount("two", other.at()));
        let api = scope.spawn(|| -> Vec<_> {
            let mut store = scene.witness();
            let texts = (0..turns).map(|turn| format!("api {turn};"));
            texts
                .map(|text| {
                    store.api.update(&id, &json!({"content": text}));
                    (text, true)
                })
                .collect()
        });
        [one, two, api].into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let kept = kept(&scene);
    let lost: BTreeSet<&str> = told
        .iter()
        .filter(|(text, _)| !kept.contains(text.as_str()))
        .map(|(text, _)| text.as_str())
        .collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    let refused = told.iter().filter(|(_, saved)| !saved).count();
    eprintln!("of {} saves {refused} lost a race", told.len());
}
