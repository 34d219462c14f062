//! What is shown beside files: history, extended attributes, room; and how mounts end.

use crate::begun::{Begun, Now, code, within};
use loci_model::Access;
use loci_mount_memory::MemoryPort;
use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr, statvfs};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const ROFS: i32 = 30;
const NOTCONN: i32 = 107;
const NODATA: i32 = 61;
const OPNOTSUPP: i32 = 95;

fn attribute(begun: &Begun, path: &str, name: &str) -> Result<String, i32> {
    let mut value = [0; 300];
    let length = getxattr(begun.at(path), format!("user.loci.{name}"), &mut value[..]);
    let length = length.map_err(rustix::io::Errno::raw_os_error)?;
    Ok(String::from_utf8_lossy(&value[..length]).into_owned())
}

#[test]
fn versions_are_files_in_the_history() {
    let begun = Begun::new();
    fs::create_dir(begun.at("d")).unwrap();
    for text in ["one", "two two", "three"] {
        fs::write(begun.at("d/f"), text).unwrap();
    }
    fs::write(begun.at("g"), "g").unwrap();
    let names = |path: &str| {
        let mut names: Vec<_> = fs::read_dir(begun.at(path))
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(""), ["d", "g"]);
    assert_eq!(names(".history"), ["d", "g"]);
    assert_eq!(names(".history/d"), ["f"]);
    assert_eq!(names(".history/d/f"), ["0001.created", "0002.modified", "0003.modified"]);
    let at = |name: &str| begun.at(".history/d/f").join(name);
    assert_eq!(fs::read_to_string(at("0001.created")).unwrap(), "one");
    assert_eq!(fs::read_to_string(at("0002.modified")).unwrap(), "two two");
    assert_eq!(fs::metadata(at("0002.modified")).unwrap().len(), 7);
    let entry = begun.port.entry_at(0, "/d/f").unwrap();
    let seconds = entry.updated_at.as_micros() / 1_000_000;
    assert_eq!(fs::metadata(at("0003.modified")).unwrap().mtime(), seconds);
    assert_eq!(code(fs::write(at("0001.created"), "x")), ROFS);
    assert_eq!(code(fs::remove_file(at("0001.created"))), ROFS);
    assert_eq!(code(fs::create_dir(begun.at(".history/x"))), ROFS);
    assert_eq!(code(fs::remove_dir(begun.at(".history"))), ROFS);
    assert!(!begun.at(".history/nothing").exists());
}

#[test]
fn attributes_show_the_memory_and_some_can_be_set() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "text").unwrap();
    let entry = begun.port.entry_at(0, "/f").unwrap();
    assert_eq!(attribute(&begun, "f", "id"), Ok(entry.memory.to_string()));
    assert_eq!(attribute(&begun, "f", "version"), Ok(entry.version.to_string()));
    assert_eq!(attribute(&begun, "f", "revision"), Ok("1".into()));
    assert_eq!(attribute(&begun, "f", "actor"), Ok("tester".into()));
    assert_eq!(attribute(&begun, "f", "kind"), Err(NODATA));
    let set = |name: &str, value: &str| {
        let name = format!("user.loci.{name}");
        setxattr(begun.at("f"), name, value.as_bytes(), XattrFlags::empty())
    };
    for (name, value) in
        [("kind", "fact"), ("tags", "a,b"), ("importance", "70"), ("pinned", "true")]
    {
        set(name, value).unwrap();
        assert_eq!(attribute(&begun, "f", name), Ok(value.into()));
    }
    let entry = begun.port.entry_at(0, "/f").unwrap();
    assert_eq!(entry.attributes.kind.as_deref(), Some("fact"));
    assert_eq!(entry.attributes.tags, ["a", "b"]);
    assert_eq!((entry.attributes.importance, entry.attributes.pinned), (Some(70), true));
    assert_eq!(begun.port.history(0, "/f"), "created modified modified modified modified");
    removexattr(begun.at("f"), "user.loci.tags").unwrap();
    assert_eq!(attribute(&begun, "f", "tags"), Err(NODATA));
    assert_eq!(set("importance", "much").unwrap_err().raw_os_error(), 22);
    assert_eq!(set("importance", "101").unwrap_err().raw_os_error(), 22);
    assert_eq!(set("id", "x").unwrap_err().raw_os_error(), 1);
    let other = setxattr(begun.at("f"), "user.other", b"x", XattrFlags::empty());
    assert_eq!(other.unwrap_err().raw_os_error(), OPNOTSUPP);
    let mut names = [0; 500];
    let length = listxattr(begun.at("f"), &mut names[..]).unwrap();
    let names: Vec<_> =
        names[..length].split(|byte| *byte == 0).filter(|it| !it.is_empty()).collect();
    assert_eq!(names.len(), 7);
    assert_eq!(fs::read_to_string(begun.at("f")).unwrap(), "text");
    // A content written later keeps them.
    fs::write(begun.at("f"), "new").unwrap();
    assert_eq!(attribute(&begun, "f", "kind"), Ok("fact".into()));
}

