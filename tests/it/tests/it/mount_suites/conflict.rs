//! Promise: when two write one file, the later one is told, and no byte of either is lost.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rustix::io::Errno;
use serde_json::json;

use super::coherence::wait;
use super::scene::{Scene, Store, on_both};

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

/// What the store has at a path, and what is beside it; both are removed.
fn take(store: &mut Store, path: &str) -> [Option<String>; 2] {
    let beside = format!("{path}.conflict");
    let texts = [store.text(path), store.text(&beside)];
    for path in [path, &beside] {
        if store.entry(path).is_some() {
            store.edit(&json!({"op": "remove", "path": path}));
        }
    }
    texts
}

fn number(error: &std::io::Error) -> Option<Errno> {
    error.raw_os_error().map(Errno::from_raw_os_error)
}

#[test]
fn a_save_by_renaming_that_comes_too_late_is_told() {
    on_both(|scene, at| {
        let mut store = scene.witness();
        for round in 0..5 {
            let name = format!("notes{round}.md");
            let (path, next) = (at.join(&name), at.join(format!("{name}.tmp.7.abcdef")));
            let memory = store.api.put(&format!("/{name}"), "base");
            wait("the base", || fs::read_to_string(&path).is_ok_and(|text| text == "base"));
            assert_eq!(fs::read_to_string(&path).unwrap(), "base");
            store.api.update(&memory.id, &json!({"content": "by the API"}));
            fs::write(&next, "by the mount").unwrap();
            // Whether or not the mount has heard of it by now: who reads first writes late.
            let refused = fs::rename(&next, &path).unwrap_err();
            assert_eq!(number(&refused), Some(Errno::BUSY), "{refused}");
            let texts = take(&mut store, &format!("/{name}"));
            assert_eq!(texts, [Some("by the API".into()), Some("by the mount".into())]);
            fs::remove_file(&next).unwrap();
        }
    });
}

#[test]
fn a_save_of_what_was_read_before_others_wrote_is_told() {
    on_both(|scene, at| {
        let mut store = scene.witness();
        let path = at.join("notes.md");
        let memory = store.api.put("/notes.md", "base");
        wait("the base", || fs::read_to_string(&path).is_ok_and(|text| text == "base"));
        store.api.update(&memory.id, &json!({"content": "by the API"}));
        // Seen by its size, which is no reading.
        wait("the change", || fs::metadata(&path).unwrap().len() == 10);
        let write = |text: &str| {
            let mut file = File::create(&path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        let refused = write("by the mount").unwrap_err();
        assert_eq!(number(&refused), Some(Errno::STALE), "{refused}");
        write("by the mount again").unwrap();
        let texts = take(&mut store, "/notes.md");
        assert_eq!(texts, [Some("by the mount again".into()), Some("by the mount".into())]);
        wait("the removal", || !path.exists());
    });
}

#[test]
fn where_a_sealed_memory_is_nothing_is_written() {
    on_both(|scene, at| {
        let mut store = scene.witness();
        let url = store.api.path("/sealed");
        let sealed = BASE64.encode(b"closed");
        let body = json!({"path": "/sealed.md", "sealed_base64": sealed});
        let made = store.api.client.post(&url, &body).ok();
        let path = at.join("sealed.md");
        assert!(!path.exists());
        let mut file = File::create(&path).unwrap();
        file.write_all(b"open").unwrap();
        assert_eq!(number(&file.sync_all().unwrap_err()), Some(Errno::ACCESS));
        assert_eq!(unsaved(&path), "a sealed memory is there");
        drop(file);
        fs::remove_file(&path).unwrap();
        fs::write(at.join("next.tmp"), "open").unwrap();
        let refused = fs::rename(at.join("next.tmp"), &path).unwrap_err();
        assert_eq!(number(&refused), Some(Errno::ACCESS), "{refused}");
        fs::remove_file(at.join("next.tmp")).unwrap();
        store.api.delete(made["id"].as_str().unwrap());
    });
}

/// Why a file is not saved.
fn unsaved(path: &Path) -> String {
    let mut why = [0; 200];
    let length = rustix::fs::getxattr(path, "user.loci.unsaved", &mut why[..]).unwrap();
    String::from_utf8_lossy(&why[..length]).into_owned()
}

#[test]
fn of_two_mounts_that_make_a_lock_one_has_made_it() {
    on_both(|scene, at| {
        let options = ["--flat", "--store", &scene.api.store];
        let other = scene.mount_again("other", &options);
        let mut store = scene.witness();
        let make = |at: &Path, name: &str, text: &str| {
            let script = "import os, sys\nfd = os.open(sys.argv[1], os.O_CREAT | os.O_EXCL | os.O_WRONLY)\n\
                          os.write(fd, sys.argv[2].encode())\n\
                          try: os.close(fd)\nexcept FileExistsError: sys.exit(17)";
            let mut python = std::process::Command::new("python3");
            python.args(["-c", script]).arg(at.join(name)).arg(text);
            python.stderr(std::process::Stdio::null()).spawn().unwrap()
        };
        for round in 0..loci_it::count("conflict_turns") {
            // Locks hold nothing, the same, or the number of their maker.
            let texts = [["", ""], ["locked", "locked"], ["pid 1", "pid 2"]][round % 3];
            let name = format!("{round}.lock");
            let both = [make(at, &name, texts[0]), make(other.at(), &name, texts[1])];
            let won = both.map(|mut python| usize::from(python.wait().unwrap().success()));
            assert_eq!(won.iter().sum::<usize>(), 1, "round {round}");
            let winner = texts[usize::from(won[1] == 1)].to_owned();
            let found = take(&mut store, &format!("/{name}"));
            assert_eq!(found, [Some(winner), None], "round {round}");
        }
        other.stop();
        wait("the end of the locks", || fs::read_dir(at).unwrap().count() == 0);
    });
}

#[test]
fn a_text_that_the_store_keeps_once_is_told_to_be_elsewhere() {
    on_both(|scene, at| {
        let mut store = scene.witness();
        let url = store.api.path("/policy");
        store.api.client.post(&url, &json!({"repeats": "merge"})).ok();
        let first = store.api.put("/one.md", "text");
        wait("the first", || at.join("one.md").exists());
        let path = at.join("two.md");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"text").unwrap();
        assert_eq!(number(&file.sync_all().unwrap_err()), Some(Errno::EXIST));
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        assert!(unsaved(&path).contains("/one.md"));
        assert_eq!(store.api.memories().len(), 1);
        fs::remove_file(&path).unwrap();
        store.api.delete(&first.id);
        wait("the end of the first", || !at.join("one.md").exists());
    });
}
