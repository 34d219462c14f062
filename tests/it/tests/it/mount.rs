//! Promise: a mount comes when it is asked for and goes however it ends; it writes under the name it
//! was given, never more than it may, and never half a version, whoever is killed.

use loci_it::{ADMIN_KEY, Api, Dice, Loci, Mounted, Running, Setup, budget, count, eventually};
use loci_test_mount::Person;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const FAILURE: i32 = 1;
const NOT_FOUND: i32 = 3;
/// What an operation on a dead server may take, and a loaded machine on top of that.
const DEAD_MAX: Duration = Duration::from_secs(5 + 3);

/// A mount point that is free again after the test, however that ends.
struct Point {
    dir: PathBuf,
}

impl Point {
    fn new(setup: &Setup) -> Self {
        let dir = setup.scratch().join("mnt");
        fs::create_dir_all(&dir).unwrap();
        Self { dir: fs::canonicalize(dir).unwrap() }
    }

    fn text(&self) -> &str {
        self.dir.to_str().unwrap()
    }

    fn join(&self, path: &str) -> PathBuf {
        self.dir.join(path)
    }

    fn is_mounted(&self) -> bool {
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
        table.contains(&format!(" {} ", self.text()))
    }

    #[track_caller]
    fn umount(&self) {
        Loci::default().ok(&["umount", self.text()]);
        assert!(!self.is_mounted());
    }

    /// Unmounts, and insists that something is lost; what is said of each.
    #[track_caller]
    fn umount_with_losses(&self) -> Vec<String> {
        let args = ["umount", self.text()];
        let told = Loci::default().run(&args).expect_code(FAILURE, &args).stderr;
        assert!(!self.is_mounted(), "{told}");
        let lost = told.lines().filter(|line| line.contains("was never saved"));
        lost.map(str::to_owned).collect()
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        if self.is_mounted() {
            let _ = Loci::default().run(&["umount", self.text()]);
        }
    }
}

/// Mounts in the background; what the command says.
#[track_caller]
fn mount(loci: &Loci, point: &Point, more: &[&str]) -> Value {
    loci.json(&[&["mount", point.text(), "--background"], more].concat())
}

/// Writes and hears whether it was saved, which closing alone does not tell.
fn save(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn kill(shown: &Value) {
    let pid = i32::try_from(shown["pid"].as_i64().unwrap()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

fn content(api: &mut Api, path: &str) -> Option<String> {
    let found = api.memories().into_iter().find(|memory| memory.path == path)?;
    Some(api.content(&found.id))
}

#[test]
fn a_mount_comes_and_goes() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "Project notes");
    let mut other = Api::create(server.client(), "Other");
    api.put("/a/b.md", "hello");
    let point = Point::new(&setup);
    let loci = Loci::on_data(setup.data());
    let shown = mount(&loci, &point, &[]);
    assert_eq!(shown["stores"].as_array().unwrap().len(), 2, "{shown}");
    let file = point.join("project-notes/a/b.md");
    assert_eq!(fs::read_to_string(&file).unwrap(), "hello");
    fs::write(&file, "changed").unwrap();
    fs::write(point.join("other/new.md"), "new").unwrap();
    assert_eq!(content(&mut api, "/a/b.md").unwrap(), "changed", "seen at once");
    assert_eq!(content(&mut other, "/new.md").unwrap(), "new");
    assert_eq!(api.changes(0).last().unwrap()["reason"], "mount");

    // There is one mount at a place.
    let args = ["mount", point.text(), "--background"];
    let refused = loci.run(&args).expect_code(FAILURE, &args);
    assert!(refused.stderr.contains("already"), "{}", refused.stderr);
    point.umount();
    let args = ["umount", point.text()];
    let _ = loci.run(&args).expect_code(NOT_FOUND, &args);

    // Named stores, one for reading only, and one without a directory of its own.
    mount(&loci, &point, &["--store", "Other:ro"]);
    assert_eq!(fs::read_dir(&point.dir).unwrap().count(), 1);
    let refused = fs::write(point.join("other/new.md"), "x").unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(Errno::ROFS.raw_os_error()), "{refused}");
    point.umount();
    mount(&loci, &point, &["--store", "Other", "--flat"]);
    assert_eq!(fs::read_to_string(point.join("new.md")).unwrap(), "new");
    point.umount();
    let args = ["mount", point.text(), "--background", "--store", "nobody"];
    let _ = loci.run(&args).expect_code(NOT_FOUND, &args);
    server.stop();
}