#[test]
fn room_and_blocks_make_sense() {
    let begun = Begun::new();
    fs::write(begun.at("small"), "x").unwrap();
    fs::write(begun.at("large"), "x".repeat(5000)).unwrap();
    assert_eq!(fs::metadata(begun.at("small")).unwrap().blocks(), 8);
    assert_eq!(fs::metadata(begun.at("large")).unwrap().blocks(), 16);
    let room = statvfs(begun.at("")).unwrap();
    assert_eq!(room.f_blocks - room.f_bfree, 3);
    assert_eq!(room.f_files - room.f_ffree, 2);
    assert!(room.f_bavail > 0 && room.f_namemax == 255);
}

#[test]
fn a_mount_ends_while_somebody_is_inside() {
    let mut begun = Begun::new();
    fs::write(begun.at("f"), "x").unwrap();
    let open = fs::File::open(begun.at("f")).unwrap();
    begun.end();
    assert!(!begun.at("f").exists());
    let root = begun.root().canonicalize().unwrap();
    assert!(loci_mount::mounted().unwrap().iter().all(|it| it.directory != root));
    drop(open);
}

#[test]
fn a_mount_ended_from_outside_is_noticed() {
    let port = Arc::new(MemoryPort::new(Arc::new(Now), &[("notes", Access::ReadWrite)]));
    let directory = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let options = loci_mount::Options::new(directory.path());
        let mount = loci_mount::Mount::start(options, port, Arc::new(Now)).await.unwrap();
        let path = directory.path().to_owned();
        let mounted = loci_mount::mounted().unwrap();
        let pid = i32::try_from(std::process::id()).ok();
        assert!(mounted.iter().any(|it| it.directory == path && it.pid == pid));
        tokio::task::spawn_blocking(move || loci_mount::detach(&path)).await.unwrap().unwrap();
        tokio::time::timeout(Duration::from_secs(60), mount.ended()).await.unwrap();
        assert!(mount.stop().await.is_empty());
    });
}

/// What the process to be killed is told where to mount by, as one more name of a test.
const TOLD: &str = "mount-at=";

/// Nothing by itself: the process for the test below mounts where it is told, and stays.
#[test]
fn a_process_that_mounts() {
    let told = std::env::args().find_map(|word| word.strip_prefix(TOLD).map(str::to_owned));
    let Some(directory) = told else { return };
    let port = Arc::new(MemoryPort::new(Arc::new(Now), &[("notes", Access::ReadWrite)]));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = loci_mount::Options::new(directory);
    let mount = runtime.block_on(loci_mount::Mount::start(options, port, Arc::new(Now))).unwrap();
    runtime.block_on(mount.ended());
}

#[test]
fn a_mount_whose_process_was_killed_is_cleared_away() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "shown::a_process_that_mounts"]);
    command.arg(format!("{TOLD}{}", directory.path().display()));
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let notes = directory.path().join("notes");
    within(Duration::from_secs(10), "the mount", || notes.exists());
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(code(fs::read_dir(directory.path())), NOTCONN);

    let port = Arc::new(MemoryPort::new(Arc::new(Now), &[("other", Access::ReadWrite)]));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = loci_mount::Options::new(directory.path());
    let mount = runtime.block_on(loci_mount::Mount::start(options, port, Arc::new(Now))).unwrap();
    assert!(directory.path().join("other").is_dir());
    runtime.block_on(mount.stop());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let port = Arc::new(MemoryPort::new(Arc::new(Now), &[("notes", Access::ReadWrite)]));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = loci_mount::Options::new("/nowhere/at/all");
    let error = runtime.block_on(loci_mount::Mount::start(options, port, Arc::new(Now)));
    let said = error.unwrap_err().to_string();
    assert!(said.contains("/nowhere/at/all"), "{said}");
}

#[test]
fn listings_are_whole_while_others_write() {
    let begun = Begun::new();
    for n in 0..300 {
        begun.port.write(0, &format!("/{n:03}"), "x").unwrap();
    }
    within(Duration::from_secs(2), "all", || fs::read_dir(begun.at("")).unwrap().count() == 300);
    for n in 0..20 {
        let mut seen: Vec<_> = Vec::new();
        for (at, line) in fs::read_dir(begun.at("")).unwrap().enumerate() {
            if at == 100 {
                begun.port.write(0, &format!("/new{n}"), "x").unwrap();
            }
            seen.push(line.unwrap().file_name());
        }
        seen.sort();
        seen.dedup();
        assert!(seen.len() >= 300, "{}", seen.len());
    }
}
