//! Promise: `loci sync` keeps a directory and a store alike by the rules of the mount: one version for
//! a changed file, both texts after a lost race, and nothing removed because a directory was emptied.

use loci_it::{Api, Dice, Finished, Loci, Running, Server, Setup, count, eventually, sha256};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

const CONFLICT: i32 = 4;

struct World {
    setup: Setup,
    server: Server,
    api: Api,
    dir: PathBuf,
}

impl World {
    fn new() -> Self {
        let setup = Setup::new();
        let server = setup.start();
        let api = Api::create(server.client(), "notes");
        let dir = setup.scratch().join("dir");
        Self { setup, server, api, dir }
    }

    fn loci(&self) -> Loci {
        Loci::on_data(self.setup.data())
    }

    /// The command, which outlives what the test does to the store meanwhile.
    fn args(&self, more: &[&str]) -> Vec<String> {
        let dir = self.dir.to_str().unwrap();
        let args = [&["sync", dir, "--store", "notes"], more].concat();
        args.into_iter().map(str::to_owned).collect()
    }

    #[track_caller]
    fn run(&self, more: &[&str], code: i32) -> Finished {
        let args = self.args(more);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.loci().run(&args).expect_code(code, &args)
    }

    #[track_caller]
    fn start(&self, more: &[&str]) -> Running {
        let args = self.args(more);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        Running::start(&self.loci(), &args)
    }

