//! Promise: what is written through the API is seen in the mount within 200 ms, and what is closed in
//! the mount is seen by the API at once.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{budget, count};
use serde_json::json;

use super::scene::Scene;

fn rounds() -> usize {
    count("coherence_rounds")
}
/// What is promised, of the usual change.
const SOON: Duration = Duration::from_millis(200);
/// What even the unluckiest change on a loaded machine takes less than.
const LATEST: Duration = Duration::from_secs(5);

/// How long it takes until something holds.
#[track_caller]
pub(super) fn wait(what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < budget(LATEST), "{what}: not seen after {:?}", began.elapsed());
        thread::sleep(Duration::from_micros(500));
    }
    began.elapsed()
}

fn holds(path: &Path, text: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|found| found == text)
}

#[track_caller]
fn judge(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    eprintln!("{what}: p50 {:?}, p99 {:?}, most {:?}", at(50), at(99), at(100));
    assert!(at(50) <= budget(SOON), "{what} takes {:?}", at(50));
}

#[test]
fn what_the_api_writes_is_seen_soon() {
    let scene = Scene::new();
    let mut store = scene.witness();
    let (path, moved) = (scene.at("notes.md"), scene.at("moved.md"));
    let (mut created, mut changed, mut renamed, mut removed) = (vec![], vec![], vec![], vec![]);
    for round in 0..rounds() {
        // Asked for before it is there: what is not there must not be remembered either.
        assert!(!path.exists());
        let memory = store.api.put("/notes.md", &format!("first {round}"));
        created.push(wait("created", || holds(&path, &format!("first {round}"))));
        let listed = || fs::read_dir(scene.mount.at()).unwrap().count() == 1;
        wait("listed", listed);
        // Of another length each time: the size is part of what must be seen.
        let text = format!("second {}", "x".repeat(round * 7));
        store.api.update(&memory.id, &json!({"content": text}));
        changed.push(wait("changed", || holds(&path, &text)));
        assert_eq!(fs::metadata(&path).unwrap().len(), text.len() as u64);
        store.api.update(&memory.id, &json!({"path": "/moved.md"}));
        renamed.push(wait("renamed", || !path.exists() && holds(&moved, &text)));
        store.api.delete(&memory.id);
        removed.push(wait("removed", || !moved.exists()));
    }
    judge("created by the API", created);
    judge("changed by the API", changed);
    judge("renamed by the API", renamed);
    judge("removed by the API", removed);
}

#[test]
fn a_file_that_is_open_is_refreshed() {
    let scene = Scene::new();
    let mut store = scene.witness();
    let memory = store.api.put("/notes.md", "first");
    let path = scene.at("notes.md");
    wait("created", || holds(&path, "first"));
    let open = File::open(&path).unwrap();
    let read = || {
        use std::os::unix::fs::FileExt;
        let mut found = vec![0; 64];
        let count = open.read_at(&mut found, 0).unwrap();
        String::from_utf8(found[..count].to_vec()).unwrap()
    };
    assert_eq!(read(), "first");
    store.api.update(&memory.id, &json!({"content": "second and longer"}));
    wait("an open file", || read() == "second and longer");
    store.api.update(&memory.id, &json!({"content": "third"}));
    wait("an open file", || read() == "third");
}

#[test]
fn what_is_closed_is_seen_by_the_api_at_once() {
    let scene = Scene::new();
    let mut store = scene.witness();
    let path = scene.at("notes.md");
    for round in 0..rounds() {
        let text = format!("round {round}\n");
        fs::write(&path, &text).unwrap();
        assert_eq!(store.text("/notes.md").as_deref(), Some(text.as_str()));
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"synced").unwrap();
        file.sync_all().unwrap();
        assert_eq!(store.text("/notes.md"), Some(text + "synced"), "after fsync, before close");
        drop(file);
        fs::rename(&path, scene.at("moved.md")).unwrap();
        assert!(store.entry("/notes.md").is_none());
        assert!(store.entry("/moved.md").is_some());
        fs::rename(scene.at("moved.md"), &path).unwrap();
        if round % 5 == 0 {
            fs::remove_file(&path).unwrap();
            assert!(store.entry("/notes.md").is_none());
        }
    }
}
