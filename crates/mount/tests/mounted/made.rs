//! Files that are made or emptied and closed without a write: they are stored when `close` returns, or
//! it says why not, and their times stay. What a shell does with copies of descriptors makes no
//! version of its own.

use crate::begun::{Begun, shell};
use loci_mount::port::Refusal;
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

const IO: i32 = 5;

/// The three times, to the nanosecond.
fn times(path: &Path) -> [(i64, i64); 3] {
    let it = fs::metadata(path).unwrap();
    [(it.atime(), it.atime_nsec()), (it.mtime(), it.mtime_nsec()), (it.ctime(), it.ctime_nsec())]
}

#[test]
fn what_is_only_made_is_stored_when_it_is_closed() {
    let begun = Begun::new();
    drop(File::create(begun.at("made")).unwrap());
    assert_eq!(begun.port.history(0, "/made"), "created");
    drop(File::create_new(begun.at("new")).unwrap());
    assert_eq!(begun.port.history(0, "/new"), "created");
    shell(&begun, "touch touched; : > shell; sh -c ': > dash'");
    for name in ["/touched", "/shell", "/dash"] {
        assert_eq!(begun.port.text_at(0, name).as_deref(), Some(""), "{name}");
    }
    fs::write(begun.at("full"), "text").unwrap();
    drop(File::create(begun.at("full")).unwrap());
    assert_eq!(begun.port.text_at(0, "/full").as_deref(), Some(""));
    fs::write(begun.at("full"), "text").unwrap();
    shell(&begun, ": > full");
    assert_eq!(begun.port.text_at(0, "/full").as_deref(), Some(""));
    assert_eq!(begun.port.history(0, "/full"), "created modified modified modified");
}

#[test]
fn what_cannot_be_stored_is_said_by_close() {
    let begun = Begun::new();
    begun.port.fail(Some(Refusal::Unreachable("away".into())));
    let close = |flags: &str| {
        let script = format!(
            "import os\nfd = os.open('f', {flags})\n\
             try: os.close(fd)\nexcept OSError as it: print(it.errno)"
        );
        shell(&begun, &format!("python3 -c \"{script}\""))
    };
    assert_eq!(close("os.O_CREAT | os.O_WRONLY").trim(), IO.to_string());
    fs::remove_file(begun.at("f")).unwrap();
    assert_eq!(close("os.O_CREAT | os.O_EXCL | os.O_WRONLY").trim(), IO.to_string());
    begun.port.fail(None);
    drop(OpenOptions::new().write(true).truncate(true).open(begun.at("f")).unwrap());
    assert_eq!(begun.port.text_at(0, "/f").as_deref(), Some(""));
}

#[test]
fn a_shell_that_redirects_makes_one_version() {
    for shell_name in ["bash", "dash"] {
        let begun = Begun::new();
        let run = |script: &str| drop(shell(&begun, &format!("{shell_name} -c '{script}'")));
        let scripts = [
            "echo x > a",
            "{ true; echo x; } > b",
            "{ /bin/true; echo x; } > c",
            "set -C; echo x > d",
            "(echo x) > e",
            "echo x >> f",
            "cat > g < /dev/null; echo x >> g",
            "exec 3> h; echo x >&3; exec 3>&-",
            "/bin/echo x > i",
        ];
        for (script, name) in scripts.into_iter().zip('a'..) {
            run(script);
            let path = format!("/{name}");
            assert_eq!(begun.port.text_at(0, &path).as_deref(), Some("x\n"), "{script}");
            let wanted = if name == 'g' { "created modified" } else { "created" };
            assert_eq!(begun.port.history(0, &path), wanted, "{shell_name}: {script}");
        }
        run("echo y > a");
        assert_eq!(begun.port.history(0, "/a"), "created modified", "{shell_name}");
    }
}

#[test]
fn the_times_of_what_is_not_written_stay() {
    let mut begun = Begun::new();
    for name in ["made", "made.tmp"] {
        let file = File::create(begun.at(name)).unwrap();
        let before = times(&begun.at(name));
        drop(file);
        begun.hear();
        assert_eq!(times(&begun.at(name)), before, "{name}");
    }
    // Stored later, or at the end: that changes nothing of it either.
    fs::write(begun.at("left.tmp"), "text").unwrap();
    let look = |begun: &Begun| ["made", "made.tmp", "left.tmp"].map(|name| times(&begun.at(name)));
    let before = look(&begun);
    assert!(begun.again().is_empty());
    assert_eq!(begun.port.paths(0).len(), 3);
    assert_eq!(look(&begun), before);
}

#[test]
fn times_that_were_set_outlive_a_save() {
    let mut begun = Begun::new();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::new(77, 88);
    for (name, set) in [
        ("read", FileTimes::new().set_accessed(long_ago)),
        ("both", FileTimes::new().set_accessed(long_ago).set_modified(long_ago)),
    ] {
        for text in ["", "text"] {
            let at = begun.at(&format!("{name}{}", text.len()));
            let mut file = File::create(&at).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.set_times(set).unwrap();
            drop(file);
            assert_eq!(times(&at)[0], (77, 88), "{name} {text:?}");
            if name == "both" {
                assert_eq!(times(&at)[1], (77, 88), "{text:?}");
            }
        }
    }
    // A save that comes later leaves it, too.
    let at = begun.at("read4");
    OpenOptions::new().append(true).open(&at).unwrap().write_all(b" more").unwrap();
    assert_eq!(times(&at)[0], (77, 88));
    assert!(begun.again().is_empty());
    for name in ["read0", "read4", "both0", "both4"] {
        assert_eq!(times(&begun.at(name))[0], (77, 88), "{name}");
    }
}
