//! Programs that agents use: a shell, Python, sed, vim, tar, grep, find, git. Versions are counted.

use crate::begun::{Begun, shell, within};
use std::fs;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(4);

#[test]
fn a_shell() {
    let begun = Begun::new();
    shell(&begun, "mkdir -p a/b; echo one > a/b/f; echo two >> a/b/f; printf three > a/b/f");
    assert_eq!(begun.port.history(0, "/a/b/f"), "created modified modified");
    shell(&begun, "{ echo x; echo y; } > group; cat > here <<< text; cp group copy; mv copy moved");
    assert_eq!(begun.port.history(0, "/group"), "created");
    assert_eq!(begun.port.history(0, "/here"), "created");
    assert_eq!(begun.port.history(0, "/moved"), "created modified");
    shell(&begun, "touch empty; : > emptied");
    within(SOON, "the empty ones", || begun.port.paths(0).len() == 6);
    assert_eq!(shell(&begun, "ls; cat a/b/f"), "a\nemptied\nempty\ngroup\nhere\nmoved\nthree");
    shell(&begun, "rm -r a empty emptied");
    assert_eq!(begun.port.paths(0), ["/group", "/here", "/moved"]);
}

#[test]
fn sed_in_place() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "old text\n").unwrap();
    let memory = begun.port.entry_at(0, "/f").unwrap().memory;
    shell(&begun, "sed -i s/old/new/ f");
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "new text\n");
    assert_eq!(begun.port.history(0, "/f"), "created modified");
    assert_eq!(begun.port.entry_at(0, "/f").unwrap().memory, memory);
    assert_eq!(begun.port.paths(0), ["/f"]);
    assert_eq!(begun.port.versions_written(0), 2);
}

#[test]
fn vim_by_renaming_and_by_copying() {
    for how in ["no", "yes", "auto"] {
        let begun = Begun::new();
        fs::write(begun.at("f"), "old text\n").unwrap();
        let memory = begun.port.entry_at(0, "/f").unwrap().memory;
        let set = format!("set writebackup backupcopy={how}");
        let script =
            format!("vim -u NONE -es -c '{set}' -c '%s/old/new/' -c 'wq' f </dev/null >/dev/null");
        shell(&begun, &script);
        assert_eq!(begun.port.text_at(0, "/f").unwrap(), "new text\n", "{how}");
        assert_eq!(begun.port.history(0, "/f"), "created modified", "{how}");
        assert_eq!(begun.port.entry_at(0, "/f").unwrap().memory, memory, "{how}");
        assert_eq!(begun.port.versions_written(0), 2, "{how}");
        assert_eq!(shell(&begun, "ls -A"), "f\n", "{how}");
    }
}

#[test]
fn python() {
    let begun = Begun::new();
    let script = r#"
import json, os, pathlib, tempfile, mmap
pathlib.Path("d").mkdir()
with open("d/a.json", "w") as f: json.dump({"x": 1}, f)
with tempfile.NamedTemporaryFile("w", dir="d", delete=False) as f: f.write("atomic")
os.replace(f.name, "d/b")
with open("d/b", "r+b") as f:
    with mmap.mmap(f.fileno(), 0) as m: m[0:1] = b"A"
assert open("d/b").read() == "Atomic"
assert sorted(os.listdir("d")) == ["a.json", "b"]
"#;
    fs::write(begun.root().parent().unwrap().join("loci-mount-test.py"), script).unwrap();
    let run = "python3 \"$HOME/loci-mount-test.py\"";
    shell(&begun, run);
    fs::remove_file(begun.root().parent().unwrap().join("loci-mount-test.py")).unwrap();
    assert_eq!(begun.port.text_at(0, "/d/a.json").unwrap(), "{\"x\": 1}");
    within(SOON, "what was mapped", || begun.port.text_at(0, "/d/b").unwrap() == "Atomic");
    assert_eq!(begun.port.history(0, "/d/b"), "created modified");
}

#[test]
fn tar_grep_find_du_and_diff() {
    let begun = Begun::new();
    shell(
        &begun,
        "for n in $(seq 40); do mkdir -p d$((n % 4)); echo \"line $n\" > d$((n % 4))/f$n; done",
    );
    assert_eq!(begun.port.versions_written(0), 40);
    assert_eq!(shell(&begun, "grep -rl 'line 17$' ."), "./d1/f17\n");
    assert_eq!(shell(&begun, "find . -type f | wc -l").trim(), "40");
    shell(&begun, "tar cf - d0 d1 | (mkdir copy && cd copy && tar xpf -); diff -r d0 copy/d0");
    assert_eq!(begun.port.paths(0).len(), 60);
    assert_eq!(
        shell(&begun, "du -s --apparent-size d0 >/dev/null; du -s d0 | cut -f1").trim(),
        "44"
    );
    shell(&begun, "cp -a copy again; rm -rf copy; diff -r d0 again/d0");
    assert_eq!(begun.port.paths(0).len(), 60);
}

#[test]
fn git_with_its_own_directory_elsewhere() {
    let begun = Begun::new();
    let place = tempfile::tempdir().unwrap();
    let git = format!("git --git-dir={} --work-tree=.", place.path().join("g").display());
    let who = "-c user.name=x -c user.email=x@example.invalid";
    fs::write(begun.at("f"), "one\n").unwrap();
    shell(&begun, &format!("{git} init -q; {git} add -A; {git} {who} commit -qm one"));
    fs::write(begun.at("f"), "two\n").unwrap();
    assert!(shell(&begun, &format!("{git} diff")).contains("+two"));
    let memory = begun.port.entry_at(0, "/f").unwrap().memory;
    shell(&begun, &format!("{git} checkout -q -- f; {git} status --porcelain"));
    within(SOON, "the checkout", || begun.port.text_at(0, "/f").is_some_and(|it| it == "one\n"));
    // Git removes and writes anew: another memory.
    assert_ne!(begun.port.entry_at(0, "/f").unwrap().memory, memory);
}
