//! How programs save: by temporary names, by backups, by both. Always one version of the memory that
//! was edited, which keeps its id and history, and nothing else.

use crate::begun::{Begun, shell, within};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(5);

/// Writes a file as editors do that want it to be on the disk.
fn synced(begun: &Begun, name: &str, text: &str) {
    let mut file = File::create(begun.at(name)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.sync_all().unwrap();
}

/// What is kept of a memory that is edited.
struct Edited {
    begun: Begun,
    memory: String,
    /// How often it was edited.
    times: usize,
}

impl Edited {
    fn new() -> Self {
        let begun = Begun::new();
        fs::write(begun.at("f.md"), "text 0\n").unwrap();
        let memory = begun.port.entry_at(0, "/f.md").unwrap().memory.to_string();
        Self { begun, memory, times: 0 }
    }

    /// One more edit was one more version, and that is all.
    #[track_caller]
    fn check(&mut self, how: &str, text: &str) {
        self.times += 1;
        let port = &self.begun.port;
        assert_eq!(port.text_at(0, "/f.md").as_deref(), Some(text), "{how}");
        let entry = port.entry_at(0, "/f.md").unwrap();
        assert_eq!(entry.memory.to_string(), self.memory, "{how}");
        let history = format!("created{}", " modified".repeat(self.times));
        assert_eq!(port.history(0, "/f.md"), history, "{how}");
        assert_eq!(fs::read_to_string(self.begun.at("f.md")).unwrap(), text, "{how}");
    }
}

#[test]
fn a_file_beside_it_that_is_renamed_over_it_is_one_version() {
    let mut edited = Edited::new();
    let names = [
        ("Claude Code", "f.md.tmp.4711.8f3a2b1c9d"),
        ("VS Code", "f.md.vsctmp"),
        ("gedit", ".goutputstream-A1B2C3"),
        ("KDE", "f.md.kLsQzA"),
        ("write-file-atomic", "f.md.3892734511"),
        ("write-file-atomic, short", "f.md.389273"),
        ("perl", "XXl1wwpB"),
        ("patch", "f.md.oRLZiIQ"),
        ("sed", "sedowDufm"),
        ("rsync", ".f.md.abcdef"),
        ("others", "f.md.new"),
        ("others", ".f.md.part"),
        ("others", "f.md.tmp123"),
    ];
    for (how, name) in names {
        let text = format!("by {how}, {name}\n");
        synced(&edited.begun, name, &text);
        fs::rename(edited.begun.at(name), edited.begun.at("f.md")).unwrap();
        edited.check(how, &text);
        assert_eq!(edited.begun.port.versions_written(0), edited.times + 1, "{how}");
        assert_eq!(edited.begun.port.paths(0), ["/f.md"], "{how}");
    }
}

#[test]
fn a_new_file_that_gets_its_name_by_renaming_is_one_version() {
    let begun = Begun::new();
    let names = [
        ("claude.md", "claude.md.tmp.4711.8f3a2b1c9d"),
        ("code.md", "code.md.vsctmp"),
        ("idea.md", "idea.md___jb_tmp___"),
        ("gnome.md", ".goutputstream-A1B2C3"),
        ("npm.json", "npm.json.3892734511"),
        ("patch.md", "patch.md.oRLZiIQ"),
        ("perl.md", "XXl1wwpB"),
    ];
    for (at, (name, first)) in names.into_iter().enumerate() {
        synced(&begun, first, name);
        fs::rename(begun.at(first), begun.at(name)).unwrap();
        assert_eq!(begun.port.history(0, &format!("/{name}")), "created", "{first}");
        assert_eq!(begun.port.versions_written(0), at + 1, "{first}");
    }
}

#[test]
fn jetbrains() {
    let mut edited = Edited::new();
    for text in ["one\n", "two\n", "three\n"] {
        let at = |name: &str| edited.begun.at(name);
        synced(&edited.begun, "f.md___jb_tmp___", text);
        fs::rename(at("f.md"), at("f.md___jb_old___")).unwrap();
        fs::rename(at("f.md___jb_tmp___"), at("f.md")).unwrap();
        fs::remove_file(at("f.md___jb_old___")).unwrap();
        edited.check(text, text);
        assert_eq!(edited.begun.port.versions_written(0), edited.times + 1);
    }
}

#[test]
fn the_programs_of_this_machine() {
    let mut edited = Edited::new();
    let diff = |from: &str, to: &str| {
        format!(
            "printf -- '--- f.md\\n+++ f.md\\n@@ -1 +1 @@\\n-{from}\\n+{to}\\n' | patch -s f.md"
        )
    };
    let scripts = [
        "sed -i 's/text 0/text 1/' f.md".to_owned(),
        "perl -pi -e 's/text 1/text 2/' f.md".to_owned(),
        diff("text 2", "text 3"),
        "awk '{ print \"text 4\" }' f.md > f.md.new; mv f.md.new f.md".to_owned(),
        "cp f.md f.md.tmp; echo 'text 5' > f.md.tmp; mv f.md.tmp f.md".to_owned(),
    ];
    for script in scripts {
        shell(&edited.begun, &script);
        let text = format!("text {}\n", edited.times + 1);
        edited.check(&script, &text);
        assert_eq!(edited.begun.port.versions_written(0), edited.times + 1, "{script}");
    }
}

#[test]
fn a_backup_keeps_its_text_when_the_feed_is_faster_than_the_answer() {
    let begun = Begun::new();
    fs::write(begun.at("f.md"), "before").unwrap();
    begun.port.tell_feed_first();
    for (save, text) in
        [("echo after > f.md", "after\n"), ("echo last > new; mv new f.md", "last\n")]
    {
        let before = fs::read_to_string(begun.at("f.md")).unwrap();
        shell(&begun, &format!("mv f.md f.md-1; {save}"));
        assert_eq!(fs::read_to_string(begun.at("f.md-1")).unwrap(), before);
        assert_eq!(begun.port.text_at(0, "/f.md").unwrap(), text);
        let is_kept = || begun.port.text_at(0, "/f.md-1").as_deref() == Some(&*before);
        within(SOON, "the backup", is_kept);
        fs::remove_file(begun.at("f.md-1")).unwrap();
    }
}

#[test]
fn a_backup_that_is_kept_is_a_memory_of_its_own() {
    let mut edited = Edited::new();
    let diff =
        "printf -- '--- f.md\\n+++ f.md\\n@@ -1 +1 @@\\n-text 2\\n+text 3\\n' | patch -sb f.md";
    let scripts = [
        ("sed -i.bak 's/text 0/text 1/' f.md", "/f.md.bak"),
        ("perl -pi.old -e 's/text 1/text 2/' f.md", "/f.md.old"),
        (diff, "/f.md.orig"),
        ("mv f.md f.md-3; echo 'text 4' > f.md", "/f.md-3"),
        ("mv f.md f.md.1; printf 'text 5\\n' > new; mv new f.md", "/f.md.1"),
    ];
    for (script, backup) in scripts {
        let before = format!("text {}\n", edited.times);
        shell(&edited.begun, script);
        let text = format!("text {}\n", edited.times + 1);
        edited.check(script, &text);
        let port = &edited.begun.port;
        let name = backup.trim_start_matches('/');
        assert_eq!(fs::read_to_string(edited.begun.at(name)).unwrap(), before, "{script}");
        within(SOON, backup, || port.text_at(0, backup).as_deref() == Some(&*before));
        assert_eq!(port.history(0, backup), "created");
    }
    // And over the backup of the time before.
    shell(&edited.begun, "sed -i.bak 's/text 5/text 6/' f.md");
    edited.check("sed -i.bak again", "text 6\n");
    let is_next = || edited.begun.port.text_at(0, "/f.md.bak").as_deref() == Some("text 5\n");
    within(SOON, "the next backup", is_next);
    // The mount hears that it is stored after the store has it.
    within(SOON, "everything is saved", || edited.begun.unsaved().is_empty());
}

#[test]
fn a_backup_is_stored_at_the_end_of_the_mount() {
    let mut edited = Edited::new();
    shell(&edited.begun, "sed -i.bak 's/text 0/text 1/' f.md");
    edited.check("sed", "text 1\n");
    assert!(edited.begun.again().is_empty());
    assert_eq!(edited.begun.port.text_at(0, "/f.md.bak").unwrap(), "text 0\n");
    assert_eq!(edited.begun.port.history(0, "/f.md.bak"), "created");
}

#[test]
fn a_file_that_only_gets_a_longer_name_moves() {
    let begun = Begun::new();
    fs::write(begun.at("notes"), "text").unwrap();
    let memory = begun.port.entry_at(0, "/notes").unwrap().memory;
    fs::rename(begun.at("notes"), begun.at("notes.md")).unwrap();
    assert_eq!(fs::read_to_string(begun.at("notes.md")).unwrap(), "text");
    within(SOON, "the move", || begun.port.paths(0) == ["/notes.md"]);
    assert_eq!(begun.port.entry_at(0, "/notes.md").unwrap().memory, memory);
    // Written before that, it moves at once, because closing it says that it is stored there.
    fs::rename(begun.at("notes.md"), begun.at("notes.md.old")).unwrap();
    let mut file = OpenOptions::new().append(true).open(begun.at("notes.md.old")).unwrap();
    file.write_all(b" and more").unwrap();
    file.sync_all().unwrap();
    assert_eq!(begun.port.text_at(0, "/notes.md.old").unwrap(), "text and more");
    assert_eq!(begun.port.entry_at(0, "/notes.md.old").unwrap().memory, memory);
    // And on `fsync` alone, and renamed once more.
    fs::rename(begun.at("notes.md.old"), begun.at("notes.md.old.2")).unwrap();
    File::options().write(true).open(begun.at("notes.md.old.2")).unwrap().sync_all().unwrap();
    assert_eq!(begun.port.paths(0), ["/notes.md.old.2"]);
    fs::rename(begun.at("notes.md.old.2"), begun.at("notes.md.old.2.3")).unwrap();
    fs::rename(begun.at("notes.md.old.2.3"), begun.at("elsewhere")).unwrap();
    assert_eq!(begun.port.paths(0), ["/elsewhere"]);
    assert_eq!(begun.port.entry_at(0, "/elsewhere").unwrap().memory, memory);
}

#[test]
fn a_written_backup_leaves_the_memory_to_what_is_in_its_place() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "one").unwrap();
    let memory = begun.port.entry_at(0, "/f").unwrap().memory;
    fs::rename(begun.at("f"), begun.at("f.old")).unwrap();
    let mut next = File::create(begun.at("f")).unwrap();
    next.write_all(b"two").unwrap();
    fs::write(begun.at("f.old"), "one more").unwrap();
    assert_eq!(begun.port.text_at(0, "/f.old").unwrap(), "one more");
    drop(next);
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "two");
    assert_eq!(begun.port.entry_at(0, "/f").unwrap().memory, memory);
    assert_ne!(begun.port.entry_at(0, "/f.old").unwrap().memory, memory);
}

#[test]
fn a_backup_that_others_remove_is_gone() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "one").unwrap();
    fs::rename(begun.at("f"), begun.at("f.old")).unwrap();
    let path = loci_model::MemoryPath::parse("/f").unwrap();
    let edit = loci_mount::port::Edit {
        at: loci_mount::port::At::Path(path),
        expect: loci_model::Expect::Present,
        act: loci_mount::port::Act::Remove,
    };
    begun.port.apply(begun.port.store(0), &[edit]).unwrap();
    within(SOON, "the removal", || !begun.at("f.old").exists());
    assert!(begun.port.paths(0).is_empty());
}
