//! The suites on the file system of this machine, which has to pass them all: that proves the suites.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends here, with a backtrace")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use loci_test_mount::random::{self, Bytes, Plan};
use loci_test_mount::{NoWitness, Witness, posix, programs, sealed_off};
use tempfile::TempDir;

/// On a disk: where memory is a file system, a file may be as long as it likes.
const DISK: &str = "/var/tmp";
/// What the project promises.
const CASES_LEAST: usize = 126;

#[test]
fn the_machine_keeps_the_declared_posix() {
    let folder = TempDir::new_in(DISK).unwrap();
    let root = folder.path();
    std::fs::set_permissions(root, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let failures = posix::failures(root);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_cases_are_many_and_each_has_a_name_of_its_own() {
    let names: BTreeSet<_> = posix::cases().map(|(call, case)| (call, case.name)).collect();
    assert_eq!(names.len(), posix::cases().count());
    assert!(names.len() >= CASES_LEAST, "{} cases", names.len());
}

/// `LOCI_WRITE_POSIX=1` writes the page anew.
#[test]
#[expect(clippy::disallowed_methods, reason = "a question to whoever runs the test")]
fn the_page_lists_the_cases() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/posix.md");
    if std::env::var_os("LOCI_WRITE_POSIX").is_some() {
        std::fs::write(&file, posix::page()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), posix::page());
}

#[test]
fn the_machine_keeps_random_bytes() {
    let folder = TempDir::new_in(DISK).unwrap();
    for (seed, bytes) in [(1, Bytes::Text), (2, Bytes::Any), (3, Bytes::Any)] {
        let plan = Plan { seed, operations: 20_000, bytes, length_most: 60_000 };
        random::run(folder.path(), &format!("file{seed}"), &plan, &mut NoWitness).unwrap();
    }
}

/// Knows other bytes than those that were written.
struct Liar;

impl Witness for Liar {
    fn operations(&mut self, _path: &str) -> anyhow::Result<Option<Vec<String>>> {
        Ok(None)
    }

    fn identity(&mut self, _path: &str) -> anyhow::Result<Option<String>> {
        Ok(None)
    }

    fn content(&mut self, _path: &str) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(Some(b"something else".to_vec()))
    }

    fn paths(&mut self) -> anyhow::Result<Option<Vec<String>>> {
        Ok(None)
    }
}

#[test]
fn other_bytes_are_told_with_the_seed_and_the_last_operations() {
    let folder = TempDir::new_in(DISK).unwrap();
    let plan = Plan { seed: 7, operations: 5_000, bytes: Bytes::Text, length_most: 5_000 };
    let error = random::run(folder.path(), "file", &plan, &mut Liar).unwrap_err().to_string();
    assert!(error.starts_with("seed 7 (Text): kept"), "{error}");
    assert_eq!(error.lines().count(), 21, "{error}");
    assert!(error.lines().last().unwrap().contains("close and open"), "{error}");
}

#[test]
fn programs_work_on_the_machine() {
    let (folder, outside) = (TempDir::new_in(DISK).unwrap(), TempDir::new_in(DISK).unwrap());
    let failures = programs::failures(folder.path(), outside.path(), &mut NoWitness);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Unmounts when the test is over, however it ends.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn nothing_changes_where_the_machine_only_reads() {
    let folder = TempDir::new_in(DISK).unwrap();
    let root = folder.path();
    let mount = |options: &str| {
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", options, "loci-test"]).arg(root);
        assert!(command.status().unwrap().success(), "mount -o {options}");
    };
    mount("size=1m");
    let _mounted = Mounted(root);
    std::fs::create_dir(root.join("folder")).unwrap();
    for (name, content) in [sealed_off::FILE, sealed_off::INNER] {
        std::fs::write(root.join(name), content).unwrap();
    }
    assert_ne!(sealed_off::failures(root).len(), 0, "a suite that cannot fail");
    for (name, content) in [sealed_off::FILE, sealed_off::INNER] {
        std::fs::create_dir_all(root.join("folder")).unwrap();
        std::fs::write(root.join(name), content).unwrap();
    }
    for stray in ["new", "new.md"] {
        let _ = std::fs::remove_dir_all(root.join(stray));
        let _ = std::fs::remove_file(root.join(stray));
    }
    mount("remount,ro,size=1m");
    let failures = sealed_off::failures(root);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