/// On a directory nobody serves, over HTTP, and in the foreground until a signal.
#[test]
fn a_mount_needs_no_server_and_ends_with_everything_saved() {
    let setup = Setup::new();
    let loci = Loci::on_data(setup.data());
    loci.ok(&["store", "create", "notes"]);
    let point = Point::new(&setup);
    let running = Running::start(&loci, &["mount", point.text()]);
    running.wait_for("loci mounted 1 store at");
    fs::write(point.join("notes/a.md"), "text").unwrap();
    // Another command is served by the process of the mount.
    assert_eq!(loci.ok(&["get", "notes", "/a.md"]), b"text");
    loci.ok(&["put", "notes", "/b.md", "--text", "from outside"]);
    let b = point.join("notes/b.md");
    eventually("what others write is there", || {
        fs::read_to_string(&b).is_ok_and(|text| text == "from outside")
    });
    // Written under a name for a moment only, and kept at the end.
    fs::write(point.join("notes/draft.tmp"), "a draft").unwrap();
    let (status, printed) = running.terminate();
    assert!(status.success() && !point.is_mounted(), "{printed}");
    assert_eq!(loci.ok(&["get", "notes", "/draft.tmp"]), b"a draft");

    let server = setup.start();
    let remote = Loci::on_url(&format!("http://{}", server.addr()), ADMIN_KEY);
    mount(&remote, &point, &["--store", "notes"]);
    fs::write(point.join("notes/c.md"), "over HTTP").unwrap();
    assert_eq!(loci.ok(&["get", "notes", "/c.md"]), b"over HTTP");
    point.umount();
    server.stop();
}

#[test]
fn a_session_mounts_what_is_attached_to_it() {
    let setup = Setup::new();
    let server = setup.start();
    let mut notes = Api::create(server.client(), "notes");
    let mut rules = Api::create(server.client(), "rules");
    Api::create(server.client(), "not attached");
    rules.put("/law.md", "the law");
    let loci = Loci::on_data(setup.data());
    let session = loci.json(&[
        "session",
        "create",
        "--store",
        "notes",
        "--store",
        "rules:ro",
        "--with-key",
        "--instructions",
        "One file each.",
        "--instructions",
        "Read first.",
    ]);
    let id = session["id"].as_str().unwrap();
    assert_eq!(session["resources"][1]["instructions"], "Read first.");
    let note = String::from_utf8(loci.ok(&["session", "note", id])).unwrap();
    for word in ["notes", "/mnt/memory/rules", "read only", "One file each."] {
        assert!(note.contains(word), "{word} is missing: {note}");
    }

    let point = Point::new(&setup);
    let secret = session["api_key"]["secret"].as_str().unwrap();
    let sandbox = Loci::on_url(&format!("http://{}", server.addr()), secret);
    // With the key of the session, and with that of its maker.
    for (round, loci) in [&sandbox, &loci].into_iter().enumerate() {
        let shown = mount(loci, &point, &["--session", id]);
        assert_eq!(shown["stores"].as_array().unwrap().len(), 2, "{shown}");
        let path = format!("/{round}.md");
        fs::write(point.join(&format!("notes{path}")), "by the session").unwrap();
        let memory = notes.memories().into_iter().find(|one| one.path == path).unwrap();
        let version = &notes.versions(&memory.id)[0];
        assert_eq!(version["created_by"]["session_id"], json!(id), "{version}");
        let refused = fs::write(point.join("rules/law.md"), "mine").unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(Errno::ROFS.raw_os_error()), "{refused}");
        let refused = fs::remove_file(point.join("rules/law.md")).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(Errno::ROFS.raw_os_error()), "{refused}");
        point.umount();
    }
    assert_eq!(content(&mut rules, "/law.md").unwrap(), "the law");
    // What was made for the second mount is revoked; the sandbox's own key is not.
    let keys = loci.json(&["key", "list"]);
    let bound: Vec<&Value> = keys["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|key| key["session_id"] == json!(id))
        .collect();
    let revoked = bound.iter().filter(|key| key["revoked_at"].is_string()).count();
    assert_eq!((bound.len(), revoked), (2, 1), "{keys}");
    server.stop();
}

