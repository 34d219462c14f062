//! Promise: what is known of a memory are extended attributes of its file, some of which can be set;
//! its versions are files below `.history`; and what a model may not see is not there.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use loci_test_mount::Witness;
use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
use rustix::io::Errno;
use serde_json::json;

use super::scene::Scene;

fn attribute(path: &Path, name: &str) -> Result<String, Errno> {
    let mut value = vec![0_u8; 4096];
    let bytes = getxattr(path, format!("user.loci.{name}"), &mut value[..])?;
    Ok(String::from_utf8(value[..bytes].to_vec()).unwrap())
}

fn set(path: &Path, name: &str, value: &str) -> Result<(), Errno> {
    setxattr(path, format!("user.loci.{name}"), value.as_bytes(), XattrFlags::empty())
}

fn names(path: &Path) -> Vec<String> {
    let mut list = vec![0_u8; 4096];
    let bytes = listxattr(path, &mut list[..]).unwrap();
    let names = list[..bytes].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8(name.to_vec()).unwrap()).collect()
}

#[test]
fn attributes_are_read_and_set() {
    let scene = Scene::new();
    let (path, mut store) = (scene.at("notes.md"), scene.witness());
    fs::write(&path, "text").unwrap();
    let entry = store.entry("/notes.md").unwrap();
    assert_eq!(attribute(&path, "id").as_deref(), Ok(entry["id"].as_str().unwrap()));
    let version = entry["memory_version_id"].as_str().unwrap();
    assert_eq!(attribute(&path, "version").as_deref(), Ok(version));
    assert_eq!(attribute(&path, "revision").as_deref(), Ok("1"));
    assert!(!attribute(&path, "actor").unwrap().is_empty());

    set(&path, "kind", "fact").unwrap();
    set(&path, "tags", "red,blue").unwrap();
    set(&path, "importance", "70").unwrap();
    let entry = store.entry("/notes.md").unwrap();
    assert_eq!((entry["kind"].as_str(), entry["importance"].as_u64()), (Some("fact"), Some(70)));
    assert_eq!(entry["tags"], json!(["red", "blue"]));
    assert_eq!(attribute(&path, "kind").as_deref(), Ok("fact"));
    assert_eq!(attribute(&path, "tags").as_deref(), Ok("red,blue"));
    assert_eq!(attribute(&path, "importance").as_deref(), Ok("70"));
    assert_eq!(attribute(&path, "revision").as_deref(), Ok("4"), "one version each");
    for name in ["id", "version", "revision", "kind", "tags", "importance", "actor"] {
        let name = format!("user.loci.{name}");
        assert!(names(&path).contains(&name), "{name} is not listed: {:?}", names(&path));
    }

    removexattr(&path, "user.loci.kind").unwrap();
    assert_eq!(attribute(&path, "kind"), Err(Errno::NODATA));
    assert!(store.entry("/notes.md").unwrap()["kind"].is_null());
    // Content and attributes do not disturb each other.
    fs::write(&path, "next").unwrap();
    assert_eq!(attribute(&path, "tags").as_deref(), Ok("red,blue"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "next");

    assert!(set(&path, "importance", "many").is_err());
    assert!(set(&path, "id", "mem_x").is_err());
    assert!(setxattr(&path, "user.mine", b"x", XattrFlags::empty()).is_err());
}

/// Files below a directory with what they hold, in order.
fn listed(at: &Path) -> Vec<(String, String)> {
    let mut found: Vec<_> = fs::read_dir(at)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn versions_are_files_of_the_hidden_history() {
    let scene = Scene::new();
    fs::create_dir(scene.at("deep")).unwrap();
    for text in ["one", "two", "three"] {
        fs::write(scene.at("deep/notes.md"), text).unwrap();
    }
    let shown = fs::read_dir(scene.mount.at()).unwrap().count();
    assert_eq!(shown, 1, "the history is not hidden");
    let history = scene.at(".history/deep/notes.md");
    let wanted = [("0001.created", "one"), ("0002.modified", "two"), ("0003.modified", "three")];
    assert_eq!(listed(&history), wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert!(fs::write(history.join("0001.created"), "changed").is_err());
    assert!(fs::remove_file(history.join("0001.created")).is_err());
    assert!(fs::write(scene.at(".history/new.md"), "new").is_err());
    fs::write(scene.at("deep/notes.md"), "four").unwrap();
    assert_eq!(listed(&history).len(), 4);
    assert_eq!(scene.witness().paths().unwrap().unwrap(), ["/deep/notes.md"]);
}

#[test]
fn what_a_model_may_not_see_is_not_there() {
    let scene = Scene::new();
    let mut store = scene.witness();
    store.api.put("/plain.md", "plain");
    let hidden = json!({"op": "put", "path": "/internal.md", "content": "hidden",
        "attributes": {"visibility": "internal"}});
    store.edit(&hidden);
    let url = store.api.path("/sealed");
    let sealed = json!({"path": "/sealed.md", "sealed_base64": BASE64.encode(b"closed")});
    store.api.client.post(&url, &sealed).ok();
    // Both were in the feed before this one, which is there by now.
    store.api.put("/last.md", "last");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !scene.at("last.md").exists() {
        assert!(std::time::Instant::now() < until, "what the API wrote does not appear");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let check = |at: &Path| {
        let mut names: Vec<_> =
            fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["last.md", "plain.md"]);
        for name in ["internal.md", "sealed.md", ".history/internal.md", ".history/sealed.md"] {
            let error = fs::metadata(at.join(name)).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{name}");
        }
    };
    check(scene.mount.at());
    // A mount that reads the whole listing, not the feed.
    check(scene.mount_again("fresh", &["--flat", "--store", &scene.api.store]).at());
    // Made visible, it appears; hidden again, it goes.
    let shown = json!({"op": "put", "path": "/internal.md", "attributes": {"visibility": null}});
    store.edit(&shown);
    while !scene.at("internal.md").exists() {
        assert!(std::time::Instant::now() < until, "what became visible does not appear");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    store.edit(&hidden);
    while scene.at("internal.md").exists() {
        assert!(std::time::Instant::now() < until, "what became internal does not go");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
