//! Promise: what a store refuses is told by fsync with a number that says why, the version before
//! stays whole, and the bytes are kept in the mount until something better is written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use rustix::io::Errno;

use super::scene::Scene;

const UNSAVED: &str = "user.loci.unsaved";

/// Writes a whole file and asks for it to be kept.
fn save(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

fn unsaved(path: &Path) -> bool {
    rustix::fs::getxattr(path, UNSAVED, &mut vec![0_u8; 4096][..]).is_ok()
}

#[track_caller]
fn refuse(scene: &Scene, content: &[u8], wanted: Errno) {
    let path = scene.at("notes.md");
    let mut witness = scene.witness();
    save(&path, b"before").unwrap();
    let error = save(&path, content).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(wanted.raw_os_error()), "{error}");
    assert_eq!(witness.text("/notes.md").as_deref(), Some("before"), "half a save is kept");
    assert_eq!(fs::read(&path).unwrap(), content, "the bytes are lost");
    assert!(unsaved(&path), "nothing says that it is not saved");
    save(&path, b"after").unwrap();
    assert!(!unsaved(&path), "it is saved by now");
    assert_eq!(witness.text("/notes.md").as_deref(), Some("after"));
    fs::remove_file(&path).unwrap();
}

#[test]
fn what_is_no_text_or_too_large_is_refused_with_a_reason() {
    let scene = Scene::new();
    refuse(&scene, b"no \xff text", Errno::ILSEQ);
    refuse(&scene, "x".repeat(102_401).as_bytes(), Errno::FBIG);
    save(&scene.at("most.md"), "x".repeat(102_400).as_bytes()).unwrap();
}

#[test]
fn names_that_no_path_may_have_are_refused() {
    let scene = Scene::new();
    for name in ["a\tb.md", "a\u{200b}b.md", "a\u{200d}b.md", "e\u{301}.md"] {
        let error = save(&scene.at(name), b"text").unwrap_err();
        let found = error.raw_os_error().map(Errno::from_raw_os_error);
        assert!(matches!(found, Some(Errno::INVAL | Errno::ILSEQ)), "{name:?}: {error}");
    }
    let deep = (0..25).map(|n| n.to_string()).collect::<Vec<_>>().join("/");
    let made = fs::create_dir_all(scene.at(&deep))
        .and_then(|()| save(&scene.at(&format!("{deep}/file.md")), b"text"));
    assert!(made.is_err(), "deeper than a path may be");
    assert_eq!(scene.witness().api.memories(), []);
}

#[test]
fn links_and_special_files_are_refused() {
    use rustix::fs::{CWD, FileType, Mode, link, mknodat, symlink};
    let scene = Scene::new();
    save(&scene.at("file.md"), b"text").unwrap();
    assert_eq!(link(scene.at("file.md"), scene.at("twin.md")), Err(Errno::PERM));
    assert_eq!(symlink("file.md", scene.at("twin.md")), Err(Errno::PERM));
    let mode = Mode::from_raw_mode(0o644);
    for kind in [FileType::Fifo, FileType::Socket, FileType::CharacterDevice] {
        assert_eq!(mknodat(CWD, scene.at("twin.md"), kind, mode, 0), Err(Errno::PERM), "{kind:?}");
    }
    assert_eq!(fs::read_dir(scene.mount.at()).unwrap().count(), 1);
}