#[test]
fn a_dead_server_fails_operations_and_not_the_machine() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "notes");
    api.put("/a.md", "hello");
    api.put("/never-read.md", "not in any cache");
    let point = Point::new(&setup);
    let remote = Loci::on_url(&format!("http://{}", server.addr()), ADMIN_KEY);
    mount(&remote, &point, &["--store", "notes"]);
    assert_eq!(fs::read_to_string(point.join("notes/a.md")).unwrap(), "hello");
    server.kill();
    let timed = |what: &str, act: &mut dyn FnMut() -> io::Result<()>| {
        let began = Instant::now();
        let refused = act().expect_err(what);
        assert_eq!(refused.raw_os_error(), Some(Errno::IO.raw_os_error()), "{what}: {refused}");
        assert!(began.elapsed() < budget(DEAD_MAX), "{what} took {:?}", began.elapsed());
    };
    timed("write", &mut || save(&point.join("notes/a.md"), "x"));
    timed("read", &mut || fs::read(point.join("notes/never-read.md")).map(drop));
    timed("remove", &mut || fs::remove_file(point.join("notes/never-read.md")));
    timed("rename", &mut || fs::rename(point.join("notes/never-read.md"), point.join("notes/b")));
    let began = Instant::now();
    let told = point.umount_with_losses();
    assert!(!point.is_mounted() && began.elapsed() < budget(Duration::from_secs(25)));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("notes/a.md was never saved and is gone"), "{told:?}");
}

#[test]
fn what_an_outage_refused_is_saved_when_the_server_is_back() {
    let setup = Setup::new();
    let server = setup.start();
    let setup = setup.listen(&server.addr().to_string());
    let mut api = Api::create(server.client(), "notes");
    api.put("/a.md", "before");
    let point = Point::new(&setup);
    let remote = Loci::on_url(&server.url(), ADMIN_KEY);
    mount(&remote, &point, &["--store", "notes"]);
    server.kill();
    let names: Vec<String> = (0..8).map(|n| format!("{n}.md")).collect();
    for name in names.iter().map(String::as_str).chain(["a.md"]) {
        let refused = save(&point.join(&format!("notes/{name}")), name).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(Errno::IO.raw_os_error()), "{refused}");
    }
    let server = setup.start();
    let mut api = Api::open(server.client(), &api.store);
    eventually("all of it", || api.memories().len() == names.len() + 1);
    eventually("the change", || content(&mut api, "/a.md").unwrap() == "a.md");
    for name in &names {
        assert_eq!(content(&mut api, &format!("/{name}")).unwrap(), *name);
    }
    for memory in api.memories() {
        let versions = if memory.path == "/a.md" { 2 } else { 1 };
        assert_eq!(api.versions(&memory.id).len(), versions, "{}", memory.path);
    }
    point.umount();
    server.stop();
}