    #[track_caller]
    fn once(&self, more: &[&str]) -> Value {
        let stdout = self.run(&[&["--once", "--json"], more].concat(), 0).stdout;
        serde_json::from_slice(&stdout).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let file = self.file(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Every memory's content, by path.
    fn contents(&mut self) -> BTreeMap<String, String> {
        let memories = self.api.memories();
        memories.into_iter().map(|one| (one.path, self.api.content(&one.id))).collect()
    }

    fn id(&mut self, path: &str) -> String {
        let found = self.api.memories().into_iter().find(|one| one.path == path);
        found.unwrap_or_else(|| panic!("no memory at {path}")).id
    }
}

/// Every file of a directory, by path, without what is the sync's own.
fn files(dir: &Path) -> BTreeMap<String, String> {
    fn walk(at: &Path, path: &str, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(at).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let below = format!("{path}/{name}");
            match entry.file_type().unwrap().is_dir() {
                true => walk(&entry.path(), &below, found),
                false if name.starts_with(".loci-sync") => {}
                false => {
                    found.insert(below, fs::read_to_string(entry.path()).unwrap());
                }
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(dir, "", &mut found);
    found
}

#[test]
fn both_sides_become_alike() {
    let mut world = World::new();
    world.api.put("/remote/a.md", "from the store");
    world.write("local/b.md", "from the directory");
    let done = world.once(&[]);
    assert_eq!((&done["uploaded"], &done["downloaded"]), (&json!(1), &json!(1)), "{done}");
    assert_eq!(world.read("remote/a.md"), "from the store");
    assert_eq!(world.contents()["/local/b.md"], "from the directory");

    // Nothing changed, so nothing is done and nothing is written.
    let before = world.api.changes(0).len();
    let done = world.once(&[]);
    assert_eq!((&done["uploaded"], &done["downloaded"]), (&json!(0), &json!(0)), "{done}");
    assert_eq!(world.api.changes(0).len(), before);

    // A changed file is one version of the same memory.
    let id = world.id("/local/b.md");
    world.write("local/b.md", "changed");
    world.once(&[]);
    assert_eq!(world.id("/local/b.md"), id);
    assert_eq!(world.api.versions(&id).len(), 2);
    assert_eq!(world.api.changes(0).last().unwrap()["reason"], "sync");

    // A changed memory comes down, a removed one goes, with the directory that is empty then.
    let a = world.id("/remote/a.md");
    world.api.update(&id, &json!({"content": "changed there"}));
    world.api.delete(&a);
    world.once(&[]);
    assert_eq!(world.read("local/b.md"), "changed there");
    assert!(!world.file("remote").exists());

    // A file that is renamed keeps its memory and history.
    fs::rename(world.file("local/b.md"), world.file("moved.md")).unwrap();
    let done = world.once(&[]);
    assert_eq!((&done["moved"], &done["removed_from_store"]), (&json!(1), &json!(0)), "{done}");
    assert_eq!(world.id("/moved.md"), id);

    // A removed file takes its memory along, when others are left.
    world.write("stays.md", "x");
    world.once(&[]);
    fs::remove_file(world.file("moved.md")).unwrap();
    let done = world.once(&[]);
    assert_eq!(done["removed_from_store"], 1, "{done}");
    assert_eq!(world.contents().into_keys().collect::<Vec<_>>(), ["/stays.md"]);
    world.server.stop();
}

#[test]
fn a_lost_race_keeps_both_texts() {
    let mut world = World::new();
    let memory = world.api.put("/a.md", "base");
    world.once(&[]);
    world.api.update(&memory.id, &json!({"content": "theirs"}));
    world.write("a.md", "ours");
    let done = world.once(&[]);
    assert_eq!(done["conflicts"], json!(["/a.md.conflict"]), "{done}");
    let expect = [("/a.md", "theirs"), ("/a.md.conflict", "ours")];
    let expect: BTreeMap<String, String> =
        expect.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
    assert_eq!(files(&world.dir), expect);
    assert_eq!(world.contents(), expect);

    // Again: the next loser gets the next name.
    world.api.update(&memory.id, &json!({"content": "theirs 2"}));
    world.write("a.md", "ours 2");
    world.once(&[]);
    assert_eq!(world.contents()["/a.md.conflict-2"], "ours 2");

    // Whoever changed something wins over whoever removed it, on either side.
    world.api.update(&memory.id, &json!({"content": "theirs 3"}));
    fs::remove_file(world.file("a.md")).unwrap();
    world.once(&[]);
    assert_eq!(world.read("a.md"), "theirs 3");
    world.write("a.md", "ours 4");
    world.api.delete(&memory.id);
    world.once(&[]);
    assert_eq!(world.contents()["/a.md"], "ours 4");

    // Without a state nothing is known to be removed: both sides are put together.
    fs::remove_file(world.file(".loci-sync")).unwrap();
    fs::remove_file(world.file("a.md.conflict")).unwrap();
    world.write("a.md", "ours 5");
    world.once(&[]);
    assert_eq!(world.read("a.md.conflict"), "ours");
    assert_eq!(world.contents()["/a.md.conflict-3"], "ours 5");
    assert_eq!(files(&world.dir), world.contents());
    world.server.stop();
}

#[test]
fn an_emptied_directory_removes_nothing() {
    let mut world = World::new();
    for number in 0..40 {
        world.api.put(&format!("/{number}.md"), &format!("text {number}"));
    }
    world.once(&[]);
    // Ten of forty are allowed, eleven are not, and all are not however few.
    for number in 0..11 {
        fs::remove_file(world.file(&format!("{number}.md"))).unwrap();
    }
    let refused = world.run(&["--once"], CONFLICT);
    assert!(refused.stderr.contains("--allow-deletes"), "{}", refused.stderr);
    assert_eq!(world.api.memories().len(), 40);
    world.write("0.md", "text 0");
    world.once(&[]);
    assert_eq!(world.api.memories().len(), 30);

    fs::remove_dir_all(&world.dir).unwrap();
    world.once(&[]);
    assert_eq!(files(&world.dir).len(), 30, "a directory that is gone is filled anew");
    for file in files(&world.dir).into_keys() {
        fs::remove_file(world.file(&file[1..])).unwrap();
    }
    let _ = world.run(&["--once"], CONFLICT);
    assert_eq!(world.api.memories().len(), 30);
    world.once(&["--allow-deletes"]);
    assert_eq!(world.api.memories().len(), 0);
    world.server.stop();
}

#[test]
fn what_no_memory_can_hold_is_left_alone() {
    let mut world = World::new();
    let outside = world.setup.scratch().join("outside.md");
    fs::write(&outside, "not yours").unwrap();
    world.write("good.md", "good");
    world.write("bytes.md", b"\xff\xfe");
    world.write("large.md", "x".repeat(102_401));
    world.write("backup.md~", "an editor's");
    world.write(".good.md.swp", "an editor's");
    std::os::unix::fs::symlink(&outside, world.file("link.md")).unwrap();
    std::os::unix::fs::symlink(world.setup.scratch(), world.file("links")).unwrap();
    let done = world.run(&["--once"], 0);
    for name in ["/bytes.md", "/large.md", "/link.md", "/links"] {
        assert!(done.stderr.contains(name), "{name} is not named: {}", done.stderr);
    }
    assert_eq!(world.contents().into_keys().collect::<Vec<_>>(), ["/good.md"]);

    // Until it changes.
    world.write("bytes.md", "text now");
    world.once(&[]);
    assert_eq!(world.contents()["/bytes.md"], "text now");

    // A memory whose place a link leads elsewhere is not written through it.
    world.api.put("/links/outside.md", "from the store");
    world.once(&[]);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "not yours");
    // A file and a directory cannot have one name: the one that came later is named.
    world.write("good.md.d/x", "x");
    world.once(&[]);
    world.api.put("/clash/x.md", "x");
    world.write("clash", "a file");
    let done = world.run(&["--once"], 0);
    assert!(done.stderr.contains("/clash"), "{}", done.stderr);
    assert_eq!(world.read("clash"), "a file");
    world.server.stop();
}

#[test]
fn a_running_sync_follows_both_sides() {
    let mut world = World::new();
    let running = world.start(&["--interval", "1"]);
    eventually("the directory is made", || world.dir.exists());
    let memory = world.api.put("/a.md", "one");
    let file = world.file("a.md");
    let text = |file: &Path| fs::read_to_string(file).unwrap_or_default();
    eventually("what is written comes down", || text(&file) == "one");
    world.write("a.md", "two");
    eventually("what is saved goes up", || world.api.content(&memory.id) == "two");
    assert_eq!(world.api.versions(&memory.id).len(), 2);
    // Another sync of the directory is refused, for the two would take each other for people.
    let refused = world.run(&["--once"], 1);
    assert!(refused.stderr.contains("another loci"), "{}", refused.stderr);
    // What was saved last is brought over before it ends.
    world.write("last.md", "last words");
    let (status, printed) = running.terminate();
    assert!(status.success(), "{printed}");
    assert_eq!(world.contents()["/last.md"], "last words");
    world.server.stop();
}

#[test]
fn a_session_writes_under_its_own_name_and_reads_only_if_it_must() {
    let mut world = World::new();
    let loci = world.loci();
    let session = loci.json(&["session", "create", "--store", "notes"]);
    let id = session["id"].as_str().unwrap().to_owned();
    world.write("a.md", "by the session");
    world.once(&["--session", &id]);
    let memory = world.id("/a.md");
    let version = &world.api.versions(&memory)[0];
    assert_eq!(version["created_by"]["session_id"], json!(id), "{version}");
    let keys = loci.json(&["key", "list"]);
    let bound =
        keys["data"].as_array().unwrap().iter().filter(|key| key["session_id"] == json!(id));
    assert!(bound.clone().count() > 0 && bound.clone().all(|key| key["revoked_at"].is_string()));

    let session = loci.json(&["session", "create", "--store", "notes:ro"]);
    let id = session["id"].as_str().unwrap().to_owned();
    world.write("a.md", "not to be written");
    world.write("b.md", "nor this");
    for more in [&["--session", &id][..], &["--read-only"]] {
        world.once(more);
        assert_eq!(world.contents(), BTreeMap::from([("/a.md".into(), "by the session".into())]));
    }
    // What comes down does not cost what is here.
    world.api.update(&memory, &json!({"content": "newer"}));
    world.once(&["--read-only"]);
    assert_eq!(
        (world.read("a.md"), world.read("a.md.conflict")),
        ("newer".into(), "not to be written".into())
    );
    world.server.stop();
}

/// Killed at any moment, the next one goes on: every text that was on either side is still on both.
#[test]
fn a_sync_that_is_killed_loses_nothing() {
    let mut world = World::new();
    let mut dice = Dice::new("sync");
    let mut cut_off = 0;
    for round in 0..count("sync_kills") {
        for number in 0..60 {
            let text = format!("{round} {number} {}", "x".repeat(dice.below(2000)));
            match dice.below(3) {
                0 => world.write(&format!("l{number}.md"), text),
                1 => {
                    let path = format!("/r{number}.md");
                    let found = world.api.memories().into_iter().find(|one| one.path == path);
                    match found {
                        Some(memory) => {
                            world.api.update(&memory.id, &json!({"content": text}));
                        }
                        None => {
                            world.api.put(&path, &text);
                        }
                    }
                }
                _ => {}
            }
        }
        let running = world.start(&["--once"]);
        // The first is cut off as it starts, so that one is.
        thread::sleep(if round == 0 { Duration::ZERO } else { dice.millis(0, 400) });
        cut_off += usize::from(running.kill());
    }
    assert!(cut_off > 0, "no sync was cut off");
    world.once(&[]);
    let (here, there) = (files(&world.dir), world.contents());
    assert_eq!(here, there);
    assert!(here.keys().all(|path| !path.contains(".conflict")), "nobody raced: {:?}", here.keys());
    let parts = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().contains("sync-part");
    let left = fs::read_dir(&world.dir).unwrap().filter(|one| parts(one.as_ref().unwrap())).count();
    assert_eq!(left, 0, "what was being written is cleaned up");
    for memory in world.api.memories() {
        let content = world.api.content(&memory.id);
        assert_eq!(sha256(&content), memory.digest);
    }
    world.server.stop();
}

#[test]
fn names_of_files_reach_no_terminal_as_commands() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let mut world = World::new();
    world.write("plain", "kept");
    world.write("clear\u{1b}[2Jscreen", "x");
    world.write("turned\u{202e}txt.exe", "x");
    world.write("line\u{2028}break\nmore", "x");
    std::os::unix::fs::symlink("/etc/passwd", world.file("link\u{1b}]0;title\u{7}")).unwrap();
    fs::write(world.dir.join(OsStr::from_bytes(b"bytes\xff\x1b[31m\x9b")), "x").unwrap();
    for more in [&["--once"][..], &["--once", "--json"]] {
        let done = world.run(more, 0);
        let stdout = String::from_utf8(done.stdout).unwrap();
        for (stream, text) in [("stdout", &stdout), ("stderr", &done.stderr)] {
            let hostile =
                |c: &char| (c.is_control() && *c != '\n') || matches!(c, '\u{2028}' | '\u{202e}');
            assert_eq!(text.chars().find(hostile), None, "{stream}: {text:?}");
        }
        let told = done.stderr;
        assert_eq!(told.lines().count(), 5, "a line for each, whatever is in a name: {told:?}");
        assert!(told.lines().all(|line| line.starts_with("loci: ")), "{told:?}");
    }
    assert_eq!(world.contents().into_keys().collect::<Vec<_>>(), ["/plain"]);
}