#[test]
fn umount_saves_what_is_open_and_says_what_it_cannot_save() {
    let setup = Setup::new();
    let loci = Loci::on_data(setup.data());
    loci.ok(&["store", "create", "notes"]);
    let point = Point::new(&setup);
    mount(&loci, &point, &["--store", "notes"]);
    let mut open = File::create(point.join("notes/open.md")).unwrap();
    open.write_all(b"written and not closed").unwrap();
    point.umount();
    assert_eq!(loci.ok(&["get", "notes", "/open.md"]), b"written and not closed");
    let refused = open.write_all(b" and more").unwrap_err();
    let known = [Errno::IO, Errno::NOTCONN, Errno::CONNABORTED].map(Errno::raw_os_error);
    assert!(known.map(Some).contains(&refused.raw_os_error()), "{refused}");
    drop(open);

    // What no store takes is gone, and that is no success.
    let latin = point.join("notes/caf\u{e9}.md");
    mount(&loci, &point, &["--store", "notes"]);
    fs::write(&latin, b"caf\xe9").unwrap();
    let told = point.umount_with_losses();
    assert_eq!(told, ["loci: notes/caf\u{e9}.md was never saved and is gone: is not UTF-8 text"]);
    mount(&loci, &point, &["--store", "notes"]);
    fs::write(&latin, b"caf\xe9").unwrap();
    let args = ["umount", point.text(), "--json"];
    let shown: Value =
        serde_json::from_slice(&Loci::default().run(&args).expect_code(FAILURE, &args).stdout)
            .unwrap();
    let one = json!({"path": "notes/caf\u{e9}.md", "why": "is not UTF-8 text"});
    assert_eq!(shown["unsaved"], json!([one]), "{shown}");
    mount(&loci, &point, &["--store", "notes"]);
    let shown = Loci::default().json(&["umount", point.text()]);
    assert_eq!((&shown["unsaved"], &shown["is_clean"]), (&json!([]), &json!(true)), "{shown}");

    // Where a mount can leave no word, nobody knows.
    let homeless = loci.with_env("XDG_STATE_HOME", "/proc/nowhere");
    mount(&homeless, &point, &["--store", "notes"]);
    let args = ["umount", point.text()];
    let told = Loci::default().run(&args).expect_code(FAILURE, &args).stderr;
    assert!(told.contains("did not tell") && !point.is_mounted(), "{told}");
}

/// A program hears a number, and the log of a mount in the background says which file and why.
#[test]
fn the_log_of_a_mount_names_what_is_not_saved() {
    let setup = Setup::new();
    let loci = Loci::on_data(setup.data());
    loci.ok(&["store", "create", "notes"]);
    let point = Point::new(&setup);
    let log = setup.scratch().join("mount.log");
    mount(&loci, &point, &["--log", log.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&log).unwrap(), "", "nothing has happened");
    let mut file = File::create(point.join("notes/latin.md")).unwrap();
    file.write_all(b"caf\xe9").unwrap();
    let refused = file.sync_all().unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(Errno::ILSEQ.raw_os_error()), "{refused}");
    drop(file);
    let told = fs::read_to_string(&log).unwrap();
    assert!(told.contains("/latin.md") && told.contains("is not UTF-8 text"), "{told}");
    fs::remove_file(point.join("notes/latin.md")).unwrap();
    point.umount();
}

/// The process of the mount is killed while somebody writes: the API has the previous version or the
/// new one, and the place can be used again.
#[test]
fn a_mount_that_is_killed_leaves_no_half_version() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "notes");
    let whole = |number: usize| format!("{number} ").repeat(5_000);
    let memory = api.put("/a.md", &whole(0));
    let point = Point::new(&setup);
    let loci = Loci::on_data(setup.data());
    let mut dice = Dice::new("mount");
    for round in 0..count("mount_kills") {
        // The one before left its mount behind, which nobody answers at.
        let shown = mount(&loci, &point, &["--store", "notes"]);
        let file = point.join("notes/a.md");
        let saved = Arc::new(AtomicUsize::new(0));
        let writer = {
            let saved = Arc::clone(&saved);
            thread::spawn(move || {
                let mut number = 1;
                while save(&file, &whole(round * 100_000 + number)).is_ok() {
                    saved.store(number, Ordering::Release);
                    number += 1;
                }
            })
        };
        eventually("something is saved", || saved.load(Ordering::Acquire) > 0);
        thread::sleep(dice.millis(0, 200));
        kill(&shown);
        writer.join().unwrap();
        let found = api.content(&memory.id);
        let number: usize = found.split(' ').next().unwrap().parse().unwrap();
        assert!(number / 100_000 <= round && found == whole(number), "torn: {}", found.len());
    }
    let stale = fs::metadata(&point.dir).unwrap_err();
    assert_eq!(stale.raw_os_error(), Some(Errno::NOTCONN.raw_os_error()), "{stale}");
    point.umount();
    server.stop();
}

/// The server is killed while somebody writes through a mount of its data directory: the mount takes
/// the directory over, every version that was acknowledged is there, and none is half.
#[test]
fn a_server_that_is_killed_is_replaced_by_the_mount() {
    let setup = Setup::new();
    let server = setup.start();
    let api = Api::create(server.client(), "notes");
    let point = Point::new(&setup);
    let loci = Loci::on_data(setup.data());
    mount(&loci, &point, &["--store", "notes"]);
    let folder = point.join("notes");
    let (count, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let writer = {
        let (count, is_over) = (Arc::clone(&count), Arc::clone(&is_over));
        thread::spawn(move || {
            let (mut saved, mut number) = (Vec::new(), 0);
            while !is_over.load(Ordering::Acquire) {
                number += 1;
                let text = format!("{number} ").repeat(500);
                let path = folder.join(format!("{number}.md"));
                if save(&path, &text).is_ok() {
                    saved.push((format!("/{number}.md"), text));
                    count.fetch_add(1, Ordering::AcqRel);
                }
            }
            saved
        })
    };
    eventually("files saved by the server", || count.load(Ordering::Acquire) > 10);
    drop(api);
    server.kill();
    let before = count.load(Ordering::Acquire);
    eventually("files saved by the mount", || count.load(Ordering::Acquire) > before + 10);
    is_over.store(true, Ordering::Release);
    let saved = writer.join().unwrap();
    for (path, text) in &saved {
        let found = loci.ok(&["get", "notes", path]);
        assert!(found == text.as_bytes(), "{path} is not what was saved");
    }
    point.umount();
    let server = setup.start();
    let stores = server.client().get("/v1/memory_stores").ok();
    let mut api = Api::open(server.client(), stores["data"][0]["id"].as_str().unwrap());
    for memory in api.memories() {
        let number = Path::new(&memory.path).file_stem().unwrap().to_str().unwrap().to_owned();
        assert_eq!(api.content(&memory.id), format!("{number} ").repeat(500));
        assert_eq!(api.versions(&memory.id).len(), 1, "{} was written twice", memory.path);
    }
    server.stop();
}

/// Also when root mounts, who could let everybody in.
#[test]
fn what_is_mounted_is_for_whoever_mounts_unless_others_are_let_in() {
    let setup = Setup::new();
    let loci = Loci::on_data(setup.data());
    loci.ok(&["put", "notes", "/d/first.md", "--create-store", "--text", "text"]);
    // Where a stranger gets as far as the mount.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let look = |more: &[&str]| {
        let options = [&["--flat", "--store", "notes"][..], more].concat();
        let mount = Mounted::start(&loci, &folder.path().join("mount"), &options);
        let bits = |path: &str| fs::metadata(mount.at().join(path)).unwrap().mode() & 0o777;
        let bits = [bits(""), bits("d"), bits("d/first.md"), bits(".history/d/first.md")];
        let file = mount.at().join("d/first.md");
        let is_read = Person::STRANGER.does(|| Ok(fs::read_to_string(&file).is_ok())).unwrap();
        mount.stop();
        (bits, is_read)
    };
    assert_eq!(look(&[]), ([0o700, 0o700, 0o600, 0o500], false));
    assert_eq!(look(&["--allow-other"]), ([0o755, 0o755, 0o644, 0o555], true));
}
